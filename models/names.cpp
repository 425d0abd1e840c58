// SPDX-License-Identifier: Apache-2.0
#include "models/names.h"

#include "engine/base/ascii.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace models {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

std::string_view lastPart(std::string_view name) {
    return name.substr(name.rfind('/') + 1); // npos + 1 = 0
}

bool isNamePart(std::string_view part) {
    return !part.empty() && part[0] != '.' && part[0] != '~' &&
           std::all_of(part.begin(), part.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
           });
}

bool isOfRevision(const Entry& entry, const std::string& revision) {
    constexpr size_t kFewestDigits = 7;
    return revision.empty() ||
           std::find(entry.refs.begin(), entry.refs.end(), revision) != entry.refs.end() ||
           (revision.size() >= kFewestDigits &&
            entry.commit.starts_with(engine::lowered(revision)));
}

/// What a GGUF file is called as well, "owner/name/m-Q4_K_M.gguf" by its folder and, as Ollama and
/// llama.cpp have it, by folder and quantization: "owner/name", "owner/name:Q4_K_M".
std::vector<std::string> otherNames(const Entry& entry) {
    const size_t slash = entry.name.rfind('/');
    if (entry.form != Form::Gguf || slash == std::string::npos) {
        return {};
    }
    const std::string folder = entry.name.substr(0, slash);
    return {folder, folder + ":" + entry.precision};
}

/// Those that agree best with the name; empty: none does.
std::vector<const Entry*>
candidates(const WantedName& wanted, Kind kind, const std::vector<Entry>& entries) {
    using Agrees = std::function<bool(const std::string&)>;
    const std::string small = engine::lowered(wanted.name);
    const bool is_part = wanted.name.find('/') == std::string::npos;
    const std::vector<Agrees> degrees = {
        [&](const std::string& name) { return name == wanted.name; },
        [&](const std::string& name) { return engine::lowered(name) == small; },
        [&](const std::string& name) { return is_part && lastPart(name) == wanted.name; },
        [&](const std::string& name) {
            return is_part && engine::lowered(lastPart(name)) == small;
        },
    };
    std::vector<const Entry*> found;
    for (const bool takes_others : {false, true}) {
        for (const Agrees& agrees : degrees) {
            for (const Entry& entry : entries) {
                const auto names = takes_others ? otherNames(entry) : std::vector{entry.name};
                if (entry.kind == kind && isOfRevision(entry, wanted.revision) &&
                    std::any_of(names.begin(), names.end(), agrees)) {
                    found.push_back(&entry);
                }
            }
            if (!found.empty()) {
                return found;
            }
        }
    }
    return found;
}

/// Better first: usable, of main, newer.
bool isBetter(const Entry* a, const Entry* b) {
    const auto key = [](const Entry& entry) {
        const bool is_main =
            std::find(entry.refs.begin(), entry.refs.end(), "main") != entry.refs.end();
        return std::tuple(entry.state, !is_main, -entry.modified, entry.path);
    };
    return key(*a) < key(*b);
}

} // namespace

WantedName splitName(std::string_view word) {
    const size_t at = word.rfind('@');
    if (at == std::string_view::npos || at == 0) {
        return {std::string(word), {}};
    }
    return {std::string(word.substr(0, at)), std::string(word.substr(at + 1))};
}

bool isHubId(std::string_view name) {
    const size_t slash = name.find('/');
    return slash != std::string_view::npos && isNamePart(name.substr(0, slash)) &&
           isNamePart(name.substr(slash + 1));
}

bool canBeName(std::string_view word) {
    return !word.empty() && word[0] != '/' && word[0] != '.' && word[0] != '~' &&
           word.find('\\') == std::string_view::npos && word.substr(1, 1) != ":" &&
           word.back() != '/';
}

Result<Entry> resolveName(std::string_view word, Kind kind, const std::vector<Entry>& entries) {
    // A folder's name may hold an '@' of its own.
    std::vector<const Entry*> found = candidates({std::string(word), {}}, kind, entries);
    if (found.empty()) {
        found = candidates(splitName(word), kind, entries);
    }
    const std::string shown(word);
    if (found.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     kind == Kind::Model
                         ? said("%1: the library has no model of this name", shown)
                         : said("%1: the library has no adapter of this name", shown),
                     {{"rule", "NoSuchName"}}};
    }
    std::sort(found.begin(), found.end(), isBetter);
    const Entry& best = *found.front();
    std::string places;
    bool is_ambiguous = false;
    for (const Entry* entry : found) {
        const bool is_revision = !entry->repository.empty() &&
                                 entry->repository == best.repository && entry->name == best.name;
        // What cannot be used does not stand in the way of what can.
        is_ambiguous =
            is_ambiguous || (entry != &best && !is_revision && entry->state == best.state);
        places += "\n  " + entry->name +
                  (entry->commit.empty() ? "" : "@" + entry->revisionShown()) + "  " +
                  engine::utf8Of(entry->path);
    }
    if (is_ambiguous) {
        return Error{ErrorCode::InvalidRequest,
                     said("%1: several in the library have this name; give the folder of one:%2",
                          shown, places),
                     {{"rule", "SeveralOfThisName"}}};
    }
    return best;
}

} // namespace models
