#!/usr/bin/env python3
"""gen_retrieval.py - write a small memory and the matches that retrieval must
find in it.

    tools/gen_retrieval.py ../shared/corpora/jrc/docs.tsv.xz \\
        ../shared/model/spm.model > tests/golden/matches.jsonl

Takes 300 distinct pairs of JRC-Acquis as the memory and 60 other sentences as
queries, and finds the 16 most similar pairs for each query by brute force:
it scores every document for every query and computes every edit distance in
full. It uses nothing of the engine; the pieces come from spm_encode of
SentencePiece.

    1. Keep the 64 best pairs by BM25 as Lucene computes it (k1 1.2, b 0.75,
       lengths rounded to a byte with four significant bits, a query term
       counts as often as it occurs). Ties are in the order of the memory.
    2. Keep the 16 best of these by 1 - edit distance / pieces of the longer
       sentence. Ties are in the order of BM25.

Needs Python 3 and spm_encode (Debian package: sentencepiece)."""
import json
import lzma
import math
import subprocess
import sys
import unicodedata
from collections import Counter

PAIRS, QUERIES, CANDIDATES, MATCHES = 300, 60, 64, 16
LETTER_JOINS = ".'\u2019:\u00b7"
DIGIT_JOINS = ".',;"


def is_letter(c):
    return unicodedata.category(c)[0] == "L"


def is_digit(c):
    return unicodedata.category(c) == "Nd"


def is_inside(c):
    return unicodedata.category(c)[0] in "LM" or is_digit(c) or c == "_"


def words(text):
    """Words in lower case: runs of letters and digits, which may contain a
    joining mark such as an apostrophe between two letters or two digits."""
    found, word = [], ""
    for i, c in enumerate(text):
        before, after = text[i - 1:i], text[i + 1:i + 2]
        joins = before and after and (
            c in LETTER_JOINS and is_letter(before) and is_letter(after) or
            c in DIGIT_JOINS and is_digit(before) and is_digit(after))
        if is_inside(c) or joins:
            word += c
            continue
        found.append(word)
        word = ""
    return [w.lower() for w in found + [word]
            if any(is_letter(c) or is_digit(c) for c in w)]


def byte_length(n):
    """The length after rounding to one byte, as Lucene does: exact up to 39,
    then in growing steps."""
    if n < 24:
        return n
    shift = max(0, (n - 24).bit_length() - 4)
    return 24 + ((n - 24) >> shift << shift)


class Bm25:
    def __init__(self, texts):
        self.docs = [Counter(words(t)) for t in texts]
        lengths = [sum(d.values()) for d in self.docs]
        self.average = sum(lengths) / len(lengths)
        self.lengths = [byte_length(n) for n in lengths]
        self.df = Counter(t for d in self.docs for t in d)

    def share(self, term, i):
        tf, df = self.docs[i][term], self.df[term]
        idf = math.log(1 + (len(self.docs) - df + 0.5) / (df + 0.5))
        norm = 1.2 * (0.25 + 0.75 * self.lengths[i] / self.average)
        return idf * tf / (tf + norm)

    def best(self, query, n):
        terms = words(query)
        scores = [sum(self.share(t, i) for t in terms)
                  for i in range(len(self.docs))]
        order = sorted((i for i, s in enumerate(scores) if s > 0),
                       key=lambda i: (-round(scores[i], 9), i))
        return order[:n]


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


def encode(texts, model):
    out = subprocess.run(["spm_encode", "--model=" + model,
                          "--output_format=id"], check=True,
                         input="\n".join(texts) + "\n", encoding="utf-8",
                         stdout=subprocess.PIPE).stdout
    return [line.split() for line in out.splitlines()]


def choose(path):
    """Choose pairs of medium length from all over the collection. Every sixth
    becomes a query, the others become the memory."""
    with lzma.open(path, "rt", encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    seen, pairs = set(), []
    for _, source, target in rows:
        if not (25 <= len(source) <= 130 and 20 <= len(target) <= 140):
            continue
        if source not in seen:
            pairs.append((source, target))
            seen.add(source)
    # 12 runs of adjacent pairs: pairs of one document are similar
    step = len(pairs) // 12
    taken = [p for i in range(12) for p in pairs[i * step:i * step + 30]]
    queries = [s for s, _ in taken[::6]]
    memory = [p for i, p in enumerate(taken) if i % 6]
    return memory[:PAIRS], queries[:QUERIES]


def main():
    memory, queries = choose(sys.argv[1])
    model = sys.argv[2]
    index = Bm25([s for s, _ in memory])
    stored = encode([s for s, _ in memory], model)
    for source, target in memory:
        print(json.dumps({"source": source, "target": target},
                         ensure_ascii=False))
    for query, ids in zip(queries, encode(queries, model)):
        hits = index.best(query, CANDIDATES)
        similar = {i: 1 - distance(ids, stored[i]) /
                   max(len(ids), len(stored[i])) for i in hits}
        final = sorted(hits, key=lambda i: -similar[i])[:MATCHES]
        print(json.dumps({"query": query, "bm25": hits[:MATCHES], "matches":
                          [[i, round(similar[i], 6)] for i in final]},
                         ensure_ascii=False))


main()
