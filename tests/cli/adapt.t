# needs: model tiny python3
skmt learn --adapt trains a network after every N corrections and writes it to
the settings file, which is created. With --corrections this happens between
two lines, so the output and the file are the same each time.

  $ awk -F '\t' '!seen[$1]++ && length($1) < 120' "$TOP/examples/jrc.tsv" | head -n 76 > all.tsv; head -n 34 all.tsv > a.tsv; cut -f 1 a.tsv > a.de; cut -f 2 a.tsv > a.en
  $ skmt learn -M a.tm a.de -c a.en --adapt --adapt-every 30 --settings a.settings --beam 1 > a.out
  skmt: trained with 30 pairs; the new network is now in a.settings
  $ sed 's/\(trust = 1\) .*/\1 .../; s/--adapt [0-9.]* /--adapt V /' a.settings
  # Learned by skmt learn --adapt V from 30 pairs of a.tm
  preset = learned
  trust = 1 ...
  $ skmt learn -M b.tm a.de -c a.en --adapt --adapt-every 30 --settings b.settings --beam 1 --quiet | cmp - a.out; sed 's/b[.]tm/a.tm/' b.settings | cmp - a.settings

The lines after the training are translated with the network, the ones before
without it. Other commands can use the file, too.

  $ skmt learn -M c.tm a.de -c a.en --beam 1 > c.out; cmp <(head -n 30 a.out) <(head -n 30 c.out)
  $ rm -rf c.tm*; head -n 30 a.tsv | skmt learn -M c.tm --beam 1 > log; sed '1,30d' a.tsv | skmt learn -M c.tm --settings a.settings --beam 1 | cmp - <(sed '1,30d' a.out)
  $ sed '1,64d' all.tsv | cut -f 1 > rest; skmt translate -M a.tm --settings a.settings rest > learned; skmt translate -M a.tm rest | cmp -s - learned
  [1]

The next training begins with the network of the file. Other lines of the file
are kept, but not those that the network replaces.

  $ (echo '# mine'; echo 'repeat-votes = 2'; grep -v '^preset' a.settings; echo '  system=learned') > b.settings; sed '35,64!d' all.tsv | tee b.tsv | cut -f 1 > b.de; cut -f 2 b.tsv > b.en
  $ skmt learn -M a.tm b.de -c b.en --adapt --adapt-every 30 --settings b.settings --beam 1 > log; sed 's/\(trust = 1\) .*/\1 .../; s/--adapt [0-9.]* /--adapt V /' b.settings; cmp -s <(tail -n 1 a.settings) <(tail -n 1 b.settings)
  skmt: trained with 64 pairs; the new network is now in b.settings
  # Learned by skmt learn --adapt V from 64 pairs of a.tm
  preset = learned
  # mine
  repeat-votes = 2
  trust = 1 ...
  [1]

At most 200 pairs are learned from, and those of this session are among them.
A memory of several is chosen by --name; keys can be in a file.

  $ skmt tm create two.tm --name other > log; skmt tm import two.tm --name other "$TOP/examples/jrc.tsv" > log; skmt tm create two.tm --name main > log
  $ skmt learn -M two.tm -n main -n other b.de -c b.en --key-file keys --adapt --adapt-every 30 --settings two.settings --beam 1 > log
  skmt: trained with 200 of 330 pairs; the new network is now in two.settings
  $ skmt learn -M two.tm -n main a.de -c a.en --key-file keys --adapt --adapt-every 30 --settings two.settings --beam 1 --quiet > log; head -n 1 two.settings | grep -c 'from 60 pairs'
  1

A memory that is too small keeps the default, and so does a network that is not
better. Translations are then the same as without --adapt.

  $ cut -f 1 "$TOP/tests/data/small/memory.tsv" > small.de; cut -f 2 "$TOP/tests/data/small/memory.tsv" > small.en
  $ skmt learn -M small.tm small.de -c small.en --adapt --adapt-every 10 --settings small.settings > small.out; cat small.settings
  skmt: trained with 10 pairs; there is too little to learn from, so nothing was changed in small.settings
  skmt: trained with 20 pairs; there is too little to learn from, so nothing was changed in small.settings
  # Learned by skmt learn --adapt: nothing yet
  preset = auto
  trust = default
  $ skmt learn -M small2.tm small.de -c small.en | cmp - small.out; skmt translate -M small.tm --settings small.settings small.de | cmp - small.en
  $ printf 'Ja\tYes\n' | skmt learn -M one.tm --adapt --adapt-every 1 --settings one.settings --quiet > log

