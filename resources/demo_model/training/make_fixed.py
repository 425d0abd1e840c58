# SPDX-License-Identifier: Apache-2.0
"""Picks the 60 questions of the placement test out of candidates that were asked already.

Taken are questions that bf16 and NF4 both answer right by a clear margin of logits, so that a
correct engine gives the same words on every placement; the adapter's own questions must also fail
when its tower half is missing. Expected answers are the generator's truth, not a model's output.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

WANTED = {"picture": 16, "sound": 8, "word": 8, "both": 10, "text": 4, "unknown": 2, "new": 12}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", required=True, help="folder of make_eval.py")
    parser.add_argument("--report", required=True, help="evaluate.py --out over that folder")
    parser.add_argument("--out", required=True)
    parser.add_argument("--margin", type=float, default=2.5)
    parser.add_argument("--longest", type=int, default=52000, help="bytes of a sound file")
    args = parser.parse_args()
    source, out = Path(args.candidates), Path(args.out)
    rows = json.loads((source / "questions.json").read_text(encoding="utf-8"))
    report = json.loads(Path(args.report).read_text(encoding="utf-8"))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    taken, left, kinds = [], dict(WANTED), {}
    for row in rows:
        new = row["group"] == "new"
        runs = ["bf16:adapter", "nf4:adapter"] if new else ["bf16", "nf4"]
        if not left[row["group"]] or any(report[r]["replies"][row["id"]] != row["answer"]
                                         for r in runs):
            continue
        margin = min(report[r]["margins"][row["id"]] for r in runs)
        if new and report["nf4:adapter:language"]["replies"][row["id"]] == row["answer"]:
            continue
        if margin < args.margin or (row["audio"] and
                                    (source / row["audio"]).stat().st_size > args.longest):
            continue
        kind = (row["group"], row["category"])
        most = WANTED[row["group"]] if row["group"] == "word" else WANTED[row["group"]] // 3
        if kinds.get(kind, 0) >= max(2, most):
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        left[row["group"]] -= 1
        taken.append({**row, "adapter": new, "margin": margin})
        for name in (row["image"], row["audio"]):
            if name:
                shutil.copy(source / name, out / name)
    if any(left.values()):
        sys.exit(f"too few candidates: {left}")
    (out / "questions.json").write_text(json.dumps(taken, indent=1, ensure_ascii=False) + "\n",
                                        encoding="utf-8")
    size = sum(f.stat().st_size for f in out.iterdir())
    print(f"{len(taken)} questions, {size / 1e6:.2f} MB, "
          f"smallest margin {min(t['margin'] for t in taken):.2f}")


if __name__ == "__main__":
    main()
