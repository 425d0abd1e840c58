#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# card_check.sh BUILD: belfry-cli.exe on a driver library that is not there: the tests' fake as nvcuda.dll in
# wine's system folder (the only place where it is looked for). A good one, one without a card, one that
# crashes and one that hangs, each asked in a child of the program: the plan comes in any case, with the card
# or with the reason why there is none. A file of that name beside the program is not loaded.
set -eu
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
cli="$build/app/belfry-cli.exe"
system="$WINEPREFIX/drive_c/windows/system32"
said=$(mktemp -d)
trap 'rm -rf "$said" "$system/nvcuda.dll"' EXIT
trap 'exit 1' INT TERM # the fake does not stay
rm -f "$system/nvcuda.dll"

plan() { # PROGRAM DRIVER
    seconds=20 # only who never answers is not waited for: this machine may be a slow one
    [ "$2" != hang ] || seconds=2
    BELFRY_FAKE_DRIVER="$2" BELFRY_FAKE_DRIVER_LOADS="Z:$said/loads" BELFRY_CARD_SECONDS=$seconds \
        "$root/installer/windows/wine.sh" "$1" plan demo --device-map fit --json >"$said/plan" 2>"$said/errors" ||
        { cat "$said/errors" >&2; echo "belfry-cli.exe plan ended with an error on driver \"$2\"" >&2; exit 1; }
}
expect() { # WHAT yes|no WORDS
    found=no
    ! grep -q "$3" "$said/plan" || found=yes
    [ "$found" = "$2" ] || { cat "$said/plan" >&2; echo "$1: expected \"$3\" in the plan: $2, found: $found" >&2; exit 1; }
}

mkdir "$said/beside"
cp "$cli" "$said/beside/"
cp "$build/tests/fake_cuda/nvcuda.dll" "$said/beside/"
plan "$said/beside/belfry-cli.exe" 0
[ ! -f "$said/loads" ] || { echo "belfry-cli.exe loaded the nvcuda.dll that lies beside it" >&2; exit 1; }

cp "$build/tests/fake_cuda/nvcuda.dll" "$system/"
plan "$cli" 0
expect "a good driver" yes 'cuda:0'
expect "a good driver" no DM23
plan "$cli" 100
expect "no card" no 'cuda:0'
expect "no card" no DM23
plan "$cli" crash
expect "a driver that crashes" no 'cuda:0'
expect "a driver that crashes" yes DM23
plan "$cli" hang
expect "a driver that hangs" yes 'within 2 s'

# The window on such drivers: up while the one that hangs is still being waited for; it says why there is no card.
log="$WINEPREFIX/drive_c/users/$(id -un)/AppData/Local/Belfry/Belfry/belfry.log"
window() { # DRIVER WORDS
    BELFRY_FAKE_DRIVER="$1" BELFRY_CARD_SECONDS=10 BELFRY_WINDOW_SAYS="$2" \
        sh "$root/installer/windows/window_check.sh" "$build/app/belfry.exe" >"$said/window" ||
        { echo "the window on driver \"$1\"" >&2; exit 1; }
    echo "driver \"$1\": window shown after $(sed -n 's/.*window shown after \([0-9]*\) ms.*/\1/p' "$log" | head -n 1) ms"
}
if [ -f "$build/app/belfry.exe" ]; then
    window 100 ""
    window crash "crashed when it was asked for its graphics cards"
    window hang "did not tell its graphics cards within 10 s"
    sed -n '/did not tell its graphics cards/q; /window shown after/p' "$log" >"$said/order"
    [ -s "$said/order" ] || { cat "$log" >&2; echo "the window waited for a driver that hangs" >&2; exit 1; }
fi
echo "driver in a child: good, without a card, crashing, hanging; none from beside the program"
