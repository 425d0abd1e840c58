// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/towers/audio_tower.h"

#include "engine/forward/matrix_views.h"
#include "engine/forward/towers/projector.h"

#include <algorithm>
#include <cmath>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;

namespace {

constexpr double kE = 2.718281828459045;

} // namespace

Result<void> AudioTower::feedForward(const AudioFeedForward& weights, MatF32 h, MutF32 t) {
    DeviceScratch& home = *model_->audio.home;
    const MutF32 wide = home.matrix(Buffer::AudioWide, h.rows, weights.in.out);
    ENGINE_TRY(model_->context->linear(weights.in, home, h, wide, Buffer::AudioClamp));
    ENGINE_KERNEL(home.ops().sigmoid_mul(home.queue(), wide, wide, wide), "SiLU", weights.in.name);
    return model_->context->linear(weights.out, home, wide, t, Buffer::AudioClamp);
}

Result<void> AudioTower::attend(const AudioLayer& layer, MatF32 h, MutF32 t) {
    const AudioConfig& audio = *model_->config.audio;
    ComputeContext& context = *model_->context;
    DeviceScratch& home = *model_->audio.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const int64_t hidden = audio.hidden_size;
    const int64_t head_dim = hidden / audio.num_heads;
    const std::string& name = layer.q.name;
    const MutF32 q = home.matrix(Buffer::AudioQ, h.rows, hidden);
    const MutF32 k = home.matrix(Buffer::AudioK, h.rows, hidden);
    const MutF32 v = home.matrix(Buffer::AudioV, h.rows, hidden);
    const MutF32 o = home.matrix(Buffer::AudioO, h.rows, hidden);
    ENGINE_TRY(context.linear(layer.q, home, h, q, Buffer::AudioClamp));
    ENGINE_TRY(context.linear(layer.k, home, h, k, Buffer::AudioClamp));
    ENGINE_TRY(context.linear(layer.v, home, h, v, Buffer::AudioClamp));
    ENGINE_KERNEL(ops.scale_columns(queue, reshaped(q, head_dim), layer.q_scale.data), "q scale",
                  name);
    ENGINE_KERNEL(ops.scale(queue, k, static_cast<float>(std::log(1.0 + kE) / std::log(2.0))),
                  "k scale", name);
    const MutF32 relative = home.matrix(Buffer::AudioRelKeys, audio.context_left, hidden);
    ENGINE_TRY(context.linear(layer.relative, home,
                              home.matrix(Buffer::AudioRelPositions, audio.context_left, hidden),
                              relative));
    kernels::AudioAttentionArgs args;
    args.q = q.data;
    args.k = k.data;
    args.v = v.data;
    args.rel = relative.data;
    args.frames = h.rows;
    args.num_heads = audio.num_heads;
    args.head_dim = head_dim;
    args.reach = audio.context_left - 1;
    args.cap = static_cast<float>(audio.logit_cap);
    args.out = o.data;
    ENGINE_KERNEL(ops.audio_attention(queue, args), "attention", name);
    return context.linear(layer.post, home, o, t, Buffer::AudioClamp);
}

Result<void> AudioTower::convolve(const AudioLayer& layer, MutF32 h, MutF32 t) {
    const AudioConfig& audio = *model_->config.audio;
    ComputeContext& context = *model_->context;
    DeviceScratch& home = *model_->audio.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto limit = static_cast<float>(audio.gradient_clipping);
    const std::string& name = layer.conv_start.name;
    const MutF32 wide = home.matrix(Buffer::AudioWide, h.rows, 2 * h.cols);
    ENGINE_TRY(context.linear(layer.conv_start, home, h, wide, Buffer::AudioClamp));
    const MatF32 first{wide.data, h.rows, h.cols, wide.stride};
    const MatF32 gate{wide.data + h.cols, h.rows, h.cols, wide.stride};
    ENGINE_KERNEL(ops.sigmoid_mul(queue, first, gate, t), "GLU", name);
    ENGINE_KERNEL(ops.causal_conv1d(queue, t, layer.depthwise.data, audio.conv_kernel, h),
                  "convolution", name);
    ENGINE_KERNEL(ops.clamp(queue, h, -limit, limit, h), "clip", name);
    ENGINE_KERNEL(
        ops.rms_norm(queue, h, layer.conv_norm, static_cast<float>(audio.rms_norm_eps), h), "norm",
        name);
    ENGINE_KERNEL(ops.sigmoid_mul(queue, h, h, h), "SiLU", name);
    return context.linear(layer.conv_end, home, h, t, Buffer::AudioClamp);
}

