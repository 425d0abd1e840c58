// SPDX-License-Identifier: Apache-2.0
#include "ui/style/elided_label.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace ui {

ElidedLabel::ElidedLabel(QWidget* parent) : ElidedLabel(QString(), parent) {}

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
}

void ElidedLabel::setElideMode(Qt::TextElideMode mode) {
    mode_ = mode;
    update();
}

namespace {
const QString kBetweenParts = QStringLiteral(" · ");
} // namespace

void ElidedLabel::setParts(const QStringList& parts) {
    parts_ = parts;
    setText(parts.join(kBetweenParts));
}

QString ElidedLabel::shownText() const {
    if (parts_.isEmpty() || parts_.join(kBetweenParts) != text()) {
        return fontMetrics().elidedText(text(), mode_, width());
    }
    QStringList shown = parts_;
    while (!shown.isEmpty() &&
           fontMetrics().horizontalAdvance(shown.join(kBetweenParts)) > width()) {
        shown.removeLast();
    }
    return shown.join(kBetweenParts);
}

void ElidedLabel::setMinimumCharacters(int characters) {
    minimum_characters_ = characters;
    updateGeometry();
}

QSize ElidedLabel::minimumSizeHint() const {
    const int width = fontMetrics().averageCharWidth() * minimum_characters_;
    return {std::min(width, sizeHint().width()), fontMetrics().height()};
}

QSize ElidedLabel::sizeHint() const {
    // One pixel more than the text: a width that equals the advance may still elide.
    return {text().isEmpty() ? 0 : fontMetrics().horizontalAdvance(text()) + 1,
            fontMetrics().height()};
}

void ElidedLabel::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setPen(
        palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, foregroundRole()));
    painter.drawText(rect(), static_cast<int>(alignment()) | Qt::TextSingleLine, shownText());
}

bool ElidedLabel::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (fontMetrics().horizontalAdvance(text()) > width()) {
            QToolTip::showText(help->globalPos(), text(), this);
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return QLabel::event(event);
}

} // namespace ui
