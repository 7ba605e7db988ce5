# needs: model
Invalid text: the message names file, line and byte, and the lines before it
are written.

  $ printf 'Guten Morgen!\nVielen \xff Dank.\nGuten Abend.\n' > bad.txt
  $ skmt translate bad.txt
  Good morning!
  bad.txt:2: byte 8 is not valid UTF-8 (try --invalid=replace)
  [1]

  $ skmt translate < bad.txt > out; cat out
  standard input:2: byte 8 is not valid UTF-8 (try --invalid=replace)
  Good morning!

  $ skmt translate --invalid=replace bad.txt | wc -l
  3

  $ printf 'Guten Morgen!\nVielen\0Dank.\n' | skmt translate
  Good morning!
  standard input:2: byte 7 is a NUL byte (try --invalid=replace)
  [1]

  $ printf 'Vielen\0Dank.\n' | skmt translate --invalid replace | wc -l
  1

Overlong forms, surrogates and code points beyond Unicode are invalid, too.

  $ for s in '\xC0\x80' '\xED\xA0\x80' '\xF4\x90\x80\x80' '\xE2\x82'; do printf "ab$s\n" | skmt translate; done
  standard input:1: byte 3 is not valid UTF-8 (try --invalid=replace)
  standard input:1: byte 3 is not valid UTF-8 (try --invalid=replace)
  standard input:1: byte 3 is not valid UTF-8 (try --invalid=replace)
  standard input:1: byte 3 is not valid UTF-8 (try --invalid=replace)
  [1]

A full disk is reported.

  $ echo 'Guten Morgen!' | skmt translate > /dev/full
  skmt: writing standard output: No space left on device
  [1]

  $ echo 'Guten Morgen!' | skmt translate -o /dev/full
  skmt: writing /dev/full: No space left on device
  [1]

  $ echo 'Guten Morgen!' | skmt translate -o no/such/folder
  skmt: no/such/folder: No such file or directory
  [1]

  $ echo 'Guten Morgen!' | skmt translate >&-
  skmt: writing standard output: Bad file descriptor
  [1]

So is a closed input.

  $ timeout 60 skmt translate <&-
  skmt: reading standard input: Bad file descriptor
  [1]

  $ timeout 60 skmt translate <&- >&- 2>&-
  [1]

If the reader closes the pipe, the program ends without a message.

  $ (while :; do echo 'Guten Morgen!'; done) 2>/dev/null | skmt translate --beam 1 | head -2
  Good morning!
  Good morning!

After a signal, all written lines are complete and the exit status names the
signal.

  $ (while :; do echo 'Guten Morgen!'; done) 2>/dev/null |
  > (timeout --preserve-status -s TERM 2 skmt translate --beam 1; echo "status $?") > out
  $ sort out | uniq | head -3
  Good morning!
  status 143

  $ (while :; do echo 'Guten Morgen!'; done) 2>/dev/null |
  > (timeout --preserve-status --foreground -s INT 2 skmt translate --beam 1 -o out; echo "status $?")
  status 130
  $ sort -u out
  Good morning!

This also works while it waits for input.

  $ (echo 'Guten Morgen!'; sleep 5) | (timeout --preserve-status -s TERM 2 skmt translate; echo "status $?")
  Good morning!
  status 143

This also works while nobody reads its output.

  $ (while :; do echo 'Guten Morgen!'; done) 2>/dev/null |
  > (timeout --preserve-status -s TERM 3 skmt translate --beam 1 --json; echo "status $?" >&2) | sleep 10
  status 143
