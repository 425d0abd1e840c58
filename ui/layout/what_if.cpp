// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/what_if.h"

#include "ui/style/format.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr const char* kComputersKey = "layout/computers";
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kReserveGiB = 0.65;
constexpr double kRamReserveGiB = 4.0;
constexpr double kLinkBytesPerSecond = 12e9;

quint64 bytesOf(double gib) {
    return static_cast<quint64>(std::llround(std::max(0.0, gib) * kGiB));
}

struct CardTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::CardGroups)
};

/// As the makers publish it. tflops: dense 16-bit products with 32-bit sums; of laptops at the
/// highest power that NVIDIA names. 0 where Belfry has no kernels.
struct Listed {
    const char* name = nullptr;
    double gib = 0, gb_per_s = 0, tflops = 0;
    int count = 1;
};

constexpr Listed kGeForce[] = {
    {"RTX 3050 6 GB", 6, 168, 13.5},   {"RTX 2060", 6, 336, 25.8},
    {"RTX 3050", 8, 224, 18.2},        {"RTX 4060", 8, 272, 30.2},
    {"RTX 4060 Ti", 8, 288, 44.1},     {"RTX 5060", 8, 448, 38.3},
    {"RTX 3060 Ti", 8, 448, 32.4},     {"RTX 3070", 8, 448, 40.6},
    {"RTX 3080", 10, 760, 59.5},       {"RTX 2080 Ti", 11, 616, 53.8},
    {"RTX 3060", 12, 360, 25.6},       {"RTX 4070", 12, 504, 58.3},
    {"RTX 4070 Super", 12, 504, 70.9}, {"RTX 5070", 12, 672, 61.7},
    {"RTX 3080 Ti", 12, 912, 68.2},    {"RTX 4060 Ti 16 GB", 16, 288, 44.1},
    {"RTX 5060 Ti", 16, 448, 47.4},    {"RTX 4070 Ti Super", 16, 672, 88.2},
    {"RTX 4080", 16, 717, 97.5},       {"RTX 4080 Super", 16, 736, 104.4},
    {"RTX 5070 Ti", 16, 896, 87.9},    {"RTX 5080", 16, 960, 112.6},
    {"RTX 3090", 24, 936, 71.0},       {"RTX 4090", 24, 1008, 165.2},
    {"RTX 5090", 32, 1792, 209.5},
};
constexpr Listed kLaptops[] = {
    {"RTX 4050 Laptop", 6, 192, 24.3},     {"RTX 3060 Laptop", 6, 336, 26.2},
    {"RTX 4060 Laptop", 8, 256, 29.1},     {"RTX 4070 Laptop", 8, 256, 40.1},
    {"RTX 5060 Laptop", 8, 384, 35.8},     {"RTX 5070 Laptop", 8, 384, 49.9},
    {"RTX 3070 Laptop", 8, 448, 33.2},     {"RTX 4080 Laptop", 12, 432, 67.8},
    {"RTX 5070 Ti Laptop", 12, 672, 62},   {"RTX 3080 Laptop", 16, 448, 42.0},
    {"RTX 3080 Ti Laptop", 16, 512, 47.2}, {"RTX 4090 Laptop", 16, 576, 85.8},
    {"RTX 5080 Laptop", 16, 896, 83.4},    {"RTX 5090 Laptop", 24, 896, 114},
};
constexpr Listed kWorkstations[] = {
    {"RTX A2000", 12, 288, 31.9},     {"RTX 2000 Ada", 16, 224, 48},
    {"RTX A4000", 16, 448, 76.7},     {"RTX 4000 Ada", 20, 360, 106.9},
    {"RTX 4500 Ada", 24, 432, 158.5}, {"RTX A5000", 24, 768, 111.1},
    {"RTX 5000 Ada", 32, 576, 261.1}, {"RTX A6000", 48, 768, 154.8},
    {"RTX 6000 Ada", 48, 960, 364.2}, {"RTX PRO 6000 Blackwell", 96, 1792, 503.8},
};
constexpr Listed kDataCentre[] = {
    {"T4", 15, 300, 65.0},         {"L4", 24, 300, 121.0},      {"A10", 24, 600, 125.0},
    {"A100 40 GB", 40, 1555, 312}, {"L40S", 48, 864, 362},      {"A100 80 GB", 80, 2039, 312},
    {"H100 PCIe", 80, 2000, 756},  {"H100 SXM", 80, 3350, 989}, {"H200", 141, 4800, 989},
};
constexpr Listed kPairs[] = {
    {"RTX 3060", 12, 360, 25.6, 2},    {"RTX 4060 Ti 16 GB", 16, 288, 44.1, 2},
    {"RTX 5060 Ti", 16, 448, 47.4, 2}, {"RTX 3090", 24, 936, 71.0, 2},
    {"RTX 4090", 24, 1008, 165.2, 2},  {"RTX 5090", 32, 1792, 209.5, 2},
    {"RTX A6000", 48, 768, 154.8, 2},  {"A100 80 GB", 80, 2039, 312, 2},
};
constexpr Listed kAmd[] = {
    {"RX 7600", 8, 288, 0},     {"RX 7700 XT", 12, 432, 0},  {"RX 7600 XT", 16, 288, 0},
    {"RX 9060 XT", 16, 320, 0}, {"RX 7800 XT", 16, 624, 0},  {"RX 9070 XT", 16, 640, 0},
    {"RX 7900 XT", 20, 800, 0}, {"RX 7900 XTX", 24, 960, 0}, {"Radeon PRO W7900", 48, 864, 0},
};
constexpr Listed kIntel[] = {
    {"Arc B570", 10, 380, 0},
    {"Arc B580", 12, 456, 0},
    {"Arc A770", 16, 560, 0},
    {"Arc Pro B60", 24, 456, 0},
};
/// The whole memory of the computer.
constexpr Listed kApple[] = {
    {"Apple M1", 8, 68, 0},       {"Apple M2", 16, 100, 0},       {"Apple M4", 16, 120, 0},
    {"Apple M4 Pro", 24, 273, 0}, {"Apple M4 Max", 36, 410, 0},   {"Apple M4 Pro", 48, 273, 0},
    {"Apple M4 Max", 64, 546, 0}, {"Apple M3 Ultra", 96, 819, 0}, {"Apple M4 Max", 128, 546, 0},
};
/// What macOS lends the graphics processor of it unless it is told otherwise.
constexpr double kUnifiedShare = 0.75;

