#!/bin/bash
# large.sh - compare the speed of skmt and CTranslate2 with models of the sizes
# of other projects.
#
#     make bench ONLY=large
#
# bench/large_model writes the models with random weights, as folders of
# CTranslate2, and `skmt convert` makes our files of them. Both programs
# translate the same pieces into translations of the same length, with beam 4
# and one thread. Every run is a new process, and the runs of both alternate.
#
# tok/s is output pieces, without EOS, per second of CPU time: that of the best
# run and, in parentheses, of the median run. The ratio compares the best runs.
# "projection" is the share of the output projection in the time of skmt
# (bench/profile). "MiB" is the peak resident set. Every run is logged as JSON
# in BUILD/bench-large.jsonl.
#
# The library of CTranslate2 is that of ../shared/peers, in SKMT_PEERS (default
# ~/.cache/skmt-peers). If it is not there, ../shared/peers/install downloads it.
# Without it, skmt is measured alone.
#
#     SIZES="opus wmt19 nllb"     see bench/large_model.c
#     TYPES="int8"                or float32, or both
#     BATCHES="1 16"
#     ROUNDS=N                    runs of each program in each row (4)
#     TOKENS=N                    output pieces of each sentence (24)
#     LINES_MAX=N                 sentences (16)
#     PEERS=0                     do not measure CTranslate2
#
# The models need about 1 GB of disk (int8), or 4.5 GB more (float32), in
# BUILD/bench-work/large.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
peers=${SKMT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/skmt-peers}
ct2=$peers/ctranslate2
rounds=${ROUNDS:-4} tokens=${TOKENS:-24} lines=${LINES_MAX:-16}
work=$build/bench-work/large
log=$build/bench-large.jsonl
mkdir -p "$work"
: > "$log"

# ---- CTranslate2 -----------------------------------------------------------

# Print why CTranslate2 cannot be measured, or nothing.
find_peer() {
    [ "${PEERS:-1}" != 0 ] || { echo "PEERS is 0"; return; }
    [ "$(uname -m)" = x86_64 ] || { echo "its library is for x86_64"; return; }
    if [ ! -e "$ct2/.done" ] && [ -x "$shared/peers/install" ]; then
        "$shared/peers/install" "$peers" >&2 ||
            { echo "it cannot be downloaded"; return; }
    fi
    [ -e "$ct2/.done" ] || { echo "it is not installed"; return; }
    "${CXX:-g++}" -std=c++17 -O2 -isystem "$ct2/include" \
        -o "$work/ct2_speed" bench/ct2_speed.cc \
        "$ct2"/lib/libctranslate2*.so.* "$ct2"/lib/libgomp*.so.* -ldl \
        -pthread -Wl,--disable-new-dtags,-rpath,"$ct2/lib" >&2 ||
        echo "bench/ct2_speed.cc cannot be compiled"
}

# ---- one row ---------------------------------------------------------------

# Write a model and convert it, unless that is done.
model() {       # size type
    local dir=$work/$1-$2
    [ -e "$dir.skmt" ] && [ "$dir.skmt" -nt "$build/bench/large_model" ] &&
        [ "$dir.skmt" -nt "$build/skmt" ] && return
    rm -rf "$dir" "$dir.skmt"
    "$build/bench/large_model" models/de-en.skmt "$dir" "$1" "$2" >&2
    "$build/skmt" convert --quiet --from "$dir" \
        --type "$([ "$2" = int8 ] && echo int8 || echo f32)" \
        -o "$dir.skmt" >&2
}

# skmt counts EOS, which it adds at the end, as one of the output pieces.
ours() {        # size type batch
    "$build/bench/decode" "$work/$1-$2.skmt" "$work/text" --beam 4 \
        --batch "$3" --threads 1 --reps 1 --set max-len-a=0 \
        --set max-len-b=$((tokens + 1))
}

