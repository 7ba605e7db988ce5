#!/bin/bash
# steered.sh - whole test sets with their memories, against the reference.
#
#     tests/long/steered.sh
#
# For Koran, IT, law and EMEA, every line whole, beam 4:
#   - int8 weights with our own retrieval: BLEU of the model alone within
#     0.2, of sk1 and sk2 within 0.3 of golden/README.md; with the presets
#     paper-sk1 and paper-sk2, so that it is the reference's search;
#   - sk2: f32 keys within 0.1 of int8 ones; --prune 2.5, the default of the
#     product presets, within 0.1 of no pruning, and at least 97 % of the lines
#     the same;
#   - f32 with the reference's own pairs (--pairs): at least 98 % of the lines
#     are the reference's, those left out that it cut off at its limit.
#
# The reference reads 250 pieces of a line and forgets the rest. The engine
# goes on behind a cut, which alone is 0.3 BLEU on IT (two lines). So it is
# given what the reference has read; rows "whole" show what a user gets.
#
# EMEA is translated by "skmt learn --simulate", each document from an empty
# memory; where the program has no such command, with the reference's pairs.
#
# The models are converted from ../shared/model, the weights that the
# reference's outputs were made with. MODEL=FILE takes this int8 model instead
# (MODEL=models/de-en.skmt for the shipped one); its scores are then shown and
# not judged, and the rows of f32 are left out.
#
# BUILD=dir     the build to use (build)         THREADS=N   2
# SETS="it"     only these of koran it law emea  EVERY=N     f32: every N-th
# LINES_MAX=N   the first N lines, whose BLEU is shown but not judged
#
# The table is also in BUILD/long/steered.md (steered-NAME.md with MODEL). Outputs newer than the program
# and this file are used again: what was interrupted goes on. Ends with "N
# passed, N failed, N skipped" like every test.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${SKMT_SHARED:-../shared}
threads=${THREADS:-2}
most=${LINES_MAX:-1000000}
every=${EVERY:-1}
passed=0 failed=0
name=steered${MODEL:+-$(basename "$MODEL" .skmt)}
out=$build/long/$name
table=$build/long/$name.md
self=tests/long/steered.sh
readme=$shared/golden/README.md

if [ ! -e "$shared/golden/hyp/emea.nmt.hyp.xz" ]; then
    echo "skip steered.sh: needs the full sets in $shared"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$out"
make -s -j"$(nproc)" BUILD="$build" all "$build/tests/unit/spm_tool" || exit 1
learns=
"$build/skmt" learn --help 2>/dev/null | grep -q -e --simulate && learns=1

verdict() {     # what, then a command that decides
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)) what="ok   $what"
    else failed=$((failed + 1)) what="FAIL $what"; fi
    echo "$what"
}

at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b) }'; }
# What could not be scored is within nothing.
within() {
    awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN {
        x = a - b
        exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && x <= d + 1e-9 &&
               -x <= d + 1e-9)
    }'
}

# BLEU of a few lines is a matter of chance, and other weights have another.
near() {        # what BLEU other limit
    if [ "$most" -lt 1000000 ] || [ "${MODEL:-}" ]; then
        echo "     $1: BLEU $2, $3"
    else verdict "$1: BLEU $2, $3, $4 apart at most" \
             within "${2##* }" "${3##* }" "$4"; fi
}

minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.2f", a - b }'; }

# ---- what the reference had and said ---------------------------------------

