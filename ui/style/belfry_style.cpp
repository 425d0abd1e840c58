// SPDX-License-Identifier: Apache-2.0
#include "ui/style/belfry_style.h"

#include "ui/style/theme.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QSlider>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabBar>

#include <algorithm>

namespace ui {

namespace {

QColor over(const QColor& below, const QColor& above) {
    const double a = above.alphaF();
    return QColor::fromRgbF(static_cast<float>(above.redF() * a + below.redF() * (1 - a)),
                            static_cast<float>(above.greenF() * a + below.greenF() * (1 - a)),
                            static_cast<float>(above.blueF() * a + below.blueF() * (1 - a)));
}

/// A rounded box with a hairline inside its edge; either colour may be invalid for "none".
void drawBox(QPainter* painter,
             const QRectF& rect,
             const QColor& fill,
             const QColor& line,
             qreal radius = Theme::kRadius,
             qreal width = 1.0) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(line.isValid() ? QPen(line, width) : QPen(Qt::NoPen));
    painter->setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
    const qreal inset = line.isValid() ? width / 2 : 0;
    painter->drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius);
    painter->restore();
}

void drawFocus(QPainter* painter, const QRectF& rect, qreal radius = Theme::kRadius) {
    drawBox(painter, rect, QColor(), Theme::current().accent, radius, 2.0);
}

void drawChevron(QPainter* painter, const QRectF& rect, const QColor& color, bool is_up = false) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c = rect.center();
    const qreal d = is_up ? -2 : 2;
    painter->drawPolyline(QPolygonF({c + QPointF(-4, -d), c + QPointF(0, d), c + QPointF(4, -d)}));
    painter->restore();
}

void drawButtonPanel(const QStyleOption* option, QPainter* painter, const QWidget* widget) {
    const Theme& t = Theme::current();
    const ButtonKind kind = buttonKind(widget);
    const bool is_enabled = (option->state & QStyle::State_Enabled) != 0;
    const bool is_hover = is_enabled && (option->state & QStyle::State_MouseOver) != 0;
    const bool is_down = (option->state & (QStyle::State_Sunken)) != 0;
    const bool is_on = (option->state & QStyle::State_On) != 0;
    QColor fill = t.raised;
    QColor line = t.border;
    switch (kind) {
    case ButtonKind::Primary:
    case ButtonKind::Danger:
        fill = !is_enabled ? t.raised : kind == ButtonKind::Primary ? t.accent : t.danger;
        line = is_enabled ? QColor() : t.border;
        break;
    case ButtonKind::Flat:
    case ButtonKind::Tab:
        fill = is_on ? t.raised : QColor();
        line = QColor();
        break;
    case ButtonKind::Normal:
        fill = is_on ? t.selection : t.raised;
        break;
    }
    if (is_hover || is_down) {
        const QColor base = fill.isValid() ? fill : t.surface;
        fill = over(base, t.hover);
        if (is_down) {
            fill = over(fill, t.hover);
        }
    }
    drawBox(painter, option->rect, fill, line);
    if ((option->state & QStyle::State_HasFocus) != 0 &&
        (option->state & QStyle::State_KeyboardFocusChange) != 0) {
        const bool is_filled =
            is_enabled && (kind == ButtonKind::Primary || kind == ButtonKind::Danger);
        if (is_filled) {
            // The accent would not be seen on itself: a ring in the colour of the text, inside.
            drawBox(painter, QRectF(option->rect).adjusted(2, 2, -2, -2), QColor(), t.on_accent,
                    Theme::kRadius - 2, 2.0);
        } else {
            drawFocus(painter, option->rect);
        }
    }
}

/// Text on a button: dark or white where the button is filled with the accent.
QColor buttonTextColor(const QStyleOption* option, const QWidget* widget) {
    const Theme& t = Theme::current();
    if ((option->state & QStyle::State_Enabled) == 0) {
        return t.text_disabled;
    }
    switch (buttonKind(widget)) {
    case ButtonKind::Primary:
    case ButtonKind::Danger:
        return t.on_accent;
    case ButtonKind::Tab:
        return (option->state & QStyle::State_On) != 0 ? t.text : t.text_muted;
    case ButtonKind::Normal:
    case ButtonKind::Flat:
        return t.text;
    }
    return t.text;
}

