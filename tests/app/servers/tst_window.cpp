// SPDX-License-Identifier: Apache-2.0
// The window in front of a model on a server: connect, ask, see where words go; a wrong key, a
// server that dies in the middle of a reply or is not there; a chat of this computer that is not
// sent elsewhere without a question; both side by side. Screens in both themes.
#include "app/qt_http.h"
#include "app/server_link.h"
#include "engine/api/model_address.h"
#include "tests/app/program_fixture.h"
#include "tests/support/remote/chat_standin.h"
#include "ui/chat/chat_notice.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/compare_pane.h"
#include "ui/shell/launch_dialog.h"
#include "ui/shell/server_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDirIterator>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTemporaryDir>

using support::Program;

namespace {

app::EngineFactory factory(const std::shared_ptr<app::ServerBook>& book) {
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    return app::withServers(options, book, app::qtHttp([] { return std::string(); }));
}

ui::Settings themed(bool is_dark) {
    ui::Settings settings = support::settingsAfterGuide();
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    return settings;
}

/// The window with servers, its data in `folder`.
struct Servers {
    explicit Servers(const QString& folder, bool is_dark = false)
        : book(std::make_shared<app::ServerBook>(folder + QStringLiteral("/keys"))),
          engines(factory(book)), program(folder, themed(is_dark), {}, &engines),
          link(program.window.get(), book, &program.settings_store, app::qtHttp([] {
                   return std::string();
               })) {}

    /// Fills the dialog and asks; true when the server's models are there.
    bool test(const std::string& address, const char* key = "") {
        program.window->openServers();
        dialog = program.window->findChild<ui::ServerDialog*>(QStringLiteral("serverDialog"));
        dialog->findChild<QComboBox*>(QStringLiteral("serverAddress"))
            ->setEditText(QString::fromStdString(address));
        dialog->findChild<QLineEdit*>(QStringLiteral("serverKey"))
            ->setText(QString::fromLatin1(key));
        QTest::mouseClick(button("serverTest"), Qt::LeftButton);
        return QTest::qWaitFor([this] { return button("serverConnect")->isEnabled(); }, 10000);
    }
    QPushButton* button(const char* name) {
        return dialog->findChild<QPushButton*>(QString::fromLatin1(name));
    }
    QString state() { return dialog->findChild<QLabel*>(QStringLiteral("serverState"))->text(); }
    bool connectTo(const support::ChatStandin& server) {
        if (!test(server.base())) {
            return false;
        }
        QTest::mouseClick(button("serverConnect"), Qt::LeftButton);
        return QTest::qWaitFor(
            [&] {
                return program.session().state() == ui::Session::State::Ready &&
                       engine::isServerModel(program.session().loadedModel().toStdString());
            },
            20000);
    }
    const ui::ChatTurn& lastTurn() { return program.chat().chat().turns.back(); }

    std::shared_ptr<app::ServerBook> book;
    app::EngineFactory engines;
    Program program;
    app::ServerLink link;
    QPointer<ui::ServerDialog> dialog;
};

void shot(QWidget* widget, const QString& name) {
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        QCoreApplication::processEvents();
        widget->grab().save(to + QLatin1Char('/') + name + QStringLiteral(".png"));
    }
}

} // namespace

class TestServers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void mainStory_data();
    void mainStory();
    void keepsHalfOfAReply();
    void tellsWhatIsWrong();
    void keepsKeysToItself();
    void asksBeforeWordsLeave();
    void comparesBoth();
    void launchCommands();
};

void TestServers::mainStory_data() {
    QTest::addColumn<bool>("is_dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void TestServers::mainStory() {
    QFETCH(bool, is_dark);
    const QString theme = is_dark ? QStringLiteral("-dark") : QStringLiteral("-light");
    const support::ChatStandin server(support::goodAnswer({"Good ", "day, ", "neighbour."}));
    const QTemporaryDir folder;
    Servers servers(folder.path(), is_dark);
    Program& program = servers.program;
    program.window->resize(1280, 800);
    QVERIFY(!program.find<QLabel>("hostBadge")->isVisible());
    QVERIFY(servers.test(server.base()));
    QVERIFY2(servers.state().contains(QStringLiteral("vLLM")), qPrintable(servers.state()));
    const auto* models = servers.dialog->findChild<QComboBox*>(QStringLiteral("serverModel"));
    QCOMPARE(models->count(), 2);
    QVERIFY(models->itemText(1).contains(QStringLiteral("adapter of m")));
    shot(servers.dialog, QStringLiteral("server-dialog") + theme);
    QTest::mouseClick(servers.button("serverConnect"), Qt::LeftButton);
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
    const QString host = QStringLiteral("127.0.0.1:%1").arg(server.port());
    QTRY_VERIFY(program.find<QLabel>("hostBadge")->isVisible());
    QVERIFY(program.find<QLabel>("hostBadge")->text().contains(host));
    // What a server cannot do is not there.
    for (const char* name : {"chatTab", "layoutTab", "addAdapterButton", "compareButton"}) {
        QVERIFY2(!program.find<QAbstractButton>(name)->isVisibleTo(program.window.get()), name);
    }
    QVERIFY(!program.window->findChild<QWidget*>(QStringLiteral("memoryMeter"))->isVisible());
    program.ask(QStringLiteral("Good morning"));
    QVERIFY(program.waitForReply(2));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("Good day, neighbour."));
    QCOMPARE(engine::serverHost(servers.lastTurn().model.toStdString()), host.toStdString());
    program.ask(QStringLiteral("And then?")); // the server has had all of it: nobody asks
    QVERIFY(program.waitForReply(4));
    shot(program.window.get(), QStringLiteral("server-chat") + theme);
    program.window->openModelPanel();
    shot(program.window.get(), QStringLiteral("server-panel") + theme);
}

