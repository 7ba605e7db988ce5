#!/usr/bin/env python3
"""Compute what a model of another project computes, from its own files.

    /usr/bin/python3 tools/foreign_oracle.py PATH FAMILY [--from X] [--to Y]
        [--beam N] [--lenpen TYPE ALPHA] [--max-len A B] < TEXTS

FAMILY is own (skmt's own folders), marian, hf-marian, ct2 (CTranslate2 and Argos), m2m (M2M-100,
NLLB-200, SMaLL-100), fairseq or fsmt. Prints a JSON object for each line of
standard input:

    text       the line
    source     its ids, with those that the family adds
    target     made-up ids of a translation
    logprobs   for each token of it, and for the end, the log-probability of it
    ids, output, logprob, score
               what beam search gives

The arithmetic is in float64, formula by formula as in section 5 of
../shared/docs/foreign-models.md; what the files mean is in sections 6 to 10.
Beam search follows docs/method.md 0.4. Nothing is shared with skmt. Pieces are
those of Debian's spm_encode. Words of letters, for which the rules of Moses do
nothing, are split with BPE codes here; for models of fairseq and FSMT whose
vocabulary has other pieces than letters, tools/moses_reference.py does it.

Which tokens a converter bars is a decision of its own. `barred` in a Model has
those that the document says must not come out, `may_be_barred` others that
never come out of a real model. check_foreign.py asks skmt which ones it bars.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from types import SimpleNamespace

sys.dont_write_bytecode = True

import numpy as np

from foreign_languages import M2M100, NLLB200
from foreign_read import (Ct2, Files, arrays_of, read_hf_weights,
                          read_marian_bin, read_npz, read_safetensors,
                          read_torch, read_yaml_settings, read_yaml_vocabulary)

# ---- arithmetic ----------------------------------------------------------------

ERF = np.vectorize(math.erf, otypes=[float])


def act(name, x):
    if name == "relu":
        return np.maximum(x, 0)
    if name in ("swish", "silu"):
        return x / (1 + np.exp(-x))
    if name == "gelu":
        return x * 0.5 * (1 + ERF(x / math.sqrt(2)))
    raise SystemExit(f"activation {name}")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def position(kind, p, d):
    """The vector of one position."""
    half = d // 2
    if kind == "in-turn":
        angle = p * 1e4 ** (-2 * np.arange(half) / d)
        out = np.empty(d)
        out[0::2], out[1::2] = np.sin(angle), np.cos(angle)
        return out
    steps = half - 1 if kind == "halves" else half
    angle = p * 1e4 ** (-np.arange(half) / steps)
    return np.concatenate([np.sin(angle), np.cos(angle)])


class Network:
    """t: tensors with the names of fairseq, [outputs, inputs].
    h: d, heads, enc, dec, act, pre (norms before the blocks), eps, scale,
    positions (a kind, or a table per side), offset."""

    def __init__(self, t, h):
        self.t = {n: np.asarray(a, np.float64) for n, a in t.items()}
        self.h = h

    def lin(self, name, x):
        y = x @ self.t[name + ".weight"].T
        return y + self.t[name + ".bias"] if name + ".bias" in self.t else y

    def norm(self, name, x):
        c = x - x.mean(-1, keepdims=True)
        v = (c * c).mean(-1, keepdims=True)
        return (self.t[name + ".weight"] * c / np.sqrt(v + self.h.eps)
                + self.t[name + ".bias"])

    def heads(self, x):
        """[.., T, d] -> [.., heads, T, d / heads]"""
        x = x.reshape(*x.shape[:-1], self.h.heads, -1)
        return np.swapaxes(x, -3, -2)

    def attend(self, name, x, y, mask=None):
        q, k, v = (self.heads(self.lin(f"{name}.{p}_proj", z))
                   for p, z in (("q", x), ("k", y), ("v", y)))
        a = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            a = a + mask
        o = np.swapaxes(softmax(a) @ v, -3, -2)
        return self.lin(name + ".out_proj", o.reshape(x.shape))

    def block(self, norm, x, f):
        if self.h.pre:
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def ffn(self, base, x):
        return self.lin(base + "fc2", act(self.h.act,
                                          self.lin(base + "fc1", x)))

    def positions(self, side, n):
        kind = self.h.positions
        if isinstance(kind, dict):
            table = np.asarray(kind[side], np.float64)
            return table[self.h.offset:self.h.offset + n]
        return np.array([position(kind, t + self.h.offset, self.h.d)
                         for t in range(n)])

    def encode(self, ids):
        x = self.h.scale * self.t["source"][ids]
        x = x + self.positions("encoder", len(ids))
        for i in range(self.h.enc):
            base = f"encoder.layers.{i}."
            x = self.block(base + "self_attn_layer_norm", x,
                           lambda z: self.attend(base + "self_attn", z, z))
            x = self.block(base + "final_layer_norm", x,
                           lambda z: self.ffn(base, z))
        if "encoder.layer_norm.weight" in self.t:
            x = self.norm("encoder.layer_norm", x)
        return x

    def decode(self, memory, rows):
        """Logits [B, T, v] after each input; rows are [B, T] ids, where -1 is a
        vector of zeros."""
        rows = np.asarray(rows)
        table = np.vstack([self.t["target"], np.zeros(self.h.d)])
        x = self.h.scale * table[rows]
        n = rows.shape[1]
        x = x + self.positions("decoder", n)
        mask = np.where(np.tri(n) > 0, 0.0, -np.inf)
        for i in range(self.h.dec):
            base = f"decoder.layers.{i}."
            x = self.block(base + "self_attn_layer_norm", x,
                           lambda z: self.attend(base + "self_attn", z, z,
                                                 mask))
            x = self.block(base + "encoder_attn_layer_norm", x,
                           lambda z: self.attend(
                               base + "encoder_attn", z,
                               np.broadcast_to(memory, (len(rows),)
                                               + memory.shape)))
            x = self.block(base + "final_layer_norm", x,
                           lambda z: self.ffn(base, z))
        if "decoder.layer_norm.weight" in self.t:
            x = self.norm("decoder.layer_norm", x)
        y = x @ self.t["output"].T
        return y + self.t["output_bias"] if "output_bias" in self.t else y


# ---- text ------------------------------------------------------------------------

def run(command, lines):
    out = subprocess.run(command, input="\n".join(lines) + "\n", check=True,
                         capture_output=True, encoding="utf-8").stdout
    return out.split("\n")[:len(lines)]


def spm_pieces(model):
    """The pieces of a SentencePiece model, in the order of their ids."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(model)
        f.flush()
        out = subprocess.run(["spm_export_vocab", "--model=" + f.name],
                             check=True, capture_output=True,
                             encoding="utf-8").stdout
    return [x.split("\t")[0] for x in out.rstrip("\n").split("\n")]


