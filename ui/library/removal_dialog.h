// SPDX-License-Identifier: Apache-2.0
// Asks before a model is deleted: what goes, how many bytes come back, who else loses it.
#pragma once

#include "ui/library/library_values.h"

#include <QDialog>

namespace ui {

/// Open with open(); accepted(): the user agreed to exactly this.
class RemovalDialog : public QDialog {
    Q_OBJECT

public:
    explicit RemovalDialog(const LibraryRemoval& removal, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
};

} // namespace ui
