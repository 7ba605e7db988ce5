#!/usr/bin/env python3
"""gen_stopwords.py - write src/metrics/stopwords_en.h from stopwords-iso.

    npm pack stopwords-en@0.3.0 && tar xf stopwords-en-0.3.0.tgz
    tools/gen_stopwords.py package > src/metrics/stopwords_en.h

The list is the one that stopwords-iso has under "en". Words come out sorted
by their bytes, for a search by halves.
"""
import json
import sys
import textwrap

WIDTH = 79
HEAD = '''\
/* stopwords_en.h - made by tools/gen_stopwords.py from {name} {version}
 * ({url}): {n} English words that
 * say little of what a text is about, by their bytes.
 *
{licence}
 */
'''


def literal(word):
    """The word as a C string. Octal escapes have three digits at most, so
    what follows one is never taken for a part of it."""
    text = ''.join(chr(b) if b < 0x80 else f'\\{b:03o}'
                   for b in word.encode())
    return f'"{text}"'


def rows(words):
    """The literals, as many to a line as fit."""
    line = '   '
    for word in words:
        item = ' ' + literal(word) + ','
        if len(line) + len(item) > WIDTH:
            yield line
            line = '   '
        line += item
    yield line.rstrip(',')


def main():
    folder = sys.argv[1]
    with open(folder + '/package.json', encoding='utf-8') as f:
        package = json.load(f)
    with open(folder + '/stopwords-en.json', encoding='utf-8') as f:
        words = sorted(set(json.load(f)), key=str.encode)
    with open(folder + '/LICENSE', encoding='utf-8') as f:
        licence = [textwrap.fill(part, WIDTH, initial_indent=' * ',
                                 subsequent_indent=' * ')
                   for part in f.read().strip().split('\n\n')]
    sys.stdout.write(HEAD.format(
        name=package['name'], version=package['version'],
        url=package['repository'].replace('git://', ''), n=len(words),
        licence='\n *\n'.join(licence)))
    print('static const char *const stopwords_en[] = {')
    print('\n'.join(rows(words)))
    print('};')


if __name__ == '__main__':
    main()
