// SPDX-License-Identifier: Apache-2.0
#include "app/program.h"

#include "app/common/environment.h"
#include "app/common/library_roots.h"
#include "app/common/pasted_path.h"
#include "app/common/program_paths.h"
#include "app/common/version.h"
#include "app/engines/engine_worker.h"
#include "app/engines/process_engines.h"
#include "app/network/keyring.h"
#include "app/network/network_switch.h"
#include "app/network/qt_http.h"
#include "app/network/qt_proxy.h"
#include "app/start/end_signals.h"
#include "app/start/log_bridge.h"
#include "app/start/single_instance.h"
#include "app/start/startup_facts.h"
#include "app/start/translations.h"
#include "app/window/card_watch.h"
#include "app/window/computer_facts.h"
#include "app/window/hub_thread.h"
#include "app/window/library_thread.h"
#include "app/window/models_wiring.h"
#include "app/window/planner_thread.h"
#include "app/window/server_link.h"
#include "app/window/server_watch.h"
#include "app/window/serving.h"
#include "app/window/settings_store.h"
#include "app/window/wiring.h"
#include "engine/base/paths.h"
#include "ui/model/session.h"
#include "ui/style/motion.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QMessageBox>
#include <QProcess>
#include <QStandardPaths>
#include <QThreadPool>
#include <QTimer>

#include <cstdio>
#include <memory>
#include <string_view>

#include "models/assess.h"

