# needs: model python3
Settings are tried on lines with known translations. Here the translations are
such that only the memory can know them.

  $ printf '%s\t%s\n' 'Der Hund schläft im Garten.' 'Fido naps amid the roses.' 'Die Rechnung ist bis Freitag zu bezahlen.' 'Kindly settle the bill before the weekend.' 'Drücken Sie die rote Taste.' 'Push the scarlet knob.' 'Morgen regnet es in ganz Bayern.' 'Bavaria expects a wet tomorrow.' > tm.tsv
  $ printf '%s\t%s\n' 'Der Hund schläft im Haus.' 'Fido naps amid the walls.' 'Drücken Sie die grüne Taste… Der Hund schläft.' 'Push the green knob… Fido naps.' 'Die Rechnung ist bis Montag zu bezahlen.' 'Kindly settle the bill before Monday.' > dev.tsv
  $ skmt tm create my.tm > log && skmt tm import my.tm tm.tsv >> log

The tables of the paper, with any numbers: m and k, then tau at their best
values.

  $ skmt tune -M my.tm --dev dev.tsv --m 1,2 --k 1,2 --tau 100,200 -o best --svg grid.svg > out; sed 's/[0-9]*[0-9]\.[0-9][0-9]\*\?/N/g; s/  */ /g; s/ $//; s/at m [12], k [12]/at M/; s/: m .*, tau [12]00/: M/' out
  Tuned on 3 lines of dev.tsv: 4 sentences
  Mean similarity of the best pair: N
  Settings tried: 5, m and k first, then tau
  Without the memory: BLEU N, chrF2 N
  
  m and k at tau 100
   BLEU chrF2
   m \ k 1 2 1 2
   1 N N N N
   2 N N N N
  
  tau at M
   tau 100 200
   BLEU N N
   chrF2 N N
  
  Best by BLEU: M (BLEU N, chrF2 N)
  Settings written to best, for skmt translate --settings
  Heat map written to grid.svg
  $ grep -o '[0-9.]*\*' out | wc -l
  4

The results are the same in every run, with any number of threads, and as JSON.
The best setting has the highest score, and the memory improves it.

  $ skmt tune -M my.tm --dev dev.tsv --m 1,2 --k 1,2 --tau 100,200 --threads 2 -o best --svg grid.svg | cmp - out
  $ skmt tune -M my.tm --dev dev.tsv --m 1,2 --k 1,2 --tau 100,200 -j > json; cat > check.py <<END
  > import json, sys
  > d = json.load(open(sys.argv[1]))
  > metric, all = d["metric"], d["settings"]
  > top = max(p[metric] for p in all)
  > print(len(all), "settings; best is best:", d["best"][metric] == top, d["best"] in all, next(p for p in all if p[metric] == top) == d["best"])
  > print("more than without:", top > d["without_memory"][metric] + 20)
  > END
  $ python3 check.py json
  5 settings; best is best: True True True
  more than without: True
  $ python3 -c 'import json; d = json.load(open("json")); print(d["lines"], d["of_lines"], d["sentences"], d["adapter"], d["metric"])'
  3 3 4 distance bleu

--full tries all combinations of m, k and tau; --metric selects the metric that
decides.

  $ skmt tune -M my.tm --dev dev.tsv --m 1,2 --k 1,2 --tau 100,200 --full --metric chrf -j > full; python3 check.py full
  8 settings; best is best: True True True
  more than without: True
  $ skmt tune -M my.tm --dev dev.tsv --m 1,2 --k 1 --tau 50,100 --full | grep ' at '
  m and k at tau 50
  m and k at tau 100
  tau at m [12], k 1 (glob)

Each option has an effect: two pairs know more than one about a sentence that
combines both, a memory without weight does not help, and too many neighbors do
harm.

  $ printf 'Der Hund schläft im Haus.\tFido naps amid the walls.\nDie Katze trinkt warme Milch.\tKitty sips hot cream.\n' > both.tsv; printf 'Der Hund schläft im Haus, die Katze trinkt warme Milch.\tFido naps amid the walls, Kitty sips hot cream.\n' > both.dev; skmt tm create both.tm > log; skmt tm import both.tm both.tsv > log
  $ cat > rises.py <<END
  > import json, sys
  > s = [p["chrf"] for p in json.load(sys.stdin)["settings"]]
  > print("rises" if s[0] < s[1] - 3 else "falls" if s[0] > s[1] + 3 else s)
  > END
  $ skmt tune -M both.tm --dev both.dev --m 1,2 --k 1 --tau 150 -j | python3 rises.py
  rises
  $ skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 0.001,100 -j | python3 rises.py; skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 100 --lambda 0,0.5 -j | python3 rises.py; skmt tune -M my.tm --dev dev.tsv --m 1 --k 1,64 --tau 1000000 -j | python3 rises.py
  rises
  rises
  falls
  $ skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 100 --metric bleu -j | cmp - <(skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 100 -j)

