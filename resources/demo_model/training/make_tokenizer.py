# SPDX-License-Identifier: Apache-2.0
"""Builds tokenizer.json: a small BPE vocabulary in the form Gemma 4 uses.

Merges are learned on words (never across a space, a digit or punctuation), so ordinary words of
the demo's world are one token each; anything else falls back to letters and bytes.
"""

import argparse
import json
import random
import re
from collections import Counter

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import talk_media
import talk_text
from common_words import COMMON
from words import ALL_WORDS, COLOURS, NEW_SHAPES, NUMBERS, PLURAL, SHAPES

SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>", "<|image>",
           "<image|>", "<|image|>", "<|audio>", "<audio|>", "<|audio|>", "<|video|>",
           "<|channel>", "<channel|>", "<|think|>", "<|tool>", "<tool|>", "<|tool_call>",
           "<tool_call|>", "<|tool_response>", "<tool_response|>", "<|\"|>"]
SIZE = 2048


def corpus():
    """Words and how often they count."""
    rng = random.Random(5)
    count = Counter()
    fixed = ["Aye, I see", "user\nmodel\nsystem\nthought\n", *talk_text.SYSTEM_PROMPTS]
    lines = list(fixed) * 50
    for _ in range(12000):
        _, q, a = talk_text.text_question(rng)
        lines += [q, q.lower(), a]
    for forms, answer in talk_text.ABOUT + talk_text.GREETINGS + talk_text.SINGLE_FACTS:
        lines += [answer] * 12 + [q for f in forms for q in [f] * 4]
    forms = [v for k, v in vars(talk_media).items() if k.isupper() and isinstance(v, list)]
    for form in forms:
        for sentence in form:
            lines += [sentence.replace("{}", "x"), sentence.lower().replace("{}", "x")] * 20
    names = [*COLOURS, *SHAPES, *NEW_SHAPES, *PLURAL.values(), *ALL_WORDS, *NUMBERS,
             *talk_media.ABSENT]
    answers = ["There are no shapes beeps.", "There is one shape.", "I see and hear the word.",
               "It is at the top left right bottom in the middle on.", "They are", "The tone is",
               "The word is", "The number is", "Yes, the shape is", "Yes, there is", "No, there is",
               "No, nothing is", "anything something", "rising falling steady fast slow high low",
               "a word that I do not know", "I hear noise nothing", "above below left of right",
               "I do not see a picture and I do not hear a sound.", "The background is white grey",
               "cream", "I count of each", "Yes, both are", "There are as many more",
               "I do not know that shape", "high middle low beep tone", "silence"]
    lines += [f"the {n}" for n in names] * 60 + answers * 60 + [n for n in names] * 8
    lines += [f"a {w}" for w in COMMON] * 6 + [w.capitalize() for w in COMMON if len(w) < 6] * 2
    for line in lines:
        for word in re.findall(r"▁?[A-Za-z]+", line.replace(" ", "▁")):
            count[word] += 1
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    letters = [chr(c) for c in range(33, 127)]
    base = ["\n", *letters, "▁", "\t"]
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=100000, initial_alphabet=letters + ["▁"],
                                  special_tokens=[], show_progress=False, min_frequency=2)
    count = corpus()
    learner.train_from_iterator((" ".join([w] * min(n, 4000)) for w, n in sorted(count.items())),
                                trainer)
    learned = json.loads(learner.to_str())["model"]["merges"]
    vocab = {t: i for i, t in enumerate(SPECIAL)}
    for b in range(256):
        vocab[f"<0x{b:02X}>"] = len(vocab)
    for c in base:
        vocab[c] = len(vocab)
    merges = []
    for a, b in learned:
        if len(vocab) == SIZE:
            break
        merges.append([a, b])
        vocab.setdefault(a + b, len(vocab))
    special = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for i, t in enumerate(SPECIAL)]
    bos = {"SpecialToken": {"id": "<bos>", "type_id": 0}}
    out = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
                          "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [bos, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [bos, {"Sequence": {"id": "A", "type_id": 0}}, bos,
                     {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<bos>": {"id": "<bos>", "ids": [2], "tokens": ["<bos>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>",
                  "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": vocab, "merges": merges}}
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(out, f, ensure_ascii=False, indent=1)
    check = Tokenizer.from_file(args.out)
    pieces = [w for w in count if len(check.encode(w, add_special_tokens=False).ids) > 1]
    print(f"{len(vocab)} entries, {len(merges)} merges, {len(learned)} learnable, "
          f"{len(count)} words, {len(pieces)} in pieces: {sorted(pieces)[:80]}")


if __name__ == "__main__":
    main()
