// SPDX-License-Identifier: Apache-2.0
// A checkpoint in memory, made from golden tensors and then damaged or extended by tests. Can
// count reads and fail the n-th one.
#pragma once

#include "engine/files/tensor_source.h"
#include "tests/support/golden.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace support {

inline std::span<const std::byte> bytesOf(const std::vector<uint8_t>& bytes) {
    return std::as_bytes(std::span(bytes));
}

inline engine::TensorType typeByName(const std::string& name) {
    using engine::TensorType;
    for (const TensorType type :
         {TensorType::Bool, TensorType::U8, TensorType::I8, TensorType::I16, TensorType::U16,
          TensorType::F16, TensorType::BF16, TensorType::I32, TensorType::U32, TensorType::F32,
          TensorType::F64, TensorType::I64, TensorType::U64}) {
        if (engine::tensorTypeName(type) == name) {
            return type;
        }
    }
    return TensorType::Other;
}

class MemorySource : public engine::TensorSource {
public:
    MemorySource() = default;
    explicit MemorySource(const std::map<std::string, GoldenTensor>& tensors) {
        for (const auto& [name, tensor] : tensors) {
            set(name, typeByName(tensor.dtype), tensor.shape, tensor.bytes);
        }
    }

    void set(const std::string& name,
             engine::TensorType type,
             std::vector<int64_t> shape,
             std::vector<uint8_t> bytes) {
        data_[name] = std::move(bytes);
        engine::TensorInfo info;
        info.name = name;
        info.type = type;
        info.shape = std::move(shape);
        info.size_bytes = data_[name].size();
        remove(name, false);
        infos_.insert(placeOf(name), info);
    }
    template <typename T>
    void setValues(const std::string& name,
                   engine::TensorType type,
                   std::vector<int64_t> shape,
                   const std::vector<T>& values) {
        std::vector<uint8_t> bytes(values.size() * sizeof(T));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        set(name, type, std::move(shape), std::move(bytes));
    }
    void setText(const std::string& name, const std::string& text) {
        set(name, engine::TensorType::U8, {static_cast<int64_t>(text.size())},
            std::vector<uint8_t>(text.begin(), text.end()));
    }
    void remove(const std::string& name, bool with_data = true) {
        std::erase_if(infos_, [&](const engine::TensorInfo& info) { return info.name == name; });
        if (with_data) {
            data_.erase(name);
        }
    }
    std::vector<uint8_t>& bytes(const std::string& name) { return data_.at(name); }
    [[nodiscard]] std::string text(const std::string& name) const {
        const auto& bytes = data_.at(name);
        return {bytes.begin(), bytes.end()};
    }

    [[nodiscard]] const std::vector<engine::TensorInfo>& tensors() const override { return infos_; }
    [[nodiscard]] const engine::TensorInfo* find(std::string_view name) const override {
        const auto it = placeOf(name);
        return it == infos_.end() || it->name != name ? nullptr : &*it;
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return files_; }
    [[nodiscard]] engine::Result<void> read(const engine::TensorInfo& tensor,
                                            uint64_t offset,
                                            std::span<std::byte> out) const override {
        ++reads;
        bytes_read += out.size();
        if (fail_read != 0 && reads >= fail_read) {
            return engine::Error{
                engine::ErrorCode::InvalidFile, "memory: the file was cut short", {}};
        }
        const auto& bytes = data_.at(tensor.name);
        if (offset + out.size() > bytes.size()) {
            return engine::Error{
                engine::ErrorCode::InvalidFile, "memory: range outside " + tensor.name, {}};
        }
        std::memcpy(out.data(), bytes.data() + offset, out.size());
        return {};
    }

    mutable std::atomic<uint64_t> reads{0};
    mutable std::atomic<uint64_t> bytes_read{0};
    uint64_t fail_read = 0; ///< From this read on (1 = the first) reads fail; 0 = never.

private:
    [[nodiscard]] std::vector<engine::TensorInfo>::const_iterator
    placeOf(std::string_view name) const {
        return std::lower_bound(
            infos_.begin(), infos_.end(), name,
            [](const engine::TensorInfo& a, std::string_view b) { return a.name < b; });
    }

    std::vector<engine::TensorInfo> infos_; ///< By name.
    std::map<std::string, std::vector<uint8_t>> data_;
    std::vector<std::string> files_ = {"memory"};
};

} // namespace support
