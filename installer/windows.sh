#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Belfry and its tests for Windows, on Debian 12, and runs them under wine. Installs what is missing
# (as root or with sudo), builds the libraries once below build/windows-libraries
# (installer/windows/libraries.sh says which), Belfry in build/windows. Takes nothing but Debian packages
# from the network. A test that cannot run under wine is named, with the reason, in
# installer/windows/skipped-tests.txt. At last makes the zip and the installer, in dist/.
#   --command-line   belfry-cli.exe alone, without Qt, tests and packages: the README's first chat and the
#                 golden models' figures under wine. What scripts/test.sh --all runs
#   --engine      command line, engine and their tests alone, without the window, the network and packages:
#                 a quarter of Qt is built for it. Not the tests that run emulated kernels all of their time
#   --libraries   only the libraries
#   --build       build, and run nothing
#   -D...         handed to cmake, e.g. -DBELFRY_CUDA=OFF (else GPU kernels are compiled where nvcc is found)
. "$(dirname "$0")/../scripts/common.sh"

upto=tests
qt=qtwindow
window=ON
packages=yes
tests=yes
options=""
for word in "$@"; do
    case "$word" in
        --libraries) upto=libraries ;;
        --build) upto=build ;;
        --command-line) qt=none window=OFF tests=no options="$options -DBELFRY_NETWORK=OFF -DBELFRY_CUDA=OFF -DBELFRY_BUILD_TESTS=OFF" ;;
        --engine) qt=qtbase window=OFF packages=no options="$options -DBELFRY_NETWORK=OFF -DBELFRY_CUDA=OFF" ;;
        -D*[[:space:]]*) echo "windows.sh $word: a value with blanks cannot be handed on" >&2; exit 2 ;;
        -D*) options="$options $word" ;;
        *) echo "windows.sh $word: expected --command-line, --engine, --libraries, --build, -DNAME=VALUE or nothing" >&2; exit 2 ;;
    esac
done
system=$(. /etc/os-release && echo "$ID ${VERSION_ID:-}")
if [ "$system" != "debian 12" ]; then
    echo "This script builds with the compiler and from the sources of Debian 12; this is $system." >&2
    echo "Run it in a Debian 12 (a container or a debootstrap folder will do)." >&2
    exit 1
fi

work="$root/build/windows-libraries"
sysroot="$work/sysroot"
build="$root/build/windows"
mkdir -p "$root/build"
times=""
stage_began=$(date +%s)
stage_used=0
stage_done() { # NAME: how long it took since the last one, by the clock and of the processor
    now=$(date +%s)
    times >"$build-times" # of this shell, of those that it has waited for; wine's server is in neither
    used=$(sed -n '2s/[ms]/ /gp' "$build-times" | awk '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
    times="$times$(printf '\n  %-10s %5d s, processor %5d s' "$1" $((now - stage_began)) $((used - stage_used)))"
    stage_began=$now
    stage_used=$used
}

. "$root/installer/windows/libraries.sh"
. "$root/installer/windows/fetch.sh"
. "$root/installer/windows/under_wine.sh"
. "$root/installer/windows/package.sh"

install_packages "$root/scripts/packages.txt" "$root/installer/packages-windows.txt"
stage_done packages

say "Libraries"
build_libraries
stage_done libraries
[ "$upto" != libraries ] || { say "Finished:$times"; exit 0; }

say "Building"
# shellcheck disable=SC2086
(cd "$root" && cmake --preset windows -DBELFRY_BUILD_UI=$window -DBELFRY_NETWORK=ON -DBELFRY_CUDA=AUTO -DBELFRY_BUILD_TESTS=ON $options) >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
gpu_kernels "$build.log"
cmake --build "$build" -j "$jobs"
stage_done build
cli="$build/app/belfry-cli.exe"
"$triple-objdump" -p "$cli" | sed -n 's/^[[:space:]]*DLL Name: //p' | sort >"$work/log/cli-needs.txt"
built="$cli: $(wc -c <"$cli") bytes, needs $(paste -s -d ' ' "$work/log/cli-needs.txt")"
[ "$upto" != build ] || { say "Finished:$times"; echo "$built"; exit 0; }

say "Running under wine"
prepare_wine
# The README's first chat: what it answers there is what it answers here.
sh "$root/installer/windows/first_chat.sh" "$cli"
sh "$root/installer/windows/path_check.sh" "$cli"
python3 "$root/installer/windows/name_check.py" "$root/installer/windows/wine.sh" "$cli" || [ $? -eq 77 ]
stage_done chat
golden="$build/test-data/golden"
if [ ! -d "$golden" ]; then # which CMake unpacks where it builds tests
    mkdir -p "$build/test-data"
    tar -C "$build/test-data" -xJf "$root/tests/data/golden.tar.xz"
fi
python3 "$root/tests/installer/golden_parity.py" --seen-at Z: "$golden" "$root/installer/windows/wine.sh" "$cli"
stage_done parity
if [ "$tests" = no ]; then
    say "Finished:$times"
    echo "$built"
    exit 0
fi
case "$(gpu_kernels "$build.log")" in
    *"not compiled"*) echo "GPU kernels are not compiled: no driver is asked" ;;
    *) sh "$root/installer/windows/card_check.sh" "$build" ;;
