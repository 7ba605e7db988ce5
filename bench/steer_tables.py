#!/usr/bin/env python3
"""steer_tables.py - print the results of bench/steer as Markdown tables.

    bench/steer_tables.py FILE.jsonl
"""
import json
import sys

rows = [json.loads(x) for x in open(sys.argv[1], encoding="utf-8")]
table = [r for r in rows if "mode" in r]
stats = {r["set"]: r for r in rows if "stats" in r}
bounds = {r["set"]: r for r in rows if "bound" in r}
wholes = [r for r in rows if "whole" in r]
drafts = [r for r in rows if "way" in r]


def mb(n):
    return f"{n / 1e6:,.1f} MB"


def cell(s, system, mode, batch):
    for r in table:
        if (r["set"], r["system"], r["mode"], r["batch"]) == \
                (s, system, mode, batch):
            if mode == "plain":
                return f"{r['ms']:.1f}"
            return f"{r['ms']:.1f} (**{r['ratio']:.2f}x**)"
    return ""


for s in dict.fromkeys(r["set"] for r in table):
    n = next(r["sentences"] for r in table if r["set"] == s)
    print(f"### {s}: ms per sentence ({n} sentences), and speed relative to "
          "plain NMT\n")
    print("| | batch 1 | 4 | 8 | 16 |\n|---|---|---|---|---|")
    names = [("nmt", "plain", "plain NMT")]
    for p in ("sk1", "sk2"):
        names += [(p, "paper", f"{p}, keys cached, decoding alone, the paper's "
                   "search"),
                  (p, "decode", f"{p}, keys cached, decoding alone"),
                  (p, "warm", f"{p}, keys cached, with retrieval"),
                  (p, "cold", f"{p}, cache empty at first, with retrieval"),
                  (p, "none", f"{p}, no cache, with retrieval")]
    for system, mode, name in names:
        cells = " | ".join(cell(s, system, mode, b) for b in (1, 4, 8, 16))
        print(f"| {name} | {cells} |")
    for r in [r for r in wholes if r["set"] == s]:
        reused = r["hits"] / max(1, r["hits"] + r["misses"])
        print(f"\n{r['whole']}, the first {r['sentences']:,} sentences, with "
              "a cache that is empty at first, batch 1, with retrieval: "
              f"{r['ms']:.1f} ms per sentence, plain NMT {r['plain']:.1f} ms "
              f"(**{r['ratio']:.2f}x**). {100 * reused:.0f}% of the keys were "
              f"found in the cache, which held {mb(r['key_bytes'])} at the "
              "end.")
    if s in bounds:
        b = bounds[s]["bound"]
        print(f"\nIf only multiply-adds took time and no key were reused, the "
              f"speed would be {b['sk1']:.2f}x (sk1) and {b['sk2']:.2f}x (sk2) "
              "of plain NMT, which needs "
              f"{bounds[s]['gmac']:.1f} GMAC per sentence.")
        plain = next(r["ms"] for r in table if (r["set"], r["mode"], r["batch"])
                     == (s, "plain", 1))
        dense, rate = bounds[s]["dense"], bounds[s]["rate"]
        print(f"\nComputing the keys takes {dense['sk1']:.1f} (sk1) and "
              f"{dense['sk2']:.1f} (sk2) GMAC that are not skipped because of "
              f"zero inputs. At the {rate:.0f} GMAC/s of one large product "
              "these limit the speed at batch 1 to " +
              " and ".join(f"{plain / (plain + 1e3 * dense[p] / rate):.2f}x "
                           f"({p})" for p in ("sk1", "sk2")) + ".")
    print()

print("### storage\n")
print("| | pairs | text | index | ids of pieces | key cache used | kNN-MT: keys "
      "(f16) and index |\n|---|---|---|---|---|---|---|")
for s, r in stats.items():
    st, t = r["stats"], r["tokens"]
    keys = max(x["key_bytes"] for x in table if x["set"] == s)
    print(f"| {s} | {t['pairs']:,} | {mb(st.get('store_bytes', 0))} | "
          f"{mb(st.get('index_bytes', 0))} | {mb(r.get('ids', 0))} | "
          f"{mb(keys)} in memory, 0 on disk | "
          f"{mb(t['tokens'] * t['d'] * 2)} + {mb(t['tokens'] * 72)} |")
print()


def total(way, sets, bands, key):
    return sum(r[key] for r in drafts if r["way"] == way and r["set"] in sets
               and r["band"] in bands)


sets = list(dict.fromkeys(r["set"] for r in drafts))
bands = [("all", (0, 1, 2)), ("match above 0.8", (0,)),
         ("0.5 to 0.8", (1,)), ("below 0.5", (2,))]
for name in ["together"] + sets:
    chosen = sets if name == "together" else [name]
    print(f"### drafts, {name}: speed relative to plain NMT with the same "
          "search, keys cached, with retrieval\n")
    head = " | ".join(f"{b} ({total('nmt', chosen, i, 'sentences')})"
                      for b, i in bands)
    print(f"| | {head} | steps per pass | rows per pass |")
    print("|---" * 7 + "|")
    for way in dict.fromkeys(r["way"] for r in drafts):
        base = "nmt greedy" if "greedy" in way else "nmt"
        cells = []
        for _, i in bands:
            a = total(base, chosen, i, "seconds")
            b = total(way, chosen, i, "seconds")
            n = total(way, chosen, i, "sentences")
            cells.append(f"{1e3 * b / n:.1f} ms ({a / b:.2f}x)"
                         if n and b else "")
        p = total(way, chosen, (0, 1, 2), "passes")
        print(f"| {way} | {' | '.join(cells)} | "
              f"{total(way, chosen, (0, 1, 2), 'steps') / p:.2f} | "
              f"{total(way, chosen, (0, 1, 2), 'rows') / p:.2f} |")
    print()
