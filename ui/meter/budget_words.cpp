// SPDX-License-Identifier: Apache-2.0
#include "ui/meter/budget_words.h"

#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>

namespace ui {

namespace {

struct Budget {
    Q_DECLARE_TR_FUNCTIONS(ui::Budget)
};

} // namespace

BudgetWords budgetWords(const engine::MemoryBudget& budget) {
    using State = engine::MemoryBudget::State;
    BudgetWords words;
    switch (budget.state) {
    case State::Fine:
        return words;
    case State::Near:
        words.title = Budget::tr("Almost full");
        words.lines << Budget::tr("Belfry has %1 of the %2 that the system gives it here. What "
                                  "comes on top lies in main memory and is many times slower.")
                           .arg(formatBytes(budget.used), formatBytes(budget.budget));
        break;
    case State::Spilling:
        words.title = Budget::tr("%1 spilled into main memory").arg(formatBytes(budget.spilled));
        words.lines << Budget::tr("The system gives Belfry %1 here and has moved the rest. "
                                  "Replies are many times slower until it is back.")
                           .arg(formatBytes(budget.budget));
        break;
    }
    if (budget.advice.empty()) {
        words.lines << Budget::tr("No move of parts ends it: choose a smaller format or context.");
        return words;
    }
    words.lines << (budget.is_advice_enough ? Budget::tr("This ends it:")
                                            : Budget::tr("This helps, and is not enough:"));
    for (const engine::Repair& step : budget.advice) {
        words.lines << QStringLiteral("→ ") +
                           Budget::tr("%1: frees %2")
                               .arg(sentenceWords(step.action), formatBytes(step.frees));
    }
    return words;
}

} // namespace ui
