// SPDX-License-Identifier: Apache-2.0
// What the names of GGUF files say, as they are published: the model in one file or in parts, its
// projector (mmproj) and its assistant (mtp-...) beside it. Nothing is opened.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class GgufRole : uint8_t {
    None = 1,  ///< Another ending.
    Model,     ///< The first part of a model in parts.
    Part,      ///< A further part.
    Projector, ///< Towers of the model beside it.
    Assistant, ///< Drafts for the model beside it.
};
/// `name` may stand behind folders.
GgufRole ggufRole(std::string_view name);

/// "model-00001-of-00003.gguf", or another of the three, of any ending: the names of all; empty for
/// names of another form.
std::vector<std::string> partNames(const std::string& name);

/// The quantization at the end of a name: "Q4_K_M", "UD-Q4_K_XL", "BF16"; empty: none is known.
std::string ggufQuantization(std::string_view name);

/// The names in a folder that have this role, sorted. Empty where it cannot be read.
std::vector<std::string> ggufFilesIn(const std::filesystem::path& folder, GgufRole role);

} // namespace engine
