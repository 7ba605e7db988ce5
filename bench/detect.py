#!/usr/bin/env python3
"""detect.py - compare our language detector with Debian's on short strings.

    bench/detect.py [../shared/corpora]

Takes words, runs of three words and sentences of both languages from the test
sets, and prints how many each detector assigns to the right language. It needs
gcc; libcld2-dev and libexttextcat-dev are left out if they are not installed.
The strings are drawn with a fixed seed. A word or a run of words that both
sides of a set contain is not drawn. Also prints how often our detector is right
where it states a confidence.
"""
import collections
import ctypes
import os
import random
import re
import subprocess
import sys
import tempfile
import time

SETS = {'it': 'it/test.tsv', 'koran': 'koran/test.tsv', 'law': 'law/test.tsv',
        'medical': 'medical/test.tsv', 'news': 'news/newstest2019.tsv',
        'flores': 'news/flores-devtest.tsv'}
MOST = 1000                     # strings of a kind, set and language
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
KINDS = 'word', '3 words', 'sentence'
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FINGERPRINTS = '/usr/share/libexttextcat/'


def words_of(text):
    return WORD.findall(text)


def draw(pairs, side, known):
    """Strings of each kind from one side. known: words of the other side."""
    out = {kind: [] for kind in KINDS}
    seen = set()
    for pair in pairs:
        words = words_of(pair[side])
        own = [w for w in words if w.lower() not in known and len(w) > 1]
        for word in random.sample(own, min(2, len(own))):
            if word.lower() not in seen:
                seen.add(word.lower())
                out['word'].append(word)
        if len(words) >= 3:
            at = random.randrange(len(words) - 2)
            run = words[at:at + 3]
            if any(w.lower() not in known for w in run):
                out['3 words'].append(' '.join(run))
        if len(words) >= 4 and pair[0] != pair[1]:
            out['sentence'].append(pair[side])
    for strings in out.values():
        random.shuffle(strings)
        del strings[MOST:]
    return out


def all_strings(folder):
    """(kind, set, language, string) of everything."""
    random.seed(7)
    sets = {}
    for name, path in SETS.items():
        with open(f'{folder}/{path}', encoding='utf-8') as f:
            sets[name] = [line.rstrip('\n').split('\t')[:2] for line in f]
    known = [{w.lower() for pairs in sets.values() for p in pairs
              for w in words_of(p[side])} for side in (0, 1)]
    for name, pairs in sets.items():
        for side, language in enumerate(('de', 'en')):
            drawn = draw(pairs, side, known[1 - side])
            for kind, strings in drawn.items():
                for s in strings:
                    yield kind, name, language, s


# ---- the detectors: functions from a string to (language, confidence) --------

def build(output, *command):
    done = subprocess.run([*command, '-O2', '-shared', '-fPIC', '-o', output],
                          cwd=TOP, stderr=subprocess.PIPE, check=False)
    return ctypes.CDLL(output) if done.returncode == 0 else None


def own_detector(folder):
    lib = build(folder + '/own.so', 'gcc', '-std=c17', '-D_GNU_SOURCE',
                '-Iinclude', '-Iapps', 'apps/server/detector.c',
                'apps/server/common_words.c',
                'apps/common/utf8_scan.c', '-lm')
    lib.detector_find.restype = ctypes.c_char_p
    codes = (ctypes.c_char_p * 2)(b'de', b'en')
    d = ctypes.c_void_p()
    lib.detector_new(ctypes.byref(d), codes, 2, None)

    def find(text):
        confidence = ctypes.c_double()
        code = lib.detector_find(d, text.encode(), ctypes.byref(confidence))
        # The list of codes must live as long as the detector.
        return (code or codes and b'?').decode(), confidence.value
    return find


def cld2(folder):
    lib = build(folder + '/cld2.so', 'g++', 'bench/detect_cld2.cc', '-lcld2')
    if not lib:
        return None
    lib.cld2_find.restype = ctypes.c_char_p
    return lambda text: (lib.cld2_find(text.encode()).decode(), 0)


def textcat(folder):
    try:
        lib = ctypes.CDLL('libexttextcat-2.0.so.0')
    except OSError:
        return None
    with open(folder + '/two.conf', 'w', encoding='utf-8') as f:
        f.write('en.lm en--utf8\nde.lm de--utf8\n')
    lib.special_textcat_Init.restype = ctypes.c_void_p
    lib.textcat_Classify.restype = ctypes.c_char_p
    handle = ctypes.c_void_p(lib.special_textcat_Init(
        (folder + '/two.conf').encode(), FINGERPRINTS.encode()))
    lib.textcat_SetProperty(handle, 1, 1)       # shortest text: 1 byte

    def find(text):
        raw = text.encode()
        found = lib.textcat_Classify(handle, raw, ctypes.c_size_t(len(raw)))
        codes = re.findall(r'\[(..)--utf8\]', found.decode())
        return (codes[0] if len(codes) == 1 else '?'), 0
    return find


# ---- tables ----------------------------------------------------------------

def percent(part, whole):
    return f'{100 * part / whole:.1f}' if whole else '-'


def measure(name, find, strings):
    right, seen = collections.Counter(), collections.Counter()
    sure = collections.defaultdict(list)
    begin = time.perf_counter()
    for kind, domain, language, text in strings:
        found, confidence = find(text)
        for column in language, domain, 'all':
            seen[kind, column] += 1
            right[kind, column] += found == language
        sure[min(int(confidence // 10), 9)].append(found == language)
    seconds = time.perf_counter() - begin
    columns = 'all', 'de', 'en', *SETS
    for kind in KINDS:
        cells = [percent(right[kind, c], seen[kind, c]) for c in columns]
        print(f'| {kind} | {name} | ' + ' | '.join(cells) + ' |')
    print(f'{name}: {1e6 * seconds / len(strings):.1f} us a string',
          file=sys.stderr)
    return sure


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else TOP + '/../shared/corpora'
    strings = list(all_strings(folder))
    print('| strings | detector | all | de | en | ' + ' | '.join(SETS) + ' |')
    print('|---' * (5 + len(SETS)) + '|')
    with tempfile.TemporaryDirectory() as temp:
        for name, make in (('skmt', own_detector), ('libcld2', cld2),
                           ('libexttextcat', textcat)):
            find = make(temp)
            if not find:
                print(f'{name} is not installed', file=sys.stderr)
                continue
            sure = measure(name, find, strings)
            if name == 'skmt':
                own = sure
    print('\n| stated confidence | strings | right |\n|---|---|---|')
    for tenth in sorted(own):
        answers = own[tenth]
        print(f'| {10 * tenth} to {10 * tenth + 10} % | {len(answers)} | '
              f'{percent(sum(answers), len(answers))} % |')


if __name__ == '__main__':
    main()
