#!/usr/bin/env python3
"""Write our own model in the forms of CTranslate2, convert it back, and compare
it with the references.

    /usr/bin/python3 tests/long/own_forms.py WORK

All files are made in the folder WORK. $BUILD/skmt is the build to test (build),
$SKMT_SHARED has the model and the test set (../shared), $BLEU_LINES is the
number of lines for BLEU (all).

  - the forms float32 and float16 give the outputs of golden/beam.jsonl;
  - the integers of the form int8 are the same in the converted file;
  - BLEU of newstest2014 from the form int8, computed with int8, differs from
    that of the reference (golden/hyp) by at most 0.2.

The forms of Marian and of Hugging Face are compared by
tests/unit/test_own_marian.c and test_own_hf_marian.c. The last line is "N passed,
N failed, N skipped", as in every test.
"""
import json
import lzma
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tools")

import numpy as np

import own_as
from foreign_read import Ct2

BUILD = os.environ.get("BUILD", "build")
SHARED = os.environ.get("SKMT_SHARED", "../shared")
BLEU_LINES = int(os.environ.get("BLEU_LINES", "1000000"))
NEWS = os.path.join(SHARED, "corpora/news/newstest2014.tsv")

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


def end(skipped):
    """Print the counts and leave."""
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


def convert(folder, to, kind):
    run([BUILD + "/skmt", "convert", "--quiet", "--from", folder, "--type",
         kind, "-o", to])
    return to


def read_lines(path, column, n):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t")[column]
                for line, _ in zip(f, range(n))]


def bleu(lines, references, name, work):
    hyp, ref = (os.path.join(work, f"{name}.{x}") for x in ("hyp", "ref"))
    for path, texts in ((hyp, lines), (ref, references)):
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(t + "\n" for t in texts)
    out = run([BUILD + "/skmt", "score", "--ref", ref, "--metrics", "bleu",
               "--json", hyp])
    return json.loads("\n".join(out))["scores"][0]["score"]


def check_bleu(model, work):
    texts, references = (read_lines(NEWS, i, BLEU_LINES) for i in (0, 1))
    with lzma.open(f"{SHARED}/golden/hyp/newstest2014.nmt.hyp.xz", "rt",
                   encoding="utf-8") as f:
        golden = [line.rstrip("\n") for line, _ in zip(f, texts)]
    out = run([BUILD + "/skmt", "translate", "-m", model, "--split", "none",
               "--beam", "4", "--lenpen-type", "gnmt", "--lenpen", "0.6",
               "--threads", str(os.cpu_count())],
              "".join(t + "\n" for t in texts))
    ours = bleu(out, references, "ours", work)
    theirs = bleu(golden, references, "golden", work)
    verdict(abs(ours - theirs) <= 0.2, f"BLEU of {len(texts)} lines from the "
            f"int8 form {ours:.2f}, reference {theirs:.2f}")


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


def main():
    work, = sys.argv[1:] if len(sys.argv) == 2 else sys.exit(__doc__.strip())
    os.makedirs(work, exist_ok=True)
    if not os.path.exists(os.path.join(SHARED, "golden/beam.jsonl")):
        print(f"skip own_forms.py: needs the full sets in {SHARED}")
        end(1)
    own = own_as.Own(os.path.join(SHARED, "model"))
    for form in ("float32", "float16", "int8"):
        folder = os.path.join(work, "own-" + form)
        own_as.FORMS["ct2-" + form](own, folder)
        if form == "int8":
            model = convert(folder, folder + ".skmt", "int8")
            check_integers(folder, model)
            check_bleu(model, work)
        else:
            check_golden("own " + form,
                         convert(folder, folder + ".skmt", "f32"))
    end(0)


if __name__ == "__main__":
    main()
