#!/usr/bin/env python3
"""Write a model that was trained for skmt in the form of another project.

    /usr/bin/python3 tools/own_as.py DIR OUT FORM

DIR has model.safetensors, config.json and spm.model. FORM is one of
ct2-float32, ct2-float16, ct2-int8, fairseq. `skmt convert --from OUT` then gives
the same translations as `skmt convert --from DIR`, but for the rounding of the
form. Needs Debian's python3-numpy and sentencepiece.

A model of fairseq has the special pieces first, in an order of its own, so the
ids differ: id i of OUT is id order[i] of DIR, of the list in OUT/order.json.
Its decoder begins with </s> and counts positions from 2 on. So the table of the
decoder has the row of our first token for </s>, the projection has a table of
its own, and the positions are stored as learned ones.
"""
import json
import os
import sys

sys.dont_write_bytecode = True

import numpy as np

import foreign_oracle
from foreign_families import Net, positions_fairseq, write_ct2, write_fairseq
from foreign_write import write_bytes, write_json, write_text


class Own:
    """The model as a Net (foreign_families.py), its settings and its pieces."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
            c = self.config = json.load(f)
        model = foreign_oracle.load(path, "own")
        self.pieces = model.text.to_piece
        t = {n: a.astype(np.float32) for n, a in model.net.t.items()}
        one = np.array_equal(t["source"], t["target"])
        self.net = Net(t, d=c["d_model"], heads=c["heads"], ffn=c["ffn"],
                       enc=c["encoder_layers"], dec=c["decoder_layers"],
                       act=c["activation"], pre=c["norm"] == "pre",
                       one_table=one, tied=c["tied_embeddings"],
                       bias="output_bias" in t, learned=0)
        if c["positions"] != "sinusoidal-halves" or c.get("position_offset"):
            raise SystemExit("own_as: only sinusoidal-halves from 0 on")

    def read(self, name):
        with open(os.path.join(self.path, name), "rb") as f:
            return f.read()


def write_as_ct2(own, out, kind):
    c = own.config
    write_ct2(os.path.join(out, "model.bin"), own.net, 6, kind,
              positions=positions_fairseq(c.get("max_positions", 1024),
                                          c["d_model"]))
    write_json(os.path.join(out, "config.json"), {
        "add_source_bos": bool(c.get("source_prefix_ids")),
        "add_source_eos": bool(c["source_suffix_ids"]),
        "bos_token": own.pieces[c["bos_id"]],
        "eos_token": own.pieces[c["eos_id"]],
        "unk_token": own.pieces[c["unk_id"]],
        "decoder_start_token": own.pieces[c["decoder_start_id"]],
        "layer_norm_epsilon": c["layer_norm_eps"]})
    write_json(os.path.join(out, "shared_vocabulary.json"), own.pieces)
    write_bytes(os.path.join(out, "spm.model"), own.read("spm.model"))


def fairseq_order(own):
    """Our ids in the order of fairseq."""
    c = own.config
    first = [c[key] for key in ("bos_id", "pad_id", "eos_id", "unk_id")]
    return first + [i for i in range(len(own.pieces)) if i not in first]


def fairseq_net(own, order):
    """The network as fairseq computes it."""
    c, t = own.config, dict(own.net.t)
    t["target"] = t["target"].copy()
    t["target"][c["eos_id"]] = t["target"][c["decoder_start_id"]]
    for name in ("source", "target", "output"):
        t[name] = np.ascontiguousarray(t[name][order])
    rows = c.get("max_positions", 1024)
    table = np.concatenate([np.zeros((2, c["d_model"]), np.float32),
                            positions_fairseq(rows, c["d_model"])])
    t["encoder.positions"] = t["decoder.positions"] = table
    h = vars(own.net.h) | {"dec_ffn": own.net.h.ffn, "one_table": False,
                           "tied": False, "learned": True}
    return Net(t, **h)


def write_as_fairseq(own, out):
    c, order = own.config, fairseq_order(own)
    if own.net.h.bias or c["source_suffix_ids"] != [c["eos_id"]] or \
            c.get("source_prefix_ids"):
        raise SystemExit("own_as: not as a model of fairseq")
    write_fairseq(os.path.join(out, "model.pt"), fairseq_net(own, order),
                  max_source_positions=c.get("max_positions", 1024),
                  max_target_positions=c.get("max_positions", 1024),
                  bpe="sentencepiece")
    rows = "".join(f"{own.pieces[i]} 1\n" for i in order[4:])
    for language in ("de", "en"):
        write_text(os.path.join(out, f"dict.{language}.txt"), rows)
    write_bytes(os.path.join(out, "sentencepiece.bpe.model"),
                own.read("spm.model"))
    write_json(os.path.join(out, "order.json"), order)


FORMS = {f"ct2-{kind}": lambda own, out, kind=kind:
         write_as_ct2(own, out, kind)
         for kind in ("float32", "float16", "int8")} | \
        {"fairseq": write_as_fairseq}


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in FORMS:
        sys.exit(__doc__.strip())
    FORMS[sys.argv[3]](Own(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
