// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/lane_widget.h"

#include "ui/style/format.h"
#include "ui/style/motion.h"
#include "ui/style/theme.h"

#include <QEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>

#include <algorithm>
#include <limits>

namespace ui {

namespace {

constexpr int kLaneInset = 12;
constexpr int kGap = 8;
constexpr int kBar = 6;
constexpr int kTowerWidth = 112; ///< The least that two towers side by side need each.
constexpr int kLeastWidth = 152; ///< For a lane, at the usual text size ...
constexpr int kLeastEmpty = 64;  ///< ... and for the disk's while nothing is on it.
constexpr quint64 kUnlimited = std::numeric_limits<quint64>::max();

} // namespace

LaneWidget::LaneWidget(engine::DeviceId device, QWidget* parent)
    : QWidget(parent), device_(device), scroll_(new QScrollArea(this)), content_(new QWidget) {
    setObjectName(QStringLiteral("lane.") + QString::fromStdString(device.toString()));
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setFocusPolicy(Qt::NoFocus);
    scroll_->viewport()->setAutoFillBackground(false);
    content_->setAutoFillBackground(false);
    scroll_->setWidget(content_);
    content_->setAutoFillBackground(false); // setWidget() switches it on
    fitWidth();
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, &LaneWidget::fitWidth);
}

void LaneWidget::fitWidth() {
    const bool is_slim = blocks_.empty() && device_ == engine::DeviceId::disk();
    setMinimumWidth((is_slim ? kLeastEmpty : kLeastWidth) * textZoom() / 100);
}

void LaneWidget::setPlan(std::shared_ptr<const engine::PlacementPlan> plan) {
    plan_ = std::move(plan);
    updateAccessible();
    update();
}

void LaneWidget::setBlocks(std::vector<BlockWidget*> blocks) {
    blocks_ = std::move(blocks);
    for (BlockWidget* block : blocks_) {
        block->setParent(content_);
        block->show();
    }
    fitWidth();
    arrange();
    update();
}

int LaneWidget::headerHeight() const {
    return kLaneInset + QFontMetrics(scaledFont(108, true)).height() + 4 +
           QFontMetrics(scaledFont(88)).height() + 6 + kBar + 8;
}

std::vector<std::vector<BlockWidget*>> LaneWidget::rows() const {
    std::vector<std::vector<BlockWidget*>> rows;
    for (BlockWidget* block : blocks_) {
        // Two towers stand side by side where their names have room.
        const bool is_wide = width() >= 2 * kTowerWidth + kGap + 2 * kLaneInset;
        if (is_wide && block->isTower() && !rows.empty() && rows.back().size() == 1 &&
            rows.back().front()->isTower()) {
            rows.back().push_back(block);
        } else {
            rows.push_back({block});
        }
    }
    return rows;
}

int LaneWidget::heightAt(double pixels_per_byte) const {
    int height = 0;
    for (const auto& row : rows()) {
        int tallest = 0;
        for (const BlockWidget* block : row) {
            const double scaled = pixels_per_byte * static_cast<double>(block->block().bytes) /
                                  static_cast<double>(row.size());
            tallest = std::max({tallest, block->minimumBlockHeight(),
                                static_cast<int>(std::min(scaled, 20000.0))});
        }
        height += tallest + kGap;
    }
    return height;
}

int LaneWidget::room() const {
    return scroll_->height();
}

void LaneWidget::setScale(double pixels_per_byte) {
    scale_ = pixels_per_byte;
    arrange();
}

void LaneWidget::arrange() {
    const int top = headerHeight();
    scroll_->setGeometry(kLaneInset - 2, top, width() - 2 * kLaneInset + 4 + 8, height() - top - 8);
    const int width = scroll_->width() - 12;
    int y = 2;
    for (const auto& row : rows()) {
        const int count = static_cast<int>(row.size());
        const int each = (width - 2 - kGap * (count - 1)) / count;
        int tallest = 0;
        for (const BlockWidget* block : row) {
            const double scaled = scale_ * static_cast<double>(block->block().bytes) / count;
            tallest = std::max({tallest, block->minimumBlockHeight(),
                                static_cast<int>(std::min(scaled, 20000.0))});
        }
        int x = 2;
        for (BlockWidget* block : row) {
            placeAt(block, {x, y, each, tallest});
            block->setScaleLength(
                static_cast<int>(scale_ * static_cast<double>(block->block().bytes)));
            x += each + kGap;
        }
        y += tallest + kGap;
    }
    content_->resize(width, std::max(y, 0));
}

void LaneWidget::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
    Q_EMIT roomChanged();
}

bool LaneWidget::event(QEvent* event) {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::LayoutDirectionChange) {
        arrange();
    }
    return QWidget::event(event);
}

void LaneWidget::setHeaderPlan(std::shared_ptr<const engine::PlacementPlan> plan) {
    header_plan_ = std::move(plan);
    updateAccessible();
    update();
}

void LaneWidget::setPreview(const std::optional<LanePreview>& preview) {
    preview_ = preview;
    updateAccessible();
    update();
}

void LaneWidget::setTarget(bool is_target) {
    if (is_target_ != is_target) {
        is_target_ = is_target;
        update();
    }
}

void LaneWidget::showBlock(BlockWidget* block) {
    scroll_->ensureWidgetVisible(block, 0, kGap);
}

QString LaneWidget::usageText() const {
    const auto& plan = header_plan_ != nullptr ? header_plan_ : plan_;
    if (plan == nullptr) {
        return {};
    }
    if (device_ == engine::DeviceId::disk()) {
        const quint64 bytes = diskBytes(*plan);
        return bytes == 0 ? tr("streamed or gathered") : formatBytes(bytes);
    }
    const engine::DevicePlan* device = devicePlan(*plan, device_);
    if (device == nullptr) {
        return {};
    }
    const quint64 used = device->parts.total();
    return device->limit == kUnlimited || device->limit == 0
               ? formatBytes(used)
               : tr("%1 of %2").arg(formatBytes(used), formatBytes(device->limit));
}

