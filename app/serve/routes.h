// SPDX-License-Identifier: Apache-2.0
// The paths that the server answers.
#pragma once

#include <string_view>

namespace serve {

enum class Route { None = 1, Root, Health, Models, Model, Chat, Completions };

inline constexpr std::string_view kModelsPath = "/v1/models";

inline Route routeOf(std::string_view path) {
    if (path == "/") {
        return Route::Root;
    }
    if (path == "/health" || path == "/v1/health") {
        return Route::Health;
    }
    if (path == kModelsPath) {
        return Route::Models;
    }
    if (path.starts_with("/v1/models/")) {
        return Route::Model;
    }
    if (path == "/v1/chat/completions") {
        return Route::Chat;
    }
    return path == "/v1/completions" ? Route::Completions : Route::None;
}

} // namespace serve
