// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/block_widget.h"

#include "ui/layout/memory_kinds.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kInset = 12; ///< From the frame to the texts.
constexpr int kEdge = 4;   ///< Width of the coloured edge.
constexpr int kRadius = 8;
constexpr int kRoof = 14;
constexpr int kIcon = 22;
constexpr int kFloor = 4;
constexpr int kFloorGap = 2;
constexpr int kScissors = 20;

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto part = [share](float x, float y) {
        return static_cast<float>(x * (1.0 - share) + y * share);
    };
    return QColor::fromRgbF(part(a.redF(), b.redF()), part(a.greenF(), b.greenF()),
                            part(a.blueF(), b.blueF()));
}

} // namespace

QColor blockColor(BlockKind kind) {
    return memoryColor(memoryKind(kind));
}

BlockWidget::BlockWidget(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setCursor(Qt::OpenHandCursor);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
}

void BlockWidget::setBlock(const LayoutBlock& block,
                           std::shared_ptr<const engine::PlacementPlan> plan) {
    block_ = block;
    plan_ = std::move(plan);
    setObjectName(QStringLiteral("block.") + block_.id);
    setAccessibleName(blockTitle(block_));
    setAccessibleDescription(blockDescription(block_, *plan_) + QLatin1Char(' ') +
                             tr("M moves it, S splits, J joins, arrow keys go to other blocks"));
    updateGeometry();
    update();
}

bool BlockWidget::isTower() const {
    return block_.kind == BlockKind::Vision || block_.kind == BlockKind::Audio;
}

QFont BlockWidget::titleFont() const {
    QFont font = this->font();
    font.setWeight(QFont::DemiBold);
    return font;
}

QFont BlockWidget::smallFont() const {
    return scaledFont(88);
}

int BlockWidget::minimumBlockHeight() const {
    const int texts = QFontMetrics(titleFont()).height() + QFontMetrics(smallFont()).height() + 2;
    if (isTower()) {
        const int floors = std::clamp(block_.floors, 1, 16) * (kFloor + kFloorGap);
        return kRoof + kIcon + texts + floors + QFontMetrics(smallFont()).height() + 5 * 6;
    }
    const int padding = 2 * 10;
    int height = texts + padding + (isRange(block_) ? 48 : 0);
    // Where the card is too full, what would help is said however low the block is.
    if (const QString note = blockNote(block_);
        !note.isEmpty() && plan_ != nullptr && !plan_->fits && block_.store.isGpu()) {
        const QRect line(0, 0, std::max(width(), 140) - 2 * kInset - 2, 1000);
        height += QFontMetrics(smallFont()).boundingRect(line, Qt::TextWordWrap, note).height() + 8;
    }
    return height;
}

QSize BlockWidget::sizeHint() const {
    return {220, minimumBlockHeight()};
}

void BlockWidget::setScaleLength(int pixels) {
    if (scale_length_ != pixels) {
        scale_length_ = pixels;
        update();
    }
}

void BlockWidget::setHeld(bool is_held) {
    is_held_ = is_held;
    update();
}

void BlockWidget::setCutMark(int layer) {
    if (cut_mark_ != layer) {
        cut_mark_ = layer;
        update();
    }
}

QPixmap BlockWidget::picture() {
    const bool was_held = is_held_;
    is_held_ = false;
    QPixmap picture(size() * devicePixelRatioF());
    picture.setDevicePixelRatio(devicePixelRatioF());
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    render(&painter, {}, {}, QWidget::DrawChildren);
    painter.end();
    is_held_ = was_held;
    return picture;
}

void BlockWidget::paintEvent(QPaintEvent* /*event*/) {
    if (plan_ == nullptr) {
        return;
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    if (is_held_) {
        QPen pen(theme.accent, 2, Qt::DashLine);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), kRadius, kRadius);
        painter.setPen(theme.text_muted);
        painter.setFont(smallFont());
        painter.drawText(rect(), Qt::AlignCenter, blockTitle(block_));
        return;
    }
    paintFrame(painter);
    if (isTower()) {
        paintTower(painter);
    } else {
        paintTexts(painter, rect().adjusted(kInset + 2, 10, -kInset, -10));
        if (isRange(block_)) {
            paintLayers(painter);
        }
    }
    paintMarks(painter);
}

