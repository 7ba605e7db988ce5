# needs: model tiny python3
skmt knn build makes a datastore of a memory. Each distinct pair is stored once.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null
  $ skmt knn build --memory my.tm -o my.knn
  20 pairs stored, 257 entries, * s, * entries/s (glob)
  my.knn: 20 pairs, 257 entries, 184.3 KB
  $ skmt knn info my.knn | grep -v '^model\|^memory\|^store '
  file           my.knn
  type           int8
  key            final
  pairs          20
  deleted        0
  entries        257
  stored         257
  bytes          184,320
  blocks         1
  d              512
  d_model        512
  vocabulary     16,000
  eos            1
  merged         0
  source_tokens  0
  unfinished     0
  $ skmt knn check my.knn
  my.knn: no problems

Two threads give the same file, apart from its random number.

  $ echo 'skmt knn sample "$1" -n 3000 --json | sort -u' > all; chmod +x all; skmt knn build --memory my.tm -o two.knn --threads 2 > /dev/null; ./all my.knn | wc -l; ./all my.knn | cmp - <(./all two.knn)
  257

Entries are tokens with what was before them.

  $ skmt knn sample my.knn -n 2 --seed 6 | sed 's/norm [0-9.]*/norm N/'
  pair 3 (id 4), position 8, token 438 ▁A, norm N
      Der Wärmetauscher des AeroPax 300 muss einmal im Jahr gereinigt werden.
      Clean the recovery core of the [A]eroPax 300 once a year.
  pair 5 (id 6), position 11, token 1477 ▁water, norm N
      Reinigen Sie die Kondensatwanne mit warmem Wasser.
      Rinse the drip tray with warm [water].
  $ skmt knn sample my.knn -n 400 | grep -c '\[</s>\]$' | awk '{ print ($1 > 5) }'
  1
  $ ./all my.knn | python3 -c 'import json,sys; bad = 0
  > for e in map(json.loads, sys.stdin): t = e["target"].encode(); w = t[e["begin"]:e["end"]].decode().strip(); bad += w != e["text"].strip("▁") and e["text"] != "</s>" or not 5 < e["norm"] < 30
  > print(bad)'
  0

Other states, other types, no EOS.

  $ skmt knn build --memory my.tm -o f.knn --type f16 --key ffn --no-eos --json | python3 -c 'import json,sys; r = json.load(sys.stdin); print(r["added"], r["entries"], r["stored"], r["pairs"], r["bytes"])'
  20 237 237 20 278528
  $ skmt knn info f.knn --json | python3 -c 'import json,sys; r = json.load(sys.stdin); print(r["type"], r["key"], r["eos"], r["memory"] != "")'
  f16 ffn 0 True

A random sample.

  $ for s in 1 1 2; do rm -f s.knn; skmt knn build --memory my.tm -o s.knn --limit 5 --seed $s -q | tail -1 | cut -d, -f 1; ./all s.knn | grep -o '"id":[0-9]*' | sort -u | tr -dc '0-9\n' | paste -sd ' '; done > samples; sort -u samples | wc -l; head -1 samples
  3
  s.knn: 5 pairs

A memory of the file can be chosen.

  $ skmt tm create my.tm --name other > /dev/null; skmt tm add my.tm -n other 'Guten Tag' 'Good day'
  21
  $ skmt knn build --memory my.tm -n other -o o.knn | tail -1 | cut -d, -f 1
  o.knn: 1 pair

Pairs that the datastore does not have yet are added, from a memory or a file.

  $ skmt knn add my.knn --memory my.tm | grep -v ' s, '
  20 pairs already in the datastore
  my.knn: 21 pairs, 260 entries, 221.2 KB
  $ printf 'Guten Tag\tGood day\nGuten Abend\tGood evening\n\tnothing\nGuten Abend\tGood evening\n' > a.tsv; skmt knn add my.knn a.tsv -f tsv --no-header | sed 's/, [0-9.]* s.*//'
  1 pair stored, 3 entries
  2 pairs already in the datastore
  1 pair left out because a text is empty
  my.knn: 22 pairs, 263 entries, 258.0 KB
  $ printf 'Danke\tThanks\n' | skmt knn add my.knn - -f tsv --json -q | python3 -c 'import json,sys; r = json.load(sys.stdin); print(r["added"], r["known"], r["pairs"])'
  1 0 23
  $ skmt knn check my.knn
  my.knn: no problems

