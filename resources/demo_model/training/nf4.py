# SPDX-License-Identifier: Apache-2.0
"""NF4 as bitsandbytes rounds it: blocks of 64, one float32 scale per block, 16-entry code book.

`expand(quantize(w))` in one go, for training with rounded weights and for evaluation.
"""

import functools

import torch

NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
       -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
       0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]


@functools.lru_cache
def tables(device):
    codes = torch.tensor(NF4, device=device)
    return codes, (codes[1:] + codes[:-1]) / 2


def nf4_round(w):
    """The values a bf16 weight has after NF4 and back, in bf16; size a multiple of 64."""
    codes, edges = tables(w.device)
    x = w.to(torch.bfloat16).float().reshape(-1, 64)
    top = x.abs().amax(1, keepdim=True)
    y = x * (1.0 / top.clamp(min=1e-38))
    return (codes[torch.bucketize(y, edges)] * top).to(torch.bfloat16).view(w.shape)


def int8_rows(w):
    """A head stored with one scale and int8 values per row, expanded to float32."""
    x = w.to(torch.bfloat16).float()
    scale = x.abs().amax(1, keepdim=True).clamp(min=1e-30) / 127.0
    return (x / scale).round().clamp(-127, 127) * scale
