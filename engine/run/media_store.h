// SPDX-License-Identifier: Apache-2.0
// Attachments on their way into the model: file -> rows -> features, kept by content so that an
// attachment is read, decoded and encoded once, also when it was encoded ahead while the user was
// typing. Features depend on the encoder's adapters and formats: they are in the key.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/file_stamp.h"
#include "engine/base/result.h"
#include "engine/model/media_encoder.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace engine {

/// One encoded attachment.
struct EncodedMedia {
    uint64_t key = 0; ///< Content, budget, cut, adapters and formats.
    int64_t tokens = 0;
    std::vector<float> features; ///< [tokens, hidden]; empty while `tower` is not projected yet.
    std::vector<float> tower;    ///< What the projector takes, until it has run.
    double seconds = 0.0;        ///< Decoding and encoding; 0 when it came from the cache.
    std::vector<Sentence> notes;
};

/// An attachment of one request. Its file is read once, whatever is made of it and how often, so
/// that a file that changes meanwhile cannot give two different answers in one reply.
struct OpenMedia {
    std::string path;
    uint64_t content = 0; ///< Hash of the file's bytes.
    MediaWish wish;
    std::shared_ptr<const std::vector<std::byte>> bytes; ///< nullptr: known, not read this time.
};

class MediaStore {
public:
    /// Keeps at most `max_bytes` of features.
    explicit MediaStore(size_t max_bytes = size_t{256} << 20U) : max_bytes_(max_bytes) {}

    /// Reads and hashes the file of a part (Image or Audio), unless it is known and has not
    /// changed since. `image_tokens` is the soft-token budget.
    /// Errors: InvalidFile (cannot be read), Unsupported (too large).
    Result<OpenMedia>
    open(const MessagePart& part, int64_t image_tokens, const MediaEncoder& encoder);

    /// The features of an attachment. With Wanted::Tower the projector does not run; it does at the
    /// next call with Whole, which finds the rest done.
    /// Errors: those of open(), of engine/media and of the encoder.
    enum class Wanted { Whole = 1, Tower };
    Result<std::shared_ptr<const EncodedMedia>> encode(const OpenMedia& media,
                                                       MediaEncoder& encoder,
                                                       const std::string& adapter_fingerprint,
                                                       const std::stop_token& stop,
                                                       Wanted wanted = Wanted::Whole);
    /// Forgets the features; what the files hold stays known.
    void clear() { entries_.clear(); }
    /// Files whose bytes were read and hashed so far.
    [[nodiscard]] int64_t filesRead() const { return files_read_; }

private:
    struct KnownFile {
        FileStamp stamp;
        uint64_t content = 0;
    };

    Result<std::shared_ptr<const std::vector<std::byte>>> read(const std::string& path,
                                                               size_t max_bytes);
    void keep(std::shared_ptr<const EncodedMedia> media);

    size_t max_bytes_;
    std::list<std::shared_ptr<const EncodedMedia>> entries_; ///< Most recent first.
    std::unordered_map<std::string, KnownFile> known_;       ///< By path as given.
    int64_t files_read_ = 0;
};

} // namespace engine
