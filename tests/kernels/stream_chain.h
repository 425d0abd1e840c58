// SPDX-License-Identifier: Apache-2.0
// Chains of decode steps as a decoder has them, for the kernels that run a whole token in a launch
// (device/decode/stream.cu, device/decode/stream_async.cu), with what the scalar table makes of
// them.
#pragma once

#include "kernels/cuda/cuda_device.h"
#include "tests/kernels/step_cases.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace support {

/// A projection by itself: codes of 11 bits.
inline constexpr double kProjectionBound = 4e-4;
/// The whole chain: a value of the cache may round to the other neighbour in bf16 (2^-8 of itself),
/// and a softmax over scores of 20 hands an error on 20 times as large.
inline constexpr double kStreamBound = 1e-2;

/// What a chain is made of.
struct ChainShape {
    int layers = 2;
    kernels::WeightFormat format = kernels::WeightFormat::Nf4;
    kernels::WeightFormat head = kernels::WeightFormat::Int8Row; ///< For the last step.
    kernels::WeightFormat values{}; ///< Another one for the third weight of a step, if any.
    bool is_nested = true;
    int block = 64;
    int64_t hidden = 192;
    int64_t heads = 4;
    int64_t kv_heads = 1;
    int64_t dim = 64;
    int64_t inter = 320;
    int64_t ple = 64;
    int64_t tokens = 5; ///< So far, the new one included.
    int64_t window = 0;
    bool k_is_v = false;
    bool is_reader = false; ///< The second layer reads the first one's cache.
    bool is_ring = false;
    float scale = 1.0F;    ///< Smaller: every key counts.
    bool is_large = false; ///< In the form of long rows although these are not.
    int64_t hole = -1;     ///< A cache row in reach that holds nothing.
    bool is_plain = false; ///< makePlain() of all steps.
    kernels::KvType kv_type = kernels::KvType::BF16;
    // Low-rank updates of all weights of the steps that have them.
    int64_t rank = 0;       ///< 0: none.
    int64_t other_rank = 0; ///< For a second update of the last weight; 0: none.
    kernels::DType update_type = kernels::DType::BF16;
    size_t every = 1;                  ///< Only every so manieth projection has updates.
    int without = -1;                  ///< Which of a projection's several weights has none.
    bool has_projections_only = false; ///< None of the steps for per-layer inputs has.
    bool is_planned = true; ///< What blocks need to know of them is made before (UnitPlan);
    bool may_plan = true;   ///< false: asked for not to be.
};

/// Decoder layers as engine/forward/token/decode_step.cpp composes them, and a head.
struct Chain {
    using Input = kernels::ProjectArgs::Input;
    using Output = kernels::ProjectArgs::Output;
    ChainShape shape;
    std::vector<std::unique_ptr<ProjectCase>> projections;
    std::vector<std::unique_ptr<AttendCase>> attentions;
    std::vector<std::pair<bool, size_t>> order; ///< Attention or not, and which.
    const float* x_there = nullptr;
    std::vector<float> x;
    const float* left_there = nullptr; ///< What is to be added next.
    std::vector<float> left;
    uint64_t seed = 1;

    explicit Chain(const ChainShape& s, int layers) : shape(s) {
        for (int i = 0; i < layers; ++i) {
            addLayer(i);
        }
        add(shape.head, shape.hidden, {1000}, Input::ResidualNorm, Output::Store);
    }

    ProjectCase& add(kernels::WeightFormat format,
                     int64_t cols,
                     const std::vector<int64_t>& rows,
                     Input input,
                     Output output) {
        projections.push_back(std::make_unique<ProjectCase>(
            format,
            shape.is_nested && format != kernels::WeightFormat::Int8Row &&
                format != kernels::WeightFormat::BF16,
            format == kernels::WeightFormat::Int4 ? 32 : shape.block, cols, rows, input, output,
            seed += 20));
        ProjectCase& c = *projections.back();
        if (c.weights.size() > 2 && shape.values != kernels::WeightFormat{}) {
            c.weights[2] = makeWeight(shape.values, rows[2], cols, shape.block, false,
                                      kernels::DType::F32, seed + 3);
            c.args.w[2] = c.weights[2].view;
        }
        for (size_t i = 0; i < c.weights.size(); ++i) {
            // The reference is as exact as the format is: values of Int4 are rounded ones.
            c.args.w[i].expand_type =
                format == kernels::WeightFormat::Int4 ? kernels::DType::BF16 : kernels::DType::F32;
        }
        if (input == Input::Plain) {
            std::copy(left.begin(), left.end(), c.x.data());
            c.args.x = left_there;
        } else {
            if (!x.empty()) {
                std::copy(x.begin(), x.end(), c.x.data());
                c.args.x = x_there;
            }
            if (c.args.t != nullptr) {
                std::copy(left.begin(), left.end(), c.t.data());
            }
        }
        if (shape.is_plain) {
            makePlain(c.args);
        }
        addUpdates(c);
        c.compute();
        for (size_t i = 0; i < c.weights.size(); ++i) {
            c.args.w[i] = c.weights[i].view;
        }
        if (c.args.t != nullptr) {
            c.args.t = left_there;
            x = c.want_residual;
            x_there = c.x_out.data();
        } else if (input == Input::Norm) {
            x = c.x.values();
            x_there = c.args.x;
        }
        left = c.want[0];
        left_there = c.y[0].data();
        order.emplace_back(false, projections.size() - 1);
        return c;
    }

