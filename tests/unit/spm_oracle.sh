#!/bin/sh
# spm_oracle.sh - compare our tokenizer with Debian's spm_encode, spm_decode.
#
#   tests/unit/spm_oracle.sh [MODEL [LINES]]
#
# The text is random Unicode and mixed text, the same in every run: long lines,
# control characters, invalid bytes, emoji, combining marks and zero-width
# characters. The default MODEL is the tokenizer of the shipped model. The
# script also compares models that it trains: unigram and BPE with byte fallback,
# user-defined symbols, suffix spaces and no normalization. Exits with 1 on any
# difference, with 77 if the package sentencepiece is not installed.
set -eu
cd "$(dirname "$0")/../.."
model=${1:-}
lines=${2:-20000}
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
    tests/unit/spm_tool.c src/text/*.c src/base/err.c src/base/strbuf.c \
    src/base/mem.c src/base/file.c -lutf8proc -lm -o "$dir/tool"
"$dir/tool" gen "$lines" 1 >"$dir/text"
differ=0

same() {                        # same WHAT: are $dir/want and $dir/got equal
    if cmp "$dir/want" "$dir/got" >"$dir/where"; then
        echo "same: $1, $(wc -l <"$dir/want") lines"
    else
        echo "DIFFERENT: $1: $(cat "$dir/where")"
        differ=1
    fi
}

compare() {                     # compare NAME MODEL
    spm_encode --model="$2" --output_format=id <"$dir/text" >"$dir/want"
    "$dir/tool" encode "$2" <"$dir/text" >"$dir/got"
    same "$1, encode"
    n=$(spm_export_vocab --model="$2" | wc -l)
    { cat "$dir/got"; "$dir/tool" ids "$lines" 2 "$n"; } >"$dir/ids"
    spm_decode --model="$2" --input_format=id <"$dir/ids" >"$dir/want"
    "$dir/tool" decode "$2" <"$dir/ids" >"$dir/got"
    same "$1, decode"
}

train() {                       # train NAME OPTION...
    name=$1
    shift
    spm_train --input="$dir/train" --model_prefix="$dir/$name" \
        --vocab_size=1500 --hard_vocab_limit=false --minloglevel=2 "$@" \
        >/dev/null 2>&1
    compare "$name" "$dir/$name.model"
}

[ -z "$model" ] || compare "$(basename "$model")" "$model"
symbols='<mask>,der,a▁b,▁▁,</x>,don'
{ cat tests/golden/tokens.jsonl
  head -3000 "$dir/text" | LC_ALL=C grep -av '[^ -~]' | cut -c1-2000
} >"$dir/train"
printf '64 69 65\t44 49 45\n' >"$dir/denorm.tsv"
train unigram --user_defined_symbols="$symbols" --control_symbols='<c>'
train unigram-bytes --byte_fallback --add_dummy_prefix=false \
    --denormalization_rule_tsv="$dir/denorm.tsv"
train unigram-suffix --treat_whitespace_as_suffix --unk_surface='[?]' \
    --normalization_rule_name=nmt_nfkc_cf
train unigram-as-is --normalization_rule_name=identity \
    --remove_extra_whitespaces=false --allow_whitespace_only_pieces
train bpe --model_type=bpe
train bpe-bytes --model_type=bpe --byte_fallback --character_coverage=0.99 \
    --user_defined_symbols="$symbols" --control_symbols='<c>'
train bpe-suffix --model_type=bpe --treat_whitespace_as_suffix
train bpe-as-is --model_type=bpe --normalization_rule_name=identity \
    --remove_extra_whitespaces=false
train bpe-phrases --model_type=bpe --split_by_whitespace=false
exit $differ
