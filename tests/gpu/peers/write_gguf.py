# SPDX-License-Identifier: Apache-2.0
"""A GGUF of a full Gemma 4 shape with random Q4_0 weights (Q6_K table), for speed and memory only.

usage: write_gguf.py OUT.gguf e2b|e4b|tiny TOKENIZER.json[.xz] [ADAPTER.gguf]     (needs numpy)

ADAPTER.gguf: also a random adapter of rank 16 on the linears of attention and MLP. "tiny" is a shape of the same
kind with small sizes, to see that the files are read.
"""
import json
import lzma
import re
import struct
import sys

import numpy

F32, F16, Q4_0, Q6_K = 0, 1, 2, 14
BLOCK = {Q4_0: (32, 18), Q6_K: (256, 210)}  # values, bytes
UINT32, INT32, FLOAT, BOOL, STRING, ARRAY, UINT64 = 4, 5, 6, 7, 8, 9, 10
FORMAT = {UINT32: "<I", INT32: "<i", FLOAT: "<f", BOOL: "<?", UINT64: "<Q"}
random = numpy.random.default_rng(0)


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    """One key of the header; a list becomes an array of `kind`."""
    def one(item):
        return text(item) if kind == STRING else struct.pack(FORMAT[kind], item)
    if isinstance(value, list):
        return text(key) + struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(map(one, value))
    return text(key) + struct.pack("<I", kind) + one(value)


