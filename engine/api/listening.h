// SPDX-License-Identifier: Apache-2.0
// A recording as the user hears and sees it: parts for a loudspeaker, peaks for a waveform.
#pragma once

#include <cstdint>
#include <vector>

namespace engine {

inline constexpr int64_t kListeningRate = 48'000; ///< Hz
inline constexpr int64_t kListeningChannels = 2;
inline constexpr double kMaxListeningPart = 120.0; ///< Seconds of one part.

/// Consecutive samples of a recording.
struct ListeningPart {
    double start_s = 0.0;         ///< Where it begins in the recording.
    std::vector<int16_t> samples; ///< [frames, kListeningChannels], interleaved.
    bool is_last = false;         ///< The recording ends with it.
};

struct SoundPeaks {
    double seconds = 0.0;     ///< As decoded, not as declared.
    std::vector<float> peaks; ///< Loudest sample of even pieces of time, the loudest of all is 1.
};

} // namespace engine
