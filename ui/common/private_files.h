// SPDX-License-Identifier: Apache-2.0
// Files that hold what somebody said: readable by nobody else who uses the computer. Systems
// without modes of this kind (Windows) keep a user's folders apart by themselves.
#pragma once

#include <QString>

namespace ui {

/// Makes a folder with all above it that are missing, for its user alone (0700); one that is there
/// is closed to others. False, with errno set: it cannot be made, or is another user's.
bool makePrivateFolder(const QString& folder);

/// Where files of this name's kind are put for a while: a folder of the user's own, made with
/// makePrivateFolder(). Others see the same place for temporary files.
QString privateTemporaryFolder(const QString& name);

/// Closes a file or folder that is there to others (0600, 0700). Links are left alone.
void makePrivate(const QString& path);

/// The same for everything in a folder and its folders, and the folder itself.
void makeAllPrivate(const QString& folder);

} // namespace ui