/// The words of a button that is narrower than them, ended with an ellipsis instead of cut.
QString fitted(const QString& text, const QFontMetrics& metrics, int width) {
    return text.isEmpty() || text.contains(QLatin1Char('\n')) ||
                   metrics.size(Qt::TextShowMnemonic, text).width() <= width
               ? text
               : metrics.elidedText(text, Qt::ElideRight, width, Qt::TextShowMnemonic);
}

/// Widgets that change their value by the wheel.
bool takesWheel(const QObject* object) {
    return qobject_cast<const QSlider*>(object) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(object) != nullptr ||
           qobject_cast<const QComboBox*>(object) != nullptr;
}

bool isComboPopup(const QWidget* widget) {
    return widget != nullptr && widget->inherits("QComboBoxPrivateContainer");
}

void drawCheck(QPainter* painter, const QRectF& box, const QColor& color) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(color, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const qreal w = box.width();
    painter->drawPolyline(QPolygonF({box.topLeft() + QPointF(w * 0.26, w * 0.52),
                                     box.topLeft() + QPointF(w * 0.43, w * 0.69),
                                     box.topLeft() + QPointF(w * 0.75, w * 0.33)}));
    painter->restore();
}

void drawIndicator(const QStyleOption* option, QPainter* painter, bool is_round) {
    const Theme& t = Theme::current();
    const bool is_on = (option->state & QStyle::State_On) != 0;
    const bool is_partly = (option->state & QStyle::State_NoChange) != 0;
    const bool is_enabled = (option->state & QStyle::State_Enabled) != 0;
    QRectF box = QRectF(option->rect);
    const qreal side = std::min({box.width(), box.height(), qreal(18)});
    box = QRectF(box.center().x() - side / 2, box.center().y() - side / 2, side, side);
    const bool is_filled = (is_on || is_partly) && is_enabled;
    drawBox(painter, box, is_filled ? t.accent : t.surface,
            is_filled ? QColor() : (is_enabled ? t.text_muted : t.border), is_round ? side / 2 : 4);
    const QColor mark = is_enabled ? t.on_accent : t.text_disabled;
    if (is_on && is_round) {
        const qreal inset = side * 0.32;
        drawBox(painter, box.adjusted(inset, inset, -inset, -inset), mark, QColor(), side);
    } else if (is_on) {
        drawCheck(painter, box, mark);
    } else if (is_partly) {
        painter->fillRect(QRectF(box.center() - QPointF(4, 1), QSizeF(8, 2)), mark);
    }
    if ((option->state & QStyle::State_HasFocus) != 0) {
        drawFocus(painter, box, is_round ? side / 2 : 4);
    }
}

void drawMenuItem(const QStyleOptionMenuItem* item, QPainter* painter) {
    const Theme& t = Theme::current();
    const QRect rect = item->rect;
    if (item->menuItemType == QStyleOptionMenuItem::Separator) {
        painter->fillRect(QRect(rect.left() + 8, rect.center().y(), rect.width() - 16, 1),
                          t.border);
        return;
    }
    const bool is_enabled = (item->state & QStyle::State_Enabled) != 0;
    if ((item->state & QStyle::State_Selected) != 0 && is_enabled) {
        drawBox(painter, rect.adjusted(4, 1, -4, -1), t.selection, QColor(), 4);
    }
    const QRect mark(rect.left() + 12, rect.center().y() - 8, 16, 16);
    if (item->checked) {
        drawCheck(painter, mark, t.accent);
    } else if (!item->icon.isNull()) {
        item->icon.paint(painter, mark, Qt::AlignCenter,
                         is_enabled ? QIcon::Normal : QIcon::Disabled);
    }
    painter->setPen(is_enabled ? t.text : t.text_disabled);
    painter->setFont(item->font);
    const QRect text = rect.adjusted(36, 0, -16, 0);
    const auto tab = item->text.indexOf(QLatin1Char('\t'));
    painter->drawText(text, Qt::AlignVCenter | Qt::TextShowMnemonic | Qt::TextSingleLine,
                      tab < 0 ? item->text : item->text.left(tab));
    if (tab >= 0) {
        painter->setPen(t.text_muted);
        painter->drawText(text, Qt::AlignVCenter | Qt::AlignRight | Qt::TextSingleLine,
                          item->text.mid(tab + 1));
    }
    if (item->menuItemType == QStyleOptionMenuItem::SubMenu) {
        painter->save();
        painter->translate(rect.right() - 12, rect.center().y());
        painter->rotate(-90);
        drawChevron(painter, QRectF(-6, -6, 12, 12), t.text_muted);
        painter->restore();
    }
}

