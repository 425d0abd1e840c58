// SPDX-License-Identifier: Apache-2.0
// Title bars as dark as the window below them, where the system draws them and asks each program
// how: Windows 10 (2004) and newer. Elsewhere desktops follow their own setting, and this does
// nothing.
#pragma once

class QApplication;

namespace ui {

/// For all windows of the program, those that are opened later too; follows Theme::current().
void followThemeInTitleBars(QApplication& application);

} // namespace ui
