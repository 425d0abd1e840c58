// SPDX-License-Identifier: Apache-2.0
#include "library/hub/names.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "library/hub/url.h"

namespace library::hub {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr size_t kLongestId = 96;
constexpr size_t kLongestPart = 255;
constexpr size_t kLongestName = 1024;
constexpr size_t kLongestRevision = 200;

Error addressError(std::string_view text, const std::string& what) {
    return {ErrorCode::InvalidRequest,
            engine::inQuotes(text) + " " + what +
                "; expected OWNER/NAME, OWNER/NAME@REVISION or the address of a model's page",
            {{"rule", "HubAddress"}}};
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::vector<std::string_view> partsOf(std::string_view text) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t next = std::min(text.find('/', at), text.size());
        parts.push_back(text.substr(at, next - at));
        at = next + 1;
    }
    return parts;
}

/// nullptr, or what the hub does not allow in a name of an owner or a model.
const char* idProblem(std::string_view id) {
    if (id.empty() || id.size() > kLongestId) {
        return "is no model's name: it has no characters or more than 96";
    }
    const auto parts = partsOf(id);
    if (parts.size() > 2) {
        return "is no model's name: it has more than one '/'";
    }
    for (const std::string_view part : parts) {
        const bool is_plain = std::all_of(part.begin(), part.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                   c == '.';
        });
        if (part.empty() || !is_plain) {
            return "is no model's name: letters, digits, '-', '_' and '.' are allowed";
        }
        if (part.front() == '-' || part.front() == '.' || part.back() == '-' ||
            part.back() == '.') {
            return "is no model's name: it begins or ends with '-' or '.'";
        }
    }
    if (id.find("--") != std::string_view::npos || id.find("..") != std::string_view::npos ||
        id.ends_with(".git")) {
        return "is no model's name: \"--\", \"..\" and \".git\" at the end are not allowed";
    }
    return nullptr;
}

bool isDevice(std::string_view part) {
    static constexpr std::array<std::string_view, 6> kDevices = {"con", "prn",    "aux",
                                                                 "nul", "conin$", "conout$"};
    const std::string stem = lower(part.substr(0, part.find('.')));
    if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) {
        return true;
    }
    return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
           stem[3] >= '0' && stem[3] <= '9';
}

const char* partProblem(std::string_view part) {
    if (part.empty()) {
        return "has an empty part between two '/', or begins or ends with one";
    }
    if (part.size() > kLongestPart) {
        return "has a part of more than 255 bytes";
    }
    for (const char c : part) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
            return "holds a control character";
        }
    }
    if (part == "." || part == "..") {
        return "leads out of its folder (\".\" or \"..\")";
    }
    if (part.find_first_of("\\:*?\"<>|") != std::string_view::npos) {
        return "holds a character that Windows does not allow in a file name (a drive letter, "
               "another separator)";
    }
    if (part.back() == '.' || part.back() == ' ') {
        return "ends with a dot or a blank, which Windows leaves out";
    }
    return isDevice(part) ? "is the name of a device on Windows" : nullptr;
}

} // namespace

const char* fileNameProblem(std::string_view name) {
    if (name.empty() || name.size() > kLongestName) {
        return "is empty or longer than 1024 bytes";
    }
    if (!engine::isValidUtf8(name)) {
        return "is not UTF-8";
    }
    for (const std::string_view part : partsOf(name)) {
        if (const char* problem = partProblem(part)) {
            return problem;
        }
    }
    return nullptr;
}

std::pair<std::string, std::string> clashingNames(const std::vector<std::string>& names) {
    std::map<std::string, std::string> files;
    for (const std::string& name : names) {
        if (const auto [entry, is_new] = files.emplace(lower(name), name); !is_new) {
            return {entry->second, name};
        }
    }
    for (const std::string& name : names) {
        for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
            if (const auto found = files.find(lower(name.substr(0, at))); found != files.end()) {
                return {found->second, name};
            }
        }
    }
    return {};
}

Result<ModelAddress> parseAddress(std::string_view text, std::string_view endpoint) {
    std::string rest(text);
    ModelAddress address;
    bool has_revision = false;
    if (rest.starts_with("hf://")) {
        rest = rest.substr(5);
        if (rest.starts_with("models/")) {
            rest = rest.substr(7);
        }
    } else if (rest.find("://") != std::string::npos) {
        const auto url = parseUrl(rest);
        const auto base = parseUrl(endpoint);
        if (!url.has_value() || !base.has_value() || url->origin() != base->origin()) {
            return addressError(text, "is no address at " + std::string(endpoint));
        }
        const std::string path = url->target.substr(0, url->target.find('?'));
        const auto decoded = percentDecoded(path);
        if (!decoded.has_value()) {
            return addressError(text, "is no valid address");
        }
        auto parts = partsOf(*decoded);
        parts.erase(std::remove(parts.begin(), parts.end(), std::string_view()), parts.end());
        if (parts.size() < 2) {
            return addressError(text, "names no model");
        }
        rest = std::string(parts[0]) + "/" + std::string(parts[1]);
        if (parts.size() >= 4 && (parts[2] == "tree" || parts[2] == "blob" ||
                                  parts[2] == "resolve" || parts[2] == "commit")) {
            address.revision = parts[3];
            has_revision = true;
            if (parts.size() >= 6 && parts[3] == "refs") { // refs/pr/1 is one revision
                address.revision += "/" + std::string(parts[4]) + "/" + std::string(parts[5]);
            }
        }
    }
    if (const size_t at = rest.find('@'); at != std::string::npos && !has_revision) {
        address.revision = rest.substr(at + 1);
        rest.resize(at);
    }
    address.id = rest;
    if (const char* problem = idProblem(address.id)) {
        return addressError(text, problem);
    }
    if (address.revision.size() > kLongestRevision ||
        fileNameProblem(address.revision) != nullptr) {
        return addressError(text, "names no revision behind '@'");
    }
    return address;
}

} // namespace library::hub
