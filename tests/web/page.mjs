// page.mjs - tests the web page in Chromium: translating, correcting, files,
// memories, the keyboard, a phone, German, accessibility, and no JavaScript.
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { HtmlValidate } from "html-validate";
import { build, equal, ok, skip, sleep, startServer, test, top } from "./lib.mjs";
import { spawnSync } from "node:child_process";

const axe = fs.readFileSync(createRequire(import.meta.url)
    .resolve("axe-core/axe.min.js"), "utf8");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const folder = path.join(top, "apps/server/page");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "skmt-page-"));
const tsv = path.join(top, "tests/data/small/memory.tsv");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa",
              "best-practice"];

// A memory file with the 20 pairs of the small test set.
function makeMemory(name) {
    const file = path.join(work, name);

    for (const args of [["create", file, "--source-lang", "de", "--target-lang",
                         "en"], ["import", file, tsv]]) {
        const r = spawnSync(path.join(build, "skmt"), ["tm", ...args],
                            { encoding: "utf8" });

        equal(r.status, 0, r.stderr);
    }
    return file;
}

const server = await startServer({ memory: makeMemory("page.tm") });
const browser = await chromium.launch({ executablePath: browserPath,
                                        args: ["--no-sandbox"] });

// Runs a test in a page of its own. No message may appear in the console, and
// nothing may break the policy of the page.
async function inPage(name, fn, options = {}) {
    await test(name, async () => {
        const { url = server.url, expected = [], ...context } = options;
        const c = await browser.newContext({ locale: "en-US",
            permissions: ["clipboard-read", "clipboard-write"], ...context });
        const page = await c.newPage();
        const problems = [];

        page.setDefaultTimeout(15000);
        page.on("pageerror", (e) => problems.push(e.stack));
        page.on("console", (m) => {
            if (m.type() === "error" || m.type() === "warning")
                problems.push(m.text());
        });
        page.on("request", (r) => {
            if (!r.url().startsWith(url) && !r.url().startsWith("blob:"))
                problems.push("request to " + r.url());
        });
        try {
            await page.goto(url + "/");
            if (context.javaScriptEnabled !== false)
                await page.locator("#version").filter({ hasText: "skmt" })
                    .waitFor();
            await fn(page);
            equal(problems.filter((p) => !expected.some((e) => p.includes(e))),
                  []);
        } finally {
            await c.close();
        }
    }, 120);
}

// ---- what tests do in a page -----------------------------------------------

const status = (page, text) =>
    page.locator("#status").filter({ hasText: text }).waitFor();

const words = (page, i) =>
    page.locator(`.segment >> nth=${i} >> [role=button]`);

const target = (page, i) =>
    page.locator(".segment-target").nth(i).innerText();

// Types a text and waits for its translation.
async function translate(page, text) {
    await page.fill("#text", text);
    await status(page, /sentences?[,.]/);
    await page.waitForFunction(() => !document.querySelector(".stale, .wait"));
}

// The focus as "id" or "class text", for tests of the keyboard.
const focus = (page) => page.evaluate(() => {
    const a = document.activeElement;

    return a.id || `${a.className} ${a.textContent}`.trim();
});

async function noViolations(page, what) {
    // The policy of the page forbids a script element.
    await page.evaluate(axe);
    // Animations change colors for a moment.
    await page.evaluate(() => Promise.all(document.getAnimations()
        .map((a) => a.finished.catch(() => {}))));
    const result = await page.evaluate((runOnly) =>
        globalThis.axe.run(document, { runOnly }), tags);

    equal(result.violations.map((v) => `${what}: ${v.id}: ` +
        v.nodes.map((n) => n.target + " " + n.failureSummary).join("; ")), []);
    ok(result.passes.length > 15, `${what}: only ${result.passes.length} rules`);
}

async function noSidewaysScroll(page, what) {
    const [content, window] = await page.evaluate(() =>
        [document.documentElement.scrollWidth, innerWidth]);

    ok(content <= window, `${what}: ${content} px in ${window} px`);
}

// ---- files, headers, texts ---------------------------------------------------

