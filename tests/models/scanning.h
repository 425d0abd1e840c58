// SPDX-License-Identifier: Apache-2.0
// The scan of a file tree to its end.
#pragma once

#include "engine/base/sentence_english.h"
#include "tests/models/trees.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "models/scanner.h"

namespace support {

/// All there is below these roots, without the engine.
inline models::ScanResult scan(std::vector<models::Root> roots, models::Limits limits = {}) {
    models::Scanner scanner;
    models::ScanOptions options;
    options.roots = std::move(roots);
    options.limits = limits;
    options.answer_limit = std::chrono::seconds(60); // a loaded machine is no dead disk
    scanner.start(std::move(options));
    scanner.wait();
    return scanner.result();
}

inline models::Root root(const fs::path& folder, models::Place place = models::Place::UserFolder) {
    return {place, folder};
}

/// The entry of this name; nullptr where there is none.
inline const models::Entry* named(const models::ScanResult& result, std::string_view name) {
    for (const models::Entry& entry : result.entries) {
        if (entry.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

} // namespace support
