// modernmt.mjs - modernmt 1.5.3 against the server.
//
// The client knows only https://api.modernmt.com. Its function that makes
// requests is replaced by one that goes to our server without TLS; what it
// sends is not changed.
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import path from "node:path";
import zlib from "node:zlib";
import { createRequire } from "node:module";
import { startServer, test, equal, ok, fails } from "./lib.mjs";

const { ModernMT } = createRequire(import.meta.url)("modernmt");
let server = await startServer({ memory: true });

https.request = (options, done) => http.request({ ...options,
    protocol: "http:", host: "127.0.0.1", port: server.port }, done);

const m = new ModernMT("any");
const OLD = "Der Leuchtturm steht am Ende der Straße.";
const NEW = "You will find the lighthouse where the road ends.";

await test("languages", async () => {
    equal(await m.listSupportedLanguages(), ["de", "en"]);
});

let hello;
await test("one text", async () => {
    const t = await m.translate("de", "en", "Guten Tag!");

    hello = t.translation;
    ok(hello.length > 4);
    equal([t.characters, t.billedCharacters, t.detectedLanguage],
          [10, 10, undefined]);
});

await test("a list, with hints and a vector", async () => {
    const t = await m.translate("de", "en", ["Guten Tag!", "Größe"],
                                [1, "x_mm-abc"], "1:0.5");

    equal(t.map((x) => x.characters), [10, 5]);
    equal(t[0].translation, hello);
    equal(t[0].contextVector, "1:0.5");
});

await test("without a source language", async () => {
    const t = await m.translate(null, "en", "Das ist ein schönes Haus.");

    equal(t.detectedLanguage, "de");
});

await test("options", async () => {
    const t = await m.translate("de", "en", "Guten Tag &amp; willkommen!",
        undefined, undefined, { altTranslations: 2, format: "text/xml",
            priority: "normal", timeout: 30000, session: "s",
            multiline: true, maskProfanities: false, projectId: "p" });

    ok(t.translation.includes("&amp;"), t.translation);
    ok(t.altTranslations.length >= 1 && t.altTranslations.length <= 2);
});

const exception = async (promise, status, type) => {
    const e = await fails(promise);

    equal([e.status, e.name], [status, type]);
    ok(e.message.length > 5 || e.msg?.length > 5, JSON.stringify(e));
};

await test("glossaries are refused", async () => {
    await exception(m.translate("de", "en", "Hallo", undefined, undefined,
        { glossaries: [3] }), 501, "NotSupportedException");
});

await test("an unknown language", async () => {
    await exception(m.translate("de", "zz", "Hallo"), 400,
                    "UnsupportedLanguageException");
});

await test("detection", async () => {
    const one = await m.detectLanguage("Das ist ein Haus.");
    const two = await m.detectLanguage(["Das ist ein Haus.",
                                        "This is a house."]);

    equal([one.detectedLanguage, one.billedCharacters], ["de", 17]);
    equal(two.map((t) => t.detectedLanguage), ["de", "en"]);
});

await test("the account", async () => {
    const me = await m.me();

    equal(me.status, "active");
    equal(me.billingPeriod.planForCatTool, true);
});

let memory;
await test("memories", async () => {
    memory = await m.memories.create("mine", "of mine", "x_mm-mine");
    equal([typeof memory.id, memory.name, memory.description],
          ["number", "mine", "of mine"]);
    ok(!Number.isNaN(Date.parse(memory.creationDate)));
    equal((await m.memories.list()).map((x) => x.id), [memory.id]);
    equal((await m.memories.get("x_mm-mine")).id, memory.id);
    equal((await m.memories.edit(memory.id, "ours", "of ours")).name, "ours");
    equal((await m.memories.get(memory.id)).description, "of ours");
});

// The point of it all: a correction takes effect at once, in every API.
await test("a correction", async () => {
    ok((await m.translate("de", "en", OLD)).translation !== NEW);
    const job = await m.memories.add(memory.id, "de", "en", OLD, NEW, "u7");
    equal([job.memory, job.size, job.progress], [memory.id, 1, 1]);
    equal((await m.memories.getImportStatus(job.id)).id, job.id);
    equal((await m.translate("de", "en", OLD)).translation, NEW);
    equal((await m.translate("de", "en", OLD, [memory.id])).translation, NEW);
    const units = await (await fetch(server.url + "/tmserver/de/en/unit/"
                                     + encodeURIComponent(OLD))).json();
    equal([units[0].quality, units[0].target], [100, NEW]);
});

