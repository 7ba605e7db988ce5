# needs: python3
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

Standard input is a file like others; so is a column of a table.

  $ paste hyp ref > both.tsv; skmt score -r both.tsv -c 2 --resamples 0 --metrics bleu - < hyp | sed -n 2p
  -     BLEU          24.74
  $ skmt score -r - -c 2 --resamples 0 --metrics chrf,chrf-eps hyp < both.tsv | sed -n 2,3p
  hyp   chrF2         45.90
  hyp   chrF2 (eps)   45.90
  $ printf 'a\tb\nc\n' > short.tsv; skmt score -r short.tsv -c 2 hyp
  short.tsv:2: has no column 2
  [1]

Intervals and comparisons are the same at every run.

  $ for i in $(seq 60); do echo "word$i stands here and there"; done > ref60
  $ sed '1~2s/here/now/' ref60 > half; sed '1~30s/here/now/' ref60 > nearly
  $ skmt score --ref ref60 --metrics ter half nearly half > one; skmt score --ref ref60 --metrics ter half nearly half | cmp - one
  $ grep -v '^TER' one
  file    metric        score      95 % within       p
  half    TER           10.00     7.67   12.67
  nearly  TER            0.67     0.00    1.67  0.0010
  half    TER           10.00     7.67   12.67  1.0000
  
  1000 resamples, seed 12345; p: of no difference to half
  $ skmt score --ref ref60 --metrics ter --seed 6 half nearly half | cmp -s - one
  [1]

For programs there is JSON, a line for each file.

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

Nothing to score is a score of nothing.

  $ : > empty; skmt score --ref empty --metrics bleu,ter empty | sed -n 2,3p
  empty  BLEU           0.00
  empty  TER            0.00

Files that do not fit are refused.

  $ skmt score --ref ref ref60
  skmt: ref60 has more lines than the 3 of ref
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

So are command lines.

  $ skmt score hyp
  skmt: score needs --ref REF and FILEs; see 'skmt help score'
  [2]
  $ skmt score --ref ref
  skmt: score needs --ref REF and FILEs; see 'skmt help score'
  [2]
  $ skmt score --ref ref --metrics bleu,meteor hyp
  skmt: metrics: "meteor" is not one of bleu, chrf, chrf-eps, ter, r, r-all
  [2]
  $ skmt score --ref ref --column 0 hyp
  skmt: column: '0' is not a whole number from 1 to 1000
  [2]
  $ skmt score --ref ref --resamples many hyp
  skmt: resamples: 'many' is not a whole number from 0 to 1000000
  [2]
  $ skmt score --ref - -
  skmt: standard input ('-') can be read once
  [2]

Every option is in the help page.

  $ skmt help options | awk -F '\t' '$1 == "score" { print $2 }' | while read o; do skmt help score | grep -q -e "--$o\b" || echo "no $o"; done
  $ skmt help score | awk 'length > 79'
