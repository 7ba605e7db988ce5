#!/usr/bin/env python3
"""Compare skmt with CTranslate2 on the same model folders.

    /usr/bin/python3 tests/long/ct2_peer.py DRIVER WORK

DRIVER is the program of ct2_driver.cc. All files are made in the folder WORK.
$BUILD/skmt is the build to test (build), $SKMT_SHARED has the model and the
test set (../shared), $LINES_MAX is the number of sentences for both programs
(200), $BLEU_LINES that for BLEU (all).

Random models of tools/gen_foreign.py, all forms of CTranslate2 and Argos:
  - CTranslate2's log-probabilities of made-up translations are those of
    tools/foreign_oracle.py within 1e-4 relative (1e-3 if positions are stored
    with 16 bits: CTranslate2 then uses these rounded numbers);
  - beam search with the same settings finds the same tokens in skmt, where a
    translation ends before the length limit.

Our own model, written in the forms float32, float16 and int8:
  - computed with floats, both find the same translations of at least 99 % of
    the sentences, with equal log-probabilities (1e-4);
  - the float forms give the outputs of golden/beam.jsonl;
  - int8 weights are the same integers in the converted file;
  - BLEU of newstest2014 from the int8 form, computed with int8, differs from
    that of the reference (golden/hyp) by at most 0.2.

The last line is "N passed, N failed, N skipped", as in every test.
"""
import json
import lzma
import math
import os
import re
import struct
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, "tools")

import numpy as np

import foreign_oracle
import gen_foreign
import own_as
from foreign_read import Ct2, Files

BUILD = os.environ.get("BUILD", "build")
SHARED = os.environ.get("SKMT_SHARED", "../shared")
LINES_MAX = int(os.environ.get("LINES_MAX", "200"))
BLEU_LINES = int(os.environ.get("BLEU_LINES", "1000000"))
DRIVER, WORK = sys.argv[1:3] if len(sys.argv) == 3 else sys.exit(
    __doc__.strip())
MAX_LENGTH = 60                 # of a translation by a random model

passed = failed = 0


def verdict(ok, what):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    print(("ok   " if ok else "FAIL ") + what, flush=True)


def run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True,
                          encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout.splitlines()


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


def convert(folder, to, kind):
    run([BUILD + "/skmt", "convert", "--quiet", "--from", folder, "--type",
         kind, "-o", to])
    return to


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
NEWS = os.path.join(SHARED, "corpora/news/newstest2014.tsv")


def read_lines(path, column, n):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t")[column]
                for line, _ in zip(f, range(n))]


def source_pieces(texts):
    return [line + "\n" for line in run(
        ["spm_encode", f"--model={SHARED}/model/spm.model"],
        "".join(t + "\n" for t in texts))]


def bleu(lines, references, name):
    hyp, ref = (os.path.join(WORK, f"{name}.{x}") for x in ("hyp", "ref"))
    for path, texts in ((hyp, lines), (ref, references)):
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(t + "\n" for t in texts)
    out = run([BUILD + "/skmt", "score", "--ref", ref, "--metrics", "bleu",
               "--json", hyp])
    return json.loads("\n".join(out))["scores"][0]["score"]


def check_bleu(model):
    texts, references = (read_lines(NEWS, i, BLEU_LINES) for i in (0, 1))
    with lzma.open(f"{SHARED}/golden/hyp/newstest2014.nmt.hyp.xz", "rt",
                   encoding="utf-8") as f:
        golden = [line.rstrip("\n") for line, _ in zip(f, texts)]
    out = run([BUILD + "/skmt", "translate", "-m", model, "--split", "none",
               "--beam", "4", "--lenpen-type", "gnmt", "--lenpen", "0.6",
               "--threads", str(os.cpu_count())],
              "".join(t + "\n" for t in texts))
    ours = bleu(out, references, "ours")
    theirs = bleu(golden, references, "golden")
    verdict(abs(ours - theirs) <= 0.2, f"BLEU of {len(texts)} lines from the "
            f"int8 form {ours:.2f}, reference {theirs:.2f}")


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


def check_golden(name, model):
    path = os.path.join(SHARED, "golden/beam.jsonl")
    with open(path, encoding="utf-8") as f:
        golden = [json.loads(line) for line in f]
    out = run([BUILD + "/skmt", "translate", "-m", model, "--split", "none",
               "--beam", "4", "--lenpen-type", "gnmt", "--lenpen", "0.6",
               "--max-len-a", "1.2", "--max-len-b", "64"],
              "".join(g["src"] + "\n" for g in golden))
    same = sum(a == g["out"] for a, g in zip(out, golden, strict=True))
    verdict(same == len(golden),
            f"{name}: {same} of {len(golden)} golden outputs")


def skmt_tensors(path):
    """The int8 tensors of a model file (docs/formats/model.md)."""
    with open(path, "rb") as f:
        data = f.read()
    at, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<I", data, 44)
    out = {}
    for at in range(at, at + 128 * count, 128):
        kind, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", data,
                                                         at + 64)
        if kind == 2:
            name = data[at:at + 64].split(b"\0")[0].decode()
            out[name] = np.frombuffer(data, np.int8, size, offset)
    return out


PLACES = {"self_attention/linear_0": "self.qkv",
          "self_attention/linear_1": "self.out",
          "attention/linear_0": "cross.q", "attention/linear_1": "cross.kv",
          "attention/linear_2": "cross.out", "ffn/linear_0": "ffn.up",
          "ffn/linear_1": "ffn.down"}


def our_matrix(tensors, name, n, k):
    """[n, k] from panels, or from a matrix stored by input."""
    if name + ".t" in tensors:
        return tensors[name + ".t"].reshape(k, -1).T[:n]
    a = tensors[name + ".w"].reshape(-1, (k + 3) // 4, 64, 4)
    return a.transpose(0, 2, 1, 3).reshape(-1, (k + 3) // 4 * 4)[:n, :k]


def check_integers(folder, model):
    class Raw(Ct2):
        value = staticmethod(lambda name, raw: raw[name])
    with open(os.path.join(folder, "model.bin"), "rb") as f:
        theirs = Raw(f.read()).variables
    ours, total, differ = skmt_tensors(model), 0, 0
    for name, a in theirs.items():
        m = re.fullmatch(r"(enc|dec)oder/layer_(\d+)/(.*)/weight", name)
        if m:
            place = f"{m[1]}.{m[2]}.{PLACES[m[3]]}"
        elif name == "encoder/embeddings_0/weight":
            place = "emb"
        else:
            continue
        total += a.size
        differ += int((a != our_matrix(ours, place, *a.shape)).sum())
    verdict(total > 5e7 and not differ,
            f"{differ} of {total} integers differ")


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
        if form != "int8":
            check_golden("own " + form, model)
    model = convert(folder, folder + ".i8.skmt", "int8")
    check_integers(folder, model)
    check_bleu(model)


def main():
    os.makedirs(WORK, exist_ok=True)
    check_random_models()
    skipped = 0
    if os.path.exists(os.path.join(SHARED, "golden/beam.jsonl")):
        check_own_model()
    else:
        print(f"skip the own model: needs the full sets in {SHARED}")
        skipped = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
