// SPDX-License-Identifier: Apache-2.0
// A recording opened through libsndfile from bytes in memory, after its header was checked. Shared
// by what the tower hears (audio.cpp) and what the user hears and sees (sound_listening.cpp).
#pragma once

#include "engine/base/result.h"
#include "engine/media/audio.h"
#include "engine/media/audio_header.h"
#include "engine/media/byte_reader.h"

#include <sndfile.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace engine::media {

/// The bytes as libsndfile's virtual file, with lengths of the header put right. Writing is
/// impossible.
struct MemoryFile {
    Bytes bytes;
    std::vector<HeaderPatch> patches;
    sf_count_t at = 0;

    [[nodiscard]] sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
};

/// libmpg123, which libsndfile keeps to itself, prints what it finds odd about an MP3 file; there
/// is no switch. While one of these lives, what C code prints to stderr goes nowhere; std::cerr,
/// which has a stream of its own, is not touched. Without glibc it does nothing.
class QuietDecoder {
public:
#ifdef __GLIBC__
    QuietDecoder();
    ~QuietDecoder();
#else
    QuietDecoder() {}
#endif
    QuietDecoder(const QuietDecoder&) = delete;
    QuietDecoder& operator=(const QuietDecoder&) = delete;
};

struct CloseSound {
    void operator()(SNDFILE* sound) const;
};

/// Not movable: libsndfile keeps a pointer to `memory`.
struct OpenSound {
    static constexpr int64_t kUnknownFrames = -1;

    MemoryFile memory;
    SF_INFO sf{};
    std::unique_ptr<SNDFILE, CloseSound> sound;
    AudioInfo info;
    int64_t declared_frames = kUnknownFrames;

    /// As sf_readf_float() and sf_seek().
    sf_count_t read(float* values, sf_count_t frames);
    sf_count_t seek(sf_count_t frame);

    OpenSound() = default;
    OpenSound(const OpenSound&) = delete;
    OpenSound& operator=(const OpenSound&) = delete;
    ~OpenSound() = default;
};

/// Frames, seconds and samples at 16 kHz of a recording with `frames` samples per channel.
void setFrames(AudioInfo& info, int64_t frames);

/// `bytes` must outlive `out`. Errors: as probeAudio().
Result<void> openSound(Bytes bytes, OpenSound& out);

} // namespace engine::media
