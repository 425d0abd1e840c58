// SPDX-License-Identifier: Apache-2.0
#include "ui/meter/meter_canvas.h"

#include "ui/layout/layout_blocks.h"
#include "ui/meter/budget_words.h"
#include "ui/style/format.h"
#include "ui/style/motion.h"
#include "ui/style/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <QVariantAnimation>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace ui {

namespace {

constexpr int kMargin = 16;
constexpr int kBarWidth = 56;
constexpr int kBarsWidth = 88;          ///< With the prediction beside it.
constexpr int kThinWidth = 32;          ///< The bar beside the loupe ...
constexpr int kLoupeWidth = 40;         ///< ... that shows a use too small to be seen in it.
constexpr double kSmallUse = 0.05;      ///< Less of a card is magnified.
constexpr double kLoupeRoom = 1.1;      ///< What the loupe shows, as a part of the use.
constexpr double kPlannedOpacity = 0.6; ///< What is only predicted beside what is measured.
constexpr int kBarHeight = 280;
constexpr int kSmallBarHeight = 168; ///< Where several cards share the height.
constexpr int kHistoryHeight = 48;
constexpr size_t kCanvasSamples = 240;

/// Bytes from the foot of a bar upwards, each in its colour. `places` says where in the bar a
/// segment from one height to another lies, in pixels.
void drawStack(QPainter* painter,
               const KindBytes& kinds,
               double pixels_per_byte,
               const std::function<QRectF(double, double)>& places) {
    double at = 0;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
        const double bytes = kinds.bytes[i];
        if (bytes > 0) {
            const double length = bytes * pixels_per_byte;
            painter->fillRect(places(at, std::max(1.0, length)),
                              memoryColor(static_cast<MemoryKind>(i + 1)));
            at += length;
        }
    }
}

/// What is told below the prediction, a line each.
QString aside(const MeterDevice& device) {
    QStringList lines = {copiesWords(device), linkWords(device)};
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

auto upwards(const QRectF& bar) {
    return [bar](double at, double length) {
        return QRectF(bar.left(), bar.bottom() - at - length, bar.width(), length);
    };
}

auto rightwards(const QRectF& bar) {
    return [bar](double at, double length) {
        return QRectF(bar.left() + at, bar.top(), length, bar.height());
    };
}

QColor faded(QColor color, double alpha) {
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

/// Other programs are striped: their grey is no part of ours.
QBrush othersBrush() {
    return {Theme::current().part_other, Qt::BDiagPattern};
}

KindBytes between(const KindBytes& from, const KindBytes& to, double share) {
    KindBytes kinds;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
        kinds.bytes[i] = from.bytes[i] + (to.bytes[i] - from.bytes[i]) * share;
    }
    return kinds;
}

QString tokensShort(qint64 tokens) {
    return tokens >= 1024 && tokens % 1024 == 0 ? QStringLiteral("%1k").arg(tokens / 1024)
                                                : formatCount(tokens);
}

} // namespace

MeterCanvas::MeterCanvas(QWidget* parent) : QWidget(parent), motion_(newMotion(this)) {
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
    connect(motion_, &QVariantAnimation::valueChanged, this, qOverload<>(&QWidget::update));
}

void MeterCanvas::show(State state) {
    state_ = std::move(state);
    update();
}

void MeterCanvas::moveOn(bool is_seen) {
    std::map<engine::DeviceId, Fill> now;
    for (const MeterDevice& device : state_.devices) {
        now[device.id] = fillOf(device);
    }
    from_ = std::move(now);
    motion_->stop();
    if (is_seen && isMotionOn()) {
        motion_->start();
    }
}

MeterCanvas::Fill MeterCanvas::fillOf(const MeterDevice& device) const {
    const Fill to{device.measured_kinds, device.predicted_kinds,
                  static_cast<double>(device.others)};
    const auto from = from_.find(device.id);
    if (motion_->state() != QAbstractAnimation::Running || from == from_.end()) {
        return to;
    }
    const double share = motion_->currentValue().toDouble();
    return {between(from->second.measured, to.measured, share),
            between(from->second.predicted, to.predicted, share),
            from->second.others + (to.others - from->second.others) * share};
}

int MeterCanvas::heightFor(int /*width*/) const {
    return paintAll(nullptr);
}

void MeterCanvas::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    tips_.clear();
    paintAll(&painter);
}

