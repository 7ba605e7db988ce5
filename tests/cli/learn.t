# needs: model python3 xz
Corrections follow their sources on the same line, and the next line makes use
of them. The memory is created with the model's languages.

  $ cat > cat.tsv <<'END'
  > Die Katze sitzt auf der Matte.
  > Die Katze sitzt auf der Matte.	The cat is sitting upon the rug.
  > Die Katze sitzt auf der Matte.
  > Der Hund sitzt auf der Matte.
  > END
  $ skmt learn -M my.tm < cat.tsv
  The cat is sitting on the mat.
  The cat is sitting on the mat.
  The cat is sitting upon the rug.
  The dog * the rug. (glob)
  $ skmt tm list my.tm | tail -1
             1             1         0  de > en         main

--json reports the best match and the stored pair.

  $ sed 's/upon/on top of/' cat.tsv | skmt learn -M my.tm --json --document mats --author me
  {"line":1,"text":"The cat is sitting upon the rug.","similarity":1,"exact":true}
  {"line":2,"text":"The cat is sitting upon the rug.","similarity":1,"exact":true,"stored":2,"replaced":1}
  {"line":3,"text":"The cat is sitting on top of the rug.","similarity":1,"exact":true}
  {"line":4,"text":"The dog *","similarity":0.75,"exact":false} (glob)
  $ skmt tm show my.tm 2 | grep -e document -e author
  document      mats
  author        me

A correction replaces all earlier ones; the same correction once more changes
nothing. With --keep, all translations stay in the memory.

  $ s='Die Katze sitzt auf der Matte.'
  > printf '%s\tone\n%s\ttwo\n%s\tone\n%s\tone\n%s\n' "$s" "$s" "$s" "$s" "$s" | skmt learn -M my.tm | tail -n 4
  one
  two
  one
  one
  $ skmt tm export my.tm --format tsv
  Die Katze sitzt auf der Matte.	one
  $ printf 'Die Katze sitzt auf der Matte.\ttwo\nDie Katze sitzt auf der Matte.\n' | skmt learn -M my.tm --keep
  one
  two
  $ skmt tm export my.tm --format tsv
  Die Katze sitzt auf der Matte.	one
  Die Katze sitzt auf der Matte.	two

Corrections change only the first memory that is named.

  $ skmt tm create my.tm --name other > /dev/null
  $ printf 'Die Katze sitzt auf der Matte.\tthree\n' | skmt learn -M my.tm -n other -n main --json | sed 's/.*"stored"/"stored"/'
  "stored":*,"replaced":0} (glob)
  $ skmt tm export my.tm --name other --format tsv
  Die Katze sitzt auf der Matte.	three

A correction that is already stored is confirmed if a translation of another
memory would be preferred to it, and only then.

  $ for i in 1 2; do printf 'Die Katze sitzt auf der Matte.\tone\n' | skmt learn -M my.tm -n main > /dev/null; done; skmt tm export my.tm --name main --format tsv
  Die Katze sitzt auf der Matte.	one
  $ for i in 1 2; do printf 'Die Katze sitzt auf der Matte.\tone\nDie Katze sitzt auf der Matte.\n' | skmt learn -M my.tm -n main -n other; done; skmt tm export my.tm --name main --format tsv
  three
  one
  one
  one
  Die Katze sitzt auf der Matte.	one
  Die Katze sitzt auf der Matte.	one
  $ printf 'Ja\tYes\n' | skmt learn -M named.tm -n mine > /dev/null; skmt tm list named.tm | awk 'NR > 1 { print $1, $NF }'
  1 mine
  $ printf 'Ja\tYes\n' | skmt learn -M named.tm -n yours
  skmt: *yours* (glob)
  [2]

