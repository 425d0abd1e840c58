#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds Belfry and starts it. Without a display: the command-line demo.
. "$(dirname "$0")/common.sh"

install_packages "$root/scripts/packages.txt"

say "Building (first time: some minutes; later only what changed)"
mkdir -p "$root/build/release"
cmake -S "$root" -B "$root/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_BUILD_TESTS=OFF >"$root/build/release/configure.log"
gpu_kernels "$root/build/release/configure.log"
cmake --build "$root/build/release" -j "$jobs"

belfry=$root/build/release/app/belfry
if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "No display found: running the command-line demo instead of the window"
elif (ulimit -c 0 && "$belfry" --probe-display) 2>/dev/null; then
    say "Starting Belfry"
    exec "$belfry" "$@"
else
    say "The display ${DISPLAY:-$WAYLAND_DISPLAY} cannot be opened: running the command-line demo instead of the window"
    [ -z "${SUDO_USER:-}" ] || echo "(Started with sudo? Start it as $SUDO_USER: it asks for sudo only to install packages.)"
fi
exec sh "$root/scripts/demo.sh" "$root/build/release/app/belfry-cli"
