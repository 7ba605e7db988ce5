#!/bin/bash
# trust.sh - trains the default network of learned trust and measures what it is
# worth. Needs the sets in ../shared.
#
#     PART=network bench/trust.sh    train the network (10 minutes); models/
#                                    de-en.trust is the network that it writes
#     PART=dev     bench/trust.sh    dev lines that were not trained on
#     PART=test    bench/trust.sh    whole test sets and EMEA (an hour)
#     PART=own     bench/trust.sh    networks that go on from the default, each
#                                    trained on one memory
#     PART=curve   bench/trust.sh    the same by the number of pairs left out
#     PART=drop    bench/trust.sh    networks without each feature, trained on a
#                                    third of the lines
#     PART=pairs   bench/trust.sh    pairs x neighbors: BLEU and time
#     PART=speed   bench/trust.sh    processor time of the command, cold and with
#                                    a key file, ROUNDS interleaved rounds (5)
#     PART=cold    bench/trust.sh    the same without a key file, with the batch
#                                    that is the default
#
# Training uses every second dev line of IT and every sixth of law and Koran, and
# pairs of the memories that have similar pairs; no test lines. The parts score
# other dev lines: 500 of IT, 667 of law and of Koran.
#
# OUT=dir    where the network, memories and translations go (build/trust)
# MODEL=file models/de-en.skmt    THREADS=N  2    SKMT=file  build/skmt
# NETWORK=settings file           OUT/network.settings; "" for the model's own
# CURVE="20 50"                   rows of PART=curve
# MATCHES="2 3" NEIGHBORS="4 8"   rows of PART=pairs
set -eu
cd "$(dirname "$0")/.."
shared=${SKMT_SHARED:-../shared} skmt=${SKMT:-build/skmt}
model=${MODEL:-models/de-en.skmt} out=${OUT:-build/trust} part=${PART:-dev}
threads=${THREADS:-2} network=${NETWORK-$out/network.settings}
corpora=$shared/corpora sets="it koran law"
[ -e "$corpora/it/dev.tsv" ] ||
    { echo "skip trust.sh: the sets are not in $shared"; exit 0; }
mkdir -p "$out"

import() {      # memory file, name in it, set
    local from=$corpora/$3/tm.tsv
    [ -e "$from" ] || from=$from.xz
    "$skmt" tm create "$1" --name "$2" > "$out/import.log"
    "$skmt" tm import --quiet "$1" --name "$2" "$from" >> "$out/import.log"
}

