// SPDX-License-Identifier: Apache-2.0
// The audio tower (conformer) and its projector. Formulas: ARCHITECTURE.md, section 5; the
// attention is the closed form of 5.4 (banded, causal, relative keys). Only valid frames are run.
#include "engine/forward/model.h"

#include <algorithm>
#include <cmath>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;

namespace {

MutF32 reshaped(MutF32 m, int64_t width) {
    return {m.data, m.rows * (m.cols / width), width, width};
}

constexpr double kE = 2.718281828459045;

} // namespace

Result<void>
Model::audioFeedForward(const AudioFeedForward& ff, DeviceScratch& home, int64_t frames) {
    const AudioConfig& audio = *config_.audio;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(audio.rms_norm_eps);
    const auto limit = static_cast<float>(audio.gradient_clipping);
    const MutF32 x = home.matrix("ax", frames, audio.hidden_size);
    const MutF32 h = home.matrix("ah", frames, audio.hidden_size);
    const MutF32 t = home.matrix("at", frames, audio.hidden_size);
    const MutF32 big = home.matrix("abig", frames, 4 * audio.hidden_size);
    const std::string& name = ff.in.name;
    ENGINE_KERNEL(ops.clamp(queue, x, -limit, limit, h), "clip", name);
    ENGINE_KERNEL(ops.rms_norm(queue, h, ff.pre_norm, eps, h), "norm", name);
    ENGINE_TRY(context_->linear(ff.in, home, h, big, "aclamp"));
    ENGINE_KERNEL(ops.silu(queue, big, big), "SiLU", name);
    ENGINE_TRY(context_->linear(ff.out, home, big, t, "aclamp"));
    ENGINE_KERNEL(ops.clamp(queue, t, -limit, limit, t), "clip", name);
    ENGINE_KERNEL(
        ops.rms_norm_add(queue, t, ff.post_norm, eps, static_cast<float>(audio.residual_weight), x),
        "norm", name);
    return {};
}

