// SPDX-License-Identifier: Apache-2.0
#include "ui/window/samples_strip.h"

#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLeastCard = 136;
constexpr int kStripSpacing = 12;

/// A card: thumbnail or wave, title, question on two lines.
class SampleCard : public QAbstractButton {
public:
    SampleCard(const Sample& sample, QImage thumbnail, QWidget* parent)
        : QAbstractButton(parent), sample_(sample), thumbnail_(std::move(thumbnail)) {
        setObjectName(QStringLiteral("sampleCard"));
        setText(sample.question);
        setAccessibleName(SamplesStrip::tr("Ask: %1").arg(sample.question));
        setAccessibleDescription(sample.title);
        setToolTip(SamplesStrip::tr("Ask this with its picture or sound"));
        setAttribute(Qt::WA_Hover);
        setFocusPolicy(Qt::StrongFocus);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }

    [[nodiscard]] QSize sizeHint() const override {
        return {176, 12 + 64 + 8 + fontMetrics().lineSpacing() * 3 + 12};
    }
    [[nodiscard]] QSize minimumSizeHint() const override {
        return {kLeastCard, sizeHint().height()};
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        const Theme& theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        painter.setPen(QPen(hasFocus() ? theme.accent : theme.border, hasFocus() ? 2 : 1));
        painter.setBrush(theme.surface);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
        if (underMouse() || isDown()) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.hover);
            painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
        }
        int x = 12;
        // Two beside each other are smaller in a narrow card.
        const bool has_both = !thumbnail_.isNull() && !sample_.audio.isEmpty();
        const int side = has_both ? std::min(64, (width() - 2 * 12 - 8) / 2) : 64;
        if (!thumbnail_.isNull()) {
            const QRect box(x, 12 + 64 - side, side, side);
            QPainterPath path;
            path.addRoundedRect(box, 6, 6);
            painter.save();
            painter.setClipPath(path);
            painter.drawImage(box, thumbnail_);
            painter.restore();
            x += side + 8;
        }
        if (!sample_.audio.isEmpty()) {
            const QRect box(x, 12 + 64 - side, side, side);
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.raised);
            painter.drawRoundedRect(box, 6, 6);
            painter.drawPixmap(
                box.center() - QPoint(15, 15),
                iconPixmap(QStringLiteral("audio"), 32, theme.part_audio, devicePixelRatioF()));
        }
        const int top = 12 + 64 + 8;
        const QFontMetrics metrics = fontMetrics();
        painter.setFont(scaledFont(90));
        painter.setPen(theme.text_muted);
        const QRect title(12, top, width() - 24, metrics.lineSpacing());
        painter.drawText(
            title, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(scaledFont(90)).elidedText(sample_.title, Qt::ElideRight, title.width()));
        painter.setFont(font());
        painter.setPen(theme.text);
        painter.drawText(QRect(12, title.bottom() + 1, width() - 24, metrics.lineSpacing() * 2),
                         Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sample_.question);
    }

private:
    Sample sample_;
    QImage thumbnail_;
};

} // namespace

SamplesStrip::SamplesStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("samplesStrip"));
    auto* column = columnIn(this, {24, 16, 24, 8});
    auto* title = new QLabel(tr("Try one of these"), this);
    setTextRole(title, TextRole::Muted);
    column->addWidget(title);
    row_ = new QHBoxLayout();
    row_->setSpacing(kStripSpacing);
    column->addLayout(row_);
    hide();
}

void SamplesStrip::setSamples(const std::vector<Sample>& samples,
                              const std::vector<QImage>& thumbnails) {
    while (QLayoutItem* item = row_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    samples_ = samples;
    for (size_t i = 0; i < samples.size(); ++i) {
        auto* card =
            new SampleCard(samples[i], i < thumbnails.size() ? thumbnails[i] : QImage(), this);
        row_->addWidget(card);
        connect(card, &QAbstractButton::clicked, this,
                [this, i] { Q_EMIT sampleChosen(samples_[i]); });
    }
    fit();
}

void SamplesStrip::fit() {
    const QMargins around = layout()->contentsMargins();
    const int room = width() - around.left() - around.right();
    const int shown = std::max(1, (room + kStripSpacing) / (kLeastCard + kStripSpacing));
    for (int i = 0; i < row_->count(); ++i) {
        row_->itemAt(i)->widget()->setVisible(i < shown);
    }
}

QSize SamplesStrip::minimumSizeHint() const {
    const QMargins around = layout()->contentsMargins();
    return {kLeastCard + around.left() + around.right(), QWidget::minimumSizeHint().height()};
}

void SamplesStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

} // namespace ui
