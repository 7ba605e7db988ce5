# needs: /usr/lib/python3/dist-packages/numpy spm_encode
OPUS-MT models as Marian writes them. All log-probabilities, the outputs of beam
search and the ids of texts are those of an implementation in numpy.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" marian-all marian-small marian-src marian-none marian-tgt marian-pre marian-layers
  marian-all: the same
  marian-small: the same
  marian-src: the same
  marian-none: the same
  marian-tgt: the same
  marian-pre: the same
  marian-layers: the same

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" marian-clean marian-old marian-rows marian-spm
  marian-clean: the same
  marian-old: the same
  marian-rows: the same
  marian-spm: the same

Models with several target languages.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" marian-multi marian-multi-separate
  marian-multi: the same
  marian-multi-separate: the same

The same with weights as marian-conv writes them.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" marian-bin marian-intgemm8 marian-intgemm16
  marian-bin: the same
  marian-intgemm8: the same
  marian-intgemm16: the same

Older packages split words with the rules of Moses and BPE codes.

  $ /usr/bin/python3 "$TOP/tools/check_foreign.py" marian-bpe
  marian-bpe: the same

It says what it found.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . marian-clean marian-old marian-rows > /dev/null
  $ skmt convert --from marian-clean
  family      OPUS-MT (Marian)
  languages   deu to eng
  network     2 + 2 layers, d_model 16, 2 heads, feed-forward 40 and 24, ReLU, norms after the blocks
  positions   sines, then cosines, from 0 on, at most 1024
  vocabulary  101 tokens, 2 of which never come out; one table for source, target and output; output bias
  tokenizer   one for each side
  weights     87 tensors, mostly f32, 52 kB
  license     CC-BY-4.0
  nothing is written; name a file with -o FILE

  $ skmt convert --from marian-old --source-lang de --target-lang en | sed -n '/^languages/p;/^note/p;/^warning/p'
  languages   de to en
  warning: decoder.yml says "word-penalty: 0.2", which skmt does not have; translations may have other lengths than those of Marian

  $ skmt convert --from marian-rows | grep '^note'
  note: the files do not say which languages these are; --source-lang and --target-lang do
  note: the table "Wemb" has 3 rows without a piece, which are left out

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . marian-bpe > /dev/null
  $ skmt convert --from marian-bpe --source-lang deu --target-lang en -o bpe.skmt | grep '^note\|^warning'
  note: texts are split by the rules of Moses for de and en, and by BPE codes
  $ echo 'Haus, "Hund"!' | skmt translate -m bpe.skmt | wc -l
  1

  $ skmt convert --from marian-bpe | grep '^warning'
  warning: texts are split by the rules of Moses, which differ between languages, and the languages are not known; say them with --source-lang and --target-lang

The file of the weights is not enough.

  $ skmt convert --from marian-clean/opus.npz
  skmt: marian-clean/opus.npz: these are only the weights of a Marian model; its folder or zip archive is needed, with decoder.yml and the vocabularies
  [1]
