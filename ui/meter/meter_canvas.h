// SPDX-License-Identifier: Apache-2.0
// What the memory meter paints. Apart from it, so that the meter's values have no pixels in them.
#pragma once

#include "ui/meter/memory_meter.h"

#include <utility>

class QVariantAnimation;

namespace ui {

class MeterCanvas : public QWidget {
    Q_OBJECT

public:
    explicit MeterCanvas(QWidget* parent = nullptr);

    struct State {
        std::vector<MeterDevice> devices;
        std::map<engine::DeviceId, std::vector<quint64>> history;
        quint64 disk = 0; ///< Bytes that stay on disk and are read when needed.
        qint64 context = 0;
        bool has_plan = false;   ///< For what is loaded or staged.
        bool is_what_if = false; ///< Another computer is shown.
        bool is_empty = true;    ///< Neither a measurement nor a prediction.
    };
    void show(State state);
    /// The bars go from what they show now to what is shown next, instead of jumping there.
    void moveOn(bool is_seen);
    /// Height the content needs at this width.
    [[nodiscard]] int heightFor(int width) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    /// One line of what stands beside a card's bar.
    struct Row {
        QString label, value;
        QColor color; ///< Colour of the square before it; invalid: none.
        bool is_muted = false;
        QString tip = {};
    };
    struct CardPlaces {
        int bar_top = 0, bar_height = 0;
        int rows_left = 0, rows_top = 0, row_height = 0;
        QRect words;  ///< What was predicted and measured, below all.
        QRect copies; ///< And what copies of experts are worth.
        int bottom = 0;
    };
    /// What the bars of a device are filled with, perhaps on the way to another filling.
    struct Fill {
        KindBytes measured, predicted;
        double others = 0;
    };
    [[nodiscard]] Fill fillOf(const MeterDevice& device) const;
    [[nodiscard]] std::vector<Row> rowsOf(const MeterDevice& device) const;
    [[nodiscard]] CardPlaces
    placesOf(const MeterDevice& device, const std::vector<Row>& rows, int y) const;
    void paintName(QPainter* painter, const MeterDevice& device, int y) const;
    void paintBars(QPainter* painter, const MeterDevice& device, const CardPlaces& places) const;
    /// `part` of the card's bar, at its foot, is drawn once more in `box`, `times` as high.
    void paintLoupe(QPainter* painter,
                    const MeterDevice& device,
                    const QRectF& box,
                    const QRectF& part,
                    double times) const;
    void paintLimits(QPainter* painter,
                     const MeterDevice& device,
                     const QRectF& bar,
                     const CardPlaces& places,
                     double whole) const;
    void paintWords(QPainter* painter, const MeterDevice& device, const CardPlaces& places) const;
    void paintRows(QPainter* painter, const std::vector<Row>& rows, const CardPlaces& places) const;
    int paintGpu(QPainter* painter, const MeterDevice& device, int y) const;
    int paintBudget(QPainter* painter, const MeterDevice& device, int y) const;
    int paintHistory(QPainter* painter, const MeterDevice& device, int y) const;
    int paintMemory(QPainter* painter, const MeterDevice& device, int y) const;
    int paintDisk(QPainter* painter, int y) const;
    int paintBand(QPainter* painter) const;
    int paintHint(QPainter* painter, int y, const QString& hint) const;
    int paintAll(QPainter* painter) const;

    State state_;
    std::map<engine::DeviceId, Fill> from_; ///< Where the movement began.
    QVariantAnimation* motion_;
    mutable std::vector<std::pair<QRect, QString>> tips_; ///< Where the rows were painted.
};

} // namespace ui
