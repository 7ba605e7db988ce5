# needs: python3 gzip
Import and export files. TSV: source, tab, target.

  $ printf 'Guten Morgen!\tGood morning!\nGuten Tag!\tGood day!\nGuten Tag!\tGood day!\nleer\t\n' > a.tsv
  $ skmt tm create my.tm -s de -t en > /dev/null
  $ skmt tm import my.tm a.tsv
  3 pairs imported, 2 of them new
  left out: 1 empty
  * s, * pairs/s (glob)
  $ skmt tm search my.tm --no-model 'Guten Tag!' | sed 's/20..-..-../DAY/' | head -3
  100%  Guten Tag!
        Good day!
        id 2, a.tsv:2, main, DAY, 2 times

  $ skmt tm import my.tm a.tsv --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(o["seconds"] >= 0, o["pairs_per_second"] > 0); del o["seconds"], o["pairs_per_second"]; print(json.dumps(o))'
  True True
  {"file": "my.tm", "memory": "main", "pairs": 3, "texts": 0, "empty": 1, "other_language": 0, "unfinished": 0, "bad": 0, "headers": 0}
  $ skmt tm delete my.tm --origin a.tsv
  6 pairs deleted

Compressed, from standard input, with other columns, with another origin.

  $ printf 'id\ten\tde\n1\tyes\tja\n2\tno\tnein\n' | gzip | skmt tm import my.tm - --header --source-column 3 --target-column 2 --document-column 1 --origin words | head -1
  2 pairs imported, 2 of them new
  $ skmt tm search my.tm --no-model 'nein' | sed -n '2,3s/20..-..-../DAY/p; 2p'
        no
        id 8, words:2, 2, main, DAY

CSV, and two plain text files.

  $ printf 'de;en\n"er sagte ""ja""; und ging";"he said ""yes""; and went"\n' > b.csv
  $ skmt tm import my.tm b.csv --header | head -1
  1 pair imported, 1 of them new
  $ printf 'Erste Zeile\nZweite Zeile\n' > c.de; printf 'First line\nSecond line\n' > c.en
  $ skmt tm import my.tm c.de --target-file c.en | head -1
  2 pairs imported, 2 of them new
  $ skmt tm search my.tm --no-model 'er sagte ja' | sed -n 2p
        he said "yes"; and went

  $ skmt tm export my.tm --format text -o out.de --target-file out.en --json
  {"file":"out.de","pairs":5}
  $ paste out.de out.en | tee pairs
  ja	yes
  nein	no
  er sagte "ja"; und ging	he said "yes"; and went
  Erste Zeile	First line
  Zweite Zeile	Second line
  $ skmt tm export my.tm -o out.tsv.gz
  5 pairs written to out.tsv.gz
  $ zcat out.tsv.gz | cmp - <(skmt tm export my.tm --format tsv)

TMX is the default on standard output.

  $ skmt tm export my.tm | head -1
  <?xml version="1.0" encoding="UTF-8"?>
  $ skmt tm export my.tm -o out.tmx
  5 pairs written to out.tmx
  $ skmt tm create two.tm > /dev/null; skmt tm import two.tm out.tmx | head -1
  5 pairs imported, 5 of them new
  $ skmt tm export two.tm --format tsv | cmp - pairs
  $ skmt tm export my.tm -o out.xlf && skmt tm export my.tm -o out.po
  5 pairs written to out.xlf
  5 pairs written to out.po
  $ for f in xlf po; do rm -rf two.tm*; skmt tm create two.tm > /dev/null; skmt tm import two.tm out.$f -s de -t en | head -1; skmt tm export two.tm --format tsv | cmp - pairs; done
  5 pairs imported, 5 of them new
  5 pairs imported, 5 of them new

A file of many languages: the options select two of them.

  $ cat > many.tmx <<'END'
  > <?xml version="1.0"?>
  > <tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="de" datatype="plaintext"/><body>
  > <tu tuid="a1" creationid="mk" creationdate="20240531T120000Z"><tuv xml:lang="de"><seg>Klicken Sie <bpt i="1">&lt;b&gt;</bpt>hier<ept i="1">&lt;/b&gt;</ept>.</seg></tuv><tuv xml:lang="en"><seg>Click <bpt i="1">&lt;b&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept>.</seg></tuv></tu>
  > <tu><tuv xml:lang="de"><seg>Hund</seg></tuv><tuv xml:lang="fr"><seg>chien</seg></tuv></tu>
  > </body></tmx>
  > END
  $ skmt tm import my.tm many.tmx -s de -t en
  1 pair imported, 1 of them new
  left out: 1 in other languages
  * s, * pairs/s (glob)
  $ skmt tm search my.tm --no-model --json 'Klicken Sie hier.' | python3 -c 'import json,sys; m = json.load(sys.stdin)["matches"][0]; print(m["similarity"], m["source"], m["source_tagged"], m["unit"], m["author"], m["created"], m["origin"], m["position"], sep="\n")'
  1
  Klicken Sie hier.
  Klicken Sie <bpt i="1">&lt;b&gt;</bpt>hier<ept i="1">&lt;/b&gt;</ept>.
  a1
  mk
  2024-05-31T12:00:00Z
  many.tmx
  1