await test("headers of the page", async () => {
    const r = await fetch(server.url + "/");
    const html = await r.text();
    const policy = r.headers.get("content-security-policy");

    equal(r.status, 200);
    for (const part of ["default-src 'none'", "script-src 'self'",
                        "style-src 'self'", "connect-src 'self'",
                        "form-action 'self'", "base-uri 'none'",
                        "frame-ancestors 'none'",
                        "require-trusted-types-for 'script'"])
        ok(policy.includes(part), part);
    ok(!/unsafe|\*|http/.test(policy), policy);
    equal(r.headers.get("x-content-type-options"), "nosniff");
    equal(r.headers.get("x-frame-options"), "DENY");
    equal(r.headers.get("referrer-policy"), "no-referrer");
    equal(r.headers.get("cross-origin-opener-policy"), "same-origin");
    equal(r.headers.get("cross-origin-resource-policy"), "same-origin");
    ok(r.headers.get("permissions-policy").includes("camera=()"));
    equal(r.headers.get("cache-control"), "no-cache");
    equal(r.headers.get("content-type"), "text/html; charset=utf-8");
    ok(!/@[A-Z]+@/.test(html), "a mark was left in the page");

    const again = await fetch(server.url + "/", { headers: {
        "If-None-Match": r.headers.get("etag") } });

    equal(again.status, 304);
    equal(await again.text(), "");
});

await test("files of the page", async () => {
    const html = await (await fetch(server.url + "/")).text();
    const version = /page\/([0-9a-f]{16})\//.exec(html)[1];
    let total = 0;

    for (const name of fs.readdirSync(folder)) {
        const bytes = fs.readFileSync(path.join(folder, name));

        total += bytes.length;
        if (name === "index.html") continue;
        const r = await fetch(`${server.url}/page/${version}/${name}`);

        equal(r.status, 200, name);
        ok(Buffer.from(await r.arrayBuffer()).equals(bytes), name);
        ok(r.headers.get("cache-control").includes("immutable"));
        ok(r.headers.get("content-security-policy").includes("'none'"));
    }
    ok(total < 100000, `the page has ${total} bytes`);
    for (const bad of [`/page/0123456789abcdef/main.js`, `/page/${version}/x.js`,
                       `/page/${version}/..%2fmain.js`, "/page/"]) {
        const r = await fetch(server.url + bad);

        equal(r.status, 404, bad);
        ok(!(r.headers.get("cache-control") ?? "").includes("immutable"));
    }
});

await test("the HTML is valid", async () => {
    const html = await (await fetch(server.url + "/")).text();
    const report = await new HtmlValidate({
        extends: ["html-validate:recommended"],
        // Classes and ids are chosen by us; long lines are not errors.
        rules: { "long-title": "off", "no-trailing-whitespace": "off" },
    }).validateString(html);

    equal(report.results.flatMap((r) => r.messages.map((m) =>
        `${m.line}: ${m.ruleId}: ${m.message}`)), []);
});

await test("every text of the page has a German translation", async () => {
    const { german } = await import(path.join(folder, "i18n.js"));
    const js = fs.readdirSync(folder).filter((f) => f.endsWith(".js"))
        .map((f) => fs.readFileSync(path.join(folder, f), "utf8")).join("\n");
    const html = fs.readFileSync(path.join(folder, "index.html"), "utf8");
    const used = new Set();

    for (const m of js.matchAll(/\bt\(\s*"((?:[^"\\]|\\.)+)"/g)) used.add(m[1]);
    for (const m of js.matchAll(/count\([^"()]*(?:\([^()]*\)[^"()]*)?"([^"]+)", "([^"]+)"\)/g))
        used.add(m[1]).add(m[2]);
    for (const m of js.matchAll(/\? t\("([^"]+)"\)\s*: t\("([^"]+)"\)/g))
        used.add(m[1]).add(m[2]);
    for (const m of html.matchAll(/data-t>([^<]+)</g)) used.add(m[1]);
    for (const m of html.matchAll(/(?:aria-label|placeholder)="([^"]+)" data-t-/g))
        used.add(m[1]);
    const names = ["German", "English", "French", "Spanish", "Italian", "Dutch"];

    equal([...used].filter((text) => !german[text]), []);
    equal(Object.keys(german).filter((text) => !used.has(text) &&
                                     !names.includes(text)), []);
    for (const [text, de] of Object.entries(german))
        equal([...de.matchAll(/\{\w+\}/g)].map(String).sort(),
              [...text.matchAll(/\{\w+\}/g)].map(String).sort(), text);
});

// ---- translating ---------------------------------------------------------------

await inPage("the translation appears as one types", async (page) => {
    const asked = [];

    page.on("request", (r) => {
        if (r.url().endsWith("/v1/translate")) asked.push(r.postDataJSON().texts);
    });
    await page.locator("#text").pressSequentially(
        "Verwenden Sie keine Lösungsmittel.", { delay: 15 });
    await status(page, "1 sentence, 1 stored word for word.");
    equal(await target(page, 0), "Do not use solvents.");
    ok(asked.length <= 4, `${asked.length} requests`);
    equal(asked.at(-1), ["Verwenden Sie keine Lösungsmittel."]);
    // Only lines that have changed are sent again.
    await page.fill("#text", "Verwenden Sie keine Lösungsmittel.\n\n" +
                    "Das Bedienteil zeigt keine Störung an.");
    await status(page, "2 sentences");
    equal(asked.at(-1), ["Das Bedienteil zeigt keine Störung an."]);
    equal(await page.locator("#text").getAttribute("lang"), "de");
    equal(await page.locator(".segment-target").nth(0).getAttribute("lang"),
          "en");
    await page.click("#copy");
    equal((await page.evaluate(() => navigator.clipboard.readText()))
          .split("\n").slice(0, 2), ["Do not use solvents.", ""]);
    await page.click("#clear");
    equal(await page.locator(".segment").count(), 0);
    equal(await focus(page), "text");
});

