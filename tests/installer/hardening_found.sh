#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening_found.sh BUILD_FOLDER PROGRAM: hardening.sh can fail. PROGRAM passes; small programs that lack one
# thing each do not, and are told for that thing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/small.c" <<'C'
#include <stdio.h>
#include <string.h>
static char kept[64];
int main(int count, char** words) {
    char text[64];
    memcpy(text, words[0], (size_t)count);
    snprintf(kept, (size_t)count, "%s", text);
    return puts(kept) < 0;
}
C
whole="-O2 -fPIE -pie -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fcf-protection
    -Wl,-z,relro,-z,now -Wl,-z,noexecstack"
failed=0
# small WORDS... : a program with everything and then these flags, and what hardening.sh says of it.
small() {
    # shellcheck disable=SC2086
    cc $whole "$@" -o "$work/small" "$work/small.c" 2>"$work/cc.log" || { cat "$work/cc.log" >&2; exit 1; }
    sh "$here/hardening.sh" "$build" "$work/small" 2>&1 || true
}
expect() { # WORDS OF THE COMPLAINT, FLAGS...
    words=$1
    shift
    said=$(small "$@")
    case $said in
    *"$words"*) ;;
    *)
        echo "a program made with $* is not told for \"$words\", only: $said" >&2
        failed=1
        ;;
    esac
}
has() { grep -q "^BELFRY_HAS_$1:INTERNAL=1" "$build/CMakeCache.txt"; }

sh "$here/hardening.sh" "$build" "$program"
said=$(small)
[ -z "$said" ] || { echo "a program with everything is told for: $said" >&2; failed=1; }
expect "not position independent" -fno-PIE -no-pie
expect "no GNU_RELRO" -Wl,-z,norelro
expect "executable stack" -Wl,-z,execstack
expect "binds lazily" -Wl,-z,lazy
expect "a folder of its own" -Wl,-rpath,/somewhere
expect "no stack protector" -fno-stack-protector
grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$build/CMakeCache.txt" ||
    expect "_FORTIFY_SOURCE" -U_FORTIFY_SOURCE
if has fcf_protection; then expect "endbr64" -fcf-protection=none; fi

# A file that is compiled without a flag is found in the list of commands.
mkdir "$work/build"
cp "$build/CMakeCache.txt" "$work/build/"
for flag in -fstack-protector-strong -D_GLIBCXX_ASSERTIONS; do
    sed "/ -o engine\/text\//s/$flag//" "$build/compile_commands.json" >"$work/build/compile_commands.json"
    if said=$(sh "$here/hardening.sh" "$work/build" "$program" 2>&1); then
        echo "files without $flag went unnoticed" >&2
        failed=1
    fi
    case $said in
    *"compiled without $flag"*engine/text*) ;;
    *) echo "files without $flag are not named: $said" >&2; failed=1 ;;
    esac
done
exit $failed