Pairs are deleted by their id in the memory, by their texts, or because a memory
does not have them. They are not found from then on.

  $ skmt knn delete my.knn --id 3 --id 4 --id 999
  2 pairs deleted
  $ skmt knn delete my.knn --source 'Guten Tag' --target 'Good day'; skmt knn delete my.knn --target 'nothing' --json
  1 pair deleted
  {"file":"my.knn","deleted":0}
  $ skmt tm delete my.tm 1 > /dev/null; skmt knn delete my.knn --missing-from my.tm
  3 pairs deleted
  $ skmt knn delete my.knn --missing-from my.tm -n other | cut -d ' ' -f 1
  17
  $ skmt knn info my.knn | grep '^pairs\|^deleted\|^entries\|^stored\|^blocks'
  pairs          0
  deleted        23
  entries        0
  stored         265
  blocks         4
  $ skmt knn sample my.knn; skmt knn check my.knn
  my.knn: no problems

What was deleted can be added again. A compact copy has large blocks and nothing
that was deleted.

  $ skmt knn add my.knn --memory my.tm -q | tail -1; skmt knn compact my.knn -o small.knn
  my.knn: 20 pairs, 510 entries, 454.7 KB
  small.knn: 151.6 KB, before 454.7 KB
  $ ./all my.knn | sed 's/"pair":[0-9]*//' | sort | cmp - <(./all small.knn | sed 's/"pair":[0-9]*//' | sort); skmt knn check small.knn
  small.knn: no problems
  $ skmt knn compact my.knn -o my.knn
  skmt: knn compact needs another file for its output; rename it afterwards
  [2]

With --sources, the tokens of the sources are stored with their links.

  $ skmt align -q --pieces de-en --memory my.tm --save my.align --print none; skmt align -q --memory my.tm --save words.align --print none
  $ skmt knn build --memory my.tm -o src.knn --sources --alignment my.align -q | tail -1
  src.knn: 20 pairs, 245 entries, 299.0 KB
  $ skmt knn info src.knn | grep source_tokens; skmt knn check src.knn
  source_tokens  279
  src.knn: no problems
  $ skmt knn add src.knn a.tsv
  skmt: this datastore has source tokens, so adding pairs needs an alignment of pieces
  [2]
  $ skmt knn add src.knn a.tsv -f tsv --no-header -a my.align | head -1 | cut -d, -f 1
  1 pair stored
  $ skmt knn build --memory my.tm -o bad.knn --sources --alignment words.align
  skmt: words.align: these parameters are for texts split into words, not pieces
  [2]

A finished datastore is not overwritten.

  $ skmt knn build --memory my.tm -o small.knn
  skmt: small.knn exists already; use 'skmt knn add' to add pairs to it, or delete it first
  [2]

Another model's datastore is refused.

  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert -q --from tiny -o tiny.skmt; skmt knn add small.knn a.tsv -m ./tiny.skmt
  skmt: small.knn was made with another model; build a datastore with this one ('skmt knn build')
  [1]
  $ skmt knn sample small.knn -m ./tiny.skmt
  skmt: small.knn was made with another model; build a datastore with this one ('skmt knn build')
  [1]

Files that are damaged, truncated, or something else.

  $ printf 'import sys\nf = open(sys.argv[1], "r+b")\nf.seek(int(sys.argv[2]))\nb = f.read(1)\nf.seek(-1, 1)\nf.write(bytes([b[0] ^ 1]))\n' > poke.py
  $ cp small.knn d.knn; python3 poke.py d.knn 8500; skmt knn info d.knn
  skmt: d.knn is damaged: the block at byte 8192 has changed since it was written (its checksum is wrong); restore the file or build it again
  [1]
  $ cp small.knn d.knn; python3 poke.py d.knn 100000; skmt knn info d.knn | grep '^pairs'; skmt knn check d.knn
  pairs          20
  the block at byte 8192: its keys have changed since they were written (their checksum is wrong)
  d.knn: 1 problem
  [1]
  $ cp small.knn d.knn; python3 poke.py d.knn 30; skmt knn check d.knn --json; skmt knn delete d.knn --id 5; skmt knn check d.knn
  {"file":"d.knn","problems":["copy 1 of the header is damaged; the next change of the datastore repairs it"]}
  1 pair deleted
  d.knn: no problems
  $ head -c 100000 small.knn > d.knn; skmt knn info d.knn
  skmt: d.knn is truncated: it has 100000 bytes instead of 151552; copy it again or build it again
  [1]
  $ skmt knn delete d.knn --id 5
  skmt: d.knn is truncated; copy it again or build it again
  [1]
  $ skmt knn info my.tm; skmt knn info nowhere.knn; : > empty.knn; skmt knn info empty.knn; skmt knn build --memory my.tm -o my.align
  skmt: my.tm is not a datastore; 'skmt knn build' makes one
  skmt: nowhere.knn: No such file or directory
  skmt: empty.knn is empty: creating the datastore was interrupted; delete it, or build it again
  skmt: my.align is not a datastore; 'skmt knn build' makes one
  [1]
  $ skmt knn build --memory my.tm -o empty.knn | tail -1 | cut -d, -f 1
  empty.knn: 20 pairs

