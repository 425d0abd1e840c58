// SPDX-License-Identifier: Apache-2.0
// Draws the icons of resources/icons: the small part of SVG that they are written in, so that no
// library for drawings is needed. That is: path with the commands M, L, C and Z, each followed by
// absolute numbers, all with one blank between them; rect with rx; circle; stroke and fill as
// currentColor or none; stroke-width; round caps and joins. Never for files of users.
#pragma once

#include <QByteArray>
#include <QColor>
#include <QPainterPath>
#include <QRectF>
#include <QStringView>

#include <optional>

class QPainter;

namespace ui {

/// Paints the drawing, whose view is 24 x 24 units, into `target` with `color` for currentColor.
/// False when the text holds anything else than the above; what came before it is painted.
bool drawIcon(QPainter* painter, const QByteArray& svg, const QColor& color, const QRectF& target);

/// The path of an attribute `d`, in its units; nullopt when it holds a command or a number that is
/// not understood.
std::optional<QPainterPath> iconPath(QStringView text);

} // namespace ui
