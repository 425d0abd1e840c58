// SPDX-License-Identifier: Apache-2.0
// "This computer": what there is of processor, memory, cards, disks and libraries, what of it
// Belfry uses and why not the rest. Can be copied as text; nothing of models or chats is in it.
#pragma once

#include "engine/api/computer.h"

#include <QDialog>

#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

class ComputerDialog : public QDialog {
    Q_OBJECT

public:
    explicit ComputerDialog(QWidget* parent);

    /// `text`: the same in English, for the clipboard.
    void showFacts(const std::vector<engine::ComputerSection>& sections, const QString& text);

Q_SIGNALS:
    void refreshRequested();

private:
    QGridLayout* addSection(const QString& title);
    void addRow(QGridLayout* grid, const QString& name, const QString& value, bool is_bad);

    QVBoxLayout* sections_;
    QWidget* body_ = nullptr; ///< All sections.
    QPushButton* copy_;
    QString text_;
};

} // namespace ui
