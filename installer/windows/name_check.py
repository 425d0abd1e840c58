#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""name_check.py WINE_SH PROGRAM: belfry-cli.exe refuses every shard name of tests/engine/files/malformed_index.h
(".." and drives, shares, devices, streams, reserved names, what Windows reads as another name) and opens nothing
for it that it does not open for a folder with harmless names. Opens are seen by strace, in the program and in
wine's server, which opens files for it. Exit code 77: nothing can be traced here.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/engine/files/malformed_index.h"
LEAST_NAMES = 60
CALLS = "trace=open,openat,openat2,creat"
# Which wine's server saves now and then, first under a name of its process id in hexadecimal digits.
REGISTRY = re.compile(r"(system|user|userdef)[.]reg|reg[0-9a-fN]+[.]tmp")


def hostile_names():
    """The table's names, as an index holds them (JSON, escapes included)."""
    text = TABLE.read_text(encoding="utf-8")
    table = text[text.index("const BadName names[] = {"):]
    table = table[:table.index("\n    };")]
    entry = re.compile(r'\{"[^"]*",\s*(?:R"\((?P<raw>.*?)\)"|"(?P<text>(?:[^"\\]|\\.)*)"),\s*"', re.S)
    names = []
    for found in entry.finditer(table):
        if found["raw"] is not None:
            names.append(found["raw"])
        else:  # C++'s escapes are Python's; bytes of UTF-8 are written one by one
            names.append(found["text"].encode().decode("unicode_escape").encode("latin-1").decode("utf-8"))
    return names


class Tracer:
    """What wine's server opens while a block runs; opened() adds what the programs' own traces hold."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "server"

    def __enter__(self):
        for old in self.folder.iterdir():
            old.unlink()
        server = subprocess.run(["pgrep", "-n", "-x", "wineserver(32|64)?"], capture_output=True, text=True)
        if not server.stdout.strip():
            sys.exit("name_check.py: wine's server does not run")
        self.strace = subprocess.Popen(
            ["strace", "-f", "-qq", "-s", "4096", "-e", CALLS, "-o", self.log, "-p", server.stdout.strip()],
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while not self.log.exists() and self.strace.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        if self.strace.poll() is not None:
            print("name_check.py: strace may not look at other processes here")
            sys.exit(77)
        return self

    def __exit__(self, *_):
        self.strace.terminate()
        self.strace.wait()

    def opened(self):
        paths = set()
        for log in self.folder.iterdir():
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                found = re.search(r'"((?:[^"\\]|\\.)*)"', line)
                if found:
                    paths.add(re.sub(r"\d+", "N", found[1]))
        return paths


class Check:
    def __init__(self, wine, program, work):
        self.wine, self.program = wine, program
        users = pathlib.Path(os.environ["WINEPREFIX"]) / "drive_c/users"
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="names-", dir=users))
        self.traces = work / "traces"
        self.traces.mkdir()

    def folder(self, shard, number):
        """A model folder whose index names `shard`."""
        folder = self.place / "inner" / f"model{number}"
        shutil.rmtree(folder, ignore_errors=True)
        left_out = shutil.ignore_patterns("training", "eval", "samples", "assistant", "model.safetensors")
        shutil.copytree(ROOT / "resources/demo_model", folder, ignore=left_out)
        (folder / "model.safetensors.index.json").write_text('{"weight_map":{"a":"' + shard + '"}}', encoding="utf-8")
        return folder

    def inspect(self, shard, number):
        folder = self.folder(shard, number)
        command = ["strace", "-f", "-qq", "-s", "4096", "-e", CALLS, "-o", self.traces / f"program{number}",
                   self.wine, self.program, "inspect", "Z:" + str(folder)]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    def outside(self, before, after):
        # In a folder under test: neither beside it by way of .. nor in a folder of it.
        model = re.sub(r"\d+", "N", str(self.place / "inner" / "model0"))
        inside = re.compile(".*" + re.escape(model) + "(/[^/]*)?")
        return sorted(path for path in after - before
                      if not inside.fullmatch(os.path.normpath(path)) and not REGISTRY.fullmatch(path))


def main():
    wine, program = sys.argv[1:3]
    names = hostile_names()
    if len(names) < LEAST_NAMES:
        sys.exit(f"name_check.py: {TABLE} has {len(names)} names in a form that is known here, expected {LEAST_NAMES}")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("name_check.py: strace may not trace here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        check = Check(wine, program, pathlib.Path(work))
        # Baits: what would be there if the program asked.
        for bait in ("x.safetensors", "y.safetensors", "model-00001-of-00002.safetensors"):
            for folder in (check.place, check.place / "inner", check.place / "inner" / "sub"):
                folder.mkdir(exist_ok=True, parents=True)
                (folder / bait).write_bytes(b"bait")
        try:
            with Tracer(check.traces) as tracer:
                for number in range(3):
                    missing = check.inspect(f"missing-{number}.safetensors", number)
                    if "missing-" not in missing.stderr + missing.stdout:
                        sys.exit(f"a missing shard is not named: {missing.stdout}{missing.stderr}")
                harmless = tracer.opened()
            failed = []
            with Tracer(check.traces) as tracer:
                with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
                    answers = threads.map(check.inspect, names, range(len(names)))
                for name, asked in zip(names, answers):
                    if asked.returncode == 0 or not re.search(r"is refused|does not end", asked.stdout + asked.stderr):
                        failed.append(f"{name}: exit code {asked.returncode}: {asked.stdout}{asked.stderr}")
                opened = check.outside(harmless, tracer.opened())
            with Tracer(check.traces) as tracer:  # that an open of a bait is seen
                cmd = pathlib.Path(os.environ["WINEPREFIX"]) / "drive_c/windows/system32/cmd.exe"
                bait = "Z:" + str(check.place / "inner" / "x.safetensors").replace("/", "\\")
                subprocess.run([wine, cmd, "/c", "type", bait], stdin=subprocess.DEVNULL, capture_output=True)
                seen = [path for path in check.outside(harmless, tracer.opened()) if path.endswith("inner/x.safetensors")]
        finally:
            shutil.rmtree(check.place)
    for line in failed + [f"opened outside the folder: {path}" for path in opened]:
        print(line, file=sys.stderr)
    if not seen:
        sys.exit("name_check.py: an open of a bait is not seen: this check sees nothing")
    if failed or opened:
        sys.exit(1)
    print(f"{len(names)} hostile shard names refused, nothing opened outside the folder")


if __name__ == "__main__":
    main()