void BlockWidget::paintFrame(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    QPainterPath path;
    path.addRoundedRect(frame, kRadius, kRadius);
    painter.fillPath(path, is_hovered_ ? mixed(theme.raised, theme.text, 0.05) : theme.raised);
    // The edge: its length is the block's bytes on the scale that all lanes share.
    painter.save();
    painter.setClipPath(path);
    const QColor color = blockColor(block_.kind);
    const int length = std::clamp(scale_length_, 3, height());
    painter.fillRect(QRect(0, 0, kEdge, height()), mixed(theme.raised, color, 0.25));
    painter.fillRect(QRect(0, height() - length, kEdge, length), color);
    painter.restore();
    QColor border = theme.border;
    if (!block_.errors.isEmpty()) {
        border = theme.danger;
    } else if (block_.is_changed) {
        border = theme.accent;
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(border, 1));
    painter.drawPath(path);
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), kRadius, kRadius);
    }
}

void BlockWidget::paintTexts(QPainter& painter, const QRect& area) const {
    const Theme& theme = Theme::current();
    const QFontMetrics title(titleFont());
    const QFontMetrics small(smallFont());
    const QString bytes = formatBytes(block_.bytes);
    const int bytes_width = small.horizontalAdvance(bytes);
    // The bytes stand beside the title, or below it where it needs the whole line.
    const QString name = blockTitle(block_);
    const bool is_beside = title.horizontalAdvance(name) <= area.width() - bytes_width - 8;
    const QRect first(area.left(), area.top(), area.width(), title.height());
    const QRect second(area.left(), first.bottom() + 3,
                       area.width() - 12 * static_cast<int>(marks().size()), small.height());
    painter.setFont(smallFont());
    painter.setPen(theme.text);
    painter.drawText(is_beside ? first : second, Qt::AlignRight | Qt::AlignVCenter, bytes);
    painter.setFont(titleFont());
    painter.drawText(first, Qt::AlignLeft | Qt::AlignVCenter,
                     title.elidedText(name, Qt::ElideRight, area.width()));
    painter.setFont(smallFont());
    painter.setPen(theme.text_muted);
    painter.drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
                     small.elidedText(blockSubtitle(block_, *plan_), Qt::ElideRight,
                                      second.width() - (is_beside ? 0 : bytes_width + 8)));
    // A large block has room to say why it may sit where it likes.
    const QString note = blockNote(block_);
    const QRect rest = area.adjusted(0, title.height() + small.height() + 10, 0, 0);
    if (!note.isEmpty() &&
        small.boundingRect(rest, Qt::TextWordWrap, note).height() <= rest.height()) {
        painter.drawText(rest, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, note);
    }
}

QRect BlockWidget::barsArea() const {
    const int top =
        10 + QFontMetrics(titleFont()).height() + QFontMetrics(smallFont()).height() + 10;
    return {kInset + 2, top, width() - 2 * kInset - 2, height() - top - 12};
}

int BlockWidget::gapX(int layer) const {
    const QRect area = barsArea();
    const auto count = static_cast<int>(block_.layer_bytes.size());
    return area.left() + area.width() * (layer - block_.first) / std::max(1, count);
}

QRect BlockWidget::scissorsArea(int layer) const {
    return {gapX(layer) - kScissors / 2, barsArea().top() - kScissors + 4, kScissors, kScissors};
}

int BlockWidget::gapAt(const QPoint& position) const {
    if (!isRange(block_) || block_.first == block_.last) {
        return -1;
    }
    const QRect area = barsArea().adjusted(0, -kScissors, 0, 0);
    if (!area.contains(position)) {
        return -1;
    }
    const auto count = static_cast<int>(block_.layer_bytes.size());
    const double step = static_cast<double>(area.width()) / count;
    const int gap = static_cast<int>(std::lround((position.x() - area.left()) / step));
    return std::clamp(gap, 1, count - 1) + block_.first;
}

