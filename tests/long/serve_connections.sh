#!/bin/bash
# serve_connections.sh - 10,000 idle connections, of which the server keeps as
# many as it allows; those that it has keep working.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
if [ "$(ulimit -Hn)" != unlimited ] && [ "$(ulimit -Hn)" -lt 10200 ]; then
    echo "serve_connections.sh: skipped: ulimit -Hn is $(ulimit -Hn)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ ! -e models/de-en.skmt ]; then
    echo "serve_connections.sh: skipped: no models/de-en.skmt"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
python3 tests/web/hostile.py "$build/skmt" models/de-en.skmt \
    --connections 10000 many_connections clients_go_away ordinary_forms
