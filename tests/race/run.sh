#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [SECONDS] [BUILD]: builds the race driver with ThreadSanitizer (preset tsan) and lets it work for
# SECONDS (default 60) with a seed that changes every day and is printed; BELFRY_SEED names another. Then
# the same program with a lock left out must be reported. Exit code 0: no report but that one.
set -eu
seconds=${1:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/tsan}
seed=${BELFRY_SEED:-$(date +%Y%m%d)}
if [ ! -e "$build/build.ninja" ]; then
    (cd "$root" && cmake --preset tsan -B "$build" >/dev/null)
fi
cmake --build "$build" --target belfry_race_driver belfry_race_planted
# The sanitizer's shadow memory does not fit every layout of the address space that kernels draw: no
# drawing where that can be had.
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 second_deadlock_stack=1 ${TSAN_OPTIONS:-}"
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi
echo "== race driver, $seconds s, seed $seed"
$steady "$build/tests/race/belfry_race_driver" --seconds "$seconds" --seed "$seed"
echo "== the same with a lock left out on purpose"
sh "$root/tests/planted.sh" "WARNING: ThreadSanitizer: data race" \
    $steady "$build/tests/race/belfry_race_planted" --seconds 60 --seed 1
