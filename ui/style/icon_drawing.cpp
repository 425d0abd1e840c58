// SPDX-License-Identifier: Apache-2.0
#include "ui/style/icon_drawing.h"

#include <QPainter>
#include <QXmlStreamReader>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ui {

namespace {

constexpr qreal kViewSide = 24.0;

/// Reads the commands of one path one after the other.
class PathReader {
public:
    explicit PathReader(QStringView text) : text_(text) {}

    std::optional<QPainterPath> read() {
        while (skipBlanks(), at_ < text_.size()) {
            if (text_[at_].isLetter()) {
                command_ = text_[at_++].toLatin1(); // 0 for letters of other alphabets
            } else if (kind() == 0 || kind() == 'Z') {
                return std::nullopt; // numbers that belong to no command
            }
            if (!step()) {
                return std::nullopt;
            }
        }
        return path_;
    }

private:
    /// One command with one set of its numbers; more numbers repeat it.
    bool step() {
        const bool is_relative = command_ != kind();
        const QPointF here = path_.currentPosition();
        const QPointF from = is_relative ? here : QPointF();
        QPointF a;
        QPointF b;
        QPointF c;
        qreal value = 0.0;
        if (kind() != 'C' && kind() != 'S') {
            second_control_ = std::nullopt;
        }
        switch (kind()) {
        case 'M':
            if (!point(&a)) {
                return false;
            }
            path_.moveTo(from + a);
            command_ = is_relative ? 'l' : 'L'; // what further points mean
            return true;
        case 'L':
            if (!point(&a)) {
                return false;
            }
            path_.lineTo(from + a);
            return true;
        case 'H':
            if (!number(&value)) {
                return false;
            }
            path_.lineTo(from.x() + value, here.y());
            return true;
        case 'V':
            if (!number(&value)) {
                return false;
            }
            path_.lineTo(here.x(), from.y() + value);
            return true;
        case 'C':
            if (!point(&a) || !point(&b) || !point(&c)) {
                return false;
            }
            curveTo(from + a, from + b, from + c);
            return true;
        case 'S': // the first control point mirrors the second of the curve before
            if (!point(&b) || !point(&c)) {
                return false;
            }
            curveTo(second_control_ ? 2.0 * here - *second_control_ : here, from + b, from + c);
            return true;
        case 'A':
            return arc(here, from);
        case 'Z':
            path_.closeSubpath();
            return true;
        default:
            return false;
        }
    }

    /// The command in capitals, which mean absolute numbers.
    [[nodiscard]] char kind() const {
        return command_ >= 'a' && command_ <= 'z' ? static_cast<char>(command_ - 'a' + 'A')
                                                  : command_;
    }

    void curveTo(const QPointF& first, const QPointF& second, const QPointF& to) {
        path_.cubicTo(first, second, to);
        second_control_ = second;
    }

    /// The centre from the two ends: SVG 1.1, appendix F.6.5, for an ellipse that is not turned.
    bool arc(const QPointF& here, const QPointF& from) {
        QPointF radius;
        QPointF to;
        qreal turned = 0.0;
        bool is_large = false;
        bool is_clockwise = false;
        if (!point(&radius) || !number(&turned) || !flag(&is_large) || !flag(&is_clockwise) ||
            !point(&to) || turned != 0.0) {
            return false;
        }
        to += from;
        qreal rx = std::abs(radius.x());
        qreal ry = std::abs(radius.y());
        if (to == here || rx == 0.0 || ry == 0.0) {
            path_.lineTo(to);
            return true;
        }
        const QPointF half = (here - to) / 2.0;
        const qreal distance = std::hypot(half.x() / rx, half.y() / ry);
        if (distance > 1.0) { // the ends are too far from each other for these radii
            rx *= distance;
            ry *= distance;
        }
        const qreal x = half.x() / rx;
        const qreal y = half.y() / ry;
        const qreal squared = x * x + y * y;
        const qreal factor =
            std::sqrt(std::max(0.0, 1.0 / squared - 1.0)) * (is_large == is_clockwise ? -1.0 : 1.0);
        const QPointF centre = (here + to) / 2.0 + QPointF(factor * rx * y, -factor * ry * x);
        const auto angleOf = [&](const QPointF& p) {
            // Counter-clockwise in degrees, as QPainterPath counts.
            return -std::atan2((p.y() - centre.y()) / ry, (p.x() - centre.x()) / rx) * 180.0 /
                   std::numbers::pi;
        };
        const qreal begin = angleOf(here);
        qreal sweep = angleOf(to) - begin;
        if (is_clockwise && sweep > 0.0) {
            sweep -= 360.0;
        } else if (!is_clockwise && sweep < 0.0) {
            sweep += 360.0;
        }
        path_.arcTo(QRectF(centre - QPointF(rx, ry), centre + QPointF(rx, ry)), begin, sweep);
        return true;
    }

