// SPDX-License-Identifier: Apache-2.0
// Menus of the layout editor and what they do: splitting and joining, presets, map files, other
// computers, options. Menus pop up and dialogs open() without an event loop of their own.
#include "ui/common/error_words.h"
#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/notice_bar.h"
#include "ui/layout/plan_options_dialog.h"
#include "ui/layout/plan_picture.h"
#include "ui/layout/what_if_dialog.h"
#include "ui/style/format.h"
#include "ui/style/usual_widgets.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QWidgetAction>

#include <algorithm>

namespace ui {

namespace {

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

} // namespace

void LayoutView::split(BlockWidget* widget) {
    const LayoutBlock& block = widget->block();
    if (staging_->history().isEmpty()) {
        return;
    }
    if (isRange(block) && block.last > block.first) {
        widget->setCutMark((block.first + block.last + 1) / 2); // arrows move it, Enter cuts
        return;
    }
    if (isTower(block) && block.has_projector) {
        LayoutStage stage = staging_->history().current();
        stage.cuts.insert(towerCut(block));
        stage.label = tr("Split %1").arg(blockTitle(block));
        staging_->push(std::move(stage));
        return;
    }
    if (block.kind == BlockKind::Embedding && block.is_tied) {
        engine::MapMove head;
        head.module = block.modules.back();
        head.store =
            block.compute == engine::DeviceId::disk() ? engine::DeviceId::cpu() : block.compute;
        head.compute = head.store;
        head.is_tied_copy = true;
        staging_->stageMoves({head}, tr("Head with a table of its own"),
                             staging_->history().current().cuts);
    }
}

void LayoutView::cutBefore(const LayoutBlock& block, int layer) {
    if (staging_->history().isEmpty() || layer <= block.first || layer > block.last) {
        return;
    }
    LayoutStage stage = staging_->history().current();
    stage.cuts.insert(rangeCut(block, layer));
    stage.label = tr("Split layers at %1").arg(layer);
    staging_->push(std::move(stage));
}

void LayoutView::join(BlockWidget* widget) {
    if (staging_->history().isEmpty()) {
        return;
    }
    const LayoutBlock& block = widget->block();
    LayoutStage stage = staging_->history().current();
    switch (block.kind) {
    case BlockKind::Layers:
    case BlockKind::Experts: {
        const auto joined = stage.cuts.erase(rangeCut(block, block.last + 1)) > 0 ||
                            stage.cuts.erase(rangeCut(block, block.first)) > 0;
        if (!joined) {
            is_notice_kept_ = true;
            notice_->showNotice(NoticeBar::Kind::Info,
                                tr("%1 has no neighbouring layers on the same device. Move one to "
                                   "the other first.")
                                    .arg(blockTitle(block)));
            return;
        }
        stage.label = tr("Join layers");
        staging_->push(std::move(stage));
        return;
    }
    case BlockKind::Vision:
    case BlockKind::Audio:
    case BlockKind::VisionProjector:
    case BlockKind::AudioProjector:
        if (stage.cuts.erase(towerCut(block)) > 0) {
            stage.label = tr("Join tower and projector");
            staging_->push(std::move(stage));
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
        staging_->stageMoves({inherit(block.modules.front())},
                             tr("One table for head and embedding"), stage.cuts);
        return;
    case BlockKind::Kv:
        if (block.is_kv_pinned) {
            staging_->stageMoves({inherit("kv")}, tr("KV cache follows the layers"), stage.cuts);
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
    if (staging_->history().isEmpty()) {
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
            staging_->stageMoves(moves, tr("%1 → %2").arg(blockTitle(block), laneName(device)),
                                 staging_->history().current().cuts);
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
                            staging_->stageMoves(visitMoves(block, store, device),
                                                 tr("%1: %2").arg(blockTitle(block), text),
                                                 staging_->history().current().cuts);
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
    const bool can_split =
        (isRange(block) && block.last > block.first) || block.has_projector || block.is_tied;
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
    staging_->stageMap(preset.toStdString(), presetName(preset));
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
    add("experts-cpu", tr("The routed experts of all layers on the CPU, the rest on the GPU"),
        has_gpu && plan->experts > 0);
    add("cpu", tr("Everything on the CPU"), true);
}

QAction* LayoutView::addComputer(QMenu* menu, const WhatIfComputer& computer, const QString& text) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(isWhatIf() && toText(*staging_->whatIf()) == toText(computer));
    connect(action, &QAction::triggered, this, [this, computer] { lookAt(computer); });
    return action;
}

void LayoutView::addListed() {
    auto* holder = new QWidget(what_if_menu_);
    auto* search = new QLineEdit(holder);
    rowIn(holder, {8, 4, 8, 4})->addWidget(search);
    search->setObjectName(QStringLiteral("whatIf.search"));
    search->setPlaceholderText(tr("Search a card"));
    search->setAccessibleName(search->placeholderText());
    search->setClearButtonEnabled(true);
    auto* field = new QWidgetAction(what_if_menu_);
    field->setDefaultWidget(holder);
    what_if_menu_->addAction(field);
    QList<QAction*> groups;
    QList<QAction*> found; // all of them in one list, as far as they are searched for
    for (const CardGroup& group : cardGroups()) {
        QMenu* of_group = what_if_menu_->addMenu(group.name);
        groups.append(of_group->menuAction());
        for (const WhatIfComputer& computer : group.computers) {
            addComputer(of_group, computer, cardWords(computer));
        }
    }
    for (const CardGroup& group : cardGroups()) {
        for (const WhatIfComputer& computer : group.computers) {
            found.append(addComputer(what_if_menu_, computer, cardWords(computer)));
            found.last()->setVisible(false);
        }
    }
    // Typed at once; the arrows go on through the menu, and Enter takes the first that is found.
    QMetaObject::invokeMethod(
        search, [search] { search->setFocus(Qt::PopupFocusReason); }, Qt::QueuedConnection);
    connect(search, &QLineEdit::returnPressed, what_if_menu_, [this, found] {
        const auto first = std::find_if(found.begin(), found.end(),
                                        [](const QAction* one) { return one->isVisible(); });
        if (first != found.end() && what_if_menu_->activeAction() == nullptr) {
            what_if_menu_->close();
            (*first)->trigger();
        }
    });
    connect(search, &QLineEdit::textChanged, what_if_menu_, [groups, found](const QString& text) {
        constexpr int kMostFound = 12;
        int shown = 0;
        for (QAction* action : found) {
            action->setVisible(!text.isEmpty() && shown < kMostFound &&
                               action->text().contains(text.trimmed(), Qt::CaseInsensitive));
            shown += action->isVisible() ? 1 : 0;
        }
        for (QAction* group : groups) {
            group->setVisible(text.isEmpty());
        }
    });
}

void LayoutView::fillWhatIf() {
    what_if_menu_->clear();
    // Menus in it are not the menu's own actions.
    qDeleteAll(what_if_menu_->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
    QAction* draw = what_if_menu_->addAction(tr("Draw what fits …"));
    draw->setObjectName(QStringLiteral("whatIf.draw"));
    connect(draw, &QAction::triggered, this, &LayoutView::drawingRequested);
    QAction* here = what_if_menu_->addAction(tr("This computer"));
    here->setObjectName(QStringLiteral("whatIf.here"));
    here->setCheckable(true);
    here->setChecked(!isWhatIf());
    connect(here, &QAction::triggered, this, &LayoutView::leaveWhatIf);
    if (isWhatIf() && !staging_->whatIf()->cards.empty()) {
        QAction* simulate = what_if_menu_->addAction(tr("Simulate it on this computer"));
        simulate->setObjectName(QStringLiteral("whatIf.simulate"));
        connect(simulate, &QAction::triggered, this, &LayoutView::simulateWhatIf);
    }
    what_if_menu_->addSeparator();
    addListed();
    what_if_menu_->addSeparator();
    for (const WhatIfComputer& computer : ownComputers()) {
        addComputer(what_if_menu_, computer, computer.name);
    }
    QAction* describe = what_if_menu_->addAction(tr("A computer of my own …"));
    describe->setObjectName(QStringLiteral("whatIf.own"));
    connect(describe, &QAction::triggered, this, &LayoutView::describeComputer);
    QMenu* shapes = what_if_menu_->addMenu(tr("A model that is not here"));
    for (const char* shape : {"E2B", "E4B", "26B-A4B", "31B"}) {
        const QString name = QString::fromLatin1(shape);
        QAction* action = shapes->addAction(QStringLiteral("Gemma 4 ") + name);
        action->setObjectName(QStringLiteral("whatIf.model.") + name);
        connect(action, &QAction::triggered, this, [this, name] { staging_->lookAtShape(name); });
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
    QMenu* copy = more_menu_->addMenu(tr("Copy as"));
    add(copy, "more.copyDocument", tr("Belfry map"), [this] { exportMap(Kind::Document, true); });
    add(copy, "more.copyAccelerate", tr("accelerate device_map"),
        [this] { exportMap(Kind::Accelerate, true); });
    add(more_menu_, "more.copyPicture", tr("Copy as picture"), [this] { copyPicture(); });
    add(more_menu_, "more.savePicture", tr("Save picture …"), [this] { savePicture(); });
    more_menu_->addSeparator();
    add(more_menu_, "more.server", tr("Run it on a server …"),
        [this] { Q_EMIT serverLaunchRequested(); });
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
    staging_->stageMap(text.toStdString(), tr("Map %1").arg(QFileInfo(file).fileName()));
}

void LayoutView::showMapFileError(const QString& /*file*/, const engine::Error& error) {
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Error, errorSentence(error));
}

void LayoutView::showSaved(const QString& file) {
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Info, tr("Saved: %1").arg(file));
}

void LayoutView::exportMap(engine::MapExport::Kind kind, bool is_to_clipboard) {
    if (staging_->history().isEmpty()) {
        return;
    }
    const quint64 serial = staging_->takeSerial();
    exports_[serial] = {kind, is_to_clipboard};
    Q_EMIT exportRequested(serial, staging_->history().current().request, kind);
}

void LayoutView::showExport(quint64 serial, const engine::MapExport& text) {
    const auto it = exports_.find(serial);
    if (it == exports_.end()) {
        return;
    }
    const Export wanted = it->second;
    exports_.erase(it);
    QStringList losses;
    for (const engine::Sentence& loss : text.losses) {
        losses << wholeSentence(loss);
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
    auto* dialog = new QFileDialog(this, tr("Save the map"), QString(), tr("Device maps (*.json)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    // Our own document by the name that opens it from a file manager (installer/linux).
    dialog->setDefaultSuffix(wanted.kind == engine::MapExport::Kind::Document
                                 ? QStringLiteral("belfry-map.json")
                                 : QStringLiteral("json"));
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

QImage LayoutView::picture() const {
    const engine::LoadRequest& request = staging_->history().current().request;
    const bool is_shape = staging_->root().has_value() && request.model != staging_->root()->model;
    return planPicture(*stagedPlan(), stagedBlocks(),
                       is_shape ? staging_->whatIf()->name : model_name_,
                       tr("%1 · %2 tokens of context")
                           .arg(quantName(QString::fromStdString(request.quant)),
                                formatCount(stagedPlan()->context)));
}

void LayoutView::copyPicture() {
    if (stagedPlan() == nullptr) {
        return;
    }
    QApplication::clipboard()->setImage(picture());
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Info, tr("Copied as a picture."));
}

void LayoutView::savePicture() {
    if (stagedPlan() == nullptr) {
        return;
    }
    auto* dialog = new QFileDialog(this, tr("Save the picture"), QString(), tr("Pictures (*.png)"));
    dialog->setObjectName(QStringLiteral("savePictureDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, drawn = picture()](const QString& file) {
                Q_EMIT pictureSaveRequested(file, drawn);
            });
    dialog->open();
}

void LayoutView::showExportError(quint64 serial, const engine::Error& error) {
    if (exports_.erase(serial) > 0) {
        showMapFileError({}, error);
    }
}

void LayoutView::openOptions() {
    if (staging_->history().isEmpty()) {
        return;
    }
    std::vector<engine::DeviceId> cards;
    if (const auto plan = staging_->planHere(); plan != nullptr) {
        for (const engine::DevicePlan& device : plan->devices) {
            if (device.id.kind == engine::DeviceId::Kind::Cuda) {
                cards.push_back(device.id);
            }
        }
    }
    auto* dialog = new PlanOptionsDialog(
        stagedRequest(), model_ == nullptr ? 1 << 20 : model_->max_context, cards, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        endHold();
        staging_->stageOptions(dialog->request());
    });
    dialog->open();
}

void LayoutView::lookAt(const WhatIfComputer& computer) {
    endHold();
    staging_->lookAt(computer);
}

void LayoutView::leaveWhatIf() {
    endHold();
    staging_->leaveWhatIf();
}

void LayoutView::simulateWhatIf() {
    endHold();
    staging_->simulateWhatIf();
}

void LayoutView::simulateCard(quint64 bytes) {
    endHold();
    staging_->simulate({bytes}, "fit", tr("Simulated %1").arg(formatBytes(bytes)));
}

void LayoutView::lookAtShape(const QString& shape, const GraphicsCard& card) {
    endHold();
    staging_->leaveWhatIf();
    staging_->lookAtShape(shape, card);
}

void LayoutView::describeComputer() {
    auto* dialog = new WhatIfDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const WhatIfComputer computer = dialog->computer();
        keepComputer(computer);
        lookAt(computer);
    });
    dialog->open();
}

} // namespace ui
