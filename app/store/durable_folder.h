// SPDX-License-Identifier: Apache-2.0
// Folders that are still there after a power cut: a name is on disk only when the folder that holds
// it was synced.
#pragma once

#include <QString>

namespace app {

/// What was created, renamed or removed in a folder reaches the disk. Does nothing on systems
/// without such a call.
void syncFolder(const QString& folder);

/// As QDir::mkpath(), for this user alone (ui/common/private_files.h), and every new folder's name
/// is on disk afterwards. False, with errno set, when one cannot be made.
bool makeDurableFolder(const QString& folder);

} // namespace app
