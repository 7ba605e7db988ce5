# needs: tiny python3 model
The models of a user. At first there are those that came with skmt.

  $ skmt model list
  de-en  de > en         int8     54 MB  -                 installed
  $ ls "$SKMT_HOME"
  ls: * (glob)
  [2]

A model of another kind is converted, a model file is copied.

  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt model add tiny --source-lang en --target-lang fr | tail -2
  weights     89 tensors, mostly f32, 211 kB
  added       */home/models/tiny.skmt, 116 kB (glob)
  $ skmt convert -q --from tiny --source-lang en_US --target-lang pt-BR -o made.skmt; skmt model add made.skmt
  added       */home/models/made.skmt, 116 kB (glob)
  $ cmp made.skmt "$SKMT_HOME/models/made.skmt"; ls -A "$SKMT_HOME/models"
  .lock
  made.skmt
  tiny.skmt
  $ skmt model list
  made   en_US > pt-BR   int8    116 kB  -
  tiny   en > fr         int8    116 kB  -
  de-en  de > en         int8     54 MB  -                 installed
  $ skmt model list --to pt; skmt model list --from deu --to eng; skmt model list --from ja
  made   en_US > pt-BR   int8    116 kB  -
  de-en  de > en         int8     54 MB  -                 installed
  there are no such models; 'skmt help model add' says how to add one
  $ skmt model list --json | python3 -c 'import json,sys; [print(m["name"], m["installed"], m["source_lang"], m["target_lang"], m["default"], m["default_for"], m["languages"], m["type"], m["bytes"] > 1000, len(m["checksum"]), m["license"]) for m in map(json.loads, sys.stdin)]'
  made False en_US pt-BR False [] [] int8 True 16 
  tiny False en fr False [] [] int8 True 16 
  de-en True de en False [] [] int8 True 16 

Every command finds them by name.

  $ for m in made made.skmt ./made.skmt "$SKMT_HOME/models/made.skmt"; do skmt info "$m" | grep '^target_lang'; done
  target_lang        pt-BR
  target_lang        pt-BR
  target_lang        pt-BR
  target_lang        pt-BR
  $ mkdir tiny.dir; mv tiny tiny.dir/; mkdir tiny; skmt info tiny | grep '^target_lang'; rmdir tiny; mv tiny.dir/tiny .
  target_lang        fr
  $ SKMT_MODEL=tiny skmt info | grep '^target_lang'
  target_lang        fr

And by languages. $SKMT_MODEL is German to English here.

  $ for to in fr fra pt pt-BR pt-PT; do skmt info --from en --to $to | grep '^target_lang'; done
  target_lang        fr
  target_lang        fr
  target_lang        pt-BR
  target_lang        pt-BR
  target_lang        pt-BR
  $ skmt info --from de | grep '^name'; skmt info --to en | grep '^name'
  name               de-en
  name               de-en
  $ echo a | skmt translate --from en --to fr --beam 1 > byname; echo a | skmt translate --model tiny --beam 1 | cmp - byname
  $ skmt tm create en.tm -s en -t fr > /dev/null; skmt tm add en.tm 'the king' 'le roi' > /dev/null; skmt tm search en.tm 'the king' --from en --to fr | grep -c 'le roi'
  1
  $ for c in 'learn -M en.tm' 'tune -M en.tm' 'tm warm en.tm --key-file k' 'knn build --memory en.tm -o s.knn' 'serve' 'tm search en.tm x'; do skmt $c --from ja --to en < /dev/null; done
  skmt: no model translates ja to en; * (glob)
  skmt: no model translates ja to en; * (glob)
  skmt: no model translates ja to en; * (glob)
  skmt: no model translates ja to en; * (glob)
  skmt: no model translates ja to en; * (glob)
  skmt: no model translates ja to en; * (glob)
  [3]

A model that was chosen by name must fit. $SKMT_MODEL is only used where it does.

  $ echo a | skmt translate --model tiny --from de --to fr
  skmt: --from: the model */home/models/tiny.skmt translates from "en", not "de" (glob)
  [2]
  $ SKMT_MODEL=tiny skmt info --from de --to en | grep '^name'
  name               de-en

