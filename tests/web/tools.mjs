// tools.mjs - the requests of programs that translators use, in the order in
// which these programs send them: when their settings are saved, when a text is
// translated, and when a correction is stored.
//
// The requests were taken from the source of the programs, or recorded from
// their plug-ins. The programs themselves do not run here: docs/integrations.md
// says so.
import zlib from "node:zlib";
import { equal, ok, startServer, test } from "./lib.mjs";

const server = await startServer({ memory: true });
const source = "Der Kältekreis des Nordwind 20 wird jährlich geprüft.";
const wanted = "Inspect the chill loop of the Nordwind 20 once a year.";

async function get(path, headers = {}) {
    const r = await fetch(server.url + path, { headers });

    equal(r.headers.get("content-type"), "application/json; charset=utf-8", path);
    return [r.status, await r.json()];
}

async function post(path, body, headers = {}) {
    const r = await fetch(server.url + path, { method: "POST", body, headers });
    const text = await r.text();

    return [r.status, text ? JSON.parse(text) : null];
}

const json = (path, body, headers = {}) =>
    post(path, JSON.stringify(body), { "Content-Type": "application/json",
                                       ...headers });
const form = (path, fields, headers = {}) =>
    post(path, new URLSearchParams(fields).toString(),
         { "Content-Type": "application/x-www-form-urlencoded;charset=utf-8",
           ...headers });

// What the other APIs must agree with.
const [, reference] = await json("/v1/translate", { texts: [source],
                                                    source: "de", target: "en" });
const plain = reference.translations[0].text;

// ---- Weblate -----------------------------------------------------------------
//
// It asks for the languages and translates "test" from English to German when
// its settings are saved, and refuses them if there is an error.

const weblate = { Accept: "application/json; charset=utf-8",
                  Referer: "https://weblate.example.org/" };

await test("Weblate, LibreTranslate", async () => {
    const [, languages] = await get("/languages", weblate);

    equal(languages.map((l) => l.code).sort(), ["de", "en"]);
    const probe = await json("/translate", { api_key: "", q: ["test"],
        source: "en", target: "de" }, weblate);

    equal(probe, [200, { translatedText: ["test"] }]);
    const texts = [source, "Guten Tag [X1X] und [X12X]!"];
    const [status, answer] = await json("/translate", { api_key: "", q: texts,
        source: "de", target: "en" }, weblate);

    equal(status, 200);
    equal(answer.translatedText.length, 2);
    equal(answer.translatedText[0], plain);
    for (const mark of ["[X1X]", "[X12X]"])
        equal(answer.translatedText[1].split(mark).length, 2);
});

await test("Weblate, ModernMT", async () => {
    const headers = { ...weblate, "MMT-ApiKey": "any" };
    const [, languages] = await get("/modernmt/languages", headers);

    equal(languages, { status: 200, data: { de: ["en"] } });
    const args = new URLSearchParams({ q: "test", source: "en", target: "de" });

    equal((await get("/modernmt/translate?" + args, headers))[0], 200);
    args.set("q", source);
    args.set("source", "de");
    args.set("target", "en");
    const [status, answer] = await get("/modernmt/translate?" + args, headers);

    equal([status, answer.status, answer.data.translation], [200, 200, plain]);
});

await test("Weblate, DeepL", async () => {
    const headers = { ...weblate, Authorization: "DeepL-Auth-Key any" };
    const [, from] = await get("/deepl/v2/languages?type=source", headers);
    const [, to] = await get("/deepl/v2/languages?type=target", headers);
    const ask = (text, a, b) => json("/deepl/v2/translate", { text,
        source_lang: a, target_lang: b, formality: "default",
        tag_handling: "xml", ignore_tags: ["x"] }, headers);

    ok(from.some((l) => l.language === "DE"));
    ok(to.some((l) => l.language === "EN-GB"));
    equal((await ask(["test"], "EN", "DE"))[0], 200);
    const [status, answer] = await ask([source,
        'Guten Tag <x id="7"></x> &amp; mehr!'], "DE", "EN");

    equal(status, 200);
    equal(answer.translations[0].text, plain);
    equal(answer.translations[1].text.split('<x id="7"></x>').length, 2);
    ok(answer.translations[1].text.includes("&amp;"));
});

await test("Weblate, tmserver", async () => {
    const path = "/tmserver/de/en/unit/";

    equal((await get("/tmserver/en/de/unit/test", weblate)), [200, []]);
    equal((await get(path + encodeURIComponent(source), weblate))[0], 200);
});

await test("Weblate, Apertium", async () => {
    const [, pairs] = await get("/apertium/listPairs", weblate);

    equal(pairs.responseData, [{ sourceLanguage: "de", targetLanguage: "en" }]);
    const args = new URLSearchParams({ langpair: "de|en", q: source,
                                       markUnknown: "no", format: "txt" });
    const [status, answer] = await get("/apertium/translate?" + args, weblate);

    equal([status, answer.responseStatus, answer.responseData.translatedText],
          [200, 200, plain]);
});

// ---- OmegaT ------------------------------------------------------------------

await test("OmegaT, Apertium, without a plug-in", async () => {
    const text = encodeURIComponent("<f0>Guten Tag</f0>, <br1/>" + source);
    const [status, answer] = await get(
        `/apertium/translate?q=${text}&markUnknown=no&langpair=de_DE%7Cen_US&key=`);

    equal([status, answer.responseStatus], [200, 200]);
    for (const tag of ["<f0>", "</f0>", "<br1/>"])
        equal(answer.responseData.translatedText.split(tag).length, 2, tag);
});

