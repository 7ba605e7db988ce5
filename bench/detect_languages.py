#!/usr/bin/env python3
"""detect_languages.py - how well the detector tells many languages apart.

    bench/detect_languages.py [CODE ...]

Reads the translated messages of the programs of a Debian system (catalogs below
/usr/share/locale), and lets the detector choose among these languages, or among
all of common_words.def. Prints for each language how many strings of at least three
and of at least eight words are found, and with which language the others are
confused. The lists were not made from these strings, but English names and
words inside the messages count as errors. It needs gcc.
"""
import collections
import ctypes
import glob
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOCALES = {'no': 'nb'}                  # folders with other names
MOST = 500                              # strings of a language and length
FROM = '/usr/share/locale'


def catalog(path):
    """The translations in a .mo file, without those equal to the original."""
    data = open(path, 'rb').read()
    magic, _, n, originals, translated = struct.unpack_from('<5I', data)
    if magic != 0x950412de:
        return
    for i in range(n):
        size, at = struct.unpack_from('<2I', data, originals + 8 * i)
        original = data[at:at + size]
        size, at = struct.unpack_from('<2I', data, translated + 8 * i)
        if size and original and data[at:at + size] != original:
            yield data[at:at + size].split(b'\0')[0].decode('utf-8', 'replace')


def strings_of(code):
    """Messages of a language by their least number of words."""
    seen = set()
    for path in glob.glob(f'{FROM}/{LOCALES.get(code, code)}/LC_MESSAGES/*.mo'):
        for text in catalog(path):
            text = re.sub(r'%[-#0-9.*lhzjt$]*[a-zA-Z]|[<\\][^ ]*', ' ', text)
            seen.add(' '.join(text.split()))
    texts = sorted(t for t in seen if '\ufffd' not in t)
    random.shuffle(texts)
    letters = [re.findall(r'[^\W\d_]+', t) for t in texts]
    return {least: [t for t, w in zip(texts, letters)
                    if least <= len(w) < most][:MOST]
            for least, most in ((3, 8), (8, 40))}


def build(folder):
    """Compiles the detector as a library."""
    lib = os.path.join(folder, 'detector.so')
    subprocess.run(['gcc', '-O2', '-shared', '-fPIC', '-D_GNU_SOURCE',
                    '-I', TOP + '/apps', '-I', TOP + '/include', '-o', lib,
                    *(f'{TOP}/apps/{name}.c' for name in (
                        'server/detector', 'server/common_words',
                        'common/utf8_scan')), '-lm'], check=True)
    return ctypes.CDLL(lib)


def main():
    random.seed(1)
    rows = open(TOP + '/apps/server/common_words.def', encoding='utf-8').read()
    codes = [c.split()[0] for c in re.findall(r'^WORDS\("([a-z ]+)"', rows,
                                              re.M)]
    codes = sys.argv[1:] or codes
    sets = {code: strings_of(code) for code in codes if code != 'en'}
    names = (ctypes.c_char_p * len(codes))(*(c.encode() for c in codes))
    with tempfile.TemporaryDirectory() as folder:
        lib = build(folder)
        lib.detector_find.restype = ctypes.c_char_p
        detector, sure = ctypes.c_void_p(), ctypes.c_double()
        lib.detector_new(ctypes.byref(detector), names, len(codes), None)
        sums, total = collections.Counter(), collections.Counter()
        print('|   | 3 to 7 words | 8 words or more | confused with |')
        print('|---|---|---|---|')
        for code, by_length in sets.items():
            if len(by_length[8]) < 50:
                continue
            wrong, cells = collections.Counter(), []
            for least, texts in by_length.items():
                right = 0
                for text in texts:
                    got = lib.detector_find(detector, text.encode(),
                                            ctypes.byref(sure))
                    got = got.decode() if got else 'none'
                    right += got == code
                    if got != code:
                        wrong[got] += 1
                cells.append(f'{100 * right / len(texts):.1f} %')
                sums[least] += right
                total[least] += len(texts)
            confused = ', '.join(c for c, _ in wrong.most_common(2))
            print(f'| {code} | {" | ".join(cells)} | {confused} |')
        print('| all |', ' | '.join(f'{100 * sums[k] / total[k]:.1f} %'
                                    for k in total), '| |')
        print(f'{sum(total.values())} strings, {len(codes)} languages')


main()
