// SPDX-License-Identifier: Apache-2.0
// From what somebody calls a model or an adapter to its entry: "google/gemma-4-E2B-it", with @REV
// behind it for one revision, a name that `models` lists, or the last part of one.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>
#include <vector>

#include "models/entry.h"

namespace models {

struct WantedName {
    std::string name;     ///< Without the revision.
    std::string revision; ///< A branch, a tag, the beginning (7 digits and more) of a commit; "".
};

/// Splits at the last '@'.
WantedName splitName(std::string_view word);

/// "owner/name", each of letters, digits, '-', '_' and '.', as the hub calls repositories.
bool isHubId(std::string_view name);

/// Whether `word` can be a name at all: not a path ("./x", "/x", "~/x", "C:\x", three parts of
/// which the first two are none).
bool canBeName(std::string_view word);

/// The one entry of this kind that `word` means. Names as they are count before names in another
/// case, whole names before last parts. A GGUF file is also found by its folder's name, with ":"
/// and its quantization behind it or without. Of several revisions of one repository: that of main,
/// else the newest. What is whole is preferred to what is not, what can be used to what cannot.
/// Errors: InvalidRequest; rule "NoSuchName", or "SeveralOfThisName" (the message lists them).
engine::Result<Entry>
resolveName(std::string_view word, Kind kind, const std::vector<Entry>& entries);

} // namespace models
