#!/bin/bash
# trust.sh - what learned trust is worth: train one network on lines of the dev
# sets of IT, law and Koran, with their memories together, and compare it with
# SK-MT2.
#
#     bench/trust.sh              dev lines that were not trained on (minutes)
#     PART=test bench/trust.sh    whole test sets and EMEA (an hour and more)
#
# Training uses every second dev line of IT and every sixth of law and Koran (no
# test lines). PART=dev scores 334 other lines of each dev set.
#
# OUT=dir    where the network, memories and translations go (build/trust)
# MODEL=file models/de-en.skmt    THREADS=N  2    SKMT=file  build/skmt
set -eu
cd "$(dirname "$0")/.."
shared=${SKMT_SHARED:-../shared} skmt=${SKMT:-build/skmt}
model=${MODEL:-models/de-en.skmt} out=${OUT:-build/trust} part=${PART:-dev}
[ -e "$shared/corpora/it/dev.tsv" ] ||
    { echo "skip trust.sh: the sets are not in $shared"; exit 0; }
mkdir -p "$out"
sets="it koran law"

import() {      # memory file, name in it, set
    local from=$shared/corpora/$3/tm.tsv
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

if [ ! -e "$out/network.settings" ]; then
    awk 'NR % 2 == 0' "$shared/corpora/it/dev.tsv" > "$out/train.tsv"
    for s in law koran; do
        awk 'NR % 6 == 3' "$shared/corpora/$s/dev.tsv" >> "$out/train.tsv"
    done
    "$skmt" tune --learn --anew --quiet --limit 0 --dev "$out/train.tsv" \
        -M "$out/all.tm" -m "$model" -o "$out/network.settings"
fi

run() {         # set, name, options ..
    local s=$1 name=$2
    shift 2
    "$skmt" translate --quiet --model "$model" --threads "${THREADS:-2}" \
        -M "$out/$s.tm" --key-file "$out/$s.keys" "$@" "$out/$s.$part.de" \
        > "$out/$s.$part.$name"
}

step=1
[ "$part" = test ] || step=6
for s in $sets; do
    awk -v n=$step 'NR % n == 1 || n == 1' "$shared/corpora/$s/$part.tsv" \
        > "$out/$s.$part.tsv"
    cut -f 1 "$out/$s.$part.tsv" > "$out/$s.$part.de"
    cut -f 2 "$out/$s.$part.tsv" > "$out/$s.$part.en"
    run $s sk2 --preset sk2
    run $s learned --settings "$out/network.settings"
    echo
    "$skmt" score --ref "$out/$s.$part.en" --metrics bleu,chrf \
        "$out/$s.$part.sk2" "$out/$s.$part.learned" | grep "$part"
    for name in sk2 learned; do
        echo "$s $name: $(python3 tools/repeats.py --source \
            "$out/$s.$part.de" "$out/$s.$part.$name" | tail -n 1)"
    done
done
[ "$part" = test ] || exit 0
for name in sk2 learned; do
    options="--preset sk2"
    [ $name = sk2 ] || options="--settings $out/network.settings"
    echo
    echo "EMEA $name"
    # shellcheck disable=SC2086
    "$skmt" learn --quiet --model "$model" --threads "${THREADS:-2}" $options \
        -o "$out/emea.$name" --simulate "$shared/corpora/emea/docs.tsv.xz"
done
