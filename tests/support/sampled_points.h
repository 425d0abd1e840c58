// SPDX-License-Identifier: Apache-2.0
// How many of many alike points or rows a test tries where each takes long.
#pragma once

namespace support {

/// Step between the points that a test tries one after the other: all of them, and every seventh
/// under AddressSanitizer, where each takes ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kPointStride = 7;
constexpr bool kTakesPart = true;
#else
constexpr int kPointStride = 1;
constexpr bool kTakesPart =
    false; ///< whether a test's rows that differ by numbers alone are left out
#endif

} // namespace support
