// SPDX-License-Identifier: Apache-2.0
// The one EXIF value that changes what a picture looks like: its orientation (TIFF tag 0x0112 in
// the first directory). Reads nothing else and follows no further directory.
#pragma once

#include "engine/media/byte_reader.h"

namespace engine::media {

/// Orientation 1..8 of an EXIF block: a TIFF header ("II*\0" or "MM\0*"), with or without
/// "Exif\0\0" in front. 1 when the block is damaged, has no such entry or a value outside 1..8.
int exifOrientation(Bytes block);

} // namespace engine::media
