#!/bin/bash
# requests_tsan.sh - test requests, workers and services with sanitizers.
#
#     RUN_SECONDS=60 tests/long/requests_tsan.sh
#
# Builds the tests with -fsanitize=thread in build/tsan and runs them: among
# others, 16 threads submit and cancel requests at random for RUN_SECONDS (60).
# Then does the same with the address and leak sanitizers, in build/san. A test
# fails if a sanitizer reports anything.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${RUN_SECONDS:-60}
unset BUILD MAKEFLAGS
passed=0 failed=0

run() {         # folder, the name of a test
    local log=$1/$2.log
    if REQUEST_SECONDS=$seconds TSAN_OPTIONS="halt_on_error=0 exitcode=66" \
       ASAN_OPTIONS=detect_leaks=1 "$1/tests/unit/$2" > "$log" 2>&1; then
        grep ' requests: ' "$log"
        printf '%-12s %-16s %s\n' "$1" "$2" "$(tail -n 1 "$log")"
        passed=$((passed + 1))
    else
        echo "FAIL $1 $2: status $?"
        tail -n 60 "$log"
        failed=$((failed + 1))
    fi
}

tests="test_workers test_service test_stream"
for t in $tests; do
    make -s -j"$(nproc)" BUILD=build/tsan OPT=-O1 \
        SANFLAGS='-fsanitize=thread -fno-omit-frame-pointer' \
        "build/tsan/tests/unit/$t" || exit 1
    run build/tsan "$t"
done
for t in $tests; do
    make -s -j"$(nproc)" SAN=1 "build/san/tests/unit/$t" || exit 1
    SAN=1 run build/san "$t"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
