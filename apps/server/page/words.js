// words.js - the panel of a word: the stored pairs that voted for it, and other
// words that could stand there.
import * as api from "./api.js";
import { sourceDiff, targetDiff } from "./diff.js";
import { $, el } from "./dom.js";
import { t, percent } from "./i18n.js";
import { current, level } from "./segments.js";
import { choices } from "./settings.js";

let opened = null;              // { segment, word, node }
let controller = null;          // of the request for alternatives

// Set by translate.js: what happens with an alternative that was chosen.
export const actions = { choose: null };

// ---- votes ------------------------------------------------------------------

// The votes for a word as [pair, share], the greatest first. A stored
// translation is its own only vote. Pairs that were found but did not vote for
// this word have no share.
function votesOf(info, word)
{
    const votes = word.index >= 0 ? info.words[word.index].votes : [];

    if (info.exact) return info.pairs.map((pair) => [pair, 1]);
    return votes.map((v) => [info.pairs[v.pair], v.share])
        .filter(([pair, share]) => pair && share >= 0.005)
        .sort((a, b) => b[1] - a[1]).slice(0, 8);
}

// The spans of a pair's target that voted for a word. If there are some, only
// those whose token was chosen.
function placesOf(info, word, pair)
{
    const tokens = word.index >= 0 ? info.words[word.index].tokens : [];
    const votes = tokens.flatMap((token) => token.votes
        .filter((v) => info.pairs[v.pair] === pair)
        .map((v) => ({ position: v.position, won: v.token === token.piece })));
    const won = votes.filter((v) => v.won);
    const positions = (won.length ? won : votes).map((v) => v.position);

    return (pair.places ?? []).filter((p) => positions.includes(p.position));
}

function showVote(segment, word, pair, share)
{
    const version = current(segment);
    const places = placesOf(version.info, word, pair);
    const facts = el("div", { class: "vote-head" },
                     el("b", {}, t("{n} of the votes", { n: percent(share) })));

    if (pair.similarity !== null && pair.similarity !== undefined)
        facts.append(el("span", {}, t("{n} similar",
                                      { n: percent(pair.similarity) })));
    if (pair.memory)
        facts.append(el("span", {}, `${t("memory")} “${pair.memory}”`));
    return el("li", { class: "vote" }, facts,
              el("div", { class: "vote-texts" },
                 el("p", { lang: segment.line.source },
                    ...sourceDiff(pair, version.asked)),
                 el("p", { lang: segment.line.target },
                    ...targetDiff(pair, places, version.text))));
}

function showVotes(segment, word)
{
    const { info } = current(segment);
    const votes = info ? votesOf(info, word) : [];
    const reasons = word.index >= 0 && info
        ? info.words[word.index].reasons.slice(0, 4) : [];

    if (!votes.length) {
        $("votes").replaceChildren(el("p", { class: "small" }, info
            ? t("No stored pair voted for this word. The model chose it.")
            : t("This translation was changed. Store it to see what the memory makes of it.")));
        return;
    }
    $("votes").replaceChildren(
        el("ul", {}, ...votes.map(([pair, share]) =>
            showVote(segment, word, pair, share))),
        el("p", { class: "small" },
           el("del", {}, t("only in the stored sentence")), " · ",
           el("ins", {}, t("only in yours")), " · ",
           el("mark", {}, t("voted for this word")), " · ",
           el("span", { class: "other" }, t("not in your translation"))));
    if (reasons.length)
        $("votes").append(el("p", { class: "small" },
            t("Reasons for (+) and against (−) the memory:"), " ",
            el("span", { lang: "en" },
               reasons.map((r) => `${r.text} (${r.effect > 0 ? "+" : "−"})`)
                   .join(", "))));
}

// ---- alternatives -------------------------------------------------------------

function showAlternative(segment, x)
{
    const rest = x.text.slice(x.end);

    return el("li", {},
              el("button", { type: "button", lang: segment.line.target,
                             onclick: () => actions.choose(segment, x) },
                 x.word, el("small", {}, rest.trim() ? "… " + rest.trim() : "")));
}

async function askAlternatives(segment, word)
{
    const list = $("alternatives");

    controller?.abort();
    controller = new AbortController();
    const mine = controller;

    list.replaceChildren(el("p", { class: "small" }, t("Looking …")));
    try {
        const answer = await api.alternatives({
            ...choices(), text: segment.source, position: word.begin, n: 6,
            translation: current(segment).text }, mine.signal);

        if (mine.signal.aborted) return;
        list.replaceChildren(answer.alternatives.length
            ? el("ul", {}, ...answer.alternatives.map((x) =>
                showAlternative(segment, x)))
            : el("p", { class: "small" }, t("None.")));
    } catch (error) {
        if (error.name === "AbortError") return;
        list.replaceChildren(el("p", { class: "small" }, error.message ||
                                t("The server does not answer.")));
    }
}

// ---- the panel ------------------------------------------------------------------

// Opens the panel for a word. With `focus` it gets the focus, and Escape gives
// it back.
export function openPanel(segment, word, focus)
{
    const node = segment.words.find((w) => w.word === word);
    const text = current(segment).text.slice(word.begin, word.end);

    closePanel(false);
    opened = { segment, word, node };
    node?.setAttribute("aria-expanded", "true");
    $("panel-title").replaceChildren(
        el("span", { class: `word w${level(word.weight)}`,
                     lang: segment.line.target }, text), " ",
        el("small", {}, word.weight < 0.05 ? t("chosen by the model")
            : t("memory: {n}", { n: percent(word.weight) })));
    $("panel").hidden = false;
    document.documentElement.classList.add("panel-open");
    $("panel").scrollTop = 0;
    showVotes(segment, word);
    askAlternatives(segment, word);
    if (focus) $("panel-title").focus();
}

export function closePanel(giveBack = true)
{
    if (!opened) return;
    const { node } = opened;

    controller?.abort();
    opened = null;
    $("panel").hidden = true;
    document.documentElement.classList.remove("panel-open");
    node?.removeAttribute("aria-expanded");
    if (giveBack && node?.isConnected) node.focus();
}

// Whether the panel shows a word of this sentence.
export const showsSegment = (segment) => opened?.segment === segment;

export function startPanel()
{
    $("panel-close").addEventListener("click", () => closePanel());
    document.addEventListener("keydown", (e) => {
        if (e.key !== "Escape" || !opened || $("help").open) return;
        if (e.target.closest("textarea")) return;
        e.preventDefault();
        e.stopPropagation();
        closePanel();
    }, true);
}
