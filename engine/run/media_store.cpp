// SPDX-License-Identifier: Apache-2.0
#include "engine/run/media_store.h"

#include "engine/base/file_reader.h"
#include "engine/base/paths.h"
#include "engine/base/seconds_since.h"
#include "engine/load/content_hash.h"
#include "engine/run/finite.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

/// Files whose content is remembered by their stamp: names and a hash each.
constexpr size_t kMaxKnownFiles = 4096;

Result<std::unique_ptr<FileReader>> openFile(const std::string& path) {
    std::error_code error;
    const fs::path target =
        fs::canonical(pathFromUtf8(path), error); // a link is followed to its file
    if (!error) {
        auto file = FileReader::open(target, path);
        if (file.has_value()) {
            return file;
        }
    }
    return Error{ErrorCode::InvalidFile, said("%1: not a readable file", path)};
}

uint64_t mixed(uint64_t hash, const void* data, size_t size) {
    return contentHash(std::span(static_cast<const std::byte*>(data), size), hash);
}

/// Kept only where they can be used.
Result<void> checkFeatures(std::span<const float> features, std::string_view encoder) {
    if (areFinite(features)) {
        return {};
    }
    return notFiniteError("the " + std::string(encoder) + " tower gave values that are not finite",
                          std::string(encoder));
}

/// Errors of a media file name the file first.
Error withPath(Error error, const std::string& path) {
    if (error.message.find(path) == std::string::npos) {
        error.say(said("%1: %2", path, error.told()));
    }
    return error;
}

} // namespace

Result<std::shared_ptr<const std::vector<std::byte>>> MediaStore::read(const std::string& path,
                                                                       size_t max_bytes) {
    ENGINE_ASSIGN(const std::unique_ptr<FileReader> file, openFile(path));
    if (file->sizeBytes() > max_bytes) {
        return Error{ErrorCode::Unsupported,
                     said("%1: %2 bytes, at most %3 are read", path, file->sizeBytes(), max_bytes)};
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(file->sizeBytes()));
    if (!file->read(0, *bytes).has_value()) {
        return Error{ErrorCode::InvalidFile, said("%1: could not be read to its end", path)};
    }
    ++files_read_;
    return std::shared_ptr<const std::vector<std::byte>>(std::move(bytes));
}

Result<OpenMedia>
MediaStore::open(const MessagePart& part, int64_t image_tokens, const MediaEncoder& encoder) {
    OpenMedia media;
    media.path = part.text;
    media.wish = {image_tokens, part.cut_start_s, part.cut_length_s};
    std::optional<FileStamp> stamp; // before the bytes are read: a change meanwhile shows later
    {
        ENGINE_ASSIGN(const std::unique_ptr<FileReader> file, openFile(media.path));
        stamp = file->stamp();
    }
    const auto known = known_.find(media.path);
    if (stamp && known != known_.end() && known->second.stamp == *stamp) {
        media.content = known->second.content;
        return media;
    }
    ENGINE_ASSIGN(media.bytes, read(media.path, encoder.maxFileBytes()));
    media.content = contentHash(*media.bytes);
    if (stamp) {
        if (known_.size() >= kMaxKnownFiles) {
            known_.clear();
        }
        known_[media.path] = {*stamp, media.content};
    }
    return media;
}

void MediaStore::keep(std::shared_ptr<const EncodedMedia> media) {
    entries_.push_front(std::move(media));
    size_t total = 0;
    for (auto it = entries_.begin(); it != entries_.end();) {
        total += ((*it)->features.size() + (*it)->tower.size()) * sizeof(float);
        // The newest stays even when it alone is over the limit.
        it = total > max_bytes_ && it != entries_.begin() ? entries_.erase(it) : std::next(it);
    }
}

Result<std::shared_ptr<const EncodedMedia>>
MediaStore::encode(const OpenMedia& media,
                   MediaEncoder& encoder,
                   const std::string& adapter_fingerprint,
                   const std::stop_token& stop,
                   Wanted wanted) {
    const auto started = std::chrono::steady_clock::now();
    uint64_t key = mixed(media.content, encoder.name().data(), encoder.name().size());
    key = mixed(key, &media.wish.tokens, sizeof media.wish.tokens);
    key = mixed(key, &media.wish.cut_start_s, sizeof media.wish.cut_start_s);
    key = mixed(key, &media.wish.cut_length_s, sizeof media.wish.cut_length_s);
    key = mixed(key, adapter_fingerprint.data(), adapter_fingerprint.size());
    const uint64_t formats = encoder.formatKey();
    key = mixed(key, &formats, sizeof formats);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        if ((*it)->key != key) {
            continue;
        }
        entries_.splice(entries_.begin(), entries_, it);
        auto copy = std::make_shared<EncodedMedia>(*entries_.front());
        if (wanted == Wanted::Whole && copy->features.empty()) {
            ENGINE_ASSIGN(copy->features, encoder.project(copy->tower));
            copy->tower = {};
            copy->seconds += secondsSince(started);
            ENGINE_TRY(checkFeatures(copy->features, encoder.name()));
            entries_.front() = copy;
        } else {
            copy->seconds = 0.0;
        }
        return std::shared_ptr<const EncodedMedia>(std::move(copy));
    }

    std::shared_ptr<const std::vector<std::byte>> bytes = media.bytes;
    if (bytes == nullptr) { // known, but its features are not kept any more
        ENGINE_ASSIGN(bytes, read(media.path, encoder.maxFileBytes()));
        if (contentHash(*bytes) != media.content) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: changed while it was read; ask again", media.path)};
        }
    }
    Result<PreparedMedia> prepared = encoder.prepare(*bytes, media.wish);
    if (!prepared.has_value()) {
        return withPath(std::move(prepared).error(), media.path);
    }
    auto made = std::make_shared<EncodedMedia>();
    made->key = key;
    if (wanted == Wanted::Tower) {
        ENGINE_ASSIGN(made->tower, encoder.runTower(*prepared, stop));
        ENGINE_TRY(checkFeatures(made->tower, encoder.name()));
        made->tokens = static_cast<int64_t>(made->tower.size()) / encoder.towerWidth();
    } else {
        ENGINE_ASSIGN(made->features, encoder.encode(*prepared, stop));
        ENGINE_TRY(checkFeatures(made->features, encoder.name()));
        made->tokens = static_cast<int64_t>(made->features.size()) / encoder.featureWidth();
    }
    made->notes = std::move(prepared->notes);
    made->seconds = secondsSince(started);
    keep(made);
    return std::shared_ptr<const EncodedMedia>(std::move(made));
}

} // namespace engine
