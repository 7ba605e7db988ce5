#!/bin/bash
# adapt_tsan.sh - test the background training of skmt learn --adapt with
# ThreadSanitizer.
#
#     tests/long/adapt_tsan.sh
#
# Builds skmt with -fsanitize=thread, in build/tsan. Corrections are stored while
# trainings run; then the input ends, or a signal comes, during a training. A
# test fails if ThreadSanitizer reports anything.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset BUILD MAKEFLAGS
[ -e models/de-en.skmt ] || { echo "0 passed, 0 failed, 1 skipped"; exit 0; }
make -s -j"$(nproc)" BUILD=build/tsan OPT=-O1 build/tsan/skmt \
    SANFLAGS='-fsanitize=thread -fno-omit-frame-pointer' || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skmt=$PWD/build/tsan/skmt
export SKMT_MODEL=$PWD/models/de-en.skmt
export TSAN_OPTIONS="halt_on_error=0 exitcode=66"
awk -F '\t' '!seen[$1]++ && length($1) < 120' examples/jrc.tsv |
    head -n 76 > "$work/pairs.tsv"
cd "$work" || exit 1
passed=0 failed=0

judge() {       # name, status, expected status
    if [ "$2" = "$3" ] && ! grep -q 'ThreadSanitizer' log; then
        printf '%-14s passed\n' "$1"
        passed=$((passed + 1))
    else
        echo "FAIL $1: status $2"
        tail -n 60 log
        failed=$((failed + 1))
    fi
}

options="learn -M my.tm --beam 1 --key-file my.keys --adapt \
    --settings my.settings --adapt-every 30"

: > log
# After the corrections, ask for translations until a training has ended.
# shellcheck disable=SC2086,SC2094
{
    cat pairs.tsv
    until grep -q 'trained with' log; do
        echo "Ja."
        sleep 0.5
    done
    cut -f 1 pairs.tsv
} | "$skmt" $options > out 2> log
judge "to the end" $? 0
# shellcheck disable=SC2086
sed 's/^/1 /; s/\t/\t1 /' pairs.tsv | "$skmt" $options > out 2> log
judge "end of input" $? 0
# The writing end of the pipe stays open, so that the input does not end.
mkfifo pipe
# shellcheck disable=SC2086
"$skmt" $options < pipe > out 2> log &
exec 3> pipe
sed 's/^/2 /; s/\t/\t2 /' pairs.tsv >&3
until [ "$(wc -l < out)" -ge 76 ] || ! kill -0 $!; do sleep 0.2; done
kill -TERM $!
wait $!
judge "a signal" $? 143
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
