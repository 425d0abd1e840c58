// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLayout>
#include <QWidget>

namespace ui {

/// The height, in pixels, that a window's wrapped words need at its width; before it is shown, at
/// its smallest. Size hints leave this out, so that a window by itself comes up too low for them.
inline int neededHeight(const QWidget& window) {
    const int wide = window.isVisible() ? window.width() : window.minimumWidth();
    window.layout()->invalidate();
    return window.layout()->totalHeightForWidth(wide);
}

} // namespace ui