namespace app {

namespace {

/// A program that ends may have a model to unload first.
constexpr int kPatienceMs = 15'000;

/// What the program was started with, as another process would have to be told it.
QString startArgument(const QStringList& arguments) {
    QString argument = arguments.value(1);
    const bool is_name = argument.isEmpty() || argument == QStringLiteral("demo") ||
                         argument.startsWith(QStringLiteral("shape:"));
    if (is_name) {
        return argument;
    }
    const std::string path = pastedPath(argument.toStdString());
    return QDir::cleanPath(QDir::current().absoluteFilePath(QString::fromStdString(path)));
}

/// The exit code of a start that found another one which does not answer.
int tellSilence(qint64 process) {
    const QString what = QCoreApplication::translate(
        "app::Program", "Belfry is running already, but its window does not answer.");
    const QString next =
        process > 0
            ? QCoreApplication::translate(
                  "app::Program", "Wait until it does, or end the process %1 and start again.")
                  .arg(process)
            : QCoreApplication::translate("app::Program",
                                          "Wait until it does, or end it and start again.");
    std::fprintf(stderr, "%s %s\n", qPrintable(what), qPrintable(next));
    QMessageBox box(QMessageBox::Warning, QStringLiteral("Belfry"), what);
    box.setInformativeText(next);
    box.open();
    QApplication::exec();
    return 1;
}

void bringToFront(QWidget& window, const QByteArray& token) {
    if (!token.isEmpty()) {
        qputenv("XDG_ACTIVATION_TOKEN", token); // Wayland lets nobody to the front without one
    }
    window.setWindowState(window.windowState() & ~Qt::WindowMinimized);
    window.show();
    window.raise();
    window.activateWindow();
    QApplication::alert(&window); // where the desktop only lets its user do that
}

/// What is known without looking: the rest comes from readStartupFacts().
ui::SystemFacts programFacts(const QString& data_folder, const QString& cache_folder) {
    ui::SystemFacts facts;
    facts.version = QString::fromStdString(version());
    facts.commit = QString::fromStdString(commit());
    facts.qt_version = QString::fromLatin1(qVersion());
    facts.data_folder = data_folder;
    facts.cache_folder = cache_folder;
    return facts;
}

LibrarySetup librarySetup(const engine::EngineOptions& options) {
    LibrarySetup setup;
    setup.roots = [] { return libraryRoots(); };
    setup.folders_file = libraryFoldersFile();
    setup.make_assessor = [options] { return std::make_unique<models::EngineAssessor>(options); };
    return setup;
}

HubSetup hubSetup(const QString& data_folder) {
    HubSetup setup;
    setup.environment = hubEnvironment();
    setup.queue_file = engine::pathFromUtf8(data_folder.toStdString()) / "downloads.json";
    setup.models_folder = engine::pathFromUtf8(data_folder.toStdString()) / "models";
    setup.user_agent = "belfry/" + version();
#ifdef BELFRY_HAS_NETWORK
    setup.network = qtHttp;
    setup.banned_by = networkBanName;
    setup.make_tokens = tokenStore;
    setup.set_forbidden = setNetworkForbidden;
    setup.set_proxy = useProxy;
#endif
    return setup;
}

/// Empty where this build has none: servers are not offered then.
models::hub::HttpClientFactory network() {
#ifdef BELFRY_HAS_NETWORK
    return serverHttp(networkBanName);
#else
    return {};
#endif
}

std::shared_ptr<ServerBook> serverBook(const QString& data_folder, const SettingsStore& settings) {
    ServerBook::MakeKeyring make_keyring;
#ifdef BELFRY_HAS_NETWORK
    make_keyring = serverKeyring;
#endif
    return std::make_shared<ServerBook>(
        data_folder + QStringLiteral("/keys"), settings.readServers(), std::move(make_keyring),
        [&settings](const ServerNotes& notes) { settings.writeServers(notes); });
}

/// The program was started once more: this window answers.
void followStarts(SingleInstance& instance, ui::MainWindow& window) {
    QObject::connect(&instance, &SingleInstance::started, &window,
                     [&window](const QString& wanted, const QByteArray& given) {
                         qCInfo(logApp) << "started once more: this window comes to the front";
                         bringToFront(window, given);
                         if (!wanted.isEmpty()) {
                             window.openPath(wanted);
                         }
                     });
}

QString wordOf(std::string_view word) {
    return QString::fromLatin1(word.data(), static_cast<qsizetype>(word.size()));
}

/// Whether the engine gets a process of its own where there is a card; what says so is taken out.
bool takeProcessWords(QStringList& arguments) {
    const bool is_wanted = arguments.removeAll(wordOf(kEngineProcess)) > 0;
    return arguments.removeAll(wordOf(kInProcess)) == 0 && (is_wanted || kIsProcessUsual);
}

EngineFactory enginesOf(const engine::EngineOptions& options, bool has_process) {
    if (!has_process) {
        return {options};
    }
    return processEngines(options, [](const std::string& line) {
        qCInfo(logEngine).noquote() << QString::fromStdString(line);
    });
}

/// This program once more, as it was started.
QStringList restartWords(bool has_process) {
    // Out of an AppImage the file inside is gone as soon as this process is.
    const QString image = qEnvironmentVariable("APPIMAGE");
    return {image.isEmpty() ? QApplication::applicationFilePath() : image,
            wordOf(has_process ? kEngineProcess : kInProcess)};
}

/// The question runs beside the rest of the start.
std::shared_ptr<engine::CardInquiry> beginInquiry() {
    engine::CardInquiryOptions options;
    options.words = {ownProgram(), std::string(engine::kTellCards)};
    options.limit = cardLimit();
    options.library_path = libraryPath();
    auto inquiry = std::make_shared<engine::CardInquiry>(std::move(options));
    inquiry->begin();
    return inquiry;
}

/// On another thread, which must end before the window.
void readFacts(ui::MainWindow& window,
               const std::string& demo,
               const QString& data_folder,
               const QString& cache_folder) {
    QThreadPool::globalInstance()->start([demo, data_folder, cache_folder, &window] {
        auto facts = readStartupFacts(demo, data_folder, cache_folder);
        QMetaObject::invokeMethod(&window, [&window, facts = std::move(facts)] {
            window.setFacts(facts.system);
            window.setSamples(facts.samples, facts.thumbnails);
        });
    });
}

/// The program until its window closes. `restart`: the program to start then and its words, empty
/// for none.
int run(int argc, char** argv, const ProgramSeams& seams, QStringList& restart) {
    QElapsedTimer since_start;
    since_start.start();
    const QByteArray token = qgetenv("XDG_ACTIVATION_TOKEN"); // Qt takes it for a window of ours
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("Belfry"));
    QApplication::setOrganizationName(QStringLiteral("Belfry"));
    QApplication::setApplicationVersion(QString::fromStdString(version()));
    // By this name a Wayland desktop finds the icon (installer/linux).
    QGuiApplication::setDesktopFileName(QStringLiteral("org.belfry.Belfry"));
    const QString data_folder =
        QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
    const QString cache_folder = QStandardPaths::writableLocation(QStandardPaths::CacheLocation);
    const SettingsStore settings_store;
    ui::WindowSetup setup;
    setup.settings = settings_store.read();
    setup.settings.uses_network = networkBan() != NetworkBan::Setting;
    installTranslations(application, setup.settings.language);
    ui::setThemeChoice(setup.settings.theme);
    ui::setTextZoom(setup.settings.text_zoom);
    ui::setMotion(!setup.settings.reduces_motion);
    ui::applyTheme(application);
    registerEngineTypes();
    registerStoreTypes();