# Writes SET.de (lines as the reference read them), SET.en, SET.docs (document,
# source, reference); SET.long and SET.whole: numbers and texts of lines that
# are longer; for each run SET.RUN.golden, SET.RUN.limit (1: cut off) and
# SET.RUN.pairs.
prepare() {     # set
    python3 - "$1" "$shared" "$out/$1" "$most" "$build/tests/unit/spm_tool" \
        << 'EOF'
import json
import lzma
import subprocess
import sys

name, shared, out, most, tool = sys.argv[1:]
full = name if name == "emea" else name + ".test"


def lines(path):
    with lzma.open(f"{shared}/golden/{path}.xz", "rt", encoding="utf-8",
                   newline="\n") as f:
        return [line.rstrip("\n") for line in f][:int(most)]


def pieces(verb, texts):
    done = subprocess.run([tool, verb, shared + "/model/spm.model"],
                          input="".join(t + "\n" for t in texts), check=True,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return done.stdout.split("\n")[:-1]


def write(kind, texts):
    with open(f"{out}.{kind}", "w", encoding="utf-8", newline="\n") as f:
        f.writelines(str(t) + "\n" for t in texts)


rows = [json.loads(line) for line in lines(f"retrieved/{full}.jsonl")]
src = [row["src"] for row in rows]
ids = [i.split() for i in pieces("encode", src)]
long = [i for i in range(len(src)) if len(ids[i]) > 250]
write("long", [i + 1 for i in long])
write("whole", [src[i] for i in long])
for i, text in zip(long, pieces("decode", [" ".join(ids[i][:250])
                                           for i in long])):
    src[i] = text
write("de", src)
write("en", [row["ref"] for row in rows])
write("docs", ["\t".join([row.get("doc", "-"), s, row["ref"]])
               for row, s in zip(rows, src)])
for run, config, top in [("nmt", "nmt", 0), ("sk1", "2_1_100", 2),
                         ("sk2", "16_2_100", 16)]:
    golden = lines(f"hyp/{full}.{config}.hyp")
    write(run + ".golden", golden)
    write(run + ".limit",
          [int(len(g.split()) >= int(1.2 * min(len(i) + 1, 251)) + 60)
           for g, i in zip(pieces("encode", golden), ids, strict=True)])
    write(run + ".pairs",
          [json.dumps({"src": s, "tm": row["tm"][:top]}, ensure_ascii=False)
           for s, row in zip(src, rows)])
EOF
}

# "12.92 35.29": BLEU and chrF2 of a run in the reference's table of scores.
stated() {      # set run
    awk -F ' *\\| *' -v set="$1" -v run="$2" '
        function key(s) { s = tolower(s); sub(/ .*/, "", s); return s }
        /\| Koran \| IT \| Law \|/ {
            for (i = 1; i <= NF; i++) column[key($i)] = i
            row["NMT"] = "nmt"
            row["SK-MT1 (2, 1, 100)"] = "sk1"
            row["SK-MT2 (16, 2, 100)"] = "sk2"
        }
        column[set] && row[$2] == run {
            split($column[set], score, " / ")
            print score[1], score[2]
            exit
        }' "$readme"
}

# ---- translating -----------------------------------------------------------

reference_model() {     # type: its file, made when there is none newer
    local file=$out/$1.skmt
    [ "$file" -nt "$shared/model/model.safetensors" ] &&
        [ "$file" -nt "$build/skmt" ] ||
        "$build/skmt" convert --quiet --from "$shared/model" --type "$1" \
            -o "$file" >&2 || return
    echo "$file"
}
model=${MODEL:-$(reference_model int8)} || exit 1

memory() {      # set: its file, made when there is none
    local file=$out/$1.tm from=$shared/corpora/$1/tm.tsv
    [ -e "$from" ] || from=$from.xz
    if [ ! "$file.done" -nt "$build/skmt" ]; then
        rm -rf "$file"* "$out/$1.keys"*
        "$build/skmt" tm create "$file" >&2 &&
            "$build/skmt" tm import "$file" "$from" >&2 || return
        : > "$file.done"
    fi
    echo "$file"
}

# Runs a command that writes $1, unless there is such an output of as many
# lines as $2 already; how long it took is in $1.seconds.
produce() {     # output source command ..
    local output=$1 source=$2 start=$SECONDS
    shift 2
    if [ "$output" -nt "$build/skmt" ] && [ "$output" -nt $self ] &&
        [ "$(wc -l < "$output")" = "$(wc -l < "$source")" ]; then
        return
    fi
    echo "$(date +%T) ${output##*/}, $(wc -l < "$source") lines" >&2
    rm -f "$output"
    if "$@" > "$output.part" 2> "$output.log"; then
        mv "$output.part" "$output"
        echo $((SECONDS - start)) > "$output.seconds"
    else
        cat "$output.log"
        failed=$((failed + 1))
        echo "FAIL ${output##*/}: translating"
        : > "$output"
    fi
}

translate() {   # model source option ..
    local model=$1 source=$2
    shift 2
    "$build/skmt" translate --quiet --model "$model" --split none --beam 4 \
        --threads "$threads" "$@" "$source"
}

learn() {       # documents option ..
    local docs=$1 to
    shift
    to=$(mktemp "$out/learn.XXXXXX") || return
    "$build/skmt" learn --quiet --simulate "$docs" --model $model \
        --split none --exact steer --beam 4 --threads "$threads" "$@" \
        -o "$to" >&2 && cat "$to"
    local rc=$?
    rm -f "$to"
    return $rc
}

key_file() {    # set: the option that names it; learning keeps its own
    [ "$1" = emea ] && [ "$learns" ] || echo "--key-file $out/$1.keys"
}

# The int8 model, with the settings of the paper.
steered() {     # set run output-row option ..
    local set=$1 run=$2 row=$3
    shift 3
    local to=$out/$set.$row de=$out/$set.de
    if [ "$run" = nmt ]; then
        produce "$to" "$de" translate $model "$de"
    elif [ "$set" != emea ]; then
        produce "$to" "$de" translate $model "$de" --memory "$(memory $set)" \
            --preset "paper-$run" "$@"
    elif [ "$learns" ]; then
        produce "$to" "$de" learn "$out/emea.docs" --preset "paper-$run" "$@"
    else
        produce "$to" "$de" translate $model "$de" --preset "paper-$run" \
            --pairs "$out/emea.$run.pairs" "$@"
    fi
}

# SET.RUN-whole: SET.RUN with the lines that were cut given whole.
whole() {       # set run
    local lines=$out/$1.$2.lines options=
    [ "$2" = nmt ] ||
        options="--memory $(memory "$1") --preset paper-$2"
    produce "$lines" "$out/$1.whole" translate $model "$out/$1.whole" $options
    awk 'FILENAME == ARGV[1] { number[++n] = $1; next }
         FILENAME == ARGV[2] { by[number[++k]] = $0; next }
         FNR in by { $0 = by[FNR] } { print }' \
        "$out/$1.long" "$lines" "$out/$1.$2" > "$out/$1.$2-whole"
}

some() { awk -v n="$every" '(NR - 1) % n == int(n / 2)' "$1" > "$2"; }

# f32 with the reference's pairs: SET.RUN-f32, the golden lines beside it.
paired() {      # set run
    local at=$out/$1.$2-f32 options=
    for kind in golden limit pairs; do
        some "$out/$1.$2.$kind" "$at.$kind"
    done
    some "$out/$1.de" "$at.de"
    [ "$2" = nmt ] || options="--pairs $at.pairs --preset paper-$2 --key-type f32"
    produce "$at" "$at.de" translate "$(reference_model f32)" "$at.de" $options
}

# ---- scores and the table --------------------------------------------------

score() {       # set file: "12.92 35.29", or "- -"
    local both
    both=$(python3 tools/bleu.py "$out/$1.en" "$2" | cut -d ' ' -f 1,2)
    echo "${both:-- -}"
}

# "98.70 2964 of 3003": per cent and number of lines that are the same; lines
# with a 1 in the third file do not count.
same() {
    paste -d '\n' "$1" "$2" "${3:-/dev/null}" | awk '
        NR % 3 == 1 { a = $0 }
        NR % 3 == 2 { b = $0 }
        NR % 3 == 0 && $0 != 1 { n++; k += a "" == b "" }
        END { printf "%.2f %d of %d", n ? 100 * k / n : 0, k, n }'
}

line() {        # set output BLEU chrF2 compared-with difference identical file
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "${@:1:7}" \
        "$(cat "$8.seconds" 2>/dev/null)" >> "$table"
}

wanted() {      # set run: the reference's scores for these lines
    if [ "$most" -lt 1000000 ]; then score "$1" "$out/$1.$2.golden"
    else stated "$1" "$2"; fi
}

check_run() {   # set run
    local set=$1 run=$2 file=$out/$1.$2 limit=0.3 want got
    [ "$run" = nmt ] && limit=0.2
    want=$(wanted "$set" "$run")
    got=$(score "$set" "$file.golden")
    near "$set $run: outputs of the reference" "${got% *}" \
        "as it says ${want% *}" 0.01
    steered "$set" "$run" "$run" $(key_file "$set")
    got=$(score "$set" "$file")
    line "$set" "$run" $got "reference ${want/ / / }" \
        "$(minus "${got% *}" "${want% *}")" \
        "$(same "$file" "$file.golden" | cut -d ' ' -f 1)" "$file"
    near "$set $run" "${got% *}" "reference ${want% *}" $limit
    [ -s "$out/$set.long" ] && [ "$set" != emea ] || return
    whole "$set" "$run"
    got=$(score "$set" "$file-whole")
    line "$set" "$run whole" $got reference \
        "$(minus "${got% *}" "${want% *}")" "" "$file.lines"
}

# Another way of sk2, and what it changes.
check_way() {   # set way least-identical-or-'' option ..
    local set=$1 way=$2 least=$3 file=$out/$1.sk2-$2 base=$out/$1.sk2
    local got usual equal
    shift 3
    steered "$set" sk2 "sk2-$way" "$@"
    got=$(score "$set" "$file") usual=$(score "$set" "$base")
    equal=$(same "$file" "$base")
    line "$set" "sk2 $way" $got sk2 "$(minus "${got% *}" "${usual% *}")" \
        "${equal%% *}" "$file"
    near "$set $way" "${got% *}" "sk2 ${usual% *}" 0.1
    [ "$least" ] || return
    verdict "$set $way: ${equal#* } lines the same, $least % asked for" \
        at_least "${equal%% *}" "$least"
}

check_paired() {        # set run
    local file=$out/$1.$2-f32 equal
    paired "$1" "$2"
    equal=$(same "$file" "$file.golden" "$file.limit")
    line "$1" "$2 f32, its pairs" "" "" reference "" "${equal%% *}" "$file"
    verdict "$1 $2 f32: ${equal#* } lines are the reference's, 98 % asked for" \
        at_least "${equal%% *}" 98
}

verdict "bleu.py computes the known values" python3 tools/bleu.py --test
cat > "$table" << 'EOF'
| set | output | BLEU | chrF2 | compared with | difference | identical lines, % | seconds |
|---|---|---|---|---|---|---|---|
EOF
for set in ${SETS:-koran it law emea}; do
    prepare $set || { failed=$((failed + 1)); echo "FAIL $set: preparing"; continue; }
    for run in nmt sk1 sk2; do check_run $set $run; done
    check_way $set f32-keys '' --key-type f32
    check_way $set pruned 97 --prune 2.5 $(key_file $set)
    [ "${MODEL:-}" ] ||
        for run in nmt sk1 sk2; do check_paired $set $run; done
done

echo
"$build/skmt" info --model $model | sed -n 's/^name */model: /p'
echo "$threads threads; f32 rows: every $every. line; EMEA" \
    "$([ "$learns" ] && echo 'learned line by line' || echo 'with given pairs')"
echo
cat "$table"
echo
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