Corrections from a separate file; a blank line means no correction. Lines and
their line ends are kept.

  $ printf 'Guten Morgen!\r\n\nGuten Morgen!\nVielen Dank.\nGuten Morgen!\n' > a.de; printf '\n\nMorning to you!\n\n\n' > a.en
  $ skmt learn -M a.tm a.de --corrections a.en | cat -A
  Good morning!^M$
  $
  Good morning!$
  Thank you very much.$
  Morning to you!$
  $ rm -r a.tm*; skmt learn -M a.tm --corrections a.en < a.de -o out; tail -1 out; skmt tm export a.tm --format tsv
  Morning to you!
  Guten Morgen!	Morning to you!

If the numbers of lines differ, this is reported before anything is stored, or
at the first line without a counterpart.

  $ head -4 a.en > short; skmt learn -M new.tm a.de -c short; ls new.tm
  skmt: short has 4 lines, but the input has 5; nothing was stored
  ls: cannot access 'new.tm': No such file or directory
  [2]
  $ skmt learn -M a.tm -c short < a.de > out; wc -l < out
  standard input:5: the file of corrections has no line for this input line
  4
  $ printf 'x\n' > x; skmt learn -M a.tm -c x <(echo)
  x:1: there is a correction, but no source
  [1]

Invalid or too long text is reported with its line; the lines before it are
stored.

  $ printf 'Vielen Dank.\tThanks a lot.\nJa\tNein\tVielleicht\n' | skmt learn -M a.tm -o out; cat out
  standard input:2: expected a source, or a source, a tab and a correction
  Thank you very much.
  $ printf '\tthanks\n' | skmt learn -M a.tm
  standard input:1: there is a correction, but no source
  [1]
  $ printf 'Danke\tth\377nks\n' > bad; skmt learn -M a.tm bad
  bad:1: * (glob)
  [1]
  $ printf 'Dan\377ke\n' | skmt learn -M a.tm
  standard input:1: * (glob)
  [1]
  $ printf 'Dan\0ke\n' | skmt learn -M a.tm
  standard input:1: the line contains a NUL byte
  [1]
  $ skmt tm search a.tm --no-model 'Vielen Dank.' | sed -n 2p
        Thanks a lot.

