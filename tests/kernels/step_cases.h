// SPDX-License-Identifier: Apache-2.0
// Decode steps with their operands and what the scalar table makes of them, for tests of fused
// kernels. Operands end at a page that nobody may touch.
#pragma once

#include "tests/kernels/kernel_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace support {

using kernels::AttendStepArgs;
using kernels::AttentionArgs;
using kernels::DType;
using kernels::KvType;
using kernels::MatView;
using kernels::ProjectArgs;
using kernels::ProjectLora;
using kernels::WeightFormat;

/// fp16 products of scaled rows: as tests/gpu asks of a card.
inline constexpr double kProjectBound = 4e-3;
inline constexpr double kResidualBound = 1e-6;
inline constexpr double kAttendBound = 2e-5;

inline const kernels::OpTable& reference() {
    return kernels::cpuScalarOps();
}

inline double relativeError(const float* got, const std::vector<float>& want) {
    double error = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
        if (std::isnan(d)) {
            return INFINITY;
        }
        error += d * d;
        norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    }
    return std::sqrt(error / (norm > 0 ? norm : 1));
}

/// take(data, bytes) of each of these, as far as there is any.
template <typename Take, typename... Values>
void takeAll(const Take& take, const Values&... values) {
    (take(static_cast<void*>(values.data()), values.size() * sizeof(*values.data())), ...);
}
template <typename Take>
void takeAll(const Take& take, const TestWeight& w) {
    takeAll(take, w.bytes, w.scales, w.scale_codes, w.nested_absmax, w.nested_code);
}

/// A low-rank update of one weight of a step.
struct Update {
    Guarded<uint8_t> a_bytes, b_bytes;
    Guarded<float> factor;
    ProjectLora lora;

    Update(int weight, int64_t in, int64_t out, int64_t rank, DType type, uint64_t seed) {
        a_bytes = stored(randomFloats(rank * in, seed, 0.1F), type);
        b_bytes = stored(randomFloats(out * rank, seed + 1, 0.1F), type);
        factor = Guarded<float>(1);
        factor[0] = 0.75F;
        lora = {weight,
                {a_bytes.data(), type, rank, in},
                {b_bytes.data(), type, out, rank},
                factor.data()};
    }
    void add(const std::vector<float>& h, std::vector<float>& y) const {
        const auto in = static_cast<int64_t>(h.size());
        const auto out = static_cast<int64_t>(y.size());
        std::vector<float> scratch(sizeOf(lora.a.rows));
        reference().lora_accumulate({}, {h.data(), 1, in, in}, lora.a, lora.b, {}, factor[0],
                                    {scratch.data(), 1, lora.a.rows, lora.a.rows},
                                    {y.data(), 1, out, out});
    }
};

/// x = (x + t, behind its norm where there is one) * scalar.
inline void addResidual(const ProjectArgs& args, const float* t, std::vector<float>& x) {
    const auto cols = static_cast<int64_t>(x.size());
    const kernels::MutF32 row{x.data(), 1, cols, cols};
    if (args.t_norm.data != nullptr) {
        reference().rms_norm_add({}, {t, 1, cols, cols}, args.t_norm, args.eps, 1.0F, row);
    } else {
        reference().add_scaled({}, {t, 1, cols, cols}, 1.0F, row);
    }
    reference().scale({}, row, args.scalar);
}

/// The step of a recipe with SiLU and without norms behind branches.
inline void makePlain(ProjectArgs& args) {
    args.activation = kernels::Activation::Silu;
    args.t_norm = {};
}
/// The step of a recipe without norms of heads.
inline void makePlain(AttendStepArgs& args) {
    args.q_norm = {};
    args.k_norm = {};
    args.norms_values = false;
}

/// A projection step with its operands.
struct ProjectCase {
    std::vector<std::unique_ptr<Update>> updates; ///< Those of one weight follow each other.
    std::vector<TestWeight> weights;
    Guarded<float> x, t, t_norm, norm, multiply, x_out;
    std::vector<Guarded<float>> y;
    ProjectArgs args;
    std::vector<std::vector<float>> want;
    std::vector<float> want_residual;

