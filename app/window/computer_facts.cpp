// SPDX-License-Identifier: Apache-2.0
#include "app/window/computer_facts.h"

#include "app/common/environment.h"
#include "app/common/version.h"
#include "app/store/store_library.h"
#include "engine/base/paths.h"
#include "engine/run/engine.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"

#include <QThreadPool>

namespace app {

namespace {

engine::ComputerQuestion questionOf(const std::shared_ptr<engine::CardInquiry>& inquiry,
                                    const QString& data_folder,
                                    const QString& cache_folder) {
    using Kind = engine::FolderFact::Kind;
    engine::ComputerQuestion question;
    question.program = versionLine();
    question.inquiry = inquiry;
    question.rates_file = cache_folder.toStdString() + "/machine-rates";
    for (const std::filesystem::path& cache : hubCaches()) {
        question.folders.emplace_back(Kind::Models, engine::utf8Of(cache));
    }
    question.folders.emplace_back(Kind::Cache, cache_folder.toStdString());
    question.folders.emplace_back(Kind::Chats, data_folder.toStdString());
    question.libraries.push_back(
        {"Qt", qVersion(), true, reinterpret_cast<const void*>(&qVersion)});
    const StoreLibrary sqlite = storeLibrary();
    question.libraries.push_back({"SQLite", sqlite.version, true, sqlite.symbol});
    return question;
}

} // namespace

void connectComputer(ui::MainWindow& window,
                     const std::shared_ptr<engine::CardInquiry>& inquiry,
                     const QString& data_folder,
                     const QString& cache_folder) {
    ui::MainWindow* target = &window;
    QObject::connect(
        target, &ui::MainWindow::computerRequested, target,
        [target, inquiry, data_folder, cache_folder] {
            QThreadPool::globalInstance()->start([target, inquiry, data_folder, cache_folder] {
                const engine::ComputerFacts facts =
                    engine::examineComputer(questionOf(inquiry, data_folder, cache_folder));
                const std::string home = engine::utf8Of(homeFolder());
                QMetaObject::invokeMethod(target,
                                          [target, sections = engine::computerSections(facts, home),
                                           text = ui::fromUtf8(engine::inEnglish(facts, home))] {
                                              target->showComputer(sections, text);
                                          });
            });
        });
}

} // namespace app
