# needs: model tiny
The pieces of a model are aligned. Parameters belong to one tokenizer.

  $ printf 'Guten Morgen!\tGood morning!\nGuten Abend!\tGood evening!\nGuten Tag!\tGood day!\n' > a.tsv
  $ skmt align -q --pieces de-en --print tokens a.tsv | head -1
  ▁Gute n ▁Morgen ! ||| ▁Good ▁morning !
  $ skmt align -q --pieces de-en a.tsv --save p.align
  0-0 1-0 2-1 3-2
  0-0 1-0 2-1 3-2
  0-0 1-0 2-1 3-2
  $ skmt align -q --pieces de-en --load p.align a.tsv --json | head -1
  {"source":["▁Gute","n","▁Morgen","!"],"target":["▁Good","▁morning","!"],"links":[[0,0],[1,0],[2,1],[3,2]]}
  $ skmt align --load p.align a.tsv
  skmt: p.align: these parameters are for texts split into pieces, not words
  [2]
  $ "$BUILD/tools/tiny_model" tiny > /dev/null; skmt convert -q --from tiny -o tiny.skmt; skmt align --pieces ./tiny.skmt --load p.align a.tsv
  skmt: p.align: these parameters are for the pieces of another tokenizer
  [2]
  $ skmt align --pieces nowhere a.tsv 2>&1 | head -1
  skmt: model 'nowhere' not found; 'skmt model list' lists the models, and --model FILE takes any file; there is no nowhere.skmt in * (glob)