await inPage("a newer text replaces the older", async (page) => {
    let ended = 0;

    page.on("requestfailed", (r) => {
        if (r.url().endsWith("/v1/translate")) ended++;
    });
    const long = Array(30).fill("Am Morgen ging der alte Mann, der lange " +
        "geschwiegen hatte, mit seinem Hund in den dunklen Wald, um Holz für " +
        "den Winter zu sammeln.").map((s, i) => i + ": " + s).join("\n");

    await page.fill("#text", long);
    await page.waitForRequest((r) => r.url().endsWith("/v1/translate"));
    await page.fill("#text", "Filterwechsel fällig");
    await status(page, "1 sentence");
    equal(await target(page, 0), "Filter due");
    equal(ended, 1);
});

await inPage("an answer that comes while one types is for its own text",
             async (page) => {
    let release = null, first = true;

    await page.route("**/v1/translate", async (route) => {
        const response = await route.fetch();

        if (first) {
            first = false;
            await new Promise((done) => { release = done; });
        }
        await route.fulfill({ response });
    });
    await page.fill("#text", "Filterwechsel fällig");
    while (!release) await sleep(20);
    await page.fill("#text", "Bedienteil gesperrt");
    release();
    await page.locator(".segment-target").filter({ hasText: "Control pad locked" })
        .waitFor();
});

await inPage("words are shaded by the weight of the memory", async (page) => {
    await translate(page, "Wechseln Sie den Abluftfilter alle zwölf Monate.");
    await status(page, "1 with the help of your memory");
    const levels = await words(page, 0).evaluateAll((all) => all.map((w) =>
        [w.textContent, Number(/w(\d)/.exec(w.className)[1]),
         w.getAttribute("aria-label"),
         getComputedStyle(w).borderBottomStyle]));

    ok(levels.length > 4);
    ok(levels.some((w) => w[1] >= 1), JSON.stringify(levels));
    for (const [text, level, label, line] of levels) {
        ok(label.startsWith(text));
        equal(/memory \d+%/.test(label), level > 0, label);
        if (level) equal(line, [, "dotted", "dashed", "solid", "double"][level]);
    }
    equal(await page.locator(".legend li").count(), 5);
});

await inPage("texts are never HTML", async (page) => {
    const evil = "<img src=x onerror=alert(1)> <script>alert(2)</script> Wechseln Sie.";

    await translate(page, evil);
    equal(await page.locator("#work img, #work script").count(), 0);
    await page.goto(server.url + "/#memories");
    await page.fill("#new-source", "<b onclick=alert(1)>Fett & kursiv</b>");
    await page.fill("#new-target", "<script>alert(3)</script>");
    await page.click("#pair-new button");
    await page.locator("#memory-status").filter({ hasText: "Stored" }).waitFor();
    await page.locator("#pairs td", { hasText: "<script>" }).waitFor();
    equal(await page.locator("#pairs b, #pairs script").count(), 0);
    await page.locator("#pairs tr", { hasText: "<script>" })
        .getByRole("button", { name: "Delete" }).click();
    await page.locator("#memory-status").filter({ hasText: "Deleted" }).waitFor();
});

// ---- the correction loop ---------------------------------------------------------

await inPage("a click on a word shows its votes", async (page) => {
    await translate(page, "Öffnen Sie die Revisionsklappe, bevor Sie den " +
                    "Wärmetauscher herausziehen.");
    const word = words(page, 0).filter({ hasText: /hatch|service/ }).first();

    await word.click();
    equal(await word.getAttribute("aria-expanded"), "true");
    await page.locator("#votes .vote").first().waitFor();
    const vote = page.locator("#votes .vote").first();

    ok(/% of the votes/.test(await vote.innerText()));
    ok(/Revisionsklappe/.test(await vote.innerText()));
    ok(await vote.locator("del, ins").count() > 0, "no differences");
    ok(await vote.locator("mark").count() > 0, "no word is marked");
    await page.locator("#alternatives button").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#panel").waitFor({ state: "hidden" });
    equal(await word.getAttribute("aria-expanded"), null);
});

