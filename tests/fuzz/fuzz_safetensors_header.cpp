// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors header: an error that names a rule, or a listing whose tensors lie
// inside the file, one behind the other.
#include "engine/files/safetensors.h"
#include "tests/fuzz/require.h"

#include <algorithm>
#include <string_view>

using fuzz::require;

namespace {

void checkListing(const engine::SafetensorsHeader& header) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    const engine::TensorInfo* previous = nullptr;
    for (const engine::TensorInfo& info : header.tensors) {
        require(previous == nullptr || previous->name < info.name);
        previous = &info;
        uint64_t elements = 1;
        for (const int64_t size : info.shape) {
            require(size >= 0);
            elements *= static_cast<uint64_t>(size);
        }
        if (info.type != engine::TensorType::Other) {
            require(elements * engine::tensorTypeSize(info.type) == info.size_bytes);
        }
        require(info.file_offset >= header.data_begin);
        ranges.emplace_back(info.file_offset, info.file_offset + info.size_bytes);
    }
    std::sort(ranges.begin(), ranges.end());
    uint64_t end = header.data_begin;
    for (const auto& [begin, next] : ranges) {
        require(begin == end && next >= begin);
        end = next;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Without data behind the header, so that any data_offsets can reach the end of the checks.
    const auto header = engine::parseSafetensorsHeader(text, 8 + size, "fuzz", true);
    if (header) {
        checkListing(*header);
        const uint64_t stored = 8 + size + 16;
        const auto with_data = engine::parseSafetensorsHeader(text, stored, "fuzz");
        if (with_data) {
            for (const engine::TensorInfo& info : with_data->tensors) {
                require(info.file_offset + info.size_bytes <= stored);
            }
        }
    } else {
        require(!header.error().message.empty() && !header.error().details.empty() &&
                header.error().details[0].first == "rule");
    }
    return 0;
}
