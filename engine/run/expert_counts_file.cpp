// SPDX-License-Identifier: Apache-2.0
// The file: "belfry-experts 1", a line feed, and the counts as uint32, little-endian.
#include "engine/run/expert_counts_file.h"

#include "engine/base/digest.h"
#include "engine/base/file_writer.h"
#include "engine/base/small_file.h"

#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kFirstLine = "belfry-experts 1\n";

} // namespace

std::filesystem::path expertCountsFile(const std::filesystem::path& folder,
                                       const std::string& model) {
    Digest digest = Digest::sha256();
    digest.add(std::as_bytes(std::span(model)));
    return folder / ("experts-" + digest.finish().substr(0, 16));
}

void readExpertCounts(const std::filesystem::path& file, ExpertCounts& counts) {
    const size_t bytes = counts.all().size_bytes();
    const auto text = readSmallFile(file, kFirstLine.size() + bytes);
    if (!text || text->size() != kFirstLine.size() + bytes || !text->starts_with(kFirstLine)) {
        return;
    }
    std::vector<uint32_t> kept(counts.all().size());
    std::memcpy(kept.data(), text->data() + kFirstLine.size(), bytes);
    counts.take(std::move(kept));
}

void keepExpertCounts(const std::filesystem::path& file, const ExpertCounts& counts) {
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    auto writer = FileWriter::create(file, true);
    if (writer.has_value() && (*writer)->write(std::as_bytes(std::span(kFirstLine))).has_value() &&
        (*writer)->write(std::as_bytes(counts.all())).has_value()) {
        (*writer)->makePrivate();
        static_cast<void>((*writer)->commit(/*is_flushing=*/false));
    }
}

} // namespace engine