    ProjectCase(WeightFormat format,
                bool is_nested,
                int32_t block,
                int64_t cols,
                const std::vector<int64_t>& rows,
                ProjectArgs::Input input,
                ProjectArgs::Output output,
                uint64_t seed = 1) {
        using Input = ProjectArgs::Input;
        using Output = ProjectArgs::Output;
        x = randomFloats(cols, seed + 10);
        t = randomFloats(cols, seed + 11, 3.0F);
        t_norm = randomFloats(cols, seed + 12);
        norm = randomFloats(cols, seed + 13);
        x_out = Guarded<float>(sizeOf(cols));
        args.input = input;
        args.output = output;
        args.x = x.data();
        args.scalar = 0.7F;
        args.count = static_cast<int>(rows.size());
        const bool has_residual = input == Input::ResidualNorm || input == Input::Residual;
        if (has_residual) {
            args.t = t.data();
            args.t_norm = {t_norm.data(), DType::F32, 1, cols};
            args.x_out = x_out.data();
        }
        if (input == Input::Norm || input == Input::ResidualNorm) {
            args.norm = {norm.data(), DType::F32, 1, cols};
        }
        for (size_t i = 0; i < rows.size(); ++i) {
            weights.push_back(
                makeWeight(format, rows[i], cols, block, is_nested, DType::BF16, seed + i));
            args.w[i] = weights.back().view;
            y.emplace_back(sizeOf(rows[i]));
            std::fill_n(y.back().data(), y.back().size(), NAN);
            args.y[i] = y.back().data();
        }
        multiply = randomFloats(rows[0], seed + 14);
        if (output == Output::GatedMultiply) {
            args.multiply = multiply.data();
        }
        compute();
    }

    /// Takes its input from `there`, where a step before leaves `values`.
    void readFrom(const float* there, const std::vector<float>& values) {
        std::copy(values.begin(), values.end(), x.data());
        compute();
        args.x = there;
    }

    void compute() {
        const int64_t cols = args.w[0].cols;
        const int64_t first = args.w[0].rows;
        using Input = ProjectArgs::Input;
        using Output = ProjectArgs::Output;
        want.clear();
        std::vector<float> h = x.values();
        if (args.t != nullptr) {
            addResidual(args, t.data(), h);
            want_residual = h;
        }
        if (args.input == Input::Norm || args.input == Input::ResidualNorm) {
            reference().rms_norm({}, {h.data(), 1, cols, cols}, args.norm, args.eps,
                                 {h.data(), 1, cols, cols});
        }
        for (int i = 0; i < args.count; ++i) {
            const int64_t rows = args.w[i].rows;
            want.emplace_back(sizeOf(rows));
            reference().linear({}, {h.data(), 1, cols, cols}, args.w[i],
                               {want.back().data(), 1, rows, rows});
        }
        for (const auto& update : updates) {
            update->add(h, want[sizeOf(update->lora.weight)]);
        }
        if (args.output != Output::Store) {
            const float* other =
                args.output == Output::GatedPair ? want[1].data() : multiply.data();
            reference().gated_mul({}, args.activation, {want[0].data(), 1, first, first},
                                  {other, 1, first, first}, {want[0].data(), 1, first, first});
            want.resize(1);
        }
    }

    /// Before compute().
    void addUpdate(int weight, int64_t rank, DType type, uint64_t seed) {
        updates.push_back(std::make_unique<Update>(weight, args.w[weight].cols, args.w[weight].rows,
                                                   rank, type, seed));
        args.lora[args.lora_count++] = updates.back()->lora;
    }

    /// Largest of the outputs' errors; `residual` beside it.
    [[nodiscard]] double error(double* residual) const {
        double largest = 0.0;
        for (size_t i = 0; i < want.size(); ++i) {
            largest = std::max(largest, relativeError(y[i].data(), want[i]));
        }
        *residual = residualError();
        return largest;
    }
    [[nodiscard]] double residualError() const {
        return want_residual.empty() ? 0.0 : relativeError(x_out.data(), want_residual);
    }
    template <typename Take>
    void eachOperand(const Take& take) const {
        takeAll(take, x, t, t_norm, norm, multiply, x_out);
        for (size_t i = 0; i < weights.size(); ++i) {
            takeAll(take, y[i]);
            takeAll(take, weights[i]);
        }
        for (const auto& update : updates) {
            takeAll(take, update->a_bytes, update->b_bytes, update->factor);
        }
    }
};

