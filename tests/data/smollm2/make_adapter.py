# SPDX-License-Identifier: Apache-2.0
# Makes adapter/ and logits.safetensors beside this file: a small PEFT adapter for SmolLM2-135M-Instruct and what
# transformers computes with and without it, in float64, of the weights that gguf-py expands. Of each row of logits
# every 48th value and the 64 largest are kept. The rows without the adapter come from WHOLE, an independent run.
# Usage: make_adapter.py SmolLM2-135M-Instruct.Q4_1.gguf WHOLE.safetensors (needs torch, transformers, safetensors, gguf).
import json, pathlib, sys, numpy, torch, gguf
from gguf.quants import dequantize
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM

here = pathlib.Path(__file__).parent
reader = gguf.GGUFReader(sys.argv[1])
field = lambda name: reader.fields["llama." + name].contents()
LAYERS, HEADS, KV = field("block_count"), field("attention.head_count"), field("attention.head_count_kv")
config = LlamaConfig(vocab_size=49152, hidden_size=field("embedding_length"), intermediate_size=field("feed_forward_length"),
    num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV,
    max_position_embeddings=field("context_length"), rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
    rope_parameters={"rope_type": "default", "rope_theta": field("rope.freq_base")}, tie_word_embeddings=True)
model = LlamaForCausalLM(config).double().eval()
names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, LAYERS)
stored = {t.name: dequantize(t.data, t.tensor_type).reshape(t.shape[::-1]) for t in reader.tensors}
with torch.no_grad():
    for name, p in model.named_parameters():
        value = stored.pop(names.get_name(name, try_suffixes=(".weight",)))
        heads = {"q_proj": HEADS, "k_proj": KV}.get(name.split(".")[-2])
        if heads:  # the file has the rows of a head by pairs
            value = value.reshape(heads, -1, 2, value.shape[1]).swapaxes(1, 2).reshape(value.shape)
        p.copy_(torch.from_numpy(numpy.ascontiguousarray(value)))
assert not stored, list(stored)

whole = load_file(sys.argv[2])
cases = json.loads((here / "chat_cases.json").read_text())
ids = torch.arange(0, 49152, 48)
expected = {"ids": ids.to(torch.int32)}


def keep(name, row):
    top = row.topk(64)
    expected[name] = row[ids].float().contiguous()
    expected[name + ".top"] = top.values.float().contiguous()
    expected[name + ".top_ids"] = top.indices.to(torch.int32).contiguous()


def last_row(case):
    with torch.no_grad():
        return model(torch.tensor([case["ids"]])).logits[0, -1]


for i, case in enumerate(cases):
    keep(f"{i}.plain", whole[f"{i}.logits"])
assert (last_row(cases[0]) - whole["0.logits"].double()).abs().max() < 1e-4

TARGETS, RANK, ALPHA = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], 2, 8
generator = torch.Generator().manual_seed(15)
tensors = {}
with torch.no_grad():
    for layer in (2, 27):
        for name, module in model.model.layers[layer].named_modules():
            if name.split(".")[-1] not in TARGETS:
                continue
            rows, columns = module.weight.shape
            a = (torch.randn(RANK, columns, generator=generator) * 0.2).to(torch.bfloat16)
            b = (torch.randn(rows, RANK, generator=generator) * 0.03).to(torch.bfloat16)
            key = f"base_model.model.model.layers.{layer}.{name}"
            tensors[key + ".lora_A.weight"], tensors[key + ".lora_B.weight"] = a, b
            module.weight += ALPHA / RANK * (b.double() @ a.double())
for i in (0, 4, 9):
    row = last_row(cases[i])
    plain = whole[f"{i}.logits"].double()
    print(i, "the adapter moves logits by", float((row - plain).abs().max() / plain.abs().max()))
    keep(f"{i}.adapter", row)
(here / "adapter").mkdir(exist_ok=True)
save_file(tensors, str(here / "adapter/adapter_model.safetensors"), metadata={"format": "pt"})
(here / "adapter/adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": RANK,
    "lora_alpha": ALPHA, "target_modules": TARGETS, "layers_to_transform": [2, 27], "lora_dropout": 0.0, "bias": "none",
    "use_rslora": False, "use_dora": False, "fan_in_fan_out": False, "inference_mode": True,
    "base_model_name_or_path": "HuggingFaceTB/SmolLM2-135M-Instruct"}, indent=1) + "\n")
save_file(expected, str(here / "logits.safetensors"))
