#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_python.sh BUILD_FOLDER PYTHON: the real huggingface_hub (PYTHON has it: pip install huggingface_hub)
# and Belfry use one cache, with links and without. What belfry-cli get fetched, Python lists and opens
# without a network; what Python fetched, belfry-cli models lists and chat answers from. Needs the target
# hub_standin; no part of the tests that run by themselves, because Python's packages are none of ours.
set -eu
build=$1
python=$2
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$work"' EXIT
mkdir "$work/model" "$work/end"
for file in config.json generation_config.json model.safetensors processor_config.json tokenizer.json \
    tokenizer_config.json README.md; do
    cp "$root/resources/demo_model/$file" "$work/model/"
done
mkfifo "$work/end/pipe"
"$build/tests/hub_standin" org/demo "$work/model" <"$work/end/pipe" >"$work/told" &
exec 3>"$work/end/pipe"
until grep -q HF_ENDPOINT "$work/told"; do sleep 0.2; done
HF_ENDPOINT=$(sed -n 's/^HF_ENDPOINT=//p' "$work/told")
export HF_ENDPOINT
cli=$build/app/belfry-cli
"$python" -c 'import huggingface_hub; print("huggingface_hub", huggingface_hub.__version__)'

for links in "" 1; do
    export HF_HUB_DISABLE_SYMLINKS=$links
    how=$([ -n "$links" ] && echo "without links" || echo "with links")

    # Ours, read by Python.
    HF_HOME=$work/ours$links
    export HF_HOME
    "$cli" get org/demo >"$work/folder" 2>/dev/null
    HF_HUB_OFFLINE=1 "$python" - "$(cat "$work/folder")" "$work/model" <<'PY'
import filecmp, os, sys
from huggingface_hub import scan_cache_dir, snapshot_download, try_to_load_from_cache
folder, model = sys.argv[1:]
found = snapshot_download("org/demo", local_files_only=True)
assert os.path.samefile(found, folder), (found, folder)
for name in sorted(os.listdir(model)):
    path = try_to_load_from_cache("org/demo", name)
    assert path and filecmp.cmp(path, os.path.join(model, name), shallow=False), name
cache = scan_cache_dir()
assert not cache.warnings, cache.warnings
(repository,) = cache.repos
(revision,) = repository.revisions
total = sum(os.path.getsize(os.path.join(model, name)) for name in os.listdir(model))
assert repository.repo_id == "org/demo" and "main" in revision.refs, repository
assert revision.size_on_disk == total, (revision.size_on_disk, total)
PY
    echo "Python reads what get fetched, $how"

    # Python's, read by us.
    HF_HOME=$work/python$links
    "$python" -c 'from huggingface_hub import snapshot_download; print(snapshot_download("org/demo"))' \
        >"$work/folder" 2>/dev/null
    HF_HUB_OFFLINE=1 "$cli" models --json --no-plan >"$work/models"
    "$python" - "$work/models" <<'PY'
import json, sys
models = json.load(open(sys.argv[1]))["models"]
(model,) = [one for one in models if one["name"] == "org/demo"]
assert model["state"] == "usable" and "main" in model["refs"] and not model["missing"], model
PY
    said=$(HF_HUB_OFFLINE=1 "$cli" chat org/demo --prompt "Hello" --max-tokens 8)
    wanted=$("$cli" chat demo --prompt "Hello" --max-tokens 8)
    [ "$said" = "$wanted" ] || { echo "other answers: '$said', '$wanted'" >&2; exit 1; }
    # And nothing is fetched twice.
    "$cli" get org/demo --json 2>/dev/null | grep -q '"fetched_bytes": *0\b' ||
        { echo "get fetched what Python had fetched" >&2; exit 1; }
    echo "Belfry lists and opens what Python fetched, $how"
done
