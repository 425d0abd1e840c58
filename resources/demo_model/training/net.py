# SPDX-License-Identifier: Apache-2.0
"""The demo model as plain functions over named weights, built for fast training.

Sizes, tensor names and arithmetic are those of Gemma 4 E2B in small (per-layer embeddings, KV
sharing, double-wide MLP, sliding and full layers, both towers); check.py compares it with
transformers. All weights live in two flat tensors: `q`, every two-dimensional linear weight (what
4-bit quantization touches), and `n`, the rest. Clip limits are not applied here: export.py sets
them outside the range that training data reaches.
"""

import math

import torch
import torch.nn.functional as F

H, LAYERS, KV_SHARED, HEADS, HEAD, FULL_HEAD = 192, 10, 4, 4, 64, 128
MLP, PLE, VOCAB, WINDOW = 384, 64, 2048, 128
VH, VLAYERS, VHEADS, VMLP, VPOS = 128, 4, 4, 512, 128
AH, ALAYERS, AHEADS, ACONV, AWINDOW = 128, 3, 4, (128, 16), 12
TYPES = ["S", "S", "S", "S", "F"] * 2
FIRST_SHARED = LAYERS - KV_SHARED
SOURCE = {"S": 5, "F": 4}
EPS = 1e-6
F_embedding = F.embedding      # trainer.py puts one with a faster gradient here

LM, VT, AT = "model.language_model.", "model.vision_tower.", "model.audio_tower."


