#!/usr/bin/env python3
"""Which queries of a made-up sentence get the answer of an earlier one.

    tools/check_cache.py > tests/golden/cache.txt

This follows docs/method.md 7.3, with exact fractions. Each query has a number;
the output is, for each query, the number of the query whose answer it gets: its
own if it is searched. tests/unit/test_query_cache.c makes the same queries and
compares.
"""
from fractions import Fraction

STEPS, ROWS, D, THRESHOLD = 30, 4, 3, Fraction(5, 8)


def number(seed, i, j):
    """made_number of tests/unit/made_entries.h"""
    x = (seed * 2654435761 + i * 40503 + j * 2246822519) % 2 ** 32
    x ^= x >> 15
    x = x * 2246822519 % 2 ** 32
    x ^= x >> 13
    return Fraction(x % 65 - 32, 32)


def distance2(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def run(keep_reused):
    seen = []                           # step, query, whose answer it has
    result = []
    for step in range(STEPS):
        new = []
        for row in range(ROWS):
            me = step * ROWS + row
            q = [number(33, me, j) for j in range(D)]
            best = min(seen, key=lambda s: (distance2(q, s[1]), s[0], s[1]),
                       default=None)
            reused = best and distance2(q, best[1]) <= THRESHOLD ** 2
            answer = best[2] if reused else me
            if not reused or keep_reused:
                new.append((step, q, answer))
            result.append(answer)
        seen += new
    return result


def main():
    for name, keep_reused in ("searched", False), ("all", True):
        answers = run(keep_reused)
        print(name, *answers)
        print(name + "_reused", sum(a != i for i, a in enumerate(answers)))


main()
