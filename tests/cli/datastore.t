# needs: model tiny python3
skmt translate --datastore searches all pairs of a datastore at each step.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null
  $ skmt align -q --pieces de-en --memory my.tm --save my.align --print none; skmt knn build --memory my.tm -o my.knn --sources --alignment my.align -q > /dev/null; skmt knn build --memory my.tm -o plain.knn -q > /dev/null
  $ (cut -f 1 "$TOP/tests/data/small/test.tsv"; echo; echo 'Guten Tag. Der Ventilator steht still.') > text
  $ skmt translate --datastore my.knn text | head -3
  Open the service hatch before you start work.
  The recovery core of the AeroPax 500 once a year.
  Replace the air filter every six months.
  $ skmt translate --datastore my.knn text > vanilla; skmt translate --datastore my.knn --system vanilla text | cmp - vanilla; skmt translate --datastore plain.knn text | cmp - vanilla
  $ skmt translate text > alone; skmt translate --datastore my.knn --system nmt text | cmp - alone; skmt translate --datastore my.knn --lambda 0 text | cmp - alone

Every system that uses a datastore gives the same output with any batch size and
number of threads: text, scores and explanations.

  $ for s in vanilla efficient chunk fast 'vanilla --cache 4' 'vanilla --k 1 --lambda 0.9' 'chunk --chunk-first 4 --chunk 4'; do
  >     for b in '--batch 1' '--batch 16' '--batch 5 --threads 2'; do skmt translate --datastore my.knn --system $s $b --explain --json --nbest 3 text > "out ${b:8:2}"; done
  >     cmp 'out 1' 'out 16'; cmp 'out 1' 'out 5 '; python3 -c 'import json,sys; l = [json.loads(x) for x in sys.stdin]; print(len(l), sum(len(x.get("nbest", [])) for x in l) > 22, sum(bool(t["votes"]) for x in l for s in x.get("segments", []) for t in s["tokens"]) > 50)' < 'out 1'
  > done
  12 True True
  12 True True
  12 True True
  12 True True
  12 True True
  12 True True
  12 True True
  $ for s in vanilla efficient chunk fast; do skmt translate --datastore my.knn --system $s text | cmp -s - alone || echo $s; done
  vanilla
  efficient
  chunk
  fast

An explanation names the pairs, without a similarity and without a memory.

  $ echo 'Reinigen Sie die Kondensatwanne.' > one; skmt translate --datastore my.knn --k 2 --explain one | sed -n '1,3p'
  Rinse the condens.
    weight  word              votes: pair, position in its target
       50%  Rinse             #1 at 0-2, #2 at 0 for "Al", #3 at 5, #3 at 6 for "n"
  $ skmt translate --datastore my.knn --k 2 --explain one | grep '^  #1 ' -A 2
    #1        Reinigen Sie die Kondensatwanne mit warmem Wasser.
              {Rinse the} drip tray with warm water{.}
              id 6
  $ skmt translate --datastore my.knn --explain --json one | python3 -c 'import json,sys; s = json.load(sys.stdin)["segments"][0]; print({tuple(p) for p in s["pairs"]}); print({len(t["votes"]) for t in s["tokens"]}, {t["trust"] for t in s["tokens"]})'
  {('id', 'source', 'target', 'exact')}
  {8} {0.5}
  $ skmt translate --datastore my.knn --html page one > /dev/null; grep -c 'similar' page; grep -o 'Pair 1[^<]*' page | head -1
  0
  Pair 1, id 6
  $ skmt translate -M my.tm --explain --json one | python3 -c 'import json,sys; print({tuple(p) for p in json.load(sys.stdin)["segments"][0]["pairs"]})'
  {('id', 'memory', 'source', 'target', 'similarity', 'exact')}

