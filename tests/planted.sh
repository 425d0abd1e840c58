#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# planted.sh WORDS PROGRAM [ARGUMENT ...]: PROGRAM is a test with a bug in it; passes when the test fails
# and its output matches WORDS (a pattern of grep -E).
set -eu
words=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if "$@" >"$log" 2>&1; then
    echo "$1 passed, although a check is missing in it: the test finds nothing" >&2
    exit 1
fi
if ! grep -Eq -e "$words" "$log"; then
    echo "$1 failed, but its output does not match \"$words\":" >&2
    tail -n 40 "$log" >&2
    exit 1
fi
grep -E -m 1 -e "$words" "$log"
