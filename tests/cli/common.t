# needs: python3
A second program uses apps/common: a table of options, lines, JSON, steering
options, and the record of a run. Its messages have its own name.

  $ printf 'Guten "Tag"\r\n\n\377\\\tende' > in; second() { "$BUILD/tests/apps/second" "$@"; }; second in - < in
  {"file":"in","line":1,"beam":"0","text":"Guten \"Tag\""}
  {"file":"in","line":2,"beam":"0","text":""}
  {"file":"in","line":3,"beam":"0","text":"�\\\tende"}
  {"file":"standard input","line":1,"beam":"0","text":"Guten \"Tag\""}
  {"file":"standard input","line":2,"beam":"0","text":""}
  {"file":"standard input","line":3,"beam":"0","text":"�\\\tende"}
  $ echo 'beam = 2' > settings; echo Ja | "$BUILD/tests/apps/second" -l 'a
  > b' --settings settings
  {"file":"standard input","line":1,"label":"a\nb","beam":"2","text":"Ja"}
  $ echo Ja | "$BUILD/tests/apps/second" --settings settings --beam=3
  {"file":"standard input","line":1,"beam":"3","text":"Ja"}

  $ "$BUILD/tests/apps/second" --labl x
  second: unknown option '--labl'; did you mean '--label'?
  [2]
  $ "$BUILD/tests/apps/second" --entirely-different
  second: unknown option '--entirely-different'; see 'second --help'
  [2]
  $ "$BUILD/tests/apps/second" -x
  second: unknown option '-x'; see 'second --help'
  [2]
  $ "$BUILD/tests/apps/second" --label
  second: option '--label' needs a value; see 'second --help'
  [2]
  $ "$BUILD/tests/apps/second" --beam many
  second: --beam: "many" is not a whole number from 0 to 64
  [2]
  $ "$BUILD/tests/apps/second" missing
  second: reading missing: No such file or directory
  [1]
  $ "$BUILD/tests/apps/second" --help > /dev/full
  second: cannot write to standard output
  [1]
  $ "$BUILD/tests/apps/second" --help | head -5
  Usage: second [OPTIONS] [FILE ...]
  
  Options:
    -l, --label TEXT        add this label to every object
    -M, --memory FILE       steer the translation by this translation memory
  $ "$BUILD/tests/apps/second" in --record run.json > out; python3 -c 'import json; r = json.load(open("run.json")); print(r["command"] == "", r["operands"], r["options"]["beam"], r["exit_status"])'
  True ['in'] 0 0

A signal ends it between two lines.

  $ mkfifo pipe; (echo Ja; exec sleep 60) > pipe & "$BUILD/tests/apps/second" pipe > out & until [ -s out ]; do sleep 0.1; done; kill %2; wait %2; echo "status $?"; kill %1
  status 143
