#!/bin/bash
# serve_killed.sh - kill -9 a server under load; no stored correction is lost.
#
#     tests/long/serve_killed.sh
#
# KILLS times (50). See serve_killed.py. SEED selects other moments (1).
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
model=models/de-en.skmt
skip() { echo "serve_killed.sh: skipped: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
[ -e $model ] || skip "no $model"
make -s -j"$(nproc)" BUILD="$build" "$build/skmt" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
python3 tests/long/serve_killed.py "$build/skmt" "$dir" "${KILLS:-50}" \
    "${SEED:-1}" $model && "$build/skmt" tm check "$dir/my.tm" || failed=1
echo "$((1 - failed)) passed, $failed failed, 0 skipped"
exit $failed
