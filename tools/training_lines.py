#!/usr/bin/env python3
"""Choose pairs of a memory from which learned trust can learn most.

    tools/training_lines.py SKMT MODEL MEMORY SEED FILE:COUNT .. > LINES

Draws COUNT random pairs of each FILE (source, tab, translation; FILE.xz is read
if FILE does not exist), searches MEMORY for their sources, and writes those for
which another pair with a similarity of at least 0.6 is stored. These are the
sentences that differ from a stored one by a word or two: the network must learn
from them where not to copy, and they are rare in most sets.
"""
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile

LEAST = 0.6


def read_pairs(path):
    """The pairs of a file that are neither very short nor very long."""
    if os.path.exists(path):
        lines = open(path, encoding="utf-8")
    else:
        lines = lzma.open(path + ".xz", "rt", encoding="utf-8")
    with lines:
        return [x for x in lines if x.count("\t") == 1 and 25 < len(x) < 400]


def similarities(skmt, model, memory, sources):
    """For each source the similarity of the best pair with another source."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
        f.write("".join(s + "\n" for s in sources))
        f.flush()
        out = subprocess.run(
            [skmt, "tm", "search", memory, "-m", model, "--json", "--quiet",
             "--matches", "8", "-f", f.name], check=True,
            stdout=subprocess.PIPE).stdout
    lines = out.split(b"\n")[:-1]
    assert len(lines) == len(sources)
    for source, line in zip(sources, lines):
        yield max([m["similarity"] for m in json.loads(line)["matches"]
                   if m["source"] != source], default=0)


def main():
    skmt, model, memory, seed = sys.argv[1:5]
    rng = random.Random(int(seed))
    lines = []
    for item in sys.argv[5:]:
        path, count = item.rsplit(":", 1)
        lines += rng.sample(read_pairs(path), int(count))
    sources = [x.split("\t")[0] for x in lines]
    for line, best in zip(lines, similarities(skmt, model, memory, sources)):
        if best >= LEAST:
            sys.stdout.write(line)


if __name__ == "__main__":
    main()
