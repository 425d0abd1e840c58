# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the demo model through belfry-cli on a set that make_eval.py wrote: exact answers,
greedy, by group. evaluate_cli.py --cli build/release/app/belfry-cli --set DIR [--config nf4|bf16]
Questions of the group `new` are asked with the adapter, without it and (--language-half DIR, an
adapter folder without its tower tensors, made when it does not exist) with half of it."""

import argparse
import collections
import json
import pathlib
import shutil
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor

MODEL = pathlib.Path(__file__).resolve().parent.parent
CONFIGS = {"nf4": ["--quant", "nf4-dq", "--head", "int8"], "bf16": []}


def ask(cli, folder, question, options):
    command = [cli, "chat", str(MODEL), "--json", "--temperature", "0", "--max-tokens", "64",
               "--context", "512", "--threads", "1", *options, "--prompt", question["question"]]
    for kind in ("image", "audio"):
        if question.get(kind):
            command += [f"--{kind}", str(folder / question[kind])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"error: {done.stderr.strip()}"
    return json.loads(done.stdout)["reply"]


def make_language_half(folder):
    """The shipped adapter without its tensors of the two towers and projectors."""
    folder.mkdir(parents=True)
    shutil.copy(MODEL / "adapter" / "adapter_config.json", folder)
    data = (MODEL / "adapter" / "adapter_model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    kept, body = {}, b""
    for key, entry in sorted(json.loads(data[8:8 + size]).items()):
        if ".language_model." not in key:
            continue
        begin, end = entry["data_offsets"]
        kept[key] = {**entry, "data_offsets": [len(body), len(body) + end - begin]}
        body += data[8 + size + begin:8 + size + end]
    header = json.dumps(kept).encode()
    header += b" " * (-len(header) % 8)
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli", required=True)
    parser.add_argument("--set", required=True, type=pathlib.Path)
    parser.add_argument("--config", choices=CONFIGS, default="nf4")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0, help="questions per group, 0 = all")
    parser.add_argument("--groups", nargs="+", default=[], help="only these groups")
    parser.add_argument("--language-half", default="")
    arguments = parser.parse_args()
    if arguments.language_half and not pathlib.Path(arguments.language_half).exists():
        make_language_half(pathlib.Path(arguments.language_half))
    questions = json.loads((arguments.set / "questions.json").read_text())
    jobs = []
    seen = collections.Counter()
    for question in questions:
        if arguments.groups and question["group"] not in arguments.groups:
            continue
        seen[question["group"]] += 1
        if arguments.limit and seen[question["group"]] > arguments.limit:
            continue
        options = CONFIGS[arguments.config]
        if question["group"] != "new":
            jobs.append((question["group"], question, options))
            continue
        jobs.append(("new, with adapter", question, [*options, "--adapter", str(MODEL / "adapter")]))
        jobs.append(("new, without adapter", question, options))
        if arguments.language_half:
            jobs.append(("new, language half", question, [*options, "--adapter", arguments.language_half]))
    right, total = collections.Counter(), collections.Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        replies = pool.map(lambda job: ask(arguments.cli, arguments.set, job[1], job[2]), jobs)
        for (group, question, _), reply in zip(jobs, replies):
            total[group] += 1
            right[group] += reply == question["answer"]
    for group in total:
        print(f"{group:24} {right[group]:5} of {total[group]:5}  {100 * right[group] / total[group]:6.2f} %")


if __name__ == "__main__":
    main()
