// SPDX-License-Identifier: Apache-2.0
#include "ui/explore/fit_chart.h"

#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kReach = 28; ///< As far from a point the pointer still means it.
constexpr double kPoint = 3.5;
constexpr double kGap = 8;
constexpr int kPictureWidth = 1200;
constexpr int kPictureHeight = 675;

/// 1, 2 or 5 times a power of ten.
double roundStep(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) {
            return factor * power;
        }
    }
    return 10 * power;
}

} // namespace

FitChart::FitChart(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("fitChart"));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Memory over context, a line for each precision"));
    setToolTip(QString());
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
}

QSize FitChart::minimumSizeHint() const {
    return {320, 220};
}

void FitChart::show(const FitGrid& grid, const QString& limit_name) {
    grid_ = grid;
    limit_name_ = limit_name;
    if (current_.has_value() &&
        (grid_.point(*current_) == nullptr || !grid_.lines()[current_->line].is_shown)) {
        setCurrent(std::nullopt);
    }
    update();
}

void FitChart::setCurrent(std::optional<FitGrid::Place> place) {
    if (current_ == place) {
        return;
    }
    current_ = place;
    const FitPoint* point = place.has_value() ? grid_.point(*place) : nullptr;
    setAccessibleDescription(point == nullptr ? QString()
                                              : tr("%1, %2 tokens: %3")
                                                    .arg(grid_.lineName(grid_.lines()[place->line]),
                                                         formatCount(point->context),
                                                         FitGrid::pointWords(*point)));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    update();
    Q_EMIT currentChanged();
}

FitChart::Scale FitChart::scaleFor(const QRectF& all) const {
    Scale scale;
    double most = static_cast<double>(grid_.limit()) * 1.12;
    auto least = static_cast<double>(grid_.limit());
    for (const FitLine& line : grid_.lines()) {
        for (const auto& point : line.points) {
            if (line.is_shown && point.has_value()) {
                most = std::max(most, static_cast<double>(point->parts.total()) * 1.04);
                least = std::min(least, static_cast<double>(point->parts.total()));
            }
        }
    }
    scale.most = std::max(most, 1024.0 * 1024.0);
    const QFontMetricsF metrics(font());
    const int lines = std::max(2, static_cast<int>(all.height() / (3.2 * metrics.height())));
    // Whole GiB, or MiB of the small ones.
    const double unit = scale.most > kGiB ? kGiB : 1024.0 * 1024.0;
    // What all lines have in common takes no room.
    const double common = 0.85 * least < scale.most / 4 ? 0.0 : 0.85 * least;
    scale.step = unit * roundStep((scale.most - common) / unit / lines);
    scale.least = std::floor(common / scale.step) * scale.step;
    const double left =
        metrics.horizontalAdvance(formatBytes(static_cast<quint64>(scale.most))) + 2 * kGap;
    scale.area = all.adjusted(left, kGap + metrics.height() / 2, -2 * kGap,
                              -(2.6 * metrics.height() + kGap));
    return scale;
}

QPointF FitChart::at(const Scale& scale, FitGrid::Place place) const {
    const auto& contexts = grid_.contexts();
    const double span =
        std::log2(static_cast<double>(contexts.back()) / static_cast<double>(contexts.front()));
    const double x = std::log2(static_cast<double>(contexts[place.context]) /
                               static_cast<double>(contexts.front())) /
                     std::max(span, 1.0);
    const FitPoint* point = grid_.point(place);
    return {scale.area.left() + 10 + x * (scale.area.width() - 20),
            scale.yOf(point == nullptr ? scale.least : static_cast<double>(point->parts.total()))};
}

QPointF FitChart::position(FitGrid::Place place) const {
    return at(scaleFor(rect()), place);
}

void FitChart::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    painter.setPen(QPen(hasFocus() ? theme.accent : theme.border, hasFocus() ? 2 : 1));
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), Theme::kRadius, Theme::kRadius);
    paintAll(painter, rect());
}

void FitChart::paintAll(QPainter& painter, const QRectF& all) const {
    const Theme& theme = Theme::current();
    if (grid_.contexts().empty() || grid_.limit() == 0) {
        painter.setPen(theme.text_muted);
        painter.drawText(all.adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("The first points are being planned …"));
        return;
    }
    const Scale scale = scaleFor(all);
    paintAxes(painter, scale);
    paintLimit(painter, scale);
    for (size_t line = grid_.lines().size(); line-- > 0;) { // the first ones on top
        if (grid_.lines()[line].is_shown) {
            paintLine(painter, scale, line);
        }
    }
    paintCurrent(painter, scale);
}

