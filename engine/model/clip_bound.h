// SPDX-License-Identifier: Apache-2.0
// Which tensors are bounds of the towers' clipped linears: the only ones that may be infinite.
#pragma once

#include <string_view>

namespace engine {

/// input_min, input_max, output_min, output_max beside a clipped linear.
inline bool isClipBound(std::string_view tensor) {
    return tensor.ends_with("put_min") || tensor.ends_with("put_max");
}

} // namespace engine
