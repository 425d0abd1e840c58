// SPDX-License-Identifier: Apache-2.0
// The window in front of a model on a server: connect, ask, see where words go; a wrong key, a
// server that dies in the middle of a reply or is not there; a chat of this computer that is not
// sent elsewhere without a question; both side by side. Screens in both themes.
#include "app/network/qt_http.h"
#include "app/window/server_link.h"
#include "app/window/server_watch.h"
#include "engine/api/model_address.h"
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/remote/chat_standin.h"
#include "tests/support/remote/tls_standin.h"
#include "ui/chat/chat_notice.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/compare_pane.h"
#include "ui/dialogs/launch_dialog.h"
#include "ui/dialogs/server_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QThreadPool>

#include <atomic>
#include <chrono>
#include <map>

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

/// The system's keyring, as a test has it.
struct KeyringStandin {
    std::map<std::string, std::string> keys;
    bool is_locked = false;
    int num_questions = 0;
};

class StandinStore final : public remote::KeyStore {
public:
    explicit StandinStore(KeyringStandin& ring) : ring_(ring) {}
    [[nodiscard]] Kind kind() const override { return Kind::Keyring; }
    engine::Result<std::string> read(const std::string& base) override {
        ++ring_.num_questions;
        return ring_.is_locked ? engine::Result<std::string>(locked()) : ring_.keys[base];
    }
    engine::Result<void> write(const std::string& base, const std::string& key) override {
        ++ring_.num_questions;
        if (ring_.is_locked) {
            return locked();
        }
        ring_.keys[base] = key;
        return {};
    }
    engine::Result<void> remove(const std::string& base) override {
        ring_.keys.erase(base);
        return {};
    }

private:
    static engine::Error locked() {
        return {engine::ErrorCode::InvalidRequest, engine::asItIs("locked"), {}};
    }
    KeyringStandin& ring_;
};

/// As settings of an earlier start have it.
std::shared_ptr<app::ServerBook> bookOf(const QString& folder, KeyringStandin* ring) {
    const auto file =
        std::make_shared<app::SettingsStore>(folder + QStringLiteral("/settings.ini"));
    app::ServerBook::MakeKeyring make;
    if (ring != nullptr) {
        make = [ring] { return std::make_unique<StandinStore>(*ring); };
    }
    return std::make_shared<app::ServerBook>(
        folder + QStringLiteral("/keys"), file->readServers(), std::move(make),
        [file](const app::ServerNotes& notes) { file->writeServers(notes); });
}

/// The window with servers, its data in `folder`.
struct Servers {
    explicit Servers(const QString& folder, bool is_dark = false, KeyringStandin* ring = nullptr)
        : book(bookOf(folder, ring)), engines(factory(book)),
          program(folder, themed(is_dark), {}, &engines),
          link(program.window.get(), book, &program.settings_store, http()),
          watch(program.window.get(),
                book,
                http(),
                {std::chrono::milliseconds(300), std::chrono::milliseconds(100),
                 std::chrono::milliseconds(400)}) {}

    models::hub::HttpClientFactory http() {
        return app::serverHttp(
            [is_banned = is_banned] { return std::string(*is_banned ? "the switch" : ""); });
    }

    /// Fills the dialog and asks; true when the server's models are there.
    bool test(const std::string& address, const char* key = "") {
        open();
        dialog->findChild<QComboBox*>(QStringLiteral("serverAddress"))
            ->setEditText(QString::fromStdString(address));
        dialog->findChild<QLineEdit*>(QStringLiteral("serverKey"))
            ->setText(QString::fromLatin1(key));
        QTest::mouseClick(button("serverTest"), Qt::LeftButton);
        return QTest::qWaitFor([this] { return button("serverConnect")->isEnabled(); }, 10000);
    }
    void open() {
        program.window->openServers();
        dialog = program.window->findChild<ui::ServerDialog*>(QStringLiteral("serverDialog"));
    }
    QPushButton* button(const char* name) {
        return dialog->findChild<QPushButton*>(QString::fromLatin1(name));
    }
    QString label(const char* name) {
        return dialog->findChild<QLabel*>(QString::fromLatin1(name))->text();
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
    /// The switch that forbids the network; read by whoever asks.
    std::shared_ptr<std::atomic<bool>> is_banned = std::make_shared<std::atomic<bool>>(false);
    app::EngineFactory engines;
    Program program;
    app::ServerLink link;
    app::ServerWatch watch;
    QPointer<ui::ServerDialog> dialog;
};

QString themeName(bool is_dark) {
    return is_dark ? QStringLiteral("-dark") : QStringLiteral("-light");
}

void shot(QWidget* widget, const QString& name) {
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        QCoreApplication::processEvents();
        const QString scale =
            widget->devicePixelRatioF() > 1.5 ? QStringLiteral("-200") : QString();
        widget->grab().save(to + QLatin1Char('/') + name + scale + QStringLiteral(".png"));
    }
}

} // namespace

