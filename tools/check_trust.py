#!/usr/bin/env python3
"""Compute steps of learned trust again, and compare.

    skmt tune --learn -M MEM -o SETTINGS --steps > STEPS
    tools/check_trust.py SETTINGS STEPS

For each step that has neighbors this computes the features, lambda and the
shares of the neighbors from what was known at the step. It follows the formulas
in src/knn/trust.h and uses double precision. It prints the number of steps and
the largest difference; the exit status is 1 if that is above 1e-5.
"""
import json
import math
import struct
import sys

FEATURES, VOTES, HIDDEN = 21, 9, 16
NEIGHBORS, CONTEXT, LEAST = 8, 3, 0.02
TOLERANCE = 1e-5


def read_network(path):
    """The parameters in the last line "trust = .." of a settings file."""
    text = [line.split("=", 1)[1].split() for line in open(path)
            if line.split("=")[0].strip() == "trust"][-1]
    assert text[0] == "1" and len(text) == 5, "unknown form"
    w = struct.unpack(">%df" % (len(text[3]) // 8), bytes.fromhex(text[3]))
    take = iter(w)
    net = {"u": [next(take) for _ in range(VOTES)],
           "H": [[next(take) for _ in range(FEATURES)] for _ in range(HIDDEN)],
           "h": [next(take) for _ in range(HIDDEN)],
           "o": [next(take) for _ in range(HIDDEN)],
           "c": next(take),
           "mean": [next(take) for _ in range(FEATURES)]}
    assert not list(take), "too many parameters"
    return net


def features(step):
    nb = step["neighbors"]
    near = nb[0]

    def far(i):
        return min(nb[i]["d2"] / step["tau"], 3.0) if i < len(nb) else 3.0

    def likely(i):
        return max(nb[i]["logprob"], -20.0) / 5

    def agree(most):
        first = nb[:most]
        return sum(n["token"] == near["token"] for n in first) / len(first)

    x = [far(0), far(1) - far(0), far(3) - far(0), near["similarity"],
         near["context"] / CONTEXT, likely(0), step["best_prob"],
         step["entropy"] / 4, float(step["best_token"] == near["token"]),
         agree(4), agree(NEIGHBORS), far(0) ** 2,
         max(n["similarity"] for n in nb),
         max(n["context"] for n in nb) / CONTEXT, near["foreign"], near["own"],
         near["aligned"], near["focus"], max(n["focus"] for n in nb),
         near["shared"], max(n["shared"] for n in nb)]
    votes = [[-far(i), n["similarity"], n["context"], likely(i), n["foreign"],
              n["own"], n["aligned"], n["focus"], n["shared"]]
             for i, n in enumerate(nb)]
    return x, votes


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def run(net, x, votes):
    hidden = [math.tanh(dot(row, x) + b) for row, b in zip(net["H"], net["h"])]
    logit = dot(net["o"], hidden) + net["c"]
    # What search adds: x[19] is how far the sources agree, x[7] the entropy,
    # x[3] the similarity.
    offset = 0.75 + 2 * (x[19] - 0.5) - 2 * (x[7] - 0.4) + (x[3] - 0.4)
    weights = [1 / (1 + math.exp(-a)) for a in (logit, logit + offset)]
    z = [dot(net["u"], v) for v in votes]
    e = [math.exp(a - max(z)) for a in z]
    return weights, [a / sum(e) for a in e]


def difference(got, want):
    assert len(got) == len(want)
    return max(abs(a - b) for a, b in zip(got, want))


def check(net, step):
    x, votes = features(step)
    weights, shares = run(net, x, votes)
    worst = max([difference(step["x"], x), difference(step["share"], shares)] +
                [difference(a, b) for a, b in zip(step["votes"], votes)])
    for weight, got in zip(weights, (step["lambda"], step["search_lambda"])):
        # At the threshold itself, rounding decides.
        if abs(weight - LEAST) > TOLERANCE:
            want = weight if weight > LEAST else 0
            worst = max(worst, abs(got - want))
    return worst


def main():
    net = read_network(sys.argv[1])
    steps = [json.loads(line) for line in open(sys.argv[2])
             if line.startswith('{"model":')]
    steps = [s for s in steps if s["neighbors"]]
    worst = max(check(net, s) for s in steps)
    zero = sum(s["lambda"] == 0 for s in steps)
    print("%d steps, %d of them with lambda 0, largest difference %.1e" %
          (len(steps), zero, worst))
    return worst > TOLERANCE


sys.exit(main())
