# needs: /usr/lib/python3/dist-packages/numpy spm_encode perl
Models of fairseq, as checkpoints and as Hugging Face stores them (FSMT). All
log-probabilities, the outputs of beam search and the ids of texts are those of
an implementation in numpy.

One dictionary and several, tied tables and separate ones, norms before and
after the blocks, the names and the form of files of before 2019.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" fairseq-joint fairseq-cfg fairseq-old fairseq-old-pre fairseq-untied fairseq-version1
  fairseq-joint: the same
  fairseq-cfg: the same
  fairseq-old: the same
  fairseq-old-pre: the same
  fairseq-untied: the same
  fairseq-version1: the same

Texts that the rules of Moses split, and SentencePiece; learned positions;
several models in a folder.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" fairseq-wmt19 fairseq-spm fairseq-spm-two fairseq-learned fairseq-models
  fairseq-wmt19: the same
  fairseq-spm: the same
  fairseq-spm-two: the same
  fairseq-learned: the same
  fairseq-models: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" fsmt-joint fsmt-separate fsmt-stored fsmt-moses
  fsmt-joint: the same
  fsmt-separate: the same
  fsmt-stored: the same
  fsmt-moses: the same

It says what it found.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . fairseq-wmt19 fairseq-old fairseq-untied fairseq-models fairseq-spm fairseq-spm-two fsmt-separate fsmt-stored > /dev/null
  $ skmt convert --from fairseq-wmt19
  family      fairseq
  languages   de to en
  network     2 + 2 layers, d_model 16, 4 heads, feed-forward 48 and 24, ReLU, norms after the blocks
  positions   sines, then cosines, from 2 on, at most 1026
  vocabulary  216 tokens, 7 of which never come out; one table for source, target and output
  tokenizer   one for each side
  weights     91 tensors, mostly f16, 44 kB
  note: texts are split by the rules of Moses for de and en, and by BPE codes
  note: the files do not say under which license the model is
  nothing is written; name a file with -o FILE

  $ skmt convert --from fsmt-separate
  family      FSMT (fairseq on Hugging Face)
  languages   de to en
  network     2 + 2 layers, d_model 16, 2 heads, feed-forward 40 and 24, ReLU, norms after the blocks
  positions   sines, then cosines, from 2 on, at most 1026
  vocabulary  56 tokens, 3 of which never come out; tables for source, target and output
  tokenizer   one for each side
  weights     87 tensors, mostly f32, 55 kB
  note: texts are split by the rules of Moses for de and en, and by BPE codes
  note: the files do not say under which license the model is
  nothing is written; name a file with -o FILE

Beam size and length penalty are those of fairseq, or what the files say.

  $ for m in fairseq-old fsmt-separate fsmt-stored; do skmt convert -q --from $m -o $m.skmt; skmt info ./$m.skmt | grep '^beam\|^length\|^family' | tr -s ' ' | paste -sd ' '; done
  family fairseq beam 5 length_penalty 1
  family fsmt beam 5 length_penalty 1.1
  family fsmt beam 4 length_penalty 0.8

A folder may have several checkpoints.

  $ skmt convert --from fairseq-models
  skmt: fairseq-models: there are several checkpoints; choose one with --checkpoint: model1.pt, model2.pt, model3.pt
  [1]
  $ skmt convert -q --from fairseq-models --checkpoint model2.pt -o a.skmt; skmt convert -q --from fairseq-models/model2.pt -o b.skmt; skmt convert -q --from fairseq-models/model3.pt -o c.skmt; cmp a.skmt b.skmt && cmp -s a.skmt c.skmt || echo another model
  another model
  $ skmt convert --from fairseq-models --checkpoint model4.pt
  skmt: fairseq-models: there is no file "model4.pt"
  [1]
  $ skmt convert --from fairseq-untied | grep checkpoint
  note: of several checkpoints, this is checkpoint_best.pt; --checkpoint chooses another one

