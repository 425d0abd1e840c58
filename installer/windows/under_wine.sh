# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A Windows of our own under wine, in a folder of the build: never the user's. Sourced by
# installer/windows.sh, which sets $work, $sysroot and $triple.

# Sets what wine reads; makes the folder where there is none.
prepare_wine() {
    export WINEPREFIX="$work/wine"
    export WINEDEBUG="${WINEDEBUG:--all}"
    export WINEDLLOVERRIDES="mscoree,mshtml=" # nobody is asked whether to download something
    # Where libraries of ours and of the compiler are: Qt's, and what tests share with it.
    WINEPATH="Z:$sysroot/bin"
    for library in libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll libssp-0.dll; do
        folder="Z:$(dirname "$("$triple-g++-posix" "-print-file-name=$library")")"
        case ";$WINEPATH;" in
            *";$folder;"*) ;;
            *) WINEPATH="$WINEPATH;$folder" ;;
        esac
    done
    export WINEPATH
    # The display is ours, and the same for all: the first program decides for wine's whole desktop.
    unset DISPLAY
    rm -f "$work/display"
    Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp 3>"$work/display" 2>"$work/log/xvfb.log" &
    display_server=$!
    trap 'kill "$display_server"' EXIT
    tries=0
    while [ ! -s "$work/display" ]; do
        tries=$((tries + 1))
        [ "$tries" -le 300 ] || { cat "$work/log/xvfb.log" >&2; echo "Xvfb gave no display within 30 s" >&2; exit 1; }
        sleep 0.1
    done
    DISPLAY=:$(cat "$work/display")
    export DISPLAY
    # Qt's messages on standard error (wine.sh hands these on); letters where no display is: Qt's offscreen one has none on Windows.
    export QT_FORCE_STDERR_LOGGING=1
    export QT_ENABLE_REGEXP_JIT=0 # for tests, as the programs set it themselves (app/common/process_start.cpp)
    export QT_QPA_FONTDIR="Z:$work/fonts"
    mkdir -p "$work/fonts"
    find /usr/share/fonts/truetype/noto -name 'NotoSans-*.ttf' -o -name 'NotoSansMono-*.ttf' -o -name 'NotoColorEmoji.ttf' |
        while read -r font; do
            ln -sf "$font" "$work/fonts/"
        done
    # Of this machine's fonts wine gets those with outlines: of the others (colour emoji in bitmaps) it has no
    # outline metrics to give, which Qt's QWindowsFontEngine::getCMap() does not expect and crashes of. As a
    # folder of links: wine takes all that lies in the folders of a configuration, also what that rejects.
    rm -rf "$work/wine-fonts"
    mkdir -p "$work/wine-fonts"
    FONTCONFIG_FILE=/etc/fonts/fonts.conf fc-list ':outline=true' file | sed 's/: *$//' |
        while read -r font; do
            ln -sf "$font" "$work/wine-fonts/"
        done
    export FONTCONFIG_FILE="$work/fonts.conf"
    cat >"$FONTCONFIG_FILE.new" <<EOF
<fontconfig>
<dir>$work/wine-fonts</dir>
<cachedir>$work/wine-fonts-cache</cachedir>
</fontconfig>
EOF
    # Wine remembers in its registry which fonts it has been given: what another configuration made is made anew.
    cmp -s "$FONTCONFIG_FILE.new" "$WINEPREFIX/fonts.conf" || rm -rf "$WINEPREFIX"
    mv "$FONTCONFIG_FILE.new" "$FONTCONFIG_FILE"
    fc-cache # once, or every program of wine's would write it
    if [ ! -f "$WINEPREFIX/system.reg" ]; then
        mkdir -p "$WINEPREFIX"
        wine wineboot -i >"$work/log/wine.log" 2>&1 </dev/null
        wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >>"$work/log/wine.log" 2>&1 </dev/null
        wineserver -w
        cp "$FONTCONFIG_FILE" "$WINEPREFIX/"
    fi
    # One program that lives as long as we do: what wine starts once for all of them would otherwise
    # hold the output of the first test open, and start again for each.
    rm -f "$work/wine.pipe"
    mkfifo "$work/wine.pipe"
    wine cmd <"$work/wine.pipe" >/dev/null 2>&1 &
    exec 9>"$work/wine.pipe"
    trap 'exec 9>&-; wineserver -k || true; kill "$display_server"' EXIT
}