The correction of a line that was written is on disk, even if the process is
killed then.

  $ cat > killed.py <<'END'
  > import os, signal, subprocess, sys
  > p = subprocess.Popen(["skmt", "learn", "-M", "killed.tm"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
  > for i in range(5):
  >     p.stdin.write(b"Zeile %d\tverse %d\n" % (i, i))
  >     p.stdout.readline()
  > p.send_signal(getattr(signal, sys.argv[1]))
  > print(p.wait())
  > END
  $ timeout 60 python3 killed.py SIGKILL
  -9
  $ skmt tm export killed.tm --format tsv | cut -f 2 | xargs; skmt tm search killed.tm --no-model 'Zeile 4' | sed -n 2p; skmt tm check killed.tm
  verse 0 verse 1 verse 2 verse 3 verse 4
        verse 4
  killed.tm: no problems

SIGINT and SIGTERM end the program with the right status.

  $ for s in SIGINT SIGTERM; do rm -r killed.tm*; timeout 60 python3 killed.py $s; skmt tm export killed.tm --format tsv | wc -l; done; ls | grep -c 'killed.tm-'
  130
  5
  143
  5
  0
  [1]

A full disk: nothing is written that is not stored. (ulimit limits the size of
a file.)

  $ skmt tm create full.tm > /dev/null; for i in $(seq 60); do printf 'Wort %d\tword %d\n' $i $i; done > words
  $ (ulimit -f 120; skmt learn -M full.tm words --beam 1 --max-len-b 5 -o written)
  skmt: full.tm: * (glob)
  [1]
  $ n=$(wc -l < written); [ $n -gt 0 -a $n -lt 60 ] || echo "$n lines"; skmt tm export full.tm --format tsv | diff - <(head -n $n words); skmt tm check full.tm
  full.tm: no problems
  $ printf 'Wort\tword\n' | skmt learn -M full.tm > /dev/full
  skmt: writing standard output: No space left on device
  [1]

At a terminal, each translation can be edited. The edited text is stored and
written; - stores nothing.

  $ cp "$TOP/tests/cli/terminal.py" .
  $ cat > edit.py <<'END'
  > from terminal import talk
  > HOME, END, RIGHT, WORD, DELETE = "\033[H", "\033[F", "\033[C", "\033[1;5C", "\033[3~"
  > talk(["skmt", "learn", "-M", "talk.tm", "three.de", "-o", "three.en"],
  >      [("mat.", "\x17rug." + HOME + DELETE + "t" + WORD + "se" + 4 * RIGHT + "s a\u0308\x7f\x08" + END + "!\x02\x08\n"),
  >       ("rug!", "\x01\x0b-\n")])
  > END
  $ printf 'Die Katze sitzt auf der Matte.\n\nDie Katze sitzt auf der Matte.\nDie Katze sitzt auf der Matte.\tThe cat sits.\n' > three.de
  $ timeout 60 python3 edit.py
  |Edit the translation and press Enter to store it. To store nothing, enter an
  |empty line or -.
  |Commands: /undo removes the last answer and asks for it again, /help shows this
  |text. Ctrl-D ends the dialog. If a text begins with /, type // instead of /.
  |
  |three.de:1  Die Katze sitzt auf der Matte.
  |= these cats is sitting on the rug!
  |stored as pair 1
  |
  |three.de:3  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= -
  |
  |three.de:4  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= The cat sits.
  |stored as pair 2; it replaces 1 other translation
  |2 pairs stored in talk.tm
  |
  status 0
  $ cat three.en; skmt tm export talk.tm --format tsv
  these cats is sitting on the rug!
  
  these cats is sitting on the rug!
  The cat sits.
  Die Katze sitzt auf der Matte.	The cat sits.

Other translations are shown, and the similarity of the best pair, rounded down
as in --explain.

  $ skmt tm create alt.tm > /dev/null; printf 'Das ist es.\tThat is it.\nDas ist es.\tThis is it.\nBitte schließen Sie den Deckel des Geräts.\tx\n' | skmt tm add alt.tm > /dev/null
  $ echo 'Das ist es.' > alt.de; echo 'Bitte öffnen Sie den Deckel des Geräts.' >> alt.de
  $ tail -1 alt.de | skmt translate -M alt.tm --explain --json | python3 -c 'import json,sys; s = json.load(sys.stdin)["segments"][0]["pairs"][0]["similarity"]; print(s * 100 % 1 > 0.5)'
  True
  $ cat > alt.py <<'END'
  > import re
  > from terminal import talk
  > talk(["skmt", "learn", "-M", "alt.tm", "alt.de"],
  >      [(re.compile("^= .*\\.$"), "\x15-\n"), (re.compile("^= .*\\.$"), "\x15-\n")])
  > END
  $ timeout 60 python3 alt.py | grep -o '^|(.*'
  |(stored translation of the same sentence)
  |(another stored translation, pair 1 of main: That is it.)
  |(the most similar stored sentence: 90%)

Sources can be typed, too, also longer than the screen. The last answer can be
undone: the pair it replaced is restored, and its line is asked for again.

  $ cat > undo.py <<'END'
  > from terminal import talk
  > cat = "Die Katze sitzt auf der Matte."
  > talk(["skmt", "learn", "-M", "talk.tm"],
  >      [("> ", "/undo\n"), ("> ", cat + "\n"), ("sits.", "\x15A cat. " + 30 * "word " + "\n"),
  >       ("> ", cat + "\n"), ("word", "\x15/undo\n"), ("sits.", "\x15/undo\n"),
  >       ("sits.", "\x15/undone\n"), ("/undone", "\x15First.\n"), ("First.", "\n"),
  >       ("> ", "/undo\n"), ("First.", "\x15The cat sits.\n"), ("> ", "\x04")])
  > END
  $ timeout 60 python3 undo.py | tail -n +5
  |> /undo
  |there is no answer to undo
  |> Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= A cat. word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word
  |stored as pair 3; it replaces 1 other translation
  |> Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= /undo
  |undone: pair 3 removed
  |
  |standard input:2  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= /undo
  |there is no answer to undo
  |
  |standard input:2  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= /undone
  |unknown command '/undone'; the commands are /undo and /help; if a text begins with /, type // instead of /
  |= First.
  |stored as pair 5; it replaces 1 other translation
  |
  |standard input:3  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= First.
  |already stored as pair 5
  |> /undo
  |
  |standard input:3  Die Katze sitzt auf der Matte.
  |(stored translation of the same sentence)
  |= The cat sits.
  |stored as pair 6; it replaces 1 other translation
  |>
  |2 pairs stored in talk.tm
  |
  status 0
  $ skmt tm export talk.tm --format tsv
  Die Katze sitzt auf der Matte.	The cat sits.

A translation that is stored for several documents is replaced in all of them.
Undo restores every pair with its document and its author.

  $ skmt tm create docs.tm > /dev/null; for d in a b c; do skmt tm add docs.tm --document $d --author "author $d" 'Guten Morgen' 'Good day' > /dev/null; done
  > skmt tm add docs.tm --document d 'Guten Morgen' 'Good hello' > /dev/null; skmt tm add docs.tm --document e 'Guten Abend' 'Good day' > /dev/null
  $ cat > list.sh <<'END'
  > for i in $(seq 20); do skmt tm show docs.tm $i --json 2> /dev/null; done |
  > python3 -c 'import json, sys; print(*sorted("/".join(json.loads(p)[k] for k in ("source", "target", "document", "author")) for p in sys.stdin), sep="\n")'
  > END
  $ cat > docs.py <<'END'
  > import re
  > from terminal import talk
  > talk(["skmt", "learn", "-M", "docs.tm"],
  >      [("> ", "Guten Morgen\n"), (re.compile("^= Good [a-z]*$"), "\x15Good morning\n"),
  >       ("> ", "/undo\n"), (re.compile("^= Good [a-z]*$"), "\x15\x04")])
  > END
  $ timeout 60 python3 docs.py | grep -e 'stored as' -e undone
  |stored as pair 6; it replaces 2 other translations
  |undone: pair 6 removed
  $ bash list.sh
  Guten Abend/Good day/e/
  Guten Morgen/Good day/a/author a
  Guten Morgen/Good day/b/author b
  Guten Morgen/Good day/c/author c
  Guten Morgen/Good hello/d/

An answer that is already stored adds no pair, but it replaces the other
translations. Undo restores them.

  $ skmt tm create both.tm > /dev/null; printf 'Guten Morgen\tGood hello\nGuten Morgen\tGood day\n' | skmt tm add both.tm > /dev/null
  $ cat > both.py <<'END'
  > from terminal import talk
  > talk(["skmt", "learn", "-M", "both.tm"],
  >      [("> ", "Guten Morgen\n"), ("correction> ", "Good day\n"), ("> ", "/undo\n"), ("correction> ", "-\n"), ("> ", "\x04")], "dumb")
  > END
  $ timeout 60 python3 both.py | grep -e 'stored as' -e undone
  |already stored as pair 2; it replaces 1 other translation
  |undone: the replaced pairs are restored
  $ skmt tm export both.tm --format tsv | LC_ALL=C sort
  Guten Morgen	Good day
  Guten Morgen	Good hello

An answer that is undone is removed from the output, also from a pipe, and the
blank lines after it stay in their place. An unknown command is not stored. A
text that begins with a slash can be stored, and a translation that begins with
one can be accepted.

  $ printf 'Guten Morgen!\n\nVielen Dank.\nVielen Dank.\nGuten Morgen!\n' > five.de
  $ cat > again.py <<'END'
  > import os, sys
  > from terminal import talk
  > talk(["sh", "-c", sys.argv[1]],
  >      [("morning!", "\x15Wrong.\n"), ("much.", "\x15/undo\n"), ("morning!", "\x15Morning!\n"),
  >       ("much.", "\x15/skip it\n"), ("it", "\x15//thanks\n"), ("//thanks", "\n"),
  >       ("Morning!", "\x04")])
  > END
  $ for to in '-o five.en' '> five.en' '| cat > five.en'; do rm -rf five.tm* five.en; timeout 60 python3 again.py "skmt learn -M five.tm five.de $to" > screen; cat five.en; echo --; done
  Morning!
  
  /thanks
  /thanks
  --
  Morning!
  
  /thanks
  /thanks
  --
  Morning!
  
  /thanks
  /thanks
  --
  $ grep -v '^|[(=]' screen | tail -n +5; skmt tm export five.tm --format tsv
  |
  |five.de:1  Guten Morgen!
  |stored as pair 1
  |
  |five.de:3  Vielen Dank.
  |undone: pair 1 removed
  |
  |five.de:1  Guten Morgen!
  |stored as pair 2
  |
  |five.de:3  Vielen Dank.
  |unknown command '/skip'; the commands are /undo and /help; if a text begins with /, type // instead of /
  |stored as pair 3
  |
  |five.de:4  Vielen Dank.
  |already stored as pair 3
  |
  |five.de:5  Guten Morgen!
  |2 pairs stored in five.tm
  |
  status 0
  Guten Morgen!	Morning!
  Vielen Dank.	/thanks

If the disk is full, the answer can be tried again.

  $ cat > full.py <<'END'
  > import re, resource
  > from terminal import talk
  > def room(n): return lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))
  > talk(["skmt", "learn", "-M", "talk.tm"],
  >      [("> ", "Die Katze sitzt auf der Matte.\n"), ("sits.", room(1024)), ("", "\x15Full.\n"),
  >       ("= Full.", room(resource.RLIM_INFINITY)), ("", "\n"), ("> ", "\x04")])
  > END
  $ timeout 60 python3 full.py | tail -n +7
  |= Full.
  |skmt: not stored: talk.tm: * (glob)
  |= Full.
  |stored as pair 7; it replaces 1 other translation
  |>
  |1 pair stored in talk.tm
  |
  status 0

