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
        bool has_plan = false; ///< Of what is loaded or staged.
        bool is_empty = true;  ///< Neither a measurement nor a prediction.
    };
    void show(State state);
    /// Height the content needs at this width.
    [[nodiscard]] int heightFor(int width) const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int paintGpu(QPainter* painter, const MeterDevice& device, int y) const;
    int paintHistory(QPainter* painter, const MeterDevice& device, int y) const;
    int paintMemory(QPainter* painter, const MeterDevice& device, int y) const;
    int paintDisk(QPainter* painter, int y) const;
    int paintHint(QPainter* painter, int y, const QString& hint) const;
    int paintAll(QPainter* painter) const;

    State state_;
};

} // namespace ui
