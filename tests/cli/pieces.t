# needs: model tiny python3
System pieces rewards n-grams of similar pairs. Without an alignment, the
attention of the decoder aligns them.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null; cut -f1 "$TOP/tests/data/small/test.tsv" > text; skmt translate text > plain
  $ skmt translate -M my.tm --system pieces text > attention; cmp -s plain attention; echo $?
  1
  $ skmt align -q --pieces "$SKMT_MODEL" --memory my.tm --save my.align --print none; skmt translate -M my.tm --system pieces --alignment my.align text > aligned; cmp -s plain aligned; echo $?
  1

No weight, no change. A sentence without similar pairs is translated by the
model alone.

  $ skmt translate -M my.tm --system pieces --pieces-weight 0 text | cmp - plain
  $ skmt translate -M my.tm --system pieces --min-similarity 1 text | cmp - plain

The translation does not depend on the batch, the threads or early stopping, nor
on whether it is explained.

  $ for o in '--batch 1' '--batch 3' '--threads 2' --no-early-stop '--draft 0'; do skmt translate -M my.tm --system pieces $o text | cmp - attention; skmt translate -M my.tm --system pieces --alignment my.align $o text | cmp - aligned; done
  $ skmt translate -M my.tm --system pieces --alignment my.align --pieces-normalize text > normal; skmt translate -M my.tm --system pieces --alignment my.align --pieces-normalize --batch 1 --no-early-stop text | cmp - normal
  $ skmt translate -M my.tm --system pieces --alignment my.align --nbest 3 --json --batch 2 text | sed 's/,"stats".*//' > a; skmt translate -M my.tm --system pieces --alignment my.align --nbest 3 --json text | sed 's/,"stats".*//' | cmp - a

The first of several translations is the best. Scores have the rewards, and
log-probabilities are those of the model.

  $ skmt translate -M my.tm --system pieces --alignment my.align --nbest 3 text > three; wc -l < three
  30
  $ awk 'NR % 3 == 1' three | cut -f 2- | cmp - aligned
  [1]

Explanations name the pair and the position of the last token of each n-gram.

  $ echo 'Der Wärmetauscher des AeroPax 500 muss zweimal im Jahr gereinigt werden.' > one; skmt translate -M my.tm --system pieces --alignment my.align --explain one | grep -B1 -m 1 'completes 4'
  $ skmt translate -M my.tm --system pieces --alignment my.align --explain --json one > one.json; python3 -c 'import json; d = json.load(open("one.json")); print(d)' | head -c 300

Files that do not fit.

  $ skmt translate -M my.tm --system pieces --alignment nowhere one
  $ head -c 5000 my.align > cut.align; skmt translate -M my.tm --system pieces --alignment cut.align one
  $ skmt align -q --memory my.tm --save words.align --print none; skmt translate -M my.tm --system pieces --alignment words.align one
  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert --from tiny -o tiny.skmt; skmt translate --model ./tiny.skmt -M my.tm --system pieces --alignment my.align one
  $ skmt translate -M my.tm --system pieces --alignment my.align -o my.align one
  $ skmt translate -M my.tm --system pieces --pieces-weight 21 one
  $ skmt systems pieces | head -3
