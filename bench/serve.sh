#!/bin/bash
# serve.sh - measure the server under load, and compare its CPU time with that
# of "skmt translate".
#
#     make bench ONLY=serve
#     SECONDS_OF_LOAD=N   (60)
#     CONNECTIONS=N       (64)
#     TEXT=FILE           the lines (see below)
#     THREADS=N           of the server and of skmt translate (2)
#
# 64 connections translate lines, each in a request of its own. Every answer is
# compared with the output of "skmt translate". The same lines in the same order
# are then translated with "skmt translate --batch 16". Last, a server with a
# small queue gets the same load, and must answer with status 429, and nothing
# else but 200. It fails if an answer is wrong, if the server needs more than
# CPU / 0.8, or if its memory grows by more than 5 % after 10 seconds, or, with
# TEXT, after there were as many answers as lines.
#
# The lines are those of bench/sentences.de, each with a number in it, because
# lines that are equal would be translated once for all who wait for them.
# TEXT=FILE takes other lines. The library touches the memory of its buffers when
# long sentences first need it: with lines of very different length, memory grows
# until the longest ones have come together. So it is judged after each line was
# translated once, which takes longer than 10 seconds on a slow machine.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
seconds=${SECONDS_OF_LOAD:-60} connections=${CONNECTIONS:-64}
threads=${THREADS:-2}
skmt=$build/skmt load=$build/bench/serve_load
model=${MODEL:-models/de-en.skmt}
make -s BUILD="$build" "$skmt" "$load"
work=$(mktemp -d) server=
finish() { [ ! "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; }
trap finish EXIT

if [ "${TEXT:-}" ]; then
    cp "$TEXT" "$work/lines"
else
    for i in $(seq 50); do
        sed "s/\\([.!?]\\)\$/ ($i)\\1/" bench/sentences.de
    done > "$work/lines"
fi

start() {       # options
    : > "$work/log"
    began=$(date +%s%N)
    "$skmt" serve --listen 127.0.0.1:0 --model "$model" --threads "$threads" \
        --log-level warn "$@" 2> "$work/log" &
    server=$!
    for _ in $(seq 1000); do
        port=$(sed -n 's|.*listening on http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$work/log")
        if [ "$port" ]; then
            echo "ready after $((($(date +%s%N) - began) / 1000000)) ms"
            return
        fi
        sleep 0.01
    done
    cat "$work/log" >&2
    exit 1
}
stop() { kill "$server"; wait "$server" || true; server=; cat "$work/log"; }
value() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$work/$2"; }
# Print the CPU seconds of skmt translate for a file of lines.
cpu_of_translate() {
    TIMEFORMAT='%U %S'
    { time "$skmt" translate --quiet --model "$model" --threads "$threads" \
        --batch 16 "$1" > "$work/output" 2> "$work/output.err"; } 2>&1 |
        awk '{ print $1 + $2 }'
}

"$skmt" translate --quiet --model "$model" --threads "$threads" "$work/lines" \
    > "$work/wanted"
start
"$load" -c "$connections" -s "$seconds" -p "$server" -e "$work/wanted" \
    -o "$work/done" -m "$work/memory" "$port" "$work/lines" | tee "$work/result" || failed=1
stop
: > "$work/nothing"
loading=$(cpu_of_translate "$work/nothing")
translate=$(cpu_of_translate "$work/done")
awk -v server="$(value cpu_seconds result)" -v translate="$translate" \
    -v loading="$loading" -v ok="$(value ok result)" \
    -v ten="$(value kib_10s result)" -v end="$(value kib_end result)" \
    -v round="$(value kib_round result)" -v text="${TEXT:-}" 'BEGIN {
    ratio = (translate - loading) / server
    growth = ten > 0 ? 100 * (end - ten) / ten : 0
    later = round > 0 ? 100 * (end - round) / round : 0
    printf "server: %.1f lines per CPU second\n", ok / server
    printf "translate --batch 16: %.1f lines per CPU second\n",
           ok / (translate - loading)
    printf "server / translate: %.2f (wanted: 0.80)\n", ratio
    printf "memory: %.1f MiB, %.1f MiB after 10 s: %+.1f %% (wanted: 5)\n",
           end / 1024, ten / 1024, growth
    if (round > 0)
        printf "        %.1f MiB when every line was translated: %+.1f %%\n",
               round / 1024, later
    exit ratio < 0.8 || (text ? later : growth) > 5 }' || failed=1
cat "$work/memory"

echo "a queue of 4096 bytes:"
start --max-queue 4096
"$load" -c "$connections" -s 5 -p "$server" -e "$work/wanted" "$port" \
    "$work/lines" | tee "$work/limited" || failed=1
stop
[ "$(value busy limited)" -gt 0 ] || { echo "no request got status 429"; failed=1; }
[ ! "${failed:-}" ]
