// i18n.js - the languages of the page.
//
// The English text is the key, as in gettext. {name} stands for a value.

export const german = {
    // index.html
    "Skip to the content": "Zum Inhalt",
    "Main": "Bereiche",
    "Translate": "Übersetzen",
    "Memories": "Speicher",
    "Settings": "Einstellungen",
    "Languages": "Sprachen",
    "Memory": "Speicher",
    "All memories": "Alle Speicher",
    "Open file…": "Datei öffnen…",
    "Text": "Text",
    "Clear": "Leeren",
    "Type or paste a text, or drop a text file here":
        "Text eingeben oder einfügen, oder eine Textdatei hierher ziehen",
    "Translation": "Übersetzung",
    "Copy": "Kopieren",
    "Download": "Herunterladen",
    "Progress of the translation": "Fortschritt der Übersetzung",
    "The translation appears here as you type. The darker a word, the more your memory influenced it.":
        "Die Übersetzung erscheint hier, während Sie schreiben. Je dunkler ein Wort, desto größer war der Einfluss Ihres Speichers.",
    "Influence of the memory": "Einfluss des Speichers",
    "Influence of the memory:": "Einfluss des Speichers:",
    "none": "keiner", "little": "wenig", "some": "etwas", "much": "viel",
    "decided": "entscheidend",
    "Close": "Schließen",
    "Stored pairs that voted": "Gespeicherte Paare, die dafür gestimmt haben",
    "Other words here": "Andere Wörter an dieser Stelle",
    "New memory": "Neuer Speicher",
    "Create": "Anlegen",
    "Import…": "Importieren…",
    "Export": "Exportieren",
    "Delete memory": "Speicher löschen",
    "Import reads TMX, XLIFF, PO, TSV and CSV files. You can also drop one here.":
        "Importiert werden TMX-, XLIFF-, PO-, TSV- und CSV-Dateien. Sie können eine Datei auch hierher ziehen.",
    "Cancel": "Abbrechen",
    "Search for similar pairs": "Ähnliche Paare suchen",
    "Search": "Suchen",
    "Source": "Ausgangstext",
    "Pairs": "Paare",
    "Actions": "Aktionen",
    "Show more": "Mehr anzeigen",
    "Add a pair": "Paar hinzufügen",
    "Add": "Hinzufügen",
    "Page": "Seite",
    "Language of the page": "Sprache der Seite",
    "Colors": "Farben",
    "Same as the system": "Wie das System",
    "Light": "Hell",
    "Dark": "Dunkel",
    "Server": "Server",
    "Key": "Schlüssel",
    "Only if this server asks for one. It is kept until you close this tab.":
        "Nur wenn dieser Server einen verlangt. Er wird behalten, bis Sie diesen Tab schließen.",
    "Store corrections in": "Korrekturen speichern in",
    "The main memory": "Hauptspeicher",
    "Options of the engine": "Optionen der Übersetzung",
    "An empty field means the default value of the server.":
        "Ein leeres Feld bedeutet: Standardwert des Servers.",
    "Keyboard": "Tastatur",
    "in the text: go to the translation": "im Text: zur Übersetzung gehen",
    "previous or next word": "voriges oder nächstes Wort",
    "previous or next sentence": "voriger oder nächster Satz",
    "on a word: show its pairs and other words":
        "auf einem Wort: seine Paare und andere Wörter zeigen",
    "on a word: edit the sentence": "auf einem Wort: den Satz bearbeiten",
    "in a correction: store it and go on":
        "in einer Korrektur: speichern und weitergehen",
    "cancel, close, or go back to the text":
        "abbrechen, schließen oder zurück zum Text",

    // sentences
    "memory": "Speicher",
    "not translated": "nicht übersetzt",
    "stored word for word": "wörtlich gespeichert",
    "no similar pair": "kein ähnliches Paar",
    "{n} similar": "{n} ähnlich",
    "changed, not stored": "geändert, nicht gespeichert",
    "✓ stored": "✓ gespeichert",
    "↻ follows your memory": "↻ folgt Ihrem Speicher",
    "Edit": "Bearbeiten",
    "Store": "Speichern",
    "Undo": "Verwerfen",
    "Correction": "Korrektur",
    "Editing. Ctrl+Enter stores, Escape cancels.":
        "Bearbeiten. Strg+Eingabe speichert, Escape bricht ab.",

    // the panel of a word
    "{n} of the votes": "{n} der Stimmen",
    "No stored pair voted for this word. The model chose it.":
        "Kein gespeichertes Paar hat für dieses Wort gestimmt. Das Modell hat es gewählt.",
    "This translation was changed. Store it to see what the memory makes of it.":
        "Diese Übersetzung wurde geändert. Speichern Sie sie, um zu sehen, was der Speicher daraus macht.",
    "Reasons for (+) and against (−) the memory:":
        "Gründe für (+) und gegen (−) den Speicher:",
    "only in the stored sentence": "nur im gespeicherten Satz",
    "only in yours": "nur in Ihrem Satz",
    "voted for this word": "hat für dieses Wort gestimmt",
    "not in your translation": "nicht in Ihrer Übersetzung",
    "Looking …": "Suche …",
    "None.": "Keine.",
    "chosen by the model": "vom Modell gewählt",
    "memory: {n}": "Speicher: {n}",

    // status
    "sentence": "Satz", "sentences": "Sätze",
    "character": "Zeichen", "characters": "Zeichen",
    "pair": "Paar", "pairs": "Paare",
    "pair found": "Paar gefunden", "pairs found": "Paare gefunden",
    "{n} with the help of your memory": "{n} mit Hilfe Ihres Speichers",
    "{n} stored word for word": "{n} wörtlich gespeichert",
    "The server is busy. Trying again in {n} s.":
        "Der Server ist ausgelastet. Neuer Versuch in {n} s.",
    "The server is starting …": "Der Server startet …",
    "The server does not answer.": "Der Server antwortet nicht.",
    "The server does not answer. Is it running?":
        "Der Server antwortet nicht. Läuft er?",
    "This server needs a key. Enter it in the settings.":
        "Dieser Server verlangt einen Schlüssel. Geben Sie ihn in den Einstellungen ein.",
    "A translation cannot be empty.": "Eine Übersetzung kann nicht leer sein.",
    "Stored in “{memory}”. The next sentence can use it.":
        "Gespeichert in „{memory}“. Der nächste Satz kann es verwenden.",
    "Changed on this page only: this server stores nothing for you.":
        "Nur auf dieser Seite geändert: Dieser Server speichert nichts für Sie.",
    "Not stored: {why}": "Nicht gespeichert: {why}",
    "Changed: {text}": "Geändert: {text}",
    "Copied.": "Kopiert.",
    "The browser does not allow copying. Use Download.":
        "Der Browser erlaubt das Kopieren nicht. Laden Sie den Text herunter.",
    "This file is too large for the page (4 MB at most).":
        "Diese Datei ist zu groß für die Seite (höchstens 4 MB).",
    "This is not a text file.": "Das ist keine Textdatei.",
    "Opened {name}.": "{name} geöffnet.",
    "Saved.": "Gespeichert.",
    "Stored.": "Gespeichert.",
    "Delete": "Löschen",
    "Deleted.": "Gelöscht.",
    "Deleted {name}.": "{name} gelöscht.",
    "There is no memory yet. Create one; then import a file or add pairs.":
        "Es gibt noch keinen Speicher. Legen Sie einen an; importieren Sie dann eine Datei oder fügen Sie Paare hinzu.",
    "Sending {name} …": "Sende {name} …",
    "Imported {pairs} from {name}.": "{pairs} aus {name} importiert.",
    "Nothing was imported: {name} has no pairs in the languages of this memory.":
        "Nichts wurde importiert: {name} enthält keine Paare in den Sprachen dieses Speichers.",
    "Canceled. Nothing was imported.": "Abgebrochen. Nichts wurde importiert.",
    "Created {name}.": "{name} angelegt.",
    "Delete the memory “{name}” with all its pairs?":
        "Den Speicher „{name}“ mit allen Paaren löschen?",
    "Exported.": "Exportiert.",

    // names of languages
    "German": "Deutsch", "English": "Englisch", "French": "Französisch",
    "Spanish": "Spanisch", "Italian": "Italienisch", "Dutch": "Niederländisch",
};

