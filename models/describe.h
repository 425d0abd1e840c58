// SPDX-License-Identifier: Apache-2.0
// What lies in one folder: models and adapters with all that names, sizes and small texts tell
// (form, bytes, date, wholeness, an adapter's base), without a header of a tensor file. What the
// headers tell is added by assess.h.
#pragma once

#include <string>
#include <vector>

#include "models/disk.h"
#include "models/entry.h"

namespace models {

/// The files and folders of one folder.
struct FolderContents {
    std::filesystem::path folder;
    struct File {
        std::string name;
        Look look; ///< What a link leads to; Nothing: it leads out or nowhere.
    };
    std::vector<File> files;          ///< By name.
    std::vector<std::string> folders; ///< Links to folders are left out.
    bool is_readable = true;

    [[nodiscard]] const File* find(std::string_view name) const;
};

/// One operation per name: pipes, devices and links that lead out are left out or Nothing.
FolderContents readFolder(Disk& disk, const std::filesystem::path& folder);

/// The models and adapters whose files lie in this very folder; none for other folders. `name` is
/// the entry's; a GGUF file's is behind it. State, missing and trouble are set as far as names
/// tell; the way out of a half download is left to who knows where it came from.
std::vector<Entry> describeFolder(Disk& disk,
                                  const FolderContents& contents,
                                  const Root& root,
                                  const std::string& name);

} // namespace models
