// deepl.mjs - deepl-node 1.28.0 against the server.
import * as deepl from "deepl-node";
import fs from "node:fs";
import path from "node:path";
import { startServer, test, equal, ok, fails, sleep } from "./lib.mjs";

const server = await startServer({ memory: true });
const client = (options = {}, key = "any") => new deepl.DeepLClient(key,
    { serverUrl: server.url, maxRetries: 1, minTimeout: 20000, ...options });
const d = client();
let hello;

await test("usage", async () => {
    const usage = await d.getUsage();

    equal([usage.character.count, usage.character.limit], [0, 1e12]);
    equal(usage.anyLimitReached(), false);
});

await test("languages", async () => {
    const sources = await d.getSourceLanguages();
    const targets = await d.getTargetLanguages();

    equal(sources.map((l) => [l.code, l.name]), [["de", "German"]]);
    equal(targets.map((l) => l.code), ["en-GB", "en-US"]);
    equal(targets.map((l) => l.supportsFormality), [false, false]);
});

await test("glossary language pairs", async () => {
    equal(await d.getGlossaryLanguagePairs(), []);
});

await test("one text", async () => {
    const r = await d.translateText("Hallo Welt & mehr", "de", "en-US");

    equal(r.detectedSourceLang, "de");
    equal(r.billedCharacters, 17);
    ok(r.text.length > 5);
});

await test("several texts, the language detected", async () => {
    const r = await d.translateText(["Guten Tag!", "Das ist die Welt."], null,
                                    "en-GB");

    equal(r.length, 2);
    equal(r.map((t) => t.detectedSourceLang), ["de", "de"]);
    hello = r[0].text;
});

await test("under the prefix", async () => {
    const r = await client({ serverUrl: server.url + "/deepl" })
        .translateText("Guten Tag!", "de", "en-GB");

    equal(r.text, hello);
});

await test("all options", async () => {
    const r = await d.translateText("Guten Tag!", "de", "en-US", {
        splitSentences: "nonewlines", preserveFormatting: true,
        tagHandling: "xml", outlineDetection: false, nonSplittingTags: "b",
        splittingTags: ["p"], ignoreTags: ["x", "y"],
        customInstructions: ["a", "b"], formality: "prefer_less",
        modelType: "prefer_quality_optimized", context: "Wetter",
    });

    equal(r.text, hello);
    equal(r.modelTypeUsed, "quality_optimized");
});

await test("entities and placeholders", async () => {
    const r = await d.translateText(
        'Müller &amp; Söhne: <x id="3"></x> fehlt.', "de", "en-US",
        { tagHandling: "xml" });

    ok(r.text.includes("&amp;") && r.text.includes('<x id="3"></x>'), r.text);
});

await test("tags are refused", async () => {
    const e = await fails(d.translateText("ein <b>Haus</b>", "de", "en-US",
                                          { tagHandling: "html" }));

    ok(e instanceof deepl.DeepLError);
    ok(/^Bad request.*Translating tags is not offered/.test(e.message),
       e.message);
});

await test("an unserved language", async () => {
    const e = await fails(d.translateText("Hallo", "de", "fr"));

    ok(/Bad request.*'target_lang' not supported/.test(e.message), e.message);
    ok(e instanceof deepl.DeepLError);
});

await test("formality is refused", async () => {
    const e = await fails(d.translateText("Hallo", "de", "en-US",
                                          { formality: "more" }));

    ok(/Bad request.*formality/.test(e.message), e.message);
});

const entries = new deepl.GlossaryEntries({
    entries: { Haus: "house", Maus: "mouse" } });

await test("glossaries are refused", async () => {
    const csv = path.join(server.dir, "glossary.csv");

    fs.writeFileSync(csv, "Haus,house\n");
    for (const call of [
        () => d.createGlossary("my", "de", "en-US", entries),
        () => d.createGlossaryWithCsv("my", "de", "en-US", csv),
        () => d.createMultilingualGlossaryWithCsv("my", "de", "en-US", csv),
        () => d.createMultilingualGlossary("my", [{ sourceLangCode: "de",
            targetLangCode: "en", entries }]),
        () => d.listGlossaries(),
        () => d.listMultilingualGlossaries(),
        () => d.getGlossary("4c81ffb4-2e8b-4b50-b6f5-2b9e1dd3a1c4"),
        () => d.deleteGlossary("4c81ffb4-2e8b-4b50-b6f5-2b9e1dd3a1c4"),
    ]) {
        const e = await fails(call());

        ok(e instanceof deepl.DeepLError, `${call}: ${e.stack}`);
        ok(e.message.includes("Glossaries are not offered by this server"),
           e.message);
    }
});

