#!/usr/bin/env python3
"""Compare skmt with the oracle on models in the formats of other projects.

    /usr/bin/python3 tools/check_foreign.py [--keep DIR] [--isa ISA] [NAME ...]

Makes the models of tools/gen_foreign.py (or those that are named), converts
each to f32 with $BUILD/skmt, and compares with tools/foreign_oracle.py:

    ids        of the sources, and the text of the translations
    logits     of made-up translations: all log-probabilities of all positions,
               within 1e-4 relative (1e-4 absolute below 1)
    beams      the outputs of two kinds of beam search: the same tokens, and
               log-probabilities and scores as above

Prints a line per model: "NAME: the same" or what differs, and exits with 1 if
anything does. A converter decides which tokens it bars; they must include those
that the family bars, and the oracle then bars the same.

--keep DIR     make everything in DIR and leave it there
--isa ISA      the kernels to use (SKMT_ISA)
--verbose      also print the largest differences
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import numpy as np

import foreign_oracle
import gen_foreign

BUILD = os.environ.get("BUILD", "build")
BARRED = -1e8               # a logit below this bars its token
TOLERANCE = 1e-4
SEARCHES = [("gnmt", 0.6, 4), ("fairseq", 1.0, 4)]
MAX_LEN = (1.0, 6)


class Differs(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, capture_output=True, **more)
    if done.returncode:
        raise Differs(f"{os.path.basename(command[0])} {command[1]}: " +
                      done.stderr.decode(errors="replace").strip())
    return done.stdout


def off(got, want):
    """The largest difference, relative where the value is above 1."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    if got.shape != want.shape:
        return np.inf
    return float((np.abs(got - want) /
                  np.maximum(1, np.abs(want))).max(initial=0))