What would be another model is refused. Each line of the input has settings that
are added to those of a good checkpoint, and what is done to its tensors.

  $ cat > changed.py <<'END'
  > import json, os, subprocess, sys
  > sys.path.insert(0, os.environ["TOP"] + "/tools")
  > import numpy as np
  > import foreign_families as families
  > from gen_foreign import learn_bpe, write_fairseq_codes, WORDS_DE, WORDS_EN
  > merges, symbols = learn_bpe(WORDS_DE + WORDS_EN, 24)
  > os.makedirs("new", exist_ok=True)
  > v = write_fairseq_codes("new", "code", "fastbpe", merges, [symbols, symbols])[0]
  > good = families.fairseq_tensors
  > def without(name):
  >     return lambda t: t.pop(name)
  > def named(name, shape):
  >     return lambda t: t.update({name: np.ones(shape, np.float32)})
  > def spoiled(name):
  >     def change(t):
  >         t[name] = t[name].copy()
  >         t[name].flat[3] = np.nan
  >     return change
  > for line in sys.stdin:
  >     extra, how, net = eval("(" + line + ")")
  >     def tensors(*args):
  >         t = good(*args)
  >         if how: how(t)
  >         return t
  >     families.fairseq_tensors = tensors
  >     drop = [k for k, x in extra.items() if x == "drop"]
  >     families.write_fairseq("new/model.pt", families.random_net(1, v_src=v, **net), drop=drop, **{k: x for k, x in extra.items() if x != "drop"})
  >     done = subprocess.run(["skmt", "convert", "--from", "new", "-o", "new.skmt"] + sys.argv[1:], capture_output=True, text=True)
  >     print((done.stderr or done.stdout).strip())
  > END
  $ /usr/bin/python3 changed.py <<'END'
  > {"adaptive_softmax_cutoff": "10000,20000"}, None, {}
  > {"layernorm_embedding": True}, None, {}
  > {"no_token_positional_embeddings": True}, None, {}
  > {"adaptive_input": True}, None, {}
  > {"cross_self_attention": True}, None, {}
  > {"encoder_layers_to_keep": "0,2"}, None, {}
  > {"activation_fn": "gelu_accurate"}, None, {}
  > {"arch": "fconv_wmt_en_de"}, None, {}
  > {"task": "translation_multi_simple_epoch"}, None, {}
  > {"decoder_attention_heads": 4}, None, {}
  > {"decoder_normalize_before": True}, None, {}
  > {"encoder_attention_heads": 3, "decoder_attention_heads": 3}, None, {}
  > {"bpe": "gpt2"}, None, {}
  > {"bpe": "sentencepiece"}, None, {}
  > {"tokenizer": "nltk"}, None, {}
  > {"arch": "transformer_mine", "encoder_attention_heads": "drop", "decoder_attention_heads": "drop"}, None, {}
  > {"source_lang": "fr"}, None, {}
  > {"source_lang": None}, None, {}
  > END
  skmt: new/model.pt: "adaptive_softmax_cutoff" is set; a model with it cannot be converted
  skmt: new/model.pt: "layernorm_embedding" is set; a model with it cannot be converted
  skmt: new/model.pt: "no_token_positional_embeddings" is set; a model with it cannot be converted
  skmt: new/model.pt: "adaptive_input" is set; a model with it cannot be converted
  skmt: new/model.pt: "cross_self_attention" is set; a model with it cannot be converted
  skmt: new/model.pt: "encoder_layers_to_keep" is set; a model with it cannot be converted
  skmt: new/model.pt: "activation_fn" is "gelu_accurate"; only "relu", "gelu", "swish" or "linear" can be converted
  skmt: new/model.pt: "arch" is "fconv_wmt_en_de"; only Transformers can be converted
  skmt: new/model.pt: "task" is "translation_multi_simple_epoch"; only "translation" can be converted
  skmt: new/model.pt: encoder and decoder have different numbers of attention heads, 2 and 4; such a model cannot be converted
  skmt: new/model.pt: "encoder_normalize_before" and "decoder_normalize_before" differ; a model with this cannot be converted
  skmt: new/model.pt: config: d_model=16 is not a multiple of heads=3
  skmt: new/model.pt: "bpe" is "gpt2"; only "fastbpe", "subword_nmt" or "sentencepiece" can be converted
  skmt: new: there is no tokenizer, such as sentencepiece.model, or source.spm and target.spm. Name the SentencePiece model that the model was trained with: --tokenizer FILE and, if the target has its own, --target-tokenizer FILE
  skmt: new/model.pt: "tokenizer" is "nltk"; only "moses" or "space" can be converted
  skmt: new/model.pt: the settings do not say how many attention heads the model has; say it with --heads
  skmt: new: there is no dictionary "dict.fr.txt" of the source beside the checkpoint
  skmt: new: the settings do not say which dictionary is that of the source; say the languages with --source-lang and --target-lang

