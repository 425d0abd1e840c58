// SPDX-License-Identifier: Apache-2.0
// Loading: the index must have no errors, every value must be finite, the norms of the updates are
// taken on the way.
#include "engine/lora/adapter.h"

#include "engine/base/paths.h"
#include "engine/lora/adapter_index.h"
#include "engine/lora/beside_adapter.h"
#include "engine/lora/low_rank_math.h"
#include "engine/lora/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace engine {

Result<void>
Adapter::readBytes(const AdapterTensor& tensor, uint64_t offset, std::span<std::byte> out) const {
    if (!tensor.present) {
        return Error{ErrorCode::Internal, name_ + ": a tensor that the adapter does not have"};
    }
    const TensorInfo& info = source_->tensors()[static_cast<size_t>(tensor.source_index)];
    return source_->read(info, offset, out);
}

Result<void> Adapter::readFloats(const AdapterTensor& tensor, std::span<float> out) const {
    if (!tensor.present) {
        return Error{ErrorCode::Internal, name_ + ": a tensor that the adapter does not have"};
    }
    const TensorInfo& info = source_->tensors()[static_cast<size_t>(tensor.source_index)];
    return readFloatRange(*source_, info, 0, out);
}

/// Builds adapters; the only code that fills one.
struct AdapterBuilder {
    static Result<std::shared_ptr<const Adapter>>
    build(const std::filesystem::path& folder, AdapterIndex index, const AdapterOptions& options) {
        auto adapter = std::shared_ptr<Adapter>(new Adapter());
        adapter->folder_ = folder;
        const std::filesystem::path leaf =
            folder.has_filename() ? folder.filename() : folder.parent_path().filename();
        adapter->name_ = utf8Of(leaf);
        adapter->config_ = std::move(index.config);
        adapter->updates_ = std::move(index.updates);
        adapter->rows_ = std::move(index.rows);
        adapter->replaced_ = std::move(index.replacements);
        adapter->coverage_ = std::move(index.coverage);
        adapter->footprint_ = std::move(index.footprint);
        adapter->source_ = std::move(index.source);
        ENGINE_TRY(checkValues(*adapter, options.stop));
        if (options.model != nullptr && !adapter->config_.is_told_by_file) {
            BesideAdapter beside = readBesideAdapter(folder, *options.model);
            adapter->chat_template_ = std::move(beside.chat_template);
            std::move(beside.notes.begin(), beside.notes.end(),
                      std::back_inserter(adapter->coverage_.notes));
        }
        return std::shared_ptr<const Adapter>(std::move(adapter));
    }

private:
    static Error notFinite(const Adapter& adapter, const AdapterTensor& tensor, size_t element) {
        const std::string& file = adapter.source_->fileNames().front();
        return Error{ErrorCode::InvalidFile,
                     said("%1: %2: element %3 is not a finite number; the adapter is damaged or "
                          "training diverged",
                          file, tensor.key, element),
                     {{"file", file}, {"tensor", tensor.key}}};
    }

    /// All values of one tensor, finite.
    static Result<std::vector<float>> finiteValues(const Adapter& adapter,
                                                   const AdapterTensor& tensor) {
        std::vector<float> values(tensor.size_bytes / tensorTypeSize(tensor.type));
        ENGINE_TRY(adapter.readFloats(tensor, values));
        ENGINE_TRY(checkFinite(adapter, tensor, values, 0));
        return values;
    }

    static Result<void> checkFinite(const Adapter& adapter,
                                    const AdapterTensor& tensor,
                                    std::span<const float> values,
                                    uint64_t first) {
        const auto bad = std::find_if_not(values.begin(), values.end(),
                                          [](float value) { return std::isfinite(value); });
        if (bad != values.end()) {
            return notFinite(adapter, tensor, first + static_cast<size_t>(bad - values.begin()));
        }
        return {};
    }

    /// Large tables in pieces.
    static Result<void>
    checkLarge(const Adapter& adapter, const AdapterTensor& tensor, const std::stop_token& stop) {
        constexpr uint64_t kPiece = uint64_t{1} << 20;
        const TensorInfo& info =
            adapter.source_->tensors()[static_cast<size_t>(tensor.source_index)];
        const uint64_t count = tensor.size_bytes / tensorTypeSize(tensor.type);
        std::vector<float> values(static_cast<size_t>(std::min(kPiece, count)));
        for (uint64_t first = 0; first < count; first += kPiece) {
            if (stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, said("loading the adapter was cancelled")};
            }
            const auto n = static_cast<size_t>(std::min(kPiece, count - first));
            ENGINE_TRY(readFloatRange(*adapter.source_, info, first, std::span(values).first(n)));
            ENGINE_TRY(checkFinite(adapter, tensor, std::span(values).first(n), first));
        }
        return {};
    }

    static Result<void> checkValues(Adapter& adapter, const std::stop_token& stop) {
        for (const LowRankUpdate& update : adapter.updates_) {
            if (stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, said("loading the adapter was cancelled")};
            }
            ENGINE_ASSIGN(const std::vector<float> a, finiteValues(adapter, update.a));
            ENGINE_ASSIGN(const std::vector<float> b, finiteValues(adapter, update.b));
            for (const AdapterTensor* extra : {&update.b_bias, &update.magnitude}) {
                if (extra->present) {
                    ENGINE_TRY(checkLarge(adapter, *extra, stop));
                }
            }
            adapter.coverage_.norms.push_back(
                {update.tensor, std::abs(update.scaling) * productNorm(a, b, update)});
        }
        for (const RowReplacement& rows : adapter.rows_) {
            ENGINE_TRY(checkLarge(adapter, rows.rows, stop));
        }
        for (const TensorReplacement& replacement : adapter.replaced_) {
            ENGINE_TRY(checkLarge(adapter, replacement.value, stop));
        }
        return {};
    }
};

Result<std::shared_ptr<const Adapter>> loadAdapter(const std::filesystem::path& folder,
                                                   const ModelConfig& model,
                                                   const std::vector<ExpectedTensor>& tensors,
                                                   const AdapterOptions& options) {
    ENGINE_ASSIGN(AdapterIndex index, indexAdapter(folder, model, tensors, options));
    if (index.refusal) {
        return std::move(*index.refusal);
    }
    return AdapterBuilder::build(folder, std::move(index), options);
}

Result<AdapterProbe> probeAdapter(const std::filesystem::path& folder,
                                  const ModelConfig& model,
                                  const std::vector<ExpectedTensor>& tensors,
                                  const AdapterOptions& options) {
    ENGINE_ASSIGN(AdapterIndex index, indexAdapter(folder, model, tensors, options));
    if (index.refusal && index.coverage.errors == 0) {
        return std::move(*index.refusal);
    }
    return AdapterProbe{std::move(index.config), std::move(index.footprint),
                        std::move(index.coverage)};
}

} // namespace engine
