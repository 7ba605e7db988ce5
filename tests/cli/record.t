# needs: model python3 tiny
Every command writes a record of its run with --record FILE. Each command of
the program must be in this list; the last line of the loop finds one that is
missing.

  $ cat > run.sh <<'EOF'
  > run() { name=$1; shift; skmt "$@" --record "$name.json" > "$name.out" 2>&1; echo "$name $?" >> statuses; }
  > printf 'Guten Morgen!\nVielen Dank.\n' > a.de; printf 'Good morning!\nThank you very much.\n' > a.en
  > paste a.de a.en > a.tsv; for i in 1 2 3 4; do cat a.tsv; done > dev.tsv
  > "$BUILD/tools/tiny_model" tiny > /dev/null 2>&1
  > run tm-create tm create a.tm
  > run tm-add tm add a.tm 'Guten Tag' 'Good day'
  > run tm-import tm import a.tm a.tsv
  > run tm-search tm search a.tm 'Guten Morgen!'
  > run tm-edit tm edit a.tm 1 --target 'Hello'
  > run tm-show tm show a.tm 1
  > run tm-export tm export a.tm -o a.tmx
  > run tm-stats tm stats a.tm
  > run tm-list tm list a.tm
  > run tm-set tm set a.tm --priority 3
  > run tm-check tm check a.tm
  > run tm-rebuild tm rebuild a.tm
  > run tm-compact tm compact a.tm
  > run tm-recover tm recover a.tm saved.tm
  > run tm-warm tm warm a.tm --key-file a.keys
  > run translate translate -M a.tm a.de -o a.mt --threads 2
  > skmt serve --listen 127.0.0.1:0 --record serve.json > serve.log 2>&1 & pid=$!
  > for i in $(seq 600); do grep -q 'listening on' serve.log && break; sleep 0.1; done; kill $pid; wait $pid; echo "serve $?" >> statuses
  > run learn learn -M a.tm a.de -c a.en -o learned
  > run score score --ref a.en a.mt
  > run tune tune -M a.tm --dev dev.tsv --m 1 --k 1 --tau 50,100 -o a.settings
  > run align align a.tsv --memory a.tm -o a.links
  > run knn-build knn build --memory a.tm -o a.knn
  > cp a.knn c.knn; run knn-add knn add c.knn --memory a.tm
  > run knn-index knn index --datastore a.knn
  > run knn-delete knn delete c.knn --id 1
  > run knn-check knn check a.knn
  > run knn-info knn info a.knn
  > run knn-sample knn sample a.knn
  > run knn-compact knn compact a.knn -o b.knn
  > run knn-reduce knn reduce a.knn --dims 8 -o r.knn
  > run knn-merge knn merge a.knn -o m.knn
  > for i in 1 2 3 4 5 6 7 8; do sed "s/^/$i /" dev.tsv; done > long.tsv; run knn-train knn train -D a.knn -d long.tsv -f tsv --no-header --updates 100 -o t.settings
  > run knn-involved knn involved --datastore a.knn a.de -o a.pairs
  > run info info
  > run systems systems
  > run convert convert --from tiny --type f32 -o tiny.skmt
  > run model-add model add tiny.skmt
  > run model-default model default tiny
  > run model-list model list
  > run model-remove model remove tiny --yes
  > run tm-delete tm delete a.tm 1
  > run tm-drop tm drop a.tm --name main --yes
  > EOF
  $ bash run.sh; grep -v ' 0$' statuses; cat *.out | grep ^skmt:
  knn-index 2
  skmt: the datastore has * entries; an index needs at least 256, and so small a datastore is searched faster without one (glob)
  $ skmt help options | cut -f 1 | sort -u | while read c; do [ -e "$c.json" ] || echo "no record of $c"; done
  $ cat > check.py <<'EOF'
  > import hashlib, json, os, subprocess, sys
  > def fail(*what): print(name, *what)
  > listed = {}
  > for line in subprocess.run(["skmt", "help", "options"], capture_output=True, text=True).stdout.splitlines():
  >     command, option = line.split("\t")[:2]
  >     listed.setdefault(command, set()).add(option)
  > keys = ["skmt_version", "command", "arguments", "operands", "directory", "options", "model", "memory", "datastore", "index", "outputs",
  >         "processor", "isa", "threads", "started", "elapsed_seconds", "exit_status"]
  > def sha(path): return hashlib.sha256(open(path, "rb").read()).hexdigest()
  > for line in open("statuses"):
  >     name, status = line.split()
  >     r = json.load(open(name + ".json"))
  >     if list(r) != keys: fail("has other keys:", list(r))
  >     if r["command"] != name.replace("tm-", "tm ").replace("knn-", "knn ").replace("model-", "model "): fail("says", r["command"])
  >     if r["skmt_version"] != os.environ["VERSION"]: fail("version", r["skmt_version"])
  >     if r["arguments"][0] != "skmt" or r["arguments"][-2:] != ["--record", name + ".json"]: fail("arguments", r["arguments"])
  >     if r["exit_status"] != int(status): fail("status", r["exit_status"])
  >     if set(r["options"]) != listed[name] - {"help"}: fail("options differ:", set(r["options"]) ^ listed[name])
  >     if len(r["started"]) != 20 or not r["processor"] or not r["isa"]: fail("machine or time")
  >     if (r["memory"] is not None) != (name.startswith("tm-") or name in ("translate", "learn", "tune", "align", "knn-build", "knn-add")): fail("memory", r["memory"])
  >     if (r["model"] is not None) != (name in ("translate", "serve", "learn", "tune", "info", "tm-search", "tm-warm", "knn-build", "knn-add", "knn-sample", "knn-train", "knn-involved")): fail("model", r["model"])
  >     if r["model"] and r["model"]["sha256"] != sha(os.environ["SKMT_MODEL"]): fail("model's checksum")
  >     for o in r["outputs"]:
  >         if name not in ("convert", "tm-export", "translate", "learn", "tune", "align", "knn-build", "knn-compact", "knn-reduce", "knn-merge", "knn-train", "knn-involved"): fail("has an output", o)
  >         if o["sha256"] != sha(o["path"]) or o["bytes"] != os.path.getsize(o["path"]): fail("output's checksum")
  >     if r["options"].get("output") and len(r["outputs"]) != 1: fail("no output")
  > EOF
  $ python3 check.py