    void skipBlanks() {
        while (at_ < text_.size() && (text_[at_].isSpace() || text_[at_] == QLatin1Char(','))) {
            ++at_;
        }
    }

    bool flag(bool* value) {
        skipBlanks();
        if (at_ >= text_.size() ||
            (text_[at_] != QLatin1Char('0') && text_[at_] != QLatin1Char('1'))) {
            return false;
        }
        *value = text_[at_++] == QLatin1Char('1');
        return true;
    }

    bool number(qreal* value) {
        skipBlanks();
        qsizetype end = at_;
        if (end < text_.size() &&
            (text_[end] == QLatin1Char('-') || text_[end] == QLatin1Char('+'))) {
            ++end;
        }
        // A second point begins the next number.
        for (bool has_point = false; end < text_.size(); ++end) {
            if (text_[end] == QLatin1Char('.') && !has_point) {
                has_point = true;
            } else if (!text_[end].isDigit()) {
                break;
            }
        }
        bool is_number = false;
        *value = text_.mid(at_, end - at_).toDouble(&is_number);
        at_ = end;
        return is_number;
    }

    bool point(QPointF* value) {
        qreal x = 0.0;
        qreal y = 0.0;
        if (!number(&x) || !number(&y)) {
            return false;
        }
        *value = QPointF(x, y);
        return true;
    }

    QStringView text_;
    qsizetype at_ = 0;
    char command_ = 0;
    QPainterPath path_;
    std::optional<QPointF> second_control_; ///< Of the curve that was just drawn.
};

/// What strokes and fills an element.
struct Look {
    bool has_stroke = false, has_fill = false;
    qreal stroke_width = 1.0;
};

/// The element's own attributes over what is around it. False for a colour of its own.
bool readLook(const QXmlStreamAttributes& attributes, Look* look) {
    const auto paints = [&](const QString& name, bool* has) {
        const QStringView value = attributes.value(name);
        if (!value.isEmpty()) {
            *has = value == u"currentColor";
        }
        return value.isEmpty() || *has || value == u"none";
    };
    if (!paints(QStringLiteral("stroke"), &look->has_stroke) ||
        !paints(QStringLiteral("fill"), &look->has_fill)) {
        return false;
    }
    const QStringView width = attributes.value(QStringLiteral("stroke-width"));
    bool is_number = true;
    if (!width.isEmpty()) {
        look->stroke_width = width.toDouble(&is_number);
    }
    return is_number;
}

std::optional<QPainterPath> shapeOf(QStringView element, const QXmlStreamAttributes& attributes) {
    const auto number = [&](const char* name) {
        return attributes.value(QLatin1String(name)).toDouble();
    };
    QPainterPath path;
    if (element == u"path") {
        return iconPath(attributes.value(QLatin1String("d")));
    }
    if (element == u"rect") {
        const qreal radius = number("rx");
        path.addRoundedRect(QRectF(number("x"), number("y"), number("width"), number("height")),
                            radius, radius);
        return path;
    }
    if (element == u"circle") {
        const qreal radius = number("r");
        path.addEllipse(QPointF(number("cx"), number("cy")), radius, radius);
        return path;
    }
    return std::nullopt;
}

} // namespace

std::optional<QPainterPath> iconPath(QStringView text) {
    return PathReader(text).read();
}

bool drawIcon(QPainter* painter, const QByteArray& svg, const QColor& color, const QRectF& target) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(target.topLeft());
    painter->scale(target.width() / kViewSide, target.height() / kViewSide);
    QXmlStreamReader xml(svg);
    Look around;
    bool is_understood = true;
    while (is_understood && !xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) {
            continue;
        }
        Look look = around;
        is_understood = readLook(xml.attributes(), &look);
        if (xml.name() == u"svg") {
            around = look;
            continue;
        }
        const std::optional<QPainterPath> shape = shapeOf(xml.name(), xml.attributes());
        is_understood = is_understood && shape.has_value();
        if (is_understood) {
            painter->setPen(look.has_stroke ? QPen(color, look.stroke_width, Qt::SolidLine,
                                                   Qt::RoundCap, Qt::RoundJoin)
                                            : QPen(Qt::NoPen));
            painter->setBrush(look.has_fill ? QBrush(color) : QBrush());
            painter->drawPath(*shape);
        }
    }
    painter->restore();
    return is_understood && !xml.hasError();
}

} // namespace ui
