// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/layout_price.h"

#include "ui/common/issue_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

namespace ui {

namespace {

struct PriceTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::LayoutPrice)
};

quint64 usedOn(const engine::PlacementPlan& plan, engine::DeviceId id) {
    if (id == engine::DeviceId::disk()) {
        return diskBytes(plan);
    }
    const engine::DevicePlan* device = devicePlan(plan, id);
    return device == nullptr ? 0 : device->parts.total();
}

double tokenSeconds(const engine::PlacementPlan& plan) {
    const double rate = plan.estimate.decode_tokens_per_s;
    return rate > 0 ? 1.0 / rate : 0.0;
}

quint64 traffic(const engine::PlacementPlan& plan) {
    quint64 bytes = 0;
    for (const engine::TransferPerToken& transfer : plan.transfers_per_token) {
        bytes += transfer.bytes;
    }
    return bytes;
}

/// What a change of a device's memory is made of, where that is more than one thing: "tower 2.3 MiB
/// + room to compute 4.4 MiB".
QString
sumOf(const engine::DevicePlan& was, const engine::DevicePlan& will, const LayoutBlock& block) {
    const bool is_tower = block.kind == BlockKind::Vision || block.kind == BlockKind::Audio;
    const QString weights = is_tower ? PriceTexts::tr("tower") : PriceTexts::tr("weights");
    const std::array<QString, engine::kMemoryPartCount> names = {
        weights,
        PriceTexts::tr("KV cache"),
        PriceTexts::tr("adapter"),
        PriceTexts::tr("room to compute"),
        PriceTexts::tr("driver"),
        PriceTexts::tr("copies of experts")};
    std::vector<std::pair<QString, qint64>> parts;
    bool has_more = false, has_less = false;
    for (const engine::MemoryPart part : engine::kMemoryParts) {
        const auto delta = static_cast<qint64>(will.parts[part] - was.parts[part]);
        has_more = has_more || delta > 0;
        has_less = has_less || delta < 0;
        if (delta != 0) {
            parts.emplace_back(names[static_cast<size_t>(part) - 1], delta);
        }
    }
    QStringList words;
    for (const auto& [name, delta] : parts) {
        // The sign of all stands before their sum. An amount is not parted from its unit and name.
        const QString bytes = has_more && has_less
                                  ? formatBytesDelta(delta)
                                  : formatBytes(static_cast<quint64>(std::llabs(delta)));
        words << QStringLiteral("%1 %2").arg(name, bytes).replace(QLatin1Char(' '), QChar::Nbsp);
    }
    return parts.size() < 2
               ? QString()
               : words.join(has_more && has_less ? QStringLiteral(", ") : QStringLiteral(" + "));
}

PriceRow::Tone toneOf(double delta, double threshold) {
    return delta > threshold    ? PriceRow::Tone::Bad
           : delta < -threshold ? PriceRow::Tone::Good
                                : PriceRow::Tone::Neutral;
}

} // namespace

QString formatSecondsDelta(double seconds) {
    const double size = std::fabs(seconds);
    if (size < 5e-6) {
        return QStringLiteral("±0");
    }
    const QString sign = seconds > 0 ? QStringLiteral("+") : QStringLiteral("−");
    const QLocale locale;
    if (size < 0.1) {
        const double ms = size * 1000.0;
        return sign + PriceTexts::tr("%1 ms").arg(locale.toString(ms, 'f',
                                                                  ms < 1    ? 2
                                                                  : ms < 10 ? 1
                                                                            : 0));
    }
    return sign + PriceTexts::tr("%1 s").arg(locale.toString(size, 'f', size < 10 ? 2 : 1));
}

QString hardError(const engine::PlacementPlan& plan) {
    for (const engine::PlanIssue& issue : plan.errors) {
        if (issue.code != "DM09") {
            return issueWords(issue);
        }
    }
    return {};
}

std::vector<PriceRow> priceOf(const engine::PlacementPlan& before,
                              const engine::PlacementPlan& after,
                              const LayoutBlock& block,
                              const engine::ModelSummary* model) {
    std::vector<PriceRow> rows;
    if (const QString error = hardError(after); !error.isEmpty()) {
        rows.push_back({PriceTexts::tr("Cannot be"), error, PriceRow::Tone::Bad});
        return rows;
    }
    std::set<engine::DeviceId> devices;
    for (const engine::PlacementPlan* plan : {&before, &after}) {
        for (const engine::DeviceId id : laneDevices(*plan)) {
            devices.insert(id);
        }
    }
    for (const engine::DeviceId id : devices) {
        const quint64 was = usedOn(before, id);
        const quint64 will = usedOn(after, id);
        if (was == will) {
            continue;
        }
        const engine::DevicePlan* device = devicePlan(after, id);
        const bool is_over = id != engine::DeviceId::disk() && device != nullptr &&
                             device->limit > 0 && will > device->limit;
        rows.push_back({laneName(id),
                        formatBytesDelta(static_cast<qint64>(will) - static_cast<qint64>(was)) +
                            QStringLiteral(" → ") + formatBytes(will),
                        is_over ? PriceRow::Tone::Bad : PriceRow::Tone::Neutral});
        if (const engine::DevicePlan* former = devicePlan(before, id);
            former != nullptr && device != nullptr) {
            rows.back().detail = sumOf(*former, *device, block);
        }
    }
    const double image = after.estimate.image_s - before.estimate.image_s;
    const double sound = 10 * (after.estimate.audio_s_per_s - before.estimate.audio_s_per_s);
    const double token = tokenSeconds(after) - tokenSeconds(before);
    const bool tells_speed = after.estimate.decode_tokens_per_s > 0;
    if (tells_speed && (model == nullptr || model->has_vision)) {
        rows.push_back(
            {PriceTexts::tr("each image"), formatSecondsDelta(image), toneOf(image, 0.005)});
    }
    if ((model == nullptr || model->has_audio) &&
        (block.kind == BlockKind::Audio || std::fabs(sound) > 5e-6)) {
        rows.push_back(
            {PriceTexts::tr("10 s of sound"), formatSecondsDelta(sound), toneOf(sound, 0.005)});
    }
    if (tells_speed) {
        rows.push_back(
            {PriceTexts::tr("each token"), formatSecondsDelta(token), toneOf(token, 0.0005)});
    }
    const quint64 travels = traffic(after);
    if (travels != traffic(before)) {
        rows.push_back({PriceTexts::tr("travels per token"), formatBytes(travels)});
    }
    if (block.adapter_modules > 0) {
        rows.push_back(
            {PriceTexts::tr("adapter"),
             PriceTexts::tr("%1 modules move along").arg(formatCount(block.adapter_modules))});
    }
    return rows;
}

} // namespace ui
