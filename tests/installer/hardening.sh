#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh PROGRAM ...: what the linker left in finished programs: position independent, the tables of
# addresses read-only once loaded (full RELRO), no executable stack, no folder of their own to find
# libraries in.
set -eu
failed=0
for program in "$@"; do
    missing() {
        echo "$program: $1" >&2
        failed=1
    }
    header=$(readelf -hlW "$program")
    dynamic=$(readelf -dW "$program")
    echo "$header" | grep -q 'Type: *DYN' || missing "is not position independent (PIE)"
    echo "$header" | grep -q 'GNU_RELRO' || missing "has no GNU_RELRO segment"
    echo "$header" | grep 'GNU_STACK' | grep -q 'RW  *0x' || missing "has an executable stack"
    echo "$dynamic" | grep -q 'FLAGS.*NOW' || missing "binds lazily (no BIND_NOW), so RELRO is partial"
    if echo "$dynamic" | grep -qE 'RPATH|RUNPATH'; then
        missing "finds libraries in a folder of its own: $(echo "$dynamic" | grep -E 'RPATH|RUNPATH')"
    fi
done
exit $failed
