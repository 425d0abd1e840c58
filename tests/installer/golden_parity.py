# SPDX-License-Identifier: Apache-2.0
"""The command line against Hugging Face's own results: every family, adapter, 4-bit form and two maps
that split the model over simulated cards, each in a process of its own as a user starts it, in float32.

    golden_parity.py [--seen-at Z:] [--only WORD] [--jobs N] GOLDEN COMMAND...

GOLDEN is the unpacked folder (test-data/golden of a build), COMMAND starts belfry-cli, for example
"wine build/windows/app/belfry-cli.exe"; --seen-at stands before every path that the program is given.
Prints the largest difference of each group as a share of its largest value; ends with 1 when one is above
1e-4 or a run fails. Needs nothing but Python 3.
"""
import argparse
import array
import concurrent.futures
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

BOUND = 1e-4
LONGEST_RUN = 600  # seconds; a hang is told
FAMILIES = ("e2b", "e4b", "dense31b", "moe26b")
SAVED = {"e2b": ("nf4", "nf4-dq", "fp4"), "dense31b": ("nf4", "nf4-dq"), "moe26b": ("nf4-dq",)}
# Every other layer elsewhere; and the embedding, the head and the towers apart from the layers.
MAPS = {
    "layers in turn": {
        "default": "sim:0",
        "map": {"model.language_model.layers.%d" % i: ("sim:1", "cpu", "sim:0")[i % 3] for i in range(6)},
    },
    "towers and head apart": {
        "default": "sim:1",
        "map": {"model.vision_tower": "cpu", "lm_head": "sim:0", "model.language_model.embed_tokens": "sim:0"},
    },
}


def read_tensors(path):
    """name -> floats, of the F32 tensors of a safetensors file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = array.array("f", data[begin:end])
    return tensors


def largest_difference(found, expected):
    if len(found) != len(expected) or not all(map(math.isfinite, found)):
        return math.inf
    return max(abs(a - b) for a, b in zip(found, expected)) / max(abs(b) for b in expected)


def rows_of(golden, family):
    """(group, options, expected tensors, name of a case's tensor, rows from the end)"""
    folder = golden / family
    model = folder / "model"
    expected = {path.stem: read_tensors(path) for path in (folder / "expected").glob("*.safetensors")}
    logits = {case: tensors["logits"] for case, tensors in expected.items()}
    yield f"{family} bf16", model, [], logits, "{}", 32
    for name in MAPS:
        yield f"{family} bf16, {name}", model, ["--sim-gpu", "256MiB,256MiB", "--device-map", name], logits, "{}", 32
    for form in ("nf4", "nf4-dq", "fp4"):
        path = folder / "quantized" / f"{form}.expected_logits.safetensors"
        if path.exists():
            tensors = read_tensors(path)
            yield f"{family} {form} on load", model, ["--quant", form], tensors, "{}.logits_dequant_fp32", 8
            if form in SAVED.get(family, ()):
                saved = folder / "quantized" / f"{form}-checkpoint"
                yield f"{family} {form} as saved", saved, [], tensors, "{}.logits_dequant_fp32", 8
    for adapter in sorted((folder / "adapters").iterdir()):
        # Keys of modules that are not there change nothing.
        source = adapter.with_name(adapter.name.replace("_old_keys", "")) / "expected_logits.safetensors"
        yield f"{family} adapter {adapter.name}", model, ["--adapter", adapter], read_tensors(source), "{}", 8
    both = folder / "quantized" / "nf4-dq+multimodal.expected_logits.safetensors"
    if both.exists():
        words = ["--quant", "nf4-dq", "--adapter", folder / "adapters" / "multimodal"]
        yield f"{family} nf4-dq, adapter multimodal", model, words, read_tensors(both), "{}", 8


def compare(arguments, golden, folder, number, group_of_rows, cases):
    """What is printed, runs compared, largest difference, of one group; `folder` is for files of its own."""
    group, model, options, tensors, name, rows = group_of_rows
    out = folder / f"logits-{number}.safetensors"
    said = []
    largest = 0.0
    count = 0

    def word(value):
        value = map_file(folder, value) if value in MAPS else value
        return arguments.seen_at + str(value) if isinstance(value, pathlib.Path) else value

    for case in cases:
        expected = tensors.get(name.format(case["id"]))
        if expected is None:
            continue
        words = ["logits", model, "--precision", "f32", "--context", "256", "--threads", "1"]
        words += ["--ids", ",".join(map(str, case["input_ids"])), "--last", str(rows), "--out", out]
        words += options if "--device-map" in options else ["--device-map", "cpu", *options]
        for kind in ("image", "audio"):
            if case[kind]:
                words += [f"--{kind}", golden / case[kind]]
        out.unlink(missing_ok=True)
        try:
            run = subprocess.run(
                arguments.command + [word(value) for value in words], capture_output=True, check=False, timeout=LONGEST_RUN
            )
        except subprocess.TimeoutExpired:
            said.append(f"{group}, {case['id']}: no end after {LONGEST_RUN} s")
            largest = math.inf
            continue
        if run.returncode != 0 or not out.exists():
            said.append(f"{group}, {case['id']}: ended with {run.returncode}: " + run.stderr.decode("utf-8", "replace").strip())
            largest = math.inf
            continue
        largest = max(largest, largest_difference(read_tensors(out)["logits"], expected))
        count += 1
    good = largest <= BOUND and count > 0
    said.append(f"{group}: {count} cases, {largest:.2e}" + ("" if good else "  ABOVE THE BOUND"))
    return said, count, largest, good


def map_file(folder, name):
    return folder / (name.replace(" ", "-") + ".json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--seen-at", default="")
    parser.add_argument("--only", default="", help="groups whose name holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="groups at a time")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    golden = arguments.golden.resolve()
    compared = worst = failed = 0

    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as lanes:
        folder = pathlib.Path(temporary)
        for name, text in MAPS.items():
            map_file(folder, name).write_text(json.dumps({"version": 1, **text}))
        groups = []
        for family in FAMILIES:
            cases = json.loads((golden / family / "cases.json").read_text(encoding="utf-8"))
            for rows in rows_of(golden, family):
                if arguments.only in rows[0]:
                    groups.append(lanes.submit(compare, arguments, golden, folder, len(groups), rows, cases))
        for group in groups:
            said, count, largest, good = group.result()
            failed += not good
            compared += count
            worst = max(worst, largest)
            print("\n".join(said), flush=True)
    print(f"{compared} runs compared, largest difference {worst:.2e} (bound {BOUND:.0e}), {failed} groups failed")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
