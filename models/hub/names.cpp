// SPDX-License-Identifier: Apache-2.0
#include "models/hub/names.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "models/hub/cache_layout.h"
#include "models/hub/url.h"

namespace models::hub {

using engine::Error;
using engine::ErrorCode;
using engine::phrase;
using engine::Result;
using engine::said;
using engine::Sentence;

namespace {

constexpr size_t kLongestId = 96;
constexpr size_t kLongestPart = 255;
constexpr size_t kLongestName = 1024;
constexpr size_t kLongestRevision = 200;

Error addressError(std::string_view text, Sentence what) {
    return {ErrorCode::InvalidRequest,
            said("%1 %2; expected OWNER/NAME, OWNER/NAME@REVISION or the address of a model's page",
                 engine::inQuotes(text), std::move(what)),
            {{"rule", "HubAddress"}}};
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
        return phrase("is no model's name: it has no characters or more than 96").text;
    }
    const auto parts = partsOf(id);
    if (parts.size() > 2) {
        return phrase("is no model's name: it has more than one '/'").text;
    }
    for (const std::string_view part : parts) {
        const bool is_plain = std::all_of(part.begin(), part.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                   c == '.';
        });
        if (part.empty() || !is_plain) {
            return phrase("is no model's name: letters, digits, '-', '_' and '.' are allowed").text;
        }
        if (part.front() == '-' || part.front() == '.' || part.back() == '-' ||
            part.back() == '.') {
            return phrase("is no model's name: it begins or ends with '-' or '.'").text;
        }
    }
    if (id.find("--") != std::string_view::npos || id.find("..") != std::string_view::npos ||
        id.ends_with(".git")) {
        return phrase("is no model's name: \"--\", \"..\" and \".git\" at the end are not allowed")
            .text;
    }
    return nullptr;
}

bool isDevice(std::string_view part) {
    static constexpr std::array<std::string_view, 6> kDevices = {"con", "prn",    "aux",
                                                                 "nul", "conin$", "conout$"};
    const std::string stem = engine::lowered(part.substr(0, part.find('.')));
    if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) {
        return true;
    }
    return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
           stem[3] >= '0' && stem[3] <= '9';
}

/// What no computer should have as a part of a file's name.
const char* partProblem(std::string_view part) {
    if (part.empty()) {
        return phrase("has an empty part between two '/', or begins or ends with one").text;
    }
    if (part.size() > kLongestPart) {
        return phrase("has a part of more than 255 bytes").text;
    }
    for (const char c : part) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
            return phrase("holds a control character").text;
        }
    }
    if (part == "." || part == "..") {
        return phrase("leads out of its folder (\".\" or \"..\")").text;
    }
    return nullptr;
}

const char* windowsProblem(std::string_view part) {
    if (part.find_first_of("\\:*?\"<>|") != std::string_view::npos) {
        return phrase("holds a character that Windows does not allow in a file name (a drive "
                      "letter, another separator)")
            .text;
    }
    if (part.back() == '.' || part.back() == ' ') {
        return phrase("ends with a dot or a blank, which Windows leaves out").text;
    }
    return isDevice(part) ? phrase("is the name of a device on Windows").text : nullptr;
}

const char* nameProblem(std::string_view name, bool is_for_windows) {
    if (name.empty() || name.size() > kLongestName) {
        return phrase("is empty or longer than 1024 bytes").text;
    }
    if (!engine::isValidUtf8(name)) {
        return phrase("is not UTF-8").text;
    }
    for (const std::string_view part : partsOf(name)) {
        const char* problem = partProblem(part);
        if (problem == nullptr && is_for_windows) {
            problem = windowsProblem(part);
        }
        if (problem != nullptr) {
            return problem;
        }
    }
    return nullptr;
}

} // namespace

const char* fileNameProblem(std::string_view name) {
    return nameProblem(name, /*is_for_windows=*/true);
}

const char* fileNameProblemHere(std::string_view name) {
#ifdef _WIN32
    return nameProblem(name, /*is_for_windows=*/true);
#else
    return nameProblem(name, /*is_for_windows=*/false);
#endif
}

bool mayLeaveFolder(std::string_view name) {
    const auto parts = partsOf(name);
    return std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
        return part.empty() || part == "." || part == "..";
    });
}

namespace {

std::string nameOnDisk(std::string_view name) {
#ifdef _WIN32
    return engine::lowered(name);
#else
    return std::string(name);
#endif
}

} // namespace

std::pair<std::string, std::string> clashingNames(const std::vector<std::string>& names) {
    std::map<std::string, std::string> files;
    for (const std::string& name : names) {
        if (const auto [entry, is_new] = files.emplace(nameOnDisk(name), name); !is_new) {
            return {entry->second, name};
        }
    }
    for (const std::string& name : names) {
        if (name.size() > kLongestName) {
            continue; // refused as it is (nameProblem()), and a look at each folder would be long
        }
        for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
            if (const auto found = files.find(nameOnDisk(name.substr(0, at)));
                found != files.end()) {
                return {found->second, name};
            }
        }
    }
    return {};
}

namespace {

/// What a person copies: blanks around it, '/' at its end, the hub's host without https://, or an
/// address at Hugging Face, whose models a mirror has under the same names.
std::string asAddress(std::string_view text, std::string_view endpoint) {
    constexpr std::string_view kBlanks = " \t\r\n";
    constexpr std::string_view kScheme = "https://";
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    text = text.substr(0, text.find_last_not_of(" \t\r\n/") + 1);
    std::string_view rest = text;
    rest.remove_prefix(rest.starts_with(kScheme) ? kScheme.size() : 0);
    std::string_view host = endpoint;
    host.remove_prefix(host.starts_with(kScheme) ? kScheme.size() : 0);
    const bool is_mirrored = rest.starts_with("hf.co/") || rest.starts_with("huggingface.co/");
    if (is_mirrored ||
        (endpoint.starts_with(kScheme) && rest.starts_with(std::string(host) + "/"))) {
        return std::string(endpoint) + std::string(rest.substr(rest.find('/')));
    }
    return std::string(text);
}

} // namespace

Result<ModelAddress> parseAddress(std::string_view text, std::string_view endpoint) {
    std::string rest = asAddress(text, endpoint);
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
            return addressError(text, said("is no address at %1", endpoint));
        }
        std::string path = url->target.substr(0, url->target.find('?'));
        const std::string below = base->target == "/" ? std::string() : base->target;
        if (path.starts_with(below + "/")) { // a mirror's hub may lie below a path of its own
            path.erase(0, below.size());
        }
        const auto decoded = percentDecoded(path);
        if (!decoded.has_value()) {
            return addressError(text, phrase("is no valid address"));
        }
        auto parts = partsOf(*decoded);
        parts.erase(std::remove(parts.begin(), parts.end(), std::string_view()), parts.end());
        if (parts.size() < 2) {
            return addressError(text, phrase("names no model"));
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
    if (const size_t colon = rest.find(':'); colon != std::string::npos) {
        address.quantization = rest.substr(colon + 1);
        rest.resize(colon);
        if (address.quantization.empty() || fileNameProblem(address.quantization) != nullptr ||
            address.quantization.find('/') != std::string::npos) {
            return addressError(text, phrase("names no quantization behind ':'"));
        }
    }
    address.id = rest;
    if (const char* problem = idProblem(address.id)) {
        return addressError(text, engine::Phrase{problem});
    }
    if (address.revision.size() > kLongestRevision ||
        fileNameProblem(address.revision) != nullptr) {
        return addressError(text, phrase("names no revision behind '@'"));
    }
    return address;
}

} // namespace models::hub
