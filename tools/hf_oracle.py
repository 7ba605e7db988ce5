#!/usr/bin/env python3
"""Compute with Hugging Face's transformers what skmt must compute.

    /usr/bin/python3 tools/hf_oracle.py prepare OUT
    python3 tools/hf_oracle.py run OUT FILE

How tests/golden/hf_oracle.jsonl was made:

1. "prepare" makes the tiny models of tools/gen_foreign.py that have a form of
   Hugging Face, and some variants of them, in the folder OUT, and writes
   OUT/hf_cases.json: which sources, targets and texts to use, and which tokens
   skmt bars. It needs a build of skmt ($BUILD), numpy and sentencepiece.
2. "run" reads this folder, loads each model with MarianMTModel,
   M2M100ForConditionalGeneration or FSMTForConditionalGeneration in float32 on
   the CPU, and writes FILE. It needs torch, transformers and
   spm_export_vocab, and nothing of skmt. It was run once, with the versions
   that the first line of the file says, on another computer than "prepare".
   There make_models() made the models again from the same SentencePiece
   models, but with the character table of sentencepiece 0.2.2; the digests are
   the same.
3. tools/check_hf.py compares skmt with FILE. It needs no PyTorch.

FILE has a JSON object per line. The first one has the versions. In the others
"model" is the name of a case, and "kind" says what the line is:

  model     class, digest of the files, tokens that are barred ("barred": not
            in the softmax; "never": in the softmax, but never chosen), weights
            that transformers did not find, how the tokenizer was loaded, and
            by how much the log-probabilities of generate differ from those of
            teacher forcing ("generate_off")
  forced    log-probabilities with teacher forcing. A row has the position, the
            token, its log-probability, the 3 best tokens and theirs. Softmax
            is over the tokens that are not barred
  search    generate with one beam size, length penalty and early_stopping:
            ids, sum of the log-probabilities, and score of each text. Tokens
            that skmt bars are barred, </s> is not the first token, at the
            limit of length only </s> can follow, and no probability is below
            1e-9
  tokens    ids of texts

FSMT cannot generate with transformers 5.17: its decoder expects all tokens so
far, to know the position of the last one, but generate passes the last one
only, so that all have the position of the first. Here it generates with
prepare_inputs_for_generation as transformers 4 had it; "generate_off" is that
of version 5.
"""
import hashlib
import json
import math
import os
import random
import shutil
import sys
import time
import traceback
import warnings
from types import MethodType, ModuleType

sys.dont_write_bytecode = True

SEARCHES = [(1, 1.0, True), (4, 1.0, True), (4, 0.6, True), (4, 0.0, True),
            (4, 1.0, False)]    # beam, length penalty, early_stopping
MAX_LEN = (1.0, 6)              # per token of the source, and more
LENGTHS = (1, 2, 7, 22)         # of made-up targets
LONG = (90, 60)                 # of a long source and its target
BEST = 3
FLOOR = 1e-9                    # added to each probability in search
NAMES = ["hf-marian-shared", "hf-marian-small", "hf-marian-bin",
         "hf-marian-separate", "hf-marian-untied", "hf-marian-multi",
         "hf-marian-pad", "hf-marian-ends", "m2m100", "m2m100-ends",
         "small100", "nllb200", "fsmt-stored", "fsmt-joint", "fsmt-separate",
         "fsmt-moses", "fsmt-ends"]
# Those whose tokenizers are asked for more texts than those of the case.
TOKENIZERS = ["hf-marian-shared", "hf-marian-separate", "hf-marian-multi",
              "m2m100", "nllb200", "fsmt-joint", "fsmt-separate"]