void LaneWidget::updateAccessible() {
    QString text = tr("%1, %2").arg(laneName(device_), usageText());
    if (preview_.has_value()) {
        text += QStringLiteral(". ") + preview_->text;
    }
    setAccessibleName(text);
}

void LaneWidget::paintBar(QPainter& painter, const QRectF& bar, quint64 used, quint64 limit) const {
    const Theme& theme = Theme::current();
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(bar, kBar / 2.0, kBar / 2.0);
    if (limit == 0) {
        return;
    }
    const auto widthOf = [&](quint64 bytes) {
        return bar.width() * std::min(1.0, static_cast<double>(bytes) / static_cast<double>(limit));
    };
    painter.setBrush(used > limit      ? theme.danger
                     : device_.isGpu() ? theme.accent
                                       : theme.text_muted);
    if (used > 0) {
        painter.drawRoundedRect(
            QRectF(bar.left(), bar.top(), std::max(kBar * 1.0, widthOf(used)), kBar), kBar / 2.0,
            kBar / 2.0);
    }
    const engine::DevicePlan* const before =
        header_plan_ != nullptr && plan_ != nullptr ? devicePlan(*plan_, device_) : nullptr;
    if (before != nullptr) {
        const double x = bar.left() + widthOf(before->parts.total());
        painter.setBrush(theme.text);
        painter.drawRect(QRectF(x - 1, bar.top() - 2, 2, kBar + 4));
    }
}

void LaneWidget::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& plan = header_plan_ != nullptr ? header_plan_ : plan_;
    const engine::DevicePlan* device = plan == nullptr ? nullptr : devicePlan(*plan, device_);
    const bool has_limit = device != nullptr && device->limit != kUnlimited && device->limit > 0 &&
                           device_ != engine::DeviceId::disk();
    const quint64 used = device == nullptr ? 0 : device->parts.total();
    const bool is_over = has_limit && used > device->limit;
    const bool is_refused = preview_.has_value() && (!preview_->is_possible || preview_->is_over);

    QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    QColor fill = theme.surface;
    QPen pen(is_over ? theme.danger : theme.border, 1);
    if (is_target_) {
        frame.adjust(0.5, 0.5, -0.5, -0.5);
        const QColor tone = is_refused ? theme.danger : theme.accent;
        pen = QPen(tone, 2, Qt::DashLine);
        QColor tint = tone;
        tint.setAlphaF(0.08F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(frame, 10, 10);
        fill = tint;
    } else if (preview_.has_value() && !is_refused) {
        pen = QPen(theme.accent, 1);
    }
    painter.setPen(pen);
    painter.setBrush(fill);
    painter.drawRoundedRect(frame, 10, 10);

    const QFont name_font = scaledFont(108, true);
    const QFont small_font = scaledFont(88);
    const QFontMetrics name_metrics(name_font);
    const QFontMetrics small(small_font);
    const int inner = width() - 2 * kLaneInset;
    int y = kLaneInset;
    const QString name = laneName(device_);
    painter.setFont(name_font);
    painter.setPen(theme.text);
    painter.drawText(QRect(kLaneInset, y, inner, name_metrics.height()),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     name_metrics.elidedText(name, Qt::ElideRight, inner));
    painter.setFont(small_font);
    painter.setPen(is_over ? theme.danger : theme.text_muted);
    const int name_width = name_metrics.horizontalAdvance(name) + 8;
    // In a narrow lane the amounts go below the name, in the place of what is left.
    const QString usage = usageText();
    const bool is_usage_beside = small.horizontalAdvance(usage) <= inner - name_width;
    if (is_usage_beside) {
        painter.drawText(
            QRect(kLaneInset + name_width, y, inner - name_width, name_metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, usage);
    }
    y += name_metrics.height() + 4;
    QString line;
    QColor line_color = theme.text_muted;
    if (preview_.has_value()) {
        line = preview_->text;
        line_color = is_refused ? theme.danger : theme.success;
    } else if (is_over) {
        line = tr("%1 too much").arg(formatBytes(used - device->limit));
        line_color = theme.danger;
    } else if (!is_usage_beside) {
        line = usage;
    } else if (device_ == engine::DeviceId::disk()) {
        line = tr("read when needed");
    } else if (device != nullptr) {
        line = has_limit ? tr("%1 left").arg(formatBytes(device->limit - used)) : QString();
        if (!device->description.empty() && device_.kind == engine::DeviceId::Kind::Cuda) {
            line = QString::fromStdString(device->description) +
                   (line.isEmpty() ? QString() : QStringLiteral(" · ") + line);
        }
    }
    painter.setPen(line_color);
    painter.drawText(QRect(kLaneInset, y, inner, small.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     small.elidedText(line, Qt::ElideRight, inner));
    y += small.height() + 6;

    paintBar(painter, QRectF(kLaneInset, y, inner, kBar), used, has_limit ? device->limit : 0);
    if (blocks_.empty() && plan_ != nullptr && width() >= kLeastWidth) { // else the name tells
        painter.setFont(small_font);
        painter.setPen(theme.text_muted);
        const QString text =
            device_ == engine::DeviceId::disk()
                ? tr("Nothing here.\nParts on disk are read when they are needed.")
                : tr("Nothing here.\nDrag a block here, or focus one and press M.");
        painter.drawText(rect().adjusted(kLaneInset, headerHeight(), -kLaneInset, -kLaneInset),
                         Qt::AlignCenter | Qt::TextWordWrap, text);
    }
}

} // namespace ui