await test("OmegaT, LibreTranslate plug-in", async () => {
    const [status, answer] = await form("/translate", { q: source, source: "de",
                                                        target: "en" });

    equal([status, answer.translatedText], [200, plain]);
});

// ---- OPUS-CAT: Trados, memoQ, OmegaT, Wordfast -----------------------------------

await test("OPUS-CAT plug-ins", async () => {
    const pairs = await get("/MTRestService/ListSupportedLanguagePairs?tokenCode=0");

    equal(pairs, [200, ["de-en"]]);
    equal((await get("/MTRestService/GetLanguagePairModelTags?tokenCode=0&" +
                     "srcLangCode=de&trgLangCode=en"))[0], 200);
    const args = new URLSearchParams({ tokenCode: "0", input: source,
                                       srcLangCode: "de", trgLangCode: "en",
                                       modelTag: "" });
    const [status, answer] = await get("/mtrestservice/translatejson?" + args);

    equal([status, answer.translation, answer.Translation], [200, plain, plain]);
    const n = answer.SegmentedSourceSentence.length;
    const m = answer.SegmentedTranslation.length;

    ok(n > 5 && m > 5);
    for (const link of answer.AlignmentString.split(" ")) {
        const [a, b] = link.split("-").map(Number);

        ok(a < n && b < m, link);
    }
    equal((await json("/MTRestService/PreOrderBatch?tokenCode=0&srcLangCode=de&" +
                      "trgLangCode=en&modelTag=", [source]))[0], 200);
});

// ---- Okapi, MateCat ----------------------------------------------------------------

// It sends coded HTML. Tags in it are refused for now, in the form that Okapi
// shows to its user.
await test("Okapi's ModernMT connector", async () => {
    const ask = (q) => get("/modernmt/translate?" + new URLSearchParams(
        { q, source: "de", target: "en" }));
    const [status, answer] = await ask("Salz &amp; Pfeffer");

    equal([status, answer.status], [200, 200]);
    ok(/ &amp; /.test(answer.data.translation), answer.data.translation);
    const [refused, why] = await ask("Dr\u00FCcken Sie <u id='1'>Speichern</u>.");

    equal([refused, why.status, why.error.type],
          [501, 501, "NotSupportedException"]);
    ok(why.error.message.includes("tags"));
});

await test("MateCat: check the engine, translate, confirm, import", async () => {
    const mmt = (method, path, body) => json(path, body,
        { "X-HTTP-Method-Override": method, "MMT-ApiKey": "any",
          "MMT-Platform": "MateCat", "MMT-PlatformVersion": "1" });
    const [, me] = await mmt("GET", "/users/me", {});

    equal([me.status, me.data.billingPeriod.planForCatTool], [200, true]);
    equal((await mmt("GET", "/languages", {}))[1].data, { de: ["en"] });
    const memory = (await mmt("POST", "/memories", { name: "MateCat",
        external_id: "x_mm-abc" }))[1].data;

    ok(memory.id > 0);
    equal((await mmt("POST", "/memories/connect", { external_ids: "x_mm-abc" }))[1]
        .data.map((m) => m.id), [memory.id]);
    const ask = async () => (await mmt("GET", "/translate", { source: "de",
        target: "en", q: source, hints: "x_mm-abc", session: "7",
        priority: "normal", timeout: "5000", multiline: false }))[1]
        .data.translation;

    equal(await ask(), plain);
    equal((await mmt("POST", "/memories/content", { memories: "x_mm-abc",
        source: "de", target: "en", sentence: source, translation: wanted,
        tuid: "u1", session: "7" }))[0], 200);
    equal(await ask(), wanted);

    const tmx = '<tmx version="1.4"><header srclang="de" segtype="sentence" ' +
        'datatype="x" creationtool="t" creationtoolversion="1" adminlang="en" ' +
        'o-tmf="t"/><body><tu><tuv xml:lang="de"><seg>Bitte wenden.</seg></tuv>' +
        '<tuv xml:lang="en"><seg>Turn over.</seg></tuv></tu></body></tmx>';
    const body = new FormData();

    body.set("compression", "gzip");
    body.set("tmx", new Blob([zlib.gzipSync(tmx)]), "a.tmx.gz");
    const [status, job] = await post(`/memories/${memory.id}/content`, body,
        { "X-HTTP-Method-Override": "POST", "MMT-ApiKey": "any" });

    equal([status, job.data.progress, job.data.size], [200, 1, 1]);
    equal((await mmt("GET", "/import-jobs/" + job.data.id, {}))[1].data.progress,
          1);
});

// ---- what was stored is there for all ----------------------------------------------

await test("Virtaal, Weblate: the stored pair has quality 100", async () => {
    for (const path of ["/tmserver/de/en/unit/", "/api/v1/de/en/unit/"]) {
        const [, found] = await get(path + encodeURIComponent(source) +
                                    "?min_similarity=75&max_candidates=3");

        equal([found[0].source, found[0].target, found[0].quality],
              [source, wanted, 100], path);
    }
});

await test("OPUS-CAT's Customize stores pairs", async () => {
    const pair = { Input: [{ Source: "Bitte lüften.", Target: "Open a window." }] };
    const r = await fetch(server.url + "/MTRestService/Customize?tokenCode=0&" +
        "srcLangCode=de&trgLangCode=en&modelTag=", { method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(pair) });

    ok(r.status === 200, await r.text());
});

await server.stop();