# Copies with other settings; None: without the setting, so that the default
# of the code counts.
VARIANTS = {
    "hf-marian-defaults": ("hf-marian-small", dict.fromkeys([
        "activation_function", "scale_embedding", "tie_word_embeddings",
        "share_encoder_decoder_embeddings", "decoder_vocab_size",
        "eos_token_id", "forced_eos_token_id", "max_position_embeddings",
        "num_beams", "max_length", "static_position_embeddings"])),
    "hf-marian-start": ("hf-marian-shared", {"decoder_start_token_id": 0}),
    "m2m100-defaults": ("m2m100", dict.fromkeys([
        "activation_function", "scale_embedding", "bos_token_id",
        "pad_token_id", "eos_token_id", "decoder_start_token_id",
        "max_position_embeddings", "early_stopping", "num_beams",
        "max_length"])),
    "fsmt-defaults": ("fsmt-separate", dict.fromkeys([
        "activation_function", "scale_embedding", "bos_token_id",
        "pad_token_id", "eos_token_id", "decoder_start_token_id",
        "max_position_embeddings", "early_stopping", "num_beams",
        "max_length", "length_penalty", "tie_word_embeddings"])),
}
CLASSES = {"marian": "MarianMTModel",
           "m2m_100": "M2M100ForConditionalGeneration",
           "fsmt": "FSMTForConditionalGeneration"}
# Texts for the tokenizers.
SPM_TEXTS = [
    "  Das  Haus ", "Das Haus\u00a0ist\u3000gut", "№ ½ ﬁ Ａ１ ㌢",
    "q xyz ☃ 日本 x", "Cafe\u0301 Ö\u0308", "Das\u200bHaus", "▁Das▁Haus",
    "a_b-c.d,e;f:g!h?i", "\u00e9\ufeff\u00ad", "DER TISCH", "12345 3,50 €",
    "☃☃", "der\u0085die", "https://x.de/?a=b&c"]
# Texts in which skmt deliberately sees no tokens.
TOKEN_TEXTS = ["Das </s> Haus", "<unk>", "<pad> Ja.", ">>deu<< Ja.",
               "__de__ Ja.", "deu_Latn Ja."]
WORDS = ["", "q", "haus haus", "xyz stein", "rotwein", "hausundhund"]


# ---- prepare -----------------------------------------------------------------

def digest_of(folder):
    """Of all that counts in the files of a model. A SentencePiece model also
    has a path in it, so only its pieces are taken."""
    from foreign_oracle import spm_pieces
    from foreign_read import Files, read_hf_weights
    h = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            data = f.read()
        if name.endswith((".spm", "bpe.model")):
            data = "\n".join(spm_pieces(data)).encode()
        elif not name.endswith((".json", ".txt")):
            continue
        h.update(name.encode() + b"\0" + data + b"\0")
    arrays = read_hf_weights(Files(folder))
    for name in sorted(arrays):
        h.update(name.encode() + b"\0" + arrays[name].tobytes())
    return h.hexdigest()[:16]


