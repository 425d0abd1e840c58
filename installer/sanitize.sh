#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitize.sh [BUILD] [--all] [--at-most N]: the tests of the engine and the kernels under AddressSanitizer, LeakSanitizer
# and UndefinedBehaviorSanitizer, asserts on (preset asan). Not the three longest of the engine, not those
# that run emulated kernels all the time (which watch their memory themselves), not the window. Exit code 0:
# no report, and the one planted on purpose was found.
#
# Without --all only the tests whose own code has changed since the last whole sweep (sanitize-swept names its
# commit): a sweep takes half an hour on two cores, and code that nobody touched does what it did; and of the
# engine's on a card those only that make it fail, as the others run emulated kernels most of their time. After
# a sweep without reports: git rev-parse HEAD > installer/sanitize-swept
# --at-most N: no more than N of these, first those whose test has changed itself; the others are named as left out.
. "$(dirname "$0")/common.sh"
set -f
build=$root/build/asan
all=no
most=
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=yes ;;
    --at-most) most=${2:?"sanitize.sh --at-most: expected a number"} && shift ;;
    *) build=$1 ;;
    esac
    shift
done
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks.txt print_suppressions=0 ${LSAN_OPTIONS:-}"
(cd "$root" && cmake --preset asan -B "$build" >/dev/null)
git() { command git -C "$root" -c safe.directory="$root" "$@"; }

# The product's code that a row of ctest is about: the starts of its files' paths.
code_of() {
    case $1 in
    engine.session.*) echo "engine/api/ engine/client/ engine/devices/ engine/forward/ engine/load/ engine/model/ engine/run/" ;;
    engine.*) name=${1#engine.} && echo "engine/${name%%.*}/" ;;
    kernels.*cuda* | kernels.system_library) echo "kernels/cuda/ kernels/card_ kernels/device.h tests/support/cuda_emulator/" ;;
    kernels.*) echo "kernels/cpu/ kernels/device.h kernels/ops.h kernels/views.h" ;;
    race.*) echo "engine/load/ engine/run/ tests/race/" ;;
    esac
}

# The row's test and the headers that lie beside it.
test_of() {
    folder=$(echo "${1%.*}" | tr . /)
    echo "tests/$folder/tst_${1##*.}.cpp tests/$folder/[^/]*[.]h"
}

rows=$(ctest --test-dir "$build" -N -R '^(engine|kernels|race)[.]' \
    -E "^($emulated)\$" |
    sed -n 's/^ *Test *#[0-9]*: //p')
[ -n "$rows" ] || { echo "sanitize.sh: ctest names no tests in $build" >&2; exit 1; }
swept=$(cat "$root/installer/sanitize-swept" 2>/dev/null || true)
if [ "$all" = yes ] || [ -z "$swept" ] || ! git merge-base --is-ancestor "$swept" HEAD 2>/dev/null; then
    chosen=$rows
else
    changed=$({ git diff --name-only "$swept" -- && git ls-files --others --exclude-standard; } | sort -u)
    rows=$(printf '%s\n' "$rows" |
        grep -vxE 'engine[.]session[.](draft_steps|drawn_on_card|experts_on_card|host_invisible|split_on_card)')
    rows_about() { # test_of | code_of: rows with changes there
        for row in $rows; do
            for start in $("$1" "$row"); do
                if printf '%s\n' "$changed" | grep -q "^$start"; then
                    echo "$row"
                    break
                fi
            done
        done
    }
    chosen=$({ rows_about test_of && rows_about code_of; } | awk '!seen[$0]++')
    echo "$(printf '%s' "$chosen" | grep -c . || true) of $(printf '%s\n' "$rows" | wc -l) tests, for what changed since $swept"
    if [ -n "$most" ]; then
        left=$(printf '%s\n' "$chosen" | tail -n "+$((most + 1))")
        chosen=$(printf '%s\n' "$chosen" | head -n "$most")
        [ -z "$left" ] || echo "left out, as they are more than $most: $(printf '%s\n' "$left" | paste -s -d ' ')"
    fi
fi

# The planted one always: what finds nothing must be able to find something.
planted=engine.media.image_malformed
# shellcheck disable=SC2086
cmake --build "$build" -j "$jobs" --target "planted_$planted" \
    $(printf '%s\n' $chosen | sed -e '/^race[.]driver$/s/.*/belfry_race_driver/' -e '/^[ek]/s/^/tst_/')
log=$build/ctest.log
# The sanitizer's shadow memory does not fit every layout of the address space that kernels draw: no
# drawing where that can be had.
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi
names=$(printf '%s\n' "planted.$planted" $chosen | sed 's/[.]/[.]/g' | paste -s -d '|')
if $steady ctest --test-dir "$build" -j "$jobs" --output-on-failure --timeout 1800 -R "^($names)\$" >"$log" 2>&1; then
    tail -n 4 "$log"
else
    cat "$log"
    exit 1
fi
