#!/bin/bash
# small_memory.sh - what a memory of 20 pairs is worth: the systems translate the
# ten sentences of tests/data/small, and phrases are looked for.
#
#     bench/small_memory.sh                      plain, sk1 and sk2
#     NETWORK=my.settings bench/small_memory.sh  also learned, with the network of
#                                                this settings file
#
# Without NETWORK, learned is run if the model has a network of its own.
#
# test.tsv has four columns: the source, a reference, the phrases that must be in
# the translation, and the phrases that must not be in it, because they would be
# copied from a stored pair. Phrases are separated by "; ". In the third column,
# "a|b" means one of a and b. Case and punctuation are ignored, and words are
# compared as a whole. A translation is right if all this holds.
#
# MODEL=file models/de-en.skmt    SKMT=file  build/skmt
set -eu
network=${NETWORK:+$(realpath "$NETWORK")}
cd "$(dirname "$0")/.."
skmt=${SKMT:-build/skmt} model=${MODEL:-models/de-en.skmt}
data=tests/data/small
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$skmt" tm create "$work/small.tm" > "$work/log"
"$skmt" tm import --quiet "$work/small.tm" "$data/memory.tsv" >> "$work/log"
cut -f 1 "$data/test.tsv" > "$work/source"

has_network() {
    "$skmt" translate -m "$model" -M "$work/small.tm" --preset learned \
        "$work/source" > "$work/log" 2>&1
}

# Print each translation with what is missing or forbidden, and the counts.
judge() {       # system; translations on standard input
    paste "$data/test.tsv" - | awk -F '\t' -v name="$1" '
        function words(s) {
            s = " " tolower(s) " "
            gsub(/[^a-z0-9]+/, " ", s)
            return s
        }
        function has(text, phrase) {
            return index(text, words(phrase)) > 0
        }
        function has_one(text, choices,    n, i, one) {
            n = split(choices, one, "|")
            for (i = 1; i <= n; i++) if (has(text, one[i])) return 1
            return 0
        }
        BEGIN { print "== " name }
        {
            text = words($5)
            missing = forbidden = ""
            n = split($3, must, "; ")
            for (i = 1; i <= n; i++)
                if (!has_one(text, must[i]))
                    missing = missing ", no \"" must[i] "\""
            n = split($4, never, "; ")
            for (i = 1; i <= n; i++)
                if (has(text, never[i]))
                    forbidden = forbidden ", has \"" never[i] "\""
            why = missing forbidden
            n_missing += missing != ""; n_forbidden += forbidden != ""
            n_right += why == ""
            printf "%2d %s  %s%s\n", NR, why == "" ? "right" : "wrong", $5,
                   why == "" ? "" : "  (" substr(why, 3) ")"
        }
        END {
            printf "%s: %d of %d right; phrases missing in %d, ",
                   name, n_right, NR, n_missing
            printf "forbidden in %d\n\n", n_forbidden
        }'
}

system() {      # name, options ..
    local name=$1
    shift
    "$skmt" translate --quiet -m "$model" "$@" "$work/source" > "$work/$name"
    judge "$name" < "$work/$name" | tee "$work/$name.judged"
}

system plain
for preset in sk1 sk2; do
    system $preset -M "$work/small.tm" --preset $preset
done
if [ "$network" ]; then
    system learned -M "$work/small.tm" --settings "$network"
elif has_network; then
    system learned -M "$work/small.tm" --preset learned
else
    echo "learned: $model has no network; name a settings file in NETWORK"
fi
cat "$work"/*.judged | grep ' right; '
