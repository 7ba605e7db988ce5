#!/usr/bin/env python3
"""torch_samples - write files with torch.save(), for the tests of their reader.

    tools/torch_samples.py FOLDER

tests/data/torch has the result of PyTorch 1.13: plain dicts of tensors, and
checkpoints with settings, in the zip form and in the older one. FILE.json lists
the tensors of FILE.pt with their shapes, types and values. It needs the Debian
package python3-torch. The seed is fixed.
"""
import argparse
import collections
import json
import os
import sys

import torch


def samples():
    """Tensors of all types, and all ways to look at a storage."""
    g = torch.Generator().manual_seed(1)
    base = torch.randn(6, 5, generator=g)
    return collections.OrderedDict([
        ("whole", base), ("view", base[1:4, 2:]), ("column", base[:, 3]),
        ("transposed", base.t()), ("tied", base),
        ("expanded", base[2:3].expand(4, 5)),
        ("half", base.half()), ("bf16", base.bfloat16()),
        ("double", base.double()), ("int64", torch.arange(7)),
        ("int32", torch.arange(7, dtype=torch.int32)),
        ("int16", torch.arange(5, dtype=torch.int16)),
        ("int8", torch.arange(-3, 4, dtype=torch.int8)),
        ("uint8", torch.arange(250, 256, dtype=torch.uint8)),
        ("bool", torch.tensor([True, False, True])),
        ("scalar", torch.tensor(2.5)),
        ("parameter", torch.nn.Parameter(base[:2])),
        ("cube", torch.randn(2, 3, 4, generator=g)),
        ("empty", torch.zeros(0, 4)),
    ])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    tensors = samples()
    listing = {name: {"shape": list(t.shape),
                      "type": str(t.dtype).replace("torch.", ""),
                      "values": t.detach().double().flatten().tolist()}
               for name, t in tensors.items()}
    settings = argparse.Namespace(
        arch="transformer", encoder_layers=6, lr=[0.1], clip=None,
        share_all_embeddings=True)
    checkpoint = {
        "args": settings, "epoch": 3, "best": 1.25, "flags": {1, 2},
        "model": tensors, "pair": (1, "a"), "large": 1 << 80,
        "optimizer": {"state": {0: {"step": torch.tensor(5)}}}}
    for name, what, options in (
            ("real_zip", tensors, {}),
            ("real_zip_checkpoint", checkpoint, {}),
            ("real_legacy", tensors,
             {"_use_new_zipfile_serialization": False}),
            ("real_legacy_checkpoint", checkpoint,
             {"_use_new_zipfile_serialization": False}),
            ("real_protocol4", tensors, {"pickle_protocol": 4})):
        path = os.path.join(folder, name)
        torch.save(what, path + ".pt", **options)
        with open(path + ".json", "w") as f:
            json.dump(listing, f, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main()
