# needs: python3
A memory stores pairs and finds them. Similarity is measured in words here;
with a model it is measured in pieces.

  $ skmt tm create my.tm --source-lang de --target-lang en
  my.tm: created memory 'main'

  $ skmt tm create my.tm
  skmt: my.tm already exists; use --name NAME to create another memory in it
  [1]

  $ skmt tm add my.tm 'Die Datei wurde nicht gefunden.' 'The file was not found.'
  1
  $ skmt tm add my.tm 'Die Datei wurde gelöscht.' 'The file was deleted.' --document help.html --author mk
  2

  $ skmt tm search my.tm --no-model 'Die Datei wurde nicht gefunden.' | sed 's/, 20..-..-../, DAY/'
  100%  Die Datei wurde nicht gefunden.
        The file was not found.
        id 1, main, DAY
   * (glob)
        The file was deleted.
        id 2, help.html, main, DAY

The differences are marked: text that only the stored source has, and text that
only the searched text has.

  $ skmt tm search my.tm --no-model --matches 1 'Die Datei wurde nicht gespeichert.' | head -1
   83%  Die Datei wurde nicht [-gefunden-]{+gespeichert+}.

  $ skmt tm search my.tm --no-model --matches 1 Die Datei wurde heute gelöscht. | head -1
   *%  Die Datei wurde {+heute +}gelöscht. (glob)

