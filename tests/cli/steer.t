# needs: model tiny python3
A memory steers translations. These three pairs are unlike any translation of
the model:

  $ skmt tm create my.tm > /dev/null
  $ printf '%s\t%s\n' 'Bitte schließen Sie den Deckel des Geräts.' 'Kindly shut the lid of the appliance.' 'Der Motor ist kaputt.' 'The drive unit is defective.' 'Die Pumpe läuft seit gestern. Der Motor steht still.' 'The pump has been on since yesterday; the motor rests.' | skmt tm import my.tm - --format tsv > /dev/null
  $ printf '%s\n' 'Bitte öffnen Sie den Deckel des Geräts.' 'Der Motor ist kaputt.' 'Die Pumpe läuft seit gestern. Der Motor steht still.' 'Zwei Hunde schlafen im Garten.' > text; head -1 text > one
  $ skmt translate text > plain; cat plain
  Please open the lid of the device.
  The engine is broken.
  The pump has been running since yesterday. The engine is standing still.
  Two dogs sleep in the garden.

A similar sentence lends its words. A sentence that is stored is reused,
although the model translates it differently, and so is a line of several
sentences that is stored as a whole. If nothing is similar, the output does not
change.

  $ skmt translate --memory my.tm text | tee steered
  Kindly open the lid of the appliance.
  The drive unit is defective.
  The pump has been on since yesterday; the motor rests.
  Two dogs sleep in the garden.

With --exact steer, such a line is translated like others: sentence by
sentence.

  $ skmt translate -M my.tm --exact steer text > soft; sed -n 3p soft | grep -c '; the motor'; sed -n 1,2p soft
  0
  Kindly open the lid of the appliance.
  The drive unit is defective.

A sentence that is almost equal to a stored one is not reused: spaces around it
do not matter, its letters do.

  $ printf '  Der Motor ist kaputt. \nDer Motor ist Kaputt.\n' | skmt translate -M my.tm --json --explain | python3 -c 'import json,sys; print([json.loads(l)["segments"][0]["pairs"][0]["exact"] for l in sys.stdin])'
  [True, False]

The prefix that was requested is kept, whether the sentence is stored or not.

  $ sed -n 2p text | skmt translate -M my.tm --prefix 'Your engine' | cut -c 1-11
  Your engine

If nothing is similar, or if the memory has no weight, the output is the same,
byte by byte.

  $ tail -1 text | skmt translate -M my.tm --json | cmp - <(tail -1 text | skmt translate --json)
  $ skmt translate -M my.tm --exact steer --adapter none text | cmp - plain
  $ skmt translate -M my.tm --exact steer --adapter fixed --lambda 0 text | cmp - plain
  $ skmt translate -M my.tm --exact steer --min-similarity 1 one | cmp - <(head -1 plain)
  $ skmt translate -M my.tm --exact steer --tau 0.001 one | cmp - <(head -1 plain)
  $ skmt translate -M my.tm --adapter none one | cmp -s - <(head -1 steered)
  [1]

The options for steering.

  $ for o in '--preset sk1' '--preset sk2' '--k 1' '--k 3 --tau 80' '--matches 1' '--key-type f32' '--knn-eos' '--analyzer subword'; do skmt translate -M my.tm $o one; done
  Please open the lid of the appliance.
  Please open the lid of the appliance.
  Kindly open the lid of the appliance.
  Please open the lid of the appliance.
  Kindly open the lid of the appliance.
  Kindly open the lid of the appliance.
  Kindly open the lid of the appliance.
  Kindly open the lid of the appliance.
  $ skmt translate -M my.tm --adapter fixed --lambda 1 --no-knn-eos --repeat-votes 0 --json --explain one | python3 -c 'import json,sys; print({t["trust"] for t in json.load(sys.stdin)["segments"][0]["tokens"]})'
  {1}
  $ for k in 1 2; do skmt translate -M my.tm --k $k --json --explain one | python3 -c 'import json,sys; print(max(len(t["votes"]) for t in json.load(sys.stdin)["segments"][0]["tokens"]))'; done
  1
  2
  $ skmt translate -M my.tm --preset sk3 one; skmt translate -M my.tm --lambda 2 one; skmt translate -M my.tm --k 65 one
  skmt: --preset: "sk3" is not one of auto|learned|sk1|sk2|paper-sk1|paper-sk2
  skmt: --lambda: "2" is not a number from -1 to 1
  skmt: --k: "65" is not a whole number from 0 to 64
  [2]

