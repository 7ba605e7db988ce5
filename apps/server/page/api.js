// api.js - sends requests to the server (docs/api-http.md).
//
// Paths are relative, so that the page works behind a proxy that adds a prefix.

// A request that failed. `kind` is error.status of the server, or "network".
export class ApiError extends Error {
    constructor(kind, message, retryAfter = 0)
    {
        super(message);
        this.kind = kind;
        this.retryAfter = retryAfter;   // seconds; 0: do not try again
    }
}

// The key is forgotten when the tab is closed.
export const getKey = () => sessionStorage.getItem("key") ?? "";
export function setKey(key)
{
    if (key) sessionStorage.setItem("key", key);
    else sessionStorage.removeItem("key");
}

function makeHeaders(more)
{
    const headers = { ...more };

    if (getKey()) headers.Authorization = "Bearer " + getKey();
    return headers;
}

// The error that an answer describes, as far as it does.
async function readError(response)
{
    let error = {};

    try {
        error = (await response.json()).error ?? {};
    } catch {
        // Not JSON: the status says what there is to say.
    }
    return new ApiError(error.status ?? "http",
                        error.message ?? `HTTP ${response.status}`,
                        error.retry_after ??
                        Number(response.headers.get("Retry-After") ?? 0));
}

async function send(path, init)
{
    let response;

    try {
        response = await fetch(path, { cache: "no-store", ...init });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ApiError("network", "");
    }
    if (!response.ok) throw await readError(response);
    return response;
}

async function call(method, path, body, signal)
{
    const init = { method, signal, headers: makeHeaders() };

    if (body !== undefined) {
        init.headers["Content-Type"] = "application/json";
        init.body = JSON.stringify(body);
    }
    const response = await send(path, init);

    return response.status === 204 ? null : response.json();
}

const memoryPath = (name) => "v1/memories/" + encodeURIComponent(name);

export const getInfo = () => call("GET", "v1/info");
export const translate = (args, signal) =>
    call("POST", "v1/translate", args, signal);
export const alternatives = (args, signal) =>
    call("POST", "v1/alternatives", args, signal);
export const feedback = (args) => call("POST", "v1/feedback", args);
export const listMemories = async () =>
    (await call("GET", "v1/memories")).memories;
export const createMemory = (title, { source, target }) =>
    call("POST", "v1/memories", { title, source, target });
export const deleteMemory = (name) => call("DELETE", memoryPath(name));
export const listPairs = (name, after, limit = 50) =>
    call("GET", `${memoryPath(name)}/pairs?limit=${limit}&after=${after}`);
export const addPair = (name, pair) =>
    call("POST", memoryPath(name) + "/pairs", pair);
export const changePair = (name, id, pair) =>
    call("PUT", `${memoryPath(name)}/pairs/${id}`, pair);
export const deletePair = (name, id) =>
    call("DELETE", `${memoryPath(name)}/pairs/${id}`);
export const search = async (name, query) => {
    const args = new URLSearchParams({ q: query, memories: name, limit: 50,
                                       min_similarity: 0.3 });

    return (await call("GET", "v1/search?" + args)).matches;
};

export async function exportMemory(name)
{
    const path = memoryPath(name) + "/export?format=tmx";
    const response = await send(path, { headers: makeHeaders() });

    return response.blob();
}

// Reads server-sent events and calls onEvent(name, data) for each.
async function readEvents(stream, onEvent)
{
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";

    for (;;) {
        const { value, done } = await reader.read();

        if (done) return;
        const blocks = (rest + value).split(/\r?\n\r?\n/);

        rest = blocks.pop();
        for (const block of blocks) {
            const name = /^event: *(.*)$/m.exec(block)?.[1] ?? "message";
            const data = /^data: *(.*)$/m.exec(block)?.[1];

            if (data) onEvent(name, JSON.parse(data));
        }
    }
}

// Imports a file. onProgress gets the data of the events "progress". Returns
// that of the event "done".
export async function importFile(name, file, onProgress, signal)
{
    const path = `${memoryPath(name)}/import?` +
        new URLSearchParams({ name: file.name });
    const headers = makeHeaders({ "Accept": "text/event-stream",
                                  "Content-Type": "application/octet-stream" });
    const response = await send(path, { method: "POST", headers, signal,
                                        body: file });
    let result = null;

    await readEvents(response.body, (event, data) => {
        if (event === "progress") onProgress(data);
        if (event === "done") result = data;
        if (event === "error")
            throw new ApiError(data.error.status, data.error.message);
    });
    if (!result) throw new ApiError("network", "");
    return result;
}
