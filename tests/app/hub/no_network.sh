#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_network.sh MAIN_STORY MODELS_PAGES: the window's main story, and the pages Library and Get a model
# opened and looked through, with every socket watched by strace: none but local ones (AF_UNIX, AF_NETLINK)
# is opened, because nobody has clicked what uses the network. The hub that stands by listens on the
# loopback interface before the watching begins to count: its listeners are the test's own, told by listen().
# Exit 77: there is no strace here, or it may not trace.
set -eu
story=$1
pages=$2
command -v strace >/dev/null || { echo "no strace on this machine"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strace -o "$work/try" true 2>/dev/null || { echo "strace may not trace here"; exit 77; }
export QT_QPA_PLATFORM=offscreen
watch() { # LOG WORDS...
    log=$1
    shift
    strace -f -qq -o "$log" -e trace=socket,connect,listen,sendto "$@" >"$work/out" 2>&1 || {
        cat "$work/out"
        exit 1
    }
}
# Sockets of another kind than local: those that the stand-in listens on are not the window's.
count() {
    opened=$(grep -cE 'socket\(AF_INET6?,' "$1" || true)
    listens=$(grep -cE 'listen\(' "$1" || true)
    echo $((opened - listens))
}
watch "$work/story" "$story" main_story
watch "$work/pages" "$pages" models_pages openedPagesAskNothing
bad=0
for part in story pages; do
    n=$(count "$work/$part")
    calls=$(wc -l <"$work/$part")
    echo "$part: $n sockets to a network in $calls traced calls"
    if [ "$n" -ne 0 ] || grep -E 'connect\(.*AF_INET6?' "$work/$part"; then
        bad=1
    fi
done
[ "$calls" -gt 0 ] || { echo "nothing was traced"; exit 1; }
# What it looks for can be found: a download opens them.
watch "$work/planted" "$pages" models_pages aTokenIsAskedForAndHelps
[ "$(count "$work/planted")" -gt 0 ] || { echo "a request that was made was not found"; exit 1; }
exit $bad
