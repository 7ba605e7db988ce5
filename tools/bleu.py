#!/usr/bin/env python3
"""bleu.py - compute BLEU and chrF2 of whole files, as sacrebleu does.

    bleu.py REFERENCES HYPOTHESES ...    print BLEU, chrF2 and the file name,
                                         one line for each file of hypotheses
    bleu.py --test                       compare with known values; exit
                                         status 1 if one differs

Of a reference file whose name ends in .tsv the second column is used; files
whose name ends in .xz are decompressed. BLEU: 13a tokens, case-sensitive,
order 4, exponential smoothing. chrF2: characters without white space, order 6,
beta 2, counts summed over the corpus. It needs only the standard library.
"""
import lzma
import math
import re
import sys
from collections import Counter

PASSES = [(re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
          (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
          (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
          (re.compile(r"([0-9])(-)"), r"\1 \2 ")]
ENTITIES = [("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]


def tokens_13a(line):
    line = line.rstrip().replace("<skipped>", "")
    line = line.replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, char in ENTITIES:
            line = line.replace(entity, char)
    line = " " + line + " "
    for pattern, by in PASSES:
        line = pattern.sub(by, line)
    return line.split()


def ngrams(seq, n):
    if isinstance(seq, str):
        return Counter(seq[i:i + n] for i in range(len(seq) - n + 1))
    return Counter(zip(*(seq[i:] for i in range(n))))


def matches(a, b):
    return sum(min(c, b[g]) for g, c in a.items() if g in b)


def bleu_counts(refs, hyps):
    """matches and totals per order, hypothesis and reference length"""
    match, total, h_len, r_len = [0] * 4, [0] * 4, 0, 0
    for ref, hyp in zip(refs, hyps):
        r, h = tokens_13a(ref), tokens_13a(hyp)
        r_len += len(r)
        h_len += len(h)
        for n in range(1, 5):
            total[n - 1] += max(0, len(h) - n + 1)
            match[n - 1] += matches(ngrams(h, n), ngrams(r, n))
    return match, total, h_len, r_len


def bleu(refs, hyps):
    match, total, h_len, r_len = bleu_counts(refs, hyps)
    if not any(match) or not all(total):
        return 0.0
    smooth, logs = 1, 0.0
    for c, t in zip(match, total):
        if c == 0:
            smooth *= 2
        logs += math.log(100 * c / t if c else 100 / (smooth * t))
    brevity = 1 if h_len >= r_len else math.exp(1 - r_len / h_len)
    return brevity * math.exp(logs / 4)


def chrf(refs, hyps):
    m, h, r = [0] * 6, [0] * 6, [0] * 6
    for ref, hyp in zip(refs, hyps):
        ref, hyp = "".join(ref.split()), "".join(hyp.split())
        for n in range(1, 7):
            in_ref, in_hyp = ngrams(ref, n), ngrams(hyp, n)
            # where the reference is too short for this order, the n-grams of
            # the hypothesis are not counted
            h[n - 1] += sum(in_hyp.values()) if in_ref else 0
            r[n - 1] += sum(in_ref.values())
            m[n - 1] += matches(in_hyp, in_ref)
    orders = [i for i in range(6) if h[i] and r[i]]
    if not orders:
        return 0.0
    p = sum(m[i] / h[i] for i in orders) / len(orders)
    q = sum(m[i] / r[i] for i in orders) / len(orders)
    return 100 * 5 * p * q / (4 * p + q) if p + q else 0.0


def read(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as f:
        lines = f.read().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if re.search(r"\.tsv(\.xz)?$", path):
        lines = [line.split("\t")[1] for line in lines]
    return lines


def self_test():
    for text, want in [
            ("It costs 1,234.56 EUR (approx.) - 3-4 days...",
             "It costs 1,234.56 EUR ( approx . ) - 3 - 4 days . . ."),
            ("a..b,c", "a . . b , c"), ("5.", "5 ."),
            ("A 2008-09 ’quote’ «x» 1.a", "A 2008 - 09 ’quote’ «x» 1 . a")]:
        assert " ".join(tokens_13a(text)) == want, (text, tokens_13a(text))
    hyps = ["The cat sat on the mat .", "Take 2 tablets daily.", "Yes"]
    refs = ["The cat is on the mat.", "Take two tablets a day.",
            "Yes, please."]
    match, total, h_len, r_len = bleu_counts(refs, hyps)
    assert (match, total) == ([10, 4, 2, 1], [13, 10, 8, 6]), (match, total)
    assert abs(math.exp(1 - r_len / h_len) - 0.735141) < 1e-6
    for got, want in [(bleu(refs, hyps), 24.737014),
                      (chrf(refs, hyps), 45.899305),
                      (bleu(["a b x d e"], ["a b c d e"]), 30.213754),
                      (bleu(["a b"], ["c d"]), 0),
                      (chrf(["a b"], ["c d"]), 0), (bleu([""], [""]), 0)]:
        assert abs(got - want) < 1e-6, (got, want)
    print("bleu.py: all 11 values are correct")


def main(args):
    if args == ["--test"]:
        self_test()
        return
    if len(args) < 2:
        sys.exit(__doc__.strip())
    refs = read(args[0])
    for path in args[1:]:
        hyps = read(path)
        if len(hyps) != len(refs):
            sys.exit(f"bleu.py: {path} has {len(hyps)} lines, but "
                     f"{args[0]} has {len(refs)}")
        print(f"{bleu(refs, hyps):.2f} {chrf(refs, hyps):.2f} {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