Missing, unexpected and wrong tensors are named.

  $ /usr/bin/python3 changed.py <<'END'
  > {"encoder_layers": 3}, None, {}
  > {"decoder_layers": 1}, None, {}
  > {"encoder_learned_pos": True, "decoder_learned_pos": True}, None, {}
  > {"encoder_normalize_before": True, "decoder_normalize_before": True}, None, {}
  > {"encoder_normalize_before": False, "decoder_normalize_before": False}, None, {"pre": True}
  > {}, without("decoder.layer_norm.bias"), {"pre": True}
  > {}, without("decoder.layers.1.encoder_attn.k_proj.bias"), {}
  > {}, without("decoder.output_projection.weight"), {"tied": False}
  > {}, without("encoder.embed_tokens.weight"), {}
  > {}, named("decoder.output_projection.weight", (64, 16)), {}
  > {}, named("encoder.layers.0.fc1.weight", (40, 18)), {}
  > {}, named("decoder.embed_tokens.weight", (64, 18)), {"one_table": False}
  > {}, named("encoder.embed_tokens.weight", (72, 16)), {"one_table": False}
  > {}, named("encoder.embed_tokens.weight", (72,)), {"one_table": False}
  > {}, named("encoder.layers.0.self_attn.bias_k", (1, 16)), {}
  > {}, named("decoder.project_out_dim.weight", (16, 16)), {}
  > {}, spoiled("decoder.layers.0.fc1.weight"), {}
  > END
  skmt: new/model.pt: tensor "encoder.layers.2.self_attn_layer_norm.weight" is missing
  skmt: new/model.pt: tensor "decoder.layers.1.self_attn.q_proj.weight" is not part of the model that model.pt describes
  skmt: new/model.pt: tensor "encoder.embed_positions.weight" is missing
  skmt: new/model.pt: tensor "encoder.layer_norm.weight" is missing
  skmt: new/model.pt: tensor "encoder.layer_norm.weight" is not part of the model that model.pt describes
  skmt: new/model.pt: tensor "decoder.layer_norm.bias" is missing
  skmt: new/model.pt: tensor "decoder.layers.1.encoder_attn.k_proj.bias" is missing
  skmt: new/model.pt: tensor "decoder.output_projection.weight" is missing
  skmt: new/model.pt: tensor "encoder.embed_tokens.weight" is missing
  skmt: new/model.pt: "decoder.output_projection.weight" and "decoder.embed_tokens.weight" should be the same table according to the settings, but differ
  skmt: new/model.pt: tensor "encoder.layers.0.fc1.weight" has the shape [40, 18], but according to model.pt it should have [40, 16]
  skmt: new/model.pt: "decoder.output_projection.weight" and "decoder.embed_tokens.weight" should be the same table according to the settings, but differ
  skmt: new/dict.de.txt: has 64 pieces with the special ones, but the table "encoder.embed_tokens.weight" has 72 rows
  skmt: new/model.pt: the table "encoder.embed_tokens.weight" should have two dimensions, not 1
  skmt: new/model.pt: tensor "encoder.layers.0.self_attn.bias_k" is not part of the model that model.pt describes
  skmt: new/model.pt: tensor "decoder.project_out_dim.weight" is not part of the model that model.pt describes
  skmt: new/model.pt: tensor "decoder.layers.0.fc1.weight" contains NaN or infinite values (row 0, column 3)

