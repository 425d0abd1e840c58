#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_packages.sh [DIST_FOLDER]: what a person does with the Linux packages, each in a fresh minimal system
# (debootstrap; as root): install, see the window, ask the demo, take it away again; nothing but user data
# is left. The systems have no Qt, no fonts and no X server of their own: Xvfb runs outside. Some minutes and
# about 2 GB in a new folder of TMPDIR, which goes at the end (BELFRY_KEEP=1: stays). Not part of CI.
#   BELFRY_BASE   a folder that debootstrap --variant=minbase made: copied instead of made anew. Of Ubuntu 24.04
#                 (installer/linux/ubuntu.sh says how) it is Ubuntu's .deb that is checked
. "$(dirname "$0")/../scripts/common.sh"

[ "$(id -u)" -eq 0 ] || { echo "check_packages.sh: a system in a folder needs root" >&2; exit 2; }
install_packages "$root/scripts/packages.txt" "$root/installer/packages-release.txt"
dist=$(cd "${1:-$root/dist}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/belfry-check.XXXXXX")
base=${BELFRY_BASE:-$work/base}
failed=0
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    # Mounts were in name spaces that are gone: nothing lies below here but files.
    if grep -q " $work" /proc/mounts; then
        echo "something is mounted below $work: it stays" >&2
    elif [ -z "${BELFRY_KEEP:-}" ]; then
        rm -rf "$work"
    fi
}
trap finish EXIT
wrong() {
    echo "FAILED: $1" >&2
    failed=1
}

new_system() { # NAME: a fresh system with a user
    system=$work/$1
    cp -a "$base" "$system"
    cp -L /etc/resolv.conf "$system/etc/resolv.conf"
    mkdir -p "$system/tmp/.X11-unix"
    chroot "$system" useradd -m -s /bin/sh visitor
}

# Runs a script in the system; procfs and the X server's socket are there, in a name space of its own, which
# also ends every process that is left.
inside() { # USER SCRIPT
    printf '%s\n' "set -eu" "$2" >"$system/inside.sh"
    BELFRY_SYSTEM=$system BELFRY_USER=$1 unshare --mount --pid --fork --kill-child sh -euc '
        mount -t proc proc "$BELFRY_SYSTEM/proc"
        mount --bind /tmp/.X11-unix "$BELFRY_SYSTEM/tmp/.X11-unix"
        exec chroot "$BELFRY_SYSTEM" su - "$BELFRY_USER" -c "sh /inside.sh"'
}

files() { # every file but the system's own records of what is installed
    (cd "$system" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/lib -o -path ./var/cache \
        -o -path ./var/log -o -path ./inside.sh \) -prune -o -print | LC_ALL=C sort)
}

# The window of the program: named Belfry, of a size, and not of one colour.
window_seen() { # COMMAND SCREENSHOT
    rm -f "$system/tmp/stop"
    # Ended as a session's end does it: SIGTERM, whose exit code is that of a closed window.
    inside visitor "DISPLAY=:$display; export DISPLAY; $1 demo >window.log 2>&1 & program=\$!
        while [ ! -e /tmp/stop ] && kill -0 \$program; do sleep 1; done
        kill \$program; wait \$program" &
    window=$!
    id=""
    for _ in $(seq 120); do
        id=$(DISPLAY=:$display xwininfo -root -tree 2>/dev/null |
            awk '/"Belfry"/ && match($0, / [0-9]+x[0-9]+[+]/) { split(substr($0, RSTART + 1, RLENGTH - 2), size, "x")
                if (size[1] > 600 && size[2] > 400) { print $1; exit } }')
        [ -z "$id" ] || break
        sleep 1
    done
    if [ -z "$id" ]; then
        wrong "$1: no window of Belfry in two minutes"
        cat "$system/home/visitor/window.log" >&2 || true
    else
        sleep 10 # what it draws when the demo is chosen
        DISPLAY=:$display xwd -silent -id "$id" -out "$2"
        colours=$(tail -c +4096 "$2" | od -An -v -tx4 -w4 | sort -u | wc -l)
        echo "window: seen, $colours colours, picture in $2"
        [ "$colours" -gt 50 ] || wrong "$1: the window is empty ($colours colours)"
    fi
    touch "$system/tmp/stop"
    wait "$window" || wrong "$1: the window did not end well: $(cat "$system/home/visitor/window.log")"
}

demo_answers() { # COMMAND OF belfry-cli, FOLDER OF THE DEMO
    # From the user's folder: the command may be named from there.
    said=$(inside visitor "$1 chat demo --quant nf4-dq --head int8 --temperature 0 \
        --image '$2/samples/triangles_and_cross.png' --audio '$2/samples/three_beeps.wav' \
        --prompt 'What do you see and hear?' 2>/dev/null") || true
    case $said in
    *"I see two yellow triangles and one purple cross and hear three high beeps."*) echo "demo: $said" ;;
    *) wrong "$1: the demo says \"$said\"" ;;
    esac
}

