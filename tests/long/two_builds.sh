#!/bin/bash
# two_builds.sh - compare the output of two builds, byte for byte.
#
#     OLD=../old/build/skmt tests/long/two_builds.sh
#
# Run this before and after a change that must not change any translation. It
# translates newstest2014 without a memory, Koran, IT and law with their
# memories (presets sk1 and sk2), every tenth line with --json, --explain and
# --nbest, and simulates learning on EMEA. It then compares the outputs of the
# program OLD with those of this build.
#
# OLD=file       the program to compare with; without it the test is skipped
# BUILD=dir      the build to test (build)
# MODEL=file     the model (default: converted from ../shared/model)
# OLD_OPTIONS, NEW_OPTIONS
#                options for one of the two programs, such as those that turn
#                off what the newer one does differently on purpose
# THREADS=N      2
# ONLY=WHO       "old" or "new": make the outputs of one program, no comparison
# EVERY=N        translate every N-th line only (1)
#
# Outputs are in BUILD/long/two_builds/{old,new}. An output that is newer than
# its program and than the last change of these settings is not made again.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
every=${EVERY:-1}
threads=${THREADS:-2}
out=$build/long/two_builds

if [ -z "${OLD:-}" ] || [ ! -e "$shared/corpora/law/test.tsv" ]; then
    echo "skip two_builds.sh: needs OLD=program and the sets in $shared"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$out/old" "$out/new"

# A file that changes when the settings do: older outputs are not used then.
settings=$out/settings
printf '%s\n' "$every" "${MODEL:-}" "${OLD_OPTIONS:-}" "${NEW_OPTIONS:-}" \
    > "$settings.now"
cmp -s "$settings.now" "$settings" || cp "$settings.now" "$settings"

model=${MODEL:-$out/reference.skmt}
[ -e "$model" ] ||
    "$OLD" convert --quiet --from "$shared/model" --type int8 -o "$model" ||
    exit 1

lines() {       # set step: print every step-th German line of a test set
    local file=$shared/corpora/$1/test.tsv
    [ "$1" = news ] && file=$shared/corpora/news/newstest2014.tsv
    cut -f 1 "$file" | awk -v n="$2" 'NR % n == 1 || n == 1'
}

memory() {      # program directory set: create its memory if necessary
    local file=$2/$3.tm from=$shared/corpora/$3/tm.tsv
    [ -e "$from" ] || from=$from.xz
    [ "$file.done" -nt "$1" ] && return
    rm -rf "$file"*
    "$1" tm create "$file" > /dev/null &&
        "$1" tm import --quiet "$file" "$from" > /dev/null &&
        : > "$file.done"
}

produce() {     # output program command ..: run it unless output is up to date
    local output=$1 program=$2
    shift 2
    [ "$output" -nt "$program" ] && [ "$output" -nt "$settings" ] && return
    echo "$(date +%T) $output" >&2
    rm -f "$output"
    "$@" > "$output.part" 2> "$output.log" && mv "$output.part" "$output" ||
        { echo "failed: $*" >&2; tail -n 3 "$output.log" >&2; }
}

outputs() {     # program directory options ..
    local program=$1 dir=$2 set preset
    shift 2
    local t="$program translate --quiet --model $model --threads $threads"
    lines news "$every" > "$dir/news.de"
    lines news $((every * 10)) > "$dir/few.de"
    produce "$dir/news" "$program" $t "$dir/news.de"
    produce "$dir/news.nbest" "$program" $t --nbest 4 "$dir/few.de"
    produce "$dir/news.json" "$program" $t --json "$dir/few.de"
    for set in koran it law; do
        memory "$program" "$dir" $set
        lines $set "$every" > "$dir/$set.de"
        lines $set $((every * 10)) > "$dir/$set.few"
        for preset in sk1 sk2; do
            produce "$dir/$set.$preset" "$program" \
                $t "$@" --memory "$dir/$set.tm" --preset $preset "$dir/$set.de"
        done
        produce "$dir/$set.json" "$program" \
            $t "$@" --memory "$dir/$set.tm" --json "$dir/$set.few"
        produce "$dir/$set.explain" "$program" \
            $t "$@" --memory "$dir/$set.tm" --explain "$dir/$set.few"
    done
    produce "$dir/emea.scores" "$program" "$program" learn --quiet \
        --model "$model" --threads "$threads" "$@" -o "$dir/emea" \
        --simulate "$shared/corpora/emea/docs.tsv.xz"
}

# shellcheck disable=SC2086
[ "${ONLY:-}" = new ] || outputs "$OLD" "$out/old" ${OLD_OPTIONS:-}
# shellcheck disable=SC2086
[ "${ONLY:-}" = old ] || outputs "$build/skmt" "$out/new" ${NEW_OPTIONS:-}
[ "${ONLY:-}" ] && exit 0

passed=0 failed=0
for name in news news.nbest news.json emea emea.scores \
    {koran,it,law}.{sk1,sk2,json,explain}; do
    if cmp -s "$out/old/$name" "$out/new/$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: $(diff "$out/old/$name" "$out/new/$name" |
            grep -c '^>') lines differ"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
