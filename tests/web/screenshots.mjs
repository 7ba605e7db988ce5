// screenshots.mjs - makes docs/images/page-*.png. Run it with "make screenshots".
//
// The pictures show what the included model and the memory of the small test
// set give. The fonts are those of the machine; the page prefers Inter
// (Debian's fonts-inter).
import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { startServer, top } from "./lib.mjs";

const images = path.join(top, "docs/images");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const text = [
    "Wechseln Sie den Abluftfilter alle zwölf Monate.",
    "Reinigen Sie die Kondensatwanne einmal im Monat mit heißem Wasser.",
    "Die Nachtabsenkung ist ab Werk eingeschaltet.",
    "Verwenden Sie keine Lösungsmittel.",
].join("\n");

const server = await startServer({ memory: true });
const browser = await chromium.launch({ executablePath: browserPath,
                                        args: ["--no-sandbox"] });

async function importMemory() {
    const file = fs.readFileSync(path.join(top, "tests/data/small/memory.tsv"));
    const r = await fetch(server.url +
        "/v1/memories/main/import?create=true&name=ventilation.tsv",
        { method: "POST", body: file,
          headers: { "Content-Type": "application/octet-stream" } });

    if (!r.ok) throw new Error(await r.text());
}

// Opens the page, calls fn, and writes docs/images/page-NAME.png.
async function shoot(name, options, fn) {
    const context = await browser.newContext({ locale: "en-US",
        reducedMotion: "reduce", viewport: { width: 1180, height: 720 },
        ...options });
    const page = await context.newPage();

    await page.goto(server.url + "/");
    await page.locator("#version").filter({ hasText: "skmt" }).waitFor();
    await fn(page);
    // The caret blinks and the pointer changes what is under it.
    await page.mouse.move(0, 0);
    const height = await page.evaluate(() =>
        document.querySelector("footer").getBoundingClientRect().bottom +
        scrollY);

    await page.setViewportSize({ width: page.viewportSize().width,
                                 height: Math.ceil(height) });
    await page.screenshot({ path: path.join(images, `page-${name}.png`),
                            caret: "hide" });
    await context.close();
    console.log(`docs/images/page-${name}.png`);
}

async function translate(page) {
    await page.fill("#text", text);
    await page.locator("#status").filter({ hasText: "4 " }).waitFor();
}

async function openWord(page) {
    await page.locator(".segment >> nth=1 >> [role=button]")
        .filter({ hasText: "tray" }).first().click();
    await page.locator("#alternatives button").first().waitFor();
}

await importMemory();
await shoot("light", {}, translate);
await shoot("dark", { colorScheme: "dark" }, translate);
await shoot("word", {}, async (page) => {
    await translate(page);
    await openWord(page);
});
await shoot("correction", {}, async (page) => {
    await page.fill("#text", "Der Kältekreis des Nordwind 20 wird jährlich " +
        "geprüft.\nDer Kältekreis des Nordwind 40 wird monatlich geprüft.");
    await page.locator("#status").filter({ hasText: "2 " }).waitFor();
    await page.locator(".segment").first().getByRole("button", { name: "Edit" })
        .click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Inspect the chill loop of the Nordwind 20 once a year.");
    await page.keyboard.press("Control+Enter");
    await page.locator(".segment").nth(1).filter({ hasText: "follows" })
        .waitFor();
});
await shoot("phone", { viewport: { width: 390, height: 844 },
                       deviceScaleFactor: 2, locale: "de-DE" }, translate);
await shoot("memories", {}, async (page) => {
    await page.click("nav a[href='#memories']");
    await page.locator("#pairs tbody tr >> nth=5").waitFor();
    await page.fill("#query", "Wechseln Sie den Abluftfilter jedes Jahr.");
    await page.click("#search button");
    await page.locator("#memory-status").filter({ hasText: "found" }).waitFor();
});
await browser.close();
await server.stop();
