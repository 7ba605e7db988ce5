# needs: model python3 tiny
A limit on the size of files (ulimit -f) is reported like a full disk: a
message, status 1, and everything stored before is intact. The signal that the
system sends (SIGXFSZ) does not end the program.

  $ yes 'Ja.' | head -n 600 > ja; for i in $(seq 400); do printf 'Wort %d\tword %d\n' $i $i; done > pairs.tsv
  $ (ulimit -f 1; skmt translate ja --beam 1 -o out); echo $?; wc -c < out
  skmt: writing out: File too large
  1
  1024
  $ (ulimit -f 1; skmt translate ja --beam 1 > out); echo $?
  skmt: writing standard output: File too large
  1
  $ (ulimit -f 1; skmt help translate > out)
  skmt: cannot write to standard output
  [1]
  $ (ulimit -f 1; skmt translate ja --beam 1 --html page.html > /dev/null)
  skmt: --html has nothing to explain without --memory, --pairs or --datastore
  skmt: writing page.html: File too large
  [1]
  $ skmt tm create a.tm > /dev/null; printf 'Ja\tYes\n' | skmt tm add a.tm > /dev/null
  $ (ulimit -f 100; skmt tm add a.tm < pairs.tsv > added)
  skmt: a.tm: the file could not be written (full disk, quota or file size limit); nothing was changed
  [1]
  $ (ulimit -f 100; skmt tm import a.tm pairs.tsv)
  skmt: a.tm: the file could not be written (full disk, quota or file size limit); nothing was changed
  [1]
  $ skmt tm check a.tm; skmt tm export a.tm --format tsv | diff - <(printf 'Ja\tYes\n'; head -n "$(wc -l < added)" pairs.tsv)
  a.tm: no problems
  $ skmt tm import a.tm pairs.tsv --quiet > /dev/null
  $ for c in 'export a.tm -o x.tmx' 'rebuild a.tm' 'compact a.tm' 'warm a.tm --key-file k'; do (ulimit -f 4; skmt tm $c); echo $?; done; ls x.tmx k
  skmt: * (glob)
  1
  skmt: * (glob)
  1
  skmt: * (glob)
  1
  skmt: * (glob)
  1
  ls: cannot access 'x.tmx': No such file or directory
  ls: cannot access 'k': No such file or directory
  [2]
  $ skmt tm check a.tm; skmt tm export a.tm --format tsv | sort -u | wc -l
  a.tm: no problems
  401
  $ "$BUILD/tools/tiny_model" tiny > /dev/null; (ulimit -f 4; skmt convert -q --from tiny -o tiny.skmt); echo $?; ls tiny.skmt* 2> /dev/null
  skmt: tiny.skmt: File too large
  1
  [2]

If a mapped file becomes shorter while it is in use, the program ends with a
message and the status 128 + SIGBUS. The lines written before are complete.

  $ cat > cut.py <<'EOF'
  > import os, subprocess, sys, threading
  > cut, *command = sys.argv[1:]
  > p = subprocess.Popen(["skmt", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
  > p.stdin.write(b"Guten Morgen!\n")
  > sys.stdout.write(p.stdout.readline().decode())
  > sys.stdout.flush()
  > if os.path.isdir(cut):
  >     for name in os.listdir(cut): os.truncate(os.path.join(cut, name), 0)
  > else:
  >     os.truncate(cut, 4096)
  > try:
  >     p.stdin.write(16 * b"Vielen Dank.\n")
  >     p.stdin.close()
  > except BrokenPipeError:
  >     pass
  > sys.stdout.write(p.stdout.read().decode())
  > print(p.wait())
  > EOF
  $ for threads in 1 4; do cp "$SKMT_MODEL" cut.skmt; timeout 100 python3 cut.py cut.skmt translate -m cut.skmt --threads $threads 2>&1; done
  Good morning!
  skmt: a file in use (the model, an index file of the memory or the key file) became shorter or unreadable; stopped. Everything stored before is safe.
  135
  Good morning!
  skmt: a file in use (the model, an index file of the memory or the key file) became shorter or unreadable; stopped. Everything stored before is safe.
  135
  $ cp "$SKMT_MODEL" cut.skmt; timeout 100 python3 cut.py cut.skmt learn -M new.tm -m cut.skmt 2>&1; skmt tm check new.tm
  Good morning!
  skmt: a file in use (the model, an index file of the memory or the key file) became shorter or unreadable; stopped. Everything stored before is safe.
  135
  new.tm: no problems
  $ skmt tm rebuild a.tm > /dev/null; timeout 100 python3 cut.py a.tm.index learn -M a.tm 2>&1
  Good morning!
  skmt: a file in use (the model, an index file of the memory or the key file) became shorter or unreadable; stopped. Everything stored before is safe.
  135
  $ skmt tm export a.tm --format tsv | sort -u | wc -l; skmt tm rebuild a.tm > /dev/null; skmt tm check a.tm
  401
  a.tm: no problems

A SIGBUS that was not caused by a file has its default effect.

  $ cat > kill.py <<'EOF'
  > import signal, subprocess
  > p = subprocess.Popen(["skmt", "translate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
  > p.stdin.write(b"Guten Morgen!\n")
  > p.stdout.readline()
  > p.send_signal(signal.SIGBUS)
  > print(p.wait())
  > EOF
  $ timeout 60 python3 kill.py
  -7

A full device is reported, too.

  $ skmt translate ja --beam 1 -o /dev/full
  skmt: writing /dev/full: No space left on device
  [1]
  $ skmt learn -M new.tm ja --beam 1 -o /dev/full
  skmt: writing /dev/full: No space left on device
  [1]
  $ skmt tm export a.tm --format tsv > /dev/full
  skmt: *No space left on device* (glob)
  [1]
  $ skmt info > /dev/full
  skmt: cannot write to standard output
  [1]
