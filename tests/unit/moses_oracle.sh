#!/bin/bash
# moses_oracle.sh - compare BPE tokenizers with Moses rules with
# tools/moses_reference.py.
#
#   tests/unit/moses_oracle.sh [-l LINES]
#
# The text has LINES lines (default 150) of each kind: made-up lines with what
# the rules look at (quotation marks, abbreviations, numbers, spaces of all
# kinds); random Unicode with invalid bytes; made-up lines in ten scripts; and
# lines in ten scripts from the message catalogs and the test sets that are on
# this machine. For each configuration, the ids of the lines must be the same,
# and the text of these ids and of random ids. Prints the number of lines
# compared and of lines that differ. Exits with 1 on any difference, with 77 if
# perl is missing.
set -eu
cd "$(dirname "$0")/../.."
lines=150
[ "${1:-}" != -l ] || { lines=$2; shift 2; }
command -v perl >/dev/null || { echo "skip: perl is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
compile() {                     # compile NAME
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -Isrc \
        "tests/unit/$1.c" src/text/*.c src/convert/vocabulary.c \
        src/convert/spm_rewrite.c src/base/err.c src/base/strbuf.c \
        src/base/mem.c src/base/map64.c src/base/file.c \
        -ljansson -lyaml -lutf8proc -lm -o "$dir/$1"
}
compile moses_tool
compile spm_tool
reference=tools/moses_reference.py
export MOSES_CACHE=$dir

$reference lines "$lines" 1 >"$dir/rules"
"$dir/spm_tool" gen "$lines" 1 >"$dir/random"
"$dir/spm_tool" scripts "$lines" 1 >"$dir/made"
tools/real_lines.py "$lines" "${SKMT_SHARED:-../shared}" >"$dir/real"
cat "$dir/rules" "$dir/random" "$dir/made" "$dir/real" |
    $reference assigned >"$dir/text"
echo "lines: $(wc -l <"$dir/rules") for the rules, $(wc -l <"$dir/random")" \
    "random, $(wc -l <"$dir/made") in ten scripts, $(wc -l <"$dir/real") real"
passed=0 failed=0 compared=0 different=0

same() {                        # same WHAT: are $dir/want and $dir/got equal
    n=$(wc -l <"$dir/want")
    bad=$(diff -a "$dir/want" "$dir/got" | grep -a -c '^<' || true)
    [ "$n" = "$(wc -l <"$dir/got")" ] || bad=$n
    compared=$((compared + n)) different=$((different + bad))
    if [ "$bad" = 0 ]; then
        echo "same: $1, $n lines"
        passed=$((passed + 1))
    else
        echo "DIFFERENT: $1: $bad of $n lines"
        diff -a "$dir/want" "$dir/got" | head -4 || true
        failed=$((failed + 1))
    fi
}

# Merges and a truecaser, learned from the words of a part of the text.
common=tokenize,dashes,escape
head -800 "$dir/text" >"$dir/some"
echo "a b 1" >"$dir/codes"
$reference words de $common fastbpe at "$dir/codes" - <"$dir/some" >"$dir/words"
$reference learn 1500 <"$dir/words" >"$dir/fastbpe"
{ echo "#version: 0.2"; sed 's/ [0-9]*$//' "$dir/fastbpe"; } >"$dir/v2"
{ sed 's/ [0-9]*$//; s/<\/w>$/ <\/w>/; t; s/$//' "$dir/fastbpe" |
    awk 'NF == 3 { print $2, $3; print $1, $2 $3; next } { print }'; } >"$dir/v1"
sed 's/ [0-9]*$//' "$dir/fastbpe" >"$dir/merges"
$reference train <"$dir/words" >"$dir/cases"

# run LANGUAGE STEPS FORM MARKS CODES [TRUECASER]
run() {
    name="$1 $3 $4 ${2:-no steps}"
    config=("$1" "$2" "$3" "$4" "$dir/$5" "$dir/pieces")
    more=${6:+$dir/$6}
    # Every other line gives pieces, so some words are unknown.
    awk 'NR % 2' "$dir/some" |
        $reference pieces "${config[@]}" $more >"$dir/pieces"
    "$dir/moses_tool" make "${config[@]}" $more >"$dir/model"
    $reference encode "${config[@]}" $more <"$dir/text" >"$dir/want"
    "$dir/spm_tool" encode "$dir/model" <"$dir/text" >"$dir/got"
    same "$name, encode"
    { cat "$dir/got"
      "$dir/spm_tool" ids $((2 * lines)) 2 "$(wc -l <"$dir/pieces")"
    } >"$dir/ids"
    $reference decode "${config[@]}" $more <"$dir/ids" >"$dir/want"
    "$dir/spm_tool" decode "$dir/model" <"$dir/ids" >"$dir/got"
    same "$name, decode"
}

fairseq=$common,detokenize
fsmt=wide,normalize,drop-controls,$fairseq
opus=wide,wide-one-quote,blank-controls,normalize,perl,$fairseq
argos=normalize,tokenize,escape,detokenize
run de "$fairseq" fastbpe at fastbpe
run en "$fairseq" subword-nmt at v2
run ru "$fsmt" merges word-end merges
run en "$fsmt" merges word-end merges
run de "$fsmt" merges word-end merges
run de "$opus" subword-nmt at v2
run en "$opus" subword-nmt at v1
for language in fr fi cs ca tdt zh ga so hu; do
    run "$language" "$opus" subword-nmt at v2
done
run de "$opus,detruecase" subword-nmt at v2 cases
run en "$opus,detruecase" subword-nmt at v1 cases
for language in es fr it cs ja ko hi pl; do
    run "$language" "$argos" subword-nmt at v2
done
run de "" fastbpe at fastbpe
run xx "normalize,perl,tokenize,detokenize" fastbpe at fastbpe
echo "$compared lines compared, $different different"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
