#!/usr/bin/env python3
"""gen_words.py - write src/text/word_break.h from the data files of Unicode.

    tools/gen_words.py [/usr/share/unicode] > src/text/word_break.h

Reads WordBreakProperty, emoji-data, Scripts, LineBreak and PropList (Debian
package: unicode-data). The result is a two-stage table for the first two
planes and a list of ranges for the others. A class is written as a character,
so that a block of the table is a string: characters from '`' on, and from '@'
on for code points that are pictographs too.
"""
import re
import sys

BLOCK = 128
TABLED = 0x20000

# Word_Break values and their names in words.c.
WORD_BREAK = {
    'CR': 'CR', 'LF': 'LF', 'Newline': 'NEWLINE', 'WSegSpace': 'WSEG',
    'Extend': 'EXTEND', 'ZWJ': 'ZWJ', 'Format': 'FORMAT',
    'Regional_Indicator': 'RI', 'Katakana': 'KATAKANA',
    'Hebrew_Letter': 'HEBREW', 'ALetter': 'LETTER', 'Numeric': 'NUMERIC',
    'ExtendNumLet': 'EXTENDNUM', 'Single_Quote': 'SQUOTE',
    'Double_Quote': 'DQUOTE', 'MidNumLet': 'MIDNUMLET',
    'MidLetter': 'MIDLETTER', 'MidNum': 'MIDNUM',
}
CLASSES = ['OTHER', 'BLANK', 'IDEOGRAPH', 'SOUTHEAST'] + list(
    WORD_BREAK.values())
PLAIN = 0x60
PICTOGRAPH = 0x40


def ranges(path, field=1):
    """(first, last, value) of each line of a file of Unicode's database."""
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            parts = [p.strip() for p in line.split('#')[0].split(';')]
            if len(parts) > field:
                ends = parts[0].split('..')
                yield int(ends[0], 16), int(ends[-1], 16), parts[field]


def classes(ucd):
    """The class of every code point. Code points whose Word_Break is Other are
    divided further. U+202F is a space here, although Word_Break has put it in
    the class of '_' since Unicode 11: French uses it before '!' and '?', and
    there it must not change the word before it."""
    table = bytearray([PLAIN]) * 0x110000

    def put(path, names, always):
        for first, last, value in ranges(ucd + path):
            if value in names:
                for cp in range(first, last + 1):
                    if always or table[cp] == PLAIN:
                        table[cp] = PLAIN + CLASSES.index(names[value])

    put('/auxiliary/WordBreakProperty.txt', WORD_BREAK, True)
    put('/PropList.txt', {'White_Space': 'BLANK'}, False)
    put('/Scripts.txt', {'Han': 'IDEOGRAPH', 'Hiragana': 'IDEOGRAPH'}, False)
    put('/LineBreak.txt', {'SA': 'SOUTHEAST'}, False)
    table[0x202F] = PLAIN + CLASSES.index('BLANK')
    for first, last, value in ranges(ucd + '/emoji/emoji-data.txt'):
        if value == 'Extended_Pictographic':
            for cp in range(first, last + 1):
                table[cp] = PICTOGRAPH | table[cp] & 0x1F
    return table


def stages(table):
    seen, index = {}, []
    for at in range(0, TABLED, BLOCK):
        block = bytes(table[at:at + BLOCK])
        index.append(seen.setdefault(block, len(seen)))
    assert len(seen) <= 256
    return index, list(seen)


def high_ranges(table):
    out, cp = [], TABLED
    while cp < len(table):
        last = cp
        while last + 1 < len(table) and table[last + 1] == table[cp]:
            last += 1
        if table[cp] != PLAIN:
            out.append((cp, last, table[cp]))
        cp = last + 1
    return out


def rows(numbers):
    line = '   '
    for n in numbers:
        if len(line) + len(str(n)) + 2 > 79:
            yield line
            line = '   '
        line += ' %d,' % n
    yield line


def main():
    ucd = sys.argv[1] if len(sys.argv) > 1 else '/usr/share/unicode'
    with open(ucd + '/auxiliary/WordBreakProperty.txt') as f:
        version = re.search(r'-([0-9.]+)\.txt', f.readline()).group(1)
    table = classes(ucd)
    index, blocks = stages(table)

    print('/* word_break.h - the Word_Break class of each code point, generated')
    print(' * by tools/gen_words.py from Unicode %s; do not edit. */' % version)
    print('#ifndef TEXT_WORD_BREAK_H\n#define TEXT_WORD_BREAK_H\n')
    print('#include <stdint.h>\n')
    print('/* The classes of Word_Break. Four of them divide its class Other:')
    print(' * BLANK is white space and U+202F; IDEOGRAPH is Han and Hiragana;')
    print(' * SOUTHEAST is scripts whose words are found with a dictionary')
    print(' * (Thai, Lao, Khmer, Myanmar); OTHER is the remainder. */')
    print('enum word_break {')
    for i, name in enumerate(CLASSES):
        print('    WB_%s%s' % (name, ',' if i + 1 < len(CLASSES) else ''))
    print('};')
    print('/* The class of a character of the tables. */')
    print("#define WB_CLASS(c) ((enum word_break)((c) & 0x1F))")
    print("#define WB_PLAIN '`'              /* OTHER, not a pictograph */")
    print("#define WB_IS_PICTOGRAPH(c) (!((c) & 0x20))")
    print('#define WB_BLOCK %d\n#define WB_TABLED 0x%X\n' % (BLOCK, TABLED))
    print('static const uint8_t word_break_index[%d] = {' % len(index))
    print('\n'.join(rows(index)))
    print('};\n')
    print('static const char word_break_block[%d][WB_BLOCK] = {'
          % len(blocks))
    for block in blocks:
        text = block.decode()
        print('    "%s"\n    "%s",' % (text[:BLOCK // 2], text[BLOCK // 2:]))
    print('};\n')
    print('/* Code points from WB_TABLED on; those in no range are OTHER. */')
    print('static const struct { uint32_t first, last; char cls; }')
    print('word_break_high[] = {')
    for first, last, cls in high_ranges(table):
        print('    { 0x%X, 0x%X, \'%c\' },' % (first, last, cls))
    print('};\n\n#endif')


if __name__ == '__main__':
    main()