esac
stage_done driver

list="$root/installer/windows/skipped-tests.txt"
skipped=$(sed -n 's/^\([a-z0-9_.]*\): not \(built\|run\): .*/\1/p' "$list")
without=$(echo "$skipped" | sed 's/[.]/[.]/g' | paste -s -d '|')
at_once=$jobs
if [ "$packages" = no ]; then # and no windows, which share one desktop
    without="$without|$emulated"
    at_once=$((jobs + 1))
fi
log="$build/ctest.log"
failures=0
# One in some hundred starts under wine was seen to stay where it was, with nothing to do: what reaches its
# limit is started once more, and that is said.
ctest --test-dir "$build" -j "$at_once" --output-on-failure --repeat after-timeout:2 --timeout 450 -E "^($without)\$" >"$log" 2>&1 || failures=1
[ "$failures" -eq 0 ] || cat "$log"
stage_done tests
failed=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log")
total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
if [ -z "$failed" ] || [ -z "$total" ]; then
    echo "the tests did not run to their end ($log)"
    exit 1
fi
# Nor was all loaded that wine started: a program that ends with STATUS_DLL_INIT_FAILED (0xC0000142) ran
# nothing of ours. Where that was seen, what failed runs once more, by itself.
unloaded=""
if [ "$failures" -ne 0 ] && grep -q -e "-1073741502" "$log"; then
    unloaded=$(sed -n 's/^[[:space:]]*[0-9]* - \([a-z0-9_.]*\) (Failed)$/\1/p' "$log" | paste -s -d ' ')
    names=$(echo "$unloaded" | sed 's/[.]/[.]/g; s/ /|/g')
    if [ "$(echo "$unloaded" | wc -w)" -ne "$failed" ]; then
        unloaded="" # something else as well, such as a limit
    elif ctest --test-dir "$build" -R "^($names)\$" --no-tests=error --output-on-failure --timeout 450 \
        >"$build/ctest-again.log" 2>&1; then
        failures=0
        failed=0
    else
        cat "$build/ctest-again.log"
    fi
fi

if [ "$packages" = yes ]; then
    say "Packages"
    make_packages
    stage_done packages

    say "Installing and removing"
    sh "$root/installer/windows/install_check.sh" "$root/dist/$package_name.msi" "$newer_msi"
    stage_done installer
fi

say "Finished:$times"
echo "$built"
[ "$packages" = yes ] || echo "left out, as they run emulated kernels all of their time:" \
    "$(ctest --test-dir "$build" -N -R "^($emulated)\$" | sed -n 's/^ *Test *#[0-9]*: //p' | paste -s -d ' ')"
again=$(sed -n 's/.*Test *#[0-9]*: \([a-z0-9_.]*\) .*[*]Timeout.*/\1/p' "$log" | sort -u | paste -s -d ' ')
[ -z "$again" ] || echo "reached their limit, and were started once more: $again"
[ -z "$unloaded" ] || echo "wine did not load a program (0xC0000142), and what failed was run once more: $unloaded"
echo "not run under wine (reasons in installer/windows/skipped-tests.txt): $(echo "${skipped:-none}" | paste -s -d ' ')"
echo "under wine: $((total - failed)) passed, $failed failed, $(echo "$skipped" | grep -c .) not run"
[ "$failures" -eq 0 ]
