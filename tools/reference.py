#!/usr/bin/env python3
"""reference - compute the outputs of PyTorch for the samples in tests/golden.

    tools/reference.py --test [LINES]    compare with the full golden files

scripts/remake imports this module. The network and the search are those of
../shared/golden/reference (or $SKMT_SHARED). This module also returns token ids
and log-probabilities.

--test computes some lines of the full golden files again (LINES of each kind,
default 5), with the weights of ../shared/model, which the files were made with.
It exits with status 1 if a line differs.

It needs the Debian packages python3-torch, python3-sentencepiece and
python3-numpy. A sentence takes about a second.
"""
import json
import os
import sys

SHARED = os.environ.get("SKMT_SHARED", "../shared")
BATCH = 45          # sentences decoded together


class Ids:
    """A tokenizer whose decode() returns the token ids unchanged."""

    def __init__(self, sp):
        self.sp = sp

    def encode(self, text):
        return self.sp.encode(text)

    def decode(self, ids):
        return ids


class Reference:
    def __init__(self, model_dir):
        sys.dont_write_bytecode = True
        sys.path.insert(0, SHARED + "/golden/reference")
        import decode
        import sentencepiece
        import torch
        self.torch, self.decoder = torch, decode
        self.net = decode.load(model_dir)
        self.sp = sentencepiece.SentencePieceProcessor(
            model_file=model_dir + "/spm.model")

    def outputs(self, rows, config=None):
        """Returns the token ids of the translation of each row. A row is {src},
        or with a config (m, k, tau) {src, tm}, where tm has the pairs."""
        if config:
            m, k, tau = config
            config = dict(m=m, k=k, tau=tau, lam=None)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]["src"]))
        out = [None] * len(rows)
        for at in range(0, len(order), BATCH):
            some = order[at:at + BATCH]
            ids, _ = self.decoder.decode(self.net, Ids(self.sp),
                                         [rows[i] for i in some], config)
            for i, one in zip(some, ids):
                out[i] = one
        return out

    def text(self, ids):
        return self.sp.decode(ids)

    def forced(self, src_ids, tgt_ids):
        """Returns the log-probability of each target token and of EOS."""
        from model import BOS, EOS
        torch = self.torch
        with torch.no_grad():
            src = torch.tensor([src_ids + [EOS]], device=self.decoder.dev)
            tgt = torch.tensor([[BOS] + tgt_ids], device=self.decoder.dev)
            logits = self.net(src, tgt)[0].log_softmax(-1)
            return [float(logits[t, token])
                    for t, token in enumerate(tgt_ids + [EOS])]

    def beam(self, rows):
        """Returns the lines of beam.jsonl for rows {set, src, src_ids}."""
        done = []
        for row, ids in zip(rows, self.outputs(rows)):
            total = sum(self.forced(row["src_ids"], ids))
            score = total / ((5 + len(ids) + 1) / 6) ** 0.6
            done.append({k: row[k] for k in ["set", "src", "src_ids"]} | {
                "out": self.text(ids), "out_ids": ids,
                "logprob": round(total, 4), "score": round(score, 5)})
        return done


def read_jsonl(name):
    with open(f"{SHARED}/golden/{name}.jsonl", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def test(lines):
    """Compares with the golden files. Returns the number of differences."""
    reference, bad = Reference(SHARED + "/model"), 0
    for want in read_jsonl("forced")[:lines]:
        got = reference.forced(want["src_ids"], want["tgt_ids"])
        off = max(abs(a - b) for a, b in zip(got, want["logprob"],
                                             strict=True))
        bad += off > 1e-3
        print(f"forced: largest difference {off:.1e}")
    rows = sorted(read_jsonl("beam"), key=lambda r: len(r["src"]))[:lines]
    for want, got in zip(rows, reference.beam(rows)):
        same = got["out_ids"] == want["out_ids"]
        bad += not same or abs(got["score"] - want["score"]) > 1e-3
        print(f"beam: {'the same' if same else 'DIFFERENT'}, "
              f"score {got['score']} and {want['score']}")
    for want in [r for r in read_jsonl("skmt") if r["k"] == 2][:lines]:
        row = {"src": want["src"], "tm": [[*pair, 0] for pair in want["tm"]]}
        got = reference.outputs([row], (16, 2, 100))[0]
        bad += got != want["out_ids"]
        print("sk2:", "the same" if got == want["out_ids"] else "DIFFERENT")
    return bad


def main():
    if sys.argv[1:2] != ["--test"]:
        sys.exit(__doc__.strip())
    sys.exit(1 if test(int((sys.argv + ["5"])[2])) else 0)


if __name__ == "__main__":
    main()