def change_settings(folder, changes):
    for name in ("config.json", "generation_config.json"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            settings = json.load(f)
        for key, value in changes.items():
            if value is None:
                settings.pop(key, None)
            elif key in settings:
                settings[key] = value
        with open(path, "w", encoding="utf-8") as f:
            json.dump(settings, f)


def make_models(folder, names=None):
    """The cases of gen_foreign with the variants, those of `names` only."""
    import gen_foreign
    bases = {n: n for n in NAMES} | {n: v[0] for n, v in VARIANTS.items()}
    wanted = list(names or bases)
    made = {c["name"]: c for c in gen_foreign.generate(
        folder, list(dict.fromkeys(bases[n] for n in wanted)))}
    cases = []
    for name in wanted:
        case = made[bases[name]] | {"name": name, "path": name}
        if name in VARIANTS:
            path = os.path.join(folder, name)
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(os.path.join(folder, bases[name]), path)
            change_settings(path, VARIANTS[name][1])
        cases.append(case)
    return cases


def limit_of(source):
    return int(MAX_LEN[0] * len(source)) + MAX_LEN[1]


def pairs_of(case):
    """The sources with made-up targets, and a long pair."""
    def ids(n, seed):
        rng = random.Random(seed)
        able = [i for i in range(case["vocabulary"])
                if i not in case["barred"] + case["never"] + [case["eos"]]]
        return [rng.choice(able) for _ in range(n)]
    sources = case["sources"]
    pairs = [(s, ids(n, i)) for i, (s, n) in enumerate(zip(sources, LENGTHS))]
    inside = [i for s in sources for i in s[:-1]]
    rng = random.Random(case["vocabulary"])
    source = sources[0][:1] + [rng.choice(inside) for _ in range(LONG[0])] + \
        sources[0][-1:]
    return pairs + [(source, ids(LONG[1], 99))]


def prepare(folder):
    import check_foreign
    cases = []
    for case in make_models(folder):
        c = check_foreign.Comparison(case, folder)
        c.convert()
        c.forced()
        model = c.model
        cases.append(case | {
            "digest": digest_of(c.path), "barred": sorted(c.barred),
            "never": sorted(c.never - {model.eos}), "eos": model.eos,
            "start": model.start, "forced": model.forced,
            "pad": c.ids["pad"],
            "vocabulary": model.vocabulary, "sources": c.sources})
        os.remove(c.file)
    with open(os.path.join(folder, "hf_cases.json"), "w",
              encoding="utf-8") as f:
        json.dump(cases, f, ensure_ascii=False)


# ---- run: models -------------------------------------------------------------

def load_model(path):
    """The model, and what is to be said about how it was loaded."""
    import torch
    import transformers
    with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
        kind = json.load(f)["model_type"]
    notes = {"class": CLASSES[kind]}
    cls = getattr(transformers, CLASSES[kind])
    options = {} if kind == "fsmt" else {"attn_implementation": "eager"}
    try:
        model, info = cls.from_pretrained(
            path, dtype=torch.float32, output_loading_info=True, **options)
        missing, left = info["missing_keys"], info["unexpected_keys"]
    except Exception as e:
        notes["not_loaded"] = repr(e)[:200]
        model = cls(cls.config_class.from_pretrained(path))
        missing, left = load_arrays(model, path)
    if left:
        notes["left"] = sorted(left)
    if missing:
        notes["missing"] = sorted(missing)
        notes["set"] = set_tables(model, missing)
    return model.float().eval(), notes


def load_arrays(model, path):
    """Read the weights with our own reader where PyTorch does not."""
    import numpy as np
    import torch
    from foreign_read import Files, read_hf_weights
    arrays = {n: torch.from_numpy(np.array(a, np.float32))
              for n, a in read_hf_weights(Files(path)).items()}
    done = model.load_state_dict(arrays, strict=False)
    model.tie_weights()
    return done.missing_keys, done.unexpected_keys


def set_tables(model, missing):
    """Tables that a file has under a shared name only."""
    import torch
    done = []
    for name in sorted(missing):
        if name.endswith("embed_tokens.weight") and \
                hasattr(model.model, "shared"):
            with torch.no_grad():
                model.get_parameter(name).copy_(model.model.shared.weight)
            done.append(name)
    return done


def log_probabilities(model, case, source, target):
    """[n, v] after each input: float64, over the tokens that are not barred."""
    import torch
    inputs = [case["start"]] + case["forced"] + target
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([source]),
                       attention_mask=torch.ones(1, len(source),
                                                 dtype=torch.long),
                       decoder_input_ids=torch.tensor([inputs]),
                       use_cache=False).logits[0].double()
    logits[:, case["barred"]] = -torch.inf
    return torch.log_softmax(logits, -1)


def forced_rows(model, case, source, target):
    logp = log_probabilities(model, case, source, target)
    skip, rows = len(case["forced"]), []
    tokens = target + [case["eos"]]
    for i, token in enumerate(tokens):
        if i % 3 and len(target) > 10 or i % 15 and len(target) > 30:
            continue
        best = logp[skip + i].topk(BEST)
        rows.append([i, token, number(logp[skip + i, token]),
                     best.indices.tolist(),
                     [number(x) for x in best.values]])
    return rows


def number(x):
    return round(float(x), 5)


# ---- run: search -------------------------------------------------------------

def rules_of(case, limit):
    """The rules of skmt for what may come out, as a LogitsProcessor."""
    import torch
    from transformers import LogitsProcessor, LogitsProcessorList

    class Rules(LogitsProcessor):
        def __call__(self, input_ids, scores):
            step = input_ids.shape[1] - 1 - len(case["forced"])
            if step < 0:
                return scores
            scores = scores.clone()
            scores[:, case["barred"]] = -torch.inf
            scores = torch.log_softmax(scores, -1)
            scores = torch.log((scores.exp() + FLOOR).clamp(max=1))
            scores[:, case["barred"]] = -torch.inf
            end = scores[:, case["eos"]].clone()
            if step == limit - 1:
                scores[:] = -torch.inf
                scores[:, case["eos"]] = end
                return scores
            scores[:, case["never"]] = -torch.inf
            if step == 0:
                scores[:, case["eos"]] = -torch.inf
            return scores
    return LogitsProcessorList([Rules()])