bool MeterCanvas::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = std::find_if(tips_.begin(), tips_.end(), [help](const auto& tip) {
        return tip.first.contains(help->pos());
    });
    QToolTip::showText(help->globalPos(), row == tips_.end() ? QString() : toolTipText(row->second),
                       this);
    return true;
}

/// Without a painter only measures: one description of the places for both.
int MeterCanvas::paintAll(QPainter* painter) const {
    int y = state_.is_what_if ? paintBand(painter) + 12 : 12;
    if (state_.is_empty) {
        return paintHint(painter, y,
                         tr("Memory of every device appears here once a model is chosen: what is "
                            "used, what a layout would use, and by whom.")) +
               12;
    }
    for (const MeterDevice& device : state_.devices) {
        if (device.id.isGpu()) {
            y = paintGpu(painter, device, y);
            y = paintHistory(painter, device, y) + 16;
        }
    }
    const bool has_gpu = std::any_of(state_.devices.begin(), state_.devices.end(),
                                     [](const MeterDevice& d) { return d.id.isGpu(); });
    for (const MeterDevice& device : state_.devices) {
        if (!device.id.isGpu()) {
            y = has_gpu ? paintMemory(painter, device, y)
                        : paintHistory(painter, device, paintGpu(painter, device, y)) + 16;
        }
    }
    if (state_.has_plan) {
        return paintDisk(painter, y) + 12;
    }
    return paintHint(painter, y,
                     tr("Once a model is chosen, what a layout would use stands here beside what "
                        "is used.")) +
           12;
}

/// Across the whole width, so that nobody takes what stands below it for this computer's memory.
int MeterCanvas::paintBand(QPainter* painter) const {
    const Theme& theme = Theme::current();
    quint64 memory = 0;
    for (const MeterDevice& device : state_.devices) {
        memory = device.id.isGpu() ? memory : device.capacity;
    }
    const QString title = tr("Not this computer");
    const QString line = tr("%1 of main memory are assumed. A part of each memory is set aside for "
                            "the system and other programs.")
                             .arg(formatBytes(memory));
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    const QFont title_font = scaledFont(96, true);
    const QFont line_font = scaledFont(88);
    const QRect title_box(kMargin, 8, std::max(1, width() - 2 * kMargin),
                          QFontMetrics(title_font).height());
    QRect line_box(kMargin, title_box.bottom() + 3, title_box.width(), 400);
    line_box.setHeight(QFontMetrics(line_font).boundingRect(line_box, flags, line).height());
    const int bottom = line_box.bottom() + 9;
    if (painter != nullptr) {
        painter->fillRect(QRect(0, 0, width(), bottom), theme.accent);
        painter->setPen(theme.on_accent);
        painter->setFont(title_font);
        painter->drawText(title_box, Qt::AlignVCenter, title);
        painter->setFont(line_font);
        painter->drawText(line_box, flags, line);
    }
    return bottom;
}

int MeterCanvas::paintHint(QPainter* painter, int y, const QString& hint) const {
    const QRect box(kMargin, y, std::max(1, width() - 2 * kMargin), 400);
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    const int height = QFontMetrics(font()).boundingRect(box, flags, hint).height();
    if (painter != nullptr) {
        painter->setFont(font());
        painter->setPen(Theme::current().text_muted);
        painter->drawText(box, flags, hint);
    }
    return y + height;
}

std::vector<MeterCanvas::Row> MeterCanvas::rowsOf(const MeterDevice& device) const {
    std::vector<Row> rows;
    if (device.is_live) {
        rows.push_back({tr("free"), formatBytes(device.free()), {}, true});
    }
    if (device.others > 0) {
        rows.push_back({state_.is_what_if ? tr("set aside") : tr("other programs"),
                        formatBytes(device.others), Theme::current().part_other});
    }
    const KindBytes& kinds = device.has_measured ? device.measured_kinds : device.predicted_kinds;
    for (size_t i = kMemoryKinds; i > 0; --i) {
        const auto kind = static_cast<MemoryKind>(i);
        const auto bytes = static_cast<quint64>(std::llround(kinds[kind]));
        if (bytes == 0 && device.predicted_kinds[kind] < 1) {
            continue;
        }
        QString label = memoryLabel(kind, device);
        if (kind == MemoryKind::Kv && state_.context > 0) {
            label += QStringLiteral(", ") + tokensShort(state_.context);
        }
        rows.push_back({label, formatBytes(bytes), memoryColor(kind), false, memorySentence(kind)});
    }
    if (device.budget.budget > 0) {
        rows.push_back({tr("the system's budget"), formatBytes(device.budget.budget), {}, true});
    }
    return rows;
}

