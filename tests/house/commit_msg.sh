#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# commit_msg.sh ROOT: what .githooks/commit-msg lets through and what it refuses, asked by git
# itself in a repository of its own.
set -eu
hooks=$1/.githooks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Nothing of the user's, and nothing of a hook that runs this.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export HOME="$work" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.invalid
git init -q "$work/r"
cd "$work/r"
git symbolic-ref HEAD refs/heads/main
git config core.hooksPath "$hooks"

failed=0
takes() {
    if ! git commit -q --allow-empty -F "$work/message" 2>"$work/said"; then
        echo "refused on $(git symbolic-ref --short HEAD): $(head -n 1 "$work/message")"
        failed=1
    fi
}
refuses() { # what it says why
    if git commit -q --allow-empty -F "$work/message" 2>"$work/said"; then
        echo "let through on $(git symbolic-ref --short HEAD): $(head -n 1 "$work/message")"
        failed=1
    elif ! grep -q "$1" "$work/said"; then
        echo "refused without saying \"$1\": $(cat "$work/said")"
        failed=1
    fi
}
message() { printf '%b' "$1" >"$work/message"; }

ten=0123456789
sixty=$ten$ten$ten$ten$ten$ten
message "Short\n"
takes
message "$sixty${ten}ab"
takes
message "$sixty${ten}abc"
refuses "73 characters"
message "Say the rest below\n\n$sixty$sixty\n"
takes
message "$sixty${ten}ää" # characters, not bytes
takes
message "$sixty${ten}äää"
refuses "73 characters"
message "# A comment of git's\n\n$sixty$sixty\n"
refuses "120 characters"
for word in wip "wip: kernels" "WIP kernels" "Kernels (wip)" "Kernels, wip, tests" "fixup! Short" "squash! Short"; do
    message "$word\n"
    refuses "work in progress"
done
for word in "Wiping of buffers" "Take wipes from the list" "Body says it\n\nwip\n"; do
    message "$word\n"
    takes
done
git checkout -q -b side
message "wip: kernels\n"
takes
message "$sixty${ten}abc"
refuses "73 characters"
git checkout -q --detach
message "fixup! Short\n"
takes
[ "$failed" -eq 0 ] && echo "commit-msg: as it should be"
exit "$failed"