Result<void> Model::audioLayer(const AudioLayer& layer, DeviceScratch& home, int64_t frames) {
    const AudioConfig& audio = *config_.audio;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(audio.rms_norm_eps);
    const auto limit = static_cast<float>(audio.gradient_clipping);
    const int64_t hidden = audio.hidden_size;
    const int64_t head_dim = hidden / audio.num_heads;
    const std::string& name = layer.q.name;
    const MutF32 x = home.matrix("ax", frames, hidden);
    const MutF32 h = home.matrix("ah", frames, hidden);
    const MutF32 t = home.matrix("at", frames, hidden);
    const MutF32 q = home.matrix("aq", frames, hidden);
    const MutF32 k = home.matrix("ak", frames, hidden);
    const MutF32 v = home.matrix("av", frames, hidden);
    const MutF32 o = home.matrix("ao", frames, hidden);

    ENGINE_TRY(audioFeedForward(layer.ff1, home, frames));

    ENGINE_KERNEL(ops.clamp(queue, x, -limit, limit, h), "clip", name);
    ENGINE_KERNEL(ops.rms_norm(queue, h, layer.norm_pre_attn, eps, h), "norm", name);
    ENGINE_TRY(context_->linear(layer.q, home, h, q, "aclamp"));
    ENGINE_TRY(context_->linear(layer.k, home, h, k, "aclamp"));
    ENGINE_TRY(context_->linear(layer.v, home, h, v, "aclamp"));
    ENGINE_KERNEL(ops.scale_columns(queue, reshaped(q, head_dim), layer.q_scale.data), "q scale",
                  name);
    ENGINE_KERNEL(ops.scale(queue, k, static_cast<float>(std::log(1.0 + kE) / std::log(2.0))),
                  "k scale", name);
    const MutF32 relative = home.matrix("rel_keys", audio.context_left, hidden);
    ENGINE_TRY(context_->linear(
        layer.rel_k, home, home.matrix("rel_positions", audio.context_left, hidden), relative));
    kernels::AudioAttentionArgs args;
    args.q = q.data;
    args.k = k.data;
    args.v = v.data;
    args.rel = relative.data;
    args.frames = frames;
    args.num_heads = audio.num_heads;
    args.head_dim = head_dim;
    args.reach = audio.context_left - 1;
    args.cap = static_cast<float>(audio.logit_cap);
    args.out = o.data;
    ENGINE_KERNEL(ops.audio_attention(queue, args), "attention", name);
    ENGINE_TRY(context_->linear(layer.post, home, o, t, "aclamp"));
    ENGINE_KERNEL(ops.clamp(queue, t, -limit, limit, t), "clip", name);
    ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.norm_post_attn, eps, 1.0F, x), "norm", name);

    // Light convolution: norm, linear, GLU, depthwise causal convolution, norm, SiLU, linear.
    const MutF32 big = home.matrix("abig", frames, 2 * hidden);
    ENGINE_KERNEL(ops.rms_norm(queue, x, layer.conv_pre_norm, eps, h), "norm", name);
    ENGINE_TRY(context_->linear(layer.conv_start, home, h, big, "aclamp"));
    ENGINE_KERNEL(ops.glu(queue, big, t), "GLU", name);
    ENGINE_KERNEL(ops.causal_conv1d(queue, t, layer.depthwise.data, audio.conv_kernel, h),
                  "convolution", name);
    ENGINE_KERNEL(ops.clamp(queue, h, -limit, limit, h), "clip", name);
    ENGINE_KERNEL(ops.rms_norm(queue, h, layer.conv_norm, eps, h), "norm", name);
    ENGINE_KERNEL(ops.silu(queue, h, h), "SiLU", name);
    ENGINE_TRY(context_->linear(layer.conv_end, home, h, t, "aclamp"));
    ENGINE_KERNEL(ops.add_scaled(queue, t, 1.0F, x), "add", name);

    ENGINE_TRY(audioFeedForward(layer.ff2, home, frames));
    ENGINE_KERNEL(ops.clamp(queue, x, -limit, limit, x), "clip", name);
    ENGINE_KERNEL(ops.rms_norm(queue, x, layer.norm_out, eps, x), "norm", name);
    return {};
}

Result<void> Model::audioSubsample(DeviceScratch& home, int64_t mel_frames, MutF32 out) {
    // Two stride-2 convolutions in blocks of output frames. A block is computed with extra frames
    // on its left, whose results (they would see the kernel's zero padding) are thrown away.
    const AudioConfig& audio = *config_.audio;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const int64_t mel2 = (audio.mel_bins + 1) / 2;
    const int64_t mel4 = (mel2 + 1) / 2;
    const int64_t c1 = audio.conv_channels[0];
    const int64_t c2 = audio.conv_channels[1];
    const int64_t frames2 = (mel_frames + 1) / 2;
    const int64_t frames4 = (frames2 + 1) / 2;
    const std::string& name = audio_input_.name;
    for (int64_t first = 0; first < frames4; first += kAudioBlockFrames) {
        const int64_t last = std::min(frames4, first + kAudioBlockFrames); // one past
        // conv2 rows [first, last) need conv1 rows [2 first - 1, 2 last - 1]; one row before is
        // the start of an even slice, and the first conv1 row of a slice is inexact.
        const int64_t begin2 = first == 0 ? 0 : 2 * first - 2;
        const int64_t end2 = std::min(frames2, 2 * last);
        const int64_t begin1 = first == 0 ? 0 : 2 * (begin2 - 1);
        const int64_t end1 = std::min(mel_frames, 2 * end2);
        kernels::SubsampleConvArgs one;
        one.in = home.buffer("mel") + begin1 * audio.mel_bins;
        one.time = end1 - begin1;
        one.mel = audio.mel_bins;
        one.in_ch = 1;
        one.out_ch = c1;
        one.weight = conv_weight_[0].data;
        one.norm = conv_norm_[0].data;
        one.eps = static_cast<float>(audio.rms_norm_eps);
        one.out = home.buffer("conv1");
        ENGINE_KERNEL(ops.subsample_conv(queue, one), "convolution", name);
        kernels::SubsampleConvArgs two = one;
        two.in = home.buffer("conv1") + (first == 0 ? 0 : 1) * mel2 * c1;
        two.time = end2 - begin2;
        two.mel = mel2;
        two.in_ch = c1;
        two.out_ch = c2;
        two.weight = conv_weight_[1].data;
        two.norm = conv_norm_[1].data;
        two.out = home.buffer("conv2");
        ENGINE_KERNEL(ops.subsample_conv(queue, two), "convolution", name);
        // Row 0 of a later block's conv2 output belongs to the block before.
        const float* valid = home.buffer("conv2") + (first == 0 ? 0 : 1) * mel4 * c2;
        const MatF32 flat{valid, last - first, mel4 * c2, mel4 * c2};
        const MutF32 rows{out.data + first * out.stride, last - first, out.cols, out.stride};
        ENGINE_TRY(context_->linear(audio_input_, home, flat, rows));
    }
    return {};
}

