// SPDX-License-Identifier: Apache-2.0
#include "ui/style/icon_drawing.h"

#include <QPainter>
#include <QXmlStreamReader>

#include <optional>

namespace ui {

namespace {

constexpr qreal kViewSide = 24.0;

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
    QPainterPath path;
    const QList<QStringView> words = text.split(QLatin1Char(' '));
    qsizetype at = 0;
    bool is_good = true;
    const auto number = [&] {
        bool is_number = at < words.size();
        const double value = is_number ? words[at++].toDouble(&is_number) : 0.0;
        is_good = is_good && is_number;
        return value;
    };
    const auto point = [&] {
        const double x = number();
        return QPointF(x, number());
    };
    while (is_good && at < words.size()) {
        const QStringView command = words[at++];
        if (command == u"M") {
            path.moveTo(point());
        } else if (command == u"L") {
            path.lineTo(point());
        } else if (command == u"C") {
            const QPointF first = point();
            const QPointF second = point();
            path.cubicTo(first, second, point());
        } else if (command == u"Z") {
            path.closeSubpath();
        } else {
            is_good = false;
        }
    }
    return is_good ? std::optional(path) : std::nullopt;
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
