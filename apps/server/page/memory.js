// memory.js - the part "Memories": lists memories and their pairs, changes,
// imports and exports them.
import * as api from "./api.js";
import { $, acceptDrop, el, saveFile, say, showError } from "./dom.js";
import { sourceDiff } from "./diff.js";
import { count, percent, t } from "./i18n.js";
import { languages } from "./settings.js";

let changed = async () => {};   // called when translations could change
let memories = [];
let chosen = null;              // the memory that is shown
let query = "";                 // of the search that is shown; "": all pairs
let next = 0;                   // where the next page of pairs begins
let turn = 0;                   // counts what was asked for; see refresh
let stopImport = null;

// Runs a change, tells its outcome, and shows errors.
async function act(work, message)
{
    try {
        const result = await work();

        showError(null);
        if (message) say("memory-status", message(result));
        return true;
    } catch (error) {
        if (error.name !== "AbortError")
            showError(error.message || t("The server does not answer."));
        return false;
    }
}

// ---- the list of memories -----------------------------------------------------

function showList()
{
    $("memory-list").replaceChildren(...memories.map((m) =>
        el("li", {}, el("button", {
            "type": "button", "aria-current": m.name === chosen?.name && "true",
            "onclick": () => choose(m) }, m.title,
            el("small", {}, count(m.pairs, "pair", "pairs"))))));
    if (!memories.length)
        $("memory-list").append(el("li", { class: "small" },
                                   t("There is no memory yet. Create one; then import a file or add pairs.")));
}

// Reads the memories again and shows the chosen one. If it is called again
// before the answers are there, only the last call shows something.
async function refresh(name = chosen?.name)
{
    const mine = ++turn;
    const list = await api.listMemories();

    if (mine !== turn) return;
    memories = list;
    chosen = memories.find((m) => m.name === name) ?? memories[0] ?? null;
    $("memory").hidden = !chosen;
    $("memory-title").textContent = chosen?.title ?? "";
    showList();
    if (chosen) await showPairs();
}

async function choose(memory)
{
    query = $("query").value = "";
    say("memory-status", "");
    $("pairs").tBodies[0].replaceChildren();
    await act(() => refresh(memory.name));
    $("memory-list").querySelector("[aria-current]")?.focus();
}

export const showMemories = () => act(() => refresh());

// After a change of the memory.
async function update()
{
    await refresh();
    await changed();
}

// ---- pairs -----------------------------------------------------------------------

function showPair(pair, match)
{
    const row = el("tr");
    const fill = () => row.replaceChildren(
        el("td", { lang: pair.source_lang || "de" },
           ...(match ? sourceDiff({ ...pair, edits: match.edits }, query)
               : [pair.source]),
           match ? el("p", { class: "small" }, t("{n} similar",
                      { n: percent(match.similarity) })) : null),
        el("td", { lang: pair.target_lang || "en" }, pair.target),
        el("td", {},
           el("button", { "type": "button", "class": "quiet", "onclick": edit,
                          "aria-label": `${t("Edit")}: ${pair.source}` },
              t("Edit")),
           el("button", { "type": "button", "class": "danger", "onclick": remove,
                          "aria-label": `${t("Delete")}: ${pair.source}` },
              t("Delete"))));
    const edit = () => editPair(row, pair, fill);
    const remove = async () => {
        const at = row.sectionRowIndex;

        if (!await act(async () => {
            await api.deletePair(pair.memory, pair.id);
            await update();
        }, () => t("Deleted."))) return;
        const rows = $("pairs").tBodies[0].rows;

        (rows[Math.min(at, rows.length - 1)]?.querySelector("button") ??
         $("query")).focus();
    };

    fill();
    return row;
}

// Counts the pairs again without showing them again.
async function recount()
{
    memories = await api.listMemories();
    chosen = memories.find((m) => m.name === chosen.name) ?? chosen;
    showList();
    await changed();
}

function editPair(row, pair, fill)
{
    const field = (label, value, lang) => {
        const node = el("textarea", { "rows": 3, "aria-label": label, lang });

        node.value = value;
        return node;
    };
    const source = field(t("Source"), pair.source, pair.source_lang || "de");
    const target = field(t("Translation"), pair.target, pair.target_lang || "en");
    const back = () => {
        fill();
        row.querySelector("button").focus();
    };
    const store = async () => {
        const args = { source: source.value.trim(), target: target.value.trim() };

        if (!await act(async () => Object.assign(pair,
            await api.changePair(pair.memory, pair.id, args)),
                       () => t("Stored."))) return;
        back();
        await act(recount);
    };

    row.replaceChildren(el("td", {}, source), el("td", {}, target),
        el("td", {},
           el("button", { type: "button", onclick: store }, t("Store")),
           el("button", { type: "button", class: "quiet", onclick: back },
              t("Cancel"))));
    row.onkeydown = (e) => {
        if (!e.target.matches("textarea")) return;
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) store();
        else if (e.key === "Escape") back();
        else return;
        e.preventDefault();
    };
    target.focus();
}

