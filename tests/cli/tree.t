What the tree promises about itself.

A folder includes only folders above it.

  $ cd "$TOP" && find src apps include -name '*.[ch]' | sort | xargs awk -f tools/layers.awk

The check does notice.

  $ mkdir -p src/text src/nn apps/cli
  $ printf '#include "nn/net.h"\n' > src/text/bad.c
  $ printf '#include "text/utf8.h"\n#include "base/err.h"\n#include "nn/x.h"\n' > src/nn/good.c
  $ printf '#include "skmt.h"\n#include "cli.h"\n#include "base/err.h"\n' > apps/cli/bad.c
  $ awk -f "$TOP/tools/layers.awk" src/text/bad.c src/nn/good.c apps/cli/bad.c
  src/text/bad.c:1: text may not include nn/net.h
  apps/cli/bad.c:3: apps may include only what is in include/, not base/err.h
  [1]

The man page lists the options the program has, as the program explains them.

  $ skmt help options | awk -f "$TOP/tools/man_options.awk" - "$TOP/docs/man/skmt.1" | diff "$TOP/docs/man/skmt.1" -

Every option of the list is in the help page too.

  $ skmt help options | awk -F '\t' '$1 == "translate" { print $2 }' | while read o; do skmt help translate | grep -q -e "--\(\[\?no-\]\?\)\?$o\b" || echo "no $o"; done

The page is well-formed, where there is a man to say so.

  $ if command -v man > /dev/null; then man --warnings -l "$TOP/docs/man/skmt.1" 2>&1 > /dev/null; fi

Versions agree.

  $ grep -c "^## $VERSION" "$TOP/NEWS.md"
  1
  $ grep -c "skmt $VERSION" "$TOP/docs/man/skmt.1"
  1
