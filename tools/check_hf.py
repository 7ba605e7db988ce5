#!/usr/bin/env python3
"""Compare skmt with the outputs of Hugging Face's transformers.

    /usr/bin/python3 tools/check_hf.py [--golden FILE] [--keep DIR] [--verbose]
        [NAME ...]

Makes the tiny models of tools/hf_oracle.py (or those that are named), converts
each to f32 with $BUILD/skmt, and compares with tests/golden/hf_oracle.jsonl or
FILE, whose lines are described in tools/hf_oracle.py:

    forced     log-probabilities, within 1e-4 relative (1e-4 absolute below 1)
    search     the same ids and texts; sums and scores as above
    tokens     the same ids

--verbose also prints the largest differences, and how many translations are the
same with early_stopping off: skmt has no such rule.

Prints a line per model: "NAME: the same" or what differs, and exits with 1 if
anything does. docs/models.md says what skmt deliberately does in another way.
"""
import argparse
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import numpy as np

import check_foreign
import foreign_oracle
import hf_oracle
from check_foreign import BUILD, TOLERANCE, Differs, off, run

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = os.path.join(TOP, "tests/golden/hf_oracle.jsonl")
# This model has a table of positions in f16, which transformers uses as it is.
# skmt recognizes what it was computed by, and computes it in f32.
ROUNDED = {"hf-marian-bin": 5e-4}


def read_golden(path):
    """The lines of each model."""
    models = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            value = json.loads(line)
            if "model" in value:
                models.setdefault(value["model"], []).append(value)
    return models


def ids_of(result):
    return [t["id"] for t in result["segments"][0]["tokens"]]


