#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# first_chat.sh PROGRAM: the README's first chat with the demo model, by a belfry-cli.exe under wine.
# Fails when it answers anything else than the README says, which is what it answers on Linux.
set -eu
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The README's block that starts with its prompt: command lines, then the answers.
sed -n '/^\$ cd resources\/demo_model\/samples/,/^```/p' "$root/README.md" >"$folder/block"
sed -n 's/^\$ printf .\(.*\). |$/\1/p' "$folder/block" >"$folder/questions"
sed -e '1,/three_beeps.wav$/d' -e '/^```/d' "$folder/block" >"$folder/expected"
if [ ! -s "$folder/questions" ] || [ ! -s "$folder/expected" ]; then
    echo "README.md has no first chat any more, or it begins otherwise: first_chat.sh reads it there" >&2
    exit 1
fi
cd "$root/resources/demo_model/samples"
# shellcheck disable=SC2059
printf "$(cat "$folder/questions")" | "$root/installer/windows/wine.sh" "$program" chat demo --quant nf4-dq --head int8 --temperature 0 \
    --image triangles_and_cross.png --audio three_beeps.wav >"$folder/answers" 2>"$folder/errors" ||
    { cat "$folder/errors" >&2; echo "belfry-cli.exe chat demo ended with an error" >&2; exit 1; }
if ! diff "$folder/expected" "$folder/answers"; then
    echo "belfry-cli.exe answers otherwise under wine (>) than README.md says (<)" >&2
    exit 1
fi
cat "$folder/answers"
