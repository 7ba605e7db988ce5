#!/bin/bash
# spm_oracle.sh - compare our tokenizer with Debian's spm_encode, spm_decode.
#
#   tests/unit/spm_oracle.sh [-l LINES] [MODEL]
#
# The text has LINES lines (default 3000) of each kind: random Unicode and mixed
# text, the same in every run (long lines, control characters, invalid bytes,
# emoji, combining marks and zero-width characters); made-up lines in ten
# scripts; and lines in ten scripts from the message catalogs and the test sets
# that are on this machine. The default MODEL is the tokenizer of the shipped
# model. The script also compares models that it trains: unigram and BPE, with
# byte fallback, user-defined symbols, suffix spaces, and the normalizations
# nmt_nfkc, nmt_nfkc_cf, nfkc_cf and identity.
#
# Each model is also rewritten for a vocabulary (convert/spm_rewrite.h). The new
# model must give the same pieces and the same text, in our tokenizer and in
# SentencePiece. Exits with 1 on any difference, with 77 if the package
# sentencepiece is not installed.
set -eu
cd "$(dirname "$0")/../.."
lines=3000
[ "${1:-}" != -l ] || { lines=$2; shift 2; }
model=${1:-}
for p in spm_encode spm_decode spm_train spm_export_vocab; do
    command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The tensor tokenizer.spm of a model file (docs/formats/model.md).
if [ -z "$model" ] && [ -e models/de-en.skmt ]; then
    model=$dir/de-en.spm
    python3 - models/de-en.skmt "$model" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
directory, _, count = struct.unpack_from("<QII", data, 32)
for at in range(directory, directory + 128 * count, 128):
    if data[at:at + 64].rstrip(b"\0") == b"tokenizer.spm":
        offset, size = struct.unpack_from("<QQ", data, at + 88)
        open(sys.argv[2], "wb").write(data[offset:offset + size])
END
fi

${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -Isrc \
    tests/unit/spm_tool.c src/text/*.c src/convert/vocabulary.c \
    src/convert/spm_rewrite.c src/base/err.c src/base/strbuf.c \
    src/base/mem.c src/base/map64.c src/base/file.c \
    -ljansson -lyaml -lutf8proc -lm -o "$dir/tool"
"$dir/tool" gen "$lines" 1 >"$dir/random"
"$dir/tool" scripts "$lines" 1 >"$dir/made"
tools/real_lines.py "$lines" "${SKMT_SHARED:-../shared}" >"$dir/real"
cat "$dir/random" "$dir/made" "$dir/real" >"$dir/text"
echo "lines: $(wc -l <"$dir/random") random, $(wc -l <"$dir/made") in ten" \
    "scripts, $(wc -l <"$dir/real") real"
passed=0 failed=0

same() {                        # same WHAT: are $dir/want and $dir/got equal
    if cmp "$dir/want" "$dir/got" >"$dir/where"; then
        echo "same: $1, $(wc -l <"$dir/want") lines"
        passed=$((passed + 1))
    else
        echo "DIFFERENT: $1: $(cat "$dir/where")"
        failed=$((failed + 1))
    fi
}

compare_ids() {                 # compare_ids NAME MODEL
    spm_encode --model="$2" --output_format=id <"$dir/text" >"$dir/want"
    "$dir/tool" encode "$2" <"$dir/text" >"$dir/got"
    same "$1, encode"
    n=$(spm_export_vocab --model="$2" | wc -l)
    { cat "$dir/got"; "$dir/tool" ids "$lines" 2 "$n"; } >"$dir/ids"
    spm_decode --model="$2" --input_format=id <"$dir/ids" >"$dir/want"
    "$dir/tool" decode "$2" <"$dir/ids" >"$dir/got"
    same "$1, decode"
}

compare() {                     # compare NAME MODEL
    compare_ids "$1" "$2"
    "$dir/tool" rewrite "$2" 7 >"$dir/new.model" 2>"$dir/log"
    "$dir/tool" pieces "$2" <"$dir/text" >"$dir/want"
    "$dir/tool" pieces "$dir/new.model" <"$dir/text" >"$dir/got"
    same "$1, rewritten"
    spm_encode --model="$2" <"$dir/text" >"$dir/want"
    spm_encode --model="$dir/new.model" <"$dir/text" >"$dir/got"
    same "$1, rewritten, read by SentencePiece"
    compare_ids "$1, rewritten" "$dir/new.model"
}

train() {                       # train NAME OPTION...
    name=$1
    shift
    if spm_train --input="$dir/train" --model_prefix="$dir/$name" \
        --vocab_size=4000 --character_coverage=0.98 \
        --hard_vocab_limit=false --minloglevel=2 "$@" \
        >/dev/null 2>"$dir/log"
    then
        compare "$name" "$dir/$name.model"
    else
        echo "FAIL: spm_train $name: $(tail -1 "$dir/log")"
        failed=$((failed + 1))
    fi
}

[ -z "$model" ] || compare "$(basename "$model")" "$model"
symbols='<mask>,der,a▁b,▁▁,</x>,don'
{ cat tests/golden/tokens.jsonl
  head -2000 "$dir/made"
  head -2000 "$dir/real"
  head -3000 "$dir/random" | LC_ALL=C grep -av '[^ -~]' | cut -c1-2000
} >"$dir/train"
printf '64 69 65\t44 49 45\n' >"$dir/denorm.tsv"
train unigram --user_defined_symbols="$symbols" --control_symbols='<c>'
train unigram-bytes --byte_fallback --add_dummy_prefix=false \
    --denormalization_rule_tsv="$dir/denorm.tsv"
train unigram-suffix --treat_whitespace_as_suffix --unk_surface='[?]' \
    --normalization_rule_name=nmt_nfkc_cf
train unigram-cf --byte_fallback --normalization_rule_name=nfkc_cf
train unigram-as-is --normalization_rule_name=identity \
    --remove_extra_whitespaces=false --allow_whitespace_only_pieces
train bpe --model_type=bpe
train bpe-bytes --model_type=bpe --byte_fallback \
    --user_defined_symbols="$symbols" --control_symbols='<c>'
train bpe-suffix --model_type=bpe --treat_whitespace_as_suffix
train bpe-cf --model_type=bpe --normalization_rule_name=nfkc_cf --byte_fallback
train bpe-as-is --model_type=bpe --normalization_rule_name=identity \
    --remove_extra_whitespaces=false
train bpe-phrases --model_type=bpe --split_by_whitespace=false
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
