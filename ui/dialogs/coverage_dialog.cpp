// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/coverage_dialog.h"

#include "ui/common/error_words.h"
#include "ui/common/sentence_words.h"
#include "ui/model/adapter_chip.h"
#include "ui/style/format.h"
#include "ui/style/row_delegate.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHash>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace ui {

namespace {

/// "12.3 %" of a share; small ones keep a digit that is not zero.
QString percent(double share) {
    return CoverageDialog::tr("%1 %").arg(QLocale().toString(100.0 * share, 'g', 2));
}

/// "model...q_proj" of "model...q_proj.weight".
QString moduleOf(const std::string& tensor) {
    QString name = fromUtf8(tensor);
    for (const char* end : {".weight", ".linear"}) {
        if (name.endsWith(QLatin1String(end))) {
            name.chop(static_cast<int>(qstrlen(end)));
        }
    }
    return name;
}

} // namespace

CoverageModel::CoverageModel(const engine::AdapterSummary& coverage, QObject* parent)
    : QAbstractTableModel(parent) {
    for (const engine::UnusedKey& unused : coverage.unmatched) {
        using Outcome = engine::UnusedKey::Outcome;
        const QString key = fromUtf8(unused.key);
        const QString why = sentenceWords(unused.reason.sentence);
        switch (unused.outcome) {
        case Outcome::Inert:
            // Right as it is: the architecture has no use for it, whoever trained it.
            rows_.push_back({key, tr("no effect: %1").arg(why), -1.0, false});
            break;
        case Outcome::Ignored:
            rows_.push_back({key, tr("left out: %1").arg(why), -1.0, true});
            break;
        case Outcome::Refused:
            rows_.push_back({key, tr("no place in this model: %1").arg(why), -1.0, true});
            break;
        }
    }
    for (const std::string& module : coverage.missing) {
        rows_.push_back(
            {fromUtf8(module), tr("named by the adapter, but not in its file"), -1.0, true});
    }
    QHash<QString, double> norms;
    for (const auto& [tensor, norm] : coverage.norms) {
        norms.insert(moduleOf(tensor), norm);
    }
    for (const std::string& module : coverage.matched_modules) {
        const double norm = norms.value(moduleOf(module), -1.0);
        // A delta of zeros is no error, but it is why nothing changes.
        rows_.push_back({fromUtf8(module),
                         norm == 0.0 ? tr("covered, changes nothing") : tr("covered"), norm,
                         false});
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
    if (index.column() == NormColumn) {
        if (role == Qt::DisplayRole) {
            return row.norm < 0 ? QString() : QLocale().toString(row.norm, 'g', 3);
        }
        if (role == Qt::TextAlignmentRole) {
            return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
        }
        return {};
    }
    if (role == Qt::DisplayRole && index.column() == KeyColumn) {
        // What all keys begin with tells none from another.
        const QString prefix = QStringLiteral("base_model.model.");
        return row.key.startsWith(prefix) ? row.key.mid(prefix.size()) : row.key;
    }
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) {
        return index.column() == KeyColumn ? row.key : row.finding;
    }
    if (role == Qt::ForegroundRole && row.is_problem) {
        return Theme::current().danger;
    }
    return {};
}

QVariant CoverageModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::ToolTipRole && section == NormColumn) {
        return tr("Frobenius norm of what is added to the weights at strength 1");
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    return section == KeyColumn       ? tr("Key or module")
           : section == FindingColumn ? tr("Finding")
                                      : tr("Change");
}

