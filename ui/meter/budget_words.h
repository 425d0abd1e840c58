// SPDX-License-Identifier: Apache-2.0
// What the meter says of a card whose share by the system is used up, in the user's language.
#pragma once

#include "engine/api/snapshot.h"

#include <QString>
#include <QStringList>

namespace ui {

struct BudgetWords {
    QString title;     ///< What is so; empty: there is nothing to say.
    QStringList lines; ///< What it means, and what ends it.
};

BudgetWords budgetWords(const engine::MemoryBudget& budget);

} // namespace ui
