#!/bin/bash
# two_builds.sh - compare the speed of two builds, with CTranslate2 beside them.
#
#     OLD=../old/build bench/two_builds.sh
#
# Run this before and after a change that must not cost speed. Each round runs
# the old build, the new build and CTranslate2 once, in turn, as new processes,
# on newstest2014 (or bench/sentences.de) with int8 and one thread. For each row
# it prints the median speed of the rounds, and the median over the rounds of
# the ratios of that round.
#
# Then it compares the speed with a memory (SK-MT, keys in the cache, searches
# included) with plain translation, in both builds, on a few sentences of law
# and IT.
#
# OLD=dir       the build to compare with   BUILD=dir   the new build (build)
# ROUNDS=N      5                           SENTENCES=N 60
# MODEL=file    models/de-en.skmt           STEERED=N   12 sentences; 0: none
set -eu
cd "$(dirname "$0")/.."
old=${OLD:?two_builds.sh: set OLD to the folder of the other build}
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
model=${MODEL:-models/de-en.skmt}
rounds=${ROUNDS:-5} sentences=${SENTENCES:-60} steered=${STEERED:-12}
work=$build/bench-work
mkdir -p "$work"

text=$work/two_builds.de
if [ -e "$shared/corpora/news/newstest2014.tsv" ]; then
    cut -f 1 "$shared/corpora/news/newstest2014.tsv"
else
    cat bench/sentences.de
fi | head -n "$sentences" > "$text"
"$build/bench/decode" "$model" "$text" --pieces > "$work/two_builds.pieces"
ct2bench=$(bench/peers.sh "$build" int8) || { echo "$ct2bench"; ct2bench=; }

speed() {       # read the JSON line of a run, print its tokens per second
    sed 's/.*"tokens_per_second":\([0-9.]*\).*/\1/'
}

ours() {        # build beam batch
    "$1/bench/decode" "$model" "$text" --sentences "$sentences" --beam "$2" \
        --threads 1 --batch "$3" --reps 1 | speed
}

theirs() {      # beam batch
    [ "$ct2bench" ] || { echo 0; return; }
    "$ct2bench" "$build/peers/int8" "$work/two_builds.pieces" --type int8 \
        --beam "$1" --threads 1x1 --batch "$2" --reps 1 --max-length 256 \
        --length-penalty 0.6 | speed
}

# Read "old new ct2" of each round, print the cells of a row.
cells='
    function median(a, n,   i, j, x) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && a[j] < a[j - 1]; j--) {
                x = a[j]; a[j] = a[j - 1]; a[j - 1] = x
            }
        return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2
    }
    {
        o[NR] = $1; w[NR] = $2; c[NR] = $3; r[NR] = $2 / $1
        if ($3 > 0) { oc[NR] = $1 / $3; wc[NR] = $2 / $3 }
    }
    END {
        printf " %.0f | %.0f | %.3f |", median(o, NR), median(w, NR),
               median(r, NR)
        if (c[1] > 0)
            printf " %.0f | %.2f | %.2f |", median(c, NR), median(oc, NR),
                   median(wc, NR)
        print ""
    }'

grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
echo "$sentences sentences, int8, one thread, $rounds rounds, tok/s (medians)"
echo
echo "| beam | batch | old | new | new / old | CT2 | old / CT2 | new / CT2 |"
echo "|---|---|---|---|---|---|---|---|"
for row in "1 1" "4 1" "4 16"; do
    set -- $row
    : > "$work/two_builds.row"
    for _ in $(seq "$rounds"); do
        echo "$(ours "$old" "$1" "$2") $(ours "$build" "$1" "$2")" \
             "$(theirs "$1" "$2")" >> "$work/two_builds.row"
    done
    printf '| %s | %s |' "$1" "$2"
    awk "$cells" "$work/two_builds.row"
done

[ "$steered" -gt 0 ] && [ -e "$shared/corpora/law/tm.tsv.xz" ] || exit 0

memory() {      # set: create its memory if necessary
    local file=$shared/corpora/$1/tm.tsv
    [ -e "$file" ] || file=$file.xz
    [ -e "$work/$1.tm.done" ] && return
    rm -rf "$work/$1.tm"*
    "$build/skmt" tm create "$work/$1.tm" > "$work/import.log"
    "$build/skmt" tm import --quiet "$work/$1.tm" "$file" >> "$work/import.log"
    touch "$work/$1.tm.done"
}

# Print the warm rows of one run: set, system, batch, speed relative to plain.
warm() {        # build set
    "$1/bench/steer" "$model" table "$2" "$work/$2.tm" "$work/$2.two.jsonl" 1 |
        python3 -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    if r["mode"] == "warm": print(r["set"], r["system"], r["batch"], r["ratio"])'
}

rows=$work/two_builds.warm
: > "$rows"
for s in law it; do
    memory "$s"
    cut -f 1 "$shared/corpora/$s/test.tsv" | python3 -c '
import json, sys
lines, n = [x.rstrip("\n") for x in sys.stdin], int(sys.argv[1])
step = max(1, len(lines) // n)
for x in lines[step // 2::step][:n]: print(json.dumps({"src": x}))' \
        "$steered" > "$work/$s.two.jsonl"
    for _ in $(seq "$rounds"); do
        warm "$old" "$s" | sed 's/^/old /' >> "$rows"
        warm "$build" "$s" | sed 's/^/new /' >> "$rows"
    done
done
echo
echo "With a memory, keys in the cache: speed relative to plain, $steered" \
     "sentences, $rounds rounds (medians)"
echo
python3 - "$rows" << 'END'
import collections, statistics, sys
rows = collections.OrderedDict()
for line in open(sys.argv[1]):
    who, s, system, batch, ratio = line.split()
    rows.setdefault((s, system, batch), {}).setdefault(who, []).append(float(ratio))
print("| set | system | batch | old | new | new / old |")
print("|---|---|---|---|---|---|")
for key, r in rows.items():
    print("| %s | %s | %s |" % key, "%.2f | %.2f | %.3f |" % (
        statistics.median(r["old"]), statistics.median(r["new"]),
        statistics.median(n / o for n, o in zip(r["new"], r["old"]))))
END
