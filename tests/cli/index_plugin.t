# needs: model plain python3 /usr/include/faiss/IndexIVFPQ.h
skmt knn index and translate --index, with the plug-in for Faiss
(libfaiss-dev).

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null; skmt knn build --memory my.tm -o my.knn -q > /dev/null; cp my.knn old.knn
  $ cut -f 1 "$TOP/tests/data/small/memory.tsv" | tail -n +2 | head -12 > in.txt
  $ skmt knn index --datastore my.knn
  my.knn.index: 257 entries in 4 lists, * KB, * s (glob)
  $ skmt knn info my.knn.index | grep -v '^model\|^store '
  file           my.knn.index
  entries        257
  stored         257
  bytes          555,200
  d              512
  lists          4
  subvectors     64
  probes         32
  sample         257
  $ [ "$(skmt knn info my.knn.index | grep '^store ')" = "$(skmt knn info my.knn | grep '^store ')" ] && echo same
  same
  $ skmt knn index --datastore my.knn -o two.index --lists 2 --subvectors 32 --probes 1 --threads 2 --json | python3 -c 'import json,sys; r = json.load(sys.stdin); print(r["lists"], r["subvectors"], r["probes"], r["entries"])'
  2 32 1 257
  $ skmt knn index --datastore my.knn -o two.index --subvectors 100
  skmt: subvectors: keys have 512 numbers, which cannot be divided into 100 equal parts
  [2]

All lists and many candidates give the translations of the exact search, with
every system that searches a datastore.

  $ for s in vanilla efficient chunk; do skmt translate --system $s --datastore my.knn in.txt > exact; skmt translate --system $s --datastore my.knn --index my.knn.index --rerank 64 in.txt | cmp - exact && echo $s; done
  vanilla
  efficient
  chunk

Merging finds the nearest entries by the index. With all candidates, the result
is that of the exact search.

  $ skmt knn merge my.knn -k 4 -o exact.knn -q > /dev/null; skmt knn merge my.knn -k 4 --index my.knn.index -o few.knn -q --record r.json; python3 -c 'import json; r = json.load(open("r.json"))["index"]; print(r["rerank"])'; for f in exact few; do skmt knn sample $f.knn -n 4000 --json | sort > $f; done; cmp exact few
  few.knn: * (glob)
  16
  $ skmt knn merge old.knn --index two.index -o few.knn -q > /dev/null; skmt knn merge my.knn --index none -o few.knn
  skmt: none: No such file or directory
  [1]

With fewer lists, near entries of other lists are not found.

  $ skmt knn index --datastore my.knn -o 64.index --lists 64 --subvectors 32 -q > /dev/null; for p in 1 64; do skmt knn merge my.knn -k 16 --index 64.index --probes $p -o p.knn -q --json --record r.json > $p; skmt knn merge my.knn -k 16 --index 64.index --probes $p --threads 2 -o p2.knn -q > log; for f in p p2; do skmt knn sample $f.knn -n 4000 --json > $f.all; done; cmp p.all p2.all; python3 -c 'import json; print(json.load(open("r.json"))["index"]["probes"])'; done; python3 -c 'import json; a, b = (json.load(open(n))["removed"] for n in ("1", "64")); print("fewer" if 0 < a < b else (a, b))'
  1
  64
  fewer
  $ skmt knn merge my.knn --probes 2 -o few.knn; skmt knn merge my.knn --index two.index --probes 0 -o few.knn
  skmt: --probes needs --index
  skmt: --probes: '0' is not a whole number of 1 or more
  [2]

The batch and threads do not matter.

  $ skmt translate --datastore my.knn --index two.index --rerank 0 in.txt > a; skmt translate --datastore my.knn --index two.index --rerank 0 --batch 1 in.txt | cmp - a; skmt translate --datastore my.knn --index two.index --rerank 0 --threads 2 in.txt | cmp - a

The record has it.

  $ skmt translate --datastore my.knn --index two.index --probes 2 in.txt --record r.json > /dev/null; python3 -c 'import json; r = json.load(open("r.json"))["index"]; print(r["lists"], r["probes"], r["rerank"], r["path"].endswith("two.index"))'
  2 2 4 True

Pairs that are added are found. Pairs that are deleted are not.

  $ printf 'Der Fuchs ist blau.\tThe fox is entirely purple.\n' > more.tsv; skmt knn add my.knn more.tsv -f tsv --no-header -q > /dev/null
  $ echo 'Der Fuchs ist blau.' > f; skmt translate --datastore my.knn --index my.knn.index --lambda 0.8 f
  The fox is entirely purple.
  $ skmt knn index --datastore my.knn -q > /dev/null; skmt translate --datastore my.knn --index my.knn.index --lambda 0.8 f
  The fox is entirely purple.
  $ skmt knn delete my.knn --source 'Der Fuchs ist blau.' > /dev/null; skmt translate --datastore my.knn --index my.knn.index --lambda 0.8 f > a; skmt translate --datastore my.knn --lambda 0.8 f | cmp - a; grep -c purple a
  0
  [1]

Other contents, another datastore, damage.

  $ skmt translate --datastore old.knn --index my.knn.index f
  skmt: my.knn.index was built from other contents of the datastore; build it again ('skmt knn index')
  [1]
  $ skmt knn compact my.knn -o new.knn > /dev/null; skmt translate --datastore new.knn --index my.knn.index f
  skmt: my.knn.index is the index of another datastore; build one for this datastore ('skmt knn index')
  [1]
  $ head -c 300000 my.knn.index > cut.index; skmt translate --datastore my.knn --index cut.index f
  skmt: cut.index is truncated: it has 300000 bytes instead of *; copy it again or build it again (glob)
  [1]
  $ python3 -c 'd = bytearray(open("my.knn.index", "rb").read()); d[400000] ^= 1; open("bad.index", "wb").write(d)'; skmt translate --datastore my.knn --index bad.index f
  skmt: bad.index is damaged: its checksum is wrong; build it again ('skmt knn index')
  [1]
  $ skmt knn info bad.index
  skmt: bad.index is damaged: its checksum is wrong; build it again ('skmt knn index')
  [1]
  $ SKMT_PLUGINS=/none skmt translate --datastore my.knn --index my.knn.index f 2>&1 | cut -c 1-75
  skmt: an IVF-PQ index needs the plug-in skmt-faiss.so, which is missing; in

An index that is being built when the command is killed leaves the old one.

  $ cp my.knn.index before; for t in 0.05 0.1 0.2 0.4; do (timeout -s KILL $t skmt knn index --datastore my.knn -q > /dev/null 2>&1; exit) 2> /dev/null; cmp -s my.knn.index before || skmt knn info my.knn.index > /dev/null; done
