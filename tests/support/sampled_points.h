// SPDX-License-Identifier: Apache-2.0
// How many of many alike points a test tries where each takes long.
#pragma once

namespace support {

/// Of points that a test tries one after the other, every how many-th: all of them, and under
/// AddressSanitizer, where each takes ten times as long, every seventh.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kPointStride = 7;
#else
constexpr int kPointStride = 1;
#endif

} // namespace support
