#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, checks formatting, runs all
# tests, short fuzz runs, and parts once more under sanitizers. Needs no graphics card and no CUDA toolkit.
#   --fast      build and test only (no format check, static analysis, fuzzing or sanitizers)
#   --all       static analysis, sanitizers, fuzzers and races over everything, not only over what changed since
#               the last whole sweeps (installer/tidy-swept, installer/sanitize-swept)
#   --minutes N what would end later than that, by what building and testing took here, is left out, and that is said:
#               of Windows all but belfry-cli.exe, then that, fuzzing, races, sanitizers; of these 12 tests at most
#   --windows   everything for Windows as well, with its tests under wine and the packages (Debian 12):
#               installer/windows.sh. Without it the engine and the command line (--engine there)
. "$(dirname "$0")/common.sh"

fast=no
sweep=
windows=no
minutes=
while [ $# -gt 0 ]; do
    case $1 in
    --fast) fast=yes ;;
    --all) sweep=--all ;;
    --windows) windows=yes ;;
    --minutes) minutes=${2:?"test.sh --minutes: expected a number"} && shift ;;
    *) echo "test.sh: expected --fast, --all, --windows, --minutes N or nothing, found $1" >&2; exit 2 ;;
    esac
    shift
done

# Whether code whose path starts with one of the words has changed since the last whole sweep.
in_root() { git -C "$root" -c safe.directory="$root" "$@"; }
has_changed() {
    swept=$(cat "$root/installer/sanitize-swept" 2>/dev/null || true)
    if [ -n "$sweep" ] || [ -z "$swept" ] || ! in_root merge-base --is-ancestor "$swept" HEAD 2>/dev/null; then
        return 0
    fi
    [ -n "$(in_root diff --name-only "$swept" -- "$@" && in_root ls-files --others --exclude-standard -- "$@")" ]
}
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}" QT_QPA_PLATFORM=offscreen
# ccache keeps what was compiled behind precompiled headers where it may trust their names.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
started=$(date +%s)
# Whether there is time for what takes about PERCENT of the time of building and testing, so that it ends in --minutes.
has_time_for() { # PERCENT
    spent=$(($(date +%s) - started))
    [ -z "$minutes" ] || [ $((spent + pace * $1 / 100)) -le $((minutes * 60)) ]
}
left_out() { # NAME COMMAND
    say "$1: left out, as $((spent / 60)) of $minutes minutes have passed ($2 does it)"
}

if [ "$fast" = yes ]; then
    install_packages "$root/installer/packages.txt"
else
    install_packages "$root/installer/packages.txt" "$root/installer/packages-checks.txt"
    say "Checking the formatting"
    # A clone that another user owns (a mounted folder) is read as well; no files is an error, not a pass.
    files=$(cd "$root" && git -c safe.directory="$root" ls-files 'app/*.h' 'app/*.cpp' 'engine/*.h' 'engine/*.cpp' \
        'kernels/*.h' 'kernels/*.cpp' 'library/*.h' 'library/*.cpp' 'remote/*.h' 'remote/*.cpp' 'ipc/*.h' 'ipc/*.cpp' 'ui/*.h' 'ui/*.cpp' 'tests/*.h' 'tests/*.cpp')
    [ -n "$files" ] || { echo "git lists no sources in $root: is it a clone?" >&2; exit 1; }
    (cd "$root" && printf '%s\n' "$files" | xargs clang-format-14 --dry-run --Werror)
fi

build="$root/build/test"
say "Building"
# One GPU architecture is enough to see that the kernels compile.
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_WARNINGS_AS_ERRORS=ON \
    -DBELFRY_CUDA_ARCHS=90 >"$build/configure.log"
kernels=$(gpu_kernels "$build/configure.log")
echo "$kernels"
cmake --build "$build" -j "$jobs"
# A machine without nvcc configures without kernels; the programs of that kind are among the tests.
cmake -S "$root" -B "$root/build/test-without-kernels" -G Ninja -DBELFRY_CUDA=OFF >"$build/configure-without.log" ||
    { cat "$build/configure-without.log"; exit 1; }

say "Testing"
passed=0
failed=0
log="$build/ctest.log"
# One more at a time than cores: some rows wait for a time limit of the program.
if ! ctest --test-dir "$build" -j $((jobs + 1)) --output-on-failure --timeout 900 >"$log" 2>&1; then
    cat "$log"
else
    tail -n 12 "$log"
fi
failed=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log")
total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
[ -n "$failed" ] && [ -n "$total" ] || { echo "the tests did not run to their end"; exit 1; }
passed=$((total - failed))

pace=$(($(date +%s) - started))

checks_failed=0
if [ "$fast" = no ] && [ "$failed" -eq 0 ]; then
    say "Static analysis (clang-tidy)"
    sh "$root/installer/tidy.sh" "$build" $sweep || checks_failed=1
    for_windows=
    if [ "$windows" = yes ]; then
        for_windows=installer/windows.sh
    elif [ "$(. /etc/os-release && echo "$ID ${VERSION_ID:-}")" != "debian 12" ]; then
        echo "What is for Windows is built on Debian 12 alone: left out"
    elif has_time_for 95; then
        for_windows="installer/windows.sh --engine"
    elif has_time_for 25; then
        left_out "Tests under wine" "installer/windows.sh --engine"
        for_windows="installer/windows.sh --command-line"
    else
        left_out "For Windows" "installer/windows.sh --command-line"
    fi
    if [ -n "$for_windows" ]; then
        say "For Windows ($for_windows)"
        # shellcheck disable=SC2086
        (cd "$root" && sh $for_windows) || checks_failed=1
    fi
    if ! has_changed tests/fuzz engine/api engine/base engine/families engine/files engine/lora engine/media engine/plan engine/text \
        app/serve app/store ipc remote ui/chat; then
        say "Fuzzing: nothing that it reaches has changed since $swept"
    elif has_time_for 20; then
        say "Fuzzing, a short run"
        "$root/tests/fuzz/run_short.sh" 30 || checks_failed=1
    else
        left_out "Fuzzing" "tests/fuzz/run_short.sh"
    fi
    if ! has_changed tests/race engine/client engine/devices engine/load engine/run kernels/cpu/thread_pool.cpp \
        kernels/cpu/thread_pool.h kernels/cpu/thread_owned.cpp kernels/cpu/thread_owned.h; then
        say "Races: nothing of the engine's threads has changed since $swept"
    elif has_time_for 15; then
        say "Random work from several threads under ThreadSanitizer"
        "$root/tests/race/run.sh" 60 || checks_failed=1
    else
        left_out "Races" "tests/race/run.sh"
    fi
    if has_time_for 15; then
        say "Tests of the engine and the kernels under AddressSanitizer and UndefinedBehaviorSanitizer"
        sh "$root/installer/sanitize.sh" $sweep ${minutes:+--at-most 12} || checks_failed=1
    else
        left_out "Tests under sanitizers" "installer/sanitize.sh"
    fi
fi
say "Finished in $(($(date +%s) - started)) s"
echo "$kernels" # a second time: what the build wrote lies between
[ "$checks_failed" -eq 0 ] || echo "a check after the tests failed (see above)"
echo "$passed passed, $((failed + checks_failed)) failed"
[ "$failed" -eq 0 ] && [ "$checks_failed" -eq 0 ]