nothing_left() { # WHAT, LIST BEFORE
    files >"$work/after"
    left=$(comm -13 "$2" "$work/after" |
        grep -v -E '^\./home/visitor(/\.local|/\.local/share|/\.config|/\.cache|/window\.log)?$' |
        grep -v -E '^\./home/visitor/\.(local/share|config|cache)/(Belfry|fontconfig|belfry)' |
        grep -v -x -F ./lib.usr-is-merged || true) # Ubuntu's base system makes that when packages come
    [ -z "$left" ] && echo "$1: nothing is left but user data" || wrong "$1: left behind: $left"
    data=$(grep -c '^\./home/visitor/\.local/share/Belfry/' "$work/after" || true)
    echo "$1: $data files and folders of user data are still there"
    [ "$data" -gt 0 ] || wrong "$1: user data is gone"
}

check_deb() {
    say "The package of $of"
    new_system deb
    cp "$1" "$system/belfry.deb"
    inside root "apt-get update -q >/dev/null"
    files >"$work/before"
    inside root "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /belfry.deb >/install.log 2>&1" ||
        { wrong "$1 cannot be installed"; tail -n 5 "$system/install.log" >&2; return; }
    inside visitor "belfry --version && belfry-cli --version"
    demo_answers belfry-cli /usr/share/belfry/demo_model
    window_seen belfry "$work/deb.xwd"
    inside root "DEBIAN_FRONTEND=noninteractive apt-get purge -y -q --autoremove belfry >/remove.log 2>&1"
    rm -f "$system/install.log" "$system/remove.log"
    # Indexes that other packages keep of their own folders are not ours.
    nothing_left deb "$work/before"
}

check_run() {
    say "The self-extracting archive, by a user without rights, in a system without Qt and fonts"
    new_system run
    cp "$1" "$system/belfry.run"
    chmod 755 "$system/belfry.run"
    files >"$work/before"
    inside visitor "/belfry.run --quiet >install.log 2>&1" || { wrong "$1 cannot be installed"; cat "$system/home/visitor/install.log" >&2; return; }
    inside visitor ".local/bin/belfry --version && .local/bin/belfry-cli --version"
    demo_answers .local/bin/belfry-cli .local/lib/belfry/share/belfry/demo_model
    window_seen .local/bin/belfry "$work/run.xwd"
    inside visitor "/belfry.run --quiet >install.log 2>&1" || wrong "the second installation over the first fails"
    inside visitor ".local/lib/belfry/install.sh --uninstall >/dev/null; rm install.log"
    nothing_left run "$work/before"
}

check_portable() {
    say "The portable folder, in a folder with a blank, in a system without Qt and fonts"
    new_system portable
    files >"$work/before"
    mkdir -p "$system/opt/a folder"
    tar -C "$system/opt/a folder" -xf "$1"
    folder="/opt/a folder/$(ls "$system/opt/a folder")"
    inside visitor "'$folder/belfry' --version"
    demo_answers "'$folder/belfry' belfry-cli" "$folder/share/belfry/demo_model"
    window_seen "'$folder/belfry'" "$work/portable.xwd"
    rm -rf "$system/opt/a folder"
    nothing_left portable "$work/before"
}

[ -d "$base/usr" ] || { say "A minimal Debian 12"; debootstrap --variant=minbase bookworm "$base" >"$work/debootstrap.log"; }
mkdir -p /tmp/.X11-unix
Xvfb -displayfd 3 -screen 0 1400x900x24 -ac -nolisten tcp 3>"$work/display" >"$work/xvfb.log" 2>&1 &
server=$!
for _ in $(seq 30); do
    [ -s "$work/display" ] && break
    sleep 1
done
display=$(cat "$work/display")
[ -n "$display" ] || { echo "Xvfb did not start: $(cat "$work/xvfb.log")" >&2; exit 1; }

seen=0
of=$(. "$base/etc/os-release" && echo "$ID$VERSION_ID")
for package in "$dist"/*"$of"*.deb "$dist"/*.run "$dist"/*.tar.xz; do
    [ -f "$package" ] || continue
    seen=$((seen + 1))
    case $package in
    *.deb) check_deb "$package" ;;
    *.run) check_run "$package" ;;
    *) check_portable "$package" ;;
    esac
done
[ "$seen" -gt 0 ] || wrong "no packages in $dist"
for picture in "$work"/*.xwd; do
    [ -z "${BELFRY_KEEP:-}" ] || [ ! -f "$picture" ] || cp "$picture" "$dist/../build/"
done
say "$seen packages checked, $([ "$failed" -eq 0 ] && echo 'all is well' || echo 'something FAILED')"
exit "$failed"
