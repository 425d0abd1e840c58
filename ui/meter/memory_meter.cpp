// SPDX-License-Identifier: Apache-2.0
#include "ui/meter/memory_meter.h"

#include "ui/layout/layout_blocks.h"
#include "ui/meter/budget_words.h"
#include "ui/meter/meter_canvas.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QCoreApplication>
#include <QLocale>
#include <QPainter>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

namespace {

constexpr int kIntervalMs = 250;
constexpr size_t kSamples = 240; // one minute

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(ui::MemoryMeter)
};

quint64 finite(quint64 limit) {
    return limit == std::numeric_limits<quint64>::max() ? 0 : limit;
}

/// What was predicted for a device when the loaded model was loaded.
engine::PartBytes loadedParts(const engine::EngineSnapshot* snapshot, engine::DeviceId id) {
    if (snapshot != nullptr) {
        for (const engine::DeviceMemory& memory : snapshot->memory) {
            if (memory.id == id) {
                return memory.predicted;
            }
        }
    }
    return {};
}

/// The plan of what is loaded has a note where the context is a usual figure.
bool isContextAssumed(const engine::EngineSnapshot& snapshot, engine::DeviceId id) {
    return snapshot.plan != nullptr &&
           std::any_of(snapshot.plan->notes.begin(), snapshot.plan->notes.end(),
                       [id](const engine::Note& note) {
                           return note.kind == engine::NoteKind::AssumedContext &&
                                  note.device == id;
                       });
}

} // namespace

quint64 MeterDevice::free() const {
    const quint64 taken = used() + others;
    const quint64 room = capacity > taken ? capacity - taken : 0;
    // Where the system sets a budget, nothing beyond it is ours.
    return budget.budget > 0
               ? std::min<quint64>(room, budget.budget - std::min(budget.budget, budget.used))
               : room;
}

QString memoryLabel(MemoryKind kind, const MeterDevice& device) {
    return kind == MemoryKind::Driver && device.is_context_assumed && device.has_measured
               ? Texts::tr("driver (assumed)")
               : memoryLabel(kind);
}

bool isAsPredicted(const MeterDevice& device) {
    constexpr quint64 kLeast = quint64{1} << 20U;
    const quint64 predicted = device.predicted.total();
    const quint64 used = device.used();
    return used > 0 && device.has_measured && device.has_prediction && !device.is_staged &&
           std::max(predicted, used) - std::min(predicted, used) <= std::max(kLeast, used / 100);
}

QString predictionWords(const MeterDevice& device) {
    const auto amount = [](quint64 bytes) { // stays in one line with its unit
        return formatBytes(bytes, 2).replace(QLatin1Char(' '), QChar::Nbsp);
    };
    const QString measured = amount(device.used());
    QString predicted = amount(device.predicted.total());
    if (!device.has_prediction) {
        return Texts::tr("used by Belfry %1").arg(measured);
    }
    if (!device.has_measured) {
        return Texts::tr("predicted %1").arg(predicted);
    }
    // The unit once, where both have the same.
    const auto unit = [](const QString& bytes) {
        qsizetype at = bytes.size();
        while (at > 0 && !bytes.at(at - 1).isSpace()) {
            --at;
        }
        return bytes.mid(std::max<qsizetype>(0, at - 1));
    };
    if (unit(predicted) == unit(measured)) {
        predicted.chop(unit(predicted).size());
    }
    return (device.is_staged ? Texts::tr("planned %1, now %2")
                             : Texts::tr("predicted %1, measured %2"))
        .arg(predicted, measured);
}

