# SPDX-License-Identifier: Apache-2.0
# Makes scaled.safetensors, scaled.json and tiny.gguf beside this file: what transformers computes in float64 with Llama
# 3.1's scaled positions, for model.safetensors with another config, and for a Q8_0 GGUF file with a tokenizer and a
# template of its own. Usage: make_scaled.py (needs torch, transformers, safetensors, gguf).
import json, pathlib, numpy, torch, gguf
from gguf.quants import quantize, dequantize
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

here = pathlib.Path(__file__).parent
ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128}
generator = torch.Generator().manual_seed(5)


def run(model, ids, rows=4, tokens=8):
    """Logits of the last rows, and greedy tokens."""
    with torch.no_grad():
        whole = ids
        logits = model(ids).logits[0, -rows:].float().contiguous()
        greedy = []
        for _ in range(tokens):
            greedy.append(int(model(whole).logits[0, -1].argmax()))
            whole = torch.cat([whole, torch.tensor([[greedy[-1]]])], 1)
    return logits, greedy


def cases_of(model, other, lowest, name, expected):
    """Prompts that other positions answer otherwise."""
    cases = []
    for i, length in enumerate((7, 90, 200)):
        ids = torch.randint(lowest, model.config.vocab_size, (1, length), generator=generator)
        logits, greedy = run(model, ids)
        plain, _ = run(other, ids, tokens=0)
        difference = float((logits - plain).abs().max() / plain.abs().max())
        assert difference > 1e-2, difference  # a hundred times the bound of the tests
        expected[f"{name}.{i}"] = logits
        cases.append({"input_ids": ids[0].tolist(), "greedy": greedy})
    return cases


def llama(config, state, **changes):
    model = LlamaForCausalLM(LlamaConfig(**{**config, **changes})).double().eval()
    model.load_state_dict({k: v.double() for k, v in state.items()}, strict="lm_head.weight" in state)
    return model


expected, told = {}, {"rope_parameters": ROPE}
config = json.loads((here / "config.json").read_text())
config.pop("dtype")
state = load_file(str(here / "model.safetensors"))
plain = llama(config, state)
told["folder"] = cases_of(llama(config, state, rope_parameters=ROPE), plain, 3, "folder", expected)

# The folder's weights as Mistral's: the same values.
mistral = MistralForCausalLM(MistralConfig(**{**config, "sliding_window": None})).double().eval()
mistral.load_state_dict({k: v.double() for k, v in state.items()})
ids = torch.tensor([told["folder"][1]["input_ids"]])
assert (run(mistral, ids, tokens=0)[0] - run(plain, ids, tokens=0)[0]).abs().max() < 1e-6

# A file: bytes and four markers as tokens, and a merge, as no file has none.
HIDDEN, HEADS, KV, DIM, MLP, LAYERS = 64, 4, 2, 16, 96, 2
byte_texts = [chr(b) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else None for b in range(256)]
for n, b in enumerate(b for b in range(256) if byte_texts[b] is None):
    byte_texts[b] = chr(256 + n)
