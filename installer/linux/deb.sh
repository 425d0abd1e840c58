#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD_FOLDER OUT_FOLDER: a Debian package of what "cmake --install" installs, for the system that
# this runs on (its libraries' packages become the dependencies). Called by installer/release.sh, for
# Ubuntu inside a system of its own. SOURCE_DATE_EPOCH: the time that all files and the package get.
set -eu
umask 022
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
out=$2
: "${SOURCE_DATE_EPOCH:?deb.sh: SOURCE_DATE_EPOCH is not set; release.sh takes that of the commit}"
system=$(. /etc/os-release && echo "$ID$VERSION_ID")
number=$(sed -n 's/^project(belfry VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
version="$number+$system"
maintainer="The Belfry developers <belfry@packages.belfry.app>"
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/stage

DESTDIR="$stage" cmake --install "$build" --prefix /usr --strip >"$work/install.log"
documents=$stage/usr/share/doc/belfry
rm -f "$documents/LICENSE" # copyright says where the system keeps it
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Belfry

Files: *
Copyright: The Belfry developers
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
gzip -9n >"$documents/changelog.gz" <<END
belfry ($version) unstable; urgency=medium

  * Version $number, built from the sources of that version.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END

mkdir -p "$work/debian" "$stage/DEBIAN"
printf 'Source: belfry\n\nPackage: belfry\nArchitecture: %s\n' "$architecture" >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -estage/usr/bin/belfry -estage/usr/bin/belfry-cli \
    $(find stage/usr/lib/belfry -name "*.so" -printf "-e%p " 2>/dev/null) |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb.sh: dpkg-shlibdeps names no libraries" >&2; exit 1; }
# The window needs a platform plug-in, which Qt's library only recommends.
cat >"$stage/DEBIAN/control" <<END
Package: belfry
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$stage/usr" | cut -f 1)
Depends: $depends, qt6-qpa-plugins
Recommends: fonts-noto-color-emoji, fonts-noto-core, qt6-wayland
Suggests: fonts-noto-cjk
Section: science
Priority: optional
Description: chat with multimodal models, each part on the device you choose
 Belfry runs quantized multimodal models (Gemma 4 first) on your own
 computer: text, pictures and sounds. Which part of a model sits on which
 device (layers, vision tower, audio tower, embeddings, head) is for you to
 say; what it takes is known before memory is allocated, and every placement
 gives the same answer.
 .
 The package holds the window (belfry), the command line (belfry-cli) and a
 small model to try them with. A graphics card is used through the driver
 that is installed, and none is needed.
END
(cd "$stage" && find usr -type f | LC_ALL=C sort | xargs -d '\n' md5sum) >"$stage/DEBIAN/md5sums"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
dpkg-deb --root-owner-group -Zxz --build "$stage" "$out/belfry_${number}_${system}_$architecture.deb"
