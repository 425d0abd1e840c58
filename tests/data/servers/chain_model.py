#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A GGUF that llama-server can run and that says one sentence, whatever it is asked:

    chain_model.py DEMO_GGUF OUT.gguf      (needs gguf and numpy, both from pip)

DEMO_GGUF is what llama.cpp's convert_hf_to_gguf.py makes of the demo model with a chat template
beside it: its tokenizer and template are taken over. The demo model itself llama.cpp does not run:
of the layers that compute keys and values it wants the last but one to be a sliding one and the
last a full one, and the demo has them the other way round.

One layer of the llama architecture that adds nothing; the head's row of each token of the sentence
is the embedding of the token before, so that every token is followed by a fixed one. The hidden
size is the demo's, so that the demo's towers (--mmproj) stand before it.
"""
import sys

import gguf
import numpy as np

SENTENCE = "I see a tower, and hear three bells."


def field(reader, name):
    return reader.fields[name].contents()


def chain_of(tokens, merges):
    """Token ids of SENTENCE, by the merges in their order."""
    ranks = {tuple(m.split(" ")): i for i, m in enumerate(merges)}
    pieces = list(SENTENCE.replace(" ", "\u2581"))
    while True:
        pairs = [(ranks.get(p, len(ranks)), i) for i, p in enumerate(zip(pieces, pieces[1:]))]
        rank, at = min(pairs, default=(len(ranks), 0))
        if rank == len(ranks):
            break
        pieces[at:at + 2] = [pieces[at] + pieces[at + 1]]
    return [tokens.index(p) for p in pieces]


def main(demo, out):
    reader = gguf.GGUFReader(demo)
    tokens = field(reader, "tokenizer.ggml.tokens")
    end = tokens.index("<turn|>")
    ids = chain_of(tokens, field(reader, "tokenizer.ggml.merges"))
    assert len(set(ids)) == len(ids), "a token that comes twice has two that follow it"
    size = int(field(reader, "gemma4.embedding_length"))
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name("chain")
    writer.add_block_count(1)
    writer.add_context_length(4096)
    writer.add_embedding_length(size)
    writer.add_feed_forward_length(32)
    writer.add_head_count(3)
    writer.add_head_count_kv(3)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(size // 3)
    writer.add_vocab_size(len(tokens))
    for name, entry in reader.fields.items():
        if name.startswith("tokenizer."):
            kind = entry.types[0]
            more = {"sub_type": entry.types[-1]} if kind == gguf.GGUFValueType.ARRAY else {}
            writer.add_key_value(name, entry.contents(), kind, **more)
    rng = np.random.default_rng(33)
    embedding = rng.standard_normal((len(tokens), size)).astype(np.float32)
    head = np.zeros_like(embedding)
    # What a prompt ends with begins the sentence: the line that opens the model's turn, or, where
    # thinking is off, the empty channel behind it.
    for last in ("\n", "<channel|>"):
        head[ids[0]] += embedding[tokens.index(last)]
    for before, after in zip(ids, ids[1:] + [end]):
        head[after] += embedding[before]
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", head)
    ones, zeros = np.ones(size, np.float32), np.zeros((size, size), np.float32)
    writer.add_tensor("output_norm.weight", ones)
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", ones)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", zeros)
    for name in ("ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros((32, size), np.float32))
    writer.add_tensor("blk.0.ffn_down.weight", np.zeros((size, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(*sys.argv[1:])
