#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder that runs on any x86-64 Linux with glibc 2.36 and libstdc++ 12 or newer, without
# Qt, fonts or other packages: the programs, the libraries and Qt plug-ins they need, fonts, the
# demo model and a launcher. Usage: installer/portable.sh BUILD_FOLDER TARGET_FOLDER [--small]
#   --small  for a machine without a display that only has to show that it works: offscreen only,
#            no emoji, no demo model, no Unicode collation data
# What BUILD_FOLDER holds is linked once more, so that it finds the folder's libraries: build it with
# the preset "release" first.
set -euo pipefail
if [ $# -lt 2 ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0"
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
target=$2
small=0
[ "${3:-}" = --small ] && small=1
for program in belfry belfry-cli; do
    if [ ! -x "$build/app/$program" ]; then
        echo "portable: $build/app/$program is missing; build it first" >&2
        exit 1
    fi
done
cmake --build "$build" --target belfry-portable belfry-cli-portable > /dev/null
qt_plugins=$(qtpaths6 --query QT_INSTALL_PLUGINS 2> /dev/null || qmake6 -query QT_INSTALL_PLUGINS 2> /dev/null ||
    find /usr/lib*/ -maxdepth 3 -type d -path '*qt6/plugins' | head -n 1)
if [ ! -d "$qt_plugins/platforms" ]; then
    echo "portable: Qt 6 plug-ins not found (looked in '$qt_plugins'); install qt6-base-dev" >&2
    exit 1
fi

mkdir -p "$target/bin" "$target/lib" "$target/plugins" "$target/fonts"
binaries=()
for program in belfry belfry-cli; do
    install -s -m 755 "$build/app/portable/$program" "$target/bin/"
    binaries+=("$build/app/portable/$program")
done
# What belfry-cli get opens; the libraries that it needs come into lib/ with the others.
if [ -e "$build/app/belfry-network.so" ]; then
    install -D -s -m 644 "$build/app/belfry-network.so" "$target/lib/belfry/belfry-network.so"
    binaries+=("$build/app/belfry-network.so")
fi
plugins=(platforms/libqoffscreen.so imageformats/libqjpeg.so)
[ $small = 1 ] || plugins+=(platforms/libqminimal.so platforms/libqxcb.so xcbglintegrations/libqxcb-glx-integration.so
    platforminputcontexts/libcomposeplatforminputcontextplugin.so
    platforminputcontexts/libibusplatforminputcontextplugin.so imageformats/libqgif.so imageformats/libqico.so
    tls/libqopensslbackend.so) # which looks for the machine's OpenSSL 3
for plugin in "${plugins[@]}"; do
    mkdir -p "$target/plugins/$(dirname "$plugin")"
    cp -L "$qt_plugins/$plugin" "$target/plugins/$plugin"
    binaries+=("$qt_plugins/$plugin")
done

# Left to the machine: glibc, the compiler's run-time libraries (an older libstdc++ beside us would
# break the machine's graphics driver), the driver itself and, in the small folder, what every
# Debian and Ubuntu carries because apt and systemd need it.
skip='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s)\.so.*|libcuda\.so.*|libnvidia-.*)$'
[ $small = 1 ] && skip="${skip%)\$})|lib(z|lzma|lz4|zstd|gcrypt|gpg-error|cap|systemd|pcre2-8|md)\.so.*\$"
if ldd "${binaries[@]}" | grep "not found"; then
    exit 1
fi
ldd "${binaries[@]}" | awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
    basename "$library" | grep -Eq "$skip" || cp -L "$library" "$target/lib/"
done
# A library with a search path of its own (PulseAudio's) does not inherit the programs': it gets its folder.
for library in "$target"/lib/*.so*; do
    if readelf -dW "$library" | grep -qE 'RPATH|RUNPATH'; then
        command -v patchelf > /dev/null || { echo "portable: $library needs patchelf; install it" >&2; exit 1; }
        patchelf --set-rpath '$ORIGIN' "$library"
    fi
done
strip --strip-unneeded "$target"/lib/*.so* 2> /dev/null || true

# ICU's tables are 31 MB of locale data that Qt needs for collation only: without them it compares
# plainly. The small folder gets a data library with an empty table of contents.
if [ $small = 1 ] && data=$(ls "$target"/lib/libicudata.so.* 2> /dev/null); then
    version=${data##*.so.}
    work=$(mktemp -d)
    cat > "$work/empty.s" << ASM
    .section .rodata
    .globl icudt${version}_dat
    .type icudt${version}_dat, @object
    .balign 16
icudt${version}_dat:
    .short 32
    .byte 0xda, 0x27
    .short 20, 0
    .byte 0, 0, 2, 0
    .ascii "ToCP"
    .byte 1, 0, 0, 0, 0, 0, 0, 0
    .zero 8
    .long 0, 0
    .size icudt${version}_dat, 40
ASM
    cc -shared -nostdlib -Wl,-soname,"libicudata.so.$version" -o "$data" "$work/empty.s"
    rm -rf "$work"
fi

fonts=(NotoSans-Regular.ttf NotoSans-Bold.ttf DejaVuSansMono.ttf)
[ $small = 1 ] || fonts+=(NotoSansMath-Regular.ttf NotoColorEmoji.ttf)
for font in "${fonts[@]}"; do
    file=$(find /usr/share/fonts -name "$font" | head -n 1)
    if [ -z "$file" ]; then
        echo "portable: $font not found; install fonts-noto-core, fonts-noto-color-emoji, fonts-dejavu-core" >&2
        exit 1
    fi
    cp -L "$file" "$target/fonts/"
done
# The scripts of other readers; the full folder has them all.
if [ $small = 0 ]; then
    for script in Arabic Armenian Bengali Devanagari Ethiopic Georgian Gujarati Gurmukhi Hebrew \
        Kannada Khmer Lao Malayalam Myanmar Sinhala Symbols Symbols2 Tamil Telugu Thai; do
        file=$(find /usr/share/fonts -name "NotoSans$script-Regular.ttf" | head -n 1)
        [ -z "$file" ] || cp -L "$file" "$target/fonts/"
    done
    file=$(find /usr/share/fonts -name NotoSansCJK-Regular.ttc | head -n 1)
    if [ -n "$file" ]; then
        cp -L "$file" "$target/fonts/"
    else
        echo "portable: NotoSansCJK-Regular.ttc not found; Chinese, Japanese and Korean text needs" \
            "the machine's own fonts. Install fonts-noto-cjk to take it along." >&2
    fi
fi
# The machine's own fonts, when it has any, stay in use: ours come after them.
cat > "$target/fonts.conf" << 'XML'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>Noto Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
XML
printf '[Paths]\nPrefix = ..\n' > "$target/bin/qt.conf"
if [ $small = 0 ]; then
    mkdir -p "$target/share/belfry"
    cp -r "$root/resources/demo_model" "$target/share/belfry/"
    # What only its makers need.
    rm -rf "$target/share/belfry/demo_model/training" "$target/share/belfry/demo_model/eval"
fi
install -m 644 "$root/LICENSE" "$target/"
# What install.sh puts into the user's menu.
if [ $small = 0 ]; then
    install -m 755 "$root/installer/linux/install.sh" "$target/"
    id=org.belfry.Belfry
    install -D -m 644 "$root/installer/linux/$id.desktop" "$target/share/applications/$id.desktop"
    install -D -m 644 "$root/installer/linux/$id.mime.xml" "$target/share/mime/packages/$id.xml"
    for picture in "$root"/resources/icons/app/belfry-*.png; do
        size=$(basename "${picture%.png}" | sed 's/^belfry-//')
        install -D -m 644 "$picture" "$target/share/icons/hicolor/${size}x$size/apps/$id.png"
    done
    install -D -m 644 "$root/resources/icons/app/belfry.svg" "$target/share/icons/hicolor/scalable/apps/$id.svg"
fi
cat > "$target/belfry" << 'SH'
#!/bin/sh
# Starts a program of this folder with the folder's fonts; without an argument that names one in
# bin/, the window. Without a display the window is drawn offscreen.
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
FONTCONFIG_FILE=$here/fonts.conf
export FONTCONFIG_FILE
if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
    export QT_QPA_PLATFORM
fi
if [ $# -gt 0 ] && [ -x "$here/bin/$1" ]; then
    program=$1
    shift
    exec "$here/bin/$program" "$@"
fi
exec "$here/bin/belfry" "$@"
SH
chmod 755 "$target/belfry"
du -sh "$target" | awk -v folder="$target" '{ print "portable folder: " $1 " in " folder }'
