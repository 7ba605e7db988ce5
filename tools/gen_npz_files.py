#!/usr/bin/env python3
"""gen_npz_files - write .npz files with numpy, for tests of our reader.

    /usr/bin/python3 tools/gen_npz_files.py FOLDER

Needs Debian's python3-numpy. tests/data/npz has the result:

  stored.npz      written by numpy.savez()
  deflated.npz    the same arrays, by numpy.savez_compressed()
  versions.npz    headers of the versions 1, 2 and 3 of the .npy format
"""
import io
import os
import sys
import zipfile

import numpy as np


def arrays():
    matrix = np.arange(-8, 12).reshape(4, 5)
    out = {kind: matrix.astype(kind) for kind in
           ("f4", "f2", "f8", "i1", "u1", "i2", "i4", "i8")}
    out["f4"] = out["f4"] / 8
    out["u1"] = out["u1"] | 128
    return out | {
        "scalar": np.float32(2.5), "vector": np.arange(3, dtype="f4"),
        "row": np.arange(3, dtype="f4")[None], "cube": np.ones((2, 3, 4), "f4"),
        "empty": np.ones((0, 3), "f4"), "flags": np.array([True, False]),
        "text": np.frombuffer(b"type: transformer\n\0\0", "i1"),
        "words": np.array(["a", "bc"]),
        "large": (np.arange(70000) % 7).reshape(100, 700).astype("f4")
    }


def write_versions(path):
    with zipfile.ZipFile(path, "w") as z:
        for version in (1, 2, 3):
            f = io.BytesIO()
            np.lib.format.write_array(f, np.full((2, 2), version, "f4"),
                                      version=(version, 0))
            info = zipfile.ZipInfo(f"v{version}.npy", (2020, 1, 1, 0, 0, 0))
            z.writestr(info, f.getvalue())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = sys.argv[1]
    small = {k: v for k, v in arrays().items() if k != "large"}
    np.savez(os.path.join(folder, "stored.npz"), **small)
    np.savez_compressed(os.path.join(folder, "deflated.npz"), **arrays())
    write_versions(os.path.join(folder, "versions.npz"))


if __name__ == "__main__":
    main()
