"""memory_damage.py - test that damage to a memory file is always noticed.

    memory_damage.py SKMT WORK MUTANTS SEED [MODEL]

Creates a small memory with the program SKMT in the folder WORK. Then changes
copies of it at random (the seed is given, so a run can be repeated): one bit,
one byte, 1 to 64 bytes, a sector of 512 bytes set to zero or to the content of
another sector, or a truncated file. For each copy it runs an export, two
searches and, with a MODEL, two translations. Each must give exactly what the
sound file gives, or fail with a message; anything else is counted as a silent
change. It also adds a pair to each copy and compares the exports that follow,
and recovers the copy: every pair that is saved must be one of the stored ones.

Prints the counts, and as its last line "N passed, N failed, N skipped".
"""
import os
import random
import shutil
import subprocess
import sys

skmt, work, mutants, seed = (sys.argv[1], sys.argv[2], int(sys.argv[3]),
                             int(sys.argv[4]))
model = sys.argv[5] if len(sys.argv) > 5 else None
memory = os.path.join(work, 'z.tm')
copy = os.path.join(work, 'copy.tm')
saved = os.path.join(work, 'saved.tm')
rng = random.Random(seed)
NOUNS = ('Datei Ordner Fenster Schalter Liste Seite Zeile Tabelle Bild Text '
         'Drucker Rechner').split()
VERBS = 'öffnen schließen löschen kopieren drucken ändern suchen'.split()


def run(*args, stdin=None):
    done = subprocess.run([skmt, *args], capture_output=True, timeout=120,
                          input=stdin)
    return done.returncode, done.stdout, done.stderr


def must(*args, stdin=None):
    status, out, err = run(*args, stdin=stdin)
    if status:
        sys.exit(f'{args}: status {status}: {err.decode()}')
    return out