Nothing is written. What the settings do not say can be said.

  $ ls new.skmt
  ls: cannot access 'new.skmt': No such file or directory
  [2]
  $ /usr/bin/python3 changed.py --heads 2 --source-lang de --target-lang en <<'END' | grep '^written\|^languages'
  > {"source_lang": None, "target_lang": None}, None, {}
  > {"arch": "transformer_mine", "encoder_attention_heads": "drop", "decoder_attention_heads": "drop"}, None, {}
  > END
  languages   de to en
  written     new.skmt, 62 kB
  languages   de to en
  written     new.skmt, 62 kB
  $ /usr/bin/python3 changed.py --source-lang deu --target-lang tlh <<'END' | grep '^warning\|^languages'
  > {}, None, {}
  > END
  languages   deu to tlh
  warning: texts are split by the rules of Moses, which differ between languages, and the language "tlh" is not known; name the languages with --source-lang and --target-lang
  $ rm new.skmt

The same for the files of FSMT.

  $ cat > changed_fsmt.py <<'EOF'
  > import json, os, shutil, subprocess, sys
  > for line in sys.stdin:
  >     model, file, changes = line.split(" ", 2)
  >     shutil.rmtree("new", ignore_errors=True)
  >     shutil.copytree(model, "new")
  >     path = "new/" + file
  >     value = json.load(open(path)) if os.path.exists(path) else {}
  >     value.update(json.loads(changes))
  >     json.dump({k: v for k, v in value.items() if v != "drop"}, open(path, "w"))
  >     done = subprocess.run(["skmt", "convert", "--from", "new", "-o", "new.skmt"], capture_output=True, text=True)
  >     print((done.stderr or done.stdout).strip())
  > EOF
  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . fsmt-joint > /dev/null
  $ python3 changed_fsmt.py <<'END'
  > fsmt-joint config.json {"src_vocab_size": 61}
  > fsmt-joint config.json {"tgt_vocab_size": "drop"}
  > fsmt-separate config.json {"tie_word_embeddings": true}
  > fsmt-joint config.json {"decoder_attention_heads": 4}
  > fsmt-joint config.json {"encoder_layers": 3}
  > fsmt-joint config.json {"decoder_ffn_dim": 40}
  > fsmt-joint config.json {"activation_function": "gelu_new"}
  > fsmt-joint config.json {"forced_bos_token_id": 7}
  > fsmt-joint config.json {"eos_token_id": 0}
  > fsmt-joint tokenizer_config.json {"do_lower_case": true}
  > fsmt-joint vocab-src.json {"again": 5}
  > fsmt-joint vocab-src.json {"again": 63}
  > fsmt-joint vocab-tgt.json {"a</w>": "drop", "q": 61}
  > END
  skmt: new/pytorch_model.bin: the table "model.decoder.embed_tokens.weight" has 60 rows, but config.json says 61
  skmt: new/pytorch_model.bin: the table "model.decoder.embed_tokens.weight" has 60 rows, but config.json says 42024
  skmt: new/model.safetensors: "model.encoder.embed_tokens.weight" and "model.decoder.embed_tokens.weight" should be the same table according to the settings, but differ
  skmt: new/config.json: "encoder_attention_heads" is 2 and "decoder_attention_heads" is 4; a model where they differ cannot be converted
  skmt: new/pytorch_model.bin: tensor "model.encoder.layers.2.self_attn_layer_norm.weight" is missing
  skmt: new/pytorch_model.bin: tensor "model.decoder.layers.0.fc1.weight" has the shape [24, 16], but according to config.json it should have [40, 16]
  skmt: new/config.json: "activation_function" is "gelu_new"; only "relu", "gelu", "silu" or "swish" can be converted
  skmt: new/config.json: "forced_bos_token_id" is set; a model with it cannot be converted
  skmt: new/config.json: "eos_token_id" is 0, which is not the token </s>
  skmt: new/tokenizer_config.json: "do_lower_case" is set; a model with it cannot be converted
  skmt: new/vocab-src.json: the pieces "a</w>" and "again" both have the id 5
  skmt: new/vocab-src.json: no piece has the id 60; the 61 pieces must have the ids 0 to 60, once each
  skmt: new/vocab-tgt.json: no piece has the id 5; the 60 pieces must have the ids 0 to 59, once each