let language = "en";
let onLanguage = () => {};

export function t(text, values = {})
{
    const translated = language === "de" ? german[text] ?? text : text;

    return translated.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

const locale = () => language === "de" ? "de-DE" : "en-US";

// "1 sentence", "1,234 sentences".
export const count = (n, one, many) =>
    `${n.toLocaleString(locale())} ${t(n === 1 ? one : many)}`;

// A share of 0 to 1: "66%", in German "66 %".
export const percent = (share) =>
    share.toLocaleString(locale(), { style: "percent" });

// Translates the elements of index.html. Their English texts are kept in
// data-t and the like.
function translateElements()
{
    const kinds = {
        t: (node, text) => { node.textContent = text; },
        tLabel: (node, text) => node.setAttribute("aria-label", text),
        tHint: (node, text) => node.setAttribute("placeholder", text),
    };
    const english = {
        t: (node) => node.textContent,
        tLabel: (node) => node.getAttribute("aria-label"),
        tHint: (node) => node.getAttribute("placeholder"),
    };
    const selectors = { t: "[data-t]", tLabel: "[data-t-label]",
                        tHint: "[data-t-hint]" };

    for (const kind of Object.keys(kinds))
        for (const node of document.querySelectorAll(selectors[kind])) {
            node.dataset[kind] ||= english[kind](node).trim();
            kinds[kind](node, t(node.dataset[kind]));
        }
}

export function setLanguage(code)
{
    language = code;
    document.documentElement.lang = code;
    translateElements();
    onLanguage();
}

// Begins with the language that was chosen, or else that of the browser.
// onChange is called when it changes later.
export function startLanguage(onChange)
{
    const select = document.getElementById("language");
    const saved = localStorage.getItem("skmt.language");

    select.value = saved ?? (navigator.language.startsWith("de") ? "de" : "en");
    setLanguage(select.value);
    onLanguage = onChange;
}
