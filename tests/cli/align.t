# needs: python3 xz
Words of pairs are aligned. The links are learned from the pairs themselves.

  $ printf 'Das Haus\tthe house\nDas Buch\tthe book\nDas grosse Haus\tthe big house\nein grosses Buch .\ta big book .\n' > a.tsv
  $ skmt align --quiet a.tsv
  0-0 1-1
  0-0 1-1
  0-0 1-1 2-2
  0-0 1-1 2-2 3-3
  $ skmt align -q --print words a.tsv | tail -1
  ein=a grosses=big Buch=book .=.
  $ skmt align --print tokens a.tsv | tail -2
  Das grosse Haus ||| the big house
  ein grosses Buch . ||| a big book .
  $ skmt align -q --json a.tsv | head -1
  {"source":["Das","Haus"],"target":["the","house"],"links":[[0,0],[1,1]]}

The training is reported on standard error.

  $ skmt align a.tsv --iterations 2 2>&1 > links
  direction  iteration    log-likelihood    perplexity   tension
  forward            1            -19.71          6.00    4.0000
  forward            2            -10.67          2.64   10.0078
  reverse            1            -21.41          7.00    4.0000
  reverse            2            -12.65          3.16    9.9780

Any file that can be imported is read, and the pairs of a memory.

  $ cat > a.tmx <<'END'
  > <?xml version="1.0"?><tmx version="1.4"><header srclang="de" datatype="plaintext" segtype="sentence" adminlang="en" creationtool="x" creationtoolversion="1" o-tmf="x"/><body>
  > <tu><tuv xml:lang="de"><seg>Das <bpt i="1">&lt;b></bpt>Haus<ept i="1">&lt;/b></ept></seg></tuv><tuv xml:lang="en"><seg>the house</seg></tuv></tu>
  > <tu><tuv xml:lang="de"><seg>Das Buch</seg></tuv><tuv xml:lang="en"><seg>the book</seg></tuv></tu>
  > </body></tmx>
  > END
  $ skmt align -q --print words a.tmx
  Das=the Haus=house
  Das=the Buch=book
  $ cut -f 1 a.tsv > a.de; cut -f 2 a.tsv | xz > a.en.xz; skmt align -q a.de --target-file a.en.xz | cmp - <(skmt align -q a.tsv)
  $ skmt tm create m.tm -s de -t en > /dev/null; skmt tm import m.tm a.tsv > /dev/null; skmt align -q --memory m.tm | cmp - <(skmt align -q a.tsv); ls m.tm*
  m.tm
  
  m.tm.index:
  *.seg (glob)
  files
  $ skmt align -q --memory m.tm --name other
  skmt: m.tm: there is no memory "other"; the file has main
  [2]
  $ skmt align -q a.tsv --memory m.tm | wc -l
  8
  $ skmt align -q - < a.tsv | head -1
  0-0 1-1
  $ skmt align -q -f text - --target-file a.en.xz < a.de | tail -1
  0-0 1-1 2-2 3-3

A second implementation computes the same: likelihood, tension, links of both
directions, and how they are joined.

  $ cat > make.py <<'END'
  > import itertools
  > who = [("ich", "I"), ("der Mann", "the man"), ("die kleine Frau", "the small woman")]
  > verb = [("sehe gern", "like to see"), ("kaufe", "buy"), ("lese laut vor", "read out")]
  > what = [("das Haus", "the house"), ("ein Buch , das gut ist", "a book that is good"), ("nichts", "nothing"), ("2,5 Liter Milch", "2.5 liters of milk")]
  > for n, ((a, x), (b, y), (c, z)) in enumerate(itertools.product(who, verb, what)):
  >     print(f"Heute {b} {a} {c} .\t{x} {y} {z} today ." if n % 3 else f"{a} {b} {c}\t{x} {y} {z} !")
  > END
  $ python3 make.py > b.tsv; sed -i '5s/.*/\tempty/' b.tsv; mkdir d; skmt align --print tokens b.tsv > d/tokens; for m in forward reverse intersect union grow-diag grow-diag-final-and; do skmt align --method $m b.tsv > d/$m 2> d/report; done
  $ python3 "$TOP/tools/check_align.py" d
  * comparisons, 0 failed (glob)
  $ for m in forward reverse intersect union grow-diag grow-diag-final-and; do skmt align --alpha 0 --iterations 3 --method $m b.tsv > d/$m 2> d/report; done; python3 "$TOP/tools/check_align.py" d --alpha 0 --iterations 3
  * comparisons, 0 failed (glob)
  $ cut -d ' ' -f 2- d/union > d/forward; python3 "$TOP/tools/check_align.py" d --alpha 0 --iterations 3 | tail -1
  * comparisons, *[1-9]* failed (glob)

