// translate.js - translates the text of the user as it is typed.
//
// The text is cut into lines. Only lines that have changed are sent again, some
// at a time. A newer request replaces the older one: here by an AbortController,
// at the server by the argument "replaces". A line is an object
//
//     { text, begin,         // its text, and its offset in the field
//       source, target,      // languages
//       stale,               // needs a translation
//       answer,              // translation of the server; "" before the first
//       segments,            // its sentences (segments.js)
//       nodes }              // their elements, or a place holder
import * as api from "./api.js";
import { $, acceptDrop, el, saveFile, say, showError } from "./dom.js";
import { count, t } from "./i18n.js";
import * as segments from "./segments.js";
import { canStore, choices, languages, saveMemory } from "./settings.js";
import * as words from "./words.js";

const typing_ms = 250;          // from the last key to the request
const batch_lines = 16, batch_chars = 4000;
const long_chars = 1500, long_lines = 30;       // a long text is shown as rows
const follow_lines = 20;        // translated again after a correction, if long
const file_bytes = 4 << 20;

const tab = "page-" + Math.random().toString(36).slice(2);
const cache = new Map();        // translations by line
const corrected = new Set();    // sources that were stored here
let lines = [];
let unread = true;              // the field is not in `lines` yet
let timer = 0;
let controller = null;          // of the request in progress
let wanted = false;             // go to the translation when it is there
let fileName = "";

// ---- lines --------------------------------------------------------------------

const isLong = () => $("text").value.length > long_chars ||
    lines.length > long_lines;

function newLine()
{
    return { text: "", begin: 0, source: "", target: "", stale: true,
             answer: "", segments: [], nodes: [] };
}

// Assigns the lines of the field to line objects. An object keeps its line if
// its text is still there. Otherwise it shows its old translation, dimmed, until
// the new one comes.
function readLines()
{
    const texts = $("text").value.split("\n");
    const old = new Map();
    const left = new Set(lines);
    let begin = 0;

    lines.forEach((line) => old.set(line.text, [...old.get(line.text) ?? [], line]));
    const kept = texts.map((text) => {
        const line = old.get(text)?.shift();

        left.delete(line);
        return line;
    });
    lines = texts.map((text, i) => {
        let line = kept[i];

        if (!line) {
            line = left.has(lines[i]) ? lines[i] : newLine();
            left.delete(line);
            line.stale = true;
            line.text = text;
        }
        line.begin = begin;
        begin += text.length + 1;
        return line;
    });
}

const isBlank = (line) => !line.text.trim();

// Numbers the sentences. CSS cannot: browsers skip rows that are not visible.
function number()
{
    [...$("segments").children].forEach((node, i) => {
        node.dataset.number = i + 1;
    });
}

// Puts the elements of all lines into the list.
function layOut()
{
    for (const line of lines) {
        if (isBlank(line)) Object.assign(line, { answer: line.text, segments: [],
                                                 nodes: [], stale: false });
        else if (!line.nodes.length)
            line.nodes = [el("li", { class: "segment" },
                             el("p", { class: "segment-source" }, line.text),
                             el("p", { class: "wait" }, "…"))];
        for (const node of line.nodes) node.classList.toggle("stale", line.stale);
    }
    $("segments").replaceChildren(...lines.flatMap((line) => line.nodes));
    number();
    $("segments").hidden = $("text").value.trim() === "";
    $("welcome").hidden = !$("segments").hidden;
    $("form").classList.toggle("long", isLong());
    $("count").textContent = $("text").value
        ? count($("text").value.length, "character", "characters") : "";
    $("clear").hidden = $("copy").hidden = $("download").hidden =
        $("segments").hidden;
    markSource(null);
}

// Marks the source of a sentence in the field; null: none.
function markSource(segment)
{
    const text = $("text").value;
    const begin = segment ? segment.line.begin + segment.begin : text.length;
    const end = segment ? begin + segment.source.length : begin;

    if (isLong()) return;
    // The last line needs a character to have a height.
    $("backdrop").replaceChildren(text.slice(0, begin),
        end > begin ? el("span", {}, text.slice(begin, end)) : "",
        text.slice(end) + "\n\u200b");
}

