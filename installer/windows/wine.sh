#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wine.sh PROGRAM WORDS...: runs it under wine with this shell's variables of Qt as well. Wine keeps those to
# itself, as they are this machine's, and hands on as QT_... what is called WINEQT_...
for name in $(env | sed -n 's/^\(QT_[A-Z0-9_]*\)=.*/\1/p'); do
    eval "export WINE$name=\"\$$name\""
done
# By the name that Windows has for it: else wine starts it from a program of its own.
program=Z:$(realpath "$1")
shift
exec wine "$program" "$@"
