#!/bin/bash
# memory_crash.sh - kills writers of a translation memory at random moments.
#
#     tests/long/memory_crash.sh
#
# The only writer of one file is killed 200 times (KILLS). Another file has two
# writers, of which one is killed, half as many times. Nothing that was
# acknowledged may be lost, nothing that was removed may come back, every
# operation must be complete or absent, searches must find what is stored, and
# the file must pass its check. See tests/unit/crash_tool.c. SEED (1) selects
# other moments.
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
