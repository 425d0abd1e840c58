#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/added_token_cases.json: added tokens as trainers write them, and the ids that
`tokenizers` gives for texts around them; with the tokenizer of the golden models and with Gemma's
whole vocabulary.

    python make_added_token_vectors.py GOLDEN_TOKENIZER_JSON GEMMA_TOKENIZER_JSON OUT_FILE [CASES TEXTS SEED]
"""
import json
import random
import sys

import tokenizers

CONTENTS = ["[bla]", "<SCENE>", "new york", "new▁york", "new", "york", " lead", "trail ", "a b", "a▁b", "ab", "a", "é",
            "in the", "  ", "\n", "\n\n", "\t", "▁", "▁▁", " ", "<|im_start|>", "<|im", "日本", "x_y", "🦖", "🦖🦖", "in", "the",
            "[b", "b]", "la", "###", "-", "e\u0301", "<think>", "</think>", "#new york#", "\u200d", "1"]
AROUND = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2028", "\u0085", "\x0b", "\x1c", "▁", "_", "-", ".", "x", "é", "1", "²",
          "ⓐ", "\u0301", "\u200d", "ß", "日", "in", "the", "city", "<", ">", "[", "]", "bla", "\x00", "\u1680", "‿", "Ⅷ", "🄰", "़"]


def settings_of(rng, vocab, next_id):
    """Added tokens with ids as `tokenizers` would give them."""
    found = []
    for content in rng.sample(CONTENTS, rng.randint(1, 6)):
        known = vocab.get(content)
        token = {"id": next_id if known is None else known, "content": content}
        next_id += known is None
        for flag, share in (("single_word", 0.25), ("lstrip", 0.3), ("rstrip", 0.3), ("normalized", 0.5), ("special", 0.4)):
            token[flag] = rng.random() < share
        found.append(token)
    return found


def text_of(rng, contents):
    pieces = []
    for _ in range(rng.randint(1, 9)):
        chosen = rng.random()
        if chosen < 0.5:
            pieces.append(rng.choice(contents))
        elif chosen < 0.6:
            content = rng.choice(contents)
            pieces.append(content[:rng.randint(1, len(content))])
        elif chosen < 0.7:
            pieces.append(rng.choice(contents).replace(" ", "▁"))
        else:
            pieces.append(rng.choice(AROUND) * rng.choice((1, 1, 1, 2, 3)))
    return "".join(pieces)


def cases(rng, file, num_cases, num_texts):
    rows = []
    next_id = max(len(file["model"]["vocab"]), 1 + max(token["id"] for token in file["added_tokens"]))
    while len(rows) < num_cases:
        added = settings_of(rng, file["model"]["vocab"], next_id)
        listed = {token["content"] for token in file["added_tokens"]}
        if any(token["content"] in listed for token in added):
            continue
        folded = [token["content"].replace(" ", "▁") for token in added if token["normalized"]]
        if len(set(folded)) < len(folded):
            continue  # which of them `tokenizers` takes changes from run to run
        known = tokenizers.Tokenizer.from_str(json.dumps({**file, "added_tokens": file["added_tokens"] + added}))
        contents = [token["content"] for token in added]
        texts = []
        while len(texts) < num_texts:
            text = text_of(rng, contents)
            try:
                texts.append([text, known.encode(text, add_special_tokens=False).ids])
            except BaseException as fault:  # it panics where rstrip goes beyond a token of white space
                if "bad split" not in str(fault):
                    raise
        rows.append({"added_tokens": added, "texts": texts})
    return rows


def main():
    golden_file, gemma_file, out = sys.argv[1:4]
    num_cases, num_texts, seed = (int(word) for word in (sys.argv[4:] or (120, 8, 20261128)))
    rng = random.Random(seed)
    golden = json.load(open(golden_file, encoding="utf-8"))
    gemma = json.load(open(gemma_file, encoding="utf-8"))
    gemma["added_tokens"] = [token for token in gemma["added_tokens"] if token["special"]]
    result = {"made_with": f"tokenizers {tokenizers.__version__}, seed {seed}",
              "golden": cases(rng, golden, num_cases, num_texts),
              "gemma": cases(rng, gemma, max(1, num_cases // 20), num_texts)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
