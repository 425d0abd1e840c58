#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the product's code: tidy.sh BUILD_DIR. Settings: .clang-tidy. SIMD kernels are left
# out (the analyzer takes minutes in intrinsics headers and says nothing there). Version 14 everywhere, so
# that Debian 12 and Ubuntu 24.04 find the same; it cannot read <chrono> of a newer libstdc++ than 12
# in C++20, so the headers of version 12 are named (packages-checks.txt installs them).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
cd "$root"
headers=/usr/include/c++/12
machine=$(gcc -print-multiarch)
files=$(git -c safe.directory="$root" ls-files 'app/*.cpp' 'engine/*.cpp' 'kernels/*.cpp' 'ui/*.cpp' |
    grep -v -e '/avx' -e '/simd/' -e '_x86.cpp')
# The analyzer frees all it knows of a function before the next: glibc would hand that memory back and fetch
# it again each time, a quarter of the whole time in the kernel.
export GLIBC_TUNABLES=glibc.malloc.top_pad=268435456:glibc.malloc.trim_threshold=4294967296:glibc.malloc.mmap_threshold=33554432
status=0
# Long files first and one at a time: no core waits at the end for another's last four.
# shellcheck disable=SC2086
wc -c $files | grep -v ' total$' | sort -rn | awk '{print $2}' |
    xargs -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet \
        --extra-arg=-Wno-unknown-warning-option --extra-arg=-nostdinc++ \
        --extra-arg=-isystem"$headers" --extra-arg=-isystem"/usr/include/$machine/c++/12" \
        >"$build/tidy.log" 2>"$build/tidy.err" || status=1
cat "$build/tidy.log"
if [ "$status" -ne 0 ]; then
    echo "clang-tidy failed: findings above, other messages in $build/tidy.err" >&2
fi
exit "$status"
