# SPDX-License-Identifier: Apache-2.0
"""The demo model's drafting assistant (gemma4_assistant) as functions over named weights.

Four layers (S S S F) that have no keys and values of their own: queries alone, over those of the
demo model's last owners. Topology, tensor names and arithmetic are those of the published
assistants of E2B, in small, with the same head over a few groups of tokens; check_assistant.py
compares it with transformers. Here all rounds of a text are computed at once: column n of every
array is the round behind n tokens, whose query stands at position n and sees positions 0 to n - 1.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

import net

H, MLP, HEADS, TYPES = 64, 128, 2, "SSSF"
GROUPS, TOP = 64, 8                      # of the vocabulary; how many of them a draft looks at
GROUP = net.VOCAB // GROUPS
TABLE = "model.embed_tokens.weight"
CENTROIDS, ORDER = "masked_embedding.centroids.weight", "masked_embedding.token_ordering"


def head_size(kind):
    return net.HEAD if kind == "S" else net.FULL_HEAD


def shapes():
    """name -> shape of every stored tensor but the ordering."""
    out = {TABLE: (net.VOCAB, H), "model.norm.weight": (H,),
           "pre_projection.weight": (H, 2 * net.H), "post_projection.weight": (net.H, H),
           CENTROIDS: (GROUPS, H)}
    for i, kind in enumerate(TYPES):
        p, d = f"model.layers.{i}.", head_size(kind)
        out[p + "self_attn.q_proj.weight"] = (HEADS * d, H)
        out[p + "self_attn.q_norm.weight"] = (d,)
        out[p + "self_attn.o_proj.weight"] = (H, HEADS * d)
        out[p + "mlp.gate_proj.weight"] = out[p + "mlp.up_proj.weight"] = (MLP, H)
        out[p + "mlp.down_proj.weight"] = (H, MLP)
        for name in ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                     "post_feedforward_layernorm"]:
            out[p + name + ".weight"] = (H,)
        out[p + "layer_scalar"] = (1,)
    return out


def initial(target_table, seed=1):
    """Fresh float32 weights; the table is the demo model's, seen along its widest directions."""
    g = torch.Generator().manual_seed(seed)
    table = target_table.float().cpu()
    _, _, axes = torch.linalg.svd(table - table.mean(0), full_matrices=False)
    out = {}
    for name, shape in shapes().items():
        if name == TABLE:
            rows = (table - table.mean(0)) @ axes[:H].T
            value = rows / rows.norm(dim=1, keepdim=True).mean()
        elif name.endswith("q_norm.weight"):
            value = torch.full(shape, 1.1 * shape[0] ** -0.25)
        elif len(shape) == 1:
            value = torch.full(shape, 0.5 if "post_" in name else 1.0)
        else:
            value = torch.randn(shape, generator=g) * shape[1] ** -0.5
        out[name] = value
    return out


def group_tokens(target_table, seed=1, passes=12):
    """int64 [VOCAB]: tokens whose embeddings are alike stand in one group of GROUP.

    K-means in which every group has the same size: the tokens nearest to their group choose first.
    """
    rows = F.normalize(target_table.float().cpu(), dim=1)
    g = torch.Generator().manual_seed(seed)
    middle = rows[torch.randperm(net.VOCAB, generator=g)[:GROUPS]]
    for _ in range(passes):
        near = rows @ middle.T
        members, place = [[] for _ in range(GROUPS)], near.argsort(1, descending=True)
        for token in near.max(1).values.argsort(descending=True).tolist():
            group = next(c for c in place[token].tolist() if len(members[c]) < GROUP)
            members[group].append(token)
        middle = torch.stack([F.normalize(rows[m].mean(0), dim=0) for m in members])
    return torch.tensor([token for m in members for token in sorted(m)])