A stored sentence does not vote for the same words again and again. Here a pair
of the memory ends in two periods. With the settings of the paper it votes for
one more period at every step, and no pair votes for the end of the sentence.
Each of the two product settings prevents that; as the pair has two periods
itself, repeat-votes lets it vote for two.

  $ printf '%s\t%s\n' 'Klicken Sie mit der rechten Maustaste auf das Steuerelement und wählen Sie Eigenschaften.' 'Right-click the control, then choose Properties.' 'Klicken Sie mit der rechten Maustaste und wählen Sie Eigenschaften.' 'Right-click and choose Properties.' 'Klicken Sie mit der rechten Maustaste auf eine Folie in der Ansicht Normal und wählen Sie Bildschirmpräsentation.' 'Right-click a slide in Normal view and choose Slide Show..' > clicks.tsv
  $ skmt tm create clicks.tm > /dev/null; skmt tm import clicks.tm clicks.tsv > /dev/null
  $ echo 'Klicken Sie mit der rechten Maustaste auf das Symbol und wählen Sie Eigenschaften.' > click
  $ skmt translate -M clicks.tm click
  Right-click the icon and choose Properties.
  $ for o in '--preset paper-sk2' '--knn-eos --repeat-votes 0' '--knn-eos --eos-votes count --repeat-votes 0' '--no-knn-eos --repeat-votes 1'; do skmt translate -M clicks.tm $o click | sed 's/\.\.\.\.*$/ and many periods/'; done
  Right-click the icon and choose Properties and many periods
  Right-click the icon and choose Properties.
  Right-click the icon and choose Properties.
  Right-click the icon and choose Properties..

The paper presets are equal to these options.

  $ paper='--exact steer --prune 0 --tau 100 --no-knn-eos --repeat-votes 0'; for p in sk1 sk2; do for m in clicks.tm my.tm; do for t in click text; do skmt translate -M $m --preset paper-$p $t | cmp - <(skmt translate -M $m --preset $p $paper $t); done; done; done

A file can have several memories.

  $ skmt tm create my.tm --name other > /dev/null; skmt tm add my.tm -n other 'Bitte leeren Sie den Deckel des Geräts.' 'Please empty the cap of the gadget.' > /dev/null
  $ for n in '-n main' '-n other' '-n other -n main'; do skmt translate -M my.tm $n --json --explain one | python3 -c 'import json,sys; print(sorted({p["memory"] for p in json.load(sys.stdin)["segments"][0]["pairs"]}))'; done
  ['main']
  ['other']
  ['main', 'other']
  $ skmt tm drop my.tm --name other --yes > /dev/null

Errors are reported before anything is translated.

  $ skmt translate -M missing.tm text
  skmt: missing.tm does not exist; create it with 'skmt tm create missing.tm'
  [1]
  $ skmt translate -M text one
  skmt: text: not a translation memory of skmt
  [1]
  $ skmt translate -M my.tm -n nobody one
  skmt: my.tm: there is no memory "nobody"; the file has main
  [2]
  $ : > empty; skmt translate -M empty one
  skmt: empty: the file is empty, not a translation memory
  [1]
  $ skmt translate -M my.tm --pairs text one
  skmt: --memory and --pairs cannot be used together
  [2]

The memory cannot be the output.

  $ skmt translate -M my.tm one -o my.tm; skmt translate -M my.tm one --html my.tm; skmt tm search my.tm --json 'Der Motor ist kaputt.' | grep -c 'drive unit'
  skmt: my.tm: cannot be both the memory and the output
  skmt: my.tm: cannot be both the memory and the --html page
  1

Pairs from a file: one line for each input line.

  $ sed -n 1,2p text > two
  $ printf '%s\n' '{"src": "Bitte öffnen Sie den Deckel des Geräts.", "tm": [["Bitte schließen Sie den Deckel des Geräts.", "Kindly shut the lid of the appliance.", 0.8]]}' '{"tm": []}' > pairs
  $ skmt translate --pairs pairs two
  Kindly open the lid of the appliance.
  The engine is broken.
  $ cat pairs | skmt translate --pairs - two | head -1
  Kindly open the lid of the appliance.
  $ skmt translate --pairs pairs --json --explain one | python3 -c 'import json,sys; print(json.load(sys.stdin)["segments"][0]["pairs"])'
  [{'id': 0, 'memory': '', 'source': 'Bitte schließen Sie den Deckel des Geräts.', 'target': 'Kindly shut the lid of the appliance.', 'similarity': 0.8, 'exact': False}]

