# SPDX-License-Identifier: Apache-2.0
"""Belfry beside other engines on the same card, in turns, with medians and the card's ceiling.

An engine that is not there is left out, with a line saying what is missing. Random weights of the
exact shapes (e2b, e4b, 26b, 31b; e2b-16: bf16 instead of 4 bits); each engine loads its own 4-bit format. Memory is what the driver reports for the
whole card while the engine runs, less what it reports before.

usage: compare.py --bin FOLDER [--llama PROGRAM] [--llama-server PROGRAM] [--site FOLDER] [--work FOLDER]
                  [--shapes e2b,e4b] [--rounds 3] [--seconds 420] [--drafts 2,4] [--accept 0.65] [--json FILE]
  --bin      programs from tests/gpu/collect (belfry-cli, belfry_gpu_micro)
  --llama    llama_speed.cpp, linked with an installed llama.cpp; default BIN/llama_speed. Without it its server is
             asked for prompts and for decode at depth 0
  --llama-server  llama.cpp's own server, for --drafts; default: beside --llama
  --drafts   drafts of a round: decode with a random assistant of the published shape, of whose drafts --accept is
             accepted, each behind the one before (llama.cpp: --spec-synth-rates, from its builds of 2026-10 on)
  --site     a folder with Python packages that this machine lacks or has too old (bitsandbytes,
             transformers 5.24: before it prompts are not compared alike)
  --work     where models are written (13 GB for E2B, 21 GB for E4B with all engines, and 10 or 16 GB
             more while Belfry's loads are timed)
  --seconds  an engine's turn that would not end in time is left out; what is there is printed
  --try      not a comparison: programs that only print figures, without a card, to see the table
"""
import argparse
import json
import lzma
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# What a token reads from the cache: layers, period of full attention, window, heads of keys and values with and without it.
CACHE = {"e2b": (35, 5, 512, 1, 1), "e4b": (42, 6, 512, 2, 2), "26b": (30, 6, 1024, 8, 2), "31b": (60, 6, 1024, 16, 4),
         "tiny": (6, 3, 512, 1, 1)}
# Operations of an image of 2520 patches and of 10 s of sound, the same for both shapes.
TOWER_FLOPS = {"image": 1.08e12, "audio": 0.149e12}
UNITS = {"decode": "tokens/s", "drafts": "tokens/s", "adapter": "tokens/s", "prefill": "tokens/s", "adapter prefill": "tokens/s",
         "image": "ms", "audio": "ms", "memory 4k": "MiB", "load": "s", "load 4-bit": "s"}
# A picture and a sound count from pixels and spectrum, which is where transformers_speed starts.
# "load": a bf16 checkpoint, made 4 bits on the way; "load 4-bit": files that hold 4-bit weights.
LABELS = {"adapter": "decode with adapter, depth", "decode": "decode, depth", "drafts": "decode with drafts of a round",
          "prefill": "prompt of",
          "adapter prefill": "prompt with adapter, of", "image": "image to first token",
          "audio": "10 s of audio to first token", "memory 4k": "card memory, 4k context",
          "load": "load from bf16", "load 4-bit": "load of 4-bit files"}
ORDER = list(LABELS)
begin = time.monotonic()
longest = {}  # engine and shape: seconds of its longest turn


def say(text):
    print(f"[{time.monotonic() - begin:5.0f} s] {text}", flush=True)


def cache_bytes(shape, depth):
    layers, period, window, heads, full_heads = CACHE[base_of(shape)]
    total = 0
    for i in range(layers):
        full = i % period == period - 1
        total += 2 * 2 * (full_heads * 512 * depth if full else heads * 256 * min(depth, window))
    return total


def base_of(shape):
    return shape.removesuffix("-16")


def is_small(shape):
    """With towers for sound and rows per layer, which go to main memory."""
    return base_of(shape) in ("e2b", "e4b", "tiny")


class CardMemory:
    """The driver's figure for the whole card, sampled while an engine runs. Zeros without NVML."""

    def __init__(self):
        try:
            import pynvml
            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            self.used = lambda: pynvml.nvmlDeviceGetMemoryInfo(handle).used
            self.used()
        except Exception as error:
            say(f"no figures of card memory: {error}")
            self.used = lambda: 0

    def __enter__(self):
        self.before, self.peak, self.done = self.used(), 0, False
        def sample():
            while not self.done:
                self.peak = max(self.peak, self.used())
                time.sleep(0.02)
        self.thread = threading.Thread(target=sample)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.thread.join()

    def mib(self):
        return (self.peak - self.before) / 2**20


