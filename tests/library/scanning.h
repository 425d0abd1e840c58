// SPDX-License-Identifier: Apache-2.0
// The scan of a file tree to its end.
#pragma once

#include "tests/library/trees.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "library/scanner.h"

namespace support {

/// All there is below these roots, without the engine.
inline library::ScanResult scan(std::vector<library::Root> roots, library::Limits limits = {}) {
    library::Scanner scanner;
    library::ScanOptions options;
    options.roots = std::move(roots);
    options.limits = limits;
    options.answer_limit = std::chrono::seconds(60); // a loaded machine is no dead disk
    scanner.start(std::move(options));
    scanner.wait();
    return scanner.result();
}

inline library::Root root(const fs::path& folder,
                          library::Place place = library::Place::UserFolder) {
    return {place, folder};
}

/// The entry of this name; nullptr where there is none.
inline const library::Entry* named(const library::ScanResult& result, std::string_view name) {
    for (const library::Entry& entry : result.entries) {
        if (entry.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

} // namespace support
