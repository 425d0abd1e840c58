#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitize.sh [BUILD]: the tests of the engine and the kernels under AddressSanitizer, LeakSanitizer and
# UndefinedBehaviorSanitizer, asserts on (preset asan). Not the three longest of the engine, not those that
# run emulated kernels all the time (tests/CMakeLists.txt, target engine_tests), not the window. Exit code
# 0: no report, and the one planted on purpose was found.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/asan}
jobs=$(nproc)
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks.txt print_suppressions=0 ${LSAN_OPTIONS:-}"
(cd "$root" && cmake --preset asan -B "$build" >/dev/null)
cmake --build "$build" -j "$jobs" --target engine_tests
log=$build/ctest.log
# The sanitizer's shadow memory does not fit every layout of the address space that kernels draw: no
# drawing where that can be had.
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi
if $steady ctest --test-dir "$build" -j "$jobs" --output-on-failure --timeout 1800 \
    -R '^(engine|kernels|planted[.]engine[.]media|race)[.]' \
    -E '^(engine[.]session[.](placement_matrix|adapters_on_card|check_rows)|kernels[.]cuda_(rows|stream|stream_async|top_logits|wide))$' >"$log" 2>&1; then
    tail -n 4 "$log"
else
    cat "$log"
    exit 1
fi
