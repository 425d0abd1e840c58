// SPDX-License-Identifier: Apache-2.0
// GGUF files for tests, written without the engine's code: every key, type, count and offset is
// taken as it is, right or wrong. Format: ggml's docs/gguf.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace support::gguf {

/// A number as its bytes, little-endian.
template <typename T>
std::string le(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}
inline std::string text(std::string_view value) {
    return le(uint64_t{value.size()}) + std::string(value);
}

/// Numbers of the types of values.
template <typename T>
constexpr uint32_t kTypeOf = std::is_same_v<T, uint8_t>    ? 0
                             : std::is_same_v<T, int8_t>   ? 1
                             : std::is_same_v<T, uint16_t> ? 2
                             : std::is_same_v<T, int16_t>  ? 3
                             : std::is_same_v<T, uint32_t> ? 4
                             : std::is_same_v<T, int32_t>  ? 5
                             : std::is_same_v<T, float>    ? 6
                             : std::is_same_v<T, bool>     ? 7
                             : std::is_same_v<T, uint64_t> ? 10
                             : std::is_same_v<T, int64_t>  ? 11
                                                           : 12;

// Values: the type's number and what follows it.
template <typename T>
std::string value(T number) {
    return le(kTypeOf<T>) + le(number);
}
inline std::string value(const char* words) {
    return le(uint32_t{8}) + text(words);
}
inline std::string value(const std::string& words) {
    return le(uint32_t{8}) + text(words);
}
/// `elements`: bytes of all of them.
inline std::string list(uint32_t type, uint64_t count, const std::string& elements) {
    return le(uint32_t{9}) + le(type) + le(count) + elements;
}
template <typename T>
std::string list(const std::vector<T>& values) {
    std::string elements;
    for (const T& one : values) {
        elements += le(one);
    }
    return list(kTypeOf<T>, values.size(), elements);
}
inline std::string list(const std::vector<std::string>& values) {
    std::string elements;
    for (const std::string& one : values) {
        elements += text(one);
    }
    return list(8, values.size(), elements);
}
/// std::vector<bool> has no bytes.
inline std::string bools(const std::vector<int>& values) {
    std::string elements;
    for (const int one : values) {
        elements += static_cast<char>(one);
    }
    return list(7, values.size(), elements);
}

struct Tensor {
    std::string name;
    std::vector<uint64_t> dims; ///< As the file has them: the row's length first.
    uint32_t type = 0;          ///< F32
    std::string data{};         ///< Zeros follow.
    std::optional<uint64_t> offset{};
};

/// Values and bytes of a block of a tensor's type.
inline std::pair<uint64_t, uint64_t> blockOf(uint32_t type) {
    constexpr std::array<std::array<uint64_t, 3>, 20> kBlocks = {
        {{0, 1, 4},      {1, 1, 2},      {2, 32, 18},   {3, 32, 20},    {6, 32, 22},
         {7, 32, 24},    {8, 32, 34},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144},
         {13, 256, 176}, {14, 256, 210}, {20, 32, 18},  {23, 256, 136}, {24, 1, 1},
         {26, 1, 4},     {28, 1, 8},     {30, 1, 2},    {39, 32, 17},   {42, 64, 18}}};
    for (const auto& [id, values, bytes] : kBlocks) {
        if (id == type) {
            return {values, bytes};
        }
    }
    return {1, 1};
}

struct File {
    std::string magic = "GGUF";
    uint32_t version = 3;
    std::optional<uint64_t> tensor_count, key_count;
    std::vector<std::pair<std::string, std::string>> keys;
    std::vector<Tensor> tensors;
    uint64_t alignment = 32;

    /// Replaces the key's value or adds the key.
    File& set(const std::string& key, const std::string& value) {
        for (auto& [name, old] : keys) {
            if (name == key) {
                old = value;
                return *this;
            }
        }
        keys.emplace_back(key, value);
        return *this;
    }
    File& remove(const std::string& name) {
        std::erase_if(keys, [&](const auto& key) { return key.first == name; });
        std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
        return *this;
    }
    /// The tensor, which there must be.
    Tensor& tensor(const std::string& name) {
        return *std::find_if(tensors.begin(), tensors.end(),
                             [&](const Tensor& tensor) { return tensor.name == name; });
    }

    [[nodiscard]] static uint64_t sizeOf(const Tensor& tensor) {
        uint64_t count = 1;
        for (const uint64_t side : tensor.dims) {
            count *= side;
        }
        const auto [values, bytes] = blockOf(tensor.type);
        return count / values * bytes;
    }

    /// The header alone.
    [[nodiscard]] std::string header() const {
        std::string bytes = magic + le(version) + le(tensor_count.value_or(tensors.size())) +
                            le(key_count.value_or(keys.size()));
        for (const auto& [key, value] : keys) {
            bytes += text(key) + value;
        }
        uint64_t place = 0;
        for (const Tensor& tensor : tensors) {
            bytes += text(tensor.name) + le(static_cast<uint32_t>(tensor.dims.size()));
            for (const uint64_t side : tensor.dims) {
                bytes += le(side);
            }
            bytes += le(tensor.type) + le(tensor.offset.value_or(place));
            place += (sizeOf(tensor) + alignment - 1) / alignment * alignment;
        }
        return bytes;
    }

    /// The whole file.
    [[nodiscard]] std::string bytes() const {
        std::string file = header();
        const auto pad = [&] {
            file.resize((file.size() + alignment - 1) / alignment * alignment);
        };
        pad();
        for (const Tensor& tensor : tensors) {
            const size_t end = file.size() + sizeOf(tensor);
            file += tensor.data;
            file.resize(end);
            pad();
        }
        return file;
    }
};

/// A sound file as its parts, to write others from it.
inline File readFile(const std::string& bytes) {
    size_t at = 8; // magic and version
    const auto number = [&](size_t size) {
        uint64_t found = 0;
        std::memcpy(&found, bytes.data() + at, size);
        at += size;
        return found;
    };
    const auto words = [&] {
        const uint64_t size = number(8);
        at += size;
        return bytes.substr(at - size, size);
    };
    constexpr std::array<size_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    const auto skip = [&](uint64_t type) { at += type == 8 ? number(8) : kSizes.at(type); };
    File file;
    const uint64_t tensors = number(8);
    const uint64_t keys = number(8);
    for (uint64_t i = 0; i < keys; ++i) {
        std::string name = words();
        const size_t begin = at;
        if (const uint64_t type = number(4); type != 9) {
            skip(type);
        } else {
            const uint64_t element = number(4);
            for (uint64_t count = number(8); count > 0; --count) {
                skip(element);
            }
        }
        file.keys.emplace_back(std::move(name), bytes.substr(begin, at - begin));
    }
    std::vector<uint64_t> offsets;
    for (uint64_t i = 0; i < tensors; ++i) {
        Tensor& tensor = file.tensors.emplace_back();
        tensor.name = words();
        tensor.dims.resize(number(4));
        for (uint64_t& side : tensor.dims) {
            side = number(8);
        }
        tensor.type = static_cast<uint32_t>(number(4));
        offsets.push_back(number(8));
    }
    const size_t data = (at + file.alignment - 1) / file.alignment * file.alignment;
    for (size_t i = 0; i < offsets.size(); ++i) {
        file.tensors[i].data = bytes.substr(data + offsets[i], File::sizeOf(file.tensors[i]));
    }
    return file;
}

} // namespace support::gguf
