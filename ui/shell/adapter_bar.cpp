// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/adapter_bar.h"

#include "ui/shell/adapter_chip.h"
#include "ui/shell/session.h"
#include "ui/style/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>

namespace ui {

AdapterBar::AdapterBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
    setObjectName(QStringLiteral("adapterBar"));
    setAccessibleName(tr("Adapters"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    area_ = new QScrollArea(this);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setWidgetResizable(true);
    area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area_->setFocusPolicy(Qt::NoFocus);
    area_->viewport()->setAutoFillBackground(false);
    row_widget_ = new QWidget;
    row_widget_->setAutoFillBackground(false);
    row_ = new QHBoxLayout(row_widget_);
    row_->setContentsMargins(0, 0, 0, 0);
    row_->setSpacing(Theme::kGap);
    row_->addStretch();
    area_->setWidget(row_widget_);
    layout->addWidget(area_, 1);
    add_button_ = new QPushButton(tr("Adapter"), this);
    add_button_->setObjectName(QStringLiteral("addAdapterButton"));
    add_button_->setIcon(icon(QStringLiteral("plus")));
    add_button_->setAccessibleName(tr("Add an adapter"));
    add_button_->setToolTip(tr("Add a PEFT LoRA folder, or drop one into the window"));
    layout->addWidget(add_button_);
    layout->addStretch();
    connect(add_button_, &QPushButton::clicked, this, &AdapterBar::addRequested);
    connect(session_, &Session::changed, this, &AdapterBar::refresh);
    area_->viewport()->installEventFilter(this);
    refresh();
}

QSize AdapterBar::sizeHint() const {
    return {chipsWidth() + wholeButtonWidth(),
            std::max(row_widget_->sizeHint().height(), add_button_->sizeHint().height())};
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
    // The plus alone where its word would cost the adapters their place; then these get narrower.
    const bool is_whole = width() >= chipsWidth() + wholeButtonWidth();
    const QString text = is_whole ? tr("Adapter") : QString();
    if (add_button_->text() != text) {
        add_button_->setText(text);
    }
    const bool is_compact = width() < chipsWidth() + add_button_->sizeHint().width();
    int wanted = 0;
    for (AdapterChip* chip : chips_) {
        chip->setCompact(is_compact);
        wanted += chip->sizeHint().width();
    }
    row_->invalidate();
    area_->setMaximumWidth(wanted + Theme::kGap * std::max(0, static_cast<int>(chips_.size()) - 1));
}

QSize AdapterBar::minimumSizeHint() const {
    int width = wholeButtonWidth();
    if (!chips_.empty()) {
        width += Theme::kGap + chips_.front()->wholeWidth();
    }
    // In a small window the one is compact.
    return {std::min({width, sizeHint().width(), 300 * textZoom() / 100}), sizeHint().height()};
}

bool AdapterBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == area_->viewport() && event->type() == QEvent::Wheel) {
        // The only direction there is.
        auto* wheel = static_cast<QWheelEvent*>(event);
        QScrollBar* bar = area_->horizontalScrollBar();
        const QPoint delta = wheel->angleDelta();
        bar->setValue(bar->value() - (delta.x() != 0 ? delta.x() : delta.y()) / 2);
        return true;
    }
    return QWidget::eventFilter(watched, event);
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
        auto* chip = new AdapterChip(row_widget_);
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
    for (size_t i = 0; i < chips_.size(); ++i) {
        chips_[i]->show(adapters[i], session_->coverage(adapters[i].folder));
        chips_[i]->setVisible(true);
    }
    add_button_->setEnabled(!session_->model().isEmpty() && session_->modelError() == nullptr &&
                            !session_->isChosenBeside());
    area_->setVisible(!chips_.empty());
    fit();
    updateGeometry(); // a coverage that has been read makes its chip wider
    setFixedHeight(AdapterBar::sizeHint().height());
}

} // namespace ui
