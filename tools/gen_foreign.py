#!/usr/bin/env python3
"""Make tiny random models in the file formats of other projects.

    /usr/bin/python3 tools/gen_foreign.py OUT [NAME ...]

Writes one folder or archive per model to the folder OUT, and OUT/models.json,
which lists them:

    name       of the case
    path       of the model, relative to OUT
    family     which rules foreign_oracle.py applies to it
    texts      sentences to translate
    from, to   languages of a multilingual model
    options    of `skmt convert`, which the files alone do not tell

With names, only these models are made. The same version of this script gives
the same models. It needs Debian's python3-numpy and sentencepiece.
"""
import collections
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import numpy as np

from foreign_families import (marian_arrays, random_net, write_ct2,
                              write_fairseq, write_fsmt, write_hf_marian,
                              write_m2m, write_marian_npz, write_own)
from foreign_languages import M2M100, NLLB200
from foreign_write import (marian_bin_bytes, npz_bytes, write_bytes,
                           write_json, write_text, yaml_vocabulary, zip_folder)

GERMAN = """
Das Gerät ist warm.
Öffnen Sie die Klappe, bis das Licht grün ist.
Schließen Sie die Tür und warten Sie eine Minute.
Der Schalter für das Licht ist neben der Tür.
Ist das Wasser kalt, so warten Sie.
Nehmen Sie den Filter aus dem Gerät und reinigen Sie ihn.
Die Pumpe läuft nicht an, wenn der Tank leer ist.
Ja, das ist richtig.
Wer hat die Schrauben der Klappe gelöst?
In der Küche steht ein alter Tisch aus Holz.
Wir haben das Haus im Mai gekauft.
Am Morgen fährt der Zug um acht Uhr.
Die Brücke über den Fluss wird neu gebaut.
Jeder Vogel singt anders, aber alle singen früh.
""".strip()
ENGLISH = """
The unit is warm.
Open the hatch until the light is green.
Close the door and wait a minute.
The switch for the light is beside the door.
If the water is cold, then wait.
Take the filter out of the unit and clean it.
The pump does not start when the tank is empty.
Yes, that is right.
Who has loosened the screws of the hatch?
In the kitchen there is an old table made of wood.
We bought the house in May.
In the morning the train leaves at eight.
The bridge across the river is being rebuilt.
Every bird sings another song, but all of them sing early.
""".strip()
TEXTS = ["Ja.", "Das Gerät ist kalt.", "der",
         "Schließen Sie die Klappe \u2603, bis es grün ist!"]
# Letters only, so that the words are the tokens of Moses.
WORDS_DE = """haus hund der die das ist nass und stein insel regen rast in ins
hand wand wind wo wer was gut so nun rot tun rund sehr gar los lang""".split()
WORDS_EN = """house hound the that this is wet and stone island rain rest in on
hand wall wind where who what good so now red do round very no long log""".split()
# What the rules of Moses look at. The second list is normalized by FSMT.
MOSES_TEXTS = ["Das Gerät (links) kostet 3,50 €, sagt Dr. Müller.",
               "Ist's \"warm\"? Ja & nein: <b>a-b</b> | 1.234 [x]",
               "der E-Mail-Zug fährt am 3. Mai um 8.30 Uhr usw. ab ..."]
NORMALIZED_TEXTS = MOSES_TEXTS + ["„Ja“, sagt er – ‚nein‘ … 5\u00a0% （links）"]
WORD_TEXTS = ["haus", "der hund ist nass", "q wo ist das xyz haus",
              "regen und wind in der stadt auf der insel so lang wie rot"]

# Where in WORDS_DE, and how many.
MORE_WORDS = [(0, 3), (4, 6), (9, 2), (12, 8), (20, 5), (25, 7), (3, 4), (15, 1)]


# ---- tokenizers --------------------------------------------------------------

class Tokenizers:
    """SentencePiece models, trained when they are asked for."""

    def __init__(self, folder):
        self.folder = folder

    def model(self, name):
        path = os.path.join(self.folder, name + ".model")
        if not os.path.exists(path):
            self.train(name)
        with open(path, "rb") as f:
            return f.read()

    def train(self, name):
        language, *options = name.split("-")
        os.makedirs(self.folder, exist_ok=True)
        text = {"de": GERMAN, "en": ENGLISH,
                "deen": GERMAN + "\n" + ENGLISH}[language]
        prefix = os.path.join(self.folder, name)
        write_text(prefix + ".txt", text + "\n")
        command = ["spm_train", "--input=" + prefix + ".txt",
                   "--model_prefix=" + prefix, "--minloglevel=2",
                   "--hard_vocab_limit=false", "--num_threads=1",
                   "--vocab_size=" + ("90" if language == "deen" else "66")]
        if "bpe" in options:
            command.append("--model_type=bpe")
        if "bytes" in options:
            command[-1] = "--vocab_size=330"
            command.append("--byte_fallback")
        subprocess.run(command, check=True, capture_output=True)

    def pieces(self, name):
        """All pieces in the order of their ids."""
        self.model(name)
        path = os.path.join(self.folder, name + ".vocab")
        with open(path, encoding="utf-8") as f:
            return [line.rstrip("\n").split("\t")[0] for line in f]


SPECIAL = {"<unk>", "<s>", "</s>"}


def joint_pieces(tok, *names):
    """The pieces of several models, each once, without special ones."""
    seen = collections.OrderedDict()
    for name in names:
        for piece in tok.pieces(name):
            if piece not in SPECIAL:
                seen[piece] = True
    return list(seen)


def learn_bpe(words, n):
    """Merges of the most frequent pairs, as (left, right), and all symbols."""
    counts = collections.Counter(words)
    split = {w: list(w[:-1]) + [w[-1] + "</w>"] for w in counts}
    merges, symbols = [], {s for w in split.values() for s in w}
    for word in counts:         # each letter may stand anywhere in a word
        symbols |= set(word) | {c + "</w>" for c in word}
    for _ in range(n):
        pairs = collections.Counter()
        for w, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[w]
        best = max(sorted(pairs), key=lambda p: pairs[p])
        merges.append(best)
        symbols.add("".join(best))
        for w, parts in split.items():
            i, done = 0, []
            while i < len(parts):
                if tuple(parts[i:i + 2]) == best:
                    done.append("".join(best))
                    i += 2
                else:
                    done.append(parts[i])
                    i += 1
            split[w] = done
    return merges, sorted(symbols)


