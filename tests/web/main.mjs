// main.mjs - runs a file of tests: node main.mjs FILE.mjs
import path from "node:path";
import { pathToFileURL } from "node:url";
import { end } from "./lib.mjs";

await import(pathToFileURL(path.resolve(process.argv[2])));
await end();
