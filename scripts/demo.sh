#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command-line demo: demo.sh PATH_TO_BELFRY_CLI. Shows the bundled model, where its parts would
# go on a simulated card with the towers on the CPU, and a conversation with a picture and a sound.
set -eu
cli=$1
root=$(cd "$(dirname "$0")/.." && pwd)
model=$root/resources/demo_model

# Prints the command as it could be typed again (words with blanks in quotes), then runs it.
show() {
    printf '\n$ belfry-cli'
    for word in "$@"; do
        case $word in
        *[[:space:]?]*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$cli" "$@"
}

if [ ! -f "$model/config.json" ]; then
    echo "The demo model is not in this copy of Belfry. Give a Gemma 4 folder of your own:"
    echo "  $cli chat /path/to/model --prompt 'Hello'"
    exit 0
fi
cd "$model/samples"
show inspect demo
show plan demo --sim-gpu 64MiB --device-map towers-cpu
show chat demo --quant nf4-dq --temperature 0 --image circles_and_square.png --prompt "What do you see?"
show chat demo --quant nf4-dq --temperature 0 --audio three_beeps.wav --prompt "What do you hear?"
cat <<END

Now you, in this folder (pictures and sounds of the demo: resources/demo_model/samples):
  $cli chat demo                     a conversation; /image FILE and /audio FILE attach
  $cli chat /path/to/gemma-4-folder  with a model of your own
  $cli --help                        everything else
END