void drawProgress(const QStyleOptionProgressBar* bar, QPainter* painter) {
    const Theme& t = Theme::current();
    // A groove of fixed height in the middle; text, when shown, stands in labels beside the bar.
    const qreal height = std::min<qreal>(8, bar->rect.height());
    const QRectF groove(bar->rect.left(), bar->rect.center().y() + 0.5 - height / 2,
                        bar->rect.width(), height);
    drawBox(painter, groove, t.border, QColor(), height / 2);
    const int range = bar->maximum - bar->minimum;
    if (range <= 0) {
        // Unknown length: a still segment; motion is left to the text beside it.
        drawBox(painter,
                QRectF(groove.left() + groove.width() * 0.3, groove.top(), groove.width() * 0.4,
                       height),
                t.accent, QColor(), height / 2);
        return;
    }
    const qreal part = std::clamp(qreal(bar->progress - bar->minimum) / range, 0.0, 1.0);
    if (part > 0) {
        drawBox(
            painter,
            QRectF(groove.left(), groove.top(), std::max(height, groove.width() * part), height),
            t.accent, QColor(), height / 2);
    }
}

void drawScrollBar(const QStyleOptionSlider* bar, QPainter* painter, const QRect& slider) {
    const Theme& t = Theme::current();
    if (bar->minimum >= bar->maximum) {
        return;
    }
    QColor color = t.text_muted;
    const bool is_active = (bar->activeSubControls & QStyle::SC_ScrollBarSlider) != 0 &&
                           (bar->state & (QStyle::State_MouseOver | QStyle::State_Sunken)) != 0;
    color.setAlphaF(is_active ? 0.75F : 0.4F);
    QRectF handle(slider);
    handle = bar->orientation == Qt::Vertical ? handle.adjusted(3, 1, -3, -1)
                                              : handle.adjusted(1, 3, -1, -3);
    drawBox(painter, handle, color, QColor(), std::min(handle.width(), handle.height()) / 2);
}

void drawSlider(const QStyleOptionSlider* slider,
                QPainter* painter,
                const QRectF& groove_rect,
                const QRectF& handle_rect) {
    const Theme& t = Theme::current();
    const bool is_enabled = (slider->state & QStyle::State_Enabled) != 0;
    const QColor color = is_enabled ? t.accent : t.text_disabled;
    const bool is_horizontal = slider->orientation == Qt::Horizontal;
    QRectF groove =
        is_horizontal
            ? QRectF(groove_rect.left(), groove_rect.center().y() - 2, groove_rect.width(), 4)
            : QRectF(groove_rect.center().x() - 2, groove_rect.top(), 4, groove_rect.height());
    drawBox(painter, groove, t.border, QColor(), 2);
    QRectF filled = groove;
    if (is_horizontal) {
        slider->upsideDown ? filled.setLeft(handle_rect.center().x())
                           : filled.setRight(handle_rect.center().x());
    } else {
        slider->upsideDown ? filled.setTop(handle_rect.center().y())
                           : filled.setBottom(handle_rect.center().y());
    }
    drawBox(painter, filled, color, QColor(), 2);
    const QRectF knob(handle_rect.center() - QPointF(7, 7), QSizeF(14, 14));
    drawBox(painter, knob, color, t.surface, 7, 2);
    if ((slider->state & QStyle::State_HasFocus) != 0) {
        drawFocus(painter, knob.adjusted(-2, -2, 2, 2), 9);
    }
}

} // namespace

BelfryStyle::BelfryStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {
    setObjectName(QStringLiteral("belfry"));
}

