#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What scripts/test.sh says of GPU kernels: from the words of kernels/cuda/CMakeLists.txt, with a
# compiler, without one and switched off.
. "$(dirname "$0")/../../scripts/common.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
expect() { # words of cmake, words wanted
    printf -- '-- Configuring\n%s\n' "$1" >"$log"
    found=$(gpu_kernels "$log")
    case "$found" in
        *"$2"*) ;;
        *) echo "of \"$1\" it says \"$found\", expected \"$2\""; exit 1 ;;
    esac
}
expect "-- GPU kernels: /usr/local/cuda/bin/nvcc, architectures 75;90" "architecture(s) 75;90 with /usr/local/cuda/bin/nvcc"
expect "-- GPU kernels: none (BELFRY_CUDA=AUTO, nvcc BELFRY_NVCC-NOTFOUND)" "nvcc was not found; only the emulator"
expect "-- GPU kernels: none, no card found" "has no NVIDIA card"
expect "-- GPU kernels: none (BELFRY_CUDA=OFF, nvcc )" "BELFRY_CUDA is OFF"
printf -- '-- Configuring done\n' >"$log"
if gpu_kernels "$log" 2>/dev/null; then echo "silence of cmake went unnoticed"; exit 1; fi

# The words are really those.
said="$(dirname "$0")/../../kernels/cuda/CMakeLists.txt"
for words in 'STATUS "GPU kernels: none (BELFRY_CUDA=' 'STATUS "GPU kernels: none, no card found"' 'STATUS "GPU kernels: ${BELFRY_NVCC}, architectures'; do
    grep -qF "$words" "$said" || { echo "$said does not say $words any more"; exit 1; }
done