class TestServers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void mainStory_data();
    void mainStory();
    void keepsHalfOfAReply_data();
    void keepsHalfOfAReply();
    void tellsWhatIsWrong_data();
    void tellsWhatIsWrong();
    void keepsKeysToItself();
    void keepsKeysInTheKeyring();
    void usesAKeyThatIsNotKept();
    void watchesTheServer_data();
    void watchesTheServer();
    void asksOnlyWhileItIsShown();
    void asksNobodyAtStart();
    void asksForAnAuthority();
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
    const QString theme = themeName(is_dark);
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

void TestServers::keepsHalfOfAReply_data() {
    mainStory_data();
}

void TestServers::keepsHalfOfAReply() {
    QFETCH(bool, is_dark);
    support::ChatStandin server(
        {support::streamHead(), support::chunk(support::wordEvent("Half of a"))});
    const QTemporaryDir folder;
    Servers servers(folder.path(), is_dark);
    QVERIFY(servers.connectTo(server));
    servers.program.ask(QStringLiteral("Tell me"));
    QVERIFY(servers.program.waitForReply(2));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("Half of a"));
    QCOMPARE(servers.lastTurn().finish_reason, QStringLiteral("failed"));
    QCOMPARE(servers.lastTurn().notes.size(), 1);
    QVERIFY(servers.lastTurn().notes.front().contains(QStringLiteral("in the middle")));
    shot(servers.program.window.get(), QStringLiteral("server-half") + themeName(is_dark));
    // It is back, and goes on.
    server.setAnswer(support::goodAnswer({"All of it"}));
    servers.program.ask(QStringLiteral("Again"));
    QVERIFY(servers.program.waitForReply(4));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("All of it"));
}

void TestServers::tellsWhatIsWrong_data() {
    mainStory_data();
}

void TestServers::tellsWhatIsWrong() {
    QFETCH(bool, is_dark);
    const support::ChatStandin refusing(
        {}, support::wholeAnswer("401 Unauthorized", R"({"error":"Unauthorized"})"));
    const QTemporaryDir folder;
    Servers servers(folder.path(), is_dark);
    QVERIFY(!servers.test(refusing.base(), "wrong"));
    QTRY_VERIFY2(servers.state().contains(QStringLiteral("the key is wrong")),
                 qPrintable(servers.state()));
    shot(servers.dialog, QStringLiteral("server-wrong-key") + themeName(is_dark));
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
    QTRY_COMPARE(servers.program.find<QLabel>("unusableFolder")->text(),
                 QStringLiteral("m on 127.0.0.1:9"));
    QVERIFY(servers.program.find("unusableServer")->isVisible());
    shot(servers.program.window.get(), QStringLiteral("server-unreachable") + themeName(is_dark));
    servers.program.window->openModelPanel();
    shot(servers.program.window.get(),
         QStringLiteral("server-unreachable-panel") + themeName(is_dark));
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
#ifndef _WIN32 // where the folder's list of rights says who reads it, not modes
            QVERIFY((file.permissions() & (QFile::ReadGroup | QFile::ReadOther)) == 0);
#endif
        }
    }
    QCOMPARE(holders, 1);
    // Known again, with its key.
    Servers again(folder.path());
    QVERIFY(again.connectTo(server));
    QCOMPARE(server.requests().back().headers.at("authorization"),
             std::string("Bearer sk-very-secret"));
}

