// SPDX-License-Identifier: Apache-2.0
// Recognises by their first bytes files that are not safetensors but are often found in their
// place: pickles, zip archives, GGUF, ... so that the message can say what to do.
#pragma once

#include "engine/api/sentence.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace engine {

struct ForeignFormat {
    std::string_view rule; ///< "PickleFile", "ZipFile", "GgufFile", ...
    Phrase advice;         ///< "is a Python pickle ...; ask for the safetensors version"
};

constexpr Phrase kGgufAdvice =
    phrase("is a GGUF file: give the file itself, as the model or the adapter that it is; a "
           "projector (mmproj) goes with its model");
/// For a file that only its name tells.
constexpr Phrase kPickleByName =
    phrase("is a file of PyTorch's, which can run code when it is opened, so Belfry never opens "
           "one; get the .safetensors files of the model, or convert it once with transformers "
           "(save_pretrained)");

/// Looks at up to 16 bytes. With is_certain_only, names only formats whose first bytes no valid
/// safetensors file of reasonable size can have; without it, also those that a valid length prefix
/// could imitate (call it that way once the file is known to be broken).
std::optional<ForeignFormat> recogniseForeignFormat(std::span<const std::byte> head,
                                                    bool is_certain_only);

/// What stands for a file that was not fetched: a Git LFS pointer or a web page. For the beginning
/// of a text that should be something else, JSON for one; white space in front is skipped.
std::optional<ForeignFormat> recogniseStandIn(std::string_view text);

} // namespace engine
