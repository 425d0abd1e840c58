// SPDX-License-Identifier: Apache-2.0
#include "ui/common/body_area.h"

#include <QDialog>
#include <QScreen>
#include <QScrollBar>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLeastHeight = 160;
constexpr QSize kAroundDialog(48, 96); ///< Frame, title and the desktop's own bars.

} // namespace

BodyArea::BodyArea(QWidget* body, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus); // what is reached by Tab is scrolled into sight
    setWidget(body);
    body->setAutoFillBackground(false);
    viewport()->setAutoFillBackground(false);
}

void BodyArea::keepBarRoom() {
    const QScrollBar* bar = verticalScrollBar();
    const auto keep = [this, bar](int /*least*/, int most) {
        setViewportMargins(0, 0, most > 0 ? 0 : bar->sizeHint().width(), 0);
    };
    // Later: within the layout that changes the range the body would keep its former width.
    connect(bar, &QScrollBar::rangeChanged, this, keep, Qt::QueuedConnection);
    keep(bar->minimum(), bar->maximum());
}

QSize BodyArea::sizeHint() const {
    return widget()->sizeHint() + QSize(verticalScrollBar()->sizeHint().width(), 0);
}

QSize BodyArea::minimumSizeHint() const {
    return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(),
            std::min(kLeastHeight, widget()->minimumSizeHint().height())};
}

void BodyArea::fitToScreen(QDialog* dialog) {
    const QSize room = dialog->screen()->availableSize() - kAroundDialog;
    dialog->resize(dialog->sizeHint().boundedTo(room).expandedTo(dialog->minimumSizeHint()));
}

} // namespace ui
