#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/adapters: small PEFT adapters of kinds that the golden set lacks, with the logits
that transformers and peft compute for them in float64 on the CPU.

    python make_adapter_vectors.py GOLDEN_DIR OUT_DIR

GOLDEN_DIR is the unpacked golden data (e2b/, moe26b/, media/). Versions used are written to
OUT_DIR/about.json. Each OUT_DIR/<name>/ is a PEFT folder; expected_logits.safetensors holds the
last 4 positions per case as float32 (combinations of golden adapters hold only that file).
"""
import hashlib
import json
import pathlib
import shutil
import sys
import warnings

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForImageTextToText
from transformers.models.gemma4.modeling_gemma4 import Gemma4AudioAttention

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
POSITIONS = 4
golden = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[2])


def base_model(folder):
    return AutoModelForImageTextToText.from_pretrained(
        golden / folder / "model", dtype=torch.float64,
        experts_implementation="eager").eval()


def case_inputs(folder, name):
    case = next(c for c in json.load(open(golden / folder / "cases.json")) if c["id"] == name)
    inputs = {"input_ids": torch.tensor([case["input_ids"]])}
    if case["image"]:
        media = load_file(golden / "media/image_processor_pil.safetensors")
        key = case["image"].replace("/", "_") + ".70."
        inputs["pixel_values"] = (media[key + "pixels_u8"].double() / 255)[None]
        inputs["image_position_ids"] = media[key + "positions"].long()[None]
    if case["audio"]:
        media = load_file(golden / "media/mel.safetensors")
        key = case["audio"].replace("/", "_")
        inputs["input_features"] = media[key + ".mel"].double()[None]
        inputs["input_features_mask"] = media[key + ".mask"].bool()[None]
    return inputs


def keep_double_in_audio_attention():
    """The audio tower's attention casts to float32 inside; here everything stays in float64."""
    forward = Gemma4AudioAttention.forward

    def wrapped(*args, **kwargs):
        to_float = torch.Tensor.float
        torch.Tensor.float = torch.Tensor.double
        try:
            return forward(*args, **kwargs)
        finally:
            torch.Tensor.float = to_float

    Gemma4AudioAttention.forward = wrapped


def logits(model, folder, name):
    with torch.no_grad():
        return model(**case_inputs(folder, name)).logits[0, -POSITIONS:]


def check_base(folder, cases):
    """The stack here must reproduce the golden logits of the base model."""
    model = base_model(folder)
    for name in cases:
        want = load_file(golden / folder / "expected" / f"{name}.safetensors")["logits"][-POSITIONS:].double()
        got = logits(model, folder, name)
        error = ((got - want).abs().max() / want.abs().max()).item()
        print(f"base {folder}/{name}: {error:.2e}")
        assert error < 1e-4, "the base model does not reproduce the golden logits"


