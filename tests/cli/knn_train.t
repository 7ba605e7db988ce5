# needs: model tiny python3
skmt knn train finds settings for a datastore from pairs with known translations.
Without -o it only prints.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" -q > /dev/null; skmt knn build --memory my.tm -o my.knn -q > /dev/null
  $ (cat "$TOP/tests/data/small/test.tsv"; sed 's/^/Achtung: /; s/\t/\tCaution: /' "$TOP/tests/data/small/test.tsv") > dev.tsv; cut -f 1 "$TOP/tests/data/small/test.tsv" > in.de
  $ skmt knn train -D my.knn -d dev.tsv -f tsv --no-header -o net | sed 's/[0-9]\.[0-9]\{2,3\}/N/g; s/tau [0-9]*/tau T/; s/k [0-9]*, /k K, /' | grep -v '^  k\|^  tau'
  20 pairs, 254 tokens to learn from, 78 held out
  
  best lambda, and its negative log-likelihood per token:
  
  negative log-likelihood per token:   learned     held
    model alone                          N    N
    network, tau T                      N    N
  
  Use it with --settings net

The file has the system and the network. translate uses them.

  $ grep -v '^#' net | cut -c 1-40 | sed 's/1 [0-9a-f]*/1 MODEL/'; head -1 net | sed 's/train [^ ]*/train V/'
  system = adaptive
  metak = 1 MODEL 20 41a00000 3
  # Found by skmt knn train V on 20 pairs of dev.tsv
  $ skmt translate in.de -o nmt --system nmt; skmt translate --datastore my.knn --settings net in.de -o adaptive; cut -f 2 "$TOP/tests/data/small/test.tsv" > in.en; for f in nmt adaptive; do skmt score --ref in.en $f --metrics bleu --json; done | python3 -c 'import json,re,sys; s = [float(re.search(r"\"score\": *([0-9.]+)", l).group(1)) for l in sys.stdin]; print(len(s), s[0] < s[1])'
  2 True
  $ skmt translate --datastore my.knn --settings net --json --explain in.de | head -1 | grep -o '"trust":0\.[0-9]' | wc -l | awk '{ print ($1 > 5) }'
  1

The same seed gives the same network, with any number of threads; another seed
gives another.

  $ for o in '' '--threads 2' '--seed 1' '--seed 2'; do skmt knn train -D my.knn -d dev.tsv -f tsv --no-header -o other $o > /dev/null; cmp -s net other; echo $?; done
  0
  0
  0
  1

The losses of the network and of fixed settings are below that of the model.

  $ skmt knn train -D my.knn -d dev.tsv -f tsv --no-header --json -k 4 --tau 50 -q > j; python3 -c 'import json; r = json.load(open("j")); print(r["pairs"], r["known"], r["steps"], r["held_steps"], r["tau"], r["network"] < r["plain"], r["held_network"] < r["held_plain"], r["fixed"] < r["plain"], len(r["grid"]), min(g["loss"] for g in r["grid"]) == r["fixed"], r["grid"][int(r["best"])]["k"] == r["fixed_k"])'
  20 0 254 78 50 True True True 54 True True

--system vanilla writes fixed settings.

  $ skmt knn train -s vanilla -D my.knn -d dev.tsv -f tsv --no-header -o fixed | tail -4 | sed 's/[0-9]\.[0-9]\{2,3\}/N/g; s/tau [0-9]*/tau T/; s/k [0-9]*, /k K, /'
    model alone                          N    N
    k K, tau T, lambda N             N    N
  
  Use it with --settings fixed
  $ grep -v '^#' fixed | sed 's/[0-9.]*$//'; skmt translate --datastore my.knn --settings fixed in.de | wc -l
  system = vanilla
  k = 
  tau = 
  lambda = 
  10

