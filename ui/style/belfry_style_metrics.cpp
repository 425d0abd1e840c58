// SPDX-License-Identifier: Apache-2.0
// Sizes, rectangles and hints of the style; what it paints is in belfry_style.cpp.
#include "ui/style/belfry_style.h"
#include "ui/style/row_delegate.h"
#include "ui/style/theme.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHeaderView>
#include <QMenu>
#include <QPainterPath>
#include <QScrollBar>
#include <QStyleOption>
#include <QTabBar>
#include <QTreeView>

#include <algorithm>

namespace ui {

namespace {

constexpr int kAreaFrame = 4;  ///< Around text fields and tables.
constexpr int kCellMargin = 8; ///< Left and right of the words in a table and its header.

} // namespace

QRect BelfryStyle::subControlRect(ComplexControl control,
                                  const QStyleOptionComplex* option,
                                  SubControl sub_control,
                                  const QWidget* widget) const {
    if (control == CC_ScrollBar) {
        // No arrow buttons: the groove is the whole bar.
        if (sub_control == SC_ScrollBarAddLine || sub_control == SC_ScrollBarSubLine) {
            return {};
        }
        if (sub_control == SC_ScrollBarGroove) {
            return option->rect;
        }
        const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
        if (bar != nullptr) {
            const bool is_vertical = bar->orientation == Qt::Vertical;
            const int length = is_vertical ? bar->rect.height() : bar->rect.width();
            const qint64 range = qint64{bar->maximum} - bar->minimum;
            int handle = length;
            if (range > 0) {
                handle = static_cast<int>(qint64{length} * bar->pageStep /
                                          std::max<qint64>(1, range + bar->pageStep));
                handle = std::clamp(handle, std::min(32, length), length);
            }
            const int start = sliderPositionFromValue(
                bar->minimum, bar->maximum, bar->sliderPosition, length - handle, bar->upsideDown);
            const auto make = [&](int from, int size) {
                return is_vertical ? QRect(bar->rect.left(), bar->rect.top() + from,
                                           bar->rect.width(), size)
                                   : QRect(bar->rect.left() + from, bar->rect.top(), size,
                                           bar->rect.height());
            };
            if (sub_control == SC_ScrollBarSlider) {
                return make(start, handle);
            }
            if (sub_control == SC_ScrollBarSubPage) {
                return make(0, start);
            }
            if (sub_control == SC_ScrollBarAddPage) {
                return make(start + handle, length - start - handle);
            }
        }
    }
    if (control == CC_SpinBox && sub_control == SC_SpinBoxEditField) {
        return option->rect.adjusted(10, 2, -28, -2);
    }
    if (control == CC_ComboBox && sub_control == SC_ComboBoxEditField) {
        return option->rect.adjusted(4, 2, -28, -2);
    }
    return QProxyStyle::subControlRect(control, option, sub_control, widget);
}

QRect BelfryStyle::subElementRect(SubElement element,
                                  const QStyleOption* option,
                                  const QWidget* widget) const {
    if (element == SE_LineEditContents) {
        const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
        if (frame != nullptr && frame->lineWidth > 0) {
            return option->rect.adjusted(8, 2, -8, -2);
        }
    }
    return QProxyStyle::subElementRect(element, option, widget);
}

QSize BelfryStyle::sizeFromContents(ContentsType type,
                                    const QStyleOption* option,
                                    const QSize& contents,
                                    const QWidget* widget) const {
    QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    switch (type) {
    case CT_PushButton: {
        const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
        int width = contents.width() + 24;
        if (button != nullptr && (button->features & QStyleOptionButton::HasMenu) != 0) {
            width += 12;
        }
        if (button != nullptr && button->text.isEmpty()) {
            width = std::max(Theme::kControlHeight, button->iconSize.width() + 16);
        }
        return {width, std::max(Theme::kControlHeight, contents.height() + 12)};
    }
    case CT_ToolButton:
        return {std::max(Theme::kControlHeight, contents.width() + 12),
                std::max(Theme::kControlHeight, contents.height() + 12)};
    case CT_ComboBox:
        return {contents.width() + 44, std::max(Theme::kControlHeight, contents.height() + 12)};
    case CT_LineEdit:
        return {size.width() + 16, std::max(Theme::kControlHeight, contents.height() + 12)};
    case CT_SpinBox: // its line edit has counted its own frame
        return {size.width() + 24, std::max(Theme::kControlHeight, contents.height())};
    case CT_MenuItem: {
        const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option);
        if (item != nullptr && item->menuItemType == QStyleOptionMenuItem::Separator) {
            return {size.width(), 9};
        }
        const bool has_keys = item != nullptr && item->text.contains(QLatin1Char('\t'));
        return {contents.width() + 56 + (has_keys ? 24 : 0), std::max(30, contents.height() + 10)};
    }
    case CT_ProgressBar:
        return {size.width(), std::max(8, size.height())};
    default:
        return size;
    }
}

