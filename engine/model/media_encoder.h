// SPDX-License-Identifier: Apache-2.0
// A part of a model that turns a medium into rows for the decoder: a tower with its projector, or
// an embedder. Prompts, the store of features and the engine know this alone.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How much of a medium is wanted, and how finely.
struct MediaWish {
    int64_t tokens = 0;                           ///< Soft-token budget of a picture.
    double cut_start_s = 0.0, cut_length_s = 0.0; ///< Cut of a sound; length 0 = all of it.
};

/// A medium as an encoder computes from it.
struct PreparedMedia {
    std::vector<float> rows; ///< Pictures: patches [grid_h * grid_w, values], pixel / 255. Sounds:
                             ///< log-mel frames [grid_w, mel bins], or frames of samples.
    int64_t grid_w = 0, grid_h = 1;
    std::vector<Sentence> notes; ///< What was cut or changed on the way.
};

class MediaEncoder {
public:
    MediaEncoder() = default;
    virtual ~MediaEncoder() = default;
    MediaEncoder(const MediaEncoder&) = delete;
    MediaEncoder& operator=(const MediaEncoder&) = delete;

    /// "vision" or "audio", for messages.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// The token whose rows in the prompt are replaced by the features.
    [[nodiscard]] virtual int64_t placeholder() const = 0;
    /// Largest file that is read, in bytes.
    [[nodiscard]] virtual size_t maxFileBytes() const = 0;
    /// What of the plan decides the features, as a number to compare: the formats of its weights.
    [[nodiscard]] virtual uint64_t formatKey() const = 0;

    /// A file's bytes to rows; touches no weight. Errors: those of engine/media.
    [[nodiscard]] virtual Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                        const MediaWish& wish) const = 0;
    /// Features [soft tokens, hidden] in host memory.
    virtual Result<std::vector<float>> encode(const PreparedMedia& media,
                                              const std::stop_token& stop) = 0;

    /// False: encoding is too little work for a thread of its own, and its first half may use any
    /// device.
    [[nodiscard]] virtual bool hasTower() const { return true; }

    // The same in two halves. The tower uses nothing but the devices that it computes on, so that
    // it may run on a thread of its own beside a decoder that computes elsewhere; the projector
    // belongs to the thread of everything else.

    /// What the projector takes: [soft tokens, towerWidth()].
    virtual Result<std::vector<float>> runTower(const PreparedMedia& media,
                                                const std::stop_token& stop) = 0;
    virtual Result<std::vector<float>> project(std::span<const float> tower) = 0;
    [[nodiscard]] virtual int64_t towerWidth() const = 0;
    [[nodiscard]] virtual int64_t featureWidth() const = 0;
};

} // namespace engine
