// SPDX-License-Identifier: Apache-2.0
#include "app/cli/model_names.h"

#include "app/cli/interrupt.h"
#include "app/common/library_roots.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "models/names.h"

namespace cli {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using models::Kind;

namespace {

bool isNoSuchName(const Error& error) {
    return std::find(error.details.begin(), error.details.end(),
                     std::pair<std::string, std::string>("rule", "NoSuchName")) !=
           error.details.end();
}

Error notFound(const std::string& word, Kind kind, const models::ScanResult& looked) {
    const bool is_model = kind == Kind::Model;
    std::string message = word + ": there is no such folder, and the library has no " +
                          (is_model ? "model" : "adapter") + " of this name";
    const models::WantedName wanted = models::splitName(word);
    message +=
        models::isHubId(wanted.name.substr(0, wanted.name.find(':')))
            ? ". If it is a repository on the Hugging Face Hub, get it with: belfry-cli get " + word
            : "; belfry-cli models lists what there is";
    for (const models::RootReport& report : looked.roots) {
        if (report.outcome == models::RootReport::Outcome::NotAnswering) {
            message += "\n" + engine::inEnglish(report.sentence);
        }
    }
    return {ErrorCode::InvalidFile,
            message,
            {{"rule", "FileMissing"}, {"file", is_model ? "config.json" : "adapter_config.json"}}};
}

/// The path that `word` means; `projector` is set where the library knows one.
Result<std::string> resolved(const std::string& word, Kind kind, std::string* projector = nullptr) {
    std::error_code failure;
    if (word.empty() || word == "demo" || word.starts_with("shape:") ||
        fs::exists(engine::pathFromUtf8(word), failure) || !models::canBeName(word)) {
        return word;
    }
    models::ScanOptions options;
    const models::WantedName wanted = models::splitName(word);
    if (models::isHubId(wanted.name)) {
        // Most often it is there, and nothing else needs to be looked at.
        options.wanted.repository = wanted.name;
        for (const models::Root& root : app::libraryRoots()) {
            if (root.place == models::Place::HubCache) {
                options.roots.push_back(root);
            }
        }
        ENGINE_ASSIGN(const models::ScanResult cached, scanLibrary(std::move(options)));
        const auto entry = models::resolveName(word, kind, cached.entries);
        if (entry.has_value()) {
            return engine::utf8Of(entry->path);
        }
        if (!isNoSuchName(entry.error())) {
            return entry.error();
        }
        options = {};
    }
    options.roots = app::libraryRoots();
    const std::vector<models::Root> recent = app::recentRoots();
    options.roots.insert(options.roots.end(), recent.begin(), recent.end());
    ENGINE_ASSIGN(const models::ScanResult found, scanLibrary(std::move(options)));
    const auto entry = models::resolveName(word, kind, found.entries);
    if (entry.has_value()) {
        if (projector != nullptr && !entry->projector.empty()) {
            *projector = engine::utf8Of(entry->projector);
        }
        return engine::utf8Of(entry->path);
    }
    return isNoSuchName(entry.error()) ? notFound(word, kind, found) : entry.error();
}

} // namespace

Result<models::ScanResult> scanLibrary(models::ScanOptions options, models::ScanListener listener) {
    constexpr std::chrono::milliseconds kLookAtInterrupt{50};
    models::Scanner scanner;
    scanner.start(std::move(options), std::move(listener));
    while (!scanner.waitFor(kLookAtInterrupt)) {
        if (interruptToken().stop_requested()) {
            scanner.cancel();
            return Error{ErrorCode::Cancelled, "the search for models was ended by a signal"};
        }
    }
    return scanner.result();
}

Result<void> resolveNames(Arguments& arguments) {
    std::string projector;
    ENGINE_ASSIGN(arguments.model, resolved(arguments.model, Kind::Model, &projector));
    arguments.load.model = arguments.model;
    if (arguments.load.projector.empty()) {
        arguments.load.projector = projector;
    }
    ENGINE_ASSIGN(arguments.second_model, resolved(arguments.second_model, Kind::Model));
    for (engine::AdapterChoice& adapter : arguments.load.adapters) {
        ENGINE_ASSIGN(adapter.folder, resolved(adapter.folder, Kind::Adapter));
    }
    return {};
}

} // namespace cli
