// SPDX-License-Identifier: Apache-2.0
// Names that keep linear layers out of 4-bit quantization in transformers, written so that they
// keep out no other. An entry counts there as a regular expression that fits at the start of a
// module's name, or as its ending: "layers.1" also means layers.10 to layers.19. Newer versions
// ask for a whole component behind the match; what is written here means the same to both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Does this entry keep the module out there? Only '.' counts as a wildcard: entries are module
/// names, which hold nothing else that a regular expression reads differently.
bool isKeptOutBy(std::string_view entry, std::string_view module);

/// `key` as it is when it keeps none of `quantized` out, else the modules right below it, narrowed
/// likewise. `names`: what lies below `key` (others are passed over).
std::vector<std::string> narrowedKeys(const std::string& key,
                                      const std::vector<std::string>& names,
                                      const std::vector<std::string>& quantized);

} // namespace engine