The record has the values that were used, not only those that were given: what
the preset and the model decide, and the defaults of the command.

  $ show() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(*(r["options"][k] for k in sys.argv[2:]))' "$@"; }
  > show translate.json memory beam threads lenpen prune max-source k tau matches color name early-stop attention
  > show score.json metrics resamples seed r-stopwords buckets column; show tune.json m k tau lambda limit metric
  > show convert.json type; show tm-create.json name priority; show tm-import.json name; show tm-search.json matches color
  a.tm 4 2 0.6 1.75 120 8 [1-9]* 4 auto None True False (glob)
  bleu,chrf,ter 1000 12345 on 50,100,200,500,1000 None
  1 1 50,100 None 200 bleu
  f32
  main 0
  main
  5 auto
  $ skmt info | grep checksum | tr -s ' ' | cut -d ' ' -f 2 > sum; python3 -c 'import json; print(json.load(open("translate.json"))["model"]["checksum"] == open("sum").read().strip())'
  True

The state of the memory at the start and at the end shows what has changed.

  $ python3 -c '
  > import json
  > state = lambda c, when: json.load(open(c + ".json"))["memory"][when]
  > print([state("tm-import", w)["pairs"] for w in ("at_start", "at_end")])
  > print(state("tm-import", "at_start")["last_change"] < state("tm-import", "at_end")["last_change"])
  > print(state("translate", "at_start") == state("translate", "at_end"))
  > print(len({state(c, "at_end")["identity"] for c in ("tm-create", "tm-search", "translate", "tm-drop")}))'
  [1, 3]
  True
  True
  1

An option that was given several times has all its values; a flag is true.

  $ skmt tm create b.tm --name x > /dev/null; skmt tm create b.tm --name y > /dev/null; echo Ja | skmt translate -M b.tm -n x --name=y --no-early-stop --quiet --record=r.json > /dev/null
  > python3 -c 'import json; o = json.load(open("r.json"))["options"]; print(o["name"], o["early-stop"], o["quiet"], o["json"])'
  ['x', 'y'] False True False

