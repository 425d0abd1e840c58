// SPDX-License-Identifier: Apache-2.0
// Result<T>: a T or an Error. Member names follow C++23's std::expected so that we can switch.
#pragma once

#include "engine/api/error.h"

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

namespace engine {

template <typename T>
class [[nodiscard]] Result {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a value is a result
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): an error is a result
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    const T& value() const& {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    T&& value() && {
        assert(has_value());
        return std::move(*std::get_if<0>(&state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const Error& error() const& {
        assert(!has_value());
        return *std::get_if<1>(&state_);
    }
    [[nodiscard]] Error&& error() && {
        assert(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): an error is a result
    Result(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    [[nodiscard]] const Error& error() const& {
        assert(!has_value());
        return *error_;
    }
    [[nodiscard]] Error&& error() && {
        assert(!has_value());
        return std::move(*error_);
    }

private:
    std::optional<Error> error_;
};

} // namespace engine

/// Leaves the function with the error of `expr` (a Result) if it has one.
#define ENGINE_TRY(expr)                                                                           \
    do {                                                                                           \
        if (auto engine_try_result = (expr); !engine_try_result.has_value()) {                     \
            return std::move(engine_try_result).error();                                           \
        }                                                                                          \
    } while (false)

#define ENGINE_CONCAT_INNER(a, b) a##b
#define ENGINE_CONCAT(a, b) ENGINE_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): `decl` may be a declaration
/// `ENGINE_ASSIGN(auto x, f())`: declares or assigns x from a Result, or leaves with its error.
#define ENGINE_ASSIGN(decl, expr)                                                                  \
    auto ENGINE_CONCAT(engine_assign_, __LINE__) = (expr);                                         \
    if (!ENGINE_CONCAT(engine_assign_, __LINE__).has_value()) {                                    \
        return std::move(ENGINE_CONCAT(engine_assign_, __LINE__)).error();                         \
    }                                                                                              \
    decl = std::move(ENGINE_CONCAT(engine_assign_, __LINE__)).value()
// NOLINTEND(bugprone-macro-parentheses)
