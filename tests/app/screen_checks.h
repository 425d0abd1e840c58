// SPDX-License-Identifier: Apache-2.0
// What a person would notice on a screen, measured: text that does not fit its label or button,
// controls that overlap, controls without a name for a screen reader or out of the reach of Tab.
#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QStringList>
#include <QToolButton>
#include <QWidget>

#include <algorithm>

namespace support {

inline QString describe(const QWidget* widget) {
    const auto* label = qobject_cast<const QLabel*>(widget);
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    return QStringLiteral("%1 '%2' \"%3\" %4x%5")
        .arg(QString::fromLatin1(widget->metaObject()->className()), widget->objectName(),
             label != nullptr    ? label->text().left(40)
             : button != nullptr ? button->text()
                                 : QString())
        .arg(widget->width())
        .arg(widget->height());
}

/// Inside something that scrolls, a widget may be cut; its own size still has to be right.
inline bool isShown(const QWidget* widget) {
    return widget->isVisible() && widget->width() > 0 && widget->height() > 0;
}

inline QStringList clippedTexts(QWidget* top) {
    QStringList out;
    const QList<QLabel*> labels = top->findChildren<QLabel*>();
    for (QLabel* label : labels) {
        if (!isShown(label) || label->text().isEmpty() || label->inherits("ui::ElidedLabel") ||
            label->inherits("QTipLabel") || !label->pixmap(Qt::ReturnByValue).isNull()) {
            continue;
        }
        const bool is_cut = label->wordWrap()
                                ? label->heightForWidth(label->width()) > label->height() + 1
                                : label->sizeHint().width() > label->width() + 1 ||
                                      label->sizeHint().height() > label->height() + 1;
        if (is_cut) {
            out.append(QStringLiteral("clipped: %1, wants %2x%3")
                           .arg(describe(label))
                           .arg(label->sizeHint().width())
                           .arg(label->sizeHint().height()));
        }
    }
    const QList<QAbstractButton*> buttons = top->findChildren<QAbstractButton*>();
    for (QAbstractButton* button : buttons) {
        if (!isShown(button) || button->text().isEmpty()) {
            continue;
        }
        QString text = button->text();
        text.remove(QLatin1Char('&'));
        const int icon_width = button->icon().isNull() ? 0 : button->iconSize().width() + 4;
        const bool is_custom =
            button->inherits("ui::SampleCard") || button->text().contains(QLatin1Char('\n'));
        const auto* tool = qobject_cast<QToolButton*>(button);
        const bool is_text_shown =
            qobject_cast<QPushButton*>(button) != nullptr ||
            (tool != nullptr &&
             (tool->icon().isNull() || tool->toolButtonStyle() != Qt::ToolButtonIconOnly));
        if (!is_custom && is_text_shown &&
            button->fontMetrics().horizontalAdvance(text) + icon_width > button->width()) {
            out.append(QStringLiteral("clipped: %1").arg(describe(button)));
        }
    }
    const QList<QComboBox*> boxes = top->findChildren<QComboBox*>();
    for (QComboBox* box : boxes) {
        if (isShown(box) &&
            box->fontMetrics().horizontalAdvance(box->currentText()) + 40 > box->width()) {
            out.append(QStringLiteral("clipped: %1 \"%2\"").arg(describe(box), box->currentText()));
        }
    }
    return out;
}

/// Bodies that are wider than the area that shows them: their right end is cut, and one click may
/// scroll the left end away for good. Only lanes of more devices than fit scroll sideways by
/// design.
inline QStringList widerThanViewport(QWidget* top) {
    QStringList out;
    const QList<QScrollArea*> areas = top->findChildren<QScrollArea*>();
    for (const QScrollArea* area : areas) {
        const QWidget* body = area->widget();
        const bool may_scroll =
            area->objectName() == QLatin1String("layoutLanes") &&
            body->findChildren<QWidget*>(QRegularExpression(QStringLiteral("^lane\\."))).size() > 3;
        if (body == nullptr || !isShown(area) || may_scroll) {
            continue;
        }
        const int wanted = std::max(body->width(), body->minimumSizeHint().width());
        if (wanted > area->viewport()->width()) {
            out.append(QStringLiteral("wider than its viewport: %1 in %2, %3 > %4")
                           .arg(describe(body), describe(area))
                           .arg(wanted)
                           .arg(area->viewport()->width()));
        }
    }
    return out;
}

inline QStringList overlaps(QWidget* top) {
    QStringList out;
    QList<QWidget*> all = top->findChildren<QWidget*>();
    for (QWidget* a : all) {
        const bool is_text =
            qobject_cast<QLabel*>(a) != nullptr || qobject_cast<QAbstractButton*>(a) != nullptr;
        if (!is_text || !isShown(a) || a->isWindow() || a->parentWidget()->layout() == nullptr) {
            continue;
        }
        const QList<QWidget*> siblings =
            a->parentWidget()->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
        for (QWidget* b : siblings) {
            if (b <= a || !isShown(b) || b->isWindow() ||
                (qobject_cast<QLabel*>(b) == nullptr &&
                 qobject_cast<QAbstractButton*>(b) == nullptr)) {
                continue;
            }
            const QRect shared = a->geometry().intersected(b->geometry());
            if (shared.width() > 1 && shared.height() > 1 &&
                a->parentWidget()->layout()->indexOf(a) >= 0 &&
                a->parentWidget()->layout()->indexOf(b) >= 0) {
                out.append(QStringLiteral("overlap: %1 and %2").arg(describe(a), describe(b)));
            }
        }
    }
    return out;
}

/// Controls that a keyboard or a screen reader cannot use.
inline QStringList unreachable(QWidget* top) {
    QStringList out;
    const QList<QWidget*> all = top->findChildren<QWidget*>();
    for (QWidget* widget : all) {
        if (!isShown(widget) || !widget->isEnabled()) {
            continue;
        }
        const QWidget* parent = widget->parentWidget();
        const bool is_inner = qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
                              qobject_cast<const QComboBox*>(parent) != nullptr ||
                              qobject_cast<const QLineEdit*>(parent) != nullptr ||
                              widget->inherits("QScrollBar") ||
                              widget->objectName().startsWith(QStringLiteral("qt_"));
        if (is_inner) {
            continue;
        }
        if (qobject_cast<QAbstractButton*>(widget) != nullptr &&
            (widget->focusPolicy() & Qt::TabFocus) == 0) {
            out.append(QStringLiteral("not reachable by Tab: %1").arg(describe(widget)));
        }
        if ((widget->focusPolicy() & Qt::TabFocus) != 0) {
            QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
            if (face == nullptr || face->text(QAccessible::Name).trimmed().isEmpty()) {
                out.append(QStringLiteral("without a name: %1").arg(describe(widget)));
            }
        }
    }
    return out;
}

/// Widgets that Tab comes by, starting anywhere, until it is back.
inline int focusChainLength(QWidget* top) {
    int count = 0;
    const QWidget* widget = top->nextInFocusChain();
    while (widget != top && count < 10000) {
        widget = widget->nextInFocusChain();
        ++count;
    }
    return widget == top ? count : -1;
}

} // namespace support
