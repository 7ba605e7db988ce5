# needs: model plain gcc
A datastore loses nothing that was stored if skmt knn is killed (kill -9) at any
of the calls that change the file. A library makes the process kill itself, or
sends it another signal, at call AT, after half of the bytes were written.

  $ cat > die.c <<'END'
  > #define _GNU_SOURCE
  > #include <dlfcn.h>
  > #include <signal.h>
  > #include <stdio.h>
  > #include <stdlib.h>
  > #include <string.h>
  > #include <unistd.h>
  > static int due(int fd)
  > {
  >     static int calls;
  >     const char *at = getenv("AT");
  >     char link[64], path[4096] = "";
  >     snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  >     if (!at || readlink(link, path, sizeof path - 1) < 0 || !strstr(path, ".knn")) return 0;
  >     return ++calls == atoi(at);
  > }
  > static void die(void)
  > {
  >     kill(getpid(), getenv("INT") ? SIGINT : SIGKILL);
  > }
  > ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
  > {
  >     ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  >     if (due(fd)) {
  >         if (!getenv("INT")) real(fd, p, n / 2, at);
  >         die();
  >     }
  >     return real(fd, p, n, at);
  > }
  > int fdatasync(int fd)
  > {
  >     int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  >     if (due(fd)) die();
  >     return real(fd);
  > }
  > END
  $ $CC -shared -fPIC die.c -o die.so -ldl
  $ echo 'skmt knn sample "$1" -n 4000 --json | sort -u' > all; echo 'skmt knn info "$1" | grep "^pairs" | tr -dc 0-9' > pairs
  $ echo 'at=$1; shift; (AT=$at LD_PRELOAD=$PWD/die.so "$@" > /dev/null 2>&1; exit $?) 2> /dev/null' > dying; chmod +x all pairs dying
  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" -q > /dev/null; skmt knn build --memory my.tm -o whole.knn -q > /dev/null

A build is continued by the same command, and the result is that of a build
that was not interrupted. Pairs that were there before it goes on are kept.

  $ cat > build.sh <<'END'
  > for at in 1 2 3 4 6 7 8 10 23 34; do
  >     rm -f k.knn
  >     ./dying $at skmt knn build --memory my.tm -o k.knn --block 30; [ $? = 137 ] || echo "$at: not killed"
  >     before=$(./pairs k.knn 2> /dev/null)
  >     ./dying $((at / 4 + 5)) skmt knn build --memory my.tm -o k.knn --block 30; [ $? = 137 ] || echo "$at: not killed again"
  >     [ "$(./pairs k.knn)" -ge "0$before" ] || echo "$at: pairs lost"
  >     skmt knn build --memory my.tm -o k.knn -q > /dev/null
  >     skmt knn check k.knn; ./all k.knn | cmp - <(./all whole.knn)
  > done
  > END
  $ bash build.sh | sort | uniq -c
       10 k.knn: no problems

Adding pairs: the file has the old pairs, and some or all of the new ones. The
same command adds the rest.

  $ cat > add.sh <<'END'
  > new="$TOP/tests/data/small/test.tsv"
  > for at in 1 2 3 4 5 6 7 9 14; do
  >     cp whole.knn a.knn
  >     ./dying $at skmt knn add a.knn "$new" --block 50; [ $? = 137 ] || echo "$at: not killed"
  >     n=$(./pairs a.knn); [ "$n" -ge 20 ] && [ "$n" -le 30 ] || echo "$at: $n pairs"
  >     skmt knn check a.knn
  >     skmt knn add a.knn "$new" -q > /dev/null; echo "$(./pairs a.knn) pairs"; skmt knn check a.knn
  > done
  > END
  $ bash add.sh | sort | uniq -c
        9 30 pairs
       18 a.knn: no problems

Deleting pairs: all are deleted, or none.

  $ for at in 1 2 3 4 5; do cp whole.knn d.knn; ./dying $at skmt knn delete d.knn --id 2 --id 5 --id 7; echo "$? $(./pairs d.knn)"; skmt knn check d.knn; done
  137 20
  d.knn: no problems
  137 20
  d.knn: no problems
  137 17
  d.knn: no problems
  137 17
  d.knn: no problems
  137 17
  d.knn: no problems

Smaller copies: no file appears under the name, and an old one stays.

  $ cat > copy.sh <<'END'
  > for what in 'reduce --dims 16' merge; do
  >     for at in 1 2 3 4 5; do
  >         rm -f *.tmp new.knn
  >         ./dying $at skmt knn $what whole.knn -o new.knn; echo "$? $(ls new.knn 2> /dev/null)"
  >         cp whole.knn new.knn; ./dying $at skmt knn $what whole.knn -o new.knn; cmp new.knn whole.knn
  >     done
  >     skmt knn $what whole.knn -o new.knn -q > /dev/null; skmt knn check new.knn
  > done
  > END
  $ bash copy.sh | sort | uniq -c; rm -f *.tmp
       10 137 
        2 new.knn: no problems

After Ctrl-C the pairs that were computed are stored.

  $ skmt tm create big.tm > /dev/null; cut -c 1-200 "$TOP/examples/jrc.tsv" | awk -F '\t' 'length($1) < 60 && $2 != ""' > short; for i in 1 2 3 4 5 6 7 8 9; do sed "s/^/$i /" short; done > big.tsv; skmt tm import big.tm big.tsv -f tsv -q > /dev/null
  $ INT=1 AT=4 LD_PRELOAD=$PWD/die.so skmt knn build --memory big.tm -o i.knn --block 100
  skmt: stopped; i.knn has * pairs so far, and the same command continues (glob)
  [130]
  $ skmt knn info i.knn | grep -c 'unfinished     1'; skmt knn check i.knn
  1
  i.knn: no problems
