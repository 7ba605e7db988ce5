#!/bin/bash
# memory_crash.sh - kill the writers of a translation memory at random moments.
#
#     tests/long/memory_crash.sh
#
# The only writer of one file is killed KILLS times (200). A writer of another
# file is killed half as often, while a second writer continues. No acknowledged
# change may be lost, no removed pair may come back, every change must be
# complete or absent, searches must find all pairs, and the file must pass
# "skmt tm check". See tests/unit/crash_tool.c. SEED selects other moments (1).
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
