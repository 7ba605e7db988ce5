"""A Transformer in the tensors and settings of each family of models.

A Net has the tensors under one set of names, those of fairseq and Hugging Face
("encoder.layers.0.self_attn.q_proj.weight"), matrices [outputs, inputs]. The
tables are "source", "target" and "output"; a Net whose tables are one has only
"source", and one whose output is the target's table has no "output". The
functions below return or write what each family has instead.
"""
import collections
import math
import os
from types import SimpleNamespace

import numpy as np

from foreign_write import (Parameter, Storage, Tensor, ct2_bytes, ct2_compress,
                           named_object, npz_bytes, torch_legacy_bytes, torch_zip_bytes,
                           write_bytes, write_json, write_safetensors)

ATTENTION = ("q_proj", "k_proj", "v_proj", "out_proj")


class Net:
    def __init__(self, tensors, **h):
        self.t = tensors
        self.h = SimpleNamespace(**h)

    def table(self, name):
        """The table of the source, the target or the output."""
        if name == "output" and self.h.tied:
            name = "target"
        if name == "target" and self.h.one_table:
            name = "source"
        return self.t[name]


DEFAULTS = {"d": 16, "heads": 2, "ffn": 40, "dec_ffn": 24, "enc": 2, "dec": 2,
            "act": "relu", "pre": False, "v_src": 60, "v_tgt": None,
            "one_table": True, "tied": True, "bias": False, "learned": 0,
            "zero_row": None, "eos": None, "tied_layers": None,
            "small": False, "eos_scale": 1.8}


def layer_names(side, i):
    base = f"{side}.layers.{i}."
    blocks = ["self_attn"] + (["encoder_attn"] if side == "decoder" else [])
    return base, blocks


def random_net(seed, **options):
    """zero_row: a row of the tables that is zero. eos: a row of the output that
    is longer than others, so that some translations end early; eos_scale: by
    how much. learned: the
    number of learned positions. small: inputs of norms have small variances, in
    a net with norms after the blocks."""
    h = DEFAULTS | options
    h["v_tgt"] = h["v_tgt"] or h["v_src"]
    rng, t, d = np.random.RandomState(seed), {}, h["d"]

    def uniform(*shape, most):
        return rng.uniform(-most, most, shape).astype(np.float32)

    def linear(name, n, k):
        t[name + ".weight"] = uniform(n, k, most=2.4 / math.sqrt(k))
        t[name + ".bias"] = uniform(n, most=0.2)

    def norm(name):
        t[name + ".weight"] = 1 + uniform(d, most=0.3)
        t[name + ".bias"] = uniform(d, most=0.2)

    def table(name, v):
        t[name] = uniform(v, d, most=0.6)
        if h["eos"] is not None:
            t[name][h["eos"]] *= h["eos_scale"]
        if h["zero_row"] is not None:
            t[name][h["zero_row"]] = 0

    table("source", h["v_src"])
    if not h["one_table"]:
        table("target", h["v_tgt"])
    if not h["tied"]:
        table("output", h["v_tgt"])
    if h["bias"]:
        t["output_bias"] = uniform(h["v_tgt"], most=0.5)
        if h["zero_row"] is not None:
            t["output_bias"][h["zero_row"]] = 0
    for side, layers, f in (("encoder", h["enc"], h["ffn"]),
                            ("decoder", h["dec"], h["dec_ffn"])):
        for i in range(layers):
            base, blocks = layer_names(side, i)
            for block in blocks:
                for part in ATTENTION:
                    linear(base + block + "." + part, d, d)
                norm(base + block + "_layer_norm")
            linear(base + "fc1", f, d)
            linear(base + "fc2", d, f)
            norm(base + "final_layer_norm")
        if h["pre"]:
            norm(side + ".layer_norm")
        if h["learned"]:
            t[side + ".positions"] = uniform(h["learned"], d, most=0.8)
    if h["small"]:
        make_small(t, h)
    return Net(t, **h)


