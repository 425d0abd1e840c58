// SPDX-License-Identifier: Apache-2.0
// Computers for What-if: listed cards with the makers' published figures, and computers the user
// describes. Plans for them are made from the files' headers alone.
#pragma once

#include "engine/api/load_request.h"

#include <QString>

#include <vector>

namespace ui {

struct GraphicsCard {
    QString name;
    double gib = 0;           ///< Memory.
    double read_gb_per_s = 0; ///< Memory bandwidth, GB/s (10^9).
    double tflops = 0;        ///< Dense 16-bit matrix products, fp32 sums.
};

/// Cards by memory, smallest first.
const std::vector<GraphicsCard>& listedCards();

/// The one that is looked at where none is known.
const GraphicsCard& usualCard();
/// That of a driver's name ("NVIDIA GeForce RTX 3060"). One that is not listed keeps its name and
/// gets the figures of the usual one.
GraphicsCard listedCard(const QString& name);

/// Cards that a computer can have.
constexpr int kMostWhatIfCards = 8;

struct WhatIfComputer {
    QString name;
    std::vector<GraphicsCard> cards;
    double ram_gib = 32;
};

/// What a desktop and the driver keep for themselves on a card, bytes; part of the assumption.
quint64 assumedReserve();
/// The devices that a plan for this computer assumes.
std::vector<engine::WhatIfDevice> devicesOf(const WhatIfComputer& computer);
/// One listed card in a computer with 32 GiB.
WhatIfComputer computerWith(const GraphicsCard& card);

/// Text form for the settings; an unreadable one gives an empty name.
QString toText(const WhatIfComputer& computer);
WhatIfComputer computerFromText(const QString& text);

} // namespace ui