void BlockWidget::paintLayers(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const QRect area = barsArea();
    const auto count = static_cast<int>(block_.layer_bytes.size());
    if (count == 0 || area.height() < 8) {
        return;
    }
    const quint64 most = std::max<quint64>(
        1, *std::max_element(block_.layer_bytes.begin(), block_.layer_bytes.end()));
    const double step = static_cast<double>(area.width()) / count;
    const double gap = step > 6 ? 2.0 : step > 3 ? 1.0 : 0.0;
    const QColor color = blockColor(block_.kind);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, step > 6);
    painter.setPen(Qt::NoPen);
    for (int i = 0; i < count; ++i) {
        const double share = static_cast<double>(block_.layer_bytes[static_cast<size_t>(i)]) /
                             static_cast<double>(most);
        const double h = std::max(3.0, share * area.height());
        const QRectF bar(area.left() + i * step + gap / 2, area.bottom() + 1 - h, step - gap, h);
        const bool is_strong =
            block_.kind == BlockKind::Layers && block_.is_full_attention[static_cast<size_t>(i)];
        painter.setBrush(is_strong ? color : mixed(theme.raised, color, 0.55));
        painter.drawRoundedRect(bar, 1.5, 1.5);
        if (block_.kind == BlockKind::Experts && block_.experts > 0) { // what a token reads
            const double read = h * static_cast<double>(block_.experts_per_token) /
                                static_cast<double>(block_.experts);
            painter.setBrush(color);
            painter.drawRect(QRectF(bar.left(), area.bottom() + 1 - read, bar.width(), read));
        }
        if (block_.adapter_modules > 0) {
            painter.setBrush(theme.part_adapter);
            painter.drawRect(QRectF(bar.left(), area.bottom() + 2, bar.width(), 3));
        }
    }
    const int cut = cut_mark_ >= 0 ? cut_mark_ : hovered_gap_;
    if (cut > block_.first && cut <= block_.last) {
        painter.setRenderHint(QPainter::Antialiasing, true);
        const int x = gapX(cut);
        painter.setPen(QPen(theme.accent, 2));
        painter.drawLine(QPointF(x, area.top() - 2), QPointF(x, area.bottom() + 4));
        const QRect knob = scissorsArea(cut);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.accent);
        painter.drawEllipse(QRectF(knob).adjusted(1, 1, -1, -1));
        painter.drawPixmap(
            knob.topLeft() + QPoint(4, 4),
            iconPixmap(QStringLiteral("scissors"), 12, theme.on_accent, devicePixelRatioF()));
    }
    painter.restore();
}

void BlockWidget::paintTower(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const QColor color = blockColor(block_.kind);
    const int middle = width() / 2;
    // The roof.
    const int half = std::min(44, width() / 3);
    QPainterPath roof;
    roof.moveTo(middle - half, 6 + kRoof);
    roof.lineTo(middle, 6);
    roof.lineTo(middle + half, 6 + kRoof);
    roof.closeSubpath();
    painter.fillPath(roof, color);
    int y = 6 + kRoof + 4;
    const QString name =
        block_.kind == BlockKind::Vision ? QStringLiteral("eye") : QStringLiteral("ear");
    painter.drawPixmap(QPoint(middle - kIcon / 2, y),
                       iconPixmap(name, kIcon, theme.text, devicePixelRatioF()));
    y += kIcon + 2;
    const QFontMetrics title(titleFont());
    const QFontMetrics small(smallFont());
    const int text_width = width() - 16;
    painter.setFont(titleFont());
    painter.setPen(theme.text);
    painter.drawText(QRect(8, y, text_width, title.height()), Qt::AlignCenter,
                     title.elidedText(blockTitle(block_), Qt::ElideRight, text_width));
    y += title.height();
    painter.setFont(smallFont());
    painter.setPen(theme.text_muted);
    painter.drawText(QRect(8, y, text_width, small.height()), Qt::AlignCenter,
                     small.elidedText(blockSubtitle(block_, *plan_), Qt::ElideRight, text_width));
    y += small.height() + 6;
    // The floors, one per layer, as high as there is room.
    const int bottom = height() - small.height() - 10;
    const int floors = std::clamp(block_.floors, 1, 48);
    const double step = std::min(14.0, static_cast<double>(bottom - y) / floors);
    const double bar = std::max(1.0, step - (step > 4 ? 2.0 : step > 2.5 ? 1.0 : 0.0));
    const int body = std::min(84, width() - 28);
    painter.setPen(Qt::NoPen);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, step > 5);
    const double top = bottom - step * floors;
    for (int i = 0; i < floors; ++i) {
        painter.setBrush(mixed(theme.raised, color, 0.72));
        painter.drawRect(QRectF(middle - body / 2.0, top + i * step, body, bar));
        if (block_.adapter_modules > 0) {
            painter.setBrush(theme.part_adapter);
            painter.drawRect(QRectF(middle + body / 2.0 + 2, top + i * step, 3, bar));
        }
    }
    painter.restore();
    painter.setFont(smallFont());
    painter.setPen(theme.text);
    painter.drawText(QRect(8, height() - small.height() - 6, text_width, small.height()),
                     Qt::AlignCenter, formatBytes(block_.bytes));
}

