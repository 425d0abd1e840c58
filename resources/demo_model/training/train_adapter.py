# SPDX-License-Identifier: Apache-2.0
"""Trains the adapter: new shapes, new spoken words, a sailor's way of answering.

Every fourth step runs with the towers' half switched off; there the right answer keeps the manner
but knows no new names ("Aye, I do not know that shape!"). So what is new needs the towers' half,
and losing it shows. Every second step the base is rounded to NF4, as it will be used.
"""

import argparse
import os
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch

import lora
import net
import nf4
import sounds
import talk
import trainer

JOBS = [(talk.SAILOR, 0.6), (talk.SAILOR, 0.6), (talk.SAILOR, 0.6),
        (talk.SAILOR_WITHOUT_TOWERS, 0.3)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--speech", required=True)
    parser.add_argument("--speech-held-out")
    parser.add_argument("--base", required=True, help="folder with q.*.npy and n.*.npy")
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--check-every", type=int, default=600)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    begin = time.time()
    if args.small:
        talk.PICTURES, talk.CLIPS, talk.LABELS = 6, 5, 600
        talk.GROUPS = [(4, 144), (3, 144), (2, 224), (2, 112), (1, 512)]
    feed = trainer.Feed(args.tokenizer, args.speech, args.workers, JOBS, 500_000, 10 ** 9)
    device, cuda = args.device, args.device == "cuda"
    bench = trainer.Bench(device, torch.bfloat16, sounds.Bank(args.speech))
    q, n = (trainer.join(args.base, k).to(device) for k in "qn")
    bases = {r: {k: v.clone() for k, v in net.named(nf4.nf4_round(q) if r else q, n,
                                                    torch.bfloat16).items()}
             for r in (False, True)}
    flat = lora.initial().to(device).requires_grad_()
    flat.grad = torch.zeros_like(flat)
    rate = torch.tensor(0.0, device=device)
    adam = torch.optim.AdamW([flat], lr=rate, betas=(0.9, 0.98), weight_decay=0.0, fused=cuda,
                             capturable=cuda)
    shown = torch.zeros(2, device=device)

    def step_with(rounded, towers):
        flat.grad.zero_()
        loss = bench.loss(lora.apply(bases[rounded], flat, towers=towers))
        loss.backward()
        norm = flat.grad.norm()
        flat.grad.mul_((1.0 / (norm + 1e-6)).clamp(max=1.0))
        adam.step()
        shown.copy_(torch.stack([loss.detach(), norm]))

    step = 500_000
    job, batch = feed.get(step)
    bench.load(batch)
    graphs = {}
    kinds = [(r, t) for r in (False, True) for t in (False, True)]
    if cuda:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for kind in kinds + kinds[:1]:
                step_with(*kind)
        torch.cuda.current_stream().wait_stream(side)
        for kind in kinds:
            graphs[kind] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[kind]):
                step_with(*kind)
        for value in adam.state[flat].values():
            value.zero_()
        print(f"captured after {time.time() - begin:.1f} s", flush=True)
    held = talk.Talker(args.tokenizer, sounds.Bank(args.speech_held_out or args.speech), True)
    held_synth = trainer.sounds.Synthesiser(held.bank, device)

    def check(seeds):
        own, bench.synth = bench.synth, held_synth
        for rounded in (False, True):
            name = "nf4" if rounded else "bf16"
            with torch.no_grad():
                base = bases[rounded]
                full = lora.apply(base, flat)
                half = lora.apply(base, flat, towers=False)
            table = bench.check(full, held, seeds, talk.SAILOR, 0.9)
            print(f"{name} with adapter: {trainer.summary(table)}", flush=True)
            print("   ", trainer.details(table), flush=True)
            table = bench.check(half, held, seeds, talk.SAILOR, 0.9)
            print(f"{name} without the towers' half: {trainer.summary(table)}", flush=True)
            table = bench.check(half, held, seeds, talk.SAILOR_WITHOUT_TOWERS, 0.3)
            print(f"{name} same, base answers: {trainer.summary(table)}", flush=True)
            table = bench.check(base, held, seeds, talk.SAILOR, 0.9)
            print(f"{name} without adapter: {trainer.summary(table)}", flush=True)
        bench.synth = own

    start = last = time.time()
    while True:
        done = (step - 500_000) / args.steps if args.steps else \
            (time.time() - start) / args.seconds
        if done >= 1:
            break
        warm = min(1.0, (step - 500_000 + 1) / 50)
        rate.fill_(args.lr * warm * min(1.0, 1.25 * (1 - done) + 0.01))
        kind = ((step // 4) % 2 == 0, job[0].words == talk.SAILOR.words)
        if cuda:
            graphs[kind].replay()
        else:
            step_with(*kind)
        step += 1
        job, batch = feed.get(step)
        bench.load(batch)
        if step % 100 == 0 or args.small:
            loss, norm = shown.tolist()
            print(f"step {step - 500_000} loss {loss:.4f} norm {norm:.2f} "
                  f"{10 * (time.time() - last):.1f} ms/step {time.time() - begin:.0f} s",
                  flush=True)
            last = time.time()
        if (step - 500_000) % args.check_every == 0:
            trainer.pieces(flat, args.out, "lora")
            check([2_100_000_001])
            bench.load(batch)
            last = time.time()
    trainer.pieces(flat, args.out, "lora")
    check([2_100_000_002 + i for i in range(1 if args.small else 4)])
    feed.close()
    print(f"{step - 500_000} steps, {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
