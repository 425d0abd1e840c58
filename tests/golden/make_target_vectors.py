#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/adapters/target_matching.json: which modules peft itself targets for a set of
adapter configurations, with the rank and alpha it gives them.

    python make_target_vectors.py GOLDEN_DIR OUT_FILE

Module names are those of the golden e2b and moe26b models (linear layers, embeddings and the
wrappers of clipped linears), once as Gemma4ForConditionalGeneration names them and once as the
text-only class does.
"""
import json
import pathlib
import sys
import warnings

import torch
from peft import LoraConfig
from peft.tuners.lora import LoraModel
from peft.tuners.tuners_utils import _maybe_include_all_linear_layers, check_target_module_exists
from peft.utils.other import get_pattern_key
from transformers import AutoConfig, AutoModelForImageTextToText

warnings.filterwarnings("ignore")
golden = pathlib.Path(sys.argv[1])

FORUM = (r"(?:.*?(?:vision|image|visual|patch|audio|language|text).*?(?:self_attn|attention|attn|mlp|feed_forward|ffn|dense)"
         r".*?(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)(?:\.linear)?)|(?:\bmodel\.layers\.[\d]{1,}\."
         r"(?:self_attn|mlp)\.(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj))")
ALL7 = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
TOWERS = ".*(vision_tower|audio_tower).*"

VECTORS = {
    "list of suffixes": dict(target_modules=["q_proj", "v_proj"]),
    "suffix needs a dot before it": dict(target_modules=["proj"]),
    "suffix of two components": dict(target_modules=["mlp.up_proj", "self_attn.q_proj"]),
    "full name": dict(target_modules=["model.language_model.layers.2.mlp.down_proj"]),
    "inner linear": dict(target_modules=["q_proj.linear", "linear_end.linear"]),
    "every wrapped linear": dict(target_modules=["linear"]),
    "embeddings and head": dict(target_modules=["embed_tokens", "embed_tokens_per_layer", "lm_head"]),
    "empty list": dict(target_modules=[]),
    "name that matches nothing": dict(target_modules=["c_attn"]),
    "regex, language only": dict(target_modules=r".*language_model.*\.(q|k|v|o)_proj"),
    "regex must match the whole name": dict(target_modules=r"q_proj"),
    "regex anchored at both ends": dict(target_modules=r"^model\.language_model\.layers\.\d+\.mlp\.(gate|up|down)_proj$"),
    "regex with counted repeat": dict(target_modules=r".*layers\.\d{1,1}\.mlp\.up_proj"),
    "regex with open repeat": dict(target_modules=r".*layers\.[0-9]{,1}\.mlp\.up_proj"),
    "regex with class and negation": dict(target_modules=r".*layers\.[^02468]\.self_attn\.[qk]_proj"),
    "regex, unescaped dots": dict(target_modules=r".*layers.1.mlp.up_proj"),
    "regex, lazy": dict(target_modules=r".*?self_attn.*?q_proj"),
    "regex, alternatives without group": dict(target_modules=r"lm_head|.*\.embed_tokens"),
    "regex, named group": dict(target_modules=r".*\.layers\.(?P<n>[13])\.mlp\.(?P<p>up|down)_proj"),
    "regex, case flag": dict(target_modules=r"(?i).*\.Q_PROJ"),
    "regex, case flag in a group": dict(target_modules=r".*\.(?i:K_PROJ)"),
    "regex, word boundary": dict(target_modules=r".*\bq_proj\b"),
    "regex, escapes": dict(target_modules=r".*\.layers\.\d\.mlp\.\w+_proj\Z"),
    "regex, comment and octal": dict(target_modules=r".*\.layers\.1\.(?#the gate)mlp\056gate_proj"),
    "regex, literal braces": dict(target_modules=r".*up_proj{x}|.*\.v_proj"),
    "regex, forum": dict(target_modules=FORUM),
    "regex, towers with inner linear": dict(target_modules=r".*(?:vision_tower|audio_tower).*(?:q|k|v)_proj\.linear"),
    "all-linear": dict(target_modules="all-linear"),
    "all-linear, other case, excluded tower": dict(target_modules="ALL-Linear", exclude_modules=r".*audio_tower.*"),
    "exclude regex": dict(target_modules=ALL7, exclude_modules=TOWERS),
    "exclude list": dict(target_modules=ALL7, exclude_modules=["o_proj", "mlp.up_proj"]),
    "exclude full name": dict(target_modules=["q_proj"], exclude_modules=["model.language_model.layers.0.self_attn.q_proj"]),
    "exclude must match the whole name": dict(target_modules=["q_proj"], exclude_modules="vision"),
    "layers_to_transform list": dict(target_modules=["q_proj"], layers_to_transform=[0, 3]),
    "layers_to_transform number": dict(target_modules=["q_proj", "linear"], layers_to_transform=2),
    "layers_to_transform empty": dict(target_modules=["q_proj"], layers_to_transform=[]),
    "layers_to_transform, no number in name": dict(target_modules=["per_layer_model_projection", "q_proj"], layers_to_transform=[1]),
    "layers_to_transform, full name exempt": dict(
        target_modules=["model.language_model.layers.5.mlp.up_proj", "up_proj"], layers_to_transform=[1]),
    "layers_pattern": dict(target_modules=["q_proj"], layers_to_transform=[1], layers_pattern="layers"),
    "layers_pattern with path": dict(target_modules=["q_proj", "linear"], layers_to_transform=[1], layers_pattern="encoder.layers"),
    "layers_pattern list": dict(target_modules=["q_proj", "linear"], layers_to_transform=[0],
                                layers_pattern=["blocks", r"language_model\.layers", "layers"]),
    "layers_pattern without match": dict(target_modules=["q_proj"], layers_to_transform=[1], layers_pattern="h"),
    "modules_to_save takes modules away": dict(target_modules=["q_proj", "embedding_projection"], modules_to_save=["embed_vision"]),
    "modules_to_save of a tower": dict(target_modules=ALL7, modules_to_save=["vision_tower", "layers.0"]),
    "rank and alpha pattern": dict(target_modules=ALL7, exclude_modules=TOWERS, r=8, lora_alpha=16,
                                   rank_pattern={r"layers\.0\.self_attn\.q_proj": 4, "o_proj": 2},
                                   alpha_pattern={"gate_proj": 48}),
    "first pattern wins": dict(target_modules=["q_proj", "k_proj"], r=8, lora_alpha=8,
                               rank_pattern={"self_attn.q_proj": 3, "q_proj": 5, ".*proj": 7},
                               alpha_pattern={".*_proj": 1.5, "k_proj": 99}),
    "pattern with caret": dict(target_modules=["q_proj"], r=8, rank_pattern={r"^model\.language_model\.layers\.1\..*": 2, "^q_proj": 6}),
    "pattern with alternatives": dict(target_modules=["q_proj", "up_proj", "down_proj"], r=8,
                                      rank_pattern={r"layers\.[0-2]\.self_attn\.q_proj|down_proj": 16}),
    "rslora with patterns": dict(target_modules=["q_proj", "v_proj"], r=16, lora_alpha=4, use_rslora=True, rank_pattern={"v_proj": 4}),
    "negative look-ahead at the start": dict(target_modules=r"^(?!.*(?:vision_tower|audio_tower)).*\.(?:q_proj|k_proj|up_proj|down_proj)$"),
    "negative look-ahead, everything but towers": dict(target_modules=r"^(?!.*(?:vision_tower|audio_tower)).*(?:q_proj|o_proj).*"),
    "several look-aheads": dict(target_modules=r"(?!.*audio)(?!.*vision)(?=.*layers\.[0-2]\.).*_proj"),
    "look-ahead inside": dict(target_modules=r"^(model.language_model(?=\.).*\.(q_proj|k_proj))$|^(model(?=\.layers).*\.(q_proj|k_proj))$"),
    "tempered dot": dict(target_modules=r"(?:(?!vision|audio).)*\.(?:gate_proj|per_layer_input_gate)"),
    "look-behind": dict(target_modules=r".*(?<!linear_)(?<=self_attn\.)[qk]_proj(?<!k_proj)"),
    "look-ahead in an alternative": dict(target_modules=r"(?:lm_head|.*layers\.(?!0\.|1\.)\d+\.mlp\.(?!gate|down).*)"),
    "look-ahead repeated": dict(target_modules=r"(?:(?!\.mlp\.).)+\.(?:v_proj|o_proj)"),
    "nested look-aheads": dict(target_modules=r"(?!.*(?=vision|audio)(?!.*layers\.0)).*q_proj(?:\.linear)?"),
    "look-ahead with case flag": dict(target_modules=r"(?i)(?!.*VISION).*Q_PROJ"),
    "exclude with look-ahead": dict(target_modules=ALL7, exclude_modules=r"^(?!.*language_model).*$"),
    "exclude what lies outside some layers": dict(target_modules=["q_proj", "up_proj"], exclude_modules=r"(?!.*layers\.[13]\.).*"),
    "layers_pattern with look-ahead": dict(target_modules=["q_proj", "linear"], layers_to_transform=[1],
                                           layers_pattern=r"(?!encoder)[a-z_]+\.layers"),
    "layers_pattern with look-behind": dict(target_modules=["q_proj", "linear"], layers_to_transform=[0, 2],
                                            layers_pattern=r"(?<!encoder\.)layers"),
    "rank and alpha pattern with look-around": dict(
        target_modules=ALL7, exclude_modules=TOWERS, r=8, lora_alpha=16,
        rank_pattern={r"layers\.(?!0\.)\d+\.self_attn\.q_proj": 4, r"(?<!self_attn\.)(?:up|down)_proj": 2},
        alpha_pattern={r"^(?!.*layers\.1\.).*gate_proj": 48, r"mlp\.(?=u)\w+": 3}),
    "pattern of a full name": dict(target_modules=["down_proj"], r=8, rank_pattern={"model.language_model.layers.1.mlp.down_proj": 32}),
}


class Names:
    """Module names of a model, and what peft needs of it for all-linear."""

    def __init__(self, folder, text_only):
        config = AutoConfig.from_pretrained(golden / folder / "model")
        with torch.device("meta"):
            model = AutoModelForImageTextToText.from_config(config)
        self.model = model
        self.names = []
        for name, module in model.named_modules():
            if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)) or type(module).__name__ == "Gemma4ClippableLinear":
                if text_only:
                    if name.startswith("model.language_model."):
                        name = "model." + name.removeprefix("model.language_model.")
                    elif name != "lm_head":
                        continue
                self.names.append(name)


def run(names, options, is_text_only):
    config = LoraConfig(**options)
    if isinstance(config.target_modules, str) and config.target_modules.lower() == "all-linear":
        if is_text_only:
            return None
        config = _maybe_include_all_linear_layers(config, names.model)
    rows = []
    for i, name in enumerate(names.names):
        if not check_target_module_exists(config, name):
            continue
        rank = config.rank_pattern.get(get_pattern_key(config.rank_pattern.keys(), name), config.r)
        alpha = config.alpha_pattern.get(get_pattern_key(config.alpha_pattern.keys(), name), config.lora_alpha)
        scaling = alpha / rank**0.5 if config.use_rslora else alpha / rank
        rows.append([i, rank, alpha, scaling])
    return rows


def main():
    sets = {"e2b": Names("e2b", False), "e2b text-only": Names("e2b", True), "moe26b": Names("moe26b", False)}
    out = {"names": {key: value.names for key, value in sets.items()}, "vectors": []}
    for title, options in VECTORS.items():
        for key, names in sets.items():
            rows = run(names, options, key.endswith("text-only"))
            if rows is None:
                continue
            uniform = {tuple(r[1:]) for r in rows}
            vector = {"title": title, "model": key, "config": {"peft_type": "LORA", **options}}
            if len(uniform) == 1:
                vector["uniform"] = list(uniform.pop())
                vector["targeted"] = [r[0] for r in rows]
            else:
                vector["targeted"] = rows
            out["vectors"].append(vector)
            print(f"{title} / {key}: {len(rows)}")
    pathlib.Path(sys.argv[2]).write_text(json.dumps(out, separators=(",", ":")) + "\n")


main()
