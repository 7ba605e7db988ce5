#!/bin/bash
# news.sh - translate whole test sets and compare with the outputs of the
# reference implementation, line by line and in BLEU.
#
#     tests/long/news.sh
#
# For newstest2014, with unsplit lines and beam 4:
#   - f32: at least 99 % of the lines equal those of the reference;
#   - int8: BLEU differs from that of f32 by 0.2 at most;
#   - early stopping changes no line;
#   - the effect of --prune is printed, but cannot fail.
#
# The models are converted from ../shared/model, because the outputs of the
# reference were made with these weights. MODEL=FILE uses this int8 model instead
# (MODEL=models/de-en.skmt for the shipped one). Its scores are printed, but
# cannot fail, because other weights give other lines.
#
# BUILD=dir      the build to use (build)
# THREADS=N      2
# LINES_MAX=N    translate only the first N lines
# SETS="it law koran medical flores"
#                print the results of these sets too
#
# The last line is "N passed, N failed, N skipped", as in every test.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
threads=${THREADS:-2}
most=${LINES_MAX:-1000000}
passed=0 failed=0
out=$build/long/news

if [ ! -e "$shared/golden/hyp/newstest2014.nmt.hyp.xz" ]; then
    echo "skip news.sh: needs the full sets in $shared"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$out"
[ -x "$build/skmt" ] || make -s -j"$(nproc)" BUILD="$build" all || exit 1

verdict() {     # description, command that succeeds if the test passes
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)) what="ok   $what"
    else failed=$((failed + 1)) what="FAIL $what"; fi
    echo "$what"
}

model() {       # type: print the path of the model; convert it if necessary
    local file=$out/$1.skmt
    if [ "$1" = int8 ] && [ "${MODEL:-}" ]; then
        echo "$MODEL"
        return
    fi
    [ "$file" -nt "$shared/model/model.safetensors" ] &&
        [ "$file" -nt "$build/skmt" ] ||
        "$build/skmt" convert --quiet --from "$shared/model" --type "$1" \
            -o "$file" >&2 || return
    echo "$file"
}

translate() {   # type source output option ..
    local type=$1 source=$2 output=$3
    shift 3
    "$build/skmt" translate --quiet --stats --model "$(model "$type")" \
        --split none --beam 4 --threads "$threads" "$@" \
        "$source" > "$output" 2> "$output.stats" || {
        cat "$output.stats"
        return 1
    }
}

# Print percentage and number of equal lines, such as "98.70 2964 of 3003".
same() {
    awk 'NR == FNR { a[NR] = $0; next }
         $0 "" == a[FNR] "" { n++ }
         END { printf "%.2f %d of %d", 100 * n / FNR, n, FNR }' "$1" "$2"
}

seconds() { sed -n 's/.*"decode_seconds":\([0-9.]*\).*/\1/p' "$1.stats"; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b) }'; }
within() { awk -v a="$1" -v b="$2" -v d="$3" \
               'BEGIN { x = a - b; exit !(x <= d + 1e-9 && -x <= d + 1e-9) }'; }

prepare() {     # name tsv hyp: write source, reference and golden output
    cut -f 1 "$2" | head -n "$most" > "$out/$1.de"
    cut -f 2 "$2" | head -n "$most" > "$out/$1.en"
    xz -dc "$3" | head -n "$most" > "$out/$1.golden"
}

declare -A bleu
score() {       # set row: put BLEU and chrF2 into ${bleu[row]}
    bleu[$2]=$(python3 tools/bleu.py "$out/$1.en" "$out/$1.$2" |
               cut -d ' ' -f 1,2)
}

line() {        # set row compared-with: print a row of the table
    score "$1" "$2"
    printf '| %s | %s | %s | %s | %s |\n' "$2" "${bleu[$2]% *}" \
        "${bleu[$2]#* }" "$(same "$out/$1.$2" "$out/$1.$3" | cut -d ' ' -f 1) of $3" \
        "$([ "$2" = golden ] || seconds "$out/$1.$2")"
}

# ---- newstest2014 ----------------------------------------------------------

verdict "bleu.py computes the known values" python3 tools/bleu.py --test
set=newstest2014
prepare $set "$shared/corpora/news/$set.tsv" "$shared/golden/hyp/$set.nmt.hyp.xz"
src=$out/$set.de
ran() { translate "$@" || { failed=$((failed + 1)); echo "FAIL translating $2"; }; }
ran f32 "$src" "$out/$set.f32"
ran int8 "$src" "$out/$set.int8"
ran int8 "$src" "$out/$set.late" --no-early-stop
ran int8 "$src" "$out/$set.prune4" --prune 4
ran int8 "$src" "$out/$set.prune2" --prune 2

"$build/skmt" info --model "$(model int8)" 2>/dev/null | sed -n 's/^name */model: /p'
sed -n 's/.*"isa":"\([^"]*\)","cpu":"\([^"]*\)".*/kernels: \1 on \2/p' "$out/$set.int8.stats"
echo "$set, $threads threads; late: int8 without early stopping"
echo
echo "| output | BLEU | chrF2 | identical lines, % | seconds |"
echo "|---|---|---|---|---|"
line $set golden golden
line $set f32 golden
line $set int8 f32
line $set late int8
line $set prune4 int8
line $set prune2 int8
echo

f32_same=$(same "$out/$set.f32" "$out/$set.golden")
verdict "f32: ${f32_same#* } lines equal the reference (target: 99 %)" \
    at_least "${f32_same%% *}" 99
[ "${MODEL:-}" ] ||
    verdict "int8: BLEU ${bleu[int8]% *}, f32 ${bleu[f32]% *} (target: 0.2 apart at most)" \
        within "${bleu[int8]% *}" "${bleu[f32]% *}" 0.2
verdict "early stopping changes nothing" cmp -s "$out/$set.late" "$out/$set.int8"

# ---- other sets, printed only ----------------------------------------------

for set in ${SETS:-}; do
    case $set in
    flores) tsv=news/flores-devtest.tsv hyp=flores ;;
    *) tsv=$set/test.tsv hyp=$set.test ;;
    esac
    prepare "$set" "$shared/corpora/$tsv" "$shared/golden/hyp/$hyp.nmt.hyp.xz"
    ran f32 "$out/$set.de" "$out/$set.f32"
    ran int8 "$out/$set.de" "$out/$set.int8"
    printf '\n%s\n\n' "$set"
    line "$set" golden golden
    line "$set" f32 golden
    line "$set" int8 f32
done

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