Unfinished units are imported only with --fuzzy. The translations of this PO
file are German, so they are the sources here.

  $ printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n\n#, fuzzy\nmsgid "Save"\nmsgstr "Sichern"\n\nmsgid "Open"\nmsgstr "Öffnen"\n' > x.po
  $ skmt tm import my.tm x.po -s de -t en
  1 pair imported, 1 of them new
  left out: 1 unfinished (import them with --fuzzy)
  * s, * pairs/s (glob)
  $ skmt tm import my.tm x.po -s de -t en --fuzzy | head -1
  2 pairs imported, 1 of them new
  $ skmt tm search my.tm --no-model 'Öffnen' | sed -n 2p
        Open
  $ skmt tm import my.tm x.po -s en -t de
  skmt: *de* (glob)
  [2]

A bad unit stops an import before anything changes. The message has file, line
and column.

  $ skmt tm list my.tm > before
  $ printf 'gut\tgood\nschlecht\n' > bad.tsv
  $ skmt tm import my.tm a.tsv bad.tsv
  bad.tsv:2:* (glob)
  [1]
  $ printf '<tmx version="1.4"><header/><body>\n<tu><tuv xml:lang="de"><seg>Hund</tuv></tu></body></tmx>' > bad.tmx
  $ skmt tm import my.tm bad.tmx
  bad.tmx:2:* (glob)
  [1]
  $ skmt tm import my.tm missing.tmx
  skmt: missing.tmx: * (glob)
  [1]
  $ skmt tm import my.tm before
  skmt: before: * (glob)
  [1]
  $ skmt tm list my.tm | diff before -

With --skip-bad, bad units are written to a file beside the memory, or to
another one.

  $ printf 'gut\tgood\nschlecht\nb\xffse\tevil\nbesser\tbetter\n' > bad.tsv
  $ skmt tm import my.tm bad.tsv --skip-bad
  2 pairs imported, 2 of them new
  left out: 2 unreadable, see my.tm.rejects
  * s, * pairs/s (glob)
  $ cat -v my.tm.rejects
  bad.tsv:2:* (glob)
      schlecht
  bad.tsv:3:2: * (glob)
      bM-^?se	evil
  $ skmt tm import my.tm bad.tsv --skip-bad --rejects elsewhere --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(o["bad"], o["rejects"])'
  2 elsewhere
  $ cmp my.tm.rejects elsewhere

If that file cannot be written, nothing is imported.

  $ skmt tm list my.tm > before
  $ skmt tm import my.tm bad.tsv --skip-bad --rejects no/such/folder
  skmt: writing no/such/folder: No such file or directory; nothing was imported
  [1]
  $ skmt tm list my.tm | diff before -

A full disk is reported.

  $ skmt tm export my.tm --format tsv > /dev/full
  skmt: *: No space left on device (glob)
  [1]
  $ skmt tm export my.tm --format tsv -o no/such/folder
  skmt: no/such/folder: * (glob)
  [1]
  $ for c in list stats check 'show 7' 'search --no-model nein'; do set -- $c; skmt tm $1 my.tm $2 $3 > /dev/full; echo $?; done
  skmt: cannot write to standard output
  1
  skmt: cannot write to standard output
  1
  skmt: cannot write to standard output
  1
  skmt: cannot write to standard output
  1
  skmt: cannot write to standard output
  1

If the output cannot be written, reading lines ends.

  $ printf 'eins\tone\nzwei\ttwo\n' | skmt tm add my.tm > /dev/full
  skmt: cannot write to standard output
  [1]
  $ skmt tm search my.tm --no-model 'zwei'
    no match

A disk that is full in the middle of an import: nothing has changed. (ulimit
limits the size of a file.)

  $ skmt tm list my.tm > before
  $ for i in $(seq 4000); do echo "Zeile $i	line $i"; done > lines.tsv
  $ (ulimit -f 1; trap '' XFSZ; skmt tm import my.tm lines.tsv)
  skmt: my.tm: * (glob)
  [1]
  $ skmt tm list my.tm | diff before -
  $ skmt tm check my.tm
  my.tm: no problems

