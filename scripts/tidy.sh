#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh BUILD_DIR [--all]: clang-tidy over the product's code, where BUILD_DIR has BELFRY_UNITY=OFF. Settings:
# .clang-tidy. Without --all it reads only the files whose code has changed since the last run over all of them
# (nightly.txt names its commit), and for each such header one file that includes it, its own where there is one.
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
files=$(git ls-files 'app/*.cpp' 'engine/*.cpp' 'kernels/*.cpp' 'models/*.cpp' 'remote/*.cpp' 'ipc/*.cpp' 'ui/*.cpp' |
    grep -v -e '/avx' -e '/simd/' -e '_x86.cpp')

# A source among $files that reads the header $1: its own where there is one, else the first that includes
# it, else one that reads a header that does.
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

# What the compiler sees of a file but for where its headers lie, and the words to clang-tidy in its comments.
code() {
    cat >"$build/tidy.code"
    gcc -fpreprocessed -dD -E -P -x c++ "$build/tidy.code" 2>/dev/null | grep -v '^ *#include'
    grep -o 'NOLINT.*' "$build/tidy.code" || true
}

# The sources among $files of which more than comments and places changed, and one for each such header.
changed_sources() {
    git diff -M --name-status --diff-filter=R "$swept" | awk '{ print $3, $2 }' >"$build/tidy.moved"
    {
        git diff --name-only --diff-filter=d "$swept" -- '*.cpp' '*.h'
        git ls-files --others --exclude-standard
    } | sort -u | while read -r name; do
        before=$(awk -v name="$name" '$1 == name { print $2 }' "$build/tidy.moved")
        [ "$(git show "$swept:${before:-$name}" 2>/dev/null | code)" = "$(code <"$name")" ] || printf '%s\n' "$name"
    done >"$build/tidy.changed"
    {
        printf '%s\n' "$files" | grep -xFf "$build/tidy.changed" || true
        grep '[.]h$' "$build/tidy.changed" | grep -v '^tests/' | while read -r name; do
            reader_of "$name"
        done
    } | sort -u
}

swept=$(sed -n 's/^tidy [^ ]* \([0-9a-f]*\) passed.*/\1/p' scripts/nightly.txt)
if [ "$mode" = --all ] || [ -z "$swept" ] || ! git merge-base --is-ancestor "$swept" HEAD 2>/dev/null; then
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
