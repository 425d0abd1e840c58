#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/head: logits that transformers and peft compute in float64 for the golden e2b
model with an output head of its own, and small adapters for it.

    python make_head_vectors.py GOLDEN_DIR OUT_DIR

The head is the token table with rows and columns in reverse order, so that a test can make the
same model from the golden one. "tied" and "untied" are what config.json says of it, "plain" is the
golden model itself, without a stored head. Versions are written to OUT_DIR/about.json.
"""
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile
import warnings

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForImageTextToText

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
POSITIONS = 4
TABLE = "model.language_model.embed_tokens.weight"
golden = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[2])
work = pathlib.Path(tempfile.mkdtemp())


def make_folder(name, tied, change):
    folder = work / name
    shutil.copytree(golden / "e2b/model", folder)
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["tie_word_embeddings"] = tied
    config["text_config"]["tie_word_embeddings"] = tied
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def own_head(tensors):
    tensors["lm_head.weight"] = tensors[TABLE].flip(0, 1).contiguous()


def base_model(folder):
    return AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float64).eval()


def case_inputs(name):
    case = next(c for c in json.load(open(golden / "e2b/cases.json")) if c["id"] == name)
    inputs = {"input_ids": torch.tensor([case["input_ids"]])}
    if case["image"]:
        media = load_file(golden / "media/image_processor_pil.safetensors")
        key = case["image"].replace("/", "_") + ".70."
        inputs["pixel_values"] = (media[key + "pixels_u8"].double() / 255)[None]
        inputs["image_position_ids"] = media[key + "positions"].long()[None]
    return inputs


def logits(model, name="text"):
    with torch.no_grad():
        return model(**case_inputs(name)).logits[0, -POSITIONS:]


def greedy(model, count=24):
    ids = case_inputs("text")["input_ids"]
    with torch.no_grad():
        for _ in range(count):
            ids = torch.cat([ids, model(input_ids=ids).logits[:, -1:].argmax(-1)], dim=1)
    return ids[0, -count:].tolist()


def randomise(model, seed, scale):
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32).to(parameter)
        if "lora_embedding_" in name or "lora_A" in name or "lora_B" in name:
            parameter.data += scale * noise
        elif "modules_to_save" in name or "trainable_tokens_delta" in name:
            parameter.data += 0.3 * scale * noise


def make_adapter(name, base, config, variants, seed):
    target = out / name
    model = get_peft_model(base_model(base), config).eval()
    randomise(model, seed, 0.2)
    model.save_pretrained(target, save_embedding_layers=False)
    (target / "README.md").unlink(missing_ok=True)
    file = target / "adapter_model.safetensors"
    tensors = {k: v.to(torch.bfloat16).contiguous().clone() for k, v in load_file(file).items()}
    save_file(tensors, file, metadata={"format": "pt"})
    config_file = target / "adapter_config.json"
    stored = json.loads(config_file.read_text())
    stored["base_model_name_or_path"] = "e2b"
    config_file.write_text(json.dumps(stored, indent=1) + "\n")
    expected = {}
    for variant, folder in variants.items():
        loaded = PeftModel.from_pretrained(base_model(folder), target).double().eval()
        expected[variant] = logits(loaded)
        effect = (expected[variant] - logits(base_model(folder))).abs().max().item()
        print(f"{name} on {variant}: changes logits by up to {effect:.3f}")
        assert effect > 1e-3
    save_file({k: v.float().contiguous() for k, v in expected.items()},
              target / "expected_logits.safetensors")


def main():
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    plain = golden / "e2b/model"
    tied = make_folder("tied", True, own_head)
    untied = make_folder("untied", False, own_head)
    want = load_file(golden / "e2b/expected/text.safetensors")["logits"][-POSITIONS:].double()
    same = make_folder("same", True, lambda t: t.update({"lm_head.weight": t[TABLE].clone()}))
    only = make_folder("only", True, lambda t: t.update({"lm_head.weight": t.pop(TABLE)}))
    for name, folder in {"plain": plain, "same": same, "only": only}.items():
        error = ((logits(base_model(folder)) - want).abs().max() / want.abs().max()).item()
        print(f"{name}: {error:.1e} from the golden logits")
        assert error < 1e-5
    model = base_model(tied)
    expected = {case: logits(model, case).float().contiguous() for case in ("text", "image")}
    other = logits(base_model(untied)).float()
    assert torch.equal(other, expected["text"])
    expected["greedy"] = torch.tensor(greedy(model), dtype=torch.int32)
    save_file(expected, out / "expected.safetensors")

    all_variants = {"plain": plain, "tied": tied, "untied": untied}
    make_adapter("head", plain, LoraConfig(
        r=2, target_modules=["lm_head", "per_layer_input_gate"]), all_variants, 31)
    make_adapter("saved_head", plain, LoraConfig(
        r=2, target_modules=["per_layer_input_gate"], modules_to_save=["lm_head"]), all_variants, 32)
    make_adapter("embedding", plain, LoraConfig(
        r=2, target_modules=["embed_tokens"]), all_variants, 33)
    make_adapter("tokens", plain, LoraConfig(
        r=2, target_modules=["per_layer_input_gate"],
        trainable_token_indices={"embed_tokens": [5, 236, 700, 1023]}), all_variants, 34)
    make_adapter("saved_both", tied, LoraConfig(
        r=2, target_modules=["per_layer_input_gate"], modules_to_save=["embed_tokens"],
        ensure_weight_tying=True), {"plain": plain, "tied": tied}, 35)

    import peft
    import transformers
    about = {"torch": torch.__version__, "transformers": transformers.__version__,
             "peft": peft.__version__, "positions": POSITIONS, "sha256": {}}
    for file in sorted(out.rglob("*.safetensors")):
        about["sha256"][str(file.relative_to(out))] = hashlib.sha256(file.read_bytes()).hexdigest()
    (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    shutil.rmtree(work)


main()