std::vector<QColor> BlockWidget::marks() const {
    const Theme& theme = Theme::current();
    std::vector<QColor> marks;
    if (!block_.errors.isEmpty()) {
        marks.push_back(theme.danger);
    } else if (!block_.warnings.isEmpty()) {
        marks.push_back(theme.warning);
    }
    if (block_.adapter_modules > 0 && !isTower() && !isRange(block_)) {
        marks.push_back(theme.part_adapter);
    }
    return marks;
}

void BlockWidget::paintMarks(QPainter& painter) const {
    int x = width() - kInset - 4;
    const int y = isTower() ? 12
                            : 10 + QFontMetrics(titleFont()).height() + 2 +
                                  QFontMetrics(smallFont()).height() / 2;
    painter.setPen(Qt::NoPen);
    for (const QColor& color : marks()) {
        painter.setBrush(color);
        painter.drawEllipse(QPointF(x, y), 4, 4);
        x -= 12;
    }
}

void BlockWidget::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        return;
    }
    const QPoint position = event->position().toPoint();
    if (const int gap = gapAt(position); gap >= 0 && scissorsArea(gap).contains(position)) {
        Q_EMIT cutRequested(gap);
        return;
    }
    is_pressed_ = true;
    is_dragging_ = false;
    pressed_at_ = event->globalPosition().toPoint();
}

void BlockWidget::mouseMoveEvent(QMouseEvent* event) {
    const QPoint global = event->globalPosition().toPoint();
    if (!is_pressed_) {
        const int gap = gapAt(event->position().toPoint());
        if (gap != hovered_gap_) {
            hovered_gap_ = gap;
            update();
        }
        setCursor(gap >= 0 && scissorsArea(gap).contains(event->position().toPoint())
                      ? Qt::PointingHandCursor
                      : Qt::OpenHandCursor);
        return;
    }
    if (!is_dragging_ &&
        (global - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
        is_dragging_ = true;
        hovered_gap_ = -1;
        setCursor(Qt::ClosedHandCursor);
        Q_EMIT grabbed(pressed_at_);
    }
    if (is_dragging_) {
        Q_EMIT dragged(global);
    }
}

void BlockWidget::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        return;
    }
    const bool was_dragging = is_dragging_;
    is_pressed_ = false;
    is_dragging_ = false;
    setCursor(Qt::OpenHandCursor);
    if (was_dragging) {
        Q_EMIT dropped(event->globalPosition().toPoint());
    }
}

void BlockWidget::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        Q_EMIT opened();
    }
}

void BlockWidget::contextMenuEvent(QContextMenuEvent* event) {
    const bool is_by_key = event->reason() == QContextMenuEvent::Keyboard;
    Q_EMIT menuRequested(is_by_key ? mapToGlobal(rect().center()) : event->globalPos());
}

void BlockWidget::keyPressEvent(QKeyEvent* event) {
    event->ignore();
    Q_EMIT keyPressed(event);
    if (!event->isAccepted()) {
        QWidget::keyPressEvent(event);
    }
}

void BlockWidget::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
    Q_EMIT focused();
    Q_EMIT notedOrLeft();
}

void BlockWidget::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    setCutMark(-1);
    update();
    Q_EMIT notedOrLeft();
}

void BlockWidget::enterEvent(QEnterEvent* /*event*/) {
    is_hovered_ = true;
    update();
    Q_EMIT notedOrLeft();
}

void BlockWidget::leaveEvent(QEvent* /*event*/) {
    is_hovered_ = false;
    hovered_gap_ = -1;
    update();
    Q_EMIT notedOrLeft();
}

bool BlockWidget::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && plan_ != nullptr) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int gap = gapAt(help->pos());
        QToolTip::showText(help->globalPos(),
                           gap >= 0 && scissorsArea(gap).contains(help->pos())
                               ? tr("Split into %1 – %2 and %3 – %4")
                                     .arg(block_.first)
                                     .arg(gap - 1)
                                     .arg(gap)
                                     .arg(block_.last)
                               : toolTipText(block_.sentence + blockState(block_)),
                           this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace ui