They are marked by color on a terminal, or on request.

  $ skmt tm search my.tm --no-model --matches 1 --color always 'Die Datei wurde nicht gespeichert.' | sed 's/\x1b/ESC/g; s/[0-9]*-..-../DAY/'
  ESC[1m *%ESC[0m  Die Datei wurde nicht ESC[31;9mgefundenESC[0mESC[32;4mgespeichertESC[0m. (glob)
        The file was not found.
        ESC[2mid 1, main, DAYESC[0m

  $ cat > screen.py <<'END'
  > import os, pty, sys
  > pid, fd = pty.fork()
  > if pid == 0:
  >     os.execvp(sys.argv[1], sys.argv[1:])
  > seen = b""
  > try:
  >     while True:
  >         part = os.read(fd, 4096)
  >         if not part: break
  >         seen += part
  > except OSError:
  >     pass
  > status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
  > print(b"\033[31;9m" in seen, b"[-" in seen, status)
  > END
  $ TERM=xterm python3 screen.py skmt tm search my.tm --no-model 'Die Datei ist nicht da.'
  True False 0
  $ TERM=xterm NO_COLOR=1 python3 screen.py skmt tm search my.tm --no-model 'Die Datei ist nicht da.'
  False True 0
  $ TERM=dumb python3 screen.py skmt tm search my.tm --no-model 'Die Datei ist nicht da.'
  False True 0
  $ TERM=xterm python3 screen.py skmt tm search my.tm --no-model --color never 'Die Datei ist nicht da.'
  False True 0

Finding nothing is not an error.

  $ skmt tm search my.tm --no-model 'Xylophon'
    no match
  $ skmt tm search my.tm --no-model --min-similarity 0.99 'Die Datei wurde verschoben.'
    no match

Each line of standard input or of a file is answered.

  $ printf 'Die Datei wurde nicht gefunden.\n\nXylophon\n' > in
  $ skmt tm search my.tm --no-model --matches 1 < in | sed 's/, 20..-..-../, DAY/'
  Die Datei wurde nicht gefunden.
  100%  Die Datei wurde nicht gefunden.
        The file was not found.
        id 1, main, DAY
  
  
    no match
  
  Xylophon
    no match
  
  $ skmt tm search my.tm --no-model --file in | cmp - <(skmt tm search my.tm --no-model < in)
  $ skmt tm search my.tm --no-model --file - < in | cmp - <(skmt tm search my.tm --no-model < in)

  $ cat > chat.py <<'END'
  > import subprocess
  > p = subprocess.Popen(["skmt", "tm", "search", "my.tm", "--no-model", "--json"],
  >                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
  > import json
  > for line in "Die Datei", "Xylophon", "nicht gefunden":
  >     p.stdin.write(line.encode() + b"\n")
  >     o = json.loads(p.stdout.readline())
  >     print(o["line"], o["text"], len(o["matches"]))
  > p.stdin.close()
  > print(p.wait())
  > END
  $ timeout 60 python3 chat.py
  1 Die Datei 2
  2 Xylophon 0
  3 nicht gefunden 1
  0

JSON for programs: positions are bytes.

  $ cat > edits.py <<'END'
  > import json, sys
  > for line in sys.stdin:
  >     o = json.loads(line)
  >     text = o["text"].encode()
  >     for m in o["matches"]:
  >         source = m["source"].encode()
  >         print(m["id"], m["occurrences"], 0 < m["similarity"] <= 1, m["score"] > 0, m["target"])
  >         old = b"".join(source[e["begin"]:e["end"]] for e in m["edits"] if e["kind"] in "=-")
  >         new = b"".join((text if e["kind"] == "+" else source)[e["begin"]:e["end"]] for e in m["edits"] if e["kind"] in "=+")
  >         print(old == source, new == text)
  > END
  $ skmt tm search my.tm --no-model --json 'Die große Datei wurde gelöscht!' | python3 edits.py
  2 1 True True The file was deleted.
  True True
  1 1 True True The file was not found.
  True True

Show a pair by its number.

  $ skmt tm show my.tm 2 | sed 's/20..-..-.. ..:..:../TIME/'
  id            2
  memory        main
  source        Die Datei wurde gelöscht.
  target        The file was deleted.
  source lang   de
  target lang   en
  document      help.html
  author        mk
  created       TIME UTC
  changed       TIME UTC

  $ skmt tm show my.tm 2 --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(" ".join(o)); print(o["source"], o["position"])'
  id memory source target source_lang target_lang origin position document unit author created changed
  Die Datei wurde gelöscht. 0

  $ skmt tm show my.tm 3
  skmt: *3* (glob)
  [1]

A changed pair keeps its number and is found by its new text.

  $ skmt tm edit my.tm 2 --target 'The file has been deleted.' | sed -n '1,4p'
  id            2
  memory        main
  source        Die Datei wurde gelöscht.
  target        The file has been deleted.
  $ skmt tm edit my.tm 2 --source 'Die Akte wurde gelöscht.' --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["source"])'
  Die Akte wurde gelöscht.
  $ skmt tm search my.tm --no-model --matches 1 'Die Akte wurde gelöscht.' | head -2
  100%  Die Akte wurde gelöscht.
        The file has been deleted.
  $ skmt tm edit my.tm 9 --target x
  skmt: *9* (glob)
  [1]

The same pair added again is another occurrence of the same text.

  $ skmt tm add my.tm 'Die Datei wurde nicht gefunden.' 'The file was not found.'
  3
  $ skmt tm search my.tm --no-model --matches 1 'Die Datei wurde nicht gefunden.' | sed -n '3s/20..-..-../DAY/p'
        id 1, main, DAY, 2 times

Lines of pairs: each number is printed before the next line is read, and the
pair can already be found.

  $ cat > add.py <<'END'
  > import json, subprocess
  > p = subprocess.Popen(["skmt", "tm", "add", "my.tm"],
  >                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
  > for source, target in ("Grüße", "Regards"), ("日本語の文", "a sentence"), ("Ende", "end 😀"):
  >     p.stdin.write(("%s\t%s\n" % (source, target)).encode())
  >     number = p.stdout.readline().decode().strip()
  >     out = subprocess.run(["skmt", "tm", "search", "my.tm", "--no-model", "--json", source], capture_output=True)
  >     best = json.loads(out.stdout)["matches"][0]
  >     print(number, best["id"], best["similarity"], best["target"])
  > p.stdin.close()
  > print(p.wait())
  > END
  $ timeout 100 python3 add.py
  4 4 1 Regards
  5 5 1 a sentence
  6 6 1 end 😀
  0

  $ printf 'eins\tone\n\nzwei\ttwo\r\n' | skmt tm add my.tm - --relaxed --json
  {"id":7}
  {"id":8}

A line that is not a pair is reported; the pairs before it stay.

  $ printf 'drei\tthree\nvier\nfünf\tfive\n' | skmt tm add my.tm
  9
  standard input:2: expected a source, a tab and a target
  [1]
  $ printf 'a\tb\tc\n' | skmt tm add my.tm
  standard input:1: expected a source, a tab and a target
  [1]
  $ printf 'a\t\xff\n' | skmt tm add my.tm
  standard input:1: * (glob)
  [1]
  $ printf 'a\0b\tc\n' | skmt tm add my.tm
  standard input:1: the line contains a NUL byte
  [1]
  $ printf 'a\0b\n' | skmt tm search my.tm
  standard input:1: the line contains a NUL byte
  [1]
  $ printf 'a\0b\n' | skmt tm stats my.tm --against - | tail -n 1
  standard input:1: the line contains a NUL byte
  $ skmt tm add my.tm '' 'nothing'
  skmt: * (glob)
  [1]
  $ skmt tm add my.tm $'\xff' 'no text'
  skmt: * (glob)
  [1]
  $ skmt tm show my.tm 9 | sed -n 3p
  source        drei
  $ skmt tm show my.tm 10
  skmt: * (glob)
  [1]

Control characters are printed visibly.

  $ skmt tm add my.tm $'rot \e[31m\tund\nblau' $'red\x7f \u009b blue'
  10
  $ skmt tm show my.tm 10 | sed -n '3,4p'
  source        rot \x1b[31m\tund\nblau
  target        red\x7f \x9b blue
  $ skmt tm search my.tm --no-model --matches 1 'rot blau' | sed -n '2p'
        red\x7f \x9b blue
  $ skmt tm show my.tm 10 --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print([o["source"], o["target"]])'
  ['rot \x1b[31m\tund\nblau', 'red\x7f \x9b blue']

Inline tags: pairs are found without them and stored with them.

  $ skmt tm add my.tm --tagged 'Klicken Sie auf <ph x="1"/>Los &amp; fertig.' 'Click <ph x="1"/>go &amp; done.'
  11
  $ skmt tm show my.tm 11 | sed -n '3,6p'
  source        Klicken Sie auf Los & fertig.
  target        Click go & done.
  source tagged Klicken Sie auf <ph x="1"/>Los &amp; fertig.
  target tagged Click <ph x="1"/>go &amp; done.

Pairs are deleted by number, all or none, or by common properties.

  $ skmt tm delete my.tm 9 10 11 12
  skmt: * (glob)
  [1]
  $ skmt tm delete my.tm 9 10 11
  3 pairs deleted
  $ skmt tm search my.tm --no-model 'drei'
    no match
  $ skmt tm delete my.tm --document help.html
  1 pair deleted
  $ skmt tm delete my.tm --source 'Die Datei wurde nicht gefunden.' --json
  {"deleted":2}
  $ skmt tm search my.tm --no-model 'Die Datei'
    no match
  $ skmt tm delete my.tm --origin nowhere.tmx
  0 pairs deleted
  $ skmt tm add my.tm 'zehn' 'ten'
  12

Deleting everything needs a confirmation.

  $ skmt tm delete my.tm --all
  skmt: tm delete needs confirmation, but there is no terminal to ask; use --yes
  [2]

  $ cat > ask.py <<'END'
  > import os, pty, sys
  > pid, fd = pty.fork()
  > if pid == 0:
  >     os.execvp("skmt", ["skmt", "tm", "delete", "my.tm", "--all"])
  > seen = b""
  > try:
  >     while True:
  >         part = os.read(fd, 4096)
  >         if not part: break
  >         seen += part
  >         if b"[y/N]" in part: os.write(fd, sys.argv[1].encode() + b"\n")
  > except OSError:
  >     pass
  > status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
  > print(seen.decode().replace("\r", "").replace("] %s\n" % sys.argv[1], "]\n"), status, sep="")
  > END
  $ timeout 60 python3 ask.py n
  Delete all 6 pairs of memory 'main' in my.tm? [y/N]
  skmt: nothing was deleted
  1
  $ timeout 60 python3 ask.py y
  Delete all 6 pairs of memory 'main' in my.tm? [y/N]
  6 pairs deleted
  0
  $ skmt tm list my.tm
         pairs         texts  priority  languages       memory
             0             0         0  de > en         main

Several memories in one file: all are searched, or those that are named; among
equal matches, the higher priority comes first.

  $ skmt tm create my.tm --name law --priority 5 --keep-duplicates --json | python3 -m json.tool --compact
  {"file":"my.tm","memory":"law"}
  $ skmt tm create my.tm --name law
  skmt: *law* (glob)
  [2]
  $ skmt tm add my.tm -n main 'Kauf' 'buying'
  13
  $ skmt tm add my.tm -n law 'Kauf' 'purchase'
  14
  $ skmt tm add my.tm -n law 'Kauf' 'purchase'
  15
  $ skmt tm search my.tm --no-model --json 'Kauf' | python3 -c 'import json,sys; print([(m["memory"], m["target"]) for m in json.load(sys.stdin)["matches"]])'
  [('law', 'purchase'), ('law', 'purchase'), ('main', 'buying')]
  $ skmt tm search my.tm --no-model -n main 'Kauf' | sed -n 2p
        buying
  $ skmt tm search my.tm -n nobody 'Kauf'
  skmt: *nobody* (glob)
  [2]
  $ skmt tm list my.tm
         pairs         texts  priority  languages       memory
             1             1         0  de > en         main
             2             2         5  ? > ?           law (keeps duplicates)
  $ skmt tm set my.tm --name main --priority 9 --target-lang en-GB --rename general
         pairs         texts  priority  languages       memory
             1             1         9  de > en-GB      general
             2             2         5  ? > ?           law (keeps duplicates)
  $ skmt tm search my.tm --no-model 'Kauf' | sed -n 2p
        buying
  $ skmt tm set my.tm --name main --priority 1
  skmt: *main* (glob)
  [2]
  $ skmt tm set my.tm --name law --priority 1 --rename general
  skmt: *general* (glob)
  [2]
  $ skmt tm list my.tm --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print([(m["name"], m["priority"], m["keep_duplicates"], m["pairs"]) for m in o["memories"]])'
  [('general', 9, False, 1), ('law', 5, True, 2)]

  $ skmt tm drop my.tm --name law
  skmt: tm drop needs confirmation, but there is no terminal to ask; use --yes
  [2]
  $ skmt tm drop my.tm --name law --yes
         pairs         texts  priority  languages       memory
             1             1         9  de > en-GB      general
  $ skmt tm drop my.tm --name law --yes
  skmt: *law* (glob)
  [2]

After all this, the file has no problems.

  $ skmt tm check my.tm
  my.tm: no problems
  $ skmt tm check my.tm --json
  {"file":"my.tm","problems":[]}
  $ skmt tm rebuild my.tm
  my.tm: * bytes, * s (glob)
  $ skmt tm compact my.tm --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(o["file"], o["bytes"] > 0, o["seconds"] >= 0)'
  my.tm True True
  $ skmt tm check my.tm
  my.tm: no problems
  $ rm -r my.tm.index; skmt tm search my.tm --no-model 'Kauf' | sed -n 2p
        buying
