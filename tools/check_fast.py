#!/usr/bin/env python3
"""The candidates of made-up sentences in system fast, and the neighbors among
them, computed in another way.

    tools/check_fast.py > tests/golden/fast.txt

This follows docs/method.md 9, with sets, and with exact cosines instead of
rounded keys. It fails if two cosines between which it has to choose are so close
that the rounding of keys could matter. tests/unit/test_source_index.c makes the
same datastore and compares.
"""
import math

PAIRS, SOURCE, TARGET, D, TYPES, MOST, K = 20, 6, 5, 8, 5, 4, 3
DELETED, TEMPERATURE = 6, 0.1
CLOSE = 0.012


def number(seed, i, j):
    """made_number of tests/unit/made_entries.h"""
    x = (seed * 2654435761 + i * 40503 + j * 2246822519) % 2 ** 32
    x ^= x >> 15
    x = x * 2246822519 % 2 ** 32
    x ^= x >> 13
    return (x % 65 - 32) / 32


def row(seed, i):
    return [number(seed, i, j) for j in range(D)]


def cosine(a, b):
    return math.fsum(x * y for x, y in zip(a, b)) / math.hypot(*a) / \
        math.hypot(*b)


def links(pair):
    """source token, entry: each source token but the last has up to two"""
    return [(i, t) for i in range(SOURCE - 1) for t in range(TARGET)
            if (pair * 7 + i * 3 + t * 5) % 4 == 0]


def token(pair, i):
    return (pair * 3 + i * i + pair * i) % TYPES


def aligned(pair, i):
    return pair != DELETED and any(s == i for s, _ in links(pair))


def choose(scored, n):
    scored = sorted(scored, key=lambda x: (-x[0], x[1:]))[:n + 1]
    for a, b in zip(scored, scored[1:]):
        assert a[0] - b[0] > CLOSE, "too close"
    return scored[:n]


def candidates(sentence, seed):
    found = set()
    for at, t in enumerate(sentence):
        q = row(seed, at)
        same = [(cosine(q, row(51, p * SOURCE + i)), p, i)
                for p in range(PAIRS) for i in range(SOURCE)
                if token(p, i) == t and aligned(p, i)]
        for _, p, i in choose(same, MOST):
            found |= {(p, e) for s, e in links(p) if s == i}
    return sorted(found)


def main():
    for name, sentence, seed in ("one", [2], 62), \
            ("long", [0, 1, 4, 1, 9, 1, 3, 1, 1, 2], 175), ("none", [7], 64):
        found = candidates(sentence, seed)
        print(name, *(p * TARGET + e for p, e in found))
        for query in range(4):
            q = row(76, query)
            best = choose([(cosine(q, row(52, p * TARGET + e)), p, e)
                           for p, e in found], K)
            if not best:
                continue
            w = [math.exp((c - best[0][0]) / TEMPERATURE) for c, _, _ in best]
            print("%s_%d" % (name, query),
                  *(p * TARGET + e for _, p, e in best),
                  *("%.9g" % c for c, _, _ in best),
                  *("%.9g" % (x / sum(w)) for x in w))


main()