What was learned can be saved, and aligns the same pairs in the same way. The
number of threads does not change it.

  $ skmt align -q b.tsv --save p.align > links; skmt align -q --load p.align b.tsv | cmp - links
  $ skmt align -q b.tsv --threads 3 --save p3.align | cmp - links; cmp p.align p3.align
  $ skmt align -q b.tsv --save q.align --print none; cmp p.align q.align
  $ printf 'der Mann kaufe Milch\tthe man buy milk\nUnbekanntes Wort\tunknown word\n' | skmt align --load p.align --print words -
  der=the Mann=man kaufe=buy Milch=milk
  Unbekanntes=unknown Wort=word

Words can be split at spaces, and their case can be kept.

  $ printf 'don 2,5\tne ( x )\n' > c.tsv; skmt align --print tokens c.tsv; skmt align --tokenized --print tokens c.tsv
  don 2,5 ||| ne ( x )
  don 2,5 ||| ne ( x )
  $ printf "z.B. 'x'\t(e.g.) x\n" > c.tsv; skmt align --print tokens c.tsv; skmt align --tokenized --print tokens c.tsv
  z.B . ' x ' ||| ( e.g . ) x
  z.B. 'x' ||| (e.g.) x
  $ skmt align -q b.tsv --keep-case --save k.align --print none; skmt align --load k.align b.tsv
  skmt: k.align: these parameters are for words whose case is kept
  [2]
  $ skmt align --load p.align --tokenized b.tsv
  skmt: p.align: these parameters are for texts split into words, not spaces
  [2]

Links are compared with a reference. A link with a question mark is possible.

  $ printf '0-0 1-1\n0-0 1?0 1-1\n0-0 1-1 2-1\n0-0 1-1 2-2 3-3\n' > gold; skmt align -q a.tsv --evaluate gold
  pairs                  4
  links                 11
  sure                  11
  possible              12
  hit_sure              10
  hit_possible          10
  precision          90.91
  recall             90.91
  aer                 9.09
  $ skmt align -q a.tsv --evaluate gold --json -o out.links; cat out.links | head -1
  {"pairs":4,"links":11,"sure":11,"possible":12,"hit_sure":10,"hit_possible":10,"precision":90.90909,"recall":90.90909,"aer":9.090909}
  0-0 1-1
  $ head -3 gold > short; skmt align -q a.tsv --evaluate short
  skmt: short: the file ends after 3 lines, but there are more pairs
  [1]
  $ (cat gold; echo 0-0) > longer; skmt align -q a.tsv --evaluate longer
  longer:5: there are only 4 pairs
  [1]
  $ printf '0-0\n0-0 x\n' > bad.gold; skmt align -q a.tsv --evaluate bad.gold
  bad.gold:2:5: expected a link such as 3-4, or 3?4 for a possible one, with numbers up to 999999, found "x"
  [1]
  $ printf '0-0\n0-0 1-2\n' > bad.gold; skmt align -q a.tsv --evaluate bad.gold
  bad.gold:2: the link 1-2 is outside the pair, which has 2 source words and 2 target words
  [1]
  $ : | skmt align -q a.tsv --evaluate -
  skmt: standard input: the file ends after 0 lines, but there are more pairs
  [1]

A pair with an empty text gets an empty line, and so does one of more than 1000
words. A line of 20 MB is no problem.

  $ printf 'a b\tc d\n\n\tx\ny\t\na b\tc d\n' > empty.tsv; skmt align empty.tsv 2> report; tail -1 report
  0-0 1-1
  
  
  
  0-0 1-1
  skmt: pairs with an empty text: 3; they have no links
  $ python3 -c 'print("wort " * 2000000 + "\t" + "word " * 2000000); print("a b\tc d")' > huge.tsv; skmt align huge.tsv 2> report; tail -1 report
  
  0-0 1-1
  skmt: pairs with more than 1000 words in a text: 1; they have no links
  $ skmt align -q huge.tsv --load p.align | head -c 1 | od -c | head -1
  0000000  \n
  $ python3 -c 'print("w" * 10000000 + "\t" + "v" * 10000000)' > word.tsv; skmt align -q --tokenized word.tsv
  0-0

