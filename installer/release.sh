#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh [--ubuntu] [-DNAME=VALUE ...]: all packages of this commit in dist/, with SHA256SUMS. On Debian
# 12, in a clone without changes: installs what is missing (as root or with sudo), builds in
# build/package, makes a .deb, the portable .tar.xz and the self-extracting .run, and takes along what
# installer/windows.sh left in build/windows/packages. How, and what is signed: installer/RELEASE.md.
#   --ubuntu   also a .deb for Ubuntu 24.04, built in a system of its own below build/ (as root)
#   -D...      handed to cmake, e.g. -DBELFRY_CUDA=OFF
. "$(dirname "$0")/../scripts/common.sh"
umask 022
LC_ALL=C
export LC_ALL

ubuntu=no
options=""
for word in "$@"; do
    case $word in
    --ubuntu) ubuntu=yes ;;
    -D*[[:space:]]*) echo "release.sh $word: a value with blanks cannot be handed on" >&2; exit 2 ;;
    -D*) options="$options $word" ;;
    *) echo "release.sh $word: expected --ubuntu or -DNAME=VALUE" >&2; exit 2 ;;
    esac
done

clone() { git -c safe.directory="$root" -C "$root" "$@"; }
commit=$(clone rev-parse --short=12 HEAD) || { echo "release.sh: $root is no clone of git" >&2; exit 1; }
changed=$(clone status --porcelain)
if [ -n "$changed" ]; then
    echo "release.sh: a package is made of a commit, and these files differ from it:" >&2
    echo "$changed" >&2
    exit 1
fi
SOURCE_DATE_EPOCH=$(clone log -1 --format=%ct)
export SOURCE_DATE_EPOCH
number=$(sed -n 's/^project(belfry VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
name=belfry-$number-linux-x86_64
build=${BELFRY_PACKAGE_BUILD:-$root/build/package} # another folder: for tests, one that is built already
dist=$root/dist
longest_allowed=180

# Owner, order and time of what an archive holds are always the same.
pack() { # FOLDER_ABOVE FOLDER: a tar on standard output
    tar -C "$1" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+rw,go=rX -cf - "$2"
}

# The hook: a command that gets a file's name and signs the file itself or writes a signature beside it.
sign() {
    [ -z "${BELFRY_SIGN:-}" ] || sh -c "$BELFRY_SIGN \"\$1\"" sign "$1"
}

# Reads paths, fails on one that is too long for folders inside of folders, says what the longest is.
check_paths() { # WHAT
    awk -v what="$1" -v most="$longest_allowed" '
        length($0) > length(longest) { longest = $0 }
        END {
            printf "%s: longest installed path %d characters: %s\n", what, length(longest), longest
            if (NR == 0 || length(longest) >= most) exit 1
        }' || { echo "release.sh: $1: a path of $longest_allowed characters or more, or none at all" >&2; exit 1; }
}

build_programs() {
    mkdir -p "$build"
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_BUILD_TESTS=OFF \
        -DBELFRY_PACKAGED=ON -DBELFRY_COMMIT="$commit" \
        -DBELFRY_CUDA_ARCHS="75;80;86;89;90;120;75-virtual;90-virtual" $options >"$build/configure.log"
    gpu_kernels "$build/configure.log"
    cmake --build "$build" -j "$jobs"
    desktop-file-validate "$root"/installer/linux/*.desktop
    appstreamcli validate --no-net "$build"/installer/*.metainfo.xml
}

make_portable() {
    folder=$build/portable/belfry-$number
    rm -rf "$build/portable"
    mkdir -p "$build/portable"
    bash "$root/installer/portable.sh" "$build" "$folder"
    (cd "$folder" && find . -type f) | sed 's|^\.|/home/a-user-whose-name-has-32-letters/.local/lib/belfry|' |
        check_paths "portable"
    # Blocks of one size, so that the number of threads changes nothing.
    pack "$build/portable" "belfry-$number" | xz -6 -T2 --block-size=24MiB >"$dist/$name.tar.xz"
    # gzip, because it is everywhere; xz is not. 9n: its header would hold the time of day.
    makeself --quiet --tar-quietly --gzip --complevel 9n --nox11 --sha256 \
        --packaging-date "$(date -u -d "@$SOURCE_DATE_EPOCH")" --tar-format gnu \
        --tar-extra "--sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX" \
        "$folder" "$dist/$name.run" "Belfry $number" ./install.sh
}

make_debs() {
    sh "$root/installer/linux/deb.sh" "$build" "$dist"
    [ "$ubuntu" = no ] || sh "$root/installer/linux/ubuntu.sh" "$dist" "$commit" $options
    for package in "$dist"/*.deb; do
        dpkg-deb -c "$package" | sed 's/^.* \.\//\//' | check_paths "$(basename "$package")"
        # Ubuntu's package is for Ubuntu's lintian, which ubuntu.sh runs.
        case $package in *debian*) lintian --fail-on error --suppress-tags bad-distribution-in-changes-file "$package" ;; esac
    done
}

# Made by installer/windows.sh: names like belfry-0.2.0-windows-x86_64.msi, and COMMIT with the commit's first
# twelve digits, because packages of different commits do not belong together.
add_windows() {
    from=$root/build/windows/packages
    if [ ! -d "$from" ]; then
        echo "Windows: no packages in build/windows/packages; run installer/windows.sh first to add them"
        return 0
    fi
    made_of=$(cat "$from/COMMIT" 2>/dev/null || echo unknown)
    if [ "$made_of" != "$commit" ]; then
        echo "release.sh: $from holds packages of commit $made_of, this is $commit: run installer/windows.sh again" >&2
        exit 1
    fi
    find "$from" -maxdepth 1 -type f -name 'belfry-*' -exec cp {} "$dist/" \;
}

install_packages "$root/scripts/packages.txt" "$root/installer/packages-release.txt"
rm -rf "$dist"
mkdir -p "$dist"
say "Building Belfry $number, commit $commit"
build_programs
say "Packages"
make_debs
make_portable
add_windows
for package in "$dist"/*; do
    sign "$package"
done
(cd "$dist" && sha256sum ./* | sed 's| \./| |' >"$build/SHA256SUMS")
mv "$build/SHA256SUMS" "$dist/"
sign "$dist/SHA256SUMS"
say "In $dist"
(cd "$dist" && wc -c ./* | sed 's|\./||')