async function showPairs()
{
    const mine = ++turn;
    const found = query ? await api.search(chosen.name, query) : null;
    const rows = $("pairs").tBodies[0].rows.length;
    const page = query ? null
        : await api.listPairs(chosen.name, 0, Math.min(Math.max(50, rows), 1000));

    if (mine !== turn) return;
    next = page?.next ?? null;
    $("more").hidden = next === null;
    $("pairs").tBodies[0].replaceChildren(...found
        ? found.map((m) => showPair(m.pair, m))
        : page.pairs.map((p) => showPair(p, null)));
    if (found)
        say("memory-status", count(found.length, "pair found", "pairs found"));
}

async function showMore()
{
    const mine = ++turn;
    const page = await api.listPairs(chosen.name, next);

    if (mine !== turn) return;
    $("pairs").tBodies[0].append(...page.pairs.map((p) => showPair(p, null)));
    next = page.next;
    $("more").hidden = next === null;
}

// ---- import and export --------------------------------------------------------------

function showProgress(p)
{
    if (p.total) $("import-bar").value = p.done / p.total;
    else $("import-bar").removeAttribute("value");
    $("import-label").textContent = count(p.pairs, "pair", "pairs");
}

function describeImport(name, n)
{
    if (!n) return t("Nothing was imported: {name} has no pairs in the languages of this memory.", { name });
    return t("Imported {pairs} from {name}.",
             { pairs: count(n, "pair", "pairs"), name });
}

async function importFile(file)
{
    stopImport = new AbortController();
    $("import-state").hidden = false;
    $("import-label").textContent = t("Sending {name} …", { name: file.name });
    $("import-bar").removeAttribute("value");
    $("import").disabled = true;
    const good = await act(
        () => api.importFile(chosen.name, file, showProgress, stopImport.signal),
        (r) => describeImport(file.name, r.imported));

    $("import-state").hidden = true;
    $("import").disabled = false;
    if (stopImport.signal.aborted)
        say("memory-status", t("Canceled. Nothing was imported."));
    $("import").focus();
    if (good) await act(update);
}

// ---- start -----------------------------------------------------------------------------

function startPairs()
{
    $("search").addEventListener("submit", (e) => {
        e.preventDefault();
        query = $("query").value.trim();
        act(showPairs);
    });
    $("more").addEventListener("click", () => act(showMore));
    $("pair-new").addEventListener("submit", async (e) => {
        e.preventDefault();
        const pair = { source: $("new-source").value.trim(),
                       target: $("new-target").value.trim() };

        // A memory without languages gets those of the chosen pair.
        if (!chosen.source && !chosen.target)
            Object.assign(pair, { source_lang: languages().source,
                                  target_lang: languages().target });

        if (!await act(async () => {
            await api.addPair(chosen.name, pair);
            await update();
        }, () => t("Stored."))) return;
        $("pair-new").reset();
        $("new-source").focus();
    });
}

// onChange is called when the memories have changed.
export function startMemories(onChange)
{
    changed = onChange;
    $("memory-new").addEventListener("submit", async (e) => {
        e.preventDefault();
        let made;

        if (!await act(async () => {
            made = await api.createMemory($("memory-name").value.trim(),
                                          languages());
        })) return;
        $("memory-new").reset();
        await act(() => refresh(made.name));
        await act(changed);
        say("memory-status", t("Created {name}.", { name: made.title }));
    });
    $("memory-delete").addEventListener("click", async () => {
        if (!confirm(t("Delete the memory “{name}” with all its pairs?",
                       { name: chosen.title }))) return;
        const { name, title } = chosen;

        await act(async () => {
            await api.deleteMemory(name);
            await update();
        }, () => t("Deleted {name}.", { name: title }));
    });
    $("import").addEventListener("click", () => $("import-file").click());
    $("import-file").addEventListener("change", () => {
        if ($("import-file").files.length) importFile($("import-file").files[0]);
        $("import-file").value = "";
    });
    $("import-stop").addEventListener("click", () => stopImport.abort());
    acceptDrop($("memory"), importFile);
    $("export").addEventListener("click", () => act(async () =>
        saveFile(await api.exportMemory(chosen.name), chosen.name + ".tmx"),
        () => t("Exported.")));
    startPairs();
}
