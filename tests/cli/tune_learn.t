# needs: model tiny python3
The network of learned trust is trained on pairs of a memory.

  $ skmt tm create my.tm > log && skmt tm import my.tm "$TOP/examples/jrc.tsv" > log
  $ skmt tune -M my.tm --learn --limit 60 --quiet --steps -o my.settings > out; sed '/^{/d; s/  *[0-9]*\.[0-9]*$/ N/; s/(0\.[0-9]*)/(N)/; s/^[0-9]* steps to learn from, [0-9]* to/S steps to learn from, S to/' out
  60 of 300 pairs of my.tm
  S steps to learn from, S to validate with
  
  negative log-likelihood per token:
    model alone N
    SK-MT2 N
    best fixed weight (N) N
    default of the model N
    learned network N
    bound (right neighbor) N
  
  Use it with --settings my.settings
  $ sed 's/\(trust = 1\) .*/\1 .../; s/--learn [0-9.]* /--learn V /' my.settings
  # Learned by skmt tune --learn V from 60 of 300 pairs of my.tm
  preset = learned
  trust = 1 ...

Features, lambda and shares of all steps are those that an independent program
computes.

  $ python3 "$TOP/tools/check_trust.py" my.settings out > checked; python3 -c 'w = open("checked").read().split(); print(int(w[0]) >= 200, int(w[2]) > 0, float(w[-1]) <= 1e-5)'
  True True True
  $ sed 's/"share":\[0\.[0-9]/"share":[0.0/' out > wrong; python3 "$TOP/tools/check_trust.py" my.settings wrong > checked
  [1]

The same seed gives the same network, with any number of threads; another seed
gives another.

  $ skmt tune -M my.tm --learn --limit 60 --quiet --seed 1 -o again > log; cmp my.settings again
  $ skmt tune -M my.tm --learn --limit 60 --quiet --threads 2 -o again > log; cmp my.settings again
  $ skmt tune -M my.tm --learn --limit 60 --quiet --seed 2 -o other > log; cmp -s my.settings other
  [1]

The network is better than that of the model, which is better than SK-MT2, and
worse than the bound. A network that does
not see the features is worse.

  $ skmt tune -M my.tm --learn --limit 60 --quiet --json > json; python3 -c 'import json; d = json.load(open("json")); print(*d); print(d["oracle"] < d["learned"] < d["model"] < d["sk2"] < d["plain"], d["fixed"] < d["plain"], d["kept"], d["steps"] > 2 * d["valid_steps"])'
  steps valid_steps plain sk2 fixed fixed_weight model learned oracle kept
  True True True True
  $ skmt tune -M my.tm --learn --limit 60 --quiet --json --drop distance --drop distance_2 --drop context --drop most_context --drop gap_1 --drop gap_3 > dropped; python3 -c 'import json; a, b = (json.load(open(f)) for f in ("json", "dropped")); print(b["learned"] > a["learned"], b["sk2"] == a["sk2"])'
  True True
  $ skmt tune -M my.tm --learn --limit 60 --quiet --drop nearness
  skmt: --drop: there is no feature "nearness"
  [2]

--dev uses given lines instead. Pairs with the source of a line are left out,
although all lines are in the memory.

  $ head -n 40 "$TOP/examples/jrc.tsv" > dev.tsv; skmt tune -M my.tm --learn --dev dev.tsv --quiet -o dev.settings | head -n 1; head -n 1 dev.settings | sed 's/--learn [0-9.]* /--learn V /'
  40 lines of dev.tsv
  # Learned by skmt tune --learn V from 40 lines of dev.tsv
  $ skmt tune -M my.tm --learn --dev dev.tsv --quiet --steps | python3 -c 'import json, sys; s = [n["similarity"] for l in sys.stdin if l[0] == "{" for n in json.loads(l)["neighbors"]]; print(len(s) > 1000, max(s) < 1)'
  True True
  $ skmt tune -M my.tm --learn --dev nothing.tsv
  skmt: nothing.tsv: No such file or directory
  [1]

--ablation trains once more without each feature. All losses are close to that of
all features.

  $ skmt tune -M my.tm --learn --limit 60 --quiet --ablation > out; python3 -c 'import re; t = open("out").read().split("loss without a feature:")[1]; n = [float(x) for x in re.findall(r" ([0-9]\.[0-9]{4})", t)]; print(len(n), t.count("without "), all(abs(x - n[0]) < 0.5 for x in n))'
  22 21 True
  $ skmt tune -M my.tm --learn --ablation --json; skmt tune -M my.tm --learn --ablation --drop own
  skmt: --ablation cannot be combined with --json
  skmt: --ablation cannot be combined with --drop
  [2]