Nothing is guessed between equal models.

  $ skmt model add -q tiny --name other --source-lang eng --target-lang fra; skmt info --from en --to fr
  skmt: 2 models translate en to fr equally well: other, tiny; choose one with --model NAME or, for good, with 'skmt model default NAME --from en --to fr'
  [2]
  $ skmt model default other --from en --to fr; skmt info --from en --to fr | grep '^source_lang'; skmt info --from eng --to fra | grep '^source_lang'
  source_lang        eng
  source_lang        eng
  $ skmt model default tiny; skmt model default; skmt model default --json
  en > fr: other
  everything: tiny
  {"name":"other","from":"en","to":"fr"}
  {"name":"tiny"}
  $ env -u SKMT_MODEL skmt info | grep '^target_lang'; skmt info | grep '^target_lang'
  target_lang        fr
  target_lang        en
  $ skmt model list
  made   en_US > pt-BR   int8    116 kB  -
  other  eng > fra       int8    116 kB  -                 default for en > fr
  tiny   en > fr         int8    116 kB  -                 default
  de-en  de > en         int8     54 MB  -                 installed
  $ skmt model list --json | python3 -c 'import json,sys; [print(m["name"], m["default"], m["default_for"]) for m in map(json.loads, sys.stdin)]'
  made False []
  other False [['en', 'fr']]
  tiny True []
  de-en False []

A default for a pair may be a model that does not say that it translates it.

  $ skmt model default de-en --from bar --to en; skmt model default --from bar --to en --none; skmt model default | grep bar
  [1]
  $ skmt model default --none; skmt model default --none --from eng --to fr; skmt model default; cat "$SKMT_HOME/models/defaults"
  # The default models, as set by skmt model default: NAME, or FROM TO NAME.

Nothing is replaced or deleted by accident.

  $ skmt model add made.skmt --name tiny; cmp -s made.skmt "$SKMT_HOME/models/tiny.skmt"; echo $?
  skmt: there is a model 'tiny' already: */home/models/tiny.skmt; use --force to replace it, or --name for another name (glob)
  1
  $ skmt model add -q made.skmt --name tiny --force; cmp made.skmt "$SKMT_HOME/models/tiny.skmt"
  $ skmt model default other --from en --to fr; skmt model default other
  $ skmt model remove other
  skmt: model remove needs confirmation, but there is no terminal to ask; use --yes
  [2]
  $ skmt model remove other -y; skmt model remove other -y; skmt model default; skmt model remove de-en --yes
  removed     other
  skmt: there is no model 'other' in */home/models; 'skmt model list' lists the models (glob)
  skmt: there is no model 'de-en' in */home/models; 'skmt model list' lists the models (glob)
  [2]

A model with the name of an installed one takes its place.

  $ skmt model add -q made.skmt --name de-en; skmt model list --to en; env -u SKMT_MODEL skmt info | grep '^target_lang'; skmt model remove -q -y de-en; env -u SKMT_MODEL skmt info | grep '^target_lang'
  there are no such models; 'skmt help model add' says how to add one
  target_lang        pt-BR
  target_lang        en

Several at once, and names.

  $ cp made.skmt 'a b.skmt'; cp made.skmt c; cp made.skmt ./-.hidden.skmt; skmt model add -q -- 'a b.skmt' c -.hidden.skmt; ls "$SKMT_HOME/models"
  a-b.skmt
  c.skmt
  defaults
  hidden.skmt
  made.skmt
  tiny.skmt
  $ (cd tiny; skmt model add -q . --name ../x; skmt model add -q . --force); skmt model add made.skmt c --name d; for n in '' - .x 'a b' -x; do skmt model add -q made.skmt --name="$n"; done
  skmt: the name of a model may not be empty or begin with '.', '-' or '#': "../x"
  skmt: --name is for one model, but there are 2
  skmt: the name of a model may not be empty or begin with '.', '-' or '#': ""
  skmt: the name of a model may not be empty or begin with '.', '-' or '#': "-"
  skmt: the name of a model may not be empty or begin with '.', '-' or '#': ".x"
  skmt: the name of a model may not contain '/', spaces or control characters: "a b"
  skmt: the name of a model may not be empty or begin with '.', '-' or '#': "-x"
  [2]
  $ skmt model remove -q -y a-b c hidden

What is wrong is said; nothing is left of it.

  $ skmt model add nowhere; skmt model add made.skmt --name e --type f32; head -c 90000 made.skmt > cut.skmt; skmt model add cut.skmt; cp made.skmt bad.skmt; printf X | dd of=bad.skmt bs=1 seek=60000 conv=notrunc 2> /dev/null; skmt model add bad.skmt; mkdir empty; skmt model add empty
  skmt: nowhere: No such file or directory
  skmt: --type has no effect: made.skmt is converted already
  skmt: cut.skmt: * (glob)
  skmt: bad.skmt: * (glob)
  skmt: empty: there are no files
  [1]
  $ ls -A "$SKMT_HOME/models"
  .lock
  defaults
  made.skmt
  tiny.skmt
  $ (ulimit -f 50; skmt model add -q made.skmt --name e; skmt model add -q tiny --name e); ls -A "$SKMT_HOME/models" | grep -c new
  skmt: */models/.new-*/e.skmt: File too large (glob)
  skmt: */models/.new-*/e.skmt: File too large (glob)
  0
  [1]

