# needs: python3 xz gzip
Translations are scored against a reference.

  $ printf '%s\n' 'The cat sat on the mat .' 'Take 2 tablets daily.' Yes > hyp
  $ printf '%s\n' 'The cat is on the mat.' 'Take two tablets a day.' 'Yes, please.' > ref
  $ skmt score --ref ref --resamples 0 hyp | sed "s/skmt:$VERSION/skmt:VERSION/"
  file  metric        score
  hyp   BLEU          24.74
  hyp   chrF2         45.90
  hyp   TER           61.54
  
  BLEU        nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|skmt:VERSION
  chrF2       nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|skmt:VERSION
  TER         nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|skmt:VERSION

Standard input can be scored, and the references can be a column of a table.

  $ paste hyp ref > both.tsv; skmt score -r both.tsv -c 2 --resamples 0 --metrics bleu - < hyp | sed -n 2p
  -     BLEU          24.74
  $ skmt score -r - -c 2 --resamples 0 --metrics chrf,chrf-eps hyp < both.tsv | sed -n 2,3p
  hyp   chrF2         45.90
  hyp   chrF2 (eps)   45.90
  $ printf 'a\tb\nc\n' > short.tsv; skmt score -r short.tsv -c 2 hyp
  short.tsv:2: there is no column 2
  [1]

Intervals and comparisons are the same in every run.

  $ for i in $(seq 60); do echo "word$i stands here and there"; done > ref60
  $ sed '1~2s/here/now/' ref60 > half; sed '1~30s/here/now/' ref60 > nearly
  $ skmt score --ref ref60 --metrics ter half nearly half > one; skmt score --ref ref60 --metrics ter half nearly half | cmp - one
  $ grep -v '^TER' one
  file    metric        score       95% within       p
  half    TER           10.00     7.67   12.67
  nearly  TER            0.67     0.00    1.67  0.0010
  half    TER           10.00     7.67   12.67  1.0000
  
  1000 resamples, seed 12345; p: for the difference from half
  $ skmt score --ref ref60 --metrics ter --seed 6 half nearly half | cmp -s - one
  [1]

The first column of a table names the document. A bucket contains the documents
up to its number of lines; buckets without documents are left out.

  $ for n in 2 1 3 7; do for i in $(seq $n); do printf 'doc%d\tQuelle\tZinc helps against pain no. %d\n' $n $i; done; done > docs.tsv
  $ cut -f 3 docs.tsv | sed 's/pain/ache/' > ache; cut -f 3 docs.tsv | sed '1~2s/Zinc/Gold/' > gold
  $ skmt score --docs docs.tsv --metrics ter --resamples 0 --buckets 2,4,5 ache gold | tail -n +5
  lines of a document         1-2       3-4        >5       all
  documents                     2         1         1         4
  lines                         3         3         7        13
  TER
    ache                    16.67     16.67     16.67     16.67
    gold                    11.11      5.56      9.52      8.97
  
  TER         nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|skmt:* (glob)

A star marks a significant difference from the first file.

  $ skmt score --docs docs.tsv --metrics ter --buckets 1,6 ache gold | sed -n '/^lines/,/^  gold/p; $p'
  lines of a document           1       2-6        >6       all
  documents                     1         2         1         4
  lines                         1         5         7        13
  TER
    ache                    16.67     16.67     16.67     16.67
    gold                    16.67      6.67*     9.52*     8.97*
  1000 resamples, seed 12345; p: for the difference from ache; *: p < 0.05

R counts words that occurred in the document before: "Zinc", "helps" and "pain"
here, because the others are stop words, numbers and punctuation. Compressed
files can be read.

  $ xz -k docs.tsv; skmt score --docs docs.tsv.xz --metrics r --resamples 0 --buckets 3 ache gold | sed -n '/^R:/,/^$/p'
  R: words found, by the number of earlier lines of the document that had them
  lines of a document  file            R0       R1     R2-5     R6-9     R10+      all
  1-3                  (words)          9        6        3        0        0       18
                       ache         66.67    66.67    66.67        -        -    66.67
                       gold         77.78    83.33   100.00        -        -    83.33
  >3                   (words)          3        3       12        3        0       21
                       ache         66.67    66.67    66.67    66.67        -    66.67
                       gold         66.67   100.00    83.33    66.67        -    80.95
  all                  (words)         12        9       15        3        0       39
                       ache         66.67    66.67    66.67    66.67        -    66.67
                       gold         75.00    88.89    86.67    66.67        -    82.05
  
  $ skmt score --docs docs.tsv --resamples 0 gold | awk '/^gold/ { print $2 }' | xargs
  BLEU chrF2 TER R

