# needs: tiny
Convert a model with random weights to each of the three types.

  $ "$BUILD/tools/tiny_model" tiny > /dev/null 2>&1; ls tiny
  config.json
  model.safetensors
  spm.model

  $ for t in f32 bf16 int8; do skmt convert -q --from tiny --type $t -o $t.skmt && skmt info $t.skmt | grep '^type' | tr -s ' '; done
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

If it is interrupted, the old file stays as it was, and no other files are left.
The signal is there before the program starts.

  $ mv tiny/other tiny/spm.model; cat > stop.py <<'EOF'
  > import os, signal
  > signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
  > os.kill(os.getpid(), signal.SIGTERM)
  > os.execvp("skmt", ["skmt", "convert", "-q", "--from", "tiny", "-o", "f32.skmt"])
  > EOF
  $ python3 stop.py
  [143]

  $ cmp f32.skmt before; ls
  before
  bf16.skmt
  f32.skmt
  int8.skmt
  stop.py
  tiny

It says what it found. Without -o it does nothing else.

  $ skmt convert --from tiny
  family      skmt
  languages   xx to yy
  network     2 + 2 layers, d_model 32, 4 heads, feed-forward 64, ReLU, norms before the blocks
  positions   sines, then cosines, from 0 on, at most 64
  vocabulary  310 tokens; one table for source, target and output
  tokenizer   one for both sides
  weights     89 tensors, mostly f32, 211 kB
  nothing is written; name a file with -o FILE

  $ skmt convert --from tiny -o int8.skmt | tail -1
  written     int8.skmt, 116 kB

  $ mkdir other; skmt convert --from other -o x; echo hello > other/hello; skmt convert --from other -o x; echo '{"model_type": "t5"}' > other/config.json; skmt convert --from other -o x
  skmt: other: there are no files
  skmt: other: these are not the files of a model that can be converted: hello
  skmt: other: models whose config.json says "model_type": "t5" cannot be converted
  [1]

  $ skmt convert --from tiny --family pony; skmt convert --from tiny --heads 0; skmt convert --from tiny --positions learned; skmt convert --from tiny --heads 3
  skmt: family: there is no family "pony"; the families are: * (glob)
  skmt: --heads: "0" is not a whole number from 1 to 1024
  skmt: positions: "learned" is not halves, halves-hf or in-turn
  skmt: tiny/config.json: config: d_model=32 is not a multiple of heads=3
  [1]

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
