#!/bin/bash
# deb.sh - install the Debian package in a bare Debian 12, translate, run the
# server as its service does, and remove the package again. Needs root,
# debootstrap and the Debian archive. There is no systemd that could start the
# service; its command is started as a user without rights. systemd-analyze
# checks the unit.
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

bare=$(mktemp -d) log=build/deb.log server=
finish() { [ ! "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$bare"; }
trap finish EXIT
chmod 755 "$bare"
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

check "the settings are a conffile" grep -q '/etc/skmt/serve.conf' \
    "$bare/var/lib/dpkg/info/skmt.conffiles"
check "the service is enabled" \
    [ -h "$bare/etc/systemd/system/multi-user.target.wants/skmt.service" ]
unit=$bare/lib/systemd/system/skmt.service
read -ra command <<< "$(sed -n 's/^ExecStart=//p' "$unit")"
mkdir -p "$bare/var/lib/skmt" && chown 65534:65534 "$bare/var/lib/skmt"
# Port 8080 may be in use on this machine, which shares its network.
: > "$bare/serve.log"
chroot --userspec=65534:65534 "$bare" env -i PATH=/usr/bin:/bin \
    SKMT_SERVE_LISTEN=127.0.0.1:0 "${command[@]}" 2> "$bare/serve.log" &
server=$!
for _ in $(seq 100); do
    url=$(sed -n 's|^skmt: listening on \(.*\)/$|\1|p' "$bare/serve.log")
    [ ! "$url" ] || break
    sleep 0.1
done
ask() { curl --silent --max-time 60 "$@"; }
check "the server is ready" [ "$(ask -o /dev/null -w '%{http_code}' "$url/ready")" = 200 ]
check "translate over HTTP" \
    [ "$(ask -d q='Guten Morgen!' -d source=de -d target=en "$url/translate")" = \
    '{"translatedText":"Good morning!"}' ]
ask -d source='Guten Morgen!' -d corrected='Hello!' "$url/v1/feedback" > /dev/null
check "a correction changes the next translation" \
    [ "$(ask -d q='Guten Morgen!' -d source=de -d target=en "$url/translate")" = \
    '{"translatedText":"Hello!"}' ]
check "the page is served" [ "$(ask -o /dev/null -w '%{http_code}' "$url/")" = 200 ]
[ "$url" ] || cat "$bare/serve.log"
kill "$server"
wait "$server"
check "the server ends with status 0" [ $? = 0 ]
server=
check "the memory is in the state folder" [ -s "$bare/var/lib/skmt/memory.tm" ]
if inside apt-get install -y --no-install-recommends systemd >> "$log" 2>&1; then
    check "systemd accepts the unit" [ ! "$(inside systemd-analyze verify \
        --man=no --recursive-errors=no /lib/systemd/system/skmt.service 2>&1 | tee -a "$log")" ]
    inside systemd-analyze security --offline=true skmt.service >> "$log" 2>&1
    tail -n 1 "$log"
fi
check "remove" inside apt-get purge -y skmt >> "$log" 2>&1
check "the memory is kept" [ -s "$bare/var/lib/skmt/memory.tm" ]
rm -f "$bare/skmt.deb" "$bare"/tmp/x.tm*
check "nothing is left" [ "$(files)" = "$before" ]
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
