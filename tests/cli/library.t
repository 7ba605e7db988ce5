# needs: plain
The libraries export only what include/ declares.

  $ nm -g --defined-only "$BUILD/libskmt.a" | awk 'NF == 3 { print $3 }' | grep -v '^skmt_'
  [1]
  $ nm -D --defined-only "$BUILD/libskmt.so" | awk 'NF == 3 { print $3 }' | grep -v '^skmt_'
  [1]

Everything that is declared is exported.

  $ cat "$TOP"/include/*.h | tr '\n' ' ' | grep -o 'SKMT_API [^;(]*(' | grep -o 'skmt_[a-z0-9_]* *($' | tr -d '( ' | sort > declared
  $ for l in .a .so; do nm $([ $l = .so ] && echo -D || echo -g) --defined-only "$BUILD/libskmt$l" | awk '$2 == "T" { print $3 }' | sort | diff declared -; done

  $ readelf -d "$BUILD/libskmt.so" | grep SONAME | grep -o '\[.*\]'
  [libskmt.so.0]

The library depends only on these libraries, and it does not print, exit or
handle signals.

  $ readelf -d "$BUILD/libskmt.so" | grep -o 'NEEDED.*\[.*\]' | grep -v 'libsqlite3\|libexpat\|libz\.\|liblzma\|libzstd\|libjansson\|libyaml\|libutf8proc\|libm\.\|libc\.\|ld-linux'
  [1]
  $ nm -D --undefined-only "$BUILD/libskmt.so" | awk '{ print $2 }' | sed 's/@.*//' | grep -x 'printf\|puts\|putchar\|exit\|_exit\|abort\|perror\|signal\|sigaction'
  [1]

Each header compiles on its own, as C and as C++.

  $ for h in skmt skmt_tools; do echo "#include \"$h.h\"" > h.c; cp h.c h.cc; $CC -std=c99 -pedantic -Wall -Wextra -Werror -I"$TOP/include" -c h.c && $CXX -std=c++98 -pedantic -Wno-long-long -Wall -Wextra -Werror -I"$TOP/include" -c h.cc; done

The sizes of public structs and the values of constants are fixed.

  $ $CC -std=c99 -pedantic -Wall -Wextra -Werror -I"$TOP/include" -c "$TOP/tests/cli/public_sizes.c" -o c.o
  $ $CXX -std=c++11 -x c++ -pedantic -Wall -Wextra -Werror -Wno-unused-local-typedefs -I"$TOP/include" -c "$TOP/tests/cli/public_sizes.c" -o cc.o
  $ sed 's/SIZE(skmt_error, 512)/SIZE(skmt_error, 8)/' "$TOP/tests/cli/public_sizes.c" > bad.c; $CC -std=c99 -I"$TOP/include" -c bad.c 2>&1 | grep -c 'same_skmt_error'
  1

A C++ program may include the header inside a block for C.

  $ printf 'extern "C" {\n#include "skmt.h"\n}\nskmt_pair p = SKMT_INIT(skmt_pair);\n' > in.cc; $CXX -std=c++11 -Wall -Wextra -Werror -I"$TOP/include" -c in.cc
