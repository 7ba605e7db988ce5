#!/usr/bin/env python3
"""Compute steps of system adaptive again, and compare.

    build/tests/unit/nets_tool metak | tools/check_metak.py
    tools/check_metak.py --example

For each line of JSON this computes the inputs of the network, its output q,
lambda, the shares of the neighbors and the mixture, or the loss of a training
sample. It follows the formulas in src/knn/metak.h and src/knn/metak_train.h
(method 5.2) and uses double precision. It prints the number of lines and the
largest difference; the exit status is 1 if that is above 1e-5.

Losses are computed over the whole vocabulary; then the constant is subtracted
that src/knn/metak_train.h leaves out.

--example prints the numbers of the worked example in docs/method.md, which
tests/unit/test_metak.c has too.
"""
import json
import math
import struct
import sys

HIDDEN = 32
TOLERANCE = 1e-5


def floats(digits):
    return list(struct.unpack(">%df" % (len(digits) // 8),
                              bytes.fromhex(digits)))


def network(k, temperature, scale, w):
    choices = 2 + int(math.log2(k))
    take = iter(w)

    def rows(n, m):
        return [[next(take) for _ in range(m)] for _ in range(n)]

    net = {"k": k, "T": temperature, "scale": scale,
           "H": rows(HIDDEN, 2 * k), "h": rows(1, HIDDEN)[0],
           "O": rows(choices, HIDDEN), "o": rows(1, choices)[0]}
    assert not list(take), "too many parameters"
    return net


def read_network(text):
    form, _, k, temperature, scale, values, _ = text.split(" ")
    assert form == "1", "unknown form"
    return network(int(k, 16), floats(temperature)[0], floats(scale)[0],
                   floats(values))


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def softmax(z):
    e = [math.exp(a - max(z)) for a in z]
    return [a / sum(e) for a in e]


def exist(net, neighbors):
    """The neighbors before the first one without a distance."""
    found = []
    for nb in neighbors[:net["k"]]:
        if nb["d2"] is None:
            break
        found.append(nb)
    return found


def inputs(net, nb):
    padded = nb + [nb[-1]] * (net["k"] - len(nb))
    return ([net["scale"] * n["d2"] for n in padded] +
            [len({n["token"] for n in padded[:j + 1]})
             for j in range(net["k"])])


def choose(net, x):
    hidden = [math.tanh(dot(row, x) + b) for row, b in zip(net["H"], net["h"])]
    return softmax([dot(row, hidden) + b for row, b in zip(net["O"], net["o"])])


def part(net, nb, first):
    """The softmax over the first neighbors, by neighbor."""
    some = nb[:first]
    return softmax([-n["d2"] / net["T"] + n["log_weight"] for n in some]) + \
        [0.0] * (len(nb) - len(some))


def run(net, nb):
    """q, lambda and the shares."""
    if not nb:
        return [1.0] + [0.0] * (len(net["o"]) - 1), 0.0, []
    q = choose(net, inputs(net, nb))
    parts = [part(net, nb, 2 ** r) for r in range(len(q) - 1)]
    weight = 1 - q[0]
    return q, weight, [sum(q[r + 1] * p[j] for r, p in enumerate(parts)) /
                       weight for j in range(len(nb))]


def mixture(nb, weight, share):
    """lambda * p_knn, by token"""
    add = {}
    for n, s in zip(nb, share):
        add[n["token"]] = add.get(n["token"], 0) + weight * s
    return add


def difference(got, want):
    assert len(got) == len(want), (got, want)
    return max([abs(a - b) for a, b in zip(got, want)], default=0)


def check_step(net, step):
    nb = exist(net, step["neighbors"])
    q, weight, share = run(net, nb)
    add = mixture(nb, weight, share)
    worst = [difference(step["q"], q), abs(step["lambda"] - weight)]
    if nb:
        worst.append(difference(step["x"], inputs(net, nb)))
        share += [0.0] * (len(step["neighbors"]) - len(nb))
        worst.append(difference(step["share"], share))
    assert len(set(step["tokens"])) == len(step["tokens"])
    worst.append(difference(step["add"], [add[t] for t in step["tokens"]]))
    assert set(add) == set(step["tokens"]), step
    worst.append(abs(sum(step["add"]) - step["lambda"]))
    return max(worst)


def check_loss(net, step):
    nb = exist(net, step["neighbors"])
    q, weight, share = run(net, nb)
    add = mixture(nb, weight, share)
    model, eps = step["model"], step["smoothing"]
    p = [q[0] * m + add.get(v, 0) for v, m in enumerate(model)]
    loss = -(1 - eps) * math.log(p[step["target"]])
    loss -= eps / len(p) * sum(math.log(a) for a in p)
    loss += eps / len(p) * sum(math.log(m) for v, m in enumerate(model)
                               if v not in add)
    return abs(loss - step["loss"])


def print_example():
    """A network with two hidden units that are not 0, and three neighbors."""
    k = 4
    h = [[0.0] * 2 * k for _ in range(HIDDEN)]
    o = [[0.0] * HIDDEN for _ in range(4)]
    h[0][0], h[0][1], h[1][7] = -0.02, 0.01, 0.5
    o[0][0], o[0][1], o[1][0], o[2][1], o[3][0] = -2.0, 1.0, 1.0, -1.0, 2.0
    flat = sum(h, []) + [0.0] * HIDDEN + sum(o, []) + [0.0] * 4
    net = network(k, 10.0, 1.0, flat)
    nb = [{"d2": 20.0, "token": 7, "log_weight": 0.0},
          {"d2": 30.0, "token": 9, "log_weight": 0.0},
          {"d2": 32.0, "token": 7, "log_weight": math.log(2)}]
    q, weight, share = run(net, nb)
    print("x", inputs(net, nb))
    for r in range(3):
        print("p_%d" % r, ["%.6f" % a for a in part(net, nb, 2 ** r)])
    print("q", ["%.6f" % a for a in q])
    print("lambda %.6f" % weight)
    print("share", ["%.6f" % a for a in share])
    print("add", {t: "%.6f" % a
                  for t, a in mixture(nb, weight, share).items()})
    return 0


def main():
    if sys.argv[1:] == ["--example"]:
        return print_example()
    steps, losses, worst = 0, 0, 0.0
    for line in sys.stdin:
        step = json.loads(line)
        net = read_network(step["network"])
        if "loss" in step:
            losses += 1
            worst = max(worst, check_loss(net, step))
        else:
            steps += 1
            worst = max(worst, check_step(net, step))
    print("%d steps, %d losses, largest difference %.1e" %
          (steps, losses, worst))
    return worst > TOLERANCE


sys.exit(main())
