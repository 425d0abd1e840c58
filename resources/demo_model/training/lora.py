# SPDX-License-Identifier: Apache-2.0
"""Low-rank updates over the demo model's weights, and their PEFT folder.

Targets: the seven projections of every language layer and every clipped linear of both towers
(its inner `.linear`). KV-shared layers have no key or value projection, so none is targeted there.
"""

import json
import math
import re
from pathlib import Path

import torch
from safetensors.torch import save_file

import net

RANK, ALPHA = 8, 16
TARGET = (r".*(?:model\.language_model\.layers\.\d+\.(?:self_attn|mlp)\."
          r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
          r"|model\.vision_tower\.encoder\.layers\.\d+\.(?:self_attn|mlp)\."
          r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)\.linear"
          r"|model\.audio_tower\.layers\.\d+\.(?:self_attn\.(?:q_proj|k_proj|v_proj|post)"
          r"|feed_forward[12]\.ffw_layer_[12]|lconv1d\.linear_(?:start|end))\.linear)$")


def targets():
    """Module path -> shape of the weight it updates."""
    return {name[:-len(".weight")]: shape for name, shape in net.Q_SHAPES.items()
            if re.fullmatch(TARGET, name[:-len(".weight")])}


def sizes():
    """[(module, side, shape)] in the order of the flat tensor."""
    out = []
    for module, (rows, columns) in targets().items():
        out += [(module, "A", (RANK, columns)), (module, "B", (rows, RANK))]
    return out


def initial(seed=3):
    g = torch.Generator().manual_seed(seed)
    return torch.cat([(torch.randn(s, generator=g) * s[1] ** -0.5 if side == "A"
                       else torch.zeros(s)).reshape(-1) for _, side, s in sizes()])


def pairs(flat):
    """Flat tensor to {module: (A, B)}."""
    table = sizes()
    parts = flat.split([math.prod(s) for _, _, s in table])
    out = {}
    for (module, side, shape), part in zip(table, parts):
        out.setdefault(module, {})[side] = part.view(shape)
    return {m: (p["A"], p["B"]) for m, p in out.items()}


def apply(w, flat, language=True, towers=True):
    """Weights with the update added, in the dtype of w."""
    out = dict(w)
    for module, (a, b) in pairs(flat).items():
        if language if "language_model" in module else towers:
            name = module + ".weight"
            out[name] = w[name] + (ALPHA / RANK * (b @ a)).to(w[name].dtype)
    return out


def write(folder, flat, base):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for module, (a, b) in pairs(flat).items():
        for side, t in (("A", a), ("B", b)):
            key = f"base_model.model.{module}.lora_{side}.weight"
            tensors[key] = t.detach().to(torch.bfloat16).contiguous().cpu()
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = {"alpha_pattern": {}, "base_model_name_or_path": base, "bias": "none",
              "exclude_modules": None, "fan_in_fan_out": False, "inference_mode": True,
              "init_lora_weights": True, "layers_pattern": None, "layers_to_transform": None,
              "lora_alpha": ALPHA, "lora_bias": False, "lora_dropout": 0.0,
              "modules_to_save": None, "peft_type": "LORA", "r": RANK, "rank_pattern": {},
              "revision": None, "target_modules": TARGET, "task_type": "CAUSAL_LM",
              "use_dora": False, "use_rslora": False}
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n",
                                                encoding="utf-8")