The editor moves over whole characters, in any locale; earlier lines can be
fetched. Ctrl-D and Ctrl-C end the dialog, also in the middle of a long line.

  $ cat > keys.py <<'END'
  > from terminal import talk
  > UP, DOWN, LEFT, DELETE = "\033[A", "\033[B", "\033[D", "\033[3~"
  > talk(["skmt", "learn", "-M", "keys.tm"],
  >      [("> ", "Ja.\n"), ("= Yes.", "\x15Gr\u00f6\u00dfe: \u65e5\u672c\u8a9e!" + 3 * LEFT + "\x08" + DELETE + 3 * LEFT + "\x7fss\n"),
  >       ("> ", UP + UP + "\n"), ("!", "\x15" + UP + UP + UP + DOWN + " and\tagain\x16\n"),
  >       ("> ", "Nein.\n"), ("No.", "\x04")])
  > talk(["skmt", "learn", "-M", "keys.tm"], [("> ", "Ja.\n"), ("again", "\x15" + 60 * "word " + "\033[H"), ("= ", "\x03")])
  > END
  $ LC_ALL=C PYTHONUTF8=1 timeout 60 python3 keys.py | grep -v -e '^|[ET]' -e '^|Commands' -e '^|text'
  |empty line or -.
  |> Ja.
  |= Grösse: 語!
  |stored as pair 1
  |> Ja.
  |(stored translation of the same sentence)
  |= Grösse: 語! and again
  |stored as pair 2; it replaces 1 other translation
  |> Nein.
  |= No.
  |2 pairs stored in keys.tm
  |
  status 0
  |empty line or -.
  |> Ja.
  |(stored translation of the same sentence)
  |= word word word * word (glob)
  |0 pairs stored in keys.tm
  |
  status 130
  $ skmt tm export keys.tm --format tsv
  Ja.	Grösse: 語! and again