A memory that is too small keeps the default. Its settings file can be used.

  $ head -n 8 dev.tsv > small.tsv; skmt tm create small.tm > log; skmt tm import small.tm small.tsv > log; skmt tune -M small.tm --learn --quiet -o small.settings | tail -n 1; tail -n 2 small.settings
  The learned network is not kept: there is too little to learn from.
  preset = auto
  trust = default
  $ cut -f 1 dev.tsv | sed -n 9,11p > in; skmt translate -M small.tm --settings small.settings --exact steer in > a; skmt translate -M small.tm --exact steer in | cmp - a
  $ skmt tune -M small.tm --learn --quiet --json | grep -c '"kept":false'
  1
  $ skmt tune -M small.tm --learn --quiet --anew -o anew > log; grep -c '^trust = 1 ' anew
  1
  $ for i in 1 2 3 4 5 6 7 8; do skmt tm create one.tm --name $i > log; skmt tm add one.tm --name $i Ja Yes > log; skmt tune -M one.tm --name $i --learn --anew --quiet; done | grep -e kept | sort | uniq -c | sed 's/^ *//'
  6 The learned network is kept (--anew), although there is too little to learn from.
  2 The learned network is not kept: there is too little to learn from.
  $ skmt tm create none.tm > log; skmt tune -M none.tm --learn
  skmt: none.tm has no pairs to tune on
  [1]

Options that affect the memory are written to the file, too, but not an old
network.

  $ skmt tune -M my.tm --learn --limit 20 --quiet --settings my.settings --system learned --repeat-votes 2 --beam 2 -o new > log; sed 's/\(trust = 1\) .*/\1 .../; s/--learn [0-9.]* /--learn V /' new
  # Learned by skmt tune --learn V from 20 of 300 pairs of my.tm
  preset = learned
  # found with beam = 2
  repeat-votes = 2
  trust = 1 ...

Options of one kind of tuning are refused by the other.

  $ for a in '--m 2' '--k 1' '--tau 5' '--lambda 0.5' '--metric chrf' --full '--svg x'; do skmt tune -M my.tm --learn $a; done
  skmt: --m cannot be combined with --learn
  skmt: --k cannot be combined with --learn
  skmt: --tau cannot be combined with --learn
  skmt: --lambda cannot be combined with --learn
  skmt: --metric cannot be combined with --learn
  skmt: --full cannot be combined with --learn
  skmt: --svg cannot be combined with --learn
  [2]
  $ for a in '--seed 2' --anew '--drop own' --steps; do skmt tune -M my.tm $a; done
  skmt: --seed needs --learn
  skmt: --anew needs --learn
  skmt: --drop needs --learn
  skmt: --steps needs --learn
  [2]
  $ skmt tune -M my.tm --learn --seed -1
  skmt: --seed: '-1' is not a whole number of 0 or more
  [2]

After a signal, no file is written, and an old file is unchanged.

  $ echo old > keep; timeout --foreground --preserve-status -s INT 1 skmt tune -M my.tm --learn --limit 0 --quiet -o keep; rc=$?; cat keep; ls | grep -c keep; exit $rc
  skmt: stopped before the end; no file was written
  old
  1
  [130]

Translations use the network, and differ from those of SK-MT2.

  $ cut -f 1 "$TOP/examples/jrc.tsv" | sed -n '101,140p' | sed 's/[0-9]/7/g' > text; skmt translate -M my.tm --settings my.settings text > learned; skmt translate -M my.tm --preset sk2 text > sk2; cmp -s learned sk2
  [1]
  $ skmt translate -M my.tm --settings my.settings --threads 2 --draft 0 text | cmp - learned
  $ skmt translate -M my.tm --settings my.settings --preset sk2 text | cmp - sk2
  $ skmt translate -M my.tm --settings my.settings --system sk --k 2 --matches 16 text | cmp - sk2

Explanations have the reasons for a weight: at most three, the strongest first.
With SK-MT there are none.

  $ skmt translate -M my.tm --settings my.settings --explain --json text > json; cat > reasons.py <<'END'
  > import json
  > n = 0
  > for line in open("json"):
  >     for s in json.loads(line)["segments"]:
  >         for t in s.get("tokens", []):
  >             assert "reasons" in t or not t["votes"], t
  >             why = [r["effect"] for r in t.get("reasons", [])]
  >             assert len(why) <= 3 and why == sorted(why, key=lambda x: -abs(x)), t
  >             assert all(isinstance(r["text"], str) and r["text"] for r in t.get("reasons", []))
  >             n += len(why)
  > print(n > 100)
  > END
  $ python3 reasons.py
  True
  $ skmt translate -M my.tm --preset sk2 --explain --json text | grep -c '"reasons":'
  0
  [1]
  $ skmt translate -M my.tm --settings my.settings --explain text > why; grep -c '^                            weight [01]\.[0-9][0-9]: [a-z].* ([+-])$' why | sed 's/^[1-9][0-9][0-9]*$/many/'; grep -c 'close state (+)' why | sed 's/^[1-9][0-9]*$/some/'
  many
  some
  $ skmt translate -M my.tm --settings my.settings --explain --color always text | sed 's/\x1b\[[0-9;]*m//g' | cmp - <(tr -d '{}' < why)
  $ skmt translate -M my.tm --preset sk2 --explain text | grep -c '([+-])'
  0
  [1]
  $ skmt translate -M my.tm --settings my.settings --html page text > log; python3 -c 'import re; t = open("page").read(); rows = re.findall(r"<tr><td></td><td class=\"note\" colspan=\"7\">([^<]*)</td></tr>", t); print(len(rows) > 100, all(re.fullmatch(r"[^<>&\"]+ \([+-]\)(, [^<>&\"]+ \([+-]\))*", r) for r in rows))'
  True True
  $ skmt translate -M my.tm --preset sk2 --html page text > log; grep -c 'class="note" colspan' page
  0
  [1]

