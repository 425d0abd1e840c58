// SPDX-License-Identifier: Apache-2.0
#include "ui/meter/meter_canvas.h"

#include "ui/layout/layout_blocks.h"
#include "ui/meter/budget_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

constexpr int kMargin = 16;
constexpr int kBarWidth = 56;
constexpr int kBarHeight = 280;
constexpr int kSmallBarHeight = 168; ///< Where several cards share the height.
constexpr int kHistoryHeight = 48;
constexpr size_t kCanvasSamples = 240;

QColor partColor(engine::MemoryPart part) {
    const Theme& theme = Theme::current();
    switch (part) {
    case engine::MemoryPart::Weights:
        return theme.part_layers;
    case engine::MemoryPart::Kv:
        return theme.part_kv;
    case engine::MemoryPart::Adapter:
        return theme.part_adapter;
    case engine::MemoryPart::Workspace:
        return theme.part_workspace;
    case engine::MemoryPart::Context:
        return theme.part_context;
    }
    return theme.part_other;
}

/// From the bottom of the bar upwards, as in the drawing.
constexpr std::array<engine::MemoryPart, engine::kMemoryPartCount> kUpwards = {
    engine::MemoryPart::Weights, engine::MemoryPart::Adapter, engine::MemoryPart::Kv,
    engine::MemoryPart::Workspace, engine::MemoryPart::Context};

QString tokensShort(qint64 tokens) {
    return tokens >= 1024 && tokens % 1024 == 0 ? QStringLiteral("%1k").arg(tokens / 1024)
                                                : formatCount(tokens);
}

} // namespace

MeterCanvas::MeterCanvas(QWidget* parent) : QWidget(parent) {
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
}

void MeterCanvas::show(State state) {
    state_ = std::move(state);
    update();
}

int MeterCanvas::heightFor(int /*width*/) const {
    return paintAll(nullptr);
}

void MeterCanvas::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintAll(&painter);
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
    const Theme& theme = Theme::current();
    std::vector<Row> rows;
    if (device.is_live) {
        rows.push_back({tr("free"), formatBytes(device.free()), {}, false, true});
    }
    if (device.others > 0) {
        rows.push_back({state_.is_what_if ? tr("set aside") : tr("other programs"),
                        formatBytes(device.others), theme.part_other});
    }
    const engine::PartBytes& parts = device.has_measured ? device.measured : device.predicted;
    for (auto part = kUpwards.rbegin(); part != kUpwards.rend(); ++part) {
        if (parts[*part] == 0 && device.predicted[*part] == 0) {
            continue;
        }
        QString label = memoryPartLabel(*part, device);
        if (*part == engine::MemoryPart::Kv && state_.context > 0) {
            label += QStringLiteral(", ") + tokensShort(state_.context);
        }
        rows.push_back({label, formatBytes(parts[*part]), partColor(*part)});
    }
    if (device.budget.budget > 0) {
        rows.push_back(
            {tr("the system's budget"), formatBytes(device.budget.budget), {}, false, true});
    }
    if (device.has_measured) {
        rows.push_back({tr("used by Belfry"), formatBytes(device.used()), {}, true, false, true});
    }
    if (device.has_prediction) {
        rows.push_back(
            {tr("predicted"), formatBytes(device.predicted.total()), {}, false, true, true});
    }
    return rows;
}

MeterCanvas::CardPlaces MeterCanvas::placesOf(const std::vector<Row>& rows, int y) const {
    const QFont value_font = scaledFont(92);
    const QFont bold_font = scaledFont(92, true);
    CardPlaces places;
    places.bar_top = y + QFontMetrics(scaledFont(96, true)).height() +
                     QFontMetrics(scaledFont(88)).height() + 12;
    places.row_height = QFontMetrics(value_font).height() + 6;
    const int list_height = places.row_height * static_cast<int>(rows.size()) + 8;
    const auto gpus = std::count_if(state_.devices.begin(), state_.devices.end(),
                                    [](const MeterDevice& d) { return d.id.isGpu(); });
    // Beside the bar where every label fits there, else below it.
    const int beside = kMargin + kBarWidth + 40;
    int widest = 0;
    for (const Row& row : rows) {
        const QFontMetrics metrics(row.is_bold ? bold_font : value_font);
        widest = std::max(widest, metrics.horizontalAdvance(row.label) +
                                      metrics.horizontalAdvance(row.value) + 4 + 4 + 16);
    }
    const bool is_stacked = beside + widest > width() - kMargin;
    places.bar_height = is_stacked ? kSmallBarHeight
                                   : std::max(gpus > 1 ? kSmallBarHeight : kBarHeight, list_height);
    places.bottom = places.bar_top + places.bar_height + (is_stacked ? list_height + 4 : 0);
    // The rows stand on the bar's foot, or below it.
    places.rows_left = is_stacked ? kMargin : beside;
    places.rows_top = places.bottom - list_height + 4;
    return places;
}