class Comparison(check_foreign.Comparison):
    """Of one model with its lines of the golden file."""

    def __init__(self, case, folder, lines):
        super().__init__(case, folder)
        self.lines = lines
        self.want = self.of_kind("model")[0]
        self.tolerance = ROUNDED.get(case["name"], TOLERANCE)

    def same(self, what, got, want):
        d = off(got, want)
        self.worst = max(self.worst, d)
        if not d <= self.tolerance:
            raise Differs(f"{what} differs by {d:.2g}")

    def of_kind(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    def check_files(self):
        if hf_oracle.digest_of(self.path) != self.want["digest"]:
            raise Differs("the model is not that of the golden file; make it "
                          "again as tools/hf_oracle.py says")

    def check_forced(self):
        pairs = self.of_kind("forced")
        lines = "".join(
            " ".join(map(str, p["source"])) + "\t" +
            " ".join(map(str, self.want["forced"] + p["target"])) + "\n"
            for p in pairs)
        out = run([BUILD + "/tests/unit/foreign_tool", self.file],
                  input=lines.encode())
        head, data = out.split(b"\n", 1)
        ids = {k: int(v) for k, v in
               (x.split("=") for x in head.decode().split())}
        rows = np.frombuffer(data, "<f4").reshape(-1, ids["vocab"])
        self.check_tokens_of_model(ids, rows[0])
        at = 0
        for pair in pairs:
            at += len(self.want["forced"])
            n = len(pair["target"]) + 1
            self.check_pair(pair, rows[at:at + n])
            at += n

    def check_tokens_of_model(self, ids, row):
        n = self.model.vocabulary
        barred = [i for i in range(n) if row[i] < check_foreign.BARRED]
        if barred != self.want["barred"]:
            raise Differs(f"{barred} are barred, not {self.want['barred']}")
        for key in ("eos", "start"):
            if ids[key] != self.want[key]:
                raise Differs(f"{key} is {ids[key]}, not {self.want[key]}")

    def check_pair(self, pair, rows):
        logp = foreign_oracle.renormalized(rows, range(0))
        for at, token, value, best, values in pair["rows"]:
            where = f"position {at} of {len(pair['target'])}"
            self.same(f"log-probability of {token}, {where}",
                      logp[at, token], value)
            self.same(f"best log-probabilities, {where}", logp[at, best],
                      values)

    def translate(self, texts, *options):
        out = run([BUILD + "/skmt", "translate", "-m", self.file, "--json",
                   "--split", "none", *map(str, options), *self.languages],
                  input="".join(t + "\n" for t in texts).encode())
        return [json.loads(line) for line in out.decode().splitlines()]

    def results_of(self, line):
        """What skmt makes with the settings of a line, with what transformers
        made."""
        results = self.translate(
            self.case["texts"], "--lenpen-type", "fairseq", "--lenpen",
            line["lenpen"], "--beam", line["beam"], "--max-len-a",
            hf_oracle.MAX_LEN[0], "--max-len-b", hf_oracle.MAX_LEN[1])
        return list(zip(results, line["outputs"], strict=True))

    def check_search(self, line):
        what = f"beam {line['beam']}, penalty {line['lenpen']}"
        for got, want in self.results_of(line):
            have = ids_of(got)
            if have != want["ids"]:
                raise Differs(f"{what}: the ids are {have} (score "
                              f"{got['score']}), not {want['ids']} (score "
                              f"{want['score']})")
            self.same(f"{what}: total", got["logprob"], want["logprob"])
            self.same(f"{what}: score", got["score"], want["score"])
            if "text" in want and got["text"] != want["text"]:
                raise Differs(f"{what}: the text is {got['text']!r}, not "
                              f"{want['text']!r}")

    def count_same(self, line):
        pairs = self.results_of(line)
        same = sum(ids_of(got) == want["ids"] for got, want in pairs)
        self.notes.append(f"without early_stopping {same} of {len(pairs)}")

    def source_ids(self, text):
        """With the tokens that the family adds. An empty text has no
        segments."""
        segments = self.translate([text], "--beam", 1, "--max-len-a", 0,
                                  "--max-len-b", 1)[0]["segments"]
        pieces = [p["id"] for s in segments for p in s["source"]]
        n = len(self.model.net.t["source"])     # others have ids of skmt
        pieces = [self.model.unk if p >= n else p for p in pieces]
        return self.model.prefix + pieces + self.model.suffix

    def check_texts(self):
        for line in self.of_kind("tokens"):
            if self.case["name"] == "nllb200" and line["text"].endswith(" "):
                continue    # tokenizers makes a piece of the blank
            if line["text"] in hf_oracle.TOKEN_TEXTS:
                self.check_no_token(line["text"])
                continue
            got = self.source_ids(line["text"])
            if got != line["ids"]:
                raise Differs(f"the ids of {line['text']!r} are {got}, not "
                              f"{line['ids']}")

    def check_no_token(self, text):
        """No text becomes a token in skmt; in transformers some do."""
        special = {*self.want["never"], self.want["eos"], *self.model.prefix,
                   *self.model.forced}
        n = len(self.model.prefix)
        found = special & set(self.source_ids(text)[n:-1])
        if found:
            raise Differs(f"{text!r} becomes the tokens {sorted(found)}")

    def run(self):
        self.check_files()
        self.convert()
        self.check_forced()
        for line in self.of_kind("search"):
            if line["early_stopping"]:
                self.check_search(line)
            else:
                self.count_same(line)
        self.check_texts()


def main():
    ap = argparse.ArgumentParser(add_help=False)
    ap.add_argument("--golden", default=GOLDEN)
    ap.add_argument("--keep")
    ap.add_argument("--verbose", action="store_true")
    ap.add_argument("--help", action="store_true")
    ap.add_argument("names", nargs="*")
    a = ap.parse_args()
    if a.help:
        sys.exit(__doc__.strip())
    lines = read_golden(a.golden)
    with tempfile.TemporaryDirectory() as folder:
        folder = a.keep or folder
        cases = hf_oracle.make_models(folder, a.names)
        comparisons = (Comparison(case, folder, lines[case["name"]])
                       for case in cases)
        sys.exit(1 if check_foreign.check(comparisons, a.verbose) else 0)


if __name__ == "__main__":
    main()
