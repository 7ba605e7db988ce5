# needs: plain
An endless line is an error with a message. Only its beginning is read: these
commands have one gigabyte of address space and get two gigabytes of input.

  $ skmt tm create long.tm > /dev/null
  $ (ulimit -v 1000000; head -c 2000000000 /dev/zero | tr '\0' a | skmt tm add long.tm)
  skmt: reading standard input: line 1 is longer than 64 MiB
  [1]
  $ (ulimit -v 1000000; head -c 2000000000 /dev/zero | tr '\0' a | skmt tm import long.tm - --format tsv)
  standard input:1: expected a line of at most 67108864 bytes
  [1]
  $ printf 'a\n' > refs
  $ (ulimit -v 1000000; head -c 2000000000 /dev/zero | tr '\0' a | skmt score -r refs -)
  skmt: standard input:1: the line is longer than 64 MiB
  [1]
