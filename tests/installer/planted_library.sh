#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# planted_library.sh with|without PROGRAM...: none of the programs loads a libcuda.so.1 or libnvidia-ml.so.1 that
# lies where a program of a portable folder looks for its libraries. The first word says whether they have GPU
# kernels: without them a program never looks for a driver, wherever it lies.
set -eu
kernels=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/lib/glibc-hwcaps/x86-64-v2" "$work/bin/lib"
cat >"$work/planted.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void mark(void) {
    const char* file = getenv("PLANTED_MARK");
    FILE* mark = file == NULL ? NULL : fopen(file, "w");
    if (mark != NULL) {
        fclose(mark);
    }
}
C
cc -shared -fPIC -o "$work/planted.so" "$work/planted.c"
for folder in "$work/lib" "$work/bin/lib" "$work/bin" "$work/lib/glibc-hwcaps/x86-64-v2"; do
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        cp "$work/planted.so" "$folder/$name"
    done
done

# ran FILE [FOLDER_OF_LIBRARIES]: whether the planted library's code ran in FILE.
ran() {
    rm -f "$work/mark"
    (cd "$work/bin" && PLANTED_MARK="$work/mark" LD_LIBRARY_PATH="${2:-}" "$1" plan demo >"$work/out" 2>&1) || {
        echo "$1 plan demo failed:" >&2
        cat "$work/out" >&2
        exit 1
    }
    [ -e "$work/mark" ]
}
failed=0
for file in "$@"; do
    cp "$file" "$work/bin/belfry-cli"
    if ran "$work/bin/belfry-cli"; then
        echo "$file runs a libcuda.so.1 that lies beside it" >&2
        failed=1
    fi
    # Where a user names a folder it is searched: the planted library can be found at all.
    found=without
    if ran "$work/bin/belfry-cli" "$work/lib"; then
        found=with
    fi
    if [ "$found" != "$kernels" ]; then
        echo "$file, $kernels kernels, behaves as one $found them about the library of LD_LIBRARY_PATH" >&2
        failed=1
    fi
done
exit $failed
