// SPDX-License-Identifier: Apache-2.0
// Engine::checkMedia: what a model cannot see or hear is told before it is loaded. Reads
// config.json and the headers of the media files; decodes nothing.
#include "engine/base/paths.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/engine_state.h"
#include "engine/run/media_kinds.h"

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

Result<void> Engine::checkMedia(const std::string& model,
                                const std::vector<std::string>& images,
                                const std::vector<std::string>& audios) const {
    if (images.empty() && audios.empty()) {
        return {};
    }
    ENGINE_ASSIGN(const OpenedModel opened, impl_->open(model));
    const PerMedia<const std::vector<std::string>*> files{{&images, &audios}};
    for (const MediaKind kind : kMediaKinds) {
        if (!files[kind]->empty() && !hasTower(opened.config, kind)) {
            return towerMissing(opened.config, kind, files[kind]->front());
        }
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
