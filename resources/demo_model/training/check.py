# SPDX-License-Identifier: Apache-2.0
"""Checks of the finished folder: transformers agrees with net.py, the tokenizer keeps its rules.

1. One prompt with a picture and a sound: patches, log-mel and logits of net.py against
   transformers in float32. 2. tokenizer.json against a literal byte-pair merge written here, on
   the world's sentences and on text from outside it, and text comes back after decoding.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoProcessor, Gemma4ForConditionalGeneration

import net
import scenes
import sounds
import talk_free
import talk_text
import trainer
from common_words import COMMON
from words import SHAPES, WORDS


def check_model(folder, bank):
    model, info = Gemma4ForConditionalGeneration.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="sdpa", output_loading_info=True)
    assert not any(info.values()), info
    processor = AutoProcessor.from_pretrained(folder)
    rng = random.Random(3)
    picture = scenes.paint(scenes.make_scene(rng, SHAPES))
    samples = sounds.synthesise(sounds.make_clip(rng, bank, WORDS, kind="word"), bank)
    wave = torch.tensor(samples, dtype=torch.float32) / 32768
    text = "<bos><|turn>user\n<|image|><|audio|>What do you see and hear?<turn|>\n<|turn>model\n"
    inputs = processor(text=text, images=[picture], audio=[wave.numpy()], return_tensors="pt",
                       add_special_tokens=False)
    with torch.no_grad():
        expected = model.eval()(**inputs).logits[0]
    ids = inputs["input_ids"][0]
    w = net.named(trainer.join(folder, "q"), trainer.join(folder, "n"), torch.float32)
    own = net.Net("cpu", torch.float32)
    cubic = scenes.cubic_matrix(scenes.CANVAS, scenes.INPUT)
    pixels = torch.tensor(np.array(picture), dtype=torch.float32).permute(2, 0, 1)
    pixels = (cubic @ (pixels @ cubic.T).round().clamp(0, 255)).round().clamp(0, 255)
    levels = (scenes.patches_of(pixels[None] / 255) - inputs["pixel_values"][:, :576]).abs() * 255
    padded = torch.nn.functional.pad(wave, (0, sounds.MAX_SAMPLES - len(wave)))[None]
    frames = torch.tensor([(len(wave) - 161) // 160 + 1])
    mel = sounds.LogMel("cpu")(padded, torch.tensor([len(wave)]))[:, :sounds.MAX_FRAMES]
    heard = (mel[0, :frames] - inputs["input_features"][0, :frames]).abs().max().item()
    count = sounds.token_count(len(wave))
    at = {k: processor.tokenizer.convert_tokens_to_ids(k) for k in ("<|image|>", "<|audio|>")}
    media = torch.zeros_like(ids)
    media[ids == at["<|image|>"]] = 1 + torch.arange(64)
    media[ids == at["<|audio|>"]] = 65 + torch.arange(count)
    with torch.no_grad():
        features = torch.cat([torch.zeros(1, net.H),
                              own.vision(w, inputs["pixel_values"][:, :576])[0],
                              own.audio(w, mel, frames)[0, :count], torch.zeros(1024, net.H)])
        got = own.logits(w, own.text(w, ids[None], media[None], features))[0]
    far = (got - expected).abs().max().item()
    print(f"patches differ by at most {levels.max():.0f} level, log-mel by {heard:.1e}, "
          f"logits by {far:.1e} (largest {expected.abs().max():.1f})")
    assert levels.max() < 1.5 and heard < 1e-4 and far < 1e-3


def literal(data, text):
    """Token ids of text without added tokens, by the rule itself."""
    vocab = data["model"]["vocab"]
    rank = {tuple(m): i for i, m in enumerate(data["model"]["merges"])}
    parts = []
    for c in text.replace(" ", "▁"):
        parts += [c] if c in vocab else [f"<0x{b:02X}>" for b in c.encode()]
    while True:
        pairs = [(rank.get(p, 10 ** 9), i) for i, p in enumerate(zip(parts, parts[1:]))]
        best, i = min(pairs, default=(10 ** 9, 0))
        if best == 10 ** 9:
            return [vocab[p] for p in parts]
        parts[i:i + 2] = ["".join(parts[i:i + 2])]


def check_tokenizer(folder):
    path = Path(folder) / "tokenizer.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_file(str(path))
    rng = random.Random(1)
    texts = [talk_text.text_question(rng)[i] for _ in range(150) for i in (1, 2)]
    texts += [talk_free.free(rng, COMMON) for _ in range(100)]
    texts += ["user\nHello   world\n\n\n\tmodel", "Größe 🦙 ½", "3333", "a\u00a0b", "<0x41>",
              ""]
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert ids == literal(data, text), text
        assert tokenizer.decode(ids, skip_special_tokens=False) == text, text
    assert len(data["added_tokens"]) == 24 and len(data["model"]["vocab"]) == net.VOCAB
    for token in data["added_tokens"]:
        assert tokenizer.encode(token["content"], add_special_tokens=False).ids == [token["id"]]
    print(f"tokenizer: {len(texts)} texts as the literal rule, and back")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--speech", required=True)
    args = parser.parse_args()
    check_tokenizer(args.model)
    check_model(args.model, sounds.Bank(args.speech))


if __name__ == "__main__":
    main()