// ---- answers --------------------------------------------------------------------

// The sentences of an answer.
function readSegments(line, answer)
{
    const version = (begin, end, info) =>
        ({ text: answer.text.slice(begin, end), info, offset: begin,
           asked: line.text });
    const made = (begin, end, v) =>
        ({ source: line.text.slice(begin, end), line, begin, answer: v,
           span: { begin: v.offset, end: v.offset + v.text.length }, draft: null, stored: false, updated: false, editing: false,
           node: null, words: [] });

    if (!answer.segments.length)
        return [made(0, line.text.length, version(0, answer.text.length, null))];
    return answer.segments.map((s) =>
        made(s.source.begin, s.source.end,
             version(s.target.begin, s.target.end, s)));
}

// Where the focus is among the sentences of a line, to put it back when their
// elements are replaced.
function focusIn(line)
{
    const at = line.segments.findIndex((s) =>
        s.node?.contains(document.activeElement));

    return [at, at < 0 ? -1
        : line.segments[at].words.indexOf(document.activeElement)];
}

function takeAnswer(line, answer)
{
    const old = line.segments;
    // What is known of a sentence is about its translation into one language.
    const known = line.source === answer.source && line.target === answer.target
        ? old : [];
    const [focused, word] = focusIn(line);
    const before = line.nodes;

    line.stale = false;
    line.answer = answer.text;
    line.source = answer.source;
    line.target = answer.target;
    line.segments = readSegments(line, answer).map((segment) => {
        const same = known.find((s) => s.source === segment.source);

        if (!same) return segment;
        segment.updated = same.answer.text !== segment.answer.text ||
            (same.updated && !segment.answer.info?.exact);
        if (!same.editing) return { ...segment, draft: same.draft };
        const { answer: version, begin, span } = segment;

        return Object.assign(same, { answer: version, begin, span });
    });
    for (const s of line.segments)
        s.stored = Boolean(s.answer.info?.exact) && corrected.has(s.source);
    line.nodes = line.segments.map((s) => s.editing ? s.node : segments.show(s));
    before[0].before(...line.nodes);
    for (const node of before) if (!line.nodes.includes(node)) node.remove();
    for (const node of line.nodes) node.classList.remove("stale");
    if (old.some((s) => words.showsSegment(s) && !line.segments.includes(s)))
        words.closePanel(false);
    if (focused >= 0 && line.segments[focused] && !line.segments[focused].editing)
        segments.focusWord(line.segments[focused], Math.max(word, 0)) ||
            segments.focusWord(line.segments[focused], 0);
}

function sayResult()
{
    const all = lines.flatMap((l) => l.segments);
    const exact = all.filter((s) => s.answer.info?.exact).length;
    const helped = all.filter((s) => !s.answer.info?.exact &&
        s.answer.info?.words.some((w) => w.weight >= 0.05)).length;
    const parts = [count(all.length, "sentence", "sentences")];

    if (exact) parts.push(t("{n} stored word for word", { n: exact }));
    if (helped) parts.push(t("{n} with the help of your memory", { n: helped }));
    say("status", parts.join(", ") + ".");
}

// ---- requests ---------------------------------------------------------------------

const delay = (ms, signal) => new Promise((done, fail) => {
    setTimeout(done, ms);
    signal.addEventListener("abort", () => fail(signal.reason));
});

// Asks until the server has room. Other errors are thrown.
async function askServer(texts, many, signal)
{
    for (;;) {
        try {
            const args = { ...choices(), texts, explain: true, replaces: tab,
                           background: many };

            return (await api.translate(args, signal)).translations;
        } catch (error) {
            if (!["busy", "rate", "not_ready"].includes(error.kind)) throw error;
            const seconds = Math.max(1, error.retryAfter);

            say("status", t("The server is busy. Trying again in {n} s.",
                            { n: seconds }));
            await delay(1000 * seconds, signal);
        }
    }
}

