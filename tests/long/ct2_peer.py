#!/usr/bin/env python3
"""Compare skmt with CTranslate2 on the same model folders.

    /usr/bin/python3 tests/long/ct2_peer.py DRIVER WORK

DRIVER is the program of ct2_driver.cc. All files are made in the folder WORK.
$BUILD/skmt is the build to test (build), $SKMT_SHARED has the model and the
test set (../shared), $LINES_MAX is the number of sentences for both programs
(200).

Random models of tools/gen_foreign.py, all forms of CTranslate2 and Argos:
  - CTranslate2's log-probabilities of made-up translations are those of
    tools/foreign_oracle.py within 1e-4 relative (1e-3 if positions are stored
    with 16 bits: CTranslate2 then uses these rounded numbers);
  - beam search with the same settings finds the same tokens in skmt, where a
    translation ends before the length limit.

Our own model, written in the forms float32, float16 and int8 (own_forms.py
compares it with the references):
  - computed with floats, both find the same translations of at least 99 % of
    the sentences, with equal log-probabilities (1e-4).

The last line is "N passed, N failed, N skipped", as in every test.
"""
import json
import math
import os
import sys
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, "tools")

import numpy as np

import foreign_oracle
import gen_foreign
import own_as
import own_forms
from foreign_read import Ct2, Files
from own_forms import BUILD, NEWS, SHARED, convert, read_lines, run, verdict

LINES_MAX = int(os.environ.get("LINES_MAX", "200"))
DRIVER, WORK = sys.argv[1:3] if len(sys.argv) == 3 else sys.exit(
    __doc__.strip())
MAX_LENGTH = 60                 # of a translation by a random model


def ct2_score(folder, lines):
    out = run([DRIVER, folder, "float32", "score"], "".join(lines))
    return [[float(x) for x in line.split()] for line in out]


def ct2_translate(folder, kind, lines, never, beam, alpha, max_length):
    """Scores and tokens."""
    out = run([DRIVER, folder, kind, "translate", str(beam), str(alpha),
               str(max_length), *never], "".join(lines))
    pairs = [line.split("\t") for line in out]
    return [(float(score), tokens.split()) for score, tokens in pairs]


def skmt_translate(model, texts, beam, alpha, max_length, *options):
    out = run([BUILD + "/skmt", "translate", "-m", model, "--json", "--split",
               "none", "--beam", str(beam), "--lenpen-type", "fairseq",
               "--lenpen", str(alpha), "--max-len-a", "0", "--max-len-b",
               str(max_length), *options], "".join(t + "\n" for t in texts))
    return [json.loads(line) for line in out]


def distance(got, want):
    """The largest difference, relative where a value is above 1."""
    got, want = np.array(got), np.array(want)
    if got.shape != want.shape:
        return np.inf
    return float((np.abs(got - want) / np.maximum(1, np.abs(want))).max())


# ---- random models -----------------------------------------------------------

