#!/usr/bin/env python3
"""long_lines - measure at which length a sentence should be cut.

    bench/long_lines.py [--memory LAW.tm] [--build DIR] [--model FILE]
                        [--from PIECES] [--limits 80,100,120]

Translates long lines of the law sets in ../shared (or $SKMT_SHARED) with
several values of --max-source. Prints a table of BLEU, chrF2 and the number of
outputs with a repetition, by the length of the line in pieces. An output has a
repetition if a phrase of one to twelve words occurs three times in a row, and
its source has none. In the row "none" nothing is cut.

With --memory, translations are steered by the memory (preset sk2). Then only
lines of the dev and test sets are used, because the memory contains the others.
--from 101 leaves out lines of fewer than 101 pieces.

A line is translated again only for limits below its length. Outputs are stored
in BUILD/long_lines, so an interrupted run can be continued.
"""
import argparse
import lzma
import os
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, "tools")
import bleu  # noqa: E402

SHARED = os.environ.get("SKMT_SHARED", "../shared")
NONE = 700          # no line that is used has more pieces
# fewest and most pieces; limits on the lines of dev and test together, and on
# the lines of the memory
BUCKETS = [(61, 80, 50, 0), (81, 100, 50, 0), (101, 120, 80, 0),
           (121, 150, 60, 0), (151, 200, 60, 15), (201, 250, 60, 20),
           (251, 700, 60, 10)]


def read_pairs(path):
    with (lzma.open if path.endswith(".xz") else open)(
            path, "rt", encoding="utf-8", newline="\n") as f:
        return [line.rstrip("\n").split("\t")[:2] for line in f]


def n_pieces(build, pairs):
    done = subprocess.run(
        [build + "/tests/unit/spm_tool", "encode",
         SHARED + "/model/spm.model"], check=True, stdout=subprocess.PIPE,
        input="".join(p[0] + "\n" for p in pairs), text=True, encoding="utf-8")
    return [len(ids.split()) for ids in done.stdout.splitlines()]


def evenly(rows, most):
    step = max(1, -(-len(rows) // most)) if most else 1
    return rows[::step][:most]


def select(build, with_memory, shortest):
    """Returns (pieces, source, reference) of the lines of all buckets."""
    law = SHARED + "/corpora/law/"
    tests = read_pairs(law + "dev.tsv") + read_pairs(law + "test.tsv")
    tm = read_pairs(law + "tm.tsv.xz") if not with_memory else []
    tm = [p for p in tm if len(p) == 2 and len(p[0]) > 400]
    sized = [[(n, *p) for n, p in zip(n_pieces(build, pairs), pairs)]
             for pairs in (tests, tm)]
    taken = []
    for low, high, most, most_tm in BUCKETS:
        if low < shortest:
            continue
        for rows, limit in zip(sized, (most, most_tm)):
            inside = [r for r in rows if low <= r[0] <= high]
            taken += evenly(inside, limit)
    return taken


def translate(args, lines, limit):
    kind = "sk2" if args.memory else "plain"
    name = f"{args.build}/long_lines/{kind}.{limit}"
    if os.path.exists(name):
        with open(name, encoding="utf-8") as f:
            out = f.read().split("\n")[:-1]
        if len(out) == len(lines):
            return out
    command = [args.build + "/skmt", "translate", "--quiet", "--model",
               args.model, "--max-source", str(limit)]
    if args.memory:
        command += ["--memory", args.memory, "--preset", "sk2", "--exact",
                    "steer", "--key-file", args.build + "/long_lines/keys"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          input="".join(s + "\n" for s in lines), text=True,
                          encoding="utf-8")
    with open(name + ".new", "w", encoding="utf-8") as f:
        f.write(done.stdout)
    os.replace(name + ".new", name)
    return done.stdout.split("\n")[:-1]


def has_loop(text):
    words = text.split()
    return any(words[i:i + n] == words[i + n:i + 2 * n]
               == words[i + 2 * n:i + 3 * n]
               for n in range(1, 13) for i in range(len(words) - 3 * n + 1))


def repeats(src, out):
    return has_loop(out) and not has_loop(src)


def outputs(args, rows):
    """Returns a dict from each limit to the outputs of all rows."""
    src = [r[1] for r in rows]
    by = {NONE: translate(args, src, NONE)}
    for limit in reversed(args.limits):
        longer = [i for i, r in enumerate(rows) if r[0] > limit]
        again = translate(args, [src[i] for i in longer], limit)
        by[limit] = list(by[NONE])
        for i, text in zip(longer, again, strict=True):
            by[limit][i] = text
    return by


def score(rows, outs, pick):
    some = [i for i, r in enumerate(rows) if pick(r[0])]
    if not some:
        return "-"
    refs, hyps = [rows[i][2] for i in some], [outs[i] for i in some]
    loops = sum(repeats(rows[i][1], outs[i]) for i in some)
    return (f"{bleu.bleu(refs, hyps):.2f} / "
            f"{bleu.chrf(refs, hyps):.2f} ({loops})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memory")
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", default="models/de-en.skmt")
    parser.add_argument("--from", type=int, default=0, dest="shortest")
    parser.add_argument("--limits", default="60,80,100,120,150,200,250")
    args = parser.parse_args()
    args.limits = sorted(int(n) for n in args.limits.split(","))
    os.makedirs(args.build + "/long_lines", exist_ok=True)
    rows = select(args.build, bool(args.memory), args.shortest)
    by = outputs(args, rows)
    picks = [(f"{low}-{high}" if high < 700 else f"over {low - 1}",
              lambda n, low=low, high=high: low <= n <= high)
             for low, high, _, _ in BUCKETS if low >= args.shortest]
    picks += [("over 100", lambda n: n > 100), ("all", lambda n: True)]
    print("| max-source | " + " | ".join(
        f"{name} ({sum(pick(r[0]) for r in rows)})"
        for name, pick in picks) + " |")
    print("|---" * (len(picks) + 1) + "|")
    for limit in args.limits + [NONE]:
        cells = [score(rows, by[limit], pick) for _, pick in picks]
        print(f"| {'none' if limit == NONE else limit} | "
              + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
