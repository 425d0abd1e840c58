// SPDX-License-Identifier: Apache-2.0
// The JSON tree of a small configuration file, built and torn down so that running out of memory
// anywhere is an exception: the library's own destructor allocates, and where that fails the
// program ends.
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace engine {

class ConfigJson {
public:
    ConfigJson() : value_(nullptr) {}
    ConfigJson(ConfigJson&& other) noexcept : value_(std::move(other.value_)) {}
    ConfigJson& operator=(ConfigJson&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ConfigJson(const ConfigJson&) = delete;
    ConfigJson& operator=(const ConfigJson&) = delete;
    ~ConfigJson();

    [[nodiscard]] const nlohmann::json& value() const { return value_; }

    /// `text` must have passed checkJson(), whose depth limit bounds the recursion of the
    /// destructor. Errors: InvalidFile, rule JsonNumber. Throws std::bad_alloc.
    static Result<ConfigJson> parse(std::string_view text, const std::string& file);
    static ConfigJson emptyObject();

private:
    nlohmann::json value_;
};

} // namespace engine
