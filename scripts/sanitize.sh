#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitize.sh [BUILD] [--all]: the quick tests of what reads foreign files (engine/base, files, text, media and lora)
# under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer, asserts on (preset asan). With --all every test
# of the engine and the kernels, half an hour on two cores; not those that run emulated kernels all the time (which
# watch their memory themselves), not the window. Exit code 0: no report, and the one planted on purpose was found.
. "$(dirname "$0")/common.sh"
set -f
build=$root/build/asan
rows='engine[.](base|files|text|media|lora)[.]'
quick="-LE slow"
while [ $# -gt 0 ]; do
    case $1 in
    --all) rows='(engine|kernels|race)[.]' quick= ;;
    *) build=$1 ;;
    esac
    shift
done
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks.txt print_suppressions=0 ${LSAN_OPTIONS:-}"
(cd "$root" && cmake --preset asan -B "$build" >/dev/null)
# shellcheck disable=SC2086
chosen=$(ctest --test-dir "$build" -N $quick -R "^$rows" -E "^($emulated)\$" | sed -n 's/^ *Test *#[0-9]*: //p')
[ -n "$chosen" ] || { echo "sanitize.sh: ctest names no tests in $build" >&2; exit 1; }

# The planted one always: what finds nothing must be able to find something.
planted=engine.media.image_malformed
# A row's program is its folder's, or one of its own.
alone=$(ninja -C "$build" -t targets all | sed -n 's/^\(tst_[a-z0-9_.]*\): phony$/\1/p')
programs=$(for row in $chosen; do
    case $row in
    race.driver) echo belfry_race_driver ;;
    *) printf '%s\n' "$alone" | grep -xF "tst_$row" || echo "tests_${row%.*}" ;;
    esac
done | sort -u)
# shellcheck disable=SC2086
cmake --build "$build" -j "$jobs" --target "planted_$planted" $programs
log=$build/ctest.log
# The sanitizer's shadow memory does not fit every layout of the address space that kernels draw: no
# drawing where that can be had.
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi
names=$(printf '%s\n' "planted.$planted" $chosen | sed 's/[.]/[.]/g' | paste -s -d '|')
if $steady ctest --test-dir "$build" -j "$jobs" --output-on-failure --timeout 1800 -R "^($names)\$" >"$log" 2>&1; then
    tail -n 4 "$log"
else
    cat "$log"
    exit 1
fi
