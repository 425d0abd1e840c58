// SPDX-License-Identifier: Apache-2.0
// The record of contents: one small file, the newest entries last; see source_contents.h.

#include "engine/load/source_contents.h"

#include "engine/base/file_reader.h"
#include "engine/base/file_writer.h"
#include "engine/load/content_hash.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFileName = "contents.belfry-known";
constexpr uint64_t kMagic = 0x31534e574f4e4b42ULL; ///< "BKNOWNS1" in the file.
constexpr uint64_t kVersion = 2;
constexpr size_t kMaxEntries = size_t{1} << 16; ///< 1 MiB: some fifty models.

using Entries = std::vector<std::pair<uint64_t, uint64_t>>; ///< Place, content; oldest first.

struct Head {
    uint64_t magic = kMagic, version = kVersion, count = 0, checksum = 0;
};

Entries readEntries(const fs::path& folder) {
    const auto file = FileReader::open(folder / kFileName);
    Head head;
    if (!file || !(*file)->read(0, std::as_writable_bytes(std::span(&head, 1)))) {
        return {};
    }
    const bool is_sane = head.magic == kMagic && head.version == kVersion &&
                         head.count <= kMaxEntries &&
                         (*file)->sizeBytes() == sizeof(Head) + head.count * 16;
    std::vector<uint64_t> words(is_sane ? static_cast<size_t>(head.count) * 2 : 0);
    if (!is_sane || !(*file)->read(sizeof(Head), std::as_writable_bytes(std::span(words))) ||
        contentHash(std::as_bytes(std::span(words)), kVersion) != head.checksum) {
        return {};
    }
    Entries entries;
    for (size_t i = 0; i < words.size(); i += 2) {
        entries.emplace_back(words[i], words[i + 1]);
    }
    return entries;
}

Result<void> writeEntries(const fs::path& folder, const Entries& entries) {
    std::vector<uint64_t> words;
    for (const auto& [place, content] : entries) {
        words.insert(words.end(), {place, content});
    }
    Head head;
    head.count = entries.size();
    head.checksum = contentHash(std::as_bytes(std::span(words)), kVersion);
    ENGINE_ASSIGN(const auto file, FileWriter::create(folder / kFileName, true));
    ENGINE_TRY(file->write(std::as_bytes(std::span(&head, 1))));
    ENGINE_TRY(file->write(std::as_bytes(std::span(words))));
    return file->commit(/*is_flushing=*/false); // the checksum finds what a power cut leaves
}

} // namespace

SourceContents::SourceContents(const TensorSource& source, fs::path folder)
    : source_(&source), folder_(std::move(folder)) {
    if (folder_.empty()) {
        return;
    }
    stamps_ = stamps();
    for (const auto& [place, content] : readEntries(folder_)) {
        known_[place] = content;
    }
}

std::vector<std::optional<FileStamp>> SourceContents::stamps() const {
    std::vector<std::optional<FileStamp>> result;
    for (size_t i = 0; i < source_->fileNames().size(); ++i) {
        result.push_back(source_->fileStamp(static_cast<int>(i)));
    }
    return result;
}

std::optional<uint64_t> SourceContents::place(const WeightOrigin& origin) const {
    const TensorInfo& info = *origin.info;
    std::vector<uint64_t> words = {static_cast<uint64_t>(info.type), info.file_offset,
                                   info.size_bytes, info.shape.size()};
    for (const int64_t side : info.shape) {
        words.push_back(static_cast<uint64_t>(side));
    }
    for (size_t i = 0; i < stamps_.size(); ++i) {
        // The statistics of a quantized weight may lie in any of the files.
        if (origin.kind == StoredAs::Dense && static_cast<int>(i) != info.file_index) {
            continue;
        }
        if (!stamps_[i]) {
            return std::nullopt;
        }
        words.insert(words.end(), {stamps_[i]->file_number, stamps_[i]->size_bytes,
                                   static_cast<uint64_t>(stamps_[i]->modified),
                                   static_cast<uint64_t>(stamps_[i]->changed)});
    }
    if (stamps_.empty()) {
        return std::nullopt;
    }
    const uint64_t name = contentHash(std::as_bytes(std::span(info.name)));
    return contentHash(std::as_bytes(std::span(words)), name);
}

std::optional<uint64_t> SourceContents::find(const WeightOrigin& origin) const {
    const auto where = place(origin);
    const auto found = where ? known_.find(*where) : known_.end();
    return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void SourceContents::learn(const WeightOrigin& origin, uint64_t content) {
    const auto where = place(origin);
    if (where && find(origin) != content) {
        known_[*where] = content;
        learned_.emplace_back(*where, content);
    }
}

Result<void> SourceContents::save() {
    std::error_code failure;
    if (learned_.empty() || !fs::is_directory(folder_, failure)) {
        return {};
    }
    const Entries learned = std::exchange(learned_, {});
    if (stamps() != stamps_) {
        return {}; // some may have been read before, some after the change
    }
    Entries entries = readEntries(folder_); // with what others have added meanwhile
    std::erase_if(entries, [&](const auto& entry) {
        return std::any_of(learned.begin(), learned.end(),
                           [&](const auto& fresh) { return fresh.first == entry.first; });
    });
    entries.insert(entries.end(), learned.begin(), learned.end());
    if (entries.size() > kMaxEntries) {
        entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kMaxEntries));
    }
    return writeEntries(folder_, entries);
}

} // namespace engine
