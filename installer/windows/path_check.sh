#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# path_check.sh PROGRAM: a belfry-cli.exe under wine answers from a model folder whose path is longer than
# the 260 characters that Windows' functions take by themselves, with Cyrillic, Japanese and a blank in it,
# the same as from the demo model's own; and writes a file there. What is written to a link goes to the file
# that it leads to. And what lies behind a link to a folder stays there when the model with that link is deleted.
set -eu
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
length=300 # characters of the model folder, "C:\..."
said=$(mktemp -d)
top="$WINEPREFIX/drive_c/users/Администратор"
trap 'rm -rf "$said" "$top"' EXIT

# Segments, then one that fills up to the length. Counted by Python: a shell counts bytes or characters.
name='C:\users\Администратор\モデル 1'
for segment in 'Загрузки' 'модели для проверки' 'グロッケンシュピール' 'Ägäis' "$(printf 'long%.0s' $(seq 1 25))"; do
    name="$name\\$segment"
done
fill=$(python3 -c 'import sys; print("m" * (int(sys.argv[1]) - len(sys.argv[2]) - 1))' "$length" "$name")
name="$name\\$fill"
folder="$WINEPREFIX/drive_c/$(printf '%s' "${name#C:\\}" | tr '\\' '/')"
mkdir -p "$folder"
for file in "$root"/resources/demo_model/*; do
    [ ! -f "$file" ] || cp "$file" "$folder/"
done

answer() { # MODEL FILE
    "$root/installer/windows/wine.sh" "$program" chat "$1" --prompt 'Hello!' --temperature 0 >"$2" 2>"$said/errors" </dev/null ||
        { cat "$said/errors" >&2; echo "belfry-cli.exe chat $1 ended with an error" >&2; exit 1; }
}
answer demo "$said/expected"
answer "$name" "$said/found"
if [ ! -s "$said/expected" ] || ! diff "$said/expected" "$said/found"; then
    echo "belfry-cli.exe answers otherwise (>) from $name than from the demo model's own folder (<)" >&2
    exit 1
fi
"$root/installer/windows/wine.sh" "$program" logits "$name" --ids 2,3,4 --out "$name\\written.safetensors" >"$said/logits" 2>&1 </dev/null ||
    { cat "$said/logits" >&2; echo "belfry-cli.exe logits could not write into $name" >&2; exit 1; }
[ -s "$folder/written.safetensors" ] || { echo "belfry-cli.exe logits wrote nothing into $name" >&2; exit 1; }
echo "a model folder of $length characters: the same answer, and a file written there"

printf old >"$said/target.safetensors"
ln -s "$said/target.safetensors" "$said/link.safetensors"
"$root/installer/windows/wine.sh" "$program" logits "$name" --ids 2,3,4 --out "Z:$said/link.safetensors" >"$said/logits" 2>&1 </dev/null ||
    { cat "$said/logits" >&2; echo "belfry-cli.exe logits could not write through a link" >&2; exit 1; }
if [ ! -L "$said/link.safetensors" ] || ! cmp "$said/target.safetensors" "$folder/written.safetensors"; then
    echo "belfry-cli.exe logits wrote over the link instead of into the file that it leads to" >&2
    exit 1
fi
echo "a file written through a link: the link stays"

commit=$(printf 'a%.0s' $(seq 1 40))
repository="$said/hub/models--some--model"
snapshot="$repository/snapshots/$commit"
mkdir -p "$snapshot" "$repository/refs" "$said/behind/folder"
printf '%s' "$commit" >"$repository/refs/main"
cp "$root/resources/demo_model/config.json" "$root/resources/demo_model/tokenizer.json" \
    "$root/resources/demo_model/model.safetensors" "$snapshot/"
touch "$said/behind/one.txt" "$said/behind/folder/two.txt"
ln -s "$said/behind" "$snapshot/aaa" # comes first
# Wine removes no link of the system below it, and says so.
HF_HUB_CACHE="Z:$said/hub" "$root/installer/windows/wine.sh" "$program" models --delete some/model --yes \
    >"$said/deleted" 2>&1 </dev/null || grep -q 'aaa: cannot be deleted' "$said/deleted" ||
    { cat "$said/deleted" >&2; echo "belfry-cli.exe models --delete did not reach the link" >&2; exit 1; }
if [ ! -f "$said/behind/one.txt" ] || [ ! -f "$said/behind/folder/two.txt" ]; then
    echo "belfry-cli.exe models --delete went through a link: what lay behind it is gone" >&2
    exit 1
fi
echo "deleting a model: what lies behind a link to a folder stays"
