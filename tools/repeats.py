#!/usr/bin/env python3
"""Counts lines of translations that repeat a word or a phrase in a row.

usage: repeats.py [--list] [--source SOURCE] FILE...

A line counts if it has the same word or punctuation mark three or more times
in a row, or the same phrase of two to four of them. Case is ignored. An
ellipsis of three periods is no repetition. With --source, a line does not count
if the same line of SOURCE has a repetition too, for then it may be right.
--list also prints the lines, with the repeated phrase. One row is printed for
each FILE: its name, its lines, and how many of them count.
"""
import argparse
import re
import sys

TIMES = 3
LONGEST = 4
WORDS = re.compile(r"\w+|[^\w\s]")


def run_length(words, at, size):
    """How many times in a row words[at:at + size] occurs from `at` on."""
    times = 1
    phrase = words[at:at + size]
    while words[at + times * size:at + (times + 1) * size] == phrase:
        times += 1
    return times


def is_ellipsis(words, at, times):
    return times == 3 and words[at] == "."


def repeated(line):
    """The first phrase that is repeated, and how often; None if there is
    none."""
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