def at_marks(symbols):
    """Symbols with </w> at the ends of words as symbols with @@ inside."""
    return [s[:-4] if s.endswith("</w>") else s + "@@" for s in symbols]


def codes_text(merges, form):
    if form == "fastbpe":
        return "".join(f"{a} {b} {1000 - i}\n"
                       for i, (a, b) in enumerate(merges))
    head = "#version: 0.2\n" if form == "subword-nmt" else ""
    return head + "".join(f"{a} {b}\n" for a, b in merges)


# ---- our own -----------------------------------------------------------------

def own(seed, positions, **options):
    def make(tok, out, case):
        net = random_net(seed, v_src=len(tok.pieces("deen-unigram")), eos=2,
                         **options)
        write_own(out, net, positions, 0 if "learned" in options else 1)
        write_bytes(os.path.join(out, "spm.model"), tok.model("deen-unigram"))
    return make


# ---- Marian ------------------------------------------------------------------

def marian_folder(tok, folder, net, source, target, vocabulary, lists=None,
                  decoder=None, settings=None, name="opus.npz"):
    """vocabulary: the pieces of a joint opus.vocab.yml. lists: those of
    .src.vocab and .trg.vocab in place of it."""
    write_marian_npz(os.path.join(folder, name), net, settings)
    write_bytes(os.path.join(folder, "source.spm"), tok.model(source))
    write_bytes(os.path.join(folder, "target.spm"), tok.model(target))
    if lists:
        vocabs = ["opus.src.vocab", "opus.trg.vocab"]
        for path, pieces in zip(vocabs, lists):
            write_text(os.path.join(folder, path), "\n".join(pieces) + "\n")
    else:
        vocabs = ["opus.vocab.yml"] * 2
        write_text(os.path.join(folder, vocabs[0]),
                   yaml_vocabulary(vocabulary))
    write_text(os.path.join(folder, "decoder.yml"), "\n".join([
        "relative-paths: true", "models:", "  - " + name, "vocabs:",
        *("  - " + v for v in vocabs), "beam-size: 4", "normalize: 1",
        "word-penalty: 0", "mini-batch: 1", "maxi-batch: 1",
        "maxi-batch-sort: src", *(decoder or [])]) + "\n")
    write_text(os.path.join(folder, "LICENSE"),
               "Attribution 4.0 International\n\nCreative Commons Attribution "
               "4.0 International Public License\n")
    write_text(os.path.join(folder, "README.md"), "# a made-up model\n")
    write_text(os.path.join(folder, "preprocess.sh"), "#!/bin/sh\n")


def sorted_vocabulary(tok, *names):
    """As `sort -u` makes it: </s> and <unk> are somewhere."""
    return sorted(joint_pieces(tok, *names) + ["</s>", "<unk>"])


def trained_vocabulary(tok, *names):
    """As Marian makes it: </s> and <unk> come first."""
    return ["</s>", "<unk>"] + joint_pieces(tok, *names)


def marian_all(tok, out, case):
    """One table; sorted vocabulary, which lacks two pieces of source.spm."""
    lost = [p for p in tok.pieces("de-unigram") if
            p not in tok.pieces("en-unigram") and len(p) == 2][:2]
    v = [p for p in sorted_vocabulary(tok, "de-unigram", "en-unigram")
         if p not in lost]
    net = random_net(1, v_src=len(v), act="swish", bias=True,
                     eos=v.index("</s>"))
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)


def marian_small(tok, out, case):
    """Epsilon shows."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(9, v_src=len(v), bias=True, eos=0, small=True)
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)


def marian_src(tok, out, case):
    """One table for source and target, another for the output; a zip, whose
    files are in a subfolder."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(2, v_src=len(v), tied=False, bias=True, eos=0, heads=4)
    marian_folder(tok, out + ".d", net, "de-unigram", "en-unigram", v)
    zip_folder(out + ".d", out, "opus-2020-01-01/", deflate=True)
    shutil.rmtree(out + ".d")


def marian_none(tok, out, case):
    """Three tables, and a vocabulary for each side; a zip."""
    lists = [trained_vocabulary(tok, "de-unigram"),
             trained_vocabulary(tok, "en-bytes")]
    net = random_net(3, v_src=len(lists[0]), v_tgt=len(lists[1]), bias=True,
                     one_table=False, tied=False, eos=0, act="swish", enc=1)
    marian_folder(tok, out + ".d", net, "de-unigram", "en-bytes", None, lists,
                  decoder=["allow-unk: false"])
    zip_folder(out + ".d", out, descriptors=True)
    shutil.rmtree(out + ".d")


def marian_tgt(tok, out, case):
    """The output is the target's table, without a bias; two vocabularies."""
    lists = [trained_vocabulary(tok, "de-unigram"),
             trained_vocabulary(tok, "en-unigram")]
    net = random_net(4, v_src=len(lists[0]), v_tgt=len(lists[1]),
                     one_table=False, eos=0, ffn=32, dec_ffn=32)
    marian_folder(tok, out, net, "de-unigram", "en-unigram", None, lists,
                  name="opus.npz.best-perplexity.npz")


def marian_pre(tok, out, case):
    """Norms before the blocks; one BPE model of SentencePiece."""
    v = trained_vocabulary(tok, "deen-bpe")
    net = random_net(5, v_src=len(v), pre=True, bias=True, eos=0, heads=4,
                     enc=1)
    marian_folder(tok, out, net, "deen-bpe", "deen-bpe", v)


def marian_layers(tok, out, case):
    """Decoder layers that share tensors; allow-unk."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(6, v_src=len(v), bias=True, eos=0, dec=4,
                     tied_layers=[1, 1, 3, 3])
    for name in list(net.t):
        if name.startswith(("decoder.layers.1.", "decoder.layers.3.")):
            twin = name.replace("layers.1.", "layers.0.") \
                       .replace("layers.3.", "layers.2.")
            net.t[name] = net.t[twin]
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v,
                  decoder=["allow-unk: true"])


def marian_multi(tok, out, case):
    """Several target languages, chosen by a token before the source."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    v[5:5] = [">>fra<<", ">>deu<<", ">>cmn_Hans<<"]
    net = random_net(7, v_src=len(v), bias=True, eos=0, act="swish")
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)


