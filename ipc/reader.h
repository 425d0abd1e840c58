// SPDX-License-Identifier: Apache-2.0
// Bytes to values, whoever wrote them: every length is held against what is left, every enum and
// variant against what there is, texts are UTF-8, and what is made of the bytes takes at most
// kMostMemory. The first thing that is wrong ends it: all that follows reads as nothing.
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

/// Says by argument-dependent lookup that isKnown() of an enum is meant (fields.h).
struct Known {};

class Reader {
public:
    static constexpr bool kReads = true;
    static constexpr uint64_t kMostMemory = uint64_t{256} << 20U;
    static constexpr int kMostDepth = 8;                       ///< Levels of nested sentences.
    static constexpr uint64_t kMostWords = uint64_t{1} << 20U; ///< Bytes of a sentence, filled in.

    /// `bytes` must outlive this.
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    template <typename... Ts>
    void operator()(Ts&... values) {
        (get(values), ...);
    }
    /// What else must hold of values that were read.
    void require(bool holds) {
        if (!holds) {
            fail("a value that it cannot have");
        }
    }
    void getBytes(std::string& bytes);

    /// Whether all was right so far; at the end also whether nothing is left.
    [[nodiscard]] bool isGood() const { return wrong_ == nullptr; }
    [[nodiscard]] bool isDone() const { return isGood() && rest_.empty(); }
    /// What was wrong first, in English; "too many bytes" where only something is left.
    [[nodiscard]] const char* wrong() const {
        return wrong_ != nullptr ? wrong_ : "too many bytes";
    }

private:
    void fail(const char* what);
    /// The next bytes; fewer where they are not there, which is a failure.
    std::string_view some(uint64_t count);
    size_t getLength();
    bool charge(uint64_t bytes);
    void get(std::string& text);
    void get(engine::Sentence& sentence);
    void get(engine::Argument& argument);
    void get(bool& value);

    template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
    void get(T& value) {
        if constexpr (std::is_enum_v<T>) {
            uint8_t number = 0;
            get(number);
            if (isGood() && !isKnown(Known(), static_cast<T>(number))) {
                fail("an unknown kind");
            }
            if (isGood()) {
                value = static_cast<T>(number);
            }
        } else if constexpr (std::is_same_v<T, double>) {
            uint64_t bits = 0;
            get(bits);
            value = std::bit_cast<double>(bits);
        } else if constexpr (std::is_same_v<T, float>) {
            uint32_t bits = 0;
            get(bits);
            value = std::bit_cast<float>(bits);
        } else {
            const std::string_view bytes = some(sizeof(T));
            uint64_t number = 0;
            for (size_t i = 0; i < bytes.size(); ++i) {
                number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
            }
            value = static_cast<T>(number);
        }
    }
    template <typename T>
    void get(std::vector<T>& list) {
        const size_t count = getLength();
        // Grows with what is really there: a length alone takes no memory.
        for (size_t i = 0; i < count && isGood() && charge(2 * sizeof(T)); ++i) {
            T one = blank(static_cast<T*>(nullptr));
            get(one);
            list.push_back(std::move(one));
        }
    }
    template <typename T, size_t N>
    void get(std::array<T, N>& list) {
        for (T& one : list) {
            get(one);
        }
    }
    template <typename T>
    void get(std::optional<T>& value) {
        bool is_there = false;
        get(is_there);
        if (is_there) {
            get(value.emplace());
        }
    }
    template <typename T>
    void get(std::shared_ptr<const T>& value) {
        bool is_there = false;
        get(is_there);
        if (is_there && charge(sizeof(T))) {
            auto made = std::make_shared<T>();
            get(*made);
            value = std::move(made);
        }
    }
    template <typename A, typename B>
    void get(std::pair<A, B>& both) {
        get(both.first);
        get(both.second);
    }
    template <typename... Ts>
    void get(std::variant<Ts...>& value) {
        uint8_t index = 0;
        get(index);
        if (!isGood() || index >= sizeof...(Ts)) {
            fail("an unknown kind");
            return;
        }
        getAlternative(value, index, std::index_sequence_for<Ts...>());
    }
    template <typename Variant, size_t... Is>
    void getAlternative(Variant& value, size_t index, std::index_sequence<Is...> /*all*/) {
        const auto take = [&]<size_t I>() {
            if (index == I) {
                auto one = blank(static_cast<std::variant_alternative_t<I, Variant>*>(nullptr));
                get(one);
                value.template emplace<I>(std::move(one));
            }
        };
        (take.template operator()<Is>(), ...);
    }
    template <typename T, std::enable_if_t<std::is_class_v<T>, int> = 0>
    void get(T& value) {
        fields(*this, value);
    }
    template <typename T>
    static T blank(T* /*tag*/) {
        return T{};
    }
    static engine::Argument blank(engine::Argument* /*tag*/) { return {std::string()}; }

    std::string_view rest_;
    uint64_t memory_ = 0;
    int depth_ = 0;
    const char* wrong_ = nullptr;
};

} // namespace ipc
