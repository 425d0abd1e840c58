// SPDX-License-Identifier: Apache-2.0
#include "models/hub/file_choice.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "models/hub/hub_error.h"
#include "models/hub/names.h"

namespace models::hub {

using engine::phrase;
using engine::Result;
using engine::said;

namespace {

constexpr uint64_t kLargestText = uint64_t{64} << 20; ///< A tokenizer has 32 MB.

bool isWanted(const ListedFile& file) {
    if (file.name.find('/') != std::string::npos) {
        return false;
    }
    const std::string name = engine::lowered(file.name);
    if (name.ends_with(".safetensors")) {
        return true;
    }
    if (name.starts_with("license") || name.starts_with("notice") || name == "readme.md") {
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
    const FileChoice choice = chooseFiles(files, /*takes_all=*/false);
    if (hasEnding(choice.wanted, ".safetensors")) {
        return {};
    }
    if (files.empty()) {
        return phrase("has no files");
    }
    if (hasEnding(files, ".gguf")) {
        return phrase("has its weights as .gguf only, which Belfry does not read: look for the "
                      "model that it was made of, with .safetensors files");
    }
    if (hasEnding(files, ".bin") || hasEnding(files, ".pt") || hasEnding(files, ".pth")) {
        return phrase("has its weights as .bin or .pt only, which can hold programs: Belfry reads "
                      ".safetensors (the hub's page \"safetensors/convert\" makes them)");
    }
    return phrase("has no .safetensors file in its own folder, so there is nothing to load");
}

} // namespace models::hub