The keys of a pair are computed only once for all settings.

  $ misses() { python3 -c 'import json, sys; print(json.load(sys.stdin)["keys"]["misses"])'; }; one=$(skmt tune -M my.tm --dev dev.tsv --m 2 --k 1 --tau 100 -j | misses); many=$(skmt tune -M my.tm --dev dev.tsv --m 2 --k 1,2,3 --tau 50,100,200 --full -j | misses); [ "$one" -gt 0 ] && [ "$one" = "$many" ] || echo "$one $many"

translate reads the settings file and gets the score that was reported.

  $ sed 's/[0-9]*[0-9]\.[0-9][0-9]/N/g; s/skmt tune [0-9.]* /skmt tune /; s/= [12]$/= M/; s/= [12]00/= T/' best
  # Found by skmt tune on 3 lines of dev.tsv
  # with the memory my.tm
  # Best by BLEU: BLEU N, chrF2 N; without the memory BLEU N, chrF2 N
  # Tried: m 1,2; k 1,2; tau 100,200: m and k first, then tau
  matches = M
  k = M
  tau = T
  adapter = distance
  $ cut -f 1 dev.tsv > dev.de; cut -f 2 dev.tsv > dev.en; skmt translate -M my.tm --settings best --exact steer dev.de > hyp
  $ skmt score --ref dev.en --resamples 0 --metrics bleu,chrf hyp | awk '$1 == "hyp" { print $3 }' | paste -sd ' ' > scored; sed -n 's/.*(BLEU \([0-9.]*\), chrF2 \([0-9.]*\))/\1 \2/p' out | diff scored -
  $ skmt translate dev.de | skmt score --ref dev.en --resamples 0 --metrics bleu - | awk '$1 == "-" { print "Without the memory: BLEU " $3 "," }' > alone; grep -o 'Without the memory: BLEU [0-9.]*,' out | diff alone -