void BelfryStyle::polish(QWidget* widget) {
    QProxyStyle::polish(widget);
    if (qobject_cast<QAbstractButton*>(widget) != nullptr ||
        qobject_cast<QComboBox*>(widget) != nullptr ||
        qobject_cast<QScrollBar*>(widget) != nullptr) {
        widget->setAttribute(Qt::WA_Hover);
    }
    if (takesWheel(widget)) {
        if (widget->focusPolicy() == Qt::WheelFocus) {
            widget->setFocusPolicy(Qt::StrongFocus);
        }
        widget->installEventFilter(this);
    }
    // Names of files, models and chats are others' words: "<img src=...>" in one must not be read
    // as rich text, which opens files. That goes for tool tips and message boxes too, whose texts
    // are labels. A label that is rich on purpose says so before it is polished.
    if (auto* label = qobject_cast<QLabel*>(widget);
        label != nullptr && label->textFormat() == Qt::AutoText) {
        label->setTextFormat(Qt::PlainText);
    }
    if (qobject_cast<QMenu*>(widget) != nullptr || isComboPopup(widget)) {
        widget->setAttribute(Qt::WA_TranslucentBackground);
    }
}

QIcon BelfryStyle::standardIcon(StandardPixmap which,
                                const QStyleOption* option,
                                const QWidget* widget) const {
    switch (which) {
    case SP_LineEditClearButton:
        return icon(QStringLiteral("close"));
    case SP_FileDialogNewFolder:
        return icon(QStringLiteral("plus"));
    case SP_FileDialogToParent:
        return icon(QStringLiteral("send"));
    case SP_FileDialogBack:
    case SP_ArrowBack:
        return icon(QStringLiteral("chevron-left"));
    case SP_ArrowForward:
        return icon(QStringLiteral("chevron-right"));
    case SP_FileDialogListView:
        return icon(QStringLiteral("layout"));
    case SP_FileDialogDetailedView:
        return icon(QStringLiteral("text"));
    case SP_DirIcon:
    case SP_DirClosedIcon:
    case SP_DirOpenIcon:
    case SP_DirLinkIcon:
    case SP_DirHomeIcon:
        return icon(QStringLiteral("folder"));
    case SP_FileIcon:
    case SP_FileLinkIcon:
        return icon(QStringLiteral("report"));
    case SP_ComputerIcon:
    case SP_DesktopIcon:
    case SP_DriveHDIcon:
        return icon(QStringLiteral("chip"));
    default:
        return QProxyStyle::standardIcon(which, option, widget);
    }
}

bool BelfryStyle::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Wheel && takesWheel(watched) &&
        !static_cast<const QWidget*>(watched)->hasFocus()) {
        event->ignore(); // goes on to what scrolls
        return true;
    }
    return QProxyStyle::eventFilter(watched, event);
}

void BelfryStyle::unpolish(QWidget* widget) {
    widget->removeEventFilter(this);
    QProxyStyle::unpolish(widget);
}

