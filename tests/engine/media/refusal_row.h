// SPDX-License-Identifier: Apache-2.0
// A row of test data for a file that is refused: its bytes, the error's code, a part of its
// message.
#pragma once

#include "engine/api/error.h"
#include "tests/engine/media/byte_writer.h"

#include <QByteArray>
#include <QTest>

namespace support {

inline QTestData&
refusalRow(const char* name, const ByteVector& bytes, engine::ErrorCode code, const char* message) {
    return QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(bytes.data()),
                                             static_cast<qsizetype>(bytes.size()))
                               << code << QByteArray(message);
}

} // namespace support