Ctrl-C leaves nothing. The signal is there before the program starts.

  $ cat > stop.py <<'EOS'
  > import os, signal, sys
  > signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
  > os.kill(os.getpid(), signal.SIGINT)
  > os.execvp("skmt", ["skmt", "model", "add", "-q", sys.argv[1], "--name", "e"])
  > EOS
  $ python3 stop.py tiny; echo $?; python3 stop.py made.skmt; echo $?; ls -A "$SKMT_HOME/models"
  130
  130
  .lock
  defaults
  made.skmt
  tiny.skmt

What kill -9 has left is removed by the next change, unless its process lives.

  $ mkdir "$SKMT_HOME/models/.new-dead00" "$SKMT_HOME/models/.new-alive0"; touch "$SKMT_HOME/models/.new-dead00/x.skmt.1-0.tmp" "$SKMT_HOME/models/defaults.1-0.tmp"
  $ (flock 9; skmt model default tiny; ls -A "$SKMT_HOME/models") 9> "$SKMT_HOME/models/.new-alive0/lock"; skmt model default made; ls -A "$SKMT_HOME/models"
  .lock
  .new-alive0
  defaults
  made.skmt
  tiny.skmt
  .lock
  defaults
  made.skmt
  tiny.skmt

Damaged files do not keep others from being used.

  $ echo nothing > "$SKMT_HOME/models/bad.skmt"; skmt model list --from en; skmt info --from en --to pt | grep '^target_lang'; skmt info --from ja --to pt
  skmt: */models/bad.skmt: * (glob)
  made   en_US > pt-BR   int8    116 kB  -                 default
  target_lang        pt-BR
  skmt: no model translates ja to pt; *models/bad.skmt: * (glob)
  [3]
  $ skmt model remove -q -y bad; echo 'a b' > "$SKMT_HOME/models/defaults"; skmt model default; skmt model default made; skmt info made | grep '^target_lang'; env -u SKMT_MODEL skmt info
  skmt: */models/defaults:1: expected NAME, or FROM TO NAME (glob)
  skmt: */models/defaults:1: expected NAME, or FROM TO NAME (glob)
  target_lang        pt-BR
  skmt: */models/defaults:1: expected NAME, or FROM TO NAME (glob)
  [3]
  $ echo gone > "$SKMT_HOME/models/defaults"; env -u SKMT_MODEL skmt info; skmt model default --none; env -u SKMT_MODEL skmt info | grep '^name'
  skmt: the default (skmt model default): model 'gone' not found; * (glob)
  name               de-en

Where the store is.

  $ env -u SKMT_HOME XDG_DATA_HOME="$PWD/data" skmt model add -q made.skmt; env -u SKMT_HOME -u XDG_DATA_HOME HOME="$PWD/me" skmt model add -q made.skmt; find data me -name '*.skmt'
  data/skmt/models/made.skmt
  me/.local/share/skmt/models/made.skmt
  $ env -u SKMT_HOME -u XDG_DATA_HOME -u HOME skmt model list; env -u SKMT_HOME -u XDG_DATA_HOME -u HOME skmt model add -q made.skmt
  de-en  de > en         int8     54 MB  -                 installed
  skmt: there is no place for models: set SKMT_HOME or HOME
  [1]
  $ SKMT_HOME=/dev/null skmt model add -q made.skmt; SKMT_HOME=/dev/null skmt info ./made.skmt | grep '^target_lang'; SKMT_HOME=/dev/null skmt model list
  skmt: /dev/null/models: Not a directory
  target_lang        pt-BR
  skmt: /dev/null/models: Not a directory
  de-en  de > en         int8     54 MB  -                 installed
  [1]

Usage.

  $ skmt model > page; echo $?; skmt help model | cmp - page; skmt model lst; skmt model list x; skmt model add; skmt model remove; skmt model default a b; skmt model default --from en; skmt model default --none x; skmt model default x; skmt model default made --to en
  2
  skmt: unknown command 'model lst'; did you mean 'model list'?
  skmt: model list: unexpected operand 'x'; see 'skmt help model list'
  skmt: model add needs PATH; see 'skmt help model add'
  skmt: model remove needs NAME; see 'skmt help model remove'
  skmt: model default: unexpected operand 'b'; see 'skmt help model default'
  skmt: model default needs NAME or --none; see 'skmt help model default'
  skmt: model default needs NAME or --none; see 'skmt help model default'
  skmt: there is no model 'x'; 'skmt model list' lists the models
  skmt: a default is for everything, or for both a source and a target language
  [2]
  $ for c in list add remove default; do skmt model $c --help | head -1; done
  Usage: skmt model list [OPTIONS]
  Usage: skmt model add PATH ... [--name NAME] [OPTIONS]
  Usage: skmt model remove NAME ... [--yes]
  Usage: skmt model default
