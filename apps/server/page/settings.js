// settings.js - what the user has chosen.
//
// Choices are kept in localStorage, the key in sessionStorage, texts nowhere.
import { getKey, setKey } from "./api.js";
import { $, el, say } from "./dom.js";
import { setLanguage, t } from "./i18n.js";

const names = ["language", "theme", "save-memory", "use-memory", "pair"];
let options = {};               // of the engine, by name
let account = null;             // what the server says about the account
let changed = () => {};         // called if translations could change

const load = (name) => localStorage.getItem("skmt." + name) ?? "";
const save = (name, value) => localStorage.setItem("skmt." + name, value);

// The languages of the chosen pair.
export function languages()
{
    const [source, target] = $("pair").value.split("-");

    return { source, target };
}

// The arguments of a translation that the user has chosen.
export function choices()
{
    const args = { ...languages() };

    if ($("use-memory").value) args.memories = [$("use-memory").value];
    if (Object.keys(options).length) args.options = options;
    return args;
}

// Whether corrections can be stored.
export const setAccount = (a) => { account = a; };
export const canStore = () => Boolean(account?.memory && account.write);

// The memory that gets corrections; undefined: the main one.
export const saveMemory = () => $("save-memory").value || undefined;

export function applyTheme()
{
    const theme = load("theme") || "auto";

    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
}

// ---- lists that the server fills ---------------------------------------------

// Replaces the options of a select element and keeps the choice. The first
// option stays if `keep`.
function fillSelect(id, entries, keep)
{
    const select = $(id);
    const wanted = load(id) || select.value;

    while (select.options.length > (keep ? 1 : 0)) select.lastElementChild.remove();
    for (const [value, text] of entries)
        select.append(el("option", { value }, text));
    if ([...select.options].some((o) => o.value === wanted)) select.value = wanted;
}

export function fillLanguages(pairs)
{
    fillSelect("pair", pairs.map((p) => [`${p.source}-${p.target}`,
        `${t(p.source_name)} → ${t(p.target_name)}`]), false);
}

export function fillMemories(memories)
{
    const entries = memories.map((m) => [m.name, m.title]);

    fillSelect("use-memory", entries, true);
    fillSelect("save-memory", entries, true);
}

export function fillOptions(list)
{
    options = JSON.parse(load("options") || "{}");
    $("options").replaceChildren(...list.map((o) => {
        const id = "option-" + o.name;
        const input = el("input", { id, "value": options[o.name] ?? "",
                                    "placeholder": o.default,
                                    "autocomplete": "off",
                                    "aria-describedby": id + "-help" });

        input.addEventListener("change", () => {
            if (input.value.trim()) options[o.name] = input.value.trim();
            else delete options[o.name];
            save("options", JSON.stringify(options));
            say("settings-status", t("Saved."));
            changed();
        });
        return el("div", { class: "option" },
                  el("div", {}, el("label", { for: id, lang: "en" }, o.name),
                     el("p", { class: "small", lang: "en", id: id + "-help" },
                        o.help)), input);
    }));
}

// ---- start ----------------------------------------------------------------------

// onChange is called when translations could change, onKey when the key did.
export function startSettings(onChange, onKey)
{
    changed = onChange;
    applyTheme();
    $("theme").value = load("theme") || "auto";
    $("key").value = getKey();
    for (const name of names)
        $(name).addEventListener("change", () => {
            save(name, $(name).value);
            if (name === "theme") applyTheme();
            if (name === "language") setLanguage($(name).value);
            if (name === "pair" || name === "use-memory") changed();
            else say("settings-status", t("Saved."));
        });
    $("key").addEventListener("change", () => {
        setKey($("key").value.trim());
        say("settings-status", t("Saved."));
        onKey();
    });
}
