#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_sockets.sh BELFRY_CLI: which sockets belfry-cli opens, by strace. Every command but get opens none;
# neither does get while the network is forbidden, by the environment or by the setting. Exit code 77: no
# tracing on this system.
set -eu
cli=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work/home
XDG_CONFIG_HOME=$work/config
HF_HOME=$work/hub
HF_ENDPOINT=http://127.0.0.1:9 # nobody is there
export HOME XDG_CONFIG_HOME HF_HOME HF_ENDPOINT
unset HF_HUB_OFFLINE HF_TOKEN HF_HUB_CACHE
mkdir -p "$HOME" "$XDG_CONFIG_HOME"
strace -f -e trace=socket -o "$work/probe" true 2>/dev/null || exit 77
failed=0

# sockets WORDS...: the sockets that the command opens, a line each; its exit code in $work/code.
sockets() {
    code=0
    strace -f -e trace=socket,socketpair,connect -o "$work/trace" "$cli" "$@" </dev/null >"$work/out" 2>&1 || code=$?
    echo "$code" >"$work/code"
    grep -E 'socket\(|connect\(' "$work/trace" || true
}
opens_none() {
    found=$(sockets "$@")
    if [ -n "$found" ]; then
        echo "belfry-cli $* opens:" >&2
        echo "$found" >&2
        failed=1
    fi
}
# The same of a command that does what it is asked.
works_without() {
    opens_none "$@"
    if [ "$(cat "$work/code")" != 0 ]; then
        echo "belfry-cli $* failed:" >&2
        cat "$work/out" >&2
        failed=1
    fi
}
works_without --version
works_without --help
works_without get --help
works_without completion bash
works_without manual chat
works_without doctor
works_without models
works_without inspect demo
works_without plan demo
works_without tokenize demo --text Hello
works_without chat demo --prompt Hello --max-tokens 4
works_without logits demo --ids 2,5,6 --out "$work/logits.safetensors"
opens_none chat google/gemma-4-E2B-it --prompt Hello # not here: says where to get it, and does not
opens_none get
HF_HUB_OFFLINE=1 opens_none get org/m
mkdir -p "$XDG_CONFIG_HOME/Belfry"
: >"$XDG_CONFIG_HOME/Belfry/network-forbidden"
opens_none get org/m
grep -q network-forbidden "$work/out" || { echo "get does not say what forbids the network" >&2; failed=1; }
rm "$XDG_CONFIG_HOME/Belfry/network-forbidden"

# That this sees anything: get, allowed.
sockets get org/m | grep -q AF_INET || { echo "no socket of get is seen: this test sees nothing" >&2; failed=1; }
exit $failed
