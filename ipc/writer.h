// SPDX-License-Identifier: Apache-2.0
// Values to bytes: little-endian numbers of their own width, lengths as 32 bits in front of texts
// and lists, one byte for bools, enums and the alternative of a variant. How a struct is made up
// stands once, in *_fields.h, for this and for Reader.
#pragma once

#include "engine/api/sentence.h"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ipc {

class Writer {
public:
    static constexpr bool kReads = false;

    /// The values, one after the other.
    template <typename... Ts>
    void operator()(const Ts&... values) {
        (put(values), ...);
    }
    /// What a Reader demands of what it has read.
    void require(bool /*holds*/) {}
    /// A text that need not be UTF-8.
    void putBytes(const std::string& bytes);

    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    void putLength(size_t length);
    void put(const std::string& text); ///< What is not UTF-8 becomes U+FFFD.
    void put(const engine::Sentence& sentence);
    void put(const engine::Argument& argument);

    template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
    void put(T value) {
        if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
            out_ += static_cast<char>(value);
        } else if constexpr (std::is_same_v<T, double>) {
            put(std::bit_cast<uint64_t>(value));
        } else if constexpr (std::is_same_v<T, float>) {
            put(std::bit_cast<uint32_t>(value));
        } else {
            auto rest = static_cast<std::make_unsigned_t<T>>(value);
            for (size_t i = 0; i < sizeof(T); ++i) {
                out_ += static_cast<char>(static_cast<uint64_t>(rest) >> (8 * i) & 0xffU);
            }
        }
    }
    template <typename T>
    void put(const std::vector<T>& list) {
        putLength(list.size());
        for (const T& one : list) {
            put(one);
        }
    }
    template <typename T, size_t N>
    void put(const std::array<T, N>& list) {
        for (const T& one : list) {
            put(one);
        }
    }
    template <typename T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value.has_value()) {
            put(*value);
        }
    }
    template <typename T>
    void put(const std::shared_ptr<const T>& value) {
        put(value != nullptr);
        if (value != nullptr) {
            put(*value);
        }
    }
    template <typename A, typename B>
    void put(const std::pair<A, B>& both) {
        put(both.first);
        put(both.second);
    }
    template <typename... Ts>
    void put(const std::variant<Ts...>& value) {
        static_assert(sizeof...(Ts) < 256);
        out_ += static_cast<char>(value.index());
        std::visit([this](const auto& one) { this->put(one); }, value);
    }
    template <typename T, std::enable_if_t<std::is_class_v<T>, int> = 0>
    void put(const T& value) {
        fields(*this, const_cast<T&>(value)); // which changes nothing for a Writer
    }

    std::string out_;
};

} // namespace ipc