With stop words, "against" and "no" are counted, too.

  $ skmt score --docs docs.tsv --metrics r --r-stopwords off --resamples 0 gold | grep -A 1 ^all
  all                  (words)         20       15       25        5        0       65
                       gold         85.00    93.33    92.00    80.00        -    89.23
  $ skmt score --docs docs.tsv --metrics r-all --resamples 0 gold > one; skmt score --docs docs.tsv --metrics r --r-stopwords off --resamples 0 gold | cmp - one

Without documents, all lines are one document.

  $ skmt score --ref docs.tsv -c 3 --metrics r --resamples 0 gold | sed -n '/^R:/,$p' | sed -n 3,4p
  all                  (words)          3        3       12       12        9       39
                       gold         66.67   100.00    83.33    83.33    77.78    82.05

Words are grouped by their frequency in the references.

  $ printf '%s\n' 'zinc zinc zinc lead' 'iron gold' > metals; printf '%s\n' 'zinc zinc lead' 'iron' > metals.ref
  $ skmt score --ref metals.ref --metrics bleu --words --resamples 0 metals | sed -n '4,8p; $p'
  words by their frequency in the references
  frequency   file       in ref  in file       F1  precis.   recall
  <1          metals          0        1     0.00     0.00     0.00
  1           metals          2        2   100.00   100.00   100.00
  2           metals          2        3    80.00    66.67   100.00
  words       nrefs:1|case:mixed|tok:moses-en|skmt:* (glob)

Or by their frequency in another text.

  $ (yes zinc | head -4; yes lead | head -1000) | gzip > train.gz; skmt score --ref metals.ref --metrics bleu --freq-corpus train.gz --resamples 0 metals | grep -e frequency -e '^<1' -e '^4 ' -e '^>='
  words by their frequency in train.gz
  frequency   file       in ref  in file       F1  precis.   recall
  <1          metals          1        2    66.67    50.00   100.00
  4           metals          2        3    80.00    66.67   100.00
  >=1000      metals          1        1   100.00   100.00   100.00

--json prints one object per file.

  $ cat > show.py <<'END'
  > import json, sys
  > for line in sys.stdin:
  >     o = json.loads(line)
  >     print(o["file"], o["lines"])
  >     for s in o["scores"]:
  >         assert s["low"] <= s["score"] <= s["high"] and s["signature"]
  >         print(s["metric"], *(f"{k}={s[k]:.8g}" for k in sys.argv[1:] if k in s))
  > END
  $ skmt score --ref ref --json hyp | python3 show.py score correct1 total4 hyp_len ref_len bp p
  hyp 3
  bleu score=24.737014 correct1=10 total4=6 hyp_len=13 ref_len=17 bp=0.73514148
  chrf score=45.899305
  ter score=61.538462 ref_len=13
  $ skmt score --ref ref --json --metrics ter hyp ref | python3 show.py edits p
  hyp 3
  ter edits=8
  ref 3
  ter edits=0 p=0.000999001

It contains buckets and words, too.

  $ skmt score --docs docs.tsv --metrics ter,r --buckets 3 --words --json ache gold > found.json; cat > more.py <<'END'
  > import json, sys
  > for line in open("found.json"):
  >     o = json.loads(line)
  >     print(*o)
  >     print(o["file"], o["documents"], o["lines"], [s["metric"] for s in o["scores"]])
  >     for b in o["buckets"]:
  >         ter, r = b["scores"]
  >         print(b["from"], b.get("to"), b["documents"], b["lines"], ter["edits"], "p" in ter, r["r10"], r["r2_5"], r["found_r0"], r["words_r0"])
  >     w = o["words"]["frequencies"]
  >     print(o["words"]["corpus"], len(w), w[1], sep="\n")
  > END
  $ python3 more.py
  file documents lines scores buckets words
  ache 4 13 ['ter', 'r']
  1 3 3 6 6 False None 66.6666666667 6 9
  4 None 1 7 7 False None 66.6666666667 2 3
  docs.tsv
  9
  {'frequency': '1', 'ref_words': 4, 'hyp_words': 4, 'matched': 4, 'f1': 100, 'precision': 100, 'recall': 100}
  file documents lines scores buckets words
  gold 4 13 ['ter', 'r']
  1 3 3 6 3 True None 100 7 9
  4 None 1 7 4 True None 83.3333333333 2 3
  docs.tsv
  9
  {'frequency': '1', 'ref_words': 4, 'hyp_words': 4, 'matched': 4, 'f1': 100, 'precision': 100, 'recall': 100}

