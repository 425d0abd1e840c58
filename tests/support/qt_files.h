// SPDX-License-Identifier: Apache-2.0
// What a file holds, for tests that have its name from Qt.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>

namespace support {

/// Empty where it cannot be read.
inline QByteArray bytesOf(const QString& file) {
    QFile input(file);
    return input.open(QIODevice::ReadOnly) ? input.readAll() : QByteArray();
}

} // namespace support
