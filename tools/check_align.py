#!/usr/bin/env python3
"""Compute word alignments again, and compare.

    skmt align --print tokens PAIRS > DIR/tokens
    skmt align PAIRS --method METHOD > DIR/METHOD 2> DIR/report     each method
    tools/check_align.py DIR [--alpha X] [--iterations N]

This is a second implementation of docs/method.md, section 4, in double
precision and without closed forms: the sum of the diagonal prior and the
gradient of its tension are added up position by position, and symmetrization
works on sets of links. It compares

  - the log-likelihood, the perplexity and the tension of every iteration in
    both directions (the report),
  - the links of the methods forward and reverse: each must be a most probable
    one,
  - the links of the other methods, made of those two.

It prints the number of comparisons, and exits with 1 if one of them failed.

    tools/check_align.py --examples

prints the numbers of the worked examples in tests/unit/test_align.c.
"""
import math
import struct
import sys

NULL_PROB, TENSION, STEPS, RATE = 0.08, 4.0, 8, 20.0
TENSION_MIN, TENSION_MAX = 0.1, 14.0
LEAST_PROB, LEXICON_LEAST, LEXICON_FLOOR = 1e-37, 1e-6, 1e-9
WORDS_MAX = 1000
METHODS = ("intersect", "union", "grow-diag", "grow-diag-final-and")


def f32(x):
    """x as the table of probabilities stores it"""
    return struct.unpack("f", struct.pack("f", x))[0]


def h(i, j, m, n):
    return -abs(i / m - j / n)


def prior(tension, i, m, n):
    """the weights of positions 1 .. n for position i of m, and their sum"""
    w = [math.exp(tension * h(i, j, m, n)) for j in range(1, n + 1)]
    return w, sum(w)


def prior_mean(tension, i, m, n):
    w, z = prior(tension, i, m, n)
    return sum(x * h(i, j + 1, m, n) for j, x in enumerate(w)) / z


def digamma(x):
    """by the recurrence up to 30, and then the asymptotic series"""
    result = 0.0
    while x < 30:
        result -= 1 / x
        x += 1
    return result + math.log(x) - 1 / (2 * x) - 1 / (12 * x ** 2) \
        + 1 / (120 * x ** 4) - 1 / (252 * x ** 6)


class Direction:
    """The parameters of one direction; pairs are (given, made) word lists."""

    def __init__(self, pairs):
        self.pairs = pairs
        self.n_made = sum(len(made) for _, made in pairs)
        vocabulary = {y for _, made in pairs for y in made}
        start = f32(1 / len(vocabulary)) if vocabulary else 0
        self.prob = {None: dict.fromkeys(vocabulary, start)}
        for given, made in pairs:
            for x in given:
                row = self.prob.setdefault(x, {})
                for y in made:
                    row[y] = start
        self.tension = TENSION
        self.reports = []

    def iterate(self, alpha, learn_tension):
        counts = {x: dict.fromkeys(row, 0.0) for x, row in self.prob.items()}
        log_likelihood, h_sum = 0.0, 0.0
        linked = {}             # by (position, lengths): expected links
        for given, made in self.pairs:
            m, n = len(made), len(given)
            for i, y in enumerate(made, 1):
                w, z = prior(self.tension, i, m, n)
                parts = [(1 - NULL_PROB) * w[j] / z * self.prob[x][y]
                         for j, x in enumerate(given)]
                null = NULL_PROB * self.prob[None][y]
                total = null + sum(parts)
                log_likelihood += math.log(total)
                counts[None][y] += null / total
                for j, x in enumerate(given):
                    counts[x][y] += parts[j] / total
                    h_sum += parts[j] / total * h(i, j + 1, m, n)
                key = i, m, n
                linked[key] = linked.get(key, 0.0) + 1 - null / total
        self.update(counts, alpha)
        if learn_tension:
            self.climb(h_sum, linked)
        self.reports.append((log_likelihood,
                             math.exp(-log_likelihood / self.n_made),
                             self.tension))

    def update(self, counts, alpha):
        for x, row in counts.items():
            total = sum(row.values())
            for y, c in row.items():
                p = c / total
                if alpha > 0:
                    p = math.exp(digamma(c + alpha) -
                                 digamma(total + alpha * len(row)))
                self.prob[x][y] = f32(max(p, LEAST_PROB))

    def climb(self, h_sum, linked):
        for _ in range(STEPS):
            expected = sum(c * prior_mean(self.tension, *key)
                           for key, c in linked.items())
            step = RATE * (h_sum - expected) / self.n_made
            self.tension = min(max(self.tension + step, TENSION_MIN),
                               TENSION_MAX)

    def train(self, alpha, iterations):
        for k in range(iterations):
            self.iterate(alpha, k > 0)

    def lexical(self, x, y):
        p = self.prob.get(x, {}).get(y, 0.0)
        return p if p >= f32(LEXICON_LEAST) else LEXICON_FLOOR

    def choices(self, given, made):
        """for each made word: the probabilities of null and of each given"""
        for i, y in enumerate(made, 1):
            w, z = prior(self.tension, i, len(made), len(given))
            yield [NULL_PROB * self.lexical(None, y)] + \
                [(1 - NULL_PROB) * w[j] / z * self.lexical(x, y)
                 for j, x in enumerate(given)]


