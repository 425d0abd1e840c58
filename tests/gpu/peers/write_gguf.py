# SPDX-License-Identifier: Apache-2.0
"""A GGUF of a full Gemma 4 shape with random blocks in the types that llama-quantize gives, for speed and memory only.

usage: write_gguf.py OUT.gguf SHAPE TOKENIZER.json[.xz] [ADAPTER.gguf [ASSISTANT.gguf]]     (needs numpy)

SHAPE: e2b, e4b, 12b, 26b, 31b or tiny, in Q4_0; "-q4_k_m", "-q8_0" or, for bf16, "-16" behind it gives the other mixes.
The types are those of llama-quantize without an importance matrix (llama.cpp b11549, src/llama-quant.cpp).
ADAPTER.gguf: also a random adapter of rank 16 on the linears of attention and MLP. ASSISTANT.gguf: also a random
assistant of the published shape (Q8_0), whose drafts are accepted as --spec-synth-rates says. "tiny" is a shape of
the same kind with small sizes, to see that the files are read.
"""
import functools
import json
import lzma
import re
import struct
import sys
import typing

import numpy

F32, F16, Q4_0, Q5_0, Q8_0, Q4_K, Q6_K, BF16 = 0, 1, 2, 6, 8, 12, 14, 30
BLOCK = {Q4_0: (32, 18), Q5_0: (32, 22), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210), BF16: (32, 64)}  # values, bytes
SCALE = {Q4_0: 0.006, Q5_0: 0.003, Q8_0: 0.0004, Q4_K: 0.0001, Q6_K: 0.0003, BF16: 0.024}  # of blocks; bf16: of values
# The type of most matrices, of embeddings, and the number that general.file_type has for the mix.
MIXES = {"q4_0": (Q4_0, Q6_K, 2), "q4_k_m": (Q4_K, Q6_K, 15), "q8_0": (Q8_0, Q8_0, 7), "16": (BF16, BF16, 32)}
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


class Shape(typing.NamedTuple):
    """A text model. Heads of keys and values: of layers with a window, of those without; row: 0 without per-layer rows."""
    hidden: int
    layers: int
    heads: int
    kv_heads: tuple
    mlp: int
    shared: int
    period: int
    row: int
    window: int
    experts: int = 0
    expert_mlp: int = 0


SHAPES = {"e2b": Shape(1536, 35, 8, (1, 1), 6144, 20, 5, 256, 512), "e4b": Shape(2560, 42, 8, (2, 2), 10240, 18, 6, 256, 512),
          "12b": Shape(3840, 48, 16, (8, 1), 15360, 0, 6, 0, 1024), "26b": Shape(2816, 30, 16, (8, 2), 2112, 0, 6, 0, 1024, 128, 704), "31b": Shape(5376, 60, 32, (16, 4), 21504, 0, 6, 0, 1024),
          "tiny": Shape(512, 6, 8, (1, 1), 512, 3, 3, 256, 512), "tiny26": Shape(512, 6, 8, (2, 1), 512, 0, 3, 0, 512, 16, 64)}
USED_EXPERTS, SMALL_HEAD, LARGE_HEAD, VOCABULARY = 8, 256, 512, 262144
POOL = 1 << 20  # blocks that are drawn; a longer matrix has them again


@functools.lru_cache(maxsize=None)
def pool(kind):
    values, size = BLOCK[kind]
    if kind == BF16:
        drawn = (random.standard_normal((POOL, values), dtype=numpy.float32) * SCALE[kind]).view(numpy.uint32)
        return (drawn >> 16).astype(numpy.uint16).view(numpy.uint8)
    blocks = random.integers(0, 256, (POOL, size), dtype=numpy.uint8)
    place = size - 2 if kind == Q6_K else 0
    blocks[:, place:place + 2] = numpy.array([SCALE[kind]], dtype=numpy.float16).view(numpy.uint8)
    if kind == Q4_K:  # codes are 0 to 15; the second scale takes their mean away
        blocks[:, 2:4] = numpy.array([7.5 * SCALE[kind]], dtype=numpy.float16).view(numpy.uint8)
    return blocks