class Engines:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = os.path.abspath(arguments.bin)
        self.memory = CardMemory()
        self.llama = arguments.llama or os.path.join(self.folder, "llama_speed")
        self.server = arguments.llama_server or os.path.join(os.path.dirname(self.llama), "llama-server")
        self.drafts = [int(k) for k in arguments.drafts.split(",") if k]
        self.own = dict(os.environ)
        self.own["LD_LIBRARY_PATH"] = os.path.join(self.folder, "lib") + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        self.loads = {}  # Belfry's, by shape: measured once, the files are large
        self.python = dict(os.environ)
        if arguments.site:
            self.python["PYTHONPATH"] = os.path.abspath(arguments.site) + ":" + self.python.get("PYTHONPATH", "")

    def left(self):
        return self.arguments.seconds - (time.monotonic() - begin)

    def run(self, command, environment=None):
        """Standard output, or None after saying why."""
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=environment or self.own, timeout=max(5, self.left() + 30))
        except subprocess.TimeoutExpired as late:
            say(f"{os.path.basename(command[0])} was stopped: no time is left")
            return (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout
        except OSError as error:
            say(f"{os.path.basename(command[0])}: {error}")
            return None
        if done.returncode != 0:
            say(f"{' '.join(map(os.path.basename, command[:2]))} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
            # A later step may have failed: figures before it count.
            return done.stdout or None
        return done.stdout

    def ceilings(self):
        """Bytes and operations per second of this card."""
        path = os.path.join(tempfile.mkdtemp(), "micro.json")
        rows = {}
        if self.run([os.path.join(self.folder, "belfry_gpu_micro"), "--json", path]) is not None and os.path.exists(path):
            with open(path) as file:
                rows = {row["name"]: row["value"] for row in json.load(file)["rows"]}
        reading = next((v for k, v in rows.items() if k.startswith("a. reading")), 0.0) * 1e9
        rate = next((v for k, v in rows.items() if k.startswith("tensor cores")), 0.0) * 1e12
        # A library's large product beats mma.sync on cards with wider instructions.
        product = self.run([sys.executable, "-c", (
            "import torch,time\n"
            "a=torch.randn(8192,8192,device='cuda',dtype=torch.bfloat16);b=torch.randn_like(a)\n"
            "best=0\n"
            "for i in range(8):\n"
            "  torch.cuda.synchronize();t=time.perf_counter()\n"
            "  for _ in range(4): c=a@b\n"
            "  torch.cuda.synchronize();best=max(best,4*2*8192**3/(time.perf_counter()-t))\n"
            "print(best)")], self.python)
        return reading, max(rate, float(product or 0.0))

    def belfry(self, shape):
        quant, head = ("none", "bf16") if shape.endswith("-16") else ("nf4-dq+experts" if shape == "26b" else "nf4-dq", "int8")
        common = [os.path.join(self.folder, "belfry-cli"), "bench", "--shape", base_of(shape), "--quant", quant, "--head", head, "--json"]
        placed = common + ["--device-map", "ple-cpu" if is_small(shape) else "gpu"]
        text = self.run(placed + ["--prefill", self.arguments.prefill, "--decode", "128", "--depth", self.arguments.depth] +
                        ["--no-towers"] * (shape not in ("e2b", "e4b")))
        if text is None:
            return None
        result = json.loads(text)
        # Not load_s: a shape's weights are drawn, not read.
        figures, need = dict(self.belfry_loads(shape)), {}
        for row in result["prefill"]:
            figures[("prefill", row["tokens"])] = row["tokens_per_s"]
            need["flops"] = row["gflops"] * 1e9 / max(row["tokens_per_s"], 1e-9)
        for row in result["decode"]:
            figures[("decode", row["depth"])] = row["tokens_per_s"]
            need["bytes"] = row["weight_gb_per_s"] * 1e9 / max(row["tokens_per_s"], 1e-9)
        for media in ("image", "audio"):
            if media in result:
                # The whole request less reading and preparing the file.
                figures[(media, 0)] = 1000 * (result[media]["first_token_s"] - result[media]["prepare_s"])
        text = self.run(placed + ["--prefill", self.arguments.prefill, "--decode", "128", "--depth", "0", "--adapter-rank", "16",
                                  "--no-towers", "--no-ceiling"])
        if text is not None:
            result = json.loads(text)
            need["adapter"] = sum(device["adapter"] for device in result["memory"].values())
            figures[("adapter", 0)] = result["decode"][0]["tokens_per_s"]
            for row in result["prefill"]:
                figures[("adapter prefill", row["tokens"])] = row["tokens_per_s"]
        for k in self.drafts:
            text = self.run(placed + ["--prefill", "0", "--decode", "256", "--depth", "0", "--draft", "auto", "--draft-tokens", str(k),
                                      "--draft-accept", str(self.arguments.accept), "--no-towers", "--no-ceiling"])
            for row in json.loads(text)["decode"] if text else []:
                figures[("drafts", k)] = row["drafts"]["tokens_per_s"]
        with self.memory as memory:
            if self.run(common + ["--device-map", "lean", "--context", "4096", "--prefill", "512", "--decode", "16",
                                  "--depth", "0", "--no-towers", "--no-ceiling"]) is not None and memory.peak:
                figures[("memory 4k", 0)] = memory.mib()
        figures["need"] = need
        return figures

    def belfry_loads(self, shape):
        """Seconds until a model folder is loaded, from bf16 and from the cache of 4-bit weights."""
        if shape in self.loads:
            return self.loads[shape]
        if shape not in ("e2b", "e4b"):
            return {}
        self.loads[shape] = {}
        program = os.path.join(self.folder, "belfry_gpu_load")
        folder = os.path.join(self.arguments.work, shape + "-belfry")
        if not os.access(program, os.X_OK):
            say(f"loads of Belfry are left out: {program} is not there")
            return {}
        os.makedirs(folder, exist_ok=True)
        vocabulary, result = os.path.join(folder, "vocabulary.json"), os.path.join(folder, "loads.json")
        try:
            with lzma.open(os.path.join(ROOT, "tests/data/gemma_tokenizer.json.xz")) as packed, open(vocabulary, "wb") as file:
                shutil.copyfileobj(packed, file)
            if self.run([program, "write", shape, os.path.join(folder, "model"), vocabulary]) is None:
                return {}
            self.run([program, "time", os.path.join(folder, "model"), "--map", "ple-cpu", "--cache",
                      os.path.join(folder, "cache"), "--json", result])
            if os.path.exists(result):
                with open(result) as file:
                    runs = json.load(file).get("runs", [])
                for case, name in (("load", "from bf16"), ("load 4-bit", "from the cache")):
                    seconds = [run["loaded_s"] for run in runs if run["name"] == name]
                    if seconds:
                        self.loads[shape][(case, 0)] = statistics.median(seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # 10 or 16 GB
        return self.loads[shape]

    def llama_cpp(self, shape):
        base = os.path.join(self.arguments.work, shape)
        has_speed = os.access(self.llama, os.X_OK)
        if not has_speed and not os.access(self.server, os.X_OK):
            say(f"llama.cpp is left out: neither {self.llama} (llama_speed.cpp, linked with an installed llama.cpp) nor {self.server} is there")
            return None
        if not os.path.exists(base + ".gguf"):
            if self.run([sys.executable, os.path.join(HERE, "write_gguf.py"), base + ".gguf.new", shape,
                         os.path.join(ROOT, "tests/data/gemma_tokenizer.json.xz"), base + "_adapter.gguf",
                         base + "_assistant.gguf"], self.python) is None:
                return None
            os.rename(base + ".gguf.new", base + ".gguf")
            say(f"{base}.gguf is written")
        # Without the libraries gathered for our own programs: it may need newer ones.
        figures = {}
        if has_speed:
            with self.memory as memory:
                self.run([self.llama, base + ".gguf", "512", "16", "0", "1", "4096"], dict(os.environ))
            figures = self.rows_of(self.run([self.llama, base + ".gguf", self.arguments.prefill, "128", self.arguments.depth, "2",
                                             "0", base + "_adapter.gguf"], dict(os.environ)))
            if ("load", 0) in figures:
                figures[("load 4-bit", 0)] = figures.pop(("load", 0))
            if figures and memory.peak:
                figures[("memory 4k", 0)] = memory.mib()
        elif not self.llama_served(base, 0, figures):
            return None
        for k in self.drafts:
            self.llama_served(base, k, figures)
        return figures or None

    def llama_served(self, base, drafts, figures):
        """Adds what its server says of itself, the best of two answers behind one to warm up: prompts and decode, or decode
        with so many drafts a round. False without an answer."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [self.server, "-m", base + ".gguf", "-ngl", "99", "-fa", "on", "-np", "1", "--host", "127.0.0.1", "--port", str(port)]
        lengths = [int(length) for length in self.arguments.prefill.split(",")]
        if drafts:
            lengths = []
            rates = ",".join(f"{self.arguments.accept ** (i + 1):.6f}" for i in range(drafts))
            command += ["-md", base + "_assistant.gguf", "-ngld", "99", "--spec-type", "draft-mtp", "--spec-draft-n-max", str(drafts),
                        "--spec-synth-rates", rates]
        command += ["-c", str(max(lengths + [0]) + 4096)]
        log = os.path.join(self.arguments.work, "llama-server.log")
        try:
            with open(log, "w") as out:
                server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        except OSError as error:
            say(f"llama.cpp's server is left out: {error}")
            return False
        try:
            for length in lengths:
                rates = [self.asked(server, port, length, 1)["prompt_per_second"] for _ in range(3)]
                figures[("prefill", length)] = max(rates[1:])
            timings = [self.asked(server, port, 4, 256) for _ in range(3)]
            figures[("drafts", drafts) if drafts else ("decode", 0)] = max(t["predicted_per_second"] for t in timings[1:])
            if drafts:
                accepted, drafted = (sum(t[name] for t in timings) for name in ("draft_n_accepted", "draft_n"))
                say(f"llama.cpp's server, {drafts} drafts: {accepted} of {drafted} accepted")
            return True
        except (OSError, KeyError, ValueError) as error:
            with open(log) as file:
                say(f"llama.cpp's server gave no answer ({error!r}): {file.read()[-400:]}")
            return False
        finally:
            server.terminate()
            server.wait()

    def asked(self, server, port, length, count):
        """Its timings of an answer of `count` tokens to a prompt of `length`, as soon as it is there."""
        text = json.dumps({"prompt": [2] + [1000 + i for i in range(length - 1)], "n_predict": count, "temperature": 0,
                           "ignore_eos": True, "cache_prompt": False}).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/completion", text, {"Content-Type": "application/json"})
        until = time.monotonic() + max(5, min(120, self.left()))
        while True:
            try:
                with urllib.request.urlopen(asked, timeout=120) as answer:
                    return json.load(answer)["timings"]
            except OSError:  # not there yet, or still loading
                if server.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def transformers(self, shape):
        folder = os.path.join(self.arguments.work, shape)
        device = ["--device", "cpu"] if self.arguments.trial else []
        script = [sys.executable, os.path.join(HERE, "transformers_speed.py"), shape, "--folder", folder]
        # The checkpoint is made on the card; apart, so that a turn's memory is that of the turn.
        if self.run(script + ["--write-only"] + device, self.python) is None:
            return None
        before = self.memory.used()
        text = self.run(script + ["--prefill", self.arguments.prefill, "--decode", "32", "--repeats", "2", "--towers",
                                  "--adapter", "16"] + device, self.python)
        figures = self.rows_of(text)
        used = figures.pop("card_used_mib", 0.0)
        if used and before:
            figures[("memory 4k", 0)] = used - before / 2**20
        return figures or None

    @staticmethod
    def rows_of(text):
        """Figures by (case, number) of llama_speed and transformers_speed."""
        figures = {}
        for line in (text or "").splitlines():
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            if row["case"] == "versions":
                say("transformers' turn: " + ", ".join(f"{k} {v}" for k, v in row.items() if k != "case"))
                if tuple(int(part) for part in row["transformers"].split(".")[:2]) < (5, 24):
                    say("prompts are not compared alike: before 5.24 transformers runs KV-shared layers on every row of a prompt")
            elif row["case"] == "left out":
                say(f"transformers, {row['name']}: {row['why']}")
            elif "card_used_mib" in row:
                figures["card_used_mib"] = row["card_used_mib"]
            elif row["case"] in ("image", "audio"):
                figures[(row["case"], 0)] = 1000 * row["seconds"]
            elif row["case"] in UNITS:
                figures[(row["case"], row.get("tokens", row.get("depth", 0)))] = row.get("tokens_per_s", row.get("seconds"))
        return figures


def ceiling(shape, key, need, bandwidth, operations):
    case, number = key
    if case == "decode" and need.get("bytes") and bandwidth:
        return bandwidth / (need["bytes"] + cache_bytes(shape, number))
    if case == "adapter" and need.get("adapter") and bandwidth:
        return bandwidth / (need["bytes"] + need["adapter"])
    if case in ("prefill", "adapter prefill") and need.get("flops") and operations:
        return operations / need["flops"]
    if case in TOWER_FLOPS and operations and shape in ("e2b", "e4b"):
        return 1000 * TOWER_FLOPS[case] / operations
    return None


def table(shape, medians, top):
    lines = [f"\n{shape:40}" + "".join(f"{name:>16}" for name in medians) + f"{'ceiling':>12}{'Belfry of it':>14}"]
    keys = sorted({key for figures in medians.values() for key in figures}, key=lambda k: (ORDER.index(k[0]), k[1]))
    for key in keys:
        case, number = key
        label = f"{LABELS[case]}{f' {number}' if case in ('decode', 'drafts', 'adapter', 'prefill', 'adapter prefill') else ''} [{UNITS[case]}]"
        digits = 2 if UNITS[case] == "s" else 1
        cells = "".join(f"{figures[key]:16.{digits}f}" if key in figures else f"{'-':>16}" for figures in medians.values())
        best, own = top.get(key), medians.get("Belfry", {}).get(key)
        cells += f"{best:12.1f}" if best else f"{'-':>12}"
        if best and own:
            cells += f"{100 * (best / own if case in TOWER_FLOPS else own / best):12.0f} %"
        lines.append(f"{label:40}{cells}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llama")
    parser.add_argument("--llama-server")
    parser.add_argument("--drafts", default="")
    parser.add_argument("--accept", type=float, default=0.65)
    parser.add_argument("--site")
    parser.add_argument("--work", default="/tmp/belfry-peers")
    parser.add_argument("--shapes", default="e2b,e4b")
    parser.add_argument("--engines", default="Belfry,llama.cpp,transformers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--prefill", default="64,512,4096")
    parser.add_argument("--depth", default="0,4096,32768")
    parser.add_argument("--json")
    parser.add_argument("--try", dest="trial", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    engines = Engines(arguments)
    bandwidth, operations = engines.ceilings()
    say(f"ceilings of this card: {bandwidth / 1e9:.0f} GB/s read, {operations / 1e12:.0f} TFLOP/s")
    report = {"bytes_per_s": bandwidth, "operations_per_s": operations, "shapes": {}}
    turns = {"Belfry": engines.belfry, "llama.cpp": engines.llama_cpp, "transformers": engines.transformers}
    names = [name for name in turns if name in arguments.engines.split(",")]
    missing = set()
    tables = []
    for shape in arguments.shapes.split(","):
        gathered = {name: [] for name in names}
        need = {}
        if "Belfry" in names:
            engines.belfry_loads(shape)  # not in a turn: rounds are planned by the longest one
        for number in range(arguments.rounds):
            for name in names:
                if (name, shape) in missing:
                    continue
                expected = longest.get((name, shape), longest.get((name, "e2b"), 0.0))
                if expected > engines.left():
                    say(f"{shape}, round {number + 1}, {name}: left out, its turn takes {expected:.0f} s and {engines.left():.0f} s are left")
                    continue
                start = time.monotonic()
                figures = turns[name](shape)
                longest[(name, shape)] = max(expected, time.monotonic() - start)
                say(f"{shape}, round {number + 1} of {arguments.rounds}, {name}: {time.monotonic() - start:.0f} s")
                if figures is None:
                    missing.add((name, shape))
                    continue
                need = figures.pop("need", need)
                gathered[name].append(figures)
        medians = {name: {key: statistics.median(f[key] for f in rounds if key in f)
                          for key in {key for f in rounds for key in f}} for name, rounds in gathered.items()}
        keys = {key for figures in medians.values() for key in figures}
        top = {key: ceiling(shape, key, need, bandwidth, operations) for key in keys}
        tables.append(table(shape, medians, top))
        print(tables[-1], flush=True)
        medians["ceiling"] = {key: value for key, value in top.items() if value}
        report["shapes"][shape] = {name: {f"{c} {n}": v for (c, n), v in values.items()} for name, values in medians.items()}
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump(report, file, indent=1)
    return 1 if any(not found for values in report["shapes"].values() for found in values.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
