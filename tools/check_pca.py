#!/usr/bin/env python3
"""Principal components of a small set of rows, computed in another way.

    tools/check_pca.py > tests/golden/pca.txt

src/knn/pca.c takes all eigenvectors of a covariance at once, by reflections and
rotations. Here they are found one after another by power iteration: the vector
is multiplied by the covariance until it does not change any more, and then its
part is subtracted from the covariance. tests/unit/test_pca.c makes the same rows
and compares.
"""
import math

ROWS, D, KEEP = 60, 7, 4


def number(seed, i, j):
    """made_number of tests/unit/made_entries.h"""
    x = (seed * 2654435761 + i * 40503 + j * 2246822519) % 2 ** 32
    x ^= x >> 15
    x = x * 2246822519 % 2 ** 32
    x ^= x >> 13
    return (x % 65 - 32) / 32


def row(i):
    """Column j has a spread of about j + 1, and column 0 also depends on
    column 6. All columns have a large mean."""
    x = [number(5, i, j) * (j + 1) + 100 - 10 * j for j in range(D)]
    x[0] += x[6] / 2
    return x


def covariance(rows):
    n = len(rows)
    mean = [sum(x[j] for x in rows) / n for j in range(D)]
    return mean, [[sum((x[i] - mean[i]) * (x[j] - mean[j]) for x in rows) / n
                   for j in range(D)] for i in range(D)]


def power_iteration(c):
    v = [1.0 + j / 10 for j in range(D)]
    for _ in range(20000):
        w = [sum(c[i][j] * v[j] for j in range(D)) for i in range(D)]
        norm = math.sqrt(sum(x * x for x in w))
        v = [x / norm for x in w]
    return norm, v


def main():
    rows = [row(i) for i in range(ROWS)]
    mean, c = covariance(rows)
    total = sum(c[j][j] for j in range(D))
    print("mean", *("%.12g" % x for x in mean))
    print("total %.12g" % total)
    kept, matrix = 0, []
    for k in range(KEEP):
        value, v = power_iteration(c)
        if max(v, key=abs) < 0:
            v = [-x for x in v]
        c = [[c[i][j] - value * v[i] * v[j] for j in range(D)]
             for i in range(D)]
        kept += value
        matrix.append(v)
        print("variance%d %.12g" % (k, value))
        print("row%d" % k, *("%.12g" % x for x in v))
    print("explained %.12g" % (kept / total))
    y = [sum(m * (x - a) for m, x, a in zip(v, rows[3], mean)) for v in matrix]
    print("image3", *("%.12g" % x for x in y))


main()