A pair from --pairs is never reused as it is: it steers.

  $ echo '{"tm": [["Der Motor ist kaputt.", "The drive unit is defective."]]}' > p; sed -n 2p text | skmt translate --pairs p --json --explain | python3 -c 'import json,sys; d = json.load(sys.stdin); print(d["text"], d["segments"][0]["pairs"][0]["exact"])'
  The drive unit is defective. False

  $ head -1 pairs > p; skmt translate --pairs p two
  Kindly open the lid of the appliance.
  skmt: the --pairs file has fewer lines than the input
  [1]
  $ tac two | skmt translate --pairs pairs
  pairs:1: "src" is not the text of the input line
  [1]
  $ for l in '{"tm": [["a"]]}' '{"tm": [["a", 7]]}' '{"tm": [["a", "b", "c"]]}' '{"src": 7, "tm": []}' '{"tm": {}}' '[]' '{"tm": [}'; do (echo '{"tm": []}'; echo "$l") > p; skmt translate --pairs p two 2>&1 > /dev/null; done
  p:2: a pair must be ["source", "target", similarity]
  p:2: a pair must be ["source", "target", similarity]
  p:2: a pair must be ["source", "target", similarity]
  p:2: "src" is not the text of the input line
  p:2: the object has no array "tm"
  p:2: the object has no array "tm"
  p:2: * (glob)
  [1]
  $ skmt translate --pairs missing two; skmt translate --pairs two -o two two; wc -l < two
  skmt: missing: No such file or directory
  skmt: two: cannot be both the input and the output
  2
  $ skmt translate --pairs pairs -o pairs two; wc -l < pairs
  skmt: pairs: cannot be both the --pairs file and the output
  2

Settings from a file; the command line overrides them.

  $ printf '# the memory is not heard\n\n  adapter = none  \nbeam=4\n' > set
  $ skmt translate -M my.tm --settings set one; skmt translate -M my.tm --settings set --adapter distance one
  Please open the lid of the device.
  Kindly open the lid of the appliance.
  $ printf 'k = 2\ntau 50\n' > bad; skmt translate -M my.tm --settings bad one
  bad:2: expected 'option = value'
  [2]
  $ printf 'color = red\n' > bad; skmt translate -M my.tm --settings bad one
  bad:1: there is no option "color"
  [2]
  $ printf 'k = 2\nk = many\n' > bad; skmt translate -M my.tm --settings bad one
  bad:2: k: "many" is not a whole number from 0 to 64
  [2]
  $ skmt translate -M my.tm --settings missing one
  skmt: reading missing: No such file or directory
  [1]

The keys of pairs are stored in a file and used again.

  $ cat > stat <<'END'
  > import json, sys
  > d = json.load(open(sys.argv[1]))
  > print(*[k[5:] + " %d" % d[k] for k in ("keys_file_hits", "keys_misses", "keys_file_pairs")], sep=", ")
  > END
  $ for i in 1 2; do skmt translate -M my.tm --key-file keys --exact steer --stats text 2> s | cmp - soft; python3 stat s; done
  file_hits 0, misses * (glob)
  file_hits *, misses 0, file_pairs 3 (glob)
  $ skmt translate -M my.tm --key-file keys32 --key-type f32 --exact steer text > a; head -1 a; [ $(stat -c %s keys32) -gt $(stat -c %s keys) ] && echo larger
  Kindly open the lid of the appliance.
  larger

A key file belongs to one model and one key type. If they differ, there is a
message and the file is not changed.

  $ cp keys before; "$BUILD/tools/tiny_model" tiny > /dev/null 2>&1; skmt convert -q --from tiny --type f32 -o tiny.skmt
  $ skmt translate -M my.tm -m tiny.skmt --key-file keys one
  skmt: keys: has 8-bit keys of 512 numbers, not 8-bit keys of 32 numbers; name another file or delete this one
  [2]
  $ skmt translate -M my.tm --no-knn-eos --key-file keys one
  skmt: keys: has the keys of another model or of other options; name another file or delete this one
  [2]
  $ skmt translate -M my.tm --key-type f32 --key-file keys one
  skmt: keys: has 8-bit keys of 512 numbers, not 32-bit keys of 512 numbers; name another file or delete this one
  [2]
  $ skmt translate -M my.tm --key-file text one; skmt translate -M my.tm --key-file my.tm one; skmt translate -M my.tm --key-file nowhere/keys one
  skmt: text: not a key file made by skmt
  skmt: my.tm: not a key file made by skmt
  skmt: nowhere/keys: cannot create the key file: No such file or directory
  [1]
  $ cmp keys before; cmp text <(cat two; sed -n 3,4p text)