void BelfryStyle::drawPrimitive(PrimitiveElement element,
                                const QStyleOption* option,
                                QPainter* painter,
                                const QWidget* widget) const {
    const Theme& t = Theme::current();
    switch (element) {
    case PE_PanelButtonCommand:
    case PE_PanelButtonTool:
    case PE_PanelButtonBevel:
        drawButtonPanel(option, painter, widget);
        return;
    case PE_FrameDefaultButton:
    case PE_PanelStatusBar:
    case PE_FrameStatusBarItem:
        return;
    case PE_FrameFocusRect:
        // Buttons and indicators draw their own; item views show the current row by a frame.
        if (qobject_cast<const QAbstractButton*>(widget) == nullptr) {
            drawFocus(painter, option->rect, 4);
        }
        return;
    case PE_FrameLineEdit:
    case PE_PanelLineEdit: {
        const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
        if (frame != nullptr && frame->lineWidth == 0 && element == PE_PanelLineEdit) {
            return; // inside a combo or spin box
        }
        const bool has_focus = (option->state & State_HasFocus) != 0;
        drawBox(painter, option->rect, t.surface, has_focus ? t.accent : t.border, Theme::kRadius,
                has_focus ? 2 : 1);
        return;
    }
    case PE_Frame: {
        const bool has_focus = (option->state & State_HasFocus) != 0;
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
            frame != nullptr && frame->lineWidth > 0) {
            // Below the round corners lies what the contents lie on.
            const auto* area = qobject_cast<const QAbstractScrollArea*>(widget);
            const QWidget* inner = area == nullptr ? nullptr : area->viewport();
            const QColor fill = inner != nullptr && inner->autoFillBackground()
                                    ? inner->palette().color(inner->backgroundRole())
                                    : QColor();
            drawBox(painter, option->rect, fill, has_focus ? t.accent : t.border, Theme::kRadius,
                    has_focus ? 2 : 1);
        }
        return;
    }
    case PE_FrameGroupBox:
    case PE_FrameMenu:
        drawBox(painter, option->rect, QColor(), t.border);
        return;
    case PE_PanelMenu:
        drawBox(painter, option->rect, t.surface, t.border);
        return;
    case PE_PanelTipLabel:
        drawBox(painter, option->rect, t.raised, t.border, 4);
        return;
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck:
        drawIndicator(option, painter, false);
        return;
    case PE_IndicatorRadioButton:
        drawIndicator(option, painter, true);
        return;
    case PE_IndicatorArrowDown:
    case PE_IndicatorSpinDown:
        drawChevron(painter, option->rect, t.text_muted);
        return;
    case PE_IndicatorArrowUp:
    case PE_IndicatorSpinUp:
        drawChevron(painter, option->rect, t.text_muted, true);
        return;
    case PE_PanelItemViewItem: {
        const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option);
        if (item != nullptr && item->backgroundBrush.style() != Qt::NoBrush) {
            painter->fillRect(item->rect, item->backgroundBrush);
        }
        const bool is_selected = (option->state & State_Selected) != 0;
        const bool is_hover = (option->state & State_MouseOver) != 0;
        if (is_selected || is_hover) {
            drawBox(painter, option->rect, is_selected ? t.selection : t.hover, QColor(), 4);
        }
        return;
    }
    case PE_PanelItemViewRow:
        return;
    default:
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void BelfryStyle::drawControl(ControlElement element,
                              const QStyleOption* option,
                              QPainter* painter,
                              const QWidget* widget) const {
    const Theme& t = Theme::current();
    switch (element) {
    case CE_PushButtonLabel:
    case CE_ToolButtonLabel: {
        // The same drawing with the kind's text colour in place of the palette's.
        if (const auto* push = qstyleoption_cast<const QStyleOptionButton*>(option)) {
            QStyleOptionButton copy(*push);
            copy.palette.setColor(QPalette::ButtonText, buttonTextColor(option, widget));
            copy.features &= ~QStyleOptionButton::HasMenu;
            copy.text =
                fitted(copy.text, copy.fontMetrics,
                       copy.rect.width() - (copy.icon.isNull() ? 0 : copy.iconSize.width() + 4));
            const ButtonKind kind = buttonKind(widget);
            const bool is_on = (option->state & State_On) != 0;
            if (!push->icon.name().isEmpty() &&
                (kind == ButtonKind::Primary || kind == ButtonKind::Danger ||
                 (kind == ButtonKind::Tab && !is_on))) {
                copy.icon = QIcon(iconPixmap(push->icon.name(), push->iconSize.width(),
                                             buttonTextColor(option, widget),
                                             painter->device()->devicePixelRatioF()));
                copy.state |= State_Enabled; // greyed already, where it has to be
            }
            if ((push->features & QStyleOptionButton::HasMenu) != 0) {
                copy.rect.adjust(0, 0, -20, 0);
                drawChevron(painter,
                            QRectF(option->rect.right() - 22, option->rect.top(), 12,
                                   option->rect.height()),
                            buttonTextColor(option, widget));
            }
            QProxyStyle::drawControl(element, &copy, painter, widget);
            return;
        }
        if (const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option)) {
            QStyleOptionToolButton copy(*tool);
            copy.palette.setColor(QPalette::ButtonText, buttonTextColor(option, widget));
            if (copy.icon.isNull() || copy.toolButtonStyle == Qt::ToolButtonTextOnly) {
                copy.text = fitted(copy.text, copy.fontMetrics, copy.rect.width());
            }
            QProxyStyle::drawControl(element, &copy, painter, widget);
        }
        return;
    }
    case CE_ComboBoxLabel: {
        const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
        if (combo != nullptr && !combo->editable) {
            const bool is_enabled = (option->state & State_Enabled) != 0;
            QRect rect = option->rect.adjusted(12, 0, -28, 0);
            if (!combo->currentIcon.isNull()) {
                const QRect mark(rect.left(), rect.center().y() - 8, 16, 16);
                combo->currentIcon.paint(painter, mark, Qt::AlignCenter,
                                         is_enabled ? QIcon::Normal : QIcon::Disabled);
                rect.setLeft(rect.left() + 24);
            }
            painter->setPen(is_enabled ? t.text : t.text_disabled);
            painter->drawText(
                rect, Qt::AlignVCenter | Qt::TextSingleLine,
                option->fontMetrics.elidedText(combo->currentText, Qt::ElideRight, rect.width()));
            return;
        }
        break;
    }
    case CE_MenuItem:
        if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option)) {
            drawMenuItem(item, painter);
            return;
        }
        break;
    case CE_MenuEmptyArea:
        return;
    case CE_ProgressBar:
        if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option)) {
            drawProgress(bar, painter);
            return;
        }
        break;
    case CE_Splitter:
        painter->fillRect(option->rect,
                          (option->state & State_MouseOver) != 0 ? t.accent : t.border);
        return;
    case CE_ShapedFrame:
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option)) {
            if (frame->frameShape == QFrame::HLine || frame->frameShape == QFrame::VLine) {
                painter->fillRect(frame->frameShape == QFrame::HLine
                                      ? QRect(option->rect.left(), option->rect.center().y(),
                                              option->rect.width(), 1)
                                      : QRect(option->rect.center().x(), option->rect.top(), 1,
                                              option->rect.height()),
                                  t.border);
                return;
            }
        }
        break;
    case CE_HeaderSection:
        painter->fillRect(option->rect, t.surface);
        painter->fillRect(
            QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), t.border);
        return;
    default:
        break;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void BelfryStyle::drawComplexControl(ComplexControl control,
                                     const QStyleOptionComplex* option,
                                     QPainter* painter,
                                     const QWidget* widget) const {
    const Theme& t = Theme::current();
    const bool has_focus = (option->state & State_HasFocus) != 0;
    switch (control) {
    case CC_ComboBox: {
        const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
        const bool is_hover = (option->state & State_MouseOver) != 0;
        drawBox(painter, option->rect, is_hover ? over(t.raised, t.hover) : t.raised, t.border);
        if (has_focus && (combo == nullptr || combo->editable ||
                          (option->state & State_KeyboardFocusChange) != 0)) {
            drawFocus(painter, option->rect);
        }
        drawChevron(
            painter,
            QRectF(option->rect.right() - 22, option->rect.top(), 12, option->rect.height()),
            (option->state & State_Enabled) != 0 ? t.text_muted : t.text_disabled);
        return;
    }
    case CC_SpinBox:
        if (const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option)) {
            drawBox(painter, option->rect, t.surface, has_focus ? t.accent : t.border,
                    Theme::kRadius, has_focus ? 2 : 1);
            if (spin->buttonSymbols != QAbstractSpinBox::NoButtons) {
                drawChevron(painter, subControlRect(CC_SpinBox, option, SC_SpinBoxUp, widget),
                            t.text_muted, true);
                drawChevron(painter, subControlRect(CC_SpinBox, option, SC_SpinBoxDown, widget),
                            t.text_muted);
            }
            return;
        }
        break;
    case CC_ScrollBar:
        if (const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option)) {
            drawScrollBar(bar, painter,
                          subControlRect(CC_ScrollBar, option, SC_ScrollBarSlider, widget));
            return;
        }
        break;
    case CC_Slider:
        if (const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option)) {
            drawSlider(slider, painter, subControlRect(CC_Slider, option, SC_SliderGroove, widget),
                       subControlRect(CC_Slider, option, SC_SliderHandle, widget));
            return;
        }
        break;
    default:
        break;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}
} // namespace ui
