#!/bin/bash
# memory.sh - the translation memory of this machine: import, size, retrieval.
#
#     make bench ONLY=memory           this alone; make bench has it at its end
#     make bench ONLY=memory QUICK=1   without the large made-up memories
#
#     PAIRS=N        size of the largest made-up memory (10000000)
#     ROUNDS=N       timed passes over the queries (5; large memories 2)
#     FTS=0          without SQLite's own full-text index beside it
#     KEEP=1         leave the files in BUILD/bench-work (some 4 GB)
#
# The real memory is corpora/it/tm.tsv.xz of the shared folder and its test
# set the queries; where that is not there, invented ones take their place.
# Made-up memories of any size are drawn from it (bench/made_up.c). Imports
# run on one processor. A search is the whole of skmt_tm_search: BM25, ranking
# the best 64 by the model's pieces, fetching 16 pairs. Every run is kept as
# JSON in BUILD/memory.jsonl.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
quick=${QUICK:-}
pairs=${PAIRS:-10000000}
rounds=${ROUNDS:-5}
retrieve=$build/bench/retrieve
work=$build/bench-work/memory
log=$build/memory.jsonl
rm -rf "$work" && mkdir -p "$work"
[ "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
: > "$log"
one=
! command -v taskset > /dev/null || one="taskset -c 0"
model=
[ ! -e models/de-en.skmt ] || model=models/de-en.skmt

# ---- what to measure with --------------------------------------------------

table=$work/real.tsv
queries=$work/queries
if [ -e "$shared/corpora/it/tm.tsv.xz" ]; then
    what="the IT memory"
    xz -dc "$shared/corpora/it/tm.tsv.xz" > "$table"
    cut -f 1 "$shared/corpora/it/test.tsv" > "$queries"
else
    what="an invented memory ($shared/corpora is not there)"
    "$build/bench/made_up" 670701 > "$work/all.tsv"
    head -n 668701 "$work/all.tsv" > "$table"
    tail -n 2000 "$work/all.tsv" | cut -f 1 > "$queries"
    rm "$work/all.tsv"
fi

# What a command printed in JSON, kept, as ${m[key]}.
declare -A m
measure() {
    local key value
    "$@" > "$work/json" || { echo "memory.sh: $*: failed" >&2; exit 1; }
    cat "$work/json" >> "$log"
    while IFS=: read -r key value; do m[$key]=$value
    done < <(tr -d '{}"' < "$work/json" | tr ',' '\n')
}

calc() { awk "BEGIN { printf \"$1\", $2 }"; }
mb() { calc %.1f "$1 / 1e6"; }
yes() { awk "BEGIN { print ($1) ? \"yes\" : \"**no**\" }"; }
row() {         # what, value, target, condition
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "${4:+$(yes "$4")}"
}

# ---- the real memory -------------------------------------------------------

real() {
    local file=$work/real.tm
    echo "### Translation memory: $what"
    echo
    printf '%s, %s processors, load %s; %s pairs, %s queries, times in ms, median of %s passes.\n\n' \
        "$("$build/bench/decode" --cpu)" "$(nproc)" \
        "$(cut -d ' ' -f 1 /proc/loadavg)" "$(wc -l < "$table")" \
        "$(wc -l < "$queries")" "$rounds"
    echo "| what | measured | asked for | met |"
    echo "|---|---|---|---|"
    measure $one "$retrieve" import "$file" "$table"
    row "import, pairs/s, one core" "${m[pairs_per_second]}" "60,000 (150,000)" \
        "${m[pairs_per_second]} >= 60000"
    row "import, most memory resident, MB" "${m[max_rss_mb]}" "" ""
    row "store on disk, MB (texts $(mb "${m[source_bytes]}") + $(mb "${m[target_bytes]}"))" \
        "$(mb "${m[store_bytes]}")" "" ""
    row "index on disk, MB" "$(mb "${m[index_bytes]}")" "$(mb "${m[source_bytes]}"), the source text" \
        "${m[index_bytes]} <= ${m[source_bytes]}"
    if [ "$model" ]; then
        measure "$retrieve" search "$file" "$queries" "$model" --rounds 1
        row "making the side file of ids, s" "$(calc %.1f "${m[first_ms]} / 1000")" "" ""
        row "side file of ids on disk, MB" "$(mb "${m[symbol_bytes]}")" "" ""
        measure "$retrieve" search "$file" "$queries" "$model" --rounds "$rounds"
        row "retrieval, p50" "${m[p50_ms]}" "2 (1)" "${m[p50_ms]} < 2"
        row "retrieval, p95" "${m[p95_ms]}" "" ""
        row "retrieval, p99" "${m[p99_ms]}" "10" "${m[p99_ms]} < 10"
        row "retrieval, slowest" "${m[max_ms]}" "" ""
        row "searching, most memory resident, MB (the model alone: ${m[model_mb]})" \
            "${m[max_rss_mb]}" "200" "${m[max_rss_mb]} < 200"
    fi
    measure "$retrieve" search "$file" "$queries" --rounds "$rounds"
    row "retrieval without a model (words), p50 / p99" "${m[p50_ms]} / ${m[p99_ms]}" "" ""
    row "the same, most memory resident, MB" "${m[max_rss_mb]}" "200" "${m[max_rss_mb]} < 200"
    measure "$retrieve" bm25 "$file" "$queries" --rounds "$rounds"
    row "BM25 alone, best 64, p50 / p99" "${m[p50_ms]} / ${m[p99_ms]}" "" ""
    visible "$file"
    [ "${FTS:-1}" = 0 ] || fts "$file"
    [ "${KEEP:-}" ] || rm -rf "$file"*
}

visible() {
    measure "$retrieve" visible "$1" 500
    row "the disk: 8 KB written and flushed, p50 / p99" \
        "${m[disk_p50_ms]} / ${m[disk_p99_ms]}" "" ""
    row "adding a pair, p50 / p99" "${m[add_p50_ms]} / ${m[add_p99_ms]}" "" ""
    row "another process' search for it, p50 / p99" \
        "${m[search_p50_ms]} / ${m[search_p99_ms]}" "" ""
    row "both: from adding to found, p50" "${m[both_p50_ms]}" "the disk + 1" \
        "${m[both_p50_ms]} <= ${m[disk_p50_ms]} + 1"
    row "both, p99" "${m[both_p99_ms]}" "the disk + 1" \
        "${m[both_p99_ms]} <= ${m[disk_p99_ms]} + 1"
}

fts() {
    local ours
    head -n 50 "$queries" > "$work/queries.50"
    measure "$retrieve" bm25 "$1" "$work/queries.50" --rounds "$rounds"
    ours=${m[p50_ms]}
    measure "$build/bench/fts" "$work/fts.db" "$table" "$work/queries.50" 50
    row "SQLite FTS5 on 50 of the queries, best 64, p50" \
        "${m[p50_ms]}; our BM25 on these $ours: $(calc %.0f "${m[p50_ms]} / $ours") times as fast" "" ""
    row "SQLite FTS5, import, pairs/s" "$(calc %.0f "${m[pairs]} / ${m[import_seconds]}")" "" ""
    rm -f "$work/fts.db"
}

# ---- growth ----------------------------------------------------------------

sizes() {
    local n
    for n in 1000 10000 100000 668000 2000000 10000000; do
        [ "$n" -ge "$largest" ] || echo "$n"
    done
    echo "$largest"
}

growth() {
    local n passes largest=$pairs file=$work/grown.tm
    [ ! "$quick" ] || [ "$largest" -le 668000 ] || largest=668000
    printf '\n### Translation memory: growth\n\n'
    echo "Generated pairs: those of $what with three words in ten replaced. The target at 10,000,000 pairs: p50 below 40 (10) ms."
    echo
    echo "| pairs | import, pairs/s | MB resident | store, MB | index, MB | source text, MB | BM25 p50 | p99 | retrieval p50 | p95 | p99 | MB resident |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
    "$build/bench/made_up" "$largest" "$table" > "$work/grown.tsv"
    for n in $(sizes); do
        passes=$rounds
        [ "$n" -lt 1000000 ] || [ "$rounds" -lt 2 ] || passes=2
        head -n "$n" "$work/grown.tsv" > "$work/part.tsv"
        rm -rf "$file"*
        measure $one "$retrieve" import "$file" "$work/part.tsv"
        printf '| %s | %s | %s | %s | %s | %s |' "$n" "${m[pairs_per_second]}" \
            "${m[max_rss_mb]}" "$(mb "${m[store_bytes]}")" "$(mb "${m[index_bytes]}")" \
            "$(mb "${m[source_bytes]}")"
        measure "$retrieve" bm25 "$file" "$queries" --rounds "$passes"
        printf ' %s | %s |' "${m[p50_ms]}" "${m[p99_ms]}"
        [ ! "$model" ] ||
            measure "$retrieve" search "$file" "$queries" "$model" --rounds 1
        measure "$retrieve" search "$file" "$queries" $model --rounds "$passes"
        printf ' %s | %s | %s | %s |\n' "${m[p50_ms]}" "${m[p95_ms]}" "${m[p99_ms]}" "${m[max_rss_mb]}"
    done
}

real
growth
