// SPDX-License-Identifier: Apache-2.0
// The layout editor: a lane per device, a block per part, moves by mouse and keyboard with the
// price while a block is held, staged changes with Apply, Revert, Undo and Redo, presets, map
// files, other computers. It decides nothing: every change leaves as planRequested() and is shown
// when its plan comes back.
#pragma once

#include "engine/api/error.h"
#include "engine/api/load_request.h"
#include "engine/api/map_export.h"
#include "engine/api/model_summary.h"
#include "ui/layout/layout_blocks.h"
#include "ui/layout/layout_price.h"
#include "ui/layout/layout_staging.h"

#include <QPointer>
#include <QWidget>

#include <map>
#include <memory>
#include <optional>
#include <vector>

class QBoxLayout;
class QHBoxLayout;
class QImage;
class QKeyEvent;
class QLabel;
class QLayout;
class QMenu;
class QPushButton;
class QScrollArea;
class QShortcut;
class QStackedLayout;
class QToolButton;
class QVBoxLayout;

namespace ui {

class BlockWidget;
class DragGhost;
class LaneWidget;
class NoticeBar;
class PriceCard;

class LayoutView : public QWidget {
    Q_OBJECT

public:
    using Busy = LayoutStaging::Busy;

    explicit LayoutView(QWidget* parent = nullptr);
    ~LayoutView() override;

    /// What Apply would ask for; device_map is a document. While looking at another computer: what
    /// was staged for this one.
    [[nodiscard]] engine::LoadRequest stagedRequest() const;
    /// The plan shown; null before the first one.
    [[nodiscard]] std::shared_ptr<const engine::PlacementPlan> stagedPlan() const;
    /// The plan made last for this computer, also while another one is looked at.
    [[nodiscard]] std::shared_ptr<const engine::PlacementPlan> planHere() const {
        return staging_->planHere();
    }
    [[nodiscard]] bool hasChanges() const;
    [[nodiscard]] bool isWhatIf() const { return staging_->whatIf().has_value(); }
    [[nodiscard]] bool isHolding() const { return hold_.has_value(); }
    /// What dropping the held block where it is would come to; null: no block is held, or its price
    /// is not known yet.
    [[nodiscard]] const std::shared_ptr<const engine::PlacementPlan>& heldPlan() const {
        return held_plan_;
    }
    /// Blocks as shown; `id` as in LayoutBlock. Null when there is none.
    [[nodiscard]] BlockWidget* blockWidget(const QString& id) const;
    [[nodiscard]] LaneWidget* lane(engine::DeviceId device) const;

public Q_SLOTS:
    /// Null: no model is chosen. `name` is what it is called on a picture of the layout.
    void setModel(const std::shared_ptr<const engine::ModelSummary>& model,
                  const QString& name = {});
    /// The options to plan with. The same model with the same device_map as before keeps what is
    /// staged and plans it anew; anything else starts over.
    void setRequest(const engine::LoadRequest& request);
    void showPlan(quint64 serial, const std::shared_ptr<const engine::PlacementPlan>& plan);
    void showPlanError(quint64 serial, const engine::Error& error);
    /// The plan of what is loaded; null: nothing is. The same pointer again costs nothing. `model`
    /// is whose: another one may be chosen and shown. Empty: the one that is shown.
    void setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan,
                    const std::string& model = {});
    /// Whose plan it is after all: a load that failed brings the former model back.
    void setLoadedModel(const std::string& model);
    /// A load or move runs: Apply waits. A reply runs: Apply can be asked for and follows it.
    void setBusy(ui::LayoutView::Busy busy);

    void showApplyError(const engine::Error& error);
    void showExport(quint64 serial, const engine::MapExport& text);
    void showExportError(quint64 serial, const engine::Error& error);
    void showMapText(const QString& file, const QString& text);
    void showMapFileError(const QString& file, const engine::Error& error);
    void showSaved(const QString& file);

    void undo();
    void redo();
    void revert();
    void apply();
    void applyPreset(const QString& preset);
    void lookAt(const ui::WhatIfComputer& computer);
    void leaveWhatIf();
    /// "Simulate it": stages simulated GPUs of the sizes looked at.
    void simulateWhatIf();
    /// Stages one simulated GPU of this size, as full as it can be.
    void simulateCard(quint64 bytes);
    /// A published model that is not here, on a card.
    void lookAtShape(const QString& shape, const ui::GraphicsCard& card);

Q_SIGNALS:
    /// Changes of what is loaded that are staged and not applied; 0: none.
    void waitingChangesChanged(int count);
    void planRequested(quint64 serial, const engine::LoadRequest& request);
    /// Plans with smaller serials are not waited for any more.
    void plansForgotten(quint64 serial);
    void applyRequested(const engine::LoadRequest& request);
    void stagedPlanChanged(const std::shared_ptr<const engine::PlacementPlan>& plan);
    /// heldPlan() is another one.
    void heldPlanChanged();
    void exportRequested(quint64 serial,
                         const engine::LoadRequest& request,
                         engine::MapExport::Kind kind);
    /// The page that draws what fits.
    void drawingRequested();
    /// How this model is run on a server, in commands.
    void serverLaunchRequested();
    void mapFileChosen(const QString& file);
    void saveRequested(const QString& file, const QString& text);
    void pictureSaveRequested(const QString& file, const QImage& picture);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    struct LaneOutcome {
        LayoutStage stage;
        QString error; ///< Why it cannot be; empty when it can.
    };
    struct Hold {
        LayoutBlock block;
        bool is_by_key = false;
        std::optional<engine::DeviceId> target;
        std::map<engine::DeviceId, LaneOutcome> outcomes;
        bool is_drop_waiting = false; ///< Dropped before the price was known.
    };
    struct Export {
        engine::MapExport::Kind kind = engine::MapExport::Kind::Document;
        bool is_to_clipboard = false;
    };

