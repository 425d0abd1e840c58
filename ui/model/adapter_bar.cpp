// SPDX-License-Identifier: Apache-2.0
#include "ui/model/adapter_bar.h"

#include "ui/model/adapter_chip.h"
#include "ui/model/adapter_list.h"
#include "ui/model/folder_words.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QPushButton>

#include <algorithm>

namespace ui {

AdapterBar::AdapterBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
    setObjectName(QStringLiteral("adapterBar"));
    setAccessibleName(tr("Adapters"));
    row_ = rowIn(this, {0, 0, 0, 0}, Theme::kGap);
    list_button_ = pushButton("adapterListButton", QString(), this);
    list_button_->hide();
    row_->addWidget(list_button_);
    add_button_ = pushButton("addAdapterButton", tr("Adapter"), this, "plus");
    add_button_->setAccessibleName(tr("Add an adapter"));
    add_button_->setToolTip(
        tr("Add a LoRA adapter, a PEFT folder or a GGUF file, or drop one into the window"));
    row_->addWidget(add_button_);
    row_->addStretch();
    connect(list_button_, &QPushButton::clicked, this, &AdapterBar::openList);
    connect(add_button_, &QPushButton::clicked, this, &AdapterBar::addRequested);
    connect(session_, &Session::changed, this, &AdapterBar::refresh);
    refresh();
}

QSize AdapterBar::sizeHint() const {
    const int chip = chips_.empty() ? 0 : chips_.front()->sizeHint().height();
    return {chipsWidth() + wholeButtonWidth(), std::max(chip, add_button_->sizeHint().height())};
}

int AdapterBar::chipsWidth() const {
    int width = 0;
    for (const AdapterChip* chip : chips_) {
        width += chip->wholeWidth() + Theme::kGap;
    }
    return width;
}

int AdapterBar::wholeButtonWidth() const {
    const QFontMetrics metrics(add_button_->font());
    return add_button_->sizeHint().width() +
           (add_button_->text().isEmpty() ? metrics.horizontalAdvance(tr("Adapter")) + Theme::kGap
                                          : 0);
}

void AdapterBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

void AdapterBar::fit() {
    // The plus alone where its word would cost the adapters their place; then these get narrower,
    // and where not even that is enough they go into the list: all act, so all are told of.
    const bool is_whole = width() >= chipsWidth() + wholeButtonWidth();
    const QString text = is_whole ? tr("Adapter") : QString();
    if (add_button_->text() != text) {
        add_button_->setText(text);
    }
    const int room = width() - add_button_->sizeHint().width();
    const bool is_compact = room < chipsWidth();
    int compact = 0;
    for (AdapterChip* chip : chips_) {
        compact += chip->compactWidth() + Theme::kGap;
    }
    setListed(!chips_.empty() && room < compact &&
              (chips_.size() > 1 || session_->isChosenBeside()));
    for (AdapterChip* chip : chips_) {
        chip->setCompact(is_compact && !is_listed_);
    }
    row_->invalidate();
}

void AdapterBar::setListed(bool is_listed) {
    if (!is_listed && list_ != nullptr) {
        list_->hide();
        list_->setChips({});
    }
    is_listed_ = is_listed;
    list_button_->setVisible(is_listed);
    if (is_listed) {
        if (list_ == nullptr) {
            list_ = new AdapterList(window());
        }
        list_->setChips(chips_);
        return;
    }
    for (size_t i = 0; i < chips_.size(); ++i) {
        if (row_->indexOf(chips_[i]) < 0) {
            row_->insertWidget(static_cast<int>(i), chips_[i]);
            chips_[i]->setVisible(true);
        }
    }
}

void AdapterBar::openList() {
    if (list_->isVisible()) {
        list_->closeFlyout();
    } else {
        list_->openBelow(list_button_);
    }
}

QSize AdapterBar::minimumSizeHint() const {
    int width = wholeButtonWidth();
    if (!chips_.empty()) {
        width += Theme::kGap + chips_.front()->wholeWidth();
    }
    if (session_->isChosenBeside()) { // which needs its own place in the bar
        width = (chips_.empty() ? 0 : list_button_->sizeHint().width() + Theme::kGap) +
                add_button_->iconSize().width() + Theme::kControlHeight;
    }
    // In a small window the one is compact.
    return {std::min({width, sizeHint().width(), 300 * textZoom() / 100}), sizeHint().height()};
}

void AdapterBar::refresh() {
    const auto& adapters = session_->adapters();
    while (chips_.size() > adapters.size()) {
        chips_.back()->deleteLater();
        chips_.back()->hide();
        chips_.pop_back();
    }
    while (chips_.size() < adapters.size()) {
        const int index = static_cast<int>(chips_.size());
        auto* chip = new AdapterChip(this);
        row_->insertWidget(index, chip);
        connect(chip, &AdapterChip::enabledChanged, session_,
                [this, index](bool is_on) { session_->setAdapterEnabled(index, is_on); });
        connect(chip, &AdapterChip::strengthChanged, session_,
                [this, index](double strength) { session_->setAdapterStrength(index, strength); });
        connect(chip, &AdapterChip::removeRequested, session_,
                [this, index] { session_->removeAdapter(index); });
        connect(chip, &AdapterChip::reportRequested, this,
                [this, index] { Q_EMIT reportRequested(index); });
        chips_.push_back(chip);
    }
    QStringList folders, names;
    for (const engine::AdapterChoice& adapter : adapters) {
        folders.append(fromUtf8(adapter.folder));
    }
    size_t on = 0;
    bool has_problem = false;
    for (size_t i = 0; i < chips_.size(); ++i) {
        const QString name = adapterName(folders[static_cast<qsizetype>(i)], folders);
        chips_[i]->show(adapters[i], name, session_->coverage(adapters[i].folder));
        on += adapters[i].is_enabled ? 1 : 0;
        has_problem = has_problem || chips_[i]->hasProblem();
        names.append(adapters[i].is_enabled
                         ? QStringLiteral("%1 × %2").arg(
                               name, QLocale().toString(adapters[i].strength, 'f', 2))
                         : tr("%1, off").arg(name));
    }
    const QString all = formatCount(static_cast<qint64>(chips_.size()));
    const QString count =
        chips_.size() == 1 ? tr("1 adapter")
        : on == chips_.size()
            ? tr("%1 adapters").arg(all)
            : tr("%1 of %2 adapters").arg(formatCount(static_cast<qint64>(on)), all);
    list_button_->setText(count + QStringLiteral(" ▾"));
    list_button_->setIcon(icon(has_problem ? QStringLiteral("alert") : QStringLiteral("adapter")));
    list_button_->setAccessibleName(count);
    list_button_->setAccessibleDescription(names.join(QStringLiteral(", ")));
    list_button_->setToolTip(toolTipText(names.join(QLatin1Char('\n'))));
    add_button_->setEnabled(!session_->model().isEmpty() && session_->modelError() == nullptr &&
                            !session_->isChosenBeside());
    fit();
    updateGeometry(); // a coverage that has been read makes its chip wider
    setFixedHeight(AdapterBar::sizeHint().height());
}

} // namespace ui
