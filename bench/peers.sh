#!/bin/bash
# peers.sh - prepare CTranslate2 for a comparison with skmt.
#
#     bench/peers.sh BUILD [TYPE ..]      types: int8 float32
#
# Prints the path of ct2bench, the program that measures CTranslate2, and writes
# a model of each type, converted from the same weights as ours, to
# BUILD/peers/TYPE. If something is missing, it prints one line that says what,
# and exits with 1. It installs nothing; ../shared/peers/install and
# ../shared/peers/build install CTranslate2 into SKMT_PEERS.
set -eu
cd "$(dirname "$0")/.."
out=$1/peers
shift
shared=${SKMT_SHARED:-../shared}
ct2bench=${SKMT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/skmt-peers}/ct2bench

skip() { echo "CTranslate2 is not measured: $1"; exit 1; }

[ -x "$ct2bench" ] || skip "it is not installed"
[ -e "$shared/peers/write_ct2.py" ] || skip "$shared/peers does not exist"
weights=$shared/model-2/model.safetensors
[ -e "$weights" ] || skip "$weights does not exist"

# Find a Python that has numpy; the system's own often does.
python=
for p in python3 /usr/bin/python3; do
    "$p" -c 'import numpy' 2>/dev/null && { python=$p; break; }
done

for type in "${@:-int8}"; do
    dir=$out/$type
    [ -e "$dir/model.bin" ] && [ "$dir/model.bin" -nt "$weights" ] && continue
    [ "$python" ] || skip "python3-numpy is not installed"
    rm -rf "$dir" "$dir.new"
    mkdir -p "$out"
    "$python" "$shared/peers/write_ct2.py" "$weights" \
        "$shared/model-2/spm.model" "$dir.new" --type "$type" >&2 ||
        skip "its model cannot be written"
    mv "$dir.new" "$dir"
done
echo "$ct2bench"
