// SPDX-License-Identifier: Apache-2.0
// The live memory meter: per GPU a stacked bar of measured parts with the prediction beside it,
// other programs, the limit and the last minute; main memory and disk below. Shows what the
// engine's snapshots say, four times a second, and the staged plan as prediction.
#pragma once

#include "engine/api/snapshot.h"
#include "ui/layout/memory_kinds.h"

#include <QElapsedTimer>
#include <QString>
#include <QWidget>

#include <deque>
#include <map>
#include <memory>
#include <vector>

class QScrollArea;
class QTimer;

namespace ui {

/// One device as the meter draws it. Bytes.
struct MeterDevice {
    engine::DeviceId id;
    QString name; ///< "GPU 0 · RTX 3060"
    quint64 capacity = 0;
    quint64 limit = 0;  ///< What the engine may use; 0 = no limit.
    quint64 others = 0; ///< Other programs.
    engine::PartBytes measured, predicted;
    KindBytes measured_kinds, predicted_kinds; ///< The same, weights divided by their blocks.
    engine::MemoryBudget budget;               ///< The system's, where it sets one.
    engine::ExpertCacheState experts;          ///< Copies of experts, where it has some.
    double copied_per_s = 0;                   ///< What comes from main memory now, in bytes.
    bool has_measured = false, has_prediction = false;
    bool is_context_assumed = false; ///< What the driver takes is not measured.
    bool is_live = false;            ///< Capacity and other programs are of now, not of a plan.
    bool is_staged = false;          ///< The prediction is of another layout than the loaded one.

    [[nodiscard]] quint64 used() const { return measured.total(); }
    /// Free by this account; 0 when more is used than there is.
    [[nodiscard]] quint64 free() const;
};

/// GPUs by number, then the CPU. Either may be null. A device that neither holds anything nor has
/// a place in the prediction is left out.
std::vector<MeterDevice> meterDevices(const engine::EngineSnapshot* snapshot,
                                      const engine::PlacementPlan* prediction);
/// As memoryLabel(); says of a device where its driver's share is not measured.
QString memoryLabel(MemoryKind kind, const MeterDevice& device);
/// "predicted 6.43, measured 6.41 GiB", or the one of the two that is known.
QString predictionWords(const MeterDevice& device);
/// How many choices fall on the copies of experts there, and what more of them would bring; empty:
/// there are none, or nothing was chosen yet.
QString copiesWords(const MeterDevice& device);
/// How fast weights and keys come from main memory; empty: hardly anything comes.
QString linkWords(const MeterDevice& device);
/// What was predicted for the loaded layout is what was measured, but for rounding.
bool isAsPredicted(const MeterDevice& device);

class MeterCanvas;

class MemoryMeter : public QWidget {
    Q_OBJECT

public:
    explicit MemoryMeter(QWidget* parent = nullptr);

    /// The whole state as text, for screen readers and reports.
    [[nodiscard]] QString text() const;
    /// As drawn now.
    [[nodiscard]] const std::vector<MeterDevice>& devices() const { return devices_; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

public Q_SLOTS:
    void showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot);
    /// The staged plan, or the loaded one; null: none. `is_what_if`: for another computer, of
    /// which nothing is measured here.
    void setPrediction(const std::shared_ptr<const engine::PlacementPlan>& plan,
                       bool is_what_if = false);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void tick();
    void watchCopies();
    void rebuild();

    std::shared_ptr<const engine::EngineSnapshot> snapshot_;
    std::shared_ptr<const engine::PlacementPlan> prediction_;
    std::vector<MeterDevice> devices_;
    std::map<engine::DeviceId, std::deque<quint64>> history_; ///< Used here, four a second.
    struct Copies {
        quint64 bytes = 0; ///< When they were looked at last,
        qint64 at_ms = 0;  ///< which was then.
        double per_s = 0;
    };
    std::map<engine::DeviceId, Copies> copies_;
    QElapsedTimer clock_;
    QScrollArea* scroll_;
    MeterCanvas* canvas_;
    QTimer* timer_;
    bool is_stale_ = true;
    bool is_what_if_ = false;
};

} // namespace ui
