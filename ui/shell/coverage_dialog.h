// SPDX-License-Identifier: Apache-2.0
// What an adapter covers on the chosen model: tensors by tower, rank and scaling, keys without a
// module and why, modules the adapter names but does not hold.
#pragma once

#include "engine/api/session.h"

#include <QAbstractTableModel>
#include <QDialog>

#include <vector>

namespace ui {

/// One row per finding: key, what is wrong or where it belongs.
class CoverageModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { KeyColumn, FindingColumn, ColumnCount };

    explicit CoverageModel(const engine::AdapterSummary& coverage, QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant
    headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString key, finding;
        bool is_problem = false;
    };
    std::vector<Row> rows_;
};

class CoverageDialog : public QDialog {
    Q_OBJECT

public:
    CoverageDialog(const engine::AdapterSummary& coverage, const QString& model, QWidget* parent);

    /// The report as text, for the clipboard and for bug reports.
    static QString reportText(const engine::AdapterSummary& coverage, const QString& model);
};

} // namespace ui
