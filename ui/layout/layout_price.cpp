// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/layout_price.h"

#include "ui/common/issue_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <set>

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
    }
    const double image = after.estimate.image_s - before.estimate.image_s;
    const double sound = 10 * (after.estimate.audio_s_per_s - before.estimate.audio_s_per_s);
    const double token = tokenSeconds(after) - tokenSeconds(before);
    if (model == nullptr || model->has_vision) {
        rows.push_back(
            {PriceTexts::tr("each image"), formatSecondsDelta(image), toneOf(image, 0.005)});
    }
    if ((model == nullptr || model->has_audio) &&
        (block.kind == BlockKind::Audio || std::fabs(sound) > 5e-6)) {
        rows.push_back(
            {PriceTexts::tr("10 s of sound"), formatSecondsDelta(sound), toneOf(sound, 0.005)});
    }
    rows.push_back(
        {PriceTexts::tr("each token"), formatSecondsDelta(token), toneOf(token, 0.0005)});
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
