// SPDX-License-Identifier: Apache-2.0
// Stages, plans and what is drawn of them. Holding a block: layout_view_hold.cpp; menus, files and
// other computers: layout_view_actions.cpp.
#include "ui/layout/layout_view.h"

#include "ui/common/error_words.h"
#include "ui/common/issue_words.h"
#include "ui/common/sentence_words.h"
#include "ui/layout/drag_ghost.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/notice_bar.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAccessibleWidget>
#include <QDragEnterEvent>
#include <QLocale>
#include <QMimeData>
#include <QPushButton>
#include <QShortcut>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

QAccessibleInterface* accessibleFor(const QString& /*class_name*/, QObject* object) {
    if (auto* block = qobject_cast<BlockWidget*>(object); block != nullptr) {
        return new QAccessibleWidget(block, QAccessible::Button);
    }
    if (auto* lane = qobject_cast<LaneWidget*>(object); lane != nullptr) {
        return new QAccessibleWidget(lane, QAccessible::Grouping);
    }
    return nullptr;
}

} // namespace

LayoutView::LayoutView(QWidget* parent) : QWidget(parent), staging_(new LayoutStaging(this)) {
    QAccessible::installFactory(accessibleFor); // a second installation of the same one is ignored
    setObjectName(QStringLiteral("layoutView"));
    setAcceptDrops(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    buildBars(layout);
    connectStaging();
    ghost_ = new DragGhost(this);
    price_ = new PriceCard(this);
    // Named, so that the window can give them the user's own keys.
    const auto shortcut = [this](const char* name, const QList<QKeySequence>& keys, auto slot) {
        auto* s = new QShortcut(this);
        s->setKeys(keys);
        s->setObjectName(QStringLiteral("shortcut_") + QString::fromLatin1(name));
        s->setContext(Qt::WidgetWithChildrenShortcut);
        connect(s, &QShortcut::activated, this, slot);
        return s;
    };
    undo_keys_ = shortcut("undoLayout", {Qt::CTRL | Qt::Key_Z}, &LayoutView::undo);
    shortcut("redoLayout", {Qt::CTRL | Qt::SHIFT | Qt::Key_Z, Qt::CTRL | Qt::Key_Y},
             &LayoutView::redo);
    shortcut("applyLayout", {Qt::CTRL | Qt::Key_Return}, &LayoutView::apply);
    refresh();
}

LayoutView::~LayoutView() {
    // Blocks lose the focus after this is gone.
    for (const auto& [id, widget] : blocks_) {
        if (widget != nullptr) {
            widget->disconnect(this);
        }
    }
}

void LayoutView::connectStaging() {
    using Staging = LayoutStaging;
    connect(staging_, &Staging::changed, this, &LayoutView::refresh);
    connect(staging_, &Staging::stateChanged, this, &LayoutView::refreshBars);
    connect(staging_, &Staging::wentOn, this, [this] { is_notice_kept_ = false; });
    connect(staging_, &Staging::adaptersChanged, this, [this] {
        if (std::exchange(is_adapter_notice_, false)) {
            is_notice_kept_ = false;
            showIssues();
        }
    });
    connect(staging_, &Staging::previewed, this,
            [this](engine::DeviceId lane, const LayoutStage& stage, const QString& error) {
                showOutcome(lane, {stage, error});
            });
    connect(staging_, &Staging::previewFailed, this,
            [this](engine::DeviceId lane, const engine::Error& error) {
                showOutcome(lane, {{}, errorSentence(error)});
            });
    connect(staging_, &Staging::refused, this,
            [this](const QString& label, const auto& plan) { showRefusal(label, *plan); });
    connect(staging_, &Staging::failed, this, &LayoutView::showFailure);
    connect(staging_, &Staging::stagedPlanChanged, this, &LayoutView::stagedPlanChanged);
    connect(staging_, &Staging::waitingChangesChanged, this, &LayoutView::waitingChangesChanged);
    connect(staging_, &Staging::planRequested, this, &LayoutView::planRequested);
    connect(staging_, &Staging::plansForgotten, this, &LayoutView::plansForgotten);
    connect(staging_, &Staging::applyRequested, this, &LayoutView::applyRequested);
}

engine::LoadRequest LayoutView::stagedRequest() const {
    return staging_->stagedRequest();
}

std::shared_ptr<const engine::PlacementPlan> LayoutView::stagedPlan() const {
    return staging_->stagedPlan();
}

bool LayoutView::hasChanges() const {
    return staging_->hasChanges();
}

BlockWidget* LayoutView::blockWidget(const QString& id) const {
    const auto it = blocks_.find(id);
    return it == blocks_.end() ? nullptr : it->second.data();
}

LaneWidget* LayoutView::lane(engine::DeviceId device) const {
    for (LaneWidget* lane : lanes_) {
        if (lane->device() == device) {
            return lane;
        }
    }
    return nullptr;
}

void LayoutView::setModel(const std::shared_ptr<const engine::ModelSummary>& model,
                          const QString& name) {
    model_name_ = name;
    if (model_ == model) {
        return;
    }
    model_ = model;
    if (model_ == nullptr) {
        staging_->clear();
    } else {
        refresh();
    }
}

void LayoutView::setRequest(const engine::LoadRequest& request) {
    endHold();
    staging_->setRequest(request);
}

void LayoutView::showPlan(quint64 serial,
                          const std::shared_ptr<const engine::PlacementPlan>& plan) {
    staging_->showPlan(serial, plan);
}

void LayoutView::showPlanError(quint64 serial, const engine::Error& error) {
    staging_->showPlanError(serial, error);
}

void LayoutView::showRefusal(const QString& label, const engine::PlacementPlan& plan) {
    QStringList details;
    for (const engine::PlanIssue& issue : plan.errors) {
        QString line = issueWords(issue);
        if (issue.line > 0) {
            line = tr("Line %1, column %2: %3").arg(issue.line).arg(issue.column).arg(line);
        }
        for (const engine::Suggestion& suggestion : issue.suggestions) {
            line += QStringLiteral(" ") + sentenceWords(suggestion.words);
        }
        details << line;
    }
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Error,
                        tr("%1: not possible. %2").arg(label, details.front()),
                        details.size() > 1 ? details : QStringList());
}

