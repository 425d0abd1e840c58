// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/what_if.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kReserveGiB = 0.65;
constexpr double kRamReserveGiB = 4.0;
constexpr double kLinkBytesPerSecond = 12e9;

quint64 bytesOf(double gib) {
    return static_cast<quint64>(std::llround(std::max(0.0, gib) * kGiB));
}

} // namespace

const std::vector<GraphicsCard>& listedCards() {
    // Memory, bandwidth and dense 16-bit rate with 32-bit sums as NVIDIA publishes them.
    static const std::vector<GraphicsCard> kCards = {
        {QStringLiteral("RTX 3050"), 6, 168, 13.5},
        {QStringLiteral("RTX 2060"), 6, 336, 25.8},
        {QStringLiteral("RTX 4060"), 8, 272, 30.2},
        {QStringLiteral("RTX 3070"), 8, 448, 40.6},
        {QStringLiteral("RTX 3080"), 10, 760, 59.5},
        {QStringLiteral("RTX 3060"), 12, 360, 25.6},
        {QStringLiteral("RTX 4070"), 12, 504, 58.3},
        {QStringLiteral("T4"), 15, 300, 65.0},
        {QStringLiteral("RTX 4060 Ti"), 16, 288, 44.1},
        {QStringLiteral("RTX 5060 Ti"), 16, 448, 47.4},
        {QStringLiteral("RTX 4080"), 16, 717, 97.5},
        {QStringLiteral("L4"), 24, 300, 121.0},
        {QStringLiteral("RTX 3090"), 24, 936, 71.0},
        {QStringLiteral("RTX 4090"), 24, 1008, 165.2},
        {QStringLiteral("RTX 5090"), 32, 1792, 209.5},
    };
    return kCards;
}

const GraphicsCard& usualCard() {
    return listedCards()[2];
}

GraphicsCard listedCard(const QString& name) {
    GraphicsCard best = usualCard();
    best.name.clear();
    for (const GraphicsCard& card : listedCards()) {
        // As a word ("L40" is no L4), and the longer one ("RTX 4060 Ti" is no RTX 4060).
        const QRegularExpression word(
            QStringLiteral("\\b%1\\b").arg(QRegularExpression::escape(card.name)));
        if (name.contains(word) && card.name.size() > best.name.size()) {
            best = card;
        }
    }
    best.name = best.name.isEmpty() ? name : best.name;
    return best;
}

quint64 assumedReserve() {
    return bytesOf(kReserveGiB);
}

std::vector<engine::WhatIfDevice> devicesOf(const WhatIfComputer& computer) {
    std::vector<engine::WhatIfDevice> devices;
    engine::WhatIfDevice memory;
    memory.id = engine::DeviceId::cpu();
    memory.description = computer.name.toStdString();
    memory.capacity = bytesOf(computer.ram_gib);
    memory.free = bytesOf(std::max(computer.ram_gib / 2, computer.ram_gib - kRamReserveGiB));
    devices.push_back(memory);
    int index = 0;
    for (const GraphicsCard& card : computer.cards) {
        engine::WhatIfDevice device;
        device.id = engine::DeviceId::cuda(index++);
        device.description = card.name.toStdString();
        device.capacity = bytesOf(card.gib);
        device.free = device.capacity - std::min<quint64>(device.capacity / 2, assumedReserve());
        device.read_bytes_per_s = card.read_gb_per_s * 1e9;
        device.flops = card.tflops * 1e12;
        device.link_bytes_per_s = kLinkBytesPerSecond;
        devices.push_back(device);
    }
    return devices;
}

WhatIfComputer computerWith(const GraphicsCard& card) {
    WhatIfComputer computer;
    computer.name = card.name;
    computer.cards = {card};
    return computer;
}

QString toText(const WhatIfComputer& computer) {
    QJsonArray cards;
    for (const GraphicsCard& card : computer.cards) {
        cards.append(QJsonObject{{QStringLiteral("name"), card.name},
                                 {QStringLiteral("gib"), card.gib},
                                 {QStringLiteral("gb_per_s"), card.read_gb_per_s},
                                 {QStringLiteral("tflops"), card.tflops}});
    }
    const QJsonObject object{{QStringLiteral("name"), computer.name},
                             {QStringLiteral("ram_gib"), computer.ram_gib},
                             {QStringLiteral("cards"), cards}};
    return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

WhatIfComputer computerFromText(const QString& text) {
    const QJsonObject object = QJsonDocument::fromJson(text.toUtf8()).object();
    WhatIfComputer computer;
    computer.name = object.value(QStringLiteral("name")).toString();
    computer.ram_gib =
        std::clamp(object.value(QStringLiteral("ram_gib")).toDouble(32), 1.0, 4096.0);
    const QJsonArray cards = object.value(QStringLiteral("cards")).toArray();
    for (const auto& value : cards) {
        const QJsonObject card = value.toObject();
        const auto number = [&card](const char* key, double least, double most) {
            return std::clamp(card.value(QLatin1String(key)).toDouble(), least, most);
        };
        computer.cards.push_back({card.value(QStringLiteral("name")).toString(),
                                  number("gib", 0.5, 1024), number("gb_per_s", 1, 1e5),
                                  number("tflops", 0.1, 1e5)});
        if (computer.cards.size() == kMostWhatIfCards) {
            break;
        }
    }
    return computer;
}

} // namespace ui
