// SPDX-License-Identifier: Apache-2.0
// Recordings for the window's player and waveforms, through the engine's decoder.
#pragma once

#include "ui/media/sound_types.h"

namespace app {

class SoundFiles : public ui::SoundDecoder {
public:
    [[nodiscard]] ui::SoundPart
    part(const QString& file, double start_s, double length_s) const override;
    [[nodiscard]] ui::SoundOutline outline(const QString& file,
                                           const std::stop_token& stop) const override;
};

} // namespace app
