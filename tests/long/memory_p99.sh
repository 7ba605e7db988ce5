#!/bin/bash
# memory_p99.sh - measures whether a writer slows searches down.
#
#     tests/long/memory_p99.sh
#
# One process searches the large memory of the shared folder, in turns without
# and with another process that adds 1,000 pairs a second (RATE), one by one.
# ROUNDS (7) is the number of turns. The ratio of the 99th percentiles is
# printed (the target is 1.20) but does not decide whether the test passes.
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
        printf "load %s before; ms, p50 and p99: alone %.3f %.3f, beside %.0f additions a second %.3f %.3f; ratio of p99 %.2f (asked for: 1.20)\n",
               load, v["quiet_p50_ms"], v["quiet_p99_ms"], v["rate"],
               v["busy_p50_ms"], v["busy_p99_ms"], v["p99_ratio"]
    }'
echo "1 passed, 0 failed, 0 skipped"
