#!/bin/bash
# ct2_peer.sh - compare skmt with CTranslate2 itself on the same model folders
# (see ct2_peer.py).
#
#     tests/long/ct2_peer.sh
#
# The library of CTranslate2 is that of ../shared/peers, in SKMT_PEERS (default
# ~/.cache/skmt-peers). If it is not there, ../shared/peers/install downloads it.
# If that fails too, or numpy is missing, the test is skipped.
#
# BUILD=dir      the build to use (build)
# LINES_MAX=N    sentences to translate with our own model (200)
#
# The last line is "N passed, N failed, N skipped", as in every test.
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
peers=${SKMT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/skmt-peers}
ct2=$peers/ctranslate2
work=$BUILD/long/ct2_peer

skip() {
    echo "skip ct2_peer.sh: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

[ "$(uname -m)" = x86_64 ] || skip "the library is for x86_64"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "needs python3-numpy"
if [ ! -e "$ct2/.done" ] && [ -x "$shared/peers/install" ]; then
    "$shared/peers/install" "$peers" || skip "CTranslate2 cannot be downloaded"
fi
[ -e "$ct2/.done" ] || skip "CTranslate2 is not in $peers"

mkdir -p "$work"
make -s -j"$(nproc)" BUILD="$BUILD" all || exit 1
${CXX:-g++} -std=c++17 -O2 -Wall -Wextra -isystem "$ct2/include" \
    -o "$work/ct2_driver" tests/long/ct2_driver.cc \
    "$ct2"/lib/libctranslate2*.so.* "$ct2"/lib/libgomp*.so.* -ldl -pthread \
    -Wl,--disable-new-dtags,-rpath,"$ct2/lib" || exit 1
exec /usr/bin/python3 tests/long/ct2_peer.py "$work/ct2_driver" "$work"