def unit(i):
    noun, verb = NOUNS[i % len(NOUNS)], VERBS[i // len(NOUNS) % len(VERBS)]
    more = ' und noch viel mehr Text' * (400 if i % 150 == 149 else i % 3)
    return (f'<tu creationid="person{i % 5}" changedate="20240102T0304{i % 60:02}Z">'
            f'<prop type="x-document">doc{i // 20}</prop><note>note {i}</note>'
            f'<tuv xml:lang="de"><seg>{noun} {i} {verb}{more}</seg></tuv>'
            f'<tuv xml:lang="en"><seg>{verb} the {noun} number {i}</seg></tuv></tu>')


def make_memory():
    tmx = os.path.join(work, 'in.tmx')
    with open(tmx, 'w', encoding='utf-8') as f:
        f.write('<?xml version="1.0"?><tmx version="1.4"><header srclang="de" '
                'adminlang="en" segtype="sentence" datatype="plaintext" '
                'creationtool="x" creationtoolversion="1" o-tmf="x"/><body>')
        f.writelines(unit(i) + '\n' for i in range(300))
        f.write('</body></tmx>')
    must('tm', 'create', memory, '-s', 'de', '-t', 'en')
    must('tm', 'import', memory, tmx)
    must('tm', 'add', memory, stdin=''.join(
        f'Satz {i} von Hand\tsentence {i} by hand\n'
        for i in range(50)).encode())
    must('tm', 'delete', memory, '7', '77', '310', '--yes')
    must('tm', 'search', memory, '--no-model', 'Datei 12 öffnen')


def export(path):
    return run('tm', 'export', path, '--format', 'tmx')


def search(path):
    return run('tm', 'search', path, '--no-model', '--json', '--file', '-',
               stdin='Datei 12 öffnen\nSatz 31 von Hand\n'.encode())


def translate(path):
    return run('translate', '--memory', path, '--model', model, '--preset',
               'sk1', '--threads', '1',
               stdin='Datei 12 drucken\nTabelle 31 und Bild suchen\n'.encode())


def change(data):
    """The data with some damage, and what the damage is."""
    kind = rng.choice(['bit', 'byte', 'bytes', 'zeros', 'sector', 'cut'])
    at = rng.randrange(len(data))
    out = bytearray(data)
    if kind == 'bit':
        out[at] ^= 1 << rng.randrange(8)
    elif kind == 'byte':
        out[at] = rng.randrange(256)
    elif kind == 'bytes':
        n = rng.randint(1, 64)
        out[at:at + n] = rng.randbytes(len(out[at:at + n]))
    elif kind == 'zeros':
        at = at // 512 * 512
        out[at:at + 512] = bytes(len(out[at:at + 512]))
    elif kind == 'sector':
        at, other = at // 512 * 512, rng.randrange(len(data)) // 512 * 512
        out[at:at + 512] = out[other:other + len(out[at:at + 512])]
    else:
        del out[at:]
    return bytes(out), f'{kind} at {at} (page {at // 8192 + 1})'


def put_copy(data):
    for end in ('', '-wal', '-shm', '-lock'):
        if os.path.exists(copy + end):
            os.remove(copy + end)
    shutil.rmtree(copy + '.index', ignore_errors=True)
    with open(copy, 'wb') as f:
        f.write(data)
    if rng.random() < 0.5:
        shutil.copytree(memory + '.index', copy + '.index')


def lines(tsv):
    return set(tsv.splitlines())


def main():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    make_memory()
    data = open(memory, 'rb').read()
    questions = [('export', export), ('search', search)]
    if model:
        questions.append(('translate', translate))
    put_copy(data)
    want = {name: ask(copy) for name, ask in questions}
    for name, answer in want.items():
        if answer[0]:
            sys.exit(f'{name} of the sound copy: {answer[2].decode()}')
    pairs = lines(must('tm', 'export', memory, '--format', 'tsv'))
    can_recover = run('help', 'tm', 'recover')[0] == 0
    silent = {name: 0 for name, _ in questions}
    failed = dict(silent)
    silent.update(add=0, recover=0)
    failed.update(add=0, recover=0)
    kept, unread = [], 0
    for i in range(mutants):
        bad, what = change(data)
        if bad == data:
            continue
        for name, ask in questions:
            put_copy(bad)
            status, out, err = ask(copy)
            if status and err.strip() and status < 128:
                failed[name] += 1
            elif (status, out) != want[name][:2]:
                silent[name] += 1
                print(f'mutant {i}: {what}: {name} changed, status {status}')
        put_copy(bad)
        status, out, err = run('tm', 'add', copy, 'ganz neu', 'brand new')
        if status:
            failed['add'] += 1
        else:
            status, out, err = run('tm', 'export', copy, '--format', 'tsv')
            if not status and lines(out) != pairs | {b'ganz neu\tbrand new'}:
                silent['add'] += 1
                print(f'mutant {i}: {what}: add was acknowledged')
        if not can_recover:
            continue
        for end in ('', '-wal', '-shm'):
            if os.path.exists(saved + end):
                os.remove(saved + end)
        shutil.rmtree(saved + '.index', ignore_errors=True)
        put_copy(bad)
        status, out, err = run('tm', 'recover', copy, saved)
        if open(copy, 'rb').read() != bad:
            silent['recover'] += 1
            print(f'mutant {i}: {what}: recover changed the old file')
        if status:
            failed['recover'] += 1
            unread += 1
            continue
        got = lines(must('tm', 'export', saved, '--format', 'tsv'))
        kept.append(len(got & pairs))
        if run('tm', 'check', saved)[0] or got - pairs:
            silent['recover'] += 1
            print(f'mutant {i}: {what}: recover saved {len(got - pairs)} '
                  f'pairs that were not stored')
    for name in silent:
        print(f'{name}: of {mutants} mutants {failed[name]} failed with a '
              f'message, {silent[name]} changed silently')
    if kept:
        print(f'recover: of {len(pairs)} pairs saved: {min(kept)} at least, '
              f'{sum(kept) / len(kept):.1f} on average; {unread} files could '
              f'not be read at all')
    bad = sum(silent.values())
    print(f'{len(silent) - sum(n > 0 for n in silent.values())} passed, '
          f'{sum(n > 0 for n in silent.values())} failed, 0 skipped')
    sys.exit(bad > 0)


main()