def marian_multi_separate(tok, out, case):
    """The tokens of languages are in the vocabulary of the source only."""
    lists = [trained_vocabulary(tok, "de-unigram"),
             trained_vocabulary(tok, "en-unigram")]
    lists[0][4:4] = [">>fra<<", ">>deu<<"]
    net = random_net(10, v_src=len(lists[0]), v_tgt=len(lists[1]), bias=True,
                     one_table=False, eos=0, act="swish")
    marian_folder(tok, out, net, "de-unigram", "en-unigram", None, lists)


PREPROCESS = r"""#!/bin/bash
sed -e 's/，/,/g' \
    -e 's/。 */. /g' \
    -e 's/”/"/g' \
    -e 's/“/"/g' \
    -e "s/’/\'/g" |
perl -C -pe  's/(?!\n)\p{C}/ /g;' |
sed 's/  */ /g;s/^ *//g;s/ *$//g' |
spm_encode --model $2
"""
README = """# opus-2021-02-18.zip

* dataset: opus
* model: transformer-align
* source language(s): deu
* target language(s): eng
* download: [opus-2021-02-18.zip](https://example.org/deu-eng/opus.zip)
"""


def marian_clean(tok, out, case):
    """A package whose script cleans texts; the README names the languages."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    v += ['"', "'"]
    net = random_net(13, v_src=len(v), bias=True, eos=0)
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)
    write_text(os.path.join(out, "preprocess.sh"), PREPROCESS)
    write_text(os.path.join(out, "README.md"), README)


def marian_old(tok, out, case):
    """A list of Nematus, a transposed output, paths of another machine, no
    bias; half precision."""
    v = ["eos", "UNK"] + joint_pieces(tok, "de-unigram", "en-unigram")
    net = random_net(14, v_src=len(v), tied=False, eos=0)
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)
    arrays = marian_arrays(net)
    w = arrays.pop("decoder_ff_logit_out_Wt")
    arrays["decoder_ff_logit_out_W"] = np.ascontiguousarray(w.T)
    arrays = {n: a.astype("f2") if a.dtype.kind == "f" else a
              for n, a in arrays.items()}
    write_bytes(os.path.join(out, "opus.npz"), npz_bytes(arrays, deflate=True))
    write_text(os.path.join(out, "decoder.yml"), "\n".join([
        "models:", "  - /scratch/models/opus.npz", "vocabs:",
        *["  - /scratch/models/opus.vocab.yml"] * 2, "beam-size: 12",
        "normalize: 0.6", "word-penalty: 0.2"]) + "\n")


def marian_rows(tok, out, case):
    """The tables have rows that no piece has."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(15, v_src=len(v) + 3, bias=True, eos=0, heads=4)
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)


def marian_spm(tok, out, case):
    """As Marian trains models itself: the vocabularies are SentencePiece
    models, with bytes."""
    net = random_net(16, v_src=len(tok.pieces("de-unigram")),
                     v_tgt=len(tok.pieces("en-bytes")), one_table=False,
                     bias=True, eos=2)
    marian_folder(tok, out, net, "de-unigram", "en-bytes", ["x"])
    for name in ("opus.vocab.yml", "LICENSE", "README.md", "preprocess.sh"):
        os.remove(os.path.join(out, name))
    for old, new in (("source", "vocab.de"), ("target", "vocab.en")):
        os.rename(os.path.join(out, old + ".spm"),
                  os.path.join(out, new + ".spm"))
    write_text(os.path.join(out, "decoder.yml"),
               "relative-paths: true\nmodels:\n  - opus.npz\nvocabs:\n"
               "  - vocab.de.spm\n  - ./vocab.en.spm\nbeam-size: 4\n"
               "normalize: 1\n")


def marian_bin(intgemm, seed):
    """Weights as marian-conv writes them."""
    def make(tok, out, case):
        v = trained_vocabulary(tok, "de-unigram", "en-unigram")
        net = random_net(seed, v_src=len(v), bias=True, eos=0, act="swish",
                         tied=bool(intgemm))
        marian_folder(tok, out, net, "de-unigram", "en-unigram", v,
                      name="model.bin")
        arrays = marian_arrays(net)
        if intgemm:
            arrays["encoder_l1_self_Wq_QuantMultA"] = np.ones((1, 1), "f4")
        write_bytes(os.path.join(out, "model.bin"),
                    marian_bin_bytes(arrays, intgemm))
    return make


def marian_bpe(tok, out, case):
    """Moses tokenization and subword-nmt codes; letters only."""
    pieces, net = [], None
    os.makedirs(out, exist_ok=True)
    for path, words in (("source.bpe", WORDS_DE), ("target.bpe", WORDS_EN)):
        merges, symbols = learn_bpe(words, 18)
        write_text(os.path.join(out, path), codes_text(merges, "subword-nmt"))
        pieces += at_marks(symbols)
    v = ["</s>", "<unk>"] + sorted(set(pieces))
    net = random_net(8, v_src=len(v), bias=True, eos=0, act="swish")
    marian_folder(tok, out, net, "de-unigram", "en-unigram", v)
    for name in ("source.spm", "target.spm"):
        os.remove(os.path.join(out, name))


# ---- Marian on Hugging Face ----------------------------------------------------

def hf_marian_text(tok, folder, source, target, vocabulary, tgt=None,
                   languages=("de", "en")):
    write_bytes(os.path.join(folder, "source.spm"), tok.model(source))
    write_bytes(os.path.join(folder, "target.spm"), tok.model(target))
    write_json(os.path.join(folder, "vocab.json"),
               {p: i for i, p in enumerate(vocabulary)})
    if tgt:
        write_json(os.path.join(folder, "target_vocab.json"),
                   {p: i for i, p in enumerate(tgt)})
    write_json(os.path.join(folder, "tokenizer_config.json"), {
        "source_lang": languages[0], "target_lang": languages[1],
        "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>",
        "model_max_length": 512, "sp_model_kwargs": {},
        "separate_vocabs": bool(tgt), "tokenizer_class": "MarianTokenizer"})
    write_json(os.path.join(folder, "generation_config.json"), {
        "bad_words_ids": [[len(vocabulary) - 1]], "bos_token_id": 0,
        "decoder_start_token_id": len(vocabulary) - 1, "eos_token_id": 0,
        "forced_eos_token_id": 0, "max_length": 512, "num_beams": 4,
        "pad_token_id": len(vocabulary) - 1, "renormalize_logits": True})