await test("a replacement", async () => {
    await m.memories.replace(memory.id, "u7", "de", "en", OLD, "Newer.");
    equal((await m.translate("de", "en", OLD)).translation, "Newer.");
    const units = await (await fetch(server.url + "/tmserver/de/en/unit/"
                                     + encodeURIComponent(OLD))).json();
    equal(units.map((u) => u.target), ["Newer."]);
});

await test("the context vector", async () => {
    const one = await m.getContextVector("de", "en", OLD);
    const many = await m.getContextVector("de", ["en"], OLD);

    equal(one, `${memory.id}:1.000`);
    equal(many, { en: one });
    const file = path.join(server.dir, "text.txt");
    fs.writeFileSync(file, OLD);
    equal(await m.getContextVectorFromFile("de", "en", file), one);
    fs.writeFileSync(file + ".gz", zlib.gzipSync(OLD));
    equal(await m.getContextVectorFromFile("de", "en", file + ".gz",
        [memory.id], 3, "gzip"), one);
});

const tmx = path.join(process.env.BUILD, "web/modernmt.tmx");
fs.writeFileSync(tmx, `<?xml version="1.0"?><tmx version="1.4">
<header srclang="de" segtype="sentence" datatype="plaintext" creationtool="x"
 creationtoolversion="1" o-tmf="x" adminlang="en"/><body>
<tu><tuv xml:lang="de"><seg>Die Möwe schläft.</seg></tuv>
<tuv xml:lang="en"><seg>The gull is having a nap.</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Die Welle bricht.</seg></tuv>
<tuv xml:lang="en"><seg>The wave is breaking apart.</seg></tuv></tu>
</body></tmx>`);
fs.writeFileSync(tmx + ".gz", zlib.gzipSync(fs.readFileSync(tmx)));

await test("an import", async () => {
    const job = await m.memories.import(memory.id, tmx);

    equal([job.memory, job.size, job.progress], [memory.id, 2, 1]);
    equal((await m.translate("de", "en", "Die Möwe schläft.")).translation,
          "The gull is having a nap.");
    const again = await m.memories.import("x_mm-mine", tmx + ".gz", "gzip");
    equal(again.size, 2);
});

await test("a glossary in a memory is refused", async () => {
    await exception(m.memories.addToGlossary(memory.id, [
        { term: "Haus", language: "de" }, { term: "house", language: "en" }],
        "unidirectional"), 501, "NotSupportedException");
    const csv = path.join(server.dir, "g.csv");
    fs.writeFileSync(csv, "de,en\nHaus,house\n");
    await exception(m.memories.importGlossary(memory.id, csv,
        "unidirectional"), 501, "NotSupportedException");
});

await test("what else is refused", async () => {
    await exception(m.qe("de", "en", "Haus", "house"), 501,
                    "NotSupportedException");
    await exception(m.batchTranslate("http://127.0.0.1/", "de", "en", "Haus"),
                    501, "NotSupportedException");
});

await test("a memory that was deleted", async () => {
    equal((await m.memories.delete(memory.id)).id, memory.id);
    await exception(m.memories.get(memory.id), 404, "NotFoundException");
    await exception(m.memories.delete(memory.id), 404, "NotFoundException");
    ok((await m.translate("de", "en", OLD)).translation !== "Newer.");
});

server = await startServer({ keys: ["anna"], args: ["--rate", "30"] });

await test("keys", async () => {
    await exception(m.me(), 401, "AuthenticationException");
    const anna = new ModernMT(server.keys.anna);
    const made = await anna.memories.create("hers");
    equal((await anna.memories.list()).map((x) => x.id), [made.id]);
});

await test("too many requests", async () => {
    const anna = new ModernMT(server.keys.anna);
    let e;

    for (let i = 0; i < 50 && !e; i++)
        await anna.translate("de", "en", "Haus").catch((x) => { e = x; });
    equal([e.status, e.name], [429, "TooManyRequestsException"]);
});

server = await startServer({ args: ["--max-queue", "1K", "--threads", "1"] });

// The client sends all calls at once; the queue has room for two.
await test("a full queue", async () => {
    const text = (i) => `Das Haus mit der Nummer ${i} wird verkauft. `
        .repeat(10);
    const calls = Array.from({ length: 8 },
                             (_, i) => m.translate("de", "en", text(i)));
    const results = await Promise.allSettled(calls);
    const refused = results.filter((r) => r.status === "rejected")
        .map((r) => [r.reason.status, r.reason.name]);

    ok(refused.length >= 1 && refused.length < 8, `${refused.length}`);
    for (const r of refused) equal(r, [429, "DecoderUnavailableException"]);
});