await inPage("an alternative completes the rest", async (page) => {
    await translate(page, "Der Hund läuft durch den Wald.");
    const before = await target(page, 0);

    await words(page, 0).nth(1).click();
    const choice = page.locator("#alternatives button").first();

    await choice.waitFor();
    const word = await choice.evaluate((b) => b.firstChild.textContent);

    await choice.click();
    await page.locator(".segment-foot").filter({ hasText: "not stored" })
        .waitFor();
    const after = await target(page, 0);

    ok(after !== before);
    ok(after.startsWith(before.split(" ")[0] + " " + word), after);
    equal(await page.locator("#panel").isVisible(), false);
    await page.getByRole("button", { name: "Undo" }).click();
    equal(await target(page, 0), before);
});

await inPage("a correction is stored and the next sentence follows",
             async (page) => {
    const first = "Der Kältekreis des Nordwind 20 wird jährlich geprüft.";
    const second = "Der Kältekreis des Nordwind 40 wird monatlich geprüft.";

    await translate(page, `${first}\n${second}`);
    const before = await target(page, 1);

    await page.locator(".segment").nth(0).getByRole("button", { name: "Edit" })
        .click();
    equal(await focus(page), "");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("The chill loop of the Nordwind 20 is inspected every year.");
    await page.keyboard.press("Control+Enter");
    await status(page, "Stored in “main”");
    await page.locator(".segment").nth(0).filter({ hasText: "✓ stored" })
        .waitFor();
    await page.locator(".segment").nth(1)
        .filter({ hasText: "follows your memory" }).waitFor();
    const after = await target(page, 1);

    ok(after !== before && /chill loop/.test(after), `${before} -> ${after}`);
    ok(/40/.test(after), after);
    equal(await target(page, 0),
          "The chill loop of the Nordwind 20 is inspected every year.");
    // It is in the memory, not only on the page.
    await page.reload();
    await translate(page, first);
    await status(page, "1 stored word for word");
    equal(await target(page, 0),
          "The chill loop of the Nordwind 20 is inspected every year.");
    // A second correction of the same sentence replaces the first.
    await words(page, 0).first().focus();
    await page.keyboard.press("F2");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Check the chill loop of the Nordwind 20 yearly.");
    await page.keyboard.press("Control+Enter");
    await status(page, "Stored in");
    const answer = await (await fetch(server.url + "/v1/search?" +
        new URLSearchParams({ q: first, limit: 5 }))).json();

    equal(answer.matches.filter((m) => m.pair.source === first)
          .map((m) => m.pair.target),
          ["Check the chill loop of the Nordwind 20 yearly."]);
});

await inPage("an edit can be canceled, and an empty one is refused",
             async (page) => {
    await translate(page, "Verwenden Sie keine Lösungsmittel.");
    await words(page, 0).first().focus();
    await page.keyboard.press("e");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Control+Enter");
    await status(page, "cannot be empty");
    await page.keyboard.press("Escape");
    equal(await target(page, 0), "Do not use solvents.");
    equal(await focus(page), "word w4 Do");
});

// ---- files -----------------------------------------------------------------------

// Drops a file as a file manager does.
async function drop(page, selector, name, type, text) {
    const data = await page.evaluateHandle(([n, kind, content]) => {
        const d = new DataTransfer();

        d.items.add(new File([content], n, { type: kind }));
        return d;
    }, [name, type, text]);

    await page.dispatchEvent(selector, "dragenter", { dataTransfer: data });
    await page.dispatchEvent(selector, "drop", { dataTransfer: data });
}

await inPage("a file is dropped, translated with progress, and downloaded",
             async (page) => {
    const lines = Array.from({ length: 60 }, (_, i) => i % 10 === 9 ? ""
        : `Der Wärmetauscher Nummer ${i} muss gereinigt werden.`);
    let seen = 0;

    await page.exposeFunction("sawProgress", () => { seen++; });
    await page.evaluate(() => new MutationObserver(() => {
        if (!document.getElementById("progress").hidden) globalThis.sawProgress();
    }).observe(document.getElementById("progress"), { attributes: true }));
    await drop(page, "#form", "manual.txt", "text/plain", lines.join("\r\n"));
    await page.locator("#form.long").waitFor();
    await status(page, "54 sentences");
    ok(seen >= 3, `progress was seen ${seen} times`);
    equal(await page.locator("#progress").isVisible(), false);
    equal(await page.locator(".segment").count(), 54);
    equal(await page.locator(".segment-source").nth(50).textContent(),
          lines[55]);
    const [file] = await Promise.all([page.waitForEvent("download"),
                                      page.click("#download")]);

    equal(file.suggestedFilename(), "manual.en.txt");
    const out = fs.readFileSync(await file.path(), "utf8").split("\n");

    equal(out.length, 60);
    out.forEach((line, i) => {
        if (i % 10 === 9) equal(line, "");
        else ok(line.includes(String(i)), `${i}: ${line}`);
    });
});

