#!/bin/bash
# memory_crash.sh - a short run of tests/long/memory_crash.sh.
cd "$(dirname "$0")/../.." || exit 1
KILLS=${KILLS:-8} exec tests/long/memory_crash.sh
