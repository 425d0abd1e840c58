#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# planted_in_tests_only.sh BUILD_FOLDER: bugs that are planted on purpose are compiled into programs of
# tests/ and nowhere else.
set -eu
commands=$1/compile_commands.json
planted=$(grep '"command".*-DBELFRY_PLANTED' "$commands" || true)
if [ -z "$planted" ]; then
    echo "no planted bug in $commands: have they been renamed?" >&2
    exit 1
fi
if printf '%s\n' "$planted" | grep -v -e ' -o tests/'; then
    echo "planted bugs outside tests/ (above)" >&2
    exit 1
fi
