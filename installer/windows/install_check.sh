#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_check.sh INSTALLER.msi [NEWER.msi]: installs it under wine without a question, lets the installed
# command line answer the README's first chat and the window come up, repairs, puts the newer one in its place,
# removes that, and sees that nothing is left behind but what the programs themselves keep
# (installer/windows.sh has set WINEPREFIX).
set -eu
msi=$1
newer=${2:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
drive="$WINEPREFIX/drive_c"
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

# Everything on the drive, without what Windows itself writes there; and the entry in its list of programs.
state() {
    (cd "$drive" && find . -not -path '*/[Tt]emp/*' -not -path './windows/[Ll]ogs/*' | sort)
    wine reg query 'HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall' /s 2>/dev/null | grep -i belfry || true
}

installer() { # WHAT FILE PROPERTIES...
    what=$1
    file=$2
    shift 2
    wine msiexec "$what" "Z:$file" "$@" /qn >"$lists/msiexec" 2>&1 ||
        { cat "$lists/msiexec" >&2; echo "msiexec $what $file $* ended with an error under wine" >&2; exit 1; }
}
entries() { # versions of Belfry in Windows' list of programs
    wine reg query 'HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall' /s 2>/dev/null | tr -d '\r' >"$lists/programs"
    wine reg query 'HKLM\Software\Microsoft\Windows\CurrentVersion\Uninstall' /s 2>/dev/null | tr -d '\r' >>"$lists/programs"
    awk '/^HK/ { name = version = "" } /DisplayName/ { name = $NF } /DisplayVersion/ { version = $NF }
        name == "Belfry" && version != "" { print version; version = "" }' "$lists/programs" | sort -u | paste -s -d ' '
}

# Folders of Windows and its installer that a new wine has from the first installation on.
user=$(find "$drive/users" -mindepth 1 -maxdepth 1 -type d -not -name Public | head -n 1)
mkdir -p "$user/AppData/Local/Programs" "$user/AppData/Roaming/Microsoft/Installer" "$drive/windows/Installer"
state >"$lists/before"
installer /i "$msi"
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
installer /i "$msi" REINSTALL=ALL REINSTALLMODE=amus
[ -f "$program" ] || { echo "repairing did not bring back $program" >&2; exit 1; }

last=$msi
if [ -n "$newer" ]; then
    before=$(entries)
    installer /i "$newer"
    last=$newer
    [ -f "$program" ] || { echo "after the newer version there is no $program" >&2; exit 1; }
    after=$(entries)
    if [ -z "$before" ] || [ "$before" = "$after" ] || [ "${after#* }" != "$after" ]; then
        echo "Windows' list of programs: expected the newer version alone, found: $after (before: $before)" >&2
        exit 1
    fi
    echo "version $after took the place of $before"
fi

installer /x "$last"
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