With --adapter fixed, lambda is tuned, too; --lambda implies it. Other options
that affect the memory are written to the file.

  $ skmt tune -M my.tm --dev dev.tsv --m 1 --k 1,2 --tau 50,100 --lambda 0.3,0.5 --knn-eos --beam 2 --threads 2 -o fixed | grep ' at '
  m and k at lambda 0.5, tau 100
  lambda at m 1, k [12], tau 100 (glob)
  tau at m 1, k [12], lambda 0.[35] (glob)
  $ grep -v '^# [FwBT]' fixed
  matches = 1
  k = [12] (glob)
  lambda = 0.[35] (glob)
  tau = * (glob)
  adapter = fixed
  # found with beam = 2
  knn-eos = 1
  $ skmt translate -M my.tm --settings fixed dev.de | wc -l
  3
  $ skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 100 --adapter fixed -j | python3 -c 'import json, sys; print([p["lambda"] for p in json.load(sys.stdin)["settings"]])'
  [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

The picture is XML, with a cell for every score and two best cells per table.
File names are escaped.

  $ cat > svg.py <<END
  > import sys, xml.etree.ElementTree as E
  > all = list(E.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}rect"))
  > print(sum("stroke" not in r.attrib and r.get("class") in (None, "best") and r.get("x") is not None for r in all), "cells,", sum(r.get("class") == "best" for r in all), "best")
  > END
  $ python3 svg.py grid.svg
  12 cells, 4 best
  $ cp dev.tsv '<dev & "co">.tsv'; skmt tune -M my.tm --dev '<dev & "co">.tsv' --m 1 --k 1 --tau 100 --svg odd.svg > log; python3 svg.py odd.svg; grep -c '&lt;dev &amp; "co"&gt;.tsv' odd.svg
  2 cells, 2 best
  1
  $ grep -c 'http' grid.svg
  1

A sample is spread evenly over the lines: three of ten are the 2nd, the 6th and
the 9th.

  $ for i in $(seq 10); do printf 'Satz %d ist hier.\tSentence %d is here%s.\n' $i $i "$(seq -s ' and ' $i)"; done > ten.tsv; sed -n '2p;6p;9p' ten.tsv > three.tsv
  $ skmt tune -M my.tm --dev ten.tsv --limit 3 --m 1 --k 1 --tau 100 | tail -n +3 > a; skmt tune -M my.tm --dev three.tsv --m 1 --k 1 --tau 100 | tail -n +2 | diff a -
  $ skmt tune -M my.tm --dev ten.tsv --limit 3 --m 1 --k 1 --tau 100 | head -2
  Tuned on 3 of 10 lines of ten.tsv,
  spread evenly (--limit): 3 sentences
  $ skmt tune -M my.tm --dev ten.tsv --limit 0 --m 1 --k 1 --tau 100 | head -1
  Tuned on 10 lines of ten.tsv: 10 sentences

Without a dev set, pairs of the memory are translated while they are left out.
These pairs have nothing in common, so the memory knows everything if they are
not left out, and nothing otherwise.

  $ score() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["lines"], "100" if d["best"]["bleu"] > 99.9 else "less than 50" if d["best"]["bleu"] < 50 else d["best"])'; }; skmt tune -M my.tm --dev tm.tsv --m 1,2 --k 1 --tau 100 --knn-eos -j | score; skmt tune -M my.tm --m 1,2 --k 1 --tau 100 --knn-eos -j | score
  4 100
  4 less than 50
  $ skmt tune -M my.tm --m 1 --k 1 --tau 100 --limit 3 | head -2
  Tuned on 3 of 4 pairs of my.tm,
  spread evenly (--limit), each left out while it is translated: 3 sentences

Pairs with the same source and another translation, or that are part of the
pair, are left out as well; similar pairs are not.

  $ skmt tm create more.tm > log; printf '%s\t%s\n' 'Der Hund schläft im Garten.' 'Fido naps amid the roses.' 'Der Hund schläft im Garten.' 'Fido naps amid the tulips.' > same.tsv; skmt tm import more.tm same.tsv > log; skmt tune -M more.tm --m 2 --k 1 --tau 100 -j | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["lines"], d["similarity"])'
  2 0
  $ printf 'Der Hund schläft im Garten. Morgen regnet es.\tFido naps. Rain.\n' | skmt tm import more.tm - --format tsv > log; skmt tune -M more.tm --m 2 --k 1 --tau 100 --limit 0 -j | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["sentences"], 0 < d["similarity"] < 0.5)'
  4 True
  $ skmt tm add more.tm 'Der Hund schläft im Haus.' 'Fido naps amid the walls.' > log; skmt tune -M more.tm --m 2 --k 1 --tau 100 --limit 0 -j | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["sentences"], d["similarity"] > 0.5)'
  5 True

With --name, only those memories are used.

  $ skmt tm create two.tm > log; skmt tm import two.tm tm.tsv > log; skmt tm create two.tm --name legal > log; skmt tm add two.tm -n legal 'Der Vertrag endet.' 'The deal is off.' > log; for n in main legal; do skmt tune -M two.tm -n $n --m 1 --k 1 --tau 100 | head -1; done; skmt tune -M two.tm --m 1 --k 1 --tau 100 | head -1
  Tuned on 4 pairs of two.tm,
  Tuned on 1 pair of two.tm,
  Tuned on 5 pairs of two.tm,

