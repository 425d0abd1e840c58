# SPDX-License-Identifier: Apache-2.0
"""Speed of transformers + bitsandbytes (NF4, nested statistics, bf16) on a full Gemma 4 shape.

Random weights; needs torch with CUDA, transformers 5 and bitsandbytes. Prints one JSON object per
figure, in the format of llama_speed. The checkpoint is written to --folder once and used again.

usage: transformers_speed.py e2b|e4b --folder FOLDER [--prefill 512,4096] [--decode 64] [--repeats 3]
"""
import argparse
import json
import os
import statistics
import sys
import time


def shape(name):
    """Text configuration of a published shape."""
    if name == "e2b":
        layers, period = 35, 5
        text = dict(hidden_size=1536, intermediate_size=6144, num_key_value_heads=1,
                    num_kv_shared_layers=20, use_double_wide_mlp=True)
    else:
        layers, period = 42, 6
        text = dict(hidden_size=2560, intermediate_size=10240, num_key_value_heads=2,
                    num_kv_shared_layers=18, use_double_wide_mlp=False)
    kinds = ["full_attention" if i % period == period - 1 else "sliding_attention" for i in range(layers)]
    text.update(num_hidden_layers=layers, num_attention_heads=8, head_dim=256, global_head_dim=512,
                hidden_size_per_layer_input=256, vocab_size=262144, vocab_size_per_layer_input=262144,
                sliding_window=512, final_logit_softcapping=30.0, layer_types=kinds)
    return text


def write_checkpoint(name, folder):
    import torch
    import transformers as t
    if os.path.exists(os.path.join(folder, "config.json")):
        return
    config = t.Gemma4Config(text_config=t.Gemma4TextConfig(**shape(name)),
                            vision_config=t.Gemma4VisionConfig(use_clipped_linears=True),
                            audio_config=t.Gemma4AudioConfig(output_proj_dims=1536))
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = t.Gemma4ForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    del model
    torch.cuda.empty_cache()


def report(**figure):
    print(json.dumps(figure), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", choices=["e2b", "e4b"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--prefill", default="512,4096")
    parser.add_argument("--decode", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    try:
        import torch
        import transformers as t
        import bitsandbytes
    except ImportError as error:
        print(f"transformers_speed: {error}", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("transformers_speed: torch sees no card", file=sys.stderr)
        return 77
    free_before = torch.cuda.mem_get_info()[0]
    report(case="versions", torch=torch.__version__, transformers=t.__version__, bitsandbytes=bitsandbytes.__version__)
    write_checkpoint(arguments.shape, arguments.folder)
    quantization = t.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                                        bnb_4bit_compute_dtype=torch.bfloat16)
    start = time.perf_counter()
    model = t.Gemma4ForConditionalGeneration.from_pretrained(
        arguments.folder, quantization_config=quantization, device_map={"": 0}, dtype=torch.bfloat16,
        attn_implementation="sdpa")
    torch.cuda.synchronize()
    report(case="load", seconds=round(time.perf_counter() - start, 3))

    def prompt(count):
        return torch.randint(1000, 100000, (1, count), device="cuda")

    def timed(work):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    with torch.inference_mode():
        for count in [int(n) for n in arguments.prefill.split(",")]:
            ids = prompt(count)
            model(input_ids=ids, logits_to_keep=1)  # warms up
            seconds = [timed(lambda: model(input_ids=ids, logits_to_keep=1)) for _ in range(arguments.repeats)]
            report(case="prefill", tokens=count, tokens_per_s=round(count / statistics.median(seconds), 1))
        ids = prompt(32)

        def generate(count):
            model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, use_cache=True,
                           min_new_tokens=count, max_new_tokens=count)

        generate(8)
        rates = []
        for _ in range(arguments.repeats):
            short = timed(lambda: generate(8))
            long = timed(lambda: generate(8 + arguments.decode))
            rates.append(arguments.decode / (long - short))
        report(case="decode", depth=0, tokens_per_s=round(statistics.median(rates), 2))
    torch.cuda.synchronize()
    report(case="memory", card_mib=round((free_before - torch.cuda.mem_get_info()[0]) / 2**20))
    return 0


if __name__ == "__main__":
    sys.exit(main())
