// SPDX-License-Identifier: Apache-2.0
#include "models/hub/file_choice.h"

#include "engine/base/ascii.h"
#include "engine/base/gguf_names.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>

#include "models/hub/hub_error.h"
#include "models/hub/names.h"

namespace models::hub {

using engine::phrase;
using engine::Result;
using engine::said;

namespace {

constexpr uint64_t kLargestText = uint64_t{64} << 20; ///< A tokenizer has 32 MB.

bool isText(const std::string& name) {
    return name.starts_with("license") || name.starts_with("notice") || name == "readme.md";
}

bool isWanted(const ListedFile& file) {
    if (file.name.find('/') != std::string::npos) {
        return false;
    }
    const std::string name = engine::lowered(file.name);
    if (name.ends_with(".safetensors")) {
        return true;
    }
    if (isText(name)) {
        return file.size_bytes <= kLargestText;
    }
    static constexpr std::array<std::string_view, 3> kTexts = {".json", ".jinja", ".model"};
    const bool is_text = std::any_of(kTexts.begin(), kTexts.end(),
                                     [&](std::string_view end) { return name.ends_with(end); });
    // Indices of shards in forms that are left out.
    const bool is_other_index =
        name.ends_with(".index.json") && name.find("safetensors") == std::string::npos;
    return is_text && !is_other_index && file.size_bytes <= kLargestText;
}

bool hasEnding(const std::vector<ListedFile>& files, std::string_view ending) {
    return std::any_of(files.begin(), files.end(), [&](const ListedFile& file) {
        return engine::lowered(file.name).ends_with(ending);
    });
}

/// Taken where nothing was asked for: the smallest place in this list, else as the files come.
size_t rankOf(const GgufModel& model) {
    constexpr std::array<std::string_view, 8> kOrder = {"Q4_K_M", "UD-Q4_K_XL", "Q4_K_S", "Q4_0",
                                                        "Q5_K_M", "Q4_1",       "Q8_0",   "BF16"};
    return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), model.quantization) -
                               kOrder.begin());
}

/// The file of this role in the repository's own folder whose quantization stands first in
/// `order`, else the first.
std::optional<ListedFile> besideIn(const std::vector<ListedFile>& files,
                                   engine::GgufRole role,
                                   const std::vector<std::string>& order) {
    std::optional<ListedFile> found;
    size_t best = order.size() + 1;
    for (const ListedFile& file : files) {
        if (engine::ggufRole(file.name) != role || file.name.find('/') != std::string::npos) {
            continue;
        }
        const auto at = std::find(order.begin(), order.end(), engine::ggufQuantization(file.name));
        if (const auto rank = static_cast<size_t>(at - order.begin()); rank < best) {
            best = rank;
            found = file;
        }
    }
    return found;
}

/// Configurations and weights are asked for by their exact names: never taken for a second
/// spelling.
bool isKeptApart([[maybe_unused]] const ListedFile& file) {
#ifdef _WIN32
    const std::string name = engine::lowered(file.name);
    return !name.starts_with("readme") && !name.starts_with("license") &&
           !name.starts_with("notice");
#else
    return true;
#endif
}

} // namespace

FileChoice chooseFiles(const std::vector<ListedFile>& files, bool takes_all) {
    FileChoice choice;
    std::set<std::string> names;
    for (const ListedFile& file : files) {
        // No load asks for a name that this computer cannot keep; an index of weights may.
        const bool can_go_without =
            file.problem != nullptr && !engine::lowered(file.name).ends_with(".safetensors");
        const bool is_wanted =
            takes_all || (isWanted(file) && !can_go_without &&
                          (isKeptApart(file) || names.insert(engine::lowered(file.name)).second));
        (is_wanted ? choice.wanted : choice.left_out).push_back(file);
    }
    std::sort(choice.wanted.begin(), choice.wanted.end(),
              [](const ListedFile& a, const ListedFile& b) {
                  return a.is_large != b.is_large ? b.is_large : a.name < b.name;
              });
    return choice;
}

uint64_t GgufModel::bytes() const {
    uint64_t sum = 0;
    for (const ListedFile& part : parts) {
        sum += part.size_bytes;
    }
    return sum;
}

