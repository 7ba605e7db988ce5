# needs: model
A line longer than the model's limit is split at suitable places; nothing is
dropped.

  $ for i in $(seq 60); do printf 'Das ist der Satz mit der Nummer %d, und er geht weiter' $i; printf ', '; done > long
  $ skmt translate --beam 1 --split none long | wc -l
  1
  $ skmt translate --beam 1 --split none long | wc -w | awk '{ print ($1 > 300) }'
  1

A line of ten megabytes of blanks.

  $ head -c 10000000 /dev/zero | tr '\0' ' ' | skmt translate | wc -c
  1

A very long word is split although there is no suitable place. Translations are
kept short here, because nonsense takes as long as text.

  $ head -c 20000 /dev/zero | tr '\0' x | skmt translate --beam 1 --max-len-a 0 --max-len-b 2 --stats 2> stats | wc -l
  1
  $ sed 's/.*"sentences":\([0-9]*\).*/\1/' stats | awk '{ print ($1 > 10) }'
  1
