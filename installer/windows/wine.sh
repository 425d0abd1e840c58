#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wine.sh PROGRAM WORDS...: runs it under wine with this shell's variables of Qt as well. Wine keeps those to
# itself, as they are this machine's, and hands on as QT_... what is called WINEQT_... With BELFRY_WINE_APART=1
# its output comes by way of a file.
for name in $(env | sed -n 's/^\(QT_[A-Z0-9_]*\)=.*/\1/p'); do
    eval "export WINE$name=\"\$$name\""
done
# By the name that Windows has for it: else wine starts it from a program of its own.
program=Z:$(realpath "$1")
shift
[ -n "${BELFRY_WINE_APART:-}" ] || exec wine "$program" "$@"
# For a test that kills: under wine a console program that is ended in its first moments leaves its conhost.exe
# behind, which holds what the test says open, and the test seems to run on. So it goes through a file.
said=$(mktemp "${TMPDIR:-/tmp}/belfry-wine.XXXXXX")
trap 'rm -f "$said"' EXIT
wine "$program" "$@" >"$said" 2>&1 </dev/null &
ran=$!
tail -n +1 -s 0.1 -f --pid="$ran" "$said"
wait "$ran"