std::optional<GgufFiles> chooseGguf(const std::vector<ListedFile>& files,
                                    const std::string& quantization) {
    GgufFiles found;
    for (const ListedFile& file : files) {
        if (engine::ggufRole(file.name) != engine::GgufRole::Model) {
            continue;
        }
        GgufModel model;
        model.quantization = engine::ggufQuantization(file.name);
        if (model.quantization.empty()) {
            model.quantization = file.name.substr(file.name.rfind('/') + 1);
        }
        const std::vector<std::string> parts = engine::partNames(file.name);
        std::copy_if(files.begin(), files.end(), std::back_inserter(model.parts),
                     [&](const ListedFile& other) {
                         return other.name == file.name ||
                                std::find(parts.begin(), parts.end(), other.name) != parts.end();
                     });
        if (parts.empty() || model.parts.size() == parts.size()) {
            found.models.push_back(std::move(model));
        }
    }
    std::stable_sort(found.models.begin(), found.models.end(),
                     [](const auto& a, const auto& b) { return a.bytes() < b.bytes(); });
    const std::string wanted = engine::lowered(quantization);
    const auto chosen =
        wanted.empty()
            ? std::min_element(found.models.begin(), found.models.end(),
                               [](const auto& a, const auto& b) { return rankOf(a) < rankOf(b); })
            : std::find_if(found.models.begin(), found.models.end(), [&](const auto& model) {
                  return engine::lowered(model.quantization) == wanted;
              });
    if (chosen == found.models.end()) {
        return std::nullopt;
    }
    found.chosen = static_cast<size_t>(chosen - found.models.begin());
    found.projector = besideIn(files, engine::GgufRole::Projector, {"BF16", "F32", "F16"});
    found.assistant = besideIn(files, engine::GgufRole::Assistant, {chosen->quantization});
    return found;
}

FileChoice chooseFiles(const std::vector<ListedFile>& files, const GgufFiles& gguf) {
    std::vector<ListedFile> wanted = gguf.models[gguf.chosen].parts;
    for (const auto& beside : {gguf.projector, gguf.assistant}) {
        if (beside.has_value()) {
            wanted.push_back(*beside);
        }
    }
    std::vector<ListedFile> texts;
    FileChoice choice;
    for (const ListedFile& file : files) {
        const bool is_taken = std::any_of(wanted.begin(), wanted.end(), [&](const auto& taken) {
            return taken.name == file.name;
        });
        if (isText(engine::lowered(file.name))) {
            texts.push_back(file);
        } else if (!is_taken) {
            choice.left_out.push_back(file);
        }
    }
    choice.wanted = chooseFiles(texts, /*takes_all=*/false).wanted; // two spellings are one
    choice.wanted.insert(choice.wanted.begin(), wanted.begin(), wanted.end());
    return choice;
}

bool hasSafetensors(const std::vector<ListedFile>& files) {
    return hasEnding(chooseFiles(files, /*takes_all=*/false).wanted, ".safetensors");
}

Result<void> checkNames(const std::vector<ListedFile>& files, const std::string& id) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const ListedFile& file : files) {
        if (file.problem != nullptr) {
            return hubError("HubListing",
                            said("%1: the file name %2 %3, so this computer cannot keep it; "
                                 "nothing was fetched; "
                                 "try another computer, or ask the owner to rename it",
                                 id, engine::inQuotes(file.name), engine::Phrase{file.problem}));
        }
        names.push_back(file.name);
    }
    const auto [first, second] = clashingNames(names);
    if (!second.empty()) {
        return hubError(
            "HubListing",
            said("%1: this computer cannot keep %2 and %3 side by side; nothing was fetched; try "
                 "another computer, or ask the owner to rename one",
                 id, engine::inQuotes(first), engine::inQuotes(second)));
    }
    return {};
}

engine::Phrase nothingToLoad(const std::vector<ListedFile>& files) {
    if (hasSafetensors(files)) {
        return {};
    }
    if (files.empty()) {
        return phrase("has no files");
    }
    if (hasEnding(files, ".gguf")) {
        return phrase("has projectors, assistants or parts of GGUF models and no whole model: look "
                      "for the repository that they belong to");
    }
    if (hasEnding(files, ".bin") || hasEnding(files, ".pt") || hasEnding(files, ".pth")) {
        return phrase("has its weights as .bin or .pt only, which can hold programs: Belfry reads "
                      ".safetensors (the hub's page \"safetensors/convert\" makes them)");
    }
    return phrase("has neither a .safetensors file in its own folder nor a GGUF model, so there is "
                  "nothing to load");
}

} // namespace models::hub