class Spm:
    """SentencePiece by Debian's programs. The pieces of a text are looked up in
    the list of the model, or are ids of SentencePiece if it has none."""

    def __init__(self, source, target, to_id, to_piece, unk):
        self.folder = tempfile.TemporaryDirectory()
        self.paths = {}
        for side, data in (("source", source), ("target", target)):
            path = os.path.join(self.folder.name, side)
            with open(path, "wb") as f:
                f.write(data)
            self.paths[side] = "--model=" + path
        self.to_id, self.to_piece, self.unk = to_id, to_piece, unk

    def encode(self, texts):
        lines = run(["spm_encode", self.paths["source"],
                     "--output_format=piece"], texts)
        return [[self.to_id.get(p, self.unk) for p in line.split(" ") if p]
                for line in lines]

    def decode(self, ids):
        pieces = [self.to_piece[i] for i in ids]
        # A row without a piece prints nothing.
        pieces = [p for p in pieces if p is not None]
        if not pieces:
            return ""
        text = run(["spm_decode", self.paths["target"],
                    "--input_format=piece"], [" ".join(pieces)])[0]
        # A piece that only the other side's model has is printed as it is.
        return text.removeprefix("\u2581").replace("\u2581", " ")


class Bpe:
    """Words of letters and merges. `end` marks: pieces have </w> at the end of
    words, else @@ inside of them."""

    def __init__(self, merges, to_id, to_piece, unk, end=False):
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.to_id, self.to_piece, self.unk = to_id, to_piece, unk
        self.end = end

    def word(self, word):
        parts = list(word[:-1]) + [word[-1] + "</w>"]
        while True:
            pairs = [p for p in zip(parts, parts[1:]) if p in self.rank]
            if not pairs:
                return parts
            best, i, done = min(pairs, key=lambda p: self.rank[p]), 0, []
            while i < len(parts):
                two = tuple(parts[i:i + 2]) == best
                done.append("".join(best) if two else parts[i])
                i += 2 if two else 1
            parts = done

    def encode(self, texts):
        out = []
        for text in texts:
            if not re.fullmatch(r"[a-z ]*", text):
                raise SystemExit(f"not only letters: {text}")
            parts = [p for w in text.split() for p in self.word(w)]
            if not self.end:
                parts = [p[:-4] if p.endswith("</w>") else p + "@@"
                         for p in parts]
            out.append([self.to_id.get(p, self.unk) for p in parts])
        return out

    def decode(self, ids):
        pieces = [self.to_piece[i] for i in ids if self.to_piece[i]]
        if self.end:
            return "".join(pieces).replace("</w>", " ").strip()
        return (" ".join(pieces) + " ").replace("@@ ", "").strip()


class MosesBpe:
    """Rules of Moses and BPE codes, by tools/moses_reference.py. `config` is
    the form of the codes and that of the marks."""

    def __init__(self, languages, steps, config, codes, lists):
        from moses_reference import Tokenizer
        with tempfile.TemporaryDirectory() as folder:
            def put(name, lines):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8", newline="\n") as f:
                    f.write("\n".join(lines) + "\n")
                return path
            self.sides = [
                Tokenizer([language, steps, *config, put("codes", codes),
                           put("pieces", pieces)])
                for language, pieces in zip(languages, lists)]

    def encode(self, texts):
        return [self.sides[0].encode(t) for t in texts]

    def decode(self, ids):
        return self.sides[1].decode(ids)


MOSES_STEPS = "tokenize,dashes,escape,detokenize"


