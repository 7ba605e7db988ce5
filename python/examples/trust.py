#!/usr/bin/env python3
"""trust.py - load a memory, translate, and plot how much the memory decided
about each token.

    python3 trust.py PAIRS.tsv 'Text' [-o trust.svg]

The plot is made by matplotlib if it is installed (then -o may also name a .png
or .pdf file); otherwise it is a simple SVG.
"""
import argparse
import os
import tempfile
from xml.sax.saxutils import escape

import skmt


def labels(result):
    """What a token adds to the translation, its weight and its strongest
    vote."""
    for sentence in result.sentences:
        for token in sentence.tokens:
            text = result.text[token.begin:token.end].strip() or "(end)" \
                if token is sentence.tokens[-1] else \
                result.text[token.begin:token.end].strip()
            pair = ""
            if token.votes:
                best = max(token.votes, key=lambda v: v.share)
                pair = sentence.pairs[best.pair].source
            if text:
                yield text, token.weight, pair


def draw_svg(tokens, title, path):
    step, height, top = 46, 200, 40
    width = step * len(tokens) + 60
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height + top + 90}" font-family="sans-serif" '
        'font-size="12">',
        f'<text x="10" y="20">{escape(title)}</text>']
    for percent in 0, 50, 100:
        y = top + height * (100 - percent) / 100
        lines.append(f'<line x1="40" x2="{width - 10}" y1="{y}" y2="{y}" '
                     'stroke="#ddd"/>'
                     f'<text x="5" y="{y + 4}">{percent}%</text>')
    for i, (text, weight, pair) in enumerate(tokens):
        x, bar = 48 + step * i, height * float(weight)
        lines.append(
            f'<rect x="{x}" y="{top + height - bar:.1f}" width="{step - 12}" '
            f'height="{bar:.1f}" fill="#4a7db5"><title>'
            f'{escape(f"{weight:.0%} {pair}")}</title></rect>'
            f'<text transform="translate({x + 12},{top + height + 14}) '
            f'rotate(40)">{escape(text)}</text>')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n</svg>\n")


def draw(tokens, title, path):
    try:
        import matplotlib
    except ImportError:
        return draw_svg(tokens, title, path)
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(0.6 * len(tokens) + 1, 4))
    axes.bar(range(len(tokens)), [weight for _, weight, _ in tokens])
    axes.set_xticks(range(len(tokens)), [text for text, _, _ in tokens],
                    rotation=40, ha="right")
    axes.set_ylim(0, 1)
    axes.set_ylabel("weight of the memory")
    axes.set_title(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="plot the trust per token")
    parser.add_argument("pairs", help="a file that skmt can import")
    parser.add_argument("text")
    parser.add_argument("-o", "--output", default="trust.svg")
    args = parser.parse_args()
    model = skmt.Model()
    with tempfile.TemporaryDirectory() as folder, \
            skmt.Memory(os.path.join(folder, "my.tm")) as memory:
        memory.import_files(args.pairs)
        print("without:", model.translate(args.text))
        result = model.result(args.text, memory=memory, explain=True)
        print("with:   ", result.text)
        tokens = list(labels(result))
        for text, weight, pair in tokens:
            print(f"{weight:4.0%}  {text:20} {pair}")
        draw(tokens, result.text, args.output)


if __name__ == "__main__":
    main()
