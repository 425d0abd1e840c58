// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/merged_rows.h"

#include "engine/lora/low_rank_math.h"
#include "engine/lora/tensor_values.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

/// The float nearest to zero side of `value`, with the last bit set when inexact ("round to odd"):
/// rounding that to 16 bits gives what rounding the double would.
float toOdd(double value) {
    auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) {
        return nearest;
    }
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) {
        nearest = std::nextafterf(nearest, 0.0F);
    }
    return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1U);
}

Result<std::vector<float>> factorFloats(const Adapter& adapter, const AdapterTensor& tensor) {
    std::vector<float> values(tensor.size_bytes / tensorTypeSize(tensor.type));
    ENGINE_TRY(adapter.readFloats(tensor, values));
    return values;
}

/// One row of a matrix in an adapter file.
Result<void>
readRow(const Adapter& adapter, const AdapterTensor& tensor, int64_t row, std::span<float> out) {
    const size_t size = tensorTypeSize(tensor.type);
    std::vector<std::byte> bytes(out.size() * size);
    ENGINE_TRY(adapter.readBytes(tensor, static_cast<uint64_t>(row) * bytes.size(), bytes));
    expandToFloats(tensor.type, bytes, out);
    return {};
}

} // namespace

void roundDoubles(TensorType type, std::span<const double> values, std::span<std::byte> out) {
    std::vector<float> floats(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        floats[i] = type == TensorType::F32 ? static_cast<float>(values[i]) : toOdd(values[i]);
    }
    roundFromFloats(type, floats, out);
}

Result<std::unique_ptr<MergedTensorRows>> MergedTensorRows::open(const MergePlan& plan,
                                                                 const TensorSource& base,
                                                                 const TensorInfo& info,
                                                                 bool measure_quantized,
                                                                 std::stop_token stop) {
    auto rows = std::unique_ptr<MergedTensorRows>(new MergedTensorRows(base, info));
    rows->tensor_ = plan.tensor;
    rows->stop_ = std::move(stop);
    int64_t count = 1;
    for (const int64_t d : info.shape) {
        count *= d;
    }
    const bool is_vector = info.shape.size() < 2;
    rows->cols_ = is_vector ? count : info.shape.back();
    rows->rows_ = rows->cols_ == 0 ? 0 : count / rows->cols_;
    ENGINE_TRY(rows->prepare(plan));
    rows->measure_quantized_ = measure_quantized && rows->has_updates_ && info.shape.size() == 2;
    return rows;
}

Result<void> MergedTensorRows::prepare(const MergePlan& plan) {
    // Replacements first, then updates in order, as at run time.
    for (const bool is_replacing : {true, false}) {
        for (const MergePart& part : plan.parts) {
            const bool replaces = part.update == nullptr && part.bias == nullptr;
            if (replaces == is_replacing) {
                parts_.push_back(part);
            }
        }
    }
    const ReadBaseRows read_base = [this](const std::string& /*tensor*/, int64_t first,
                                          int64_t /*count*/, std::span<float> out) {
        return readFloatRange(base_, info_, static_cast<uint64_t>(first * cols_), out);
    };
    for (const MergePart& part : parts_) {
        small_.emplace_back();
        factors_.emplace_back();
        if (part.bias != nullptr) {
            ENGINE_ASSIGN(small_.back(), factorFloats(*part.adapter, *part.bias));
        }
        if (part.update == nullptr) {
            continue;
        }
        has_updates_ = true;
        const LowRankUpdate& u = *part.update;
        Factors& f = factors_.back();
        f.update = &u;
        f.strength = part.strength;
        ENGINE_ASSIGN(std::vector<float> a, factorFloats(*part.adapter, u.a));
        ENGINE_ASSIGN(std::vector<float> b, factorFloats(*part.adapter, u.b));
        if (u.isDora()) {
            ENGINE_ASSIGN(f.g, doraFactors(*part.adapter, u, read_base, stop_));
        }
        if (u.kind == TensorKind::Embedding) {
            f.left = transposed(a, u.rank, u.in);
            f.right = transposed(b, u.out, u.rank);
        } else {
            f.left = orderedB(std::move(b), u);
            f.right = orderedA(std::move(a), u);
        }
    }
    return {};
}

