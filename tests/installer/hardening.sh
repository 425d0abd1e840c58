#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh BUILD_FOLDER PROGRAM ...: what compiler and linker left in finished programs: position
# independent, the tables of addresses read-only once loaded (full RELRO), no executable stack, no folder of
# their own to find libraries in, checked calls of the C library (_FORTIFY_SOURCE), on x86 functions that
# begin with a landing place for jumps; and that every file of the product was compiled so.
set -eu
build=$1
shift
failed=0
complain() {
    echo "$1" >&2
    failed=1
}
# Whether the compiler can: what CMake found when it configured.
has() { grep -q "^BELFRY_HAS_$1:INTERNAL=1" "$build/CMakeCache.txt"; }
optimised=yes
grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$build/CMakeCache.txt" && optimised=no

for program in "$@"; do
    header=$(readelf -hlW "$program")
    dynamic=$(readelf -dW "$program")
    echo "$header" | grep -q 'Type: *DYN' || complain "$program: is not position independent (PIE)"
    echo "$header" | grep -q 'GNU_RELRO' || complain "$program: has no GNU_RELRO segment"
    echo "$header" | grep 'GNU_STACK' | grep -q 'RW  *0x' || complain "$program: has an executable stack"
    echo "$dynamic" | grep -q 'FLAGS.*NOW' ||
        complain "$program: binds lazily (no BIND_NOW), so RELRO is partial"
    if echo "$dynamic" | grep -qE 'RPATH|RUNPATH'; then
        complain "$program: finds libraries in a folder of its own: $(echo "$dynamic" | grep -E 'RPATH|RUNPATH')"
    fi
    symbols=$(readelf --dyn-syms -W "$program")
    echo "$symbols" | grep -q '__stack_chk_fail' || complain "$program: has no stack protector"
    if [ "$optimised" = yes ]; then
        # __fdelt_chk and the like are other people's; these two are only called where calls are checked.
        echo "$symbols" | grep -qE '__(mem(cpy|move|set)|read|pread64|snprintf|fprintf|vsnprintf|realpath)_chk' ||
            complain "$program: calls of the C library are not checked (_FORTIFY_SOURCE)"
    fi
    if has fcf_protection; then
        objdump -d --no-show-raw-insn --disassemble=main "$program" | grep -A 1 '<main>:$' | grep -q endbr64 ||
            complain "$program: main() does not begin with endbr64 (-fcf-protection)"
    fi
done

# Every file: one library built without would not show in the programs.
commands=$(grep '"command": ".* -o \(app\|engine\|kernels\|ui\)/' "$build/compile_commands.json")
[ "$(printf '%s\n' "$commands" | wc -l)" -gt 50 ] || complain "$build/compile_commands.json lists too few files"
lacking() { # WHAT: files of the product that are compiled without it
    without=$(printf '%s\n' "$commands" | grep -v -e "$1" | sed 's/.* -o \([^ ]*\) .*/\1/' || true)
    [ -z "$without" ] || complain "compiled without $1: $without"
}
lacking -fstack-protector-strong
lacking -D_GLIBCXX_ASSERTIONS
[ "$optimised" = no ] || lacking -D_FORTIFY_SOURCE=3
if has fcf_protection; then lacking -fcf-protection; fi
if has fstack_clash_protection; then lacking -fstack-clash-protection; fi
exit $failed
