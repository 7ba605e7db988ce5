#!/usr/bin/env python3
"""How often identical words of a pair are linked, as a measure of alignments.

    bench/align_identity.py TOKENS NAME=LINKS ...

A number or name is usually translated by itself. For each word with a digit,
and each word of three or more letters, that occurs exactly once in the source
and exactly once, in the same spelling, in the target of a pair, this looks at
the links of the two words. It prints a row of a Markdown table for each file of
links:

  linked   the two words are linked
  only     they are linked, and neither has another link
  right    of all links of the two words, those between them

NAME=diagonal needs no file: each target word is linked to the source word
nearest to its relative position.
"""
import sys


def kind_of(word):
    if any(c.isdigit() for c in word):
        return "numbers"
    return "words" if len(word) > 2 and word.isalpha() else None


def identical(source, target):
    """(kind, source position, target position) of words that are unique"""
    for s, word in enumerate(source):
        kind = kind_of(word)
        if kind and source.count(word) == 1 and target.count(word) == 1:
            yield kind, s, target.index(word)


def diagonal(source, target):
    n, m = len(source), len(target)
    return {(min(n - 1, max(0, round((t + 1) * n / m) - 1)), t)
            for t in range(m)} if n else set()


def read(tokens, links):
    lines = open(links) if links else None
    for line in open(tokens, encoding="utf-8"):
        source, target = (side.split() for side in
                          line.rstrip("\n").split(" ||| "))
        if lines:
            found = {tuple(map(int, link.split("-")))
                     for link in next(lines).split()}
        else:
            found = diagonal(source, target)
        yield source, target, found


def measure(tokens, links):
    counts = {kind: [0, 0, 0, 0] for kind in ("numbers", "words")}
    n_links = 0
    for source, target, found in read(tokens, links):
        n_links += len(found)
        for kind, s, t in identical(source, target):
            near = [link for link in found if link[0] == s or link[1] == t]
            c = counts[kind]
            c[0] += 1
            c[1] += (s, t) in found
            c[2] += near == [(s, t)]
            c[3] += len(near)
    return counts, n_links


def main():
    tokens = sys.argv[1]
    print("| links | number of links | numbers linked | only | right "
          "| words linked | only | right |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for argument in sys.argv[2:]:
        name, _, links = argument.partition("=")
        counts, n_links = measure(tokens, links)
        cells = []
        for n, linked, only, near in counts.values():
            cells += [100 * linked / max(n, 1), 100 * only / max(n, 1),
                      100 * linked / max(near, 1)]
        print(f"| {name} | {n_links} | " +
              " | ".join(f"{x:.1f}%" for x in cells) + " |")
    print(f"\nidentical numbers: {counts['numbers'][0]}, "
          f"identical words: {counts['words'][0]}")


main()
