#!/bin/bash
# convert_stream.sh - a checkpoint of 5 GB is converted in less than 1 GB of
# memory.
#
#     tests/long/convert_stream.sh
#
# The checkpoint is made up: NLLB-200 with 24 + 24 layers, d_model 1024,
# feed-forward 8192 and 256,206 tokens, in float32. All of its weights are zero,
# so its file is sparse. It is converted from a folder, and from a zip archive
# where it is deflated. Needs 2 GB in $TMPDIR.
set -u
cd "$(dirname "$0")/../.." || exit 1
make -s -j"$(nproc 2>/dev/null || echo 1)" all || exit 1
BUILD=$PWD/${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
free=$(df -Pk "$dir" | awk 'END { print $4 }')
[ "$free" -gt 2500000 ] || {
    echo "skip convert_stream: $dir has less than 2.5 GB"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

python3 - "$dir/nllb" <<'END'
import json, os, struct, sys
folder, pieces, d, f, layers, v = sys.argv[1], 256000, 1024, 8192, 24, 256206
os.mkdir(folder)

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def piece(text, score, kind):
    text = text.encode()
    body = (b"\x0a" + varint(len(text)) + text + b"\x15" +
            struct.pack("<f", score) + b"\x18" + bytes([kind]))
    return b"\x0a" + varint(len(body)) + body

with open(folder + "/sentencepiece.bpe.model", "wb") as spm:
    for i, name in enumerate(("<unk>", "<s>", "</s>")):
        spm.write(piece(name, 0, 3 if i else 2))
    for i in range(pieces - 3):
        spm.write(piece(f"p{i}", -i, 1))
    spm.write(b"\x12\x02\x18\x02")              # model_type: BPE
    spm.write(b"\x1a\x02\x18\x01")

tensors = {"model.shared.weight": [v, d]}
for side, blocks in (("encoder", ["self_attn"]),
                     ("decoder", ["self_attn", "encoder_attn"])):
    norms = [f"{side}.layer_norm"]
    for i in range(layers):
        base = f"{side}.layers.{i}."
        for block in blocks:
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                tensors[f"model.{base}{block}.{part}.weight"] = [d, d]
                tensors[f"model.{base}{block}.{part}.bias"] = [d]
            norms.append(base + block + "_layer_norm")
        for name, n, k in (("fc1", f, d), ("fc2", d, f)):
            tensors[f"model.{base}{name}.weight"] = [n, k]
            tensors[f"model.{base}{name}.bias"] = [n]
        norms.append(base + "final_layer_norm")
    for name in norms:
        for kind in ("weight", "bias"):
            tensors[f"model.{name}.{kind}"] = [d]
head, at = {}, 0
for name, shape in tensors.items():
    size = 4
    for n in shape:
        size *= n
    head[name] = {"dtype": "F32", "shape": shape,
                  "data_offsets": [at, at + size]}
    at += size
with open(folder + "/model.safetensors", "wb") as out:
    text = json.dumps(head).encode()
    out.write(struct.pack("<Q", len(text)) + text)
    out.truncate(8 + len(text) + at)
json.dump({"model_type": "m2m_100", "d_model": d, "vocab_size": v,
           "encoder_layers": layers, "decoder_layers": layers,
           "encoder_ffn_dim": f, "decoder_ffn_dim": f,
           "encoder_attention_heads": 16, "decoder_attention_heads": 16,
           "max_position_embeddings": 1024}, open(folder + "/config.json", "w"))
END

# Convert PATH and compare the largest resident memory with 1 GB.
convert() {
    python3 - "$BUILD/skmt" "$2" "$dir/out.skmt" "$1" <<'END'
import os, resource, subprocess, sys, time
program, path, out, name = sys.argv[1:]
begin = time.monotonic()
rc = subprocess.run([program, "convert", "--from", path, "-q", "-o", out],
                    stderr=subprocess.DEVNULL).returncode
kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if rc:
    sys.exit(f"FAIL convert_stream: {name}: exit status {rc}")
print(f"{name}: {kb / 1000:.0f} MB, {time.monotonic() - begin:.0f} s, "
      f"{os.path.getsize(out) / 1e9:.2f} GB written")
os.unlink(out)
if kb > 1000000:
    sys.exit(f"FAIL convert_stream: {name} took {kb} kB")
END
}

passed=0 failed=0
check() { if convert "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

ls -sl "$dir/nllb/model.safetensors" | awk '{ printf "checkpoint: %.2f GB, %d kB on the disk\n", $6 / 1e9, $1 }'
check folder "$dir/nllb"
python3 -c 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[1])' "$dir/nllb"
check "zip archive" "$dir/nllb.zip"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