    // layout_view.cpp
    void buildBars(QVBoxLayout* layout);
    QLayout* buildTools();
    QWidget* buildPages();
    void buildNoGpu();
    QWidget* buildFooter();
    void connectStaging();
    /// Why the map of a step cannot be, as its message.
    void showRefusal(const QString& label, const engine::PlacementPlan& plan);
    void showFailure(const QString& label, const engine::Error& error, bool is_about_adapters);
    void refresh();
    /// The blocks of what is staged.
    [[nodiscard]] std::vector<LayoutBlock> stagedBlocks() const;
    void refreshLanes();
    void refreshBars();
    /// Elides what may be elided and stacks the footer where its width asks for it.
    void fitBars();
    void refreshApply();
    [[nodiscard]] QString applyText() const;
    [[nodiscard]] QString applyTip() const;
    void showIssues();
    /// A plan that does not fit, with its first repair.
    void showShortage(const engine::PlacementPlan& plan, const QStringList& details);
    void runNoticeAction();
    void rescale();
    void fitNoGpu();
    void fitSentence();
    /// About the block under the pointer, or else the one with the focus.
    void showSentence();
    void connectBlock(BlockWidget* widget);
    void focusBlock(BlockWidget* widget);

    // layout_view_hold.cpp
    void pickUp(BlockWidget* widget, bool is_by_key, const QPoint& global);
    void holdAt(const QPoint& global);
    /// The plan of a lane came while a block is held.
    void showOutcome(engine::DeviceId lane, LaneOutcome outcome);
    void setTarget(std::optional<engine::DeviceId> target);
    void showHold();
    void setHeldPlan(std::shared_ptr<const engine::PlacementPlan> plan);
    void drop();
    /// The ghost of a block that was let go settles on the block that it became.
    void land(const LayoutBlock& dropped, engine::DeviceId lane);
    void endHold();
    void stepTarget(int direction);
    /// True where the block held is now.
    [[nodiscard]] bool isHome(engine::DeviceId device) const;
    /// What the keys do to a block that was just taken up.
    void showKeys();
    void handleKey(BlockWidget* widget, QKeyEvent* event);
    void goTo(BlockWidget* from, int key);
    bool handleCutKey(BlockWidget* widget, int key);

    // layout_view_actions.cpp
    void split(BlockWidget* widget);
    void cutBefore(const LayoutBlock& block, int layer);
    void join(BlockWidget* widget);
    void showBlockMenu(BlockWidget* widget, const QPoint& global);
    void fillPresets();
    void fillWhatIf();
    QAction* addComputer(QMenu* menu, const WhatIfComputer& computer, const QString& text);
    /// The listed computers in groups, and what finds one by a part of its name.
    void addListed();
    void fillMore();
    void openMap();
    void exportMap(engine::MapExport::Kind kind, bool is_to_clipboard);
    void openOptions();
    void describeComputer();
    /// The plan as a picture to show around.
    [[nodiscard]] QImage picture() const;
    void copyPicture();
    void savePicture();

    std::shared_ptr<const engine::ModelSummary> model_;
    QString model_name_;
    LayoutStaging* const staging_;
    std::optional<engine::Repair> repair_; ///< What the message's first button does.
    enum class NoticeAction { None = 1, Repair, Replan, FourBits };
    NoticeAction notice_action_ = NoticeAction::None;
    bool is_adapter_notice_ = false; ///< The message is about an adapter that does not fit.
    bool is_notice_kept_ = false;    ///< A message that is not about the staged plan.
    QString told_, dismissed_; ///< About the staged plan, short of errors: shown, last dismissed.

    std::map<quint64, Export> exports_;
    std::optional<Hold> hold_;
    std::shared_ptr<const engine::PlacementPlan> held_plan_;

    QStackedLayout* pages_ = nullptr;
    QShortcut* undo_keys_ = nullptr;
    QToolButton *undo_ = nullptr, *redo_ = nullptr, *presets_ = nullptr, *what_if_button_ = nullptr,
                *more_ = nullptr;
    QMenu *presets_menu_ = nullptr, *what_if_menu_ = nullptr, *more_menu_ = nullptr;
    QScrollArea* lane_scroll_ = nullptr;
    QWidget* lane_area_ = nullptr;
    QHBoxLayout* lane_layout_ = nullptr;
    bool lacks_gpu_ = false; ///< No card takes part in what is shown.
    QWidget* no_gpu_ = nullptr;
    QLabel* no_gpu_why_ = nullptr;
    QLabel* sentence_ = nullptr; ///< Below the lanes.
    NoticeBar* notice_ = nullptr;
    QLabel* summary_ = nullptr;
    QBoxLayout* footer_row_ = nullptr;
    QString what_if_text_; ///< As long as it is; the button may show less.
    QPushButton *revert_ = nullptr, *apply_ = nullptr;
    DragGhost* ghost_ = nullptr;
    PriceCard* price_ = nullptr;
    std::vector<LaneWidget*> lanes_;
    std::map<QString, QPointer<BlockWidget>> blocks_;
};

} // namespace ui
