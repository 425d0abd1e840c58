#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds Belfry and starts it. Without a display: the command-line demo.
. "$(dirname "$0")/common.sh"

install_packages "$root/installer/packages.txt"

say "Building (first time: some minutes; later only what changed)"
cmake -S "$root" -B "$root/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_BUILD_TESTS=OFF >/dev/null
cmake --build "$root/build/release" -j "$jobs"

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "Starting Belfry"
    exec "$root/build/release/app/belfry" "$@"
fi
say "No display found: running the command-line demo instead of the window"
exec sh "$root/installer/demo.sh" "$root/build/release/app/belfry-cli"
