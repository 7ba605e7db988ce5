#!/bin/bash
# align.sh - measure word alignment (skmt align): time, memory, perplexity, and
# how often identical numbers and words of a pair are linked.
#
#     bench/align.sh              all tables of bench/ALIGN.md (some minutes)
#     SHOW=1 bench/align.sh       only 20 alignments, to read
#
# OUT=dir    where the links go (build/align)      SKMT=file  build/skmt
# PAIRS=N    pairs of the law memory (50000)
set -eu
cd "$(dirname "$0")/.."
shared=${SKMT_SHARED:-../shared} skmt=${SKMT:-build/skmt}
out=${OUT:-build/align} pairs=${PAIRS:-50000}
methods="forward reverse intersect union grow-diag grow-diag-final-and"
[ -e "$shared/corpora/law/tm.tsv.xz" ] ||
    { echo "skip align.sh: the sets are not in $shared"; exit 0; }
mkdir -p "$out"

part() {        # set, number of pairs
    [ -e "$out/$1.tsv" ] ||
        xz -dc "$shared/corpora/$1/tm.tsv.xz" | awk -v n="$2" 'NR <= n' \
            > "$out/$1.tsv"
}

# Run a command and print "seconds processor-seconds megabytes".
measure() {
    python3 -c '
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{time.monotonic() - begin:.1f} {usage.ru_utime + usage.ru_stime:.2f} "
      f"{usage.ru_maxrss / 1000:.0f}")' "$@"
}

row() {         # name, set, options of the training ..
    local name=$1 set=$2 train align
    shift 2
    train=$(measure "$skmt" align -q "$out/$set.tsv" --print none \
        --save "$out/$name.align" "$@" 2> "$out/$name.log")
    local load=()
    [[ "$*" != *--pieces* ]] || load=(--pieces de-en)
    align=$(measure "$skmt" align -q "$out/$set.tsv" "${load[@]}" \
        --load "$out/$name.align" -o "$out/$name.links")
    awk -v name="$name" -v n="$(wc -l < "$out/$set.tsv")" -v t="$train" \
        -v a="$align" -v bytes="$(stat -c %s "$out/$name.align")" 'BEGIN {
            split(t, x, " "); split(a, y, " ")
            printf "| %s | %d | %s s | %.1f s | %s MB | %.1f MB | %.0f |\n",
                   name, n, x[1], x[2], x[3], bytes / 1e6, n / y[2] }'
}

part law "$pairs"
if [ "${SHOW:-}" ]; then
    [ -e "$out/law.align" ] || row law law > /dev/null
    awk -v step=$((pairs / 20)) 'NR % step == 7' "$out/law.tsv" |
        "$skmt" align --load "$out/law.align" --print words -
    exit
fi
part it 100000

echo "### Time and memory"
echo
echo "$("$skmt" --version | sed -n 's/^processor: //p'), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo
echo "| pairs | number | training | processor time | peak memory | file | aligned pairs/s of processor time |"
echo "|---|---:|---:|---:|---:|---:|---:|"
row law law
row law-2-threads law --threads 2
row law-alpha-0 law --alpha 0
row law-pieces law --pieces de-en
row it it
cmp "$out/law.align" "$out/law-2-threads.align"

echo
echo "### Perplexity by iteration"
echo
"$skmt" align "$out/law.tsv" --print none 2>&1 | sed 's/^/    /'

echo
echo "### Identical numbers and words"
echo
"$skmt" align --print tokens "$out/law.tsv" > "$out/law.tokens"
files=(diagonal=)
for parameters in law law-alpha-0; do
    for m in $methods; do
        "$skmt" align -q --load "$out/$parameters.align" --method $m \
            "$out/law.tsv" -o "$out/$parameters.$m"
        files+=("$m${parameters#law}=$out/$parameters.$m")
    done
done
python3 bench/align_identity.py "$out/law.tokens" "${files[@]}"

# New pairs: aligned with the parameters of the memory, with their own, and with
# those of both together.
dev=$shared/corpora/law/dev.tsv
"$skmt" align --print tokens "$dev" > "$out/dev.tokens"
"$skmt" align -q --load "$out/law.align" "$dev" -o "$out/dev.memory"
"$skmt" align -q "$dev" -o "$out/dev.own"
cat "$out/law.tsv" "$dev" | "$skmt" align -q - | tail -n "$(wc -l < "$dev")" \
    > "$out/dev.both"
echo
echo "### New pairs: the $(wc -l < "$dev") pairs of the law dev set"
echo
python3 bench/align_identity.py "$out/dev.tokens" diagonal= \
    memory="$out/dev.memory" own="$out/dev.own" both="$out/dev.both"