QString copiesWords(const MeterDevice& device) {
    const engine::ExpertCacheState& state = device.experts;
    if (state.places == 0 || state.asked == 0) {
        return {};
    }
    const auto percent = [&state](qint64 hits) {
        return QLocale().toString(
            100.0 * static_cast<double>(hits) / static_cast<double>(state.asked), 'f', 0);
    };
    const QString now = Texts::tr("Copies of %1 of %2 experts take %3 % of a token's choices")
                            .arg(QLocale().toString(qlonglong{state.places}),
                                 QLocale().toString(qlonglong{state.experts}), percent(state.hits));
    return state.places < state.experts
               ? Texts::tr("%1; with one GiB more %2 %").arg(now, percent(state.hits_with_more))
               : now;
}

QString linkWords(const MeterDevice& device) {
    constexpr double kLeast = 100e6; // below it, tokens and small vectors
    return device.copied_per_s < kLeast
               ? QString()
               : Texts::tr("%1 GB/s come from main memory")
                     .arg(QLocale().toString(device.copied_per_s / 1e9, 'f', 1));
}

std::vector<MeterDevice> meterDevices(const engine::EngineSnapshot* snapshot,
                                      const engine::PlacementPlan* prediction) {
    std::map<engine::DeviceId, MeterDevice> all;
    std::map<engine::DeviceId, KindBytes> loaded, planned;
    if (snapshot != nullptr && snapshot->plan != nullptr) {
        loaded = weightsByKind(*snapshot->plan);
    }
    if (prediction != nullptr) {
        planned = weightsByKind(*prediction);
    }
    const auto device = [&all](engine::DeviceId id,
                               const std::string& description) -> MeterDevice& {
        MeterDevice& d = all[id];
        d.id = id;
        if (d.name.isEmpty()) {
            d.name = laneName(id);
            if (id.kind == engine::DeviceId::Kind::Cuda && !description.empty()) {
                d.name += QStringLiteral(" · ") + QString::fromStdString(description);
            }
        }
        return d;
    };
    if (snapshot != nullptr) {
        for (const engine::DeviceMemory& memory : snapshot->memory) {
            const bool is_planned =
                prediction == nullptr ||
                std::any_of(prediction->devices.begin(), prediction->devices.end(),
                            [&](const engine::DevicePlan& p) { return p.id == memory.id; });
            if (!is_planned && memory.measured.total() == 0) {
                continue;
            }
            MeterDevice& d = device(memory.id, memory.description);
            d.capacity = memory.capacity;
            d.limit = finite(memory.limit);
            d.others = memory.used_by_others;
            d.measured = memory.measured;
            d.budget = memory.budget;
            d.experts = memory.experts;
            d.is_context_assumed = isContextAssumed(*snapshot, memory.id);
            d.is_live = true;
            // Beside a plan of what is not loaded yet there is nothing of ours to measure.
            d.has_measured = prediction == nullptr || snapshot->model != nullptr ||
                             snapshot->state == engine::EngineSnapshot::State::Loading ||
                             memory.measured.total() > 0;
            d.predicted = memory.predicted;
            d.has_prediction = snapshot->plan != nullptr;
            d.measured_kinds = byKind(d.measured, loaded[memory.id]);
            d.predicted_kinds = byKind(d.predicted, loaded[memory.id]);
        }
    }
    if (prediction != nullptr) {
        for (auto& [id, d] : all) {
            d.is_staged = d.has_measured && d.predicted.total() > 0;
            d.predicted = {};
            d.predicted_kinds = {};
            d.has_prediction = false;
        }
        for (const engine::DevicePlan& plan : prediction->devices) {
            if (plan.id == engine::DeviceId::disk()) {
                continue;
            }
            MeterDevice& d = device(plan.id, plan.description);
            // What the driver takes is told anew when it is known: that is no other layout.
            engine::PartBytes former = loadedParts(snapshot, plan.id);
            former[engine::MemoryPart::Context] = plan.parts[engine::MemoryPart::Context];
            d.is_staged = d.has_measured && !(former == plan.parts);
            d.predicted = plan.parts;
            d.predicted_kinds = byKind(plan.parts, planned[plan.id]);
            d.has_prediction = true;
            if (!d.is_live) {
                d.capacity = plan.capacity;
                d.others = plan.capacity > plan.free ? plan.capacity - plan.free : 0;
            }
            d.limit = finite(plan.limit);
        }
    }
    std::vector<MeterDevice> list;
    for (const bool is_gpu : {true, false}) {
        for (const auto& [id, d] : all) {
            if (id.isGpu() == is_gpu && id != engine::DeviceId::disk()) {
                list.push_back(d);
            }
        }
    }
    return list;
}

