#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# full_disk.sh BUILD_FOLDER: a disk (in memory) that another program fills while belfry-cli get writes to it.
# The end names the disk and keeps what has arrived; with room again the same command goes on from there.
# Exit code 77: this system lets nobody mount one.
set -eu
build=$1
if [ -z "${BELFRY_OWN_MOUNTS:-}" ]; then
    unshare -rm true 2>/dev/null || exit 77
    BELFRY_OWN_MOUNTS=1 exec unshare -rm "$0" "$build"
fi
work=$(mktemp -d)
trap 'exec 3>&-; umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/model" "$work/disk"
size=$((48 * 1048576))
# What get wants to stay free, the model, and a little.
mount -t tmpfs -o size=$((1024 + 48 + 32))m belfry "$work/disk" || exit 77
printf '{"model_type": "gemma4"}' >"$work/model/config.json"
head -c "$size" /dev/urandom >"$work/model/model.safetensors"
mkfifo "$work/end"
"$build/tests/hub_standin" org/m "$work/model" 20000000 <"$work/end" >"$work/told" &
server=$!
exec 3>"$work/end"
until grep -q HF_ENDPOINT "$work/told"; do sleep 0.2; done
HF_ENDPOINT=$(sed -n 's/^HF_ENDPOINT=//p' "$work/told")
HF_HOME=$work/disk
export HF_ENDPOINT HF_HOME
unset HF_HUB_CACHE HF_HUB_OFFLINE HF_TOKEN
fail() {
    echo "$1" >&2
    cat "$work/errors" >&2
    exit 1
}

"$build/app/belfry-cli" get org/m >"$work/out" 2>"$work/errors" &
get=$!
part=$work/disk/hub/models--org--m/blobs
until [ -n "$(find "$part" -name '*.incomplete' -size +8M 2>/dev/null)" ]; do
    kill -0 "$get" 2>/dev/null || fail "get ended before the disk was full"
    sleep 0.05
done
kill -STOP "$get" # a busy machine takes longer to fill a disk than to fetch a model
dd if=/dev/zero of="$work/disk/filler" bs=1M 2>/dev/null || true # until nothing is left
kill -CONT "$get"
code=0
wait "$get" || code=$?
[ "$code" = 1 ] || fail "get ended with $code, expected 1"
grep -q 'the disk is full; what has arrived is kept' "$work/errors" || fail "the message does not say it"
kept=$(find "$part" -name '*.incomplete' -size +8M -printf '%s')
[ -n "$kept" ] || fail "what had arrived is gone"
! find "$work/disk/hub" -path '*snapshots*' -name model.safetensors | grep -q . || fail "half a file became a model"

rm "$work/disk/filler"
"$build/app/belfry-cli" get org/m --json >"$work/out" 2>"$work/errors" || fail "get does not go on"
fetched=$(sed -n 's/.*"fetched_bytes": *\([0-9]*\).*/\1/p' "$work/out")
[ "$fetched" -le "$((size - kept + 100))" ] || fail "fetched $fetched bytes, $kept of $size were there"
cmp "$work/model/model.safetensors" "$part/../snapshots"/*/model.safetensors || fail "another file came"
exec 3>&-
wait "$server" || true