if [ ! -e "$out/memories" ]; then
    rm -rf "$out"/*.tm*
    for s in $sets; do
        import "$out/$s.tm" main $s
        import "$out/all.tm" $s $s
    done
    touch "$out/memories"
fi

training_lines() {
    awk 'NR % 2 == 0' "$corpora/it/dev.tsv"
    for s in law koran; do awk 'NR % 6 == 3' "$corpora/$s/dev.tsv"; done
    tools/training_lines.py "$skmt" "$model" "$out/all.tm" 11 \
        "$corpora/it/tm.tsv:6000" "$corpora/law/tm.tsv:2500" \
        "$corpora/koran/tm.tsv:800"
}

train() {       # settings file, options ..
    local to=$1
    shift
    "$skmt" tune --learn --quiet --limit 0 -m "$model" -o "$to" "$@"
}

make_lines() {
    [ -e "$out/train.tsv" ] || training_lines > "$out/train.part"
    [ -e "$out/train.tsv" ] || mv "$out/train.part" "$out/train.tsv"
}

all_lines() {   # options ..: train on the lines of the default network
    make_lines
    train "$@" --anew --dev "$out/train.tsv" -M "$out/all.tm"
}

[ "$part" != network ] || rm -f "$network"
if [ -n "$network" ] && [ ! -e "$network" ]; then all_lines "$network"; fi
use=${network:+--settings $network}

dev_lines() {   # set: those that were not trained on
    if [ "$1" = it ]; then awk 'NR % 4 == 1' "$corpora/it/dev.tsv"
    else awk 'NR % 6 == 1 || NR % 6 == 5' "$corpora/$1/dev.tsv"; fi
}

prepare() {     # the lines to translate
    for s in $sets; do
        if [ "$1" = test ]; then cat "$corpora/$s/test.tsv"
        else dev_lines $s; fi > "$out/$s.$1.tsv"
        cut -f 1 "$out/$s.$1.tsv" > "$out/$s.$1.de"
        cut -f 2 "$out/$s.$1.tsv" > "$out/$s.$1.en"
    done
}

translate() {   # set, part, name, options ..
    local s=$1 p=$2 name=$3
    shift 3
    "$skmt" translate --quiet --model "$model" --threads "$threads" \
        -M "$out/$s.tm" --key-file "$out/$s.keys" "$@" "$out/$s.$p.de" \
        > "$out/$s.$p.$name"
}

bleu() {        # set, part, name: BLEU and chrF2
    "$skmt" score --json --metrics bleu,chrf --ref "$out/$1.$2.en" \
        "$out/$1.$2.$3" | python3 -c 'import json, sys
print(*("%.2f" % s["score"] for s in json.load(sys.stdin)["scores"]))'
}

scores() {      # name: a row with the scores of the sets and their mean
    local s
    for s in $sets; do bleu $s dev "$1"; done | awk -v name="$1" '
        BEGIN { printf "| %s", name }
        { printf " | %s / %s", $1, $2; b += $1; c += $2 }
        END { printf " | %.2f / %.2f |\n", b / NR, c / NR }'
}

row() {         # name, options ..: BLEU / chrF2 of the dev lines
    local name=$1 s
    shift
    for s in $sets; do translate $s dev "$name" "$@"; done
    scores "$name"
}

header() {
    echo "| | IT | Koran | law | mean |"
    echo "|---|---|---|---|---|"
}

compare() {     # part: scores, significance and repeated words
    for s in $sets; do
        translate $s "$1" sk2 --preset sk2
        # shellcheck disable=SC2086
        translate $s "$1" learned $use --preset learned
        # shellcheck disable=SC2086
        translate $s "$1" learned16 $use --preset learned --matches 16
        echo
        "$skmt" score --ref "$out/$s.$1.en" --metrics bleu,chrf \
            "$out/$s.$1.sk2" "$out/$s.$1.learned" "$out/$s.$1.learned16" |
            grep "$1"
        for name in sk2 learned learned16; do
            python3 tools/repeats.py --source "$out/$s.$1.de" \
                "$out/$s.$1.$name" | tail -n 1
        done
    done
}

emea() {
    xz -dc "$corpora/emea/docs.tsv.xz" | cut -f 2 > "$out/emea.de"
    xz -dc "$corpora/emea/docs.tsv.xz" | cut -f 3 > "$out/emea.en"
    for name in sk2 learned learned16; do
        local options="--preset sk2"
        [ $name = sk2 ] || options="$use --preset learned"
        [ $name != learned16 ] || options="$options --matches 16"
        # shellcheck disable=SC2086
        "$skmt" learn --quiet --model "$model" --threads "$threads" $options \
            -o "$out/emea.$name" --simulate "$corpora/emea/docs.tsv.xz" \
            > "$out/emea.$name.txt"
        python3 tools/repeats.py --source "$out/emea.de" "$out/emea.$name" |
            tail -n 1
    done
    "$skmt" score --ref "$out/emea.en" --metrics bleu,chrf "$out/emea.sk2" \
        "$out/emea.learned" "$out/emea.learned16" | grep emea
}

own() {         # name, number of pairs: a network for each memory
    local s
    for s in $sets; do
        [ -e "$out/own.$s.$2" ] ||
            train "$out/own.$s.$2" --limit "$2" -M "$out/$s.tm" \
                > "$out/own.$s.$2.txt"
        translate $s dev "$1" --settings "$out/own.$s.$2" --matches 16
    done
    scores "$1"
}

user_time() {   # the command: its processor time in seconds
    ( TIMEFORMAT=%U; time "$@" > /dev/null 2>&1 ) 2>&1
}

pairs_row() {   # pairs, neighbors: BLEU; time on 120 lines of IT and law
    local o="$use --preset learned --matches $1 --k $2" s cold warm plain line
    # shellcheck disable=SC2086
    line=$(row "$1 pairs, $2 neighbors" $o)
    for s in it law; do
        head -n 120 "$out/$s.dev.de" > "$out/$s.120"
        plain=$(user_time "$skmt" translate --quiet --threads 1 -m "$model" \
            "$out/$s.120")
        # shellcheck disable=SC2086
        cold=$(user_time "$skmt" translate --quiet --threads 1 -m "$model" \
            -M "$out/$s.tm" $o "$out/$s.120")
        # shellcheck disable=SC2086
        warm=$(user_time "$skmt" translate --quiet --threads 1 -m "$model" \
            -M "$out/$s.tm" $o --key-file "$out/$s.keys" "$out/$s.120")
        line="$line $(echo "$plain $cold $warm" |
            awk '{ printf "%.2fx, %.2fx |", $1 / $2, $1 / $3 }')"
    done
    echo "$line"
}

timed() {       # set, name, options ..: adds a line "set name seconds"
    local s=$1 name=$2
    shift 2
    # shellcheck disable=SC2086
    echo "$s $name $(user_time "$skmt" translate --quiet --threads 1 $batch \
        -m "$model" "$@" "$out/$s.120")" >> "$out/times"
}

# shellcheck disable=SC2086
speed() {       # 120 lines of IT and law, one thread, batch 1
    local s i learned="$use --preset learned" batch="--batch 1"
    : > "$out/times"
    for i in $(seq 0 "${ROUNDS:-5}"); do
        for s in it law; do
            head -n 120 "$out/$s.dev.de" > "$out/$s.120"
            local keys="-M $out/$s.tm --key-file $out/$s.keys"
            timed $s plain
            timed $s sk2-warm $keys --preset sk2
            timed $s learned16-warm $keys $learned --matches 16
            timed $s learned-warm $keys $learned
            timed $s sk2-cold -M "$out/$s.tm" --preset sk2
            timed $s learned16-cold -M "$out/$s.tm" $learned --matches 16
            timed $s learned-cold -M "$out/$s.tm" $learned
        done
        [ "$i" != 0 ] || : > "$out/times"       # the first round fills caches
    done
    print_times
}

# shellcheck disable=SC2086
cold() {        # the first run, with the usual batch
    local s i learned="$use --preset learned" batch=
    : > "$out/times"
    for i in $(seq 0 "${ROUNDS:-5}"); do
        for s in it law; do
            head -n 120 "$out/$s.dev.de" > "$out/$s.120"
            timed $s plain
            timed $s sk2 -M "$out/$s.tm" --preset sk2
            timed $s learned -M "$out/$s.tm" $learned
            timed $s learned4 -M "$out/$s.tm" $learned --matches 4
            timed $s learned3 -M "$out/$s.tm" $learned --matches 3
            timed $s learned4-2.5 -M "$out/$s.tm" $learned --matches 4 --prune 2.5
        done
        [ "$i" != 0 ] || : > "$out/times"       # the first round fills caches
    done
    print_times
}

print_times() { # medians, relative to the model alone
    python3 - "$out/times" <<'END'
import statistics
import sys
times = {}
for line in open(sys.argv[1]):
    name, run, seconds = line.split()
    times.setdefault((name, run), []).append(float(seconds))
for (name, run), t in times.items():
    plain = statistics.median(times[name, "plain"])
    print("%-4s %-15s %6.2f s  %.2fx" % (name, run, statistics.median(t),
                                         plain / statistics.median(t)))
END
}

case $part in
network) ;;
speed) prepare dev; speed ;;
cold) prepare dev; cold ;;
dev) prepare dev; compare dev ;;
test) prepare test; compare test; emea ;;
own)
    prepare dev; header
    # shellcheck disable=SC2086
    row "default" $use --preset learned --matches 16
    own "of the memory" 300 ;;
curve)
    prepare dev; header
    for n in ${CURVE:-20 50 100 200 500}; do own "$n pairs" $n; done ;;
drop)
    make_lines
    awk 'NR % 3 == 0' "$out/train.tsv" > "$out/third.tsv"
    train "$out/drop.settings" --anew --ablation --dev "$out/third.tsv" \
        -M "$out/all.tm" ;;
pairs)
    prepare dev
    echo "| | IT | Koran | law | mean | IT cold, warm | law cold, warm |"
    echo "|---|---|---|---|---|---|---|"
    for m in ${MATCHES:-2 3 4 8 16}; do for k in ${NEIGHBORS:-2 4 8}; do pairs_row $m $k; done; done ;;
*) echo "trust.sh: PART is network, dev, test, own, curve, drop, pairs, \
speed or cold" >&2
   exit 2 ;;
esac
