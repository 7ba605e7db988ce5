# needs: model
A line longer than the model's limit is cut at borders, never dropped.

  $ for i in $(seq 60); do printf 'Das ist der Satz mit der Nummer %d, und er geht weiter' $i; printf ', '; done > long
  $ skmt translate --beam 1 --split none long | wc -l
  1
  $ skmt translate --beam 1 --split none long | wc -w | awk '{ print ($1 > 300) }'
  1

Ten megabytes in one line of blanks, and of a word without an end.

  $ head -c 10000000 /dev/zero | tr '\0' ' ' | skmt translate | wc -c
  1
