#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Draws the program's icon, resources/icons/app/belfry.svg, in all sizes that desktops and Windows ask
# for, beside it. To be run after a change of the drawing; the pictures are committed, so that a build
# needs neither of the two tools (Debian: librsvg2-bin, icoutils).
set -eu
cd "$(dirname "$0")/../resources/icons/app"
for size in 16 22 24 32 48 64 128 256 512; do
    rsvg-convert -w "$size" -h "$size" -o "belfry-$size.png" belfry.svg
done
icotool --create -o belfry.ico belfry-16.png belfry-24.png belfry-32.png belfry-48.png belfry-64.png \
    --raw=belfry-256.png
