// diff.js - shows differences between texts.
import { el } from "./dom.js";

const words = (text) => text.match(/\p{L}[\p{L}\p{M}'’-]*|\p{N}+|\s+|./gsu) ?? [];

// The source of a stored pair with what differs from the sentence: <del> is only
// in the pair, <ins> only in the sentence. `edits` is that of the server;
// `text` is the text of the request.
export function sourceDiff(pair, text)
{
    const nodes = [];
    let end = 0;

    for (const e of pair.edits ?? []) {
        if (e.kind === "+") {
            nodes.push(el("ins", {}, text.slice(e.begin, e.end)));
            continue;
        }
        if (e.begin > end) nodes.push(pair.source.slice(end, e.begin));
        const part = pair.source.slice(e.begin, e.end);

        nodes.push(e.kind === "-" ? el("del", {}, part) : part);
        end = e.end;
    }
    nodes.push(pair.source.slice(end));
    return nodes;
}

// Which words of `from` are also in `to`, in the same order: a list of booleans
// for the longest common subsequence.
function common(from, to)
{
    const best = Array.from({ length: from.length + 1 },
                            () => new Uint16Array(to.length + 1));
    const keep = from.map(() => false);

    for (let i = from.length - 1; i >= 0; i--)
        for (let k = to.length - 1; k >= 0; k--)
            best[i][k] = from[i] === to[k] ? best[i + 1][k + 1] + 1
                : Math.max(best[i + 1][k], best[i][k + 1]);
    for (let i = 0, k = 0; i < from.length && k < to.length;) {
        if (from[i] === to[k]) {
            keep[i++] = true;
            k++;
        } else if (best[i + 1][k] >= best[i][k + 1]) i++;
        else k++;
    }
    return keep;
}

// The target of a stored pair. `places` are the spans that voted for the word in
// question, which become <mark>; words that are not in the translation get the
// class "other".
export function targetDiff(pair, places, translation)
{
    const parts = words(pair.target);
    const keep = common(parts, words(translation));
    const nodes = [];
    let at = 0;

    parts.forEach((part, i) => {
        const begin = at, end = at + part.length;

        at = end;
        if (places.some((p) => p.begin < end && p.end > begin && part.trim()))
            nodes.push(el("mark", {}, part));
        else if (!keep[i] && part.trim())
            nodes.push(el("span", { class: "other" }, part));
        else nodes.push(part);
    });
    return nodes;
}
