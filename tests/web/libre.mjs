// libre.mjs - four npm clients of LibreTranslate use the server.
import { createRequire } from "node:module";
import { startServer, test, equal, ok, fails } from "./lib.mjs";

const require = createRequire(import.meta.url);
const server = await startServer({ memory: true });
const host = "127.0.0.1";

const plain = async (q, more = {}) => (await (await fetch(
    server.url + "/translate",
    { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ q, source: "de", target: "en", ...more }) }))
    .json()).translatedText;
const [hello, world] = await plain(["Hallo", "Welt"]);

await test("the server translates", () => {
    ok(hello.length > 1 && world.length > 1);
});

// ---- libretranslate

const { translate: one } = require("libretranslate");
const call = { source: "de", target: "en", apiurl: server.url };

await test("libretranslate: a text", async () =>
    equal(await one({ query: "Hallo", ...call }), hello));
await test("libretranslate: a list", async () =>
    equal(await one({ query: ["Hallo", "Welt"], ...call }), [hello, world]));
await test("libretranslate: without a source", async () =>
    equal(await one({ query: "Guten Morgen", target: "en",
                      apiurl: server.url }), await plain("Guten Morgen")));
await test("libretranslate: HTML", async () =>
    equal(await one({ query: "Salz &amp; Pfeffer", format: "html", ...call }),
          await plain("Salz &amp; Pfeffer", { format: "html" })));
await test("libretranslate: unknown target", async () => {
    const error = await fails(one({ query: "Hallo", ...call, target: "zz" }));

    ok(error instanceof TypeError, String(error));
});
await test("libretranslate: 429", async () => {
    const slow = await startServer({ args: ["--rate", "1"] });
    const results = [];

    for (let i = 0; i < 3; i++)
        results.push(await one({ query: "Hallo", ...call, apiurl: slow.url }));
    equal(results[0], hello);
    equal(results[2], undefined);
    await slow.stop();
});

// ---- libretranslate-ts

const { libreTranslate: two } = require("libretranslate-ts");

two.setApiEndpoint(server.url);
await test("libretranslate-ts: a text", async () => {
    const r = await two.translate("Hallo", "de", "en");

    equal([r.status, r.translatedText], [200, hello]);
});
await test("libretranslate-ts: alternatives", async () => {
    const r = await two.translate("Hallo", "de", "en", 3);

    equal(r.translatedText, hello);
    ok(r.alternatives.length >= 1 && r.alternatives.length <= 3);
    ok(!r.alternatives.includes(hello));
});
await test("libretranslate-ts: detection", async () => {
    const r = await two.detect("Hallo");

    equal(r.language, "de");
    ok(r.confidence > 50 && r.confidence <= 100);
});
await test("libretranslate-ts: unknown target", async () => {
    const r = await two.translate("Hallo", "de", "zz");

    equal([r.status, r.error], [500, "zz is not supported"]);
});
await test("libretranslate-ts: languages", async () => {
    const list = await two.listLanguages();

    equal(list, [{ code: "de", name: "German", targets: ["en"] },
                 { code: "en", name: "English", targets: [] }]);
});

// ---- libretranslatejs

const three = require("libretranslatejs")({ host, port: server.port });

await test("libretranslatejs: a text", async () => {
    equal(await three.translate("Hallo", "de", "en"), hello);
});
await test("libretranslatejs: unknown target", async () =>
    equal(await three.translate("Hallo", "de", "zz"), undefined));

// ---- translate

const { default: four } = await import("translate");

four.engine = "libre";
four.url = server.url + "/translate";
four.from = "de";
await test("translate: a text", async () =>
    equal(await four("Hallo", { from: "de", to: "en" }), hello));
await test("translate: an error of the server", async () => {
    const error = await fails(four("Hallo", { from: "en", to: "de" }));

    ok(error.message.includes("German (de) is not available as a target"),
       error.message);
});

// ---- corrections: what the user stores is what the clients get next

await test("a suggestion changes the next translation", async () => {
    const text = "Guten Morgen, liebe Nachbarn!";
    const better = "A very good morning, dear folks!";
    const r = await fetch(server.url + "/suggest", {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ q: text, s: better, source: "de",
                               target: "en" }) });

    equal(await r.json(), { success: true });
    equal(await one({ query: text, ...call }), better);
    equal((await two.translate(text, "de", "en")).translatedText, better);
    equal(await four(text, { from: "de", to: "en" }), better);
});
