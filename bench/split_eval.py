#!/usr/bin/env python3
"""split_eval.py - how well sentences are found, beside ICU.

    bench/split_eval.py [../shared/corpora]

Joins the lines of the test sets, which are single sentences, to paragraphs, and
looks how many of the borders are found (recall), and how many of the borders
that are found were there (precision). Lines that do not end like a sentence are
left out. Some lines have several sentences. Their borders count as wrong for
everybody, so precision cannot reach 100%.

ICU is that of Debian's python3-icu; it is left out if it is not installed.
SHOW=N prints N paragraphs of each set in which ours and ICU differ.
SETS='law news' chooses sets. SPLIT=PROGRAM is another program than
build/bench/split_text.
"""
import lzma
import os
import re
import subprocess
import sys

try:
    import icu
except ImportError:
    icu = None

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get('BUILD') or 'build')
SPLIT = os.environ.get('SPLIT') or os.path.join(BUILD, 'bench', 'split_text')
SETS = {'news': ['news/newstest2014.tsv', 'news/newstest2019.tsv',
                 'news/flores-devtest.tsv'],
        'law': ['law/tm.tsv.xz', 'law/test.tsv', 'law/dev.tsv'],
        'medical': ['medical/test.tsv', 'medical/dev.tsv'],
        'it': ['it/test.tsv', 'it/dev.tsv'],
        'koran': ['koran/tm.tsv'],
        'emea': ['emea/docs.tsv.xz'], 'jrc': ['jrc/docs.tsv.xz']}
JOIN = 5                        # sentences of a paragraph
ENDS = re.compile(r'[.!?…]["\'”“’»«)\]]*$')


def detokenize(text):
    """emea and jrc have spaces around punctuation."""
    text = text.replace('&apos;', "'").replace('&quot;', '"')
    text = re.sub(r'(?<=\w)\. (?=\w+\. (?:com|org|eu|int))', '.', text)
    text = re.sub(r' +([.,;:!?%)\]])', r'\1', text)
    return re.sub(r'([(\[]) +', r'\1', text)


def read(path, side):
    opened = lzma.open if path.endswith('.xz') else open
    first = 1 if 'docs' in path else 0
    with opened(path, 'rt', encoding='utf-8') as f:
        for line in f:
            fields = line.rstrip('\n').split('\t')
            if len(fields) > first + side:
                text = ' '.join(fields[first + side].split())
                yield detokenize(text) if first else text


def paragraphs(paths, side):
    """Texts with the offsets of the borders."""
    lines = []
    for path in paths:
        lines += [t for t in read(path, side) if len(t) > 3 and ENDS.search(t)]
    for at in range(0, len(lines) - JOIN + 1, JOIN):
        text, borders = '', set()
        for line in lines[at:at + JOIN]:
            if text:
                borders.add(len(text.encode()))
                text += ' '
            text += line
        yield text, borders


def ours(texts, lang):
    out = subprocess.run([SPLIT] + ([lang] if lang else []), check=True,
                         input='\n'.join(texts).encode() + b'\n',
                         stdout=subprocess.PIPE).stdout.decode()
    return [{int(n) for n in line.split()[:-1]}
            for line in out.splitlines()]


def by_icu(texts, locale):
    it = icu.BreakIterator.createSentenceInstance(icu.Locale(locale))
    found = []
    for text in texts:
        # Offsets in UTF-16; a sentence has the white space after it.
        units = text.encode('utf-16-le')
        it.setText(text)
        ends = set()
        for end in list(it)[:-1]:
            part = units[:2 * end].decode('utf-16-le').rstrip()
            ends.add(len(part.encode()))
        found.append(ends)
    return found


def words_of(lang, kind):
    """A list of src/text/abbreviations.def."""
    path = os.path.join(TOP, 'src', 'text', 'abbreviations.def')
    with open(path, encoding='utf-8') as f:
        rules = re.search(r'(?ms)^RULES\("[^"]*\b%s\b.*?^END$' % lang,
                          f.read())
    words = re.search(r'(?ms)^%s\((.*?"\))\)$' % kind, rules.group(0))
    return {w for part in re.findall(r'W\("([^"]*)"\)', words.group(1))
            for w in part.split()}


def without_abbreviations(texts, found, lang):
    """The borders of ICU that our lists allow."""
    never, maybe, starter = (words_of(lang, kind)
                             for kind in ('NEVER', 'MAYBE', 'STARTER'))
    out = []
    for text, ends in zip(texts, found):
        raw = text.encode()
        keep = set()
        for end in ends:
            before = raw[:end].decode().split()[-1]
            after = re.match(r'\W*(\w*)', raw[end:].decode()).group(1)
            word = re.split(r'[(/\[„"“-]', before[:-1])[-1]
            same = {word, word.lower()}
            if not before.endswith('.') or not (
                    same & never or len(word) == 1 or
                    same & maybe and after not in starter):
                keep.add(end)
        out.append(keep)
    return out


def score(found, borders):
    """Precision and recall in percent."""
    hits = sum(len(f & b) for f, b in zip(found, borders))
    return '%.2f / %.2f' % (100 * hits / max(sum(map(len, found)), 1),
                            100 * hits / sum(map(len, borders)))


def show(texts, a, b, borders, n):
    for text, x, y, z in zip(texts, a, b, borders):
        for end in sorted(x ^ y):
            if n == 0:
                return
            n -= 1
            raw = text.encode()
            print('    %s %s %s' % (
                'ours' if end in x else 'ICU ',
                'right' if end in z else 'wrong',
                raw[max(0, end - 40):end].decode(errors='ignore') + ' | ' +
                raw[end:end + 30].decode(errors='ignore')))


def main():
    shared = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.environ.get('SKMT_SHARED') or os.path.join(TOP, '..', 'shared'),
        'corpora')
    wanted = os.environ.get('SETS', ' '.join(SETS)).split()
    n_shown = int(os.environ.get('SHOW', '0'))
    columns = ['ours', 'language not given']
    if icu:
        columns += ['ICU', 'ICU with its abbreviations', 'ICU with ours']
    print('| set | borders | ' + ' | '.join(columns) + ' |')
    print('|---|---:' + '|---:' * len(columns) + '|')
    for side, lang in enumerate(('de', 'en')):
        for name in wanted:
            paths = [os.path.join(shared, p) for p in SETS[name]]
            texts, borders = zip(*paragraphs(paths, side))
            found = [ours(texts, lang), ours(texts, None)]
            if icu:
                plain = by_icu(texts, lang)
                found += [plain, by_icu(texts, lang + '-u-ss-standard'),
                          without_abbreviations(texts, plain, lang)]
            print('| %s, %s | %d | ' % (name, lang, sum(map(len, borders))) +
                  ' | '.join(score(f, borders) for f in found) + ' |',
                  flush=True)
            if icu:
                show(texts, found[0], plain, borders, n_shown)


main()