A network that is damaged, of another form, or of other features is refused.

  $ sed -n 's/^trust = //p' my.settings > net; cat > try.sh <<'END'
  > net=$(cat net); read -r form model names values sum <<< "$net"
  > try() { printf '# mine\n\ntrust = %s\n' "$1" > bad; skmt translate -M my.tm --settings bad text; }
  > try "${net%?}"
  > try "${net}0"
  > try "$form 0000000000000000 $names $values $sum"
  > try "$form $model $names ${values/3/4} $sum"
  > try "$form $model $names"
  > try "2${net#1}"
  > try network
  > try "$form $model 00000000 $values $sum"
  > END
  $ bash try.sh
  bad:3: trust: the network is damaged
  bad:3: trust: the network is damaged
  bad:3: trust: the network is damaged
  bad:3: trust: the network is damaged
  bad:3: trust: the network is damaged
  bad:3: trust: the network has a form that this version of skmt does not know; train it again (skmt tune --learn)
  bad:3: trust: the network has a form that this version of skmt does not know; train it again (skmt tune --learn)
  bad:3: trust: the network has other features than this version of skmt; train it again (skmt tune --learn)
  [2]
  $ skmt translate -M my.tm --trust "$(cat net)0" text
  skmt: --trust: the network is damaged
  [2]
  $ skmt translate -M my.tm --trust "$(cat net)" text | cmp - learned

So is a network of another model, and learned trust without a network.

  $ "$BUILD/tools/tiny_model" tiny > log 2>&1; skmt convert -q --from tiny -o tiny.skmt --quiet; skmt translate -m tiny.skmt -M my.tm --settings my.settings text
  skmt: trust: the network was trained with another model; train it again with this one (skmt tune --learn)
  [1]

The network in force is in the record, so that the run can be repeated.

  $ skmt translate -M my.tm --settings my.settings --record run.json text > log; python3 -c 'import json; o = json.load(open("run.json"))["options"]; print(o["preset"], o["system"], o["trust"] == open("net").read().strip())'
  learned learned True
  $ skmt translate -M my.tm --preset sk2 --record run.json text > log; python3 -c 'import json; o = json.load(open("run.json"))["options"]; print(o["preset"], o["trust"])'
  sk2 default
  $ skmt tune -M my.tm --learn --limit 20 --quiet --record run.json > log; python3 -c 'import json; o = json.load(open("run.json"))["options"]; print(o["learn"], o["limit"], o["seed"], o["m"])'
  True 20 1 None
  $ skmt help options | awk -F '\t' '$1 == "translate" && $2 == "trust" { print $4, $5 }'
  NETWORK default

By default, a long pair that is unlike the sentence is left out. It is used if it
is the best one, if it is short, with a number of pairs, and by SK-MT.

  $ long='Wenn der Regen kommt, dann ist das Gerät im Keller zu verstauen und der Schlauch zu leeren.\tWhen the rain comes, put the unit into the cellar and empty the hose, please.\n'; short='Ja, alt!\tYes!\n'; printf "Das Gerät ist neu.\tThe unit is new.\n$short$long" > pairs.tsv; printf "$long" > long.tsv
  $ for m in pairs long; do skmt tm create $m.tm > log; skmt tm import -q $m.tm $m.tsv > log; done
  $ found() { echo 'Das Gerät ist alt.' | skmt translate --json --explain "$@" | python3 -c 'import json, sys; print(*((p["source"].split()[0], round(p["similarity"], 2)) for p in json.loads(sys.stdin.readline())["segments"][0]["pairs"]))'; }; found -M pairs.tm; found -M long.tm; found -M pairs.tm --matches 3; found -M pairs.tm --preset sk2
  ('Das', 0.83) ('Ja,', 0.17)
  ('Wenn', 0.11)
  ('Das', 0.83) ('Ja,', 0.17) ('Wenn', 0.11)
  ('Das', 0.83) ('Ja,', 0.17) ('Wenn', 0.11)