await inPage("a file that is not text is refused", async (page) => {
    await page.setInputFiles("#file", { name: "a.bin", mimeType: "text/plain",
                                        buffer: Buffer.from("a\0b") });
    await page.locator("#alert").filter({ hasText: "not a text file" }).waitFor();
    await page.setInputFiles("#file", { name: "latin.txt", mimeType: "text/plain",
                                        buffer: Buffer.from("F\xFCr Sie", "latin1") });
    await status(page, "1 sentence");
    equal(await page.locator("#text").inputValue(), "Für Sie");
    equal(await page.locator("#alert").isVisible(), false);
});

// ---- memories --------------------------------------------------------------------

// A TMX file with n units.
function makeTmx(n) {
    const unit = (i) => `<tu><tuv xml:lang="de"><seg>Bauteil ${i} prüfen.</seg>` +
        `</tuv><tuv xml:lang="en"><seg>Check part ${i}.</seg></tuv></tu>\n`;

    return '<?xml version="1.0"?><tmx version="1.4"><header srclang="de" ' +
        'datatype="plaintext" segtype="sentence" creationtool="t" ' +
        'creationtoolversion="1" adminlang="en" o-tmf="t"/><body>' +
        Array.from({ length: n }, (_, i) => unit(i)).join("") + "</body></tmx>";
}

await inPage("memories: create, add, search, edit, delete", async (page) => {
    const said = (text) => page.locator("#memory-status")
        .filter({ hasText: text }).waitFor();

    await page.click("nav a[href='#memories']");
    await page.fill("#memory-name", "Testspeicher");
    await page.click("#memory-new button");
    await said("Created Testspeicher.");
    const made = await page.evaluate(() => fetch("v1/memories/Testspeicher")
        .then((r) => r.json()));

    equal(`${made.source}-${made.target}`, "de-en");
    equal(await page.locator("#memory-title").innerText(), "Testspeicher");
    equal(await page.locator("#pairs tbody tr").count(), 0);
    await page.fill("#new-source", "Der Schalter ist rot.");
    await page.fill("#new-target", "The switch is red.");
    await page.click("#pair-new button");
    await said("Stored.");
    await page.locator("#pairs tbody tr").first().waitFor();
    ok(/1 pair/.test(await page.locator("#memory-list [aria-current]")
        .innerText()));

    await page.fill("#query", "Der Schalter ist grün.");
    await page.click("#search button");
    await said("1 pair found");
    const row = page.locator("#pairs tbody tr").first();

    equal(await row.locator("del").innerText(), "rot");
    equal(await row.locator("ins").innerText(), "grün");

    await row.getByRole("button", { name: "Edit" }).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("The switch is scarlet.");
    await page.keyboard.press("Control+Enter");
    await said("Stored.");
    ok(/scarlet/.test(await row.innerText()));

    // The translation uses it, and another memory does not have it.
    await page.click("nav a[href='#translate']");
    await translate(page, "Der Schalter ist rot.");
    await status(page, "1 stored word for word");
    await page.selectOption("#use-memory", { label: "main" });
    await status(page, /^1 sentence(?!.*stored)/);
    await page.selectOption("#use-memory", "");

    await page.click("nav a[href='#memories']");
    await page.locator("#memory-list button", { hasText: "Testspeicher" }).click();
    await row.getByRole("button", { name: "Delete" }).click();
    await said("Deleted.");
    equal(await page.locator("#pairs tbody tr").count(), 0);
    page.once("dialog", (d) => d.accept());
    await page.click("#memory-delete");
    await said("Deleted Testspeicher.");
    equal(await page.locator("#memory-list").getByText("Testspeicher").count(), 0);
});

