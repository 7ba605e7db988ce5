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

The first of several translations is the best.

  $ skmt translate -M my.tm --system pieces --alignment my.align --nbest 3 text > three; wc -l < three; awk 'NR % 3 == 1' three | cut -f 4 | cmp - aligned
  30

Explanations name the pair and the position of the last token of each n-gram.
Token log-probabilities are those of the model, and the score has the rewards.

  $ echo 'Der Wärmetauscher des AeroPax 500 muss zweimal im Jahr gereinigt werden.' > one; skmt translate -M my.tm --system pieces --alignment my.align --explain one | grep -B1 -m 1 'completes 4'
    60-98%  AeroPax           #1 92% at 8-12
                              weight 0.98: completes 4 stored tokens (+)
  $ cat > check.py <<'EOF'
  > import json, sys
  > for line in sys.stdin:
  >     d = json.loads(line); t = d["segments"][0]["tokens"]
  >     rewards = sum(r["effect"] for x in t for r in x.get("reasons", []))
  >     bad = [x for x in t if x["logprob"] > 0 or len(x.get("votes", [])) > 4]
  >     print(abs((d["logprob"] + rewards) / ((5 + len(t)) / 6) ** 0.6 - d["score"]) < 1e-4, abs(sum(x["logprob"] for x in t) - d["logprob"]) < 1e-4, len(bad))
  > EOF
  $ for o in '--system pieces' '--system pieces --alignment my.align'; do skmt translate -M my.tm $o --explain --json text | python3 check.py | sort | uniq -c; done
       10 True True 0
       10 True True 0

Normalized probabilities give scores like those of a model.

  $ skmt translate -M my.tm --system pieces --alignment my.align --pieces-normalize --explain --json text | python3 -c 'import json,sys; print(all(json.loads(l)["score"] < 0 for l in sys.stdin))'
  True

Files that do not fit.

  $ skmt translate -M my.tm --system pieces --alignment nowhere one
  skmt: nowhere: No such file or directory
  [1]
  $ head -c 5000 my.align > cut.align; skmt translate -M my.tm --system pieces --alignment cut.align one
  skmt: cut.align: the alignment parameters are damaged (the file has 5000 bytes and should have 9184)
  [1]
  $ skmt align -q --memory my.tm --save words.align --print none; skmt translate -M my.tm --system pieces --alignment words.align one
  skmt: words.align: these parameters are for texts split into words, not pieces; make them with 'skmt align --pieces MODEL --memory FILE --save FILE'
  [2]
  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert -q --from tiny -o tiny.skmt; skmt translate --model ./tiny.skmt -M my.tm --system pieces --alignment my.align one
  skmt: my.align: these parameters are for the pieces of another tokenizer; make them with 'skmt align --pieces MODEL --memory FILE --save FILE'
  [2]
  $ skmt translate -M my.tm --system pieces --alignment my.align -o my.align one
  skmt: my.align: cannot be both the alignment and the output
  [1]
  $ skmt translate -M my.tm --system pieces --pieces-weight 21 one
  skmt: --pieces-weight: "21" is not a number from -1 to 20
  [2]
  $ skmt systems pieces | head -3
  pieces: rewards for n-grams of a few similar pairs
  paper: Zhang et al., Guiding Neural Machine Translation with Retrieved Translation Pieces, NAACL 2018
  needs: a memory
