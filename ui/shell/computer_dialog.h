// SPDX-License-Identifier: Apache-2.0
// "This computer": what there is of processor, memory, cards, disks and libraries, what of it
// Belfry uses and why not the rest. Can be copied as text; nothing of models or chats is in it.
#pragma once

#include "engine/api/computer.h"

#include <QDialog>

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

class ComputerDialog : public QDialog {
    Q_OBJECT

public:
    explicit ComputerDialog(QWidget* parent);

    /// `text`: the same in English, for the clipboard. Paths below `home` are shown with "~".
    void showFacts(const engine::ComputerFacts& facts, const QString& text, const QString& home);

Q_SIGNALS:
    void refreshRequested();

private:
    QGridLayout* addSection(const QString& title);
    void addRow(QGridLayout* grid, const QString& name, const QString& value, bool is_bad = false);
    void addProcessor(const engine::ComputerFacts& facts);
    void addCards(const engine::ComputerFacts& facts);
    void addFolders(const engine::ComputerFacts& facts);
    void addLibraries(const engine::ComputerFacts& facts);
    [[nodiscard]] QString path(const std::string& file) const;

    QVBoxLayout* sections_;
    QWidget* body_ = nullptr; ///< All sections.
    QPushButton* copy_;
    QString text_, home_;
};

} // namespace ui