def only_letters(pieces):
    """Whether all pieces but the four special ones are words of letters."""
    return all(re.fullmatch(r"[a-z]+(@@|</w>)?|madeupword\d+", p)
               for p in pieces[4:])


def merges_of(lines):
    return [tuple(line.split()[:2]) for line in lines
            if line and not line.startswith("#version")]


# ---- families ----------------------------------------------------------------------

class Model:
    """A network with its tokens.

    prefix, suffix    ids around those of a source
    start             the first input of the decoder; -1: a vector of zeros
    forced            ids that follow it before search begins
    eos, unk          ids
    """

    def __init__(self, net, text, eos, unk, start, prefix=(), suffix=(),
                 forced=(), barred=(), may_be_barred=()):
        self.net, self.text = net, text
        self.eos, self.unk, self.start = eos, unk, start
        self.prefix, self.suffix = list(prefix), list(suffix)
        self.forced = list(forced)
        self.barred, self.may_be_barred = set(barred), set(may_be_barred)

    @property
    def vocabulary(self):
        return self.net.t["output"].shape[0]

    def sources(self, texts):
        return [self.prefix + ids + self.suffix
                for ids in self.text.encode(texts)]

    def inputs(self, target):
        """What the decoder reads before each token of a target and before its
        end; the forced tokens belong to the target here."""
        return [self.start] + self.forced + list(target)

    def forced_logits(self, source, target):
        """[n, v]: a row for each forced token, for each token of the target,
        and for its end."""
        return self.net.decode(self.net.encode(source),
                               [self.inputs(target)])[0]


def settings(**more):
    return SimpleNamespace(**more)


OWN_NAMES = {"att.q": "self_attn.q_proj", "att.k": "self_attn.k_proj",
             "att.v": "self_attn.v_proj", "att.o": "self_attn.out_proj",
             "xatt.q": "encoder_attn.q_proj", "xatt.k": "encoder_attn.k_proj",
             "xatt.v": "encoder_attn.v_proj",
             "xatt.o": "encoder_attn.out_proj", "ln1": "self_attn_layer_norm",
             "ln2": "encoder_attn_layer_norm", "ln3": "final_layer_norm",
             "f1": "fc1", "f2": "fc2"}


def own(files, languages):
    """As docs/formats/model.md describes it."""
    arrays = read_safetensors(files.read("model.safetensors"))
    c, t = files.json("config.json"), {}
    for name, a in arrays.items():
        m = re.fullmatch(r"(enc|dec)\.(\d+)\.(.*)\.(weight|bias)", name)
        if m:
            side, i, part, kind = m.groups()
            t[f"{side}oder.layers.{i}.{OWN_NAMES[part]}.{kind}"] = a
    for ours, side in (("eln", "encoder"), ("dln", "decoder")):
        for kind in ("weight", "bias"):
            if f"{ours}.{kind}" in arrays:
                t[f"{side}.layer_norm.{kind}"] = arrays[f"{ours}.{kind}"]
    one = arrays.get("emb.weight")
    t["source"] = arrays.get("emb_src.weight", one)
    t["target"] = arrays.get("emb_tgt.weight", one)
    t["output"] = arrays.get("out.weight", t["target"])
    if "out.bias" in arrays:
        t["output_bias"] = arrays["out.bias"]
    kind = {"sinusoidal-halves": "halves", "sinusoidal-interleaved": "in-turn",
            "learned": {"encoder": arrays.get("pos_src.weight"),
                        "decoder": arrays.get("pos_tgt.weight")}}
    net = Network(t, settings(
        d=c["d_model"], heads=c["heads"], enc=c["encoder_layers"],
        dec=c["decoder_layers"], act=c["activation"], pre=c["norm"] == "pre",
        eps=c["layer_norm_eps"], scale=c["embedding_scale"],
        positions=kind[c["positions"]], offset=c["position_offset"]))
    spm = files.read("spm.model")
    pieces = spm_pieces(spm)
    text = Spm(spm, spm, {p: i for i, p in enumerate(pieces)}, pieces,
               c["unk_id"])
    return Model(net, text, c["eos_id"], c["unk_id"], c["decoder_start_id"],
                 c.get("source_prefix_ids", []), c["source_suffix_ids"])


CLEANED = ["，,", "、,", '”"', '“"', "∶:", "：:", "？?", '《"', '》"', "）)",
           "！!", "（(", "；;", '１"', '」"', '「"', "０0", "３3",
           "２2", "５5", "６6", "９9", "７7", "８8", "４4", "～~", "’'", "━-",
           "〈<", "〉>", "【[", "】]", "％%"]


def clean(text):
    """What preprocess.sh of OPUS-MT does before SentencePiece."""
    for pair in CLEANED:
        text = text.replace(pair[0], pair[1])
    text = re.sub("[。．] *", ". ", text).replace("…", "...")
    text = "".join(" " if unicodedata.category(c)[0] == "C" and c != "\n"
                   else c for c in text)
    return re.sub("  *", " ", text).strip(" ")


class Cleaned:
    """A tokenizer for cleaned texts."""

    def __init__(self, text):
        self.text, self.decode = text, text.decode

    def encode(self, texts):
        return self.text.encode([clean(t) for t in texts])


