#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the product's code: tidy.sh BUILD_DIR [--all]. Settings: .clang-tidy. Without --all only
# files that have changed since the last whole sweep (tidy-swept names its commit), and of each changed
# header one file that reads it, its own where there is one: a sweep takes a third of CI's time, and code
# that nobody touched says what it said. After new flags here sweep all; after a sweep without findings:
# git rev-parse HEAD > installer/tidy-swept
#
# SIMD kernels are left out (the analyzer takes minutes in intrinsics headers and says nothing there). Version
# 14 everywhere, so that Debian 12 and Ubuntu 24.04 find the same; it cannot read <chrono> of a newer libstdc++
# than 12 in C++20, so the headers of version 12 are named (packages-checks.txt installs them).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mode=${2:-}
cd "$root"
git() { command git -c safe.directory="$root" "$@"; }
headers=/usr/include/c++/12
machine=$(gcc -print-multiarch)
files=$(git ls-files 'app/*.cpp' 'engine/*.cpp' 'kernels/*.cpp' 'library/*.cpp' 'remote/*.cpp' 'ipc/*.cpp' 'ui/*.cpp' |
    grep -v -e '/avx' -e '/simd/' -e '_x86.cpp')

# A source among $files that reads the header $1: its own where there is one, else the first that includes
# it, else one that reads a header that does. (What the build noted of its objects leaves out the headers
# that were compiled for many of them.)
reader_of() {
    header=$1
    for _ in 1 2 3 4 5 6; do
        for source in "${header%.h}.cpp" $(git grep -l -F "#include \"$header\"" -- '*.cpp'); do
            if printf '%s\n' "$files" | grep -qxF "$source"; then
                printf '%s\n' "$source"
                return
            fi
        done
        header=$(git grep -l -F "#include \"$header\"" -- '*.h' | grep -v '^tests/' | head -n 1)
        [ -n "$header" ] || return 0
    done
}

# The sources among $files that changed, and one for each changed header.
changed_sources() {
    {
        git diff --name-only --diff-filter=d "$swept" --
        git ls-files --others --exclude-standard
    } | sort -u >"$build/tidy.changed"
    {
        printf '%s\n' "$files" | grep -xFf "$build/tidy.changed" || true
        grep '[.]h$' "$build/tidy.changed" | grep -v '^tests/' | while read -r name; do
            reader_of "$name"
        done
    } | sort -u
}

swept=$(cat installer/tidy-swept 2>/dev/null || true)
if [ "$mode" = --all ] || [ -z "$swept" ] || ! git merge-base --is-ancestor "$swept" HEAD 2>/dev/null ||
    ! git diff --quiet "$swept" -- .clang-tidy; then
    echo "all files"
else
    all=$(printf '%s\n' "$files" | wc -l)
    files=$(changed_sources)
    echo "$(printf '%s' "$files" | grep -c . || true) of $all files, for what changed since $swept"
fi
[ -n "$files" ] || exit 0
# The analyzer frees all it knows of a function before the next: glibc would hand that memory back and fetch
# it again each time, a quarter of the whole time in the kernel.
export GLIBC_TUNABLES=glibc.malloc.top_pad=268435456:glibc.malloc.trim_threshold=4294967296:glibc.malloc.mmap_threshold=33554432
# Version 14 takes headers that g++ has compiled (BELFRY_PRECOMPILED) for its own and stops.
mkdir -p "$build/tidy"
sed 's/-Winvalid-pch -include [^ ]*cmake_pch[.]hxx//' "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
status=0
# Long files first and one at a time: no core waits at the end for another's last four.
# shellcheck disable=SC2086
wc -c $files | grep -v ' total$' | sort -rn | awk '{print $2}' |
    xargs -n 1 -P "$(nproc)" clang-tidy-14 -p "$build/tidy" --quiet \
        --extra-arg=-Wno-unknown-warning-option --extra-arg=-nostdinc++ \
        --extra-arg=-isystem"$headers" --extra-arg=-isystem"/usr/include/$machine/c++/12" \
        >"$build/tidy.log" 2>"$build/tidy.err" || status=1
cat "$build/tidy.log"
if [ "$status" -ne 0 ]; then
    echo "clang-tidy failed: findings above, other messages in $build/tidy.err" >&2
fi
exit "$status"