# For everything but matrix products CTranslate2 uses AVX2 unless it is forced
# to use AVX-512. Both are run in turn, and the best run counts.
theirs() {      # size type batch round
    local isa=
    [ $(($4 % 2)) = 1 ] || ! grep -q avx512vl /proc/cpuinfo || isa=AVX512
    CT2_FORCE_CPU_ISA=$isa "$work/ct2_speed" "$work/$1-$2" "$work/pieces" \
        "$2" 4 "$3" "$tokens"
}

# The share of the output projection in the time of skmt.
projection() {  # size type batch
    "$build/bench/profile" "$work/$1-$2.skmt" "$work/text" beam 4 batch "$3" \
        max-len-a 0 max-len-b $((tokens + 1)) |
        sed -n 's/^ *output projection.* \([0-9.]*\)%.*/\1/p'
}

cells='
    function value(key,   s) {
        if (!match($0, "\"" key "\":[^,}]*")) return ""
        s = substr($0, RSTART, RLENGTH)
        sub(/^[^:]*:/, "", s)
        return s
    }
    {
        side = /"engine":"skmt"/ ? 1 : 2
        i = n[side]++
        speed[side, i] = value("output_tokens") / value("cpu_seconds")
        count[side, value("output_tokens")] = 1
        if (value("max_rss_mb") > mb[side]) mb[side] = value("max_rss_mb")
    }
    function sort(side,   i, j, x) {
        for (i = 1; i < n[side]; i++)
            for (j = i; j && speed[side, j] > speed[side, j - 1]; j--) {
                x = speed[side, j]; speed[side, j] = speed[side, j - 1]
                speed[side, j - 1] = x
            }
    }
    function median(side,   k) {
        k = n[side]
        return (speed[side, int((k - 1) / 2)] + speed[side, int(k / 2)]) / 2
    }
    function put(side) {
        sort(side)
        printf " %.1f (%.1f) | %.0f |", speed[side, 0], median(side), mb[side]
    }
    END {
        put(1)
        printf " %.0f %% |", share
        if (n[2]) {
            put(2)
            printf " **%.2f** |", speed[1, 0] / speed[2, 0]
        }
        print ""
        for (k in count) {
            split(k, part, SUBSEP)
            if (part[2] != wanted) {
                print "large.sh: translations have " part[2] \
                      " pieces instead of " wanted > "/dev/stderr"
                exit 1
            }
        }
    }'

row() {         # size type batch
    local i
    : > "$work/row"
    for i in $(seq "$rounds"); do
        ours "$1" "$2" "$3" >> "$work/row"
        [ "$why" ] || theirs "$1" "$2" "$3" "$i" >> "$work/row"
    done
    sed "s/^{/{\"model\":\"$1\",/" "$work/row" >> "$log"
    printf '| %s | %s | %s |' "$1" "$2" "$3"
    awk -v share="$(projection "$1" "$2" "$3")" \
        -v wanted=$((tokens * lines)) "$cells" "$work/row"
}

# ---- the table -------------------------------------------------------------

why=$(find_peer)
rm -f "$work/pieces"
head -n "$lines" bench/sentences.de > "$work/text"
lines=$(wc -l < "$work/text")

echo "### Models of other projects"
echo
echo "$("$build/bench/decode" --cpu), $("$build/bench/decode" --isa); beam 4," \
     "one thread, $lines sentences, $tokens output pieces each; tok/s of CPU" \
     "time, best (median) of $rounds runs"
echo
[ ! "$why" ] || { echo "CTranslate2 is not measured: $why."; echo; }
printf '| model | type | batch | tok/s | MiB | projection |'
[ "$why" ] || printf ' CT2 tok/s | MiB | speed, ours / CT2 |'
printf '\n|---|---|---|---|---|---|'
[ "$why" ] || printf -- '---|---|---|'
echo
for type in ${TYPES:-int8}; do
    for size in ${SIZES:-opus wmt19 nllb}; do
        model "$size" "$type"
        [ -e "$work/pieces" ] ||
            "$build/bench/decode" "$work/$size-$type.skmt" "$work/text" \
                --pieces > "$work/pieces"
        for batch in ${BATCHES:-1 16}; do row "$size" "$type" "$batch"; done
    done
done