void FitChart::paintAxes(QPainter& painter, const Scale& scale) const {
    const Theme& theme = Theme::current();
    const QFontMetricsF metrics(font());
    const auto steps = static_cast<int>((scale.most - scale.least) / scale.step + 1e-6);
    for (int i = 0; i <= steps; ++i) {
        const double bytes = scale.least + i * scale.step;
        const double y = scale.yOf(bytes);
        painter.setPen(QPen(theme.border, 1));
        painter.drawLine(QPointF(scale.area.left(), y), QPointF(scale.area.right(), y));
        painter.setPen(theme.text_muted);
        painter.drawText(
            QRectF(0, y - metrics.height(), scale.area.left() - kGap, 2 * metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter,
            formatBytes(static_cast<quint64>(std::llround(bytes))));
    }
    double last_right = -1;
    for (size_t i = 0; i < grid_.contexts().size(); ++i) {
        const double x = at(scale, {0, i}).x();
        const QString words = tokensInShort(grid_.contexts()[i]);
        const double half = metrics.horizontalAdvance(words) / 2;
        if (x - half > last_right) { // no label runs into the one before it
            last_right = x + half + kGap / 2;
            painter.drawText(QRectF(x - half - 2, scale.area.bottom() + kGap / 2, 2 * half + 4,
                                    metrics.height()),
                             Qt::AlignCenter, words);
        }
    }
    painter.drawText(QRectF(scale.area.left(), scale.area.bottom() + kGap / 2 + metrics.height(),
                            scale.area.width(), 1.4 * metrics.height()),
                     Qt::AlignCenter, tr("tokens of context"));
}

void FitChart::paintLimit(QPainter& painter, const Scale& scale) const {
    const Theme& theme = Theme::current();
    const double y = scale.yOf(static_cast<double>(grid_.limit()));
    QColor above = theme.danger;
    above.setAlphaF(theme.is_dark ? 0.10F : 0.06F);
    painter.fillRect(
        QRectF(QPointF(scale.area.left(), scale.area.top()), QPointF(scale.area.right(), y)),
        above);
    painter.setPen(QPen(theme.danger, 2));
    painter.drawLine(QPointF(scale.area.left(), y), QPointF(scale.area.right(), y));
    const QFontMetricsF metrics(font());
    const QString words =
        metrics.elidedText(tr("%1: %2 usable").arg(limit_name_, formatBytes(grid_.limit())),
                           Qt::ElideMiddle, scale.area.width() - 2 * kGap);
    painter.drawText(QRectF(scale.area.left() + kGap, y - metrics.height() - 3,
                            scale.area.width() - 2 * kGap, metrics.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, words);
}

void FitChart::paintLine(QPainter& painter, const Scale& scale, size_t index) const {
    const Theme& theme = Theme::current();
    const FitLine& line = grid_.lines()[index];
    const QColor color = FitGrid::color(line.quant);
    const bool is_current = current_.has_value() && current_->line == index;
    QPolygonF path;
    for (size_t i = 0; i < line.points.size(); ++i) {
        if (line.points[i].has_value()) {
            path.append(at(scale, {index, i}));
        }
    }
    QPen pen(color, is_current ? 3 : 1.8);
    if (line.kv == QLatin1String("q8")) {
        pen.setDashPattern({4, 3});
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(path);
    for (size_t i = 0; i < line.points.size(); ++i) {
        const FitPoint* point = grid_.point({index, i});
        if (point == nullptr) {
            continue;
        }
        const QPointF center = at(scale, {index, i});
        painter.setPen(QPen(color, 1.6));
        if (point->state == FitPoint::State::DoesNotFit) {
            painter.drawLine(center + QPointF(-kPoint, -kPoint), center + QPointF(kPoint, kPoint));
            painter.drawLine(center + QPointF(-kPoint, kPoint), center + QPointF(kPoint, -kPoint));
        } else {
            painter.setBrush(point->state == FitPoint::State::Fits ? color : theme.surface);
            painter.drawEllipse(center, kPoint, kPoint);
        }
    }
}

void FitChart::paintCurrent(QPainter& painter, const Scale& scale) const {
    const FitPoint* point = current_.has_value() ? grid_.point(*current_) : nullptr;
    if (point == nullptr) {
        return;
    }
    const Theme& theme = Theme::current();
    const QPointF center = at(scale, *current_);
    const FitLine& line = grid_.lines()[current_->line];
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.text, 2));
    painter.drawEllipse(center, 2 * kPoint, 2 * kPoint);
    const QString name = grid_.lineName(line);
    const QString words =
        tr("%1 tokens: %2").arg(tokensInShort(point->context), FitGrid::pointWords(*point));
    const QFontMetricsF metrics(font());
    QRectF box(0, 0,
               std::max(metrics.horizontalAdvance(name), metrics.horizontalAdvance(words)) + 20,
               2 * metrics.height() + 14);
    if (box.width() > scale.area.width() / 2) {
        return; // it would hide what it is about, and the page says the same beside the drawing
    }
    // Beside the point, inside the drawing.
    box.moveTo(center + QPointF(14, -box.height() - 10));
    if (box.right() > scale.area.right()) {
        box.moveRight(center.x() - 14);
    }
    box.moveLeft(std::max(box.left(), scale.area.left()));
    box.moveTop(std::clamp(box.top(), scale.area.top(),
                           std::max(scale.area.top(), scale.area.bottom() - box.height())));
    painter.setPen(QPen(FitGrid::color(line.quant), 1.5));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    painter.setPen(theme.text);
    const QRectF inner = box.adjusted(10, 7, -10, -7);
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop, name);
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignBottom, words);
}

