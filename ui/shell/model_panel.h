// SPDX-License-Identifier: Apache-2.0
// The panel behind the model button: recent folders, what the chosen one holds (or why it cannot be
// used), how it would be loaded and whether that fits, and Load.
#pragma once

#include "engine/api/placement.h"
#include "ui/shell/flyout.h"

#include <memory>

class QComboBox;
class QLabel;
class QLayout;
class QListView;
class QPushButton;
class QVBoxLayout;

namespace ui {

class RecentModels;
class Session;

class ModelPanel : public Flyout {
    Q_OBJECT

public:
    ModelPanel(Session* session, RecentModels* recent, bool has_demo_model, QWidget* window);

public Q_SLOTS:
    /// The plan of what Load would do now; nullptr while it is being made.
    void showPlan(const std::shared_ptr<const engine::PlacementPlan>& plan);

Q_SIGNALS:
    void folderDialogRequested();
    /// The chosen folder is not there any more: where is it now?
    void locateRequested(const QString& folder);

private:
    // Its parts, from the top.
    QLayout* buildSources(bool has_demo_model);
    void buildRecent(QVBoxLayout* column);
    QWidget* buildFacts();
    QWidget* buildOptions();
    QLayout* buildLoad();
    void refresh();
    void refreshOptions();
    void optionsEdited();

    Session* session_;
    RecentModels* recent_;
    std::shared_ptr<const engine::PlacementPlan> plan_;
    bool is_refreshing_ = false;
    QListView* recent_view_ = nullptr;
    QLabel* recent_title_ = nullptr;
    QWidget* inside_ = nullptr;
    QLabel* name_label_ = nullptr;
    QLabel* facts_label_ = nullptr;
    QLabel* beside_label_ = nullptr; ///< Another model is loaded and answers.
    QLabel* problem_label_ = nullptr;
    QWidget* missing_ = nullptr; ///< What to do about a folder that is gone.
    QWidget* options_ = nullptr;
    QComboBox* placement_box_ = nullptr;
    QComboBox* format_box_ = nullptr;
    QComboBox* context_box_ = nullptr;
    QComboBox* gpu_box_ = nullptr;
    QLabel* plan_label_ = nullptr;
    QPushButton* load_button_ = nullptr;
};

} // namespace ui
