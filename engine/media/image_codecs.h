// SPDX-License-Identifier: Apache-2.0
// The seam between image.cpp and the three picture formats. For each format: a header reader of
// our own (no allocation, no pixel work) and a decoder over the format's library.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/media/byte_reader.h"
#include "engine/media/image.h"

#include <string>
#include <vector>

namespace engine::media {

/// Header facts. Sizes are as stored and not yet checked against the limits.
Result<ImageInfo> readPngHeader(Bytes bytes);
Result<ImageInfo> readJpegHeader(Bytes bytes);
Result<ImageInfo> readWebpHeader(Bytes bytes);

/// Decode into rgb, which has the stored size * 3 bytes. size is what the header reader said; a
/// decoder that finds another size answers InvalidFile. notes receives harmless findings.
Result<void>
decodePng(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& notes);
Result<void>
decodeJpeg(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& notes);
Result<void>
decodeWebp(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& notes);

/// "4000 x 3000 pixels".
std::string describeSize(ImageSize size);

} // namespace engine::media
