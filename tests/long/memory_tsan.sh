#!/bin/bash
# memory_tsan.sh - test the translation memory with ThreadSanitizer.
#
#     tests/long/memory_tsan.sh
#
# Builds the tests in which several threads use one memory file with
# -fsanitize=thread, in build/tsan, and runs them. A test fails if
# ThreadSanitizer reports anything.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=build/tsan
unset BUILD MAKEFLAGS
tests="test_tm_threads test_store test_store_faults test_store_import \
test_index test_merger test_tm_api test_tm_search test_key_cache \
test_key_file test_pairfinder test_stream"
wanted=
for t in $tests; do
    [ ! -e "tests/unit/$t.c" ] || wanted="$wanted $build/tests/unit/$t"
done
# shellcheck disable=SC2086
make -s -j"$(nproc)" BUILD=$build OPT=-O1 \
    SANFLAGS='-fsanitize=thread -fno-omit-frame-pointer' $wanted || exit 1
failed=0
for t in $wanted; do
    log=$build/$(basename "$t").log
    if TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$t" > "$log" 2>&1; then
        printf '%-24s %s\n' "$(basename "$t")" "$(tail -n 1 "$log")"
    else
        echo "FAIL $t: status $?"
        tail -n 60 "$log"
        failed=1
    fi
done
echo "$((1 - failed)) passed, $failed failed, 0 skipped"
exit $failed
