#!/bin/bash
# deb.sh - install the Debian package in a bare Debian 12, translate, and remove
# it again. Needs root, debootstrap and the Debian archive.
set -u
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "deb.sh: skipped: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can make a root folder"
scripts/deps build deb || skip "debootstrap cannot be installed"
passed=0 failed=0
check() {
    if "${@:2}"; then passed=$((passed + 1))
    else failed=$((failed + 1)); echo "FAIL deb.sh: $1"; fi
}

bare=$(mktemp -d) log=build/deb.log
trap 'rm -rf "$bare"' EXIT
make -s -j"$(nproc)" deb > "$log" 2>&1 || { cat "$log"; echo "FAIL make deb"; }
package=$(tail -n 1 "$log")
debootstrap --variant=minbase bookworm "$bare" > "$log" 2>&1 ||
    skip "debootstrap failed, see $log"
cp "$package" "$bare/skmt.deb"
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
files() { (cd "$bare" && find . \( -name '*skmt*' \) -not -path './proc/*' \
    -not -path './var/*' | sort); }

rm "$bare/skmt.deb"; before=$(files); cp "$package" "$bare/skmt.deb"
inside apt-get update > "$log" 2>&1
check "install" inside apt-get install -y --no-install-recommends /skmt.deb \
    >> "$log" 2>&1
check "translate" [ "$(echo 'Guten Morgen!' | inside skmt translate)" = \
    "Good morning!" ]
inside sh -c 'skmt tm create /tmp/x.tm && skmt tm add /tmp/x.tm "Guten Morgen!" "Hello!"' > /dev/null 2>&1
check "translate with a memory" \
    [ "$(echo 'Guten Morgen!' | inside skmt translate -M /tmp/x.tm)" = "Hello!" ]
check "the man page is there" [ -e "$bare/usr/share/man/man1/skmt.1.gz" ]
check "dpkg finds no changed file" inside dpkg --verify skmt
check "remove" inside apt-get purge -y skmt >> "$log" 2>&1
rm -f "$bare/skmt.deb" "$bare"/tmp/x.tm*
check "nothing is left" [ "$(files)" = "$before" ]
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