A run that fails has a record, too. After a usage error there is none.

  $ printf 'x\377\n' | skmt translate --record bad.json; grep exit_status bad.json
  standard input:1: byte 2 is not valid UTF-8 (try --invalid=replace)
    "exit_status": 1
  $ skmt translate --record usage.json --bema 3; ls usage.json
  skmt: translate: unknown option '--bema'; did you mean '--beam'?
  ls: cannot access 'usage.json': No such file or directory
  [2]
  $ skmt translate --recrod x
  skmt: translate: unknown option '--recrod'; did you mean '--record'?
  [2]

A record that cannot be written is an error, reported before the work begins if
possible. It never replaces a file that the command uses.

  $ echo Ja | skmt translate --record /dev/full
  Yes
  skmt: /dev/full: No space left on device
  [1]
  $ for f in none/r.json . ''; do echo Ja | skmt translate --record "$f"; echo $?; done
  skmt: none/r.json: No such file or directory
  1
  skmt: .: Is a directory
  1
  skmt: --record needs the name of a file
  2
  $ (ulimit -f 1; echo Ja | skmt translate --record limited.json); echo $?; ls limited* 2> /dev/null
  Yes
  skmt: limited.json: File too large
  1
  [2]
  $ cp "$SKMT_MODEL" m.skmt; ln m.skmt link; sha256sum m.skmt a.tm a.de > before
  $ for f in a.de ./a.de a.tm link m.skmt out; do SKMT_MODEL=./m.skmt skmt translate -M a.tm a.de -o out --record $f; echo $?; done; sha256sum -c --quiet before
  skmt: a.de: --record names a file that this command reads or writes
  2
  skmt: ./a.de: --record names a file that this command reads or writes
  2
  skmt: a.tm: --record names a file that this command reads or writes
  2
  skmt: link: --record names a file that this command reads or writes
  2
  skmt: m.skmt: --record names a file that this command reads or writes
  2
  skmt: out: --record names a file that this command reads or writes
  2

This holds for files that do not exist yet, however their paths are written.
If the command creates the file through a symbolic link, the record is refused
at the end, and the output stays.

  $ mkdir new; ln -s new newlink; echo Ja > ja.txt
  $ for f in ./x.out new/../x.out "$PWD/x.out"; do skmt translate -o x.out --record "$f" ja.txt 2>&1 | sed "s:$PWD:DIR:"; done; ls x.out
  skmt: ./x.out: --record names a file that this command reads or writes
  skmt: new/../x.out: --record names a file that this command reads or writes
  skmt: DIR/x.out: --record names a file that this command reads or writes
  ls: cannot access 'x.out': No such file or directory
  [2]
  $ skmt translate -o new/x.out --record newlink/x.out ja.txt
  skmt: newlink/x.out: --record names a file that this command reads or writes
  [2]
  $ skmt tm create ./fresh.tm --record fresh.tm
  skmt: fresh.tm: --record names a file that this command reads or writes
  [2]
  $ ln -s y.out ylink; skmt translate -o ylink --record y.out ja.txt; echo $?; cat y.out
  skmt: y.out: --record names a file that this command reads or writes
  2
  Yes
  $ skmt translate -o new/z --record z ja.txt; cat new/z; grep exit_status z
  Yes
    "exit_status": 0
  $ ls | grep -e 'json\.'
  [1]

A record that replaces a file keeps the permissions of that file. A new file
gets the usual ones.

  $ rm -f p.json; umask 022; for mode in 600 640 new; do [ $mode = new ] && rm p.json || { : > p.json; chmod $mode p.json; }
  > skmt tm stats a.tm --record p.json > /dev/null; stat -c '%a' p.json; grep -c exit_status p.json; done
  600
  1
  640
  1
  644
  1

Checksums are those of sha256sum, for files of any length.

  $ for n in 1 51 52 53 60 61 62 116 117 100000; do rm -rf s.tm*; skmt tm create s.tm > /dev/null; (printf 'a\t'; head -c $n /dev/zero | tr '\0' 'x'; echo) | skmt tm add s.tm > /dev/null
  > skmt tm export s.tm --format tsv -o s.tsv --record s.json > /dev/null; grep -q "\"$(sha256sum < s.tsv | cut -d ' ' -f 1)\"" s.json || echo $n; done; wc -c < s.tsv
  100003
