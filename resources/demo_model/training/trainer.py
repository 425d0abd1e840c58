# SPDX-License-Identifier: Apache-2.0
"""What training the base and the adapter share: worker processes, device buffers, loss, checks.

Workers make token rows and the numbers of scenes and clips; pictures and sounds themselves are
made on the device. Shapes never change, so a whole step can be captured as one CUDA graph.
"""

import multiprocessing as mp
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import net
import scenes
import sounds
import talk
from trainer_groups import GROUPS_OF


class GatherRows(torch.autograd.Function):
    """Embedding whose gradient is one matrix product: fast where most rows are one and the same."""

    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = table.shape[0]
        return F.embedding(ids, table)

    @staticmethod
    def backward(ctx, grad):
        ids, = ctx.saved_tensors
        hot = (ids.reshape(-1, 1) == torch.arange(ctx.rows, device=ids.device)).to(grad.dtype)
        return None, hot.T @ grad.reshape(-1, grad.shape[-1])


def work(queue, tokenizer, bank_path, jobs, first, stride, last):
    talker = talk.Talker(tokenizer, sounds.Bank(bank_path))
    step = first
    while step < last:
        job = jobs[step % len(jobs)]
        queue.put((step, job, talker.batch(10_000_019 + step, *job)[0]))
        step += stride


class Feed:
    """Batches in step order from worker processes. `jobs` are (style, share of new things)."""

    def __init__(self, tokenizer, bank_path, workers, jobs, first, last):
        context = mp.get_context("fork")
        self.queues = [context.Queue(3) for _ in range(workers)]
        self.first = first
        self.processes = [context.Process(
            target=work, args=(q, tokenizer, bank_path, jobs, first + i, workers, last),
            daemon=True) for i, q in enumerate(self.queues)]
        for p in self.processes:
            p.start()

    def get(self, step):
        found, job, batch = self.queues[(step - self.first) % len(self.queues)].get()
        assert found == step
        return job, batch

    def close(self):
        for p in self.processes:
            p.terminate()


class Bench:
    """Device side: buffers of one batch, the painter, the synthesiser, the network."""

    def __init__(self, device, dtype, bank):
        self.device, self.dtype = device, dtype
        self.net = net.Net(device, dtype)
        self.painter, self.synth = scenes.Painter(device), sounds.Synthesiser(bank, device)
        self.fast_rows = device != "cpu"
        z = dict(device=device)
        self.patches = torch.zeros(talk.PICTURES, 576, 768, dtype=torch.bfloat16, **z)
        self.mel = torch.zeros(talk.CLIPS, sounds.MAX_FRAMES, 128, **z)
        self.frames = torch.zeros(talk.CLIPS, dtype=torch.long, **z)
        self.tokens = [torch.zeros(g, dtype=torch.long, **z) for g in talk.GROUPS]
        self.media = [torch.zeros(g, dtype=torch.long, **z) for g in talk.GROUPS]
        self.positions = torch.zeros(talk.LABELS, dtype=torch.long, **z)
        self.targets = torch.zeros(talk.LABELS, dtype=torch.long, **z)
        self.spare = 1 + (talk.PICTURES + talk.CLIPS) * talk.IMAGE_TOKENS
        if self.fast_rows:
            net.F_embedding = GatherRows.apply

    def load(self, batch):
        """Fills the buffers; safe to call while the previous step still runs on the stream."""
        def move(a):
            t = torch.from_numpy(np.ascontiguousarray(a))
            if self.device != "cpu":
                t = t.pin_memory()
            return t.to(self.device, non_blocking=True)

        with torch.no_grad():
            for g in range(len(talk.GROUPS)):
                self.tokens[g].copy_(move(batch[f"tokens{g}"]))
                media = move(batch[f"media{g}"]).long()
                self.media[g].copy_(media)
            self.positions.copy_(move(batch["positions"]))
            self.targets.copy_(move(batch["targets"]))
            self.patches.copy_(self.painter(move(batch["scenes"])))
            numbers = move(batch["clips"])
            self.mel.copy_(self.synth(numbers))
            self.frames.copy_(torch.div(numbers[:, 0, 0] - 161, 160, rounding_mode="floor") + 1)

    def logits(self, w):
        """[LABELS, vocabulary] at the label positions. Towers use w, see adapters for two sets."""
        image = self.net.vision(w, self.patches)
        audio = self.net.audio(w, self.mel, self.frames)
        return self.text_logits(w, image, audio)

    def features(self, image, audio):
        """The rows that `media` numbers point at, with the spare ones of net.py at the end."""
        tail = torch.zeros(1024, net.H, device=self.device, dtype=self.dtype)
        return torch.cat([tail[:1], image.reshape(-1, net.H), audio.reshape(-1, net.H), tail])

    def text_logits(self, w, image, audio):
        features = self.features(image, audio)
        hidden = [self.net.text(w, t, m, features).reshape(-1, net.H)
                  for t, m in zip(self.tokens, self.media)]
        return self.net.logits(w, torch.cat(hidden).index_select(0, self.positions))

    def loss(self, w):
        return F.cross_entropy(self.logits(w), self.targets, ignore_index=-100)

    @torch.no_grad()
    def check(self, w, talker, seeds, style=talk.BASE, new_share=0.06, without_towers=None):
        """Share of answers with every token right, by category (same as greedy exact match)."""
        right, total = defaultdict(int), defaultdict(int)
        for seed in seeds:
            batch, categories = talker.batch(seed, style, new_share)
            self.load(batch)
            if without_towers is None:
                z = self.logits(w)
            else:
                image = self.net.vision(without_towers, self.patches)
                z = self.text_logits(w, image,
                                     self.net.audio(without_towers, self.mel, self.frames))
            good = (z.argmax(-1) == self.targets).cpu().numpy()
            answers = batch["answers"]
            whole = np.ones(len(categories) + 1, bool)
            np.logical_and.at(whole, answers, good | (batch["targets"] < 0))
            for ok, category in zip(whole, categories):
                right[category] += int(ok)
                total[category] += 1
        return {c: (right[c] / total[c], total[c]) for c in sorted(total)}


def summary(table):
    parts = []
    for name, members in GROUPS_OF.items():
        n = sum(table[m][1] for m in members if m in table)
        if n:
            share = sum(table[m][0] * table[m][1] for m in members if m in table) / n
            parts.append(f"{name} {100 * share:.1f}")
    return " | ".join(parts)


def details(table):
    return " ".join(f"{c}:{100 * a:.0f}/{n}" for c, (a, n) in table.items())


def pieces(tensor, folder, name, size=15_000_000):
    """Saves a bf16 tensor in files of at most `size` bytes."""
    flat = tensor.detach().to(torch.bfloat16).cpu().contiguous().view(torch.int16).numpy()
    step = size // 2
    for i in range(0, len(flat), step):
        np.save(f"{folder}/{name}.{i // step}.npy", flat[i:i + step])


def join(folder, name):
    """One flat tensor from its files, or, for q and n, from a model folder."""
    if (Path(folder) / "model.safetensors").exists() and name in "qn":
        stored = load_file(Path(folder) / "model.safetensors")
        table = net.Q_SHAPES if name == "q" else net.N_SHAPES
        return torch.cat([stored[key].float().reshape(-1) for key in table])
    files = sorted(Path(folder).glob(f"{name}.*.npy"))
    flat = np.concatenate([np.load(f) for f in files])
    return torch.from_numpy(flat).view(torch.bfloat16).float()
