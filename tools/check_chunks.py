#!/usr/bin/env python3
"""The schedule of searches of system chunk, and the local store of a made-up
sentence, computed in another way.

    tools/check_chunks.py > tests/golden/chunks.txt

This follows docs/method.md 8. Gaps are computed with whole numbers only: the
largest v with v <= a 2^(b t / (2 n)) is the largest v with
v^(2 n) <= a^(2 n) 2^(b t). tests/unit/test_chunks.c makes the same datastore and
compares.
"""
import math
from fractions import Fraction

PAIRS, TOKENS, ROWS, STEPS, SOURCE, K, SIZE = 12, 9, 2, 20, 10, 3, 3
GAPS = [0, 1, 2, 4, 5, 8]               # positions of pair 3
DELETED = 7
PERMUTATION = [5, 0, 3, 2]              # of the map


def number(seed, i, j):
    """made_number of tests/unit/made_entries.h"""
    x = (seed * 2654435761 + i * 40503 + j * 2246822519) % 2 ** 32
    x ^= x >> 15
    x = x * 2246822519 % 2 ** 32
    x ^= x >> 13
    return Fraction(x % 65 - 32, 32)


def schedule(first, longest, source, steps):
    t, result = 0, []
    while t < steps:
        result.append(t)
        bound = first ** (2 * source) * 2 ** (longest * t)
        gap = first
        while gap < longest and (gap + 1) ** (2 * source) <= bound:
            gap += 1
        t += gap
    return result


def positions(pair):
    return GAPS if pair == 3 else range(TOKENS)


def key(pair, pos):
    return [number(41, pair * TOKENS + pos, j) for j in range(4)]


def sentence(name, image, dims):
    """image maps a query of 6 numbers to one of `dims` numbers or more."""
    searched = schedule(1, 4, SOURCE, STEPS)
    store = {}                          # (pair, pos): step
    for t in range(STEPS):
        for row in range(ROWS):
            if t not in searched:
                show(name, store, t, row, image, dims)
                continue
            for i in range(2):
                pair = (5 * t + 3 * row + 7 * i) % PAIRS
                pair += pair == DELETED
                pos = (2 * t + row + i) % TOKENS
                for p in positions(pair):
                    if pos <= p < pos + SIZE:
                        store.setdefault((pair, p), t)
    print(name + "_size", len(store))


def show(name, store, t, row, image, dims):
    q = image([number(44, t * ROWS + row, j) for j in range(6)])[:dims]

    def distance2(entry):
        return sum((a - b) ** 2 for a, b in zip(q, key(*entry)))

    best = sorted(store, key=lambda entry: (distance2(entry), entry))[:K]
    d = [math.sqrt(distance2(entry)) for entry in best]
    w = [math.exp((d[0] - x) / 0.5) for x in d]
    print("%s_%d_%d" % (name, t, row),
          *(x for entry in best for x in entry),
          *("%.9g" % x for x in d), *("%.9g" % (x / sum(w)) for x in w))


def main():
    for first, longest, source, steps in (2, 8, 30, 60), (1, 4, 10, 20), \
            (2, 8, 7, 40), (3, 3, 5, 20), (1, 64, 100, 300), (5, 9, 1, 40):
        print("schedule_%d_%d_%d" % (first, longest, source),
              *schedule(first, longest, source, steps))
    sentence("plain", lambda x: x[:4], 4)
    sentence("mapped", lambda x: [x[p] - Fraction(1, 4) for p in PERMUTATION],
             2)


main()
