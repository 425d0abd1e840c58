// SPDX-License-Identifier: Apache-2.0
// Menus of the layout editor and what they do: splitting and joining, presets, map files, other
// computers, options. Menus pop up and dialogs open() without an event loop of their own.
#include "ui/common/error_words.h"
#include "ui/layout/export_words.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/notice_bar.h"
#include "ui/layout/plan_options_dialog.h"
#include "ui/style/format.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QToolButton>

#include <algorithm>

namespace ui {

namespace {

const QString kComputersKey = QStringLiteral("layout/computers");
constexpr int kMostComputers = 12;

engine::MapMove inherit(const std::string& module) {
    engine::MapMove move;
    move.kind = engine::MapMove::Kind::Inherit;
    move.module = module;
    return move;
}

bool isTower(const LayoutBlock& block) {
    return block.kind == BlockKind::Vision || block.kind == BlockKind::Audio;
}

QString towerCut(const LayoutBlock& block) {
    return block.kind == BlockKind::Vision || block.kind == BlockKind::VisionProjector
               ? QStringLiteral("vision")
               : QStringLiteral("audio");
}

/// Device names in a map written for one kind of card, for another.
std::string withCards(const std::string& map, const char* from, const char* to) {
    QString text = QString::fromStdString(map);
    text.replace(QStringLiteral("\"%1:").arg(QLatin1String(from)),
                 QStringLiteral("\"%1:").arg(QLatin1String(to)));
    return text.toStdString();
}

} // namespace

void LayoutView::split(BlockWidget* widget) {
    const LayoutBlock& block = widget->block();
    if (history_.isEmpty()) {
        return;
    }
    if (block.kind == BlockKind::Layers && block.last > block.first) {
        widget->setCutMark((block.first + block.last + 1) / 2); // arrows move it, Enter cuts
        return;
    }
    if (isTower(block) && block.has_projector) {
        LayoutStage stage = history_.current();
        stage.cuts.insert(towerCut(block));
        stage.label = tr("Split %1").arg(blockTitle(block));
        pushStage(std::move(stage));
        return;
    }
    if (block.kind == BlockKind::Embedding && block.is_tied) {
        engine::MapMove head;
        head.module = block.modules.back();
        head.store =
            block.compute == engine::DeviceId::disk() ? engine::DeviceId::cpu() : block.compute;
        head.compute = head.store;
        head.is_tied_copy = true;
        stageMoves({head}, tr("Head with a table of its own"), history_.current().cuts);
    }
}

void LayoutView::cutBefore(const LayoutBlock& block, int layer) {
    if (history_.isEmpty() || layer <= block.first || layer > block.last) {
        return;
    }
    LayoutStage stage = history_.current();
    stage.cuts.insert(QStringLiteral("layers:%1").arg(layer));
    stage.label = tr("Split layers at %1").arg(layer);
    pushStage(std::move(stage));
}

void LayoutView::join(BlockWidget* widget) {
    if (history_.isEmpty()) {
        return;
    }
    const LayoutBlock& block = widget->block();
    LayoutStage stage = history_.current();
    switch (block.kind) {
    case BlockKind::Layers: {
        const auto joined = stage.cuts.erase(QStringLiteral("layers:%1").arg(block.last + 1)) > 0 ||
                            stage.cuts.erase(QStringLiteral("layers:%1").arg(block.first)) > 0;
        if (!joined) {
            is_notice_kept_ = true;
            notice_->showNotice(NoticeBar::Kind::Info,
                                tr("%1 has no neighbouring layers on the same device. Move one to "
                                   "the other first.")
                                    .arg(blockTitle(block)));
            return;
        }
        stage.label = tr("Join layers");
        pushStage(std::move(stage));
        return;
    }
    case BlockKind::Vision:
    case BlockKind::Audio:
    case BlockKind::VisionProjector:
    case BlockKind::AudioProjector:
        if (stage.cuts.erase(towerCut(block)) > 0) {
            stage.label = tr("Join tower and projector");
            pushStage(std::move(stage));
        }
        return;
    case BlockKind::Head:
        if (block.is_stored_apart) {
            is_notice_kept_ = true;
            notice_->showNotice(NoticeBar::Kind::Info,
                                tr("This model's head has values of its own: it cannot be one "
                                   "table with the embedding."));
            return;
        }
        stageMoves({inherit(block.modules.front())}, tr("One table for head and embedding"),
                   stage.cuts);
        return;
    case BlockKind::Kv:
        if (block.is_kv_pinned) {
            stageMoves({inherit("kv")}, tr("KV cache follows the layers"), stage.cuts);
        }
        return;
    case BlockKind::Embedding:
    case BlockKind::PerLayerTable:
    case BlockKind::Assistant:
    case BlockKind::Other:
        return;
    }
}

void LayoutView::showBlockMenu(BlockWidget* widget, const QPoint& global) {
    endHold();
    if (history_.isEmpty()) {
        return;
    }
    const LayoutBlock block = widget->block();
    const auto plan = stagedPlan();
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("layoutBlockMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QMenu* move = menu->addMenu(tr("Move to"));
    int number = 1;
    for (const LaneWidget* lane : lanes_) {
        const engine::DeviceId device = lane->device();
        const std::vector<engine::MapMove> moves = movesTo(block, device, *plan);
        QAction* action = move->addAction(tr("&%1  %2").arg(number++).arg(laneName(device)));
        action->setEnabled(!moves.empty() && (block.store != device || block.compute != device));
        connect(action, &QAction::triggered, this, [this, block, moves, device] {
            stageMoves(moves, tr("%1 → %2").arg(blockTitle(block), laneName(device)),
                       history_.current().cuts);
        });
    }
    if (block.kind != BlockKind::Kv && block.kind != BlockKind::Head) {
        // Kept where memory is cheap, computed on a card.
        QMenu* visit = menu->addMenu(isTower(block) ? tr("Visit when used") : tr("Stream from"));
        for (const LaneWidget* lane : lanes_) {
            const engine::DeviceId device = lane->device();
            if (!device.isGpu()) {
                continue;
            }
            for (const engine::DeviceId store :
                 {engine::DeviceId::cpu(), engine::DeviceId::disk()}) {
                const QString text =
                    tr("Keep on %1, compute on %2").arg(laneName(store), laneName(device));
                connect(visit->addAction(text), &QAction::triggered, this,
                        [this, block, store, device, text] {
                            stageMoves(visitMoves(block, store, device),
                                       tr("%1: %2").arg(blockTitle(block), text),
                                       history_.current().cuts);
                        });
            }
        }
        visit->setEnabled(!visit->isEmpty());
    }
    menu->addSeparator();
    const QPointer<BlockWidget> held = widget;
    const auto act = [&](const QString& text, bool is_enabled,
                         void (LayoutView::*what)(BlockWidget*)) {
        QAction* action = menu->addAction(text);
        action->setEnabled(is_enabled);
        connect(action, &QAction::triggered, this, [this, held, what] {
            if (held != nullptr) {
                (this->*what)(held);
            }
        });
    };
    const bool can_split = (block.kind == BlockKind::Layers && block.last > block.first) ||
                           block.has_projector || block.is_tied;
    act(block.is_tied         ? tr("Give the head a table of its own\tS")
        : block.has_projector ? tr("Split off the projector\tS")
                              : tr("Split …\tS"),
        can_split, &LayoutView::split);
    act(block.kind == BlockKind::Kv     ? tr("Follow the layers\tJ")
        : block.kind == BlockKind::Head ? tr("One table with the embedding\tJ")
                                        : tr("Join with neighbour\tJ"),
        (block.kind != BlockKind::Kv || block.is_kv_pinned) && !block.is_stored_apart,
        &LayoutView::join);
    menu->popup(global);
}

void LayoutView::applyPreset(const QString& preset) {
    endHold();
    is_notice_kept_ = false;
    stageMap(preset.toStdString(), presetName(preset));
}

void LayoutView::fillPresets() {
    presets_menu_->clear();
    const auto plan = stagedPlan();
    const bool has_gpu =
        plan != nullptr && std::any_of(plan->devices.begin(), plan->devices.end(),
                                       [](const engine::DevicePlan& d) { return d.id.isGpu(); });
    const auto add = [this](const char* preset, const QString& tip, bool is_enabled) {
        const QString name = QString::fromLatin1(preset);
        QAction* action = presets_menu_->addAction(presetName(name));
        action->setObjectName(QStringLiteral("preset.") + name);
        action->setToolTip(tip);
        action->setEnabled(is_enabled);
        connect(action, &QAction::triggered, this, [this, name] { applyPreset(name); });
    };
    presets_menu_->setToolTipsVisible(true);
    add("fit", tr("The fastest placement that fits"), true);
    presets_menu_->addSeparator();
    add("gpu", tr("Everything on the first GPU"), has_gpu);
    add("towers-cpu", tr("Vision and audio tower on the CPU, the rest on the GPU"), has_gpu);
    add("ple-cpu", tr("The per-layer embedding table on the CPU"), has_gpu);
    add("lean", tr("Towers and per-layer embeddings on the CPU"), has_gpu);
    add("cpu", tr("Everything on the CPU"), true);
}

void LayoutView::fillWhatIf() {
    what_if_menu_->clear();
    QAction* here = what_if_menu_->addAction(tr("This computer"));
    here->setObjectName(QStringLiteral("whatIf.here"));
    here->setCheckable(true);
    here->setChecked(!what_if_.has_value());
    connect(here, &QAction::triggered, this, &LayoutView::leaveWhatIf);
    if (what_if_.has_value() && !what_if_->cards.empty()) {
        QAction* simulate = what_if_menu_->addAction(tr("Simulate it on this computer"));
        simulate->setObjectName(QStringLiteral("whatIf.simulate"));
        connect(simulate, &QAction::triggered, this, &LayoutView::simulateWhatIf);
    }
    what_if_menu_->addSeparator();
    const auto add = [this](QMenu* menu, const WhatIfComputer& computer, const QString& text) {
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setChecked(what_if_.has_value() && toText(*what_if_) == toText(computer));
        connect(action, &QAction::triggered, this, [this, computer] { lookAt(computer); });
    };
    for (const GraphicsCard& card : listedCards()) {
        add(what_if_menu_, computerWith(card),
            card.name.contains(QStringLiteral("GB"))
                ? card.name
                : tr("%1 · %2 GiB").arg(card.name).arg(card.gib));
    }
    what_if_menu_->addSeparator();
    const QStringList own = QSettings().value(kComputersKey).toStringList();
    for (const QString& text : own) {
        const WhatIfComputer computer = computerFromText(text);
        if (!computer.name.isEmpty()) {
            add(what_if_menu_, computer, computer.name);
        }
    }
    QAction* describe = what_if_menu_->addAction(tr("A computer of my own …"));
    describe->setObjectName(QStringLiteral("whatIf.own"));
    connect(describe, &QAction::triggered, this, &LayoutView::describeComputer);
    QMenu* shapes = what_if_menu_->addMenu(tr("A model that is not here"));
    for (const char* shape : {"E2B", "E4B", "26B-A4B", "31B"}) {
        const QString name = QString::fromLatin1(shape);
        QAction* action = shapes->addAction(QStringLiteral("Gemma 4 ") + name);
        action->setObjectName(QStringLiteral("whatIf.model.") + name);
        connect(action, &QAction::triggered, this, [this, name] { lookAtShape(name); });
    }
}

void LayoutView::fillMore() {
    more_menu_->clear();
    const auto add = [this](QMenu* menu, const char* name, const QString& text, auto slot) {
        QAction* action = menu->addAction(text);
        action->setObjectName(QString::fromLatin1(name));
        connect(action, &QAction::triggered, this, slot);
    };
    using Kind = engine::MapExport::Kind;
    add(more_menu_, "more.open", tr("Open a map …"), [this] { openMap(); });
    QMenu* save = more_menu_->addMenu(tr("Save the map as"));
    add(save, "more.document", tr("Belfry map …"), [this] { exportMap(Kind::Document, false); });
    add(save, "more.accelerate", tr("accelerate device_map …"),
        [this] { exportMap(Kind::Accelerate, false); });
    add(save, "more.llamaCpp", tr("llama.cpp options …"),
        [this] { exportMap(Kind::LlamaCpp, false); });
    add(save, "more.python", tr("Python script …"), [this] { exportMap(Kind::Python, false); });
    QMenu* copy = more_menu_->addMenu(tr("Copy as"));
    add(copy, "more.copyPython", tr("Python"), [this] { exportMap(Kind::Python, true); });
    add(copy, "more.copyDocument", tr("Belfry map"), [this] { exportMap(Kind::Document, true); });
    add(copy, "more.copyAccelerate", tr("accelerate device_map"),
        [this] { exportMap(Kind::Accelerate, true); });
    add(copy, "more.copyLlamaCpp", tr("llama.cpp options"),
        [this] { exportMap(Kind::LlamaCpp, true); });
    more_menu_->addSeparator();
    add(more_menu_, "more.options", tr("Simulated GPUs, limits, context …"),
        [this] { openOptions(); });
}

void LayoutView::openMap() {
    auto* dialog = new QFileDialog(this, tr("Open a map"), QString(),
                                   tr("Device maps (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &LayoutView::mapFileChosen);
    dialog->open();
}

void LayoutView::showMapText(const QString& file, const QString& text) {
    stageMap(text.toStdString(), tr("Map %1").arg(QFileInfo(file).fileName()));
}

void LayoutView::showMapFileError(const QString& /*file*/, const engine::Error& error) {
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Error, errorWords(error));
}

void LayoutView::showSaved(const QString& file) {
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Info, tr("Saved: %1").arg(file));
}

void LayoutView::exportMap(engine::MapExport::Kind kind, bool is_to_clipboard) {
    if (history_.isEmpty()) {
        return;
    }
    const quint64 serial = ++serial_;
    exports_[serial] = {kind, is_to_clipboard};
    Q_EMIT exportRequested(serial, history_.current().request, kind);
}

void LayoutView::showExport(quint64 serial, const engine::MapExport& text) {
    const auto it = exports_.find(serial);
    if (it == exports_.end()) {
        return;
    }
    const Export wanted = it->second;
    exports_.erase(it);
    QStringList losses;
    for (const engine::ExportLoss& loss : text.losses) {
        losses << lossWords(loss);
    }
    const QString content = QString::fromStdString(text.text);
    if (wanted.is_to_clipboard) {
        QApplication::clipboard()->setText(content);
        is_notice_kept_ = true;
        notice_->showNotice(losses.isEmpty() ? NoticeBar::Kind::Info : NoticeBar::Kind::Warning,
                            losses.isEmpty() ? tr("Copied.")
                                             : tr("Copied. Some things will be different there:"),
                            losses);
        return;
    }
    const bool is_json = wanted.kind == engine::MapExport::Kind::Document ||
                         wanted.kind == engine::MapExport::Kind::Accelerate;
    const bool is_python = wanted.kind == engine::MapExport::Kind::Python;
    auto* dialog = new QFileDialog(this, tr("Save the map"), QString(),
                                   is_json     ? tr("Device maps (*.json)")
                                   : is_python ? tr("Python (*.py)")
                                               : tr("Text (*.txt)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    // Our own document by the name that opens it from a file manager (installer/linux).
    dialog->setDefaultSuffix(wanted.kind == engine::MapExport::Kind::Document
                                 ? QStringLiteral("belfry-map.json")
                             : is_json   ? QStringLiteral("json")
                             : is_python ? QStringLiteral("py")
                                         : QStringLiteral("txt"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, content, losses](const QString& file) {
        if (!losses.isEmpty()) { // a file that cannot be written is told in its place
            is_notice_kept_ = true;
            notice_->showNotice(NoticeBar::Kind::Warning,
                                tr("Some things will be different there:"), losses);
        }
        Q_EMIT saveRequested(file, content);
    });
    dialog->open();
}

void LayoutView::showExportError(quint64 serial, const engine::Error& error) {
    if (exports_.erase(serial) > 0) {
        showMapFileError({}, error);
    }
}

void LayoutView::openOptions() {
    if (history_.isEmpty()) {
        return;
    }
    const LayoutHistory& real = what_if_.has_value() ? real_history_ : history_;
    std::vector<engine::DeviceId> cards;
    if (!real.isEmpty() && real.current().plan != nullptr) {
        for (const engine::DevicePlan& device : real.current().plan->devices) {
            if (device.id.kind == engine::DeviceId::Kind::Cuda) {
                cards.push_back(device.id);
            }
        }
    }
    auto* dialog = new PlanOptionsDialog(
        stagedRequest(), model_ == nullptr ? 1 << 20 : model_->max_context, cards, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        leaveWhatIf();
        Pending next;
        next.stage.request = dialog->request();
        next.stage.cuts = history_.current().cuts;
        next.stage.label = tr("Options");
        const bool had_gpu = stagedPlan() != nullptr &&
                             std::any_of(stagedPlan()->devices.begin(), stagedPlan()->devices.end(),
                                         [](const auto& d) { return d.id.isGpu(); });
        // A first card is there to be used; without any, a map that names one cannot stand.
        const bool has_sims = !next.stage.request.sim_gpus.empty();
        const std::string& map = next.stage.request.device_map;
        if ((!had_gpu && has_sims) || (map.find("\"sim:") != std::string::npos && !has_sims)) {
            next.stage.request.device_map = "fit";
        }
        request(std::move(next));
    });
    dialog->open();
}

void LayoutView::lookAt(const WhatIfComputer& computer) {
    endHold();
    if (isWaiting()) {
        queue_.emplace_back([this, computer] { lookAt(computer); });
        return;
    }
    if (!what_if_.has_value()) {
        real_history_ = history_;
    }
    engine::LoadRequest wanted = stagedRequest();
    what_if_ = computer;
    const bool has_cards_here = wanted.device_map.find("\"sim:") != std::string::npos ||
                                wanted.device_map.find("\"cuda:") != std::string::npos;
    wanted.device_map = has_cards_here || computer.cards.empty()
                            ? withCards(wanted.device_map, "sim", "cuda")
                            : "fit";
    wanted.what_if = devicesOf(computer);
    wanted.sim_gpus.clear();
    wanted.limits.clear();
    Pending next;
    next.purpose = Pending::Purpose::Computer;
    next.stage.request = std::move(wanted);
    if (!history_.isEmpty()) {
        next.stage.cuts = history_.current().cuts;
    }
    request(std::move(next));
}

void LayoutView::leaveWhatIf() {
    endHold();
    if (!what_if_.has_value()) {
        return;
    }
    what_if_.reset();
    history_ = real_history_;
    is_notice_kept_ = false;
    refresh();
    if (!history_.isEmpty()) {
        Q_EMIT stagedPlanChanged(history_.current().plan);
    }
}

void LayoutView::simulateWhatIf() {
    if (!what_if_.has_value() || history_.isEmpty()) {
        return;
    }
    const engine::LoadRequest looked_at = history_.current().request;
    const QString name = what_if_->name;
    leaveWhatIf();
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.device_map = withCards(looked_at.device_map, "cuda", "sim");
    next.stage.request.sim_gpus.clear();
    for (const engine::WhatIfDevice& device : looked_at.what_if) {
        if (device.id.isGpu()) {
            next.stage.request.sim_gpus.push_back(device.free);
        }
    }
    next.stage.label = tr("Simulated %1").arg(name);
    request(std::move(next));
}

void LayoutView::describeComputer() {
    auto* dialog = new WhatIfDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const WhatIfComputer computer = dialog->computer();
        QSettings settings;
        QStringList own = settings.value(kComputersKey).toStringList();
        const QString text = toText(computer);
        own.removeAll(text);
        own.prepend(text);
        while (own.size() > kMostComputers) {
            own.removeLast();
        }
        settings.setValue(kComputersKey, own);
        lookAt(computer);
    });
    dialog->open();
}

void LayoutView::lookAtShape(const QString& shape) {
    // A model that is not on disk is planned for the computer looked at, or for this one.
    if (isWaiting()) {
        queue_.emplace_back([this, shape] { lookAtShape(shape); });
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
        computer.cards = {listedCards()[2]};
        computer.name = tr("%1 on %2").arg(computer.name, computer.cards.front().name);
        real_history_ = history_;
    }
    engine::LoadRequest wanted = stagedRequest();
    what_if_ = computer;
    wanted.model = "shape:" + shape.toStdString();
    wanted.adapters.clear();
    wanted.device_map = "fit";
    wanted.what_if = devicesOf(computer);
    wanted.sim_gpus.clear();
    wanted.limits.clear();
    if (wanted.quant == "none") {
        wanted.quant = "nf4-dq";
    }
    Pending next;
    next.purpose = Pending::Purpose::Computer;
    next.stage.request = std::move(wanted);
    next.stage.label = computer.name;
    request(std::move(next));
}

} // namespace ui
