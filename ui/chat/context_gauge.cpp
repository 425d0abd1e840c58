// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/context_gauge.h"

#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QFontMetrics>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOptionFocusRect>

#include <algorithm>

namespace ui {

namespace {
constexpr int kBarWidth = 96, kBarHeight = 6;
constexpr double kTight = 0.8, kFull = 0.95; ///< Shares of the context where the colour changes.
} // namespace

ContextGauge::ContextGauge(QWidget* parent) : QAbstractButton(parent) {
    setObjectName(QStringLiteral("contextGauge"));
    setFocusPolicy(Qt::StrongFocus);
    setFont(scaledFont(90));
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    connect(this, &QAbstractButton::clicked, this, &ContextGauge::showMenu);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, [this] {
        setFont(scaledFont(90));
        update();
    });
    setValues(0, 0, 0, false);
}

QString ContextGauge::words(bool is_short) const {
    if (size_ <= 0) {
        return is_short ? tr("context: no model")
                        : tr("No model is loaded, so there is no context");
    }
    if (is_short) {
        return is_estimate_ ? tr("context ≈ %1 of %2").arg(formatCount(used_), formatCount(size_))
                            : tr("context %1 of %2").arg(formatCount(used_), formatCount(size_));
    }
    QString text = tr("%1 of %2 tokens of the context are used; the next message adds about %3.")
                       .arg(formatCount(used_), formatCount(size_), formatCount(draft_));
    if (used_ + draft_ > size_) {
        text += QLatin1Char('\n') + tr("That is too much: press to choose what to leave out.");
    }
    return text;
}

void ContextGauge::setValues(qint64 used, qint64 draft, qint64 size, bool is_estimate) {
    used_ = used;
    draft_ = draft;
    size_ = size;
    is_estimate_ = is_estimate;
    setText(words(true));
    setAccessibleName(tr("Context: %1").arg(words(true)));
    setAccessibleDescription(words(false));
    setToolTip(words(false));
    updateGeometry();
    update();
}

QSize ContextGauge::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(text()) + kBarWidth + 28, Theme::kControlHeight};
}

QSize ContextGauge::minimumSizeHint() const {
    // Room for the share in per cent.
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(QStringLiteral("≈ 100 %")) + kBarWidth + 28,
            Theme::kControlHeight};
}

void ContextGauge::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (underMouse() || hasFocus()) {
        painter.setPen(hasFocus() ? QPen(theme.accent, 1.5) : QPen(Qt::NoPen));
        painter.setBrush(underMouse() ? QBrush(theme.hover) : QBrush(Qt::NoBrush));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), Theme::kRadius,
                                Theme::kRadius);
    }
    const QRectF bar(width() - 8 - kBarWidth, (height() - kBarHeight) / 2.0, kBarWidth, kBarHeight);
    painter.setFont(font());
    painter.setPen(theme.text_muted);
    const QRectF words_rect(8, 0, bar.left() - 16, height());
    // The longest form that fits; a cut off number would be a wrong number.
    const QFontMetricsF metrics(font());
    const QString about = is_estimate_ ? QStringLiteral("≈ ") : QString(); // never dropped
    const QString share =
        size_ > 0 ? about + QLocale().toString(used_ * 100 / size_) + QStringLiteral(" %")
                  : QString();
    for (const QString& form :
         {text(), about + QStringLiteral("%1 / %2").arg(formatCount(used_), formatCount(size_)),
          share}) {
        if (form == text() ? metrics.horizontalAdvance(form) <= words_rect.width()
                           : size_ > 0 && metrics.horizontalAdvance(form) <= words_rect.width()) {
            painter.drawText(words_rect, Qt::AlignVCenter | Qt::AlignLeft, form);
            break;
        }
    }
    QPainterPath outline;
    outline.addRoundedRect(bar, kBarHeight / 2.0, kBarHeight / 2.0);
    painter.fillPath(outline, theme.border);
    if (size_ <= 0) {
        return;
    }
    const double used = std::min(static_cast<double>(used_) / static_cast<double>(size_), 1.0);
    const double after =
        std::min(static_cast<double>(used_ + draft_) / static_cast<double>(size_), 1.0);
    const QColor tone = used >= kFull    ? theme.danger
                        : used >= kTight ? theme.warning
                                         : theme.success;
    painter.setClipPath(outline);
    QColor light = after >= 1.0 ? theme.danger : tone;
    light.setAlphaF(0.4F);
    painter.fillRect(QRectF(bar.x(), bar.y(), bar.width() * after, bar.height()), light);
    painter.fillRect(QRectF(bar.x(), bar.y(), bar.width() * used, bar.height()), tone);
}

void ContextGauge::showMenu() {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Leave out the oldest turns"), this, &ContextGauge::cutOldestRequested)
        ->setEnabled(size_ > 0 && used_ > 0);
    menu->addAction(tr("Use all turns again"), this, &ContextGauge::restoreAllRequested)
        ->setEnabled(has_cut_);
    menu->addAction(tr("Make the context larger…"), this, &ContextGauge::largerRequested)
        ->setEnabled(size_ > 0);
    menu->popup(mapToGlobal(QPoint(0, height())));
}

} // namespace ui
