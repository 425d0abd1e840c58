// SPDX-License-Identifier: Apache-2.0
// The file: "belfry-cards 1", then two lines for each key: the key, and its two numbers.
#include "engine/devices/card_costs_file.h"

#include "engine/base/file_writer.h"
#include "engine/base/small_file.h"

#include <locale>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace engine {

namespace {

using kernels::CardCosts;

constexpr const char* kFirstLine = "belfry-cards 1";
constexpr size_t kMaxFileBytes = 16384;
constexpr size_t kMaxEntries = 32; ///< Beyond these, the oldest entries go.

using Entries = std::vector<std::pair<std::string, CardCosts>>;

/// Figures that a card can have; anything else is a damaged file.
bool isLikely(const CardCosts& costs) {
    return costs.context_bytes <= uint64_t{2} << 30 && costs.granularity >= 256 &&
           costs.granularity <= uint64_t{256} << 20 &&
           (costs.granularity & (costs.granularity - 1)) == 0;
}

Entries readEntries(const std::filesystem::path& file) {
    Entries entries;
    const auto text = readSmallFile(file, kMaxFileBytes);
    std::istringstream in(text ? *text : std::string());
    in.imbue(std::locale::classic());
    std::string line;
    if (!std::getline(in, line) || line != kFirstLine) {
        return entries;
    }
    CardCosts costs;
    while (std::getline(in, line) && in >> costs.context_bytes >> costs.granularity) {
        if (isLikely(costs)) {
            entries.emplace_back(line, costs);
        }
        std::getline(in, line); // the end of the numbers' line
    }
    return entries;
}

} // namespace

CardCosts keptCardCosts(const std::filesystem::path& file, const std::string& key) {
    for (const auto& [known, costs] : readEntries(file)) {
        if (known == key) {
            return costs;
        }
    }
    return {};
}

void keepCardCosts(const std::filesystem::path& file,
                   const std::string& key,
                   const CardCosts& costs) {
    if (file.empty() || key.find('\n') != std::string::npos) {
        return;
    }
    Entries entries = readEntries(file);
    std::erase_if(entries, [&key](const auto& entry) { return entry.first == key; });
    if (costs.context_bytes > 0) {
        entries.emplace_back(key, costs);
    }
    if (entries.size() > kMaxEntries) {
        entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(kMaxEntries));
    }
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << kFirstLine << "\n";
    for (const auto& [known, figures] : entries) {
        out << known << "\n" << figures.context_bytes << " " << figures.granularity << "\n";
    }
    const std::string text = out.str();
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    auto writer = FileWriter::create(file, true);
    if (writer.has_value() && (*writer)->write(std::as_bytes(std::span(text))).has_value()) {
        (*writer)->makePrivate();
        static_cast<void>((*writer)->commit(/*is_flushing=*/false));
    }
}

} // namespace engine
