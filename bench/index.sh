#!/bin/sh
# index.sh - compare the search by an IVF-PQ index with the exact search.
#
#     bench/index.sh STORE PAIRS.tsv [OPTIONS of build/bench/index]
#
# STORE is a datastore; STORE.index is made if it does not exist. The queries
# are the states of the decoder for PAIRS.tsv (source, target), which should not
# be in the datastore. SKMT_MODEL must be the model of the datastore.
set -eu
store=$1 pairs=$2
shift 2
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s BUILD="$build" all "$build/bench/index"
export SKMT_PLUGINS="${SKMT_PLUGINS:-$build}"

[ -e "$store.index" ] ||
    "$build/skmt" knn index --datastore "$store" -o "$store.index"
"$build/skmt" tm create "$dir/q.tm" > /dev/null
"$build/skmt" tm import "$dir/q.tm" "$pairs" -f tsv --no-header -q > /dev/null
"$build/skmt" knn build --memory "$dir/q.tm" -o "$dir/q.knn" --type f16 \
    --limit 400 -q > /dev/null
"$build/bench/index" "$store" "$store.index" "$dir/q.knn" "$@"
