# needs: /usr/lib/python3/dist-packages/numpy spm_encode
Models of Hugging Face, and those of skmt. All log-probabilities, the outputs of
beam search and the ids of texts are those of an implementation in numpy.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" own-pre own-post own-in-turn
  own-pre: the same
  own-post: the same
  own-in-turn: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" hf-marian-shared hf-marian-small hf-marian-bin hf-marian-separate hf-marian-untied hf-marian-multi
  hf-marian-shared: the same
  hf-marian-small: the same
  hf-marian-bin: the same
  hf-marian-separate: the same
  hf-marian-untied: the same
  hf-marian-multi: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" m2m100 small100 nllb200
  m2m100: the same
  small100: the same
  nllb200: the same

It says what it found.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . hf-marian-shared hf-marian-bin hf-marian-multi m2m100 nllb200 small100 > /dev/null
  $ skmt convert --from hf-marian-shared
  family      OPUS-MT (Marian) on Hugging Face
  languages   de to en
  network     2 + 2 layers, d_model 16, 2 heads, feed-forward 40 and 24, SiLU, norms after the blocks
  positions   sines, then cosines, as Hugging Face computes them for Marian, from 0 on, at most 512
  vocabulary  99 tokens, 2 of which never come out; one table for source, target and output; output bias
  tokenizer   one for each side
  weights     86 tensors, mostly f32, 51 kB
  note: the files do not say under which license the model is
  nothing is written; name a file with -o FILE

The license, the languages, the beam size and the exponent of the length penalty
are kept.

  $ cp -r hf-marian-multi multi; printf -- '---\nlicense: cc-by-4.0\n---\n' > multi/README.md; echo 'You may use it.' > multi/LICENSE
  $ skmt convert -q --from multi --target-lang fra -o multi.skmt; skmt info ./multi.skmt | grep -v ' [0-9a-f]*$'
  file               ./multi.skmt
  name               multi
  family             hf-marian
  license            CC-BY-4.0
  origin             multi
  target_lang        fra
  languages          fra,deu,cmn_Hans
  type               int8
  norm               post
  activation         gelu
  positions          sinusoidal-halves-hf
  embeddings         shared
  $ skmt info ./multi.skmt | grep 'beam\|length' | tr -s ' '; skmt info --license ./multi.skmt
  beam 4
  length_penalty 1
  You may use it.
  $ for to in '' '--to deu' '--to de' '--to zh'; do echo 'Das ist gut.' | skmt translate -m ./multi.skmt $to | cksum | cut -d ' ' -f 1 >> sums; done; uniq -c sums | tr -s ' ' | cut -d ' ' -f 2
  1
  2
  1

A model with many languages asks for them.

  $ skmt convert --from nllb200 -o nllb.skmt -q; echo Haus | skmt translate -m ./nllb.skmt
  skmt: warning: the published NLLB-200 models are under the license CC-BY-NC 4.0, which does not allow commercial use
  skmt: --from: choose the source and the target language of this multilingual model, with from and to (skmt info lists them)
  [2]
  $ echo Haus | skmt translate -m ./nllb.skmt --from de
  skmt: --to: choose the target language of this multilingual model (skmt info lists them)
  [2]
  $ echo Haus | skmt translate -m ./nllb.skmt --from de --to zh
  skmt: --to: "zh" can be several languages of the model: zho_Hans, zho_Hant
  [2]
  $ echo Haus | skmt translate -m ./nllb.skmt --from de --to zh-TW | wc -l
  1
  $ skmt convert --from m2m100 --target-lang klingon
  skmt: target-lang: the model does not have the language "klingon"; skmt info lists all 100
  [2]
  $ skmt convert --from nllb200 -q --source-lang de --target-lang en-US -o nllb.skmt 2> /dev/null; skmt info ./nllb.skmt | grep _lang; echo Haus | skmt translate -m ./nllb.skmt | wc -l
  source_lang        deu_Latn
  target_lang        eng_Latn
  1
  $ skmt convert --from nllb200 --source-lang de --target-lang fr -q -o de-fr.skmt 2> /dev/null; skmt info ./de-fr.skmt | grep _lang | tr -s ' '
  source_lang deu_Latn
  target_lang fra_Latn