def quantized(count, kind):
    """Buffers that hold so many values together."""
    whole, rest = divmod(count // BLOCK[kind][0], POOL)
    return [pool(kind).data] * whole + [pool(kind)[:rest].data]


def has_more_bits(i, count):
    """Whether llama-quantize's "medium" mixes give the i-th of so many matrices a larger type."""
    return i < count // 8 or i >= 7 * count // 8 or (i - count // 8) % 3 == 2


def write_assistant(out, model, tokenizer):
    """Of the shape of the model's published assistant."""
    is_small = model.row > 0
    hidden, mlp, heads, layers = (256, 2048, 4, 4) if is_small else (1024, 8192, model.heads, 4)
    backbone, small, large, window, vocabulary = model.hidden, SMALL_HEAD, LARGE_HEAD, model.window, VOCABULARY
    kv_heads = [model.kv_heads[0]] * 3 + [model.kv_heads[1]]
    a = "gemma4-assistant."
    header = [
        entry("general.architecture", STRING, "gemma4-assistant"), entry("general.name", STRING, "random assistant"),
        entry(a + "context_length", UINT32, 131072), entry(a + "embedding_length", UINT32, hidden),
        entry(a + "embedding_length_out", UINT32, backbone), entry(a + "block_count", UINT32, layers),
        entry(a + "nextn_predict_layers", UINT32, layers), entry(a + "attention.head_count", UINT32, heads),
        entry(a + "attention.head_count_kv", INT32, kv_heads), entry(a + "attention.layer_norm_rms_epsilon", FLOAT, 1e-6),
        entry(a + "attention.sliding_window", UINT32, window), entry(a + "attention.shared_kv_layers", UINT32, layers),
        entry(a + "embedding_length_per_layer_input", UINT32, 0),
        entry(a + "attention.sliding_window_pattern", BOOL, [True] * 3 + [False]),
        entry(a + "attention.key_length", UINT32, large), entry(a + "attention.value_length", UINT32, large),
        entry(a + "attention.key_length_swa", UINT32, small), entry(a + "attention.value_length_swa", UINT32, small),
        entry(a + "feed_forward_length", UINT32, mlp), entry(a + "rope.dimension_count", UINT32, large),
        entry(a + "rope.dimension_count_swa", UINT32, small), entry(a + "rope.freq_base", FLOAT, 1e6),
        entry(a + "rope.freq_base_swa", FLOAT, 1e4),
    ] + tokenizer
    tensors = []

    def eight(key, rows, columns):
        values, size = BLOCK[Q8_0]
        tensors.append((key, [columns, rows], Q8_0, rows * columns // values * size,
                        lambda: quantized(rows * columns, Q8_0)))

    def vector(key, size):
        data = numpy.ones(size, dtype=numpy.float32)
        tensors.append((key, [size], F32, data.nbytes, data.tobytes))

    eight("token_embd.weight", vocabulary, hidden)
    vector("output_norm.weight", hidden)
    eight("nextn.pre_projection.weight", hidden, 2 * backbone)
    eight("nextn.post_projection.weight", backbone, hidden)
    data = numpy.array([1.0] * 64 + [1e30] * 192, dtype=numpy.float32)
    tensors.append(("rope_freqs.weight", [len(data)], F32, data.nbytes, data.tobytes))
    for i in range(layers):
        size = small if i < layers - 1 else large
        b = f"blk.{i}."
        vector(b + "attn_norm.weight", hidden)
        eight(b + "attn_q.weight", size * heads, hidden)
        eight(b + "attn_output.weight", hidden, size * heads)
        vector(b + "attn_q_norm.weight", size)
        vector(b + "post_attention_norm.weight", hidden)
        vector(b + "layer_output_scale.weight", 1)
        vector(b + "ffn_norm.weight", hidden)
        vector(b + "post_ffw_norm.weight", hidden)
        eight(b + "ffn_gate.weight", mlp, hidden)
        eight(b + "ffn_up.weight", mlp, hidden)
        eight(b + "ffn_down.weight", hidden, mlp)
    write(out, header, tensors)


def main():
    out, name, tokenizer = sys.argv[1:4]
    name, _, mix = name.partition("-")
    model = SHAPES[name]
    stored, table, number = MIXES[mix or "q4_0"]
    hidden, layers, heads, row, vocabulary = model.hidden, model.layers, model.heads, model.row, VOCABULARY
    small, large = SMALL_HEAD, LARGE_HEAD
    owners = layers - model.shared
    sliding = [i % model.period != model.period - 1 for i in range(layers)]
    kv_heads = [model.kv_heads[0 if is_sliding else 1] for is_sliding in sliding]
    widths = [model.mlp * (2 if name.startswith("e2b") and i >= owners else 1) for i in range(layers)]
    # The large ones have no matrix of values in layers without a window.
    valued = [i for i in range(layers) if row or sliding[i]]

    opened = lzma.open(tokenizer) if tokenizer.endswith(".xz") else open(tokenizer, "rb")
    with opened:
        described = json.load(opened)
    words = [f"<absent{i}>" for i in range(vocabulary)]
    known = list(described["model"]["vocab"].items()) + [(a["content"], a["id"]) for a in described["added_tokens"]]
    for word, i in known:
        if i < vocabulary:
            words[i] = word
    kinds = [6 if re.fullmatch("<0x[0-9A-F]{2}>", w) else 3 if i < 300 and w.startswith("<") and w.endswith(">") else 1
             for i, w in enumerate(words)]
    merges = [" ".join(m) if isinstance(m, list) else m for m in described["model"]["merges"]]

    a = "gemma4."
    header = [
        entry("general.architecture", STRING, "gemma4"), entry("general.name", STRING, f"random {name}"),
        entry("general.file_type", UINT32, number), entry("general.quantization_version", UINT32, 2),
        entry(a + "context_length", UINT32, 131072), entry(a + "embedding_length", UINT32, hidden),
        entry(a + "block_count", UINT32, layers), entry(a + "attention.head_count", UINT32, heads),
        entry(a + "attention.head_count_kv", INT32, kv_heads),
        entry(a + "attention.layer_norm_rms_epsilon", FLOAT, 1e-6),
        entry(a + "attention.sliding_window", UINT32, model.window),
        entry(a + "attention.shared_kv_layers", UINT32, model.shared),
        entry(a + "embedding_length_per_layer_input", UINT32, row),
        entry(a + "attention.sliding_window_pattern", BOOL, sliding),
        entry(a + "attention.key_length", UINT32, large), entry(a + "attention.value_length", UINT32, large),
        entry(a + "attention.key_length_swa", UINT32, small), entry(a + "attention.value_length_swa", UINT32, small),
        entry(a + "feed_forward_length", INT32, widths),
        entry(a + "rope.dimension_count", UINT32, large), entry(a + "rope.dimension_count_swa", UINT32, small),
        entry(a + "rope.freq_base", FLOAT, 1e6), entry(a + "rope.freq_base_swa", FLOAT, 1e4),
        entry(a + "final_logit_softcapping", FLOAT, 30.0),
    ]
    if model.experts:
        header += [entry(a + "expert_count", UINT32, model.experts), entry(a + "expert_used_count", UINT32, USED_EXPERTS),
                   entry(a + "expert_feed_forward_length", UINT32, model.expert_mlp)]
    vocabulary_entries = [
        entry("tokenizer.ggml.model", STRING, "gemma4"), entry("tokenizer.ggml.tokens", STRING, words),
        entry("tokenizer.ggml.scores", FLOAT, [0.0] * vocabulary), entry("tokenizer.ggml.token_type", INT32, kinds),
        entry("tokenizer.ggml.merges", STRING, merges), entry("tokenizer.ggml.bos_token_id", UINT32, 2),
        entry("tokenizer.ggml.eos_token_id", UINT32, 1), entry("tokenizer.ggml.padding_token_id", UINT32, 0),
        entry("tokenizer.ggml.unknown_token_id", UINT32, 3),
        entry("tokenizer.ggml.add_space_prefix", BOOL, False), entry("tokenizer.ggml.add_bos_token", BOOL, True),
    ]

    tensors = []  # name, dimensions (fastest first), kind, bytes, maker

    def linear(key, rows, columns, kind=stored, matrices=0):
        if columns % BLOCK[kind][0]:
            kind = {Q4_K: Q5_0, Q6_K: Q8_0}[kind]
        values, size = BLOCK[kind]
        count = rows * columns * max(matrices, 1)
        tensors.append((key, [columns, rows] + [matrices] * (matrices > 0), kind, count // values * size,
                        lambda: quantized(count, kind)))

    def vector(key, values):
        data = numpy.asarray(values, dtype=numpy.float32)
        tensors.append((key, [len(data)], F32, data.nbytes, data.tobytes))

    def wanted(is_larger):
        return Q6_K if stored == Q4_K and is_larger else stored

    linear("token_embd.weight", vocabulary, hidden, table)
    if row:
        linear("per_layer_token_embd.weight", vocabulary, row * layers, table)
        linear("per_layer_model_proj.weight", row * layers, hidden, BF16)
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
        # Converters keep the unused ones of KV-shared layers.
        linear(b + "attn_k.weight", size * kv_heads[i], hidden)
        if i in valued:
            linear(b + "attn_v.weight", size * kv_heads[i], hidden, wanted(has_more_bits(valued.index(i), len(valued))))
        vector(b + "attn_k_norm.weight", [1.0] * size)
        vector(b + "layer_output_scale.weight", [1.0])
        vector(b + "ffn_norm.weight", [1.0] * hidden)
        vector(b + "post_ffw_norm.weight", [1.0] * hidden)
        linear(b + "ffn_gate.weight", widths[i], hidden)
        linear(b + "ffn_up.weight", widths[i], hidden)
        down = wanted(has_more_bits(i, layers))
        linear(b + "ffn_down.weight", hidden, widths[i], down)
        if model.experts:
            data = random.standard_normal((model.experts, hidden), dtype=numpy.float32) * 0.02
            tensors.append((b + "ffn_gate_inp.weight", [hidden, model.experts], F32, data.nbytes, data.tobytes))
            vector(b + "ffn_gate_inp.scale", [1.0] * hidden)
            for norm in ("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"):
                vector(f"{b}{norm}.weight", [1.0] * hidden)
            linear(b + "ffn_gate_up_exps.weight", 2 * model.expert_mlp, hidden, matrices=model.experts)
            linear(b + "ffn_down_exps.weight", hidden, model.expert_mlp, down, model.experts)
            vector(b + "ffn_down_exps.scale", [1.0] * model.experts)
        if row:
            linear(b + "inp_gate.weight", row, hidden)
            linear(b + "proj.weight", hidden, row)
            vector(b + "post_norm.weight", [1.0] * hidden)

    header += vocabulary_entries
    write(out, header, tensors)
    if len(sys.argv) > 5:
        write_assistant(sys.argv[5], model, vocabulary_entries)
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
            data = [data] if isinstance(data, bytes) else data
            found = sum(memoryview(part).nbytes for part in data)
            if found != size:
                raise ValueError(f"{found} bytes for a tensor of {size}")
            file.writelines(data)
            file.write(b"\0" * (-size % 32))


if __name__ == "__main__":
    main()
