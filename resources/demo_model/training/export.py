# SPDX-License-Identifier: Apache-2.0
"""Turns trained flat weights into the model folder and the adapter folder.

Clip limits of the towers' linears are measured on training data, with and without the adapter,
and set to twice the largest value seen, so they bound what is out of range and change nothing
that training reached. Projections that read the same input share their limits, as published.
"""

import argparse
from pathlib import Path

import torch

import hf_folder
import lora
import net
import sounds
import talk
import trainer

SHARED = [("vision", ("self_attn.k_proj", "self_attn.v_proj")),
          ("vision", ("mlp.gate_proj", "mlp.up_proj")),
          ("audio", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"))]


def measure(bench, talker, sets, batches=2):
    """{module: [largest |input|, largest |output|]} over both towers."""
    seen, plain = {}, torch.nn.functional.linear
    for w in sets:
        names = {id(t): k[:-len(".linear.weight")] for k, t in w.items()
                 if k.endswith(".linear.weight")}

        def watched(x, weight, bias=None, names=names):
            y = plain(x, weight, bias)
            if id(weight) in names:
                old = seen.get(names[id(weight)], [0.0, 0.0])
                seen[names[id(weight)]] = [max(old[0], x.abs().max().item()),
                                           max(old[1], y.abs().max().item())]
            return y

        net.F.linear = watched
        for i in range(batches):
            bench.load(talker.batch(2_200_000_000 + i, talk.SAILOR, 0.5)[0])
            with torch.no_grad():
                bench.net.vision(w, bench.patches)
                bench.net.audio(w, bench.mel, bench.frames)
        net.F.linear = plain
    return seen


def limits(seen):
    for tower, members in SHARED:
        prefix = net.VT if tower == "vision" else net.AT
        for module in [m for m in seen if m.startswith(prefix) and m.endswith(members[0])]:
            group = [module[:-len(members[0])] + m for m in members]
            top = [max(seen[m][j] for m in group) for j in (0, 1)]
            for m in group:
                seen[m] = top
    return {m: [-2 * a, 2 * a, -2 * b, 2 * b] for m, (a, b) in seen.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", required=True, help="folder with q, n and lora files")
    parser.add_argument("--speech", required=True)
    parser.add_argument("--out", required=True, help="model folder; holds tokenizer.json")
    parser.add_argument("--pool", type=int, default=48)
    args = parser.parse_args()
    talk.PICTURES, talk.CLIPS, talk.LABELS = args.pool, args.pool, 4096
    talk.GROUPS = [(args.pool, 144), (args.pool, 144), (0, 224), (2, 112), (1, 512)]
    q, n, flat = (trainer.join(args.weights, name) for name in ("q", "n", "lora"))
    bank = sounds.Bank(args.speech)
    bench = trainer.Bench("cpu", torch.float32, bank)
    base = net.named(q, n, torch.float32)
    talker = talk.Talker(Path(args.out) / "tokenizer.json", bank)
    found = limits(measure(bench, talker, [base, lora.apply(base, flat)]))
    assert set(found) == set(hf_folder.clipped_modules())
    hf_folder.write(args.out, q, n, found)
    lora.write(Path(args.out) / "adapter", flat, "belfry-demo")
    worst = max(v[1] for v in found.values())
    print(f"{len(found)} clipped linears, widest input limit {worst:.0f}")


if __name__ == "__main__":
    main()