With --simulate each document learns from its own lines, as if it were learned
line by line. The settings file is read but not changed.

  $ (sed 's/^/a\t/' a.tsv; sed 's/^/b\t/' b.tsv) > docs.tsv; skmt learn --simulate docs.tsv --adapt --adapt-every 30 --beam 1 -o docs.out > table
  skmt: trainings: 2, better networks: 2
  $ skmt learn --simulate docs.tsv --adapt --adapt-every 30 --beam 1 --threads 2 --batch 3 --quiet -o - 2> table2 | cmp - docs.out; cmp table table2
  $ for d in a b; do skmt learn -M $d.sim.tm $d.de -c $d.en --adapt --adapt-every 30 --settings $d.sim --beam 1 --split none --exact steer --quiet; done | cmp - docs.out
  $ cp a.settings same; skmt learn --simulate docs.tsv --adapt --adapt-every 30 --beam 1 --settings same -o out --quiet > log; cmp same a.settings; cmp -s out docs.out
  [1]

If lines come one by one, training takes place in the background. The lines
after its end are translated with the network.

  $ cat > talk.py <<'END'
  > import os, subprocess, sys, time
  > def start(*more):
  >     return subprocess.Popen(["skmt", "learn", "-M", "talk.tm", "--beam", "1", "--adapt", "--adapt-every", "30", "--settings", "talk.settings", *more],
  >                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
  > def say(p, line):
  >     p.stdin.write(line + b"\n")
  >     return p.stdout.readline()
  > if __name__ == "__main__":
  >     p = start()
  >     os.set_blocking(p.stderr.fileno(), False)
  >     for line in open("a.tsv", "rb").read().splitlines()[:30]:
  >         say(p, line)
  >     said = None
  >     while not said:
  >         say(p, b"Ja.")
  >         said = p.stderr.read()
  >         time.sleep(0.05)
  >     print(said.decode(), end="")
  >     with open("talk.out", "wb") as f:
  >         for line in open("rest", "rb").read().splitlines():
  >             f.write(say(p, line))
  >     p.stdin.close()
  >     print(p.wait(), (p.stderr.read() or b"").decode())
  > END
  $ timeout 250 python3 talk.py
  skmt: trained with 30 pairs; the new network is now in talk.settings
  0 
  $ skmt translate -M talk.tm --settings talk.settings --beam 1 rest | cmp - talk.out

The file is valid at any moment, also if the process is killed.

  $ cat > killed.py <<'END'
  > import os, subprocess, time
  > from talk import start, say
  > lines = open("a.tsv", "rb").read().splitlines()
  > for moment in range(6):
  >     p = start("--quiet")
  >     for i in range(30):
  >         say(p, b"%d %s\t%d %s" % ((moment * 100 + i, lines[i].split(b"\t")[0]) * 2))
  >     time.sleep(0.25 * moment)
  >     p.kill()
  >     p.wait()
  >     subprocess.run(["skmt", "translate", "-M", "talk.tm", "--settings", "talk.settings", "--beam", "1", "few"], check=True, stdout=subprocess.DEVNULL)
  > END
  $ head -n 3 a.de > few; timeout 280 python3 killed.py
  $ skmt learn -M c.tm a.de --adapt --settings no-such/file
  skmt: no-such/file: No such file or directory
  [1]

At a terminal the training is reported before the next line, or at the end. It
ends with the dialog, also after Ctrl-C, and leaves no other files.

  $ cp "$TOP/tests/cli/terminal.py" .; (head -n 30 a.tsv; echo 'Guten Morgen!'; echo 'Vielen Dank.') > dialog.tsv; cat > dialog.py <<'END'
  > import re, sys, time
  > from terminal import talk
  > def wait(pid):
  >     while "preset = learned" not in open("dialog.settings").read():
  >         time.sleep(0.1)
  > steps = {"wait": [(re.compile("^= .*morning!$"), wait), ("", "\n"), (re.compile("^= .*[.!]$"), "\x04")],
  >          "stop": [(re.compile("^= .*morning!$"), "\x03")],
  >          "end": [(re.compile("^= .*morning!$"), "\x04")]}
  > talk(["skmt", "learn", "-M", "dialog.tm", "dialog.tsv", "--beam", "1", "--adapt", "--adapt-every", "30", "--settings", "dialog.settings"], steps[sys.argv[1]])
  > END
  $ timeout 250 python3 dialog.py wait > screen; grep -e 'pairs' -e '^status' screen | sort
  status 0
  |31 pairs stored in dialog.tm
  |skmt: trained with 30 pairs; the new network is now in dialog.settings
  $ for how in stop end; do rm -rf dialog.tm* dialog.settings; timeout 250 python3 dialog.py $how | tail -n 1; ls | grep -c dialog.settings; skmt translate -M dialog.tm --settings dialog.settings --beam 1 rest > log; done
  status 130
  1
  status 0
  1

A damaged settings file is refused, and so is the network of another model.

  $ sed '/^trust/s/[0-9a-f]$/x/' a.settings > bad; skmt learn -M c.tm a.de --adapt --settings bad
  bad:3: trust: the network is damaged
  [2]
  $ echo 'preset: learned' > bad; skmt learn -M c.tm a.de --adapt --settings bad
  bad:1: expected 'option = value'
  [2]
  $ "$BUILD/tools/tiny_model" tiny > log 2>&1; skmt convert -q --from tiny -o tiny.skmt --quiet; skmt learn -m tiny.skmt -M c.tm --any-language a.de --adapt --settings a.settings
  skmt: trust: the network was trained with another model; train it again with this one (skmt tune --learn)
  [1]

Usage errors are reported, and no file is created.

  $ skmt learn -M c.tm a.de --adapt
  skmt: --adapt needs --settings FILE, the file that the network is written to
  [2]
  $ skmt learn -M c.tm a.de --adapt-every 20
  skmt: --adapt-every needs --adapt
  [2]
  $ for n in 0 -1 1x 1000001 ''; do skmt learn -M c.tm a.de --adapt --settings new --adapt-every "$n"; done
  skmt: --adapt-every: '0' is not a whole number from 1 to 1000000
  skmt: --adapt-every: '-1' is not a whole number from 1 to 1000000
  skmt: --adapt-every: '1x' is not a whole number from 1 to 1000000
  skmt: --adapt-every: '1000001' is not a whole number from 1 to 1000000
  skmt: --adapt-every: '' is not a whole number from 1 to 1000000
  [2]
  $ for o in '--preset sk2' '--system sk' '--tau 50' '--adapter none'; do skmt learn -M c.tm a.de --adapt --settings new $o; done
  skmt: --adapt trains a network, but with option preset = sk2 no network is used; remove this option from the command line or the settings file
  skmt: --adapt trains a network, but with option system = sk no network is used; remove this option from the command line or the settings file
  skmt: --adapt trains a network, but with option tau = 50 no network is used; remove this option from the command line or the settings file
  skmt: --adapt trains a network, but with option adapter = none no network is used; remove this option from the command line or the settings file
  [2]
  $ skmt learn -M c.tm a.de --adapt --settings small.settings --trust "$(sed -n 's/^trust = //p' a.settings)"
  skmt: --adapt takes the network from the settings file, so --trust cannot be given
  [2]
  $ skmt learn -M c.tm a.de --adapt --settings /dev/null
  skmt: /dev/null: --adapt needs a regular file, which it can replace
  [2]
  $ skmt learn -M c.tm a.de --adapt --settings new -o new
  skmt: --output and --settings name the same file
  [2]
  $ skmt learn -M new a.de --adapt --settings new; skmt learn -M c.tm --key-file new a.de --adapt --settings new
  skmt: --memory and --settings name the same file
  skmt: --key-file and --settings name the same file
  [2]
  $ skmt learn -M ./same.tm a.de --adapt --settings same.tm; skmt tm check same.tm
  skmt: --memory and --settings name the same file
  same.tm: no problems
  $ ln small.settings hard; skmt learn -M c.tm a.de --adapt --settings small.settings -o hard
  skmt: --output and --settings name the same file
  [2]
  $ ls new
  ls: cannot access 'new': No such file or directory
  [2]
