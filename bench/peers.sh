#!/bin/bash
# peers.sh - make CTranslate2 ready to be measured beside us.
#
#     bench/peers.sh BUILD [TYPE ..]      types: int8 float32
#
# Prints the path of ct2bench and leaves a model per type, made from the same
# weights as ours, in BUILD/peers/TYPE. Where something is missing it says
# what, in one line, and exits with 1. It installs nothing:
# ../shared/peers/install and build do, into SKMT_PEERS.
set -eu
cd "$(dirname "$0")/.."
out=$1/peers
shift
shared=${SKMT_SHARED:-../shared}
ct2bench=${SKMT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/skmt-peers}/ct2bench

lacks() { echo "CTranslate2 is left out: $1"; exit 1; }

[ -x "$ct2bench" ] || lacks "it is not installed"
[ -e "$shared/peers/write_ct2.py" ] || lacks "no $shared/peers"
weights=$shared/model-2/model.safetensors
[ -e "$weights" ] || lacks "no weights in $shared/model-2"

# A Python that has numpy; the system's own is a good guess.
python=
for p in python3 /usr/bin/python3; do
    "$p" -c 'import numpy' 2>/dev/null && { python=$p; break; }
done

for type in "${@:-int8}"; do
    dir=$out/$type
    [ -e "$dir/model.bin" ] && [ "$dir/model.bin" -nt "$weights" ] && continue
    [ "$python" ] || lacks "python3-numpy is not installed"
    rm -rf "$dir" "$dir.new"
    mkdir -p "$out"
    "$python" "$shared/peers/write_ct2.py" "$weights" \
        "$shared/model-2/spm.model" "$dir.new" --type "$type" >&2 ||
        lacks "its model could not be written"
    mv "$dir.new" "$dir"
done
echo "$ct2bench"