def prepare_inputs_of_fsmt(self, decoder_input_ids, past_key_values=None,
                           attention_mask=None, use_cache=None,
                           encoder_outputs=None, **kwargs):
    """As in transformers 4: all tokens so far."""
    return {"input_ids": None, "encoder_outputs": encoder_outputs,
            "past_key_values": past_key_values,
            "decoder_input_ids": decoder_input_ids,
            "attention_mask": attention_mask, "use_cache": use_cache}


def special_ids(case):
    return {"decoder_start_token_id": case["start"],
            "eos_token_id": case["eos"], "pad_token_id": case["pad"]}


def call_generate(model, case, source, **options):
    import torch
    if case["forced"]:
        options["forced_bos_token_id"] = case["forced"][0]
    return model.generate(
        input_ids=torch.tensor([source]),
        attention_mask=torch.ones(1, len(source), dtype=torch.long),
        do_sample=False, return_dict_in_generate=True, output_scores=True,
        **options)


def generate(model, case, source, **options):
    out = call_generate(model, case, source, **options)
    ids = out.sequences[0].tolist()
    first = 1 + len(case["forced"])
    assert ids[:first] == [case["start"]] + case["forced"], ids
    score = getattr(out, "sequences_scores", None)
    return cut(ids[first:], case["eos"]), \
        None if score is None else float(score[0])


def generate_off(model, case):
    """The largest difference of log-probabilities between greedy search and
    teacher forcing on its output."""
    import torch
    source, skip = case["sources"][-1], len(case["forced"])
    out = call_generate(model, case, source, num_beams=1, min_new_tokens=12,
                        max_new_tokens=12, output_logits=True)
    ids = out.sequences[0].tolist()[1 + skip:]
    want = log_probabilities(model, case, source, ids[:-1])
    got = torch.stack(out.logits)[:, 0].double()
    got[:, case["barred"]] = -torch.inf
    able = want[0] > -torch.inf
    got = torch.log_softmax(got, -1)
    return float((got - want)[skip:, able].abs().max())


def cut(ids, eos):
    return ids[:ids.index(eos) + 1] if eos in ids else ids


def search_line(model, case, beam, lenpen, early, decode):
    outputs = []
    for source in case["sources"]:
        limit = limit_of(source)
        more = {} if beam == 1 else {"length_penalty": lenpen,
                                     "early_stopping": early}
        ids, score = generate(
            model, case, source, num_beams=beam,
            max_new_tokens=limit + len(case["forced"]),
            logits_processor=rules_of(case, limit), **more)
        logp = log_probabilities(model, case, source, ids[:-1])
        total = sum(min(0, math.log(math.exp(
            logp[len(case["forced"]) + i, t]) + FLOOR))
                    for i, t in enumerate(ids))
        n = len(ids) + len(case["forced"])
        if score is None:
            score = total / n ** lenpen
        assert abs(score - total / n ** lenpen) < 1e-3, (score, total, n)
        outputs.append({"ids": ids, "logprob": number(total),
                        "score": number(score)} | decode(ids))
    return {"kind": "search", "beam": beam, "lenpen": lenpen,
            "early_stopping": early, "outputs": outputs}


def search_lines(model, case, decode):
    from transformers import GenerationConfig
    model.generation_config = GenerationConfig(**special_ids(case))
    for beam, lenpen, early in SEARCHES:
        if case["name"] not in VARIANTS or (beam > 1 and lenpen == 1 and early):
            yield search_line(model, case, beam, lenpen, early, decode)




# ---- run: tokenizers ---------------------------------------------------------