Ctrl-C ends the dialog; stored pairs stay. On a terminal without cursor
control, the whole line is typed.

  $ cat > plain.py <<'END'
  > from terminal import talk
  > talk(["skmt", "learn", "-M", "plain.tm"],
  >      [("> ", "Guten Morgen!\n"), ("correction> ", "Morning!\n"), ("> ", "Guten Morgen!\n"), ("correction> ", "-\n"),
  >       ("> ", "Vielen Dank.\n"), ("correction> ", "\n"), ("> ", "\n"), ("> ", "Ja.\n"), ("correction> ", "\x03")], "dumb")
  > END
  $ timeout 60 python3 plain.py
  |Press Enter to store the translation, or type the text to store instead of it.
  |Type - to store nothing.
  |Commands: /undo removes the last answer and asks for it again, /help shows this
  |text. Ctrl-D ends the dialog. If a text begins with /, type // instead of /.
  |> Guten Morgen!
  |Good morning!
  |correction> Morning!
  |stored as pair 1
  |> Guten Morgen!
  |(stored translation of the same sentence)
  |Morning!
  |correction> -
  |> Vielen Dank.
  |Thank you very much.
  |correction>
  |stored as pair 2
  |>
  |> Ja.
  |Yes.
  |correction> ^C
  |2 pairs stored in plain.tm
  |
  status 130
  $ skmt tm export plain.tm --format tsv
  Guten Morgen!	Morning!
  Vielen Dank.	Thank you very much.

