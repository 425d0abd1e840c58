// SPDX-License-Identifier: Apache-2.0
// Looks at a place where a model should be: names of files, and the first bytes of what has no
// telling name. Never waits for a pipe and reads a bounded number of entries.
#pragma once

#include "ui/shell/folder_facts.h"

namespace app {

ui::FolderFacts readFolderFacts(const QString& path);

} // namespace app
