// lib.mjs - starts servers and runs tests, for the other files of this folder.
//
//     import { startServer, test, equal } from "./lib.mjs";
//
//     const server = await startServer({ memory: true });
//     await test("it answers", async () => {
//         const r = await fetch(server.url + "/health");
//         equal(r.status, 200);
//     });
//
// main.mjs runs a file, and stops the servers that still run at its end. The last
// line that is printed is "N passed, N failed, N skipped".
import { spawn, execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { deepStrictEqual, AssertionError } from "node:assert";

export const top = process.env.TOP ?? process.cwd();
export const build = process.env.BUILD ?? path.join(top, "build");
const program = path.join(build, "skmt");
const testFile = path.basename(process.argv[2] ?? process.argv[1]);
const running = new Set();
const counts = { passed: 0, failed: 0, skipped: 0 };

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- servers

// memory: true for a memory file, false for none, or the name of a file.
// keys: names, such as ["anna", "ben"]; each gets a key and its own memories.
// args: more arguments of skmt serve. models: names or files.
// Returns { url, port, dir, memory, keys, log(), stop() }; keys is an object of
// keys by name.
export async function startServer({ memory = false, keys = [], args = [],
                                    models = [], env = {} } = {}) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "skmt-web-"));
    const made = {};
    const line = ["serve", "--listen", "127.0.0.1:0"];
    const file = memory === true ? path.join(dir, "test.tm") : memory || null;

    for (const name of keys)
        made[name] = execFileSync(program, ["serve", "--keys",
            path.join(dir, "keys"), "--new-key", name],
            { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
    if (file) line.push("--memory", file);
    if (keys.length) line.push("--keys", path.join(dir, "keys"));
    for (const name of models) line.push("--model", name);
    line.push(...args);

    const server = { dir, memory: file, keys: made, text: "" };
    server.process = spawn(program, line, {
        stdio: ["ignore", "ignore", "pipe"],
        env: { SKMT_MODEL: path.join(top, "models/de-en.skmt"),
               ...process.env, ...env },
    });
    running.add(server);
    server.log = () => server.text;
    server.stop = () => stopServer(server);
    server.process.stderr.on("data", (part) => { server.text += part; });
    server.ended = new Promise((done) => server.process.on("close", done));
    server.url = await waitUntilReady(server);
    server.port = Number(new URL(server.url).port);
    return server;
}

async function waitUntilReady(server) {
    for (let i = 0; i < 600; i++) {
        const at = /listening on (https?:\/\/[^\s/]+)/.exec(server.text);
        const ready = at && await fetch(at[1] + "/ready")
            .then((r) => r.arrayBuffer().then(() => r.status === 200))
            .catch(() => false);

        if (ready) return at[1];
        if (server.process.exitCode !== null) break;
        await sleep(50);
    }
    throw new Error("the server did not start:\n" + server.text);
}

// Returns the exit status.
async function stopServer(server) {
    if (!running.delete(server)) return server.process.exitCode;
    server.process.kill("SIGTERM");
    const slow = setTimeout(() => server.process.kill("SIGKILL"), 40000);
    await server.ended;
    clearTimeout(slow);
    fs.rmSync(server.dir, { recursive: true, force: true });
    return server.process.exitCode;
}

// ---- tests

export const equal = deepStrictEqual;

export function ok(value, message = "it is not true") {
    if (!value) throw new AssertionError({ message });
}

// Waits for an error and returns it.
export async function fails(promise) {
    let value;

    try {
        value = await promise;
    } catch (error) {
        return error;
    }
    throw new AssertionError({ message: "no error, but "
                               + JSON.stringify(value) });
}

// A test that does not end counts as failed after `seconds`.
export async function test(name, fn, seconds = 60) {
    let timer;

    if (ending) await new Promise(() => {});
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not finished after ${seconds} s`)),
                           seconds * 1000);
    });

    try {
        await Promise.race([fn(), late]);
        counts.passed++;
    } catch (error) {
        counts.failed++;
        console.log(`FAIL ${testFile}: ${name}`);
        console.log(String(error?.stack ?? error).split("\n").slice(0, 25)
            .map((line) => "    " + line.slice(0, 300)).join("\n"));
    } finally {
        clearTimeout(timer);
    }
}

export function skip(name, why) {
    counts.skipped++;
    console.log(`skip ${testFile}: ${name}: ${why}`);
}

// ---- the end

let ending = false, ended = false;

function report() {
    if (ended) return;
    ended = true;
    console.log(`${counts.passed} passed, ${counts.failed} failed, `
                + `${counts.skipped} skipped`);
}

// Stops the servers, prints the last line and exits.
export async function end() {
    if (ending) return;
    ending = true;
    for (const server of [...running])
        await stopServer(server).catch((error) => broken(error));
    report();
    process.exit(counts.failed ? 1 : 0);
}

// An error outside of a test, such as a server that does not start.
function broken(error) {
    counts.failed++;
    console.log(`FAIL ${testFile}: ${error?.stack ?? error}`);
    end();
}

process.on("uncaughtException", broken);
process.on("unhandledRejection", broken);
process.on("exit", () => {
    for (const server of running) server.process.kill("SIGKILL");
    if (ended) return;
    counts.failed++;
    console.log(`FAIL ${testFile}: it ended before the end`);
    report();
    process.exitCode = 1;
});
