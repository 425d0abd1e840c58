#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_open_outside.sh GOLDEN PROGRAM...: what malformed_folders opens while it goes through its
# folders, by strace: among them indexes that name shards by /etc, .., drives, shares, streams and devices.
# Nothing may be opened but what lies in a folder under test, the golden models (GOLDEN) and what the system
# itself reads (libraries, /proc/self). Exit code 77: no tracing on this system.
set -eu
golden=$(realpath "$1")
shift
work=$(mktemp -d)
work=$(realpath "$work")
trap 'rm -rf "$work"' EXIT
strace -f -e trace=openat -o "$work/probe" true 2>/dev/null || exit 77
tests="$work/tests" # where QTemporaryDir makes its folders
mkdir "$tests"
TMPDIR=$tests
export TMPDIR

# Paths that a command opens for reading or writing and that are none of the above, a line each.
outside() {
    code=0
    strace -f -qq -s 4096 -e trace=open,openat,openat2,creat -o "$work/trace" "$@" </dev/null >"$work/out" 2>&1 || code=$?
    echo "$code" >"$work/code"
    sed -n -e '/ = -1 ENOENT/b' -e 's/^[^"]*"\([^"]*\)".*/\1/p' "$work/trace" | sort -u >"$work/opened"
    # A name that does not exist is no open of a file, but was asked for: a shard's is told by its ending.
    sed -n -e '/ = -1 ENOENT/!b' -e 's/^[^"]*"\([^"]*\)".*/\1/p' "$work/trace" | grep -i '[.]safetensors' | sort -u >>"$work/opened" || true
    allowed="^(/lib|/lib64|/usr|/sys|/etc/ld[.]so[.][^/]*|/etc/(fonts|nsswitch[.]conf|localtime|os-release)|/proc/(self|[0-9]+|sys|cpuinfo|meminfo|stat)|/dev/(null|urandom|shm))(/.*)?\$"
    # Of a folder under test what lies in it itself: neither beside it by way of .. nor in a folder of it.
    grep -F "$tests/" "$work/opened" | grep -E '/[.][.](/|$)' || true
    grep -vE -e "$allowed" -e "^$tests/[^/]*(/model(/[^/]*)?)?\$" "$work/opened" | grep -vF "$golden/" || true
}

found=$(outside "$@" malformed_folders malformed)
grep -q '^Totals: [0-9]* passed, 0 failed' "$work/out" || { cat "$work/out" >&2; echo "the test itself failed" >&2; exit 1; }
if [ -n "$found" ]; then
    echo "opened, and neither in a folder under test nor of the system:" >&2
    printf '%s\n' "$found" >&2
    exit 1
fi
seen=$(grep -cF "$tests/" "$work/opened" || true)
[ "$seen" -gt 0 ] || { echo "no folder under test is seen: this test sees nothing" >&2; exit 1; }
# That this sees anything: a program that reads what an index names.
[ "$(outside cat /etc/passwd)" = /etc/passwd ] || { echo "an open of /etc/passwd is not seen: this test sees nothing" >&2; exit 1; }
echo "$seen files opened in folders under test, none outside"
