#!/bin/bash
# own_forms.sh - our own model in the forms of CTranslate2 gives the outputs of
# the references when it is converted back (see own_forms.py).
#
#     tests/long/own_forms.sh
#
# BUILD=dir      the build to use (build)
# BLEU_LINES=N   lines for BLEU (all)
#
# The last line is "N passed, N failed, N skipped", as in every test.
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-build}
/usr/bin/python3 -c 'import numpy' 2>/dev/null || {
    echo "skip own_forms.sh: needs python3-numpy"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
make -s -j"$(nproc)" BUILD="$BUILD" all || exit 1
exec /usr/bin/python3 tests/long/own_forms.py "$BUILD/long/own_forms"
