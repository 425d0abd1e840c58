# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the demo model through belfry-cli on a set that make_eval.py wrote: exact answers,
greedy, by group. evaluate_cli.py --cli build/release/app/belfry-cli --set DIR [--config nf4|bf16]
Questions of the group `new` are asked with the adapter, without it and (--language-half DIR, an
adapter folder without its tower tensors) with half of it."""

import argparse
import collections
import json
import pathlib
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli", required=True)
    parser.add_argument("--set", required=True, type=pathlib.Path)
    parser.add_argument("--config", choices=CONFIGS, default="nf4")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0, help="questions per group, 0 = all")
    parser.add_argument("--language-half", default="")
    arguments = parser.parse_args()
    questions = json.loads((arguments.set / "questions.json").read_text())
    jobs = []
    seen = collections.Counter()
    for question in questions:
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