class Rounds:
    """Masks and rotations for texts of up to `max_length` tokens on one device, in float32."""

    def __init__(self, device, max_length=512):
        self.rope = net.Net(device, torch.float32, max_length).rope
        at = torch.arange(max_length, device=device)
        back = at[:, None] - at[None, :]                    # of column n: 1 is position n - 1
        self.sees = {"F": back > 0, "S": (back > 0) & (back <= net.WINDOW)}
        for mask in self.sees.values():
            mask[0, 0] = True                               # no round: only so that it is a number

    def step(self, w, embedded, state, kv):
        """One draft in every round. embedded: the demo model's scaled row of the token before it,
        state: its hidden row, then what the step before gave, both [B, T, net.H]; kv: kind ->
        keys and values [B, T, d]. Gives (what the head reads [B, T, H], the next state).
        """
        b, t, _ = embedded.shape
        x = F.linear(torch.cat([embedded, state], -1), w["pre_projection.weight"])
        for i, kind in enumerate(TYPES):
            p, d = f"model.layers.{i}.", head_size(kind)
            cos, sin = (r[:t] for r in self.rope[kind])
            q = F.linear(net.rms(x, w[p + "input_layernorm.weight"]),
                         w[p + "self_attn.q_proj.weight"]).view(b, t, HEADS, d)
            q = net.rms(q, w[p + "self_attn.q_norm.weight"]).transpose(1, 2)
            q = q * cos + net.half_turn(q) * sin
            k, v = (z.unsqueeze(1).expand(b, HEADS, t, d) for z in kv[kind])
            o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.sees[kind][:t, :t],
                                               scale=1.0)
            o = F.linear(o.transpose(1, 2).reshape(b, t, HEADS * d),
                         w[p + "self_attn.o_proj.weight"])
            x = x + net.rms(o, w[p + "post_attention_layernorm.weight"])
            h = net.rms(x, w[p + "pre_feedforward_layernorm.weight"])
            h = F.gelu(F.linear(h, w[p + "mlp.gate_proj.weight"]), approximate="tanh") \
                * F.linear(h, w[p + "mlp.up_proj.weight"])
            h = F.linear(h, w[p + "mlp.down_proj.weight"])
            x = (x + net.rms(h, w[p + "post_feedforward_layernorm.weight"])) \
                * w[p + "layer_scalar"]
        z = net.rms(x, w["model.norm.weight"])
        return z, F.linear(z, w["post_projection.weight"])


def draft(w, order, z):
    """The tokens that the head chooses for rows z [..., H]: the best of the best TOP groups."""
    best = F.linear(z, w[CENTROIDS]).topk(TOP, -1).indices                  # [..., TOP]
    is_in = torch.zeros(*z.shape[:-1], GROUPS, dtype=torch.bool, device=z.device)
    is_in.scatter_(-1, best, True)
    group_of = torch.empty_like(order)
    group_of[order] = torch.arange(net.VOCAB, device=order.device) // GROUP
    logits = F.linear(z, w[TABLE]).masked_fill(~is_in[..., group_of], float("-inf"))
    return logits.argmax(-1)


def config():
    """config.json as transformers 5.24 writes it for the published assistants."""
    kinds = {"S": "sliding_attention", "F": "full_attention"}
    return {
        "architectures": ["Gemma4AssistantForCausalLM"], "backbone_hidden_size": net.H,
        "centroid_intermediate_top_k": TOP, "dtype": "bfloat16",
        "model_type": "gemma4_assistant", "num_centroids": GROUPS,
        "text_config": {
            "attention_bias": False, "attention_dropout": 0.0, "attention_k_eq_v": False,
            "bos_token_id": 2, "enable_moe_block": False, "eos_token_id": 1,
            "final_logit_softcapping": None, "head_dim": net.HEAD,
            "hidden_activation": "gelu_pytorch_tanh", "hidden_size": H,
            "hidden_size_per_layer_input": 0, "initializer_range": 0.02,
            "intermediate_size": MLP, "layer_types": [kinds[k] for k in TYPES],
            "max_position_embeddings": 4096, "model_type": "gemma4_text",
            "moe_intermediate_size": None, "num_attention_heads": HEADS, "num_experts": None,
            "num_hidden_layers": len(TYPES), "num_key_value_heads": 1,
            "num_kv_shared_layers": len(TYPES), "pad_token_id": 0,
            "per_layer_config": {"3": {"head_dim": net.FULL_HEAD}}, "rms_norm_eps": net.EPS,
            "rope_parameters": {
                "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0,
                                   "rope_type": "proportional"},
                "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
            "sliding_window": net.WINDOW, "tie_word_embeddings": True, "top_k_experts": None,
            "use_bidirectional_attention": None, "use_cache": True,
            "use_double_wide_mlp": False, "vocab_size": net.VOCAB,
            "vocab_size_per_layer_input": 0},
        "tie_word_embeddings": True, "use_ordered_embeddings": True}


def write(folder, w, order, num_drafts):
    """The three files of the folder, weights in bf16."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (("config", config()),
                       ("generation_config", {"num_assistant_tokens": num_drafts})):
        (folder / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    tensors = {name: w[name].detach().to(torch.bfloat16).cpu().contiguous() for name in shapes()}
    tensors[ORDER] = order.cpu().contiguous()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def read(folder):
    """(weights in float32, ordering) of a folder that write() made."""
    stored = load_file(Path(folder) / "model.safetensors")
    return {name: stored[name].float() for name in shapes()}, stored[ORDER]
