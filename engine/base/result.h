// SPDX-License-Identifier: Apache-2.0
// Result<T>: a T or an Error. Member names follow C++23's std::expected so that we can switch.
#pragma once

#include "engine/api/error.h"

#include <cassert>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace engine {

template <typename T>
class [[nodiscard]] Result {
public:
    // A union: std::variant's copies and moves would be compiled in every file for every T.
    // NOLINTNEXTLINE(google-explicit-constructor): a value is a result
    Result(T value) : has_value_(true), value_(std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): an error is a result
    Result(Error error) : has_value_(false), error_(std::move(error)) {}
    Result(const Result& other) : has_value_(other.has_value_) {
        if (has_value_) {
            std::construct_at(std::addressof(value_), other.value_);
        } else {
            std::construct_at(std::addressof(error_), other.error_);
        }
    }
    Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : has_value_(other.has_value_) {
        if (has_value_) {
            std::construct_at(std::addressof(value_), std::move(other.value_));
        } else {
            std::construct_at(std::addressof(error_), std::move(other.error_));
        }
    }
    Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        static_assert(std::is_nothrow_move_constructible_v<T>, "nothing is left behind half made");
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
        return *this;
    }
    ~Result() {
        if (has_value_) {
            std::destroy_at(std::addressof(value_));
        } else {
            std::destroy_at(std::addressof(error_));
        }
    }

    [[nodiscard]] bool has_value() const { return has_value_; }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        assert(has_value());
        return value_;
    }
    const T& value() const& {
        assert(has_value());
        return value_;
    }
    T&& value() && {
        assert(has_value());
        return std::move(value_);
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const Error& error() const& {
        assert(!has_value());
        return error_;
    }
    [[nodiscard]] Error&& error() && {
        assert(!has_value());
        return std::move(error_);
    }

private:
    bool has_value_;
    union {
        T value_;     // NOLINT(readability-identifier-naming): private, if of a union
        Error error_; // NOLINT(readability-identifier-naming)
    };
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
