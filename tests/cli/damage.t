# needs: python3
Damaged memory files: every command returns correct data or an error.

  $ seq 300 | awk '{ print "Satz Nummer " $1 " von vielen anderen\tsentence number " $1 " of many others" }' > in.tsv
  $ skmt tm create z.tm -s de -t en > /dev/null; skmt tm import z.tm in.tsv | head -1
  300 pairs imported, 300 of them new
  $ skmt tm check z.tm
  z.tm: no problems
  $ cp z.tm cut.tm; truncate -s -4000 cut.tm

A truncated file is rejected by every command, and nothing is acknowledged.

  $ skmt tm export cut.tm --format tsv
  skmt: cut.tm: the file is damaged (it has * bytes and should have *); restore it from a copy, or save what is readable with 'skmt tm recover OLD NEW' (glob)
  [1]
  $ for c in 'search Satz --no-model' 'add a b' 'edit 1 --target x' 'delete 1 --yes' 'import in.tsv' compact rebuild stats; do set -- $c; cmd=$1; shift; skmt tm $cmd cut.tm "$@" > out 2>&1; echo "$cmd $? $(grep -c 'the file is damaged' out)"; done
  search 1 1
  add 1 1
  edit 1 1
  delete 1 1
  import 1 1
  compact 1 1
  rebuild 1 1
  stats 1 1

The readable pairs can be saved. The old file is not changed.

  $ cp cut.tm before.tm
  $ skmt tm recover cut.tm saved.tm > said; sed 's/[0-9]* pair/N pair/' said
  N pairs saved in saved.tm
  at most N pairs could not be read
  $ awk '{ n += $1 == "at" ? $3 : $1 } END { print n }' said
  300
  $ cmp cut.tm before.tm; ls cut.tm*
  cut.tm
  $ skmt tm check saved.tm
  saved.tm: no problems
  $ skmt tm export saved.tm --format tsv | sort > saved.tsv; sort in.tsv | comm -13 - saved.tsv | wc -l
  0
  $ skmt tm recover cut.tm saved.tm
  skmt: saved.tm: exists already; recovered pairs are written to a new file
  [2]
  $ skmt tm recover cut.tm
  skmt: tm recover needs OLD and NEW; see 'skmt help tm recover'
  [2]
  $ skmt tm recover none.tm new.tm
  skmt: none.tm does not exist
  [1]
  $ ls none.tm* new.tm* 2> /dev/null
  [2]
  $ skmt tm recover z.tm whole.tm --json
  {"file":"whole.tm","pairs":300,"doubtful":0,"lost":0}
  $ cmp <(skmt tm export z.tm) <(skmt tm export whole.tm)

A changed byte of a text is found by check, export and search; compact and
rebuild reject the file.

  $ cp z.tm bad.tm; python3 -c "
  > d = bytearray(open('bad.tm', 'rb').read())
  > at = d.rindex(b'sentence number 150 of')
  > d[at + 5] ^= 1
  > open('bad.tm', 'wb').write(d)"
  $ skmt tm check bad.tm > out; echo $?; tail -1 out
  1
  bad.tm: * problems (glob)
  $ skmt tm export bad.tm > /dev/null
  skmt: bad.tm: the file is damaged (a page is missing or does not match its checksum); restore it from a copy, or save what is readable with 'skmt tm recover OLD NEW'
  [1]
  $ skmt tm search bad.tm --no-model 'Satz Nummer 150' > /dev/null
  skmt: bad.tm: the file is damaged (a page is missing or does not match its checksum); restore it from a copy, or save what is readable with 'skmt tm recover OLD NEW'
  [1]
  $ cp bad.tm before.tm
  $ skmt tm compact bad.tm
  skmt: bad.tm: compacting is refused because the file is damaged; save what is readable with 'skmt tm recover OLD NEW'. The first of * problems: * (glob)
  [1]
  $ skmt tm rebuild bad.tm
  skmt: bad.tm: building the index is refused because the file is damaged; save what is readable with 'skmt tm recover OLD NEW'. The first of * problems: * (glob)
  [1]
  $ cmp bad.tm before.tm
  $ skmt tm recover bad.tm good.tm | sed 's/^[0-9]* of/N of/'
  299 pairs saved in good.tm
  at most 1 pair could not be read

check reads the index files from the disk.

  $ skmt tm rebuild z.tm > /dev/null; ls z.tm.index/*.seg | wc -l
  1
  $ python3 -c "
  > import glob
  > p = glob.glob('z.tm.index/*.seg')[0]
  > d = bytearray(open(p, 'rb').read())
  > d[len(d) // 2] ^= 4
  > open(p, 'wb').write(d)"
  $ skmt tm check z.tm
  */z.tm.index/*.seg is damaged; run 'skmt tm rebuild' to write it again (glob)
  z.tm: 1 problem
  [1]
  $ skmt tm search z.tm --no-model 'Satz Nummer 150' | sed -n 2p
        sentence number 150 of many others
  $ skmt tm rebuild z.tm > /dev/null; skmt tm check z.tm
  z.tm: no problems
