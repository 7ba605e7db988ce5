// main.js - starts the page: its parts, and which of them is shown.
import * as api from "./api.js";
import { $, showError } from "./dom.js";
import { setLanguage, startLanguage, t } from "./i18n.js";
import { showMemories, startMemories } from "./memory.js";
import { fillLanguages, fillMemories, fillOptions, setAccount, startSettings } from "./settings.js";
import { memoryChanged, showLanguages, startTranslate } from "./translate.js";
import { startPanel } from "./words.js";

const parts = ["translate", "memories", "settings"];
let info = null;                // what the server said about itself

// ---- which part is shown ------------------------------------------------------

function showPart()
{
    const wanted = location.hash.slice(1);
    const part = parts.includes(wanted) ? wanted : "translate";

    for (const id of parts) $(id).hidden = id !== part;
    for (const link of document.querySelectorAll("nav a")) {
        if (link.hash === "#" + part) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    document.title = `${t($(part + "-title").dataset.t)} – skmt`;
    if (part === "memories") showMemories();
}

// ---- the server -----------------------------------------------------------------

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

function explainError(error)
{
    if (error.kind === "network")
        showError(t("The server does not answer. Is it running?"));
    else if (error.kind === "no_key" || error.kind === "wrong_key") {
        showError(t("This server needs a key. Enter it in the settings."));
        location.hash = "settings";
        $("key").focus();
    } else showError(error.message);
}

function showInfo()
{
    setAccount(info.account);
    fillLanguages(info.languages);
    fillOptions(info.options);
    showLanguages();
    $("version").textContent = "skmt " + info.version;
}

// Asks the server what it offers, until it is ready.
async function connect()
{
    for (;;) {
        try {
            info = await api.getInfo();
            if (info.state !== "loading") break;
        } catch (error) {
            if (error.kind !== "not_ready") return explainError(error);
        }
        $("status").textContent = t("The server is starting …");
        await wait(500);
    }
    showError(null);
    $("status").textContent = "";
    showInfo();
    try {
        fillMemories(info.account.memory ? await api.listMemories() : []);
    } catch (error) {
        explainError(error);
    }
    memoryChanged();
}

// ---- start ------------------------------------------------------------------------

function start()
{
    for (const node of document.querySelectorAll("[data-js]")) node.hidden = false;
    startLanguage(() => {
        showPart();
        if (info) showInfo();
        showLanguages();
        memoryChanged();
    });
    startTranslate();
    startPanel();
    startMemories(async () => {
        fillMemories(await api.listMemories());
        memoryChanged();
    });
    startSettings(() => {
        showLanguages();
        memoryChanged();
    }, connect);
    $("help-open").addEventListener("click", () => $("help").showModal());
    document.addEventListener("keydown", (e) => {
        if (e.key === "?" && e.target.closest("[role=button].word"))
            $("help").showModal();
    });
    document.querySelector(".skip").addEventListener("click", (e) => {
        e.preventDefault();
        $("work").focus();
    });
    addEventListener("hashchange", () => {
        const part = $(location.hash.slice(1));

        showPart();
        if (parts.includes(part?.id)) $("work").focus({ preventScroll: true });
    });
    showPart();
    connect();
}

start();
