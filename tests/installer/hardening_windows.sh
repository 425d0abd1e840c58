#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening_windows.sh OBJDUMP NM PROGRAM.exe ...: what the linker left in finished Windows programs: addresses
# drawn anew from the whole 64-bit space, data that is never run, tables to move the program by; checked calls
# of the C library and the stack protector among its symbols, where it still has them.
set -eu
objdump=$1
nm=$2
shift 2
[ $# -gt 0 ] || { echo "hardening_windows.sh: no programs given" >&2; exit 2; }
failed=0
complain() {
    echo "$1" >&2
    failed=1
}
for program in "$@"; do
    header=$("$objdump" -p "$program")
    for word in HIGH_ENTROPY_VA DYNAMIC_BASE NX_COMPAT; do
        printf '%s\n' "$header" | grep -q "^[[:space:]]*$word\$" || complain "$program: lacks $word"
    done
    printf '%s\n' "$header" | grep -q 'Entry 5 [0-9a-f]* 0*[1-9a-f][0-9a-f]* Base Relocation' ||
        complain "$program: has no relocations, so that its addresses cannot change"
    symbols=$("$nm" "$program" 2>/dev/null || true)
    [ -n "$symbols" ] || continue # stripped: the program before that says it
    printf '%s\n' "$symbols" | grep -q ' T __stack_chk_fail$' || complain "$program: has no stack protector"
    printf '%s\n' "$symbols" | grep -qE ' T __(mem(cpy|move|set)|str(cpy|cat))_chk$' ||
        complain "$program: calls of the C library are not checked (_FORTIFY_SOURCE)"
done
exit $failed
