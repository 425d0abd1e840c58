// SPDX-License-Identifier: Apache-2.0
// Turns a decoded picture upright by its EXIF orientation (1 to 8; CIPA DC-008, tag 0x0112).
#pragma once

#include "engine/media/image.h"

namespace engine::media {

/// The size after orienting: orientations 5 to 8 swap the sides.
ImageSize orientedSize(ImageSize stored, int orientation);

/// The upright picture. stored.rgb is consumed; orientation 1 returns it unchanged.
DecodedImage orient(DecodedImage stored, int orientation);

} // namespace engine::media