MemoryMeter::MemoryMeter(QWidget* parent)
    : QWidget(parent), scroll_(new QScrollArea), canvas_(new MeterCanvas),
      timer_(new QTimer(this)) {
    setObjectName(QStringLiteral("memoryMeter"));
    setAccessibleName(Texts::tr("Memory"));
    setFocusPolicy(Qt::StrongFocus); // so that its text can be reached and read
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setFocusPolicy(Qt::NoFocus);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->viewport()->setAutoFillBackground(false);
    scroll_->setWidgetResizable(true);
    scroll_->setWidget(canvas_);
    canvas_->setAutoFillBackground(false);
    auto* layout = columnIn(this, {0, 0, 0, 0});
    layout->addWidget(scroll_);
    clock_.start();
    timer_->setInterval(kIntervalMs);
    connect(timer_, &QTimer::timeout, this, &MemoryMeter::tick);
    timer_->start();
    rebuild();
}

QSize MemoryMeter::sizeHint() const {
    return {288, 640};
}

QSize MemoryMeter::minimumSizeHint() const {
    return {232 * textZoom() / 100, 160};
}

void MemoryMeter::showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
    const bool is_first = snapshot_ == nullptr;
    const bool is_settled =
        snapshot != nullptr && (snapshot->state == engine::EngineSnapshot::State::Ready ||
                                snapshot->state == engine::EngineSnapshot::State::Empty);
    snapshot_ = snapshot;
    is_stale_ = true;
    // While something runs snapshots come often: the timer draws four a second.
    if (is_first || is_settled) {
        rebuild();
    }
}

void MemoryMeter::setPrediction(const std::shared_ptr<const engine::PlacementPlan>& plan,
                                bool is_what_if) {
    if (prediction_ != plan || is_what_if_ != is_what_if) {
        prediction_ = plan;
        is_what_if_ = is_what_if;
        canvas_->moveOn(isVisible());
        rebuild();
    }
}

void MemoryMeter::tick() {
    bool is_moving = is_stale_;
    // Samples this computer, whatever computer the layout looks at.
    const auto now = snapshot_ == nullptr ? std::vector<engine::DeviceMemory>() : snapshot_->memory;
    for (const engine::DeviceMemory& device : now) {
        std::deque<quint64>& samples = history_[device.id];
        const quint64 used = device.measured.total();
        if (used == 0 && samples.empty()) {
            continue; // no line before anything was loaded
        }
        is_moving = is_moving || samples.empty() || samples.front() != used;
        samples.push_back(used);
        if (samples.size() > kSamples) {
            samples.pop_front();
        }
    }
    if (is_moving && isVisible()) {
        rebuild();
    }
}

void MemoryMeter::rebuild() {
    is_stale_ = false;
    devices_ = meterDevices(is_what_if_ ? nullptr : snapshot_.get(), prediction_.get());
    if (!is_what_if_) {
        watchCopies();
    }
    MeterCanvas::State state;
    state.devices = devices_;
    if (!is_what_if_) {
        for (const auto& [id, samples] : history_) {
            state.history[id] = {samples.begin(), samples.end()};
        }
    }
    const engine::PlacementPlan* plan =
        prediction_ != nullptr ? prediction_.get()
                               : (snapshot_ != nullptr ? snapshot_->plan.get() : nullptr);
    state.has_plan = plan != nullptr;
    if (plan != nullptr) {
        state.disk = diskBytes(*plan);
        state.context = plan->context;
    }
    state.is_empty = devices_.empty();
    state.is_what_if = is_what_if_;
    canvas_->show(std::move(state));
    canvas_->setMinimumHeight(canvas_->heightFor(scroll_->viewport()->width()));
    const QString description = text();
    if (accessibleDescription() != description) {
        setAccessibleDescription(description);
    }
}

