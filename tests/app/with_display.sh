#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command with a virtual X display of its own: with_display.sh COMMAND... Ends with 77 where there
# is no Xvfb.
command -v Xvfb >/dev/null || exit 77
number=$(mktemp)
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp 3>"$number" 2>/dev/null &
server=$!
trap 'kill "$server"; rm -f "$number"' EXIT
tries=0
while [ ! -s "$number" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ]; then
        echo "with_display.sh: Xvfb gave no display within 30 s" >&2
        exit 1
    fi
    sleep 0.1
done
DISPLAY=:$(cat "$number") QT_QPA_PLATFORM=xcb "$@"
