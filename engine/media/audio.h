// SPDX-License-Identifier: Apache-2.0
// Recordings to plain tensors: WAV, AIFF, FLAC, Ogg (Vorbis, Opus) and MP3 to mono float32 at
// 16 kHz, then to the log-mel frames of the audio tower. Decoding through libsndfile, resampling
// through soxr. Limits are checked on what a header declares and again on what really comes out.
// Leaves out: containers such as MP4 or Matroska, loudness changes, splitting of long clips.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

inline constexpr int64_t kAudioSampleRate = 16'000;   ///< Hz, of everything the tower sees.
inline constexpr int64_t kMaxAudioSeconds = 30;       ///< The tower takes no longer clip.
inline constexpr int64_t kMaxAudioSamples = 480'000;  ///< The same at 16 kHz.
inline constexpr int64_t kMinAudioSamples = 161;      ///< Fewer give no frame.
inline constexpr int64_t kMelBins = 128;              ///< Channels of a log-mel frame.
inline constexpr int64_t kMaxAudioTokens = 750;       ///< Soft tokens of a 30 s clip.
inline constexpr int64_t kMinAudioFileRate = 1'000;   ///< Hz
inline constexpr int64_t kMaxAudioFileRate = 768'000; ///< Hz
inline constexpr int64_t kMaxAudioFileChannels = 16;
inline constexpr int64_t kMaxAudioFileSeconds = 4L * 3600; ///< Also when only a part is wanted.
inline constexpr size_t kMaxAudioFileBytes = 256U << 20U;

/// What the header of a recording says.
struct AudioInfo {
    std::string format;      ///< "WAV, 16-bit PCM", for people.
    int64_t sample_rate = 0; ///< Hz
    int64_t channels = 0;
    int64_t frames = 0;          ///< Samples per channel; as declared, the true number may differ.
    double seconds = 0.0;        ///< frames / sample_rate
    int64_t samples_16k = 0;     ///< Samples after resampling, for audioTokens().
    std::vector<Sentence> notes; ///< What the user should know: a recording that was cut short.
};

/// Mono at 16 kHz.
struct DecodedAudio {
    std::vector<float> samples; ///< [kMinAudioSamples .. kMaxAudioSamples], nominally in [-1, 1]
    AudioInfo source;           ///< The file; frames and seconds are those really decoded.
};

/// The part of a recording to take. Without one, a clip over kMaxAudioSeconds is refused.
struct AudioCut {
    double start_s = 0.0;
    double length_s = static_cast<double>(kMaxAudioSeconds); ///< At most kMaxAudioSeconds.
};

/// The audio tower's input.
struct LogMel {
    int64_t frames = 0;        ///< T, valid frames only
    std::vector<float> values; ///< [T, kMelBins], natural log
};

/// Format, rate, channels and declared length; no sample is decoded (MP3 files without a length
/// in their header are scanned).
/// Errors: InvalidFile (empty, broken header, no samples), Unsupported (other formats, named by
/// content; rate, channels or length outside the limits above), OutOfMemory.
Result<AudioInfo> probeAudio(std::span<const std::byte> bytes);

/// Decodes, mixes down (mean of the channels), resamples to 16 kHz (soxr HQ; a 16 kHz file passes
/// untouched; 16-bit PCM is divided by 32768).
/// Errors: as probeAudio(); InvalidFile (truncated or corrupt data, samples that are not numbers);
/// InvalidRequest (clip over 30 s and no cut, under 161 samples, cut outside the clip); the message
/// has the exact length, and details the keys "seconds" and "samples_16k".
Result<DecodedAudio> decodeAudio(std::span<const std::byte> bytes,
                                 const std::optional<AudioCut>& cut = std::nullopt);

/// probeAudio() / decodeAudio() of a file. Further errors: InvalidFile (cannot be read, not a
/// regular file), Unsupported (larger than kMaxAudioFileBytes).
Result<AudioInfo> probeAudioFile(const std::filesystem::path& path);
Result<DecodedAudio> readAudioFile(const std::filesystem::path& path,
                                   const std::optional<AudioCut>& cut = std::nullopt);

/// Log-mel frames of a clip of samples_16k samples: floor((n - 161) / 160) + 1, 0 below 161.
int64_t audioFrames(int64_t samples_16k);

/// Soft tokens of a clip: ceil(ceil(T / 2) / 2), at most kMaxAudioTokens.
int64_t audioTokens(int64_t samples_16k);

/// Log-mel frames [T, 128] as the Gemma 4 feature extractor computes them: frames of 320 every 160
/// samples after 160 zeros, periodic Hann, FFT of 512, magnitude, 128 HTK triangles, ln(x + 0.001).
/// Computed in double, stored as float.
/// Errors: InvalidRequest (fewer than kMinAudioSamples or more than kMaxAudioSamples samples, a
/// sample that is not finite).
Result<LogMel> logMel(std::span<const float> samples_16k);

} // namespace engine