/// Snapshots come as often as something changes: a rate is made over a quarter of a second.
void MemoryMeter::watchCopies() {
    if (snapshot_ == nullptr) {
        return;
    }
    const bool is_at_rest = snapshot_->state == engine::EngineSnapshot::State::Ready ||
                            snapshot_->state == engine::EngineSnapshot::State::Empty;
    for (const engine::DeviceMemory& memory : snapshot_->memory) {
        Copies& last = copies_[memory.id];
        const qint64 now = clock_.elapsed();
        if (memory.copied_in < last.bytes || now - last.at_ms >= kIntervalMs) {
            const auto came = static_cast<double>(memory.copied_in) -
                              static_cast<double>(std::min<quint64>(memory.copied_in, last.bytes));
            last.per_s =
                last.at_ms == 0
                    ? 0
                    : came * 1e3 / static_cast<double>(std::max<qint64>(1, now - last.at_ms));
            last.bytes = memory.copied_in;
            last.at_ms = now;
        }
        for (MeterDevice& device : devices_) {
            if (device.id == memory.id && !is_at_rest) {
                device.copied_per_s = last.per_s;
            }
        }
    }
}

void MemoryMeter::paintEvent(QPaintEvent* /*event*/) {
    if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
        // Seen through the scroll area, which paints no background of its own.
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(Theme::current().accent, 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(3, 3, -3, -3), Theme::kRadius,
                                Theme::kRadius);
    }
}

void MemoryMeter::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuild();
}

QString MemoryMeter::text() const {
    if (devices_.empty()) {
        return Texts::tr("No model is loaded or planned.");
    }
    QStringList lines;
    if (is_what_if_) {
        lines << Texts::tr("Not this computer");
    }
    for (const MeterDevice& device : devices_) {
        QStringList parts;
        if (device.has_measured) {
            parts << Texts::tr("used by Belfry %1").arg(formatBytes(device.used()));
        }
        if (device.has_prediction) {
            parts << Texts::tr("predicted %1").arg(formatBytes(device.predicted.total()));
        }
        const KindBytes& kinds =
            device.has_measured ? device.measured_kinds : device.predicted_kinds;
        for (size_t i = 0; i < kMemoryKinds; ++i) {
            if (const auto bytes = static_cast<quint64>(std::llround(kinds.bytes[i])); bytes > 0) {
                parts << QStringLiteral("%1 %2").arg(
                    memoryLabel(static_cast<MemoryKind>(i + 1), device), formatBytes(bytes));
            }
        }
        if (device.others > 0) {
            parts << (is_what_if_ ? Texts::tr("set aside %1") : Texts::tr("other programs %1"))
                         .arg(formatBytes(device.others));
        }
        if (device.capacity > 0) {
            parts << Texts::tr("of %1").arg(formatBytes(device.capacity));
        }
        if (device.limit > 0) {
            parts << Texts::tr("limit %1").arg(formatBytes(device.limit));
        }
        if (device.budget.budget > 0) {
            parts << Texts::tr("budget of the system %1").arg(formatBytes(device.budget.budget));
        }
        for (const QString& words : {copiesWords(device), linkWords(device)}) {
            if (!words.isEmpty()) {
                parts << words;
            }
        }
        QString line = device.name + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
        if (const BudgetWords words = budgetWords(device.budget); !words.title.isEmpty()) {
            line += QStringLiteral(". ") + words.title + QStringLiteral(". ") +
                    words.lines.join(QLatin1Char(' '));
        }
        lines << line;
    }
    return lines.join(QStringLiteral(".\n")) + QLatin1Char('.');
}

} // namespace ui