All k neighbors vote. A store with fewer entries than k is enough.

  $ printf 'Guten Tag\tGood day\n' > t.tsv; skmt tm create t.tm > /dev/null; skmt tm import t.tm t.tsv -q > /dev/null; skmt knn build --memory t.tm -o t.knn -q > /dev/null; for s in vanilla efficient chunk; do skmt translate --datastore t.knn --system $s --k 64 --explain --json one | python3 -c 'import json,sys; print({len(t["votes"]) for t in json.load(sys.stdin)["segments"][0]["tokens"]})'; done
  {3}
  {3}
  {3}

N-best lists have the scores of the mixture.

  $ skmt translate --datastore my.knn --nbest 2 one | cut -f 1,2,4
  1	1	Rinse the condens.
  1	2	Rinse the drip tray.
  $ skmt translate --datastore my.knn --nbest 4 one | awk -F '\t' '$3 > last && NR > 1 { print "not sorted" } { last = $3 } END { print NR }'
  4

A record names the datastore.

  $ skmt translate --datastore my.knn one --record r.json > /dev/null; python3 -c 'import json; r = json.load(open("r.json")); print(r["options"]["system"], r["options"]["k"], r["memory"], r["datastore"]["path"].split("/")[-1], r["datastore"]["entries"])'
  vanilla 8 None my.knn 257

What is missing is said.

  $ skmt translate --system vanilla one; skmt translate --datastore my.knn --system adaptive one; skmt translate --datastore plain.knn --system fast one
  one:1: system: vanilla needs a datastore; make one with 'skmt knn build' and use --datastore FILE
  one:1: system: adaptive needs a network; train one with 'skmt knn train' and use --settings
  one:1: system: fast needs a datastore with source tokens; make one with 'skmt knn build --sources'
  [1]
  $ skmt translate --datastore my.knn --system kok one; skmt translate --datastore my.knn --metak 'none such' one
  one:1: system: kok learns from corrections; use it with 'skmt learn'
  skmt: --metak: the network has a form that this version of skmt does not know; train it again (skmt knn train)
  [2]

The store of another model, an unfinished one, damaged ones, and other files are
refused.

  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert -q --from tiny -o tiny.skmt; skmt translate --datastore my.knn -m ./tiny.skmt one
  skmt: my.knn was made with another model; build a datastore with this one ('skmt knn build')
  [1]
  $ (ulimit -f 100; skmt knn build --memory my.tm -o u.knn --block 40 2> /dev/null); skmt translate --datastore u.knn one
  skmt: u.knn is unfinished: building it was interrupted; run the same 'skmt knn build' again to continue
  [2]
  $ printf 'import sys\nf = open(sys.argv[1], "r+b")\nf.seek(int(sys.argv[2]))\nb = f.read(1)\nf.seek(-1, 1)\nf.write(bytes([b[0] ^ 1]))\n' > poke.py
  $ cp plain.knn d.knn; python3 poke.py d.knn 8500; skmt translate --datastore d.knn one; head -c 100000 plain.knn > d.knn; skmt translate --datastore d.knn one; : > d.knn; skmt translate --datastore d.knn one; skmt translate --datastore my.tm one; skmt translate --datastore none.knn one
  skmt: d.knn is damaged: the block at byte 8192 has changed since it was written (its checksum is wrong); restore the file or build it again
  skmt: d.knn is truncated: it has 100000 bytes instead of 184320; copy it again or build it again
  skmt: d.knn is empty: creating the datastore was interrupted; delete it, or build it again
  skmt: my.tm is not a datastore; 'skmt knn build' makes one
  skmt: none.knn: No such file or directory
  [1]
  $ cp my.knn d.knn; skmt translate --datastore d.knn one -o d.knn; cmp my.knn d.knn
  skmt: d.knn: cannot be both the datastore and the output

Deleted pairs are not found.

  $ cp my.knn d.knn; skmt knn delete d.knn --id 6; skmt translate --datastore d.knn --explain --json one | grep -c Kondensatwanne.mit
  1 pair deleted
  0
  [1]
