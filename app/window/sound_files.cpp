// SPDX-License-Identifier: Apache-2.0
#include "app/window/sound_files.h"

#include "engine/run/engine.h"
#include "ui/common/error_words.h"
#include "ui/style/format.h"

#include <filesystem>
#include <new>

namespace app {

namespace {

static_assert(ui::kSoundRate == engine::kListeningRate);
static_assert(ui::kSoundChannels == engine::kListeningChannels);
static_assert(ui::kSoundPartSeconds <= engine::kMaxListeningPart);

/// Enough for one bar of a wide window each second of the longest file.
constexpr size_t kMostPeaks = 36'000;

std::filesystem::path toPath(const QString& file) {
    return std::filesystem::path(file.toStdU16String());
}

} // namespace

ui::SoundPart SoundFiles::part(const QString& file, double start_s, double length_s) const {
    ui::SoundPart result;
    result.start_s = start_s;
    try {
        auto part = engine::Engine::readListeningPart(toPath(file), start_s, length_s);
        if (!part) {
            result.error = ui::errorSentence(part.error());
            return result;
        }
        result.samples = std::move(part->samples);
        result.is_last = part->is_last;
    } catch (const std::bad_alloc&) {
        result.error = ui::fromUtf8("not enough memory to decode the recording");
    }
    return result;
}

ui::SoundOutline SoundFiles::outline(const QString& file, const std::stop_token& stop) const {
    ui::SoundOutline result;
    result.state = ui::SoundOutline::State::Unreadable;
    try {
        auto peaks = engine::Engine::readSoundPeaks(toPath(file), kMostPeaks, stop);
        if (!peaks) {
            result.error = ui::errorSentence(peaks.error());
            return result;
        }
        result.state = ui::SoundOutline::State::Ready;
        result.seconds = peaks->seconds;
        result.peaks = std::move(peaks->peaks);
    } catch (const std::bad_alloc&) {
        result.error = ui::fromUtf8("not enough memory to decode the recording");
    }
    return result;
}

} // namespace app
