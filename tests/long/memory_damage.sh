#!/bin/bash
# memory_damage.sh - tests that damage to a memory file is always noticed.
#
#     tests/long/memory_damage.sh
#
# 1,000 copies of a small memory (MUTANTS) are changed at random. An export,
# searches and translations must give exactly what the sound file gives, or fail
# with a message. See memory_damage.py. SEED (1) selects other changes.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
make -s -j"$(nproc)" BUILD="$build" "$build/skmt" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
model=
[ ! -e models/de-en.skmt ] || model=models/de-en.skmt
python3 tests/long/memory_damage.py "$build/skmt" "$dir/work" \
    "${MUTANTS:-1000}" "${SEED:-1}" $model
