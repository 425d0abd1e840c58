# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model's assistant toward what the demo model itself says next.

The demo model reads conversations as train.py makes them, pictures and sounds included; its own
distribution behind every token of its answers is the goal of the draft of that token (its answers
are the ones in the conversation in 998 of 1000, character for character, so its replies and these
texts are one and the same). Every second step it reads with its linear weights rounded to NF4, as
most users load it. Drafts 1 to `--drafts` of a round count alike, each behind the tokens that the
model said, as a draft behind a wrong one is thrown away anyway. The head's groups learn the model's
probability of a group. At the end the share of drafts is counted that held-out conversations
confirm when every draft stands behind the drafts before it.

    python train_assistant.py --model .. --speech train1.npz --out ../assistant --seconds 240
"""

import argparse
import os
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
import torch.nn.functional as F

import assistant
import net
import nf4
import sounds
import talk
import trainer


def ahead(t, count):
    """Column n gets column n + count of [B, T]; zeros (False) at the end."""
    return F.pad(t[:, count:], (0, count)) if count else t


def behind(t):
    """Column n gets column n - 1 of [B, T] or [B, T, H]; zeros at the beginning."""
    return torch.cat([torch.zeros_like(t[:, :1]), t[:, :-1]], 1)


class Teacher:
    """The demo model over one batch at a time: what rounds read, and what they should say."""

    def __init__(self, folder, bench):
        q, n = (trainer.join(folder, name).to(bench.device) for name in ("q", "n"))
        self.bench = bench
        self.weights = [net.named(q, n, bench.dtype),
                        net.named(nf4.nf4_round(q), n, bench.dtype)]
        self.table = net.named(q, n, torch.float32)[net.LM + "embed_tokens.weight"]
        scale = self.bench.net.scale.float()
        self.rows = (self.table.to(bench.dtype) * scale.to(bench.dtype)).float()

    @torch.no_grad()
    def read(self, is_rounded):
        """Per group of rows: tokens [B, T], which columns are rounds, what they read and should
        say: goal [rounds, VOCAB], and index [B, T] of a token's row in it."""
        bench, w = self.bench, self.weights[1 if is_rounded else 0]
        features = bench.features(bench.net.vision(w, bench.patches),
                                  bench.net.audio(w, bench.mel, bench.frames))
        labels = torch.zeros(sum(t.numel() for t in bench.tokens) + 1, dtype=torch.bool,
                             device=bench.device)
        labels[torch.where(bench.targets >= 0, bench.positions, labels.numel() - 1)] = True
        out, base = [], 0
        for tokens, media in zip(bench.tokens, bench.media):
            kept = {}
            hidden = bench.net.text(w, tokens, media, features, kept)
            said = labels[base:base + tokens.numel()].view(tokens.shape)
            base += tokens.numel()
            goal = net.Net.logits(w, hidden[said]).softmax(-1)
            out.append({"tokens": tokens, "said": said, "hidden": behind(hidden.float()),
                        "kv": {kind: tuple(z.float() for z in kept[net.SOURCE[kind]])
                               for kind in "SF"},
                        "goal": goal, "index": said.view(-1).cumsum(0).view(said.shape) - 1})
        return out


def drafts_of(rounds, w, teacher, group, count, order=None):
    """Yields per draft (z [B, T, H], columns whose draft is of the same answer [B, T]).

    order: None, and a draft stands behind the tokens that the model said; else behind the drafts.
    """
    state, token = group["hidden"], group["tokens"]
    is_round = group["said"] & behind(group["said"])    # the first token of an answer is no draft's
    for i in range(count):
        is_round = is_round & ahead(group["said"], i)
        z, state = rounds.step(w, teacher.rows[token], state, group["kv"])
        yield z, is_round
        token = ahead(group["tokens"], i + 1) if order is None else assistant.draft(w, order, z)


def loss_of(rounds, w, teacher, groups, count, order):
    total, number = 0.0, 0
    for group in groups:
        for i, (z, is_round) in enumerate(drafts_of(rounds, w, teacher, group, count)):
            goal = group["goal"][ahead(group["index"], i)[is_round]]
            row = z[is_round]
            total = total - (goal * F.linear(row, w[assistant.TABLE]).log_softmax(-1)).sum()
            share = goal[:, order].view(-1, assistant.GROUPS, assistant.GROUP).sum(-1)
            mean = F.linear(row, w[assistant.CENTROIDS]).log_softmax(-1)
            total = total - 0.5 * (share * mean).sum()
            number += row.shape[0]
    return total / max(1, number)


