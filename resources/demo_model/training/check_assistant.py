# SPDX-License-Identifier: Apache-2.0
"""Checks the finished assistant: transformers (5.24) drafts what assistant.py drafts, in float32.

One text of the world's questions; at some of its columns three drafts in a row, with the keys and
values that a round there may see. Prints the largest difference of what the head reads.

    python check_assistant.py --model .. --assistant ../assistant
"""

import argparse
import random

import torch
from tokenizers import Tokenizer
from transformers import Gemma4AssistantForCausalLM

import assistant
import net
import talk_text
import trainer

DRAFTS = 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--assistant", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = random.Random(5)
    text = "<bos>" + "".join(f"<|turn>user\n{q}<turn|>\n<|turn>model\n{a}<turn|>\n" for _, q, a in
                             (talk_text.text_question(rng) for _ in range(12)))
    ids = torch.tensor(Tokenizer.from_file(f"{args.model}/tokenizer.json")
                       .encode(text, add_special_tokens=False).ids)
    assert len(ids) > net.WINDOW + 20, "the text does not fill a sliding window"
    w = net.named(trainer.join(args.model, "q"), trainer.join(args.model, "n"), torch.float32)
    own, order = assistant.read(args.assistant)
    theirs, info = Gemma4AssistantForCausalLM.from_pretrained(
        args.assistant, dtype=torch.float32, attn_implementation="eager",
        output_loading_info=True)
    assert not any(info.values()), info
    kept, rounds = {}, assistant.Rounds("cpu")
    with torch.no_grad():
        hidden = net.Net("cpu", torch.float32).text(w, ids[None], torch.zeros_like(ids)[None],
                                                    None, kept)
        kv = {kind: kept[net.SOURCE[kind]] for kind in "SF"}
        rows = w[net.LM + "embed_tokens.weight"] * net.H ** 0.5
        state, token, far = torch.cat([hidden[:, :1], hidden[:, :-1]], 1), ids[None], 0.0
        steps = []
        for _ in range(DRAFTS):
            z, state = rounds.step(own, rows[token], state, kv)
            token = assistant.draft(own, order, z)
            steps.append((state, token))
        for n in (3, 40, net.WINDOW, net.WINDOW + 17, len(ids) - 1):
            cut = {"full_attention": ("F", 0), "sliding_attention": ("S", max(0, n - net.WINDOW))}
            seen = {name: tuple(t[:, None, first:n] for t in kv[kind])
                    for name, (kind, first) in cut.items()}
            before, last = hidden[:, n - 1:n], ids[n]
            for state, token in steps:
                out = theirs(inputs_embeds=torch.cat([rows[last][None, None], before], -1),
                             position_ids=torch.tensor([[n]]), shared_kv_states=seen,
                             use_cache=False)
                before, last = out.last_hidden_state, int(out.logits[0, 0].argmax())
                far = max(far, (before[0, 0] - state[0, n]).abs().max().item())
                assert last == int(token[0, n]), f"another draft at column {n}"
    print(f"drafts are equal, states within {far:.1e} (largest {steps[0][0].abs().max():.1f})")
    assert far < 1e-3


if __name__ == "__main__":
    main()
