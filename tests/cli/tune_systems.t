# needs: model python3
skmt tune tries the options of the system that --system names.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null; skmt knn build -q --memory my.tm -o my.knn > /dev/null; head -4 "$TOP/tests/data/small/test.tsv" > dev.tsv
  $ echo 's/[0-9]*[0-9]\.[0-9][0-9]\*\?/N/g; s/  */ /g; s/ $//' > numbers.sed

With a datastore alone, the system is vanilla: k and lambda first, then tau.

  $ skmt tune --datastore my.knn --dev dev.tsv --k 4,8 --lambda 0.3,0.6 --tau 10,100 -o best > out; sed -f numbers.sed out | grep -v '^Best\|^tau at'
  Tuned on 4 lines of dev.tsv: 4 sentences
  Settings tried: 5, k and lambda first, then tau
  Without the memory: BLEU N, chrF2 N
  
  k and lambda at tau 100
   BLEU chrF2
  k \ lambda 0.3 0.6 0.3 0.6
   4 N N N N
   8 N N N N
  
   tau 10 100
   BLEU N N
   chrF2 N N
  
  Settings written to best, for skmt translate --settings

The settings file names the system, and has no options that it does not use. The
score is that of a translation with these settings.

  $ sed -n '/^#/d; s/ = .*//p' best; grep system best
  k
  lambda
  tau
  system
  system = vanilla
  $ cut -f1 dev.tsv | skmt translate --datastore my.knn --settings best -q > hyp; skmt score --resamples 0 --ref <(cut -f2 dev.tsv) hyp | sed -n 's/^hyp *BLEU *//p' > score; grep -c "BLEU $(cat score)," out
  1
  $ skmt tune --datastore my.knn --dev dev.tsv --k 4,8 --lambda 0.3,0.6 --tau 10,100 --threads 2 -o best | cmp - out

Other systems have options of their own.

  $ for s in 'efficient --cache 2,6' 'chunk --chunk-lambda 0.2,0.4 --chunk-tau 5'; do skmt tune --datastore my.knn --dev dev.tsv --k 4 --lambda 0.3 --tau 100 --system $s --json > json; python3 -c 'import json; d = json.load(open("json")); print(d["system"], len(d["settings"]), *[k for k in d["best"]])'; done
  efficient 2 k lambda tau cache bleu chrf
  chunk 2 k lambda tau chunk-lambda chunk-tau bleu chrf
  $ skmt tune -M my.tm --dev dev.tsv --m 1,4 --k 2,4 --system learned | sed -n 's/^Settings tried: //p'
  4, m and k first
  $ skmt align -q --pieces "$SKMT_MODEL" --memory my.tm --save my.align --print none; skmt tune -M my.tm --alignment my.align --dev dev.tsv --m 1,4 --pieces-weight 0.5,1 --system pieces -o best | sed -n 's/^Settings tried: //p'; grep -v '^#' best | sed 's/ = .*//'
  4, m and pieces-weight first
  matches
  pieces-weight
  system
  $ skmt tune --datastore my.knn --dev dev.tsv --k 2 --lambda 0.3 --tau 10,20 --full | sed -n 's/^Settings tried: //p; / at /p' | sed 's/k 2, lambda 0.3/S/'
  2, all combinations
  k and lambda at tau 10
  k and lambda at tau 20
  tau at S

What cannot be tuned is an error, before any work is done.

  $ skmt tune --datastore my.knn
  skmt: tune needs --dev FILE for system vanilla: the pairs of a datastore cannot be left out while they are translated
  [2]
  $ skmt tune --system chunk --dev dev.tsv
  skmt: tune needs --datastore FILE for system chunk
  [2]
  $ for s in nmt kok adaptive; do skmt tune --datastore my.knn --dev dev.tsv --system $s; done
  skmt: system nmt has nothing to tune
  skmt: system kok learns from corrections; try its options with 'skmt learn --simulate'
  skmt: system adaptive has a network instead of settings; train it with 'skmt knn train'
  [2]
  $ skmt tune -M my.tm --cache 2,4
  skmt: --cache: system sk does not have this option
  [2]
  $ skmt tune --datastore my.knn --dev dev.tsv -o my.knn
  skmt: my.knn: cannot be both the datastore and an output
  [1]
