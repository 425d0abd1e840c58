// SPDX-License-Identifier: Apache-2.0
// Engine::checkMedia: what a model cannot see or hear is told before it is loaded. Reads
// config.json and the headers of the media files; decodes nothing.
#include "engine/api/error_cause.h"
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
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(),
                  ": the recording has %.1f seconds, the model hears at most %.1f", info.seconds,
                  longest);
    return Error{ErrorCode::InvalidRequest,
                 file + text.data() + "; choose a part of it",
                 {{"seconds", std::to_string(info.seconds)}}};
}

} // namespace

Error towerMissing(const ModelConfig& config, bool is_sound, const std::string& what) {
    const char* tower = is_sound ? "audio" : "vision";
    const char* sense = is_sound ? "hear recordings" : "see pictures";
    const bool is_left_out =
        is_sound ? config.left_out.audio.has_value() : config.left_out.vision.has_value();
    if (is_left_out) {
        return {ErrorCode::InvalidRequest,
                what + ", but the model was loaded for text only, without its " + tower +
                    " tower: it cannot " + sense +
                    ". Load it with its towers (without --text-only)",
                {},
                causeOf(cause::TowerLeftOut{is_sound})};
    }
    return {ErrorCode::InvalidRequest,
            what + ", but this model has no " + tower + " tower: it cannot " + sense};
}

Result<void> Engine::checkMedia(const std::string& model,
                                const std::vector<std::string>& images,
                                const std::vector<std::string>& audios) const {
    if (images.empty() && audios.empty()) {
        return {};
    }
    ENGINE_ASSIGN(const OpenedModel opened, impl_->open(model));
    if (!images.empty() && !opened.config.vision) {
        return towerMissing(opened.config, /*is_sound=*/false, images[0] + ": a picture");
    }
    if (!audios.empty() && !opened.config.audio) {
        return towerMissing(opened.config, /*is_sound=*/true, audios[0] + ": a recording");
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
