// SPDX-License-Identifier: Apache-2.0
// The commands of LaTeX that stand for one symbol or for the name of a function.
#pragma once

#include "ui/chat/math_parse.h"

namespace ui {

struct MathSymbol {
    QString text;
    MathClass part = MathClass::Ordinary;
    MathFont font = MathFont::Roman;
    bool is_large = false, has_limits = false;
};

/// Without the backslash; nullptr where it is none.
const MathSymbol* mathSymbol(const QString& name);

} // namespace ui
