// SPDX-License-Identifier: Apache-2.0
#include "engine/run/media_store.h"

#include "engine/base/paths.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "engine/run/finite.h"
#include "engine/run/weight_cache.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace engine {

namespace {

/// Whole file, bounded. Errors: InvalidFile, Unsupported (too large).
Result<std::vector<std::byte>> readBounded(const std::string& path, size_t max_bytes) {
    const std::filesystem::path file = pathFromUtf8(path);
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
        return Error{ErrorCode::InvalidFile, path + ": not a readable file"};
    }
    const auto size = std::filesystem::file_size(file, error);
    if (error || size > max_bytes) {
        return Error{ErrorCode::Unsupported,
                     path + ": " +
                         (error ? error.message()
                                : std::to_string(size) + " bytes, at most " +
                                      std::to_string(max_bytes) + " are read")};
    }
    std::ifstream in(file, std::ios::binary);
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    if (!in ||
        !in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
        return Error{ErrorCode::InvalidFile, path + ": could not be read to its end"};
    }
    return bytes;
}

uint64_t mixed(uint64_t hash, const void* data, size_t size) {
    return contentHash(std::span(static_cast<const std::byte*>(data), size), hash);
}

double secondsSince(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// Kept only where they can be used.
Result<void> checkFeatures(std::span<const float> features, bool is_image) {
    if (areFinite(features)) {
        return {};
    }
    return notFiniteError(std::string("the ") + (is_image ? "vision" : "audio") +
                              " tower gave values that are not finite",
                          is_image ? "vision" : "audio");
}

/// Errors of a media file name the file first.
Error withPath(Error error, const std::string& path) {
    if (error.message.find(path) == std::string::npos) {
        error.message = path + ": " + error.message;
    }
    return error;
}

} // namespace

Result<std::shared_ptr<const EncodedMedia>>
MediaStore::encode(const MessagePart& part,
                   int64_t image_tokens,
                   Model& model,
                   const std::string& adapter_fingerprint,
                   const std::stop_token& stop,
                   Wanted wanted) {
    const auto started = std::chrono::steady_clock::now();
    const ModelConfig& config = model.config();
    const bool is_image = part.kind == MessagePart::Kind::Image;
    if (is_image && !config.vision) {
        return Error{ErrorCode::InvalidRequest,
                     part.text + ": this model has no vision tower and cannot see pictures"};
    }
    if (!is_image && !config.audio) {
        return Error{ErrorCode::InvalidRequest,
                     part.text + ": this model has no audio tower and cannot hear recordings"};
    }
    ENGINE_ASSIGN(const std::vector<std::byte> bytes,
                  readBounded(part.text, is_image ? kMaxImageFileBytes : kMaxAudioFileBytes));
    uint64_t key = contentHash(bytes, is_image ? 1U : 2U);
    key = mixed(key, &image_tokens, sizeof image_tokens);
    key = mixed(key, &part.cut_start_s, sizeof part.cut_start_s);
    key = mixed(key, &part.cut_length_s, sizeof part.cut_length_s);
    key = mixed(key, adapter_fingerprint.data(), adapter_fingerprint.size());
    const uint64_t formats = is_image ? model.formatKeys().vision : model.formatKeys().audio;
    key = mixed(key, &formats, sizeof formats);
    const auto project = [&model, is_image](EncodedMedia& media) -> Result<void> {
        const auto begun = std::chrono::steady_clock::now();
        ENGINE_ASSIGN(media.features,
                      is_image ? model.projectImage(media.tower) : model.projectAudio(media.tower));
        media.tower = {};
        media.seconds += secondsSince(begun);
        return checkFeatures(media.features, is_image);
    };
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        if ((*it)->key == key) {
            entries_.splice(entries_.begin(), entries_, it);
            auto copy = std::make_shared<EncodedMedia>(*entries_.front());
            if (wanted == Wanted::Whole && copy->features.empty()) {
                ENGINE_TRY(project(*copy));
                entries_.front() = copy;
                return std::shared_ptr<const EncodedMedia>(std::move(copy));
            }
            copy->seconds = 0.0;
            return std::shared_ptr<const EncodedMedia>(std::move(copy));
        }
    }

    auto media = std::make_shared<EncodedMedia>();
    media->key = key;
    if (is_image) {
        const VisionConfig& vision = *config.vision;
        Result<DecodedImage> decoded = decodeImage(bytes);
        if (!decoded.has_value()) {
            return withPath(std::move(decoded).error(), part.text);
        }
        media->notes = decoded->notes;
        Result<PatchGrid> grid = preprocessImage(*decoded, image_tokens, vision.patch_size,
                                                 vision.pooling_kernel, vision.position_table_size);
        if (!grid.has_value()) {
            return withPath(std::move(grid).error(), part.text);
        }
        ImageInput input;
        input.patches = grid->patches;
        input.grid_w = grid->grid_w;
        input.grid_h = grid->grid_h;
        if (wanted == Wanted::Tower) {
            ENGINE_ASSIGN(media->tower, model.runVisionTower(input, stop));
            media->tokens = static_cast<int64_t>(media->tower.size()) / vision.hidden_size;
        } else {
            ENGINE_ASSIGN(media->features, model.encodeImage(input, stop));
        }
    } else {
        std::optional<AudioCut> cut;
        if (part.cut_length_s > 0) {
            cut = AudioCut{part.cut_start_s, part.cut_length_s};
        }
        Result<DecodedAudio> decoded = decodeAudio(bytes, cut);
        if (!decoded.has_value()) {
            return withPath(std::move(decoded).error(), part.text);
        }
        media->notes = decoded->source.notes;
        Result<LogMel> mel = logMel(decoded->samples);
        if (!mel.has_value()) {
            return withPath(std::move(mel).error(), part.text);
        }
        if (wanted == Wanted::Tower) {
            ENGINE_ASSIGN(media->tower, model.runAudioTower(mel->values, mel->frames, stop));
            media->tokens = static_cast<int64_t>(media->tower.size()) / config.audio->output_size;
        } else {
            ENGINE_ASSIGN(media->features, model.encodeAudio(mel->values, mel->frames, stop));
        }
    }
    ENGINE_TRY(checkFeatures(wanted == Wanted::Whole ? media->features : media->tower, is_image));
    if (wanted == Wanted::Whole) {
        media->tokens = static_cast<int64_t>(media->features.size()) / config.text.hidden_size;
    }
    media->seconds = secondsSince(started);
    entries_.push_front(media);
    size_t total = 0;
    for (auto it = entries_.begin(); it != entries_.end();) {
        total += ((*it)->features.size() + (*it)->tower.size()) * sizeof(float);
        // The newest stays even when it alone is over the limit.
        it = total > max_bytes_ && it != entries_.begin() ? entries_.erase(it) : std::next(it);
    }
    return std::shared_ptr<const EncodedMedia>(media);
}

} // namespace engine
