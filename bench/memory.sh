#!/bin/bash
# memory.sh - measure the translation memory on this machine: speed of import,
# size on disk, speed of retrieval.
#
#     make bench ONLY=memory           run only this part of make bench
#     make bench ONLY=memory QUICK=1   omit the large synthetic memories
#
#     PAIRS=N        size of the largest synthetic memory (10000000)
#     ROUNDS=N       timed passes over the queries (5; large memories 2)
#     FTS=0          do not compare with SQLite's full-text index
#     KEEP=1         keep the files in BUILD/bench-work (about 4 GB)
#
# The real memory is corpora/it/tm.tsv.xz of the shared folder, and the queries
# are its test set. If they do not exist, an invented memory is used. Synthetic
# memories of any size are derived from this memory (bench/made_up.c). Imports
# run on one processor. A search is one call of skmt_tm_search: BM25, ranking
# the best 64 by the pieces of the model, fetching 16 pairs. Every result is
# written to BUILD/memory.jsonl.
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

# ---- the memory and the queries --------------------------------------------

table=$work/real.tsv
queries=$work/queries
if [ -e "$shared/corpora/it/tm.tsv.xz" ]; then
    what="the IT memory"
    xz -dc "$shared/corpora/it/tm.tsv.xz" > "$table"
    cut -f 1 "$shared/corpora/it/test.tsv" > "$queries"
else
    what="an invented memory ($shared/corpora does not exist)"
    "$build/bench/made_up" 670701 > "$work/all.tsv"
    head -n 668701 "$work/all.tsv" > "$table"
    tail -n 2000 "$work/all.tsv" | cut -f 1 > "$queries"
    rm "$work/all.tsv"
fi

# Run a command, append the JSON that it prints to the log and put its values
# into ${m[key]}.
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
    echo "| what | measured | target | met |"
    echo "|---|---|---|---|"
    measure $one "$retrieve" import "$file" "$table"
    row "import, pairs/s, one core" "${m[pairs_per_second]}" "60,000 (150,000)" \
        "${m[pairs_per_second]} >= 60000"
    row "import, peak resident memory, MB" "${m[max_rss_mb]}" "" ""
    row "store on disk, MB (texts $(mb "${m[source_bytes]}") + $(mb "${m[target_bytes]}"))" \
        "$(mb "${m[store_bytes]}")" "" ""
    row "index on disk, MB" "$(mb "${m[index_bytes]}")" "$(mb "${m[source_bytes]}"), the source text" \
        "${m[index_bytes]} <= ${m[source_bytes]}"
    if [ "$model" ]; then
        measure "$retrieve" search "$file" "$queries" "$model" --rounds 1
        row "writing the file of piece ids, s" "$(calc %.1f "${m[first_ms]} / 1000")" "" ""
        row "file of piece ids on disk, MB" "$(mb "${m[symbol_bytes]}")" "" ""
        measure "$retrieve" search "$file" "$queries" "$model" --rounds "$rounds"
        row "retrieval, p50" "${m[p50_ms]}" "2 (1)" "${m[p50_ms]} < 2"
        row "retrieval, p95" "${m[p95_ms]}" "" ""
        row "retrieval, p99" "${m[p99_ms]}" "10" "${m[p99_ms]} < 10"
        row "retrieval, slowest" "${m[max_ms]}" "" ""
        row "retrieval, peak resident memory, MB (the model alone: ${m[model_mb]})" \
            "${m[max_rss_mb]}" "200" "${m[max_rss_mb]} < 200"
    fi
    measure "$retrieve" search "$file" "$queries" --rounds "$rounds"
    row "retrieval without a model (words), p50 / p99" "${m[p50_ms]} / ${m[p99_ms]}" "" ""
    row "the same, peak resident memory, MB" "${m[max_rss_mb]}" "200" "${m[max_rss_mb]} < 200"
    measure "$retrieve" bm25 "$file" "$queries" --rounds "$rounds"
    row "BM25 alone, best 64, p50 / p99" "${m[p50_ms]} / ${m[p99_ms]}" "" ""
    visible "$file"
    [ "${FTS:-1}" = 0 ] || fts "$file"
    [ "${KEEP:-}" ] || rm -rf "$file"*
}

visible() {
    measure "$retrieve" visible "$1" 500
    row "disk: writing and flushing 8 KB, p50 / p99" \
        "${m[disk_p50_ms]} / ${m[disk_p99_ms]}" "" ""
    row "adding a pair, p50 / p99" "${m[add_p50_ms]} / ${m[add_p99_ms]}" "" ""
    row "finding it from another process, p50 / p99" \
        "${m[search_p50_ms]} / ${m[search_p99_ms]}" "" ""
    row "adding and finding together, p50" "${m[both_p50_ms]}" "disk + 1" \
        "${m[both_p50_ms]} <= ${m[disk_p50_ms]} + 1"
    row "adding and finding together, p99" "${m[both_p99_ms]}" "disk + 1" \
        "${m[both_p99_ms]} <= ${m[disk_p99_ms]} + 1"
}

fts() {
    local ours
    head -n 50 "$queries" > "$work/queries.50"
    measure "$retrieve" bm25 "$1" "$work/queries.50" --rounds "$rounds"
    ours=${m[p50_ms]}
    measure "$build/bench/fts" "$work/fts.db" "$table" "$work/queries.50" 50
    row "SQLite FTS5 on 50 of the queries, best 64, p50" \
        "${m[p50_ms]}; our BM25 on the same queries: $ours, $(calc %.0f "${m[p50_ms]} / $ours") times as fast" "" ""
    row "SQLite FTS5, import, pairs/s" "$(calc %.0f "${m[pairs]} / ${m[import_seconds]}")" "" ""
    rm -f "$work/fts.db"
}

# ---- memories of different sizes -------------------------------------------

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
    echo "Synthetic memories: pairs of $what with three words in ten replaced. Target for 10,000,000 pairs: p50 below 40 (10) ms."
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