void TestServers::keepsKeysInTheKeyring() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QTemporaryDir folder;
    const auto is_keyed = [&] {
        return server.requests().back().headers.at("authorization") == "Bearer sk-very-secret";
    };
    KeyringStandin ring;
    { // a version without a keyring left a file
        Servers servers(folder.path());
        QVERIFY(servers.test(server.base(), "sk-very-secret"));
        QTRY_COMPARE(servers.label("serverKeyPlace"),
                     QStringLiteral("A key that you type is kept in a file that only you can "
                                    "read: no keyring runs here."));
        QTest::mouseClick(servers.button("serverConnect"), Qt::LeftButton);
        QTRY_COMPARE(servers.program.session().state(), ui::Session::State::Ready);
        QThreadPool::globalInstance()->waitForDone();
    }
    const QDir keys(folder.filePath(QStringLiteral("keys")));
    QCOMPARE(keys.entryList(QDir::Files).size(), 1);
    { // it is taken over, and only then goes
        Servers servers(folder.path(), false, &ring);
        QVERIFY(servers.connectTo(server));
        QVERIFY(is_keyed());
        QCOMPARE(ring.keys.size(), size_t{1});
        QCOMPARE(ring.keys.begin()->second, std::string("sk-very-secret"));
        QCOMPARE(keys.entryList(QDir::Files).size(), 0);
    }
    Servers servers(folder.path(), false, &ring);
    QVERIFY(servers.connectTo(server));
    QVERIFY(is_keyed());
    servers.open();
    QTRY_VERIFY(servers.label("serverKeyPlace").contains(QStringLiteral("system's keyring")));
    shot(servers.dialog, QStringLiteral("server-key-place"));
    // Who wants it to be kept no longer.
    QTest::mouseClick(servers.button("serverForgetKey"), Qt::LeftButton);
    QTRY_VERIFY(ring.keys.empty());
    QVERIFY(!servers.button("serverForgetKey")->isVisible());
    QTest::mouseClick(servers.button("serverTest"), Qt::LeftButton);
    QTRY_VERIFY(servers.button("serverConnect")->isEnabled());
    QVERIFY(!server.requests().back().headers.contains("authorization"));
    // Who has no key there is not asked for the keyring's password.
    const support::ChatStandin other(support::goodAnswer({"x"}));
    const int asked = ring.num_questions;
    servers.dialog->reject();
    QTRY_VERIFY(servers.dialog == nullptr);
    QVERIFY(servers.connectTo(other));
    QCOMPARE(ring.num_questions, asked);
    QVERIFY(!other.requests().back().headers.contains("authorization"));
}

void TestServers::usesAKeyThatIsNotKept() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QTemporaryDir folder;
    KeyringStandin ring;
    ring.is_locked = true;
    Servers servers(folder.path(), false, &ring);
    QVERIFY(servers.test(server.base(), "sk-very-secret"));
    QTest::mouseClick(servers.button("serverConnect"), Qt::LeftButton);
    QTRY_COMPARE(servers.program.session().state(), ui::Session::State::Ready);
    QTRY_VERIFY(servers.program.window->notice()->isVisible());
    servers.program.ask(QStringLiteral("Good morning"));
    QVERIFY(servers.program.waitForReply(2));
    QCOMPARE(server.requests().back().headers.at("authorization"),
             std::string("Bearer sk-very-secret"));
    // Not where the user did not want it.
    QVERIFY(!QDir(folder.filePath(QStringLiteral("keys"))).exists());
}

void TestServers::watchesTheServer_data() {
    mainStory_data();
}

