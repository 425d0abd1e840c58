# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder and of installer/: says what it does, installs missing distribution packages.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
say() { printf '\n== %s\n' "$*"; }

# One line on what a configured build's GPU kernels are, from what cmake printed (a file).
gpu_kernels() {
    said=$(sed -n 's/^-- GPU kernels: //p' "$1" | head -n 1)
    case "$said" in
        *", architectures "*) echo "GPU kernels: compiled for architecture(s) ${said#*, architectures } with ${said%%, architectures *}" ;;
        *"no card"*) echo "GPU kernels: not compiled, this machine has no NVIDIA card (packages with all kernels: installer/release.sh)" ;;
        *"BELFRY_CUDA=OFF"*) echo "GPU kernels: not compiled (BELFRY_CUDA is OFF); only the emulator checks them" ;;
        none*) echo "GPU kernels: not compiled, nvcc was not found; only the emulator checks them" ;;
        *) echo "GPU kernels: cmake did not say whether they are compiled" >&2; return 1 ;;
    esac
}

# Packages named in the given lists that are not installed yet.
missing_packages() {
    sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@" | while read -r package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s\n' "$package"
    done
}

install_packages() {
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        echo "This script installs packages with apt (Debian 12, Ubuntu 24.04 and newer)." >&2
        echo "On other systems install what scripts/packages.txt names, then run:" >&2
        echo "  cmake --preset release && cmake --build --preset release" >&2
        exit 1
    fi
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        say "All packages are installed"
        return
    fi
    sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || without_root "neither root nor sudo is at hand"
        sudo="sudo"
    fi
    say "Installing packages:" $missing
    [ -z "$sudo" ] || sudo apt-get --version >/dev/null || without_root "sudo did not accept this user"
    $sudo apt-get update -q
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

# Ends the script: packages are missing and this user may not install them.
without_root() {
    echo "These packages are missing, and $1:" >&2
    echo $missing >&2
    echo "Ask an administrator to run once, then start this script again (docs/install.md, 'Without root'):" >&2
    echo "  apt-get install --no-install-recommends" $missing >&2
    exit 1
}

# Rows of ctest that run emulated kernels nearly all of their time: what ctest -E takes.
emulated='engine[.]session[.](placement_matrix|adapters_on_card|check_rows)|kernels[.]cuda_(rows|stream|stream_async|top_logits|wide)'

jobs=$(nproc)
