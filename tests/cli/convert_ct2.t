# needs: /usr/lib/python3/dist-packages/numpy spm_encode
Random models in the forms of CTranslate2: ids, log-probabilities and beam
outputs are those that tools/foreign_oracle.py computes.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" ct2-v2-float32 ct2-v2-int16 ct2-v2-int8 ct2-v3-float32 ct2-v3-int8 ct2-v4-float32 ct2-v4-float16 ct2-v4-int16
  ct2-v2-float32: the same
  ct2-v2-int16: the same
  ct2-v2-int8: the same
  ct2-v3-float32: the same
  ct2-v3-int8: the same
  ct2-v4-float32: the same
  ct2-v4-float16: the same
  ct2-v4-int16: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" ct2-v4-int8 ct2-v5-float16 ct2-v5-int8 ct2-v6-float32 ct2-v6-float16 ct2-v6-bfloat16 ct2-v6-int16 ct2-v6-int8
  ct2-v4-int8: the same
  ct2-v5-float16: the same
  ct2-v5-int8: the same
  ct2-v6-float32: the same
  ct2-v6-float16: the same
  ct2-v6-bfloat16: the same
  ct2-v6-int16: the same
  ct2-v6-int8: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" ct2-learned ct2-no-table ct2-scale ct2-no-scale ct2-big ct2-fairseq
  ct2-learned: the same
  ct2-no-table: the same
  ct2-scale: the same
  ct2-no-scale: the same
  ct2-big: the same
  ct2-fairseq: the same

Argos packages.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" argos-spm argos-txt argos-bpe
  argos-spm: the same
  argos-txt: the same
  argos-bpe: the same

Models of several languages.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" ct2-opus-multi ct2-m2m100 ct2-small100 ct2-nllb200
  ct2-opus-multi: the same
  ct2-m2m100: the same
  ct2-small100: the same
  ct2-nllb200: the same

It says what it found.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . argos-spm ct2-nllb200 ct2-fairseq > /dev/null
  $ skmt convert --from argos-spm.argosmodel
  family      Argos Translate
  languages   de to en
  network     2 + 2 layers, d_model 16, 2 heads, feed-forward 40 and 24, ReLU, norms before the blocks
  positions   sines and cosines in turn, from 0 on, at most 96
  vocabulary  91 tokens, 3 of which never come out; one table for source, target and output; output bias
  tokenizer   one for both sides
  weights     107 tensors, mostly int8, 31 kB
  note: the files do not say under which license the model is
  nothing is written; name a file with -o FILE

  $ skmt convert --from ct2-nllb200 | sed -n '/^languages/p;/^warning/p'
  languages   202
  warning: the published NLLB-200 models are under the license CC-BY-NC 4.0, which does not allow commercial use

A folder without a tokenizer needs one.

  $ mv ct2-fairseq/spm.model mine; skmt convert --from ct2-fairseq
  skmt: ct2-fairseq: there is no tokenizer, such as sentencepiece.model, or source.spm and target.spm. Name the SentencePiece model that the model was trained with: --tokenizer FILE and, if the target has its own, --target-tokenizer FILE
  [1]

  $ skmt convert --from ct2-fairseq --tokenizer mine | grep ^tokenizer
  tokenizer   one for both sides

  $ skmt convert --from ct2-fairseq --tokenizer ct2-fairseq/config.json
  skmt: ct2-fairseq/config.json: *SentencePiece* (glob)
  [1]
