// SPDX-License-Identifier: Apache-2.0
// What a kind of media is to a loaded model: a row for each.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/part.h"
#include "engine/api/sentence.h"
#include "engine/model/model_config.h"
#include "engine/text/media_tokens.h"

#include <optional>
#include <string>

namespace engine {

struct MediaRow {
    MessagePart::Kind part = MessagePart::Kind::Text;
    PartRole tower{}, projector{};
    Phrase one, many;    ///< "a picture", "pictures"
    Phrase is_attached;  ///< "a picture is attached"
    Phrase has_no_tower; ///< The model, of its own; is_left_out: as it was loaded.
    Phrase is_left_out;
    double GenerateTiming::*seconds = nullptr; ///< Where the time of its tower is told.
    bool is_block = false; ///< Its rows see each other where a model's blocks are bidirectional.
};

const MediaRow& mediaRow(MediaKind kind);
std::optional<MediaKind> mediaKind(const MessagePart& part);
/// The kind whose tower or projector the part is.
std::optional<MediaKind> mediaKind(Part part);

bool hasTower(const ModelConfig& config, MediaKind kind);
/// InvalidRequest: why the model takes nothing of this kind, and what to do where a text-only load
/// left the tower out. The sentence begins with `what`, or with the file.
Error towerMissing(const ModelConfig& config, MediaKind kind, const Sentence& what);
Error towerMissing(const ModelConfig& config, MediaKind kind, const std::string& file);

} // namespace engine
