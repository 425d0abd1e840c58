// SPDX-License-Identifier: Apache-2.0
// The first screen: drop or choose a model folder, the demo one click away, recent models, and a
// line on what Belfry is for. Shown while no model is chosen and the chat is empty.
#pragma once

#include "engine/api/snapshot.h"

#include <QWidget>

#include <vector>

class QListView;
class QLabel;
class QPushButton;

namespace ui {

class RecentModels;

class WelcomePage : public QWidget {
    Q_OBJECT

public:
    WelcomePage(RecentModels* recent, bool has_demo_model, QWidget* parent = nullptr);

    /// What this computer has, in one line.
    void showMemory(const std::vector<engine::DeviceMemory>& memory);

    /// Without a network in this build servers are not offered.
    void setHasServers(bool has_servers);

Q_SIGNALS:
    void folderDialogRequested();
    void demoRequested();
    void getRequested();
    void libraryRequested();
    void serverDialogRequested();
    void folderChosen(const QString& folder);

private:
    void refresh();

    RecentModels* recent_;
    QPushButton* server_button_;
    QLabel* computer_;
    QLabel* recent_title_;
    QListView* recent_view_;
};

} // namespace ui
