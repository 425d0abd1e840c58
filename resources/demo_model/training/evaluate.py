# SPDX-License-Identifier: Apache-2.0
"""Asks a model folder the questions of make_eval.py through transformers and counts right answers.

Greedy replies, compared as whole strings. `--weights nf4` rounds every linear weight to NF4 and
the head to int8 per row first, which is what the engine computes with. `--half language` drops
the adapter's tensors of both towers. Prints one line per group and writes every reply.
"""

import argparse
import json
import time
import wave
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import AutoProcessor, Gemma4ForConditionalGeneration

import nf4


def wav(path):
    with wave.open(str(path)) as f:
        return np.frombuffer(f.readframes(f.getnframes()), "<i2").astype(np.float32) / 32768


def round_weights(model):
    head = nf4.int8_rows(model.get_input_embeddings().weight.data)
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            w = module.weight.data
            module.weight.data = nf4.nf4_round(w).to(w.dtype)
    model.lm_head.weight = torch.nn.Parameter(head.to(model.lm_head.weight.dtype))


def prompt(row):
    media = ("<|image|>" if row["image"] else "") + ("<|audio|>" if row["audio"] else "")
    return f"<bos><|turn>user\n{media}{row['question'].strip()}<turn|>\n<|turn>model\n"


def load(args, weights, adapter, half):
    dtype = torch.float32 if weights == "f32" else torch.bfloat16
    model = Gemma4ForConditionalGeneration.from_pretrained(
        args.model, dtype=dtype, attn_implementation="sdpa")
    if weights == "nf4":
        round_weights(model)
    if adapter:
        from peft import PeftModel
        model = PeftModel.from_pretrained(model, adapter)
        if half == "language":
            for name, p in model.named_parameters():
                if "lora_B" in name and "language_model" not in name:
                    p.data.zero_()
    return model.to(args.device).eval()


@torch.no_grad()
def ask(model, processor, rows, folder, batch, device):
    """[(reply, margin)] in the order of rows; rows of one kind are asked together.

    The margin is the smallest distance, over the reply's tokens, of the best logit to the second.
    """
    kinds = defaultdict(list)
    for i, row in enumerate(rows):
        kinds[(bool(row["image"]), bool(row["audio"]))].append(i)
    replies = [None] * len(rows)
    dtype = next(model.parameters()).dtype
    for (image, audio), members in kinds.items():
        for at in range(0, len(members), batch):
            part = [rows[i] for i in members[at:at + batch]]
            more = {}
            if image:
                more["images"] = [[Image.open(folder / r["image"]).convert("RGB")] for r in part]
            if audio:
                more["audio"] = [wav(folder / r["audio"]) for r in part]
            inputs = processor(text=[prompt(r) for r in part], return_tensors="pt", padding=True,
                               add_special_tokens=False, **more).to(device)
            for name in ("pixel_values", "input_features"):
                if name in inputs:
                    inputs[name] = inputs[name].to(dtype)
            out = model.generate(**inputs, max_new_tokens=40, do_sample=False, output_logits=True,
                                 return_dict_in_generate=True)
            new = out.sequences[:, inputs["input_ids"].shape[1]:]
            best = torch.stack([z.float().topk(2).values for z in out.logits], 1)
            gaps = (best[..., 0] - best[..., 1]).masked_fill(new == 0, 99.0).amin(1)
            for i, ids, gap in zip(members[at:at + batch], new, gaps):
                replies[i] = (processor.tokenizer.decode(ids, skip_special_tokens=True),
                              round(gap.item(), 3))
    return replies


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--questions", required=True, help="folder with questions.json")
    parser.add_argument("--runs", nargs="+", default=["bf16"],
                        help="weights[:adapter[:language]], for example nf4:adapter:language")
    parser.add_argument("--adapter")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--limit", type=int, default=0, help="questions per group")
    parser.add_argument("--out")
    args = parser.parse_args()
    folder = Path(args.questions)
    every = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    processor = AutoProcessor.from_pretrained(args.model)
    report = {}
    for run in args.runs:
        weights, *rest = run.split(":")
        start, count = time.time(), defaultdict(int)
        rows = []
        for row in every:
            # Without an adapter only the base's questions count, but the new ones are asked too.
            count[row["group"]] += 1
            if not args.limit or count[row["group"]] <= args.limit:
                rows.append(row)
        if rest:
            rows = [r for r in rows if r["group"] == "new"]
        model = load(args, weights, args.adapter if rest else None, rest[1] if rest[1:] else "")
        replies = ask(model, processor, rows, folder, args.batch, args.device)
        right, total, wrong = defaultdict(int), defaultdict(int), []
        for row, (reply, _) in zip(rows, replies):
            total[row["group"]] += 1
            if reply == row["answer"]:
                right[row["group"]] += 1
            else:
                wrong.append([row["id"], row["category"], row["question"], row["answer"], reply])
        line = {g: [right[g], total[g]] for g in sorted(total)}
        print(run, "  ".join(f"{g} {100 * a / b:.1f} % of {b}" for g, (a, b) in line.items()),
              f"({time.time() - start:.0f} s)", flush=True)
        report[run] = {"counts": line, "wrong": wrong,
                       "replies": {r["id"]: x for r, (x, _) in zip(rows, replies)},
                       "margins": {r["id"]: m for r, (_, m) in zip(rows, replies)}}
    if args.out:
        Path(args.out).write_text(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