A damaged file is reported, or its damaged parts are computed again; it never
causes a wrong translation.

  $ head -c 5000 keys > hurt; skmt translate -M my.tm --key-file hurt one
  skmt: hurt: the file is damaged (*); delete it; skmt will create it again (glob)
  [1]
  $ python3 - <<'END'
  > import os, subprocess
  > good, tried = open("keys", "rb").read(), 0
  > want = open("soft").read()
  > for at in range(2000, len(good), len(good) // 9):
  >     open("hurt", "wb").write(good[:at] + bytes(b ^ 0x5A for b in good[at:at + 64]) + good[at + 64:])
  >     r = subprocess.run(["skmt", "translate", "-M", "my.tm", "--exact", "steer", "--key-file", "hurt", "text"], capture_output=True, text=True)
  >     ok = r.stdout == want if r.returncode == 0 else r.returncode == 1 and r.stderr.startswith("skmt: hurt: ")
  >     if not ok: print(at, r.returncode, r.stdout, r.stderr)
  >     tried += 1
  > print(tried >= 9)
  > END
  True

A read-only file is used.

  $ mkdir -p there; cp keys there; chmod a-w there there/keys; chmod a+rx .. .; cp my.tm free.tm; chmod a+r free.tm
  $ cp "$BUILD/skmt" own; cp "$SKMT_MODEL" own.skmt; chmod a+rx own own.skmt
  $ reader() { if [ $(id -u) = 0 ]; then setpriv --reuid=65534 --clear-groups "$@"; else "$@"; fi; }
  > reader ./own translate --model own.skmt -M free.tm --key-file there/keys --exact steer text | cmp - soft; cmp keys there/keys; ls there
  keys
  $ chmod -R u+w there

A pair that was deleted or replaced is no longer used, although the key file
still has its keys.

  $ id=$(skmt tm search my.tm 'Bitte schließen Sie den Deckel des Geräts.' --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["matches"][0]["id"])'); echo $id > id
  $ skmt translate -M my.tm --key-file keys one
  Kindly open the lid of the appliance.
  $ skmt tm edit my.tm $(cat id) --target 'Kindly shut the lid of the contraption.' > /dev/null; skmt translate -M my.tm --key-file keys one
  Kindly open the lid of the contraption.
  $ skmt tm delete my.tm $(cat id) > /dev/null; skmt translate -M my.tm --key-file keys one
  Please open the lid of the device.
  $ skmt tm delete my.tm --source 'Der Motor ist kaputt.' > /dev/null; sed -n 2p text | skmt translate -M my.tm --key-file keys --json --explain | grep -c 'drive unit'
  0
  [1]
  $ skmt tm warm my.tm --key-file keys --drop-others | sed 's/, [^,]* s$//; s/[0-9,]* bytes/N bytes/'
  0 pairs computed, 1 already in the file, 3 removed
  keys: 1 pair, N bytes
  $ skmt translate -M my.tm --key-file keys --stats one 2> s > /dev/null; python3 stat s | sed 's/.*, //'
  file_pairs 1

A new pair is used at once.

  $ skmt tm add my.tm 'Bitte schließen Sie den Deckel des Geräts.' 'Kindly shut the lid of the gizmo.' > /dev/null; skmt translate -M my.tm --key-file keys one
  Kindly open the lid of the gizmo.

A page of legal text: the output is the same bytes with any draft length,
number of threads and batch size, with and without a key file, explained or
not.

  $ skmt tm create law.tm > /dev/null; skmt tm import law.tm "$TOP/examples/jrc.tsv" > /dev/null
  $ cut -f 1 "$TOP/examples/jrc.tsv" | awk 'NR % 17 == 0' | sed 'y/123456789/345678912/; s/Mitglied/Partner/g' > law; wc -l < law
  17
  $ skmt translate law > law.plain; skmt translate -M law.tm --draft 0 --batch 1 law > law.steered; cmp -s law.plain law.steered
  [1]
  $ for o in '--draft 8 --batch 16' '--draft 8 --batch 1' '--draft 64 --batch 4' '--threads 2' '--threads 2 --draft 0' '--key-file law.keys' '--key-file law.keys --threads 2' '--key-cache 0'; do skmt translate -M law.tm $o law | cmp - law.steered; done
  $ skmt translate -M law.tm --explain --json law | python3 -c 'import json,sys; [print(json.loads(l)["text"]) for l in sys.stdin]' | cmp - law.steered
  $ skmt translate -M law.tm --html law.html law | cmp - law.steered
  $ for b in 1 4; do skmt translate -M law.tm --exact steer --beam $b --draft 0 law > a; skmt translate -M law.tm --exact steer --beam $b --threads 2 law | cmp - a; done

Explanations as text. The other votes and the exact weights depend on the
kernels of the processor and are cut off here.

  $ skmt tm create m.tm > /dev/null; printf '%s\t%s\n' 'Der Motor ist kaputt.' 'The drive unit is defective.' 'Die Pumpe ist kaputt.' 'The feeder is "defective" & <old>.' | skmt tm import m.tm - --format tsv > /dev/null
  $ printf 'Der Motor ist kaputt.\n\nDer neue Motor ist kaputt.\nZwei Hunde schlafen. Der Motor ist kaputt.\n' > x
  $ skmt translate -M m.tm x > x.plain; skmt translate -M m.tm --preset sk2 --explain x > x.text; sed 's/,.*//; s/^ *[0-9-]*%  / N%  /' x.text | sed '/#2/,/id 2/d'
  The drive unit is defective.
    this sentence is stored; its translation was reused
    #1  100%  Der Motor ist kaputt.
              The drive unit is defective.
              id 1
  
  
  The new drive unit is defective.
    weight  word              votes: pair
   N%  The               #1 83% at 0
         -  new
   N%  drive             #1 83% at 1
   N%  unit              #1 83% at 2
   N%  is                #1 83% at 3
   N%  defective.        #1 83% at 4-6
    #1   83%  Der Motor ist kaputt.
              {The drive unit is defective.}
              id 1
              contributed: The .. drive unit is defective.
  
  Two dogs are sleeping. The drive unit is defective.
    sentence 1 of 2: Two dogs are sleeping.
    no similar pair is stored; translated by the model alone
    sentence 2 of 2: The drive unit is defective.
    this sentence is stored; its translation was reused
    #1  100%  Der Motor ist kaputt.
              The drive unit is defective.
              id 1
  

The space before a word is a token too, but its votes do not count for the
word.

  $ skmt tm create a.tm > /dev/null; skmt tm add a.tm 'Artikel 75 gilt auch für Unternehmen.' 'Article 75 shall apply to undertakings as well.' > /dev/null
  $ echo 'Artikel 36 gilt auch für Unternehmen.' | skmt translate -M a.tm --explain | sed -n '/{/p; /contributed/p'
              {Article} 75 {shall apply to undertakings as well.}
              contributed: Article .. shall apply to undertakings as well.

The text of the output is the same. Color is used on request or on a terminal,
and is never the only information: colored text is underlined.

  $ grep -v '^ ' x.text | sed '/./!d' | cmp - <(sed '/./!d' x.plain)
  $ skmt translate -M m.tm --preset sk2 --explain --color always x | sed 's/\x1b\[[0-9;]*m//g' | cmp - <(tr -d '{}' < x.text)
  $ sed -n 3p x | skmt translate -M m.tm --explain --color always | grep -c $'\x1b\\[1;32;4munit\x1b\\[0m'
  1
  $ if command -v script > /dev/null; then for e in TERM=xterm TERM=dumb 'TERM=xterm NO_COLOR=1'; do script -qec "env $e skmt translate -M m.tm --explain x" /dev/null < /dev/null | grep -c $'\x1b\\[1;32;4m' | sed 's/[1-9][0-9]*/some/'; done; else printf 'some\n0\n0\n'; fi
  some
  0
  0
  $ skmt translate -M m.tm --explain --color blue x
  skmt: --color: 'blue' is not auto, always or never
  [2]

Each translation of an n-best list has its explanation. Without a memory, or
with pairs that do not vote, the explanation is short.

  $ sed -n 3p x | skmt translate -M m.tm --explain --nbest 2 | grep -c '^1	[12]	.*	'
  2
  $ echo 'Zwei Hunde schlafen.' | skmt translate --explain
  skmt: --explain has nothing to explain without --memory, --pairs or --datastore
  Two dogs are sleeping.
    no similar pair is stored; translated by the model alone
  
  $ sed -n 3p x | skmt translate -M m.tm --explain --tau 0.001
  The new engine is broken.
    similar pairs were found, but none of them voted; translated by the model alone
  

As JSON: there are no new members unless requested; the shares add up to 1.

  $ skmt translate -M m.tm --json x | grep -c '"pairs"\|"trust"\|"votes"'
  0
  [1]
  $ skmt translate -M m.tm --json --explain x > x.json; cat > check.py <<'END'
  > import json
  > for line in open("x.json"):
  >     d = json.loads(line)
  >     for s in d["segments"]:
  >         exact = any(p["exact"] for p in s["pairs"])
  >         print(d["line"], [(p["id"], p["memory"], p["target"], p["exact"]) for p in s["pairs"][:1]], sum(t["trust"] > 0.5 for t in s["tokens"]) > 3)
  >         assert not exact or (len(s["pairs"]) == 1 and not s["tokens"] and s["pairs"][0]["similarity"] == 1)
  >         for t in s["tokens"]:
  >             v = t["votes"]
  >             assert 0 <= t["trust"] <= 1 and (t["trust"] > 0) == bool(v), t
  >             assert not v or abs(sum(x["share"] for x in v) - 1) < 1e-5, t
  >             assert all(0 <= x["pair"] < len(s["pairs"]) and x["position"] >= 0 and x["distance"] >= 0 for x in v), t
  >             assert v == sorted(v, key=lambda x: x["distance"]), t
  >             assert all(set(x) == {"pair", "position", "token", "distance", "share"} for x in v), t
  > END
  $ python3 check.py
  1 [(1, 'main', 'The drive unit is defective.', True)] False
  3 [(1, 'main', 'The drive unit is defective.', False)] True
  4 [] False
  4 [(1, 'main', 'The drive unit is defective.', True)] False

As a page: it is well-formed, every link has its target, nothing is loaded, and
the marked text of a pair is the token that voted.

  $ cat > page.py <<'END'
  > import html.parser, json, re, sys
  > page = open(sys.argv[1], encoding="utf-8").read()
  > class Reader(html.parser.HTMLParser):
  >     def __init__(self):
  >         super().__init__()
  >         self.open, self.text, self.ids, self.links, self.cls = [], {}, [], [], {}
  >     def handle_starttag(self, tag, attrs):
  >         a = dict(attrs)
  >         assert tag in "html head meta title style body header main footer article h1 h2 p div span a table tr th td ol li".split(), tag
  >         assert all(k in "lang charset name content http-equiv class style dir id href role aria-describedby rowspan colspan".split() for k in a), a
  >         assert tag not in ("p", "div", "table", "ol", "li") or "p" not in [t for t, _ in self.open], tag
  >         if "id" in a: self.ids.append(a["id"]); self.cls[a["id"]] = a.get("class")
  >         if "href" in a: assert a["href"][0] == "#"; self.links.append(a["href"][1:])
  >         if "aria-describedby" in a: self.links.append(a["aria-describedby"])
  >         if tag != "meta": self.open.append((tag, a))
  >     def handle_endtag(self, tag):
  >         assert self.open.pop()[0] == tag, tag
  >     def handle_data(self, data):
  >         if any(a.get("class") == "v" for _, a in self.open): return
  >         for _, a in self.open:
  >             for k in (a.get("id"), a.get("class")):
  >                 if k: self.text[k] = self.text.get(k, "") + data
  > r = Reader(); r.feed(page); r.close()
  > assert not r.open and len(set(r.ids)) == len(r.ids)
  > assert set(r.links) <= set(r.ids), set(r.links) - set(r.ids)
  > assert "default-src 'none'" in page and "prefers-color-scheme:dark" in page
  > assert not re.search(r"https?:|url\(|@import|<script|<link", page)
  > print(len(re.findall("<article>", page)), "articles,", re.sub(r".*?(\d+ lines?,.*?)\..*", r"\1", page[page.index("<footer>"):], flags=re.S))
  > END
  $ skmt translate -M m.tm x --html x.html | cmp - x.plain; python3 page.py x.html
  3 articles, 4 lines, 4 sentences: 2 reused, 1 steered, 1 by the model alone
  $ cat >> page.py <<'END'
  > n, heard = 0, set()
  > for line in open("x.json"):
  >     d = json.loads(line)
  >     for i, s in enumerate(d["segments"]):
  >         for t in s["tokens"]:
  >             for v in t["votes"]:
  >                 at = "s%d-%dp%dt%d" % (d["line"], i + 1, v["pair"] + 1, v["position"])
  >                 want = v["token"].replace("\u2581", "")
  >                 assert not want or at in r.ids and (r.text[at] == want or want[:3] == "<0x"), (at, v)
  >                 n += 1
  >                 if v["token"] == t["piece"]: heard.add(at)
  > assert heard == {k for k, c in r.cls.items() if c == "m h"}
  > print(n > 10, "m" in r.cls.values())
  > END
  $ python3 page.py x.html | tail -1
  True True

All text is escaped: in the source, the translation and the pairs, also with
invalid bytes, where positions count the replacements.

  $ printf 'Der <b>Motor</b> & "x" \x01\x7f\xc2\x85 ist kaputt.\nKaputt \xff\xfe ist </p><script>x</script>. Der Motor ist kaputt.\n' > evil
  $ printf '%s\n' '{"tm": [["</li>Der <Motor> & \"Co\" ist \u0001 kaputt.", "The </p><script>alert(1)</script> & \"Co\" \u0001 isn'"'"'t <fine>.", 0.5]]}' > evil.pairs; cat evil.pairs >> evil.pairs.2; cat evil.pairs >> evil.pairs.2
  $ skmt translate --pairs evil.pairs.2 --invalid replace --html e.html evil > e.plain; python3 page.py e.html 2>&1 | head -1
  2 articles, 2 lines, * (glob)
  $ grep -o '<p class="src"[^>]*>.*</p>' e.html | sed 's/<[^>]*>//g' | grep -v '^&lt;/li'
  Der &lt;b&gt;Motor&lt;/b&gt; &amp; &quot;x&quot; ␁␡� ist kaputt.
  Kaputt �� ist &lt;/p&gt;&lt;script&gt;x&lt;/script&gt;.
  Der Motor ist kaputt.
  $ python3 -c 'import html,re; d = re.findall(r"<p class=\"tgt\"[^>]*>(.*?)</p></li>", open("e.html").read(), re.S); print({html.unescape(re.sub("<[^>]*>", "", x)) for x in d})'
  {'The </p><script>alert(1)</script> & "Co" ␁ isn\'t <fine>.'}

A page that cannot be written is reported, and the page cannot be another file
of the command.

  $ skmt translate -M m.tm x --html nowhere/x.html; skmt translate -M m.tm x --html x; skmt translate -M m.tm x -o both --html both; skmt translate -M m.tm x --html ''
  skmt: nowhere/x.html: No such file or directory
  skmt: x: cannot be both the input and the --html page
  skmt: both: cannot be both the output and the --html page
  skmt: --html needs the name of a file
  [2]
  $ if [ -w /dev/full ]; then skmt translate -M m.tm x --html /dev/full > /dev/null; else echo 'skmt: writing /dev/full: No space left on device'; (exit 1); fi
  skmt: writing /dev/full: No space left on device
  [1]

Keys can be computed in advance.

  $ skmt tm warm law.tm --key-file warm; skmt tm warm law.tm --key-file warm --threads 2
  300 pairs computed, 0 already in the file, * s (glob)
  warm: 300 pairs, * bytes (glob)
  0 pairs computed, 300 already in the file, * s (glob)
  warm: 300 pairs, * bytes (glob)
  $ skmt translate -M law.tm --key-file warm --stats law 2> s | cmp - law.steered; python3 stat s
  file_hits *, misses 0, file_pairs 300 (glob)
  $ skmt tm warm law.tm --key-file warm --json | python3 -c 'import json,os,sys; d = json.load(sys.stdin); print(d["made"], d["there"], d["pairs"], d["bytes"] == os.path.getsize("warm"), d["file"], d["key_file"])'
  0 300 300 True law.tm warm

A copy of the memory, the same pairs imported into another one, and pairs from
--pairs have the same keys. The file does not grow.

  $ stat -c %s warm > size; cp law.tm copy.tm; skmt tm create other.tm > /dev/null; skmt tm export law.tm -o law.tsv > /dev/null; skmt tm import other.tm law.tsv > /dev/null
  $ for m in copy.tm other.tm law.tm; do skmt tm warm $m --key-file warm | head -1; stat -c %s warm | cmp - size; done
  0 pairs computed, 300 already in the file, * s (glob)
  0 pairs computed, 300 already in the file, * s (glob)
  0 pairs computed, 300 already in the file, * s (glob)
  $ head -1 "$TOP/examples/jrc.tsv" | python3 -c 'import json,sys; print(json.dumps({"tm": [sys.stdin.read().rstrip("\n").split("\t")]}))' > given; head -1 law | skmt translate --pairs given --key-file warm --stats 2> s > /dev/null; python3 stat s
  file_hits 1, misses 0, file_pairs 300

Half of the pairs are deleted: their keys stay until --drop-others, which makes
the file smaller. Translations are the same.

  $ cp warm half; for i in $(seq 1 2 300); do echo $i; done | xargs skmt tm delete copy.tm > /dev/null; skmt translate -M copy.tm law > law.half
  $ skmt tm warm copy.tm --key-file half; skmt tm warm copy.tm --key-file half --drop-others; [ $(stat -c %s half) -lt $(($(cat size) * 6 / 10)) ] && echo smaller
  0 pairs computed, 150 already in the file, * s (glob)
  half: 300 pairs, * bytes (glob)
  0 pairs computed, 150 already in the file, 150 removed, * s (glob)
  half: 150 pairs, * bytes (glob)
  smaller
  $ for k in warm half; do skmt translate -M copy.tm --key-file $k --stats law 2> s | cmp - law.half; python3 stat s; done
  file_hits *, misses 0, file_pairs 300 (glob)
  file_hits *, misses 0, file_pairs 150 (glob)

A size limit of the file is kept and reported.

  $ skmt tm warm law.tm --key-file half --key-file-limit 1M 2> s | tail -1; cat s; [ $(stat -c %s half) -lt 1300000 ] && echo small
  half: * pairs, * bytes (glob)
  skmt: half has reached its size limit and holds only * of these 300 pairs; raise the limit with --key-file-limit (glob)
  small

A file of an older version is emptied and filled again.

  $ python3 -c 'import sqlite3; d = sqlite3.connect("half"); d.execute("PRAGMA user_version = 1"); d.close()'; skmt translate -M law.tm --key-file half law | cmp - law.steered
  skmt: half was written by an older version; its keys were removed and will be computed again
  $ skmt translate -M law.tm --key-file half law | cmp - law.steered

With --name, the pairs of other memories of the file are left out.

  $ skmt tm create law.tm --name more > /dev/null; skmt tm add law.tm -n more 'Guten Tag' 'Hello' > /dev/null; skmt tm warm law.tm -n more --key-file more | head -1
  1 pair computed, 0 already in the file, * s (glob)

Without a key file, with the file of another model, or with a file that is not
a key file, it does not start.

  $ skmt tm warm law.tm; skmt tm warm law.tm --key-file warm --key-type f32; skmt tm warm law.tm --key-file warm -m tiny.skmt; skmt tm warm law.tm --key-file law; skmt tm warm missing.tm --key-file warm; skmt tm warm law.tm --key-file warm -n nobody
  skmt: tm warm needs --key-file FILE to store the keys
  skmt: warm: has 8-bit keys of 512 numbers, not 32-bit keys of 512 numbers; name another file or delete this one
  skmt: warm: has 8-bit keys of 512 numbers, not 8-bit keys of 32 numbers; name another file or delete this one
  skmt: law: not a key file made by skmt
  skmt: missing.tm does not exist; create it with 'skmt tm create missing.tm'
  skmt: law.tm: there is no memory "nobody"; the file has main, more
  [2]

Keys computed before an interruption are kept, and the rest is computed next
time. (Sanitizers make it too slow to stop in time.)

  $ skmt tm warm law.tm --key-file part 2> s & pid=$!; while [ ! -s part-wal ]; do kill -0 $pid || break; done; kill -TERM $pid; wait $pid
  [143]
  $ if [ "$SAN" ]; then echo 'skmt: stopped; the 64 pairs made so far are kept in part'; else cat s; fi; skmt tm warm law.tm -n main --key-file part | head -1 | awk '{ print ($1 > 0), ($4 >= 64), $1 + $4 }'
  skmt: stopped; the keys of the * pairs computed so far are kept in part (glob)
  1 1 300
