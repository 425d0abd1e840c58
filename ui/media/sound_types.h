// SPDX-License-Identifier: Apache-2.0
// Sounds as the window handles them: what is played, what is drawn, and who decodes. Decoding is
// done by the program's engine behind SoundDecoder, on a thread of the pool, never here.
#pragma once

#include <QString>
#include <QtGlobal>

#include <cstdint>
#include <stop_token>
#include <vector>

namespace ui {

inline constexpr int kSoundRate = 48'000; ///< Hz, of everything that is played.
inline constexpr int kSoundChannels = 2;
inline constexpr double kSoundPartSeconds = 20.0; ///< A recording is decoded in pieces of this.

/// A recording, or the part of one that is used.
struct SoundClip {
    QString file;
    double start_s = 0.0, length_s = 0.0; ///< Length 0 = to the end.
    friend bool operator==(const SoundClip&, const SoundClip&) = default;
};

/// Consecutive samples of a recording.
struct SoundPart {
    double start_s = 0.0;
    std::vector<int16_t> samples; ///< [frames, kSoundChannels] at kSoundRate, interleaved.
    bool is_last = false;         ///< The recording ends with it.
    QString error;                ///< Why there are no samples; empty when there are.
};

/// What a recording looks like.
struct SoundOutline {
    enum class State { Waiting = 1, Ready, Missing, Unreadable };
    State state = State::Waiting;
    double seconds = 0.0;
    std::vector<float> peaks; ///< 0 to 1, of even pieces of time; empty unless Ready.
    QString error;            ///< Why it cannot be read; Unreadable only.
};

class SoundDecoder {
public:
    virtual ~SoundDecoder() = default;
    SoundDecoder() = default;
    SoundDecoder(const SoundDecoder&) = delete;
    SoundDecoder& operator=(const SoundDecoder&) = delete;

    /// Both are called on any thread, several at a time, and may take seconds.
    [[nodiscard]] virtual SoundPart
    part(const QString& file, double start_s, double length_s) const = 0;
    [[nodiscard]] virtual SoundOutline outline(const QString& file,
                                               const std::stop_token& stop) const = 0;
};

} // namespace ui