--simulate uses references as corrections. A document knows its own lines, but
not those of the document before.

  $ cat > docs.tsv <<'END'
  > a	Die Pumpe muss vor der Wartung ausgeschaltet werden.	Turn the impeller off before servicing.
  > a	Die Pumpe muss vor der Reinigung ausgeschaltet werden.	Turn the impeller off before cleaning.
  > a	Das Ventil muss vor der Wartung geschlossen werden.	Shut the gate before servicing.
  > a	Die Pumpe muss vor der Wartung ausgeschaltet werden.	Turn the impeller off before servicing.
  > b	Die Pumpe muss vor der Wartung ausgeschaltet werden.	Turn the impeller off before servicing.
  > b	Die Pumpe muss vor der Reinigung ausgeschaltet werden.	Turn the impeller off before cleaning.
  > c	Die Pumpe muss vor der Reinigung ausgeschaltet werden.	Turn the impeller off before cleaning.
  > END
  $ cut -f 2 docs.tsv | skmt translate --split none > alone; mkdir tmp
  $ TMPDIR=$PWD/tmp skmt learn --simulate docs.tsv -o learned > table; paste alone learned | awk -F '\t' '{ print NR, ($1 == $2 ? "the same" : "better") }'; ls tmp
  1 the same
  2 better
  3 better
  4 better
  5 the same
  6 better
  7 the same
  $ cat table
  file     metric        score       95% within
  learned  BLEU * (glob)
  learned  chrF2 * (glob)
  
  lines of a document        1-50       all
  documents                     3         3
  lines                         7         7
  BLEU
    learned * (glob)
  chrF2
    learned * (glob)
  
  BLEU * (glob)
  chrF2 * (glob)
  1000 resamples, seed 12345

The scores are those of skmt score. --baseline adds those of the model alone.

  $ skmt score --docs docs.tsv --metrics bleu,chrf alone learned | sed 's/^alone  /model  /; s/  alone  /  model  /; s/from alone/from model/' > want
  $ skmt learn --simulate docs.tsv --baseline | diff want -
  $ skmt learn --simulate docs.tsv --baseline --json > json; skmt score --docs docs.tsv --metrics bleu,chrf --json alone learned | sed 's/"alone"/"model"/' | diff json -

Translating many lines at a time does not change the result: it is the same as
learning line by line.

  $ grep ^a docs.tsv > a.tsv; cut -f 2 a.tsv > a.de; cut -f 3 a.tsv > a.en
  $ skmt learn -M one.tm a.de --corrections a.en --split none --exact steer | diff - <(head -4 learned)
  $ skmt learn --simulate docs.tsv --threads 2 --batch 3 -o two > /dev/null; cmp two learned

