# needs: model python3
Several translations of one source: the one confirmed last is used by
translate, tm search and learn.

  $ skmt tm create m.tm > /dev/null
  $ cat > ask <<'END'
  > s='Der Motor ist kaputt.'
  > echo "$s" | skmt translate -M m.tm
  > skmt tm search m.tm --matches 1 --json "$s" | python3 -c 'import json,sys; print(json.load(sys.stdin)["matches"][0]["target"])'
  > echo "$s" | skmt learn -M m.tm
  > END
  $ s='Der Motor ist kaputt.'; skmt tm add m.tm "$s" 'The first one.'; skmt tm add m.tm "$s" 'The second one.'; bash ask
  1
  2
  The second one.
  The second one.
  The second one.

Editing a pair confirms it, and so does adding it once more, also within one
second.

  $ skmt tm edit m.tm 1 --target 'The edited one.' > /dev/null; bash ask
  The edited one.
  The edited one.
  The edited one.
  $ skmt tm add m.tm 'Der Motor ist kaputt.' 'The second one.' > /dev/null; bash ask
  The second one.
  The second one.
  The second one.

So does an import. The pairs of one import keep the order of the file; dates in
a file count.

  $ printf 'Der Motor ist kaputt.\tThe imported one.\nDer Motor ist kaputt.\tThe last one.\n' | skmt tm import m.tm - --format tsv > /dev/null; bash ask
  The imported one.
  The imported one.
  The imported one.
  $ cat > old.tmx <<'END'
  > <tmx version="1.4"><header srclang="de"/><body><tu changedate="20010101T000000Z"><tuv xml:lang="de"><seg>Der Motor ist kaputt.</seg></tuv><tuv xml:lang="en"><seg>The old one.</seg></tuv></tu></body></tmx>
  > END
  $ skmt tm import m.tm old.tmx > /dev/null; bash ask | uniq
  The imported one.

A memory of higher priority comes first, even if its pairs are older.

  $ skmt tm create m.tm --name house --priority 5 > /dev/null; skmt tm import m.tm old.tmx --name house > /dev/null; bash ask | uniq
  The old one.
  $ echo 'Der Motor ist kaputt.' | skmt translate -M m.tm --name main
  The imported one.

The other translations are alternatives, each once and in the same order, also
if fewer pairs steer than there are translations.

  $ echo 'Der Motor ist kaputt.' | skmt translate -M m.tm --explain --matches 1
  The old one.
    this sentence is stored; its translation was reused
    #1  100%  Der Motor ist kaputt.
              The old one.
              id 7, house
    4 other translations of it are stored:
    #2  100%  Der Motor ist kaputt.
              The imported one.
              id 4, main
    #3  100%  Der Motor ist kaputt.
              The last one.
              id 5, main
    #4  100%  Der Motor ist kaputt.
              The second one.
              id 2, main
    #5  100%  Der Motor ist kaputt.
              The edited one.
              id 1, main
  
  $ echo 'Der Motor ist kaputt.' | skmt translate -M m.tm --json --explain | python3 -c 'import json,sys; s = json.load(sys.stdin)["segments"][0]; print(s["exact"], [p["target"] for p in s["pairs"]], [(a["id"], a["memory"], a["target"]) for a in s["alternatives"]])'
  True ['The old one.'] [(4, 'main', 'The imported one.'), (5, 'main', 'The last one.'), (2, 'main', 'The second one.'), (1, 'main', 'The edited one.')]
  $ echo 'Der Motor ist kaputt.' | skmt translate -M m.tm --json | python3 -c 'import json,sys; s = json.load(sys.stdin)["segments"][0]; print(len(s["alternatives"]), "pairs" in s)'
  4 False
  $ echo 'Der Motor ist kaputt.' | skmt translate -M m.tm --html x.html > /dev/null; grep -c 'an alternative that was not used' x.html; grep -o '[^>]*other translations[^<]*' x.html
  4
  This sentence is stored; its translation was reused. 4 other translations of it are stored.
  $ echo 'Der Motor ist kaputt.' | skmt learn -M m.tm --json | python3 -c 'import json,sys; d = json.load(sys.stdin); print(d["text"], d["exact"], [a["id"] for a in d["alternatives"]])'
  The old one. True [4, 5, 2, 1]

A sentence with only one translation has no alternatives in the output.

  $ skmt tm add m.tm 'Die Pumpe läuft.' 'One only.' > /dev/null; echo 'Die Pumpe läuft.' | skmt translate -M m.tm --json --explain | grep -c alternatives
  0
  [1]

Contradictory translations can be listed; the first one is used. The exit
status is 1 if there are any.

  $ skmt tm check m.tm --contradictions | sed 's/20[2-9].-..-.. ..:..:../TIME/'
  Der Motor ist kaputt.
    * The old one.
        id 7, house, 2001-01-01 00:00:00 UTC
      The imported one.
        id 4, main, TIME UTC
      The last one.
        id 5, main, TIME UTC
      The second one.
        id 3, main, TIME UTC, 2 times
      The edited one.
        id 1, main, TIME UTC
      The old one.
        id 6, main, 2001-01-01 00:00:00 UTC
  m.tm: 1 source has several translations
  $ skmt tm check m.tm --contradictions --name main --json > c.json
  [1]
  $ python3 -c 'import json; d = json.load(open("c.json")); print(d["file"], [(c["source"], [(x["wins"], x["id"], x["memory"], x["priority"], x["occurrences"], x["target"]) for x in c["translations"]][:3]) for c in d["contradictions"]], d["contradictions"][0]["translations"][-1]["confirmed"])'
  m.tm [('Der Motor ist kaputt.', [(True, 4, 'main', 0, 1, 'The imported one.'), (False, 5, 'main', 0, 1, 'The last one.'), (False, 3, 'main', 0, 2, 'The second one.')])] 2001-01-01T00:00:00Z
  $ skmt tm check m.tm --contradictions --name house; skmt tm check m.tm --contradictions --name house --json
  m.tm: 0 sources have several translations
  {"file":"m.tm","contradictions":[]}
  $ skmt tm check m.tm --name main
  skmt: --name needs --contradictions; otherwise the whole file is checked
  [2]
  $ skmt tm check m.tm --contradictions --name nobody
  skmt: *nobody* (glob)
  [2]

Help is shown no matter what else is on the command line, as for learn.

  $ for c in translate learn; do skmt $c --help --beam x | head -1 | cut -c 1-11; done
  Usage: skmt
  Usage: skmt

If there is no memory for the names of --name, nothing is translated. (An
earlier version then used all memories of the file.)

  $ cat > fail.c <<'END'
  > #define _GNU_SOURCE
  > #include <dlfcn.h>
  > #include <stdlib.h>
  > void *realloc(void *p, size_t n)
  > {
  >     void *(*real)(void *, size_t) = dlsym(RTLD_NEXT, "realloc");
  >     return !p && n == 4 * sizeof(char *) ? NULL : real(p, n);
  > }
  > END
  $ [ "$SAN" ] || $CC -shared -fPIC -o fail.so fail.c -ldl
  $ if [ "$SAN" ]; then echo 'skmt: out of memory'; exit 1; fi; echo 'Der Motor ist kaputt.' | LD_PRELOAD=./fail.so skmt translate -M m.tm --name main
  skmt: out of memory
  [1]
