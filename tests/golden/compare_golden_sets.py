#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs belfry-cli in float32 over golden sets (make_golden_sets.py, or the unpacked golden data) and
prints the largest difference of every case from the float64 logits, as a share of the largest logit.

    python compare_golden_sets.py BELFRY_CLI SET... [--device-map cpu|gpu|...] [--bound 1e-4]
                                  [--match TEXT] [--json FILE] [--jobs N]

Beside it, where the set's about.json has it, what transformers' own float32 run is off by. Ends with
1 when a case is beyond the bound. Needs numpy alone.
"""
import argparse
import concurrent.futures
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}


def tensors(file):
    data = pathlib.Path(file).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] in TYPES:
            begin, end = (8 + size + at for at in entry["data_offsets"])
            out[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return out


def run_case(cli, root, family, case, adapter, rows, device_map, folder):
    out = pathlib.Path(folder) / f"{root.name}-{family}-{adapter}-{case['id']}.safetensors"
    command = [cli, "logits", str(root / family / "model"), "--precision", "f32", "--device-map",
               device_map, "--context", "256", "--image-tokens", "70", "--raw-prompt",
               case["prompt"], "--last", str(rows), "--out", str(out)]
    for option in ("image", "audio"):
        if case[option]:
            command += [f"--{option}", str(root / case[option])]
    if adapter:
        command += ["--adapter", str(root / family / "adapters" / adapter)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1:]
    got = tensors(out)
    out.unlink()
    if got["input_ids"].flatten().tolist() != case["input_ids"]:
        return None, ["the prompt has other ids"]
    return got["logits"].astype(np.float64), []


def cases_of(root, family):
    cases = json.loads((root / family / "cases.json").read_text())
    for case in cases:
        want = tensors(root / family / "expected" / f"{case['id']}.safetensors")["logits"]
        yield case, None, want
    folder = root / family / "adapters"
    for adapter in sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []:
        source = "multimodal" if adapter == "multimodal_old_keys" else adapter
        expected = tensors(folder / source / "expected_logits.safetensors")
        for case in cases:
            if case["id"] in expected:
                yield case, adapter, expected[case["id"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cli")
    parser.add_argument("sets", nargs="+", type=pathlib.Path)
    parser.add_argument("--device-map", default="cpu")
    parser.add_argument("--bound", type=float, default=1e-4)
    parser.add_argument("--match", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    arguments = parser.parse_args()
    todo = []
    for root in arguments.sets:
        about = root / "about.json"
        noise = json.loads(about.read_text()).get("float32", {}) if about.is_file() else {}
        for family in ("e2b", "e4b", "dense31b", "moe26b"):
            if not (root / family / "cases.json").is_file():
                continue
            for case, adapter, want in cases_of(root, family):
                name = "/".join(filter(None, [family, adapter, case["id"]]))
                if arguments.match in name:
                    todo.append((root, family, case, adapter, want, name, noise.get(name)))
    rows, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        answers = pool.map(lambda t: run_case(arguments.cli, *t[:4], len(t[4]),
                                              arguments.device_map, folder), todo)
        for (root, _, _, _, want, name, noise), (got, wrong) in zip(todo, answers):
            off = np.inf
            if got is not None:
                want = want.astype(np.float64)
                off = float(np.abs(got - want).max() / np.abs(want).max())
                off = off if np.isfinite(off) else np.inf
            failed += not off <= arguments.bound
            rows[f"{root.name}/{name}"] = {"off": off, "transformers": noise}
            beside = f"  transformers {noise:.1e}" if noise is not None else ""
            print(f"{'ok  ' if off <= arguments.bound else 'FAIL'} {root.name}/{name}: "
                  f"{off:.1e}{beside} {' '.join(wrong)}", flush=True)
    worst = sorted(rows.items(), key=lambda row: -row[1]["off"])[:8]
    print(f"{len(rows)} cases on {arguments.device_map}, {failed} beyond {arguments.bound:g}; worst: " +
          ", ".join(f"{name} {row['off']:.1e}" for name, row in worst))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
