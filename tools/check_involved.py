#!/usr/bin/env python3
"""check_involved.py - checks the list of "skmt knn involved".

    check_involved.py EXPLAINED LIST

EXPLAINED is the output of "skmt translate --datastore --explain --json" for the
same lines and options. Computes the greedy cover again from its votes: each
step of the best translation must have a neighbor of one of the pairs of the
list. Prints the number of lines, steps and pairs; the exit status is 1 if a
line differs."""
import json
import sys


def steps_of(line):
    """For each step, the set of the pairs (source, target) of its neighbors;
    and the pairs in the order in which the explanation names them."""
    steps, order = [], {}
    for segment in line.get("segments", []):
        pairs = [(p["source"], p["target"]) for p in segment["pairs"]]
        for p in pairs:
            order.setdefault(p, len(order))
        for token in segment["tokens"]:
            steps.append({pairs[v["pair"]] for v in token["votes"]})
    return [s for s in steps if s], order


def greedy(steps, order):
    left, chosen = list(steps), []
    while left:
        count = {}
        for s in left:
            for p in s:
                count[p] = count.get(p, 0) + 1
        best = min(count, key=lambda p: (-count[p], order[p]))
        chosen.append(best)
        left = [s for s in left if best not in s]
    for p in reversed(chosen):
        rest = set(chosen) - {p}
        if all(s & rest for s in steps):
            chosen = [q for q in chosen if q != p]
    return chosen


def main():
    bad = n_steps = n_pairs = n_lines = 0
    with open(sys.argv[1]) as explained, open(sys.argv[2]) as listed:
        for n_lines, (a, b) in enumerate(zip(explained, listed), 1):
            steps, order = steps_of(json.loads(a))
            got = [tuple(p) for p in json.loads(b)["tm"]]
            uncovered = sum(not s & set(got) for s in steps)
            if uncovered:
                print(f"line {n_lines}: {uncovered} steps have no pair")
            if got != greedy(steps, order):
                print(f"line {n_lines}: another set of {len(got)} pairs")
                bad += 1
            n_steps += len(steps)
            n_pairs += len(got)
        if listed.readline() or explained.readline():
            print("the files differ in their number of lines")
            bad += 1
    print(f"{n_lines} lines, {n_steps} steps, {n_pairs} pairs")
    return bad > 0


sys.exit(main())
