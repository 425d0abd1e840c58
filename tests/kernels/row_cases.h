// SPDX-License-Identifier: Apache-2.0
// Decoder layers of a few tokens as one list of steps (OpTable::begin_rows) with their operands and
// what the scalar table makes of them, token by token.
#pragma once

#include "kernels/cuda/cuda_device.h"
#include "tests/kernels/step_cases.h"
#include "tests/support/moved_operands.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace support {

using kernels::Status;

inline constexpr int kMost = kernels::kMostStepRows;
struct RowShape {
    int64_t rows = 4;
    int64_t before = 5; ///< Tokens in the cache.
    WeightFormat format = WeightFormat::Nf4;
    bool is_nested = true;
    int64_t hidden = 192;
    int64_t heads = 4;
    int64_t kv_heads = 1;
    int64_t dim = 64;
    int64_t inter = 320;
    int64_t ple = 64;
    int64_t window = 0;
    int64_t capacity = 64;
    bool k_is_v = false;
    int layers = 2; ///< The last one reads the keys of the one before.
    /// Ranks of the low-rank updates, in turn: one of a weight, two of a step's first; 0: none.
    std::vector<int64_t> ranks = {};
    DType update_type = DType::BF16;
    bool is_plain = false; ///< makePlain() of all steps.
    KvType kv_type = KvType::BF16;
};

/// One step with its weights; rows lie behind each other.
struct Projection {
    std::deque<TestWeight> weights;
    Guarded<float> t_norm, norm;
    std::vector<Guarded<float>> y;
    Guarded<float> x_out;
    std::vector<std::unique_ptr<Update>> updates;
    ProjectArgs args;
};

/// Decoder layers as engine/forward/layers/layer_steps.cpp composes them.
class RowChain {
public:
    using Input = ProjectArgs::Input;
    using Output = ProjectArgs::Output;

    explicit RowChain(const RowShape& shape) : s(shape) {
        x_ = randomFloats(kMost * s.hidden, 7);
        per_layer_ = randomFloats(kMost * s.layers * s.ple, 8);
        inv_freq_ = Guarded<float>(sizeOf(s.dim / 2));
        for (size_t i = 0; i < inv_freq_.size(); ++i) {
            inv_freq_[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(s.dim)));
        }
        numbers_ = Guarded<int32_t>(2);
        numbers_[0] = static_cast<int32_t>(s.before);
        numbers_[1] = static_cast<int32_t>(s.rows);
        x_there_ = x_.data();
        for (int i = 0; i < s.layers; ++i) {
            addLayer(i);
        }
        Projection& head =
            add(WeightFormat::Int8Row, s.hidden, {1000}, Input::ResidualNorm, Output::Store);
        logits_ = head.y[0].data();
    }

    /// On a card that reads the host's memory.
    Status run(kernels::cuda::CudaDevice& d) {
        return run(d, [](auto* at) { return at; });
    }
    /// there(p): where what lies at `p` is in the card's memory; nullptr where p is.
    template <typename There>
    Status run(kernels::cuda::CudaDevice& d, const There& there) {
        const MovedOperands moved(there);
        Status status = d.ops().begin_rows(d.queue(), there(numbers_.data() + 1));
        for (size_t i = 0; i < order_.size() && status == Status::Ok; ++i) {
            const auto& [is_attention, index] = order_[i];
            status = is_attention ? d.ops().attend_step(d.queue(), moved(attends_[index].args))
                                  : d.ops().project(d.queue(), moved(projections_[index].args));
        }
        const Status ended = d.ops().end_steps(d.queue());
        return status == Status::Ok ? ended : status;
    }
    /// take(data, bytes) of all that the steps read and write.
    template <typename Take>
    void eachOperand(const Take& take) const {
        takeAll(take, x_, per_layer_, inv_freq_, numbers_);
        for (const Projection& p : projections_) {
            takeAll(take, p.t_norm, p.norm, p.x_out);
            for (const Guarded<float>& y : p.y) {
                takeAll(take, y);
            }
            for (const TestWeight& w : p.weights) {
                takeAll(take, w);
            }
            for (const auto& update : p.updates) {
                takeAll(take, update->a_bytes, update->b_bytes, update->factor);
            }
        }
        for (const Attend& a : attends_) {
            takeAll(take, a.q_norm, a.k_norm, a.out, a.k, a.v);
        }
    }

    /// What the scalar table makes, token by token; the caches get their rows.
    void compute() {
        for (Attend& a : attends_) {
            if (a.args.k != nullptr) {
                a.want_k = a.k.values();
                a.want_v = a.v.values();
            }
        }
        want_logits_.clear();
        want_first_.clear();
        for (int64_t row = 0; row < s.rows; ++row) {
            computeRow(row);
        }
    }

    [[nodiscard]] double error() const {
        double error = 0.0;
        for (int64_t row = 0; row < s.rows; ++row) {
            error = std::max(error, relativeError(logits_ + row * 1000, want_logits_[sizeOf(row)]));
        }
        return error;
    }
    [[nodiscard]] double firstError() const {
        double error = 0.0;
        for (int64_t row = 0; row < s.rows; ++row) {
            error =
                std::max(error, relativeError(projections_[0].y[0].data() + row * s.heads * s.dim,
                                              want_first_[sizeOf(row)]));
        }
        return error;
    }
    /// Error of all cache rows, relative; what nobody wrote has to be as it was.
    [[nodiscard]] double cacheError() const {
        double error = 0.0;
        for (const Attend& a : attends_) {
            if (a.args.k == nullptr) {
                continue;
            }
            for (const auto& [got, want] : {std::pair{&a.k, &a.want_k}, {&a.v, &a.want_v}}) {
                const int64_t count =
                    s.before + s.rows < s.capacity ? s.before + s.rows : s.capacity;
                std::vector<float> left =
                    rowValues(got->data(), s.kv_type, s.kv_heads, s.dim, count);
                std::vector<float> right =
                    rowValues(want->data(), s.kv_type, s.kv_heads, s.dim, count);
                for (size_t i = 0; i < left.size(); ++i) {
                    if (std::isnan(left[i]) && std::isnan(right[i])) {
                        left[i] = right[i] = 0.0F; // a row that nobody may see
                    }
                }
                error = std::max(error, relativeError(left.data(), right));
            }
        }
        return error;
    }

