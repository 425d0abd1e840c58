# SPDX-License-Identifier: Apache-2.0
"""Belfry beside other engines on the same card, in turns, with medians and the card's ceiling.

An engine that is not there is left out, with a line saying what is missing. Random weights of the
exact shapes; each engine loads its own 4-bit format.

usage: compare.py --bin FOLDER [--llama PROGRAM] [--site FOLDER] [--work FOLDER] [--shapes e2b,e4b]
                  [--rounds 3] [--json FILE]
  --bin    programs from tests/gpu/collect (belfry-cli, belfry_gpu_micro)
  --llama  llama_speed from tests/gpu/peers/build_llama; default BIN/llama_speed
  --site   a folder with Python packages that this machine lacks (bitsandbytes)
  --work   where checkpoints are written (11 GB for E2B, 16 GB for E4B with all engines)
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# Layers, period of full attention, heads of keys and values: what a token reads from the cache.
CACHE = {"e2b": (35, 5, 1), "e4b": (42, 6, 2)}


def cache_bytes(shape, depth):
    layers, period, heads = CACHE[shape]
    total = 0
    for i in range(layers):
        full = i % period == period - 1
        total += 2 * heads * (512 if full else 256) * 2 * (depth if full else min(depth, 512))
    return total


def run(command, environment=None):
    """Standard output, or None after saying why."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=480)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"  {os.path.basename(command[0])}: {error}", flush=True)
        return None
    if done.returncode != 0:
        print(f"  {' '.join(map(os.path.basename, command[:2]))} ended with {done.returncode}: {done.stderr.strip()[-400:]}", flush=True)
        return None
    return done.stdout


def rows_of(text):
    """Figures by (case, number) of llama_speed and transformers_speed."""
    figures = {}
    for line in (text or "").splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            key = (row["case"], row.get("tokens", row.get("depth", 0)))
            figures[key] = row.get("tokens_per_s", row.get("seconds", row.get("card_mib", 0)))
    return figures


def belfry(bin_folder, shape, arguments):
    text = run([os.path.join(bin_folder, "belfry-cli"), "bench", "--shape", shape, "--device-map", "ple-cpu",
                "--quant", "nf4-dq", "--head", "int8", "--prefill", arguments.prefill, "--decode", "128",
                "--depth", arguments.depth, "--no-towers", "--json"])
    if text is None:
        return {}, {}
    result = json.loads(text)
    figures = {("load", 0): result["load_s"]}
    need = {}
    for row in result["prefill"]:
        figures[("prefill", row["tokens"])] = row["tokens_per_s"]
        need["flops"] = row["gflops"] * 1e9 / max(row["tokens_per_s"], 1e-9)
    for row in result["decode"]:
        figures[("decode", row["depth"])] = row["tokens_per_s"]
        need["bytes"] = row["weight_gb_per_s"] * 1e9 / max(row["tokens_per_s"], 1e-9)
    card = result.get("memory", {}).get("cuda:0")
    if card:
        figures[("memory", 0)] = card["total"] / 2**20
    return figures, need


