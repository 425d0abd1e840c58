// SPDX-License-Identifier: Apache-2.0
// What the user set up for all chats: sampling presets and prompt shortcuts. Plain values; the
// program keeps them.
#pragma once

#include "engine/api/chat.h"

#include <QMetaType>
#include <QString>

#include <vector>

namespace ui {

struct SamplingPreset {
    QString name;
    engine::SamplingParameters sampling;
};

/// "/name" at the start of a message becomes `text`.
struct PromptShortcut {
    QString name;
    QString text;
};

struct ChatSettings {
    std::vector<SamplingPreset> presets; ///< The user's own, shown after the built-in ones.
    std::vector<PromptShortcut> prompts;
};

/// Presets that are always there; the first is the model's own sampling.
std::vector<SamplingPreset> builtinPresets();
/// What a new installation starts with.
std::vector<PromptShortcut> defaultPrompts();
/// Whether two sets of parameters sample alike; seed and length are not compared.
bool isSameSampling(const engine::SamplingParameters& a, const engine::SamplingParameters& b);

} // namespace ui

Q_DECLARE_METATYPE(ui::ChatSettings)