What would be another model is refused. Each of these changes a file of a model.

  $ cat > changed.py <<'EOF'
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
  $ python3 changed.py <<'EOF'
  > hf-marian-shared config.json {"activation_function": "gelu_new"}
  > hf-marian-shared config.json {"decoder_attention_heads": 4}
  > hf-marian-shared config.json {"normalize_before": true}
  > hf-marian-shared config.json {"d_model": 18}
  > hf-marian-shared config.json {"encoder_layers": 3}
  > hf-marian-shared config.json {"encoder_layers": 1}
  > hf-marian-shared config.json {"vocab_size": 110}
  > hf-marian-shared config.json {"quantization_config": {"bits": 4}}
  > hf-marian-shared config.json {"tie_word_embeddings": false}
  > hf-marian-shared config.json {"share_encoder_decoder_embeddings": false}
  > hf-marian-shared config.json {"pad_token_id": 1000}
  > hf-marian-shared config.json {"forced_bos_token_id": 3}
  > hf-marian-shared config.json {"decoder_vocab_size": 100}
  > hf-marian-shared generation_config.json {"num_beams": "x"}
  > hf-marian-shared tokenizer_config.json {"separate_vocabs": true}
  > hf-marian-shared tokenizer_config.json {"unk_token": "<huh>"}
  > nllb200 tokenizer_config.json {"legacy_behaviour": true}
  > nllb200 config.json {"vocab_size": 200}
  > nllb200 config.json {"eos_token_id": 1}
  > nllb200 added_tokens.json {"fra_Latn": 20}
  > m2m100 tokenizer_config.json {"language_codes": "wmt22"}
  > EOF
  skmt: new/config.json: "activation_function" is "gelu_new"; only "relu", "gelu", "silu" or "swish" can be converted
  skmt: new/config.json: "encoder_attention_heads" is 2 and "decoder_attention_heads" is 4; a model where they differ cannot be converted
  skmt: new/config.json: "normalize_before" is set; a model with it cannot be converted
  skmt: new/model.safetensors: tensor "model.encoder.layers.0.self_attn_layer_norm.weight" has the shape [16], but according to config.json it should have [18]
  skmt: new/model.safetensors: tensor "model.encoder.layers.2.self_attn_layer_norm.weight" is missing
  skmt: new/model.safetensors: tensor "model.encoder.layers.1.self_attn.q_proj.weight" is not part of the model that config.json describes
  skmt: new/model.safetensors: the table "model.shared.weight" has 99 rows, but config.json says 110
  skmt: new/config.json: "quantization_config" is set; a model with it cannot be converted
  skmt: new/model.safetensors: there is no projection "lm_head.weight", and the settings say that it is not the table of the target
  skmt: new/model.safetensors: there is no table of the source: neither "model.encoder.embed_tokens.weight" nor one that is the same is there
  skmt: new/config.json: the ids of the special tokens (0, 98, 1000) should be below the size of the vocabulary, 99
  skmt: new/config.json: "forced_bos_token_id" is set; a model with it cannot be converted
  skmt: new/model.safetensors: the table "model.shared.weight" has 99 rows, but config.json says 100
  skmt: new/generation_config.json: "num_beams" should be a number
  skmt: new: there is no file "target_vocab.json"
  skmt: new/vocab.json: there is no piece "<huh>"
  skmt: new/tokenizer_config.json: "legacy_behaviour" should be false; another model cannot be converted
  skmt: new/model-00001-of-00002.safetensors: the table "model.shared.weight" has 296 rows, but config.json says 200
  skmt: new/config.json: "eos_token_id" is 1, which is not the token </s>
  skmt: new/added_tokens.json: "fra_Latn" has the id 20, which should be that of "as"
  skmt: new/tokenizer_config.json: "language_codes" is "wmt22"; only "m2m100" or "wmt21" can be converted

  $ ls new.skmt
  ls: cannot access 'new.skmt': No such file or directory
  [2]

A fine-tuned NLLB-200 may have languages of its own. What skmt does not have is
told.

  $ echo 'nllb200 added_tokens.json {"tyv_Cyrl": 295}' | python3 changed.py | grep written; skmt info ./new.skmt | grep -c ',tyv_Cyrl$'; rm new.skmt
  written     new.skmt, 317 kB
  1
  $ echo 'hf-marian-shared generation_config.json {"no_repeat_ngram_size": 3, "bad_words_ids": [[7], [8, 9], [9, 8]], "num_beams": 600, "length_penalty": -1}' | python3 changed.py | grep note
  note: "bad_words_ids" has 2 sequences of tokens; only single tokens are kept from coming out
  note: "num_beams" is 600; 64 is used
  note: "length_penalty" is -1; 1 is used
  note: "no_repeat_ngram_size" of the settings of search has no counterpart in skmt
  note: the files do not say under which license the model is

Files that are missing or damaged.

  $ rm -rf new; cp -r hf-marian-shared new; echo '{"model_type": "marian",' > new/config.json; skmt convert --from new
  skmt: new/config.json:2: * (glob)
  [1]
  $ rm -r new; cp -r hf-marian-shared new; rm new/model.safetensors; skmt convert --from new
  skmt: new: there is neither model.safetensors nor pytorch_model.bin
  [1]
  $ head -c 10000 hf-marian-shared/model.safetensors > new/model.safetensors; skmt convert --from new
  skmt: new/model.safetensors: tensor "model.shared.weight" lies outside the file (truncated?)
  [1]
  $ cp hf-marian-shared/model.safetensors new; rm new/target.spm; skmt convert --from new
  skmt: new: there is no file "target.spm"
  [1]
  $ rm -r new; cp -r nllb200 new; rm new/model-00002-of-00002.safetensors; skmt convert --from new
  skmt: new: there is no file "model-00002-of-00002.safetensors"
  [1]

A copy of a repository that git made without Git LFS.

  $ rm -r new; cp -r hf-marian-shared new; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n' > new/model.safetensors; skmt convert --from new
  skmt: new/model.safetensors: this is a pointer of Git LFS and not the file itself; "git lfs pull" downloads it
  [1]

A file of a model is not the model.

  $ skmt convert --from hf-marian-shared/model.safetensors; skmt convert --from hf-marian-bin/pytorch_model.bin; skmt convert --from https://example.com/model.zip
  skmt: hf-marian-shared/model.safetensors: neither a folder nor a zip archive; name the folder with all files of the model, and unpack other kinds of archives first
  skmt: hf-marian-bin/pytorch_model.bin: these are only weights; name the folder with all files of the model
  skmt: https://example.com/model.zip: addresses cannot be opened; download the files first
  [1]
