// SPDX-License-Identifier: Apache-2.0
// One merged tensor, row by row in double: W' = W with replaced values, rows and all updates in
// order (the formulas of adapter_runtime.h as a matrix), and the statistics of what survives
// rounding.
#pragma once

#include "engine/lora/merge.h"
#include "engine/lora/placed_adapter.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// What one adapter does to one tensor.
struct MergePart {
    const Adapter* adapter = nullptr;
    double strength = 1.0;
    const LowRankUpdate* update = nullptr;
    const RowReplacement* rows = nullptr;
    const TensorReplacement* replacement = nullptr;
    const AdapterTensor* bias = nullptr; ///< bias of B, onto a base bias
    double bias_scaling = 0.0;
};

/// All parts that touch one base tensor, in order.
struct MergePlan {
    std::string tensor; ///< canonical
    std::vector<MergePart> parts;
};

class MergedTensorRows {
public:
    /// `rows`, `cols`: the tensor with leading dimensions folded (vectors: one row).
    static Result<std::unique_ptr<MergedTensorRows>> open(const MergePlan& plan,
                                                          const TensorSource& base,
                                                          const TensorInfo& info,
                                                          bool measure_quantized,
                                                          std::stop_token stop);

    /// Bytes [offset, offset + out.size()) of the merged tensor in the base's type; pieces come in
    /// ascending order and cover the tensor once.
    Result<void> fill(uint64_t offset, std::span<std::byte> out);
    [[nodiscard]] bool isComplete() const { return done_elements_ == rows_ * cols_; }
    /// Valid once complete.
    [[nodiscard]] MergedTensor result() const;
    [[nodiscard]] bool hasUpdates() const { return has_updates_; }

private:
    /// Factors of one update, expanded.
    struct Factors {
        const LowRankUpdate* update = nullptr;
        double strength = 1.0;
        std::vector<float> left;  ///< [rows, rank]: one row of factors per row of the tensor.
        std::vector<float> right; ///< [rank, cols], experts: [experts, rank, cols].
        std::vector<float> g;     ///< DoRA: per row, or per column for embeddings.
    };

    MergedTensorRows(const TensorSource& base, const TensorInfo& info) : base_(base), info_(info) {}
    Result<void> prepare(const MergePlan& plan);
    Result<void> mergeRow(int64_t row, std::span<const float> original, std::span<double> merged);
    Result<void> measure(std::span<const float> original,
                         std::span<const double> wanted,
                         std::span<const std::byte> stored);
    Result<void> measureQuantized(std::span<const float> original,
                                  std::span<const double> wanted,
                                  std::span<const std::byte> stored);

    const TensorSource& base_;
    const TensorInfo& info_;
    std::string tensor_;
    int64_t rows_ = 0, cols_ = 0, done_elements_ = 0;
    bool measure_quantized_ = false, has_updates_ = false;
    std::stop_token stop_;
    std::vector<MergePart> parts_;
    std::vector<Factors> factors_;
    std::vector<std::vector<float>> small_; ///< Values of bias parts, parallel to parts_.

    struct Sums {
        double ud = 0, uu = 0, dd = 0, largest = 0;
        double quantized_ud = 0, quantized_uu = 0, direct_ud = 0, changed = 0, count = 0;
    } sums_;
};

/// Round to nearest even from double, without a second rounding in fp32.
void roundDoubles(TensorType type, std::span<const double> values, std::span<std::byte> out);

} // namespace engine
