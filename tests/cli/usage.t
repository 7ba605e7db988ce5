The help pages of the program.

  $ skmt | head -1
  Usage: skmt COMMAND [OPTIONS] ...

Without a command, the page is shown with an error status; with --help it is a
success.

  $ skmt > /dev/null
  [2]

  $ skmt --help | tail -3
  Exit status: 0 success, 1 input or output error, 2 usage error, 3 no usable
  model file, 128 + n ended by signal n (130 after Ctrl-C; 135 if a model,
  index or key file became shorter while it was in use).

  $ skmt -h | grep -c 'skmt translate'
  2

  $ skmt --version | sed "s/$VERSION/VERSION/"
  skmt VERSION
  kernels: * (glob)
  processor: * (glob)

  $ SKMT_ISA=ref skmt --version | sed -n 2p
  kernels: ref

  $ SKMT_ISA=6502 skmt --version > /dev/null
  skmt: SKMT_ISA asks for '6502' kernels, which are not available on this processor; using '*' (glob)

Every command has a page; -h shows the same page.

  $ for c in translate score info convert help; do skmt help $c | head -1; done
  Usage: skmt translate [OPTIONS] [FILE ...]
  Usage: skmt score --ref REF [OPTIONS] FILE ...
  Usage: skmt info [OPTIONS] [MODEL]
  Usage: skmt convert --from PATH [--type f32|bf16|int8] [-o FILE]
  Usage: skmt help [COMMAND]

  $ for c in translate score info convert help; do skmt $c -h | cmp - <(skmt help $c); skmt $c --help | cmp - <(skmt help $c); done

  $ skmt help translate | awk 'length > 79' | grep -v 'skmt translate'
  [1]

Misspelled words get a suggestion.

  $ skmt trnslate
  skmt: unknown command 'trnslate'; did you mean 'translate'?
  [2]

  $ skmt frobnicate
  skmt: unknown command 'frobnicate'; see 'skmt --help'
  [2]

  $ skmt --verson
  skmt: unknown option '--verson'; did you mean '--version'?
  [2]

  $ skmt help trans
  skmt: no help page for 'trans'; did you mean 'translate'?
  [2]

  $ skmt translate --beem 3
  skmt: translate: unknown option '--beem'; did you mean '--beam'?
  [2]

  $ skmt translate --atention
  skmt: translate: unknown option '--atention'; did you mean '--attention'?
  [2]

  $ skmt translate --no-such-thing
  skmt: translate: unknown option '--no-such-thing'; see 'skmt help translate'
  [2]

  $ skmt translate -x
  skmt: translate: unknown option '-x'; see 'skmt help translate'
  [2]

Every command that runs a model, or uses its pieces, takes --device.

  $ for c in translate 'learn -M x.tm' tune 'tm search x.tm' 'tm stats x.tm' 'tm warm x.tm'; do skmt $c --device gpu; done
  skmt: --device: "gpu" is not one of cpu
  skmt: --device: "gpu" is not one of cpu
  skmt: --device: "gpu" is not one of cpu
  skmt: --device: "gpu" is not one of cpu
  skmt: --device: "gpu" is not one of cpu
  skmt: --device: "gpu" is not one of cpu
  [2]

  $ skmt translate --beam
  skmt: option '--beam' needs a value; see 'skmt help translate'
  [2]

  $ skmt translate --json=yes
  skmt: option '--json' takes no value
  [2]

  $ skmt translate --prefix a --prefix-file b
  skmt: --prefix and --prefix-file cannot be used together
  [2]

  $ skmt translate -o ''
  skmt: --output needs the name of a file
  [2]

  $ skmt translate --prefix-file - < /dev/null
  skmt: standard input cannot be both the input and the prefix file
  [2]

For an invalid value, the message says which values are valid.

  $ skmt translate --beam -1
  skmt: --beam: * (glob)
  [2]

  $ skmt translate --beam=many
  skmt: --beam: * (glob)
  [2]

  $ skmt translate --split=never
  skmt: --split: *auto* (glob)
  [2]

  $ skmt convert
  skmt: convert needs --from PATH; see 'skmt help convert'
  [2]

  $ skmt convert --from . --type int4 -o x
  skmt: --type: "int4" is not one of f32, bf16, int8
  [2]

  $ skmt info a b
  skmt: info takes only one model, but 'a' and 'b' were given
  [2]

If the model does not exist, the message lists where it was searched.

  $ skmt translate --model nowhere/x.skmt < /dev/null
  skmt: nowhere/x.skmt: No such file or directory
  [3]

  $ env -u SKMT_MODEL skmt info xx-yy
  skmt: model 'xx-yy' not found; 'skmt model list' lists the models, and --model FILE takes any file; there is no xx-yy.skmt in */home/models, */models, */share/skmt/models (glob)
  [3]

  $ echo nonsense > not.skmt; skmt info ./not.skmt
  skmt: ./not.skmt: * (glob)
  [3]

A missing input is found before anything is translated.

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
  skmt: cannot write to standard output
  [1]