def ceilings(bin_folder):
    """Bytes and operations per second of this card."""
    path = os.path.join(tempfile.mkdtemp(), "micro.json")
    if run([os.path.join(bin_folder, "belfry_gpu_micro"), "--json", path]) is None:
        return 0.0, 0.0
    with open(path) as file:
        rows = {row["name"]: row["value"] for row in json.load(file)["rows"]}
    reading = next((v for k, v in rows.items() if k.startswith("a. reading")), 0.0) * 1e9
    rate = next((v for k, v in rows.items() if k.startswith("tensor cores")), 0.0) * 1e12
    # A library's large product beats mma.sync on cards with wider instructions.
    product = run([sys.executable, "-c", (
        "import torch,time\n"
        "a=torch.randn(8192,8192,device='cuda',dtype=torch.bfloat16);b=torch.randn_like(a)\n"
        "best=0\n"
        "for i in range(8):\n"
        "  torch.cuda.synchronize();t=time.perf_counter()\n"
        "  for _ in range(4): c=a@b\n"
        "  torch.cuda.synchronize();best=max(best,4*2*8192**3/(time.perf_counter()-t))\n"
        "print(best)")])
    return reading, max(rate, float(product or 0.0))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llama")
    parser.add_argument("--site")
    parser.add_argument("--work", default="/tmp/belfry-peers")
    parser.add_argument("--shapes", default="e2b,e4b")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prefill", default="512,4096")
    parser.add_argument("--depth", default="0,4096,32768")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    folder = os.path.abspath(arguments.bin)
    os.environ["LD_LIBRARY_PATH"] = os.path.join(folder, "lib") + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    python = dict(os.environ)
    python["LD_LIBRARY_PATH"] = python["LD_LIBRARY_PATH"].split(":", 1)[1]
    if arguments.site:
        python["PYTHONPATH"] = os.path.abspath(arguments.site) + ":" + python.get("PYTHONPATH", "")
    llama = arguments.llama or os.path.join(folder, "llama_speed")

    bandwidth, operations = ceilings(folder)
    print(f"ceilings of this card: {bandwidth / 1e9:.0f} GB/s read, {operations / 1e12:.0f} TFLOP/s", flush=True)
    report = {"bytes_per_s": bandwidth, "operations_per_s": operations, "shapes": {}}
    for shape in arguments.shapes.split(","):
        gguf = os.path.join(arguments.work, shape + ".gguf")
        has_llama = os.access(llama, os.X_OK)
        if has_llama and not os.path.exists(gguf):
            has_llama = run([sys.executable, os.path.join(HERE, "write_gguf.py"), gguf, shape,
                             os.path.join(ROOT, "tests/data/gemma_tokenizer.json.xz")]) is not None
        elif not has_llama:
            print(f"llama.cpp is left out: {llama} is not there (tests/gpu/peers/build_llama makes it)")
        has_transformers = True
        gathered = {"Belfry": [], "llama.cpp": [], "transformers": []}
        need = {}
        for number in range(arguments.rounds):
            print(f"{shape}, round {number + 1} of {arguments.rounds}", flush=True)
            figures, found = belfry(folder, shape, arguments)
            need = found or need
            gathered["Belfry"].append(figures)
            if has_llama:
                gathered["llama.cpp"].append(rows_of(run([llama, gguf, arguments.prefill, "128", arguments.depth, "3"])))
            if has_transformers:
                text = run([sys.executable, os.path.join(HERE, "transformers_speed.py"), shape, "--folder",
                            os.path.join(arguments.work, shape), "--prefill", arguments.prefill], python)
                has_transformers = text is not None
                gathered["transformers"].append(rows_of(text))
        medians = {}
        for engine, rounds in gathered.items():
            keys = {key for figures in rounds for key in figures if key[0] != "versions"}
            medians[engine] = {key: statistics.median(f[key] for f in rounds if key in f) for key in keys}
        top = {}
        for case, number in set().union(*medians.values()):
            if case == "decode" and need.get("bytes") and bandwidth:
                top[(case, number)] = bandwidth / (need["bytes"] + cache_bytes(shape, number))
            elif case == "prefill" and need.get("flops") and operations:
                top[(case, number)] = operations / need["flops"]
        medians["ceiling"] = top
        units = {"decode": "tokens/s", "prefill": "tokens/s", "load": "s", "memory": "MiB"}
        print(f"\n{shape:24}" + "".join(f"{name:>14}" for name in medians))
        for case, number in sorted(set().union(*medians.values())):
            label = f"{case} {number if case in ('decode', 'prefill') else ''} [{units.get(case, '')}]"
            cells = [medians[name].get((case, number)) for name in medians]
            print(f"{label:24}" + "".join(f"{cell:14.1f}" if cell is not None else f"{'-':>14}" for cell in cells), flush=True)
        report["shapes"][shape] = {name: {f"{c} {n}": v for (c, n), v in values.items()} for name, values in medians.items()}
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
