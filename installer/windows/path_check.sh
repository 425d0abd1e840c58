#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# path_check.sh PROGRAM: a belfry-cli.exe under wine answers from a model folder whose path is longer than
# the 260 characters that Windows' functions take by themselves, with Cyrillic, Japanese and a blank in it,
# the same as from the demo model's own; and writes a file there.
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