@torch.no_grad()
def check(rounds, w, teacher, groups, count, order):
    """(rounds that have all `count` drafts, how many of them confirm at least 1, 2, ... drafts)."""
    number, confirmed = 0, [0] * count
    for group in groups:
        best, right = group["goal"].argmax(-1), None
        steps = list(drafts_of(rounds, w, teacher, group, count, order))
        whole = steps[-1][1]
        number += int(whole.sum())
        for i, (z, _) in enumerate(steps):
            good = assistant.draft(w, order, z[whole]) == best[ahead(group["index"], i)[whole]]
            right = good if right is None else right & good
            confirmed[i] += int(right.sum())
    return number, confirmed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--speech", required=True)
    parser.add_argument("--speech-held-out")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--steps", type=int, default=0, help="in place of seconds")
    parser.add_argument("--drafts", type=int, default=4, help="of a round")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--small", action="store_true", help="tiny batches, to try the script")
    args = parser.parse_args()
    if args.small:
        talk.PICTURES, talk.CLIPS, talk.LABELS = 9, 7, 600
        talk.GROUPS = [(6, 144), (4, 144), (3, 224), (8, 112), (1, 512)]
    torch.manual_seed(11)
    torch.backends.cuda.matmul.allow_tf32 = True
    tokenizer = f"{args.model}/tokenizer.json"
    feed = trainer.Feed(tokenizer, args.speech, args.workers, [(talk.BASE, 0.06)],
                        700_000_000, 10 ** 12)
    bench = trainer.Bench(args.device, torch.bfloat16, sounds.Bank(args.speech))
    teacher = Teacher(args.model, bench)
    rounds = assistant.Rounds(args.device)
    order = assistant.group_tokens(teacher.table).to(args.device)
    w = {name: value.to(args.device).requires_grad_()
         for name, value in assistant.initial(teacher.table).items()}
    adam = torch.optim.AdamW([{"params": [v for v in w.values() if v.dim() > 1],
                               "weight_decay": 0.02},
                              {"params": [v for v in w.values() if v.dim() == 1],
                               "weight_decay": 0.0}], lr=args.lr, betas=(0.9, 0.98))
    start = last = time.time()
    step = 0
    while True:
        done = step / args.steps if args.steps else (time.time() - start) / args.seconds
        if done >= 1:
            break
        for group in adam.param_groups:
            group["lr"] = args.lr * min(1, (step + 1) / 100) * max(0.02, 1 - done)
        bench.load(feed.get(700_000_000 + step)[1])
        loss = loss_of(rounds, w, teacher, teacher.read(step % 2 == 1), args.drafts, order)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
        adam.step()
        step += 1
        if step % (1 if args.small else 100) == 0:
            print(f"step {step} loss {loss.item():.4f} {time.time() - start:.0f} s, "
                  f"{1000 * (time.time() - last) / (1 if args.small else 100):.0f} ms/step",
                  flush=True)
            last = time.time()
    feed.close()
    assistant.write(args.out, w, order, 3)
    w, order = assistant.read(args.out)
    w, order = {k: v.to(args.device) for k, v in w.items()}, order.to(args.device)
    held = talk.Talker(tokenizer, sounds.Bank(args.speech_held_out or args.speech), True)
    if args.speech_held_out:
        bench.synth = sounds.Synthesiser(held.bank, args.device)
    for is_rounded in (False, True):
        number, confirmed = 0, [0] * args.drafts
        for seed in range(2_000_000_101, 2_000_000_101 + (1 if args.small else 4)):
            bench.load(held.batch(seed, talk.BASE, 0.06)[0])
            n, c = check(rounds, w, teacher, teacher.read(is_rounded), args.drafts, order)
            number, confirmed = number + n, [a + b for a, b in zip(confirmed, c)]
        shares = [x / max(1, number) for x in confirmed]
        print(f"{'nf4' if is_rounded else 'bf16'}: of {number} rounds "
              + ", ".join(f"{100 * s:.1f} % confirm {i + 1}" for i, s in enumerate(shares))
              + f"; {1 + sum(shares):.2f} tokens a round of {args.drafts} drafts", flush=True)
    print(f"{step} steps, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
