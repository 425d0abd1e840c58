// SPDX-License-Identifier: Apache-2.0
// The kinds of media that a prompt can hold beside its text. What the engine asks of one is in its
// row: engine/run/media_kinds.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

enum class MediaKind : uint8_t { Image, Audio };
inline constexpr std::array kMediaKinds{MediaKind::Image, MediaKind::Audio};

/// A value for each kind of media.
template <typename T>
struct PerMedia {
    std::array<T, kMediaKinds.size()> values{};
    T& operator[](MediaKind kind) { return values[static_cast<size_t>(kind)]; }
    const T& operator[](MediaKind kind) const { return values[static_cast<size_t>(kind)]; }
};

} // namespace engine
