// SPDX-License-Identifier: Apache-2.0
// The members of a request's object, taken one by one; the first that is wrong is told and ends it.
#pragma once

#include "app/serve/api_request.h"
#include "engine/base/json/tree.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace serve {

/// A 400 about one member.
ApiError wrongMember(std::string param, const std::string& message);

/// What stands at `key`; nullptr where it is absent or null.
const engine::Json* given(const engine::Json& object, std::string_view key);

/// Members of one object. After the first error every question has the answer "not there".
class Fields {
public:
    explicit Fields(const engine::Json& object) : object_(object) {}

    [[nodiscard]] const engine::Json* find(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::string> string(std::string_view key);
    /// A number from `least` to `most`.
    std::optional<double> number(std::string_view key, double least, double most);
    std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most);
    /// An error of the caller's, if none came before.
    void refuse(std::string param, const std::string& message);

    [[nodiscard]] bool isWrong() const { return error_.has_value(); }
    [[nodiscard]] const std::optional<ApiError>& error() const { return error_; }

private:
    const engine::Json& object_;
    std::optional<ApiError> error_;
};

} // namespace serve
