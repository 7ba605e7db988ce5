#!/bin/bash
# steer.sh - measure how a memory slows down or speeds up translation: the
# paper's table of storage and speed on this machine, and decoding with drafts
# compared with plain decoding.
#
#     make bench ONLY=steer         about 40 minutes on an idle machine
#     ROUNDS=N      interleaved runs, of which the median counts (5)
#     SENTENCES=N   sentences of each set in the first table (60)
#     DRAFTS=N      sentences of each set in the table of drafts (100)
#     WHOLE=N       sentences of each set, at most, that are translated from the
#                   beginning with a cache that is empty at first (4000; 0
#                   omits this)
#
# It measures CPU time, with int8 and one thread. The sets are law and IT. For
# drafts there is also EMEA: sentences in the order of their documents, with the
# pairs of the sentences before them. Without the full sets the sentences are
# those of bench/sentences.de and the memory is examples/jrc.tsv.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
rounds=${ROUNDS:-5} sentences=${SENTENCES:-60} drafts=${DRAFTS:-100}
whole=${WHOLE:-4000}
skmt=$build/skmt steer=$build/bench/steer model=${MODEL:-models/de-en.skmt}
work=$build/bench-work
mkdir -p "$work"
make -s BUILD="$build" "$skmt" "$steer"

memory() {      # memory file, arguments of tm import
    local file=$1
    shift
    [ -e "$file" ] && return
    "$skmt" tm create "$file" > "$work/import.log"
    "$skmt" tm import --quiet "$file" "$@" >> "$work/import.log"
}

# Print N evenly spaced lines of standard input as JSON.
pick() {
    python3 -c '
import json, sys
lines = [x.rstrip("\n") for x in sys.stdin]
n = int(sys.argv[1])
step = max(1, len(lines) // n)
for x in lines[step // 2::step][:n]:
    print(x if sys.argv[2] == "json" else json.dumps({"src": x}))' "$@"
}

sets="law it"
if [ -e "$shared/corpora/law/tm.tsv.xz" ]; then
    for s in $sets; do
        memory "$work/$s.tm" "$shared/corpora/$s/tm.tsv.xz"
        cut -f 1 "$shared/corpora/$s/test.tsv" > "$work/$s.src"
    done
    memory "$work/emea.tm" --source-column 2 --target-column 3 \
        "$shared/corpora/emea/docs.tsv.xz"
    xzcat "$shared/golden/retrieved/emea.jsonl.xz" |
        pick "$drafts" json > "$work/emea.draft.jsonl"
    draft_sets="law it emea"
else
    sets=own draft_sets=own
    memory "$work/own.tm" examples/jrc.tsv
    cp bench/sentences.de "$work/own.src"
fi
for s in $sets; do
    pick "$sentences" text < "$work/$s.src" > "$work/$s.table.jsonl"
    pick "$drafts" text < "$work/$s.src" > "$work/$s.draft.jsonl"
done

as_json() { python3 -c '
import json, sys
for x in sys.stdin: print(json.dumps({"src": x.rstrip("\n")}))'; }

log=$build/bench-steer.jsonl
: > "$log"
for s in $sets; do
    "$steer" "$model" table "$s" "$work/$s.tm" "$work/$s.table.jsonl" \
        "$rounds" >> "$log"
    if [ "$whole" -gt 0 ]; then
        head -n "$whole" "$work/$s.src" | as_json > "$work/$s.whole.jsonl"
        "$steer" "$model" whole "$s" "$work/$s.tm" "$work/$s.whole.jsonl" 1 \
            >> "$log"
    fi
    "$steer" "$model" bound "$s" "$work/$s.tm" "$work/$s.table.jsonl" 1 \
        >> "$log"
    for stat in $("$skmt" tm stats --json "$work/$s.tm" | python3 -c '
import json, sys
j = json.load(sys.stdin)
flat = {k: v for k, v in j.items() if isinstance(v, int)}
print(json.dumps(flat).replace(" ", ""))'); do
        tokens=$("$steer" "$model" tokens "$work/$s.tm")
        ids=$(cat "$work/$s.tm.index/"*.ids | wc -c)
        echo "{\"set\":\"$s\",\"stats\":$stat,\"tokens\":$tokens,\"ids\":$ids}" \
            >> "$log"
    done
done
for s in $draft_sets; do
    "$steer" "$model" draft "$s" "$work/$s.tm" "$work/$s.draft.jsonl" \
        "$rounds" >> "$log"
done
python3 bench/steer_tables.py "$log"
