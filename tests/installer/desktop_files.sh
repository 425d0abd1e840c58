#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# desktop_files.sh BUILD_FOLDER PROGRAM CMAKE: what a desktop is told of the program. "cmake --install" puts
# everything in its place; one number and one name everywhere; icons have the size that their folder says;
# the validators of the two formats find no error, where they are installed.
set -eu
build=$1
program=$2
cmake=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "$1" >&2
    failed=1
}
id=org.belfry.Belfry
DESTDIR="$work" "$cmake" --install "$build" --prefix /usr --component desktop >"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
share=$work/usr/share
desktop=$share/applications/$id.desktop
metainfo=$share/metainfo/$id.metainfo.xml
types=$share/mime/packages/$id.xml
for file in "$desktop" "$metainfo" "$types" "$share/man/man1/belfry.1"; do
    [ -s "$file" ] || complain "cmake --install makes no $file"
done

number=$("$program" --version | sed 's/^Belfry \([0-9.]*\).*/\1/')
grep -q "<release version=\"$number\" date=\"[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\"" "$metainfo" ||
    complain "$metainfo is not about version $number"
for size in 16 22 24 32 48 64 128 256 512; do
    picture=$share/icons/hicolor/${size}x$size/apps/$id.png
    # Width and height stand in bytes 16 to 23 of a PNG, big end first.
    found=$(od -An -v -tu1 -j 16 -N 8 "$picture" | awk '{ print $1 * 16777216 + $2 * 65536 + $3 * 256 + $4 "x" $5 * 16777216 + $6 * 65536 + $7 * 256 + $8 }')
    [ "$found" = "${size}x$size" ] || complain "$picture has $found pixels"
done
grep -q "^Icon=$id\$" "$desktop" || complain "$desktop names another icon"
# Nothing but our own documents is ours.
[ "$(sed -n 's/^MimeType=//p' "$desktop")" = "application/vnd.belfry.map+json;" ] ||
    complain "$desktop claims other files than our maps"
[ "$(grep -c '<glob ' "$types")" -eq 1 ] && grep -q 'pattern="\*\.belfry-map\.json"' "$types" ||
    complain "$types claims other names than *.belfry-map.json"

if command -v desktop-file-validate >/dev/null 2>&1; then
    desktop-file-validate "$desktop" || complain "desktop-file-validate: see above"
fi
if command -v appstreamcli >/dev/null 2>&1; then
    appstreamcli validate --no-net "$metainfo" || complain "appstreamcli: see above"
fi
exit $failed
