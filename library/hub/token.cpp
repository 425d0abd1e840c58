// SPDX-License-Identifier: Apache-2.0
#include "library/hub/token.h"

#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>

#include "library/hub/hub_error.h"

namespace library::hub {

using engine::Result;

namespace {

constexpr size_t kLongestToken = 4096;

std::string trimmed(const std::string& text) {
    constexpr const char* kBlank = " \t\r\n";
    const size_t begin = text.find_first_not_of(kBlank);
    const size_t end = text.find_last_not_of(kBlank);
    return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

/// A header takes it as it is: nothing in it may end the line.
Result<std::string> checked(const std::string& text, const std::string& place) {
    const std::string token = trimmed(text);
    const bool is_plain = std::all_of(token.begin(), token.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20U && static_cast<unsigned char>(c) < 0x7fU;
    });
    if (!is_plain || token.size() > kLongestToken) {
        return hubError("HubToken", place + " holds no token: expected one word such as hf_... ; "
                                            "copy it again from your settings page at the hub");
    }
    return token;
}

} // namespace

Result<std::string> findToken(const Environment& environment) {
    if (isSwitchedOn(environment.hf_hub_disable_implicit_token)) {
        return std::string();
    }
    if (!trimmed(environment.hf_token).empty()) {
        return checked(environment.hf_token, "HF_TOKEN");
    }
    if (!trimmed(environment.hugging_face_hub_token).empty()) {
        return checked(environment.hugging_face_hub_token, "HUGGING_FACE_HUB_TOKEN");
    }
    const std::filesystem::path file = tokenFile(environment);
    std::error_code ignored;
    if (file.empty() || !std::filesystem::exists(file, ignored)) {
        return std::string();
    }
    ENGINE_ASSIGN(const std::string text, engine::readSmallFile(file, kLongestToken));
    return checked(text, engine::utf8Of(file));
}

} // namespace library::hub
