# needs: model python3
If there is a model, similarity is measured in its pieces; the default model is
used if none is named.

  $ skmt tm create my.tm > /dev/null
  $ printf 'Guten Morgen!\tGood morning!\nGuten Abend!\tGood evening!\n' | skmt tm import my.tm - > /dev/null
  $ skmt tm search my.tm 'Guten Morgen!' | sed -n '1,2p'
  100%  Guten Morgen!
        Good morning!
  $ skmt tm search my.tm 'Guten Morgen!' --json | cmp - <(skmt tm search my.tm 'Guten Morgen!' --json --model "$SKMT_MODEL")

Similarity in words differs from similarity in pieces.

  $ for m in "--model $SKMT_MODEL" --no-model; do skmt tm search my.tm --json $m 'Gutenachtgeschichten Morgen!' | python3 -c 'import json,sys; print(round(json.load(sys.stdin)["matches"][0]["similarity"], 2))'; done | uniq | wc -l
  2

A model that is named must exist; the default model need not exist.

  $ skmt tm search my.tm --model nowhere/x.skmt 'Guten Morgen!'
  skmt: nowhere/x.skmt: No such file or directory
  [3]
  $ skmt tm search my.tm --model x.skmt --no-model 'Guten Morgen!'
  skmt: --model and --no-model cannot be used together
  [2]
  $ mkdir alone; cp "$BUILD/skmt" alone; env -u SKMT_MODEL alone/skmt tm search my.tm 'Guten Morgen!' --json | cmp - <(skmt tm search my.tm 'Guten Morgen!' --json --no-model)

BM25 can count the pieces, too.

  $ skmt tm search my.tm --analyzer subword 'Guten Morgen!' | sed -n '1,2p'
  100%  Guten Morgen!
        Good morning!
  $ skmt tm search my.tm --analyzer subword --no-model 'Guten Morgen!'
  skmt: * (glob)
  [2]

The histogram of similarities, in pieces.

  $ skmt tm stats my.tm --against <(printf 'Guten Morgen!\nGuten Tag!\n') --json | python3 -c 'import json,sys; s = json.load(sys.stdin)["similarity"]; print(s["unit"], s["sentences"], s["exact"])'
  pieces 2 1