    void addUpdates(ProjectCase& c) const {
        const bool is_per_layer =
            c.args.output == Output::GatedMultiply ||
            (c.args.input == Input::Plain && c.weights[0].view.cols == shape.ple);
        if (shape.rank == 0 || projections.size() % shape.every != 0 ||
            (is_per_layer && shape.has_projections_only)) {
            return;
        }
        for (int i = 0; i < c.args.count; ++i) {
            const auto weight_seed = seed + 40 * static_cast<uint64_t>(i);
            if (c.args.count > 1 && i == shape.without) {
                continue;
            }
            c.addUpdate(i, shape.rank, shape.update_type, weight_seed + 1000);
            if (shape.other_rank > 0 && i + 1 == c.args.count) {
                c.addUpdate(i, shape.other_rank, shape.update_type, weight_seed + 1002);
            }
        }
    }

    void addLayer(int index) {
        const bool is_reader = shape.is_reader && index > 0;
        const int64_t q = shape.heads * shape.dim;
        const int64_t kv = shape.kv_heads * shape.dim;
        std::vector<int64_t> rows{q};
        if (!is_reader) {
            rows.push_back(kv);
            if (!shape.k_is_v) {
                rows.push_back(kv);
            }
        }
        ProjectCase& qkv = add(shape.format, shape.hidden, rows,
                               index == 0 ? Input::Norm : Input::ResidualNorm, Output::Store);
        attentions.push_back(std::make_unique<AttendCase>(shape.heads, shape.kv_heads, shape.dim,
                                                          shape.tokens, 256, shape.window,
                                                          !is_reader, seed += 20, shape.kv_type));
        AttendCase& a = *attentions.back();
        a.args.is_ring = shape.is_ring;
        a.args.scale = shape.scale;
        if (shape.is_plain) {
            makePlain(a.args);
        }
        hideRows(a);
        if (is_reader) {
            const AttendCase& owner = *attentions.front();
            a.cache_k = Guarded<uint8_t>(owner.want_k);
            a.cache_v = Guarded<uint8_t>(owner.want_v);
        }
        const std::vector<float> none;
        const size_t v = shape.k_is_v ? 1 : 2;
        a.readFrom(qkv.y[0].data(), qkv.want[0], is_reader ? nullptr : qkv.y[1].data(),
                   is_reader ? none : qkv.want[1], is_reader ? nullptr : qkv.y[v].data(),
                   is_reader ? none : qkv.want[v]);
        if (is_reader) {
            a.args.cache_k = attentions.front()->cache_k.data();
            a.args.cache_v = attentions.front()->cache_v.data();
        }
        order.emplace_back(true, attentions.size() - 1);
        left = a.want;
        left_there = a.out.data();
        add(shape.format, q, {shape.hidden}, Input::Plain, Output::Store);
        add(shape.format, shape.hidden, {shape.inter, shape.inter}, Input::ResidualNorm,
            Output::GatedPair);
        add(shape.format, shape.inter, {shape.hidden}, Input::Plain, Output::Store);
        if (shape.ple > 0) {
            add(shape.format, shape.hidden, {shape.ple}, Input::Residual, Output::GatedMultiply);
            add(shape.format, shape.ple, {shape.hidden}, Input::Plain, Output::Store);
        }
    }

    /// What nobody may see is NaN: rows behind the window, and the hole.
    void hideRows(AttendCase& a) const {
        const size_t bytes =
            sizeOf(kernels::kvRowBytes(shape.kv_type, a.args.num_kv_heads, a.args.head_dim));
        if (shape.hole >= 0) {
            a.positions[sizeOf(shape.hole)] = -1;
        }
        for (size_t row = 0; row < a.positions.size(); ++row) {
            const int32_t at = a.positions[row];
            if (at < 0 || (shape.window > 0 && at <= shape.tokens - 1 - shape.window)) {
                std::memset(a.cache_k.data() + row * bytes, 0xff, bytes);
                std::memset(a.cache_v.data() + row * bytes, 0xff, bytes);
            }
        }
    }

    kernels::Status run(kernels::cuda::CudaDevice& d) {
        kernels::Status status = d.ops().begin_steps(d.queue());
        for (const auto& [is_attention, index] : order) {
            if (status == kernels::Status::Ok) {
                status = is_attention ? d.ops().attend_step(d.queue(), attentions[index]->args)
                                      : d.ops().project(d.queue(), projections[index]->args);
            }
        }
        const kernels::Status ended = d.ops().end_steps(d.queue());
        return status == kernels::Status::Ok ? ended : status;
    }

    /// Error of what the last step made, of the residual rows, of attention, and of the cache rows.
    [[nodiscard]] double error() const {
        double residual = 0.0;
        double error = projections.back()->error(&residual);
        for (const auto& p : projections) {
            residual = std::max(residual, p->residualError());
        }
        for (const auto& a : attentions) {
            error = std::max(error, relativeError(a->out.data(), a->want));
            if (a->args.k != nullptr) {
                error = std::max(error, a->distantRows() / 10); // bf16
            }
        }
        return std::max(error, residual);
    }
};

} // namespace support
