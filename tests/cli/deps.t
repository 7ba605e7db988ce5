scripts/deps waits while another process uses apt. The apt-get of this test is a
script that counts its calls and finds the lock held as often as the file "held"
says.

  $ mkdir bin; printf '#!/bin/sh\necho 0\n' > bin/id; printf '#!/bin/sh\necho not-installed\n' > bin/dpkg-query
  $ cat > bin/apt-get <<'EOF'
  > #!/bin/sh
  > for word in "$@"; do case $word in update|install) what=$word;; esac; done
  > echo "$what" >> calls
  > n=$(cat held); [ "$n" = 0 ] || {
  >     echo $((n - 1)) > held
  >     echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)" >&2
  >     exit 100
  > }
  > [ ! -e broken ] || { echo "E: Unable to locate package gcc" >&2; exit 100; }
  > echo "Setting up gcc"
  > EOF
  $ chmod +x bin/*; echo 2 > held; export PATH=$PWD/bin:$PATH
  > DEPS_PAUSE=1 timeout 60 "$TOP/scripts/deps" build 2>&1 | grep -v '^deps: installing'; paste -sd ' ' calls
  deps: another process uses apt; waiting up to 600 seconds for it
  Setting up gcc
  install install install

It gives up with a message if the lock is held too long.

  $ export PATH=$PWD/bin:$PATH; rm calls; echo 99 > held
  > DEPS_PAUSE=1 DEPS_WAIT=2 timeout 60 "$TOP/scripts/deps" build 2>&1 | grep -v '^deps: installing'; paste -sd ' ' calls
  deps: another process uses apt; waiting up to 2 seconds for it
  deps: another process still uses apt after 2 seconds; try again later:
  E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)
  install install install

It does not wait after other failures: the package lists are updated once, then
it ends.

  $ export PATH=$PWD/bin:$PATH; rm calls; echo 0 > held; touch broken
  > timeout 60 "$TOP/scripts/deps" build 2>&1 | grep -v '^deps: installing'; paste -sd ' ' calls
  E: Unable to locate package gcc
  deps: apt-get update failed
  install update
