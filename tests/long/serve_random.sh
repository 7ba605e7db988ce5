#!/bin/bash
# serve_random.sh - 50,000 calls of ModernMT's and DeepL's routes with random
# arguments.
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-build} SKMT_MODEL=${SKMT_MODEL:-models/de-en.skmt}
if [ ! -e "$SKMT_MODEL" ]; then
    echo "serve_random.sh: skipped: no $SKMT_MODEL"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if python3 tests/web/random_calls.py 50000; then
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