def marian_vocabulary(files, path):
    if path not in files:
        path = os.path.basename(path)
    if path.endswith(".spm"):
        return spm_pieces(files.read(path))
    if path.endswith("vocab"):
        return files.lines(path)
    return read_yaml_vocabulary(files.text(path))


def marian(files, languages):
    decoder = read_yaml_settings(files.text("decoder.yml"))
    weights = files.read(os.path.basename(decoder["models"][0]))
    arrays = read_npz(weights) if weights[:2] == b"PK" \
        else read_marian_bin(weights)
    text = arrays.pop("special:model.yml").tobytes().rstrip(b"\0").decode()
    s = read_yaml_settings(text)
    enc, dec = int(s["enc-depth"]), int(s["dec-depth"])
    tied = [int(x) for x in s.get("transformer-tied-layers") or []]
    pre = "n" in s["transformer-preprocess"]
    t = {}

    def move(side, i, stored):
        of = f"{side}_l{stored}_"
        base = f"{side}.layers.{i}."
        end = "_pre" if pre else ""
        for theirs, ours in (("self", "self_attn"),
                             ("context", "encoder_attn")):
            if f"{of}{theirs}_Wq" not in arrays:
                continue
            for letter, part in zip("qkvo", ("q", "k", "v", "out")):
                to = f"{base}{ours}.{part}_proj"
                t[to + ".weight"] = arrays[f"{of}{theirs}_W{letter}"].T
                t[to + ".bias"] = arrays[f"{of}{theirs}_b{letter}"][0]
            stem = f"{of}{theirs}_Wo_ln_"
            t[f"{base}{ours}_layer_norm.weight"] = \
                arrays[stem + "scale" + end][0]
            t[f"{base}{ours}_layer_norm.bias"] = arrays[stem + "bias" + end][0]
        for n in "12":
            t[f"{base}fc{n}.weight"] = arrays[f"{of}ffn_W{n}"].T
            t[f"{base}fc{n}.bias"] = arrays[f"{of}ffn_b{n}"][0]
        stem = f"{of}ffn_ffn_ln_"
        t[base + "final_layer_norm.weight"] = arrays[stem + "scale" + end][0]
        t[base + "final_layer_norm.bias"] = arrays[stem + "bias" + end][0]
    for i in range(enc):
        move("encoder", i, i + 1)
    for i in range(dec):
        move("decoder", i, tied[i] if tied else i + 1)
    if "n" in s["transformer-postprocess-top"]:
        for side in ("encoder", "decoder"):
            t[side + ".layer_norm.weight"] = arrays[side + "_top_ln_scale"][0]
            t[side + ".layer_norm.bias"] = arrays[side + "_top_ln_bias"][0]
    t["source"] = arrays["Wemb" if "Wemb" in arrays else "encoder_Wemb"]
    t["target"] = arrays["Wemb" if "Wemb" in arrays else "decoder_Wemb"]
    t["output"] = arrays.get("decoder_ff_logit_out_Wt", t["target"])
    if "decoder_ff_logit_out_W" in arrays:
        t["output"] = arrays["decoder_ff_logit_out_W"].T
    if "decoder_ff_logit_out_b" in arrays:
        t["output_bias"] = arrays["decoder_ff_logit_out_b"][0]
    v = [marian_vocabulary(files, n) for n in decoder["vocabs"]]
    # Rows without a piece are left out.
    for name, pieces in (("source", v[0]), ("target", v[1]), ("output", v[1]),
                         ("output_bias", v[1])):
        if name in t:
            t[name] = t[name][:len(pieces)]
    d = int(s["dim-emb"])
    net = Network(t, settings(
        d=d, heads=int(s["transformer-heads"]), enc=enc, dec=dec,
        act=s["transformer-ffn-activation"], pre=pre, eps=1e-6,
        scale=math.sqrt(d), positions="halves", offset=0))
    to_id = {p: i for i, p in enumerate(v[0])}
    target_id = {p: i for i, p in enumerate(v[1])}
    for ids in (to_id, target_id):      # lists of Nematus
        if "</s>" not in ids:
            ids["</s>"], ids["<unk>"] = ids.pop("eos"), ids.pop("UNK")
    if "source.bpe" in files:
        text = Bpe(merges_of(files.lines("source.bpe")), to_id, v[1],
                   to_id["<unk>"])
    else:
        spm = [os.path.basename(n) if n.endswith(".spm") else side + ".spm"
               for side, n in zip(("source", "target"), decoder["vocabs"])]
        text = Spm(files.read(spm[0]), files.read(spm[1]), to_id, v[1],
                   to_id["<unk>"])
    if "preprocess.sh" in files and "s/“/" in files.text("preprocess.sh"):
        text = Cleaned(text)
    prefix = [to_id[f">>{languages[1]}<<"]] if languages[1] else []
    barred = [target_id[f"<0x{i:02X}>"] for i in range(32)
              if f"<0x{i:02X}>" in target_id]
    if decoder.get("allow-unk") != "true":
        barred.append(target_id["<unk>"])
    codes = [i for p, i in target_id.items() if re.fullmatch(">>.*<<", p)]
    return Model(net, text, target_id["</s>"], to_id["<unk>"], -1, prefix,
                 [to_id["</s>"]], barred=barred,
                 may_be_barred=codes + [target_id["<unk>"]])


