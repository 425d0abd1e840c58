// SPDX-License-Identifier: Apache-2.0
// Fills any value that ipc/ carries, by the same descriptions that Writer and Reader follow: every
// field gets another value than it has by itself, every list some elements. With one number after
// the other every alternative and every enumerator has its turn.
#pragma once

#include <algorithm>
#include <string>

#include "ipc/message_fields.h"

namespace filling {

class Filler {
public:
    static constexpr bool kReads = true;

    /// The same number fills in the same way.
    explicit Filler(uint64_t number) : number_(number) {}

    template <typename... Ts>
    void operator()(Ts&... values) {
        (fill(values), ...);
    }
    void require(bool holds) { is_possible_ = is_possible_ && holds; }
    void getBytes(std::string& bytes) { bytes = "\xff\x01 no UTF-8 " + std::to_string(next()); }
    /// Whether all that was demanded of the values holds.
    [[nodiscard]] bool isPossible() const { return is_possible_; }

private:
    uint64_t next() { return number_++; }

    void fill(std::string& text) { text = "text \xc3\xa4 " + std::to_string(next()); }
    void fill(bool& value) { value = !value; }
    void fill(engine::Sentence& sentence) {
        sentence = engine::said("%1 of %2, %3 and %4 of %5", "a text", int64_t{-5},
                                uint64_t{6 + next()}, 1.5, engine::said("%1 inside", next()));
    }
    template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
    void fill(T& value) {
        if constexpr (std::is_enum_v<T>) {
            int count = 0;
            while (isKnown(ipc::Known(), static_cast<T>(count + 1))) {
                ++count;
            }
            value = static_cast<T>(1 + next() % static_cast<uint64_t>(count));
        } else if constexpr (std::is_floating_point_v<T>) {
            value = static_cast<T>(0.125 + static_cast<double>(next() % 1000));
        } else if constexpr (sizeof(T) == 4) {
            value = static_cast<T>(1 + next() % 2); // a layer, where a model has three
        } else if constexpr (std::is_signed_v<T>) {
            value = static_cast<T>(1000 + next() % 50'000); // a number of layers, where it is one
        } else {
            value = static_cast<T>(1'000'000'000'000 + next());
        }
    }
    template <typename T>
    void fill(std::vector<T>& list) {
        for (int i = 0; i < 3; ++i) {
            T one{};
            fill(one);
            list.push_back(std::move(one));
        }
    }
    template <typename T, size_t N>
    void fill(std::array<T, N>& list) {
        for (T& one : list) {
            fill(one);
        }
    }
    template <typename T>
    void fill(std::optional<T>& value) {
        fill(value.emplace());
    }
    template <typename T>
    void fill(std::shared_ptr<const T>& value) {
        auto made = std::make_shared<T>();
        fill(*made);
        value = std::move(made);
    }
    template <typename A, typename B>
    void fill(std::pair<A, B>& both) {
        fill(both.first);
        fill(both.second);
    }
    template <typename... Ts>
    void fill(std::variant<Ts...>& value) {
        fillAlternative(value, next() % sizeof...(Ts), std::index_sequence_for<Ts...>());
    }
    template <typename Variant, size_t... Is>
    void fillAlternative(Variant& value, size_t index, std::index_sequence<Is...> /*all*/) {
        const auto take = [&]<size_t I>() {
            if (index == I) {
                std::variant_alternative_t<I, Variant> one{};
                fill(one);
                value.template emplace<I>(std::move(one));
            }
        };
        (take.template operator()<Is>(), ...);
    }
    template <typename T, std::enable_if_t<std::is_class_v<T>, int> = 0>
    void fill(T& value) {
        using ipc::fields;
        fields(*this, value);
    }

    uint64_t number_;
    bool is_possible_ = true;
};

} // namespace filling
