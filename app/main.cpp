// SPDX-License-Identifier: Apache-2.0
// belfry: the window. An optional argument is a model folder to choose at start.
#include "app/engine_worker.h"
#include "app/program_paths.h"
#include "app/wiring.h"

#include <QApplication>
#include <QFont>

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("Belfry"));
    QApplication::setOrganizationName(QStringLiteral("Belfry"));
    QFont font = QApplication::font();
    font.setFamilies(
        {font.family(), QStringLiteral("Noto Sans"), QStringLiteral("Noto Color Emoji")});
    QApplication::setFont(font);
    app::registerEngineTypes();
    const std::string demo = app::demoModelFolder();
    engine::EngineOptions options;
    options.demo_folder = demo;
    app::EngineThread engine_thread(options);
    ui::MainWindow window(!demo.empty());
    app::connectWindow(window, engine_thread);
    window.show();
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() > 1) {
        window.chooseModel(arguments.at(1));
    }
    return QApplication::exec();
}