template <size_t kSize>
CardGroup groupOf(const QString& name, const Listed (&rows)[kSize], bool is_unified = false) {
    CardGroup group;
    group.name = name;
    for (const Listed& row : rows) {
        WhatIfComputer computer;
        const QString card = QString::fromLatin1(row.name);
        computer.name = is_unified      ? QStringLiteral("%1, %2 GB").arg(card).arg(row.gib)
                        : row.count > 1 ? QStringLiteral("%1x %2").arg(row.count).arg(card)
                                        : card;
        const double share = is_unified ? kUnifiedShare : 1.0;
        computer.cards.assign(static_cast<size_t>(row.count),
                              {card, share * row.gib, row.gb_per_s, row.tflops});
        if (is_unified) {
            computer.ram_gib = (1 - share) * row.gib;
        }
        group.computers.push_back(std::move(computer));
    }
    return group;
}

} // namespace

bool WhatIfComputer::tellsSpeed() const {
    return std::all_of(cards.begin(), cards.end(),
                       [](const GraphicsCard& card) { return card.tellsSpeed(); });
}

std::vector<CardGroup> cardGroups() {
    return {
        groupOf(QStringLiteral("GeForce RTX"), kGeForce),
        groupOf(CardTexts::tr("GeForce RTX in laptops"), kLaptops),
        groupOf(CardTexts::tr("Two cards"), kPairs),
        groupOf(CardTexts::tr("Workstations"), kWorkstations),
        groupOf(CardTexts::tr("Data centres"), kDataCentre),
        groupOf(CardTexts::tr("AMD (what fits only)"), kAmd),
        groupOf(CardTexts::tr("Intel (what fits only)"), kIntel),
        groupOf(CardTexts::tr("Apple, unified memory (what fits only)"), kApple, true),
    };
}

WhatIfComputer listedComputer(const QString& name) {
    for (const CardGroup& group : cardGroups()) {
        for (const WhatIfComputer& computer : group.computers) {
            if (computer.name == name) {
                return computer;
            }
        }
    }
    return {};
}

QString cardWords(const WhatIfComputer& computer) {
    double gib = 0;
    for (const GraphicsCard& card : computer.cards) {
        gib += card.gib;
    }
    const QString words = CardTexts::tr("%1 · %2").arg(computer.name, formatBytes(bytesOf(gib)));
    return computer.tellsSpeed() ? words : CardTexts::tr("%1 · what fits only").arg(words);
}

GraphicsCard usualCard() {
    return listedComputer(QStringLiteral("RTX 4060")).cards.front();
}

GraphicsCard listedCard(const QString& name) {
    GraphicsCard best = usualCard();
    best.name.clear();
    const QString words = QStringLiteral(" %1 ").arg(name);
    for (const CardGroup& group : cardGroups()) {
        for (const WhatIfComputer& computer : group.computers) {
            // As words ("L40" is no L4), and the longer one ("RTX 4060 Ti" is no RTX 4060).
            const GraphicsCard& card = computer.cards.front();
            if (computer.cards.size() == 1 &&
                words.contains(QStringLiteral(" %1 ").arg(card.name), Qt::CaseInsensitive) &&
                card.name.size() > best.name.size()) {
                best = card;
            }
        }
    }
    if (best.name.isEmpty()) {
        best.name = name;
        best.tflops = 0; // nothing is known of its speed
    }
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
                                  number("tflops", 0, 1e5)});
        if (computer.cards.size() == kMostWhatIfCards) {
            break;
        }
    }
    return computer;
}

std::vector<WhatIfComputer> ownComputers() {
    std::vector<WhatIfComputer> own;
    const QStringList kept = QSettings().value(QLatin1String(kComputersKey)).toStringList();
    for (const QString& text : kept) {
        if (WhatIfComputer computer = computerFromText(text); !computer.name.isEmpty()) {
            own.push_back(std::move(computer));
        }
    }
    return own;
}

void keepComputer(const WhatIfComputer& computer) {
    constexpr qsizetype kMostComputers = 12;
    QSettings settings;
    QStringList own = settings.value(QLatin1String(kComputersKey)).toStringList();
    const QString text = toText(computer);
    own.removeAll(text);
    own.prepend(text);
    settings.setValue(QLatin1String(kComputersKey), own.mid(0, kMostComputers));
}

} // namespace ui
