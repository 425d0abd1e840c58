// SPDX-License-Identifier: Apache-2.0
// A device as a lane: what it would hold and of how much, and its blocks, sized by bytes on a scale
// that all lanes share. While a block is held it also says what dropping it here would mean.
#pragma once

#include "ui/layout/block_widget.h"

#include <QScrollArea>
#include <QWidget>

#include <optional>
#include <vector>

namespace ui {

/// What a drop on this lane would come to, for the chip under the header.
struct LanePreview {
    quint64 bytes = 0; ///< Predicted on this device after the drop.
    bool is_possible = false;
    bool is_over = false;
    QString text; ///< "3.7 GiB left", "0.8 GiB too much", or why it cannot be.
};

class LaneWidget : public QWidget {
    Q_OBJECT

public:
    explicit LaneWidget(engine::DeviceId device, QWidget* parent = nullptr);

    [[nodiscard]] engine::DeviceId device() const { return device_; }
    void setPlan(std::shared_ptr<const engine::PlacementPlan> plan);
    /// Takes the widgets over as children, in this order.
    void setBlocks(std::vector<BlockWidget*> blocks);
    [[nodiscard]] const std::vector<BlockWidget*>& blocks() const { return blocks_; }

    /// Pixels per byte; arranges the blocks.
    void setScale(double pixels_per_byte);
    /// Height that the blocks need at a scale, and the room there is.
    [[nodiscard]] int heightAt(double pixels_per_byte) const;
    [[nodiscard]] int room() const;

    /// The plan shown in the header while a block is held over some lane; null = the staged one.
    void setHeaderPlan(std::shared_ptr<const engine::PlacementPlan> plan);
    void setPreview(const std::optional<LanePreview>& preview);
    [[nodiscard]] const std::optional<LanePreview>& preview() const { return preview_; }
    void setTarget(bool is_target);
    [[nodiscard]] bool isTarget() const { return is_target_; }
    void showBlock(BlockWidget* block);
    /// "1.73 of 6.0 GiB" as painted now, for tests and screen readers.
    [[nodiscard]] QString usageText() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

Q_SIGNALS:
    void roomChanged();

private:
    void arrange();
    void fitWidth();
    [[nodiscard]] int headerHeight() const;
    [[nodiscard]] std::vector<std::vector<BlockWidget*>> rows() const;
    void updateAccessible();
    /// `used` as a part of `limit` (0: there is none). While a block is held, a line marks what the
    /// lane holds now.
    void paintBar(QPainter& painter, const QRectF& bar, quint64 used, quint64 limit) const;

    engine::DeviceId device_;
    std::shared_ptr<const engine::PlacementPlan> plan_, header_plan_;
    std::vector<BlockWidget*> blocks_;
    QScrollArea* scroll_;
    QWidget* content_;
    std::optional<LanePreview> preview_;
    bool is_target_ = false;
    double scale_ = 0;
};

} // namespace ui
