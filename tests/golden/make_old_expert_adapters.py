#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the folders of tests/data/adapters whose expert factors stand as an older PEFT stored them,
with the logits that this PEFT computes for them in float64 on the CPU.

    python make_old_expert_adapters.py GOLDEN_DIR OUT_DIR

To be run with peft 0.18.1 and with 0.19.0, each of which makes its own folders: PEFT up to 0.19.0
read [experts, out, in] as [experts, in, out]. With a newer PEFT the script ends with what that PEFT
makes of the folders found in OUT_DIR. In the golden model gate_up_proj is square (2 x 32 = 64), so
there the shapes do not tell the two orders apart.
"""
import json
import pathlib
import shutil
import sys
import warnings

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForImageTextToText

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
POSITIONS = 4
golden = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[2])

FOLDERS = {
    "0.18.1": {"experts_peft_0_18": ["experts.gate_up_proj", "experts.down_proj"],
               "experts_square_peft_0_18": ["experts.gate_up_proj"]},
    "0.19.0": {"experts_square_peft_0_19_0": ["layers.2.experts.gate_up_proj"]},
}


def base_model():
    return AutoModelForImageTextToText.from_pretrained(
        golden / "moe26b/model", dtype=torch.float64, experts_implementation="eager").eval()


def logits(model):
    case = next(c for c in json.load(open(golden / "moe26b/cases.json")) if c["id"] == "text")
    with torch.no_grad():
        return model(input_ids=torch.tensor([case["input_ids"]])).logits[0, -POSITIONS:]


def make(name, parameters, seed):
    target = out / name
    shutil.rmtree(target, ignore_errors=True)
    config = LoraConfig(r=2, lora_alpha=4, target_modules=[], target_parameters=parameters)
    model = get_peft_model(base_model(), config).eval()
    generator = torch.Generator().manual_seed(seed)
    for key, parameter in model.named_parameters():
        if "lora_" in key:
            parameter.data += 0.2 * torch.randn(parameter.shape, generator=generator).to(parameter)
    model.save_pretrained(target)
    (target / "README.md").unlink(missing_ok=True)
    file = target / "adapter_model.safetensors"
    tensors = {k: v.bfloat16().contiguous().clone() for k, v in load_file(file).items()}
    save_file(tensors, file, metadata={"format": "pt"})
    loaded = PeftModel.from_pretrained(base_model(), target).double().eval()
    expected = logits(loaded)
    effect = (expected - logits(base_model())).abs().max().item()
    print(f"{name}: {len(tensors)} tensors, changes logits by up to {effect:.3f}")
    assert effect > 1e-3
    save_file({"text": expected.float().contiguous()}, target / "expected_logits.safetensors")
    about = {"torch": torch.__version__, "transformers": transformers.__version__,
             "peft": peft.__version__, "seed": seed}
    (target / "about.json").write_text(json.dumps(about, indent=1) + "\n")


def newer(name):
    want = load_file(out / name / "expected_logits.safetensors")["text"].double()
    try:
        loaded = PeftModel.from_pretrained(base_model(), out / name).double().eval()
    except RuntimeError as error:
        print(f"{name}: peft {peft.__version__} refuses it: {str(error)[:160]}")
        return
    error = ((logits(loaded) - want).abs().max() / want.abs().max()).item()
    print(f"{name}: peft {peft.__version__} is off by {error:.2e}")


if peft.__version__ in FOLDERS:
    for seed, (name, parameters) in enumerate(FOLDERS[peft.__version__].items()):
        make(name, parameters, 31 + seed)
else:
    for folders in FOLDERS.values():
        for name in folders:
            newer(name)