tokens = byte_texts + ["he", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
tokens += [f"<|reserved_{i}|>" for i in range(288 - len(tokens))]
TEMPLATE = ("{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + "
            "'<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}")
sizes = dict(vocab_size=len(tokens), hidden_size=HIDDEN, intermediate_size=MLP, num_hidden_layers=LAYERS,
             num_attention_heads=HEADS, num_key_value_heads=KV, head_dim=DIM, max_position_embeddings=1024,
             rms_norm_eps=1e-5, tie_word_embeddings=True, hidden_act="silu", bos_token_id=257, eos_token_id=260)
scaled = LlamaForCausalLM(LlamaConfig(**sizes, rope_parameters=ROPE))
base = LlamaForCausalLM(LlamaConfig(**sizes, rope_parameters={"rope_type": "default", "rope_theta": ROPE["rope_theta"]}))
divisors = (base.model.rotary_emb.inv_freq / scaled.model.rotary_emb.inv_freq).numpy().astype(numpy.float32)

writer = gguf.GGUFWriter(str(here / "tiny.gguf"), "llama")
writer.add_block_count(LAYERS); writer.add_context_length(1024); writer.add_embedding_length(HIDDEN)
writer.add_feed_forward_length(MLP); writer.add_head_count(HEADS); writer.add_head_count_kv(KV)
writer.add_layer_norm_rms_eps(1e-5); writer.add_rope_freq_base(ROPE["rope_theta"]); writer.add_rope_dimension_count(DIM)
writer.add_vocab_size(len(tokens)); writer.add_tokenizer_model("gpt2"); writer.add_tokenizer_pre("llama-bpe")
writer.add_token_list(tokens); writer.add_token_types([1] * 257 + [3] * (len(tokens) - 257))
writer.add_token_merges(["h e"]); writer.add_bos_token_id(257); writer.add_eos_token_id(260)
writer.add_chat_template(TEMPLATE)
names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, LAYERS)
writer.add_tensor("rope_freqs.weight", divisors)
values = {}
for name, p in scaled.named_parameters():
    value = torch.randn(p.shape, generator=generator) * (2.0 / p.shape[-1] ** 0.5 if p.dim() > 1 else 0.2) + (p.dim() == 1)
    heads = {"q_proj": HEADS, "k_proj": KV}.get(name.split(".")[-2])
    stored = value.numpy()
    if heads:  # rows of a head by pairs, as convert_hf_to_gguf has them
        stored = stored.reshape(heads, 2, DIM // 2, HIDDEN).swapaxes(1, 2).reshape(stored.shape)
    kind = gguf.GGMLQuantizationType.F32
    if p.dim() > 1:
        kind = gguf.GGMLQuantizationType.Q8_0
        packed = quantize(stored, kind)
        values[name] = torch.from_numpy(dequantize(quantize(value.numpy(), kind), kind))
    else:
        packed, values[name] = stored, value
    writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), packed, raw_dtype=kind)
writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()
for model in (scaled, base):
    model.double().eval().load_state_dict({k: v.double() for k, v in values.items()}, strict=False)
told["gguf"] = cases_of(scaled, base, 0, "gguf", expected)
said = "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhello<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
told["chat"] = {"user": " hello ", "prompt": said}

# What belfry-cli compare says of the file and of one with another base of the frequencies, over a text in windows.
TEXT, WINDOW, THETA = "The weather helps the heron; he fishes there, near the old pier.\n\n" * 3 + "He left.", 64, 500.0
other = LlamaForCausalLM(LlamaConfig(**sizes, rope_parameters={"rope_type": "default", "rope_theta": THETA})).double().eval()
other.load_state_dict({k: v.double() for k, v in values.items()}, strict=False)
other.model.rotary_emb.inv_freq = other.model.rotary_emb.inv_freq / torch.from_numpy(divisors)
ids = list(TEXT.encode().replace(b"he", b"\xff"))  # no byte of a text in UTF-8
ids = [256 if i == 255 else i for i in ids]
rows = [[], []]
targets = []
for at in range(0, len(ids), WINDOW - 1):
    part = [257] + ids[at:at + WINDOW - 1]
    targets += part[1:]
    with torch.no_grad():
        for kept, model in zip(rows, (scaled, other)):
            kept.append(model(torch.tensor([part])).logits[0, :-1].log_softmax(-1))
p, q = (torch.cat(kept) for kept in rows)
divergence = (p.exp() * (p - q)).sum(-1).sort().values
losses = [-x[range(len(targets)), targets].mean() for x in (p, q)]
told["compare"] = {"text": TEXT, "context": WINDOW, "rope_freq_base": THETA, "positions": len(targets),
                   "perplexity": [float(loss.exp()) for loss in losses],
                   "top1_agreement": float((p.argmax(-1) == q.argmax(-1)).double().mean()),
                   "mean_kl_nats": float(divergence.mean()),
                   "p99_kl_nats": float(divergence[-(-len(targets) * 99 // 100) - 1])}
print(told["compare"])
save_file(expected, str(here / "scaled.safetensors"))
(here / "scaled.json").write_text(json.dumps(told) + "\n")
