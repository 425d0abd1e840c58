// SPDX-License-Identifier: Apache-2.0
// The panel behind the model button: recent folders, what the chosen one holds (or why it cannot be
// used), how it would be loaded and whether that fits, and Load.
#pragma once

#include "engine/api/comparison.h"
#include "engine/api/load_request.h"
#include "engine/api/placement.h"
#include "ui/common/server_state.h"
#include "ui/model/flyout.h"

#include <memory>
#include <string>
#include <vector>

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QFormLayout;
class QGridLayout;
class QLabel;
class QListView;
class QPushButton;
class QVBoxLayout;

namespace ui {

class ProfileMenu;
class RecentModels;
class Session;

class ModelPanel : public Flyout {
    Q_OBJECT

public:
    ModelPanel(Session* session, RecentModels* recent, bool has_demo_model, QWidget* window);

    /// Without a network in this build servers are not offered.
    void setHasServers(bool has_servers);
    /// The layout looks at another computer: Load is for this one, and says so.
    void setBesideWhatIf(bool is_beside);
    [[nodiscard]] ProfileMenu* profileMenu() const { return profiles_; }
    [[nodiscard]] QSize sizeHint() const override;

public Q_SLOTS:
    /// The plan of what Load would do now; nullptr while it is being made.
    void showPlan(const std::shared_ptr<const engine::PlacementPlan>& plan);
    /// The answer to comparisonsRequested(); of another model than the chosen one it is ignored.
    void showComparisons(const QString& model, const std::vector<engine::Comparison>& found);
    /// State of the chosen server.
    void showServerState(const ui::ServerState& state);
    /// The answer to alternativeRequested(); an older one than the last asked for is ignored.
    void showAlternative(quint64 ticket, const std::shared_ptr<const engine::PlacementPlan>& plan);

Q_SIGNALS:
    void folderDialogRequested();
    void fileDialogRequested();
    /// Where is the drafting assistant of the chosen model?
    void assistantDialogRequested();
    void libraryRequested();
    void serverDialogRequested();
    /// The model as commands for a server.
    void serverLaunchRequested();
    /// A plan for comparison: the chosen model in 4 bits, where it is to be loaded as stored.
    void alternativeRequested(quint64 ticket, const engine::LoadRequest& request);
    /// What was measured of the chosen model's precisions?
    void comparisonsRequested(const QString& model);
    /// The chosen folder is not there any more: where is it now?
    void locateRequested(const QString& folder);

private:
    // Its parts, from the top.
    void buildSources(bool has_demo_model);
    void arrangeSources();
    void buildRecent(QVBoxLayout* column);
    QWidget* buildFacts();
    QWidget* buildOptions();
    QFormLayout* buildChoices();
    void buildAssistant(QFormLayout* form);
    QWidget* buildProposal();
    QWidget* buildAssistantProposal();
    /// Verdict and Load, below what scrolls.
    void buildFoot();
    void refresh();
    void refreshOptions();
    void optionsEdited();
    /// The plan was refused by what the system reports as free, and by nothing else.
    [[nodiscard]] bool canLoadAnyway() const;
    void refreshTextOnly();
    void refreshAssistant();
    void useAssistant();
    void refreshLoad();
    /// Asks for the plan in 4 bits, where it could be the better choice.
    [[nodiscard]] bool hasExperts() const;
    /// The option of --quant that the panel proposes.
    [[nodiscard]] std::string fourBits() const;
    void askAlternative();
    void askComparisons();
    void refreshProposal();
    void useFourBits();

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    Session* session_;
    RecentModels* recent_;
    ServerState server_;
    std::shared_ptr<const engine::PlacementPlan> plan_;
    std::shared_ptr<const engine::PlacementPlan> alternative_; ///< In 4 bits.
    quint64 alternative_ticket_ = 0;
    bool is_refreshing_ = false;
    bool is_beside_what_if_ = false;
    QWidget* body_ = nullptr; ///< All above the foot, in an area that scrolls.
    QWidget* foot_ = nullptr;
    QBoxLayout* foot_row_ = nullptr;
    QGridLayout* sources_ = nullptr;
    std::vector<QPushButton*> source_buttons_;
    QListView* recent_view_ = nullptr;
    QLabel* recent_title_ = nullptr;
    QWidget* inside_ = nullptr;
    QPushButton* server_button_ = nullptr;
    QLabel* name_label_ = nullptr;
    QLabel* facts_label_ = nullptr;
    QLabel* beside_label_ = nullptr; ///< Another model is loaded and answers.
    QLabel* problem_label_ = nullptr;
    QWidget* missing_ = nullptr; ///< What to do about a folder that is gone.
    QWidget* options_ = nullptr;
    QComboBox* placement_box_ = nullptr;
    QComboBox* format_box_ = nullptr;
    QLabel* comparisons_label_ = nullptr; ///< What is known of the formats.
    QString compared_model_;              ///< That was asked about last.
    QComboBox* context_box_ = nullptr;
    QComboBox* kv_box_ = nullptr;
    QComboBox* gpu_box_ = nullptr;
    QComboBox* assistant_box_ = nullptr;
    QComboBox* draft_tokens_box_ = nullptr; ///< Only where an assistant is chosen.
    ProfileMenu* profiles_ = nullptr;
    QCheckBox* text_only_ = nullptr;
    QWidget* proposal_ = nullptr; ///< 4 bits, with both figures.
    QLabel* proposal_label_ = nullptr;
    QWidget* assistant_proposal_ = nullptr; ///< One is known and not chosen.
    QLabel* assistant_label_ = nullptr;
    QLabel* plan_label_ = nullptr;
    QPushButton* launch_button_ = nullptr; ///< Where the plan does not fit.
    QPushButton* load_button_ = nullptr;
};

} // namespace ui
