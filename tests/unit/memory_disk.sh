#!/bin/bash
# memory_disk.sh - tests a memory file on a disk that is full or read-only.
#
# A command that fails must say why and leave the memory as it was. Searches
# must still work, and once there is room again so must everything else. The
# disk is a small tmpfs in a mount namespace of its own. The exit status is 77
# where the system does not allow that.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
[[ $build == /* ]] || build=$PWD/$build
export BUILD=$build LC_ALL=C.UTF-8
if [ "${1:-}" != inside ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    for how in "unshare -m" "unshare -rm"; do
        $how mount -t tmpfs none "$dir" 2> /dev/null || continue
        # shellcheck disable=SC2086
        $how "$0" inside "$dir"
        exit
    done
    echo "skip: the system allows no mount namespace"
    exit 77
fi

dir=$2
disk=$dir/disk
failed=0
tm() { "$BUILD/skmt" tm "$@"; }
mount -t tmpfs none "$dir" && mkdir "$disk" && cd "$dir" || exit 1

# expect STATUS PATTERN COMMAND ..: the exit status and the output (standard
# output and standard error together) must match.
expect() {
    local want=$1 pattern=$2 got rc
    shift 2
    got=$("$@" 2>&1 < /dev/null)
    rc=$?
    # shellcheck disable=SC2053
    [ $rc = "$want" ] && [[ $got == $pattern ]] && return
    echo "FAIL ${FUNCNAME[1]}: $*: status $rc, want $want; its output:"
    echo "$got" | head -n 5
    failed=1
}

table() {       # FROM TO: prints pairs of about 100 bytes each
    seq "$1" "$2" | awk '{
        printf "Zeile %d nennt w%d, w%d und noch einiges mehr\t", $1, $1 % 17, $1 % 211
        printf "line %d mentions w%d, w%d and more\n", $1, $1 % 17, $1 % 211 }'
}
pairs() { tm stats "$1" --json | sed 's/.*"pairs": *\([0-9]*\).*/\1/'; }
fill_up() { dd if=/dev/zero of="$disk/filler" bs=4096 status=none 2> /dev/null; }

table 1 300 > base.tsv
table 1001 9000 > more.tsv
tm create base.tm > /dev/null && tm import base.tm base.tsv --quiet > /dev/null || exit 1

fresh() {       # SIZE: mounts a new disk and copies the memory to it
    mountpoint -q "$disk" && umount "$disk"
    mount -t tmpfs -o "size=$1" none "$disk" || exit 1
    cp -r base.tm base.tm.index "$disk"
}
room() { mount -o "remount,size=$1" "$disk"; }

sound() {       # NUMBER: the memory is sound and has NUMBER pairs
    expect 0 "*no problems*" tm check "$disk/base.tm"
    expect 0 "$1" pairs "$disk/base.tm"
    expect 0 "*100%  Zeile 77 nennt*" tm search "$disk/base.tm" --no-model \
        --matches 1 "Zeile 77 nennt w9, w77 und noch einiges mehr"
}

import_on_a_full_disk() {
    fresh 1600k
    expect 1 "*[Nn]o space left*" tm import "$disk/base.tm" more.tsv --quiet
    sound 300
    room 20m
    expect 0 "*" tm import "$disk/base.tm" more.tsv --quiet
    sound 8300
}

add_on_a_full_disk() {
    fresh 4m
    expect 0 301 tm add "$disk/base.tm" "Vorher war Platz" "there was room"
    fill_up
    expect 1 "*[Nn]o space left*" tm add "$disk/base.tm" "Jetzt nicht" "no more"
    expect 1 "*[Nn]o space left*" tm delete "$disk/base.tm" 5
    sound 301
    expect 1 "*[Nn]o space left*" tm import "$disk/base.tm" more.tsv --quiet
    expect 1 "*" tm rebuild "$disk/base.tm" --quiet
    sound 301
    rm "$disk/filler"
    expect 0 302 tm add "$disk/base.tm" "Jetzt wieder" "once more"
    expect 0 "*100%  Jetzt wieder*" tm search "$disk/base.tm" --no-model "Jetzt wieder"
    sound 302
}

# Wherever the disk gets full, an import succeeds or leaves nothing.
import_at_any_size() {
    local size rc n
    for size in $(seq 900 150 6000); do
        fresh "${size}k"
        tm import "$disk/base.tm" more.tsv --quiet > log 2>&1
        rc=$?
        n=$(pairs "$disk/base.tm")
        if [ "$rc-$n" = 0-8300 ] || { [ "$rc-$n" = 1-300 ] &&
            grep -q "[Nn]o space left" log; }; then
            room 20m            # now leftover rows can be deleted
            expect 0 "*no problems*" tm check "$disk/base.tm"
        else
            echo "FAIL import with $size KB: status $rc, $n pairs"
            cat log
            failed=1
        fi
    done
    [ "$rc" = 0 ] || { echo "FAIL no disk size was large enough"; failed=1; }
}

read_only_disk() {
    fresh 20m
    mount -o remount,ro "$disk"
    sound 300
    expect 1 "*base.tm*read-only*" tm add "$disk/base.tm" "Neu" "new"
    expect 1 "*base.tm*read-only*" tm import "$disk/base.tm" more.tsv --quiet
    expect 1 "*base.tm*read-only*" tm delete "$disk/base.tm" 3
    expect 0 "*" tm export "$disk/base.tm" -o all.tsv --quiet
    expect 0 "300 all.tsv" wc -l all.tsv
    mount -o remount,rw "$disk"
    expect 0 301 tm add "$disk/base.tm" "Neu" "new"
    rm -r "$disk/base.tm.index"
    mount -o remount,ro "$disk"
    sound 301
}

import_on_a_full_disk
add_on_a_full_disk
import_at_any_size
read_only_disk
umount "$disk"
echo "$((1 - failed)) passed, $failed failed, 0 skipped"
exit $failed
