// SPDX-License-Identifier: Apache-2.0
// What an adapter covers on the chosen model: tensors by tower, rank and scaling by group, keys
// without a module and why, modules the adapter names but does not hold, the size of every change;
// and, on demand, whether the loaded model answers differently with it at all.
#pragma once

#include "engine/api/error.h"
#include "engine/api/model_summary.h"

#include <QAbstractTableModel>
#include <QDialog>

#include <vector>

class QLabel;
class QPushButton;

namespace ui {

/// One row per finding: key, what is wrong or where it belongs.
class CoverageModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { KeyColumn, FindingColumn, NormColumn, ColumnCount };

    explicit CoverageModel(const engine::AdapterSummary& coverage, QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant
    headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString key, finding;
        double norm = -1.0; ///< Frobenius norm of the change at strength 1; -1 = none.
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

public Q_SLOTS:
    /// Whether the effect can be measured now: the model is loaded and nothing runs.
    void setReady(bool is_ready);
    void showEffect(const engine::AdapterSummary::Effect& effect);
    void showEffectError(const engine::Error& error);

Q_SIGNALS:
    void effectRequested();

private:
    void refreshEffect();

    engine::AdapterSummary coverage_;
    bool is_ready_ = false, is_measuring_ = false;
    QLabel* effect_label_;
    QPushButton* effect_button_;
};

} // namespace ui