def hf_marian_vocabulary(tok, *names):
    return trained_vocabulary(tok, *names) + ["<pad>"]


def hf_marian_shared(tok, out, case):
    """One table, f32, safetensors, no lm_head."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(11, v_src=len(v), act="swish", bias=True, eos=0,
                     zero_row=len(v) - 1)
    write_hf_marian(out, net)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_small(tok, out, case):
    """Epsilon shows."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(16, v_src=len(v), bias=True, eos=0, small=True,
                     zero_row=len(v) - 1)
    write_hf_marian(out, net)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_bin(tok, out, case):
    """One table, f16, a zip of PyTorch, all tied tables, stored positions."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(12, v_src=len(v), act="swish", bias=True, eos=0,
                     zero_row=len(v) - 1)
    write_hf_marian(out, net, "bin", "float16", lm_head=True, positions=True)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_separate(tok, out, case):
    """A vocabulary for each side, the older form of PyTorch."""
    v = [hf_marian_vocabulary(tok, "de-unigram"),
         hf_marian_vocabulary(tok, "en-unigram")]
    n = max(len(x) for x in v)
    for x in v:         # the same pad id on both sides
        x[-1:] = [f"unused{i}" for i in range(n - len(x))] + ["<pad>"]
    net = random_net(13, v_src=n, one_table=False, act="swish", bias=True,
                     eos=0, zero_row=n - 1)
    write_hf_marian(out, net, "bin-legacy", lm_head=True)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v[0], v[1])


def hf_marian_untied(tok, out, case):
    """lm_head differs from the table, no scale of embeddings, ReLU."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(14, v_src=len(v), tied=False, bias=True, eos=0, heads=4,
                     zero_row=len(v) - 1)
    write_hf_marian(out, net, scale=False, dtype="bfloat16")
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_pad(tok, out, case):
    """The row of <pad>, from which the decoder starts, is not zero."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(18, v_src=len(v), act="swish", bias=True, eos=0)
    write_hf_marian(out, net)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_ends(tok, out, case):
    """Translations end after few or many tokens."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    net = random_net(406, v_src=len(v), act="swish", bias=True, eos=0,
                     zero_row=len(v) - 1, eos_scale=5)
    write_hf_marian(out, net)
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


def hf_marian_multi(tok, out, case):
    """Several target languages, weights in two files."""
    v = hf_marian_vocabulary(tok, "de-unigram", "en-unigram")
    v[9:9] = [">>fra<<", ">>deu<<", ">>cmn_Hans<<"]
    net = random_net(15, v_src=len(v), act="gelu", bias=True, eos=0,
                     zero_row=len(v) - 1)
    write_hf_marian(out, net, "safetensors-split", "float16")
    hf_marian_text(tok, out, "de-unigram", "en-unigram", v)


# ---- CTranslate2 and Argos -------------------------------------------------------

CT2_SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]


def ct2_vocabulary(tok, *names):
    return CT2_SPECIAL + joint_pieces(tok, *names)


def ct2_vocabulary_files(folder, form, shared=None, source=None, target=None):
    for name, pieces in (("shared", shared), ("source", source),
                         ("target", target)):
        if pieces is None:
            continue
        path = os.path.join(folder, f"{name}_vocabulary.{form}")
        if form == "json":
            write_json(path, pieces)
        else:
            write_text(path, "\n".join(pieces) + "\n")


