#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_short.sh [SECONDS] [BUILD]: builds the fuzz targets with clang (only the libraries they need)
# and runs each for SECONDS (default 30) under ASan and UBSan, two at a time. Exit code 0: no
# findings, and every target ran its time.
set -eu
seconds=${1:-30}
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build/fuzz}
if ! command -v clang++ >/dev/null; then
    echo "run_short.sh: clang++ is not installed" >&2
    exit 1
fi
if [ ! -e "$build/build.ninja" ]; then
    CC=clang CXX=clang++ cmake -S "$source" -B "$build" -G Ninja -DBELFRY_BUILD_FUZZERS=ON \
        -DBELFRY_BUILD_UI=OFF -DBELFRY_BUILD_TESTS=OFF \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1"
fi
targets="safetensors_header gguf shard_index config tokenizer template adapter gguf_adapter device_map image audio chat_import chat_store chat_stream serve_request engine_messages"
ninja -C "$build" fuzz_seeds fuzz_planted $(for name in $targets; do echo "fuzz_$name"; done)
rm -rf "$build/fuzz-findings"
sh "$source/tests/fuzz/run_one.sh" "$build/tests/fuzz/fuzz_seeds" prepare

run() { # NAME: leaves its exit code beside its log
    code=0
    sh "$source/tests/fuzz/run_one.sh" "$build/tests/fuzz/fuzz_$1" "$1" "$seconds" \
        >"$build/fuzz-$1.log" 2>&1 || code=$?
    echo "$code" >"$build/fuzz-$1.code"
}
lane() {
    for name in "$@"; do
        run "$name"
    done
}
echo "== $seconds s each, two at a time: $targets"
odd=
even=
for name in $targets; do # every second one
    next=$odd
    odd="$even $name"
    even=$next
done
# shellcheck disable=SC2086
lane $odd &
# shellcheck disable=SC2086
lane $even &
wait
failed=
for name in $targets; do
    log=$build/fuzz-$name.log
    units=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    edges=$(sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    echo "fuzz_$name: ${units:-0} inputs, ${edges:-0} edges"
    if [ "$(cat "$build/fuzz-$name.code")" -ne 0 ] || [ "${units:-0}" -lt 100 ]; then
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