await test("a glossary that does not exist", async () => {
    const e = await fails(
        d.getGlossary("4c81ffb4-2e8b-4b50-b6f5-2b9e1dd3a1c4"));

    ok(e instanceof deepl.GlossaryNotFoundError, e.name);
});

await test("a translation with a glossary is refused", async () => {
    const e = await fails(d.translateText("Hallo", "de", "en-US", {
        glossary: "4c81ffb4-2e8b-4b50-b6f5-2b9e1dd3a1c4" }));

    ok(e instanceof deepl.DeepLError &&
       e.message.includes("'glossary_id' is not offered"), e.message);
});

await test("documents are refused", async () => {
    const file = path.join(server.dir, "in.txt");

    fs.writeFileSync(file, "Guten Tag!\n");
    const e = await fails(d.translateDocument(
        file, path.join(server.dir, "out.txt"), "de", "en-US"));

    ok(e.message.includes("documents is not offered"), e.message);
    equal(fs.existsSync(path.join(server.dir, "out.txt")), false);
});

await test("translation memories are refused", async () => {
    const file = path.join(server.dir, "in.tmx");

    fs.writeFileSync(file, "<tmx/>");
    for (const call of [
        () => d.listTranslationMemories(),
        () => d.importTranslationMemoryFromFilepath(file),
    ]) {
        const e = await fails(call());

        ok(e.message.includes("memories are not offered"), e.message);
    }
});

await test("the count of characters grows", async () => {
    const before = (await d.getUsage()).character.count;

    await d.translateText("Größe", "de", "en-US");
    equal((await d.getUsage()).character.count, before + 5);
});

await test("a late answer stops the first request", async () => {
    const sentence = "Die Verhandlungen über den Haushalt des kommenden "
        + "Jahres dauerten bis tief in die Nacht, weil ";
    // The client waits for a second at least.
    const texts = Array.from({ length: 250 }, (_, i) =>
        `${sentence}${i} Gründe fehlten. ${sentence}${i} Gäste kamen.`);
    const metric = async (name) => Number(new RegExp(`^${name} (\\S+)$`, "m")
        .exec(await (await fetch(server.url + "/metrics")).text())?.[1]);
    const e = await fails(client({ minTimeout: 500, maxRetries: 2 })
        .translateText(texts, "de", "en-US"));

    ok(e instanceof deepl.ConnectionError, e.name);
    for (let i = 0; i < 50; i++) {
        if (await metric("skmt_queue_texts") === 0) break;
        await sleep(100);
    }
    equal(await metric("skmt_queue_texts"), 0);
    ok(await metric("skmt_requests_abandoned_total") >= 1);
    equal((await d.translateText("Guten Tag!", "de", "en-US")).text, hello);
});

const keyed = await startServer({ keys: ["anna"] });

await test("a wrong key", async () => {
    for (const call of [(c) => c.getUsage(),
                        (c) => c.translateText("Hallo", "de", "en-US")]) {
        const e = await fails(call(client({ serverUrl: keyed.url }, "wrong")));

        ok(e instanceof deepl.AuthorizationError, e.name);
    }
});

await test("the right key", async () => {
    const r = await client({ serverUrl: keyed.url }, keyed.keys.anna)
        .translateText("Guten Tag!", "de", "en-US");

    equal(r.text, hello);
});

const small = await startServer({ args: ["--max-body", "2K",
                                         "--rate", "60"] });

await test("a body that is too large", async () => {
    const e = await fails(client({ serverUrl: small.url })
        .translateText("Hallo ".repeat(1000), "de", "en-US"));

    ok(e.message.startsWith("Unexpected status code: 413"), e.message);
});

// The first request that is over the limit of 60 a minute is repeated by the
// client a second later, when one more is allowed.
await test("429 is repeated", async () => {
    const once = () => fetch(small.url + "/v2/translate", {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: '{"text":["Hallo"],"target_lang":"EN","source_lang":"DE"}' });
    let last, n = 0;

    do last = await once(); while (last.status === 200 && ++n < 100);
    equal(last.status, 429);
    ok(Number(last.headers.get("Retry-After")) >= 1);
    ok((await last.json()).message);
    const e = await fails(client({ serverUrl: small.url, maxRetries: 1 })
        .translateText("Hallo", "de", "en-US"));
    ok(e instanceof deepl.TooManyRequestsError, e.name);
    const r = await client({ serverUrl: small.url, maxRetries: 5 })
        .translateText("Hallo", "de", "en-US");
    ok(r.text.length > 0);
});