Result<void>
MergedTensorRows::mergeRow(int64_t row, std::span<const float> original, std::span<double> merged) {
    std::copy(original.begin(), original.end(), merged.begin());
    std::vector<float> values(original.size());
    std::vector<double> delta(original.size());
    for (size_t p = 0; p < parts_.size(); ++p) {
        const MergePart& part = parts_[p];
        const double t = part.strength;
        if (part.replacement != nullptr || part.rows != nullptr) {
            if (part.rows != nullptr) {
                const auto& ids = part.rows->ids;
                const auto it = std::find(ids.begin(), ids.end(), row);
                if (it == ids.end()) {
                    continue;
                }
                ENGINE_TRY(readRow(*part.adapter, part.rows->rows, it - ids.begin(), values));
            } else {
                ENGINE_TRY(readRow(*part.adapter, part.replacement->value, row, values));
            }
            for (size_t i = 0; i < values.size(); ++i) {
                merged[i] += t * (static_cast<double>(values[i]) - merged[i]);
                merged[i] = t == 1.0 ? static_cast<double>(values[i]) : merged[i];
            }
            continue;
        }
        if (part.bias != nullptr) {
            for (size_t i = 0; i < merged.size(); ++i) {
                merged[i] += t * part.bias_scaling * static_cast<double>(small_[p][i]);
            }
            continue;
        }
        const Factors& f = factors_[p];
        const auto rank = static_cast<size_t>(f.update->rank);
        std::fill(delta.begin(), delta.end(), 0.0);
        std::span<const float> right = f.right;
        if (f.update->experts > 0) {
            const auto expert = static_cast<size_t>(row / f.update->out);
            right = right.subspan(expert * rank * merged.size(), rank * merged.size());
        }
        addProductRow(std::span(f.left).subspan(static_cast<size_t>(row) * rank, rank), right,
                      f.update->scaling, std::span(delta));
        const bool is_embedding = f.update->kind == TensorKind::Embedding;
        for (size_t i = 0; i < merged.size(); ++i) {
            double g = 1.0;
            if (!f.g.empty()) {
                g = static_cast<double>(f.g[is_embedding ? i : static_cast<size_t>(row)]);
            }
            merged[i] += t * ((g - 1.0) * merged[i] + g * delta[i]);
        }
    }
    return {};
}

Result<void> MergedTensorRows::fill(uint64_t offset, std::span<std::byte> out) {
    const size_t size = tensorTypeSize(info_.type);
    const auto first = static_cast<int64_t>(offset / size);
    const auto count = static_cast<int64_t>(out.size() / size);
    // Rows at the ends of a piece are worked out twice; pieces are far longer than rows.
    const int64_t first_row = first / cols_;
    const int64_t end_row = (first + count + cols_ - 1) / cols_;
    std::vector<float> row(static_cast<size_t>(cols_));
    std::vector<double> merged(static_cast<size_t>(cols_));
    std::vector<float> original(static_cast<size_t>(count));
    std::vector<double> wanted(static_cast<size_t>(count));
    for (int64_t r = first_row; r < end_row; ++r) {
        if (stop_.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("merging was cancelled")};
        }
        ENGINE_TRY(readFloatRange(base_, info_, static_cast<uint64_t>(r * cols_), row));
        ENGINE_TRY(mergeRow(r, row, merged));
        const int64_t begin = std::max(first, r * cols_);
        const int64_t end = std::min(first + count, (r + 1) * cols_);
        for (int64_t i = begin; i < end; ++i) {
            original[static_cast<size_t>(i - first)] = row[static_cast<size_t>(i - r * cols_)];
            wanted[static_cast<size_t>(i - first)] = merged[static_cast<size_t>(i - r * cols_)];
        }
    }
    roundDoubles(info_.type, wanted, out);
    ENGINE_TRY(measure(original, wanted, out));
    done_elements_ += count;
    return {};
}

