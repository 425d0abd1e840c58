# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Gets the libraries that libraries.sh names and builds those that are not built yet, each once for a
# version of it and a text of its recipe. Sourced by installer/windows.sh.

# A list of source packages beside the machine's own lists, which stay as they are: those of Debian's
# suites that the machine takes packages from. The second list leaves out the security suite: mirrors have
# been seen that list a package there which only the main suite still holds.
read_source_lists() {
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    debian_suites >"$work/apt/all.list"
    if [ ! -s "$work/apt/all.list" ]; then
        apt-get update -q
        debian_suites >"$work/apt/all.list"
    fi
    if [ ! -s "$work/apt/all.list" ]; then
        echo "apt takes no packages from Debian here: the libraries' sources come from there." >&2
        echo "Run this script on Debian 12, with its lists in /etc/apt." >&2
        exit 1
    fi
    grep -v security "$work/apt/all.list" >"$work/apt/main.list"
    for list in all main; do
        cat >"$work/apt/$list.conf" <<EOF
Dir::Etc::sourcelist "$work/apt/$list.list";
Dir::Etc::sourceparts "-";
Dir::State::Lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
APT::Sandbox::User "root";
EOF
    done
    # Without a network the lists of the last time do.
    APT_CONFIG="$work/apt/all.conf" apt-get update -q >"$work/apt/update.log" 2>&1 ||
        echo "The lists of source packages could not be read anew ($work/apt/update.log): those of the last time are used."
}

debian_suites() {
    # shellcheck disable=SC2016
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' | sort -u
}

# Unpacks the newest version of a source package that the mirror holds; says which one in $version.
get_source() {
    package=$1
    for version in $(APT_CONFIG="$work/apt/all.conf" apt-cache showsrc --only-source "$package" |
        sed -n 's/^Version: //p' | sort -u | sort -rV); do
        unpacked="$work/sources/$package/$version"
        [ ! -f "$unpacked.here" ] || return 0
        for list in all main; do
            rm -rf "$unpacked"
            mkdir -p "$unpacked"
            if (cd "$unpacked" && APT_CONFIG="$work/apt/$list.conf" \
                apt-get source -q "$package=$version") >"$work/log/$package-source.log" 2>&1; then
                touch "$unpacked.here"
                return 0
            fi
        done
        rm -rf "$unpacked"
    done
    echo "No version of the source package $package came from the mirror; the last words were:" >&2
    tail -n 5 "$work/log/$package-source.log" >&2
    exit 1
}

# What a library is made of: when this text changes, it is built anew.
key_of() {
    echo "$version"
    dpkg-query -W -f='${Version}\n' g++-mingw-w64-x86-64-posix
    sed -n -e "/^build_$1()/,/^}/p" -e '/^with_/,/^}/p' "$root/installer/windows/libraries.sh"
    case "$1" in
        qt*) sed -n '/^qt_without()/,/^}/p' "$root/installer/windows/libraries.sh" ;;
    esac
    for needed in $(needs_of "$1"); do
        sha256sum <"$work/keys/$needed"
    done
}

# Whether the library is Qt for the tests and Qt for the window is there, of this version.
built_as_window() {
    [ "$1" = qtbase ] || return 1
    key_of qtwindow >"$work/log/qtwindow.key"
    cmp -s "$work/log/qtwindow.key" "$work/keys/qtwindow"
}

build_libraries() {
    mkdir -p "$work/log" "$work/keys" "$work/sources" "$sysroot"
    read_source_lists
    for library in $libraries; do
        get_source "$(source_of "$library")"
        key_of "$library" >"$work/log/$library.key"
        if cmp -s "$work/log/$library.key" "$work/keys/$library" || built_as_window "$library"; then
            echo "$library $version: built before"
            continue
        fi
        began=$(date +%s)
        rm -rf "$work/now" "$work/keys/$library" "$work/tree"
        cp -a "$unpacked"/*/ "$work/tree" # with its times: make would run tools that are not there
        upstream=$(echo "$version" | sed -e 's/^[0-9]*://' -e 's/[-+.]*dfsg.*//' -e 's/+ds.*//' -e 's/-[^-]*$//')
        # In the background, as set -e means nothing in what a condition asks.
        (set -e; cd "$work/tree"; "build_$library" "$library" "$upstream") >"$work/log/$library.log" 2>&1 &
        if ! wait $!; then
            tail -n 40 "$work/log/$library.log" >&2
            echo "$library $version did not build: the whole of it is in $work/log/$library.log" >&2
            exit 1
        fi
        mv "$work/log/$library.key" "$work/keys/$library"
        rm -rf "$work/now" "$work/tree"
        echo "$library $version: built in $(($(date +%s) - began)) s"
    done
    # Headers, and what tells CMake and pkg-config of them.
    for package in $header_packages; do
        # Links into folders that are left out (of libraries) go with them.
        dpkg-query -L "$package" | sed -n -E 's,^/usr/((include|share/cmake|share/pkgconfig|lib/cmake)/.*),\1,p' |
            tar -C /usr --no-recursion -T - -c | tar -C "$sysroot" -x
    done
}