private:
    struct Attend {
        Guarded<float> q_norm, k_norm, out;
        Guarded<uint8_t> k, v;
        std::vector<uint8_t> want_k, want_v;
        kernels::AttendStepArgs args;
        size_t owner = 0;
    };

    Projection& add(WeightFormat format,
                    int64_t cols,
                    const std::vector<int64_t>& rows,
                    Input input,
                    Output output) {
        Projection& p = projections_.emplace_back();
        seed_ += 20;
        p.args.input = input;
        p.args.output = output;
        p.args.count = static_cast<int>(rows.size());
        p.args.scalar = 0.7F;
        for (size_t i = 0; i < rows.size(); ++i) {
            p.weights.push_back(makeWeight(format, rows[i], cols, 64,
                                           s.is_nested && format != WeightFormat::Int8Row,
                                           DType::BF16, seed_ + i));
            p.args.w[i] = p.weights.back().view;
            p.y.emplace_back(sizeOf(kMost * rows[i]));
            std::fill_n(p.y.back().data(), p.y.back().size(), NAN);
            p.args.y[i] = p.y.back().data();
        }
        p.norm = randomFloats(cols, seed_ + 10);
        p.t_norm = randomFloats(cols, seed_ + 11);
        if (input == Input::Norm || input == Input::ResidualNorm) {
            p.args.norm = {p.norm.data(), DType::F32, 1, cols};
        }
        if (input == Input::Plain) {
            p.args.x = left_;
        } else {
            p.args.x = x_there_;
        }
        if (input == Input::Residual || input == Input::ResidualNorm) {
            p.args.t = left_;
            p.args.t_norm = {p.t_norm.data(), DType::F32, 1, cols};
            p.x_out = Guarded<float>(sizeOf(kMost * cols));
            p.args.x_out = p.x_out.data();
            x_there_ = p.args.x_out;
        }
        if (s.is_plain) {
            makePlain(p.args);
        }
        if (output == Output::GatedMultiply) {
            p.args.multiply = per_layer_.data() + layer_ * s.ple;
            p.args.multiply_stride = s.layers * s.ple;
        }
        for (int i = 0; i < p.args.count && !s.ranks.empty(); ++i) {
            for (int more = i == 0 ? 2 : 1; more > 0; --more) {
                const int64_t rank = s.ranks[updates_++ % s.ranks.size()];
                if (rank > 0) {
                    p.updates.push_back(std::make_unique<Update>(
                        i, cols, rows[sizeOf(i)], rank, s.update_type, seed_ + 40 + updates_));
                    p.args.lora[p.args.lora_count++] = p.updates.back()->lora;
                }
            }
        }
        left_ = p.args.y[0];
        order_.emplace_back(false, projections_.size() - 1);
        return p;
    }

    void addLayer(int index) {
        layer_ = index;
        const bool is_reader = index > 0 && index + 1 == s.layers;
        const int64_t width = s.kv_heads * s.dim;
        std::vector<int64_t> rows{s.heads * s.dim};
        if (!is_reader) {
            rows.insert(rows.end(), s.k_is_v ? 1 : 2, width);
        }
        Projection& qkv = add(s.format, s.hidden, rows,
                              index == 0 ? Input::Norm : Input::ResidualNorm, Output::Store);
        Attend& a = attends_.emplace_back();
        a.q_norm = randomFloats(s.dim, seed_ + 12);
        a.k_norm = randomFloats(s.dim, seed_ + 13, 0.3F);
        a.out = Guarded<float>(sizeOf(kMost * s.heads * s.dim));
        a.owner = is_reader ? attends_.size() - 2 : attends_.size() - 1;
        if (!is_reader) {
            a.k = cache(seed_ + 14);
            a.v = cache(seed_ + 15);
            a.args.k = qkv.args.y[1];
            a.args.v = qkv.args.y[s.k_is_v ? 1 : 2];
        }
        a.args.q = qkv.args.y[0];
        a.args.q_norm = {a.q_norm.data(), DType::F32, 1, s.dim};
        a.args.k_norm = {a.k_norm.data(), DType::F32, 1, s.dim};
        a.args.inv_freq = inv_freq_.data();
        a.args.position = numbers_.data();
        a.args.slot = numbers_.data();
        a.args.key_count = numbers_.data();
        a.args.key_position = numbers_.data();
        a.args.cache_k = attends_[a.owner].k.data();
        a.args.cache_v = attends_[a.owner].v.data();
        a.args.kv_type = s.kv_type;
        a.args.capacity = s.capacity;
        a.args.num_heads = s.heads;
        a.args.num_kv_heads = s.kv_heads;
        a.args.head_dim = s.dim;
        a.args.window = s.window;
        a.args.is_ring = true;
        a.args.scale = 0.2F;
        if (s.is_plain) {
            makePlain(a.args);
        }
        a.args.out = a.out.data();
        order_.emplace_back(true, attends_.size() - 1);
        left_ = a.args.out;
        add(s.format, s.heads * s.dim, {s.hidden}, Input::Plain, Output::Store);
        add(s.format, s.hidden, {s.inter, s.inter}, Input::ResidualNorm, Output::GatedPair);
        add(s.format, s.inter, {s.hidden}, Input::Plain, Output::Store);
        if (s.ple > 0) {
            add(s.format, s.hidden, {s.ple}, Input::Residual, Output::GatedMultiply);
            add(s.format, s.ple, {s.hidden}, Input::Plain, Output::Store);
        }
    }

    /// Rows that are in no window, or that nobody wrote, hold what is no number.
    Guarded<uint8_t> cache(uint64_t seed) const {
        const int64_t width = s.kv_heads * s.dim;
        Guarded<uint8_t> rows =
            storedRows(randomFloats(s.capacity * width, seed), s.kv_type, s.kv_heads, s.dim);
        const size_t bytes = sizeOf(kernels::kvRowBytes(s.kv_type, s.kv_heads, s.dim));
        std::vector<bool> is_seen(sizeOf(s.capacity));
        for (int64_t p = 0; p < s.before; ++p) {
            if (s.window == 0 || p > s.before - s.window) {
                is_seen[sizeOf(p % s.capacity)] = true;
            }
        }
        for (int64_t row = 0; row < s.capacity; ++row) {
            if (!is_seen[sizeOf(row)]) {
                std::memset(rows.data() + sizeOf(row) * bytes, 0xff, bytes);
            }
        }
        return rows;
    }

    void computeRow(int64_t row) {
        std::vector<float> x(x_.data() + row * s.hidden, x_.data() + (row + 1) * s.hidden);
        std::vector<std::vector<float>> left{{}}; // the first step takes x alone
        for (const auto& [is_attention, index] : order_) {
            if (is_attention) {
                left = {attended(index, row, left)};
            } else {
                left = projected(projections_[index], row, x, left[0]);
                if (index == 0) {
                    want_first_.push_back(left[0]);
                }
            }
            if (left.empty()) {
                return;
            }
        }
        want_logits_.push_back(left[0]);
    }

    std::vector<std::vector<float>> projected(const Projection& p,
                                              int64_t row,
                                              std::vector<float>& x,
                                              const std::vector<float>& before) const {
        const auto cols = static_cast<int64_t>(p.args.w[0].cols);
        const auto& ops = reference();
        std::vector<float> h = p.args.input == Input::Plain ? before : x;
        if (p.args.t != nullptr) {
            addResidual(p.args, before.data(), h);
            x = h;
        }
        if (p.args.norm.data != nullptr) {
            ops.rms_norm({}, {h.data(), 1, cols, cols}, p.args.norm, p.args.eps,
                         {h.data(), 1, cols, cols});
        }
        std::vector<std::vector<float>> y;
        for (int i = 0; i < p.args.count; ++i) {
            kernels::WeightView w = p.args.w[i];
            w.expand_type = DType::F32; // as exact as the format is
            y.emplace_back(sizeOf(w.rows));
            ops.linear({}, {h.data(), 1, cols, cols}, w, {y.back().data(), 1, w.rows, w.rows});
        }
        for (const auto& update : p.updates) {
            update->add(h, y[sizeOf(update->lora.weight)]);
        }
        const auto outputs = static_cast<int64_t>(y[0].size());
        if (p.args.output != Output::Store) {
            const float* const other = p.args.output == Output::GatedPair
                                           ? y[1].data()
                                           : p.args.multiply + row * p.args.multiply_stride;
            ops.gated_mul({}, p.args.activation, {y[0].data(), 1, outputs, outputs},
                          {other, 1, outputs, outputs}, {y[0].data(), 1, outputs, outputs});
        }
        return y;
    }

    std::vector<float>
    attended(size_t index, int64_t row, const std::vector<std::vector<float>>& from) {
        const Attend& a = attends_[index];
        Attend& owner = attends_[a.owner];
        const auto& ops = reference();
        const auto position = static_cast<int32_t>(s.before + row);
        const auto slot = static_cast<int32_t>(position % s.capacity);
        const int64_t width = s.kv_heads * s.dim;
        const auto turned = [&](std::vector<float> rows, int64_t count, MatView norm, bool turns) {
            if (turns ? norm.data != nullptr : a.args.norms_values) {
                ops.rms_norm({}, {rows.data(), count, s.dim, s.dim}, norm, a.args.eps,
                             {rows.data(), count, s.dim, s.dim});
            }
            if (turns) {
                ops.rope({}, {rows.data(), 1, count * s.dim, count * s.dim}, s.dim, 0, s.dim,
                         &position, a.args.inv_freq);
            }
            return rows;
        };
        const std::vector<float> q = turned(from[0], s.heads, a.args.q_norm, true);
        if (a.args.k != nullptr) {
            const std::vector<float> k = turned(from[1], s.kv_heads, a.args.k_norm, true);
            const std::vector<float> v = turned(from[s.k_is_v ? 1 : 2], s.kv_heads, {}, false);
            ops.store_rows({}, {k.data(), 1, width, width}, &slot, s.kv_type, s.kv_heads,
                           owner.want_k.data(), s.capacity);
            ops.store_rows({}, {v.data(), 1, width, width}, &slot, s.kv_type, s.kv_heads,
                           owner.want_v.data(), s.capacity);
        }
        // Keys of the window alone, each in its place of the ring.
        std::vector<int32_t> positions(sizeOf(s.capacity), -1);
        for (int32_t p = 0; p <= position; ++p) {
            positions[sizeOf(p % s.capacity)] = p;
        }
        std::vector<float> out(sizeOf(s.heads * s.dim));
        AttentionArgs args;
        args.q = q.data();
        args.k = owner.want_k.data();
        args.v = owner.want_v.data();
        args.kv_type = s.kv_type;
        args.queries = 1;
        args.keys = std::min<int64_t>(position + 1, s.capacity);
        args.num_heads = s.heads;
        args.num_kv_heads = s.kv_heads;
        args.head_dim = s.dim;
        args.scale = a.args.scale;
        args.mask.window = s.window;
        args.mask.query_position = &position;
        args.mask.key_position = positions.data();
        args.out = out.data();
        ops.attention({}, args);
        return out;
    }

    RowShape s;
    std::deque<Projection> projections_;
    std::deque<Attend> attends_;
    std::vector<std::pair<bool, size_t>> order_; ///< Attention or not, and which.
    Guarded<float> x_, per_layer_, inv_freq_;
    Guarded<int32_t> numbers_; ///< Position of the first row, rows.
    const float* x_there_ = nullptr;
    const float* left_ = nullptr;
    const float* logits_ = nullptr;
    int64_t layer_ = 0;
    uint64_t seed_ = 1;
    size_t updates_ = 0; ///< Places for one so far.
    std::vector<std::vector<float>> want_logits_, want_first_;
};

} // namespace support
