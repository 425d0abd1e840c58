#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a golden set from a seed: random Gemma 4 models of all four topologies in sizes drawn from
the seed, PEFT adapters of every kind on them, and the logits that transformers and peft compute in
float64 on the CPU from the bf16 weights in the files.

    python make_golden_sets.py SEED GOLDEN_DIR OUT_DIR [--families e2b,e4b] [--no-greedy]

GOLDEN_DIR is the unpacked golden data (tests/data/golden.tar.xz): its media, tokenizers and prompts
are used, its weights are not. OUT_DIR gets the same layout, without `quantized`, and in
OUT_DIR/about.json what transformers' own float32 run is away from float64, per case. That figure
says what a float32 path can be asked for: a case whose answer hangs on a near tie of rounding is far
off in every float32 program. compare_golden_sets.py runs belfry-cli over the sets.

Nothing of it runs in float32: transformers casts to float32 inside norms, softmax, the towers and
the expert router whatever the model's type; DoubleInside takes these casts away.
"""
import argparse
import copy
import hashlib
import json
import pathlib
import random
import re
import shutil
import warnings

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForImageTextToText

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
ROWS, ADAPTER_ROWS, GREEDY = 32, 8, 24
IMAGE_ID, AUDIO_ID = 9, 12  # of the golden set's tokenizer
FAMILIES = ["e2b", "e4b", "dense31b", "moe26b"]
LANGUAGE = (r"model\.language_model\.layers\.\d+\.(?:self_attn|mlp)\."
            r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)")
VISION = (r"model\.vision_tower\.encoder\.layers\.\d+\.(?:self_attn|mlp)\."
          r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)\.linear")
AUDIO = r"model\.audio_tower\.layers\.\d+\.self_attn\.(?:q_proj|k_proj|v_proj)\.linear"
BRIDGES = (r".*(embed_vision|embed_audio)\.embedding_projection$|.*audio_tower\.output_proj$|"
           r".*per_layer_model_projection$|.*per_layer_input_gate$")
NO_TOWERS = ".*(vision_tower|audio_tower).*"


class DoubleInside:
    """While it is entered, what asks for float32 gets float64."""

    def __enter__(self):
        self.to_float, self.softmax = torch.Tensor.float, torch.nn.functional.softmax
        softmax = self.softmax

        def softmax_kept(tensor, *args, **kwargs):
            if tensor.dtype == torch.float64:
                kwargs.pop("dtype", None)
            return softmax(tensor, *args, **kwargs)

        torch.Tensor.float, torch.nn.functional.softmax = torch.Tensor.double, softmax_kept
        return self

    def __exit__(self, *_):
        torch.Tensor.float, torch.nn.functional.softmax = self.to_float, self.softmax


def sizes(config, draw):
    """Other sizes than the golden set's, of the same topology. Written into `config`."""
    text, vision, audio = config["text_config"], config["vision_config"], config["audio_config"]
    hidden = draw.choice([64, 96, 128, 160, 192, 256])
    head = draw.choice([16, 24, 32, 48])
    heads = text["num_attention_heads"]
    text.update(hidden_size=hidden, head_dim=head, sliding_window=draw.choice([9, 12, 16, 23]),
                intermediate_size=draw.choice([hidden, 2 * hidden, 5 * hidden // 2]),
                num_attention_heads=heads, max_position_embeddings=4096)
    for override in text["per_layer_config"].values():
        override["head_dim"] = 2 * head
    if text["hidden_size_per_layer_input"]:
        text["hidden_size_per_layer_input"] = draw.choice([16, 24, 32])
    if text.get("num_experts"):
        text.update(num_experts=draw.choice([8, 12]), moe_intermediate_size=draw.choice([32, 48, 64]))
    vision_head = draw.choice([12, 16, 20])
    wide = vision_head * vision["num_attention_heads"]
    vision.update(head_dim=vision_head, hidden_size=wide, intermediate_size=2 * wide)
    if audio:
        audio.update(hidden_size=draw.choice([64, 96, 128]), output_proj_dims=draw.choice([64, 96, 128]))
    return config


def value_of(name, shape, fan_in, noise, draw):
    """Random weights of the golden set's kind; None = as the model came."""
    leaf = name.rsplit(".", 1)[-1]
    if re.search(r"(input|output)_(min|max)$", leaf):
        if draw.random() < 0.4:
            return None
        bound = draw.uniform(1.2, 2.65)
        return torch.full(shape, -bound if leaf.endswith("min") else bound)
    if leaf == "layer_scalar":
        return 0.9 + 0.15 * noise
    if leaf == "per_dim_scale":
        return 0.3 * noise
    if leaf == "std_bias":
        return 0.4 * noise
    if leaf in ("std_scale", "scale"):
        return 1 + 0.2 * noise
    if leaf == "per_expert_scale":
        return 1 + 0.15 * noise
    if leaf == "position_embedding_table":
        return 0.3 * noise
    if leaf == "bias":
        return 0.2 * noise
    if "embed_tokens" in name:
        return noise / shape[-1] ** 0.5
    if re.search(r"[qk]_norm\.weight$", name):
        return 0.5 + 0.125 * noise
    if len(shape) == 1:
        return 1 + 0.25 * noise
    if "conv" in name and len(shape) > 2:
        return 1.2 * noise / (shape[1] * shape[2] * (shape[3] if len(shape) > 3 else 1)) ** 0.5
    return 1.2 * noise / fan_in ** 0.5


def write_model(folder, source, config, seed):
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("generation_config.json", "processor_config.json", "tokenizer.json",
                 "tokenizer_config.json"):
        shutil.copy(source / name, folder / name)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    model = AutoModelForImageTextToText.from_config(AutoConfig.from_pretrained(folder))
    generator = torch.Generator().manual_seed(seed)
    draw = random.Random(seed)
    tensors = {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        noise = torch.randn(tensor.shape, generator=generator)
        value = value_of(name, tensor.shape, tensor.shape[-1] if tensor.dim() else 1, noise, draw)
        tensors[name] = (tensor if value is None else value).to(torch.bfloat16).contiguous()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def base_model(folder, dtype=torch.float64):
    return AutoModelForImageTextToText.from_pretrained(
        folder, dtype=dtype, experts_implementation="eager", attn_implementation="eager").eval()


def inputs_of(case, media, dtype):
    ids = torch.tensor([case["input_ids"]])
    # As the processor makes them; blocks of an image that see each other need them.
    inputs = {"input_ids": ids,
              "mm_token_type_ids": (ids == IMAGE_ID).long() + 3 * (ids == AUDIO_ID).long()}
    if case["image"]:
        key = case["image"].replace("/", "_") + ".70."
        inputs["pixel_values"] = (media[key + "pixels_u8"].to(dtype) / 255)[None]
        inputs["image_position_ids"] = media[key + "positions"].long()[None]
    if case["audio"]:
        key = case["audio"].replace("/", "_")
        inputs["input_features"] = media[key + ".mel"].to(dtype)[None]
        inputs["input_features_mask"] = media[key + ".mask"].bool()[None]
    return inputs


def run(model, case, media, rows, dtype=torch.float64):
    inputs = inputs_of(case, media, dtype)
    with torch.no_grad():
        if dtype == torch.float64:
            with DoubleInside():
                return model(**inputs).logits[0, -rows:]
        return model(**inputs).logits[0, -rows:]


def greedy(model, case, media):
    with torch.no_grad(), DoubleInside():
        out = model.generate(**inputs_of(case, media, torch.float64), do_sample=False,
                             max_new_tokens=GREEDY, eos_token_id=-1, suppress_tokens=None)
    return out[0, len(case["input_ids"]):].tolist()


def difference(got, want):
    return ((got.double() - want.double()).abs().max() / want.double().abs().max()).item()


def adapter_configs(family):
    def config(targets, **more):
        values = {"r": 8, "lora_alpha": 16, "target_modules": targets, "lora_dropout": 0.0,
                  "task_type": "CAUSAL_LM"}
        return LoraConfig(**{**values, **more})

    multimodal = f".*(?:{LANGUAGE}|{VISION}|{AUDIO})$"
    text = rf".*{LANGUAGE}$"
    if family in ("dense31b", "moe26b"):
        # Plain linears there: the towers are not clipped.
        multimodal = f".*(?:{LANGUAGE}|{VISION})$"
    configs = {"text": config(text), "multimodal": config(multimodal),
               "rslora": config(multimodal, use_rslora=True),
               "dora": config(text, r=4, lora_alpha=8, use_dora=True),
               "pattern": config(["q_proj", "o_proj", "gate_proj"], exclude_modules=NO_TOWERS,
                                 rank_pattern={r"layers\.0\.self_attn\.q_proj": 4, "o_proj": 2},
                                 alpha_pattern={"gate_proj": 48}),
               "layers": config(["q_proj", "down_proj"], r=4, lora_alpha=8,
                                exclude_modules=NO_TOWERS, layers_to_transform=[1, 3],
                                layers_pattern="layers")}
    if family in ("e2b", "e4b"):
        configs["bridges"] = config(BRIDGES, r=4, lora_alpha=8)
    return configs


def write_adapter(folder, base, config, seed):
    model = get_peft_model(base_model(base), copy.deepcopy(config))
    model.save_pretrained(folder)
    del model
    (folder / "README.md").unlink(missing_ok=True)
    file = folder / "adapter_model.safetensors"
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, tensor in sorted(load_file(file).items()):
        noise = torch.randn(tensor.shape, generator=generator)
        if "lora_A" in name:
            value = noise / tensor.shape[-1] ** 0.5
        elif "lora_B" in name:
            value = 0.25 * noise
        else:
            value = tensor.float() * (1 + 0.1 * noise)
        tensors[name] = value.to(torch.bfloat16).contiguous()
    save_file(tensors, file, metadata={"format": "pt"})


def make_family(family, arguments, media, about):
    source, target = arguments.golden / family, arguments.out / family
    shutil.rmtree(target, ignore_errors=True)
    seed = arguments.seed * 1000 + FAMILIES.index(family)
    config = json.loads((source / "model/config.json").read_text())
    write_model(target / "model", source / "model", sizes(config, random.Random(seed)), seed)
    cases = json.loads((source / "cases.json").read_text())
    (target / "expected").mkdir()
    double, single = base_model(target / "model"), base_model(target / "model", torch.float32)
    for case in cases:
        logits = run(double, case, media, ROWS)
        case["greedy"] = greedy(double, case, media) if arguments.greedy else []
        save_file({"logits": logits.float().contiguous()},
                  target / "expected" / f"{case['id']}.safetensors")
        noise = difference(run(single, case, media, ROWS, torch.float32), logits)
        about["float32"][f"{family}/{case['id']}"] = noise
        print(f"{family}/{case['id']}: float32 is off by {noise:.2e}", flush=True)
    (target / "cases.json").write_text(json.dumps(cases, indent=1))
    for index, (name, config) in enumerate(adapter_configs(family).items()):
        folder = target / "adapters" / name
        write_adapter(folder, target / "model", config, seed + 7919 * (index + 1))
        double = PeftModel.from_pretrained(base_model(target / "model"), folder).double().eval()
        single = PeftModel.from_pretrained(base_model(target / "model", torch.float32), folder)
        single = single.float().eval()
        expected = {}
        for case in cases:
            expected[case["id"]] = run(double, case, media, ADAPTER_ROWS)
            noise = difference(run(single, case, media, ADAPTER_ROWS, torch.float32),
                               expected[case["id"]])
            about["float32"][f"{family}/{name}/{case['id']}"] = noise
            print(f"{family}/{name}/{case['id']}: float32 is off by {noise:.2e}", flush=True)
        save_file({k: v.float().contiguous() for k, v in expected.items()},
                  folder / "expected_logits.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--no-greedy", dest="greedy", action="store_false")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(arguments.golden / "media", arguments.out / "media", dirs_exist_ok=True)
    media = {}
    for name in ("image_processor_pil", "mel"):
        media.update(load_file(arguments.golden / "media" / f"{name}.safetensors"))
    about = {"seed": arguments.seed,
             "versions": {m.__name__: m.__version__ for m in (torch, transformers, peft)},
             "float32": {}}
    for family in arguments.families.split(","):
        make_family(family, arguments, media, about)
    about["sha256"] = {
        str(file.relative_to(arguments.out)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(arguments.out.rglob("*.safetensors"))}
    (arguments.out / "about.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    main()
