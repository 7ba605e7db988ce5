#!/bin/bash
# po_oracle.sh - compare our PO reader and writer with gettext's own tools.
#
#   tests/unit/po_oracle.sh [FILE.po...]
#
# Each file is read and written by our code. The result must equal what
# msgattrib selects from it (translated entries, with and without fuzzy and
# obsolete ones), after msgcat has formatted both; and msgfmt -c must accept it.
# It must stay the same if the languages are swapped or if the file is converted
# to another charset first. The pairs must be those of the catalog that msgfmt
# compiles. Without arguments, the files are the test samples and up to 40
# German catalogs of this machine. Exits with 1 on any difference, with 77 if
# gettext is not installed.
set -u
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8
for p in msgcat msgattrib msgfmt msgunfmt msgconv python3; do
    command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tool=${BUILD:-build}/tests/unit/po_tool
[ -x "$tool" ] || make -s BUILD="${BUILD:-build}" "$tool" || exit 1
compared=0 differ=0

fail() {
    echo "DIFFERENT: $1"
    differ=1
}

# Compares two files after msgcat has formatted both, so that line breaks and
# the order of keywords do not matter.
same() {                        # same WHAT WANT GOT
    msgcat --no-wrap -t UTF-8 -o "$dir/a" "$2" 2>"$dir/log" &&
        msgcat --no-wrap -t UTF-8 -o "$dir/b" "$3" 2>>"$dir/log" &&
        cmp -s "$dir/a" "$dir/b" && return
    fail "$1"
    head -n 20 "$dir/log"
    diff "$dir/a" "$dir/b" | head -n 10
}

pairs() {                       # pairs MO GOT: compare with a compiled catalog
    python3 - "$@" <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
count, ids, strs = struct.unpack_from("<8xIII", data)
def text(table, i):
    size, at = struct.unpack_from("<II", data, table + 8 * i)
    return data[at:at + size].decode("utf-8")
want = []
for i in range(count):
    source = text(ids, i).split("\x04")[-1].split("\0")
    target = text(strs, i).split("\0")
    if len(source) > 1:
        source = source[1:] if len(target) == 1 else \
            source[:1] + source[1:] * (len(target) - 1)
    want += [[s, t] for s, t in zip(source, target) if s and t]
got = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
if sorted(got) != sorted(want):
    print(len(want), "pairs, ours", len(got), "without",
          [p for p in want if p not in got][:3])
    sys.exit(1)
END
}

compare() {                     # compare FILE
    name=$(basename "$1")
    compared=$((compared + 1))
    "$tool" copy po - - "$1" "$dir/ours.po" || fail "$name, read and write"
    msgattrib --translated --no-fuzzy --no-obsolete "$1" 2>/dev/null |
        msgconv -t UTF-8 -o "$dir/finished.po" 2>/dev/null ||
        { fail "$name, msgattrib"; return; }
    same "$name, finished entries" "$dir/finished.po" "$dir/ours.po"
    if msgfmt -c -o /dev/null "$dir/finished.po" 2>/dev/null; then
        msgfmt -c -o /dev/null "$dir/ours.po" 2>"$dir/log" ||
            { fail "$name, msgfmt -c"; cat "$dir/log"; }
    fi
    "$tool" copy po - - "$dir/ours.po" "$dir/again.po"
    cmp "$dir/ours.po" "$dir/again.po" || fail "$name, written twice"
    lang=$(sed -n 's/^"Language: *\([A-Za-z_]*\).*/\1/p' "$1" | head -n 1)
    if [ "$lang" ] && [ "$lang" != en ]; then
        "$tool" copy po "$lang" en "$1" "$dir/again.po"
        cmp "$dir/ours.po" "$dir/again.po" || fail "$name, other way round"
        "$tool" copy po en "$lang" "$1" "$dir/again.po"
        cmp "$dir/ours.po" "$dir/again.po" || fail "$name, from English"
    fi
    FUZZY=1 "$tool" copy po - - "$1" "$dir/all.po"
    msgattrib --translated "$1" -o "$dir/want.po" 2>/dev/null
    same "$name, all entries" "$dir/want.po" "$dir/all.po"
    # Without flags such as c-format, whose handling depends on the system.
    grep -v '^#,' "$dir/finished.po" | msgfmt -o "$dir/want.mo" - 2>/dev/null ||
        { fail "$name, msgfmt"; return; }
    "$tool" list po - - "$1" >"$dir/got"
    pairs "$dir/want.mo" "$dir/got" || fail "$name, pairs"
}

in_charset() {                  # in_charset FILE CHARSET
    msgconv -t "$2" "$1" -o "$dir/$2.po" 2>/dev/null ||
        { fail "msgconv -t $2"; return; }
    FUZZY=1 "$tool" copy po - - "$dir/$2.po" "$dir/ours.po"
    FUZZY=1 "$tool" copy po - - "$1" "$dir/want.po"
    same "$(basename "$1") in $2" "$dir/want.po" "$dir/ours.po"
}

if [ $# -gt 0 ]; then
    for f in "$@"; do compare "$f"; done
else
    for f in tests/data/formats/*.po; do compare "$f"; done
    in_charset tests/data/formats/plurals.po ISO-8859-1
    in_charset tests/data/formats/plurals.po CP1252
    in_charset tests/data/formats/three-forms.po ISO-8859-2
    in_charset tests/data/formats/one-form.po EUC-JP
    in_charset tests/data/formats/one-form.po SHIFT_JIS
    for f in $(ls /usr/share/locale/de/LC_MESSAGES/*.mo 2>/dev/null |
               head -n 40); do
        po=$dir/$(basename "$f" .mo).po
        msgunfmt "$f" -o "$po" 2>/dev/null || continue
        # Skip files without a header, because we write one.
        grep -q '^"Content-Type:' "$po" && compare "$po"
    done
fi
echo "$compared files compared"
exit $differ
