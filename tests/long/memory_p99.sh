#!/bin/bash
# memory_p99.sh - measure how much a writer slows down searches.
#
#     tests/long/memory_p99.sh
#
# One process searches the IT memory of the shared folder, in turn without and
# with another process that adds RATE pairs a second (1,000), one by one, for
# ROUNDS rounds (7). The test prints the ratio of the 99th percentiles (target:
# 1.20) and never fails because of it.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
if [ ! -e "$shared/corpora/it/tm.tsv.xz" ]; then
    echo "skip memory_p99.sh: needs the IT memory in $shared"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
make -s -j"$(nproc)" BUILD="$build" "$build/bench/retrieve" || exit 1
work=$build/long/p99
rm -rf "$work" && mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
model=
[ ! -e models/de-en.skmt ] || model=models/de-en.skmt
xz -dc "$shared/corpora/it/tm.tsv.xz" > "$work/it.tsv"
cut -f 1 "$shared/corpora/it/test.tsv" > "$work/queries"
load=$(cut -d ' ' -f 1 /proc/loadavg)
"$build/bench/retrieve" import "$work/it.tm" "$work/it.tsv" > "$work/json" &&
    "$build/bench/retrieve" search "$work/it.tm" "$work/queries" $model \
        --rounds 1 >> "$work/json" &&
    "$build/bench/retrieve" beside "$work/it.tm" "$work/queries" $model \
        --rate "${RATE:-1000}" --rounds "${ROUNDS:-7}" \
        --from "$shared/corpora/it/dev.tsv" > "$work/beside" ||
    { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
cat "$work/beside"
tr -d '{}"' < "$work/beside" | tr ',' '\n' | awk -F : -v load="$load" '
    { v[$1] = $2 }
    END {
        printf "load before: %s; p50 and p99 in ms: %.3f %.3f without a writer, %.3f %.3f with %.0f additions per second; ratio of p99: %.2f (target: 1.20)\n",
               load, v["quiet_p50_ms"], v["quiet_p99_ms"],
               v["busy_p50_ms"], v["busy_p99_ms"], v["rate"], v["p99_ratio"]
    }'
echo "1 passed, 0 failed, 0 skipped"