int BelfryStyle::pixelMetric(PixelMetric metric,
                             const QStyleOption* option,
                             const QWidget* widget) const {
    switch (metric) {
    case PM_ScrollBarExtent:
        return 12;
    case PM_ScrollBarSliderMin:
        return 32;
    case PM_DefaultFrameWidth: {
        // Wide enough that square contents stay inside of the round corners.
        const auto* area = qobject_cast<const QAbstractScrollArea*>(widget);
        return area != nullptr && area->frameShape() == QFrame::StyledPanel
                   ? kAreaFrame
                   : QProxyStyle::pixelMetric(metric, option, widget);
    }
    case PM_HeaderMargin:
    case PM_FocusFrameHMargin: {
        // Tables of our own; the file dialog's columns are sized for narrow margins.
        const auto* header = qobject_cast<const QHeaderView*>(widget);
        const auto* table =
            qobject_cast<const QTreeView*>(header != nullptr ? header->parentWidget() : widget);
        return table != nullptr &&
                       dynamic_cast<const RowDelegate*>(table->itemDelegate()) != nullptr
                   ? kCellMargin
                   : QProxyStyle::pixelMetric(metric, option, widget);
    }
    case PM_SplitterWidth:
        return 1;
    case PM_MenuPanelWidth:
        return 0;
    case PM_MenuVMargin:
        return 6;
    case PM_MenuHMargin:
        return 0;
    case PM_ButtonIconSize:
    case PM_ListViewIconSize:
    case PM_SmallIconSize:
        return 16 * textZoom() / 100;
    case PM_LayoutHorizontalSpacing:
    case PM_LayoutVerticalSpacing:
        return Theme::kGap;
    case PM_LayoutLeftMargin:
    case PM_LayoutRightMargin:
    case PM_LayoutTopMargin:
    case PM_LayoutBottomMargin:
        return Theme::kPadding;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
        return 18;
    case PM_SliderThickness:
    case PM_SliderControlThickness:
    case PM_SliderLength:
        return 20;
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
        return 0;
    case PM_ToolTipLabelFrameWidth:
        return 6;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int BelfryStyle::styleHint(StyleHint hint,
                           const QStyleOption* option,
                           const QWidget* widget,
                           QStyleHintReturn* return_data) const {
    switch (hint) {
    case SH_ScrollBar_LeftClickAbsolutePosition:
        return 1;
    case SH_Menu_Mask:
        // Without a compositor the corners outside of the round box would be black.
        if (auto* mask = qstyleoption_cast<QStyleHintReturnMask*>(return_data);
            mask != nullptr && option != nullptr) {
            QPainterPath box;
            box.addRoundedRect(QRectF(option->rect), Theme::kRadius, Theme::kRadius);
            mask->region = QRegion(box.toFillPolygon().toPolygon());
            return 1;
        }
        return 0;
    case SH_DialogButtonBox_ButtonsHaveIcons: // of another set than ours
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
    case SH_ComboBox_Popup:
        return 0;
    case SH_Menu_SubMenuPopupDelay:
        return 120;
    default:
        return QProxyStyle::styleHint(hint, option, widget, return_data);
    }
}

} // namespace ui
