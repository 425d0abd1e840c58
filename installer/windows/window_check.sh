#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# window_check.sh PROGRAM [PICTURE]: starts the window of a belfry.exe under wine on our display, sees in its
# log that it came up, starts it once more (which has to hand over and end), asks it to close as Windows does,
# and sees that it ends by itself and its chats are there. PICTURE: the display is kept as PNG before it closes
# (where xwd is). BELFRY_WINDOW_SAYS: words that have to come in its log as well.
set -eu
program=$1
picture=${2:-}
drive="$WINEPREFIX/drive_c"
patience=60
said=$(mktemp)
trap 'rm -f "$said"' EXIT

data="$drive/users/$(id -un)/AppData/Local/Belfry/Belfry" # wine's user is this machine's
log="$data/belfry.log"
mkdir -p "$data"
: >"$log"

wait_for() { # WORDS
    tries=0
    while ! grep -q "$1" "$log"; do
        tries=$((tries + 1))
        if [ "$tries" -gt $((patience * 5)) ]; then
            cat "$log" "$said" >&2
            echo "belfry.exe did not say \"$1\" in its log within $patience s" >&2
            exit 1
        fi
        sleep 0.2
    done
}

wine "$program" demo >"$said" 2>&1 &
first=$!
wait_for "window shown after"
shown=$(sed -n 's/.*window shown after \([0-9]*\) ms.*/\1/p' "$log" | head -n 1)
timeout "$patience" wine "$program" >>"$said" 2>&1 || { cat "$said" >&2; echo "a second start of belfry.exe did not hand over" >&2; exit 1; }
wait_for "started once more"
[ -z "${BELFRY_WINDOW_SAYS:-}" ] || wait_for "$BELFRY_WINDOW_SAYS"
if [ -n "$picture" ] && command -v xwd >/dev/null 2>&1; then
    sleep 3 # the demo model's page is drawn
    xwd -silent -root -out "$said.xwd"
    python3 "$(dirname "$0")/xwd_to_png.py" "$said.xwd" "$picture"
    rm -f "$said.xwd"
fi
# WM_CLOSE, as Windows asks a program to end.
wine taskkill /im belfry.exe >>"$said" 2>&1
code=0
wait "$first" || code=$?
[ "$code" -eq 0 ] || { cat "$log" "$said" >&2; echo "belfry.exe ended with $code after it was asked to close" >&2; exit 1; }
[ -f "$data/chats.sqlite" ] || { echo "belfry.exe left no chats in $data" >&2; exit 1; }
echo "the window came up after $shown ms, a second start handed over, it closed when asked"
