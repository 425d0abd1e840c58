#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_check.sh INSTALLER.msi: installs it under wine without a question, lets the installed command
# line answer the README's first chat and the window come up, repairs, removes it, and sees that nothing is
# left behind but what the programs themselves keep (installer/windows.sh has set WINEPREFIX).
set -eu
msi=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
drive="$WINEPREFIX/drive_c"
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

# Everything on the drive, without what Windows itself writes there; and the entry in its list of programs.
state() {
    (cd "$drive" && find . -not -path '*/[Tt]emp/*' -not -path './windows/[Ll]ogs/*' | sort)
    wine reg query 'HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall' /s 2>/dev/null | grep -i belfry || true
}

installer() { # WHAT PROPERTIES...
    what=$1
    shift
    wine msiexec "$what" "Z:$msi" "$@" /qn >"$lists/msiexec" 2>&1 ||
        { cat "$lists/msiexec" >&2; echo "msiexec $what $msi $* ended with an error under wine" >&2; exit 1; }
}

state >"$lists/before"
installer /i
program=$(find "$drive/users" -name belfry-cli.exe | head -n 1)
if [ -z "$program" ]; then
    echo "$msi was installed, but there is no belfry-cli.exe below $drive/users" >&2
    exit 1
fi
sh "$root/installer/windows/first_chat.sh" "$program"
window="$(dirname "$program")/belfry.exe"
[ ! -f "$window" ] || sh "$root/installer/windows/window_check.sh" "$window" "${BELFRY_PICTURE:-}"

# Repair, as /fa does it; wine's own msiexec hands /fa on in a way that its library does not take.
rm "$program"
installer /i REINSTALL=ALL REINSTALLMODE=amus
[ -f "$program" ] || { echo "repairing did not bring back $program" >&2; exit 1; }

installer /x
[ ! -d "$(dirname "$program")" ] || { find "$(dirname "$program")" >&2; echo "removing Belfry left its folder" >&2; exit 1; }
state >"$lists/after"
if ! diff "$lists/before" "$lists/after" >"$lists/left"; then
    # Its measured rates and its copies of weights are caches, the rest is chats and settings: kept.
    if grep -v '/[Bb]elfry\(/\|$\)' "$lists/left" | grep '^[<>]' >&2 || grep 'Programs' "$lists/left" >&2; then
        echo "removing Belfry left these behind (>) or took these away (<)" >&2
        exit 1
    fi
fi
echo "installed, answered, repaired, removed: ${program#"$drive"/}"
