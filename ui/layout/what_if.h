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
    double tflops = 0;        ///< Dense 16-bit matrix products, fp32 sums; 0: no speed is told.
    /// Belfry computes on NVIDIA's cards alone: of others a plan says what fits, and no speed.
    [[nodiscard]] bool tellsSpeed() const { return tflops > 0; }
};

/// Cards that a computer can have.
constexpr int kMostWhatIfCards = 8;

struct WhatIfComputer {
    QString name;
    std::vector<GraphicsCard> cards;
    double ram_gib = 32;
    [[nodiscard]] bool tellsSpeed() const;
};

/// Listed computers that stand together in a menu, by memory, smallest first.
struct CardGroup {
    QString name; ///< Translated: "GeForce RTX".
    std::vector<WhatIfComputer> computers;
};
std::vector<CardGroup> cardGroups();
/// "RTX 3060", in whichever group; one without a name where none is called so.
WhatIfComputer listedComputer(const QString& name);
/// The card that is looked at where none is known.
GraphicsCard usualCard();
/// That of a driver's name ("NVIDIA GeForce RTX 3060"). One that is not listed keeps its name, has
/// the memory of the usual one, and tells no speed.
GraphicsCard listedCard(const QString& name);
/// "RX 7900 XTX · 24 GiB · fits only".
QString cardWords(const WhatIfComputer& computer);

/// What a desktop and the driver keep for themselves on a card, bytes; part of the assumption.
quint64 assumedReserve();
/// The devices that a plan for this computer assumes.
std::vector<engine::WhatIfDevice> devicesOf(const WhatIfComputer& computer);
/// Text form for the settings; an unreadable one gives an empty name.
QString toText(const WhatIfComputer& computer);
WhatIfComputer computerFromText(const QString& text);

/// Computers that the user has described, the newest first.
std::vector<WhatIfComputer> ownComputers();
void keepComputer(const WhatIfComputer& computer);

} // namespace ui
