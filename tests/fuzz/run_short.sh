#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_short.sh [SECONDS] [BUILD]: builds the fuzz targets with clang (only the libraries they need)
# and runs each for SECONDS (default 15) under ASan and UBSan. Exit code 0: no findings.
set -eu
seconds=${1:-15}
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build/fuzz}
if ! command -v clang++ >/dev/null; then
    echo "run_short.sh: clang++ is not installed" >&2
    exit 1
fi
if [ ! -e "$build/build.ninja" ]; then
    CC=clang CXX=clang++ cmake -S "$source" -B "$build" -G Ninja -DBELFRY_BUILD_FUZZERS=ON \
        -DBELFRY_BUILD_UI=OFF -DBELFRY_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo
fi
targets="safetensors_header shard_index config tokenizer"
ninja -C "$build" fuzz_seeds fuzz_planted $(for name in $targets; do echo "fuzz_$name"; done)
failed=
for name in $targets; do
    echo "== fuzz_$name, $seconds s"
    log=$build/fuzz-$name.log
    if sh "$source/tests/fuzz/run_one.sh" "$build/tests/fuzz/fuzz_$name" "$name" "$seconds" \
        >"$log" 2>&1; then
        grep -E "stat::number_of_executed_units|stat::average_exec_per_sec" "$log"
    else
        tail -n 60 "$log"
        failed="$failed $name"
    fi
done
# A fuzzer that finds nothing must be able to find something.
echo "== fuzz_planted: a check removed on purpose"
mkdir -p "$build/fuzz-planted"
if "$build/tests/fuzz/fuzz_planted" "$build/fuzz-corpus/safetensors_header" -max_total_time=60 \
    -artifact_prefix="$build/fuzz-planted/" >"$build/fuzz-planted.log" 2>&1; then
    echo "the planted bug was not found" >&2
    failed="$failed planted"
else
    echo "found, as it should be"
fi
if [ -n "$failed" ]; then
    echo "findings in:$failed (inputs in $build/fuzz-findings)" >&2
    exit 1
fi
echo "no findings"