Result<void> MergedTensorRows::measure(std::span<const float> original,
                                       std::span<const double> wanted,
                                       std::span<const std::byte> stored) {
    std::vector<float> rounded(original.size());
    expandToFloats(info_.type, stored, rounded);
    for (size_t i = 0; i < rounded.size(); ++i) {
        if (!std::isfinite(rounded[i])) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: merging gives a value that is not finite", tensor_),
                         {{"tensor", tensor_}}};
        }
        const double d = wanted[i] - static_cast<double>(original[i]);
        const double u = static_cast<double>(rounded[i]) - static_cast<double>(original[i]);
        sums_.ud += u * d;
        sums_.dd += d * d;
        sums_.uu += (u - d) * (u - d);
        sums_.largest = std::max(sums_.largest, std::abs(u - d));
    }
    return measure_quantized_ ? measureQuantized(original, wanted, stored) : Result<void>{};
}

Result<void> MergedTensorRows::measureQuantized(std::span<const float> original,
                                                std::span<const double> wanted,
                                                std::span<const std::byte> stored) {
    const size_t n = original.size();
    const size_t blocks = (n + kBlockSize - 1) / kBlockSize;
    struct Packed {
        std::vector<uint8_t> codes;
        std::vector<float> absmax, values;
    };
    const auto pack = [&](TensorType type, std::span<const std::byte> bytes) -> Result<Packed> {
        Packed packed;
        packed.codes.resize((n + 1) / 2);
        packed.absmax.resize(blocks);
        packed.values.resize(n);
        ENGINE_TRY(quantizeValues(tensor_, weightFormat(kFourBitFormat), kBlockSize, type, bytes,
                                  packed.codes.data(), packed.absmax.data()));
        kernels::WeightView view;
        view.data = packed.codes.data();
        view.format = weightFormat(kFourBitFormat);
        view.rows = 1;
        view.cols = static_cast<int64_t>(n);
        view.block_size = kBlockSize;
        view.absmax = packed.absmax.data();
        expandRange(view, 0, static_cast<int64_t>(n), packed.values.data());
        return packed;
    };
    std::vector<std::byte> base_bytes(stored.size());
    roundFromFloats(info_.type, original, base_bytes);
    ENGINE_ASSIGN(const Packed before, pack(info_.type, base_bytes));
    ENGINE_ASSIGN(const Packed after, pack(info_.type, stored));
    // Merging into the 4-bit weights: expand, add, quantize again.
    std::vector<float> direct(n);
    for (size_t i = 0; i < n; ++i) {
        direct[i] = static_cast<float>(static_cast<double>(before.values[i]) + wanted[i] -
                                       static_cast<double>(original[i]));
    }
    std::vector<std::byte> direct_bytes(n * 2);
    roundFromFloats(TensorType::BF16, direct, direct_bytes);
    ENGINE_ASSIGN(const Packed merged_direct, pack(TensorType::BF16, direct_bytes));
    for (size_t i = 0; i < n; ++i) {
        const double d = wanted[i] - static_cast<double>(original[i]);
        const double u =
            static_cast<double>(after.values[i]) - static_cast<double>(before.values[i]);
        sums_.quantized_ud += u * d;
        sums_.quantized_uu += (u - d) * (u - d);
        sums_.direct_ud +=
            (static_cast<double>(merged_direct.values[i]) - static_cast<double>(before.values[i])) *
            d;
        const unsigned shift = i % 2 == 0 ? 4 : 0;
        const unsigned was = (before.codes[i / 2] >> shift) & 15U;
        const unsigned is = (after.codes[i / 2] >> shift) & 15U;
        sums_.changed += was != is ? 1.0 : 0.0;
    }
    sums_.count += static_cast<double>(n);
    return {};
}

MergedTensor MergedTensorRows::result() const {
    MergedTensor out;
    out.tensor = tensor_;
    out.delta_norm = std::sqrt(sums_.dd);
    out.max_deviation = sums_.largest;
    // A delta of zero is kept whole.
    out.kept = sums_.dd > 0 ? sums_.ud / sums_.dd : 1.0;
    out.error = sums_.dd > 0 ? std::sqrt(sums_.uu / sums_.dd) : 0.0;
    if (measure_quantized_ && sums_.dd > 0) {
        out.has_quantized = true;
        out.quantized_kept = sums_.quantized_ud / sums_.dd;
        out.quantized_error = std::sqrt(sums_.quantized_uu / sums_.dd);
        out.quantized_changed_codes = sums_.changed / std::max(sums_.count, 1.0);
        out.quantized_direct_kept = sums_.direct_ud / sums_.dd;
    }
    return out;
}

} // namespace engine