An empty file has an empty score.

  $ : > empty; skmt score --ref empty --metrics bleu,ter empty | sed -n 2,3p
  empty  BLEU           0.00
  empty  TER            0.00

Files that do not match are errors.

  $ skmt score --ref ref ref60
  skmt: ref60 has more lines than ref, which has 3
  [1]
  $ head -2 hyp > two; skmt score --ref ref two
  skmt: two has 2 lines, but ref has 3
  [1]
  $ printf 'a\nb\n\377\n' > latin; skmt score --ref ref latin
  latin:3: the translation is not valid UTF-8: byte 0 is 0xFF
  [1]
  $ skmt score --ref latin hyp
  hyp:3: the reference is not valid UTF-8: byte 0 is 0xFF
  [1]
  $ skmt score --ref ref absent 2>&1 | grep -c absent
  1

  $ printf 'a\tx\ty\nb\tx\ty\na\tx\ty\n' > mixed.tsv; skmt score --docs mixed.tsv hyp
  mixed.tsv:3: this line belongs to the document of line 1; the lines of a document must be consecutive
  [1]
  $ printf 'a\tx\ty\n\tx\ty\n' > nameless.tsv; skmt score --docs nameless.tsv hyp
  nameless.tsv:2: the first column, the name of the document, is empty
  [1]
  $ skmt score --docs both.tsv hyp
  both.tsv:1: there is no column 3
  [1]
  $ skmt score --ref ref --freq-corpus latin hyp
  latin:3: the text is not valid UTF-8: byte 0 is 0xFF
  [1]
  $ head -c 60 docs.tsv.xz > cut.xz; skmt score --docs cut.xz hyp 2>&1 | grep -c '^skmt: cut.xz: '
  1

Usage errors are reported.

  $ skmt score hyp
  skmt: score needs --ref REF or --docs TSV, and at least one FILE; see 'skmt help score'
  [2]
  $ skmt score --ref ref
  skmt: score needs --ref REF or --docs TSV, and at least one FILE; see 'skmt help score'
  [2]
  $ skmt score --ref ref --metrics bleu,meteor hyp
  skmt: metrics: "meteor" is not one of bleu, chrf, chrf-eps, ter, r, r-all
  [2]
  $ skmt score --ref ref --column 0 hyp
  skmt: --column: '0' is not a whole number from 1 to 1000
  [2]
  $ skmt score --ref ref --resamples many hyp
  skmt: --resamples: 'many' is not a whole number from 0 to 1000000
  [2]
  $ skmt score --ref ref --docs docs.tsv hyp
  skmt: --ref and --docs cannot be used together
  [2]
  $ skmt score --docs docs.tsv --column 1 hyp
  skmt: --column: with --docs, column 1 is the name of the document
  [2]
  $ for b in 5,5 5,4 0 '' 5, a 5x 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do skmt score --docs docs.tsv --buckets "$b" hyp; done 2>&1 | sort | uniq -c | sort -n | wc -l
  8
  $ skmt score --docs docs.tsv --buckets 5,5 hyp
  skmt: --buckets: '5,5' is not a list of at most 16 ascending numbers such as 50,100,200
  [2]
  $ skmt score --docs docs.tsv --r-stopwords maybe hyp
  skmt: --r-stopwords: 'maybe' is neither on nor off
  [2]
  $ skmt score --ref hyp --freq-corpus - -
  skmt: standard input ('-') can be read only once
  [2]
  $ skmt score --ref - -
  skmt: standard input ('-') can be read only once
  [2]

Every option is on the help page.

  $ skmt help options | awk -F '\t' '$1 == "score" { print $2 }' | while read o; do skmt help score | grep -q -e "--$o\b" || echo "no $o"; done
  $ skmt help score | awk 'length > 79'
