// SPDX-License-Identifier: Apache-2.0
// Any bytes as adapter_config.json and, behind a zero byte, as the header of
// adapter_model.safetensors (names and shapes), sorted out against a small model: an error with a
// message, or updates that fit the model's tensors.
#include "engine/files/safetensors.h"
#include "engine/lora/adapter_index.h"
#include "engine/lora/architecture.h"
#include "engine/lora/target_matching.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/small_model.h"

#include <algorithm>
#include <cmath>

using engine::AdapterTensor;
using fuzz::require;
using fuzz::smallModel;

namespace {

/// A file of which there is the header alone; every value is zero.
class ZeroSource : public engine::TensorSource {
public:
    explicit ZeroSource(std::vector<engine::TensorInfo> tensors) : tensors_(std::move(tensors)) {}
    [[nodiscard]] const std::vector<engine::TensorInfo>& tensors() const override {
        return tensors_;
    }
    [[nodiscard]] const engine::TensorInfo* find(std::string_view name) const override {
        const auto at = std::lower_bound(
            tensors_.begin(), tensors_.end(), name,
            [](const engine::TensorInfo& info, std::string_view n) { return info.name < n; });
        return at != tensors_.end() && at->name == name ? &*at : nullptr;
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return names_; }
    [[nodiscard]] engine::Result<void> read(const engine::TensorInfo& tensor,
                                            uint64_t offset,
                                            std::span<std::byte> out) const override {
        require(offset <= tensor.size_bytes && out.size() <= tensor.size_bytes - offset);
        std::fill(out.begin(), out.end(), std::byte{0});
        return {};
    }

private:
    std::vector<engine::TensorInfo> tensors_;
    std::vector<std::string> names_ = {"adapter_model.safetensors"};
};

void checkShape(const engine::TensorSource& source,
                const AdapterTensor& tensor,
                const std::vector<int64_t>& shape) {
    require(tensor.present && tensor.shape == shape);
    require(tensor.source_index >= 0 &&
            static_cast<size_t>(tensor.source_index) < source.tensors().size());
    const auto& info = source.tensors()[static_cast<size_t>(tensor.source_index)];
    require(info.name == tensor.key && info.size_bytes == tensor.size_bytes);
    uint64_t elements = 1;
    for (const int64_t size : shape) {
        require(size > 0);
        elements *= static_cast<uint64_t>(size);
    }
    require(elements * engine::tensorTypeSize(tensor.type) == tensor.size_bytes);
}

void checkIndex(const engine::AdapterIndex& index) {
    const engine::CoverageReport& c = index.coverage;
    require(c.active + c.inert + c.ignored + c.errors == c.tensors);
    require(c.tensors == static_cast<int64_t>(index.source->tensors().size()));
    require(c.unmatched.size() == static_cast<size_t>(c.inert + c.ignored + c.errors));
    for (const engine::KeyReport& row : c.unmatched) {
        require(!row.reason.sentence.isEmpty());
    }
    require(c.errors == 0 || index.refusal.has_value());
    if (index.refusal.has_value()) {
        require(!index.refusal->message.empty());
        return;
    }
    require(c.active > 0);
    for (const engine::LowRankUpdate& update : index.updates) {
        require(update.rank > 0 && update.rank <= engine::kMaxRank);
        require(std::isfinite(update.scaling) && std::isfinite(update.alpha));
        const int64_t experts = std::max<int64_t>(update.experts, 1);
        checkShape(*index.source, update.a, {experts * update.rank, update.in});
        checkShape(*index.source, update.b, {update.out, update.rank * experts});
        if (update.b_bias.present) {
            checkShape(*index.source, update.b_bias, {update.out});
        }
    }
    for (const engine::RowReplacement& rows : index.rows) {
        checkShape(*index.source, rows.rows, {static_cast<int64_t>(rows.ids.size()), rows.dim});
    }
    for (const engine::TensorReplacement& value : index.replacements) {
        checkShape(*index.source, value.value, value.shape);
    }
    uint64_t bytes = 0;
    for (const engine::TensorFootprint& row : index.footprint.tensors) {
        bytes += row.bytes;
        require(row.update_bytes <= row.bytes);
    }
    require(bytes == index.footprint.total_bytes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t end = all.find('\0');
    engine::AdapterIndex index;
    auto config = engine::parseAdapterConfig(all.substr(0, end));
    if (!config) {
        require(!config.error().message.empty());
        return 0;
    }
    index.config = *std::move(config);
    const auto matcher = engine::TargetMatcher::compile(index.config);
    if (!matcher) {
        require(!matcher.error().message.empty());
        return 0;
    }
    const std::string_view text = end == std::string_view::npos ? "{}" : all.substr(end + 1);
    auto header =
        engine::parseSafetensorsHeader(text, 8 + text.size(), "adapter_model.safetensors", true);
    if (!header) {
        return 0; // fuzz_safetensors_header looks at these
    }
    index.source = std::make_unique<ZeroSource>(std::move(header->tensors));
    static const engine::Architecture kArchitecture(smallModel().config, smallModel().tensors);
    const auto sorted = engine::sortKeys(index, kArchitecture, *matcher, {});
    if (!sorted) {
        require(!sorted.error().message.empty());
        return 0;
    }
    checkIndex(index);
    return 0;
}