await inPage("memories: import with progress, export", async (page) => {
    const said = (text) => page.locator("#memory-status")
        .filter({ hasText: text }).waitFor();
    let steps = 0;

    await page.exposeFunction("sawStep", () => { steps++; });
    await page.evaluate(() => new MutationObserver(() => {
        if (document.getElementById("import-bar").hasAttribute("value"))
            globalThis.sawStep();
    }).observe(document.getElementById("import-bar"), { attributes: true }));
    await page.click("nav a[href='#memories']");
    await page.fill("#memory-name", "Import");
    await page.click("#memory-new button");
    await said("Created Import.");
    await page.setInputFiles("#import-file", { name: "big.tmx",
        mimeType: "application/xml", buffer: Buffer.from(makeTmx(150000)) });
    await said("Imported 150,000 pairs from big.tmx.");
    ok(steps >= 2, `${steps} steps of progress`);
    equal(await page.locator("#import-state").isVisible(), false);
    await page.locator("#pairs tbody tr >> nth=49").waitFor();
    equal(await page.locator("#pairs tbody tr").count(), 50);
    await page.click("#more");
    await page.locator("#pairs tbody tr >> nth=99").waitFor();
    equal(await page.locator("#pairs tbody tr").count(), 100);

    await drop(page, "#memory", "bad.tmx", "application/xml", "<tmx><body>");
    await page.locator("#alert").waitFor();
    ok((await page.locator("#alert").innerText()).length > 10);
    await drop(page, "#memory", "one.tsv", "text/plain", "Neu ist das.\tThat is new.\n");
    await said("Imported 1 pair from one.tsv.");

    const [file] = await Promise.all([page.waitForEvent("download"),
                                      page.click("#export")]);
    const text = fs.readFileSync(await file.path(), "utf8");

    ok(/\.tmx$/.test(file.suggestedFilename()));
    equal(text.match(/<tu[ >]/g).length, 150001);
    page.once("dialog", (d) => d.accept());
    await page.click("#memory-delete");
    await said("Deleted Import.");
}, { expected: ["400 (Bad Request)"] });

// ---- keyboard, phone, German -------------------------------------------------------

await inPage("everything by keyboard", async (page) => {
    const press = async (...keys) => {
        for (const key of keys) await page.keyboard.press(key);
    };

    await press("Tab");
    equal(await focus(page), "skip Skip to the content");
    await press("Enter");
    equal(await focus(page), "work");
    while (await focus(page) !== "text") await press("Tab");
    await page.keyboard.type("Verwenden Sie keine Lösungsmittel.\n" +
                             "Wechseln Sie den Abluftfilter alle zwölf Monate.");
    await press("Control+Enter");
    await page.waitForFunction(() =>
        document.activeElement.matches(".word"));
    equal(await focus(page), "word w4 Do");
    await press("ArrowRight");
    equal(await focus(page), "word w4 not");
    await press("End", "ArrowRight");
    equal(await page.evaluate(() => document.activeElement.textContent),
          await words(page, 1).first().innerText());
    await press("ArrowUp", "ArrowDown", "Home", "ArrowLeft");
    equal(await focus(page), "word w4 solvents.");
    await press("ArrowDown", "Enter");
    equal(await focus(page), "panel-title");
    await page.locator("#alternatives button").first().waitFor();
    await press("Tab", "Tab");
    ok(await page.evaluate(() =>
        document.activeElement.matches("#alternatives button")));
    await press("Escape");
    equal(await page.evaluate(() => document.activeElement.textContent),
          await words(page, 1).first().innerText());
    // The focus is visible, also when the panel is open.
    await press("Enter", "Escape", "e");
    equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
    ok(await page.evaluate(() => {
        const box = document.activeElement.getBoundingClientRect();

        return box.top >= 0 && box.bottom <= innerHeight &&
            getComputedStyle(document.activeElement).outlineStyle !== "none";
    }));
    await press("Escape", "Escape");
    equal(await focus(page), "text");
    await press("Control+Enter");
    await page.waitForFunction(() => document.activeElement.matches(".word"));
    await page.keyboard.type("?");
    await page.locator("#help").waitFor();
    await press("Escape");
    await page.locator("#help").waitFor({ state: "hidden" });
    await page.locator("nav a[href='#settings']").focus();
    await press("Enter");
    // The page follows a link when the browser reports the new address.
    await page.locator("#settings").waitFor();
    equal(await page.title(), "Settings – skmt");
});

for (const width of [360, 320])
    await inPage(`a window of ${width} px`, async (page) => {
        await translate(page, "Öffnen Sie die Revisionsklappe, bevor Sie den " +
            "Wärmetauscher herausziehen. Donaudampfschifffahrtsgesellschafts" +
            "kapitänsmützenabzeichen.");
        await noSidewaysScroll(page, "translate");
        await words(page, 0).nth(2).click();
        await page.locator("#alternatives button").first().waitFor();
        await noSidewaysScroll(page, "panel");
        for (const part of ["memories", "settings"]) {
            await page.click(`nav a[href='#${part}']`);
            await page.locator(`#${part}`).waitFor();
            await sleep(300);
            await noSidewaysScroll(page, part);
        }
        await noViolations(page, `${width} px`);
    }, { viewport: { width, height: 740 }, hasTouch: true });

await inPage("German", async (page) => {
    equal(await page.evaluate(() => document.documentElement.lang), "de");
    await page.getByRole("link", { name: "Übersetzen" }).waitFor();
    await page.fill("#text", "Verwenden Sie keine Lösungsmittel.");
    await status(page, "1 Satz, 1 wörtlich gespeichert.");
    await page.click("nav a[href='#settings']");
    await page.selectOption("#language", "en");
    equal(await page.evaluate(() => document.documentElement.lang), "en");
    await page.getByRole("link", { name: "Translate", exact: true }).click();
    await page.locator(".segment").filter({ hasText: "stored word for word" })
        .waitFor();
    await page.reload();
    await page.locator("#version").filter({ hasText: "skmt" }).waitFor();
    equal(await page.evaluate(() => document.documentElement.lang), "en");
}, { locale: "de-DE" });

