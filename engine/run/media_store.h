// SPDX-License-Identifier: Apache-2.0
// Attachments on their way into the model: file -> pixels or samples -> tower features, kept by
// content so that an attachment is decoded and encoded once, also when it was encoded ahead while
// the user was typing. Features depend on the towers' adapters and formats: they are in the key.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"
#include "engine/forward/model.h"

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// One encoded attachment.
struct EncodedMedia {
    uint64_t key = 0; ///< Content, budget, cut, adapters and formats.
    int64_t tokens = 0;
    std::vector<float> features; ///< [tokens, hidden]; empty while `tower` is not projected yet.
    std::vector<float> tower;    ///< What the projector takes, until it has run.
    double seconds = 0.0;        ///< Decoding and encoding; 0 when it came from the cache.
    std::vector<std::string> notes;
};

class MediaStore {
public:
    /// Keeps at most `max_bytes` of features.
    explicit MediaStore(size_t max_bytes = size_t{256} << 20U) : max_bytes_(max_bytes) {}

    /// Reads, decodes and encodes one part (Image or Audio). `image_tokens` is the soft-token
    /// budget. Errors: those of engine/media and of the towers; InvalidRequest when the model has
    /// no such tower (before any work). With Wanted::Tower the projector does not run; it does
    /// at the next call with Whole, which finds the rest done.
    enum class Wanted { Whole = 1, Tower };
    Result<std::shared_ptr<const EncodedMedia>> encode(const MessagePart& part,
                                                       int64_t image_tokens,
                                                       Model& model,
                                                       const std::string& adapter_fingerprint,
                                                       const std::stop_token& stop,
                                                       Wanted wanted = Wanted::Whole);
    void clear() { entries_.clear(); }

private:
    size_t max_bytes_;
    std::list<std::shared_ptr<const EncodedMedia>> entries_; ///< Most recent first.
};

} // namespace engine