Bad input is an error, and an old file is left as it is.

  $ echo old > out; printf 'a\tb\n\377\tc\n' > latin.tsv; skmt align -q latin.tsv -o out; cat out; ls | grep tmp
  latin.tsv:2:1: expected UTF-8, found an invalid byte (is the file in another encoding?)
  old
  [1]
  $ printf 'a b\tc d\n\377\tc\n' | skmt align --load p.align -
  standard input:2:1: expected UTF-8, found an invalid byte (is the file in another encoding?)
  0-0 1-1
  [1]
  $ : > none.tsv; skmt align none.tsv
  skmt: there are no pairs to align
  [1]
  $ printf 'a\t\n' > none.tsv; skmt align none.tsv
  skmt: there is no pair to learn from: each has an empty text or more than 1000 words in a text
  [1]
  $ skmt align absent.tsv
  skmt: absent.tsv: No such file or directory
  [1]
  $ skmt align --load absent a.tsv
  skmt: absent: No such file or directory
  [1]
  $ skmt align --load a.tsv a.tsv
  skmt: a.tsv: this is not a file of alignment parameters (skmt align --save)
  [1]
  $ head -c 500 p.align > cut.align; skmt align --load cut.align a.tsv
  skmt: cut.align: the alignment parameters are damaged (the file has 500 bytes and should have *) (glob)
  [1]
  $ cp p.align bad.align; printf 'x' | dd of=bad.align bs=1 seek=300 conv=notrunc 2> /dev/null; skmt align --load bad.align a.tsv
  skmt: bad.align: the alignment parameters are damaged (wrong checksum)
  [1]
  $ skmt align -q a.tsv > /dev/full
  skmt: standard output: No space left on device
  [1]
  $ f=$(mktemp /dev/shm/skmt.XXXXXX); for i in 1 2; do skmt align -q a.tsv -o $f; done; skmt align -q a.tsv | cmp - $f; rm $f
  $ skmt align -q a.tsv -o /dev/full
  skmt: /dev/full: No space left on device
  [1]
  $ cp p.align before; (ulimit -f 1; skmt align -q b.tsv --save p.align > /dev/null); cmp p.align before; for i in $(seq 99); do cat a.tsv; done > many.tsv; (ulimit -f 1; skmt align -q many.tsv -o out); cat out; ls | grep tmp
  skmt: p.align: File too large
  skmt: out: File too large
  old
  [1]
  $ skmt align -q a.tsv -o no/such/folder
  skmt: no/such/folder: No such file or directory
  [1]

A signal ends it, and leaves no file.

  $ mkfifo pipe; skmt align -q - -o late < pipe & pid=$!; exec 3> pipe; printf 'a b\tc d\n' >&3; kill -TERM $pid; wait $pid; echo $?; ls late* 2> /dev/null
  143
  [2]

The record of a run has the options and the outputs.

  $ skmt align -q a.tsv -o links --save s.align --record run.json; python3 -c 'import json; r = json.load(open("run.json")); print(r["command"], r["operands"], r["options"]["method"], r["options"]["iterations"], r["options"]["alpha"], [o["path"].split("/")[-1] for o in r["outputs"]])'
  align ['a.tsv'] grow-diag-final-and 5 0.01 ['links', 's.align']

Usage errors are reported.

  $ skmt align
  skmt: align needs PAIRS or --memory FILE; see 'skmt help align'
  [2]
  $ skmt align --method both a.tsv
  skmt: --method: "both" is not one of forward, reverse, intersect, union, grow-diag, grow-diag-final-and
  [2]
  $ skmt align --iterations 0 a.tsv
  skmt: --iterations: "0" is not a whole number from 1 to 1000
  [2]
  $ skmt align --tension 0 a.tsv
  skmt: --tension: "0" is not a number from 0.1 to 14
  [2]
  $ skmt align --print all a.tsv
  skmt: --print: 'all' is not numbers, words, tokens or none
  [2]
  $ for o in '--save x' '--threads 2'; do skmt align --load p.align $o a.tsv; done
  skmt: --load and --save cannot be used together: there is no training
  skmt: --load and --threads cannot be used together: there is no training
  [2]
  $ skmt align --pieces de-en --tokenized a.tsv
  skmt: --pieces and --tokenized cannot be used together
  [2]
  $ skmt align - -
  skmt: standard input ('-') can be read only once
  [2]
  $ skmt align --name x a.tsv
  skmt: --name needs --memory FILE
  [2]
  $ skmt align --print tokens --save x a.tsv
  skmt: --print tokens does not align: it cannot be used with --evaluate, --save or --load
  [2]

The example of the help page is right, and the page has every option.

  $ skmt help align | sed -n 's/^  \$ //p' | bash 2>&1
  0-0 1-1
  0-0 1-1
  $ skmt help options | awk -F '\t' '$1 == "align" { print $2 }' | while read o; do skmt help align | grep -q -e "--$o\b" || echo "no $o"; done
  $ skmt help align | awk 'length > 79'
