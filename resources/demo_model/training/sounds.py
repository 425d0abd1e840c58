# SPDX-License-Identifier: Apache-2.0
"""Small sounds: beeps, tones, glides, spoken words, noise; two ways to make the samples.

`synthesise` makes one clip with numpy (samples, evaluation); `Synthesiser` makes a batch on the
GPU for training and turns it into log-mel features. The feature definition is the one of the
Gemma 4 audio front end: 20 ms frames every 10 ms, periodic Hann window, 512-point magnitude
spectrum, 128 HTK mel bands, natural logarithm of the band plus 0.001.
"""

from dataclasses import dataclass, field

import numpy as np
import torch

from words import ALL_WORDS, PITCHES

RATE = 16000
MAX_SAMPLES = 40960          # 2.56 s: 255 frames, 64 soft tokens
MAX_FRAMES = 255
MAX_TOKENS = 64
MAX_SEGMENTS = 5
WORD_SAMPLES = 20000
GATE = 96.0                  # samples of the rise and the decay of a tone


@dataclass
class Clip:
    kind: str                            # beeps, tone, glide, word, noise, silence
    samples: int
    segments: list = field(default_factory=list)  # (start, length, f0, f1, amplitude, timbre)
    count: int = 0
    pitch: str = ""
    direction: str = ""                  # rising, falling, steady
    tempo: str = ""                      # fast, slow
    word: str = ""
    bank: int = -1                       # index of the spoken clip
    speed: float = 1.0                   # playback speed of the spoken clip
    start: int = 0
    gain: float = 1.0
    hiss: float = 0.0                    # standard deviation of white noise
    hum: float = 0.0                     # loudness of a "noise" clip


class Bank:
    """The spoken clips: samples as mu-law bytes, one after the other."""

    def __init__(self, path):
        data = np.load(path)
        self.samples, self.ends, self.word = data["samples"], data["ends"], data["word"]
        self.starts = np.concatenate([[0], self.ends[:-1]])
        self.of_word = {w: np.flatnonzero(self.word == i) for i, w in enumerate(ALL_WORDS)}
        codes = np.arange(256) / 127.5 - 1.0
        self.table = (np.sign(codes) * (256.0 ** np.abs(codes) - 1) / 255.0).astype(np.float32)

    def clip(self, index):
        return self.table[self.samples[self.starts[index]:self.ends[index]]]

    def length(self, index):
        return int(self.ends[index] - self.starts[index])


