#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_one.sh PROGRAM NAME SECONDS: runs one fuzz target on its corpus. The corpus grows in
# <build>/fuzz-corpus/NAME; an input that breaks something is kept in <build>/fuzz-findings.
set -eu
program=$1
name=$2
seconds=$3
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$(dirname "$program")/../.." && pwd)
corpus=$build/fuzz-corpus/$name
mkdir -p "$corpus" "$build/fuzz-findings"
if [ ! -e "$corpus/seed0" ]; then
    "$(dirname "$program")/fuzz_seeds" "$build/fuzz-corpus"
fi
exec "$program" "$corpus" -dict="$here/dictionaries/$name.dict" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz-findings/$name-"