/// It goes, it comes back by itself, it loads its model, it has another one.
void TestServers::watchesTheServer() {
    QFETCH(bool, is_dark);
    const QString theme = themeName(is_dark);
    auto server = std::make_unique<support::ChatStandin>(support::goodAnswer({"Good day."}));
    const int port = server->port();
    const QTemporaryDir folder;
    Servers servers(folder.path(), is_dark);
    Program& program = servers.program;
    program.window->resize(1280, 800);
    QVERIFY(servers.connectTo(*server));
    const auto state = [&] { return program.find<QLabel>("engineState")->text(); };
    const auto detail = [&] { return program.find<QLabel>("hostBadge")->text(); };
    QTRY_COMPARE(state(), QStringLiteral("Connected"));
    QVERIFY(program.find<QWidget>("engineStateDetail") != nullptr);
    QTRY_VERIFY(server->numGets("/health") >= 2);
    program.ask(QStringLiteral("Good morning"));
    QVERIFY(program.waitForReply(2));
    server.reset();
    QTRY_COMPARE(state(), QStringLiteral("Does not answer"));
    QVERIFY2(detail().contains(QStringLiteral("cannot be reached")), qPrintable(detail()));
    QVERIFY(detail().contains(QStringLiteral("asked again by itself")));
    shot(program.window.get(), QStringLiteral("server-gone") + theme);
    program.ask(QStringLiteral("Are you there?")); // nobody is, and the question is not lost
    QTRY_VERIFY(program.chat().findChild<ui::ChatNotice*>()->isVisible());
    QCOMPARE(program.chat().chat().turns.size(), size_t{2});
    shot(program.window.get(), QStringLiteral("server-gone-reply") + theme);
    server = std::make_unique<support::ChatStandin>(support::goodAnswer({"Here again."}),
                                                    support::ChatScript(), port);
    server->setHealth(support::wholeAnswer("503 Service Unavailable", "{}"));
    QTRY_COMPARE(state(), QStringLiteral("Loads its model"));
    server->setHealth(support::wholeAnswer("200 OK", "{}"));
    QTRY_COMPARE(state(), QStringLiteral("Connected"));
    QVERIFY(!detail().contains(QLatin1Char('\n')));
    program.ask(QStringLiteral("And now?"));
    QVERIFY(program.waitForReply(4));
    QCOMPARE(servers.lastTurn().text, QStringLiteral("Here again."));
    // Another model than before: asking again would change nothing.
    server.reset();
    QTRY_COMPARE(state(), QStringLiteral("Does not answer"));
    server = std::make_unique<support::ChatStandin>(
        support::ChatScript(),
        support::wholeAnswer("200 OK", R"({"data":[{"id":"other","owned_by":"vllm"}]})"), port);
    QTRY_COMPARE(state(), QStringLiteral("Refuses"));
    QVERIFY(detail().contains(QStringLiteral("has no model")));
}

void TestServers::asksOnlyWhileItIsShown() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QTemporaryDir folder;
    Servers servers(folder.path());
    Program& program = servers.program;
    QVERIFY(servers.connectTo(server));
    QTRY_VERIFY(server.numGets("/health") >= 1);
    program.window->hide();
    QTest::qWait(200); // what was on its way
    size_t asked = server.requests().size();
    QTest::qWait(1000);
    QCOMPARE(server.requests().size(), asked);
    program.window->show();
    QTRY_VERIFY(server.requests().size() > asked);
    // A server of this computer may be asked while other computers may not.
    *servers.is_banned = true;
    asked = server.requests().size();
    QTRY_VERIFY(server.requests().size() > asked);
    // Another model answers: the server is none of the window's.
    QVERIFY(program.choose(QStringLiteral("demo"), "cpu", support::kGiB));
    QVERIFY(program.load());
    QTest::qWait(200);
    asked = server.requests().size();
    QTest::qWait(1000);
    QCOMPARE(server.requests().size(), asked);
    QCOMPARE(program.find<QLabel>("engineState")->text(), QStringLiteral("Loaded"));
}

/// A server of the last session: chosen again by a click alone.
void TestServers::asksNobodyAtStart() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QTemporaryDir folder;
    {
        Servers servers(folder.path());
        QVERIFY(servers.connectTo(server));
        servers.program.wiring->finishSession();
    }
    const size_t asked = server.requests().size();
    Servers servers(folder.path());
    Program& program = servers.program;
    QTRY_VERIFY(program.window->notice()->isVisible());
    QTest::qWait(800);
    QCOMPARE(server.requests().size(), asked);
    QVERIFY(program.session().model().isEmpty());
    QVERIFY(program.find("welcomeServer") != nullptr);
    shot(program.window.get(), QStringLiteral("server-start"));
    QPushButton* connect_again = nullptr;
    for (QPushButton* one : program.window->notice()->findChildren<QPushButton*>()) {
        connect_again = one->text() == QStringLiteral("Connect") ? one : connect_again;
    }
    QVERIFY(connect_again != nullptr);
    QTest::mouseClick(connect_again, Qt::LeftButton);
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
    QVERIFY(server.requests().size() > asked);
}

