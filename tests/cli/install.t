# needs: model plain pkg-config
An installed copy finds its model, and a program finds the library. The prefix
is compiled in, so this is done with a copy of the build.

  $ mkdir build; cp -a "$BUILD"/{apps,src,libskmt.*,skmt,flags,prefix} build
  $ unset MAKEFLAGS MAKELEVEL; make -s -C "$TOP" BUILD="$PWD/build" CC="$CC" DESTDIR="$PWD/stage" PREFIX=/opt/skmt install 2>&1 | grep -v 'jobserver'
  [1]
  $ (cd stage && find . -type f -o -type l) | grep -v '/lib/skmt/skmt-faiss.so$' | sort
  ./opt/skmt/bin/skmt
  ./opt/skmt/include/skmt.h
  ./opt/skmt/include/skmt_tools.h
  ./opt/skmt/lib/libskmt.a
  ./opt/skmt/lib/libskmt.so
  ./opt/skmt/lib/libskmt.so.0
  ./opt/skmt/lib/libskmt.so.* (glob)
  ./opt/skmt/lib/pkgconfig/skmt.pc
  ./opt/skmt/share/man/man1/skmt.1
  ./opt/skmt/share/skmt/models/de-en.skmt

  $ echo 'Guten Morgen!' | env -u SKMT_MODEL stage/opt/skmt/bin/skmt translate
  Good morning!

  $ export PKG_CONFIG_PATH=$PWD/stage/opt/skmt/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/stage; $CC "$TOP/examples/translate.c" $(pkg-config --cflags --libs skmt) -o shared && $CC -static-pie "$TOP/examples/translate.c" $(pkg-config --static --cflags --libs skmt) -o static 2> warnings && ! grep -vi "dlopen\|getpwuid\|load_plugin" warnings && pkg-config --modversion skmt | sed "s/$VERSION/VERSION/"
  VERSION
  $ LD_LIBRARY_PATH=$PWD/stage/opt/skmt/lib ./shared "$SKMT_MODEL" 'Guten Morgen!'
  Good morning!
  $ ./static "$SKMT_MODEL" 'Guten Morgen!'
  Good morning!

  $ make -s -C "$TOP" BUILD="$BUILD" DESTDIR="$PWD/stage" PREFIX=/opt/skmt uninstall
  $ find stage -type f -o -type l
