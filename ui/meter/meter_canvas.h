// SPDX-License-Identifier: Apache-2.0
// What the memory meter paints. Apart from it, so that the meter's values have no pixels in them.
#pragma once

#include "ui/meter/memory_meter.h"

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
    /// Height the content needs at this width.
    [[nodiscard]] int heightFor(int width) const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// One line of what stands beside a card's bar.
    struct Row {
        QString label, value;
        QColor color; ///< Colour of the square before it; invalid: none.
        bool is_bold = false, is_muted = false;
        bool is_sum = false; ///< Below a rule, which the first sum draws.
    };
    struct CardPlaces {
        int bar_top = 0, bar_height = 0;
        int rows_left = 0, rows_top = 0, row_height = 0;
        int bottom = 0;
    };
    [[nodiscard]] std::vector<Row> rowsOf(const MeterDevice& device) const;
    [[nodiscard]] CardPlaces placesOf(const std::vector<Row>& rows, int y) const;
    void paintName(QPainter* painter, const MeterDevice& device, int y) const;
    static void paintBar(QPainter* painter, const MeterDevice& device, const QRectF& bar);
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
};

} // namespace ui
