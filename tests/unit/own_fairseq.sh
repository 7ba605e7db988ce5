#!/bin/bash
# own_fairseq.sh - write the model of the full golden sets as fairseq would,
# convert it back, and compare its outputs with the references.
#
#   tests/unit/own_fairseq.sh
#
# All tokens of all translations in golden/beam.jsonl must be the same, and
# their log-probabilities and scores within the rounding of the file. Prints how
# many are. $LINES_MAX is the number of sentences (all; 4 with sanitizers).
# Exits with 77 if the model, numpy or SentencePiece is missing.
set -eu
cd "$(dirname "$0")/../.."
shared=${SKMT_SHARED:-../shared}
build=${BUILD:-build}
lines=${LINES_MAX:-$([ "${SAN:-}" ] && echo 4 || echo 100000)}
for needed in "$shared/model/model.safetensors" "$shared/golden/beam.jsonl" \
    /usr/lib/python3/dist-packages/numpy /usr/bin/spm_export_vocab; do
    [ -e "$needed" ] || { echo "skip: there is no $needed"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

/usr/bin/python3 tools/own_as.py "$shared/model" "$dir/fairseq" fairseq
"$build/skmt" convert --from "$dir/fairseq" --type f32 -o "$dir/own.skmt" |
    sed -n '/^network/p; /^positions/p; /^vocabulary/p'
head -n "$lines" "$shared/golden/beam.jsonl" > "$dir/golden"
python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["src"])' < "$dir/golden" |
    "$build/skmt" translate -m "$dir/own.skmt" --json --split none --beam 4 \
    --lenpen-type gnmt --lenpen 0.6 --max-len-a 1.2 --max-len-b 64 \
    > "$dir/got"
python3 - "$dir" <<'END'
import json, sys

order = json.load(open(sys.argv[1] + "/fairseq/order.json"))
n = same = 0
for want, got in zip(open(sys.argv[1] + "/golden"), open(sys.argv[1] + "/got"),
                     strict=True):
    want, got = json.loads(want), json.loads(got)
    segment = got["segments"][0]
    source = [order[p["id"]] for p in segment["source"]]
    ids = [order[t["id"]] for t in segment["tokens"]]
    n += 1
    if (source == want["src_ids"] and ids[:-1] == want["out_ids"]
            and got["text"] == want["out"]
            and abs(got["logprob"] - want["logprob"]) < 5e-3
            and abs(got["score"] - want["score"]) < 2e-3):
        same += 1
    else:
        print("differs:", want["out"], "/", got["text"])
print(f"our model as fairseq: {same} of {n} identical")
sys.exit(n == 0 or same != n)
END
