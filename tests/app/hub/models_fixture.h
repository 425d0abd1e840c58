// SPDX-License-Identifier: Apache-2.0
// The pages Library and Get a model behind a Program, with a hub, a cache, a token and a queue of
// the test's own. Made after the program, so that it goes before.
#pragma once

#include "app/window/hub_thread.h"
#include "app/window/library_thread.h"
#include "app/window/models_wiring.h"
#include "tests/app/program_fixture.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/hub/hub_standin.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/family_model.h"
#include "ui/library/get_page.h"
#include "ui/library/library_model.h"
#include "ui/library/library_page.h"
#include "ui/library/offer_card.h"

#include <QLabel>
#include <QLineEdit>
#include <QListView>

#include <filesystem>
#include <functional>
#include <string>

#include "models/user_folders.h"

namespace support {

/// The demo model as a repository of a hub: large enough to be seen coming.
inline HubContent demoRepository(const std::string& demo) {
    HubContent content;
    content.id = "belfry/demo-4";
    for (const auto& file : std::filesystem::directory_iterator(demo)) {
        if (file.is_regular_file()) {
            content.files[file.path().filename().string()] = textOf(file.path());
        }
    }
    return content;
}

class Models {
public:
    /// `change`: what is different of the hub's setup.
    Models(
        Program& program,
        const QString& folder,
        const std::string& endpoint,
        const std::function<void(app::HubSetup&)>& change = [](app::HubSetup&) {})
        : program_(program), folder_(folder.toStdString()), library(librarySetup()),
          hub(hubSetup(endpoint, change), engine::EngineOptions()) {
        app::connectLibrary(*program.window, library);
        app::connectHub(*program.window, hub, *program.planner, library);
    }

    ui::LibraryPage& libraryPage() { return *program_.window->modelsPage()->library(); }
    ui::GetPage& getPage() { return *program_.window->modelsPage()->get(); }
    const ui::Downloads& downloads() { return getPage().downloads()->downloads(); }
    [[nodiscard]] std::filesystem::path cache() const { return folder_ / "hf" / "hub"; }
    QLabel* label(const char* name) { return program_.find<QLabel>(name); }

    /// Types an address and presses Enter: the offer is there, or an error.
    bool lookUp(const QString& address) {
        program_.window->showModels(ui::ModelsPage::Page::Get);
        auto* field = program_.find<QLineEdit>("getField");
        field->setText(address);
        QTest::keyClick(field, Qt::Key_Return);
        return QTest::qWaitFor(
            [this] {
                return !label("offerFigures")->isHidden() || !label("offerProblem")->isHidden();
            },
            30000);
    }
    bool waitForDownload(ui::Download::State state) {
        return QTest::qWaitFor(
            [&] { return !downloads().empty() && downloads().front().state == state; }, 60000);
    }

private:
    app::LibrarySetup librarySetup() {
        app::LibrarySetup setup;
        setup.roots = [this] {
            std::vector<models::Root> roots = {{models::Place::HubCache, cache()}};
            const auto folders = models::readFolderList(folder_ / "library-folders");
            for (const std::filesystem::path& one : *folders) {
                roots.push_back({models::Place::UserFolder, one});
            }
            return roots;
        };
        setup.folders_file = folder_ / "library-folders";
        setup.make_assessor = [] {
            return std::make_unique<models::EngineAssessor>(engine::EngineOptions());
        };
        return setup;
    }
    app::HubSetup hubSetup(const std::string& endpoint,
                           const std::function<void(app::HubSetup&)>& change) {
        app::HubSetup setup;
        setup.network = app::qtHttp;
        setup.environment.hf_endpoint = endpoint;
        setup.environment.hf_home = folder_ / "hf";
        setup.limits = shortLimits();
        setup.limits.silence = std::chrono::seconds(20); // a loaded machine is no dead hub
        setup.limits.short_answer = std::chrono::seconds(20);
        setup.make_tokens = [file = folder_ / "own-token"] {
            return models::hub::fileTokenStore(file);
        };
        setup.queue_file = folder_ / "downloads.json";
        change(setup);
        return setup;
    }

    Program& program_;
    std::filesystem::path folder_;

public:
    app::LibraryThread library;
    app::HubThread hub;
};

} // namespace support
