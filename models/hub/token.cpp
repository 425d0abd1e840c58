// SPDX-License-Identifier: Apache-2.0
#include "models/hub/token.h"

#include "engine/base/ascii.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>

#include "models/hub/token_store.h"

namespace models::hub {

using engine::Result;

namespace {

constexpr size_t kLongestToken = 4096;

} // namespace

bool asksForToken(const engine::Error& error) {
    return std::any_of(error.details.begin(), error.details.end(), [](const auto& detail) {
        return detail.first == "rule" &&
               (detail.second == "HubToken" || detail.second == "HubGated");
    });
}

Result<std::string> findToken(const Environment& environment) {
    if (isSwitchedOn(environment.hf_hub_disable_implicit_token)) {
        return std::string();
    }
    if (!engine::trimmed(environment.hf_token).empty()) {
        return checkedToken(environment.hf_token, "HF_TOKEN");
    }
    if (!engine::trimmed(environment.hugging_face_hub_token).empty()) {
        return checkedToken(environment.hugging_face_hub_token, "HUGGING_FACE_HUB_TOKEN");
    }
    const std::filesystem::path file = tokenFile(environment);
    std::error_code ignored;
    if (file.empty() || !std::filesystem::exists(file, ignored)) {
        return std::string();
    }
    ENGINE_ASSIGN(const std::string text, engine::readSmallFile(file, kLongestToken));
    return checkedToken(text, engine::utf8Of(file));
}

} // namespace models::hub
