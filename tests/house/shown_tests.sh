#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shown_tests.sh ROOT BUILD CTEST: each `ctest ... -R NAMES` in a document names tests that there are; a claim
# whose command runs nothing would pass for ever. Every alternative of NAMES has to match a test.
set -eu
root=$1
build=$2
ctest=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ctest" --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' >"$work/tests"
find "$root" -name '*.md' -not -path '*/build/*' -not -path '*/.git/*' -exec grep -hoE "ctest [^\`]*-R ('[^']+'|[^ \`]+)" {} + |
    sed -E "s/.*-R '?([^']*)'?/\1/" | sort -u >"$work/shown"
missing() { # PATTERNS_FILE: those that match no test
    tr '|' '\n' <"$1" | while read -r pattern; do
        grep -qE -e "$pattern" "$work/tests" || echo "$pattern"
    done
}
[ -s "$work/tests" ] && [ -s "$work/shown" ] || { echo "no tests or no commands were read"; exit 1; }
found=$(missing "$work/shown")
[ -z "$found" ] || { echo "a document names tests that there are not:" "$found"; exit 1; }
# What it looks for can be found.
echo 'house|no_such_test' >"$work/planted"
[ "$(missing "$work/planted")" = no_such_test ] || { echo "a planted name was not found"; exit 1; }
echo "$(wc -l <"$work/shown") commands"
