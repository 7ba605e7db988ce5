#!/bin/sh
# formats_oracle.sh - compare our TMX and XLIFF with the translate-toolkit's.
#
#   tests/unit/formats_oracle.sh [FILE...]
#
# The toolkit reads each file and the copy that we write after reading it. Our
# units must equal its units, and the copy must have the same texts, ids and
# notes and be well-formed (xmllint). Without arguments, the files are the
# samples, files that the toolkit writes from PO files, and XLIFF files of
# installed packages (php-symfony-*, ceph-mgr-dashboard), if there are any.
# Exits with 1 on any difference, with 77 if the toolkit is not installed.
set -eu
cd "$(dirname "$0")/../.."
# The package is installed for the system's Python.
for python in python3 /usr/bin/python3 ''; do
    [ "$python" ] || { echo "skip: the translate-toolkit is not installed"
                       exit 77; }
    ! "$python" -c 'import translate.storage.xliff' 2>/dev/null || break
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tool=${BUILD:-build}/tests/unit/formats_tool
if [ ! -x "$tool" ]; then
    tool=$dir/tool
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -DSKMT_VERSION_TEXT='"0"' -O2 -Isrc \
        tests/unit/formats_tool.c src/formats/*.c src/base/*.c \
        src/text/utf8.c -lexpat -lz -llzma -lzstd -ljansson -pthread \
        -o "$tool"
fi

if [ $# = 0 ]; then
    for po in tests/data/formats/*.po; do
        po2tmx --progress=none -l de "$po" "$dir/$(basename "$po" .po).tmx"
        po2xliff --progress=none "$po" "$dir/$(basename "$po" .po).xlf"
    done
    set -- tests/data/formats/*.tmx tests/data/formats/*.xlf \
        "$dir"/*.tmx "$dir"/*.xlf \
        $(find /usr/share/php/Symfony /usr/share/ceph -name '*.xlf' \
            2>/dev/null | sort)
fi

cat >"$dir/compare.py" <<'END'
import json, subprocess, sys, warnings
from translate.storage import tmx, xliff

tool, copy, path = sys.argv[1:]
problems = 0

def problem(*words):
    global problems
    problems += 1
    if problems <= 5:
        print("DIFFERENT:", path, *words)

def ours(name, *more):
    run = subprocess.run([tool, "-f", *more, name], capture_output=True,
                         text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]

def tmx_units(name, source, target):
    """(source, target, id, notes) of each unit that has both languages"""
    units = []
    for u in tmx.tmxfile.parsefile(name).units:
        nodes = [u.getlanguageNode(lang) for lang in (source, target)]
        if None in nodes:
            continue
        s, t = (u.getNodeText(n, "preserve") for n in nodes)
        if s and s.strip() and t and t.strip():
            units.append((s, t, u.xmlelement.get("tuid") or "",
                          u.getnotes()))
    return units

def words(text):
    """the toolkit drops white space that xml:space does not preserve"""
    return text.split()

def xliff_units(name):
    """the same by (file, id), for each unit with a target"""
    units = {}
    for u in xliff.xlifffile.parsefile(name).units:
        file, _, id = u.getid().partition("\x04")
        if u.target and str(u.target).strip():
            units[file, id] = (str(u.source), str(u.target), id,
                               u.getnotes())
    return units

def compare_tmx():
    mine = ours(path)
    if not mine:
        return 0
    langs = mine[0]["source_lang"], mine[0]["target_lang"]
    before, after = tmx_units(path, *langs), tmx_units(copy, *langs)
    if before != after:
        for b, a in zip(before, after):
            if b != a:
                problem("copy", b, a)
        if len(before) != len(after):
            problem(len(before), "units, in the copy", len(after))
    if len(before) != len(mine):
        problem(len(before), "units, ours", len(mine))
    for b, m in zip(before, mine):
        if not m["tagged"] and (b[0], b[1], b[2]) != (
                m["source"], m["target"], m["id"]):
            problem("ours", b, m)
    return len(mine)

def compare_xliff():
    mine = ours(path)
    before, after = xliff_units(path), xliff_units(copy)
    # The toolkit joins the plural forms of a PO entry, 7[0] and 7[1].
    plural = {(m["document"], m["id"].rpartition("[")[0]
               .replace("__%04__", "\x04"))
              for m in mine if m["id"].endswith("]")}
    mine = [m for m in mine if not m["id"].endswith("]")]
    for m in mine:
        key = m["document"], m["id"]
        if '"seg":' in m["extra"] or '"more":' in m["extra"]:
            continue                    # a part of a unit
        if key not in before:
            problem("not there", key)
        elif before[key] != after.get(key):
            problem("copy", before[key], after.get(key))
        elif not m["tagged"] and (
                words(before[key][0]) != words(m["source"]) or
                words(before[key][1]) != words(m["target"])):
            problem("ours", before[key], m)
    keys = {(m["document"], m["id"]) for m in mine}
    if keys != set(after) - plural:
        problem("ids", keys ^ (set(after) - plural))
    return len(mine)

subprocess.run([tool, "-f", path, copy], check=True, capture_output=True)
subprocess.run(["xmllint", "--noout", "--nonet", copy], check=True,
               stderr=subprocess.DEVNULL)
n = compare_tmx() if path.endswith(".tmx") else compare_xliff()
if not problems:
    print("same:", path.rsplit("/", 1)[-1] + ",", n, "units")
sys.exit(problems != 0)
END

differ=0
for f in "$@"; do
    # The toolkit does not read version 2; our own tests do.
    if grep -q 'document:2.0' "$f"; then continue; fi
    "$python" "$dir/compare.py" "$tool" "$dir/copy.${f##*.}" "$f" || differ=1
done
exit $differ
