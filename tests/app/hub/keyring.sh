#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keyring.sh TST_KEYRING BELFRY_CLI HUB_STANDIN: the token in a real keyring. A D-Bus session of its own with
# gnome-keyring's secret service, unlocked and empty, in a home of its own: the store behind QtKeychain keeps a
# token; then belfry-cli, in another process, gets a model that asks for one with it; and for a model that asks
# for none nobody asks the secret service anything, as dbus-monitor saw. Exit 77: gnome-keyring, dbus-run-session
# or dbus-monitor are missing, or the daemon does not start here.
set -eu
if [ "${BELFRY_TEST_BUS-}" != inside ]; then
    for program in dbus-run-session dbus-monitor gnome-keyring-daemon; do
        command -v "$program" >/dev/null || { echo "no $program on this machine"; exit 77; }
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -m 700 "$work/home" "$work/run"
    status=0
    env -u HF_HOME -u HF_HUB_CACHE -u HF_TOKEN -u XDG_CONFIG_HOME -u XDG_CACHE_HOME -u DISPLAY \
        HOME="$work/home" XDG_DATA_HOME="$work/home/data" XDG_RUNTIME_DIR="$work/run" BELFRY_TEST_BUS=inside \
        BELFRY_TEST_WORK="$work" dbus-run-session -- sh "$0" "$@" || status=$?
    exit "$status"
fi
test_program=$1
cli=$2
standin=$3
work=$BELFRY_TEST_WORK
printf 'password' | gnome-keyring-daemon --unlock --components=secrets >"$work/daemon" 2>&1 || {
    cat "$work/daemon"
    echo "gnome-keyring does not start here"
    exit 77
}
BELFRY_TEST_BUS=$DBUS_SESSION_BUS_ADDRESS QT_QPA_PLATFORM=offscreen "$test_program" keyring

serve() { # NAME TOKEN: a hub in the background, its address in HF_ENDPOINT
    mkdir -p "$work/model"
    printf '{"model_type": "gemma4"}' >"$work/model/config.json"
    head -c 100000 /dev/urandom >"$work/model/model.safetensors"
    mkfifo "$work/$1.end"
    "$standin" org/m "$work/model" 0 "$2" <"$work/$1.end" >"$work/$1.told" &
    exec 3>"$work/$1.end"
    until grep -q HF_ENDPOINT "$work/$1.told"; do sleep 0.1; done
    HF_ENDPOINT=$(sed -n 's/^HF_ENDPOINT=//p' "$work/$1.told")
    export HF_ENDPOINT
}
asked() { # how often somebody called the secret service, as dbus-monitor saw
    grep -c 'interface=org.freedesktop.Secret' "$1" || true
}
dbus-monitor --session >"$work/monitor" 2>/dev/null &
monitor=$!
until [ -s "$work/monitor" ]; do sleep 0.1; done

serve open ""
"$cli" get org/m --to "$work/open"
exec 3>&-
sleep 0.5
before=$(asked "$work/monitor")
serve gated hf_fromthekeyring
"$cli" get org/m --to "$work/gated"
exec 3>&-
cmp "$work/gated/model.safetensors" "$work/model/model.safetensors"
sleep 0.5
after=$(asked "$work/monitor")
kill "$monitor"
echo "calls of the secret service: $before for a model that is everybody's, $((after - before)) for one that asks for a token"
[ "$before" -eq 0 ] && [ "$after" -gt 0 ]