void TestServers::keepsHalfOfAReply() {
    support::ChatStandin server(
        {support::streamHead(), support::chunk(support::wordEvent("Half of a"))});
    const QTemporaryDir folder;
    Servers servers(folder.path());
    QVERIFY(servers.connectTo(server));
    servers.program.ask(QStringLiteral("Tell me"));
    QVERIFY(servers.program.waitForReply(2));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("Half of a"));
    QCOMPARE(servers.lastTurn().finish_reason, QStringLiteral("failed"));
    QCOMPARE(servers.lastTurn().notes.size(), 1);
    QVERIFY(servers.lastTurn().notes.front().contains(QStringLiteral("in the middle")));
    shot(servers.program.window.get(), QStringLiteral("server-half"));
    // It is back, and goes on.
    server.setAnswer(support::goodAnswer({"All of it"}));
    servers.program.ask(QStringLiteral("Again"));
    QVERIFY(servers.program.waitForReply(4));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("All of it"));
}

void TestServers::tellsWhatIsWrong() {
    const support::ChatStandin refusing(
        {}, support::wholeAnswer("401 Unauthorized", R"({"error":"Unauthorized"})"));
    const QTemporaryDir folder;
    Servers servers(folder.path());
    QVERIFY(!servers.test(refusing.base(), "wrong"));
    QTRY_VERIFY2(servers.state().contains(QStringLiteral("the key is wrong")),
                 qPrintable(servers.state()));
    shot(servers.dialog, QStringLiteral("server-wrong-key"));
    servers.dialog->reject();
    QTRY_VERIFY(servers.dialog == nullptr);
    // Nobody listens there: a disconnected network looks the same.
    QVERIFY(!servers.test("http://127.0.0.1:9/v1"));
    QTRY_VERIFY2(servers.state().contains(QStringLiteral("cannot be reached")),
                 qPrintable(servers.state()));
    servers.dialog->reject();
    QTRY_VERIFY(servers.dialog == nullptr);
    // Without encryption only after a yes.
    QVERIFY(!servers.test("http://gpu.example.org/v1"));
    QTRY_VERIFY(servers.dialog->findChild<QCheckBox*>(QStringLiteral("serverPlain"))->isVisible());
    // A server that goes while its model is chosen.
    servers.dialog->reject();
    QTRY_VERIFY(servers.dialog == nullptr);
    servers.program.session().chooseModel(QStringLiteral("http://127.0.0.1:9/v1#m"));
    QTRY_VERIFY(servers.program.session().modelError() != nullptr);
}

void TestServers::keepsKeysToItself() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QTemporaryDir folder;
    {
        Servers servers(folder.path());
        QVERIFY(servers.test(server.base(), "sk-very-secret"));
        QTest::mouseClick(servers.button("serverConnect"), Qt::LeftButton);
        QTRY_COMPARE(servers.program.session().state(), ui::Session::State::Ready);
        servers.program.ask(QStringLiteral("Good morning"));
        QVERIFY(servers.program.waitForReply(2));
        QCOMPARE(server.requests().back().headers.at("authorization"),
                 std::string("Bearer sk-very-secret"));
        servers.program.wiring->finishSession();
    }
    // In one file alone, which nobody else can read; not in settings, chats or session.
    QDirIterator files(folder.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    int holders = 0;
    while (files.hasNext()) {
        QFile file(files.next());
        QVERIFY(file.open(QIODevice::ReadOnly));
        if (file.readAll().contains("sk-very-secret")) {
            ++holders;
            QVERIFY2(file.fileName().endsWith(QStringLiteral(".key")), qPrintable(file.fileName()));
            QVERIFY((file.permissions() & (QFile::ReadGroup | QFile::ReadOther)) == 0);
        }
    }
    QCOMPARE(holders, 1);
    // Known again, with its key.
    Servers again(folder.path());
    QVERIFY(again.connectTo(server));
    QCOMPARE(server.requests().back().headers.at("authorization"),
             std::string("Bearer sk-very-secret"));
}

