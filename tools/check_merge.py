#!/usr/bin/env python3
"""Greedy merging of the entries of two small datastores, computed in another
way.

    tools/check_merge.py > tests/golden/merge.txt

This follows docs/method.md 7.2, with sets and exact fractions and without
batches. It prints the order in which entries are visited and their weights.
tests/unit/test_merge.c makes the same datastores and compares.
"""
from fractions import Fraction

MASK = 2 ** 64 - 1


def number(seed, i, j):
    """made_number of tests/unit/made_entries.h"""
    x = (seed * 2654435761 + i * 40503 + j * 2246822519) % 2 ** 32
    x ^= x >> 15
    x = x * 2246822519 % 2 ** 32
    x ^= x >> 13
    return Fraction(x % 65 - 32, 32)


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def shuffled(items, seed):
    items, random = list(items), splitmix(seed)
    for last in range(len(items) - 1, 0, -1):
        other = (next(random) >> 32) * (last + 1) >> 32
        items[last], items[other] = items[other], items[last]
    return items


def nearest(keys, live, i, k):
    def distance(j):
        return sum((a - b) ** 2 for a, b in zip(keys[i], keys[j]))
    return sorted(live, key=lambda j: (distance(j), j))[:k]


def merge(keys, tokens, live, k, seed):
    takes = {i: {i} for i in live}      # what an entry stands for
    order = shuffled(live, seed)
    for i in order:
        if not takes[i]:
            continue
        for j in nearest(keys, live, i, k):
            if j != i and tokens[j] == tokens[i] and takes[j] == {j}:
                takes[i].add(j)
                takes[j] = set()
    assert sorted(x for t in takes.values() for x in t) == sorted(live)
    return order, [len(takes.get(i, ())) for i in range(len(keys))]


def show(name, keys, tokens, live, k, seed):
    order, weights = merge(keys, tokens, live, k, seed)
    print(name + "_order", *order)
    print(name + "_weight", *weights)


def main():
    # The example of method 7.2.
    line = [0, 1, 2, 4, 8, 9]
    show("line", [[x] for x in line], "AAABAA", range(6), 3, 1)
    # Pairs of 5 entries with 3 dimensions; pair 4 was deleted.
    keys = [[number(21, i, j) for j in range(3)] for i in range(150)]
    tokens = [i * 7 % 11 % 3 for i in range(150)]
    live = [i for i in range(150) if i // 5 != 4]
    for k in 2, 5, 20:
        show("made%d" % k, keys, tokens, live, k, 9)


main()
