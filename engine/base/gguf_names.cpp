// SPDX-License-Identifier: Apache-2.0
#include "engine/base/gguf_names.h"

#include "engine/base/ascii.h"
#include "engine/base/folder_list.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

namespace engine {

namespace {

constexpr size_t kDigits = 5;
constexpr std::string_view kOf = "-of-";

bool areDigits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Where "00001-of-00003" stands in a name; npos: nowhere.
size_t partsAt(std::string_view name) {
    const size_t of = name.find(kOf);
    const bool is_part =
        of != std::string_view::npos && of > kDigits && name[of - kDigits - 1] == '-' &&
        name.size() >= of + kOf.size() + kDigits && areDigits(name.substr(of - kDigits, kDigits)) &&
        areDigits(name.substr(of + kOf.size(), kDigits));
    return is_part ? of - kDigits : std::string_view::npos;
}

/// "q4_k_m", "iq4_xs", "tq1_0", "mxfp4_moe", "bf16": what llama.cpp calls its file types.
bool isQuantization(std::string_view word) {
    constexpr std::array<std::string_view, 5> kBeginnings = {"q", "iq", "tq", "mxfp", "nvfp"};
    if (word == "bf16" || word == "f16" || word == "f32") {
        return true;
    }
    return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
        return word.starts_with(beginning) && word.size() > beginning.size() &&
               areDigits(word.substr(beginning.size(), 1));
    });
}

} // namespace

GgufRole ggufRole(std::string_view name) {
    const std::string lower = lowered(name.substr(name.rfind('/') + 1));
    if (!lower.ends_with(".gguf")) {
        return GgufRole::None;
    }
    const size_t part = partsAt(lower);
    if (part != std::string::npos && lower.compare(part, kDigits, "00001") != 0) {
        return GgufRole::Part;
    }
    return lower.find("mmproj") != std::string::npos ? GgufRole::Projector
           : lower.starts_with("mtp-")               ? GgufRole::Assistant
                                                     : GgufRole::Model;
}

std::vector<std::string> partNames(const std::string& name) {
    constexpr long kMost = 500;
    const size_t at = partsAt(name);
    if (at == std::string::npos) {
        return {};
    }
    const size_t behind = at + kDigits;
    const long count = std::stol(name.substr(behind + kOf.size(), kDigits));
    std::vector<std::string> names;
    for (long i = 1; i <= count && count <= kMost; ++i) {
        const std::string digits = std::to_string(i);
        names.push_back(name.substr(0, at) + std::string(kDigits - digits.size(), '0') + digits +
                        name.substr(behind));
    }
    return names;
}

std::string ggufQuantization(std::string_view name) {
    name = name.substr(name.rfind('/') + 1);
    if (const size_t part = partsAt(name); part != std::string_view::npos) {
        name = name.substr(0, part - 1);
    } else if (lowered(name).ends_with(".gguf")) {
        name.remove_suffix(5);
    }
    const size_t at = name.find_last_of("-.") + 1; // 0 where there is none
    std::string word = lowered(name.substr(at));
    if (!isQuantization(word)) {
        return {};
    }
    // Unsloth's own choice of types for each tensor.
    const bool is_dynamic = at >= 3 && lowered(name.substr(at - 3, 3)) == "ud-" &&
                            (at == 3 || name[at - 4] == '-' || name[at - 4] == '.');
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return (is_dynamic ? "UD-" : "") + word;
}

std::vector<std::string> ggufFilesIn(const std::filesystem::path& folder, GgufRole role) {
    constexpr size_t kMostNames = 10'000;
    std::error_code failure;
    std::vector<std::string> found;
    for (const std::filesystem::path& path : listFolder(folder, kMostNames, failure)) {
        if (std::string name = utf8Of(path); ggufRole(name) == role) {
            found.push_back(std::move(name));
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace engine