class Comparison:
    def __init__(self, case, folder):
        self.case = case
        self.path = os.path.join(folder, case["path"])
        self.file = os.path.join(folder, case["name"] + ".skmt")
        self.languages = []
        for key in ("from", "to"):
            if key in case:
                self.languages += ["--" + key, case[key]]
        self.model = foreign_oracle.load(self.path, case["family"],
                                         case.get("from"), case.get("to"))
        self.worst = 0
        self.notes = []         # for --verbose

    def convert(self):
        run([BUILD + "/skmt", "convert", "--from", self.path, "--type", "f32",
             "--quiet", "-o", self.file, *self.case.get("options", [])])

    def forced(self):
        """Compare the logits; find out which tokens are barred."""
        model = self.model
        self.sources = model.sources(self.case["texts"])
        targets = [foreign_oracle.made_up_target(
            model, foreign_oracle.TARGET_LENGTHS[i % 4], i)
            for i in range(len(self.sources))]
        lines = "".join(
            " ".join(map(str, s)) + "\t" +
            " ".join(map(str, model.forced + t)) + "\n"
            for s, t in zip(self.sources, targets))
        out = run([BUILD + "/tests/unit/foreign_tool", self.file],
                  input=lines.encode())
        head, data = out.split(b"\n", 1)
        self.ids = {k: int(v) for k, v in
                    (x.split("=") for x in head.decode().split())}
        rows = np.frombuffer(data, "<f4").reshape(-1, self.ids["vocab"])
        self.check_barred(rows[0])
        at = 0
        for source, target in zip(self.sources, targets):
            want = foreign_oracle.renormalized(
                model.forced_logits(source, target), self.barred)
            got = rows[at:at + len(want), :model.vocabulary]
            at += len(want)
            got = foreign_oracle.renormalized(got, self.barred)
            able = [i for i in range(model.vocabulary)
                    if i not in self.barred]
            self.same("log-probabilities", got[:, able], want[:, able])
        if at != len(rows):
            raise Differs(f"{len(rows)} rows of logits, not {at}")

    def check_barred(self, row):
        model, ids = self.model, self.ids
        all_barred = {i for i, x in enumerate(row) if x < BARRED}
        self.barred = {i for i in all_barred if i < model.vocabulary}
        self.never = {i for i in (ids["pad"], ids["bos"])
                      if 0 <= i < model.vocabulary}
        extra = set(range(model.vocabulary, len(row))) - all_barred
        missing = model.barred - self.barred - self.never
        more = self.barred - model.barred - model.may_be_barred
        if extra:
            raise Differs(f"new ids can come out: {sorted(extra)}")
        if missing:
            raise Differs(f"ids can come out: {sorted(missing)}")
        if more:
            raise Differs(f"ids are barred: {sorted(more)}")
        if ids["eos"] != model.eos:
            raise Differs(f"eos is {ids['eos']}, not {model.eos}")
        if model.start >= 0 and ids["start"] != model.start:
            raise Differs(f"start is {ids['start']}, not {model.start}")

    def same(self, what, got, want):
        d = off(got, want)
        self.worst = max(self.worst, d)
        if not d <= TOLERANCE:
            raise Differs(f"{what} differ by {d:.2g}")

    def search(self, kind, alpha, beam):
        out = run([BUILD + "/skmt", "translate", "-m", self.file, "--json",
                   "--split", "none", "--lenpen-type", kind, "--lenpen",
                   str(alpha), "--beam", str(beam), "--max-len-a",
                   str(MAX_LEN[0]), "--max-len-b", str(MAX_LEN[1]),
                   *self.languages],
                  input="".join(t + "\n" for t in
                                self.case["texts"]).encode())
        results = [json.loads(line) for line in out.decode().splitlines()]
        for got, source in zip(results, self.sources, strict=True):
            self.compare_output(got, source, (kind, alpha), beam)

    def compare_output(self, got, source, lenpen, beam):
        model, segment = self.model, got["segments"][0]
        text = f"'{got['text']}'"
        pieces = [p["id"] for p in segment["source"]]
        own = source[len(model.prefix):len(source) - len(model.suffix)]
        # A piece that the vocabulary lacks has an id of its own in skmt.
        n = len(model.net.t["source"])
        pieces = [model.unk if p >= n else p for p in pieces]
        if pieces != own:
            raise Differs(f"the ids of the source are {pieces}, not {own}")
        ids, total, score = foreign_oracle.beam_search(
            model, source, self.barred, self.never, beam, lenpen, MAX_LEN)
        have = [t["id"] for t in segment["tokens"]]
        if have != ids:
            raise Differs(f"{lenpen[0]}: {text} has the tokens {have}, not "
                          f"{ids} (score {segment['score']}, not {score})")
        self.same("total", got["logprob"], total)
        self.same("score", got["score"], score)
        self.same("sum of the tokens",
                  sum(t["logprob"] for t in segment["tokens"]), total)
        want = model.text.decode([i for i in ids if i != model.eos])
        if got["text"] != want:
            raise Differs(f"the text is {text}, not '{want}'")

    def run(self):
        self.convert()
        self.forced()
        for s in SEARCHES:
            self.search(*s)


def check(comparisons, verbose):
    """Run them and print a line for each. Returns how many failed."""
    bad = 0
    for c in comparisons:
        try:
            c.run()
            result = "the same"
        except Differs as e:
            bad += 1
            result = str(e)
        if verbose:
            result += f" ({'; '.join([f'{c.worst:.1e}'] + c.notes)})"
        print(f"{c.case['name']}: {result}", flush=True)
    return bad


def main():
    ap = argparse.ArgumentParser(add_help=False)
    ap.add_argument("--keep")
    ap.add_argument("--isa")
    ap.add_argument("--verbose", action="store_true")
    ap.add_argument("--help", action="store_true")
    ap.add_argument("names", nargs="*")
    a = ap.parse_args()
    if a.help:
        sys.exit(__doc__.strip())
    if a.isa:
        os.environ["SKMT_ISA"] = a.isa
    with tempfile.TemporaryDirectory() as folder:
        folder = a.keep or folder
        cases = gen_foreign.generate(folder, a.names)
        sys.exit(1 if check((Comparison(case, folder) for case in cases),
                            a.verbose) else 0)


if __name__ == "__main__":
    main()
