# SPDX-License-Identifier: Apache-2.0
"""Trains the base model: one CUDA graph per step, bf16 arithmetic, float32 weights.

The last part of a run can round the linear weights to NF4 in the forward pass (gradients pass
straight through), every second step, so that the model is as good in 4 bits as in bf16.
Progress is measured in seconds or in steps; both are printed, so a run can be repeated by steps.
"""

import argparse
import json
import os
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch

import net
import nf4
import sounds
import talk
import trainer


class RoundToNf4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return nf4.nf4_round(w).float()

    @staticmethod
    def backward(ctx, grad):
        return grad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--speech", required=True)
    parser.add_argument("--speech-held-out")
    parser.add_argument("--out", required=True)
    parser.add_argument("--resume")
    parser.add_argument("--first-step", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--lr-end", type=float, default=0.0)
    parser.add_argument("--hold", type=float, default=0.3, help="share of the run at full rate")
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--nf4-from", type=float, default=2.0, help="share of the run")
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--check-every", type=int, default=1000)
    parser.add_argument("--save-every", type=float, default=150.0, help="seconds")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny batches, to try the script")
    args = parser.parse_args()
    begin = time.time()
    if args.small:
        talk.PICTURES, talk.CLIPS, talk.LABELS = 6, 5, 600
        talk.GROUPS = [(4, 144), (3, 144), (2, 224), (2, 112), (1, 512)]
    torch.manual_seed(7)
    feed = trainer.Feed(args.tokenizer, args.speech, args.workers, [(talk.BASE, 0.06)],
                        args.first_step, 10 ** 9)
    device = args.device
    cuda = device == "cuda"
    bench = trainer.Bench(device, torch.bfloat16, sounds.Bank(args.speech))
    q, n = (trainer.join(args.resume, "q"), trainer.join(args.resume, "n")) if args.resume \
        else net.initial()
    q, n = (t.to(device).requires_grad_() for t in (q, n))
    q.grad, n.grad = torch.zeros_like(q), torch.zeros_like(n)
    rate = torch.tensor(0.0, device=device)
    adam = torch.optim.AdamW([{"params": [q], "weight_decay": 0.03},
                              {"params": [n], "weight_decay": 0.0}], lr=rate, betas=(0.9, 0.98),
                             eps=1e-9, fused=cuda, capturable=cuda)
    shown = torch.zeros(2, device=device)

    def step_with(rounded):
        q.grad.zero_()
        n.grad.zero_()
        loss = bench.loss(net.named(RoundToNf4.apply(q) if rounded else q, n, torch.bfloat16))
        loss.backward()
        norm = torch.sqrt(q.grad.square().sum() + n.grad.square().sum())
        scale = (1.0 / (norm + 1e-6)).clamp(max=1.0)
        q.grad.mul_(scale)
        n.grad.mul_(scale)
        adam.step()
        shown.copy_(torch.stack([loss.detach(), norm]))

    step = args.first_step
    bench.load(feed.get(step)[1])
    graphs = {}
    if cuda:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for rounded in (False, True):
                for _ in range(2):
                    step_with(rounded)          # at rate 0: nothing moves but Adam's averages
        torch.cuda.current_stream().wait_stream(side)
        for rounded in (False, True):
            graphs[rounded] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[rounded]):
                step_with(rounded)
        for state in adam.state.values():
            for value in state.values():
                value.zero_()
        print(f"captured after {time.time() - begin:.1f} s, "
              f"{torch.cuda.max_memory_allocated() / 2 ** 30:.1f} GiB", flush=True)
    held = talk.Talker(args.tokenizer, sounds.Bank(args.speech_held_out or args.speech), True)
    held_synth = trainer.sounds.Synthesiser(held.bank, device)
    history = []

    def check(seeds, label):
        own, bench.synth = bench.synth, held_synth
        for kind in ("bf16", "nf4"):
            with torch.no_grad():
                w = net.named(nf4.nf4_round(q) if kind == "nf4" else q, n, torch.bfloat16)
            table = bench.check(w, held, seeds)
            print(f"{label} {kind}: {trainer.summary(table)}", flush=True)
            if kind == "bf16" or label == "end":
                print("   ", trainer.details(table), flush=True)
            history.append({"label": label, "weights": kind, "table": table})
        bench.synth = own

    def save():
        trainer.pieces(q, args.out, "q")
        trainer.pieces(n, args.out, "n")
        with open(f"{args.out}/history.json", "w", encoding="utf-8") as f:
            json.dump(history, f)

    start = saved = last = time.time()
    while True:
        now = time.time()
        done = (step - args.first_step) / args.steps if args.steps else \
            (now - start) / args.seconds
        if done >= 1:
            break
        warm = min(1.0, (step - args.first_step + 1) / max(1, args.warmup))
        fall = 1.0 if done < args.hold else 1 - (done - args.hold) / (1 - args.hold)
        rate.fill_(warm * (args.lr_end + (args.lr - args.lr_end) * fall))
        rounded = done >= args.nf4_from and step % 2 == 0
        if cuda:
            graphs[rounded].replay()
        else:
            step_with(rounded)
        step += 1
        batch = feed.get(step)[1]
        waited = time.time()
        bench.load(batch)
        if (step - args.first_step) % 250 == 0 or args.small:
            loss, norm = shown.tolist()
            now = time.time()
            print(f"step {step} loss {loss:.4f} norm {norm:.2f} rate {rate.item():.1e} "
                  f"{1000 * (now - last) / (1 if args.small else 250):.1f} ms/step "
                  f"{now - begin:.0f} s", flush=True)
            last = now
            if step == args.first_step + 250 and waited:
                print(f"queues: {[x.qsize() for x in feed.queues]}", flush=True)
        if (step - args.first_step) % args.check_every == 0:
            check([2_000_000_001], f"step {step}")
            bench.load(batch)
            last = time.time()
        if time.time() - saved > args.save_every:
            save()
            saved = last = time.time()
    save()
    check(list(range(2_000_000_002, 2_000_000_002 + (1 if args.small else 6))), "end")
    save()
    feed.close()
    print(f"{step} steps, {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
