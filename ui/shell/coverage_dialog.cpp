// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/coverage_dialog.h"

#include "ui/shell/adapter_chip.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace ui {

CoverageModel::CoverageModel(const engine::AdapterSummary& coverage, QObject* parent)
    : QAbstractTableModel(parent) {
    for (const auto& [key, reason] : coverage.unmatched) {
        rows_.push_back(
            {fromUtf8(key), tr("no place in this model: %1").arg(fromUtf8(reason)), true});
    }
    for (const std::string& module : coverage.missing) {
        rows_.push_back({fromUtf8(module), tr("named by the adapter, but not in its file"), true});
    }
    for (const std::string& module : coverage.matched_modules) {
        rows_.push_back({fromUtf8(module), tr("covered"), false});
    }
}

int CoverageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CoverageModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CoverageModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = rows_[static_cast<size_t>(index.row())];
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) {
        return index.column() == KeyColumn ? row.key : row.finding;
    }
    if (role == Qt::ForegroundRole && row.is_problem) {
        return Theme::current().danger;
    }
    return {};
}

QVariant CoverageModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) {
        return {};
    }
    return section == KeyColumn ? tr("Key or module") : tr("Finding");
}

CoverageDialog::CoverageDialog(const engine::AdapterSummary& coverage,
                               const QString& model,
                               QWidget* parent)
    : QDialog(parent) {
    setObjectName(QStringLiteral("coverageDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    const QString name = QFileInfo(fromUtf8(coverage.folder)).fileName();
    setWindowTitle(tr("Coverage of %1").arg(name));
    resize(720, 520);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    const auto [hits, all] = AdapterChip::matched(coverage);
    auto* title = new QLabel(
        tr("%1 of %2 tensors have a place in %3").arg(formatCount(hits), formatCount(all), model),
        this);
    setTextSize(title, 115, true);
    title->setWordWrap(true);
    column->addWidget(title);
    auto* facts = new QLabel(
        tr("Language %1 · vision %2 · audio %3 · other %4\nRank %5 · alpha %6 · scaling %7 · %8")
            .arg(formatCount(coverage.language), formatCount(coverage.vision),
                 formatCount(coverage.audio), formatCount(coverage.other),
                 formatCount(coverage.rank), QLocale().toString(coverage.alpha, 'g', 4),
                 QLocale().toString(coverage.scaling, 'g', 4), formatBytes(coverage.bytes)),
        this);
    facts->setWordWrap(true);
    setTextRole(facts, TextRole::Muted);
    column->addWidget(facts);
    for (const std::string& note : coverage.notes) {
        auto* label = new QLabel(fromUtf8(note), this);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        column->addWidget(label);
    }
    auto* view = new QTreeView(this);
    view->setObjectName(QStringLiteral("coverageTable"));
    view->setAccessibleName(tr("Keys and modules of the adapter"));
    view->setRootIsDecorated(false);
    view->setUniformRowHeights(true);
    view->setTabKeyNavigation(false);
    view->setModel(new CoverageModel(coverage, view));
    view->header()->setStretchLastSection(true);
    view->setColumnWidth(0, 420);
    view->setTextElideMode(Qt::ElideMiddle);
    column->addWidget(view, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    QPushButton* copy = buttons->addButton(tr("Copy report"), QDialogButtonBox::ActionRole);
    copy->setObjectName(QStringLiteral("copyCoverage"));
    copy->setIcon(icon(QStringLiteral("copy")));
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(copy, &QPushButton::clicked, this,
            [text = reportText(coverage, model)] { QGuiApplication::clipboard()->setText(text); });
}

QString CoverageDialog::reportText(const engine::AdapterSummary& coverage, const QString& model) {
    const auto [hits, all] = AdapterChip::matched(coverage);
    QString text = QStringLiteral("adapter %1 on %2: %3 of %4 tensors matched\n")
                       .arg(QFileInfo(fromUtf8(coverage.folder)).fileName(), model)
                       .arg(hits)
                       .arg(all);
    text += QStringLiteral("kind %1, rank %2, alpha %3, scaling %4\n")
                .arg(fromUtf8(coverage.kind))
                .arg(coverage.rank)
                .arg(coverage.alpha)
                .arg(coverage.scaling);
    text += QStringLiteral("tensors: language %1, vision %2, audio %3, other %4\n")
                .arg(coverage.language)
                .arg(coverage.vision)
                .arg(coverage.audio)
                .arg(coverage.other);
    for (const auto& [key, reason] : coverage.unmatched) {
        text += QStringLiteral("unmatched: %1: %2\n").arg(fromUtf8(key), fromUtf8(reason));
    }
    for (const std::string& module : coverage.missing) {
        text += QStringLiteral("missing: %1\n").arg(fromUtf8(module));
    }
    return text;
}

} // namespace ui