Statistics.

  $ skmt tm stats my.tm | head -2
  file             my.tm
  memory           main: * pairs, * texts, * + * bytes, de > en (glob)
  $ skmt tm stats my.tm | awk '{ print $1, $2 }' | grep -c 'store bytes\|index bytes\|segments'
  3
  $ skmt tm stats my.tm --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(len(o["memories"]), o["store_bytes"] > 0, "similarity" in o)'
  1 True False

How well the memory covers a text: the first column is searched, line by line.

  $ rm -rf two.tm*; skmt tm create two.tm > /dev/null
  $ printf 'a b c d e f g h i j\tx\nk l m n o p q r s t\ty\n' | skmt tm import two.tm - > /dev/null
  $ printf 'a b c d e f g h i j\tother\n\na b c d e f g h i x\nk l m n o x x x x x\nk y x\nzzz\n' > test
  $ skmt tm stats two.tm --no-model --against test | sed -n '/^similarity/,$p'
  similarity       lines  percent  in words
  [0.0, 0.1)           1    20.0%  #################### (glob)
  [0.1, 0.2)           1    20.0%  #################### (glob)
  [0.2, 0.3)           0     0.0%
  [0.3, 0.4)           0     0.0%
  [0.4, 0.5)           0     0.0%
  [0.5, 0.6)           1    20.0%  #################### (glob)
  [0.6, 0.7)           0     0.0%
  [0.7, 0.8)           0     0.0%
  [0.8, 0.9)           0     0.0%
  [0.9, 1.0]           2    40.0%  ########################################
  all                  5           mean 0.500, exact 1
  * s, * ms per line (glob)
  $ skmt tm stats two.tm --no-model --against - --json < test | python3 -c 'import json,sys; s = json.load(sys.stdin)["similarity"]; print(s["unit"], s["sentences"], s["exact"], s["mean"], [b["count"] for b in s["buckets"]], s["buckets"][9]["share"])'
  words 5 1 0.5 [1, 1, 0, 0, 0, 1, 0, 0, 0, 2] 0.4
  $ skmt tm stats two.tm --against missing.txt
  skmt: reading missing.txt: No such file or directory
  [1]

A read-only memory can be searched.

  $ mkdir ro; cp my.tm ro; chmod -w ro/my.tm ro
  $ skmt tm search ro/my.tm --no-model 'nein' | sed -n 2p
        no
  $ [ $(id -u) = 0 ] || skmt tm add ro/my.tm a b 2>&1 | sed 's/:.*//'; chmod +w ro

Ctrl-C during an import: nothing has changed.

  $ skmt tm list my.tm > before
  $ (while :; do echo "Das ist die Zeile $RANDOM	This is line $RANDOM"; done) 2> /dev/null |
  > (timeout --preserve-status --foreground -s INT 2 skmt tm import my.tm -; echo "status $?")
  skmt: import stopped; my.tm is unchanged
  status 130
  $ skmt tm list my.tm | diff before -
  $ skmt tm check my.tm
  my.tm: no problems

This also works while it waits for input.

  $ (echo 'eins	one'; sleep 8) | (timeout --preserve-status -s TERM 1 skmt tm import my.tm -; echo "status $?")
  status 143
  $ skmt tm list my.tm | diff before -

The same after SIGKILL; the next writer cleans up.

  $ (cat lines.tsv; sleep 3) | (timeout -s KILL 1 skmt tm import my.tm -; echo "status $?") 2> /dev/null
  status 137
  $ skmt tm list my.tm | diff before -
  $ skmt tm compact my.tm > /dev/null; skmt tm check my.tm
  my.tm: no problems

Searches do not wait for a running import, and do not see any of its pairs.

  $ (cat lines.tsv; sleep 3; echo 'Xylophon	xylophone') | skmt tm import my.tm - > imported &
  > sleep 1; skmt tm search my.tm --no-model --min-similarity 0.9 'Zeile 7'; skmt tm list my.tm | diff before -; wait
    no match
  $ skmt tm search my.tm --no-model --matches 1 'Zeile 7' | sed -n '1,2p'; head -1 imported
  100%  Zeile 7
        line 7
  4,001 pairs imported, 4,001 of them new