# What the code of transformers takes for settings that are not in the file.
HF_DEFAULTS = {
    "marian": {"activation_function": "gelu", "scale_embedding": False,
               "eos_token_id": 0, "pad_token_id": 58100,
               "decoder_start_token_id": 58100},
    "m2m_100": {"activation_function": "relu", "scale_embedding": True,
                "decoder_start_token_id": 2},
    "fsmt": {"activation_function": "relu", "scale_embedding": True},
}


def hf_config(files):
    config = files.json("config.json")
    return HF_DEFAULTS[config["model_type"]] | config


def hf_network(arrays, config, **more):
    """A network from tensors with or without "model." before their names."""
    a = {n.removeprefix("model."): x for n, x in arrays.items()}
    t = {n: x for n, x in a.items() if ".layers." in n or
         n.startswith(("encoder.layer_norm.", "decoder.layer_norm."))}
    shared = a.get("shared.weight")

    def table(*names):
        for n in names:
            if n in a:
                return a[n]
        return shared
    t["source"] = table("encoder.embed_tokens.weight",
                        "decoder.embed_tokens.weight")
    t["target"] = table("decoder.embed_tokens.weight",
                        "encoder.embed_tokens.weight")
    output = table("lm_head.weight", "decoder.output_projection.weight")
    t["output"] = t["target"] if output is None else output
    if "final_logits_bias" in a:
        t["output_bias"] = a["final_logits_bias"][0]
    d = config["d_model"]
    return Network(t, settings(
        d=d, heads=config["encoder_attention_heads"],
        enc=config["encoder_layers"], dec=config["decoder_layers"],
        act=config["activation_function"], eps=1e-5,
        scale=math.sqrt(d) if config["scale_embedding"] else 1, **more))


def hf_marian(files, languages):
    config = hf_config(files)
    arrays = read_hf_weights(files)
    net = hf_network(arrays, config, pre=False, positions="halves-hf",
                     offset=0)
    if "lm_head.weight" not in arrays:
        net.t["output"] = net.t["target"]
    to_id = files.json("vocab.json")
    target = files.json("target_vocab.json") if "target_vocab.json" in files \
        else to_id
    to_piece = {i: p for p, i in target.items()}
    text = Spm(files.read("source.spm"), files.read("target.spm"), to_id,
               to_piece, to_id["<unk>"])
    prefix = [to_id[f">>{languages[1]}<<"]] if languages[1] else []
    codes = [i for p, i in target.items() if re.fullmatch(">>.*<<", p)]
    pad = config["pad_token_id"]
    return Model(net, text, config["eos_token_id"], to_id["<unk>"],
                 config["decoder_start_token_id"], prefix,
                 [to_id["</s>"]], barred=[target["<unk>"], pad],
                 may_be_barred=codes)