/// A certificate that nobody vouches for: the dialog asks for whoever does.
void TestServers::asksForAnAuthority() {
    support::TestAuthority authority;
    if (!authority.isUsable()) {
        QSKIP("no openssl program, which makes certificates; install scripts/packages-checks.txt");
    }
    QVERIFY(authority.sign("right", QStringLiteral("IP:127.0.0.1"), 30));
    const support::TlsStandin server(authority.path(QStringLiteral("right.pem")),
                                     authority.path(QStringLiteral("right.key")));
    const QTemporaryDir folder;
    {
        Servers servers(folder.path());
        QVERIFY(!servers.test(server.base()));
        QTRY_VERIFY2(servers.state().contains(QStringLiteral("nobody whom this computer trusts")),
                     qPrintable(servers.state()));
        auto* field = servers.dialog->findChild<QLineEdit*>(QStringLiteral("serverAuthority"));
        QVERIFY(field->isVisible());
        shot(servers.dialog, QStringLiteral("server-authority"));
        field->setText(authority.file());
        QTest::mouseClick(servers.button("serverTest"), Qt::LeftButton);
        QTRY_VERIFY(servers.button("serverConnect")->isEnabled());
        QTest::mouseClick(servers.button("serverConnect"), Qt::LeftButton);
        QTRY_COMPARE(servers.program.session().state(), ui::Session::State::Ready);
    }
    // Known from now on.
    Servers again(folder.path());
    QVERIFY(again.test(server.base()));
    QVERIFY(again.dialog->findChild<QLineEdit*>(QStringLiteral("serverAuthority"))->isVisible());
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
    auto* notice = program.chat().findChild<ui::ChatNotice*>();
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
    // Offered, and asked only after the user has ticked it and agreed.
    QCOMPARE(compare->columns().size(), size_t{1});
    QTest::mouseClick(program.find("compareAdd"), Qt::LeftButton);
    QCOMPARE(compare->columns().size(), size_t{2});
    compare->columns()[1]->findChild<QCheckBox*>()->setChecked(true);
    QVERIFY(compare->columns()[1]->name().contains(QStringLiteral("m on 127.0.0.1")));
    QTest::mouseClick(program.find("compareRun"), Qt::LeftButton);
    QCOMPARE(server.numAsked(), asked);
    auto* agree = compare->findChild<QPushButton*>(QStringLiteral("noticeChoice"));
    QTRY_VERIFY(agree->isVisible());
    QTest::qWait(600); // a click that was meant for what was there before counts for nothing
    QTest::mouseClick(agree, Qt::LeftButton);
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
    const int four = find("launchCards")->findData(4);
    find("launchCards")->setCurrentIndex(four);
    Q_EMIT find("launchCards")->activated(four);
    QVERIFY(text->toPlainText().contains(QStringLiteral("--tp 4")));
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("launchCopy")),
                      Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(), text->toPlainText());
    QVERIFY(!dialog->findChild<QPushButton*>(QStringLiteral("launchCopyStack"))->isVisible());
    const QPointer<ui::LaunchDialog> first = dialog;
    dialog->reject();
    QTRY_VERIFY(first == nullptr);
    // An adapter at another strength than a server's.
    program.session().addAdapter(QString::fromStdString(program.demo) + QStringLiteral("/adapter"));
    program.session().setAdapterStrength(0, 0.5);
    QTRY_VERIFY(program.session().coverage(program.session().request().adapters.at(0).folder) !=
                nullptr);
    QTRY_VERIFY(program.window->layoutView()->stagedPlan() != nullptr &&
                program.window->layoutView()->stagedRequest().adapters.size() == 1);
    Q_EMIT program.window->layoutView()->serverLaunchRequested();
    auto* second = program.window->findChild<ui::LaunchDialog*>(QStringLiteral("launchDialog"));
    QTRY_VERIFY(second != nullptr && second->isVisible());
    auto* stack = second->findChild<QPushButton*>(QStringLiteral("launchCopyStack"));
    QVERIFY(stack->isVisible());
    shot(second, QStringLiteral("server-launch-adapter"));
    QTest::mouseClick(stack, Qt::LeftButton);
    QVERIFY2(QGuiApplication::clipboard()->text().contains(QStringLiteral("=0.5 --stack --out ")),
             qPrintable(QGuiApplication::clipboard()->text()));
}

TEST_CLASS_WITH(QApplication, TestServers)
#include "tst_window.moc"