A line that occurred before is steered like any other, unless --exact use is
given; settings can come from a file.

  $ printf 'exact = use\nadapter = none\n' > settings; skmt learn --simulate docs.tsv --settings settings -o - 2> table2 | paste alone - | awk -F '\t' '{ print ($1 == $2 ? "alone" : $2) }'
  alone
  alone
  alone
  Turn the impeller off before servicing.
  alone
  alone
  alone
  $ head -1 table2
  file     metric        score       95% within

  $ skmt learn --simulate docs.tsv --adapter none -o - 2> /dev/null | cmp - alone

Lines are not split into sentences, unless --split is given.

  $ printf 'a\tDie Pumpe ist aus. Das Ventil ist zu. Gehen Sie nach Hause!\tx\n' > two.tsv
  $ for s in none auto; do cut -f 2 two.tsv | skmt translate --split $s; done > both; sort -u both | wc -l
  2
  $ (skmt learn --simulate two.tsv -o -; skmt learn --simulate two.tsv --split auto -o -) 2> /dev/null | cmp - both

Tables may be compressed, or come from standard input.

  $ xz -k docs.tsv; skmt learn --simulate docs.tsv.xz -o out > /dev/null; cmp out learned
  $ skmt learn --simulate - -o out < docs.tsv > /dev/null; cmp out learned

Lines without a reference or a source are not stored.

  $ printf 'a\tGuten Morgen!\t\na\t\tnothing\na\tGuten Morgen!\tMorning!\n' > holes.tsv; skmt learn --simulate holes.tsv --exact use -o - 2> /dev/null
  Good morning!
  
  Good morning!

Bad lines are reported before the first line is translated.

  $ printf 'a\tx\ty\nb\tx\n' > bad.tsv; skmt learn --simulate bad.tsv -o out2; ls out2
  bad.tsv:2: expected three columns separated by tabs: document, source, reference
  ls: cannot access 'out2': No such file or directory
  [2]
  $ printf 'a\tx\ty\n\tx\ty\n' > bad.tsv; skmt learn --simulate bad.tsv
  bad.tsv:2: the first column, the name of the document, is empty
  [1]
  $ printf 'a\tx\ty\nb\tx\ty\na\tx\ty\n' > bad.tsv; skmt learn --simulate bad.tsv
  bad.tsv:3: this line belongs to the document of line 1; the lines of a document must be consecutive
  [1]
  $ printf 'a\tx\ty\na\tx\377\ty\n' > bad.tsv; skmt learn --simulate bad.tsv
  bad.tsv:2: the line is not valid UTF-8
  [1]
  $ printf 'a\tx\t\0y\n' > bad.tsv; skmt learn --simulate bad.tsv
  bad.tsv:1: the line contains a NUL byte
  [1]
  $ : > bad.tsv; skmt learn --simulate bad.tsv
  skmt: bad.tsv is empty
  [1]

The temporary folder is removed after a signal, on a full disk, and when the
output is closed.

  $ for i in $(seq 300); do printf 'a\tDie Pumpe %d muss vor der Wartung ausgeschaltet werden.\tpump %d off\n' $i $i; done > long.tsv
  $ TMPDIR=$PWD/tmp skmt learn --simulate long.tsv -o part & while [ ! -s part ]; do sleep 0.1; done; ls tmp | wc -l; kill $!; wait $!; echo "status $?"; ls tmp
  1
  status 143
  $ TMPDIR=$PWD/tmp skmt learn --simulate docs.tsv -o /dev/full; ls tmp
  skmt: writing /dev/full: No space left on device
  $ TMPDIR=$PWD/no/such skmt learn --simulate docs.tsv
  skmt: */no/such: No such file or directory (glob)
  [1]

