#!/usr/bin/env python3
"""check_source.py - rules of the source tree that a compiler does not check.

    tools/check_source.py [TREE]

Prints file:line of everything that breaks a rule, and fails when there is
any:

  columns    lines of C files and option lists have at most 80 columns
  opening    a C file opens with a comment that says what the file does;
             a reference to the header is not enough
  names      at most three functions in src/ share a name
  structs    no two structs, unions or enums in src/ and apps/ share a name
  words      retired names and British spellings are not used
"""
import collections
import os
import re
import sys

TREE = sys.argv[1] if len(sys.argv) > 1 else "."
CODE = ("src", "apps", "include", "tests", "bench", "examples", "tools")
TEXT = CODE + ("docs", "python", "scripts", "README.md", "NEWS.md", "CONTRIBUTING.md",
               "Makefile")
# Data and generated files, and the lists below.
SKIP = re.compile(r"tests/(golden|data|fuzz/seeds)/|stopwords|word_break\.h|"
                  r"abbreviations\.def$|"
                  r"sentences\.de|\.tsv$|\.png$|\.svg$|tools/check_source\.py$|"
                  r"__pycache__|tests/cli/tree\.t$")
RETIRED = r"""\b(mill|keywork|keyblock|keybuild|keycache|keydb|keyfile|
    keystore|recaller|recalled|look_ahead|tm_care|store_care|
    (?:store|index|xliff)_inner|libinner)(?:_\w+)?\b|
    \bstruct\s+(?:hyp|memory|recall|keys)\b"""
BRITISH = r"""(neighbour|colour(?!ful)|(?<!legacy_)behaviour|favour|honour|quantis|
    normalis|recognis|penalis|optimis|initialis|serialis|summaris|
    organis(?!ch|ation)|licence|analyse[rd]?\b|learnt|cancell(?:ed|ing)|
    catalogue|labell(?:ed\b|ing)|centre\b|artefact|grey\b)"""
RETIRED = re.compile(RETIRED, re.X)
BRITISH = re.compile(BRITISH, re.X | re.I)
DEFINES = re.compile(r"^(?:static )?(?:inline )?(?:const )?[a-z_][\w ]*"
                     r"[ *]([a-z_]\w*)\(", re.M)
TYPE = re.compile(r"^(?:typedef )?(struct|union|enum) (\w+) \{", re.M)

problems = 0


def report(path, line, what):
    global problems
    problems += 1
    print(f"{path}:{line}: {what}")


def files(roots):
    for root in roots:
        path = os.path.join(TREE, root)
        if os.path.isfile(path):
            yield root
        for folder, _, names in os.walk(path):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(folder, name), TREE)


def read(path):
    try:
        with open(os.path.join(TREE, path), encoding="utf-8") as f:
            return f.read()
    except UnicodeDecodeError:
        return ""


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def check_columns(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 80:
            report(path, number, f"{len(line)} columns")


def check_opening(path, text):
    first = re.match(r"/\*(.*?)\*/", text, re.S)
    said = re.sub(r"[\s*]+", " ", first.group(1)) if first else ""
    said = re.sub(r"^ ?\S+ - ", "", said)
    said = re.sub(r"[Ss]ee \S+\.h\.?", "", said)
    if len(said.split()) < 6:
        report(path, 1, "the file does not open by saying what it does")


def functions(path, text):
    """names of the functions that a file defines"""
    for match in DEFINES.finditer(text):
        tail = text[match.end():]
        body = re.match(r"[^;{}]*\)\s*\{", tail)
        if body:
            yield match.group(1), line_of(text, match.start())


def check_words(path, text):
    for pattern, what in (RETIRED, "retired name"), (BRITISH, "spelling"):
        for match in pattern.finditer(text):
            if "aria-" in text[max(0, match.start() - 5):match.start()]:
                continue
            report(path, line_of(text, match.start()),
                   f"{what} '{match.group(0)}'")


def main():
    defined = collections.defaultdict(list)
    types = collections.defaultdict(list)
    for path in files(CODE):
        text = "" if SKIP.search(path) else read(path)
        if path.endswith((".c", ".h", ".def")):
            check_columns(path, text)
        if path.endswith(".c") and text:
            check_opening(path, text)
        if path.startswith("src/") and path.endswith((".c", ".h")):
            for name, line in functions(path, text):
                defined[name].append((path, line))
        if path.startswith(("src/", "apps/")) and path.endswith((".c", ".h")):
            for match in TYPE.finditer(text):
                types[match.group(2)].append(
                    (path, line_of(text, match.start())))
    for name, where in sorted(defined.items()):
        if len({path for path, _ in where}) > 3:
            report(*where[0], f"{len(where)} functions are called {name}")
    for name, where in sorted(types.items()):
        if len(where) > 1:
            report(*where[1], f"{where[0][0]} has a type {name} too")
    for path in files(TEXT):
        if not SKIP.search(path):
            check_words(path, read(path))
    sys.exit(problems > 0)


main()
