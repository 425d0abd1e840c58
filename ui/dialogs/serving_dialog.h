// SPDX-License-Identifier: Apache-2.0
// "Other programs": the switch that lets them use the loaded model, and what they need for it.
#pragma once

#include "ui/dialogs/serving_state.h"

#include <QDialog>

class QCheckBox;
class QFormLayout;
class QLabel;
class QLineEdit;

namespace ui {

class ServingDialog : public QDialog {
    Q_OBJECT

public:
    explicit ServingDialog(QWidget* parent);

    void showState(const ServingState& state);

Q_SIGNALS:
    void switched(bool is_on);

private:
    QLineEdit* addField(QFormLayout* form, const QString& name, const char* object_name);

    QCheckBox* switch_;
    QLineEdit* address_;
    QLineEdit* model_;
    QLineEdit* token_;
    QLabel* status_;
};

} // namespace ui
