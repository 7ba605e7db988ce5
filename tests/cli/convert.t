# needs: tiny
Convert a model with random weights to each of the three types.

  $ "$BUILD/tools/tiny_model" tiny > /dev/null 2>&1; ls tiny
  config.json
  model.safetensors
  spm.model

  $ for t in f32 bf16 int8; do skmt convert --from tiny --type $t -o $t.skmt && skmt info $t.skmt | grep '^type' | tr -s ' '; done
  type f32
  type bf16
  type int8

Each of them translates, although the output is nonsense.

  $ for t in f32 bf16 int8; do printf 'a\n\nb c\n' | skmt translate -m $t.skmt | wc -l; done
  3
  3
  3

An existing file is replaced only by a complete one.

  $ cp f32.skmt before; mv tiny/spm.model tiny/other
  $ skmt convert --from tiny --type f32 -o f32.skmt; cmp f32.skmt before
  skmt: *spm.model* (glob)

  $ ls
  before
  bf16.skmt
  f32.skmt
  int8.skmt
  tiny

  $ skmt convert --from nowhere -o x
  skmt: *nowhere* (glob)
  [1]

If it is interrupted, it leaves a complete file and no other files.

  $ mkfifo hold; mv tiny/other tiny/spm.model; mv tiny/config.json config; ln -s ../hold tiny/config.json
  $ skmt convert --from tiny -o late.skmt & pid=$!; exec 3> hold; kill -TERM $pid; cat config >&3; exec 3>&-; wait $pid
  [143]

  $ skmt info late.skmt | grep '^type' | tr -s ' '; ls *tmp*
  type int8
  ls: cannot access '*tmp*': No such file or directory
  [2]

Show the properties as text and as JSON, and the tensors on request.

  $ skmt info int8.skmt | grep -c '^file \|^type\|^d_model\|^source_lang'
  4

  $ skmt info --tensors int8.skmt | grep -c ' bytes ' | awk '{ print ($1 > 10) }'
  1

  $ skmt info int8.skmt --tensors --json | python3 -c 'import json,sys; o = json.load(sys.stdin); print(o["type"], o["d_model"] + 0, len(o["tensors"]) > 10, sorted(o["tensors"][0]))'
  int8 32 True ['bytes', 'checksum', 'cols', 'name', 'rows', 'type']

A damaged file is reported with a message.

  $ head -c 20000 int8.skmt > cut.skmt; skmt info ./cut.skmt
  skmt: ./cut.skmt: * (glob)
  [3]
