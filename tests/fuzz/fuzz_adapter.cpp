// SPDX-License-Identifier: Apache-2.0
// Any bytes as adapter_config.json and, behind a zero byte, as the header of
// adapter_model.safetensors (names and shapes), sorted out against a small model: an error with a
// message, or updates that fit the model's tensors.
#include "engine/files/safetensors.h"
#include "engine/lora/adapter_index.h"
#include "engine/lora/architecture.h"
#include "engine/lora/target_matching.h"
#include "tests/fuzz/adapter_checks.h"
#include "tests/fuzz/small_model.h"

#include <algorithm>

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
    fuzz::checkIndex(index);
    return 0;
}
