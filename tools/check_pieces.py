#!/usr/bin/env python3
"""The translation pieces of a worked example and of a made-up one.

    tools/check_pieces.py > tests/golden/pieces.txt

This follows docs/method.md 10, with exact fractions and by enumerating all
n-grams; it shares no code with src/knn. The output has the inputs, so that
tests/unit/test_pieces.c can read them, and for each example:

    EXAMPLE_kept_P       which source words of pair P are unedited
    EXAMPLE_similarity   of all pairs
    EXAMPLE_pieces       for each piece: its length, words, weight
    EXAMPLE_step_T       the reward of each word after the first T words of
                         EXAMPLE_output: word, reward, word, reward ..
    EXAMPLE_most         no reward is larger than this
"""
from fractions import Fraction
import sys

LENGTH = 4


def costs(a, b):
    """Edit distances of all beginnings of a to all beginnings of b."""
    d = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                d[i, j] = i + j
            else:
                d[i, j] = min(d[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
                              d[i - 1, j] + 1, d[i, j - 1] + 1)
    return d


def unedited(stored, sentence):
    d = costs(stored, sentence)
    i, j, kept = len(stored), len(sentence), set()
    while i > 0 and j > 0:
        equal = stored[i - 1] == sentence[j - 1]
        if d[i, j] == d[i - 1, j - 1] + (0 if equal else 1):
            if equal:
                kept.add(i - 1)
            i, j = i - 1, j - 1
        elif d[i, j] == d[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return kept


def similarity(a, b):
    longest = max(len(a), len(b))
    return 1 - Fraction(costs(a, b)[len(a), len(b)], longest)


def pieces_of(target, links, kept):
    """All n-grams whose words translate only unedited words. Words without
    links may be inside, but not at an end."""
    sources = [{s for s, t in links if t == i} for i in range(len(target))]
    found = []
    for begin in range(len(target)):
        for end in range(begin + 1, min(begin + LENGTH, len(target)) + 1):
            inside = sources[begin:end]
            if inside[0] and inside[-1] and all(s <= kept for s in inside):
                found.append(tuple(target[begin:end]))
    return found


def weights(sentence, pairs):
    best = {}
    for source, target, links in pairs:
        sim = similarity(source, sentence)
        if sim > 0:
            for piece in pieces_of(target, links, unedited(source, sentence)):
                best[piece] = max(best.get(piece, 0), sim)
    return best


def reward(best, before, word):
    line = tuple(before) + (word,)
    return sum(best.get(line[-n:], 0)
               for n in range(1, LENGTH + 1) if n <= len(line))


def show(name, numbers):
    print(name, *(n if isinstance(n, int) else "%.9g" % n for n in numbers))


def example(name, sentence, pairs, output):
    best = weights(sentence, pairs)
    show(name + "_sentence", sentence)
    for p, (source, target, links) in enumerate(pairs):
        kept = unedited(source, sentence)
        show(f"{name}_source_{p}", source)
        show(f"{name}_target_{p}", target)
        show(f"{name}_links_{p}", [n for link in links for n in link])
        show(f"{name}_kept_{p}", [int(i in kept) for i in range(len(source))])
    show(name + "_similarity",
         [float(similarity(p[0], sentence)) for p in pairs])
    show(name + "_pieces",
         [n for piece in sorted(best, key=lambda x: (len(x), x))
          for n in (len(piece), *piece, float(best[piece]))])
    show(name + "_output", output)
    words = sorted({piece[-1] for piece in best})
    for t in range(len(output) + 1):
        show(f"{name}_step_{t}",
             [n for w in words for n in (w, float(reward(best, output[:t],
                                                         w)))])
    show(name + "_most",
         [float(sum(max((best[x] for x in best if len(x) == n), default=0)
                    for n in range(1, LENGTH + 1)))])


def worked():
    """The example of docs/method.md 10, with a number for each word."""
    number = {}

    def words(text):
        return [number.setdefault(w, len(number)) for w in text.split()]

    def links(text):
        return [tuple(map(int, link.split("-"))) for link in text.split()]

    sentence = words("der neue Vertrag gilt ab Montag")
    pairs = [
        (words("der alte Vertrag gilt ab Freitag"),
         words("the old contract applies from Friday"),
         links("0-0 1-1 2-2 3-3 4-4 5-5")),
        (words("der Vertrag gilt nicht"),
         words("the contract does not apply"),
         links("0-0 1-1 2-4 3-3")),
        (words("Vertrag ab Montag"),
         words("contract as from Monday"),
         links("0-0 1-2 2-3"))]
    example("worked", sentence, pairs,
            words("the new contract applies as from Monday"))


class Random:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) % 2 ** 31
        return self.state // 65536 % n


def made():
    """Few different words, so that there are many paths of equal cost and many
    equal pieces; links in any order, several or none for a word."""
    r = Random(20180601)
    sentence = [r.below(6) for _ in range(14)]
    pairs = []
    for _ in range(6):
        source = [w if r.below(4) else r.below(6) for w in sentence
                  if r.below(8)]
        target = [10 + r.below(5) for _ in range(6 + r.below(8))]
        links = sorted({(r.below(len(source)), t)
                        for t in range(len(target))
                        for _ in range(r.below(3))})
        pairs.append((source, target, links))
    output = [10 + r.below(6) for _ in range(20)]
    example("made", sentence, pairs, output)


if len(sys.argv) > 1:
    sys.exit(__doc__)
worked()
made()
