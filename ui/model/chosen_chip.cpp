// SPDX-License-Identifier: Apache-2.0
#include "ui/model/chosen_chip.h"

#include "ui/model/folder_words.h"
#include "ui/model/session.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDir>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

#include <utility>

namespace ui {

namespace {

constexpr int kWidestName = 180;
constexpr int kSpacing = 6;
constexpr int kButtonHeight = 28; ///< Inside the frame, with air around it.

} // namespace

ChosenChip::ChosenChip(Session* session, QWidget* parent) : QFrame(parent), session_(session) {
    setObjectName(QStringLiteral("chosenChip"));
    name_ = named("chosenName", new ElidedLabel(this));
    name_->setElideMode(Qt::ElideMiddle);
    name_->setMinimumCharacters(8);
    name_->setMaximumWidth(kWidestName);
    setTextSize(name_, 100, true);
    state_ = named("chosenState", new ElidedLabel(this));
    state_->setMinimumCharacters(0); // frame and button say it too where there is no room
    state_->setTextFormat(Qt::PlainText);
    setTextRole(state_, TextRole::Muted);
    setTextSize(state_, 95);
    load_ = pushButton("chosenLoad", tr("Load"), this, nullptr, ButtonKind::Primary);
    why_ = pushButton("chosenWhy", tr("Why?"), this, nullptr, ButtonKind::Flat);
    why_->setAccessibleName(tr("Say why the folder cannot be used"));
    why_->setToolTip(tr("Say why"));
    back_ = pushButton("chosenBack", QString(), this, "close", ButtonKind::Flat);
    setIconButton(back_, 14, 28);
    for (QPushButton* button : {load_, why_}) {
        button->setMaximumHeight(kButtonHeight * textZoom() / 100);
    }
    auto* row = rowIn(this, {12, 3, 4, 3}, kSpacing);
    row->addWidget(name_);
    row->addWidget(state_);
    row->addWidget(load_);
    row->addWidget(why_);
    row->addWidget(back_);
    connect(load_, &QPushButton::clicked, session_, &Session::load);
    connect(why_, &QPushButton::clicked, this, &ChosenChip::whyRequested);
    connect(back_, &QPushButton::clicked, session_, &Session::chooseLoaded);
    connect(session_, &Session::changed, this, &ChosenChip::refresh);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
    refresh();
}

void ChosenChip::refresh() {
    const bool is_other = session_->isChosenBeside() && session_->model() != session_->shownModel();
    setVisible(is_other);
    if (!is_other) {
        return;
    }
    const QString loaded = Session::nameOf(session_->shownModel());
    const QString name = session_->modelName() == loaded
                             ? folderName(session_->model(), {session_->shownModel()})
                             : session_->modelName();
    const bool is_unusable = session_->modelError() != nullptr;
    const auto& summary = session_->summary();
    name_->setText(name);
    state_->setText(is_unusable                ? tr("cannot be used")
                    : session_->isInspecting() ? tr("reading …")
                                               : tr("not loaded"));
    setTextRole(state_, is_unusable ? TextRole::Danger : TextRole::Muted);
    why_->setVisible(is_unusable);
    load_->setVisible(!is_unusable);
    load_->setEnabled(!session_->isBusy() && summary != nullptr && !summary->is_header_only);
    load_->setAccessibleName(tr("Load %1").arg(name));
    load_->setText(is_beside_what_if_ ? tr("Load here") : tr("Load"));
    load_->setToolTip(why_not_loadable_.isEmpty()
                          ? tr("Load %1 in the place of %2").arg(name, loaded)
                          : toolTipText(why_not_loadable_));
    back_->setAccessibleName(tr("Back to %1").arg(loaded));
    back_->setToolTip(tr("Leave it: %1 stays loaded and chosen").arg(loaded));
    setToolTip(QDir::toNativeSeparators(session_->model()).toHtmlEscaped());
    setAccessibleName(tr("Chosen: %1, %2").arg(name, state_->text()));
    fit();
    updateGeometry();
}

void ChosenChip::setBesideWhatIf(bool is_beside) {
    if (std::exchange(is_beside_what_if_, is_beside) != is_beside) {
        refresh();
    }
}

void ChosenChip::setWhyNotLoadable(const QString& why) {
    if (std::exchange(why_not_loadable_, why) != why) {
        refresh();
    }
}

void ChosenChip::fit() {
    // Three dots are no state: frame and button tell it where the words do not fit.
    const int words = state_->fontMetrics().horizontalAdvance(state_->text());
    const int least = layout()->minimumSize().width() + (state_->isHidden() ? kSpacing : 0) + words;
    state_->setVisible(width() >= least);
}

void ChosenChip::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fit();
}

QSize ChosenChip::sizeHint() const {
    // With the words, also while they are hidden.
    const int words = state_->isHidden() ? state_->sizeHint().width() + kSpacing : 0;
    return QFrame::sizeHint() + QSize(words, 0);
}

void ChosenChip::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    // Dashed as a part that is staged in the layout: it is not so yet.
    painter.setPen(
        QPen(session_->modelError() != nullptr ? theme.danger : theme.text_muted, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.drawRoundedRect(box, 8, 8);
}

} // namespace ui