void TestServers::asksBeforeWordsLeave() {
    const support::ChatStandin server(support::goodAnswer({"Thanks."}));
    const QTemporaryDir folder;
    Servers servers(folder.path());
    Program& program = servers.program;
    QVERIFY(program.choose(QStringLiteral("demo"), "cpu", support::kGiB));
    QVERIFY(program.load());
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
    QVERIFY(servers.connectTo(server));
    program.ask(QStringLiteral("And now?"));
    auto* notice = program.window->findChild<ui::ChatNotice*>();
    QTRY_VERIFY(notice->isVisible());
    QVERIFY2(notice->text().contains(QStringLiteral("would be sent to")),
             qPrintable(notice->text()));
    QCOMPARE(server.numAsked(), size_t{0});
    QCOMPARE(program.chat().chat().turns.size(), size_t{2});
    shot(program.window.get(), QStringLiteral("server-asks-first"));
    QPushButton* send = nullptr;
    for (QPushButton* one : notice->findChildren<QPushButton*>()) {
        send = one->text().contains(QStringLiteral("Send it there")) ? one : send;
    }
    QVERIFY(send != nullptr);
    QTest::mouseClick(send, Qt::LeftButton);
    QVERIFY(program.waitForReply(4));
    QCOMPARE(server.numAsked(), size_t{1});
    QCOMPARE(servers.lastTurn().text, QStringLiteral("Thanks."));
}

void TestServers::comparesBoth() {
    const support::ChatStandin server(support::goodAnswer({"From afar."}));
    const QTemporaryDir folder;
    Servers servers(folder.path());
    Program& program = servers.program;
    QVERIFY(servers.connectTo(server)); // known from now on
    QVERIFY(program.choose(QStringLiteral("demo"), "cpu", support::kGiB));
    QVERIFY(program.load());
    QVERIFY(!program.find<QLabel>("hostBadge")->isVisible());
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
    const size_t asked = server.numAsked();
    program.chat().requestComparison();
    ui::ComparePane* compare = program.window->comparePane();
    QTRY_VERIFY(compare->isVisible());
    QCOMPARE(compare->columns().size(), size_t{2});
    QVERIFY(compare->columns()[1]->name().contains(QStringLiteral("m on 127.0.0.1")));
    QTest::mouseClick(program.find("compareRun"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(compare->columns()[1]->isFinished() && !compare->isRunning(), 60000);
    QCOMPARE(compare->columns()[1]->text(), QStringLiteral("From afar."));
    QVERIFY(compare->columns()[0]->text().startsWith(QStringLiteral("A tower")));
    QCOMPARE(server.numAsked(), asked + 1);
    shot(program.window.get(), QStringLiteral("server-compare"));
    // The chat goes on here.
    Q_EMIT compare->closeRequested();
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(4));
    QCOMPARE(server.numAsked(), asked + 1);
}

void TestServers::launchCommands() {
    const QTemporaryDir folder;
    Servers servers(folder.path());
    Program& program = servers.program;
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", support::kGiB / 256)); // does not fit
    QTRY_VERIFY(!program.window->layoutView()->stagedPlan()->fits);
    program.window->openModelPanel();
    QTRY_VERIFY(program.find("launchButton")->isVisible());
    QTest::mouseClick(program.find("launchButton"), Qt::LeftButton);
    auto* dialog = program.window->findChild<ui::LaunchDialog*>(QStringLiteral("launchDialog"));
    QVERIFY(dialog != nullptr && dialog->isVisible());
    const auto find = [dialog](const char* name) {
        return dialog->findChild<QComboBox*>(QString::fromLatin1(name));
    };
    auto* text = dialog->findChild<QPlainTextEdit*>(QStringLiteral("launchText"));
    QVERIFY(text->toPlainText().contains(QStringLiteral("vllm serve")));
    shot(dialog, QStringLiteral("server-launch"));
    find("launchForm")->setCurrentIndex(1);
    QVERIFY(text->toPlainText().startsWith(QStringLiteral("services:")));
    find("launchProduct")->setCurrentIndex(1);
    find("launchForm")->setCurrentIndex(0);
    QVERIFY(text->toPlainText().contains(QStringLiteral("sglang.launch_server")));
    find("launchCards")->setCurrentIndex(2);
    Q_EMIT find("launchCards")->activated(2);
    QVERIFY(text->toPlainText().contains(QStringLiteral("--tp 4")));
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("launchCopy")),
                      Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(), text->toPlainText());
}

QTEST_MAIN(TestServers)
#include "tst_window.moc"