// ---- accessibility -------------------------------------------------------------------

for (const colorScheme of ["light", "dark"])
    await inPage(`axe, ${colorScheme}`, async (page) => {
        const check = (what) => noViolations(page, `${colorScheme}, ${what}`);

        await check("empty");
        await translate(page, "Öffnen Sie die Revisionsklappe, bevor Sie den " +
            "Wärmetauscher herausziehen.\nVerwenden Sie keine Lösungsmittel.");
        await check("translated");
        await words(page, 0).nth(2).click();
        await page.locator("#alternatives button").first().waitFor();
        await check("panel");
        await page.locator("#alternatives button").first().click();
        await check("changed");
        await words(page, 0).first().focus();
        await page.keyboard.press("e");
        await check("editing");
        await page.keyboard.press("Escape");
        await page.setInputFiles("#file", { name: "a.bin", mimeType: "text/plain",
                                            buffer: Buffer.from("a\0b") });
        await check("error");
        await page.fill("#text", Array(40).fill("Filterwechsel fällig").join("\n"));
        await status(page, "40 sentences");
        await check("long");
        await page.click("#help-open");
        await check("help");
        await page.keyboard.press("Escape");
        await page.click("nav a[href='#memories']");
        await page.locator("#pairs tbody tr").first().waitFor();
        await page.fill("#query", "Wechseln Sie den Filter.");
        await page.click("#search button");
        await page.locator("#memory-status").filter({ hasText: "found" }).waitFor();
        await check("memories");
        await page.locator("#pairs").getByRole("button", { name: "Edit" }).first()
            .click();
        await check("editing a pair");
        await page.click("nav a[href='#settings']");
        await page.click("summary");
        await check("settings");
    }, { colorScheme });

await inPage("the theme can be fixed", async (page) => {
    const paper = () => page.evaluate(() =>
        getComputedStyle(document.body).backgroundColor);
    const light = await paper();

    await page.click("nav a[href='#settings']");
    await page.selectOption("#theme", "dark");
    ok(await paper() !== light);
    await noViolations(page, "fixed dark");
    await page.reload();
    ok(await paper() !== light);
}, { colorScheme: "light" });

await inPage("less motion if it is wanted", async (page) => {
    await translate(page, "Filterwechsel fällig");
    equal(await page.evaluate(() => [...document.querySelectorAll("*")]
        .filter((n) => getComputedStyle(n).animationName !== "none").length), 0);
}, { reducedMotion: "reduce" });

// ---- keys, a server that is gone, no JavaScript -----------------------------------------

const locked = await startServer({ keys: ["anna"] });

await inPage("a server that needs a key", async (page) => {
    const page2 = await page.context().newPage();

    await page2.goto(locked.url + "/");
    await page2.locator("#alert").filter({ hasText: "needs a key" }).waitFor();
    equal(await page2.locator("#settings").isVisible(), true);
    await page2.fill("#key", "wrong");
    await page2.keyboard.press("Tab");
    await page2.locator("#alert").filter({ hasText: "needs a key" }).waitFor();
    await page2.fill("#key", locked.keys.anna);
    await page2.keyboard.press("Tab");
    await page2.locator("#version").filter({ hasText: "skmt" }).waitFor();
    await page2.click("nav a[href='#translate']");
    await page2.fill("#text", "Guten Morgen!");
    await page2.locator("#status").filter({ hasText: "1 sentence" }).waitFor();
    ok(!JSON.stringify(await page2.evaluate(() => ({ ...localStorage })))
        .includes(locked.keys.anna));
    // A new tab does not have it.
    const page3 = await page.context().newPage();

    await page3.goto(locked.url + "/");
    await page3.locator("#alert").filter({ hasText: "needs a key" }).waitFor();
});

await test("without JavaScript and with a key", async () => {
    const send = (fields) => fetch(locked.url + "/", { method: "POST",
        body: new URLSearchParams({ text: "Guten Tag", pair: "de-en",
                                    ...fields }) });
    const refused = await send({});

    equal(refused.status, 401);
    ok(/text\/html/.test(refused.headers.get("content-type")));
    ok(/role="alert"/.test(await refused.text()));
    equal((await send({ api_key: locked.keys.anna })).status, 200);
});
await locked.stop();

