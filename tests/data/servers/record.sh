#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Freezes what a server with OpenAI's API answers, for tests/remote/tst_recordings.cpp:
#   tests/data/servers/record.sh URL MODEL FOLDER [KEY_FILE]
#   tests/data/servers/record.sh http://127.0.0.1:8080/v1 demo tests/data/servers/llama-server-b7000
# Bodies as they come, byte for byte; MODEL becomes "demo" in them, so that no path of the computer
# that recorded stays. Needs curl. Say in README.md which program it was, in which version.
set -eu
if [ $# -lt 3 ]; then
    sed -n '3,7p' "$0" >&2
    exit 2
fi
url=$1 model=$2 to=$3 key_file=${4:-}
samples=$(cd "$(dirname "$0")/../../.." && pwd)/resources/demo_model/samples
mkdir -p "$to"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
umask 077
if [ -n "$key_file" ]; then
    printf 'header = "Authorization: Bearer %s"\n' "$(cat "$key_file")" >"$work/curlrc"
else
    : >"$work/curlrc"
fi

# ask FILE ROUTE [BODY]: an answer of whatever status
ask() {
    if [ $# -eq 3 ]; then
        printf '%s' "$3" >"$work/body"
        set -- "$1" "$2" --header 'Content-Type: application/json' --data-binary "@$work/body"
    fi
    file=$1 route=$2
    shift 2
    curl --silent --show-error --no-buffer --config "$work/curlrc" "$@" "$url$route" >"$work/answer"
    sed "s|$model|demo|g" "$work/answer" >"$to/$file"
    echo "$file: $(wc -c <"$to/$file") bytes"
}

base64_of() {
    base64 -w 0 "$samples/$1"
}

# question CONTENT MORE
question() {
    printf '{"model":"%s","temperature":0,"max_tokens":64,"messages":[{"role":"user","content":%s}]%s}' \
        "$model" "$1" "$2"
}

stream=',"stream":true,"stream_options":{"include_usage":true}'
picture='[{"type":"image_url","image_url":{"url":"data:image/png;base64,'$(base64_of triangles_and_cross.png)'"}},{"type":"text","text":"What do you see?"}]'
sound='[{"type":"input_audio","input_audio":{"data":"'$(base64_of three_beeps.wav)'","format":"wav"}},{"type":"text","text":"What do you hear?"}]'

ask models.json /models
ask text.sse /chat/completions "$(question '"What is a tower?"' "$stream")"
ask whole.json /chat/completions "$(question '"What is a tower?"' '')"
ask picture.sse /chat/completions "$(question "$picture" "$stream")"
ask sound.sse /chat/completions "$(question "$sound" "$stream")"
ask unknown_model.json /chat/completions \
    '{"model":"no-such-model","messages":[{"role":"user","content":"Hello"}]}'
ask wrong_field.json /chat/completions "$(question 7 '')"