MeterCanvas::CardPlaces
MeterCanvas::placesOf(const MeterDevice& device, const std::vector<Row>& rows, int y) const {
    const QFontMetrics values(scaledFont(92));
    CardPlaces places;
    places.bar_top = y + QFontMetrics(scaledFont(96, true)).height() +
                     QFontMetrics(scaledFont(88)).height() + 12;
    places.row_height = values.height() + 5;
    const int list_height = places.row_height * static_cast<int>(rows.size());
    const auto gpus = std::count_if(state_.devices.begin(), state_.devices.end(),
                                    [](const MeterDevice& d) { return d.id.isGpu(); });
    // Beside the bar where every label fits there, else below it.
    const int beside = kMargin + kBarsWidth + 12;
    int widest = 0;
    for (const Row& row : rows) {
        widest = std::max(widest, values.horizontalAdvance(row.label) +
                                      values.horizontalAdvance(row.value) + 4 + 4 + 16);
    }
    const bool is_stacked = beside + widest > width() - kMargin;
    // Above the rows the limit has room for its label.
    const int least = gpus > 1 ? kSmallBarHeight : kBarHeight;
    places.bar_height =
        is_stacked ? kSmallBarHeight : std::max(least, list_height + places.row_height + 4);
    places.bottom = places.bar_top + places.bar_height + (is_stacked ? list_height + 6 : 0);
    // The rows stand on the bar's foot, or below it.
    places.rows_left = is_stacked ? kMargin : beside;
    places.rows_top = places.bottom - list_height;
    places.words = QRect(kMargin, places.bottom + 10, std::max(1, width() - 2 * kMargin), 200);
    const int icon = isAsPredicted(device) ? 22 : 0;
    places.words.setHeight(QFontMetrics(scaledFont(96, true))
                               .boundingRect(places.words.adjusted(icon, 0, 0, 0), Qt::TextWordWrap,
                                             predictionWords(device))
                               .height());
    places.bottom = places.words.bottom() + 1;
    if (const QString copies = aside(device); !copies.isEmpty()) {
        places.copies = places.words;
        places.copies.moveTop(places.bottom + 4);
        places.copies.setHeight(
            QFontMetrics(scaledFont(88))
                .boundingRect(places.copies.adjusted(0, 0, 0, 200), Qt::TextWordWrap, copies)
                .height());
        places.bottom = places.copies.bottom() + 1;
    }
    return places;
}

int MeterCanvas::paintGpu(QPainter* painter, const MeterDevice& device, int y) const {
    const std::vector<Row> rows = rowsOf(device);
    const CardPlaces places = placesOf(device, rows, y);
    if (painter != nullptr) {
        paintName(painter, device, y);
        paintBars(painter, device, places);
        paintRows(painter, rows, places);
        paintWords(painter, device, places);
    }
    return paintBudget(painter, device, places.bottom + 16);
}

/// A card whose share by the system is used up, in a frame of its own below the bar.
int MeterCanvas::paintBudget(QPainter* painter, const MeterDevice& device, int y) const {
    const BudgetWords words = budgetWords(device.budget);
    if (words.title.isEmpty()) {
        return y;
    }
    const Theme& theme = Theme::current();
    const QColor tone =
        device.budget.state == engine::MemoryBudget::State::Spilling ? theme.danger : theme.warning;
    constexpr int kInset = 10;
    const int inner = std::max(1, width() - 2 * kMargin - 2 * kInset);
    const QRect text(kMargin + kInset + 3, y + kInset, inner - 3, 1000);
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    const QFont title_font = scaledFont(92, true);
    const QFont line_font = scaledFont(88);
    std::vector<std::pair<QRect, const QString*>> places; // below each other, the title first
    int at = text.top();
    const auto place = [&](const QFont& font, const QString& words_of_it) {
        QRect box = text;
        box.setTop(at);
        const int height = QFontMetrics(font).boundingRect(box, flags, words_of_it).height();
        box.setHeight(height);
        places.emplace_back(box, &words_of_it);
        at += height + 4;
    };
    place(title_font, words.title);
    for (const QString& line : words.lines) {
        place(line_font, line);
    }
    const int bottom = at - 4 + kInset;
    if (painter != nullptr) {
        QColor tint = tone;
        tint.setAlphaF(theme.is_dark ? 0.14F : 0.08F);
        const QRectF frame(kMargin + 0.5, y + 0.5, width() - 2 * kMargin - 1, bottom - y - 1);
        painter->setPen(QPen(tone, 1));
        painter->setBrush(tint);
        painter->drawRoundedRect(frame, Theme::kRadius, Theme::kRadius);
        for (const auto& [box, line] : places) {
            const bool is_title = line == &words.title;
            painter->setFont(is_title ? title_font : line_font);
            painter->setPen(is_title ? tone : theme.text);
            painter->drawText(box, flags, *line);
        }
    }
    return bottom + 16;
}

