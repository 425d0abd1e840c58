# SPDX-License-Identifier: Apache-2.0
"""What transformers + PEFT do with a split: where the towers are before and after an adapter is loaded.

A Gemma 4 shape with random weights (transformers_speed.py writes it), NF4, the map of the forum
({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "": 0}) and an adapter on the language
model and both towers. For every way of loading: bytes of each part by device, how many modules
accelerate's hooks move, bytes that torch holds on the card, before and after the adapter; then
whether it answers. One JSON object per line, the first with the versions. Needs torch, transformers 5,
accelerate, bitsandbytes and peft.

usage: transformers_split.py e2b|e4b|tiny --folder FOLDER [--device cuda:0|cpu] [--cases NAME,...]
"tiny" with --device cpu shows on any machine that the script works (no quantization, nothing moves).
"""
import argparse
import gc
import os
import sys
import traceback

from transformers_speed import report, write_checkpoint

TARGET = (r".*(?:model\.language_model\.layers\.\d+\.(?:self_attn|mlp)\."
          r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
          r"|model\.vision_tower\.encoder\.layers\.\d+\.(?:self_attn|mlp)\."
          r"(?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)\.linear"
          r"|model\.audio_tower\.layers\.\d+\.self_attn\.(?:q_proj|k_proj|v_proj)\.linear)$")
TOWERS = ("vision_tower", "audio_tower")


def places(model):
    """Bytes of the towers and of the rest by device, and modules under accelerate's hooks."""
    out = {}
    for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
        part = next((tower for tower in TOWERS if tower in name), "rest")
        if "lora_" in name:
            part += ", adapter"
        by_device = out.setdefault(part, {})
        device = str(tensor.device)
        by_device[device] = by_device.get(device, 0) + tensor.numel() * tensor.element_size()
    hooks = sum("_hf_hook" in vars(module) for module in model.modules())
    return {"bytes": out, "hooked_modules": hooks}


def towers_on_card(seen):
    return sum(size for tower in TOWERS for device, size in seen["bytes"].get(tower, {}).items()
               if device.startswith("cuda"))


class Split:
    def __init__(self, arguments):
        import torch
        import transformers
        self.torch, self.t, self.folder = torch, transformers, arguments.folder
        self.on_card = arguments.device != "cpu"
        self.adapter = os.path.join(arguments.folder, "adapter-towers")

    def map_of(self, is_split):
        card = int(self.torch.device("cuda:0").index) if self.on_card else "cpu"
        towers = {"model.vision_tower": "cpu", "model.audio_tower": "cpu"} if is_split else {}
        return {**towers, "": card}

    def load(self, is_split, double):
        more = {}
        if self.on_card:
            more["quantization_config"] = self.t.BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=double,
                bnb_4bit_compute_dtype=self.torch.bfloat16, llm_int8_enable_fp32_cpu_offload=True)
        # No attn_implementation: 5.24 refuses "sdpa" for the audio tower.
        return self.t.Gemma4ForConditionalGeneration.from_pretrained(
            self.folder, device_map=self.map_of(is_split), dtype=self.torch.bfloat16, **more)

    def write_adapter(self):
        import peft
        if os.path.exists(os.path.join(self.adapter, "adapter_config.json")):
            return
        model = self.t.Gemma4ForConditionalGeneration.from_pretrained(
            self.folder, device_map={"": "cpu"}, dtype=self.torch.bfloat16)
        peft.get_peft_model(model, peft.LoraConfig(
            r=16, lora_alpha=32, target_modules=TARGET,
            init_lora_weights=False)).save_pretrained(self.adapter)

    def held(self):
        if not self.on_card:
            return {}
        self.torch.cuda.synchronize()
        return {"card_gib": round(self.torch.cuda.memory_allocated() / 2**30, 3),
                "peak_gib": round(self.torch.cuda.max_memory_allocated() / 2**30, 3)}

    def answer(self, model):
        ids = self.torch.randint(1000, 100000, (1, 16), device="cuda" if self.on_card else "cpu")
        with self.torch.inference_mode():
            out = model.generate(input_ids=ids, attention_mask=self.torch.ones_like(ids),
                                 do_sample=False, max_new_tokens=8, min_new_tokens=8)
        return int(out.shape[1] - ids.shape[1])

    def run(self, name, is_split, double=False, adapter=None):
        import peft
        gc.collect()
        if self.on_card:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()
        model = None
        try:
            model = self.load(is_split, double)
            before = places(model)
            report(case=name, step="base", **before, **self.held())
            if adapter is not None:
                model = peft.PeftModel.from_pretrained(model, self.adapter, is_trainable=False, **adapter)
                after = places(model)
                report(case=name, step="adapter", **after, **self.held(),
                       towers_moved_to_card=towers_on_card(after) - towers_on_card(before))
            report(case=name, step="answer", tokens=self.answer(model), **self.held())
        except Exception as error:  # what it says is the result
            where = traceback.extract_tb(error.__traceback__)[-1]
            report(case=name, step="failed", error=f"{type(error).__name__}: {error}"[:300],
                   where=f"{os.path.basename(where.filename)}:{where.lineno}", **self.held())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("shape", choices=["e2b", "e4b", "tiny"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--cases", default="")
    arguments = parser.parse_args()
    try:
        import accelerate
        import peft
        import torch
        import transformers
        versions = {m.__name__: m.__version__ for m in (torch, transformers, accelerate, peft)}
        if arguments.device != "cpu":
            import bitsandbytes
            versions["bitsandbytes"] = bitsandbytes.__version__
    except ImportError as error:
        print(f"transformers_split: {error}", file=sys.stderr)
        return 77
    if arguments.device != "cpu" and not torch.cuda.is_available():
        print("transformers_split: torch sees no card", file=sys.stderr)
        return 77
    card = torch.cuda.get_device_name(0) if arguments.device != "cpu" else "none"
    report(case="versions", card=card, **versions)
    write_checkpoint(arguments.shape, arguments.folder, arguments.device)
    split = Split(arguments)
    split.write_adapter()
    cases = {
        "nf4, one card": lambda n: split.run(n, False),
        "nf4, one card, adapter": lambda n: split.run(n, False, adapter={}),
        "nf4, split": lambda n: split.run(n, True),
        "nf4, split, adapter": lambda n: split.run(n, True, adapter={}),
        "nf4-dq, split, adapter": lambda n: split.run(n, True, True, {}),
        "nf4-dq, split, adapter with the map": lambda n: split.run(
            n, True, True, {"device_map": split.map_of(True)}),
    }
    wanted = [name for name in arguments.cases.split(",") if name]
    for name, run in cases.items():
        if not wanted or name in wanted:
            run(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