Usage errors are reported.

  $ skmt learn a.de
  skmt: learn needs --memory FILE, or --simulate TSV; see 'skmt help learn'
  [2]
  $ skmt learn -M my.tm --baseline a.de
  skmt: --baseline needs --simulate
  [2]
  $ skmt learn -M my.tm --simulate docs.tsv
  skmt: --simulate uses its own memories and cannot be used with --memory, --name or --key-file
  [2]
  $ skmt learn --simulate docs.tsv a.de
  skmt: --simulate reads all its input from docs.tsv and takes no files, --corrections, --document, --author or --keep
  [2]
  $ skmt learn -M my.tm -c -
  skmt: standard input cannot be both the sources and the corrections
  [2]
  $ skmt learn -M my.tm -o ''
  skmt: --output needs the name of a file
  [2]
  $ skmt learn -M my.tm --tau many
  skmt: --tau: * (glob)
  [2]
  $ cp a.de b.de; for o in b.de my.tm; do skmt learn -M my.tm b.de -o $o; done; cmp a.de b.de
  skmt: b.de: cannot be both the input and the output
  skmt: my.tm: cannot be both the memory and the output
  $ skmt learn -M my.tm missing
  skmt: missing: No such file or directory
  [1]
  $ skmt learn -M a.de a.de
  skmt: a.de: * (glob)
  [1]
  $ skmt learn -M my.tm -m nowhere/x.skmt a.de
  skmt: nowhere/x.skmt: No such file or directory
  [3]

The help page lists its options.

  $ skmt help learn | head -1; skmt learn -h | cmp - <(skmt help learn)
  Usage: skmt learn --memory FILE [OPTIONS] [FILE ...]
  $ skmt help options | awk -F '\t' '$1 == "learn" { print $2 }' | while read o; do skmt help learn | grep -q -e "--\(\[\?no-\]\?\)\?$o\b" || echo "no $o"; done
  $ skmt help learn | awk 'length > 79' | grep -v 'skmt learn'
  [1]

Systems kok and vanilla search the corrections of the run, and each document
begins without any. kok needs corrections to learn from before it uses them.

  $ s='Die Katze sitzt auf der Matte.'; t='The cat is sitting upon the rug.'
  > printf "a\t$s\t$t\na\t$s\t$t\na\t$s\t$t\nb\t$s\t$t\n" > rug.tsv
  $ for y in nmt 'vanilla --lambda 0.5' kok; do echo ${y%% *}; skmt learn --simulate rug.tsv --system $y -o - 2> /dev/null; done
  nmt
  The cat is sitting on the mat.
  The cat is sitting on the mat.
  The cat is sitting on the mat.
  The cat is sitting on the mat.
  vanilla
  The cat is sitting on the mat.
  The cat is sitting upon the rug.
  The cat is sitting upon the rug.
  The cat is sitting on the mat.
  kok
  The cat is sitting on the mat.
  The cat is sitting on the mat.
  The cat is sitting upon the rug.
  The cat is sitting on the mat.
  $ skmt learn --simulate rug.tsv --system vanilla --lambda 0 -o - 2> /dev/null | uniq
  The cat is sitting on the mat.
  $ skmt learn --simulate rug.tsv --system kok --threads 2 --batch 3 -o - 2> /dev/null > two; skmt learn --simulate rug.tsv --system kok --batch 1 -o - 2> /dev/null | cmp - two
  $ skmt learn --simulate rug.tsv --system kok --baseline --record kok.json | grep -c -e '^  model' -e '^  learned'; python3 -c 'import json; print(json.load(open("kok.json"))["options"]["system"])'
  4
  kok

Without --simulate the corrections are stored as usual, and those of an earlier
run are not searched.

  $ cut -f 2,3 rug.tsv | skmt learn -M rug.tm --system vanilla --lambda 0.5
  The cat is sitting on the mat.
  The cat is sitting upon the rug.
  The cat is sitting upon the rug.
  The cat is sitting upon the rug.
  $ cut -f 2 rug.tsv | head -n 1 | skmt learn -M rug.tm --system kok; skmt tm export rug.tm --format tsv | wc -l
  The cat is sitting on the mat.
  1

Other systems with a datastore do not learn.

  $ skmt learn --simulate rug.tsv --system chunk
  skmt: --system chunk searches a datastore, which does not learn from corrections; use sk, learned, vanilla, kok or nmt
  [2]
  $ skmt learn -M rug.tm --system kok --adapt --settings new.settings < /dev/null
  skmt: --adapt trains the network of system learned; system kok has none
  [2]
