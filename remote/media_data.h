// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as a request carries them: data inside of it, never a path or an address that
// a server would look up. Decoded and written anew, so that nothing that a file says beside its
// picture (where and when it was taken) leaves the computer.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace remote {

/// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes);

/// "data:image/png;base64,...": PNG where that is at most 2 MB, else JPEG of quality 95; pictures
/// of more than twice what any model sees (1120 soft tokens of 48 x 48 pixels) are made smaller.
/// Errors: those of reading the file.
engine::Result<std::string> pictureUrl(const std::string& path);

/// WAV, mono, 16 kHz, 16 bit, in base64; only the part's cut. Errors: those of reading the file.
engine::Result<std::string> soundData(const engine::MessagePart& part);

} // namespace remote