int MeterCanvas::paintGpu(QPainter* painter, const MeterDevice& device, int y) const {
    const std::vector<Row> rows = rowsOf(device);
    const CardPlaces places = placesOf(rows, y);
    if (painter != nullptr) {
        paintName(painter, device, y);
        paintBar(painter, device, QRectF(kMargin, places.bar_top, kBarWidth, places.bar_height));
        paintRows(painter, rows, places);
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

/// What is used from the bottom, other programs on top of it; limit and prediction as lines.
void MeterCanvas::paintBar(QPainter* painter, const MeterDevice& device, const QRectF& bar) {
    const Theme& theme = Theme::current();
    const quint64 whole = std::max({device.capacity, device.used() + device.others,
                                    device.predicted.total() + device.others, quint64{1}});
    const auto pixels = [&](quint64 bytes) {
        return static_cast<double>(bytes) / static_cast<double>(whole) * bar.height();
    };
    QPainterPath clip;
    clip.addRoundedRect(bar, 6, 6);
    painter->fillPath(clip, theme.raised);
    painter->save();
    painter->setClipPath(clip);
    double at = bar.bottom();
    const auto segment = [&](quint64 bytes, const QColor& color) {
        const double h = pixels(bytes);
        if (bytes > 0) {
            painter->fillRect(
                QRectF(bar.left(), at - std::max(h, 1.0), bar.width(), std::max(h, 1.0)), color);
            at -= h;
        }
    };
    if (device.has_measured) {
        for (const engine::MemoryPart part : kUpwards) {
            segment(device.measured[part], partColor(part));
        }
    }
    segment(device.others, theme.part_other);
    painter->restore();
    painter->setPen(QPen(theme.border, 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(clip);
    // The limit counts the engine's own bytes; other programs come on top.
    if (device.limit > 0 && device.limit <= whole) {
        const double line = bar.bottom() - pixels(std::min(whole, device.limit));
        painter->setPen(QPen(theme.danger, 2));
        painter->drawLine(QPointF(bar.left(), line), QPointF(bar.right(), line));
    }
    if (device.budget.budget > 0 && device.budget.budget <= whole) {
        const double line = bar.bottom() - pixels(device.budget.budget);
        painter->setPen(QPen(theme.warning, 2, Qt::DotLine));
        painter->drawLine(QPointF(bar.left(), line), QPointF(bar.right(), line));
    }
    if (device.has_prediction) {
        const double h = std::max(2.0, pixels(device.predicted.total()));
        const bool is_over = device.limit > 0 && device.predicted.total() > device.limit;
        QPen pen(is_over ? theme.danger : theme.text_muted, 2, Qt::DashLine);
        painter->setPen(pen);
        const double left = bar.right() + 8;
        const double right = left + 20;
        painter->drawLine(QPointF(left, bar.bottom()), QPointF(left, bar.bottom() - h));
        painter->drawLine(QPointF(left, bar.bottom() - h), QPointF(right, bar.bottom() - h));
        painter->drawLine(QPointF(right, bar.bottom() - h), QPointF(right, bar.bottom()));
    }
}

void MeterCanvas::paintRows(QPainter* painter,
                            const std::vector<Row>& rows,
                            const CardPlaces& places) const {
    const Theme& theme = Theme::current();
    const QFont value_font = scaledFont(92);
    const QFont bold_font = scaledFont(92, true);
    const int left = places.rows_left;
    const int height = places.row_height;
    int line = places.rows_top;
    bool is_ruled = false;
    for (const Row& row : rows) {
        if (row.is_sum && !is_ruled) {
            painter->setPen(QPen(theme.border, 1));
            painter->drawLine(QPointF(left, line + 0.5), QPointF(width() - kMargin, line + 0.5));
            line += 4;
            is_ruled = true;
        }
        if (row.color.isValid()) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(row.color);
            painter->drawRoundedRect(QRectF(left, line + height / 2.0 - 5, 10, 10), 3, 3);
        }
        painter->setFont(row.is_bold ? bold_font : value_font);
        painter->setPen(row.is_muted ? theme.text_muted : theme.text);
        const int value_width = QFontMetrics(painter->font()).horizontalAdvance(row.value) + 4;
        const int label_left = left + 16;
        painter->drawText(QRect(width() - kMargin - value_width, line, value_width, height),
                          Qt::AlignRight | Qt::AlignVCenter, row.value);
        const int label_width = width() - kMargin - value_width - 4 - label_left;
        painter->drawText(
            QRect(label_left, line, label_width, height), Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(painter->font()).elidedText(row.label, Qt::ElideRight, label_width));
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
    const int line = bar_top + 8 + 4;
    const quint64 shown = device.used(); // what is only planned stands at the right
    const QString left = device.capacity > 0
                             ? tr("%1 of %2").arg(formatBytes(shown), formatBytes(device.capacity))
                             : formatBytes(shown);
    const QString right = device.has_prediction
                              ? tr("predicted %1").arg(formatBytes(device.predicted.total()))
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
    const quint64 whole = std::max<quint64>(
        {device.capacity, device.used() + device.others, device.predicted.total(), 1});
    double at = bar.left();
    const auto segment = [&](quint64 bytes, const QColor& color) {
        const double w = static_cast<double>(bytes) / static_cast<double>(whole) * bar.width();
        painter->fillRect(QRectF(at, bar.top(), bytes > 0 ? std::max(1.0, w) : 0.0, bar.height()),
                          color);
        at += w;
    };
    if (device.has_measured) {
        for (const engine::MemoryPart part : kUpwards) {
            segment(device.measured[part], partColor(part));
        }
    }
    segment(device.others, theme.part_other);
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