std::optional<FitGrid::Place> FitChart::nearest(const QPointF& to) const {
    std::optional<FitGrid::Place> best;
    double distance = kReach;
    const Scale scale = scaleFor(rect());
    for (size_t line = 0; line < grid_.lines().size(); ++line) {
        for (size_t i = 0; grid_.lines()[line].is_shown && i < grid_.contexts().size(); ++i) {
            if (grid_.point({line, i}) == nullptr) {
                continue;
            }
            const QPointF away = at(scale, {line, i}) - to;
            if (const double d = std::hypot(away.x(), away.y()); d < distance) {
                distance = d;
                best = FitGrid::Place{line, i};
            }
        }
    }
    return best;
}

void FitChart::mouseMoveEvent(QMouseEvent* event) {
    const auto under = nearest(event->position());
    setCursor(under.has_value() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (under.has_value()) { // the last one stays while the pointer is between two
        setCurrent(under);
    }
}

void FitChart::mousePressEvent(QMouseEvent* event) {
    if (const auto under = nearest(event->position());
        under.has_value() && event->button() == Qt::LeftButton) {
        setCurrent(under);
        Q_EMIT chosen(*under);
    }
}

void FitChart::step(int direction) {
    const double height = position(*current_).y();
    std::optional<FitGrid::Place> best;
    double distance = 1e9;
    for (size_t line = 0; line < grid_.lines().size(); ++line) {
        const FitGrid::Place place{line, current_->context};
        if (line == current_->line || !grid_.lines()[line].is_shown ||
            grid_.point(place) == nullptr) {
            continue;
        }
        // Lines with the same bytes are taken in their order.
        const double order = line > current_->line ? 1e-3 : -1e-3;
        const double away = direction * (position(place).y() - height + order);
        if (away > 0 && away < distance) {
            distance = away;
            best = place;
        }
    }
    if (best.has_value()) {
        setCurrent(best);
    }
}

void FitChart::keyPressEvent(QKeyEvent* event) {
    const auto go = [this](int by) {
        FitGrid::Place place = *current_;
        const auto most = static_cast<int>(grid_.contexts().size()) - 1;
        for (int i = static_cast<int>(place.context) + by; i >= 0 && i <= most; i += by) {
            place.context = static_cast<size_t>(i);
            if (grid_.point(place) != nullptr) {
                setCurrent(place);
                return;
            }
        }
    };
    if (!current_.has_value()) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        return go(-1);
    case Qt::Key_Right:
        return go(1);
    case Qt::Key_Up:
        return step(-1);
    case Qt::Key_Down:
        return step(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        Q_EMIT chosen(*current_);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void FitChart::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    for (size_t line = 0; !current_.has_value() && line < grid_.lines().size(); ++line) {
        for (size_t i = 0; !current_.has_value() && i < grid_.contexts().size(); ++i) {
            if (grid_.lines()[line].is_shown && grid_.point({line, i}) != nullptr) {
                setCurrent(FitGrid::Place{line, i}); // where the arrows begin
            }
        }
    }
}

QImage FitChart::picture(const QString& heading) const {
    constexpr double kScale = 2;
    QImage image(QSize(kPictureWidth, kPictureHeight) * kScale, QImage::Format_RGB32);
    image.setDevicePixelRatio(kScale);
    image.fill(Theme::current().surface);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(scaledFont(130, true));
    painter.setPen(Theme::current().text);
    QRectF all(0, 0, kPictureWidth, kPictureHeight);
    painter.drawText(
        all.adjusted(24, 16, -24, 0), Qt::AlignLeft | Qt::AlignTop,
        painter.fontMetrics().elidedText(heading, Qt::ElideMiddle, kPictureWidth - 48));
    const double top = 16 + 1.6 * painter.fontMetrics().height();
    painter.setFont(font());
    const QFontMetricsF metrics(font());
    double x = 24;
    double y = kPictureHeight - 2 * metrics.height() - 12;
    const auto item = [&](const QColor& color, const QString& words, Qt::PenStyle style) {
        const double width = 34 + metrics.horizontalAdvance(words);
        if (x + width > kPictureWidth - 24) {
            x = 24;
            y += 1.3 * metrics.height();
        }
        painter.setPen(QPen(color, 2.5, style));
        painter.drawLine(QPointF(x, y + metrics.height() / 2),
                         QPointF(x + 22, y + metrics.height() / 2));
        painter.setPen(Theme::current().text);
        painter.drawText(QPointF(x + 28, y + metrics.ascent()), words);
        x += width + 18;
    };
    for (const FitLine& line : grid_.lines()) {
        if (line.is_shown && line.kv != QLatin1String("q8")) {
            item(FitGrid::color(line.quant), quantName(line.quant), Qt::SolidLine);
        }
    }
    item(Theme::current().text_muted, tr("KV cache in 8 bits"), Qt::DashLine);
    paintAll(painter, all.adjusted(12, top, -12, -(2.4 * metrics.height() + 12)));
    return image;
}

} // namespace ui