CoverageDialog::CoverageDialog(const engine::AdapterSummary& coverage,
                               const QString& model,
                               QWidget* parent)
    : QDialog(parent), coverage_(coverage), effect_label_(new QLabel(this)),
      effect_button_(new QPushButton(tr("Check the &effect"), this)) {
    setObjectName(QStringLiteral("coverageDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    const QString name = QFileInfo(fromUtf8(coverage.folder)).fileName();
    setWindowTitle(tr("Coverage of %1").arg(name));
    resize(760, 560);
    auto* column = columnIn(this, {16, 16, 16, 16});
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
    QStringList groups;
    for (const engine::AdapterSummary::Group& group : coverage.groups) {
        groups.append(tr("%1: rank %2, alpha %3, scaling %4, %n modules", nullptr,
                         static_cast<int>(group.modules))
                          .arg(fromUtf8(group.kind), formatCount(group.rank),
                               QLocale().toString(group.alpha, 'g', 4),
                               QLocale().toString(group.scaling, 'g', 4)));
    }
    if (coverage.groups.size() > 1) {
        auto* label = named("coverageGroups", new QLabel(groups.join(QLatin1Char('\n')), this));
        label->setWordWrap(true);
        setTextRole(label, TextRole::Muted);
        column->addWidget(label);
    }
    if (coverage.inert + coverage.ignored > 0) {
        auto* label = new QLabel(tr("%1 tensors act, %2 have no effect in this architecture, %3 "
                                    "are left out")
                                     .arg(formatCount(coverage.active), formatCount(coverage.inert),
                                          formatCount(coverage.ignored)),
                                 this);
        label->setWordWrap(true);
        column->addWidget(label);
    }
    auto* effect_row = new QHBoxLayout();
    effect_label_->setObjectName(QStringLiteral("coverageEffect"));
    effect_label_->setWordWrap(true);
    effect_button_->setObjectName(QStringLiteral("checkEffect"));
    effect_button_->setToolTip(tr("Runs fixed tokens, a fixed picture and a fixed sound with and "
                                  "without the adapter"));
    effect_row->addWidget(effect_label_, 1);
    effect_row->addWidget(effect_button_, 0, Qt::AlignTop);
    column->addLayout(effect_row);
    connect(effect_button_, &QPushButton::clicked, this, [this] {
        is_measuring_ = true;
        refreshEffect();
        Q_EMIT effectRequested();
    });
    refreshEffect();
    for (const engine::Sentence& note : coverage.notes) {
        auto* label = new QLabel(wholeSentence(note), this);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        column->addWidget(label);
    }
    auto* view = named("coverageTable", new QTreeView(this));
    view->setAccessibleName(tr("Keys and modules of the adapter"));
    view->setRootIsDecorated(false);
    view->setUniformRowHeights(true);
    view->setTabKeyNavigation(false);
    view->setModel(new CoverageModel(coverage, view));
    view->setItemDelegate(new RowDelegate(view));
    view->header()->setMinimumHeight(view->fontMetrics().height() + 16);
    view->header()->setStretchLastSection(false);
    view->header()->setSectionResizeMode(CoverageModel::KeyColumn, QHeaderView::Stretch);
    view->header()->setSectionResizeMode(CoverageModel::FindingColumn,
                                         QHeaderView::ResizeToContents);
    view->header()->setSectionResizeMode(CoverageModel::NormColumn, QHeaderView::ResizeToContents);
    view->setTextElideMode(Qt::ElideLeft); // names differ at their end
    column->addWidget(view, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    QPushButton* copy = buttons->addButton(tr("Copy report"), QDialogButtonBox::ActionRole);
    copy->setObjectName(QStringLiteral("copyCoverage"));
    copy->setIcon(icon(QStringLiteral("copy")));
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(copy, &QPushButton::clicked, this,
            [this, model] { QGuiApplication::clipboard()->setText(reportText(coverage_, model)); });
}

void CoverageDialog::setReady(bool is_ready) {
    is_ready_ = is_ready;
    refreshEffect();
}

void CoverageDialog::showEffect(const engine::AdapterSummary::Effect& effect) {
    coverage_.effect = effect;
    is_measuring_ = false;
    refreshEffect();
}

void CoverageDialog::showEffectError(const engine::Error& error) {
    is_measuring_ = false;
    refreshEffect();
    setTextRole(effect_label_, TextRole::Danger);
    effect_label_->setText(tr("The effect was not measured. %1").arg(errorSentence(error)));
}

void CoverageDialog::refreshEffect() {
    const engine::AdapterSummary::Effect& effect = coverage_.effect;
    effect_button_->setEnabled(is_ready_ && !is_measuring_);
    setTextRole(effect_label_, TextRole::Muted);
    if (is_measuring_) {
        effect_label_->setText(tr("Measuring …"));
    } else if (!effect.isMeasured()) {
        effect_label_->setText(
            is_ready_ ? tr("Does the model answer differently with it? Not measured yet.")
                      : tr("Does the model answer differently with it? Can be measured once the "
                           "model is loaded."));
    } else if (!effect.differs()) {
        setTextRole(effect_label_, TextRole::Danger);
        effect_label_->setText(tr("No effect: base and adapter give the same values, bit by bit."));
    } else {
        QStringList parts;
        const auto add = [&](const QString& what, double share) {
            if (share >= 0) {
                parts.append(share > 0 ? tr("%1 by up to %2").arg(what, percent(share))
                                       : tr("%1 not at all").arg(what));
            }
        };
        add(tr("the logits"), effect.logits);
        add(tr("what is seen in a picture"), effect.vision);
        add(tr("what is heard in a sound"), effect.audio);
        setTextRole(effect_label_, TextRole::Success);
        effect_label_->setText(tr("It acts. It changes %1.").arg(parts.join(QStringLiteral(", "))));
    }
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
    text += QStringLiteral("tensors: active %1, inert %2, ignored %3\n")
                .arg(coverage.active)
                .arg(coverage.inert)
                .arg(coverage.ignored);
    for (const engine::AdapterSummary::Group& group : coverage.groups) {
        text += QStringLiteral("group %1: rank %2, alpha %3, scaling %4, modules %5\n")
                    .arg(fromUtf8(group.kind))
                    .arg(group.rank)
                    .arg(group.alpha)
                    .arg(group.scaling)
                    .arg(group.modules);
    }
    if (coverage.effect.isMeasured()) {
        text += QStringLiteral("effect: logits %1, vision %2, audio %3\n")
                    .arg(coverage.effect.logits)
                    .arg(coverage.effect.vision)
                    .arg(coverage.effect.audio);
    }
    for (const engine::UnusedKey& unused : coverage.unmatched) {
        text += QStringLiteral("unmatched: %1: %2\n")
                    .arg(fromUtf8(unused.key), sentenceWords(unused.told()));
    }
    for (const std::string& module : coverage.missing) {
        text += QStringLiteral("missing: %1\n").arg(fromUtf8(module));
    }
    return text;
}

} // namespace ui
