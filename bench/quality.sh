#!/bin/bash
# quality.sh - BLEU and chrF of whole test sets, without and with a memory.
#
#     bench/quality.sh            needs the test sets in ../shared
#
# Translates the test sets of Koran, IT and law with their memories, simulates
# learning on EMEA, and translates newstest2014 with the memory of law, which is
# a different domain. Each set is translated by the model alone (plain) and with
# the presets sk1, sk2 and learned, as a user gets them. Prints a table in Markdown: BLEU
# / chrF2, and in brackets the number of lines that repeat words
# (tools/repeats.py).
#
# BUILD=dir   the build (build)         MODEL=file  models/de-en.skmt
# THREADS=N   2                         SETS=".."   koran it law emea news
# RUNS=".."   plain sk1 sk2 learned learned16 (the number of pairs; without
#             one, the default)         OPTIONS=".." for every translation
# PART=dev    the development sets of Koran, IT and law instead of the test sets
# OUT=dir     the folder of the outputs (BUILD/quality)
#
# An output that exists is not made again: choose another folder for other
# options, and remove the folder to start over.
set -eu -o pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
model=${MODEL:-models/de-en.skmt}
threads=${THREADS:-2}
sets=${SETS:-koran it law emea news}
runs=${RUNS:-plain sk1 sk2 learned learned16}
part=${PART:-test}
out=${OUT:-$build/quality}
mkdir -p "$out"

test_set() {    # set: its file of pairs
    case $1 in
    news) echo "$shared/corpora/news/newstest2014.tsv" ;;
    *) echo "$shared/corpora/$1/$part.tsv" ;;
    esac
}

memory() {      # set: its memory, made when it does not exist
    local name=${1/news/law}
    local from=$shared/corpora/$name/tm.tsv
    [ -e "$from" ] || from=$from.xz
    if [ ! -e "$out/$name.tm.done" ]; then
        rm -rf "$out/$name.tm"*
        "$build/skmt" tm create "$out/$name.tm" > /dev/null &&
            "$build/skmt" tm import --quiet "$out/$name.tm" "$from" \
                > /dev/null &&
            : > "$out/$name.tm.done" || return
    fi
    echo "$out/$name.tm"
}

# shellcheck disable=SC2086
translate() {   # set run: the output goes to $out/set.run
    local set=$1 run=$2 steer=
    case $run in
    plain) ;;
    learned?*) steer="--preset learned --matches ${run#learned}" ;;
    *) steer="--preset $run" ;;
    esac
    local common="--quiet --model $model --threads $threads ${OPTIONS:-}"
    if [ "$set" != emea ]; then
        [ "$run" = plain ] || steer="$steer --memory $(memory "$set")"
        "$build/skmt" translate $common $steer "$out/$set.de" -o "$out/part"
    elif [ "$run" = plain ]; then
        "$build/skmt" translate $common --split none "$out/$set.de" \
            -o "$out/part"
    else
        "$build/skmt" learn $common $steer -o "$out/part" \
            --simulate "$shared/corpora/emea/docs.tsv.xz" > "$out/$set.$run.txt"
    fi
    mv "$out/part" "$out/$set.$run"
}

prepare() {     # set
    if [ "$1" = emea ]; then
        xz -dc "$shared/corpora/emea/docs.tsv.xz" | cut -f 2 > "$out/emea.de"
        xz -dc "$shared/corpora/emea/docs.tsv.xz" | cut -f 3 > "$out/emea.en"
    else
        cut -f 1 "$(test_set "$1")" > "$out/$1.de"
        cut -f 2 "$(test_set "$1")" > "$out/$1.en"
    fi
}

score() {       # set run: "29.86 / 52.31 (3)"
    local repeats
    repeats=$(python3 tools/repeats.py --source "$out/$1.de" "$out/$1.$2" |
        cut -f 3)
    "$build/skmt" score --json --metrics bleu,chrf --ref "$out/$1.en" \
        "$out/$1.$2" |
        python3 -c 'import json, sys
bleu, chrf = (s["score"] for s in json.load(sys.stdin)["scores"])
print(f"{bleu:.2f} / {chrf:.2f} ({sys.argv[1]})")' "$repeats"
}

for set in $sets; do
    prepare "$set"
    for run in $runs; do
        [ -e "$out/$set.$run" ] || translate "$set" "$run"
        result=$(score "$set" "$run")
        echo "$(date +%T) $set $run: $result" >&2
    done
done

printf '|'; for set in '' $sets; do printf ' %s |' "$set"; done; echo
printf '|'; for set in '' $sets; do printf -- '---|'; done; echo
for run in $runs; do
    printf '| %s |' "$run"
    for set in $sets; do
        result=$(score "$set" "$run")
        printf ' %s |' "$result"
    done
    echo
done
