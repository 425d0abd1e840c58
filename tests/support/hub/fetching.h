// SPDX-License-Identifier: Apache-2.0
// A whole fetch from the stand-in hub, with times that a test can wait for.
#pragma once

#include "tests/support/files.h"
#include "tests/support/hub/hub_standin.h"

#include <filesystem>
#include <string>

#include "models/hub/cache_layout.h"
#include "models/hub/download.h"

namespace support {

/// Whether a snapshot's files are links to blobs; elsewhere each is the file itself (the C++
/// library for Windows makes no links).
#ifdef _WIN32
inline constexpr bool kMakesLinks = false;
#else
inline constexpr bool kMakesLinks = true;
#endif

/// Hundreds of milliseconds instead of half a minute.
models::hub::Limits shortLimits();

/// A model of three small files and two large ones (300,000 and 200,000 bytes), and two files that
/// are left out.
HubContent smallModel();

struct Fetched {
    bool is_done = false;
    engine::Error error = {}; ///< Where it is not.
    std::string rule;         ///< error's, or "ok".
    models::hub::FetchPlan plan;
};

struct FetchSetup {
    std::filesystem::path cache;
    std::filesystem::path folder = {};
    std::string revision = "main";
    std::string token = {};
    bool has_links = kMakesLinks;
    bool takes_all = false;
    models::hub::Source source = models::hub::Source::Hub;
    models::hub::Limits limits = shortLimits();
};

models::hub::HubOptions hubOptions(const HubStandin& hub, const FetchSetup& setup);
/// Plan and files.
Fetched fetchFrom(const HubStandin& hub, const FetchSetup& setup);

/// What lies on the disk of a model's files, whole or not: blobs and snapshots, no links.
uint64_t keptBytes(const models::hub::RepositoryLayout& layout);

void writeText(const std::filesystem::path& path, const std::string& text);

} // namespace support
