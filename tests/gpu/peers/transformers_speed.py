# SPDX-License-Identifier: Apache-2.0
"""Speed of transformers + bitsandbytes (NF4, nested statistics, bf16) on a Gemma 4 shape.

Random weights; needs torch, transformers 5, bitsandbytes and, for --adapter, peft. Prints one JSON
object per figure, in the format of llama_speed, the first with the versions. Prompts are to be compared
with transformers 5.24 or later: from there on its KV-shared layers run on the kept rows only, as ours do. The checkpoint is written to --folder once and used
again. "tiny" with --device cpu shows on any machine that the script works.

usage: transformers_speed.py e2b|e4b|tiny --folder FOLDER [--prefill 512,4096] [--decode 64]
                             [--repeats 3] [--adapter RANK] [--towers] [--device cuda:0] [--write-only]
"""
import argparse
import json
import os
import re
import statistics
import sys
import time

WINDOW = 512


def shape(name):
    """Text configuration of a published shape."""
    if name == "e2b":
        layers, period = 35, 5
        text = dict(hidden_size=1536, intermediate_size=6144, num_key_value_heads=1,
                    num_kv_shared_layers=20, use_double_wide_mlp=True)
    elif name == "e4b":
        layers, period = 42, 6
        text = dict(hidden_size=2560, intermediate_size=10240, num_key_value_heads=2,
                    num_kv_shared_layers=18, use_double_wide_mlp=False)
    else:
        layers, period = 6, 3
        text = dict(hidden_size=128, intermediate_size=256, num_key_value_heads=1,
                    num_kv_shared_layers=3, use_double_wide_mlp=True)
    kinds = ["full_attention" if i % period == period - 1 else "sliding_attention" for i in range(layers)]
    is_tiny = name == "tiny"
    text.update(num_hidden_layers=layers, num_attention_heads=8, head_dim=64 if is_tiny else 256,
                global_head_dim=128 if is_tiny else 512, hidden_size_per_layer_input=64 if is_tiny else 256,
                vocab_size=262144, vocab_size_per_layer_input=262144,
                sliding_window=WINDOW, final_logit_softcapping=30.0, layer_types=kinds)
    return text


def write_checkpoint(name, folder, device):
    import torch
    import transformers as t
    if os.path.exists(os.path.join(folder, "written")):
        return
    small = dict(num_hidden_layers=2) if name == "tiny" else {}
    config = t.Gemma4Config(text_config=t.Gemma4TextConfig(**shape(name)),
                            vision_config=t.Gemma4VisionConfig(use_clipped_linears=True, **small),
                            audio_config=t.Gemma4AudioConfig(output_proj_dims=1536, **small))
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = t.Gemma4ForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    del model
    if device != "cpu":
        torch.cuda.empty_cache()
    with open(os.path.join(folder, "written"), "w") as file:
        file.write("whole\n")


def release(version):
    """(5, 24) of "5.24.0"."""
    return tuple(int(part) for part in version.split(".")[:2])


def attention(version):
    """5.24 refuses "sdpa" for the audio tower, and takes it by itself for the parts that have it."""
    return {} if release(version) >= (5, 24) else {"attn_implementation": "sdpa"}


def report(**figure):
    print(json.dumps(figure), flush=True)


class Measured:
    """One loaded model and what is asked of it."""

    def __init__(self, model, device):
        self.model = model
        self.device = device

    def synchronize(self):
        import torch
        if self.device != "cpu":
            torch.cuda.synchronize()

    def timed(self, work):
        self.synchronize()
        begin = time.perf_counter()
        work()
        self.synchronize()
        return time.perf_counter() - begin

    def prompt(self, count):
        import torch
        return torch.randint(1000, 100000, (1, count), device=self.device)

    def prefill(self, count, repeats):
        ids = self.prompt(count)
        self.model(input_ids=ids, logits_to_keep=1)  # warms up
        seconds = [self.timed(lambda: self.model(input_ids=ids, logits_to_keep=1)) for _ in range(repeats)]
        return count / statistics.median(seconds)

    def decode(self, count, repeats):
        import torch
        ids = self.prompt(32)

        def generate(tokens):
            self.model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, use_cache=True,
                                min_new_tokens=tokens, max_new_tokens=tokens)

        generate(4)
        rates = []
        for _ in range(repeats):
            short = self.timed(lambda: generate(4))
            rates.append(count / (self.timed(lambda: generate(4 + count)) - short))
        return statistics.median(rates)

    def first_token(self, placeholder, count, repeats, **media):
        """Seconds from pixels or spectrum to the logits behind them: 20 tokens of text around `count` soft tokens."""
        import torch
        ids = torch.cat([self.prompt(10), torch.full((1, count), placeholder, device=self.device), self.prompt(10)], dim=1)
        def run():
            return self.model(input_ids=ids, attention_mask=torch.ones_like(ids), logits_to_keep=1, **media)
        run()
        return statistics.median(self.timed(run) for _ in range(repeats))