def shapes():
    """(quantizable, other): name -> shape of every stored tensor but the clip scalars."""
    q, n = {}, {}
    n[LM + "embed_tokens.weight"] = (VOCAB, H)
    n[LM + "embed_tokens_per_layer.weight"] = (VOCAB, LAYERS * PLE)
    q[LM + "per_layer_model_projection.weight"] = (LAYERS * PLE, H)
    n[LM + "per_layer_projection_norm.weight"] = (PLE,)
    n[LM + "norm.weight"] = (H,)
    for i, kind in enumerate(TYPES):
        p = f"{LM}layers.{i}."
        d = HEAD if kind == "S" else FULL_HEAD
        wide = MLP * (2 if i >= FIRST_SHARED else 1)
        q[p + "self_attn.q_proj.weight"] = (HEADS * d, H)
        n[p + "self_attn.q_norm.weight"] = (d,)
        if i < FIRST_SHARED:
            q[p + "self_attn.k_proj.weight"] = (d, H)
            q[p + "self_attn.v_proj.weight"] = (d, H)
            n[p + "self_attn.k_norm.weight"] = (d,)
        q[p + "self_attn.o_proj.weight"] = (H, HEADS * d)
        q[p + "mlp.gate_proj.weight"] = (wide, H)
        q[p + "mlp.up_proj.weight"] = (wide, H)
        q[p + "mlp.down_proj.weight"] = (H, wide)
        q[p + "per_layer_input_gate.weight"] = (PLE, H)
        q[p + "per_layer_projection.weight"] = (H, PLE)
        for name in ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                     "post_feedforward_layernorm", "post_per_layer_input_norm"]:
            n[p + name + ".weight"] = (H,)
        n[p + "layer_scalar"] = (1,)
    q[VT + "patch_embedder.input_proj.weight"] = (VH, 768)
    n[VT + "patch_embedder.position_embedding_table"] = (2, VPOS, VH)
    for i in range(VLAYERS):
        p = f"{VT}encoder.layers.{i}."
        for name in "qkvo":
            q[f"{p}self_attn.{name}_proj.linear.weight"] = (VH, VH)
        n[p + "self_attn.q_norm.weight"] = n[p + "self_attn.k_norm.weight"] = (VH // VHEADS,)
        q[p + "mlp.gate_proj.linear.weight"] = q[p + "mlp.up_proj.linear.weight"] = (VMLP, VH)
        q[p + "mlp.down_proj.linear.weight"] = (VH, VMLP)
        for name in ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                     "post_feedforward_layernorm"]:
            n[p + name + ".weight"] = (VH,)
    q["model.embed_vision.embedding_projection.weight"] = (H, VH)
    s = AT + "subsample_conv_projection."
    n[s + "layer0.conv.weight"] = (ACONV[0], 1, 3, 3)
    n[s + "layer0.norm.weight"] = (ACONV[0],)
    n[s + "layer1.conv.weight"] = (ACONV[1], ACONV[0], 3, 3)
    n[s + "layer1.norm.weight"] = (ACONV[1],)
    q[s + "input_proj_linear.weight"] = (AH, 32 * ACONV[1])
    for i in range(ALAYERS):
        p = f"{AT}layers.{i}."
        for ff in ["feed_forward1.", "feed_forward2."]:
            q[p + ff + "ffw_layer_1.linear.weight"] = (4 * AH, AH)
            q[p + ff + "ffw_layer_2.linear.weight"] = (AH, 4 * AH)
            n[p + ff + "pre_layer_norm.weight"] = n[p + ff + "post_layer_norm.weight"] = (AH,)
        for name in ["q_proj", "k_proj", "v_proj", "post"]:
            q[f"{p}self_attn.{name}.linear.weight"] = (AH, AH)
        q[p + "self_attn.relative_k_proj.weight"] = (AH, AH)
        n[p + "self_attn.per_dim_scale"] = (AH // AHEADS,)
        q[p + "lconv1d.linear_start.linear.weight"] = (2 * AH, AH)
        q[p + "lconv1d.linear_end.linear.weight"] = (AH, AH)
        n[p + "lconv1d.depthwise_conv1d.weight"] = (AH, 1, 5)
        n[p + "lconv1d.pre_layer_norm.weight"] = n[p + "lconv1d.conv_norm.weight"] = (AH,)
        for name in ["norm_pre_attn", "norm_post_attn", "norm_out"]:
            n[p + name + ".weight"] = (AH,)
    q[AT + "output_proj.weight"] = (AH, AH)
    n[AT + "output_proj.bias"] = (AH,)
    q["model.embed_audio.embedding_projection.weight"] = (H, AH)
    return q, n


Q_SHAPES, N_SHAPES = shapes()


def initial(seed=1):
    """Fresh flat weights (q, n), float32 on the CPU."""
    g = torch.Generator().manual_seed(seed)

    def make(name, shape):
        if name.endswith("q_norm.weight") or name.endswith("k_norm.weight"):
            return torch.full(shape, 1.1 * shape[0] ** -0.25)
        if "norm" in name.split(".")[-2] or name.endswith("layer_scalar"):
            post = any(s in name for s in ["post_attention_layernorm", "post_feedforward_layernorm",
                                           "post_per_layer_input_norm", "post_layer_norm",
                                           "norm_post_attn"])
            return torch.full(shape, 0.35 if post else 1.0)
        if name.endswith("per_dim_scale") or name.endswith("bias"):
            return torch.zeros(shape)
        if name.endswith("embed_tokens.weight"):
            std = H ** -0.5
        elif name.endswith("embed_tokens_per_layer.weight"):
            std = 0.5 * PLE ** -0.5
        elif name.endswith("position_embedding_table"):
            std = 0.2
        else:
            std = math.prod(shape[1:]) ** -0.5
        return torch.randn(shape, generator=g) * std

    return tuple(torch.cat([make(k, s).reshape(-1) for k, s in table.items()])
                 for table in (Q_SHAPES, N_SHAPES))


def named(q, n, dtype):
    """Flat weights to a dictionary of shaped tensors in `dtype` (gradients flow back)."""
    out = {}
    for flat, table in ((q, Q_SHAPES), (n, N_SHAPES)):
        parts = flat.to(dtype).split([math.prod(s) for s in table.values()])
        for (name, shape), part in zip(table.items(), parts):
            out[name] = part.view(shape)
    return out


def rms(x, w=None):
    return F.rms_norm(x, (x.shape[-1],), w, EPS)


def half_turn(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


class Net:
    """Constant tables on one device; `text`, `vision` and `audio` are the three forward passes."""

    def __init__(self, device, dtype, max_length=512):
        self.device, self.dtype = device, dtype
        self.scale = torch.tensor(H ** 0.5, dtype=dtype, device=device)
        pos = torch.arange(max_length, device=device, dtype=torch.float32)[:, None]
        fs = 10000.0 ** (-torch.arange(HEAD // 2, device=device).float() * 2 / HEAD)
        turning = int(0.25 * FULL_HEAD / 2)
        ff = 1e6 ** (-torch.arange(FULL_HEAD // 2, device=device).float() * 2 / FULL_HEAD)
        ff[turning:] = 0
        self.rope = {}
        for kind, f in (("S", fs), ("F", ff)):
            a = torch.cat([pos * f, pos * f], -1)
            self.rope[kind] = a.cos().to(dtype), a.sin().to(dtype)
        self.masks, self.vision_rope = {}, {}
        left = torch.arange(max_length, device=device)
        d = left[:, None] - left[None, :]
        self.near = torch.zeros(max_length, max_length, device=device, dtype=dtype)
        self.near.masked_fill_((d < 0) | (d >= WINDOW), float("-inf"))
        d = AH // AHEADS
        i = torch.arange(AH // 2, device=device).float()
        tau = torch.exp(-i * math.log(10000.0) / (AH // 2 - 1))
        back = torch.arange(AWINDOW + 1, device=device).float()[:, None]
        self.relative = torch.cat([(back * tau).sin(), (back * tau).cos()], -1)
        self.q_scale, self.k_scale = d ** -0.5 / math.log(2), math.log(1 + math.e) / math.log(2)

    def text_input(self, w, tokens, media, features):
        """Token rows scaled by sqrt(H); media rows from `features` [1 + rows, H] unscaled."""
        ids = torch.where(media > 0, 0, tokens)
        x = F_embedding(ids, w[LM + "embed_tokens.weight"]) * self.scale
        b, t, _ = x.shape
        if features is not None:
            # Rows without media read spare rows at the end, spread so that no row is crowded.
            spare = features.shape[0] - 1024 + torch.arange(b * t, device=x.device) % 1024
            rows = torch.where(media.view(-1) > 0, media.view(-1), spare)
            x = torch.where((media > 0).unsqueeze(-1),
                            features.index_select(0, rows).view(b, t, -1), x)
        own = F_embedding(ids, w[LM + "embed_tokens_per_layer.weight"]) * PLE ** 0.5
        ctx = F.linear(x, w[LM + "per_layer_model_projection.weight"]) * H ** -0.5
        ctx = rms(ctx.view(b, t, LAYERS, PLE), w[LM + "per_layer_projection_norm.weight"])
        return x, (ctx + own.view(b, t, LAYERS, PLE)) * 2 ** -0.5

    def text(self, w, tokens, media, features, kept=None):
        """tokens, media [B, T] -> final normed hidden states [B, T, H].

        media is 0 at text and else the row of `features`, whose last 1024 rows are spare. `kept`,
        a dictionary, takes the keys and values [B, T, d] of every layer that has its own.
        """
        x, ple = self.text_input(w, tokens, media, features)
        ple = ple.unbind(2)
        b, t, _ = x.shape
        kv = {}
        for i, kind in enumerate(TYPES):
            p = f"{LM}layers.{i}."
            d = HEAD if kind == "S" else FULL_HEAD
            cos, sin = (r[:t] for r in self.rope[kind])
            h = rms(x, w[p + "input_layernorm.weight"])
            q = F.linear(h, w[p + "self_attn.q_proj.weight"]).view(b, t, HEADS, d)
            q = rms(q, w[p + "self_attn.q_norm.weight"]).transpose(1, 2)
            q = q * cos + half_turn(q) * sin
            if i < FIRST_SHARED:
                k = F.linear(h, w[p + "self_attn.k_proj.weight"])
                k = rms(k, w[p + "self_attn.k_norm.weight"])
                k = k * cos + half_turn(k) * sin
                v = rms(F.linear(h, w[p + "self_attn.v_proj.weight"]))
                kv[i] = (k, v)
            k, v = kv[i if i < FIRST_SHARED else SOURCE[kind]]
            k = k.unsqueeze(1).expand(b, HEADS, t, d)
            v = v.unsqueeze(1).expand(b, HEADS, t, d)
            if kind == "S" and t > WINDOW:
                o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.near[:t, :t], scale=1.0)
            else:
                o = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
            o = F.linear(o.transpose(1, 2).reshape(b, t, HEADS * d),
                         w[p + "self_attn.o_proj.weight"])
            x = x + rms(o, w[p + "post_attention_layernorm.weight"])
            h = rms(x, w[p + "pre_feedforward_layernorm.weight"])
            h = F.gelu(F.linear(h, w[p + "mlp.gate_proj.weight"]), approximate="tanh") \
                * F.linear(h, w[p + "mlp.up_proj.weight"])
            h = F.linear(h, w[p + "mlp.down_proj.weight"])
            x = x + rms(h, w[p + "post_feedforward_layernorm.weight"])
            h = F.gelu(F.linear(x, w[p + "per_layer_input_gate.weight"]), approximate="tanh")
            h = F.linear(h * ple[i], w[p + "per_layer_projection.weight"])
            x = (x + rms(h, w[p + "post_per_layer_input_norm.weight"])) * w[p + "layer_scalar"]
        if kept is not None:
            kept.update(kv)
        return rms(x, w[LM + "norm.weight"])

    @staticmethod
    def logits(w, hidden):
        z = F.linear(hidden, w[LM + "embed_tokens.weight"]).float()
        return 30.0 * torch.tanh(z / 30.0)

    def vision_tables(self, gw, gh):
        if (gw, gh) not in self.vision_rope:
            n = torch.arange(gw * gh, device=self.device)
            x, y = n % gw, n // gw
            d = VH // VHEADS // 2
            f = 100.0 ** (-torch.arange(d // 2, device=self.device).float() * 2 / d)
            parts = [torch.cat([v[:, None] * f] * 2, -1) for v in (x.float(), y.float())]
            a = torch.cat(parts, -1)
            self.vision_rope[(gw, gh)] = (x, y, a.cos().to(self.dtype), a.sin().to(self.dtype))
        return self.vision_rope[(gw, gh)]

    def vision(self, w, patches, gw=24, gh=24):
        """patches [B, gw * gh, 768] in 0..1 -> soft tokens [B, gw * gh / 9, H]."""
        xi, yi, cos, sin = self.vision_tables(gw, gh)
        table = w[VT + "patch_embedder.position_embedding_table"]
        x = F.linear((2 * (patches.float() - 0.5)).to(self.dtype),
                     w[VT + "patch_embedder.input_proj.weight"])
        x = x + (table[0][xi] + table[1][yi])
        b, t, _ = x.shape
        d = VH // VHEADS

        def turn(z):
            a, c = z.chunk(2, -1)
            return z * cos + torch.cat([half_turn(a), half_turn(c)], -1) * sin

        for i in range(VLAYERS):
            p = f"{VT}encoder.layers.{i}."
            h = rms(x, w[p + "input_layernorm.weight"])
            q, k, v = (F.linear(h, w[f"{p}self_attn.{c}_proj.linear.weight"]).view(b, t, VHEADS, d)
                       for c in "qkv")
            q = turn(rms(q, w[p + "self_attn.q_norm.weight"]).transpose(1, 2))
            k = turn(rms(k, w[p + "self_attn.k_norm.weight"]).transpose(1, 2))
            o = F.scaled_dot_product_attention(q, k, rms(v).transpose(1, 2), scale=1.0)
            o = F.linear(o.transpose(1, 2).reshape(b, t, VH),
                         w[p + "self_attn.o_proj.linear.weight"])
            x = x + rms(o, w[p + "post_attention_layernorm.weight"])
            h = rms(x, w[p + "pre_feedforward_layernorm.weight"])
            h = F.gelu(F.linear(h, w[p + "mlp.gate_proj.linear.weight"]), approximate="tanh") \
                * F.linear(h, w[p + "mlp.up_proj.linear.weight"])
            h = F.linear(h, w[p + "mlp.down_proj.linear.weight"])
            x = x + rms(h, w[p + "post_feedforward_layernorm.weight"])
        x = x.view(b, gh // 3, 3, gw // 3, 3, VH).float().mean((2, 4)).view(b, -1, VH)
        x = (x * VH ** 0.5).to(self.dtype)
        return F.linear(rms(x), w["model.embed_vision.embedding_projection.weight"])

    def audio(self, w, mel, frames):
        """mel [B, T, 128] zero past each clip's frames [B] -> [B, ceil(ceil(T/2)/2), H]."""
        s = AT + "subsample_conv_projection."
        x = mel.to(self.dtype).unsqueeze(1)
        for j in range(2):
            x = F.conv2d(x, w[f"{s}layer{j}.conv.weight"], stride=2, padding=1)
            c = x.shape[1]
            x = F.layer_norm(x.permute(0, 2, 3, 1), (c,), w[f"{s}layer{j}.norm.weight"], None, EPS)
            x = F.relu(x)                                             # [B, T, mel, C]
            frames = (frames + 1) // 2
            if j == 0:
                valid = torch.arange(x.shape[1], device=x.device) < frames.view(-1, 1)
                x = (x * valid[:, :, None, None]).permute(0, 3, 1, 2)
        b, t = x.shape[:2]
        x = F.linear(x.reshape(b, t, -1), w[s + "input_proj_linear.weight"])
        d = AH // AHEADS
        at = torch.arange(t, device=x.device)
        gap = at[:, None] - at[None, :]
        far = (gap < 0) | (gap >= AWINDOW)
        row = gap.clamp(0, AWINDOW).view(1, 1, t, t).expand(b, AHEADS, t, t)

        def feed(x, p):
            h = F.silu(F.linear(rms(x, w[p + "pre_layer_norm.weight"]),
                                w[p + "ffw_layer_1.linear.weight"]))
            h = F.linear(h, w[p + "ffw_layer_2.linear.weight"])
            return x + 0.5 * rms(h, w[p + "post_layer_norm.weight"])

        for i in range(ALAYERS):
            p = f"{AT}layers.{i}."
            x = feed(x, p + "feed_forward1.")
            h = rms(x, w[p + "norm_pre_attn.weight"])
            q, k, v = (F.linear(h, w[f"{p}self_attn.{c}_proj.linear.weight"]).float()
                       .view(b, t, AHEADS, d).transpose(1, 2) for c in "qkv")
            q = q * (self.q_scale * F.softplus(w[p + "self_attn.per_dim_scale"].float()))
            k = k * self.k_scale
            r = F.linear(self.relative.to(self.dtype), w[p + "self_attn.relative_k_proj.weight"])
            r = r.float().view(1, AWINDOW + 1, AHEADS, d).transpose(1, 2)
            z = q @ k.transpose(-1, -2) + (q @ r.transpose(-1, -2)).gather(-1, row)
            z = (50.0 * torch.tanh(z / 50.0)).masked_fill(far, -1e9)
            o = (z.softmax(-1) @ v).to(self.dtype).transpose(1, 2).reshape(b, t, AH)
            o = F.linear(o, w[p + "self_attn.post.linear.weight"])
            x = x + rms(o, w[p + "norm_post_attn.weight"])
            c = p + "lconv1d."
            h = F.linear(rms(x, w[c + "pre_layer_norm.weight"]),
                         w[c + "linear_start.linear.weight"])
            h = F.glu(h, -1).transpose(1, 2)
            h = F.conv1d(F.pad(h, (4, 0)), w[c + "depthwise_conv1d.weight"], groups=AH)
            h = F.silu(rms(h.transpose(1, 2), w[c + "conv_norm.weight"]))
            x = x + F.linear(h, w[c + "linear_end.linear.weight"])
            x = feed(x, p + "feed_forward2.")
            x = rms(x, w[p + "norm_out.weight"])
        x = F.linear(x, w[AT + "output_proj.weight"], w[AT + "output_proj.bias"])
        return F.linear(rms(x), w["model.embed_audio.embedding_projection.weight"])
