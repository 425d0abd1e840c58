// SPDX-License-Identifier: Apache-2.0
// Products of many rows with low-rank updates and bounds, with their operands and what the scalar
// table makes of them.
#pragma once

#include "tests/kernels/step_cases.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace support {

struct ProductCase {
    using Output = kernels::ProductArgs::Output;
    /// (weight, rank) of each.
    using Ranks = std::vector<std::pair<int, int>>;

    ProductCase(WeightFormat format,
                bool is_nested,
                Output output,
                int64_t rows,
                int64_t in,
                const std::vector<int64_t>& outs,
                const Ranks& ranks,
                DType type,
                bool is_bounded)
        : rows_(rows), in_(in) {
        x = Guarded<uint16_t>(sizeOf(rows * in));
        const Guarded<float> values = randomFloats(rows * in, 1);
        for (size_t i = 0; i < x.size(); ++i) {
            x[i] = kernels::cpu::floatToBf16(values[i]);
        }
        args.output = output;
        args.activation = is_nested ? kernels::Activation::GeluTanh : kernels::Activation::Silu;
        args.x = x.data();
        args.rows = rows;
        args.count = static_cast<int>(outs.size());
        multiply = randomFloats(rows * outs[0], 2);
        args.multiply = {multiply.data(), rows, outs[0], outs[0]};
        for (size_t i = 0; i < outs.size(); ++i) {
            weights.push_back(makeWeight(format, outs[i], in, 64, is_nested, DType::BF16, 10 + i));
            args.w[i] = weights.back().view;
            if (is_bounded) { // other bounds for each weight; exact in bf16
                const auto n = static_cast<float>(i);
                args.bounds[i] = {-0.5F - n, 0.75F + n, -4.0F * (n + 1), 6.0F + n};
            }
        }
        for (const auto& [weight, rank] : ranks) {
            const auto seed = static_cast<uint64_t>(100 + 2 * args.update_count);
            updates.push_back(std::make_unique<Update>(
                weight, in, outs[static_cast<size_t>(weight)], rank, type, seed));
            Update& update = *updates.back();
            // About as large as the product without it.
            update.a_bytes = stored(randomFloats(rank * in, seed, 0.5F), type);
            update.b_bytes = stored(randomFloats(update.lora.b.rows * rank, seed + 1,
                                                 1.5F / std::sqrt(static_cast<float>(rank))),
                                    type);
            update.lora.a.data = update.a_bytes.data();
            update.lora.b.data = update.b_bytes.data();
            args.updates[args.update_count++] = update.lora;
        }
    }

    struct Variant {
        int left_out = -1; ///< This update.
        bool has_factors = true;
        bool has_input_bounds = true; ///< For the updates.
    };
    /// Results of all weights one behind the other.
    [[nodiscard]] std::vector<float> want(const Variant& variant) const {
        std::vector<std::vector<float>> y;
        std::vector<float> values(sizeOf(rows_ * in_));
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = kernels::cpu::bf16ToFloat(x[i]);
        }
        for (int i = 0; i < args.count; ++i) {
            const int64_t out = args.w[i].rows;
            const kernels::ProductArgs::Bounds& bounds = args.bounds[i];
            std::vector<float> inside(values.size());
            const kernels::MutF32 bounded{inside.data(), rows_, in_, in_};
            reference().clamp({}, {values.data(), rows_, in_, in_}, bounds.in_low, bounds.in_high,
                              bounded);
            y.emplace_back(sizeOf(rows_ * out));
            const kernels::MutF32 to{y.back().data(), rows_, out, out};
            reference().linear({}, bounded, args.w[i], to);
            for (int u = 0; u < args.update_count; ++u) {
                const kernels::ProjectLora& update = args.updates[u];
                if (update.weight != i || u == variant.left_out) {
                    continue;
                }
                std::vector<float> scratch(sizeOf(rows_ * update.a.rows));
                reference().lora_accumulate(
                    {}, {variant.has_input_bounds ? inside.data() : values.data(), rows_, in_, in_},
                    update.a, update.b, {}, variant.has_factors ? *update.factor : 1.0F,
                    {scratch.data(), rows_, update.a.rows, update.a.rows}, to);
            }
            reference().clamp({}, to, bounds.out_low, bounds.out_high, to);
        }
        const int64_t out = args.w[0].rows;
        if (args.output != Output::Store) {
            const float* const other =
                args.output == Output::GatedPair ? y[1].data() : multiply.data();
            const kernels::MutF32 first{y[0].data(), rows_, out, out};
            reference().gated_mul({}, args.activation, first, {other, rows_, out, out}, first);
            y.resize(1);
        }
        std::vector<float> all;
        for (const std::vector<float>& one : y) {
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }

    /// Room for results in `parts` parts.
    void makeRoom(int parts) {
        args.parts = parts;
        sums_.clear();
        halves_ = Guarded<uint16_t>(sizeOf(rows_ * args.w[0].rows));
        std::fill_n(halves_.data(), halves_.size(), uint16_t{0x7fc0});
        for (int i = 0; i < args.count; ++i) {
            sums_.emplace_back(sizeOf(rows_ * args.w[i].rows * parts));
            args.y[i] = sums_.back().data();
        }
        if (args.output != Output::Store) {
            args.y[0] = halves_.data();
            args.y[1] = nullptr;
        }
    }

    /// What is there: of all weights one behind the other, the sums of their parts.
    [[nodiscard]] std::vector<float> results() const {
        std::vector<float> got;
        if (args.output != Output::Store) {
            for (size_t i = 0; i < halves_.size(); ++i) {
                got.push_back(kernels::cpu::bf16ToFloat(halves_[i]));
            }
            return got;
        }
        for (int i = 0; i < args.count; ++i) {
            const size_t size = sizeOf(rows_ * args.w[i].rows);
            std::vector<float> one(size, 0.0F);
            for (size_t e = 0; e < size * sizeOf(args.parts); ++e) {
                one[e % size] += sums_[static_cast<size_t>(i)][e];
            }
            got.insert(got.end(), one.begin(), one.end());
        }
        return got;
    }

    /// Largest of the weights' relative errors.
    [[nodiscard]] double error() const {
        const std::vector<float> got = results();
        const std::vector<float> expected = want({});
        double largest = 0.0;
        size_t at = 0;
        for (int i = 0; at < expected.size(); ++i) {
            const size_t size = sizeOf(rows_ * args.w[i].rows);
            const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(at);
            largest = std::max(
                largest,
                relativeError(got.data() + at, {begin, begin + static_cast<std::ptrdiff_t>(size)}));
            at += size;
        }
        return largest;
    }

    template <typename Take>
    void eachOperand(const Take& take) const {
        takeAll(take, x, multiply, halves_);
        for (const Guarded<float>& one : sums_) {
            takeAll(take, one);
        }
        for (const TestWeight& w : weights) {
            takeAll(take, w);
        }
        for (const auto& update : updates) {
            takeAll(take, update->a_bytes, update->b_bytes, update->factor);
        }
    }

    Guarded<uint16_t> x;
    Guarded<float> multiply;
    std::vector<TestWeight> weights;
    std::vector<std::unique_ptr<Update>> updates;
    kernels::ProductArgs args;

private:
    int64_t rows_, in_;
    std::vector<Guarded<float>> sums_;
    Guarded<uint16_t> halves_;
};

} // namespace support
