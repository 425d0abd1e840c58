// SPDX-License-Identifier: Apache-2.0
// Opens files for reading that may be anything: what other people sent, what another program left
// where ours belongs. Only regular files are opened, and opening never waits: a pipe or a device
// is refused before a byte is read.
#pragma once

#include <QFile>
#include <QString>

namespace app {

/// Opens the file `name` for reading. A link is followed. False: `why` says it in the user's
/// language. An opened QFile does not know its name any more.
bool openPlain(QFile& file, const QString& name, QString& why);

/// Opens `inside`, a relative path below `folder`, for reading. No part of it may be a link or lead
/// upwards, so that only what lies in that folder can be read. `folder` itself may be a link.
bool openPlainInside(QFile& file, const QString& folder, const QString& inside, QString& why);

} // namespace app
