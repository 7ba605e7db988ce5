// segments.js - shows the sentences of the translation: words, matches, and
// editing in place.
//
// A sentence is an object
//
//     { source,              // its text
//       line,                // the line it is in (translate.js)
//       begin,               // offset of source in the line
//       span,                // of its translation in that of the line
//       answer,              // the version of the server
//       draft,               // a version that is not stored yet; null: none
//       stored, updated,     // just stored; changed by the memory
//       editing,             // an editor is open
//       node, words }        // its <li>, and the elements of its words
//
// and a version is
//
//     { text,
//       info,                // how the server explains it; null: not at all
//       offset,              // of text in what the server answered
//       asked }              // the text of the request
//
// The words of a sentence are one stop of the Tab key; the arrow keys move
// between them.
import { $, el, say } from "./dom.js";
import { t, percent } from "./i18n.js";
import { canStore } from "./settings.js";

// What the keys and buttons of a sentence do; set by translate.js.
export const actions = { store: null, openWord: null, toText: null, focus: null };

// The version that is shown.
export const current = (segment) => segment.draft ?? segment.answer;

// Level 0 to 4 of a weight, for its shade and underline.
export const level = (weight) =>
    weight < 0.05 ? 0 : weight < 0.3 ? 1 : weight < 0.6 ? 2 : weight < 0.85 ? 3 : 4;

// The words of a sentence as { begin, end, weight, index }. Offsets are into
// its text, index is into info.words. A stored translation has no words of its
// own: all of it is from the memory.
export function wordsOf(segment)
{
    const { text, info, offset } = current(segment);
    const weight = info?.exact ? 1 : 0;

    if (!info?.words.length)
        return [...text.matchAll(/\S+/g)].map((m) =>
            ({ begin: m.index, end: m.index + m[0].length, weight, index: -1 }));
    return info.words.map((w, index) => ({ begin: w.begin - offset,
                                           end: w.end - offset,
                                           weight: w.weight, index }))
        .filter((w) => w.end > w.begin);
}

// ---- words ------------------------------------------------------------------

function makeWord(segment, word, text)
{
    const influence = word.weight < 0.05 ? ""
        : `, ${t("memory")} ${percent(word.weight)}`;

    return el("span", { "class": `word w${level(word.weight)}`,
                        "role": "button", "tabindex": -1,
                        "aria-label": text + influence }, text);
}

function fillWords(segment, line)
{
    const { text } = current(segment);
    let end = 0;

    segment.words = [];
    for (const word of wordsOf(segment)) {
        const node = makeWord(segment, word, text.slice(word.begin, word.end));

        if (word.begin > end) line.append(text.slice(end, word.begin));
        node.addEventListener("click", () => {
            focusWord(segment, segment.words.indexOf(node));
            actions.openWord(segment, word, false);
        });
        node.word = word;
        segment.words.push(node);
        line.append(node);
        end = word.end;
    }
    line.append(text.slice(end));
    if (segment.words.length) segment.words[0].tabIndex = 0;
}

export function focusWord(segment, i)
{
    const node = segment?.words?.[i];

    if (!node) return false;
    for (const other of segment.words) other.tabIndex = other === node ? 0 : -1;
    node.focus();
    return true;
}

// All sentences that are shown, in order.
const shown = () => [...$("segments").children].map((li) => li.segment)
    .filter((s) => s);

// The sentence `step` after this one.
export function neighbor(segment, step)
{
    const all = shown();

    return all[all.indexOf(segment) + step];
}

function onWordKey(e, segment)
{
    const i = segment.words.indexOf(e.target);
    const last = segment.words.length - 1;
    const moves = {
        ArrowRight: () => focusWord(segment, i + 1) ||
            focusWord(neighbor(segment, 1), 0),
        ArrowLeft: () => focusWord(segment, i - 1) ||
            focusWord(neighbor(segment, -1),
                      (neighbor(segment, -1)?.words.length ?? 0) - 1),
        ArrowDown: () => focusWord(neighbor(segment, 1), 0),
        ArrowUp: () => focusWord(neighbor(segment, -1), 0),
        Home: () => focusWord(segment, 0),
        End: () => focusWord(segment, last),
        Enter: () => actions.openWord(segment, e.target.word, true),
        " ": () => actions.openWord(segment, e.target.word, true),
        e: () => edit(segment),
        E: () => edit(segment),
        F2: () => edit(segment),
        Escape: () => actions.toText(),
    };

    if (i < 0 || e.ctrlKey || e.altKey || e.metaKey || !moves[e.key]) return;
    e.preventDefault();
    moves[e.key]();
}