Files that are missing, damaged or of another kind.

  $ rm new/config.json; cp fairseq-wmt19/* new; rm new/dict.en.txt; skmt convert --from new
  skmt: new: there is no dictionary "dict.en.txt" of the target beside the checkpoint
  [1]
  $ sed 5d fairseq-wmt19/dict.en.txt > new/dict.en.txt; skmt convert --from new
  skmt: new/dict.en.txt: has 215 pieces with the special ones, but the table "decoder.embed_tokens.weight" has 216 rows
  [1]
  $ sed '5s/.*/x/' fairseq-wmt19/dict.en.txt > new/dict.en.txt; skmt convert --from new
  skmt: new/dict.en.txt:5: the line must be a piece, a blank and a count
  [1]
  $ cp fairseq-wmt19/dict.en.txt new; rm new/ende30k.fastbpe.code; skmt convert --from new
  skmt: new: there are neither BPE codes, such as "bpecodes", nor a SentencePiece model, such as "sentencepiece.bpe.model"
  [1]
  $ cp fairseq-wmt19/*.code new; cp new/ende30k.fastbpe.code new/more.code; skmt convert --from new
  skmt: new: there are 2 files of BPE codes, such as "more.code"; keep the one of the model, or call it "bpecodes"
  [1]
  $ mv new/more.code new/de.code; mv new/ende30k.fastbpe.code new/en.code; skmt convert --from new | grep -c ^family
  1
  $ cp fairseq-spm/*.model new; skmt convert --from new --tokenizer new/dict.de.txt
  skmt: new/dict.de.txt: *SentencePiece* (glob)
  [1]

A truncated checkpoint is refused wherever it ends.

  $ for n in $(seq 1 997 44000); do head -c $n fairseq-wmt19/wmt19.de-en.ffn8192.pt > new/wmt19.de-en.ffn8192.pt; skmt convert --from new -o new.skmt > /dev/null 2>&1; echo $?; done | sort | uniq -c | tr -s ' '
   45 1

Other files of PyTorch. Code in a pickle is not run.

  $ cat > other.py <<'END'
  > import os, pickle, sys
  > sys.path.insert(0, os.environ["TOP"] + "/tools")
  > import numpy as np
  > from foreign_write import Tensor, torch_zip_bytes, write_bytes
  > class Run:
  >     def __reduce__(self):
  >         return (os.system, ("touch executed",))
  > write_bytes("new/wmt19.de-en.ffn8192.pt", torch_zip_bytes({"model": {"x": Tensor.of(np.ones(3, np.float32))}, "opt": {}}))
  > with open("new/run.pt", "wb") as f:
  >     for x in (0x1950a86a20f9469cfc6c, 1001, {}, {"model": Run(), "args": Run()}, []):
  >         pickle.dump(x, f, protocol=2)
  > END
  $ /usr/bin/python3 other.py; skmt convert --from new --checkpoint wmt19.de-en.ffn8192.pt; skmt convert --from new/run.pt; ls executed
  skmt: new/wmt19.de-en.ffn8192.pt: not a checkpoint of fairseq: it has no settings in "args" or "cfg"
  skmt: new/run.pt: the file has no dict "model"
  ls: cannot access 'executed': No such file or directory
  [2]
