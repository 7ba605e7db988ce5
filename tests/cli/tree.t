Rules of the source tree.

A folder includes only headers of the folders before it.

  $ cd "$TOP" && find src apps include -name '*.[ch]' | sort | xargs awk -f tools/layers.awk

The check finds violations.

  $ mkdir -p src/text src/nn apps/cli apps/common apps/server
  $ printf '#include "nn/net.h"\n' > src/text/bad.c
  $ printf '#include "text/utf8.h"\n#include "base/err.h"\n#include "nn/x.h"\n' > src/nn/good.c
  $ printf '#include "skmt.h"\n#include "cli.h"\n#include "base/err.h"\n#include "common/args.h"\n' > apps/cli/bad.c
  $ printf '#include "skmt.h"\n#include "common/args.h"\n#include "cli/cli.h"\n' > apps/common/bad.c
  $ printf '#include "server/server.h"\n#include "server/call.h"\n' > apps/cli/serve.c
  $ printf '#include "call.h"\n#include "server/call.h"\n#include "tm/tm.h"\n#include "cli/cli.h"\n' > apps/server/bad.c
  $ awk -f "$TOP/tools/layers.awk" src/text/bad.c src/nn/good.c apps/cli/bad.c apps/cli/serve.c apps/common/bad.c apps/server/bad.c
  src/text/bad.c:1: text may not include nn/net.h
  apps/cli/bad.c:3: apps/cli may include only what is in include/ and apps/common, not base/err.h
  apps/cli/serve.c:2: apps/cli may include only what is in include/ and apps/common, not server/call.h
  apps/common/bad.c:3: apps/common may include only what is in include/ and apps/common, not cli/cli.h
  apps/server/bad.c:3: apps/server may include only what is in include/ and apps/common, not tm/tm.h
  apps/server/bad.c:4: apps/server may include only what is in include/ and apps/common, not cli/cli.h
  [1]

Nobody reaches into the structs of another module.

  $ cd "$TOP" && find src apps tests bench tools -name '*.[ch]' | sort | xargs awk -f tools/opaque.awk

The check finds a header of another module, and a struct that is said to be
opaque and is not.

  $ mkdir -p src/tm
  $ printf '/* box_internal.h - the box.\n *\n * Also for: lid.\n */\nstruct box {\n};\n' > src/tm/box_internal.h
  $ printf 'struct box;      /* opaque */\nstruct bag;  /* opaque */\nstruct bag {\n};\n' > src/tm/box.h
  $ printf '#include "tm/box_internal.h"\n' | tee src/tm/box_open.c src/tm/lid.c src/tm/boxer.c > src/tm/box.c
  $ awk -f "$TOP/tools/opaque.awk" src/tm/*.[ch]
  src/tm/boxer.c:1: box_internal.h is for its own module
  src/tm/box.h:3: struct bag is opaque in src/tm/box.h
  [1]

The sections of docs/method.md and the functions that comments and documents
refer to exist.

  $ cd "$TOP" && find *.md src include apps tests tools scripts bench docs examples exp -name golden -prune -o -name data -prune -o -type f -print | sort | xargs awk -f tools/doc_refs.awk docs/method.md

The check finds violations, also if a reference continues on the next line.

  $ printf '# 1 One\n\n## 1.1 First\n\n## 1.2 Second\n\n## 1.2 Third\n' > m.md
  $ printf '/* %s 1.1, %s.md 1.2 and %s\n * 1.3 */\n' method method method > a.c
  $ printf 'In `a.c: method` and in\n`src/a.c:\nmain, method`; `a.c` is text.\n\nAn empty line, then `src/a.c: gone`.\n' > b.md
  $ printf 'int method;\n' > src/a.c
  $ printf 'Formulas (1.1, 1.4).\n' > papers.md
  $ awk -f "$TOP/tools/doc_refs.awk" m.md a.c b.md papers.md
  a.c:2: there is no section 1.3 in m.md
  b.md:3: src/a.c has no main
  b.md:5: src/a.c has no gone
  papers.md:1: there is no section 1.4 in m.md
  m.md: there are 2 sections 1.2
  [1]

The source follows the rules for columns, names and words.

  $ cd "$TOP" && python3 tools/check_source.py

The check finds a long line, a retired name, and a file that does not say what
it does.

  $ mkdir -p bad/src/nn; printf '/* x.c - see x.h. */\nint mill;\n/* %080d */\n' 0 > bad/src/nn/x.c
  $ python3 "$TOP/tools/check_source.py" bad
  src/nn/x.c:3: 86 columns
  src/nn/x.c:1: the file does not open by saying what it does
  src/nn/x.c:2: retired name 'mill'
  [1]

The option lists of the man page are those of the program.

  $ skmt help options | awk -f "$TOP/tools/man_options.awk" - "$TOP/docs/man/skmt.1" | diff "$TOP/docs/man/skmt.1" -

Every option of the list is on the help page.

  $ skmt help options | awk -F '\t' '$1 == "translate" { print $2 }' | while read o; do skmt help translate | grep -q -e "--\(\[\?no-\]\?\)\?$o\b" || echo "no $o"; done

The version numbers agree.

  $ grep -c "^## $VERSION" "$TOP/NEWS.md"
  1
  $ grep -c "skmt $VERSION" "$TOP/docs/man/skmt.1"
  1