def randomise(model, seed, scale):
    """Trained-looking values for everything the adapter holds. Tied parameters are visited once."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32).to(parameter)
        if "lora_magnitude" in name:
            parameter.data *= 1 + 0.2 * noise
        elif "lora_embedding_" in name or "lora_A" in name or "lora_B" in name:
            parameter.data += scale * noise
        elif "modules_to_save" in name or "trainable_tokens_delta" in name or name.endswith(".bias"):
            parameter.data += 0.3 * scale * noise


def make(name, folder, config, cases, dtype, seed, scale=0.2, save_tables=False):
    target = out / name
    shutil.rmtree(target, ignore_errors=True)
    model = get_peft_model(base_model(folder), config).eval()
    randomise(model, seed, scale)
    model.save_pretrained(target, save_embedding_layers=save_tables)
    (target / "README.md").unlink(missing_ok=True)
    # Round to the file's type, then compute with what the file says.
    file = target / "adapter_model.safetensors"
    tensors = {k: v.to(dtype).contiguous().clone() for k, v in load_file(file).items()}
    save_file(tensors, file, metadata={"format": "pt"})
    del model
    loaded = PeftModel.from_pretrained(base_model(folder), target).double().eval()
    base = base_model(folder)
    expected = {}
    for case in cases:
        expected[case] = logits(loaded, folder, case)
        effect = (expected[case] - logits(base, folder, case)).abs().max().item()
        print(f"{name} {case}: {len(tensors)} tensors, changes logits by up to {effect:.3f}")
        assert effect > 1e-3
    save_file({k: v.float().contiguous() for k, v in expected.items()},
              target / "expected_logits.safetensors")


def combination(name, folder, adapters, case="text"):
    """Several golden adapters active at once, in the order given."""
    target = out / name
    target.mkdir(parents=True, exist_ok=True)
    expected = {}
    for order in (adapters, adapters[::-1]):
        model = PeftModel.from_pretrained(base_model(folder), golden / folder / "adapters" / adapters[0],
                                          adapter_name=adapters[0])
        for other in adapters[1:]:
            model.load_adapter(golden / folder / "adapters" / other, adapter_name=other)
        model = model.double().eval()
        model.base_model.set_adapter(list(order))
        expected["+".join(order)] = logits(model, folder, case).float().contiguous()
    save_file(expected, target / "expected_logits.safetensors")
    values = list(expected.values())
    print(f"{name}: order changes logits by up to {(values[0] - values[1]).abs().max():.4f}")


def main():
    out.mkdir(parents=True, exist_ok=True)
    keep_double_in_audio_attention()
    check_base("e2b", ["text", "image", "audio"])
    check_base("moe26b", ["text"])
    text_ids = case_inputs("e2b", "text")["input_ids"][0]
    tokens = sorted({int(text_ids[7]), int(text_ids[20]), 5, 700, 1023})

    make("lora_bias", "e2b", LoraConfig(
        r=2, lora_alpha=6, lora_bias=True,
        target_modules=["output_proj", "per_layer_model_projection", "layers.0.mlp.up_proj"],
        exclude_modules=".*vision_tower.*"), ["text", "audio"], torch.float16, 11)
    make("bias_all", "e2b", LoraConfig(
        r=2, lora_alpha=4, bias="all", target_modules=["output_proj"]), ["audio"], torch.bfloat16, 12, 0.5)
    make("modules_to_save", "e2b", LoraConfig(
        r=2, target_modules=["per_layer_input_gate"],
        modules_to_save=["per_layer_projection", "pre_feedforward_layernorm", "embed_vision"]),
        ["text", "image"], torch.bfloat16, 13, 0.4)
    make("trainable_tokens", "e2b", LoraConfig(
        r=2, target_modules=["per_layer_model_projection"],
        trainable_token_indices={"embed_tokens": tokens, "embed_tokens_per_layer": tokens[:3]}),
        ["text"], torch.bfloat16, 14, 0.4)
    make("embedding", "e2b", LoraConfig(
        r=2, lora_alpha=3, target_modules=["embed_tokens", "embed_tokens_per_layer", "q_proj"],
        exclude_modules=".*(vision_tower|audio_tower).*"), ["text"], torch.bfloat16, 15)
    make("embedding_dora", "e2b", LoraConfig(
        r=2, use_dora=True, target_modules=["embed_tokens", "down_proj"],
        exclude_modules=".*(vision_tower|audio_tower).*"), ["text"], torch.float32, 16)
    make("head", "e2b", LoraConfig(r=2, target_modules=["lm_head"]), ["text"], torch.bfloat16, 17)
    make("tied_embedding", "e2b", LoraConfig(
        r=2, target_modules=["embed_tokens"], ensure_weight_tying=True), ["text"], torch.bfloat16, 18)
    make("experts", "moe26b", LoraConfig(
        r=2, lora_alpha=4, target_modules=["router.proj"],
        target_parameters=["experts.gate_up_proj", "experts.down_proj"],
        rank_pattern={r"experts\.down_proj": 1}), ["text"], torch.bfloat16, 19)
    make("experts_down", "moe26b", LoraConfig(
        r=1, target_modules=[], target_parameters=["layers.1.experts.down_proj"]),
        ["text"], torch.bfloat16, 20, 0.5)
    make("saved_positions", "e2b", LoraConfig(
        r=2, target_modules=["per_layer_input_gate"], modules_to_save=["patch_embedder"]),
        ["image"], torch.bfloat16, 21, 0.4)
    make("saved_embedding", "e2b", LoraConfig(
        r=2, target_modules=["per_layer_input_gate"], modules_to_save=["embed_tokens"]),
        ["text"], torch.bfloat16, 22, 0.4)
    make("saved_experts", "moe26b", LoraConfig(
        r=2, target_modules=["router.proj"], modules_to_save=["layers.1.experts"]),
        ["text"], torch.bfloat16, 23, 0.4)
    combination("text_and_dora", "e2b", ["text", "dora"])

    import peft
    import transformers
    about = {"torch": torch.__version__, "transformers": transformers.__version__,
             "peft": peft.__version__, "positions": POSITIONS, "sha256": {}}
    for file in sorted(out.glob("*/*.safetensors")):
        about["sha256"][str(file.relative_to(out))] = hashlib.sha256(file.read_bytes()).hexdigest()
    (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")


main()