def m2m(files, languages):
    config = hf_config(files)
    kind = files.json("tokenizer_config.json")["tokenizer_class"]
    net = hf_network(read_hf_weights(files), config, pre=True,
                     positions="halves", offset=2)
    spm = files.read("sentencepiece.bpe.model")
    if kind == "NllbTokenizer":
        pieces = spm_pieces(spm)
        to_id = {p: i + 1 for i, p in enumerate(pieces)}
        to_id |= {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        first, codes = len(pieces) + 1, NLLB200
        names = codes + ["<mask>"]
    else:
        to_id = files.json("vocab.json")
        first, names = len(to_id), [f"__{c}__" for c in M2M100]
        codes = M2M100
    v = net.t["output"].shape[0]
    to_piece = dict.fromkeys(range(v)) | {i: p for p, i in to_id.items()}
    language = {c: first + i for i, c in enumerate(codes)}
    text = Spm(spm, spm, to_id, to_piece, 3)
    if kind == "SMALL100Tokenizer":
        prefix, forced = [language[languages[1]]], []
    else:
        prefix, forced = [language[languages[0]]], [language[languages[1]]]
    rows = range(first, v)
    assert len(names) <= len(rows)
    return Model(net, text, 2, 3, config["decoder_start_token_id"], prefix,
                 [2], forced, barred=set(rows) | {0, 1}, may_be_barred=[3])


CT2_SPM = ["sentencepiece.model", "sentencepiece.bpe.model", "spm.model"]
CT2_ACT = {0: "relu", 2: "swish", 3: "gelu"}


def ct2_positions(model, d):
    """The kind and offset that a table of positions follows, or the tables."""
    v = model.variables
    name = "/position_encodings/encodings"
    if "encoder" + name not in v:
        return "halves", 1
    table = np.asarray(v["encoder" + name], np.float64)[:64]
    for kind in ("halves", "halves-hf", "in-turn"):
        for offset in range(3):
            formula = np.array([position(kind, p + offset, d)
                                for p in range(len(table))])
            if np.abs(formula - table).max() < 2e-2:
                return kind, offset
    return {s: v[s + name] for s in ("encoder", "decoder")}, 0


def ct2_network(model, eps):
    v, t = model.variables, {}

    def scalar(name, default):
        for n in (f"encoder/{name}", name):
            if n in v:
                return float(v[n])
        return default
    layers = {s: len({n.split("/")[1] for n in v
                      if n.startswith(s + "/layer_") and "norm" not in
                      n.split("/")[1]}) for s in ("encoder", "decoder")}

    def cut(theirs, parts):
        """One stored matrix as several. A bias may be missing."""
        for kind in ("weight", "bias"):
            if f"{theirs}/{kind}" not in v:
                continue
            for part, x in zip(parts, np.split(
                    np.asarray(v[f"{theirs}/{kind}"], np.float64),
                    len(parts))):
                t[f"{part}.{kind}"] = x

    def norm(theirs, ours):
        t[ours + ".weight"], t[ours + ".bias"] = v[theirs + "/gamma"], \
            v[theirs + "/beta"]
    for side, n in layers.items():
        for i in range(n):
            of, base = f"{side}/layer_{i}/", f"{side}.layers.{i}."
            own = base + "self_attn."
            cut(of + "self_attention/linear_0",
                [own + p for p in ("q_proj", "k_proj", "v_proj")])
            cut(of + "self_attention/linear_1", [own + "out_proj"])
            norm(of + "self_attention/layer_norm",
                 base + "self_attn_layer_norm")
            if side == "decoder":
                other = base + "encoder_attn."
                cut(of + "attention/linear_0", [other + "q_proj"])
                cut(of + "attention/linear_1",
                    [other + "k_proj", other + "v_proj"])
                cut(of + "attention/linear_2", [other + "out_proj"])
                norm(of + "attention/layer_norm",
                     base + "encoder_attn_layer_norm")
            cut(of + "ffn/linear_0", [base + "fc1"])
            cut(of + "ffn/linear_1", [base + "fc2"])
            norm(of + "ffn/layer_norm", base + "final_layer_norm")
        if side + "/layer_norm/gamma" in v:
            norm(side + "/layer_norm", side + ".layer_norm")
    t["source"] = v["encoder/embeddings_0/weight"] \
        if "encoder/embeddings_0/weight" in v else v["encoder/embeddings/weight"]
    t["target"] = v["decoder/embeddings/weight"]
    t["output"] = v["decoder/projection/weight"]
    if "decoder/projection/bias" in v:
        t["output_bias"] = v["decoder/projection/bias"]
    d = t["source"].shape[1]
    scaled = v.get("encoder/scale_embeddings",
                   v.get("encoder/embeddings/multiply_by_sqrt_depth", 1))
    if np.asarray(scaled).dtype.kind == "f":
        scale = float(scaled)
    else:
        scale = math.sqrt(d) if scaled else 1
    kind, offset = ct2_positions(model, d)
    heads = 16 if model.spec == "TransformerBig" and model.revision < 3 else 8
    return Network(t, settings(
        d=d, heads=int(scalar("num_heads", heads)), enc=layers["encoder"],
        dec=layers["decoder"], act=CT2_ACT[int(scalar("activation", 0))],
        pre=bool(scalar("pre_norm", 1)), eps=eps, scale=scale,
        positions=kind, offset=offset))


# Special tokens, and rows that are not used.
CT2_NEVER = re.compile(r"<s>|<blank>|<pad>|<mask>|madeupword\d+")


def ct2_languages(pieces, languages, zero, small):
    """The tokens of all languages of a model, and those before the source and
    the target."""
    forms = [("__%s__", r"__[a-z]{2,3}__"),
             ("%s", r"[a-z]{3}_[A-Z][a-z]{3}")]
    if zero:
        forms = [(">>%s<<", ">>.*<<")]
    for form, pattern in forms:
        marks = [p for p in pieces if re.fullmatch(pattern, p)]
        if marks and (zero or small):
            return marks, [form % languages[1]]
        if marks:
            return marks, [form % code for code in languages]
    return [], []


def ct2(files, languages):
    top = "model/" if "model/model.bin" in files else ""
    model = Ct2(files.read(top + "model.bin"))
    v = model.variables
    s = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>",
         "add_source_bos": False, "add_source_eos": False}
    if top + "config.json" in files:
        s |= files.json(top + "config.json")
    if "with_source_bos" in v:
        s["add_source_bos"] = bool(v["with_source_bos"])
        s["add_source_eos"] = bool(v["with_source_eos"])
    net = ct2_network(model, s.get("layer_norm_epsilon") or 1e-5)
    lists = []
    for side in ("source", "target"):
        for stem in ("shared", side):
            for ext in (".json", ".txt"):
                name = f"{top}{stem}_vocabulary{ext}"
                if name in files:
                    lists.append(files.json(name) if ext == ".json"
                                 else files.lines(name))
    source, target = lists
    to_id = {p: i for i, p in enumerate(source)}
    target_id = {p: i for i, p in enumerate(target)}
    unk = to_id[s["unk_token"]]
    if "bpe.model" in files:
        text = Bpe(merges_of(files.lines("bpe.model")), to_id, target, unk)
    else:
        one = [n for n in CT2_SPM if n in files]
        pair = one * 2 if one else ["source.spm", "target.spm"]
        text = Spm(files.read(pair[0]), files.read(pair[1]), to_id, target,
                   unk)
    zero = bool(v.get("decoder/start_from_zero_embedding", 0))
    prefix = [to_id[s["bos_token"]]] if s["add_source_bos"] else []
    suffix = [to_id[s["eos_token"]]] if zero or s["add_source_eos"] else []
    start = -1 if zero else target_id[s.get("decoder_start_token",
                                            s["bos_token"])]
    barred = {target_id[s["unk_token"]]}
    barred |= {i for p, i in target_id.items() if CT2_NEVER.fullmatch(p)}
    marks, chosen = ct2_languages(source, languages, zero,
                                  net.h.dec < net.h.enc)
    if chosen:
        prefix, suffix = [to_id[chosen[0]]], [to_id["</s>"]]
    forced = [target_id[p] for p in chosen[1:]]
    return Model(net, text, target_id[s["eos_token"]], unk, start, prefix,
                 suffix, forced, barred=barred | {target_id[p] for p in marks})


