#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tiny MTP assistants (gemma4_assistant) for the golden e2b, e4b, dense31b and moe26b models and
what transformers computes with them in float64 from the bf16 weights in the files.

    python make_assistant_vectors.py GOLDEN_DIR OUT_DIR [--families e2b,e4b]

GOLDEN_DIR is the unpacked golden data (tests/data/golden.tar.xz); OUT_DIR is tests/data/assistants.
Random weights, then a few passes of training on states of the golden greedy runs, so that some drafts
are accepted and some are not. Needs torch, transformers 5.24, safetensors and peft. Per family:

  model/            config.json, generation_config.json, model.safetensors (bf16)
  expected.safetensors
    CASE.logits.n   [4, vocab] draft logits of four steps behind the prompt, position convention n;
    CASE.logits.n1  the same with n - 1; tokens outside the chosen centroids: -1e30.
    CASE.drafts.n, CASE.drafts.n1   [4] int32
  rounds.json       per case the rounds of a greedy run with three drafts and convention n:
                    [length, last token, [drafts], accepted]; the run itself is `greedy` of cases.json.

The keys and values that a draft sees are those of positions 0 to n-1, in sliding layers the last
`sliding_window` of them: they are cut here, as transformers' own generator leaves one rejected row in.
"""
import argparse
import hashlib
import json
import pathlib
import warnings

import safetensors
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import Gemma4AssistantConfig, Gemma4AssistantForCausalLM, Gemma4TextConfig

from make_golden_sets import DoubleInside, base_model, inputs_of

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
FAMILIES = ["e2b", "e4b", "dense31b", "moe26b"]
STEPS, DRAFTS, OUTSIDE = 4, 3, -1e30


def config_of(target, family):
    """An assistant of the published topology for a golden target: S S S F, all of it shared."""
    text = target.config.text_config
    full = [i for i, kind in enumerate(text.layer_types) if kind == "full_attention"][-1]
    sliding = [i for i, kind in enumerate(text.layer_types) if kind == "sliding_attention"][-1]
    layers = target.model.language_model.layers
    heads = 4

    def sizes(layer):
        attention = layers[layer].self_attn
        return attention.head_dim, text.num_attention_heads // attention.num_key_value_groups

    (head, kv), (full_head, full_kv) = sizes(sliding), sizes(full)
    small = family in ("e2b", "e4b")
    own = Gemma4TextConfig(
        vocab_size=text.vocab_size, hidden_size=48, intermediate_size=96, num_hidden_layers=4,
        num_attention_heads=heads, num_key_value_heads=kv, head_dim=head,
        layer_types=["sliding_attention"] * 3 + ["full_attention"],
        per_layer_config={3: {"head_dim": full_head, "num_key_value_heads": full_kv}},
        sliding_window=text.sliding_window, max_position_embeddings=text.max_position_embeddings,
        hidden_size_per_layer_input=0, vocab_size_per_layer_input=0, num_kv_shared_layers=4,
        rope_parameters=text.rope_parameters, use_double_wide_mlp=False, enable_moe_block=False,
        attention_k_eq_v=False, final_logit_softcapping=None, use_bidirectional_attention=None)
    return Gemma4AssistantConfig(
        text_config=own, backbone_hidden_size=text.hidden_size, use_ordered_embeddings=small,
        num_centroids=32, centroid_intermediate_top_k=4)


def fill(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
            if name.endswith("layer_scalar"):
                value.copy_(0.9 + 0.15 * noise)
            elif value.dim() == 1:
                value.copy_(1 + 0.1 * noise)
            else:
                value.copy_(noise / value.shape[-1] ** 0.5)
        for name, value in model.named_buffers():
            if name.endswith("layer_scalar"):
                value.copy_(0.9 + 0.05 * torch.randn(value.shape, generator=generator))
        if model.masked_embedding is not None:
            model.masked_embedding.token_ordering.copy_(
                torch.randperm(model.vocab_size, generator=generator))


class States:
    """Everything a draft reads, for any length of one case's greedy run."""

    def __init__(self, target, case, media):
        self.ids = case["input_ids"] + case["greedy"]
        self.first, self.greedy = len(case["input_ids"]), case["greedy"]
        whole = dict(case, input_ids=self.ids)
        with torch.no_grad(), DoubleInside():
            out = target(**inputs_of(whole, media, torch.float64), return_shared_kv_states=True,
                         output_hidden_states=True, use_cache=False)
        self.hidden, self.kv = out.hidden_states[-1], dict(out.shared_kv_states)
        self.window = target.config.text_config.sliding_window
        self.embed = target.get_input_embeddings()

    def kv_at(self, n):
        cut = {"full_attention": 0, "sliding_attention": max(0, n - self.window)}
        return {kind: tuple(t[:, :, cut[kind]:n].detach() for t in pair)
                for kind, pair in self.kv.items()}

    def step(self, model, n, token, hidden, position):
        embedded = self.embed(torch.tensor([[token]])).detach()
        return model(inputs_embeds=torch.cat([embedded, hidden], dim=-1),
                     position_ids=torch.tensor([[position]]), shared_kv_states=self.kv_at(n),
                     use_cache=False)

    def draft(self, model, n, token, count, position):
        """Logits [count, vocab] and drafts behind `token` at position n."""
        hidden, logits, drafts = self.hidden[:, n - 1:n], [], []
        with torch.no_grad(), DoubleInside():
            for _ in range(count):
                out = self.step(model, n, token, hidden, position)
                row = out.logits[0, 0]
                if model.masked_embedding is not None:
                    row = torch.where(row == row.min(), torch.full_like(row, OUTSIDE), row)
                hidden, token = out.last_hidden_state, int(row.argmax())
                logits.append(row)
                drafts.append(token)
        return torch.stack(logits), drafts