Result<void> AudioTower::runLayer(const AudioLayer& layer, int64_t frames) {
    const AudioConfig& audio = *model_->config.audio;
    DeviceScratch& home = *model_->audio.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(audio.rms_norm_eps);
    const auto limit = static_cast<float>(audio.gradient_clipping);
    const std::string& name = layer.q.name;
    const MutF32 x = home.matrix(Buffer::AudioX, frames, audio.hidden_size);
    const MutF32 h = home.matrix(Buffer::AudioH, frames, audio.hidden_size);
    const MutF32 t = home.matrix(Buffer::AudioT, frames, audio.hidden_size);
    const AudioFeedForward* next_feed_forward = layer.feed_forward.data();
    for (const BoundBranch& branch : layer.branches) {
        if (branch.is_clipped) {
            ENGINE_KERNEL(ops.clamp(queue, x, -limit, limit, h), "clip", name);
        }
        ENGINE_KERNEL(ops.rms_norm(queue, branch.is_clipped ? h : x, branch.pre, eps, h), "norm",
                      name);
        if (branch.body == BranchBody::FeedForward) {
            ENGINE_TRY(feedForward(*next_feed_forward++, h, t));
        } else if (branch.body == BranchBody::RelativeAttention) {
            ENGINE_TRY(attend(layer, h, t));
        } else {
            ENGINE_TRY(convolve(layer, h, t));
        }
        if (branch.is_clipped) {
            ENGINE_KERNEL(ops.clamp(queue, t, -limit, limit, t), "clip", name);
        }
        if (branch.post.data != nullptr) {
            ENGINE_KERNEL(ops.rms_norm_add(queue, t, branch.post, eps, branch.weight, x),
                          "norm and residual", name);
        } else {
            ENGINE_KERNEL(ops.add_scaled(queue, t, branch.weight, x), "residual", name);
        }
    }
    ENGINE_KERNEL(ops.clamp(queue, x, -limit, limit, x), "clip", name);
    return checkStatus(ops.rms_norm(queue, x, layer.out_norm, eps, x), "norm", name);
}

Result<void> AudioTower::subsample(int64_t mel_frames, MutF32 out) {
    // Two stride-2 convolutions in blocks of output frames. A block is computed with extra frames
    // on its left, whose results (they would see the kernel's zero padding) are thrown away.
    const AudioConfig& audio = *model_->config.audio;
    const AudioWeights& weights = model_->audio;
    DeviceScratch& home = *weights.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const int64_t mel2 = (audio.mel_bins + 1) / 2;
    const int64_t mel4 = (mel2 + 1) / 2;
    const int64_t c1 = audio.conv_channels[0];
    const int64_t c2 = audio.conv_channels[1];
    const int64_t frames2 = (mel_frames + 1) / 2;
    const int64_t frames4 = (frames2 + 1) / 2;
    const std::string& name = weights.input.name;
    for (int64_t first = 0; first < frames4; first += kAudioBlockFrames) {
        const int64_t last = std::min(frames4, first + kAudioBlockFrames); // one past
        // conv2 rows [first, last) need conv1 rows [2 first - 1, 2 last - 1]; one row before is
        // the start of an even slice, and the first conv1 row of a slice is inexact.
        const int64_t begin2 = first == 0 ? 0 : 2 * first - 2;
        const int64_t end2 = std::min(frames2, 2 * last);
        const int64_t begin1 = first == 0 ? 0 : 2 * (begin2 - 1);
        const int64_t end1 = std::min(mel_frames, 2 * end2);
        kernels::SubsampleConvArgs one;
        one.in = home.buffer(Buffer::Mel) + begin1 * audio.mel_bins;
        one.time = end1 - begin1;
        one.mel = audio.mel_bins;
        one.in_ch = 1;
        one.out_ch = c1;
        one.weight = weights.conv_weight[0].data;
        one.norm = weights.conv_norm[0].data;
        one.eps = static_cast<float>(audio.rms_norm_eps);
        one.out = home.buffer(Buffer::AudioConv1);
        ENGINE_KERNEL(ops.subsample_conv(queue, one), "convolution", name);
        kernels::SubsampleConvArgs two = one;
        two.in = home.buffer(Buffer::AudioConv1) + (first == 0 ? 0 : 1) * mel2 * c1;
        two.time = end2 - begin2;
        two.mel = mel2;
        two.in_ch = c1;
        two.out_ch = c2;
        two.weight = weights.conv_weight[1].data;
        two.norm = weights.conv_norm[1].data;
        two.out = home.buffer(Buffer::AudioConv2);
        ENGINE_KERNEL(ops.subsample_conv(queue, two), "convolution", name);
        // Row 0 of a later block's conv2 output belongs to the block before.
        const float* valid = home.buffer(Buffer::AudioConv2) + (first == 0 ? 0 : 1) * mel4 * c2;
        const MatF32 flat{valid, last - first, mel4 * c2, mel4 * c2};
        const MutF32 rows{out.data + first * out.stride, last - first, out.cols, out.stride};
        ENGINE_TRY(model_->context->linear(weights.input, home, flat, rows));
    }
    return {};
}

