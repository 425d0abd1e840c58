// SPDX-License-Identifier: Apache-2.0
// Looking at other computers: their steps are apart from those of this one.
#include "ui/layout/layout_staging.h"

#include <utility>

namespace ui {

namespace {

/// Device names in a map written for one kind of card, for another.
std::string withCards(const std::string& map, const char* from, const char* to) {
    QString text = QString::fromStdString(map);
    text.replace(QStringLiteral("\"%1:").arg(QLatin1String(from)),
                 QStringLiteral("\"%1:").arg(QLatin1String(to)));
    return text.toStdString();
}

bool namesCards(const std::string& map) {
    return map.find("\"sim:") != std::string::npos || map.find("\"cuda:") != std::string::npos;
}

/// `wanted` as it is asked for on another computer; the map stays the caller's.
void assume(engine::LoadRequest& wanted, const WhatIfComputer& computer) {
    wanted.what_if = devicesOf(computer);
    wanted.sim_gpus.clear();
    wanted.limits.clear();
}

} // namespace

void LayoutStaging::lookAt(const WhatIfComputer& computer) {
    if (!mayStage([this, computer] { lookAt(computer); })) {
        return;
    }
    if (!what_if_.has_value()) {
        real_history_ = history_;
    }
    engine::LoadRequest wanted = stagedRequest();
    what_if_ = computer;
    wanted.device_map = namesCards(wanted.device_map) || computer.cards.empty()
                            ? withCards(wanted.device_map, "sim", "cuda")
                            : "fit";
    assume(wanted, computer);
    Pending next;
    next.purpose = Pending::Purpose::Computer;
    next.stage.request = std::move(wanted);
    if (!history_.isEmpty()) {
        next.stage.cuts = history_.current().cuts;
    }
    request(std::move(next));
}

bool LayoutStaging::takeComputer(Pending pending, bool is_possible) {
    if (!is_possible && pending.stage.label.isEmpty()) {
        // The map names a card that this computer lacks: fit it there instead.
        Pending again;
        again.purpose = Pending::Purpose::Computer;
        again.stage.request = pending.stage.request;
        again.stage.request.device_map = "fit";
        again.stage.label = tr("Fit");
        request(std::move(again));
        return false;
    }
    history_.reset(std::move(pending.stage));
    Q_EMIT wentOn();
    return true;
}

void LayoutStaging::leaveWhatIf() {
    if (!what_if_.has_value()) {
        return;
    }
    what_if_.reset();
    history_ = real_history_;
    // Steps that are being planned are for the computer that is left.
    std::erase_if(pending_, [](const auto& entry) {
        return entry.second.purpose != Pending::Purpose::Preview;
    });
    waiting_ = 0;
    queue_.clear();
    Q_EMIT wentOn();
    if (history_.isEmpty()) {
        tell(&LayoutStaging::changed);
    } else {
        tellPlan();
    }
}

void LayoutStaging::simulateWhatIf() {
    if (!what_if_.has_value() || history_.isEmpty()) {
        return;
    }
    const engine::LoadRequest looked_at = history_.current().request;
    const QString name = what_if_->name;
    leaveWhatIf();
    std::vector<uint64_t> sizes;
    for (const engine::WhatIfDevice& device : looked_at.what_if) {
        if (device.id.isGpu()) {
            sizes.push_back(device.free);
        }
    }
    simulate(std::move(sizes), withCards(looked_at.device_map, "cuda", "sim"),
             tr("Simulated %1").arg(name));
}

void LayoutStaging::simulate(std::vector<uint64_t> sizes, std::string map, const QString& label) {
    leaveWhatIf();
    if (history_.isEmpty() ||
        !mayStage([this, sizes, map, label] { simulate(sizes, map, label); })) {
        return;
    }
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.device_map = std::move(map);
    next.stage.request.moves.clear();
    next.stage.request.sim_gpus = std::move(sizes);
    next.stage.label = label;
    request(std::move(next));
}

void LayoutStaging::lookAtShape(const QString& shape, const std::optional<GraphicsCard>& card) {
    if (!mayStage([this, shape, card] { lookAtShape(shape, card); })) {
        return;
    }
    WhatIfComputer computer;
    computer.name = QStringLiteral("Gemma 4 ") + shape;
    if (what_if_.has_value()) {
        computer.name =
            tr("%1 on %2").arg(computer.name, what_if_->name.section(QStringLiteral(" on "), -1));
        computer.cards = what_if_->cards;
        computer.ram_gib = what_if_->ram_gib;
    } else {
        computer.cards = {card.value_or(usualCard())};
        computer.name = tr("%1 on %2").arg(computer.name, computer.cards.front().name);
        real_history_ = history_;
    }
    engine::LoadRequest wanted = stagedRequest();
    what_if_ = computer;
    wanted.model = "shape:" + shape.toStdString();
    wanted.adapters.clear();
    wanted.device_map = "fit";
    assume(wanted, computer);
    wanted.quant = wanted.quant.substr(0, wanted.quant.find('+'));
    if (wanted.quant == "none") {
        wanted.quant = "nf4-dq";
    }
    // The one with experts: they are most of it.
    if (shape.contains(QLatin1String("A4B")) && wanted.quant.starts_with("nf4")) {
        wanted.quant += "+experts";
    }
    Pending next;
    next.purpose = Pending::Purpose::Computer;
    next.stage.request = std::move(wanted);
    next.stage.label = computer.name;
    request(std::move(next));
}

} // namespace ui
