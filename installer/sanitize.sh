#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitize.sh [--all] [BUILD]: the tests of the engine and the kernels under AddressSanitizer, LeakSanitizer
# and UndefinedBehaviorSanitizer, asserts on (preset asan). Not those that take an hour there, and without
# --all not six that take minutes (tests/CMakeLists.txt); not the window. Exit code 0: no report, and the one
# planted on purpose was found.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
target=short_engine_tests
left_out='engine[.]session[.](placement_matrix|adapters_on_card|out_of_memory)|kernels[.]cuda_stream'
if [ "${1:-}" = --all ]; then
    target=engine_tests
    shift
else
    left_out="$left_out|engine[.]session[.](adapters|every_allocation|stored_head|format_changes)"
    left_out="$left_out|engine[.]plan[.]map_fuzz|engine[.]run[.]tensor_store"
fi
build=${1:-$root/build/asan}
jobs=$(nproc)
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks.txt print_suppressions=0 ${LSAN_OPTIONS:-}"
(cd "$root" && cmake --preset asan -B "$build" >/dev/null)
cmake --build "$build" -j "$jobs" --target "$target"
log=$build/ctest.log
if ctest --test-dir "$build" -j "$jobs" --output-on-failure --timeout 1800 \
    -R '^(engine|kernels|planted[.]engine[.]media|race)[.]' -E "^($left_out)\$" >"$log" 2>&1; then
    tail -n 4 "$log"
else
    cat "$log"
    exit 1
fi
