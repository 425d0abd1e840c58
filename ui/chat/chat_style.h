// SPDX-License-Identifier: Apache-2.0
// Fonts and distances of the message view, taken once from the application's font and the theme;
// made anew when either changes.
#pragma once

#include "ui/style/theme.h"

#include <QFont>
#include <QFontMetricsF>

namespace ui {

struct ChatStyle {
    QFont text, small, code;
    double line_factor = 1.35; ///< Line distance as a multiple of the font's line height.
    double char_width = 7.0;   ///< Average, for estimates of what is not laid out yet.
    double line_height = 20.0, small_height = 16.0, code_height = 16.0; ///< With the factor.

    static ChatStyle current() {
        ChatStyle style;
        style.text = scaledFont(100);
        style.small = scaledFont(85);
        style.code = codeFont(95);
        const QFontMetricsF metrics(style.text);
        style.char_width = metrics.averageCharWidth();
        style.line_height = metrics.height() * style.line_factor;
        style.small_height = QFontMetricsF(style.small).height();
        style.code_height = QFontMetricsF(style.code).height() * 1.2;
        return style;
    }
};

} // namespace ui