Usage errors are reported before anything is translated.

  $ for a in '--m 2,1' '--m 1.5' '--m 0' '--k 1,x' '--k 65' '--tau 5,' '--tau nan' '--lambda 0.5,1.5' '--limit -1' '--metric ter' '--adapter none' '--adapter distance --lambda 0.5' extra '-o -' '--svg -' '-o x --svg x' '--tua 5' '--exact use'; do skmt tune -M my.tm $a && echo "$a"; done
  skmt: --m: '2,1' is not a list of at most 24 ascending whole numbers from 1 to 1000, such as 1,2,4
  skmt: --m: '1.5' is not a list of at most 24 ascending whole numbers from 1 to 1000, such as 1,2,4
  skmt: --m: '0' is not a list of at most 24 ascending whole numbers from 1 to 1000, such as 1,2,4
  skmt: --k: '1,x' is not a list of at most 24 ascending whole numbers from 1 to 64, such as 1,2
  skmt: --k: '65' is not a list of at most 24 ascending whole numbers from 1 to 64, such as 1,2
  skmt: --tau: '5,' is not a list of at most 24 ascending numbers from 0.001 to 1000000, such as 50,100
  skmt: --tau: 'nan' is not a list of at most 24 ascending numbers from 0.001 to 1000000, such as 50,100
  skmt: --lambda: '0.5,1.5' is not a list of at most 24 ascending numbers from 0 to 1, such as 0.3,0.5
  skmt: --limit: '-1' is not a whole number of 0 or more
  skmt: --metric: 'ter' is neither bleu nor chrf
  skmt: --adapter none ignores the memory, so there is nothing to tune
  skmt: --lambda needs --adapter fixed, not --adapter distance
  skmt: tune: unexpected operand 'extra'; name the lines to tune on with --dev FILE
  skmt: --output needs the name of a file
  skmt: --svg needs the name of a file
  skmt: --output and --svg name the same file
  skmt: tune: unknown option '--tua'; see 'skmt help tune'
  skmt: tune: unknown option '--exact'; see 'skmt help tune'
  [2]
  $ skmt tune
  skmt: tune needs --memory FILE; see 'skmt help tune'
  [2]
  $ skmt tune -M nothing.tm
  skmt: nothing.tm does not exist; create it with 'skmt tm create nothing.tm'
  [1]
  $ skmt tune -M my.tm --dev nothing.tsv
  skmt: nothing.tsv: No such file or directory
  [1]

Errors in the lines are reported with file and line.

  $ printf 'a\tb\nno tab\n' > bad.tsv; skmt tune -M my.tm --dev bad.tsv --limit 1
  bad.tsv:2: expected a source, a tab and a translation
  [1]
  $ printf '\tb\n' | skmt tune -M my.tm --dev -
  standard input:1: the source is empty
  [1]
  $ printf 'a\tb\na\t\tb\n' | skmt tune -M my.tm --dev -
  standard input:2: the translation is empty
  [1]
  $ printf 'a\tb\xff\n' | skmt tune -M my.tm --dev -
  standard input:1: byte 4 is not valid UTF-8
  [1]
  $ : > empty; skmt tune -M my.tm --dev empty
  skmt: empty is empty
  [1]
  $ skmt tm create none.tm > log; skmt tune -M none.tm
  skmt: none.tm has no pairs to tune on
  [1]

No input is overwritten, and an output that cannot be written is reported at
the start.

  $ skmt tune -M my.tm -o my.tm
  skmt: my.tm: cannot be both the memory and an output
  [1]
  $ ln -s dev.tsv link; skmt tune -M my.tm --dev dev.tsv --svg link
  skmt: link: cannot be both the --dev file and an output
  [1]
  $ skmt tune -M my.tm -o no/such/folder
  skmt: no/such/folder: No such file or directory
  [1]
  $ mkdir folder; skmt tune -M my.tm -o folder
  skmt: folder: Is a directory
  [1]

After a signal, no file is written, and old files are unchanged.

  $ echo old > keep; echo old > keep.svg; skmt tune -M my.tm --m 1,2,3,4 --tau 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24 --full --dev ten.tsv -o keep --svg keep.svg > begun & until grep -qs Without begun; do sleep 0.1; done; kill -TERM $!; wait $!; rc=$?; cat keep keep.svg; ls | grep -c 'keep'; exit $rc
  skmt: stopped *; no file was written (glob)
  old
  old
  2
  [143]
  $ skmt tune -M my.tm --dev dev.tsv --m 1 --k 1 --tau 100 -o keep > log; grep -c matches keep; ls | grep -c keep
  1
  2

The help page lists every option.

  $ skmt help options | awk -F '\t' '$1 == "tune" { print $2 }' | while read o; do skmt help tune | grep -q -e "--\(\[\?no-\]\?\)\?$o\b" || echo "no $o"; done
  $ skmt tune --help | head -1
  Usage: skmt tune -M MEM [--dev FILE] [OPTIONS] [-o FILE]
  $ skmt help tune | awk 'length > 79' | grep -v lenpen
  [1]