def token_count(samples):
    frames = (samples - 161) // 160 + 1 if samples >= 161 else 0
    return ((frames + 1) // 2 + 1) // 2


def make_clip(rng, bank, words, kind=None, word=None, count=None):
    """A random clip; `words` are the words that may be spoken."""
    kind = kind or rng.choices(["beeps", "tone", "glide", "word", "noise", "silence"],
                               [26, 10, 10, 48, 4, 2])[0]
    hiss = rng.choice([0.0003, 0.001, 0.002, 0.004])
    timbre = rng.uniform(0, 0.5)
    amp = rng.uniform(0.12, 0.5)
    if kind == "word":
        word = word or rng.choice(words)
        index = int(rng.choice(bank.of_word[word]))
        speed = rng.uniform(0.9, 1.12)
        length = int(bank.length(index) / speed)
        start = rng.randint(800, 6400)
        total = min(MAX_SAMPLES, start + length + rng.randint(800, 8000))
        return Clip(kind, total, word=word, bank=index, speed=speed, start=start,
                    gain=rng.uniform(0.35, 1.6), hiss=hiss)
    if kind == "noise":
        return Clip(kind, rng.randint(9600, 36000), hiss=hiss, hum=rng.uniform(0.04, 0.2))
    if kind == "silence":
        return Clip(kind, rng.randint(9600, 36000), hiss=rng.choice([0.0, 0.0003, 0.001]))
    pitch = rng.choice(list(PITCHES))
    f = rng.uniform(*PITCHES[pitch])
    if kind == "tone":
        start, length = rng.randint(800, 4800), rng.randint(12800, 28000)
        total = start + length + rng.randint(800, 4800)
        return Clip(kind, total, [(start, length, f, f, amp, timbre)], pitch=pitch,
                    direction="steady", hiss=hiss)
    if kind == "glide":
        start, length = rng.randint(800, 4800), rng.randint(12800, 28000)
        low = rng.uniform(250, 900)
        high = low * rng.uniform(2.0, 3.5)
        direction = rng.choice(["rising", "falling"])
        f0, f1 = (low, high) if direction == "rising" else (high, low)
        total = start + length + rng.randint(800, 4800)
        return Clip(kind, total, [(start, length, f0, f1, amp, timbre)], direction=direction,
                    hiss=hiss)
    count = count or rng.randint(1, 5)
    tempo = rng.choice(["fast", "slow"])
    length = rng.randint(1120, 1920) if tempo == "fast" else rng.randint(2080, 3360)
    gap = rng.randint(1120, 1760) if tempo == "fast" else rng.randint(3360, 4640)
    at = rng.randint(800, 4000)
    segments = []
    for _ in range(count):
        segments.append((at, length, f, f, amp, timbre))
        at += length + gap
    total = min(MAX_SAMPLES, at - gap + rng.randint(800, 4000))
    return Clip(kind, total, segments, count=count, pitch=pitch,
                direction="steady", tempo=tempo if count > 2 else "", hiss=hiss)


def synthesise(clip, bank, seed=0):
    """int16 samples of one clip."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, clip.samples) * (clip.hiss + clip.hum)
    n = np.arange(clip.samples, dtype=np.float64)
    for start, length, f0, f1, amp, timbre in clip.segments:
        t = (n - start) / RATE
        turns = f0 * t + (f1 - f0) * t * t * RATE / (2 * length)
        gate = np.clip(np.minimum(n - start, start + length - n) / GATE, 0, 1)
        wave = np.sin(2 * np.pi * turns) + timbre * np.sin(4 * np.pi * turns) \
            + 0.5 * timbre * np.sin(6 * np.pi * turns)
        x += amp * gate * wave / (1 + timbre)
    if clip.bank >= 0:
        spoken = bank.clip(clip.bank) * clip.gain
        at = (n - clip.start) * clip.speed
        x += np.interp(at, np.arange(len(spoken)), spoken, left=0, right=0)
    return np.clip(np.round(x * 32768), -32768, 32767).astype(np.int16)


def clip_numbers(clip):
    """float32 [1 + MAX_SEGMENTS, 6]: samples, bank, speed, start, gain, noise; then segments."""
    out = np.zeros((1 + MAX_SEGMENTS, 6), np.float32)
    out[0] = (clip.samples, clip.bank, clip.speed, clip.start, clip.gain, clip.hiss + clip.hum)
    for i, s in enumerate(clip.segments):
        out[1 + i] = s
    return out


def mel_matrix():
    """float32 [257, 128]: triangles between 130 points equally spaced on the HTK mel scale."""
    points = 700.0 * (10.0 ** (np.linspace(0, 2595 * np.log10(1 + 8000 / 700), 130) / 2595) - 1)
    bins = np.arange(257)[:, None] * 31.25
    low, mid, high = points[None, :-2], points[None, 1:-1], points[None, 2:]
    return np.maximum(0, np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid)))


class LogMel:
    def __init__(self, device):
        self.window = torch.hann_window(320, periodic=True, device=device)
        self.mel = torch.tensor(mel_matrix(), dtype=torch.float32, device=device)

    def __call__(self, wave, samples):
        """wave [B, n] float in [-1, 1], samples [B] -> [B, frames, 128], zero past the end."""
        x = torch.nn.functional.pad(wave, (160, 0))
        spectrum = torch.fft.rfft(x.unfold(-1, 320, 160) * self.window, n=512).abs()
        logmel = torch.log(spectrum @ self.mel + 0.001)
        frames = torch.div(samples - 161, 160, rounding_mode="floor") + 1
        index = torch.arange(logmel.shape[1], device=wave.device)
        return logmel * (index < frames.view(-1, 1)).unsqueeze(-1)


class Synthesiser:
    """Makes batches of clips on a device: clip numbers to log-mel features."""

    def __init__(self, bank, device):
        data = np.zeros((len(bank.ends), WORD_SAMPLES), np.uint8) + 128
        for i in range(len(bank.ends)):
            data[i, :bank.length(i)] = bank.samples[bank.starts[i]:bank.ends[i]]
        self.data = torch.tensor(data, device=device)
        self.lengths = torch.tensor([bank.length(i) for i in range(len(bank.ends))],
                                    device=device)
        table = bank.table.copy()
        self.table = torch.tensor(table, device=device)
        self.n = torch.arange(MAX_SAMPLES, device=device, dtype=torch.float32).view(1, -1)
        self.logmel = LogMel(device)

    def waves(self, numbers, generator=None):
        b = numbers.shape[0]
        head = numbers[:, 0]
        samples, index, speed, start, gain, noise = (head[:, j].view(b, 1) for j in range(6))
        x = torch.randn(b, MAX_SAMPLES, device=numbers.device, generator=generator) * noise
        for i in range(MAX_SEGMENTS):
            s = numbers[:, 1 + i]
            at, length, f0, f1, amp, timbre = (s[:, j].view(b, 1) for j in range(6))
            t = (self.n - at) / RATE
            turns = f0 * t + (f1 - f0) * t * t * RATE / (2 * length.clamp(min=1))
            turns = 2 * np.pi * (turns - turns.floor())
            gate = (torch.minimum(self.n - at, at + length - self.n) / GATE).clamp(0, 1)
            wave = torch.sin(turns) + timbre * torch.sin(2 * turns) \
                + 0.5 * timbre * torch.sin(3 * turns)
            x = x + amp * gate * wave / (1 + timbre)
        rows = index.view(b).clamp(min=0).long()
        length = self.lengths[rows].view(b, 1)
        at = (self.n - start) * speed
        inside = (at >= 0) & (at < length - 1) & (index >= 0)
        low = at.floor().clamp(0, WORD_SAMPLES - 2)
        part = at - low
        flat = rows.view(b, 1) * WORD_SAMPLES + low.long()
        bytes_ = self.data.view(-1)
        spoken = self.table[bytes_[flat].long()] * (1 - part) \
            + self.table[bytes_[flat + 1].long()] * part
        x = x + torch.where(inside, spoken * gain, 0.0)
        x = (x * 32768).round().clamp(-32768, 32767) / 32768
        return torch.where(self.n < samples, x, 0.0), samples.view(b)

    def __call__(self, numbers, generator=None):
        """[B, 1 + MAX_SEGMENTS, 6] to log-mel [B, 255, 128] bf16-able float32."""
        wave, samples = self.waves(numbers, generator)
        return self.logmel(wave, samples.long())[:, :MAX_FRAMES]