def ct2_config(folder, **extra):
    write_json(os.path.join(folder, "config.json"), {
        "add_source_bos": False, "add_source_eos": False, "bos_token": "<s>",
        "decoder_start_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "layer_norm_epsilon": None} | extra)


def ct2_opennmt(version, kind, form, seed, **options):
    """As OpenNMT-py: norms before the blocks, one tokenizer and table."""
    def make(tok, out, case):
        v = ct2_vocabulary(tok, "deen-unigram")
        net = random_net(seed, v_src=len(v), pre=True,
                         bias=True, eos=3, **options)
        write_ct2(os.path.join(out, "model.bin"), net, version, kind)
        ct2_vocabulary_files(out, form, shared=v)
        if version == 6:
            ct2_config(out)
        write_bytes(os.path.join(out, "sentencepiece.model"),
                    tok.model("deen-unigram"))
    return make


def ct2_marian(version, kind, form, seed, separate, positions="hf-marian"):
    """As converted from Marian: norms after the blocks, zero start."""
    def make(tok, out, case):
        if separate:
            v = [trained_vocabulary(tok, "de-unigram"),
                 trained_vocabulary(tok, "en-unigram")]
            ct2_vocabulary_files(out, form, source=v[0], target=v[1])
        else:
            v = [trained_vocabulary(tok, "de-unigram", "en-unigram")] * 2
            ct2_vocabulary_files(out, form, shared=v[0])
        net = random_net(seed, v_src=len(v[0]),
                         v_tgt=len(v[1]), one_table=not separate, bias=True,
                         act="swish", eos=0)
        write_ct2(os.path.join(out, "model.bin"), net, version, kind,
                  positions=positions, start_zero=True)
        if version == 6:
            ct2_config(out, bos_token="</s>", decoder_start_token="</s>")
        ct2_spm_pair(tok, out)
    return make


def ct2_no_table(tok, out, case):
    """No table of positions, start and end tokens of version 5."""
    v = ct2_vocabulary(tok, "deen-unigram")
    net = random_net(61, v_src=len(v), pre=True, eos=3)

    def text(s):
        return np.frombuffer(s.encode(), np.int8)
    write_ct2(os.path.join(out, "model.bin"), net, 5, positions=None, extra={
        "with_source_bos": np.int8(1), "with_source_eos": np.int8(1),
        "with_target_bos": np.int8(1), "unk_token": text("<unk>"),
        "bos_token": text("<s>"), "eos_token": text("</s>")})
    ct2_vocabulary_files(out, "txt", shared=v)
    write_bytes(os.path.join(out, "sentencepiece.model"),
                tok.model("deen-unigram"))


def ct2_two(folder, net, vocabularies, version=6, kind="float32", form="json",
            **options):
    """Two vocabularies and two tokenizers."""
    write_ct2(os.path.join(folder, "model.bin"), net, version, kind,
              **options)
    ct2_vocabulary_files(folder, form, source=vocabularies[0],
                         target=vocabularies[1])


def ct2_spm_pair(tok, folder):
    for side, name in (("source", "de"), ("target", "en")):
        write_bytes(os.path.join(folder, side + ".spm"),
                    tok.model(name + "-unigram"))


def ct2_learned(tok, out, case):
    """A table of positions that follows no formula; three tables; add_source_eos
    and another epsilon."""
    v = [CT2_SPECIAL + joint_pieces(tok, "de-unigram"),
         CT2_SPECIAL + joint_pieces(tok, "en-unigram")]
    net = random_net(60, v_src=len(v[0]), v_tgt=len(v[1]), one_table=False,
                     tied=False, pre=True, learned=80, eos=3, act="gelu")
    ct2_two(out, net, v, positions="learned")
    ct2_config(out, add_source_eos=True, layer_norm_epsilon=1e-3)
    ct2_spm_pair(tok, out)


def ct2_scale(tok, out, case):
    """A scale of the embeddings that is no flag, layers and projection without
    biases, vocabularies of different sizes."""
    v = [CT2_SPECIAL + joint_pieces(tok, "de-unigram"),
         CT2_SPECIAL + joint_pieces(tok, "en-unigram") + ["more", "pieces"]]
    net = random_net(62, v_src=len(v[0]), v_tgt=len(v[1]), one_table=False,
                     pre=True, eos=3, act="gelu")
    scale = {f"{s}/scale_embeddings": np.float32(3.5)
             for s in ("encoder", "decoder")}
    ct2_two(out, net, v, extra=scale, without=["/bias"])
    ct2_config(out, add_source_bos=True)
    ct2_spm_pair(tok, out)


def ct2_no_scale(tok, out, case):
    """Embeddings as they are, three tables, zero start."""
    v = [trained_vocabulary(tok, "de-unigram"),
         trained_vocabulary(tok, "en-unigram")]
    net = random_net(63, v_src=len(v[0]), v_tgt=len(v[1]), one_table=False,
                     tied=False, bias=True, eos=0, act="swish")
    flags = {f"{s}/scale_embeddings": np.int8(0)
             for s in ("encoder", "decoder")}
    ct2_two(out, net, v, extra=flags, start_zero=True,
            positions="hf-marian", kind="float16")
    ct2_config(out, bos_token="</s>", decoder_start_token="</s>")
    ct2_spm_pair(tok, out)


def ct2_big(tok, out, case):
    """Before revision 3 the number of heads followed from the kind of the
    model."""
    v = ct2_vocabulary(tok, "deen-unigram")
    net = random_net(64, v_src=len(v), pre=True, eos=3, d=32, heads=16)
    write_ct2(os.path.join(out, "model.bin"), net, 2, spec="TransformerBig",
              without=["num_heads"], revision=2)
    ct2_vocabulary_files(out, "txt", shared=v)
    write_bytes(os.path.join(out, "sentencepiece.model"),
                tok.model("deen-unigram"))


def ct2_fairseq(tok, out, case):
    """As converted from fairseq: the decoder begins with </s>."""
    v = ["<s>", "<blank>", "</s>", "<unk>"] + joint_pieces(tok,
                                                           "deen-unigram")
    net = random_net(65, v_src=len(v), eos=2)
    write_ct2(os.path.join(out, "model.bin"), net, 6, "float16",
              positions="fairseq")
    ct2_vocabulary_files(out, "json", shared=v)
    ct2_config(out, decoder_start_token="</s>", add_source_eos=True)
    write_bytes(os.path.join(out, "spm.model"), tok.model("deen-unigram"))


def ct2_opus_multi(tok, out, case):
    """Marian with several target languages."""
    v = trained_vocabulary(tok, "de-unigram", "en-unigram")
    v[5:5] = [">>fra<<", ">>deu<<", ">>cmn_Hans<<"]
    net = random_net(66, v_src=len(v), bias=True, eos=0, act="swish")
    write_ct2(os.path.join(out, "model.bin"), net, 6, "int8",
              positions="hf-marian", start_zero=True)
    ct2_vocabulary_files(out, "json", shared=v)
    ct2_config(out, decoder_start_token="</s>")
    ct2_spm_pair(tok, out)


def ct2_m2m(seed, kind, tokens, dec=2):
    """As converted from M2M-100 and its relatives: the vocabulary has the
    languages, and rows that are not used."""
    def make(tok, out, case):
        v = m2m_vocabulary(tok, "deen-bpe") + tokens + ["madeupword0",
                                                        "madeupword1"]
        net = random_net(seed, v_src=len(v), pre=True, eos=2, dec=dec)
        write_ct2(os.path.join(out, "model.bin"), net, 6, kind,
                  positions="fairseq")
        ct2_vocabulary_files(out, "json", shared=v)
        ct2_config(out, decoder_start_token="</s>")
        write_bytes(os.path.join(out, "sentencepiece.bpe.model"),
                    tok.model("deen-bpe"))
    return make


M2M_TOKENS = [f"__{c}__" for c in M2M100]


def argos(kind, version, form, bpe=False):
    def make(tok, out, case):
        folder = out + ".d"
        if bpe:
            merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
            v = CT2_SPECIAL + at_marks(symbols)
            write_text(os.path.join(folder, "bpe.model"),
                       codes_text(merges, "subword-nmt"))
        else:
            v = ct2_vocabulary(tok, "deen-unigram")
            write_bytes(os.path.join(folder, "sentencepiece.model"),
                        tok.model("deen-unigram"))
        net = random_net(70 + bpe, v_src=len(v), pre=True, bias=True, eos=3)
        write_ct2(os.path.join(folder, "model", "model.bin"), net, version,
                  kind)
        ct2_vocabulary_files(os.path.join(folder, "model"), form, shared=v)
        if version == 6:
            ct2_config(os.path.join(folder, "model"))
        write_json(os.path.join(folder, "metadata.json"), {
            "package_version": "1.9", "argos_version": "1.9.0",
            "from_code": "de", "from_name": "German", "to_code": "en",
            "to_name": "English"})
        write_text(os.path.join(folder, "README.md"), "# German-English\n")
        write_text(os.path.join(folder, "stanza", "resources.json"), "{}\n")
        zip_folder(folder, out, "translate-de_en-1_9/", deflate=bpe)
        shutil.rmtree(folder)
    return make


# ---- M2M-100, NLLB-200, SMaLL-100 --------------------------------------------------

def m2m_vocabulary(tok, name):
    return ["<s>", "<pad>", "</s>", "<unk>"] + sorted(joint_pieces(tok, name))


def m2m(small, seed=80, **options):
    def make(tok, out, case):
        """The list of vocab.json lacks one piece of the tokenizer."""
        v = m2m_vocabulary(tok, "deen-bpe")
        v.remove(v[-3])
        rows = len(v) + len(M2M100) + 8
        net = random_net(seed, v_src=rows, pre=True, eos=2, heads=4,
                         dec=1 if small else 2, **options)
        write_m2m(out, net, "bin" if small else "bin-split", "float32",
                  buffers=not small)
        write_bytes(os.path.join(out, "sentencepiece.bpe.model"),
                    tok.model("deen-bpe"))
        write_json(os.path.join(out, "vocab.json"),
                   {p: i for i, p in enumerate(v)})
        write_json(os.path.join(out, "tokenizer_config.json"), {
            "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
            "pad_token": "<pad>", "sep_token": "</s>", "src_lang": None,
            "tgt_lang": None, "tokenizer_class":
            "SMALL100Tokenizer" if small else "M2M100Tokenizer"})
    return make


def nllb(tok, out, case):
    n = len(tok.pieces("deen-bpe"))
    rows = n + 1 + len(NLLB200) + 1 + 2
    net = random_net(82, v_src=rows, pre=True, eos=2)
    write_m2m(out, net, "safetensors-split", "float16",
              extra={"max_length": 200})
    write_bytes(os.path.join(out, "sentencepiece.bpe.model"),
                tok.model("deen-bpe"))
    write_json(os.path.join(out, "tokenizer_config.json"), {
        "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
        "pad_token": "<pad>", "sep_token": "</s>", "cls_token": "<s>",
        "mask_token": "<mask>", "src_lang": None, "tgt_lang": None,
        "additional_special_tokens": NLLB200,
        "legacy_behaviour": False, "tokenizer_class": "NllbTokenizer"})


# ---- fairseq and FSMT ----------------------------------------------------------------

def fairseq_dict(pieces, pad_to=8):
    rows = [f"{p} {1000 - i}" for i, p in enumerate(pieces)]
    n = 0
    while (len(rows) + 4) % pad_to:
        rows.append(f"madeupword{n:04d} 0")
        n += 1
    return rows


def fairseq_joint(form, dtype, seed, **options):
    """One dictionary for both languages."""
    def make(tok, out, case):
        merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
        rows = fairseq_dict(at_marks(symbols))
        for lang in ("de", "en"):
            write_text(os.path.join(out, f"dict.{lang}.txt"),
                       "\n".join(rows) + "\n")
        write_text(os.path.join(out, "ende30k.fastbpe.code"),
                   codes_text(merges, "fastbpe"))
        net = random_net(seed, v_src=len(rows) + 4, eos=2, heads=4,
                         **options)
        write_fairseq(os.path.join(out, "wmt19.de-en.ffn8192.pt"), net, dtype,
                      form=form)
    return make


def moses_words(language, steps, text):
    """The words of a text by the rules of Moses."""
    from moses_reference import Moses
    moses = Moses(language, steps)
    return [w for line in text.split("\n") for w in moses.words(line)]


def moses_symbols(steps, texts, n):
    """Merges and symbols of texts in both languages."""
    words = moses_words("de", steps, GERMAN + "\n" + "\n".join(texts)) + \
        moses_words("en", steps, ENGLISH)
    return learn_bpe(words, n)


def fairseq_wmt19(tok, out, case):
    """As the models of WMT 2019, with texts for the rules of Moses."""
    merges, symbols = moses_symbols("tokenize,dashes,escape", MOSES_TEXTS, 60)
    sizes = write_fairseq_codes(out, "ende30k.fastbpe.code", "fastbpe", merges,
                                [symbols, symbols])
    net = random_net(310, v_src=sizes[0], eos=2, heads=4, ffn=48)
    write_fairseq(os.path.join(out, "wmt19.de-en.ffn8192.pt"), net, "float16",
                  legacy=True)


def fsmt_moses(tok, out, case):
    """FSMT with texts for the rules of Moses and for normalization."""
    fsmt(True, "bin-legacy", "float32", 311, symbols=moses_symbols(
        "wide,normalize,drop-controls,tokenize,dashes,escape",
        NORMALIZED_TEXTS, 60))(tok, out, case)


def fairseq_old(pre, learned, tied, seed):
    """Two dictionaries, names and file form of before 2019."""
    def make(tok, out, case):
        sizes = []
        merges, _ = learn_bpe(WORDS_DE + WORDS_EN, 24)
        for lang, words, n in (("de", WORDS_DE, 24), ("en", WORDS_EN, 12)):
            _, symbols = learn_bpe(words, n)
            rows = fairseq_dict(at_marks(symbols), 1)
            if lang == "en":
                rows[3] += " #fairseq:overwrite"
            sizes.append(len(rows) + 4)
            write_text(os.path.join(out, f"dict.{lang}.txt"),
                       "\n".join(rows) + "\n")
        write_text(os.path.join(out, "bpecodes"),
                   codes_text(merges, "fastbpe"))
        net = random_net(seed, v_src=sizes[0], v_tgt=sizes[1], eos=2,
                         one_table=False, tied=tied, pre=pre,
                         learned=learned and 66)
        if learned:     # fairseq has a row for the padding
            for side in ("encoder", "decoder"):
                net.t[side + ".positions"][1] = 0
        write_fairseq(os.path.join(out, "model.pt"), net, legacy=True,
                      old=True, max_source_positions=64,
                      max_target_positions=64)
    return make


def write_fairseq_codes(out, name, form, merges, lists):
    """Dictionaries of symbols for de and en, and one file of codes. Returns the
    sizes of the dictionaries."""
    sizes = []
    for lang, symbols in zip(("de", "en"), lists):
        rows = fairseq_dict(at_marks(symbols))
        sizes.append(len(rows) + 4)
        write_text(os.path.join(out, f"dict.{lang}.txt"),
                   "\n".join(rows) + "\n")
    write_text(os.path.join(out, name), codes_text(merges, form))
    return sizes


def fairseq_untied(tok, out, case):
    """One dictionary, three tables, embeddings that are not scaled, subword-nmt
    codes, settings as dicts."""
    merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
    sizes = write_fairseq_codes(out, "bpe.codes", "subword-nmt", merges,
                                [symbols, symbols])
    net = random_net(96, v_src=sizes[0], eos=2, one_table=False, tied=False,
                     act="gelu", ffn=32, dec_ffn=48, enc=1, dec=3)
    write_fairseq(os.path.join(out, "checkpoint_best.pt"), net, form="dicts",
                  no_scale_embedding=True)
    write_text(os.path.join(out, "checkpoint_last.pt"), "not used")


def fairseq_version1(tok, out, case):
    """Norms before the blocks, but none at the end, as in the first versions.
    The settings do not say much."""
    merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
    sizes = write_fairseq_codes(out, "code", "fastbpe", merges,
                                [symbols, symbols])
    net = random_net(97, v_src=sizes[0], eos=2, pre=True, heads=4)
    for name in [n for n in net.t if ".layer_norm." in n and
                 ".layers." not in n]:
        del net.t[name]
    write_fairseq(os.path.join(out, "model.pt"), net, legacy=True, old=True,
                  version=1, arch="transformer_iwslt_de_en",
                  drop=["encoder_attention_heads", "decoder_attention_heads",
                        "activation_fn", "max_source_positions",
                        "max_target_positions", "encoder_learned_pos",
                        "decoder_learned_pos", "task"])


def fairseq_learned(tok, out, case):
    """Learned positions, fewer for the target; objects of omegaconf; f16."""
    merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
    sizes = write_fairseq_codes(out, "bpecodes", "fastbpe", merges,
                                [symbols, symbols])
    net = random_net(98, v_src=sizes[0], eos=2, learned=70, pre=True)
    net.t["decoder.positions"] = net.t["decoder.positions"][:60]
    for side in ("encoder", "decoder"):
        net.t[side + ".positions"][1] = 0
    write_fairseq(os.path.join(out, "model.pt"), net, "float16",
                  form="omegaconf", max_source_positions=68,
                  max_target_positions=58)


def fairseq_models(tok, out, case):
    """Several models in a folder; the path names one."""
    out, name = os.path.split(out)
    merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
    sizes = write_fairseq_codes(out, "bpecodes", "fastbpe", merges,
                                [symbols, symbols])
    for i in range(1, 4):
        net = random_net(300 + i, v_src=sizes[0], eos=2)
        write_fairseq(os.path.join(out, f"model{i}.pt"), net, legacy=i == 2)


def fairseq_spm(joint, model, seed, **options):
    """SentencePiece. The dictionaries lack two pieces of the models, and are in
    another order."""
    def make(tok, out, case):
        sizes = []
        for lang in ("de", "en"):
            name = "deen-" + model if joint else f"{lang}-{model}"
            pieces = [p for p in tok.pieces(name) if p not in SPECIAL]
            rows = fairseq_dict(pieces[:3:-1] + pieces[:2])
            sizes.append(len(rows) + 4)
            write_text(os.path.join(out, f"dict.{lang}.txt"),
                       "\n".join(rows) + "\n")
            write_bytes(os.path.join(
                out, "sentencepiece.bpe.model" if joint else
                f"spm.{lang}.model"), tok.model(name))
        net = random_net(seed, v_src=sizes[0], v_tgt=sizes[1], eos=2,
                         one_table=joint, **options)
        write_fairseq(os.path.join(out, "model.pt"), net, bpe="sentencepiece",
                      form="dicts" if joint else "args")
    return make


def fsmt_stored(tok, out, case):
    """The table of positions is stored, weights in two files, and settings of
    search in a file of their own."""
    fsmt(False, "bin-split", "float32", 99, positions=True, act="gelu",
         tied=False)(tok, out, case)
    write_json(os.path.join(out, "generation_config.json"),
               {"num_beams": 4, "length_penalty": 0.8, "max_length": 200})


def fsmt(joint, form, dtype, seed, positions=False, symbols=None, **options):
    """symbols: merges and symbols, in place of those of the words."""
    bpe = symbols

    def make(tok, out, case):
        merges, symbols = bpe or learn_bpe(WORDS_DE + WORDS_EN, 24)
        lists = []
        for words in (WORDS_DE, WORDS_EN):
            _, own = learn_bpe(words, 20)
            lists.append(["<s>", "<pad>", "</s>", "<unk>"] +
                         (symbols if joint else own))
        for side, v in zip(("src", "tgt"), lists):
            write_json(os.path.join(out, f"vocab-{side}.json"),
                       {p: i for i, p in enumerate(v)})
        write_text(os.path.join(out, "merges.txt"),
                   codes_text(merges, "merges"))
        write_json(os.path.join(out, "tokenizer_config.json"), {
            "langs": ["de", "en"], "model_max_length": 1024,
            "do_lower_case": False})
        net = random_net(seed, v_src=len(lists[0]), v_tgt=len(lists[1]),
                         **{"eos": 2, "one_table": joint, "tied": joint}
                         | options)
        write_fsmt(out, net, form, dtype, ["de", "en"], positions=positions)
    return make


# ---- the list --------------------------------------------------------------------------

def case(family, make, path="", texts=None, **more):
    return {"family": family, "make": make, "path": path,
            "texts": texts or TEXTS} | more


CASES = {
    "own-pre": case("own", own(201, "sinusoidal-halves", pre=True)),
    "own-post": case("own", own(202, "learned", learned=64, bias=True,
                                one_table=False, tied=False, act="gelu")),
    "own-in-turn": case("own", own(203, "sinusoidal-interleaved", heads=4,
                                   act="swish", one_table=False)),
    "marian-all": case("marian", marian_all),
    "marian-small": case("marian", marian_small),
    "marian-src": case("marian", marian_src, ".zip"),
    "marian-none": case("marian", marian_none, ".zip"),
    "marian-tgt": case("marian", marian_tgt),
    "marian-pre": case("marian", marian_pre),
    "marian-layers": case("marian", marian_layers),
    "marian-multi": case("marian", marian_multi, to="deu"),
    "marian-multi-separate": case("marian", marian_multi_separate, to="fra"),
    "marian-clean": case("marian", marian_clean, texts=[
        "„Ja“, “Ja” und Nein’s…", "Das１ist２warm。Ja！", "Die\u200bTür\u00adist",
        "《Das》 Licht【ist】\uf0b7 grün％ ．Ja\ufeff"]),
    "marian-old": case("marian", marian_old),
    "marian-rows": case("marian", marian_rows),
    "marian-spm": case("marian", marian_spm),
    "marian-bin": case("marian", marian_bin(None, 17)),
    "marian-intgemm8": case("marian", marian_bin(8, 18)),
    "marian-intgemm16": case("marian", marian_bin(16, 19)),
    "marian-bpe": case("marian", marian_bpe, texts=WORD_TEXTS,
                       options=["--source-lang", "de", "--target-lang", "en"]),
    "hf-marian-shared": case("hf-marian", hf_marian_shared),
    "hf-marian-small": case("hf-marian", hf_marian_small),
    "hf-marian-bin": case("hf-marian", hf_marian_bin),
    "hf-marian-separate": case("hf-marian", hf_marian_separate),
    "hf-marian-untied": case("hf-marian", hf_marian_untied),
    "hf-marian-pad": case("hf-marian", hf_marian_pad),
    "hf-marian-ends": case("hf-marian", hf_marian_ends,
                           texts=TEXTS + GERMAN.split("\n")[:8]),
    "hf-marian-multi": case("hf-marian", hf_marian_multi, to="cmn_Hans"),
    "ct2-learned": case("ct2", ct2_learned),
    "ct2-no-table": case("ct2", ct2_no_table),
    "ct2-scale": case("ct2", ct2_scale),
    "ct2-no-scale": case("ct2", ct2_no_scale),
    "ct2-big": case("ct2", ct2_big),
    "ct2-fairseq": case("ct2", ct2_fairseq),
    "ct2-opus-multi": case("ct2", ct2_opus_multi, to="cmn_Hans"),
    "ct2-m2m100": case("ct2", ct2_m2m(67, "float32", M2M_TOKENS),
                       **{"from": "de", "to": "en"}),
    "ct2-small100": case("ct2", ct2_m2m(68, "int16", M2M_TOKENS, 1), to="fr"),
    "ct2-nllb200": case("ct2", ct2_m2m(69, "int8", NLLB200 + ["<mask>"]),
                        **{"from": "deu_Latn", "to": "eng_Latn"}),
    "argos-spm": case("ct2", argos("int8", 6, "json"), ".argosmodel"),
    "argos-txt": case("ct2", argos("float32", 4, "txt"), ".argosmodel"),
    "argos-bpe": case("ct2", argos("int8", 5, "txt", bpe=True), ".argosmodel",
                      texts=WORD_TEXTS),
    "m2m100": case("m2m", m2m(False), **{"from": "de", "to": "en"}),
    "m2m100-ends": case("m2m", m2m(False, 404, eos_scale=3.5),
                        texts=TEXTS + GERMAN.split("\n")[:8],
                        **{"from": "de", "to": "en"}),
    "small100": case("m2m", m2m(True, 81), to="fr"),
    "nllb200": case("m2m", nllb, **{"from": "deu_Latn", "to": "eng_Latn"}),
    "fairseq-joint": case("fairseq", fairseq_joint("args", "float16", 90,
                                                   small=True),
                          texts=WORD_TEXTS),
    "fairseq-wmt19": case("fairseq", fairseq_wmt19, texts=MOSES_TEXTS),
    "fairseq-cfg": case("fairseq", fairseq_joint("cfg", "float32", 91,
                                                 pre=True), texts=WORD_TEXTS),
    "fairseq-old": case("fairseq", fairseq_old(False, False, True, 92),
                        texts=WORD_TEXTS),
    "fairseq-old-pre": case("fairseq", fairseq_old(True, True, False, 93),
                            texts=WORD_TEXTS),
    "fairseq-untied": case("fairseq", fairseq_untied, texts=WORD_TEXTS),
    "fairseq-version1": case("fairseq", fairseq_version1, texts=WORD_TEXTS),
    "fairseq-learned": case("fairseq", fairseq_learned, texts=WORD_TEXTS),
    "fairseq-models": case("fairseq", fairseq_models, "/model2.pt",
                           texts=WORD_TEXTS),
    "fairseq-spm": case("fairseq", fairseq_spm(True, "bpe", 304)),
    "fairseq-spm-two": case("fairseq", fairseq_spm(False, "unigram", 305,
                                                   pre=True, tied=False)),
    "fsmt-stored": case("fsmt", fsmt_stored, texts=WORD_TEXTS),
    "fsmt-moses": case("fsmt", fsmt_moses, texts=NORMALIZED_TEXTS),
    "fsmt-ends": case("fsmt", fsmt(True, "safetensors", "float32", 413,
                                   eos_scale=5),
                      texts=WORD_TEXTS + [" ".join(WORDS_DE[i:i + n])
                                          for i, n in MORE_WORDS]),
    "fsmt-joint": case("fsmt", fsmt(True, "bin", "float16", 94),
                       texts=WORD_TEXTS),
    "fsmt-separate": case("fsmt", fsmt(False, "safetensors", "float32", 95),
                          texts=WORD_TEXTS),
}
for version, kinds in {2: ["float32", "int16", "int8"],
                       3: ["float32", "int8"],
                       4: ["float32", "float16", "int16", "int8"],
                       5: ["float16", "int8"],
                       6: ["float32", "float16", "bfloat16", "int16",
                           "int8"]}.items():
    for n, kind in enumerate(kinds):
        form, seed = ["txt", "json"][n % 2], 100 + 10 * version + n
        make = ct2_marian(version, kind, form, seed, separate=n % 2 == 0) \
            if (n + version) % 2 else ct2_opennmt(version, kind, form, seed)
        CASES[f"ct2-v{version}-{kind}"] = case("ct2", make)


def generate(out, names=None):
    """Make the models, and return their list. The tokenizers are in
    OUT/tokenizers."""
    tok = Tokenizers(os.path.join(out, "tokenizers"))
    models = []
    for name in names or CASES:
        c = CASES[name]
        path = os.path.join(out, name + c["path"])
        if os.path.isdir(os.path.join(out, name)):
            shutil.rmtree(os.path.join(out, name))
        c["make"](tok, path, c)
        models.append({"name": name, "path": name + c["path"]} |
                      {k: v for k, v in c.items()
                       if k not in ("make", "path")})
    write_json(os.path.join(out, "models.json"), models)
    return models


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    for model in generate(sys.argv[1], sys.argv[2:]):
        print(json.dumps(model, ensure_ascii=False))


if __name__ == "__main__":
    main()