Names that SQLite would interpret are plain file names.

  $ for f in :memory: 'file:x?mode=memory' 'a b%20#?'; do skmt tm create "$f" && skmt tm add "$f" Haus house && skmt tm search "$f" --no-model Haus | head -2 && test -s "$f" || echo "not $f"; done
  :memory:: created memory 'main'
  1
  100%  Haus
        house
  file:x?mode=memory: created memory 'main'
  1
  100%  Haus
        house
  a b%20#?: created memory 'main'
  1
  100%  Haus
        house

A word of four million letters is stored and searched like any other. A search
with quadratic time would be killed by the timeout.

  $ skmt tm create long.tm > /dev/null
  $ (head -c 4000000 /dev/zero | tr '\0' a; printf '\tb\n') | timeout 120 skmt tm add long.tm
  1
  $ timeout 120 skmt tm search long.tm --no-model foo
    no match

The limit on the length of a text is the same for add and import.

  $ (head -c 16777217 /dev/zero | tr '\0' a; printf '\tb\n') > big.tsv
  $ skmt tm add long.tm < big.tsv
  standard input:1: the source text has 16777217 bytes; the limit is 16777216 bytes (16 MiB)
  [1]
  $ skmt tm import long.tm big.tsv
  big.tsv:1: expected a source of at most 16777216 bytes, found 16777217
  [1]

CSV is detected from its contents, in a file with any name and from standard
input, with line breaks in quotes. An exported header is not imported as a
pair.

  $ printf 'Deutsch;Englisch\n"Zeile 1\nZeile 2";"line 1\nline 2"\n"ja, klar";yes\n' > table
  $ skmt tm create csv.tm > /dev/null
  $ skmt tm import csv.tm - --header < table | head -1
  2 pairs imported, 2 of them new
  $ skmt tm export csv.tm --format csv | tee out
  source (Deutsch),target (Englisch)
  "Zeile 1
  Zeile 2","line 1
  line 2"
  "ja, klar","yes"
  $ skmt tm create csv2.tm > /dev/null
  $ skmt tm import csv2.tm out | head -2
  2 pairs imported, 2 of them new
  left out: 1 header (import it with --no-header)
  $ skmt tm export csv2.tm --format csv | cmp - out
  $ skmt tm export csv.tm --format tsv | skmt tm import csv2.tm - | head -1
  2 pairs imported, 0 of them new
  $ skmt tm import csv2.tm out --no-header | head -1
  3 pairs imported, 1 of them new
  $ skmt tm import csv2.tm out --no-header --header
  skmt: --header and --no-header cannot be used together
  [2]

An import that stores nothing says why. If units were left out, this is an
error.

  $ cat > no_target.xlf << 'END'
  > <xliff version="1.2"><file original="a" source-language="de" datatype="plaintext"><body>
  > <trans-unit id="1"><source>Hund</source></trans-unit></body></file></xliff>
  > END
  $ skmt tm create x.tm > /dev/null
  $ skmt tm import x.tm no_target.xlf > /dev/null
  skmt: nothing was imported; units left out: 1 without a source or a target text
  [1]
  $ sed 's,</source>,&<target>dog</target>,' no_target.xlf > no_language.xlf
  $ skmt tm import x.tm no_language.xlf > /dev/null
  skmt: the target language is not known; set it with 'skmt tm set x.tm --target-lang LANG'
  $ skmt tm create y.tm -s de -t en > /dev/null
  $ skmt tm import y.tm no_language.xlf | head -1
  1 pair imported, 1 of them new
  $ skmt tm create fr.tm -s fr -t en > /dev/null
  $ skmt tm import fr.tm no_language.xlf > /dev/null
  skmt: nothing was imported; units left out: 1 in languages other than fr to en
  [1]
  $ printf '<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>Hund</seg></tuv><tuv xml:lang="en"><seg>dog</seg></tuv></tu></body></tmx>' > dog.tmx
  $ skmt tm import fr.tm dog.tmx > /dev/null
  skmt: nothing was imported; units left out: 1 in languages other than fr to en
  [1]
  $ printf 'a\t\n' | skmt tm import fr.tm - > /dev/null
  skmt: nothing was imported; units left out: 1 without a source or a target text
  [1]
  $ skmt tm import fr.tm --format tsv /dev/null > /dev/null
  skmt: nothing was imported: there are no pairs in /dev/null

An encoding that cannot be read is an error that names it.

  $ printf '<?xml version="1.0" encoding="UTF-7"?>\n<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>M+APw-ller</seg></tuv><tuv xml:lang="en"><seg>Miller</seg></tuv></tu></body></tmx>' > seven.tmx
  $ skmt tm import y.tm seven.tmx
  seven.tmx:1:1: the encoding UTF-7 is not supported; convert the file to UTF-8
  [1]