def towers(measured, config, repeats):
    import torch
    device = measured.device
    # 60 x 42 patches, pooled 3 x 3: 280 soft tokens, the size of a 4:3 picture.
    across, down = (60, 42) if device != "cpu" else (12, 6)
    y, x = torch.meshgrid(torch.arange(down), torch.arange(across), indexing="ij")
    places = torch.stack([x.flatten(), y.flatten()], dim=-1)[None].to(device)
    pixels = torch.rand(1, across * down, 768, device=device, dtype=torch.bfloat16)
    try:
        seconds = measured.first_token(config.image_token_id, across * down // 9, repeats,
                                       pixel_values=pixels, image_position_ids=places)
        report(case="image", seconds=round(seconds, 4))
    except Exception as error:  # another version of the library names its inputs differently
        report(case="left out", name="image", why=f"{type(error).__name__}: {error}"[:200])
    frames = 1000 if device != "cpu" else 64  # 10 ms each
    spectrum = torch.rand(1, frames, 128, device=device, dtype=torch.bfloat16)
    mask = torch.ones(1, frames, dtype=torch.bool, device=device)
    try:
        seconds = measured.first_token(config.audio_token_id, frames // 4, repeats,
                                       input_features=spectrum, input_features_mask=mask)
        report(case="audio", seconds=round(seconds, 4))
    except Exception as error:
        report(case="left out", name="audio", why=f"{type(error).__name__}: {error}"[:200])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("shape", choices=["e2b", "e4b", "tiny"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--prefill", default="512,4096")
    parser.add_argument("--decode", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--adapter", type=int, default=0)
    parser.add_argument("--towers", action="store_true")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--write-only", action="store_true", help="the checkpoint and nothing else")
    arguments = parser.parse_args()
    try:
        import torch
        import transformers as t
        import bitsandbytes
    except ImportError as error:
        print(f"transformers_speed: {error}", file=sys.stderr)
        return 77
    on_card = arguments.device != "cpu"
    if on_card and not torch.cuda.is_available():
        print("transformers_speed: torch sees no card", file=sys.stderr)
        return 77
    versions = dict(torch=torch.__version__, transformers=t.__version__, bitsandbytes=bitsandbytes.__version__)
    if arguments.adapter > 0:
        import peft
        versions["peft"] = peft.__version__
    report(case="versions", **versions)
    start = time.perf_counter()
    write_checkpoint(arguments.shape, arguments.folder, arguments.device)
    report(case="written", seconds=round(time.perf_counter() - start, 3))
    if arguments.write_only:
        return 0
    quantization = t.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                                        bnb_4bit_compute_dtype=torch.bfloat16)
    start = time.perf_counter()
    model = t.Gemma4ForConditionalGeneration.from_pretrained(
        arguments.folder, quantization_config=quantization, device_map={"": 0 if on_card else "cpu"}, dtype=torch.bfloat16,
        **attention(t.__version__))
    measured = Measured(model, arguments.device)
    measured.synchronize()
    report(case="load", seconds=round(time.perf_counter() - start, 3))
    with torch.inference_mode():
        for count in [int(n) for n in arguments.prefill.split(",")]:
            report(case="prefill", tokens=count, tokens_per_s=round(measured.prefill(count, arguments.repeats), 1))
        report(case="decode", depth=0, tokens_per_s=round(measured.decode(arguments.decode, arguments.repeats), 2))
        if on_card:
            measured.synchronize()
            # The whole card as its driver sees it: the caller takes off what was there before.
            free, total = torch.cuda.mem_get_info()
            report(case="memory", card_used_mib=round((total - free) / 2**20))
        if arguments.towers:
            towers(measured, model.config, arguments.repeats)
    if arguments.adapter > 0:
        import peft
        wanted = re.compile(r".*language_model\.layers\..*_proj")  # as belfry-cli bench --adapter-rank
        names = [name for name, module in model.named_modules()
                 if wanted.fullmatch(name) and isinstance(module, torch.nn.Linear)]
        measured.model = peft.get_peft_model(model, peft.LoraConfig(
            r=arguments.adapter, lora_alpha=arguments.adapter, target_modules=names, init_lora_weights=False)).eval()
        with torch.inference_mode():
            report(case="adapter", depth=0, tokens_per_s=round(measured.decode(arguments.decode, arguments.repeats), 2))
            for count in [int(n) for n in arguments.prefill.split(",")]:
                report(case="adapter prefill", tokens=count,
                       tokens_per_s=round(measured.prefill(count, arguments.repeats), 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
