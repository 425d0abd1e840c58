// SPDX-License-Identifier: Apache-2.0
// How errors about weight files look: rule and file in the details. Private to engine/files.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace engine {

inline Error fileError(std::string_view rule, std::string_view file, const Sentence& what) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", file, what),
                 {{"rule", std::string(rule)}, {"file", std::string(file)}}};
}

} // namespace engine
