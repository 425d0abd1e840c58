# SPDX-License-Identifier: Apache-2.0
# Makes tests/data/llama: a tiny random model of Llama's shape and what transformers computes for it
# in float64. Usage: make_golden.py FOLDER 1024 (needs torch, transformers, safetensors).
import json, sys, pathlib, torch, transformers
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM
out = pathlib.Path(sys.argv[1]); out.mkdir(parents=True, exist_ok=True)
torch.manual_seed(7)
config = LlamaConfig(vocab_size=int(sys.argv[2]), hidden_size=64, intermediate_size=160, num_hidden_layers=4,
    num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512, rms_norm_eps=1e-5,
    rope_parameters={"rope_type": "default", "rope_theta": 500000.0}, tie_word_embeddings=False, hidden_act="silu", bos_token_id=2,
    eos_token_id=1, pad_token_id=0, attention_bias=False, mlp_bias=False, dtype="float32")
model = LlamaForCausalLM(config)
with torch.no_grad():
    for name, p in model.named_parameters():
        if name.endswith("norm.weight") or "layernorm" in name:
            p.copy_(1 + 0.2 * torch.randn_like(p))
        else:
            p.copy_(torch.randn_like(p) * (2.0 / p.shape[-1] ** 0.5 if "embed" not in name else 0.7))
        p.copy_(p.to(torch.bfloat16).float())  # what a bf16 file holds
state = {k: v.to(torch.bfloat16).contiguous() for k, v in model.state_dict().items()}
save_file(state, str(out / "model.safetensors"), metadata={"format": "pt"})
config.dtype = "bfloat16"; config.architectures = ["LlamaForCausalLM"]
(out / "config.json").write_text(config.to_json_string())
(out / "generation_config.json").write_text(json.dumps({"eos_token_id": 1, "do_sample": False}, indent=2))
model = model.double().eval()
generator = torch.Generator().manual_seed(3)
expected, cases = {}, []
for i, length in enumerate((1, 5, 40)):
    ids = torch.randint(3, config.vocab_size, (1, length), generator=generator)
    with torch.no_grad():
        run = model(ids, output_hidden_states=True)
        tokens, step = ids, []
        for _ in range(16):
            nxt = int(model(tokens).logits[0, -1].argmax()); step.append(nxt)
            tokens = torch.cat([tokens, torch.tensor([[nxt]])], 1)
    expected[f"{i}.logits"] = run.logits[0].float().contiguous()
    for layer, h in enumerate(run.hidden_states):
        expected[f"{i}.hidden.{layer}"] = h[0].float().contiguous()
    cases.append({"input_ids": ids[0].tolist(), "greedy": step})
save_file(expected, str(out / "expected.safetensors"))
(out / "cases.json").write_text(json.dumps({"transformers": transformers.__version__, "cases": cases}, indent=1))