def grow_diag(forward, reverse, n, m):
    union, links = forward | reverse, forward & reverse
    steps = (-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)
    grown = True
    while grown:
        grown = False
        for t in range(m):
            for s in range(n):
                if (s, t) not in links:
                    continue
                for dt, ds in steps:
                    new = s + ds, t + dt
                    free = new[0] not in {a for a, _ in links} or \
                        new[1] not in {b for _, b in links}
                    if new in union and new not in links and free:
                        links.add(new)
                        grown = True
    return links


def symmetrize(method, forward, reverse, n, m):
    if method == "intersect":
        return forward & reverse
    if method == "union":
        return forward | reverse
    links = grow_diag(forward, reverse, n, m)
    if method == "grow-diag-final-and":
        for part in forward, reverse:
            for s, t in sorted(part, key=lambda link: link[::-1]):
                if s not in {a for a, _ in links} and \
                        t not in {b for _, b in links}:
                    links.add((s, t))
    return links


# ---- comparing ---------------------------------------------------------------

class Checks:
    def __init__(self):
        self.done = self.failed = 0

    def check(self, ok, what):
        self.done += 1
        if not ok:
            self.failed += 1
            if self.failed <= 10:
                print("differs:", what)


def read_tokens(path):
    pairs = []
    for line in open(path, encoding="utf-8"):
        source, target = line.rstrip("\n").split(" ||| ")
        pair = source.lower().split(), target.lower().split()
        too_long = max(map(len, pair)) > WORDS_MAX
        pairs.append(([], []) if too_long or not all(pair) else pair)
    return pairs


def read_links(path):
    return [{tuple(map(int, link.split("-"))) for link in line.split()}
            for line in open(path)]


def read_report(path):
    reports = {"forward": [], "reverse": []}
    for line in open(path):
        fields = line.split()
        if fields and fields[0] in reports:
            reports[fields[0]].append(tuple(map(float, fields[2:])))
    return reports


def check_report(checks, name, computed, reported):
    checks.check(len(computed) == len(reported), f"{name}: iterations")
    for k, (mine, theirs) in enumerate(zip(computed, reported), 1):
        for a, b, digits in zip(mine, theirs, (0.01, 0.01, 0.0001)):
            near = abs(a - b) <= digits + 1e-6 * abs(a)
            checks.check(near, f"{name} iteration {k}: {a} and {b}")


def check_links(checks, name, direction, pairs, found, flip):
    for k, (given, made) in enumerate(pairs):
        links = {link[::-1] if flip else link for link in found[k]}
        chosen = {i: j for j, i in links}
        checks.check(len(chosen) == len(links), f"{name} pair {k}: two links")
        for i, p in enumerate(direction.choices(given, made) if given else ()):
            mine = p[chosen[i] + 1] if i in chosen else p[0]
            checks.check(mine >= max(p) * (1 - 1e-5),
                         f"{name} pair {k}, word {i}: {chosen.get(i)}")


def compare(folder, alpha, iterations):
    checks = Checks()
    pairs = read_tokens(folder + "/tokens")
    swapped = [(t, s) for s, t in pairs]
    report = read_report(folder + "/report")
    found = {}
    for name, given in ("forward", pairs), ("reverse", swapped):
        direction = Direction([p for p in given if p[0]])
        direction.train(alpha, iterations)
        found[name] = read_links(f"{folder}/{name}")
        checks.check(len(found[name]) == len(pairs), f"{name}: lines")
        check_report(checks, name, direction.reports, report[name])
        check_links(checks, name, direction, given, found[name],
                    name == "reverse")
    for method in METHODS:
        for k, links in enumerate(read_links(f"{folder}/{method}")):
            want = symmetrize(method, found["forward"][k], found["reverse"][k],
                              len(pairs[k][0]), len(pairs[k][1]))
            checks.check(links == want, f"{method} pair {k}")
    print(f"{checks.done} comparisons, {checks.failed} failed")
    return checks.failed > 0 or checks.done == 0


# ---- worked examples ---------------------------------------------------------

def examples():
    for tension, i, m, n in (4, 2, 3, 5), (0.1, 1, 1, 7), (14, 9, 10, 4):
        print(f"prior tension {tension} i {i} m {m} n {n}: sum "
              f"{prior(tension, i, m, n)[1]:.15g} mean "
              f"{prior_mean(tension, i, m, n):.15g}")
    corpus = [("das haus".split(), "the house".split()),
              ("das buch".split(), "the book".split())]
    for alpha in 0, 0.01:
        d = Direction(corpus)
        for k in range(3):
            d.iterate(alpha, k > 0)
            print(f"alpha {alpha} iteration {k + 1}: log-likelihood "
                  f"{d.reports[-1][0]:.12g} tension {d.tension:.12g}")
            for x in None, "das", "haus":
                print("   ", x, " ".join(f"{y} {p:.9g}" for y, p in
                                         sorted(d.prob[x].items())))


def main():
    if sys.argv[1:] == ["--examples"]:
        return examples()
    options = {"--alpha": "0.01", "--iterations": "5"}
    for k in range(2, len(sys.argv) - 1, 2):
        options[sys.argv[k]] = sys.argv[k + 1]
    if len(sys.argv) < 2 or len(options) > 2:
        sys.exit(__doc__)
    return compare(sys.argv[1], float(options["--alpha"]),
                   int(options["--iterations"]))


sys.exit(main())
