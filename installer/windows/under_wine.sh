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
    # Without a window system, and with Qt's messages on standard error.
    unset DISPLAY
    export QT_FORCE_STDERR_LOGGING=1
    if [ ! -f "$WINEPREFIX/system.reg" ]; then
        mkdir -p "$WINEPREFIX"
        wine wineboot -i >"$work/log/wine.log" 2>&1 </dev/null
        wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >>"$work/log/wine.log" 2>&1 </dev/null
        wineserver -w
    fi
    # One program that lives as long as we do: what wine starts once for all of them would otherwise
    # hold the output of the first test open, and start again for each.
    rm -f "$work/wine.pipe"
    mkfifo "$work/wine.pipe"
    wine cmd <"$work/wine.pipe" >/dev/null 2>&1 &
    exec 9>"$work/wine.pipe"
    trap 'exec 9>&-; wineserver -k || true' EXIT
}