def stand_in_for_sacremoses():
    """FSMTTokenizer needs sacremoses, which was not installed. This is enough
    for words of letters, which the rules of Moses leave alone."""
    class Nothing:
        def __init__(self, lang=None):
            pass

        def normalize(self, text):
            return text

        def tokenize(self, text, **options):
            return text.split()

        def detokenize(self, words):
            return " ".join(words)
    module = ModuleType("sacremoses")
    module.MosesPunctNormalizer = module.MosesTokenizer = Nothing
    module.MosesDetokenizer = Nothing
    sys.modules["sacremoses"] = module


def load_tokenizer(path, case):
    """The tokenizer, its texts, and what is to be said."""
    import transformers
    options, notes = {}, {}
    if case["family"] == "hf-marian":
        name, texts = "MarianTokenizer", SPM_TEXTS + TOKEN_TEXTS
    elif case["family"] == "fsmt":
        name, texts = "FSMTTokenizer", WORDS
        if case["name"] == "fsmt-moses":
            return None, [], {"tokenizer": "none: needs sacremoses"}
        stand_in_for_sacremoses()
    else:
        texts = SPM_TEXTS + TOKEN_TEXTS
        name = "NllbTokenizer" if case["name"] == "nllb200" \
            else "M2M100Tokenizer"
        if "from" in case:
            options = {"src_lang": case["from"], "tgt_lang": case["to"]}
    try:
        tokenizer = getattr(transformers, name).from_pretrained(path,
                                                                **options)
    except Exception as e:
        return None, [], {"tokenizer": f"none: {name}: {e!r}"[:300]}
    more = texts if case["name"] in TOKENIZERS else []
    return tokenizer, case["texts"] + more, notes | {"tokenizer": name}


def token_ids(tokenizer, case, text):
    if case["name"] == "hf-marian-multi":
        text = f">>{case['to']}<< {text}"
    ids = list(tokenizer(text)["input_ids"])
    # transformers has no SMALL100Tokenizer; only the language is another. Its
    # NllbTokenizer has other ids for languages unless there is a tokenizer.json
    # (91 is <mask>, 92 the first language, where the published models have 91
    # for the language).
    return case["sources"][0][:1] + ids[1:] \
        if case["name"] in ("small100", "nllb200") else ids


# ---- run ---------------------------------------------------------------------

def lines_of(case, folder):
    path = os.path.join(folder, case["path"])
    assert digest_of(path) == case["digest"], "other files than in prepare"
    model, notes = load_model(path)
    tokenizer, texts, more = load_tokenizer(path, case)

    def decode(ids):
        if tokenizer is None:
            return {}
        return {"text": tokenizer.decode(ids, skip_special_tokens=True)}
    keys = ["digest", "barred", "never", "eos", "start", "forced"]
    model.generation_config.update(**special_ids(case))
    notes["generate_off"] = float(f"{generate_off(model, case):.1g}")
    if case["family"] == "fsmt":
        model.prepare_inputs_for_generation = MethodType(
            prepare_inputs_of_fsmt, model)
    yield {"kind": "model"} | notes | more | {k: case[k] for k in keys}
    for source, target in pairs_of(case):
        yield {"kind": "forced", "source": source, "target": target,
               "rows": forced_rows(model, case, source, target)}
    yield from search_lines(model, case, decode)
    for text in texts:
        yield {"kind": "tokens", "text": text,
               "ids": token_ids(tokenizer, case, text)}


def run(folder, out):
    import platform

    import torch
    import transformers
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(4)
    with open(os.path.join(folder, "hf_cases.json"), encoding="utf-8") as f:
        cases = json.load(f)
    versions = {"transformers": transformers.__version__,
                "torch": torch.__version__,
                "python": platform.python_version()}
    for name in ("tokenizers", "sentencepiece"):
        versions[name] = __import__(name).__version__
    failed = 0
    with open(out, "w", encoding="utf-8") as f:
        print(json.dumps(versions), file=f)
        for case in cases:
            start = time.time()
            try:
                for line in lines_of(case, folder):
                    print(json.dumps({"model": case["name"]} | line,
                                     ensure_ascii=False,
                                     separators=(",", ":")),
                          file=f, flush=True)
            except Exception:
                failed += 1
                traceback.print_exc()
            print(f"{case['name']}: {time.time() - start:.1f} s", flush=True)
    sys.exit(1 if failed else 0)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "prepare":
        prepare(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main()
