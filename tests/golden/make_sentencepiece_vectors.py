#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/mistral: the vocabulary of Mistral's first tokenizer (tokenizer.model.v1 of the Python package
mistral-common 1.13.1, Apache-2.0), one word a line, and the ids and texts that `sentencepiece` gives. Its kinds and scores
follow from it: <unk>, <s>, </s>, 256 bytes, then words whose score is 259 - id; runs of U+2581 have -1e9.

    python make_sentencepiece_vectors.py TOKENIZER_MODEL OUT_FOLDER
"""
import json
import os
import sys

import sentencepiece

TEXTS = ["Hello world", "Hello, world!", " leading space", "  two", "trailing ", "", " ", "   ", "a", "\n", "a\nb", "\n\n\n", "\tindented\n\tcode",
         "def f(x):\n    return x  # comment", "don't I'M we'll", "1234567.89", "3.14e-10", "The quick brown fox jumps over the lazy dog.",
         "Grüße aus Köln, ß und ſ", "C’est l’été à Noël", "naïve cafe\u0301", "日本語のテキスト", "नमस्ते दुनिया", "Привет, мир", "שלום עולם", "🦖👩‍👧 emoji",
         "▁ itself", "a▁b", "\u00a0nbsp\u3000ideographic", "========", "aaaaaaaaaaaaaaa", "                 x", "https://example.org/a?b=c&d=%20",
         "<0x0A> is no byte", "[INST] Who are you? [/INST]", "\x00\x07\x7f", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "{\"key\": [1, 2, {\"a\": null}]}", "ĀāĂăĄą ǅ ﬁ Ⅷ ½", "\ufffd\ufeff\u200b"]
TURNS = [["<s>", "[INST] Hi [/INST]"], ["<s>", "[INST] Hi [/INST]", "</s>", "[INST] And? [/INST]"], ["a", "</s>", " b"], ["</s>", "</s>"]]


def is_run(word):
    return word.strip("\u2581") == ""


def main():
    model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
    size = model.vocab_size()
    kinds = [2, 3, 3] + [6] * 256 + [1] * (size - 259)
    words = [model.id_to_piece(i) for i in range(size)]
    assert not any("\n" in word for word in words)
    for i, kind in enumerate(kinds):
        assert kind == (2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 1)
        assert model.get_score(i) == (0.0 if i < 259 else -1e9 if is_run(words[i]) else 259.0 - i)
    cases = []
    for text in TEXTS:
        ids = model.encode(text)
        cases.append({"text": text, "ids": ids, "decoded": model.decode(ids)})
    turns = []
    for pieces in TURNS:
        ids = []
        for piece in pieces:
            ids += [model.piece_to_id(piece)] if piece in ("<s>", "</s>") else model.encode(piece)
        turns.append({"text": "".join(pieces), "ids": ids})
    os.makedirs(sys.argv[2], exist_ok=True)
    with open(os.path.join(sys.argv[2], "vocabulary.txt"), "w", newline="\n") as file:
        file.write("\n".join(words))
    with open(os.path.join(sys.argv[2], "tokenizer_cases.json"), "w") as file:
        json.dump({"cases": cases, "turns": turns}, file, ensure_ascii=True, indent=0)
    print(len(cases))


main()
