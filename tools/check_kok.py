#!/usr/bin/env python3
"""Compute steps of system kok again, and compare.

    build/tests/unit/nets_tool kok | tools/check_kok.py
    tools/check_kok.py --example

The lines of JSON are documents: their options, entries of the policy store in
the order in which they are added, and steps between them. For each entry this
computes its key, and p_tok of the right token; for each step its key, lambda
and the mixture, with the entries so far. It follows the formulas in
src/knn/kok_policy.h (method 6) and uses double precision; only keys are rounded
to single precision, as they are in the store. It prints the number of lines and
the largest difference; the exit status is 1 if that is above 1e-5.

--example prints the numbers of the worked example in docs/method.md, which
tests/unit/test_kok.c has too.
"""
import json
import math
import struct
import sys

TOLERANCE = 1e-5


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def weights(o):
    k = o["k"]
    w = [2.0 ** -j for j in range(1, k)]
    w.append(w[-1] if w else 1.0)
    assert abs(sum(w) - 1) < 1e-12
    return [o["weight"] * a for a in w]


def key_of(o, nb):
    """None if there are fewer than k neighbors"""
    if len(nb) < o["k"]:
        return None
    w = weights(o)
    counts = [len({n["token"] for n in nb[:j + 1]}) for j in range(o["k"])]
    return [single(a) for a in
            [a * n["d2"] for a, n in zip(w, nb)] +
            [a * c for a, c in zip(reversed(w), counts)]]


def softmax(z):
    e = [math.exp(a - max(z)) for a in z]
    return [a / sum(e) for a in e]


def token_probs(o, nb):
    z = [-n["d2"] / o["temperature"] + n["log_weight"] for n in nb]
    p = {}
    for n, s in zip(nb, softmax(z) if z else []):
        p[n["token"]] = p.get(n["token"], 0) + s
    return p


def lambda_of(o, policy, nb):
    """Also the nearest entries: their squared distances and values."""
    key = key_of(o, nb)
    if key is None or len(policy) < o["k"]:
        return 0.0, []
    near = sorted((sum((a - b) ** 2 for a, b in zip(key, other)), i, value)
                  for i, (other, value) in enumerate(policy))[:o["k"]]
    share = softmax([-d2 / o["policy_temperature"] for d2, _, _ in near])
    weight = sum(s for s, (_, _, value) in zip(share, near) if value)
    found = [(d2, value) for d2, _, value in near]
    if nb[0]["d2"] > o["farthest"]:
        return 0.0, found
    return (o["sure_lambda"] if weight > o["sure"] else weight), found


def difference(got, want):
    assert len(got) == len(want), (got, want)
    return max([abs(a - b) for a, b in zip(got, want)], default=0)


def check_key(o, line):
    key = key_of(o, line["neighbors"])
    assert (key is None) == ("key" not in line), line
    # Keys are single precision: the difference is relative.
    return max([abs(a - b) / max(1, abs(b))
                for a, b in zip(line.get("key", []), key or [])], default=0)


def check_entry(o, policy, line):
    nb = line["neighbors"]
    prob = token_probs(o, nb).get(line["right"], 0.0)
    if len(nb) == o["k"]:
        policy.append((key_of(o, nb), line["model"] < prob))
    return max(check_key(o, line), abs(line["prob"] - prob))


def check_step(o, policy, line):
    nb = line["neighbors"]
    weight, _ = lambda_of(o, policy, nb)
    add = token_probs(o, nb) if weight else {}
    assert set(add) == set(line["tokens"]), line
    return max(check_key(o, line), abs(line["lambda"] - weight),
               difference(line["add"], [weight * add[t]
                                        for t in line["tokens"]]))


def neighbors(d2, tokens):
    return [{"d2": float(d), "token": t, "log_weight": 0.0}
            for d, t in zip(d2, tokens)]


def print_example():
    """Two neighbors, and four entries in the policy store."""
    o = {"k": 2, "temperature": 10.0, "policy_temperature": 10.0,
         "weight": 0.5, "sure": 0.99, "sure_lambda": 0.9999, "farthest": 100.0}
    policy = []
    for d2, tokens, right, model in (
            ((20, 30), (7, 7), 7, 0.4), ((24, 44), (7, 9), 7, 0.8),
            ((28, 36), (5, 6), 6, 0.4), ((80, 90), (5, 6), 8, 0.1)):
        nb = neighbors(d2, tokens)
        prob = token_probs(o, nb).get(right, 0.0)
        policy.append((key_of(o, nb), model < prob))
        print("entry %s p_tok %.6f value %d" %
              (policy[-1][0], prob, policy[-1][1]))
    nb = neighbors((22, 32), (7, 9))
    weight, found = lambda_of(o, policy, nb)
    print("key", key_of(o, nb))
    print("nearest", ["%.6f: %d" % f for f in found])
    print("lambda %.6f" % weight)
    print("add", {t: "%.6f" % (weight * a)
                  for t, a in token_probs(o, nb).items()})
    o["k"] = 8
    print("weights", weights(o))
    return 0


def main():
    if sys.argv[1:] == ["--example"]:
        return print_example()
    count = {"document": 0, "entry": 0, "step": 0}
    worst, used, sure, o, policy = 0.0, 0, 0, None, []
    for text in sys.stdin:
        line = json.loads(text)
        count[line["what"]] += 1
        if line["what"] == "document":
            o, policy = line, []
            worst = max(worst, difference(line["weights"], weights(o)))
        elif line["what"] == "entry":
            worst = max(worst, check_entry(o, policy, line))
        else:
            worst = max(worst, check_step(o, policy, line))
            used += line["lambda"] > 0
            sure += abs(line["lambda"] - o["sure_lambda"]) < 1e-7
    print("%d documents, %d entries, %d steps, %d with a lambda above 0, "
          "%d sure, largest difference %.1e" %
          (count["document"], count["entry"], count["step"], used, sure, worst))
    return worst > TOLERANCE


sys.exit(main())