On a full disk the datastore keeps what was stored, and the same command
continues when there is room again.

  $ (ulimit -f 100; skmt knn build --memory my.tm -o full.knn --block 40); skmt knn info full.knn | grep '^unfinished'
  skmt: full.knn: File too large; the datastore has what was stored before
  unfinished     1
  $ skmt knn build --memory my.tm -o full.knn --block 40 | tail -1 | cut -d, -f 1,2; skmt knn check full.knn
  full.knn: 20 pairs, 245 entries
  full.knn: no problems
  $ (ulimit -f 200; skmt knn add small.knn --memory my.tm "$TOP/tests/data/small/test.tsv"); skmt knn check small.knn; skmt knn info small.knn | grep '^pairs'
  skmt: small.knn: File too large; the datastore has what was stored before
  small.knn: no problems
  pairs          20

An unfinished datastore is not used, and continued only as it was begun.

  $ (ulimit -f 100; skmt knn build --memory my.tm -o u.knn --block 40 2> /dev/null); skmt knn add u.knn a.tsv
  skmt: u.knn is unfinished: run the same 'skmt knn build' again first
  [2]
  $ skmt knn sample u.knn
  skmt: u.knn is unfinished: building it was interrupted; run the same 'skmt knn build' again to continue
  [2]
  $ skmt knn build --memory my.tm -o u.knn --type f16
  skmt: u.knn is unfinished, and was begun with another memory or other options; use the same ones to continue, or delete it to begin again
  [2]
  $ skmt knn build --memory my.tm -o u.knn -q | tail -1 | cut -d, -f 1,2
  u.knn: 20 pairs, 245 entries

Usage errors.

  $ skmt knn bild; skmt knn build -o x.knn; skmt knn build --memory my.tm; skmt knn add x.knn; skmt knn delete x.knn; skmt knn info; skmt knn compact my.knn
  skmt: unknown command 'knn bild'; did you mean 'knn build'?
  skmt: knn build needs --memory FILE; see 'skmt help knn build'
  skmt: knn build needs -o STORE; see 'skmt help knn build'
  skmt: knn add needs FILE or --memory FILE; see 'skmt help knn add'
  skmt: knn delete needs --id, --source, --target or --missing-from; see 'skmt help knn delete'
  skmt: knn info needs FILE; see 'skmt help knn info'
  skmt: knn compact needs -o NEW; see 'skmt help knn compact'
  [2]
  $ skmt knn build --memory my.tm -o x.knn --type int4; skmt knn build --memory my.tm -o x.knn --key source; skmt knn build --memory my.tm -o x.knn --sources; skmt knn build --memory my.tm -o x.knn --seed 3; skmt knn info a b; skmt knn sample my.knn -n 0
  skmt: --type: "int4" is not int8 or f16
  skmt: --key: "source" is not final or ffn
  skmt: --sources and --alignment FILE must be used together
  skmt: --seed needs --limit N
  skmt: knn info: unexpected operand 'b'; see 'skmt help knn info'
  skmt: --number: '0' is not a whole number of 1 or more
  [2]
  $ skmt knn build --memory gone.tm -o x.knn 2>&1 | head -1; skmt knn build --memory my.tm -n gone -o x.knn; ls x.knn
  skmt: gone.tm does not exist; create it with 'skmt tm create gone.tm'
  skmt: my.tm: there is no memory "gone"; the file has main, other
  ls: cannot access 'x.knn': No such file or directory
  [2]

The help pages.

  $ skmt help knn | head -1; skmt knn --help | grep -c '^  [a-z]* '; skmt help knn build | head -1; skmt knn add --help | head -1; skmt help tm knn
  Usage: skmt knn COMMAND [OPTIONS] ...
  16
  Usage: skmt knn build --memory FILE -o STORE [OPTIONS]
  Usage: skmt knn add STORE FILE ... [OPTIONS]
  skmt: no help page for 'tm knn'; 'skmt --help' lists the commands
  [2]