void LayoutView::showFailure(const QString& label,
                             const engine::Error& error,
                             bool is_about_adapters) {
    const QString message = errorWords(error);
    is_notice_kept_ = true;
    is_adapter_notice_ = is_about_adapters;
    if (is_about_adapters) {
        // Adapters came or went: the stage's label tells of an earlier step.
        notice_->showNotice(NoticeBar::Kind::Error,
                            tr("The adapter does not fit this model; this plan is without it."),
                            {message});
        return;
    }
    notice_->showNotice(NoticeBar::Kind::Error, label.isEmpty() ? tr("No plan: %1").arg(message)
                                                                : tr("%1: %2").arg(label, message));
}

void LayoutView::setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan,
                            const std::string& model) {
    staging_->setApplied(plan, model);
}

void LayoutView::setLoadedModel(const std::string& model) {
    staging_->setLoadedModel(model);
}

void LayoutView::setBusy(Busy busy) {
    staging_->setBusy(busy);
}

void LayoutView::showApplyError(const engine::Error& error) {
    if (!staging_->endApply()) {
        return; // a load that was not asked for here
    }
    QStringList details;
    if (error.cause == nullptr) { // else the message has it all
        for (const auto& [key, value] : error.details) {
            details << QStringLiteral("%1: %2").arg(QString::fromStdString(key),
                                                    QString::fromStdString(value));
        }
    }
    const QString message = errorWords(error);
    const QString kept = staging_->applied() == nullptr
                             ? tr("Nothing was loaded.")
                             : tr("What was loaded before is in place again; your change is still "
                                  "staged.");
    is_notice_kept_ = true;
    notice_->showNotice(
        NoticeBar::Kind::Error,
        error.code == engine::ErrorCode::Cancelled
            ? tr("Stopped. %1").arg(kept)
            : tr("It could not be applied: %1. %2")
                  .arg(message.endsWith(QLatin1Char('.')) ? message.chopped(1) : message, kept),
        details,
        error.code == engine::ErrorCode::OutOfMemory ? tr("Replan everything") : QString());
    notice_action_ = NoticeAction::Replan;
    refreshBars();
}

void LayoutView::undo() {
    endHold();
    staging_->undo();
}

void LayoutView::redo() {
    endHold();
    staging_->redo();
}

void LayoutView::revert() {
    endHold();
    staging_->revert();
}

void LayoutView::apply() {
    endHold();
    staging_->apply();
}

void LayoutView::refresh() {
    endHold();
    refreshLanes();
    refreshBars();
    showIssues();
}

void LayoutView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    notice_->fitDetails();
    fitBars();
    fitNoGpu();
    fitSentence();
    rescale();
}

void LayoutView::keyPressEvent(QKeyEvent* event) {
    // A held block has used Esc before it comes here; nothing else of ours does.
    if (event->key() == Qt::Key_Escape && notice_->closeDetails()) {
        return;
    }
    QWidget::keyPressEvent(event);
}

void LayoutView::hideEvent(QHideEvent* event) {
    endHold();
    QWidget::hideEvent(event);
}

void LayoutView::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (stagedPlan() != nullptr && urls.size() == 1 && urls.front().isLocalFile() &&
        urls.front().path().endsWith(QStringLiteral(".json"), Qt::CaseInsensitive)) {
        event->acceptProposedAction();
    }
}

void LayoutView::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    Q_EMIT mapFileChosen(event->mimeData()->urls().front().toLocalFile());
}

} // namespace ui
