# needs: model python3
skmt knn involved lists a small set of pairs for each line: every step of the
translation has a neighbor of one of them.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null; skmt knn build --memory my.tm -o my.knn -q > /dev/null
  $ (cut -f 1 "$TOP/tests/data/small/test.tsv"; echo; echo 'Guten Tag. Der Ventilator steht still. Guten Tag.') > text; wc -l < text
  12
  $ skmt knn involved --datastore my.knn --stats text > pairs 2> stats; wc -l < pairs; cut -c 1-79 pairs | sed -n '3p;11p'
  12
  {"src":"Wechseln Sie den Abluftfilter alle zwölf Monate.","tm":[["Wechseln Sie
  {"src":"","tm":[]}
  $ skmt translate --datastore my.knn --explain --json text > explained; python3 "$TOP/tools/check_involved.py" explained pairs
  12 lines, 148 steps, 15 pairs

The statistics agree with the list and the datastore.

  $ cat > stats.py <<'EOF'
  > import json
  > s = json.load(open("stats")); e = [json.loads(l) for l in open("explained")]; p = [json.loads(l)["tm"] for l in open("pairs")]
  > n = {}
  > import subprocess
  > for l in subprocess.run("skmt knn sample my.knn -n 10000 --json", shell=True, capture_output=True, text=True).stdout.splitlines():
  >     l = json.loads(l); n.setdefault((l["source"], l["target"]), set()).add(l["position"])
  > near = lambda a, b: abs(a - b) < 1e-4 * abs(b) + 1e-9
  > tokens = [t for l in e for g in l.get("segments", []) for t in g["tokens"]]
  > print(s["lines"] == len(p), s["steps"] == len(tokens), s["steps_with_neighbors"] == sum(bool(t["votes"]) for t in tokens))
  > print(near(s["neighbors_per_line"], sum(len(t["votes"]) for t in tokens) / len(p)), near(s["pairs_per_line"], sum(map(len, p)) / len(p)), s["most_pairs"] == max(map(len, p)))
  > entries = sum(len(n[tuple(x)]) for l in p for x in l) / len(p)
  > print(near(s["entries_per_line"], entries), near(s["f16_bytes_per_line"], entries * 1024))
  > d = len({tuple(x) for l in p for x in l}); print(s["different_pairs"] == d, near(s["share"], d / 20))
  > EOF
  $ python3 stats.py
  True True True
  True True True
  True True
  True True

SK-MT translates with these pairs only.

  $ skmt translate --pairs pairs --preset sk2 --matches 100 text | sed -n '2,3p'
  Clean the recovery core of the AeroPax 500 once a year.
  Replace the air filter every twelve months.
  $ skmt translate --pairs pairs --preset sk2 --matches 100 --explain --json text | python3 -c 'import json,sys; print(all(len(s["pairs"]) == len(json.loads(p)["tm"]) for l, p in zip(sys.stdin, open("pairs")) for s in json.loads(l).get("segments", [])))'
  True

The list does not depend on threads and batch size, and goes to a file with -o.
Other options and systems change it.

  $ skmt knn involved --datastore my.knn --threads 2 --batch 1 -o p2 text; cmp pairs p2; skmt knn involved --datastore my.knn < text | cmp - pairs
  $ for o in '--k 1' '--system efficient' '--system chunk' '--k 3 --lambda 0.2 --beam 1'; do skmt knn involved --datastore my.knn $o text > p; skmt translate --datastore my.knn $o --explain --json text > e; python3 "$TOP/tools/check_involved.py" e p | sed 's/, [0-9]* pairs/, N pairs/;s/, [0-9]* steps/, N steps/'; done
  12 lines, N steps, N pairs
  12 lines, N steps, N pairs
  12 lines, N steps, N pairs
  12 lines, N steps, N pairs

The checker finds a pair that is missing.

  $ sed '1s/\[\["[^]]*\],/[/' pairs > p; python3 "$TOP/tools/check_involved.py" explained p | cut -d : -f 1
  line 1
  line 1
  12 lines, 148 steps, 14 pairs

Settings from a file, and a record of the run.

  $ echo 'k = 1' > one.settings; skmt knn involved --datastore my.knn --settings one.settings text > p; skmt knn involved --datastore my.knn --k 1 text | cmp - p; skmt knn involved --datastore my.knn --settings one.settings --k 8 text --record r.json | cmp - pairs
  $ python3 -c 'import json; r = json.load(open("r.json")); print(r["command"], r["options"]["k"], r["options"]["system"], r["datastore"]["path"].split("/")[-1], r["operands"])'
  knn involved 8 vanilla my.knn ['text']

Errors.

  $ skmt knn involved text; skmt knn involved --datastore my.knn --system sk text; skmt knn involved --datastore no.knn text; skmt knn involved --datastore my.knn missing
  skmt: knn involved needs --datastore STORE; see 'skmt help knn involved'
  skmt: knn involved needs a --system that searches a datastore, such as vanilla
  skmt: no.knn: No such file or directory
  skmt: missing: No such file or directory
  [1]
  $ printf 'gut\nb\xff\n' | skmt knn involved --datastore my.knn
  standard input:2: the line is not valid UTF-8
  [1]
  $ skmt knn involved --datastore my.knn --k 99 text
  skmt: --k: "99" is not a whole number from 0 to 64
  [2]
  $ skmt knn involved --datastore my.knn --system adaptive text
  text:1: system: adaptive needs a network; train one with 'skmt knn train' and use --settings
  [1]
  $ skmt knn involved --datastore my.knn text -o text; skmt knn involved --datastore my.knn text -o my.knn; wc -l < text; skmt knn check my.knn
  skmt: text: cannot be both the input and the output
  skmt: my.knn: cannot be both the datastore and the output
  12
  my.knn: no problems
  $ skmt knn involved --datastore my.knn text -o no/where; skmt knn involved --datastore my.knn text > /dev/full
  skmt: no/where: No such file or directory
  skmt: cannot write to standard output
  [1]
