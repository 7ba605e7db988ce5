#!/usr/bin/env python3
"""gen_moses_chars.py - write src/text/moses_char_ranges.h from the data files of
Unicode.

    tools/gen_moses_chars.py [/usr/share/unicode] > src/text/moses_char_ranges.h

Reads DerivedCoreProperties, DerivedAge, Scripts, SpecialCasing and
extracted/DerivedGeneralCategory (Debian package: unicode-data). The result is
what libutf8proc does not tell: ranges of code points, ascending, and the
characters whose upper case is several characters.
"""
import sys

# sacremoses, the Python port of the tokenizer, has lists of its own. They are
# those of Perl with Unicode 7.0, without characters beyond U+FFFF and without
# Han and Hangul syllables. It adds these marks of Indic scripts, and by mistake
# the dotted circle.
PORT_AGE = 7.0
PORT_MARKS = [
    0x93C, 0x94D, 0x9BC, 0x9CD, 0xA3C, 0xA4D, 0xABC, 0xACD, 0xAFD, 0xAFE,
    0xAFF, 0xB3C, 0xB4D, 0xBCD, 0xC4D, 0xCBC, 0xCCD, 0xD3B, 0xD3C, 0xD4D,
    0xDCA, 0xEBA, 0x1039, 0x1714, 0x1BAB, 0x1C37, 0x25CC, 0xA8C4, 0xA8F3,
    0xA8F4, 0xA953, 0xAAF6, 0x10A3F, 0x11046, 0x110B9, 0x110BA, 0x11133,
    0x11173, 0x111C0, 0x111CA, 0x11235, 0x11236, 0x112E9, 0x112EA, 0x1133C,
    0x1134D, 0x11442, 0x11446, 0x114C2, 0x114C3, 0x115BF, 0x115C0, 0x1163F,
    0x116B6, 0x116B7, 0x11839, 0x1183A, 0x119E0, 0x11A34, 0x11C3F, 0x11D42,
    0x11D45, 0x11D97, 0x1E94A,
]


def values(path, field=1):
    """The value of each code point that a file of Unicode's database lists, as
    pairs (code point, value)."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            parts = [p.strip() for p in line.split("#")[0].split(";")]
            if len(parts) > field:
                ends = parts[0].split("..")
                for cp in range(int(ends[0], 16), int(ends[-1], 16) + 1):
                    yield cp, parts[field]


def print_ranges(name, comment, cps):
    ends = []
    for cp in sorted(cps):
        if ends and ends[-1][1] == cp - 1:
            ends[-1][1] = cp
        else:
            ends.append([cp, cp])
    print(f"\n/* {comment} */\nstatic const struct char_range {name}[] = {{")
    line = "   "
    for first, last in ends:
        item = f" {{ 0x{first:X}, 0x{last:X} }},"
        if len(line) + len(item) > 79:
            print(line)
            line = "   "
        line += item
    print(line.rstrip(",") + "\n};")


def upper_cases(path):
    """(code point, upper case) of SpecialCasing.txt, without conditions, where
    the upper case has several characters."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            parts = [p.strip() for p in line.split("#")[0].split(";")]
            if len(parts) < 5 or parts[4]:
                continue
            upper = parts[3].split()
            if len(upper) > 1:
                yield int(parts[0], 16), [int(u, 16) for u in upper]


def main():
    ucd = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
    category = dict(values(ucd + "/extracted/DerivedGeneralCategory.txt"))
    core = ucd + "/DerivedCoreProperties.txt"
    alphabetic = {c for c, v in values(core) if v == "Alphabetic"}
    lowercase = {c for c, v in values(core) if v == "Lowercase"}
    age = {c: float(v) for c, v in values(ucd + "/DerivedAge.txt")}
    han = {c for c, v in values(ucd + "/Scripts.txt") if v == "Han"}
    counted = alphabetic | {c for c, v in category.items()
                            if v[0] == "N" or v == "Sc"}

    print("/* moses_char_ranges.h - properties of characters that libutf8proc does"
          "\n * not have. Written by tools/gen_moses_chars.py from Unicode 15. */"
          "\n#ifndef TEXT_MOSES_CHAR_RANGES_H"
          "\n#define TEXT_MOSES_CHAR_RANGES_H"
          "\n\n#include <stdint.h>"
          "\n\nstruct char_range { uint32_t first, last; };")
    print_ranges("other_alphabetic", "Alphabetic, but neither L* nor Nl.",
                 {c for c in alphabetic
                  if category[c][0] != "L" and category[c] != "Nl"})
    print_ranges("other_lowercase", "Lowercase, but not Ll.",
                 {c for c in lowercase if category[c] != "Ll"})
    print_ranges("port_unknown", "Letters, numbers and currencies below U+10000 "
                 "that the Python port does\n * not know: younger than "
                 "Unicode 7.0.",
                 {c for c in counted if c < 0x10000 and age[c] > PORT_AGE})
    print_ranges("script_han", "The script Han.", han)
    print_ranges("port_marks", "Letters for the Python port only.",
                 PORT_MARKS)
    print("\n/* Characters whose upper case is several characters. */"
          "\nstatic const struct { uint32_t cp, upper[3]; } upper_cases[] = {")
    for cp, upper in sorted(upper_cases(ucd + "/SpecialCasing.txt")):
        print(f"    {{ 0x{cp:X}, {{ "
              + ", ".join(f"0x{u:X}" for u in upper) + " } },")
    print("};\n\n#endif")


main()