await inPage("without JavaScript", async (page) => {
    equal(await page.locator("nav").isVisible(), false);
    equal(await page.locator("#status").isVisible(), false);
    await page.fill("#text", "Verwenden Sie keine Lösungsmittel.\n\n" +
                    "</textarea><b>Guten Tag</b> & \"so\".");
    await page.getByRole("button", { name: "Translate" }).click();
    await page.locator(".plain-result").waitFor();
    const result = await page.locator(".plain-result").innerText();

    ok(result.startsWith("Do not use solvents.\n\n"), result);
    equal(await page.locator("#work b").count(), 0);
    equal((await page.locator("#text").inputValue()).replace(/\r/g, ""),
          "Verwenden Sie keine Lösungsmittel.\n\n" +
          "</textarea><b>Guten Tag</b> & \"so\".");
    await page.fill("#text", "");
    await page.getByRole("button", { name: "Translate" }).click();
    await page.getByRole("alert").filter({ hasText: "no text" }).waitFor();
}, { javaScriptEnabled: false, expected: ["400 (Bad Request)"] });

const poor = await startServer({ memory: false });

await inPage("a server without a memory", async (page) => {
    await translate(page, "Guten Morgen!");
    await words(page, 0).first().focus();
    await page.keyboard.press("e");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Morning!");
    await page.keyboard.press("Control+Enter");
    await status(page, "on this page only");
    equal(await target(page, 0), "Morning!");
    equal(await page.getByRole("button", { name: "Store" }).count(), 0);
    await page.click("#copy");
    await status(page, "Copied.");
    equal(await page.evaluate(() => navigator.clipboard.readText()), "Morning!");
    await page.click("nav a[href='#memories']");
    await page.getByText("There is no memory yet.").waitFor();
    await page.fill("#memory-name", "Neu");
    await page.click("#memory-new button");
    await page.locator("#alert").filter({ hasText: "--memory" }).waitFor();
}, { url: poor.url, expected: ["501 (Not Implemented)"] });
await poor.stop();

const gone = await startServer({ memory: true });

await inPage("a server that is gone", async (page) => {
    await translate(page, "Guten Morgen!");
    await gone.stop();
    await page.fill("#text", "Guten Morgen! Wie geht es?");
    await page.locator("#alert").filter({ hasText: "does not answer" }).waitFor();
    equal(await page.locator("#text").inputValue(), "Guten Morgen! Wie geht es?");
}, { url: gone.url, expected: ["ERR_CONNECTION_REFUSED"] });

// A multilingual model with random weights; null if it cannot be made here.
function makeMultilingual() {
    const file = path.join(work, "m2m.skmt");
    const made = spawnSync("/usr/bin/python3",
        [path.join(top, "tools/gen_foreign.py"), work, "m2m100"]);

    if (made.status !== 0) return null;
    const r = spawnSync(path.join(build, "skmt"), ["convert", "--quiet", "--from",
        path.join(work, "m2m100"), "-o", file], { encoding: "utf8" });

    equal(r.status, 0, r.stderr);
    return file;
}

const multilingual = makeMultilingual();

if (multilingual) {
    const several = await startServer({ memory: true, models: [multilingual],
        args: ["--pair", "de-fr", "--pair", "de-en", "--max-len-b", "10"] });

    await inPage("two pairs of languages keep their corrections", async (page) => {
        const answer = () => page.locator("#segments").innerText();

        await page.selectOption("#pair", "de-fr");
        await page.fill("#text", "Der Hund schläft.");
        await page.getByRole("button", { name: "Edit" }).click();
        await page.keyboard.press("Control+A");
        await page.keyboard.type("Le chien dort.");
        await page.keyboard.press("Control+Enter");
        await status(page, "Stored in");
        await page.selectOption("#pair", "de-en");
        await page.locator("#segments").filter({ hasNotText: "Le chien" })
            .filter({ has: page.getByRole("button", { name: "Edit" }) }).waitFor();
        ok(!(await answer()).includes("follows"));
        await page.selectOption("#pair", "de-fr");
        await page.locator("#segments").filter({ hasText: "Le chien dort." })
            .waitFor();
        await page.click("nav a[href='#memories']");
        await page.fill("#memory-name", "Neu");
        await page.click("#memory-new button");
        await page.locator("#memory-status").filter({ hasText: "Created" })
            .waitFor();
        const { memories } = await page.evaluate(() => fetch("v1/memories")
            .then((r) => r.json()));

        equal(memories.map((m) => `${m.name} ${m.source}-${m.target}`),
              ["main de-fr", "Neu de-fr"]);
    }, { url: several.url });
    await several.stop();
} else {
    skip("two pairs of languages", "needs Debian's python3-numpy and sentencepiece");
}

await browser.close();
await server.stop();
fs.rmSync(work, { recursive: true, force: true });
