# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# The portable zip and the installer (MSI) of what was built for Windows, in dist/ with their checksums.
# Sourced by installer/windows.sh, which sets $root, $work, $build, $sysroot and $triple. Both hold the
# same folder: the programs with all that they load which is not Windows' own. The zip of the same
# sources has the same bytes.

# Where libraries of ours and of the compiler are.
library_folders() {
    echo "$sysroot/bin"
    for library in libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll libssp-0.dll; do
        dirname "$("$triple-g++-posix" "-print-file-name=$library")"
    done | sort -u
}

# Copies into FOLDER what the programs and libraries in it and below it load, and what those load. What
# is not in one of our folders is Windows' own.
copy_libraries() { # FOLDER
    copied=1
    while [ "$copied" -ne 0 ]; do
        copied=0
        find "$1" -name '*.exe' -o -name '*.dll' >"$work/package/binaries"
        while read -r binary; do
            "$triple-objdump" -p "$binary" | sed -n 's/^[[:space:]]*DLL Name: //p'
        done <"$work/package/binaries" | sort -u >"$work/package/needed"
        while read -r dll; do
            [ ! -f "$1/$dll" ] || continue
            for place in $(library_folders); do
                if [ -f "$place/$dll" ]; then
                    install -m 644 "$place/$dll" "$1/"
                    copied=1
                    break
                fi
            done
        done <"$work/package/needed"
    done
}

# Makes FOLDER: programs, Qt's plug-ins (for the window), the demo model, the licence.
collect_programs() { # FOLDER
    rm -rf "$1"
    mkdir -p "$1"
    install -m 755 "$build/app/belfry-cli.exe" "$1/"
    if [ -f "$build/app/network/belfry-network.dll" ]; then
        install -m 644 "$build/app/network/belfry-network.dll" "$1/"
        install -D -m 644 "$sysroot/plugins/tls/qschannelbackend.dll" "$1/tls/qschannelbackend.dll"
    fi
    if [ -f "$build/app/belfry.exe" ]; then
        install -m 755 "$build/app/belfry.exe" "$1/"
        for plugin in platforms/qwindows platforms/qoffscreen styles/qwindowsvistastyle \
            imageformats/qjpeg imageformats/qgif imageformats/qico; do
            install -D -m 644 "$sysroot/plugins/$plugin.dll" "$1/$plugin.dll"
        done
    fi
    copy_libraries "$1"
    # -p keeps the time that is inside the file as well: none, in what we have linked.
    find "$1" \( -name '*.exe' -o -name '*.dll' \) -exec "$triple-strip" -p --strip-unneeded {} +
    cp -r "$root/resources/demo_model" "$1/"
    rm -rf "$1/demo_model/training" "$1/demo_model/eval" # what only its makers need
    install -m 644 "$root/LICENSE" "$1/LICENSE.txt"
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -type f ! -name '*.exe' -exec chmod 644 {} +
}

# A command of the user's that signs one file: BELFRY_SIGN, called with the file's name.
sign() { # FILE
    [ -z "${BELFRY_SIGN:-}" ] || sh -c "$BELFRY_SIGN \"\$1\"" sign "$1"
}

make_zip() { # FOLDER TARGET: names in order, times of the commit, no owners
    rm -f "$2"
    find "$1" -exec touch -h -d "@$commit_time" {} +
    (cd "$(dirname "$1")" && find "$(basename "$1")" | LC_ALL=C sort | TZ=UTC zip -q -X -9 "$2" -@)
}

make_msi() { # FOLDER VERSION TARGET
    rm -f "$3"
    python3 "$root/installer/windows/make_msi.py" "$1" "$2" "$root/resources/icons/app/belfry.ico" >"$work/package/belfry.wxs"
    wixl -a x64 -o "$3" "$work/package/belfry.wxs" >"$work/log/wixl.log" 2>&1 ||
        { cat "$work/log/wixl.log" >&2; exit 1; }
}

# The programs once more, which look for nothing in the source tree: the tests' find the demo model there.
link_packaged() { # ON|OFF
    cmake -DBELFRY_PACKAGED="$1" "$build" >"$work/log/packaged.log" 2>&1 &&
        cmake --build "$build" -j "$jobs" --target belfry-cli $([ "$window" = OFF ] || echo belfry) >>"$work/log/packaged.log" 2>&1 ||
        { cat "$work/log/packaged.log" >&2; exit 1; }
}

make_packages() {
    version=$(sed -n 's/^project(belfry VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
    commit_time=$(git -C "$root" log -1 --format=%ct)
    package_name="belfry-$version-windows-x86_64"
    package_folder="$work/package/$package_name"
    packages="$build/packages" # where installer/release.sh takes them from, if they are of its commit
    rm -rf "$packages"
    mkdir -p "$root/dist" "$packages" "$work/package" "$work/log"
    link_packaged ON
    collect_programs "$package_folder"
    link_packaged OFF
    for program in "$package_folder"/*.exe; do
        sign "$program"
    done
    make_zip "$package_folder" "$packages/$package_name.zip"
    make_msi "$package_folder" "$version" "$packages/$package_name.msi"
    # The same as of the next version, for install_check.sh: what takes this one's place.
    newer_msi="$work/package/newer.msi"
    make_msi "$package_folder" "${version%.*}.$((${version##*.} + 1))" "$newer_msi"
    sed -n 's/^#define BELFRY_COMMIT "\(.*\)"/\1/p' "$build/app/commit/belfry_commit.h" >"$packages/COMMIT"
    cp "$packages/$package_name.msi" "$packages/$package_name.zip" "$root/dist/"
    sign "$root/dist/$package_name.msi"
    (cd "$root/dist" && sha256sum "$package_name.msi" "$package_name.zip" >"$package_name.SHA256SUMS")
    (cd "$root/dist" && wc -c "$package_name.msi" "$package_name.zip" && cat "$package_name.SHA256SUMS")
}
