#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs this folder for the user who runs it, without administrator rights; a former version there is
# replaced, chats and settings stay.
#   install.sh [--prefix FOLDER]               FOLDER/lib/belfry, FOLDER/bin, FOLDER/share (default: ~/.local)
#   install.sh --uninstall [--prefix FOLDER]   takes all of it away; chats and settings stay
# It is in the portable folder, and what the self-extracting archive runs.
set -eu
umask 022

say_wrong() {
    echo "install.sh: $1" >&2
    exit 2
}

# What install() notes of files outside of the program's own folder.
remove_noted() {
    [ -f "$target/installed-files" ] || return 0
    while read -r file; do
        rm -f "$prefix/$file"
        (cd "$prefix" && rmdir -p "$(dirname "$file")" 2>/dev/null) || true
    done <"$target/installed-files"
}

# Menus and file managers that keep an index read it again; systems without one need nothing.
refresh() {
    [ ! -d "$prefix/share/applications" ] || ! command -v update-desktop-database >/dev/null 2>&1 ||
        update-desktop-database -q "$prefix/share/applications" || true
    [ ! -d "$prefix/share/mime/packages" ] || ! command -v update-mime-database >/dev/null 2>&1 ||
        update-mime-database "$prefix/share/mime" || true
}

# The two indexes, where what they are made from is gone with us.
drop_indexes() {
    if [ -d "$prefix/share/mime" ] && [ -z "$(ls "$prefix/share/mime/packages" 2>/dev/null)" ]; then
        for index in aliases application/vnd.belfry.map+json.xml generic-icons globs globs2 icons magic mime.cache \
            subclasses treemagic types version XMLnamespaces; do
            rm -f "$prefix/share/mime/$index"
        done
        (cd "$prefix" && rmdir -p share/mime/packages share/mime/application share/mime 2>/dev/null) || true
    fi
    if [ "$(ls "$prefix/share/applications" 2>/dev/null)" = mimeinfo.cache ]; then
        rm -f "$prefix/share/applications/mimeinfo.cache"
        (cd "$prefix" && rmdir -p share/applications 2>/dev/null) || true
    fi
}

note() { # FILE below the prefix
    printf '%s\n' "$1" >>"$new/installed-files"
}

install_here() {
    new=$prefix/lib/.belfry-new.$$
    trap 'rm -rf "$new"' EXIT
    mkdir -p "$prefix/lib"
    rm -rf "$new"
    cp -R "$here" "$new"
    rm -f "$new/installed-files"
    : >"$new/installed-files"
    remove_noted
    rm -rf "$target"
    for file in $(cd "$here/share" && find icons mime -type f); do
        mkdir -p "$prefix/share/$(dirname "$file")"
        cp "$here/share/$file" "$prefix/share/$file"
        note "share/$file"
    done
    mkdir -p "$prefix/bin"
    desktop=share/applications/org.belfry.Belfry.desktop
    mkdir -p "$prefix/share/applications"
    BELFRY_EXEC="\"$target/belfry\" %f" awk '/^Exec=/ { print "Exec=" ENVIRON["BELFRY_EXEC"]; next } { print }' \
        "$here/$desktop" >"$prefix/$desktop"
    note "$desktop"
    ln -sf ../lib/belfry/belfry "$prefix/bin/belfry"
    ln -sf ../lib/belfry/bin/belfry-cli "$prefix/bin/belfry-cli"
    note bin/belfry
    note bin/belfry-cli
    mv "$new" "$target"
    refresh
    echo "Belfry is installed in $target. Start it from the menu, or: $prefix/bin/belfry"
    echo "To take it away again: $target/install.sh --uninstall$([ "$prefix" = "$HOME/.local" ] || echo " --prefix $prefix")"
}

uninstall() {
    [ -f "$target/installed-files" ] || say_wrong "nothing of Belfry is installed in $target"
    remove_noted
    rm -rf "$target"
    (cd "$prefix" && rmdir -p lib 2>/dev/null) || true
    refresh
    drop_indexes
    echo "Belfry is no longer in $prefix. Chats and settings stay where they were."
}

main() {
    here=$(cd "$(dirname "$0")" && pwd)
    prefix=${HOME:?}/.local
    act=install_here
    while [ $# -gt 0 ]; do
        case $1 in
        --uninstall) act=uninstall ;;
        --prefix)
            [ $# -gt 1 ] || say_wrong "--prefix: a folder is missing after it"
            shift
            prefix=$1
            ;;
        *) say_wrong "unknown word $1: expected --prefix FOLDER or --uninstall" ;;
        esac
        shift
    done
    case $prefix in
    /*) ;;
    *) say_wrong "$prefix: expected a folder from the root on" ;;
    esac
    case $prefix in
    *[\"\$\`\\%]*) say_wrong "$prefix: a menu entry cannot name such a folder" ;;
    esac
    target=$prefix/lib/belfry
    [ "$here" != "$target" ] || [ "$act" = uninstall ] || say_wrong "this is the installed folder itself"
    "$act"
    exit 0 # this file may be gone by now
}

main "$@"
