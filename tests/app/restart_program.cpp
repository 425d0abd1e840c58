// SPDX-License-Identifier: Apache-2.0
// The whole program on a fake graphics card, used by itself: what tst_restart starts. In the first
// process a kernel faults in the middle of a reply and "Restart Belfry" is pressed
// (BELFRY_TEST_ON_CPU: after a while on the processor), or the process kills itself in the middle
// of a load (BELFRY_TEST_CRASH). The next process on the same folder writes down what it finds
// before anybody touches it. Reports go to $BELFRY_TEST_REPORTS/N.json, N = 1, 2, ... by process.
#include "app/engines/engine_worker.h"
#include "app/program.h"
#include "engine/api/error.h"
#include "engine/devices/gpu_access.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/processes.h"
#include "ui/chat/chat_view.h"
#include "ui/layout/layout_view.h"
#include "ui/model/session.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QStandardPaths>
#include <QTest>
#include <QTimer>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using support::FakeDriver;

namespace {

constexpr kernels::cuda::CuResult kIllegalAddress = 700;
constexpr int kLongestMs = 60'000;

QString reportFile(int number) {
    return QStringLiteral("%1/%2.json")
        .arg(qEnvironmentVariable("BELFRY_TEST_REPORTS"))
        .arg(number);
}

/// A user who waits for one thing after the other; ends the process with 3 when one never comes.
class User {
public:
    User(ui::MainWindow& window, app::EngineThread& engine, FakeDriver& fake)
        : window_(window), engine_(engine), fake_(fake) {}

    void loseTheCard() {
        chooseTheDemo("gpu");
        waitFor("a plan", [&] { return window_.layoutView()->stagedPlan() != nullptr; });
        session().load();
        waitFor("the model", [&] { return isAtRest() && session().isLoaded(); });
        engine::LoadRequest moved = session().request();
        moved.device_map = "towers-cpu";
        session().apply(moved);
        waitFor("the layout", [&] { return isAtRest(); });
        ask(QStringLiteral("Hello"));
        waitFor("a reply", [&] { return isAtRest() && chat().chat().turns.size() == 2; });
        // The driver belongs to the engine's thread while the program runs.
        QMetaObject::invokeMethod(
            engine_.worker(),
            [&] {
                fake_.fault = [launches = 0](const char* name) mutable {
                    launches += std::string_view(name) == "cuGraphLaunch" ? 1 : 0;
                    return launches == 3 ? kIllegalAddress : kernels::cuda::kCuSuccess;
                };
            },
            Qt::BlockingQueuedConnection);
        ask(QStringLiteral("Are you there?"));
        waitFor("the offer", [&] {
            return isAtRest() && offer() != nullptr &&
                   offer()->text() == QStringLiteral("Restart Belfry");
        });
        if (qEnvironmentVariableIsSet("BELFRY_TEST_ON_CPU")) {
            QTest::mouseClick(window_.findChild<QPushButton*>(QStringLiteral("noticeAlso")),
                              Qt::LeftButton);
            waitFor("the model on the processor",
                    [&] { return isAtRest() && session().isCpuStandingIn(); });
            ask(QStringLiteral("Then without it?"));
            waitFor("a reply", [&] { return isAtRest() && chat().chat().turns.size() == 6; });
        }
        waitFor("the offer", [&] { return offer() != nullptr; });
        write(1);
        press(QStringLiteral("Restart Belfry"));
    }

    void dieWhileLoading(const QString& session_file) {
        fake_.copy_ms = 100; // so that a load lasts until its end comes
        chooseTheDemo("gpu");
        waitFor("a plan", [&] { return window_.layoutView()->stagedPlan() != nullptr; });
        session().load();
        waitFor("a note of the load", [&] {
            QFile file(session_file);
            return file.open(QIODevice::ReadOnly) &&
                   QJsonDocument::fromJson(file.readAll())
                           .object()
                           .value(QStringLiteral("loading")) == QStringLiteral("demo");
        });
        support::endBy("kill");
    }

    /// What the process after finds. `has_model`: whether one has to come up as chosen.
    void lookAround(bool has_model) {
        waitFor("the end of the former session", [&] {
            return has_model ? window_.layoutView()->stagedPlan() != nullptr &&
                                   chat().chat().turns.size() >= 2
                             : window_.notice()->isVisible();
        });
        write(2);
        if (has_model) {
            // In a new process the card answers; nobody has to ask for it.
            waitFor("the model", [&] { return isAtRest() && session().isLoaded(); });
            ask(QStringLiteral("Are you back?"));
            const size_t turns = chat().chat().turns.size();
            waitFor("a reply", [&] { return isAtRest() && chat().chat().turns.size() >= turns; });
            write(3);
        }
        window_.close();
    }

private:
    ui::Session& session() { return *window_.session(); }
    ui::ChatView& chat() { return *window_.chatView(); }
    bool isAtRest() { return !session().isBusy() && !chat().isGenerating(); }
    QPushButton* offer() {
        auto* button = window_.findChild<QPushButton*>(QStringLiteral("noticeAction"));
        return window_.notice()->isVisible() && button->isVisible() ? button : nullptr;
    }