def train(model, states, passes, rate):
    """First and second drafts toward the golden run; the full head, as top-k passes no gradient."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(passes):
        for state in states:
            optimizer.zero_grad()
            loss = 0.0
            for at in range(0, len(state.greedy) - 2, 2):  # every other one: not all are learned
                n, hidden, token = state.first + at, None, state.greedy[at]
                hidden = state.hidden[:, n - 1:n].detach()
                for ahead in (1, 2):
                    out = state.step(model, n, token, hidden, n)
                    hidden, token = out.last_hidden_state, state.greedy[at + ahead]
                    normed = torch.linalg.lstsq(model.post_projection.weight.detach(),
                                                hidden[0, 0].unsqueeze(1)).solution[:, 0]
                    row = model.lm_head.weight @ normed
                    goal = torch.tensor([token])
                    loss = loss + torch.nn.functional.cross_entropy(row[None], goal)
                    if model.masked_embedding is not None:
                        place = (model.masked_embedding.token_ordering == token).nonzero()[0, 0]
                        group = place // model.masked_embedding.vocab_size_per_centroid
                        loss = loss + torch.nn.functional.cross_entropy(
                            model.masked_embedding.centroids(normed)[None], group[None])
            loss.backward()
            optimizer.step()
        print(f"  loss {float(loss):.2f}", flush=True)


def rounds_of(state, model):
    rounds, at = [], 0
    while at + DRAFTS < len(state.greedy):
        n, last = state.first + at, state.greedy[at]
        drafts = state.draft(model, n, last, DRAFTS, n)[1]
        accepted = 0
        while accepted < DRAFTS and drafts[accepted] == state.greedy[at + 1 + accepted]:
            accepted += 1
        rounds.append([n, last, drafts, accepted])
        at += accepted + 1
    return rounds


def make_family(family, arguments, media):
    folder = arguments.out / family / "model"
    folder.mkdir(parents=True, exist_ok=True)
    target = base_model(arguments.golden / family / "model")
    cases = json.loads((arguments.golden / family / "cases.json").read_text())
    states = {case["id"]: States(target, case, media) for case in cases}
    model = Gemma4AssistantForCausalLM(config_of(target, family)).double().eval()
    fill(model, 340 + FAMILIES.index(family))
    train(model, list(states.values()), arguments.passes, 3e-3)
    tensors = {name: (value if value.dtype == torch.long else value.to(torch.bfloat16)).contiguous()
               for name, value in model.state_dict().items() if name != "lm_head.weight"}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    model.config.save_pretrained(folder)
    (folder / "generation_config.json").write_text(json.dumps({"num_assistant_tokens": DRAFTS}))
    model = Gemma4AssistantForCausalLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager").eval()
    expected, rounds = {}, {}
    for name, state in states.items():
        for label, back in (("n", 0), ("n1", 1)):
            n = state.first
            logits, drafts = state.draft(model, n, state.greedy[0], STEPS, n - back)
            expected[f"{name}.logits.{label}"] = logits.float().contiguous()
            expected[f"{name}.drafts.{label}"] = torch.tensor(drafts, dtype=torch.int32)
        rounds[name] = rounds_of(state, model)
        print(f"{family}/{name}: accepted {[r[3] for r in rounds[name]]}", flush=True)
    save_file(expected, arguments.out / family / "expected.safetensors")
    (arguments.out / family / "rounds.json").write_text(json.dumps(rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--passes", type=int, default=20)
    arguments = parser.parse_args()
    media = {}
    for name in ("image_processor_pil", "mel"):
        media.update(load_file(arguments.golden / "media" / f"{name}.safetensors"))
    for family in arguments.families.split(","):
        make_family(family, arguments, media)
    about = {"versions": {m.__name__: m.__version__ for m in (torch, transformers, safetensors)},
             "sha256": {str(file.relative_to(arguments.out)):
                        hashlib.sha256(file.read_bytes()).hexdigest()
                        for file in sorted(arguments.out.rglob("*.safetensors"))}}
    (arguments.out / "about.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    main()
