The command line explains itself.

  $ skmt | head -1
  Usage: skmt COMMAND [OPTIONS] ...

Without a command that is an error, with --help it is not.

  $ skmt > /dev/null
  [2]

  $ skmt --help | tail -3
  Exit status: 0 done, 1 an input or output failed, 2 the command line makes
  no sense, 3 no usable model file, 128 + n ended by signal n (130 Ctrl-C; 135
  a model, index or key file was cut short while it was in use).

  $ skmt -h | grep -c 'skmt translate'
  2

  $ skmt --version | sed "s/$VERSION/VERSION/"
  skmt VERSION
  kernels: * (glob)
  processor: * (glob)

  $ SKMT_ISA=ref skmt --version | sed -n 2p
  kernels: ref

  $ SKMT_ISA=6502 skmt --version > /dev/null
  skmt: no '6502' kernels for this processor (SKMT_ISA); using '*' (glob)

Every command has a page; -h shows the same one.

  $ for c in translate score info convert help; do skmt help $c | head -1; done
  Usage: skmt translate [OPTIONS] [FILE ...]
  Usage: skmt score --ref REF [OPTIONS] FILE ...
  Usage: skmt info [OPTIONS] [MODEL]
  Usage: skmt convert --from DIR [--type f32|bf16|int8] -o FILE
  Usage: skmt help [COMMAND]

  $ for c in translate score info convert help; do skmt $c -h | cmp - <(skmt help $c); skmt $c --help | cmp - <(skmt help $c); done

  $ skmt help translate | awk 'length > 79' | grep -v 'skmt translate'
  [1]

What is misspelt gets a suggestion.

  $ skmt trnslate
  skmt: there is no command 'trnslate'; did you mean 'translate'?
  [2]

  $ skmt frobnicate
  skmt: there is no command 'frobnicate'; see 'skmt --help'
  [2]

  $ skmt --verson
  skmt: there is no option '--verson'; did you mean '--version'?
  [2]

  $ skmt help trans
  skmt: no help for 'trans'; did you mean 'translate'?
  [2]

  $ skmt translate --beem 3
  skmt: translate has no option '--beem'; did you mean '--beam'?
  [2]

  $ skmt translate --atention
  skmt: translate has no option '--atention'; did you mean '--attention'?
  [2]

  $ skmt translate --no-such-thing
  skmt: translate has no option '--no-such-thing'; see 'skmt help translate'
  [2]

  $ skmt translate -x
  skmt: translate has no option '-x'; see 'skmt help translate'
  [2]

  $ skmt translate --beam
  skmt: option '--beam' needs a value; see 'skmt help translate'
  [2]

  $ skmt translate --json=yes
  skmt: option '--json' takes no value
  [2]

  $ skmt translate --prefix a --prefix-file b
  skmt: --prefix and --prefix-file exclude each other
  [2]

  $ skmt translate -o ''
  skmt: --output needs the name of a file
  [2]

  $ skmt translate --prefix-file - < /dev/null
  skmt: standard input cannot be both the text and the prefix file
  [2]

A value that makes no sense is named with what would.

  $ skmt translate --beam 0
  skmt: --beam: * (glob)
  [2]

  $ skmt translate --beam=many
  skmt: --beam: * (glob)
  [2]

  $ skmt translate --split=never
  skmt: --split: *auto* (glob)
  [2]

  $ skmt convert
  skmt: convert needs --from DIR and -o FILE; see 'skmt help convert'
  [2]

  $ skmt convert --from . --type int4 -o x
  skmt: --type is f32, bf16 or int8, not 'int4'
  [2]

  $ skmt info a b
  skmt: info takes one model, not 'a' and 'b'
  [2]

A model that is not there: where was looked for it.

  $ skmt translate --model nowhere/x.skmt < /dev/null
  skmt: nowhere/x.skmt: No such file or directory
  [3]

  $ env -u SKMT_MODEL skmt info xx-yy
  skmt: no model 'xx-yy'; looked for it here and in
    */../models/xx-yy.skmt (glob)
    */../share/skmt/models/xx-yy.skmt (glob)
    /*/share/skmt/models/xx-yy.skmt (glob)
  Name a file with --model FILE or set SKMT_MODEL.
  [3]

  $ echo nonsense > not.skmt; skmt info ./not.skmt
  skmt: ./not.skmt: * (glob)
  [3]

An input that is not there is found before anything is translated.

  $ skmt translate missing.txt
  skmt: missing.txt: No such file or directory
  [1]

  $ skmt translate .
  skmt: .: is a directory
  [1]

  $ skmt translate < .
  skmt: standard input: is a directory
  [1]

Help that cannot be written is an error.

  $ skmt --help > /dev/full
  skmt: writing standard output failed
  [1]
