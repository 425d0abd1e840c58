// SPDX-License-Identifier: Apache-2.0
// Changing keyboard shortcuts: the list of actions, new keys for the chosen one, what they collide
// with, and the way back to the usual keys. Every change acts at once and leaves as keysEdited().
#pragma once

#include "ui/common/shortcuts.h"

#include <QAbstractTableModel>
#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QPushButton;
class QTreeView;

namespace ui {

/// One row per changeable action.
class ShortcutModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { ActionColumn, KeysColumn, ColumnCount };

    explicit ShortcutModel(QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant
    headerData(int section, Qt::Orientation orientation, int role) const override;

    [[nodiscard]] const Shortcut& shortcut(int row) const {
        return rows_[static_cast<size_t>(row)];
    }
    /// Row of an action; -1 when there is none.
    [[nodiscard]] int rowOf(const QString& action) const;
    /// Reads the keys in force again.
    void refresh();

private:
    std::vector<Shortcut> rows_;
};

class ShortcutEditor : public QDialog {
    Q_OBJECT

public:
    explicit ShortcutEditor(QWidget* parent);

    /// Chooses a row, as a click on it does.
    void select(const QString& action);

Q_SIGNALS:
    void keysEdited(const ui::ShortcutKeys& keys);

private:
    void showChosen();
    void check();
    void assign();
    void reset();
    void resetAll();
    void put(const QString& action, const QList<QKeySequence>& keys, ShortcutKeys& all) const;
    void commit(const ShortcutKeys& keys);
    [[nodiscard]] const Shortcut* chosen() const;
    [[nodiscard]] QKeySequence typed() const;

    ShortcutModel* model_;
    QTreeView* view_;
    QLabel* name_;
    QKeySequenceEdit* edit_;
    QLabel* verdict_;
    QPushButton *assign_, *clear_, *reset_, *reset_all_;
};

} // namespace ui
