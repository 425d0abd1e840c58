#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening_windows_found.sh CC OBJDUMP NM: hardening_windows.sh passes a small program with everything and
# tells one that lacks a thing for that thing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/small.c" <<'C'
#include <stdio.h>
#include <string.h>
static char kept[64];
int main(int count, char** words) {
    char text[64];
    memcpy(text, words[0], (size_t)count);
    strcpy(kept, text);
    return puts(kept) < 0;
}
C
failed=0
expect() { # WORDS OF THE COMPLAINT (empty: none), FLAGS...
    words=$1
    shift
    "$cc" -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,--dynamicbase,--high-entropy-va,--nxcompat "$@" \
        -o "$work/small.exe" "$work/small.c" 2>"$work/cc.log" || { cat "$work/cc.log" >&2; exit 1; }
    said=$(sh "$here/hardening_windows.sh" "$objdump" "$nm" "$work/small.exe" 2>&1 || true)
    case $said in
    *"$words"*) [ -n "$words" ] || [ -z "$said" ] || { echo "a program with everything is told for: $said" >&2; failed=1; } ;;
    *) echo "a program made with $* is not told for \"$words\", only: $said" >&2; failed=1 ;;
    esac
}
objdump=$2
nm=$3
expect ""
expect "lacks HIGH_ENTROPY_VA" -Wl,--disable-high-entropy-va
expect "lacks DYNAMIC_BASE" -Wl,--disable-dynamicbase
expect "lacks NX_COMPAT" -Wl,--disable-nxcompat
expect "no stack protector" -fno-stack-protector
expect "_FORTIFY_SOURCE" -U_FORTIFY_SOURCE
exit $failed