def quantized(rows, columns, kind, scale):
    values, size = BLOCK[kind]
    blocks = random.integers(0, 256, (rows * columns // values, size), dtype=numpy.uint8)
    place = slice(0, 2) if kind == Q4_0 else slice(size - 2, size)
    scale = scale if kind == Q4_0 else scale / 20
    blocks[:, place] = numpy.frombuffer(numpy.float16(scale).tobytes(), dtype=numpy.uint8)
    return blocks.tobytes()


def main():
    out, name, tokenizer = sys.argv[1:4]
    hidden, layers, kv_heads, mlp, shared, period = {
        "e2b": (1536, 35, 1, 6144, 20, 5), "e4b": (2560, 42, 2, 10240, 18, 6), "tiny": (512, 6, 1, 512, 3, 3)}[name]
    heads, small, large, row, vocabulary = 8, 256, 512, 256, 262144
    owners = layers - shared
    sliding = [i % period != period - 1 for i in range(layers)]
    widths = [mlp * (2 if name == "e2b" and i >= owners else 1) for i in range(layers)]

    opened = lzma.open(tokenizer) if tokenizer.endswith(".xz") else open(tokenizer, "rb")
    with opened:
        described = json.load(opened)
    words = [f"<absent{i}>" for i in range(vocabulary)]
    known = list(described["model"]["vocab"].items()) + [(a["content"], a["id"]) for a in described["added_tokens"]]
    for word, i in known:
        if i < vocabulary:
            words[i] = word
    kinds = [3 if i < 300 and w.startswith("<") and w.endswith(">") else 1 for i, w in enumerate(words)]
    merges = [" ".join(m) if isinstance(m, list) else m for m in described["model"]["merges"]]

    a = "gemma4."
    header = [
        entry("general.architecture", STRING, "gemma4"), entry("general.name", STRING, f"random {name}"),
        entry(a + "context_length", UINT32, 131072), entry(a + "embedding_length", UINT32, hidden),
        entry(a + "block_count", UINT32, layers), entry(a + "attention.head_count", UINT32, heads),
        entry(a + "attention.head_count_kv", UINT32, kv_heads),
        entry(a + "attention.layer_norm_rms_epsilon", FLOAT, 1e-6),
        entry(a + "attention.sliding_window", UINT32, 512),
        entry(a + "attention.shared_kv_layers", UINT32, shared),
        entry(a + "embedding_length_per_layer_input", UINT32, row),
        entry(a + "attention.sliding_window_pattern", BOOL, sliding),
        entry(a + "attention.key_length", UINT32, large), entry(a + "attention.value_length", UINT32, large),
        entry(a + "attention.key_length_swa", UINT32, small), entry(a + "attention.value_length_swa", UINT32, small),
        entry(a + "feed_forward_length", INT32, widths),
        entry(a + "rope.dimension_count", UINT32, large), entry(a + "rope.dimension_count_swa", UINT32, small),
        entry(a + "rope.freq_base", FLOAT, 1e6), entry(a + "rope.freq_base_swa", FLOAT, 1e4),
        entry(a + "final_logit_softcapping", FLOAT, 30.0),
        entry("tokenizer.ggml.model", STRING, "gemma4"), entry("tokenizer.ggml.tokens", STRING, words),
        entry("tokenizer.ggml.scores", FLOAT, [0.0] * vocabulary), entry("tokenizer.ggml.token_type", INT32, kinds),
        entry("tokenizer.ggml.merges", STRING, merges), entry("tokenizer.ggml.bos_token_id", UINT32, 2),
        entry("tokenizer.ggml.eos_token_id", UINT32, 1), entry("tokenizer.ggml.padding_token_id", UINT32, 0),
        entry("tokenizer.ggml.unknown_token_id", UINT32, 3),
        entry("tokenizer.ggml.add_space_prefix", BOOL, False), entry("tokenizer.ggml.add_bos_token", BOOL, True),
    ]

    tensors = []  # name, dimensions (fastest first), kind, bytes, maker

    def linear(key, rows, columns, kind=Q4_0):
        values, size = BLOCK[kind]
        tensors.append((key, [columns, rows], kind, rows * columns // values * size,
                        lambda: quantized(rows, columns, kind, 0.006)))

    def vector(key, values):
        data = numpy.asarray(values, dtype=numpy.float32)
        tensors.append((key, [len(data)], F32, data.nbytes, data.tobytes))

    def plain(key, rows, columns, kind, scale):
        dtype = numpy.float32 if kind == F32 else numpy.float16
        tensors.append((key, [columns, rows], kind, rows * columns * numpy.dtype(dtype).itemsize,
                        lambda: (random.standard_normal((rows, columns)) * scale).astype(dtype).tobytes()))

    linear("token_embd.weight", vocabulary, hidden, Q6_K)
    linear("per_layer_token_embd.weight", vocabulary, row * layers)
    plain("per_layer_model_proj.weight", row * layers, hidden, F16, 0.02)
    vector("per_layer_proj_norm.weight", [1.0] * row)
    vector("output_norm.weight", [1.0] * hidden)
    vector("rope_freqs.weight", [1.0] * 64 + [1e30] * 192)
    for i in range(layers):
        size = small if sliding[i] else large
        b = f"blk.{i}."
        vector(b + "attn_norm.weight", [1.0] * hidden)
        linear(b + "attn_q.weight", size * heads, hidden)
        linear(b + "attn_output.weight", hidden, size * heads)
        vector(b + "attn_q_norm.weight", [1.0] * size)
        vector(b + "post_attention_norm.weight", [1.0] * hidden)
        if i < owners:
            linear(b + "attn_k.weight", size * kv_heads, hidden)
            linear(b + "attn_v.weight", size * kv_heads, hidden)
            vector(b + "attn_k_norm.weight", [1.0] * size)
        vector(b + "layer_output_scale.weight", [1.0])
        vector(b + "ffn_norm.weight", [1.0] * hidden)
        vector(b + "post_ffw_norm.weight", [1.0] * hidden)
        linear(b + "ffn_gate.weight", widths[i], hidden)
        linear(b + "ffn_up.weight", widths[i], hidden)
        linear(b + "ffn_down.weight", hidden, widths[i])
        plain(b + "inp_gate.weight", row, hidden, F32, 0.02)
        plain(b + "proj.weight", hidden, row, F32, 0.05)
        vector(b + "post_norm.weight", [1.0] * hidden)

    write(out, header, tensors)
    if len(sys.argv) > 4:
        rank = 16
        adapter = []
        for key, dimensions, kind, _, _ in tensors:
            if re.fullmatch(r"blk\.\d+\.(attn|ffn)_\w+\.weight", key) and len(dimensions) == 2:
                for end, shape in (("a", [dimensions[0], rank]), ("b", [rank, dimensions[1]])):
                    adapter.append((f"{key}.lora_{end}", shape, F16, shape[0] * shape[1] * 2,
                                    lambda n=shape[0] * shape[1]: (random.standard_normal(n) * 0.01).astype(numpy.float16).tobytes()))
        write(sys.argv[4], [entry("general.architecture", STRING, "gemma4"), entry("general.type", STRING, "adapter"),
                            entry("adapter.type", STRING, "lora"), entry("adapter.lora.alpha", FLOAT, 16.0)], adapter)


def write(out, header, tensors):
    with open(out, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(header)))
        file.write(b"".join(header))
        at = 0
        for key, dimensions, kind, size, _ in tensors:
            file.write(text(key) + struct.pack("<I", len(dimensions)))
            file.write(b"".join(struct.pack("<Q", d) for d in dimensions) + struct.pack("<IQ", kind, at))
            at += -(-size // 32) * 32
        file.write(b"\0" * (-file.tell() % 32))
        for _, _, _, size, make in tensors:
            data = make()
            if len(data) != size:
                raise ValueError(f"{len(data)} bytes for a tensor of {size}")
            file.write(data)
            file.write(b"\0" * (-size % 32))


if __name__ == "__main__":
    main()