// ---- the line below the words -------------------------------------------------

function matchText(segment)
{
    const { info } = segment.answer;
    const best = Math.max(0, ...(info?.pairs ?? []).map((p) => p.similarity ?? 0));

    if (segment.stored) return [1, t("stored word for word")];
    if (!info) return [0, t("not translated")];
    if (info.exact) return [1, t("stored word for word")];
    if (!info.pairs.length) return [0, t("no similar pair")];
    return [best, t("{n} similar", { n: percent(best) })];
}

function makeFoot(segment)
{
    const [share, text] = matchText(segment);
    const bar = el("i");
    const foot = el("div", { class: "segment-foot" });

    bar.style.width = 100 * share + "%";
    if (segment.draft === null)
        foot.append(el("span", { class: "match" },
                       el("span", { "class": "meter", "aria-hidden": "true" },
                          bar), text));
    else foot.append(el("span", { class: "note" }, t("changed, not stored")));
    if (segment.stored) foot.append(el("span", { class: "note" }, t("✓ stored")));
    else if (segment.updated)
        foot.append(el("span", { class: "note" }, t("↻ follows your memory")));
    foot.append(el("button", { type: "button", class: "quiet",
                               onclick: () => edit(segment) }, t("Edit")));
    if (segment.draft !== null) {
        if (canStore()) foot.append(el("button", { type: "button", class: "main",
                                   onclick: () => actions.store(segment,
                                                                segment.draft.text) },
                       t("Store")));
        foot.append(el("button", { type: "button", class: "quiet",
                                   onclick: () => discard(segment) },
                       t("Undo")));
    }
    return foot;
}

function discard(segment)
{
    segment.draft = null;
    show(segment);
    focusWord(segment, 0);
}

// ---- a sentence -----------------------------------------------------------------

// Fills the <li> of a sentence. It is made if it does not exist.
export function show(segment)
{
    const line = el("p", { class: "segment-target", lang: segment.line.target,
                           role: "group", "aria-label": t("Translation") });
    const old = segment.node;

    if (!old) {
        segment.node = el("li", { class: "segment" });
        segment.node.segment = segment;
        segment.node.addEventListener("focusin", () => actions.focus(segment));
        segment.node.addEventListener("mouseenter", () => actions.focus(segment));
    }
    fillWords(segment, line);
    line.addEventListener("keydown", (e) => onWordKey(e, segment));
    line.addEventListener("dblclick", () => edit(segment));
    segment.editing = false;
    segment.node.classList.toggle("updated", Boolean(segment.updated));
    segment.node.replaceChildren(
        el("p", { class: "segment-source", lang: segment.line.source },
           segment.source),
        line, makeFoot(segment));
    return segment.node;
}

// ---- editing --------------------------------------------------------------------

export function edit(segment)
{
    const field = el("textarea", { "rows": 2, "lang": segment.line.target,
                                   "aria-label": t("Correction"),
                                   "spellcheck": "true" });
    const store = () => actions.store(segment, field.value.trim());
    const cancel = () => {
        show(segment);
        focusWord(segment, 0);
    };

    field.value = current(segment).text;
    field.addEventListener("keydown", (e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) store();
        else if (e.key === "Escape") cancel();
        else return;
        e.preventDefault();
        e.stopPropagation();
    });
    segment.editing = true;
    segment.words = [];
    segment.node.replaceChildren(
        segment.node.firstChild, field,
        el("div", { class: "segment-foot" },
           el("button", { type: "button", class: "main", onclick: store },
              t("Store")),
           el("button", { type: "button", class: "quiet", onclick: cancel },
              t("Cancel"))));
    field.style.height = field.scrollHeight + 4 + "px";
    field.focus();
    say("status", t("Editing. Ctrl+Enter stores, Escape cancels."));
}