def make_small(t, h):
    """Give a norm of each stack inputs of small variance, so that another
    epsilon shows: what the first layer puts out, and what the first block of
    the second layer adds."""
    for side in ("encoder", "decoder"):
        for name in (f"{side}.layers.0.final_layer_norm",
                     f"{side}.layers.1.self_attn.out_proj"):
            t[name + ".weight"] *= 1e-2
            t[name + ".bias"] *= 1e-2


def halves(n, d, rate):
    """Positions 0 .. n-1: all sines, then all cosines."""
    angle = np.arange(n)[:, None] * rate[None, :]
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def positions_fairseq(n, d):
    half = d // 2
    return halves(n, d, np.exp(-math.log(1e4) * np.arange(half) / (half - 1)))


def positions_hf_marian(n, d):
    return halves(n, d, 1e4 ** (-np.arange(d // 2) / (d // 2)))


def positions_opennmt(n, d):
    angle = np.arange(n)[:, None] * 1e4 ** (-2 * np.arange(d // 2) / d)
    out = np.empty((n, d), np.float32)
    out[:, 0::2], out[:, 1::2] = np.sin(angle), np.cos(angle)
    return out


# ---- our own -----------------------------------------------------------------

OWN_NAMES = {"self_attn_layer_norm": "ln1", "encoder_attn_layer_norm": "ln2",
             "final_layer_norm": "ln3", "fc1": "f1", "fc2": "f2"}
OWN_BLOCKS = {"self_attn": "att", "encoder_attn": "xatt"}
OWN_PARTS = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}


def own_name(name):
    """The name of a tensor in the folders that skmt's own models come from."""
    side, *rest, kind = name.split(".")
    if rest == ["layer_norm"]:
        return {"encoder": "eln.", "decoder": "dln."}[side] + kind
    if rest == ["positions"] or kind == "positions":
        return {"encoder": "pos_src", "decoder": "pos_tgt"}[side] + ".weight"
    _, i, block, *part = rest
    if part:
        block = OWN_BLOCKS[block] + "." + OWN_PARTS[part[0]]
    else:
        block = OWN_NAMES[block]
    return f"{side[:3]}.{i}.{block}.{kind}"


def write_own(folder, net, positions="sinusoidal-halves", offset=0):
    """With the ids of a SentencePiece model: <unk> 0, <s> 1, </s> 2."""
    h = net.h
    arrays = {own_name(n): a for n, a in net.t.items() if "." in n}
    if h.one_table:
        arrays["emb.weight"] = net.table("source")
    else:
        arrays["emb_src.weight"] = net.table("source")
        arrays["emb_tgt.weight"] = net.table("target")
    if not h.tied:
        arrays["out.weight"] = net.table("output")
    if h.bias:
        arrays["out.bias"] = net.t["output_bias"]
    write_safetensors(os.path.join(folder, "model.safetensors"), arrays)
    write_json(os.path.join(folder, "config.json"), {
        "model_type": "transformer", "vocab_size": h.v_src, "d_model": h.d,
        "heads": h.heads, "ffn": h.ffn, "decoder_ffn": h.dec_ffn,
        "encoder_layers": h.enc, "decoder_layers": h.dec,
        "norm": "pre" if h.pre else "post", "final_norm": h.pre,
        "activation": h.act, "positions": positions,
        "position_offset": offset, "max_positions": h.learned or 256,
        "embedding_scale": math.sqrt(h.d), "tied_embeddings": h.tied,
        "output_bias": h.bias, "layer_norm_eps": 1e-5, "unk_id": 0,
        "bos_id": 1, "eos_id": 2, "decoder_start_id": 1,
        "source_suffix_ids": [2]})


# ---- Marian ------------------------------------------------------------------

MARIAN_BLOCKS = {"self_attn": "self", "encoder_attn": "context"}
MARIAN_PARTS = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}


def marian_layer(net, side, i, out, suffix):
    base, blocks = layer_names(side, i)
    to = f"{side}_l{i + 1}_"

    def norm(ours, theirs):
        out[theirs + "_ln_scale" + suffix] = net.t[ours + ".weight"][None]
        out[theirs + "_ln_bias" + suffix] = net.t[ours + ".bias"][None]

    for block in blocks:
        b = to + MARIAN_BLOCKS[block]
        for part, letter in MARIAN_PARTS.items():
            w = net.t[f"{base}{block}.{part}.weight"]
            out[f"{b}_W{letter}"] = np.ascontiguousarray(w.T)
            out[f"{b}_b{letter}"] = net.t[f"{base}{block}.{part}.bias"][None]
        norm(f"{base}{block}_layer_norm", f"{b}_Wo")
    for n, ours in ((1, "fc1"), (2, "fc2")):
        w = net.t[f"{base}{ours}.weight"]
        out[f"{to}ffn_W{n}"] = np.ascontiguousarray(w.T)
        out[f"{to}ffn_b{n}"] = net.t[f"{base}{ours}.bias"][None]
    norm(base + "final_layer_norm", to + "ffn_ffn")


def marian_settings(net, extra):
    h = net.h
    tied_all = h.one_table and h.tied
    s = {
        "type": "transformer", "dim-emb": h.d,
        "dim-vocabs": [h.v_src, h.v_tgt], "enc-depth": h.enc,
        "dec-depth": h.dec, "transformer-heads": h.heads,
        "transformer-dim-ffn": h.ffn,
        "transformer-decoder-dim-ffn": 0 if h.dec_ffn == h.ffn else h.dec_ffn,
        "transformer-ffn-depth": 2, "transformer-decoder-ffn-depth": 0,
        "transformer-ffn-activation": h.act,
        "transformer-preprocess": "n" if h.pre else "",
        "transformer-postprocess": "da" if h.pre else "dan",
        "transformer-postprocess-top": "n" if h.pre else "",
        "transformer-postprocess-emb": "d",
        "tied-embeddings": h.tied and not h.one_table,
        "tied-embeddings-src": h.one_table and not h.tied,
        "tied-embeddings-all": tied_all,
        "output-omit-bias": not h.bias,
        "transformer-decoder-autoreg": "self-attention",
        "transformer-no-projection": False,
        "transformer-tied-layers": h.tied_layers or [],
        "transformer-train-position-embeddings": False,
        "transformer-guided-alignment-layer": "last",
        "right-left": False, "ulr": False, "skip": False,
        "layer-normalization": False, "dec-cell": "gru", "enc-cell": "gru",
        "enc-type": "bidirectional", "enc-cell-depth": 1, "dim-rnn": 1024,
        "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
        "transformer-aan-activation": "swish", "transformer-aan-depth": 2,
        "transformer-aan-nogate": False, "transformer-dim-aan": 2048,
        "lemma-dim-emb": 0, "input-types": [], "version": "v1.9.0 2020",
    }
    return s | (extra or {})


def marian_yaml(settings):
    def scalar(v):
        return str(v).lower() if isinstance(v, bool) else \
            '""' if v == "" else str(v)
    out = []
    for key, v in settings.items():
        if isinstance(v, list):
            out.append(f"{key}:" if v else f"{key}: []")
            out += [f"  - {scalar(x)}" for x in v]
        else:
            out.append(f"{key}: {scalar(v)}")
    return "\n".join(out) + "\n"


def marian_arrays(net, extra=None):
    h, out = net.h, {}
    if h.one_table:
        out["Wemb"] = net.table("source")
    else:
        out["encoder_Wemb"] = net.table("source")
        out["decoder_Wemb"] = net.table("target")
    for i in range(h.enc):
        marian_layer(net, "encoder", i, out, "_pre" if h.pre else "")
    # A tied layer uses the tensors of an earlier one.
    own = [i for i in range(h.dec)
           if not h.tied_layers or h.tied_layers[i] == i + 1]
    for i in own:
        marian_layer(net, "decoder", i, out, "_pre" if h.pre else "")
    if h.pre:
        for side in ("encoder", "decoder"):
            norm = side + ".layer_norm"
            out[side + "_top_ln_scale"] = net.t[norm + ".weight"][None]
            out[side + "_top_ln_bias"] = net.t[norm + ".bias"][None]
    if not h.tied:
        out["decoder_ff_logit_out_Wt"] = net.table("output")
    if h.bias:
        out["decoder_ff_logit_out_b"] = net.t["output_bias"][None]
    text = marian_yaml(marian_settings(net, extra)).encode() + b"\0\0\0"
    out["special:model.yml"] = np.frombuffer(text, np.int8)
    return out


def write_marian_npz(path, net, extra=None):
    write_bytes(path, npz_bytes(marian_arrays(net, extra)))


# ---- the names of fairseq and Hugging Face -------------------------------------

def layer_tensors(net):
    return {n: a for n, a in net.t.items() if n.count(".") >= 2 and
            not n.endswith(".positions")}


def hf_tensors(net, buffers=True):
    """All tensors as PyTorch has them: tied tables under each of their names.
    `buffers` adds the positions that older files have."""
    out = collections.OrderedDict()
    out["encoder.embed_tokens.weight"] = net.table("source")
    out["decoder.embed_tokens.weight"] = net.table("target")
    out.update(layer_tensors(net))
    return out


def tensors_for_torch(arrays, dtype, parameters=False):
    """Arrays as tensors. Equal arrays share a storage, as tied weights do. Some
    matrices are stored by columns, and some are views with an offset."""
    shared, out = {}, collections.OrderedDict()
    for i, (name, a) in enumerate(arrays.items()):
        if id(a) not in shared:
            b = a.astype(dtype) if a.dtype.kind == "f" else a
            if b.ndim == 2 and i % 7 == 3:
                tensor = Tensor.transposed(b)
            elif b.ndim == 1 and i % 7 == 5:
                whole = Storage(np.concatenate([b[:3] * 0 + 7, b]))
                tensor = Tensor(whole, min(3, b.size), b.shape, (1,))
            else:
                tensor = Tensor.of(b)
            shared[id(a)] = tensor
        t = shared[id(a)]
        out[name] = Parameter(t) if parameters and i % 5 == 2 else \
            Tensor(t.storage, t.offset, t.size, t.stride)
    return out


def write_torch(path, arrays, dtype="float32", legacy=False, wrap=None,
                descriptors=False):
    tensors = tensors_for_torch(arrays, dtype, parameters=wrap is None)
    value = wrap(tensors) if wrap else tensors
    write_bytes(path, torch_legacy_bytes(value) if legacy else
                torch_zip_bytes(value, descriptors=descriptors))


def write_hf_weights(folder, arrays, form, dtype):
    """form: safetensors, safetensors-split, bin, bin-legacy, bin-split."""
    names = list(arrays)
    stem, ext = ("model", ".safetensors") if form.startswith("safe") else \
        ("pytorch_model", ".bin")

    def write(path, part):
        if ext == ".bin":
            write_torch(path, part, dtype, legacy=form == "bin-legacy",
                        descriptors=form == "bin-split")
        else:
            write_safetensors(path, part, dtype, {"format": "pt"})
    if not form.endswith("-split"):
        write(os.path.join(folder, stem + ext), arrays)
        return
    cut, where = len(names) // 2, {}
    for i, part in enumerate((names[:cut], names[cut:])):
        name = f"{stem}-0000{i + 1}-of-00002{ext}"
        write(os.path.join(folder, name), {n: arrays[n] for n in part})
        where.update({n: name for n in part})
    write_json(os.path.join(folder, stem + ext + ".index.json"),
               {"metadata": {"total_size": 1}, "weight_map": where})


HF_TRAINING = {
    "activation_dropout": 0.0, "attention_dropout": 0.0, "dropout": 0.1,
    "classifier_dropout": 0.0, "decoder_layerdrop": 0.0,
    "encoder_layerdrop": 0.0, "gradient_checkpointing": False,
    "init_std": 0.02, "is_encoder_decoder": True, "use_cache": True,
    "transformers_version": "4.36.0",
}


def hf_sizes(net):
    h = net.h
    return {
        "d_model": h.d, "encoder_layers": h.enc, "decoder_layers": h.dec,
        "encoder_ffn_dim": h.ffn, "decoder_ffn_dim": h.dec_ffn,
        "encoder_attention_heads": h.heads, "decoder_attention_heads": h.heads,
        "num_hidden_layers": h.enc,
    }


def write_hf_marian(folder, net, form="safetensors", dtype="float32",
                    lm_head=False, positions=False, scale=True, extra=None):
    """The pad token is the last one. lm_head: store the output's table although
    it is tied, as pytorch_model.bin does."""
    h, arrays = net.h, collections.OrderedDict()
    if h.one_table:
        arrays["model.shared.weight"] = net.table("source")
    # safetensors has each table once, pytorch_model.bin under each name.
    if not h.one_table or form.startswith("bin"):
        arrays["model.encoder.embed_tokens.weight"] = net.table("source")
        arrays["model.decoder.embed_tokens.weight"] = net.table("target")
    if positions:
        table = positions_hf_marian(512, h.d)
        arrays["model.encoder.embed_positions.weight"] = table
        arrays["model.decoder.embed_positions.weight"] = table.copy()
    arrays.update({"model." + n: a for n, a in layer_tensors(net).items()})
    if lm_head or not h.tied:
        arrays["lm_head.weight"] = net.table("output")
    if h.bias:
        arrays["final_logits_bias"] = net.t["output_bias"][None]
    write_hf_weights(folder, arrays, form, dtype)
    pad = h.v_tgt - 1
    config = HF_TRAINING | hf_sizes(net) | {
        "_name_or_path": "made-up/opus-mt", "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "activation_function": h.act, "add_bias_logits": False,
        "add_final_layer_norm": False, "bad_words_ids": [[pad]],
        "bos_token_id": 0, "classif_dropout": 0.0, "eos_token_id": h.eos,
        "forced_eos_token_id": h.eos, "decoder_start_token_id": pad,
        "decoder_vocab_size": h.v_tgt, "extra_pos_embeddings": pad + 1,
        "max_length": 512, "max_position_embeddings": 512,
        "normalize_before": False, "normalize_embedding": False,
        "num_beams": 4, "pad_token_id": pad, "scale_embedding": scale,
        "share_encoder_decoder_embeddings": h.one_table,
        "static_position_embeddings": True, "tie_word_embeddings": h.tied,
        "torch_dtype": dtype, "vocab_size": h.v_src,
    }
    write_json(os.path.join(folder, "config.json"), config | (extra or {}))


def write_m2m(folder, net, form, dtype, arch="M2M100", buffers=False,
              extra=None):
    h, arrays = net.h, collections.OrderedDict()
    arrays["model.shared.weight"] = net.table("source")
    if form.startswith("bin"):
        arrays["model.encoder.embed_tokens.weight"] = net.table("source")
        arrays["model.decoder.embed_tokens.weight"] = net.table("source")
    if buffers:
        table = positions_fairseq(66, h.d)
        table[1] = 0
        arrays["model.encoder.embed_positions.weights"] = table
        arrays["model.decoder.embed_positions.weights"] = table.copy()
    arrays.update({"model." + n: a for n, a in net.t.items()
                   if n not in ("source", "target", "output")})
    if form.startswith("bin"):
        arrays["lm_head.weight"] = net.table("source")
    write_hf_weights(folder, arrays, form, dtype)
    config = HF_TRAINING | hf_sizes(net) | {
        "_name_or_path": "made-up", "model_type": "m2m_100",
        "architectures": [arch + "ForConditionalGeneration"],
        "activation_function": h.act, "bos_token_id": 0, "pad_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 2, "early_stopping": True,
        "max_length": 200, "max_position_embeddings": 1024, "num_beams": 5,
        "scale_embedding": True, "torch_dtype": dtype,
        "vocab_size": h.v_src,
    }
    write_json(os.path.join(folder, "config.json"), config | (extra or {}))


def write_fsmt(folder, net, form, dtype, langs, extra=None, positions=False):
    """positions: store their tables, with zeros for the padding."""
    h, arrays = net.h, collections.OrderedDict()
    arrays["model.encoder.embed_tokens.weight"] = net.table("source")
    arrays["model.decoder.embed_tokens.weight"] = net.table("target")
    arrays.update({"model." + n: a for n, a in layer_tensors(net).items()})
    arrays["model.decoder.output_projection.weight"] = net.table("output")
    if positions:
        table = positions_fairseq(1026, h.d)
        table[1] = 0
        for side in ("encoder", "decoder"):
            arrays[f"model.{side}.embed_positions.weight"] = table
    if form.startswith("safe"):         # each table once
        seen, once = set(), collections.OrderedDict()
        for name, a in arrays.items():
            if id(a) not in seen:
                once[name] = a
            seen.add(id(a))
        arrays = once
    write_hf_weights(folder, arrays, form, dtype)
    config = HF_TRAINING | hf_sizes(net) | {
        "model_type": "fsmt", "architectures": ["FSMTForConditionalGeneration"],
        "activation_function": h.act, "bos_token_id": 0, "pad_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 2,
        "decoder": {"bos_token_id": 2, "model_type": "fsmt_decoder",
                    "vocab_size": h.v_tgt},
        "early_stopping": False, "langs": langs, "length_penalty": 1.1,
        "max_length": 200, "max_position_embeddings": 1024, "num_beams": 5,
        "scale_embedding": True, "src_vocab_size": h.v_src,
        "tgt_vocab_size": h.v_tgt, "tie_word_embeddings": h.one_table and
        h.tied,
    }
    del config["num_hidden_layers"]
    config["num_hidden_layers"] = h.enc
    write_json(os.path.join(folder, "config.json"), config | (extra or {}))


# ---- fairseq -------------------------------------------------------------------

def fairseq_tensors(net, old=False, version=3, buffers=True):
    """old: the names of before 2019, with one matrix for q, k and v."""
    h, out = net.h, collections.OrderedDict()

    def put(name, array):
        out[name] = array
    if buffers:
        put("encoder.version", np.array([version], np.float32))
    put("encoder.embed_tokens.weight", net.table("source"))
    for side in ("encoder", "decoder"):
        if side == "decoder":
            if buffers:
                put("decoder.version", np.array([version], np.float32))
            put("decoder.embed_tokens.weight", net.table("target"))
        if h.learned:
            put(side + ".embed_positions.weight", net.t[side + ".positions"])
        elif buffers:
            put(side + ".embed_positions._float_tensor",
                np.zeros(1, np.float32))
        for name, a in net.t.items():
            if not name.startswith(side) or name.endswith(".positions"):
                continue
            if old and name.endswith("q_proj.weight"):
                stem = name[:-len("q_proj.weight")]
                put(stem + "in_proj_weight", np.concatenate(
                    [net.t[stem + p + ".weight"] for p in ATTENTION[:3]]))
                put(stem + "in_proj_bias", np.concatenate(
                    [net.t[stem + p + ".bias"] for p in ATTENTION[:3]]))
            elif old and any(f".{p}." in name for p in ATTENTION[:3]):
                continue
            elif old and "_layer_norm." in name:
                kinds = ["self_attn", "encoder_attn", "final"] \
                    if side == "decoder" else ["self_attn", "final"]
                for n, kind in enumerate(kinds):
                    name = name.replace(kind + "_layer_norm",
                                        f"layer_norms.{n}")
                put(name, a)
            else:
                put(name, a)
    if not h.tied:
        put("decoder.embed_out" if old else "decoder.output_projection.weight",
            net.table("output"))
    elif not old:
        put("decoder.output_projection.weight", net.table("output"))
    return out


def fairseq_args(net, **extra):
    h = net.h
    return {
        "arch": "transformer_wmt_en_de_big", "task": "translation",
        "activation_fn": h.act, "adaptive_input": False,
        "adaptive_softmax_cutoff": None, "attention_dropout": 0.1,
        "criterion": "label_smoothed_cross_entropy", "clip_norm": 0.0,
        "encoder_embed_dim": h.d, "encoder_ffn_embed_dim": h.ffn,
        "encoder_layers": h.enc, "encoder_attention_heads": h.heads,
        "encoder_normalize_before": h.pre, "encoder_learned_pos":
        bool(h.learned), "decoder_embed_dim": h.d,
        "decoder_ffn_embed_dim": h.dec_ffn, "decoder_layers": h.dec,
        "decoder_attention_heads": h.heads, "decoder_normalize_before": h.pre,
        "decoder_learned_pos": bool(h.learned), "decoder_output_dim": h.d,
        "decoder_input_dim": h.d, "dropout": 0.2, "lr": [0.0005],
        "betas": "(0.9, 0.98)", "max_source_positions": 1024,
        "max_target_positions": 1024, "no_token_positional_embeddings": False,
        "share_all_embeddings": h.one_table and h.tied,
        "share_decoder_input_output_embed": h.tied and not h.one_table,
        "source_lang": "de", "target_lang": "en", "fp16": True, "seed": 1,
        "save_dir": "checkpoints", "warmup_updates": 4000, "weight_decay": 0.0,
    } | extra


def omegaconf(value):
    """Dicts as objects of omegaconf, of which only the names are written."""
    if isinstance(value, dict):
        return named_object("omegaconf.dictconfig", "DictConfig", {
            "_metadata": None, "_content":
            {k: omegaconf(v) for k, v in value.items()}})
    return named_object("omegaconf.nodes", "AnyNode", {"_val": value})


def fairseq_cfg(args):
    """The settings as newer versions of fairseq store them: dicts of dicts."""
    model = {"_name": args.pop("arch", None), "encoder": {}, "decoder": {}}
    task = {"_name": args.pop("task", None)}
    for key, value in args.items():
        side, _, rest = key.partition("_")
        if key in ("source_lang", "target_lang"):
            task[key] = value
        elif side in ("encoder", "decoder"):
            model[side][rest] = value
        else:
            model[key] = value
    return {"_name": None, "model": model, "task": task,
            "bpe": {"_name": model.pop("bpe")} if "bpe" in model else None,
            "tokenizer": None, "generation": {"beam": 5, "lenpen": 1.0}}


def write_fairseq(path, net, dtype="float32", legacy=False, old=False,
                  form="args", version=3, drop=(), **extra):
    """form: how the settings are stored. "args": a Namespace; "cfg": a
    Namespace in a dict; "dicts"; "omegaconf": objects. drop: settings that are
    left out."""
    import argparse
    args = fairseq_args(net, **extra)
    for key in drop:
        del args[key]
    if form == "args":
        found = {"args": argparse.Namespace(**args)}
    elif form == "cfg":
        found = {"args": None, "cfg": {
            "_name": None, "model": argparse.Namespace(**args),
            "task": {"_name": "translation"}}}
    else:
        cfg = fairseq_cfg(args)
        found = {"args": None, "cfg":
                 omegaconf(cfg) if form == "omegaconf" else cfg}

    def wrap(tensors):
        return found | {
            "model": tensors,
            "optimizer_history": [{"num_updates": 7, "best": 1.5e-3,
                                   "criterion_name": "X"}],
            "extra_state": {"epoch": 3, "val_loss": 2.25,
                            "huge": 1 << 80, "minus": -12345678901},
            "last_optimizer_state": {
                "state": {0: {"exp_avg": Tensor.of(
                    np.ones((3, 5), np.float32))}}}}

    arrays = fairseq_tensors(net, old, version)
    write_torch(path, arrays, dtype, legacy=legacy, wrap=wrap)


# ---- CTranslate2 -----------------------------------------------------------------

def ct2_variables(net, revision, positions, start_zero=False):
    """positions: "opennmt", "hf-marian", "fairseq" (offset 2), "learned", an
    array, or None for no table. Returns the variables and the aliases."""
    h, out = net.h, {}
    source = "encoder/embeddings_0/weight" if revision >= 5 else \
        "encoder/embeddings/weight"
    target = "decoder/embeddings/weight"
    aliases = []
    out[source] = net.table("source")
    if h.one_table:
        aliases.append((target, source))
    else:
        out[target] = net.table("target")
    if h.tied:
        aliases.append(("decoder/projection/weight",
                        source if h.one_table else target))
    else:
        out["decoder/projection/weight"] = net.table("output")
    if h.bias:
        out["decoder/projection/bias"] = net.t["output_bias"]

    def linear(theirs, ours):
        for kind in ("weight", "bias"):
            out[f"{theirs}/{kind}"] = np.concatenate(
                [net.t[f"{o}.{kind}"] for o in ours])

    def norm(theirs, ours):
        out[theirs + "/gamma"] = net.t[ours + ".weight"]
        out[theirs + "/beta"] = net.t[ours + ".bias"]

    for side, layers in (("encoder", h.enc), ("decoder", h.dec)):
        for i in range(layers):
            base, blocks = layer_names(side, i)
            to = f"{side}/layer_{i}/"
            parts = [f"{base}self_attn.{p}" for p in ATTENTION]
            linear(to + "self_attention/linear_0", parts[:3])
            linear(to + "self_attention/linear_1", parts[3:])
            norm(to + "self_attention/layer_norm",
                 base + "self_attn_layer_norm")
            if side == "decoder":
                parts = [f"{base}encoder_attn.{p}" for p in ATTENTION]
                linear(to + "attention/linear_0", parts[:1])
                linear(to + "attention/linear_1", parts[1:3])
                linear(to + "attention/linear_2", parts[3:])
                norm(to + "attention/layer_norm",
                     base + "encoder_attn_layer_norm")
            linear(to + "ffn/linear_0", [base + "fc1"])
            linear(to + "ffn/linear_1", [base + "fc2"])
            norm(to + "ffn/layer_norm", base + "final_layer_norm")
        if h.pre:
            norm(side + "/layer_norm", side + ".layer_norm")
        table = {"opennmt": lambda: positions_opennmt(96, h.d),
                 "hf-marian": lambda: positions_hf_marian(96, h.d),
                 "fairseq": lambda: positions_fairseq(98, h.d)[2:],
                 "learned": lambda: net.t[side + ".positions"]}
        if positions is not None:
            out[side + "/position_encodings/encodings"] = \
                table[positions]() if isinstance(positions, str) else positions
        if revision >= 5:
            out[side + "/num_heads"] = np.int16(h.heads)
            out[side + "/pre_norm"] = np.int8(h.pre)
            out[side + "/activation"] = np.int8(
                {"relu": 0, "swish": 2, "gelu": 3}[h.act])
            out[side + "/scale_embeddings"] = np.int8(1)
        else:
            out[side + "/embeddings/multiply_by_sqrt_depth"] = np.int8(1)
    if revision < 5:
        out["num_heads"] = np.int8(h.heads)
        out["pre_norm"] = np.int8(h.pre)
        out["activation"] = np.int8(
            {"relu": 0, "swish": 2, "gelu": 3}[h.act])
    else:
        out["encoder/embeddings_merge"] = np.int8(0)
        out["decoder/alignment_layer"] = np.int16(-1)
        out["decoder/alignment_heads"] = np.int16(1)
    if start_zero or revision >= 5:
        out["decoder/start_from_zero_embedding"] = np.int8(start_zero)
    return out, aliases


def write_ct2(path, net, version, kind="float32", positions="opennmt",
              start_zero=False, extra=None, without=(),
              spec="TransformerSpec", revision=None):
    """extra: more variables, or other values. without: endings of names that
    are left out."""
    revision = revision or {2: 3, 3: 4, 4: 4, 5: 5, 6: 7}[version]
    variables, aliases = ct2_variables(net, revision, positions, start_zero)
    variables = {name: v for name, v in (variables | (extra or {})).items()
                 if not name.endswith(tuple(without))}
    variables = ct2_compress(variables, kind, version)
    # The scale of a shared table is shared too, under the same alias.
    write_bytes(path, ct2_bytes(version, spec, revision, variables, aliases))