class RandomModel:
    def __init__(self, case):
        self.case = case
        self.path = os.path.join(WORK, case["path"])
        self.oracle = foreign_oracle.load(self.path, "ct2", case.get("from"),
                                          case.get("to"))
        self.folder = self.unpacked()
        files = Files(self.folder)
        with open(os.path.join(self.folder, "model.bin"), "rb") as f:
            self.model = Ct2(f.read())
        lists = [self.vocabulary(files, side) for side in ("source",
                                                           "target")]
        self.source, self.target = lists
        v = self.model.variables
        c = files.json("config.json") if "config.json" in files else {
            "add_source_bos": v.get("with_source_bos", 0),
            "add_source_eos": v.get("with_source_eos", 0)}
        self.adds = bool(c["add_source_bos"]), bool(c["add_source_eos"])

    def unpacked(self):
        if os.path.isdir(self.path):
            return self.path
        zipfile.ZipFile(self.path).extractall(self.path + ".files")
        top, = os.listdir(self.path + ".files")
        return os.path.join(self.path + ".files", top, "model")

    @staticmethod
    def vocabulary(files, side):
        for stem in ("shared", side):
            for name in (f"{stem}_vocabulary.json", f"{stem}_vocabulary.txt"):
                if name in files:
                    return files.json(name) if name.endswith("json") \
                        else files.lines(name)

    def tokens(self, ids):
        """The tokens of a source without those that CTranslate2 adds."""
        begin, end = self.adds
        return " ".join(self.source[i]
                        for i in ids[begin:len(ids) - end])

    def lines(self, sources, targets):
        forced = self.oracle.forced
        return [self.tokens(s) + "\t" +
                " ".join(self.target[i] for i in forced + t) + "\n"
                for s, t in zip(sources, targets)]

    def check_scores(self):
        sources = self.oracle.sources(self.case["texts"])
        targets = [foreign_oracle.made_up_target(
            self.oracle, foreign_oracle.TARGET_LENGTHS[i % 4], i)
            for i in range(len(sources))]
        worst = 0
        for got, s, t in zip(ct2_score(self.folder,
                                       self.lines(sources, targets)),
                             sources, targets):
            rows = foreign_oracle.renormalized(
                self.oracle.forced_logits(s, t), [])
            ids = self.oracle.forced + t + [self.oracle.eos]
            worst = max(worst, distance(got, [rows[i][x]
                                              for i, x in enumerate(ids)]))
        table = self.model.variables.get(
            "encoder/position_encodings/encodings")
        rounded = table is not None and self.case["name"].endswith("16") and \
            not self.case["name"].endswith("int16")
        rounded |= self.case["name"] in ("ct2-no-scale", "ct2-fairseq")
        verdict(worst < (1e-3 if rounded else 1e-4),
                f"{self.case['name']}: log-probabilities (off {worst:.1e})")

    def check_search(self):
        model = convert(self.path, os.path.join(
            WORK, self.case["name"] + ".skmt"), "f32")
        sources = self.oracle.sources(self.case["texts"])
        never = [self.target[i] for i in sorted(
            self.oracle.barred | self.oracle.may_be_barred)]
        theirs = ct2_translate(self.folder, "float32",
                               self.lines(sources, [[]] * len(sources)), never,
                               4, 0, MAX_LENGTH)
        languages = [x for k in ("from", "to") if k in self.case
                     for x in ("--" + k, self.case[k])]
        ours = skmt_translate(model, self.case["texts"], 4, 0, MAX_LENGTH + 1,
                              *languages)
        forced = len(self.oracle.forced)
        n = same = worst = 0
        for (score, tokens), mine, source in zip(theirs, ours, sources,
                                                 strict=True):
            tokens = tokens[forced:]
            if len(tokens) >= MAX_LENGTH - forced:
                continue
            # Neither begins with the end. CTranslate2 gives its probability to
            # the others.
            first = foreign_oracle.renormalized(
                self.oracle.forced_logits(source, [])[-1], self.oracle.barred)
            score += math.log1p(-math.exp(first[self.oracle.eos]))
            pieces = [t["id"] for t in mine["segments"][0]["tokens"]]
            ids = [self.target.index(t) for t in tokens] + [self.oracle.eos]
            n, same = n + 1, same + (ids == pieces)
            worst = max(worst, distance([mine["logprob"]], [score]))
        if n:
            verdict(same == n and worst < 1e-3,
                    f"{self.case['name']}: {same} of {n} translations that end "
                    f"are the same (off {worst:.1e})")
        return n


def check_random_models():
    names = [n for n in gen_foreign.CASES
             if n.startswith(("ct2", "argos"))]
    ended = 0
    for case in gen_foreign.generate(WORK, names):
        m = RandomModel(case)
        m.check_scores()
        ended += m.check_search()
    verdict(ended >= 15, f"{ended} translations by random models end")


# ---- our own model -------------------------------------------------------------

NEVER = ["<unk>", "<s>", "<pad>"]


def source_pieces(texts):
    return [line + "\n" for line in run(
        ["spm_encode", f"--model={SHARED}/model/spm.model"],
        "".join(t + "\n" for t in texts))]


def check_same(name, theirs, ours):
    same = worst = 0
    for (score, tokens), mine in zip(theirs, ours, strict=True):
        pieces = [t["piece"] for t in mine["segments"][0]["tokens"]][:-1]
        if pieces != tokens:
            continue
        same += 1
        worst = max(worst, distance([mine["score"]], [score]))
    verdict(same >= 0.99 * len(ours) and worst < 1e-4,
            f"{name}: {same} of {len(ours)} translations the same (scores off "
            f"{worst:.1e})")


def check_own_model():
    own = own_as.Own(os.path.join(SHARED, "model"))
    texts = read_lines(NEWS, 0, LINES_MAX)
    pieces = source_pieces(texts)
    for form in ("float32", "float16", "int8"):
        folder = os.path.join(WORK, "own-" + form)
        own_as.FORMS["ct2-" + form](own, folder)
        model = convert(folder, folder + ".skmt", "f32")
        check_same("own " + form,
                   ct2_translate(folder, "float32", pieces, NEVER, 4, 1, 250),
                   skmt_translate(model, texts, 4, 1, 250))


def main():
    os.makedirs(WORK, exist_ok=True)
    check_random_models()
    skipped = 0
    if os.path.exists(os.path.join(SHARED, "golden/beam.jsonl")):
        check_own_model()
    else:
        print(f"skip the own model: needs the full sets in {SHARED}")
        skipped = 1
    own_forms.end(skipped)


if __name__ == "__main__":
    main()
