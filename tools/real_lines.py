#!/usr/bin/env python3
"""real_lines.py - print lines of text in ten scripts and German, for tests of
tokenizers.

    tools/real_lines.py LINES SHARED

The lines come from eleven sources in turn. German and English are from the test
sets in SHARED/corpora, if they are there, the others from the message catalogs
(.mo) on this machine. There may be fewer than LINES.
"""
import gettext
import glob
import itertools
import sys


def catalog(language):
    for path in sorted(glob.glob(
            f"/usr/share/locale/{language}/LC_MESSAGES/*.mo")):
        try:
            with open(path, "rb") as f:
                messages = gettext.GNUTranslations(f)._catalog
        except (OSError, ValueError, UnicodeError):
            continue
        for key in sorted(messages, key=str):
            for line in messages[key].split("\n") if key else []:
                if any(ord(c) > 127 for c in line) and "\0" not in line:
                    yield line


def corpus(shared):
    for path in sorted(glob.glob(shared + "/corpora/*/test.tsv")):
        with open(path, encoding="utf-8") as f:
            for line in f:
                yield from line.rstrip("\n").split("\t")


def main():
    limit, shared = int(sys.argv[1]), sys.argv[2]
    sources = [corpus(shared)] + [catalog(x) for x in (
        "ru", "el", "ar", "he", "hi", "th", "zh_CN", "ja", "ko", "vi")]
    rows = itertools.chain.from_iterable(itertools.zip_longest(*sources))
    for line in itertools.islice((x for x in rows if x is not None), limit):
        sys.stdout.buffer.write(line.replace("\r", " ").encode() + b"\n")


main()