/// An attention step with its operands: `size` tokens so far in a ring of `capacity` rows.
struct AttendCase {
    Guarded<float> q, k, v, q_norm, k_norm, inv_freq, out;
    Guarded<uint8_t> cache_k, cache_v;
    Guarded<int32_t> positions, numbers;
    AttendStepArgs args;
    std::vector<float> want;
    std::vector<uint8_t> want_k, want_v;

    AttendCase(int64_t heads,
               int64_t kv,
               int64_t dim,
               int64_t size,
               int64_t capacity,
               int64_t window,
               bool is_owner,
               uint64_t seed = 1,
               KvType type = KvType::BF16) {
        const int64_t width = kv * dim;
        q = randomFloats(heads * dim, seed);
        k = randomFloats(width, seed + 1);
        v = randomFloats(width, seed + 2);
        q_norm = randomFloats(dim, seed + 3);
        k_norm = randomFloats(dim, seed + 4, 0.3F);
        cache_k = storedRows(randomFloats(capacity * width, seed + 5), type, kv, dim);
        cache_v = storedRows(randomFloats(capacity * width, seed + 6), type, kv, dim);
        out = Guarded<float>(sizeOf(heads * dim));
        std::fill_n(out.data(), out.size(), NAN);
        inv_freq = Guarded<float>(sizeOf(dim / 2));
        for (size_t i = 0; i < inv_freq.size(); ++i) {
            inv_freq[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(dim)));
        }
        positions = Guarded<int32_t>(sizeOf(capacity));
        std::fill_n(positions.data(), positions.size(), -1);
        for (int64_t p = 0; p < size; ++p) {
            positions[sizeOf(p % capacity)] = static_cast<int32_t>(p);
        }
        // Rows that nobody wrote may hold anything.
        for (int64_t row = std::min(size, capacity); row < capacity; ++row) {
            const size_t bytes = sizeOf(kernels::kvRowBytes(type, kv, dim));
            std::memset(cache_k.data() + sizeOf(row) * bytes, 0xff, bytes);
            std::memset(cache_v.data() + sizeOf(row) * bytes, 0xff, bytes);
        }
        numbers = Guarded<int32_t>(3);
        numbers[0] = static_cast<int32_t>(size - 1);
        numbers[1] = static_cast<int32_t>((size - 1) % capacity);
        numbers[2] = static_cast<int32_t>(std::min(size, capacity));
        args.q = q.data();
        args.k = is_owner ? k.data() : nullptr;
        args.v = is_owner ? v.data() : nullptr;
        args.q_norm = {q_norm.data(), DType::F32, 1, dim};
        args.k_norm = {k_norm.data(), DType::F32, 1, dim};
        args.inv_freq = inv_freq.data();
        args.position = numbers.data();
        args.slot = numbers.data() + 1;
        args.key_count = numbers.data() + 2;
        args.key_position = positions.data();
        args.cache_k = cache_k.data();
        args.cache_v = cache_v.data();
        args.kv_type = type;
        args.capacity = capacity;
        args.num_heads = heads;
        args.num_kv_heads = kv;
        args.head_dim = dim;
        args.window = window;
        args.out = out.data();
        compute(q.values(), k.values(), v.values());
    }

    /// The reference from raw projections.
    void compute(std::vector<float> qh, std::vector<float> kh, std::vector<float> vh) {
        const int64_t dim = args.head_dim;
        const int64_t heads = args.num_heads;
        const int64_t kv = args.num_kv_heads;
        const int64_t width = kv * dim;
        const auto prepare = [&](std::vector<float>& rows, int64_t count, MatView norm,
                                 bool turns) {
            if (turns ? norm.data != nullptr : args.norms_values) {
                reference().rms_norm({}, {rows.data(), count, dim, dim}, norm, args.eps,
                                     {rows.data(), count, dim, dim});
            }
            if (turns) {
                reference().rope({}, {rows.data(), 1, count * dim, count * dim}, dim, 0, dim,
                                 args.position, args.inv_freq);
            }
        };
        want_k = cache_k.values();
        want_v = cache_v.values();
        prepare(qh, heads, args.q_norm, true);
        if (args.k != nullptr) {
            prepare(kh, kv, args.k_norm, true);
            prepare(vh, kv, {}, false);
            reference().store_rows({}, {kh.data(), 1, width, width}, args.slot, args.kv_type, kv,
                                   want_k.data(), args.capacity);
            reference().store_rows({}, {vh.data(), 1, width, width}, args.slot, args.kv_type, kv,
                                   want_v.data(), args.capacity);
        }
        want.resize(sizeOf(heads * dim));
        AttentionArgs a;
        a.q = qh.data();
        a.k = want_k.data();
        a.v = want_v.data();
        a.kv_type = args.kv_type;
        a.queries = 1;
        a.keys = *args.key_count;
        a.num_heads = heads;
        a.num_kv_heads = kv;
        a.head_dim = dim;
        a.scale = args.scale;
        a.mask.window = args.window;
        a.mask.query_position = args.position;
        a.mask.key_position = args.key_position;
        a.out = want.data();
        reference().attention({}, a);
    }

    /// Takes its projections from where a step before leaves them.
    void readFrom(const float* q_there,
                  const std::vector<float>& q_values,
                  const float* k_there,
                  const std::vector<float>& k_values,
                  const float* v_there,
                  const std::vector<float>& v_values) {
        compute(q_values, k_values, v_values);
        args.q = q_there;
        args.k = k_there;
        args.v = v_there;
    }

    template <typename Take>
    void eachOperand(const Take& take) const {
        takeAll(take, q, k, v, q_norm, k_norm, inv_freq, out, cache_k, cache_v, positions, numbers);
    }

    /// Largest distance of the stored row from what was expected, relative to the row.
    [[nodiscard]] double distantRows() const {
        double worst = 0.0;
        for (const auto& [got, expected] : {std::pair{&cache_k, &want_k}, {&cache_v, &want_v}}) {
            const std::vector<float> a = newRow(*got);
            worst = std::max(worst, relativeError(a.data(), newRow(*expected)));
        }
        return worst;
    }

    /// bf16 values of the caches that are more than one unit in the last place away; of codes the
    /// bytes of other rows, and where the new one is more than a step away.
    [[nodiscard]] int wrongRows() const {
        int wrong = 0;
        for (const auto& [got, expected] : {std::pair{&cache_k, &want_k}, {&cache_v, &want_v}}) {
            if (kernels::hasScales(args.kv_type)) {
                const size_t row = expected->size() / sizeOf(args.capacity);
                for (size_t i = 0; i < expected->size(); ++i) {
                    wrong += i / row != sizeOf(*args.slot) && (*got)[i] != (*expected)[i] ? 1 : 0;
                }
                wrong += stepsAway(newRow(*got), newRow(*expected));
                continue;
            }
            for (size_t i = 0; i < expected->size(); i += 2) {
                uint16_t a = 0;
                uint16_t b = 0;
                std::memcpy(&a, got->data() + i, 2);
                std::memcpy(&b, expected->data() + i, 2);
                wrong += std::abs(static_cast<int>(a) - static_cast<int>(b)) > 1 ? 1 : 0;
            }
        }
        return wrong;
    }

private:
    template <typename Bytes>
    [[nodiscard]] std::vector<float> newRow(const Bytes& rows) const {
        const int64_t bytes = kernels::kvRowBytes(args.kv_type, args.num_kv_heads, args.head_dim);
        return rowValues(rows.data() + *args.slot * bytes, args.kv_type, args.num_kv_heads,
                         args.head_dim, 1);
    }
    /// Values that are more than a step of a head of 127 away.
    [[nodiscard]] int stepsAway(const std::vector<float>& got,
                                const std::vector<float>& expected) const {
        int away = 0;
        for (size_t i = 0; i < expected.size(); i += sizeOf(args.head_dim)) {
            float largest = 0.0F;
            for (size_t d = i; d < i + sizeOf(args.head_dim); ++d) {
                largest = std::max(largest, std::abs(expected[d]));
            }
            for (size_t d = i; d < i + sizeOf(args.head_dim); ++d) {
                away += std::abs(got[d] - expected[d]) <= 1.01F * largest / 127.0F ? 0 : 1;
            }
        }
        return away;
    }
};

} // namespace support