def fairseq_names(arrays):
    """The tensors of old checkpoints under the newer names."""
    out = {}
    for name, a in arrays.items():
        if "in_proj_" in name:
            stem, kind = name.split("in_proj_")
            for part, x in zip("qkv", np.split(a, 3)):
                out[f"{stem}{part}_proj.{kind}"] = x
        elif ".layer_norms." in name:
            n = int(re.search(r"layer_norms\.(\d)", name).group(1))
            kinds = ["self_attn", "encoder_attn", "final"] \
                if name.startswith("decoder") else ["self_attn", "final"]
            out[name.replace(f"layer_norms.{n}",
                             kinds[n] + "_layer_norm")] = a
        elif name == "decoder.embed_out":
            out["decoder.output_projection.weight"] = a
        else:
            out[name] = a
    return out


def dictionary(lines):
    v = ["<s>", "<pad>", "</s>", "<unk>"]
    for line in lines:
        line = line.removesuffix(" #fairseq:overwrite")
        v.append(line.rsplit(" ", 1)[0])
    return v


def plain(value):
    """What a pickle of settings says, without the objects in it."""
    fields = getattr(value, "fields", None)
    if fields is not None:
        if "_val" in fields:
            return fields["_val"]
        value = fields.get("_content", fields)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def fairseq_settings(saved):
    """The settings of all versions of fairseq under the oldest names."""
    if saved.get("args"):
        return plain(saved["args"])
    cfg = plain(saved["cfg"])
    out = dict(cfg["task"]) | cfg["model"]
    for side in ("encoder", "decoder"):
        for key, value in (out.get(side) or {}).items():
            out[f"{side}_{key}"] = value
    return out


def fairseq_text(files, args, source, target):
    to_id = {p: i for i, p in enumerate(source)}
    languages = args["source_lang"], args["target_lang"]
    models = [n for n in files.names if n.endswith(".model")]
    if not models:
        name = next(n for n in files.names if "code" in n)
        codes = files.lines(name)
        if only_letters(source):
            return Bpe(merges_of(codes), to_id, target, 3)
        return MosesBpe(languages, MOSES_STEPS, ("fastbpe", "at"), codes,
                        (source, target))
    pair = [next(n for n in models if len(models) == 1 or f".{lang}." in n)
            for lang in languages]
    return Spm(files.read(pair[0]), files.read(pair[1]), to_id, target, 3)


def fairseq(files, languages):
    usual = [n for n in ("model.pt", "checkpoint_best.pt") if n in files]
    saved = read_torch(files.read(
        files.chosen or (usual + files.ending(".pt"))[0]))
    args = fairseq_settings(saved)
    arrays = fairseq_names(arrays_of(saved["model"]))
    learned = "encoder.embed_positions.weight" in arrays
    positions = {s: arrays[s + ".embed_positions.weight"] for s in
                 ("encoder", "decoder")} if learned else "halves"
    config = {"d_model": args["encoder_embed_dim"],
              "encoder_attention_heads": args.get("encoder_attention_heads",
                                                  4),
              "encoder_layers": args["encoder_layers"],
              "decoder_layers": args["decoder_layers"],
              "activation_function": args.get("activation_fn", "relu"),
              "scale_embedding": not args.get("no_scale_embedding", False)}
    net = hf_network(arrays, config, pre=args["encoder_normalize_before"],
                     positions=positions, offset=2)
    source = dictionary(files.lines(f"dict.{args['source_lang']}.txt"))
    target = dictionary(files.lines(f"dict.{args['target_lang']}.txt"))
    text = fairseq_text(files, args, source, target)
    filled = {i for i, p in enumerate(target) if p.startswith("madeupword")}
    return Model(net, text, 2, 3, 2, (), [2], barred={0, 1},
                 may_be_barred=filled | {3})