// The first lines of a list that fit into a request.
function takeBatch(list)
{
    let chars = 0, n = 0;

    while (n < list.length && n < batch_lines) {
        chars += list[n].text.length;
        if (n > 0 && chars > batch_chars) break;
        n++;
    }
    return list.splice(0, n);
}

async function translateLines(list, signal)
{
    const total = list.length, many = total > batch_lines;

    list = list.filter((line) => {
        const known = cache.get(line.text);

        if (known) takeAnswer(line, known);
        return !known;
    });
    while (list.length && !signal.aborted) {
        $("progress").hidden = !many;
        $("progress").value = (total - list.length) / total;
        const batch = takeBatch(list);
        const texts = batch.map((line) => line.text);
        const answers = await askServer(texts, many, signal);

        if (signal.aborted) return;
        if (cache.size > 5000) cache.clear();
        batch.forEach((line, i) => {
            cache.set(texts[i], answers[i]);
            // The line may have been changed in the meantime.
            if (line.text === texts[i]) takeAnswer(line, answers[i]);
        });
        number();
    }
}

// After a correction the status keeps what was said about it.
async function translateNow(quiet = false)
{
    const mine = new AbortController();

    clearTimeout(timer);
    readText();
    controller?.abort();
    controller = mine;
    if (!$("pair").value) return;
    try {
        await translateLines(lines.filter((l) => l.stale), mine.signal);
        if (mine.signal.aborted) return;
        showError(null);
        if ($("segments").hidden) say("status", "");
        else if (!quiet) sayResult();
    } catch (error) {
        if (mine.signal.aborted || error.name === "AbortError") return;
        showError(error.message ||
                  t("The server does not answer. Is it running?"));
        say("status", "");
    }
    $("progress").hidden = true;
    if (wanted) goToTranslation();
}

// Reads the field, if it has changed since.
function readText()
{
    if (!unread) return;
    unread = false;
    readLines();
    layOut();
}

// A long text is read when nothing is typed for a moment, because that takes
// longer than a key press may take.
function onInput()
{
    unread = true;
    if (!isLong()) readText();
    words.closePanel(false);
    clearTimeout(timer);
    timer = setTimeout(() => translateNow(), typing_ms);
}

// Translates again what the memory could change. After a correction in a long
// text, these are the lines after the one of `segment` only.
export function memoryChanged(segment = null)
{
    readText();
    const first = segment && isLong() ? lines.indexOf(segment.line) : 0;
    const last = segment && isLong() ? first + follow_lines : lines.length;

    cache.clear();
    lines.forEach((line, i) => {
        if (i >= first && i <= last && !isBlank(line)) line.stale = true;
    });
    translateNow(segment !== null);
}

// ---- corrections ------------------------------------------------------------------

async function store(segment, text)
{
    const { source, target } = segment.line;

    if (!text) return say("status", t("A translation cannot be empty."));
    if (!canStore()) {
        segment.draft = { text, info: null, offset: 0, asked: segment.source };
        segments.show(segment);
        segments.focusWord(segment, 0);
        return say("status", t("Changed on this page only: this server stores nothing for you."));
    }
    try {
        const answer = await api.feedback({
            source: segment.source, translation: segment.answer.text,
            corrected: text, memory: saveMemory(),
            source_lang: source, target_lang: target });

        corrected.add(segment.source);
        if (words.showsSegment(segment)) words.closePanel(false);
        segment.draft = null;
        segment.answer = { text, info: segment.answer.info?.exact
            ? segment.answer.info : null, offset: segment.answer.offset,
                           asked: segment.answer.asked };
        segment.stored = true;
        segments.show(segment);
        showError(null);
        say("status", t("Stored in “{memory}”. The next sentence can use it.",
                        { memory: answer.memory }));
        segments.focusWord(segments.neighbor(segment, 1), 0) ||
            segments.focusWord(segment, 0);
        memoryChanged(segment);
    } catch (error) {
        showError(t("Not stored: {why}", { why: error.message ||
                    t("The server does not answer.") }));
    }
}