Pairs can come from other formats, and --limit takes some of them.

  $ cut -f 1 dev.tsv > d.de; cut -f 2 dev.tsv > d.en; skmt knn train -s vanilla -D my.knn -d d.de -f text --target-file d.en | head -1
  20 pairs, 254 tokens to learn from, 78 held out
  $ skmt knn train -s vanilla -D my.knn -d dev.tsv -f tsv --no-header --limit 19 --json -q | cut -d, -f 1,2
  {"system":"vanilla","pairs":19
  $ cat dev.tsv | skmt knn train -s vanilla -D my.knn -d - -f tsv --no-header | head -1
  20 pairs, 254 tokens to learn from, 78 held out

Pairs that the datastore has are counted. If they are most of them, there is a
warning.

  $ skmt knn train -s vanilla -D my.knn -d "$TOP/tests/data/small/memory.tsv" -f tsv --no-header 2>&1 | head -3
  skmt: warning: 20 of 20 pairs are in the datastore, too; new texts will have fewer near entries than these
  20 pairs, 185 tokens to learn from, 72 held out
  20 pairs are in the datastore, too

Too few pairs.

  $ head -3 dev.tsv > few.tsv; skmt knn train -D my.knn -d few.tsv -f tsv --no-header -o x; ls x
  skmt: there is too little to learn from: 3 pairs with 50 tokens; at least 4 pairs and 200 tokens are needed, and a few hundred pairs are better
  ls: cannot access 'x': No such file or directory
  [2]
  $ : > empty; skmt knn train -D my.knn -d empty -f tsv --no-header; cp my.knn none.knn; skmt tm create dev.tm > /dev/null; skmt knn delete none.knn --missing-from dev.tm > /dev/null; skmt knn train -D none.knn -d dev.tsv -f tsv --no-header
  skmt: there is too little to learn from: 0 pairs with 0 tokens; at least 4 pairs and 200 tokens are needed, and a few hundred pairs are better
  skmt: the datastore has no entries
  [2]

Files that are missing, damaged, or of another model.

  $ skmt knn train -D gone.knn -d dev.tsv; skmt knn train -D my.knn -d gone.tsv; skmt knn train -D dev.tsv -d dev.tsv
  skmt: gone.knn: No such file or directory
  skmt: gone.tsv: No such file or directory
  skmt: dev.tsv is not a datastore; 'skmt knn build' makes one
  [1]
  $ head -c 20000 my.knn > cut.knn; skmt knn train -D cut.knn -d dev.tsv
  skmt: cut.knn is truncated: it has 20000 bytes instead of 184320; copy it again or build it again
  [1]
  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert -q --from tiny -o tiny.skmt; skmt knn train -D my.knn -d dev.tsv -m ./tiny.skmt
  skmt: my.knn was made with another model; build a datastore with this one ('skmt knn build')
  [1]
  $ skmt translate -m ./tiny.skmt --settings net --datastore my.knn in.de
  skmt: metak: the network was trained with another model; train it again with this one (skmt knn train)
  [1]
  $ sed 's/^metak = 1 \(.\{60\}\)./metak = 1 \1x/' net > bad; skmt translate --settings bad --datastore my.knn in.de 2>&1 | cut -c 1-100; skmt translate --system adaptive --datastore my.knn in.de
  bad:5: metak: the network is damaged
  in.de:1: system: adaptive needs a network; train one with 'skmt knn train' and use --settings
  [1]
  $ skmt knn train -D my.knn -d dev.tsv -o /nowhere/x
  skmt: /nowhere/x: No such file or directory
  [1]

Options.

  $ skmt knn train; skmt knn train -D my.knn; skmt knn train -D my.knn -d dev.tsv -s sk; skmt knn train -D my.knn -d dev.tsv -k 3
  skmt: knn train needs --datastore STORE; see 'skmt help knn train'
  skmt: knn train needs --dev FILE; see 'skmt help knn train'
  skmt: --system: 'sk' is not adaptive or vanilla
  skmt: --k: "3" is not 1, 2, 4, 8, 16 or 32
  [2]
  $ skmt knn train -D my.knn -d dev.tsv -s vanilla -k 8; skmt knn train -D my.knn -d dev.tsv --limit 0; skmt knn train -D my.knn -d dev.tsv --tau x; skmt knn train my.knn
  skmt: --k, --tau, --seed and --updates are for --system adaptive
  skmt: --limit: '0' is not a whole number of 1 or more
  skmt: --tau: "x" is not a number from 0 to 1000000
  skmt: knn train: unexpected operand 'my.knn'; see 'skmt help knn train'
  [2]

knn reduce writes a copy with shorter keys, knn merge one with fewer entries. Both
can be done, in any order, each of them once.

  $ skmt knn reduce my.knn --dims 64 -o r.knn | sed 's/[0-9.]*%/N%/'; skmt knn check r.knn; skmt knn info r.knn | grep '^pairs\|^entries\|^d \|^d_model\|^merged'
  r.knn: N% of the variance, 176.1 KB, before 184.3 KB
  r.knn: no problems
  pairs          20
  entries        257
  d              64
  d_model        512
  merged         0
  $ skmt knn merge my.knn -k 4 -o m.knn; skmt knn check m.knn; skmt knn info m.knn | grep '^pairs\|^entries\|^d \|^merged'
  m.knn: 54 entries merged into others, 151.6 KB, before 184.3 KB
  m.knn: no problems
  pairs          20
  entries        203
  d              512
  merged         1
  $ skmt knn reduce m.knn -d 32 -o mr.knn -q --json | python3 -c 'import json,sys; r = json.load(sys.stdin); print(list(r), 0 < r["variance"] < 1)'; skmt knn merge r.knn -o rm.knn --json | cut -d, -f 2; for f in mr rm; do skmt knn check $f.knn; skmt knn info $f.knn | grep '^d \|^merged'; done
  ['file', 'variance', 'bytes_before', 'bytes'] True
  "removed":32
  mr.knn: no problems
  d              32
  merged         1
  rm.knn: no problems
  d              64
  merged         1
  $ skmt knn reduce r.knn -o x.knn; skmt knn reduce mr.knn -o x.knn; skmt knn merge m.knn -o x.knn; skmt knn merge rm.knn -o x.knn; ls x.knn
  skmt: the keys of this datastore are reduced already, to 64 dimensions
  skmt: the keys of this datastore are reduced already, to 32 dimensions
  skmt: the entries of this datastore were merged already; merge the full one with a larger k
  skmt: the entries of this datastore were merged already; merge the full one with a larger k
  ls: cannot access 'x.knn': No such file or directory
  [2]

The weights of a merged datastore add up to the entries of the original.

  $ skmt knn sample m.knn -n 4000 --json | sort -u | python3 -c 'import json,sys; print(sum(round(json.loads(l)["weight"]) for l in sys.stdin))'
  257

Threads do not change the result, and the same seed gives the same one.

  $ echo 'skmt knn sample "$1" -n 4000 --json | sort -u' > all; chmod +x all; skmt knn reduce my.knn -d 64 -o r2.knn --threads 2 -q > /dev/null; skmt knn merge my.knn -k 4 -o m2.knn --threads 2 --seed 1 -q > /dev/null; ./all r.knn | cmp - <(./all r2.knn); ./all m.knn | cmp - <(./all m2.knn)

They can be searched, and trained with. Pairs can be deleted, but not added.

  $ for f in r m mr rm; do for s in vanilla efficient adaptive; do skmt translate --datastore $f.knn --settings net --system $s in.de | wc -l; done; done | uniq -c
       12 10
  $ skmt knn train -s vanilla -D rm.knn -d dev.tsv -f tsv --no-header | head -1
  20 pairs, 254 tokens to learn from, 78 held out
  $ skmt knn delete mr.knn --id 3; skmt knn check mr.knn; skmt knn compact mr.knn -o mrc.knn > /dev/null; skmt knn check mrc.knn; skmt knn info mrc.knn | grep '^pairs\|^d \|^merged'
  1 pair deleted
  mr.knn: no problems
  mrc.knn: no problems
  pairs          19
  d              32
  merged         1
  $ skmt knn add r.knn dev.tsv; skmt knn add m.knn dev.tsv
  skmt: r.knn is a reduced datastore, to which pairs cannot be added; add them to the full one, and reduce it again
  skmt: m.knn is a reduced datastore, to which pairs cannot be added; add them to the full one, and reduce it again
  [2]

All keys, all dimensions: the neighbors are the same, so are the translations.

  $ skmt knn reduce my.knn -d 512 -o all.knn -q | cut -d, -f 1; skmt translate --datastore my.knn in.de -o a; skmt translate --datastore all.knn in.de | cmp - a
  all.knn: 100.0% of the variance

States before the feed-forward block, f16, and source tokens.

  $ skmt knn build --memory my.tm -o f.knn --type f16 --key ffn -q > /dev/null; skmt knn reduce f.knn -d 100 -o fr.knn > /dev/null; skmt knn merge f.knn -o fm.knn > /dev/null; for f in fr fm; do skmt knn check $f.knn; skmt knn info $f.knn | grep '^type\|^key' | paste -sd ' '; skmt translate --datastore $f.knn in.de | wc -l; done
  fr.knn: no problems
  type           f16 key            ffn
  10
  fm.knn: no problems
  type           f16 key            ffn
  10
  $ skmt align -q --pieces de-en --memory my.tm --save my.align --print none; skmt knn build --memory my.tm -o s.knn --sources --alignment my.align -q > /dev/null; skmt knn reduce s.knn -d 100 -o sr.knn > /dev/null; skmt knn merge sr.knn -o srm.knn > /dev/null; skmt knn check srm.knn; skmt knn info srm.knn | grep source_tokens; skmt translate --system fast --datastore srm.knn in.de | wc -l
  srm.knn: no problems
  source_tokens  299
  10

Mistakes.

  $ skmt knn reduce my.knn; skmt knn reduce my.knn -o my.knn; skmt knn reduce my.knn -d 600 -o x.knn; skmt knn reduce my.knn -d 0 -o x.knn; skmt knn reduce cut.knn -o x.knn
  skmt: knn reduce needs -o NEW; see 'skmt help knn reduce'
  skmt: knn reduce needs another file for its output; rename it afterwards
  skmt: keys of 512 dimensions can be reduced to 1 to 512 dimensions, not to 600
  skmt: --dims: '0' is not a whole number of 1 or more
  skmt: cut.knn is truncated: it has 20000 bytes instead of 184320; copy it again or build it again
  [1]
  $ skmt knn merge my.knn -k 65 -o x.knn; skmt knn merge my.knn -o /nowhere/x.knn; skmt knn merge dev.tsv -o x.knn; skmt knn reduce none.knn -o x.knn; ls x.knn
  skmt: --k: the largest number is 64
  skmt: /nowhere/x.knn: No such file or directory
  skmt: dev.tsv is not a datastore; 'skmt knn build' makes one
  skmt: the datastore has no entries
  ls: cannot access 'x.knn': No such file or directory
  [2]
