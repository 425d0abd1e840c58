// SPDX-License-Identifier: Apache-2.0
// Engine::checkMedia: what a model cannot see or hear is told before it is loaded. Reads
// config.json and the headers of the media files; decodes nothing.
#include "engine/base/paths.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/engine_state.h"

#include <array>
#include <cstdio>

namespace engine {

namespace {

Result<void> checkRecording(const std::string& file, double longest) {
    ENGINE_ASSIGN(const AudioInfo info, probeAudioFile(pathFromUtf8(file)));
    if (info.seconds <= longest) {
        return {};
    }
    const auto oneDecimal = [](double seconds) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.1f", seconds);
        return std::string(text.data());
    };
    return Error{
        ErrorCode::InvalidRequest,
        said("%1: the recording has %2 seconds, the model hears at most %3; choose a part of it",
             file, oneDecimal(info.seconds), oneDecimal(longest)),
        {{"seconds", std::to_string(info.seconds)}}};
}

} // namespace

Error towerMissing(const ModelConfig& config, bool is_sound, const Sentence& what) {
    const bool is_left_out =
        is_sound ? config.left_out.audio.has_value() : config.left_out.vision.has_value();
    if (is_left_out) {
        return {
            ErrorCode::InvalidRequest,
            is_sound
                ? said("%1, but the model was loaded for text only, without its audio tower: it "
                       "cannot hear recordings. Load it with its towers (without --text-only)",
                       what)
                : said("%1, but the model was loaded for text only, without its vision tower: "
                       "it cannot see pictures. Load it with its towers (without --text-only)",
                       what)};
    }
    return {ErrorCode::InvalidRequest,
            is_sound
                ? said("%1, but this model has no audio tower: it cannot hear recordings", what)
                : said("%1, but this model has no vision tower: it cannot see pictures", what)};
}

Result<void> Engine::checkMedia(const std::string& model,
                                const std::vector<std::string>& images,
                                const std::vector<std::string>& audios) const {
    if (images.empty() && audios.empty()) {
        return {};
    }
    ENGINE_ASSIGN(const OpenedModel opened, impl_->open(model));
    if (!images.empty() && !opened.config.vision) {
        return towerMissing(opened.config, /*is_sound=*/false, said("%1: a picture", images[0]));
    }
    if (!audios.empty() && !opened.config.audio) {
        return towerMissing(opened.config, /*is_sound=*/true, said("%1: a recording", audios[0]));
    }
    for (const std::string& image : images) {
        ENGINE_TRY(probeImageFile(pathFromUtf8(image)));
    }
    for (const std::string& audio : audios) {
        ENGINE_TRY(checkRecording(audio, longestSound(opened.config)));
    }
    return {};
}

} // namespace engine
