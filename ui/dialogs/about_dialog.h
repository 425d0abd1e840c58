// SPDX-License-Identifier: Apache-2.0
// "About Belfry": what it is, which version from which commit, and the licences.
#pragma once

#include "ui/dialogs/diagnostics.h"

#include <QDialog>

namespace ui {

class AboutDialog : public QDialog {
    Q_OBJECT

public:
    explicit AboutDialog(const SystemFacts& facts, QWidget* parent);
};

} // namespace ui
