// SPDX-License-Identifier: Apache-2.0
// Engine::checkMedia: what a model cannot see or hear is told before it is loaded. Reads
// config.json and the headers of the media files; decodes nothing.
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/engine_state.h"

#include <array>
#include <cstdio>

namespace engine {

namespace {

Result<void> checkRecording(const std::string& file) {
    ENGINE_ASSIGN(const AudioInfo info, probeAudioFile(file));
    if (info.samples_16k <= kMaxAudioSamples) {
        return {};
    }
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.1f", info.seconds);
    return Error{ErrorCode::InvalidRequest,
                 file + ": the recording has " + seconds.data() +
                     " seconds, the model hears at most " + std::to_string(kMaxAudioSeconds) +
                     "; choose a part of it",
                 {{"seconds", seconds.data()}}};
}

} // namespace

Result<void> Engine::checkMedia(const std::string& model,
                                const std::vector<std::string>& images,
                                const std::vector<std::string>& audios) const {
    if (images.empty() && audios.empty()) {
        return {};
    }
    ENGINE_ASSIGN(const ModelFolder folder, impl_->open(model));
    if (!images.empty() && !folder.config.vision) {
        return Error{ErrorCode::InvalidRequest,
                     images[0] + ": this model has no vision tower: it cannot see pictures"};
    }
    if (!audios.empty() && !folder.config.audio) {
        return Error{ErrorCode::InvalidRequest,
                     audios[0] + ": this model has no audio tower: it cannot hear recordings"};
    }
    for (const std::string& image : images) {
        ENGINE_TRY(probeImageFile(image));
    }
    for (const std::string& audio : audios) {
        ENGINE_TRY(checkRecording(audio));
    }
    return {};
}

} // namespace engine
