// SPDX-License-Identifier: Apache-2.0
// The dialog that describes a computer of one's own for What-if.
#pragma once

#include "ui/layout/what_if.h"

#include <QDialog>

class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace ui {

class CardBox;

/// Describes a computer of one's own. Open with open(); accepted() then computer().
class WhatIfDialog : public QDialog {
    Q_OBJECT

public:
    explicit WhatIfDialog(QWidget* parent = nullptr);
    [[nodiscard]] WhatIfComputer computer() const;

private:
    QLineEdit* name_;
    CardBox* card_;
    QSpinBox* count_;
    QDoubleSpinBox* memory_;
    QDoubleSpinBox* bandwidth_;
    QDoubleSpinBox* tflops_;
    QDoubleSpinBox* ram_;
};

} // namespace ui
