# needs: model
Translate German to English.

  $ echo 'Guten Morgen!' | skmt translate
  Good morning!

Each line stays a line: blank lines stay blank, and the last line may lack its
newline.

  $ printf 'Guten Morgen!\n\n   \nVielen Dank.' | skmt translate | sed 's/$/|/'
  Good morning!|
  |
  |
  Thank you very much.|

  $ printf '' | skmt translate

  $ printf '\n' | skmt translate | od -An -c
    \n

A carriage return at the end of a line is not translated, and is kept.

  $ printf 'Guten Morgen!\r\n\r\nVielen Dank.\r\n' | skmt translate | od -An -c | tr -d ' \n'
  Goodmorning!\r\n\r\nThankyouverymuch.\r\n

A byte order mark is removed.

  $ printf '\xEF\xBB\xBFGuten Morgen!\n' | skmt translate
  Good morning!

Several files are translated one after the other; "-" is standard input.

  $ echo 'Guten Morgen!' > a; printf 'Vielen Dank.' > b
  $ echo 'Guten Abend.' | skmt translate a - b
  Good morning!
  Good evening.
  Thank you very much.

  $ skmt translate a b -o both; cat both
  Good morning!
  Thank you very much.

  $ skmt translate a -o a; cat a
  skmt: a: cannot be both the input and the output
  Guten Morgen!

A usage error does not empty an old output.

  $ skmt translate a -o both --nbest 9; wc -l < both
  skmt: --nbest: * (glob)
  2

Nor does a prefix file or a model that cannot be read or is the output.

  $ skmt translate a -o both --prefix-file missing; wc -l < both
  skmt: missing: No such file or directory
  2

  $ skmt translate a -o both --prefix-file .; wc -l < both
  skmt: .: is a directory
  2

  $ skmt translate a -o both --model ./missing; wc -l < both
  skmt: ./missing: No such file or directory
  2

  $ echo Good > p; skmt translate a --prefix-file p -o ./p; cat p
  skmt: ./p: cannot be both the prefix file and the output
  Good

  $ cp "$SKMT_MODEL" m.skmt; skmt translate a -m ./m.skmt -o m.skmt; cmp m.skmt "$SKMT_MODEL"
  skmt: m.skmt: cannot be both the model and the output

  $ ln -s m.skmt link; skmt translate a -m ./m.skmt -o link; cmp m.skmt "$SKMT_MODEL"; rm m.skmt link
  skmt: link: cannot be both the model and the output

The sentences of a line are translated one by one and joined again.

  $ echo 'Guten Morgen! Vielen Dank.' | skmt translate
  Good morning! Thank you very much.

Options may be anywhere on the command line, with or without "=".

  $ skmt translate --beam 1 a --threads=2 --batch 3 --no-early-stop
  Good morning!

N-best lists: line, rank, score, text.

  $ skmt translate --nbest 2 a b | awk -F '\t' '{ print NF, $1, $2, $3 < 0 }'
  4 1 1 1
  4 1 2 1
  4 2 1 1
  4 2 2 1

  $ skmt translate --nbest 4 a | head -1 | cut -f 4
  Good morning!

  $ skmt translate --nbest 4 a | cut -f 3 | sort -gr | cmp - <(skmt translate --nbest 4 a | cut -f 3)

The beginning of a translation can be set.

  $ echo 'Vielen Dank.' | skmt translate --prefix 'Many'
  Many* (glob)

  $ printf 'Thanks\n\n' > prefixes
  $ printf 'Vielen Dank.\nGuten Morgen!\n' | skmt translate --prefix-file prefixes
  Thanks* (glob)
  Good morning!

  $ printf 'Vielen Dank.\n\n\n' | skmt translate --prefix-file prefixes 2>&1 | grep .; exit ${PIPESTATUS[1]}
  Thanks* (glob)
  standard input:3: the prefix file has no line for this input line
  [1]

  $ printf 'Ma\xffny\nTh\0x\n' > prefixes; printf 'Vielen Dank.\nVielen Dank.\n' > two
  $ skmt translate two --prefix-file prefixes
  prefixes:1: byte 3 is not valid UTF-8 (try --invalid=replace)
  [1]

  $ skmt translate two --prefix-file prefixes --invalid=replace
  Ma�ny* (glob)
  Th�x* (glob)

Statistics are one line of JSON on standard error.

  $ skmt translate --stats a b 2>&1 >/dev/null | tr ',' '\n' | cut -d : -f 1 | paste -sd ' '
  {"lines" "sentences" "tokens" "load_seconds" "decode_seconds" "peak_rss_mb" "passes" "rows" "steps" "drafted" "used" "threads" "beam" "batch" "isa" "cpu"

  $ skmt translate --stats a b 2>&1 >/dev/null | cut -d , -f 1,2
  {"lines":2,"sentences":2

If standard error is not a terminal, nothing but translations is written.

  $ skmt translate a 2>&1
  Good morning!

The output does not depend on threads and batches.

  $ for i in 1 2 3 4 5; do cat a b; echo 'Das ist ein Test. Er ist lang.'; done > many
  $ skmt translate many > one
  $ for o in '--batch 1' '--batch 7 --threads 2' '--threads 2'; do skmt translate many $o | cmp - one; done
  $ wc -l < one
  10

A long sentence is split at clauses, by default at the model's max_source (120
pieces). Translated as a whole, this one loses its last third. A larger
--max-source leaves it whole.

  $ echo 'Die Rechte der Arbeitnehmer mit Ausnahme der Mitbestimmungsrechte sollten weiterhin den Vorschriften der Mitgliedstaaten unterliegen, die in der Richtlinie 98/59/EG des Rates vom 20. Juli 1998 über Massenentlassungen [4], der Richtlinie 2001/23/EG des Rates vom 12. März 2001 über die Wahrung von Ansprüchen der Arbeitnehmer beim Übergang von Unternehmen, Betrieben oder Unternehmens- oder Betriebsteilen [5], der Richtlinie 2002/14/EG des Europäischen Parlaments und des Rates vom 11. März 2002 zur Festlegung eines allgemeinen Rahmens für die Unterrichtung und Anhörung der Arbeitnehmer in der Europäischen Gemeinschaft [6] sowie der Richtlinie 94/45/EG des Rates vom 22. September 1994 über die Einsetzung eines Europäischen Betriebsrats oder die Schaffung eines Verfahrens zur Unterrichtung und Anhörung der Arbeitnehmer in gemeinschaftsweit operierenden Unternehmen und Unternehmensgruppen [7] genannt sind.' > long
  $ skmt translate --json long > cut; grep -o '"source"' cut | wc -l
  2
  $ skmt translate long | grep -o '9[48]/[45][59]/EC'; skmt info | grep max_source
  98/59/EC
  94/45/EC
  max_source         120
  $ skmt translate --max-source 250 --json long | grep -o '"source"' | wc -l
  1

A stored sentence that would be split is found, alone or beside others.

  $ skmt tm create long.tm > /dev/null; skmt tm add long.tm "$(cat long)" 'Workers have rights.' > /dev/null
  $ skmt translate --memory long.tm long; echo "Guten Morgen! $(cat long) Vielen Dank." | skmt translate --memory long.tm
  Workers have rights.
  Good morning! Workers have rights. Thank you very much.
