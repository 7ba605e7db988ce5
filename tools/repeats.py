#!/usr/bin/env python3
"""repeats - count the lines of translations that repeat a word or phrase.

    tools/repeats.py [--list] [--source SOURCE] FILE...

A line counts if a word or punctuation mark, or a phrase of two to four of them,
occurs three or more times in a row. Case is ignored. An ellipsis of three
periods does not count. With --source, a line does not count if the same line of
SOURCE has a repetition too, because then the translation may be right.

For each FILE one row is printed: its name, the number of lines, and how many of
them count. --list also prints these lines with the repeated phrase.
"""
import argparse
import re
import sys

TIMES = 3
LONGEST = 4
WORDS = re.compile(r"\w+|[^\w\s]")


def run_length(words, at, size):
    """Returns how often words[at:at + size] occurs in a row, from `at` on."""
    times = 1
    phrase = words[at:at + size]
    while words[at + times * size:at + (times + 1) * size] == phrase:
        times += 1
    return times


def is_ellipsis(words, at, times):
    return times == 3 and words[at] == "."


def repeated(line):
    """Returns the first repeated phrase and how often it occurs in a row, or
    None."""
    words = WORDS.findall(line.lower())
    for size in range(1, LONGEST + 1):
        at = 0
        while at + size * TIMES <= len(words):
            times = run_length(words, at, size)
            if times >= TIMES and not is_ellipsis(words, at, times):
                return " ".join(words[at:at + size]), times
            at += times if size == 1 else 1
    return None


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def count(path, excused, show):
    lines = read_lines(path)
    if excused and len(excused) != len(lines):
        sys.exit(f"repeats.py: {path} has {len(lines)} lines, the source has "
                 f"{len(excused)}")
    found = 0
    for i, line in enumerate(lines):
        hit = None if excused and excused[i] else repeated(line)
        if not hit:
            continue
        found += 1
        if show:
            print(f"{path}:{i + 1}: {hit[1]} times \"{hit[0]}\": {line}")
    print(f"{path}\t{len(lines)}\t{found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--source")
    parser.add_argument("files", nargs="+", metavar="FILE")
    args = parser.parse_args()
    excused = None
    if args.source:
        excused = [repeated(line) for line in read_lines(args.source)]
    for path in args.files:
        count(path, excused, args.list)


main()