    void waitFor(const char* what, const std::function<bool()>& is_there) {
        if (!QTest::qWaitFor(is_there, kLongestMs)) {
            (void)std::fprintf(stderr, "%s did not come\n", what);
            std::_Exit(3);
        }
    }
    void press(const QString& text) {
        waitFor("the button",
                [&] { return isAtRest() && offer() != nullptr && offer()->text() == text; });
        QTest::mouseClick(offer(), Qt::LeftButton);
    }
    void chooseTheDemo(const char* map) {
        engine::LoadRequest options = session().request();
        options.device_map = map;
        session().setOptions(options);
        session().chooseModel(QStringLiteral("demo"));
        ui::ChatDocument document;
        document.sampling.max_tokens = 6;
        chat().setChat(document);
    }
    void ask(const QString& text) {
        auto* input = window_.findChild<QPlainTextEdit*>(QStringLiteral("messageInput"));
        input->setPlainText(text);
        QTest::keyClick(input, Qt::Key_Return);
    }

    void write(int number) {
        QJsonArray turns;
        for (const ui::ChatTurn& turn : chat().chat().turns) {
            turns.append(turn.text);
        }
        QString vision;
        QString layer;
        if (const auto plan = window_.layoutView()->stagedPlan()) {
            for (const engine::ModulePlacement& module : plan->modules) {
                if (module.name == "model.vision_tower") {
                    vision = QString::fromStdString(module.store.toString());
                } else if (module.name == "model.language_model.layers.0") {
                    layer = QString::fromStdString(module.store.toString());
                }
            }
        }
        QPushButton* button = offer();
        const QJsonObject report{
            {QStringLiteral("process"), QCoreApplication::applicationPid()},
            {QStringLiteral("chat"), chat().chat().id},
            {QStringLiteral("turns"), turns},
            {QStringLiteral("model"), session().model()},
            {QStringLiteral("loaded"), session().isLoaded()},
            {QStringLiteral("busy"), session().isBusy()},
            {QStringLiteral("vision"), vision},
            {QStringLiteral("layer"), layer},
            {QStringLiteral("offer"), button == nullptr ? QString() : button->text()}};
        QSaveFile file(reportFile(number));
        if (!file.open(QIODevice::WriteOnly) || file.write(QJsonDocument(report).toJson()) <= 0 ||
            !file.commit()) {
            std::_Exit(4);
        }
    }

    ui::MainWindow& window_;
    app::EngineThread& engine_;
    FakeDriver& fake_;
};

} // namespace

int main(int argc, char** argv) {
    FakeDriver fake;
    fake.token = 405; // " the" of the demo model
    app::ProgramSeams seams;
    seams.engine_cards = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    // The fake is single-threaded: the planner gets the list, not the driver.
    auto planner_cards = std::make_shared<engine::GpuAccess>();
    planner_cards->list = [list = seams.engine_cards->list()] { return list; };
    seams.planner_cards = planner_cards;
    const bool is_crash = qEnvironmentVariableIsSet("BELFRY_TEST_CRASH");
    const QString session_file = qEnvironmentVariable("BELFRY_TEST_SESSION");
#ifdef _WIN32
    QStandardPaths::setTestModeEnabled(true); // no variable says there where the user's folders are
#endif
    seams.on_shown = [&](ui::MainWindow& window, app::EngineThread& engine) {
        QTimer::singleShot(0, &window, [&, is_crash] {
            User user(window, engine, fake);
            const bool is_second = QFile::exists(is_crash ? session_file : reportFile(1)) &&
                                   (!is_crash || QFile::exists(reportFile(0)));
            if (is_second) {
                user.lookAround(!is_crash);
            } else if (is_crash) {
                QFile mark(reportFile(0));
                (void)mark.open(QIODevice::WriteOnly);
                mark.close();
                user.dieWhileLoading(session_file);
            } else {
                user.loseTheCard();
            }
        });
    };
    const int result = app::runProgram(argc, argv, seams);
    if (QFile::exists(reportFile(3))) {
        QFile end(reportFile(4)); // nothing of this process touches the folder any more
        (void)end.open(QIODevice::WriteOnly);
    }
    return result;
}
