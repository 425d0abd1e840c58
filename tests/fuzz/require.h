// SPDX-License-Identifier: Apache-2.0
// What every fuzz target ends with when a promise is broken.
#pragma once

#include <cstdlib>

namespace fuzz {

inline void require(bool is_true) {
    if (!is_true) {
        std::abort();
    }
}

} // namespace fuzz
