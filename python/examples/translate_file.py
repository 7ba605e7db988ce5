#!/usr/bin/env python3
"""translate_file.py - translate a text file line by line.

    python3 translate_file.py letter.txt [letter.en.txt [MEMORY]]
"""
import os
import sys

import skmt


def main(source, target=None, memory=None):
    model = skmt.Model()
    out = open(target, "w", encoding="utf-8") if target else sys.stdout
    with open(source, encoding="utf-8", errors="surrogateescape") as lines:
        texts = (line.rstrip("\n") for line in lines)
        for translation in model.stream(texts, memory=memory,
                                        threads=os.cpu_count() or 1,
                                        invalid="replace"):
            print(translation, file=out)
    if target:
        out.close()


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (skmt.Error, OSError) as e:
        sys.exit(f"translate_file.py: {e}")