Result<void> AudioTower::check(const SoundInput& sound) const {
    if (!model_->config.audio) {
        return Error{ErrorCode::InvalidRequest,
                     said("this model has no audio tower: it cannot take sound")};
    }
    if (sound.frames <= 0 || static_cast<int64_t>(sound.log_mel.size()) !=
                                 sound.frames * model_->config.audio->mel_bins) {
        return Error{
            ErrorCode::InvalidRequest,
            said("audio: %1 frames are too few; at least 161 samples are needed", sound.frames)};
    }
    const int64_t most = model_->config.processor.max_audio_tokens;
    if (sound.tokens() > most) {
        return Error{
            ErrorCode::InvalidRequest,
            said("audio: %1 tokens, the model takes at most %2 (30 s) per clip; cut the clip",
                 sound.tokens(), most)};
    }
    return {};
}

Result<std::vector<float>> AudioTower::runLayers(const SoundInput& sound,
                                                 const std::stop_token& stop,
                                                 std::vector<float>* tower_output) {
    ENGINE_TRY(check(sound));
    const AudioConfig& audio = *model_->config.audio;
    const AudioWeights& weights = model_->audio;
    DeviceScratch& home = *weights.home;
    const int64_t tokens = sound.tokens();
    ENGINE_KERNEL(home.device().copyIn(home.buffer(Buffer::Mel), sound.log_mel.data(),
                                       sound.log_mel.size() * 4),
                  "copy in", weights.name);
    const MutF32 x = home.matrix(Buffer::AudioX, tokens, audio.hidden_size);
    ENGINE_TRY(subsample(sound.frames, x));
    for (const AudioLayer& layer : weights.layers) {
        if (!model_->mayGoOn(stop)) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        ENGINE_TRY(runLayer(layer, tokens));
    }
    const MutF32 out = home.matrix(Buffer::AudioOut, tokens, audio.output_size);
    ENGINE_TRY(model_->context->linear(weights.output, home, x, out));
    ENGINE_KERNEL(home.ops().add_columns(home.queue(), out, weights.output_bias.data), "bias",
                  weights.name);
    if (tower_output != nullptr) {
        tower_output->resize(static_cast<size_t>(tokens * audio.output_size));
        ENGINE_KERNEL(
            home.device().copyOut(tower_output->data(), out.data, tower_output->size() * 4),
            "copy out", weights.name);
    }
    return normedOnHost(home, out, audio.rms_norm_eps, weights.projector.name);
}

Result<std::vector<float>> AudioTower::encode(const SoundInput& sound,
                                              const std::stop_token& stop,
                                              std::vector<float>* tower_output) {
    ENGINE_ASSIGN(const std::vector<float> tower, runLayers(sound, stop, tower_output));
    return project(tower);
}

Result<std::vector<float>> AudioTower::project(std::span<const float> tower) {
    return projectedFromHost(*model_, model_->audio.projector, tower, Buffer::AudioProjectorIn,
                             Buffer::AudioProjectorOut);
}

} // namespace engine