def fsmt(files, languages):
    config = hf_config(files)
    net = hf_network(read_hf_weights(files), config, pre=False,
                     positions="halves", offset=2)
    lists = []
    for name in ("vocab-src.json", "vocab-tgt.json"):
        ids = files.json(name)
        lists.append(sorted(ids, key=ids.get))
    merges = files.lines("merges.txt")
    if only_letters(lists[0]):
        text = Bpe(merges_of(merges), {p: i for i, p in enumerate(lists[0])},
                   lists[1], 3, end=True)
    else:
        text = MosesBpe(config["langs"], "wide,normalize,drop-controls," +
                        MOSES_STEPS, ("merges", "word-end"), merges, lists)
    return Model(net, text, 2, 3, 2, (), [2], barred={0, 1},
                 may_be_barred=[3])


FAMILIES = {"own": own, "marian": marian, "hf-marian": hf_marian,
            "ct2": ct2, "m2m": m2m, "fairseq": fairseq, "fsmt": fsmt}


def load(path, family, source_lang=None, target_lang=None):
    return FAMILIES[family](Files(path), (source_lang, target_lang))


# ---- search ------------------------------------------------------------------------

def renormalized(logits, barred):
    """Log-probabilities where the logits of some tokens are minus infinity."""
    x = np.array(logits, np.float64)
    x[..., sorted(barred)] = -np.inf
    x -= x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def penalty(kind, alpha, n):
    return ((5 + n) / 6 if kind == "gnmt" else n) ** alpha


def beam_search(model, source, barred, never, beam=4, lenpen=("gnmt", 0.6),
                max_len=(1.2, 64), most=1 << 30):
    """Beam search as in docs/method.md 0.4, for one translation.

    barred    ids whose logits are minus infinity
    never     ids that may not be candidates
    Returns the ids with the end, the sum of the log-probabilities, and the
    score."""
    limit = min(math.floor(max_len[0] * len(source)) + max_len[1], most)
    memory = model.net.encode(source)
    live, done, given = [([], 0.0)], [], len(model.forced)
    for t in range(1, limit + 1):
        rows = [model.inputs(ids) for ids, _ in live]
        logp = renormalized(model.net.decode(memory, rows)[:, -1], barred)
        logp = np.log(np.minimum(np.exp(logp) + 1e-9, 1))
        if lenpen[0] == "fairseq" and t == limit:
            only = logp[:, model.eos].copy()
            logp[:] = -np.inf
            logp[:, model.eos] = only
        else:
            logp[:, sorted(never - {model.eos})] = -np.inf
            if t == 1:
                logp[:, model.eos] = -np.inf
        total = np.array([x for _, x in live])[:, None] + logp
        order = np.argsort(-total, axis=None, kind="stable")
        order = order[:1 if beam == 1 else 2 * beam]
        following = []
        for rank, at in enumerate(order):
            row, token = divmod(int(at), total.shape[1])
            value = float(total[row, token])
            if value == -math.inf:
                break
            ids = live[row][0] + [token]
            if token != model.eos:
                if len(following) < beam:
                    following.append((ids, value))
            elif lenpen[0] == "gnmt" or rank < beam:
                if lenpen[0] == "fairseq" and len(done) == beam:
                    continue
                done.append((ids, value,
                             value / penalty(*lenpen, given + t)))
                done.sort(key=lambda f: -f[2])
                del done[beam:]
        live = following
        if not live or lenpen[0] == "fairseq" and len(done) == beam:
            break
        if done and done[0][2] > live[0][1] / penalty(*lenpen, given + limit):
            break
    if done:
        return done[0]
    ids, value = live[0]
    return ids, value, value / penalty(*lenpen, given + len(ids))


def made_up_target(model, n, seed):
    """n ids that may come out."""
    able = [i for i in range(model.vocabulary) if i != model.eos and
            i not in model.barred and i not in model.may_be_barred]
    return [able[i] for i in np.random.RandomState(seed).randint(
        0, len(able), n)]


TARGET_LENGTHS = (1, 2, 7, 22)


def main():
    ap = argparse.ArgumentParser(add_help=False)
    ap.add_argument("path")
    ap.add_argument("family", choices=FAMILIES)
    ap.add_argument("--from", dest="source")
    ap.add_argument("--to", dest="target")
    ap.add_argument("--beam", type=int, default=4)
    ap.add_argument("--lenpen", nargs=2, default=("gnmt", "0.6"))
    ap.add_argument("--max-len", nargs=2, type=float, default=(1.2, 64))
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    a = ap.parse_args()
    model = load(a.path, a.family, a.source, a.target)
    texts = [line.rstrip("\n") for line in sys.stdin]
    for i, source in enumerate(model.sources(texts)):
        target = made_up_target(model, TARGET_LENGTHS[i % 4], i)
        logp = renormalized(model.forced_logits(source, target), model.barred)
        wanted = target + [model.eos]
        logp = logp[len(model.forced):]
        ids, total, score = beam_search(
            model, source, model.barred, set(), a.beam,
            (a.lenpen[0], float(a.lenpen[1])),
            (a.max_len[0], int(a.max_len[1])))
        print(json.dumps({
            "text": texts[i], "source": source, "target": target,
            "logprobs": [round(float(row[t]), 7)
                         for row, t in zip(logp, wanted)],
            "ids": ids, "output": model.text.decode(
                [x for x in ids if x != model.eos]),
            "logprob": round(total, 6), "score": round(score, 6)},
            ensure_ascii=False))


if __name__ == "__main__":
    main()