Result<std::vector<float>> Model::audioTower(std::span<const float> log_mel,
                                             int64_t frames,
                                             const std::stop_token& stop,
                                             std::vector<float>* tower_output) {
    if (!config_.audio) {
        return Error{ErrorCode::InvalidRequest,
                     "this model has no audio tower: it cannot take sound"};
    }
    const AudioConfig& audio = *config_.audio;
    DeviceScratch& home = *audio_home_;
    const std::string name = "model.audio_tower";
    const int64_t tokens = ((frames + 1) / 2 + 1) / 2;
    if (frames <= 0 || static_cast<int64_t>(log_mel.size()) != frames * audio.mel_bins) {
        return Error{ErrorCode::InvalidRequest,
                     "audio: " + std::to_string(frames) +
                         " frames are too few; at least 161 samples are needed"};
    }
    if (tokens > config_.processor.max_audio_tokens) {
        return Error{ErrorCode::InvalidRequest,
                     "audio: " + std::to_string(tokens) + " tokens, the model takes at most " +
                         std::to_string(config_.processor.max_audio_tokens) +
                         " (30 s) per clip; cut the clip"};
    }
    ENGINE_KERNEL(home.device().copyIn(home.buffer("mel"), log_mel.data(), log_mel.size() * 4),
                  "copy in", name);
    const MutF32 x = home.matrix("ax", tokens, audio.hidden_size);
    ENGINE_TRY(audioSubsample(home, frames, x));
    for (const AudioLayer& layer : audio_layers_) {
        if (!step(stop)) {
            return Error{ErrorCode::Cancelled, "stopped by the user"};
        }
        ENGINE_TRY(audioLayer(layer, home, tokens));
    }
    const MutF32 out = home.matrix("aout", tokens, audio.output_size);
    ENGINE_TRY(context_->linear(audio_output_, home, x, out));
    ENGINE_KERNEL(home.ops().add_columns(home.queue(), out, audio_output_bias_.data), "bias", name);
    if (tower_output != nullptr) {
        tower_output->resize(static_cast<size_t>(tokens * audio.output_size));
        ENGINE_KERNEL(
            home.device().copyOut(tower_output->data(), out.data, tower_output->size() * 4),
            "copy out", name);
    }
    return normedOnHost(home, out, static_cast<float>(audio.rms_norm_eps), embed_audio_.name);
}

Result<std::vector<float>> Model::encodeAudio(std::span<const float> log_mel,
                                              int64_t frames,
                                              const std::stop_token& stop,
                                              std::vector<float>* tower_output) {
    ENGINE_ASSIGN(const std::vector<float> tower, audioTower(log_mel, frames, stop, tower_output));
    return projectAudio(tower);
}

Result<std::vector<float>>
Model::runAudioTower(std::span<const float> log_mel, int64_t frames, const std::stop_token& stop) {
    return audioTower(log_mel, frames, stop, nullptr);
}

Result<std::vector<float>> Model::projectAudio(std::span<const float> tower) {
    return projectedFromHost(embed_audio_, tower, config_.audio->output_size, "ea_in", "ea_out");
}

} // namespace engine
