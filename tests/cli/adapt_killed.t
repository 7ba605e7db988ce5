# needs: model plain gcc
skmt learn --adapt replaces the settings file as a whole: it has the old or the
new network if the process is killed before or after any of the calls that write
the file.

  $ awk -F '\t' '!seen[$1]++ && length($1) < 120' "$TOP/examples/jrc.tsv" | head -n 32 > a.tsv; cut -f 1 a.tsv > a.de; cut -f 2 a.tsv > a.en; head -n 3 a.de > few
  $ cat > die.c <<'END'
  > #define _GNU_SOURCE
  > #include <dlfcn.h>
  > #include <errno.h>
  > #include <signal.h>
  > #include <stdio.h>
  > #include <stdlib.h>
  > #include <string.h>
  > #include <unistd.h>
  > /* End the process, or fail, at the call that AT names. */
  > static int fails(const char *call, const char *path)
  > {
  >     const char *at = getenv("AT");
  >     if (!at || !strstr(path, "die.settings") || strcmp(at, call)) return 0;
  >     if (!getenv("FAIL")) kill(getpid(), SIGKILL);
  >     errno = ENOSPC;
  >     return 1;
  > }
  > int rename(const char *from, const char *to)
  > {
  >     int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  >     int rc = fails("before rename", to) ? -1 : real(from, to);
  >     if (fails("after rename", to)) rc = -1;
  >     return rc;
  > }
  > int fsync(int fd)
  > {
  >     int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  >     char link[64], path[4096] = "";
  >     snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  >     if (readlink(link, path, sizeof path - 1) < 0) return -1;
  >     if (fails("before fsync", path)) return -1;
  >     int rc = real(fd);
  >     return fails("after fsync", path) ? -1 : rc;
  > }
  > END
  $ $CC -shared -fPIC die.c -o die.so -ldl; cat > die.sh <<'END'
  > rm -rf die.tm* die.settings*; printf '# mine\nbeam = 1\n' > old.settings; cp old.settings die.settings
  > LD_PRELOAD=$PWD/die.so skmt learn -M die.tm a.de -c a.en --adapt --adapt-every 30 --settings die.settings --beam 1 > die.out
  > echo "status $?"; cmp -s die.settings old.settings && echo old
  > skmt translate -M die.tm --settings die.settings --beam 1 few > log
  > END
  $ for at in 'before fsync' 'after fsync' 'before rename' 'after rename'; do AT=$at bash die.sh 2> log; done
  status 137
  old
  status 137
  old
  status 137
  old
  status 137

If the file cannot be written, the present network is kept, and the lines are
translated without the new one.

  $ for at in 'before fsync' 'before rename'; do FAIL=1 AT=$at bash die.sh; ls | grep -c 'die[.]settings[.]'; cmp die.out <(rm -rf c.tm*; skmt learn -M c.tm a.de -c a.en --beam 1); done
  skmt: training failed, so nothing was changed in die.settings: die.settings: No space left on device
  status 0
  old
  0
  skmt: training failed, so nothing was changed in die.settings: die.settings: No space left on device
  status 0
  old
  0
