// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/position.h"

#include <algorithm>

namespace engine {

JsonPosition JsonCursor::at(size_t offset) {
    for (const size_t end = std::min(offset, text_.size()); offset_ < end; ++offset_) {
        const auto byte = static_cast<unsigned char>(text_[offset_]);
        if (byte == '\n') {
            ++position_.line;
            position_.column = 1;
        } else if ((byte & 0xc0U) != 0x80U) {
            ++position_.column;
        }
    }
    return position_;
}

} // namespace engine