    QStringList arguments = QApplication::arguments();
    const bool has_process = takeProcessWords(arguments);
    const QString argument = startArgument(arguments);
    SingleInstance instance(data_folder);
    const SingleInstance::Outcome outcome = instance.claim(argument, token, kPatienceMs);
    if (outcome == SingleInstance::Outcome::HandedOver) {
        return 0;
    }
    if (outcome == SingleInstance::Outcome::Silent) {
        return tellSilence(instance.holder());
    }
    ui::LogBuffer log;
    // Without the lock the file is another program's.
    const LogBridge bridge(&log, outcome == SingleInstance::Outcome::First
                                     ? data_folder + QStringLiteral("/belfry.log")
                                     : QString());
    const std::string demo = demoModelFolder();
    engine::EngineOptions options;
    options.demo_folder = demo;
    options.rates_file = cache_folder.toStdString() + "/machine-rates";
    options.hub_caches = hubCaches();
    options.gpus = seams.engine_cards;
    if (seams.engine_cards == nullptr) {
        options.inquiry = beginInquiry();
    }
    engine::EngineOptions planner_options = options;
    planner_options.gpus = seams.planner_cards;
    setup.has_demo_model = !demo.empty();
    const QString demo_adapter = QString::fromStdString(demo) + QStringLiteral("/adapter");
    if (setup.has_demo_model && QFileInfo::exists(demo_adapter)) {
        setup.demo_adapter = demo_adapter;
    }
    setup.log = &log;
    setup.facts = programFacts(data_folder, cache_folder);
    const auto servers = serverBook(data_folder, settings_store);
    const models::hub::HttpClientFactory make_http = network();
    setup.has_network = make_http != nullptr;
    const EngineFactory here = enginesOf(options, has_process);
    EngineThread engine_thread(setup.has_network ? withServers(here, servers, make_http) : here);
    PlannerThread planner(planner_options);
    ChatStoreThread store_thread(StoreOptions{data_folder, {}});
    LibraryThread library(librarySetup(planner_options));
    HubThread hub(hubSetup(data_folder), planner_options);
    ui::MainWindow window(setup);
    const WindowPlace place = settings_store.readPlace();
    restorePlace(window, place);
    window.setSplitterSizes(place.splitter);
    Wiring wiring(&window, &engine_thread, &planner, store_thread.store(), &settings_store);
    connectLibrary(window, library);
    connectHub(window, hub, planner, library);
    QObject::connect(&window, &ui::MainWindow::restartRequested, &window, [&] {
        restart = restartWords(has_process);
        window.close();
    });
    const ServerLink server_link(&window, servers, &settings_store, make_http);
    const ServerWatch server_watch(&window, servers, make_http);
    connectComputer(window, options.inquiry, data_folder, cache_folder);
    const Serving serving(window, engine_thread, data_folder + QStringLiteral("/server-token"));
    const CardWatch watch(&window, options.inquiry);
    const EndSignals end_signals;
    QObject::connect(&end_signals, &EndSignals::endRequested, &window, [&window] {
        qCInfo(logApp) << "asked to end by the system";
        window.close();
        QApplication::quit(); // also with a dialog open
    });
    window.show();
    QTimer::singleShot(0, &window, [&] {
        qCInfo(logApp) << "window shown after" << since_start.elapsed() << "ms";
    });
    readFacts(window, demo, data_folder, cache_folder);
    if (!argument.isEmpty()) {
        window.openPath(argument);
    }
    followStarts(instance, window);
    if (seams.on_shown) {
        seams.on_shown(window, engine_thread);
    }
    const int result = QApplication::exec();
    if (options.inquiry != nullptr) {
        options.inquiry->stop(); // a layout may wait for it
    }
    QThreadPool::globalInstance()->waitForDone();
    return result;
}

} // namespace

int runProgram(int argc, char** argv, const ProgramSeams& seams) {
    QStringList restart;
    const int result = run(argc, argv, seams, restart);
    if (!restart.isEmpty()) {
        // Only now is nothing of the old process left on the card or in the chat store.
        QProcess::startDetached(restart.front(), restart.mid(1));
    }
    return result;
}

} // namespace app
