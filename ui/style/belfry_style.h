// SPDX-License-Identifier: Apache-2.0
// The one style of the program: Fusion's metrics and behaviour, our own painting from the theme's
// colours, the same on every desktop. Private to ui/style; installed by applyTheme().
#pragma once

#include <QProxyStyle>

namespace ui {

class BelfryStyle : public QProxyStyle {
    Q_OBJECT

public:
    BelfryStyle();

    /// Ours where Qt's own dialogs and fields ask for one that we have.
    [[nodiscard]] QIcon standardIcon(StandardPixmap which,
                                     const QStyleOption* option = nullptr,
                                     const QWidget* widget = nullptr) const override;

    void polish(QWidget* widget) override;
    void unpolish(QWidget* widget) override;
    /// The wheel scrolls what lies under it; a field or a slider takes it only with the focus.
    bool eventFilter(QObject* watched, QEvent* event) override;
    using QProxyStyle::polish;
    using QProxyStyle::unpolish;
    void drawPrimitive(PrimitiveElement element,
                       const QStyleOption* option,
                       QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element,
                     const QStyleOption* option,
                     QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control,
                            const QStyleOptionComplex* option,
                            QPainter* painter,
                            const QWidget* widget) const override;
    [[nodiscard]] QRect subControlRect(ComplexControl control,
                                       const QStyleOptionComplex* option,
                                       SubControl sub_control,
                                       const QWidget* widget) const override;
    [[nodiscard]] QRect subElementRect(SubElement element,
                                       const QStyleOption* option,
                                       const QWidget* widget) const override;
    [[nodiscard]] QSize sizeFromContents(ContentsType type,
                                         const QStyleOption* option,
                                         const QSize& contents,
                                         const QWidget* widget) const override;
    [[nodiscard]] int pixelMetric(PixelMetric metric,
                                  const QStyleOption* option,
                                  const QWidget* widget) const override;
    [[nodiscard]] int styleHint(StyleHint hint,
                                const QStyleOption* option,
                                const QWidget* widget,
                                QStyleHintReturn* return_data) const override;
};

} // namespace ui
