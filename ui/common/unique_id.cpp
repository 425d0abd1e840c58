// SPDX-License-Identifier: Apache-2.0
#include "ui/common/unique_id.h"

#include <QDateTime>
#include <QRandomGenerator>

#include <array>

namespace ui {

QString makeUniqueId() {
    // Time first, so that identifiers sort as they were made; the rest is random.
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), static_cast<qsizetype>(words.size()));
    const auto now = static_cast<quint64>(QDateTime::currentMSecsSinceEpoch());
    const quint64 tail = (quint64{words[0]} << 32U) | words[1];
    const QLatin1Char zero('0');
    return QStringLiteral("%1%2%3")
        .arg(now, 12, 16, zero)
        .arg(words[2] & 0xffffU, 4, 16, zero)
        .arg(tail, 16, 16, zero);
}

} // namespace ui
