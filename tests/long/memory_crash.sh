#!/bin/bash
# memory_crash.sh - kill writers of a translation memory at any moment.
#
#     tests/long/memory_crash.sh
#
# One file lives through 200 kills of its only writer (KILLS), another through
# half as many with a second writer that works on: nothing that was
# acknowledged may be lost, nothing removed come back, every step is whole or
# not there, searches find what is there, and the file passes its check. See
# tests/unit/crash_tool.c. SEED picks other moments (1).
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
kills=${KILLS:-200}
seed=${SEED:-1}
tool=$build/tests/unit/crash_tool
make -s -j"$(nproc)" BUILD="$build" "$tool" "$build/skmt" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

torture() {     # writers kills
    rm -rf "$dir/work" && mkdir "$dir/work"
    "$tool" "$dir/work" --kills "$2" --writers "$1" --seed "$seed" &&
        "$build/skmt" tm check "$dir/work/crash.tm" ||
        { echo "FAIL $2 kills of $1 writers, seed $seed"; failed=1; }
}

torture 1 "$kills"
torture 2 $((kills / 2))
echo "$((1 - failed)) passed, $failed failed, 0 skipped"
exit $failed
