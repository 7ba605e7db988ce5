#!/bin/bash
# steered.sh - translate whole test sets with their memories and compare with
# the reference implementation.
#
#     tests/long/steered.sh
#
# For Koran, IT, law and EMEA, with unsplit lines and beam 4:
#   - int8 weights with our own retrieval and the presets paper-sk1 and
#     paper-sk2, so that the search is that of the reference: BLEU differs from
#     golden/README.md by at most 0.2 for the model alone and 0.3 for sk1 and
#     sk2;
#   - sk2: BLEU with f32 keys differs from that with int8 keys by at most 0.1;
#     BLEU with --prune 2.5, the default of the presets sk1 and sk2, differs
#     from that without pruning by at most 0.1, and at least 97 % of the lines
#     are equal;
#   - f32 with the pairs of the reference (--pairs): at least 98 % of the lines
#     equal those of the reference, without the lines that the reference cut off
#     at its length limit.
#
# The reference reads the first 250 pieces of a line and ignores the others. The
# engine translates the whole line, and this alone changes BLEU on IT by 0.3
# (two lines). The engine therefore gets what the reference has read; the rows
# "whole" show the result for whole lines, as a user would get it.
#
# EMEA is translated by "skmt learn --simulate"; each document starts with an
# empty memory. If the program has no such command, EMEA is translated with the
# pairs of the reference.
#
# The models are converted from ../shared/model, because the outputs of the
# reference were made with these weights. MODEL=FILE uses this int8 model instead
# (MODEL=models/de-en.skmt for the shipped one). Its scores are printed, but
# cannot fail, because other weights give other lines; the rows of f32 are
# omitted.
#
# BUILD=dir     the build to use (build)
# THREADS=N     2
# SETS="it"     only these of koran, it, law, emea
# EVERY=N       with f32 translate only every N-th line
# LINES_MAX=N   translate only the first N lines; their BLEU is printed, but
#               cannot fail
#
# The table is also written to BUILD/long/steered.md (steered-NAME.md with
# MODEL). Outputs that are newer than the program and this file are not made
# again, so an interrupted run can be continued. The last line is "N passed, N failed, N skipped", as in every
# test.
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

verdict() {     # description, command that succeeds if the test passes
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)) what="ok   $what"
    else failed=$((failed + 1)) what="FAIL $what"; fi
    echo "$what"
}

at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b) }'; }
# False also if one of the scores is missing.
within() {
    awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN {
        x = a - b
        exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && x <= d + 1e-9 &&
               -x <= d + 1e-9)
    }'
}

# Check a difference in BLEU, but only print it if LINES_MAX or MODEL is given:
# BLEU of a few lines varies too much, and other weights have another BLEU.
near() {        # description BLEU other limit
    if [ "$most" -lt 1000000 ] || [ "${MODEL:-}" ]; then
        echo "     $1: BLEU $2, $3"
    else verdict "$1: BLEU $2, $3 (target: $4 apart at most)" \
             within "${2##* }" "${3##* }" "$4"; fi
}

minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.2f", a - b }'; }

# ---- inputs and outputs of the reference -----------------------------------

# Write these files:
#   SET.de          the lines, as far as the reference read them
#   SET.en          the reference translations
#   SET.docs        document, source and reference translation
#   SET.long        the numbers of lines of which it read only a part
#   SET.whole       these lines in full
#   SET.RUN.golden  the outputs of the reference implementation in a run
#   SET.RUN.limit   1 if it cut off the output, else 0
#   SET.RUN.pairs   the pairs that it used
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

# Print BLEU and chrF2 of a run, such as "12.92 35.29", from the table of scores
# in golden/README.md.
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

memory() {      # set: print the path of its memory; create it if necessary
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

# Run a command and write its output to $1, unless $1 is up to date and has as
# many lines as $2. The time it took is written to $1.seconds.
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
        echo "FAIL ${output##*/}: translation failed"
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

key_file() {    # set: print the option for its key file; skmt learn needs none
    [ "$1" = emea ] && [ "$learns" ] || echo "--key-file $out/$1.keys"
}

# Translate with the int8 model, its memory and the settings of the paper.
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

# Write SET.RUN-whole: SET.RUN, but the long lines are translated in full.
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

# Translate with f32 and the pairs of the reference: write SET.RUN-f32, and the
# corresponding lines of the reference to SET.RUN-f32.golden.
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

score() {       # set file: print BLEU and chrF2 ("12.92 35.29"), or "- -"
    local both
    both=$(python3 tools/bleu.py "$out/$1.en" "$2" | cut -d ' ' -f 1,2)
    echo "${both:-- -}"
}

# Print percentage and number of equal lines, such as "98.70 2964 of 3003".
# Lines that have a 1 in the third file are not counted.
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

wanted() {      # set run: print the scores of the reference for these lines
    if [ "$most" -lt 1000000 ]; then score "$1" "$out/$1.$2.golden"
    else stated "$1" "$2"; fi
}

check_run() {   # set run
    local set=$1 run=$2 file=$out/$1.$2 limit=0.3 want got
    [ "$run" = nmt ] && limit=0.2
    want=$(wanted "$set" "$run")
    got=$(score "$set" "$file.golden")
    near "$set $run: outputs of the reference" "${got% *}" \
        "golden/README.md ${want% *}" 0.01
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

# Run sk2 with other options and compare with sk2.
check_way() {   # set name least-percent-of-equal-lines-or-'' option ..
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
    verdict "$set $way: ${equal#* } lines are equal (target: $least %)" \
        at_least "${equal%% *}" "$least"
}

check_paired() {        # set run
    local file=$out/$1.$2-f32 equal
    paired "$1" "$2"
    equal=$(same "$file" "$file.golden" "$file.limit")
    line "$1" "$2 f32, its pairs" "" "" reference "" "${equal%% *}" "$file"
    verdict "$1 $2 f32: ${equal#* } lines equal the reference (target: 98 %)" \
        at_least "${equal%% *}" 98
}

verdict "bleu.py computes the known values" python3 tools/bleu.py --test
cat > "$table" << 'EOF'
| set | output | BLEU | chrF2 | compared with | difference | identical lines, % | seconds |
|---|---|---|---|---|---|---|---|
EOF
for set in ${SETS:-koran it law emea}; do
    prepare $set || { failed=$((failed + 1)); echo "FAIL $set: cannot prepare the files"; continue; }
    for run in nmt sk1 sk2; do check_run $set $run; done
    check_way $set f32-keys '' --key-type f32
    check_way $set pruned 97 --prune 2.5 $(key_file $set)
    [ "${MODEL:-}" ] ||
        for run in nmt sk1 sk2; do check_paired $set $run; done
done

echo
"$build/skmt" info --model $model | sed -n 's/^name */model: /p'
echo "$threads threads; f32 rows: one line in $every; EMEA:" \
    "$([ "$learns" ] && echo 'skmt learn' || echo 'pairs of the reference')"
echo
cat "$table"
echo
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
