# SPDX-License-Identifier: Apache-2.0
"""Writes the model folder in the published layout: config files and safetensors in bf16."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

import net

CLIPPED = {"vision": [f"self_attn.{c}_proj" for c in "qkvo"]
           + [f"mlp.{c}_proj" for c in ("gate", "up", "down")],
           "audio": [f"feed_forward{i}.ffw_layer_{j}" for i in (1, 2) for j in (1, 2)]
           + [f"self_attn.{c}" for c in ("q_proj", "k_proj", "v_proj", "post")]
           + ["lconv1d.linear_start", "lconv1d.linear_end"]}
LIMITS = ("input_min", "input_max", "output_min", "output_max")


def clipped_modules():
    """Module paths of every clipped linear of both towers."""
    return [f"{net.VT}encoder.layers.{i}.{m}" for i in range(net.VLAYERS)
            for m in CLIPPED["vision"]] + \
        [f"{net.AT}layers.{i}.{m}" for i in range(net.ALAYERS) for m in CLIPPED["audio"]]


def config(ids):
    """config.json; `ids` maps special strings to token ids."""
    kinds = {"S": "sliding_attention", "F": "full_attention"}
    return {
        "architectures": ["Gemma4ForConditionalGeneration"],
        "audio_config": {
            "attention_chunk_size": 12, "attention_context_left": 13,
            "attention_context_right": 0, "attention_invalid_logits_value": -1e9,
            "attention_logit_cap": 50.0, "conv_kernel_size": 5, "gradient_clipping": 1e10,
            "hidden_act": "silu", "hidden_size": net.AH, "initializer_range": 0.02,
            "model_type": "gemma4_audio", "num_attention_heads": net.AHEADS,
            "num_hidden_layers": net.ALAYERS, "output_proj_dims": net.AH, "residual_weight": 0.5,
            "rms_norm_eps": 1e-6, "subsampling_conv_channels": list(net.ACONV),
            "use_clipped_linears": True},
        "audio_token_id": ids["<|audio|>"], "boa_token_id": ids["<|audio>"],
        "boi_token_id": ids["<|image>"], "dtype": "bfloat16",
        "eoa_token_id": ids["<audio|>"], "eoa_token_index": ids["<audio|>"],
        "eoi_token_id": ids["<image|>"], "eos_token_id": [ids["<eos>"], ids["<turn|>"]],
        "image_token_id": ids["<|image|>"], "initializer_range": 0.02, "model_type": "gemma4",
        "text_config": {
            "attention_bias": False, "attention_dropout": 0.0, "attention_k_eq_v": False,
            "bos_token_id": 2, "enable_moe_block": False, "eos_token_id": 1,
            "final_logit_softcapping": 30.0, "global_head_dim": net.FULL_HEAD,
            "head_dim": net.HEAD, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": net.H,
            "hidden_size_per_layer_input": net.PLE, "initializer_range": 0.02,
            "intermediate_size": net.MLP, "layer_types": [kinds[k] for k in net.TYPES],
            "max_position_embeddings": 4096, "model_type": "gemma4_text",
            "moe_intermediate_size": None, "num_attention_heads": net.HEADS, "num_experts": None,
            "num_global_key_value_heads": None, "num_hidden_layers": net.LAYERS,
            "num_key_value_heads": 1, "num_kv_shared_layers": net.KV_SHARED, "pad_token_id": 0,
            "rms_norm_eps": 1e-6,
            "rope_parameters": {
                "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0,
                                   "rope_type": "proportional"},
                "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
            "sliding_window": net.WINDOW, "tie_word_embeddings": True, "top_k_experts": None,
            "use_bidirectional_attention": None, "use_cache": True, "use_double_wide_mlp": True,
            "vocab_size": net.VOCAB, "vocab_size_per_layer_input": net.VOCAB},
        "tie_word_embeddings": True, "video_token_id": ids["<|video|>"],
        "vision_config": {
            "attention_bias": False, "attention_dropout": 0.0, "default_output_length": 70,
            "head_dim": net.VH // net.VHEADS, "global_head_dim": net.VH // net.VHEADS,
            "hidden_activation": "gelu_pytorch_tanh",
            "hidden_size": net.VH, "initializer_range": 0.02, "intermediate_size": net.VMLP,
            "max_position_embeddings": 131072, "model_type": "gemma4_vision",
            "num_attention_heads": net.VHEADS, "num_hidden_layers": net.VLAYERS,
            "num_key_value_heads": net.VHEADS, "patch_size": 16, "pooling_kernel_size": 3,
            "position_embedding_size": net.VPOS, "rms_norm_eps": 1e-6,
            "rope_parameters": {"rope_theta": 100.0, "rope_type": "default"},
            "standardize": False, "use_clipped_linears": True},
        "vision_soft_tokens_per_image": 70}


def processor():
    picture = {"do_convert_rgb": True, "do_normalize": False, "do_rescale": True,
               "do_resize": True, "image_mean": [0.0] * 3, "image_std": [1.0] * 3,
               "max_soft_tokens": 70, "patch_size": 16, "pooling_kernel_size": 3, "resample": 3,
               "rescale_factor": 1 / 255}
    return {
        "audio_ms_per_token": 40, "audio_seq_length": 750,
        "feature_extractor": {
            "dither": 0.0, "feature_extractor_type": "Gemma4AudioFeatureExtractor",
            "feature_size": 128, "fft_length": 512, "fft_overdrive": False, "frame_length": 320,
            "hop_length": 160, "input_scale_factor": 1.0, "max_frequency": 8000.0,
            "mel_floor": 0.001, "min_frequency": 0.0, "padding_side": "right",
            "padding_value": 0.0, "per_bin_mean": None, "per_bin_stddev": None,
            "preemphasis": 0.0, "preemphasis_htk_flavor": True, "return_attention_mask": True,
            "sampling_rate": 16000},
        "image_processor": {**picture, "image_processor_type": "Gemma4ImageProcessor"},
        "image_seq_length": 70, "processor_class": "Gemma4Processor",
        "video_processor": {**picture, "do_normalize": True, "do_sample_frames": True,
                            "num_frames": 32, "return_metadata": False,
                            "video_processor_type": "Gemma4VideoProcessor"}}


# Greedy: what so small a model is less sure of is seldom better.
GENERATION = {"bos_token_id": 2, "do_sample": False, "pad_token_id": 0}
TOKENIZER = {
    "audio_token": "<|audio|>", "backend": "tokenizers", "boa_token": "<|audio>",
    "boi_token": "<|image>", "bos_token": "<bos>", "eoa_token": "<audio|>",
    "eoi_token": "<image|>", "eos_token": "<eos>", "extra_special_tokens": ["<|video|>"],
    "image_token": "<|image|>", "model_max_length": 4096, "pad_token": "<pad>",
    "padding_side": "left", "processor_class": "Gemma4Processor",
    "tokenizer_class": "TokenizersBackend", "unk_token": "<unk>"}


def tensors(q, n, limits=None):
    """Every tensor of the file in bf16; `limits` maps module to its four clip values."""
    out = {k: v.to(torch.bfloat16).contiguous()
           for k, v in net.named(q, n, torch.float32).items()}
    infinite = [float("-inf"), float("inf")] * 2
    for module in clipped_modules():
        values = (limits or {}).get(module, infinite)
        for name, value in zip(LIMITS, values):
            out[f"{module}.{name}"] = torch.tensor(value, dtype=torch.bfloat16)
    return out


def write(folder, q, n, limits=None):
    """All files but tokenizer.json, which must be in the folder already."""
    folder = Path(folder)
    entries = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {t["content"]: t["id"] for t in entries["added_tokens"]}
    generation = {**GENERATION,
                  "eos_token_id": [ids["<eos>"], ids["<turn|>"], ids["<|tool_response>"]]}
    for name, data in (("config", config(ids)), ("processor_config", processor()),
                       ("generation_config", generation), ("tokenizer_config", TOKENIZER)):
        (folder / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    save_file(tensors(q, n, limits), folder / "model.safetensors", metadata={"format": "pt"})
