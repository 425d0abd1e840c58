# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The libraries that Belfry needs on Windows: the one place that says where each comes from and how it is
# built. All come from Debian: compiled ones from the source package of the machine's own release, those
# that are headers only from the package that Linux builds use. Sourced by installer/windows.sh, which
# sets $root, $work (everything is below it), $sysroot (where libraries are installed) and $jobs.

toolchain="$root/installer/windows/toolchain.cmake"
triple=x86_64-w64-mingw32

# In an order in which each finds those that it needs. Qt is asked for as $qt: qtbase is what the tests
# need, qtwindow that and what the window and the network need; the larger one does for both. none: no Qt.
libraries="zlib png jpeg webp ogg flac vorbis opus mpg123 lame sndfile soxr pcre2"
case "${qt:-qtwindow}" in
    none) ;; # the command line alone
    *) libraries="$libraries sqlite ${qt:-qtwindow}" ;;
esac

# Debian's source package of a library.
source_of() {
    case "$1" in
        png) echo libpng1.6 ;;
        jpeg) echo libjpeg-turbo ;;
        webp | ogg | vorbis | sndfile | soxr) echo "lib$1" ;;
        sqlite) echo sqlite3 ;;
        qtbase | qtwindow) echo qt6-base ;;
        *) echo "$1" ;;
    esac
}

# Libraries that a library is compiled against: a new one of them makes it anew.
needs_of() {
    case "$1" in
        png) echo zlib ;;
        flac | vorbis) echo ogg ;;
        sndfile) echo ogg flac vorbis opus mpg123 lame ;;
    esac
}

# Packages whose headers are all there is to a library.
header_packages="libboost1.74-dev libcli11-dev libxxhash-dev nlohmann-json3-dev"

with_cmake() { # SOURCE OPTIONS...: the common part of all that are built with CMake
    source_folder=$1
    shift
    cmake -G Ninja -S "$source_folder" -B "$work/now" "-DCMAKE_TOOLCHAIN_FILE=$toolchain" \
        -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
        -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$sysroot" \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DCMAKE_POLICY_DEFAULT_CMP0077=NEW "$@"
    cmake --build "$work/now" -j "$jobs"
    cmake --install "$work/now"
}

with_configure() { # OPTIONS...: of the source in the current folder
    ./configure --host="$triple" --prefix="$sysroot" --disable-shared --enable-static \
        CC="ccache $triple-gcc-posix" "$@"
    make -j "$jobs"
    make install
}

pkg_config_file() { # NAME VERSION: for a library that brings none on Windows
    mkdir -p "$sysroot/lib/pkgconfig"
    cat >"$sysroot/lib/pkgconfig/$1.pc" <<EOF
prefix=\${pcfiledir}/../..
Name: $1
Description: $1, built by installer/windows.sh
Version: $2
Libs: -L\${prefix}/lib -l$1
Cflags: -I\${prefix}/include
EOF
}

# One function per library, called in the folder of its unpacked source with Debian's version of it.

build_zlib() {
    # Debian's source leaves out the folder with what builds it for Windows. It is all *.c files here.
    for file in *.c; do
        ccache "$triple-gcc-posix" -O3 -c "$file"
    done
    "$triple-gcc-ar-posix" rcs libz.a ./*.o
    mkdir -p "$sysroot/include" "$sysroot/lib"
    cp zlib.h zconf.h "$sysroot/include/"
    cp libz.a "$sysroot/lib/"
    pkg_config_file z "$2"
    mv "$sysroot/lib/pkgconfig/z.pc" "$sysroot/lib/pkgconfig/zlib.pc"
}

build_png() {
    with_cmake . -DPNG_SHARED=OFF -DPNG_TESTS=OFF
}

build_jpeg() {
    with_cmake . -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON
}

build_webp() {
    set --
    for part in ANIM_UTILS CWEBP DWEBP GIF2WEBP IMG2WEBP VWEBP WEBPINFO WEBPMUX EXTRAS; do
        set -- "$@" "-DWEBP_BUILD_$part=OFF"
    done
    with_cmake . "$@"
}

build_ogg() {
    with_cmake . -DINSTALL_DOCS=OFF
}

build_flac() {
    with_cmake . -DBUILD_CXXLIBS=OFF -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOCS=OFF \
        -DINSTALL_MANPAGES=OFF -DWITH_STACK_PROTECTOR=OFF
}

build_vorbis() {
    with_cmake .
}

build_opus() {
    with_configure --disable-doc --disable-extra-programs --disable-stack-protector
}

build_mpg123() {
    with_cmake ports/cmake -DBUILD_PROGRAMS=OFF -DBUILD_LIBOUT123=OFF
    # It asks Windows' shell library about paths, and does not say so.
    sed -i 's/^Libs.private:.*/& -lshlwapi/' "$sysroot/lib/pkgconfig/libmpg123.pc"
}

build_lame() {
    with_configure --disable-frontend --disable-decoder --disable-gtktest
}

build_sndfile() {
    # FLAC's header takes itself for that of a DLL where it is not told otherwise.
    with_cmake . -DCMAKE_C_FLAGS=-DFLAC__NO_DLL -DENABLE_EXTERNAL_LIBS=ON -DENABLE_MPEG=ON -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF \
        -DBUILD_REGTEST=OFF -DENABLE_CPACK=OFF
}

build_soxr() {
    with_cmake . -DWITH_OPENMP=OFF -DBUILD_TESTS=OFF -DBUILD_EXAMPLES=OFF -DWITH_LSR_BINDINGS=OFF
    pkg_config_file soxr "$2"
}

build_pcre2() {
    # Its headers take themselves for those of a DLL where they are not told otherwise.
    with_cmake . -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_STATIC_CFLAG=-DPCRE2_STATIC
}

build_sqlite() {
    # The one file of all its sources is made by programs of this machine.
    ./configure --disable-tcl --disable-shared
    make sqlite3.c sqlite3.h
    ccache "$triple-gcc-posix" -O2 -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 \
        -DSQLITE_ENABLE_COLUMN_METADATA -c sqlite3.c
    "$triple-gcc-ar-posix" rcs libsqlite3.a sqlite3.o
    cp sqlite3.h "$sysroot/include/"
    cp libsqlite3.a "$sysroot/lib/"
    pkg_config_file sqlite3 "$2"
}

# Debian's source of Qt lacks sqlite and wintab; the rest that is left out is what Belfry has no use for.
qt_without() { # FEATURES...
    set -- sql dbus opengl vulkan printsupport xml concurrent tabletevent openssl icu glib zstd \
        system_zlib system_pcre2 system_doubleconversion pkg_config "$@"
    for feature in "$@"; do
        shift
        set -- "$@" "-DFEATURE_$feature=OFF"
    done
    with_cmake . "$@" -DBUILD_SHARED_LIBS=ON -DQT_BUILD_EXAMPLES=OFF -DQT_BUILD_TESTS=OFF \
        -DQT_BUILD_TOOLS_WHEN_CROSSCOMPILING=OFF -DINPUT_openssl=no -DINPUT_opengl=no
}

build_qtbase() {
    qt_without gui network
}

# directwrite3 without direct2d does not link: its font class is compiled with direct2d alone. TLS is
# Windows' own (schannel).
build_qtwindow() {
    qt_without direct2d directwrite3 graphicsview pdf system_png system_jpeg system_freetype system_harfbuzz
}
