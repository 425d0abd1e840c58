#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_one.sh PROGRAM NAME SECONDS: runs one fuzz target. It starts from the seeds of make_seeds.cpp
# and the corpus of the tree (corpus.tar.xz); what it adds stays in <build>/fuzz-corpus/NAME. An
# input that breaks something is kept in <build>/fuzz-findings.
# run_one.sh PROGRAM prepare: only unpacks the seeds and the corpus, of all targets.
set -eu
program=$1
name=$2
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$(dirname "$program")/../.." && pwd)
corpus=$build/fuzz-corpus
mkdir -p "$build/fuzz-findings"
# Anew where the seeds' program is newer: a target may have come.
if [ ! -e "$corpus/ready" ] || [ "$(dirname "$program")/fuzz_seeds" -nt "$corpus/ready" ]; then
    mkdir -p "$corpus"
    "$(dirname "$program")/fuzz_seeds" "$corpus"
    tar xJf "$here/corpus.tar.xz" -C "$corpus"
    touch "$corpus/ready"
fi
if [ "$name" = prepare ]; then
    exit 0
fi
# What is quadratic, or as deep as the input, shows in long inputs only.
longest=20000
entropic=1
case $name in
chat_stream | template) longest=300000 ;;
# Its models have thousands of features; weighing them takes half the time of an input.
gguf) longest=12000 entropic=0 ;;
esac
# Lines that decoders of the system write to stdout are not kept.
exec "$program" "$corpus/$name" -dict="$here/dictionaries/$name.dict" -max_total_time="$3" \
    -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len="$longest" -entropic="$entropic" \
    -print_final_stats=1 -close_fd_mask=1 -artifact_prefix="$build/fuzz-findings/$name-"
