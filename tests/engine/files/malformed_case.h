// SPDX-License-Identifier: Apache-2.0
// One malformed model folder as data: what replaces which file of a sound folder, and the error
// that must follow. The tables are in malformed_*.h; tst_malformed_folders.cpp runs them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace support {

struct MalformedCase {
    std::string name; ///< What is special about it.
    /// File name and content that replaces it; content kRemoved takes the file away.
    std::vector<std::pair<std::string, std::string>> files;
    std::string expected; ///< Fragment of the error message.
    std::string rule;     ///< Value of the error's detail "rule"; "" = any.
};

inline const std::string kRemoved = "\x01removed\x01";

} // namespace support