void MeterCanvas::paintName(QPainter* painter, const MeterDevice& device, int y) const {
    const Theme& theme = Theme::current();
    const QFont name_font = scaledFont(96, true);
    const QFont small_font = scaledFont(88);
    const QFontMetrics name_metrics(name_font);
    const QFontMetrics small(small_font);
    const int inner = width() - 2 * kMargin;
    painter->setFont(name_font);
    painter->setPen(theme.text);
    painter->drawText(QRect(kMargin, y, inner, name_metrics.height()), Qt::AlignVCenter,
                      name_metrics.elidedText(device.name, Qt::ElideRight, inner));
    painter->setFont(small_font);
    painter->setPen(theme.text_muted);
    painter->drawText(
        QRect(kMargin, y + name_metrics.height() + 2, inner, small.height()), Qt::AlignVCenter,
        small.elidedText(device.has_measured ? tr("%1 · measured").arg(formatBytes(device.capacity))
                                             : tr("%1 · planned").arg(formatBytes(device.capacity)),
                         Qt::ElideRight, inner));
}

/// What is used from the bottom, other programs on top of it; the prediction beside it, or in its
/// place where nothing is measured. A use too small to be seen is drawn once more, magnified.
void MeterCanvas::paintBars(QPainter* painter,
                            const MeterDevice& device,
                            const CardPlaces& places) const {
    const Theme& theme = Theme::current();
    const Fill fill = fillOf(device);
    const double most = std::max(fill.measured.total(), fill.predicted.total());
    const double whole = std::max({static_cast<double>(device.capacity), most + fill.others, 1.0});
    const bool is_small = most > 0 && most < whole * kSmallUse;
    const QRectF bars(kMargin, places.bar_top, kBarsWidth, places.bar_height);
    const QRectF bar(bars.left(), bars.top(), is_small ? kThinWidth : kBarWidth, bars.height());
    const double scale = bar.height() / whole;
    const KindBytes& kinds = device.has_measured ? fill.measured : fill.predicted;
    QPainterPath clip;
    clip.addRoundedRect(bar, 6, 6);
    painter->fillPath(clip, theme.raised);
    painter->save();
    painter->setClipPath(clip);
    drawStack(painter, kinds, scale, upwards(bar));
    painter->fillRect(upwards(bar)(kinds.total() * scale, fill.others * scale), othersBrush());
    painter->restore();
    painter->setPen(QPen(theme.border, 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(clip);
    if (is_small) { // over the line that leads to the limit's label
        paintLimits(painter, device, bar, places, whole);
        const QRectF box(bars.right() - kLoupeWidth, bars.top() + places.row_height, kLoupeWidth,
                         bars.height() - places.row_height);
        const double height = std::max(2.0, most * kLoupeRoom * scale);
        paintLoupe(painter, device, box, upwards(bar)(0, height),
                   box.height() / (most * kLoupeRoom) / scale);
    } else if (device.has_measured && device.has_prediction) {
        const QRectF beside(bar.right() + 8, bar.top(), kBarsWidth - kBarWidth - 8, bar.height());
        painter->setOpacity(kPlannedOpacity);
        drawStack(painter, fill.predicted, scale, upwards(beside));
        painter->setOpacity(1.0);
        const bool is_over = device.limit > 0 && device.predicted.total() > device.limit;
        painter->setPen(QPen(is_over ? theme.danger : theme.text_muted, 1, Qt::DashLine));
        painter->drawRect(upwards(beside)(0, std::max(2.0, fill.predicted.total() * scale)));
    }
    if (!is_small) {
        paintLimits(painter, device, bar, places, whole);
    }
}

void MeterCanvas::paintLoupe(QPainter* painter,
                             const MeterDevice& device,
                             const QRectF& box,
                             const QRectF& part,
                             double times) const {
    const Theme& theme = Theme::current();
    const Fill fill = fillOf(device);
    const double most = std::max(fill.measured.total(), fill.predicted.total()) * kLoupeRoom;
    QPainterPath fan;
    fan.addPolygon(
        QPolygonF({part.topRight(), box.topLeft(), box.bottomLeft(), part.bottomRight()}));
    painter->fillPath(fan, faded(theme.text_muted, 0.12));
    painter->setPen(QPen(theme.text_muted, 1));
    painter->drawLine(part.topRight(), box.topLeft());
    painter->drawLine(part.bottomRight(), box.bottomLeft());
    painter->fillRect(box, theme.raised);
    const double scale = box.height() / most;
    const bool has_both = device.has_measured && device.has_prediction;
    const double half = box.width() / 2;
    if (device.has_measured) {
        drawStack(painter, fill.measured, scale,
                  upwards(box.adjusted(0, 0, has_both ? -half : 0, 0)));
    }
    if (device.has_prediction) {
        painter->setOpacity(has_both ? kPlannedOpacity : 1.0);
        drawStack(painter, fill.predicted, scale,
                  upwards(box.adjusted(has_both ? half + 1 : 0, 0, 0, 0)));
        painter->setOpacity(1.0);
    }
    painter->setPen(QPen(theme.text_muted, 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(box);
    painter->setFont(scaledFont(82));
    painter->drawText(QRectF(box.left() - 20, box.top() - 40, box.width() + 20, 38),
                      Qt::AlignRight | Qt::AlignBottom,
                      QStringLiteral("×%1").arg(formatCount(std::llround(times))));
}

/// Lines across the bars, and what the engine's limit is. The limit counts the engine's own bytes;
/// other programs come on top.
void MeterCanvas::paintLimits(QPainter* painter,
                              const MeterDevice& device,
                              const QRectF& bar,
                              const CardPlaces& places,
                              double whole) const {
    const Theme& theme = Theme::current();
    const auto heightOf = [&](quint64 bytes) {
        return bar.bottom() - static_cast<double>(bytes) / whole * bar.height();
    };
    if (device.budget.budget > 0 && static_cast<double>(device.budget.budget) <= whole) {
        const double line = heightOf(device.budget.budget);
        painter->setPen(QPen(theme.warning, 2, Qt::DotLine));
        painter->drawLine(QPointF(bar.left(), line), QPointF(bar.right(), line));
    }
    if (device.limit == 0 || static_cast<double>(device.limit) > whole) {
        return;
    }
    const double line = heightOf(device.limit);
    const bool is_over = std::max<quint64>(device.used(), device.predicted.total()) > device.limit;
    painter->setPen(QPen(theme.danger, 2));
    painter->drawLine(QPointF(bar.left() - 3, line), QPointF(bar.right() + 3, line));
    // Beside the line, or above the rows where these are in the way.
    const QFont font = scaledFont(85, is_over);
    const int height = QFontMetrics(font).height();
    const double right = kMargin + kBarsWidth;
    const bool is_beside = places.rows_left > right;
    const double lowest = is_beside ? places.rows_top - height - 2 : bar.bottom() - height;
    const double top = std::clamp(line - height / 2.0, bar.top() - 2, lowest);
    const QPointF end(right + 3, line);
    const double left = right + 12;
    painter->setPen(QPen(theme.danger, 1));
    painter->drawPolyline(
        QPolygonF({QPointF(bar.right(), line), end, QPointF(left - 3, top + height / 2.0)}));
    painter->setFont(font);
    painter->setPen(is_over ? theme.danger : theme.text_muted);
    const QRectF box(left, top, width() - kMargin - left, height);
    painter->drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                      QFontMetrics(font).elidedText(tr("limit %1").arg(formatBytes(device.limit)),
                                                    Qt::ElideRight, static_cast<int>(box.width())));
}

void MeterCanvas::paintWords(QPainter* painter,
                             const MeterDevice& device,
                             const CardPlaces& places) const {
    const QRect& box = places.words;
    const Theme& theme = Theme::current();
    const bool is_over = device.limit > 0 && device.predicted.total() > device.limit;
    QRect text = box;
    if (isAsPredicted(device)) {
        painter->drawPixmap(
            box.topLeft() + QPoint(0, 1),
            iconPixmap(QStringLiteral("check"), 16, theme.success, devicePixelRatioF()));
        text.setLeft(box.left() + 22);
    }
    painter->setFont(scaledFont(96, true));
    painter->setPen(is_over ? theme.danger : theme.text);
    painter->drawText(text, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                      predictionWords(device));
    if (!places.copies.isNull()) {
        painter->setFont(scaledFont(88));
        painter->setPen(theme.text_muted);
        painter->drawText(places.copies, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                          aside(device));
    }
}

void MeterCanvas::paintRows(QPainter* painter,
                            const std::vector<Row>& rows,
                            const CardPlaces& places) const {
    const Theme& theme = Theme::current();
    const QFontMetrics metrics(scaledFont(92));
    const int left = places.rows_left;
    const int height = places.row_height;
    int line = places.rows_top;
    painter->setFont(scaledFont(92));
    for (const Row& row : rows) {
        tips_.emplace_back(QRect(left, line, width() - kMargin - left, height), row.tip);
        if (row.color.isValid()) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(row.color == theme.part_other ? othersBrush() : QBrush(row.color));
            painter->drawRoundedRect(QRectF(left, line + height / 2.0 - 5, 10, 10), 3, 3);
        }
        painter->setPen(row.is_muted ? theme.text_muted : theme.text);
        const int value_width = metrics.horizontalAdvance(row.value) + 4;
        const int label_left = left + 16;
        painter->drawText(QRect(width() - kMargin - value_width, line, value_width, height),
                          Qt::AlignRight | Qt::AlignVCenter, row.value);
        const int label_width = width() - kMargin - value_width - 4 - label_left;
        painter->drawText(QRect(label_left, line, label_width, height),
                          Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(row.label, Qt::ElideRight, label_width));
        line += height;
    }
}

int MeterCanvas::paintHistory(QPainter* painter, const MeterDevice& device, int y) const {
    const auto it = state_.history.find(device.id);
    if (it == state_.history.end() || it->second.empty()) {
        return y;
    }
    const Theme& theme = Theme::current();
    const QFont font = scaledFont(92, true);
    const int title = QFontMetrics(font).height();
    const int bottom = y + title + 6 + kHistoryHeight;
    if (painter == nullptr) {
        return bottom;
    }
    painter->setFont(font);
    painter->setPen(theme.text);
    painter->drawText(QRect(kMargin, y, width() - 2 * kMargin, title), Qt::AlignVCenter,
                      tr("Last minute"));
    const std::vector<quint64>& samples = it->second;
    quint64 most = std::max<quint64>(1, device.predicted.total());
    for (const quint64 sample : samples) {
        most = std::max(most, sample);
    }
    most += most / 4; // a steady line is not mistaken for the frame
    // The scale: what the upper edge stands for.
    const QFont scale_font = scaledFont(85);
    const int scale_left = kMargin + QFontMetrics(font).horizontalAdvance(tr("Last minute")) + 8;
    const int scale_width = width() - kMargin - scale_left;
    painter->setFont(scale_font);
    painter->setPen(theme.text_muted);
    painter->drawText(
        QRect(scale_left, y, scale_width, title), Qt::AlignRight | Qt::AlignVCenter,
        QFontMetrics(scale_font)
            .elidedText(tr("0 to %1").arg(formatBytes(most)), Qt::ElideRight, scale_width));
    const QRectF box(kMargin + 0.5, y + title + 6.5, width() - 2 * kMargin - 1, kHistoryHeight - 1);
    painter->setPen(QPen(theme.border, 1));
    painter->setBrush(theme.raised);
    painter->drawRoundedRect(box, 6, 6);
    QPainterPath path;
    const QRectF area = box.adjusted(4, 6, -4, -6);
    for (size_t i = 0; i < samples.size(); ++i) {
        // The newest is at the right edge.
        const double age = static_cast<double>(samples.size() - 1 - i) / (kCanvasSamples - 1);
        const QPointF point(area.right() - age * area.width(),
                            area.bottom() - static_cast<double>(samples[i]) /
                                                static_cast<double>(most) * area.height());
        i == 0 ? path.moveTo(point) : path.lineTo(point);
    }
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(theme.accent, 1.5));
    painter->drawPath(path);
    return bottom;
}

int MeterCanvas::paintMemory(QPainter* painter, const MeterDevice& device, int y) const {
    const Theme& theme = Theme::current();
    const QFont name_font = scaledFont(96, true);
    const QFont small_font = scaledFont(88);
    const QFontMetrics name_metrics(name_font);
    const QFontMetrics small(small_font);
    const int inner = width() - 2 * kMargin;
    const int bar_top = y + name_metrics.height() + 6;
    const bool has_both = device.has_measured && device.has_prediction;
    const int line = bar_top + 8 + (has_both ? 6 : 0) + 4;
    const quint64 shown = device.used(); // what is only planned stands at the right
    const QString left = device.capacity > 0
                             ? tr("%1 of %2").arg(formatBytes(shown), formatBytes(device.capacity))
                             : formatBytes(shown);
    const QString right = device.has_prediction
                              ? (isAsPredicted(device) ? QStringLiteral("✓ ") : QString()) +
                                    tr("predicted %1").arg(formatBytes(device.predicted.total()))
                              : QString();
    // Beside each other where both fit, else below each other.
    const bool is_stacked =
        !right.isEmpty() &&
        small.horizontalAdvance(left) + small.horizontalAdvance(right) + 12 > inner;
    const int bottom = line + (is_stacked ? 2 : 1) * small.height() + 16;
    if (painter == nullptr) {
        return bottom;
    }
    painter->setFont(name_font);
    painter->setPen(theme.text);
    painter->drawText(QRect(kMargin, y, inner, name_metrics.height()), Qt::AlignVCenter,
                      device.name);
    const QRectF bar(kMargin, bar_top, inner, 8);
    QPainterPath clip;
    clip.addRoundedRect(bar, 4, 4);
    painter->fillPath(clip, theme.raised);
    painter->save();
    painter->setClipPath(clip);
    const Fill fill = fillOf(device);
    const double whole =
        std::max({static_cast<double>(device.capacity), fill.measured.total() + fill.others,
                  fill.predicted.total(), 1.0});
    const double scale = bar.width() / whole;
    const KindBytes& kinds = device.has_measured ? fill.measured : fill.predicted;
    drawStack(painter, kinds, scale, rightwards(bar));
    painter->fillRect(rightwards(bar)(kinds.total() * scale, fill.others * scale),
                      theme.part_other); // stripes would not be seen in so thin a bar
    if (has_both &&
        fill.predicted.total() * scale >= 2) { // below it, as thin as it is only planned
        const QRectF planned(bar.left(), bar.bottom() + 2, bar.width(), 4);
        painter->setClipping(false);
        painter->setOpacity(kPlannedOpacity);
        drawStack(painter, fill.predicted, scale, rightwards(planned));
        painter->setOpacity(1.0);
    }
    painter->restore();
    painter->setFont(small_font);
    painter->setPen(theme.text_muted);
    painter->drawText(QRect(kMargin, line, inner, small.height()), Qt::AlignLeft,
                      small.elidedText(left, Qt::ElideRight, inner));
    if (!right.isEmpty()) {
        painter->setPen(device.limit > 0 && device.predicted.total() > device.limit ? theme.danger
                                                                                    : theme.text);
        painter->drawText(
            QRect(kMargin, line + (is_stacked ? small.height() : 0), inner, small.height()),
            is_stacked ? Qt::AlignLeft : Qt::AlignRight,
            small.elidedText(right, Qt::ElideRight, inner));
    }
    return bottom;
}

int MeterCanvas::paintDisk(QPainter* painter, int y) const {
    const Theme& theme = Theme::current();
    const QFont name_font = scaledFont(96, true);
    const QFont small_font = scaledFont(88);
    const int name = QFontMetrics(name_font).height();
    const int inner = std::max(1, width() - 2 * kMargin);
    const QString text = state_.disk == 0 ? tr("nothing is read from it while running")
                                          : tr("%1 read when needed").arg(formatBytes(state_.disk));
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    const QRect box(kMargin, y + name + 2, inner, 400);
    const int height = QFontMetrics(small_font).boundingRect(box, flags, text).height();
    if (painter != nullptr) {
        painter->setFont(name_font);
        painter->setPen(theme.text);
        painter->drawText(QRect(kMargin, y, inner, name), Qt::AlignVCenter, tr("Disk"));
        painter->setFont(small_font);
        painter->setPen(theme.text_muted);
        painter->drawText(box, flags, text);
    }
    return y + name + 2 + height;
}

} // namespace ui
