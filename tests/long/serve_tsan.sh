#!/bin/bash
# serve_tsan.sh - test the server under load with ThreadSanitizer.
#
#     RUN_SECONDS=20 tests/long/serve_tsan.sh
#
# Builds skmt with -fsanitize=thread in build/tsan. 16 connections translate for
# RUN_SECONDS (20), while other clients store corrections, search, list, leave in
# the middle of an answer, and read the metrics; keys are read again meanwhile.
# Then the server gets SIGTERM. It fails if ThreadSanitizer reports anything. The
# model is a tiny one with random weights, so that there are many requests.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${RUN_SECONDS:-20}
unset BUILD MAKEFLAGS
skip() { echo "serve_tsan.sh: skipped: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
command -v curl > /dev/null || skip "no curl"
build=build/tsan
make -s -j"$(nproc)" BUILD=$build OPT=-O1 \
    SANFLAGS='-fsanitize=thread -fno-omit-frame-pointer' $build/skmt || exit 1
make -s build/bench/serve_load build/tools/tiny_model || exit 1

dir=$(mktemp -d) model=$dir/tiny.skmt server=
finish() { [ ! "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$dir"; }
trap finish EXIT
build/tools/tiny_model "$dir/tiny" || exit 1
sed -i 's/"xx"/"de"/; s/"yy"/"en"/' "$dir/tiny/config.json"
$build/skmt convert --quiet --from "$dir/tiny" --type f32 -o "$model" || exit 1
passed=0 failed=0
result() {
    if [ "$2" = 0 ]; then passed=$((passed + 1))
    else failed=$((failed + 1)); echo "FAIL serve_tsan.sh: $1"; tail -n 60 "$dir/log"; fi
}

# Starts the server with options, and sets port.
start() {
    : > "$dir/log"
    TSAN_OPTIONS="halt_on_error=0 exitcode=66" \
        $build/skmt serve --listen 127.0.0.1:0 --model "$model" --threads 2 \
        --beam 2 --max-len-b 16 --log-level warn "$@" 2> "$dir/log" &
    server=$!
    for _ in $(seq 1200); do
        port=$(sed -n 's|.*listening on http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$dir/log")
        [ ! "$port" ] || return 0
        sleep 0.1
    done
    cat "$dir/log"
    exit 1
}
ask() { curl --silent --max-time "${limit:-60}" "${header[@]}" "$@" > /dev/null; }
others() {
    local i=0 url=http://127.0.0.1:$port
    while :; do
        i=$((i + 1))
        ask -d source="Das ist Satz $i." -d corrected="This is sentence $i." "$url/v1/feedback"
        ask "$url/v1/search?q=Das+ist+ein+Satz"
        ask "$url/v1/memories" "$url/metrics" "$url/ready" "$url/v1/info"
        ask -d q="Das ist Satz $i." -d source=de -d target=en "$url/translate"
        limit=0.05 ask -d q="Dieser Satz Nummer $i wird nicht zu Ende gelesen." \
            -d source=auto -d target=en "$url/translate"
    done
}
round() {       # name, options
    local status workers=()
    header=("${header[@]}")
    start "${@:2}"
    for _ in 1 2 3; do others & workers+=($!); done
    build/bench/serve_load -c 16 -s "$seconds" ${key:+-k "$key"} "$port" bench/sentences.de &
    local load=$!
    while kill -0 $load 2>/dev/null; do kill -HUP "$server"; sleep 1; done
    wait $load
    result "$1: load" $?
    kill "$server"
    wait "$server"
    status=$?
    server=
    kill "${workers[@]}" 2>/dev/null
    wait "${workers[@]}" 2>/dev/null
    result "$1: exit status $status" $status
    ! grep -q 'WARNING: ThreadSanitizer' "$dir/log"
    result "$1: reports of ThreadSanitizer" $?
}

header=(--header 'X-Test: 1')
key=
round memory --memory "$dir/my.tm"
key=$($build/skmt serve --keys "$dir/keys" --new-key one 2> /dev/null)
header=(--header "X-Api-Key: $key")
round keys --keys "$dir/keys"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
