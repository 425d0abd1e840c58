#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the product's code: tidy.sh BUILD_DIR. Settings: .clang-tidy. SIMD kernels are left
# out (the analyzer takes minutes in intrinsics headers and says nothing there).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
cd "$root"
git ls-files 'app/*.cpp' 'engine/*.cpp' 'kernels/*.cpp' 'ui/*.cpp' |
    grep -v -e '/avx' -e '/simd/' -e '_x86.cpp' |
    xargs -r -n 4 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet \
        --extra-arg=-Wno-unknown-warning-option 2>"$build/tidy.err" |
    tee "$build/tidy.log"
! grep -q 'error:' "$build/tidy.log"
