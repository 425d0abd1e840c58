#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command-line demo: demo.sh PATH_TO_BELFRY_CLI. Shows the bundled model, where its parts would
# go on a simulated card with the towers on the CPU, and a conversation with a picture and a sound.
set -eu
cli=$1
root=$(cd "$(dirname "$0")/.." && pwd)
model=$root/resources/demo_model
samples=$model/samples
show() { printf '\n$ belfry-cli %s\n' "$*"; "$cli" "$@"; }

if [ ! -f "$model/config.json" ]; then
    echo "The demo model is not in this copy of Belfry. Give a Gemma 4 folder of your own:"
    echo "  $cli chat /path/to/model --prompt 'Hello'"
    exit 0
fi
show inspect demo
show plan demo --sim-gpu 64MiB --device-map towers-cpu
picture=$(ls "$samples"/*.png | head -n 1)
sound=$(ls "$samples"/*.wav | head -n 1)
show chat demo --quant nf4-dq --temperature 0 --image "$picture" --prompt "What do you see?"
show chat demo --quant nf4-dq --temperature 0 --audio "$sound" --prompt "What do you hear?"
