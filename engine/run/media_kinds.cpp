// SPDX-License-Identifier: Apache-2.0
#include "engine/run/media_kinds.h"

namespace engine {

namespace {

constexpr PerMedia<MediaRow> kRows{{{
    {MessagePart::Kind::Image, PartRole::VisionTower, PartRole::VisionProjector,
     phrase("a picture"), phrase("pictures"), phrase("a picture is attached"),
     phrase("this model has no vision tower: it cannot see pictures"),
     phrase("the model was loaded for text only, without its vision tower: it cannot see pictures. "
            "Load it with its towers (without --text-only)"),
     &GenerateTiming::image_s, true},
    {MessagePart::Kind::Audio, PartRole::AudioTower, PartRole::AudioProjector,
     phrase("a recording"), phrase("recordings"), phrase("a recording is attached"),
     phrase("this model has no audio tower: it cannot hear recordings"),
     phrase("the model was loaded for text only, without its audio tower: it cannot hear "
            "recordings. Load it with its towers (without --text-only)"),
     &GenerateTiming::audio_s, false},
}}};

template <typename Matches>
std::optional<MediaKind> find(Matches matches) {
    for (const MediaKind kind : kMediaKinds) {
        if (matches(kRows[kind])) {
            return kind;
        }
    }
    return std::nullopt;
}

} // namespace

const MediaRow& mediaRow(MediaKind kind) {
    return kRows[kind];
}

std::optional<MediaKind> mediaKind(const MessagePart& part) {
    return find([&](const MediaRow& row) { return row.part == part.kind; });
}

std::optional<MediaKind> mediaKind(Part part) {
    return find(
        [&](const MediaRow& row) { return row.tower == part.role || row.projector == part.role; });
}

bool hasTower(const ModelConfig& config, MediaKind kind) {
    return kind == MediaKind::Image ? config.vision.has_value() : config.audio.has_value();
}

Error towerMissing(const ModelConfig& config, MediaKind kind, const Sentence& what) {
    const bool is_left_out = kind == MediaKind::Image ? config.left_out.vision.has_value()
                                                      : config.left_out.audio.has_value();
    const MediaRow& row = kRows[kind];
    return Error{ErrorCode::InvalidRequest,
                 said("%1, but %2", what, is_left_out ? row.is_left_out : row.has_no_tower)};
}

Error towerMissing(const ModelConfig& config, MediaKind kind, const std::string& file) {
    return towerMissing(config, kind, said("%1: %2", file, kRows[kind].one));
}

} // namespace engine