// An alternative was chosen: show the translation that follows from it, then
// how the memory explains it.
async function choose(segment, alternative)
{
    const { text } = alternative;
    const prefix = text.slice(0, alternative.end);

    words.closePanel(false);
    segment.draft = { text, info: null, offset: 0, asked: segment.source };
    segments.show(segment);
    focusAt(segment, alternative.begin);
    say("status", t("Changed: {text}", { text }));
    try {
        const answer = (await api.translate({ ...choices(), explain: true,
            texts: [segment.source], prefix })).translations[0];

        if (segment.draft?.text !== text || segment.editing ||
            answer.text !== text || answer.segments.length !== 1) return;
        segment.draft.info = answer.segments[0];
        segment.draft.offset = answer.segments[0].target.begin;
        const focused = segment.node.contains(document.activeElement);

        segments.show(segment);
        if (focused) focusAt(segment, alternative.begin);
    } catch {
        // The text is there; it is only not explained.
    }
}

// Moves the focus to the word at an offset.
function focusAt(segment, offset)
{
    const i = segment.words.findIndex((node) => node.word.end > offset);

    segments.focusWord(segment, Math.max(i, 0));
}

// ---- files and the clipboard ------------------------------------------------------

// The whole translation, with what the user has changed.
function wholeText()
{
    return lines.map((line) => {
        let out = "", end = 0;

        for (const s of line.segments) {
            out += line.answer.slice(end, s.span.begin) +
                segments.current(s).text;
            end = s.span.end;
        }
        return out + line.answer.slice(end);
    }).join("\n");
}

async function copyText()
{
    try {
        await navigator.clipboard.writeText(wholeText());
        say("status", t("Copied."));
    } catch {
        say("status", t("The browser does not allow copying. Use Download."));
    }
}

function decode(bytes)
{
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
        return new TextDecoder("windows-1252").decode(bytes);
    }
}

async function openFile(file)
{
    if (file.size > file_bytes)
        return showError(t("This file is too large for the page (4 MB at most)."));
    const text = decode(await file.arrayBuffer());

    if (text.includes("\0"))
        return showError(t("This is not a text file."));
    showError(null);
    $("text").value = text.replace(/\r\n?/g, "\n");
    fileName = file.name;
    onInput();
    $("text").scrollTop = 0;
    say("status", t("Opened {name}.", { name: file.name }));
}

// ---- start ------------------------------------------------------------------------

// Shows the names of the languages over the fields, and sets them as the
// languages of their texts.
export function showLanguages()
{
    const { source, target } = languages();
    const [from, to] = ($("pair").selectedOptions[0]?.text ?? "").split(" → ");

    if (!target) return;
    $("source-name").textContent = from;
    $("target-name").textContent = to;
    $("text").lang = source;
}

function goToTranslation()
{
    const first = lines.find((line) => line.segments.length);

    wanted = false;
    segments.focusWord(first?.segments[0], 0);
}

export function startTranslate()
{
    Object.assign(segments.actions, {
        store, openWord: words.openPanel, focus: markSource,
        toText: () => $("text").focus() });
    words.actions.choose = choose;
    $("form").addEventListener("submit", (e) => e.preventDefault());
    $("text").addEventListener("input", onInput);
    $("text").addEventListener("keydown", (e) => {
        if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
        e.preventDefault();
        wanted = true;
        translateNow();
    });
    $("segments").addEventListener("mouseleave", () => markSource(null));
    $("clear").addEventListener("click", () => {
        $("text").value = "";
        fileName = "";
        onInput();
        $("text").focus();
    });
    $("copy").addEventListener("click", copyText);
    $("download").addEventListener("click", () => {
        const name = (fileName || "skmt.txt").replace(/(\.[^.]*)?$/,
            (end) => "." + languages().target + (end || ".txt"));

        saveFile(new Blob([wholeText()], { type: "text/plain" }), name);
    });
    $("open-file").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => {
        if ($("file").files.length) openFile($("file").files[0]);
        $("file").value = "";
    });
    acceptDrop($("form"), openFile);
    readText();
}
