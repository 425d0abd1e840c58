// SPDX-License-Identifier: Apache-2.0
// The window's switch for other programs: off at first, on with a click, asked over a socket while
// a model is loaded and while none is, what it shows and copies, and off again.
#include "app/window/serving.h"
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/serve/raw_client.h"
#include "ui/dialogs/serving_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>

#include <thread>

using namespace std::chrono_literals;
using support::kGiB;
using support::Program;

class TestServing : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void switchIt();
};

void TestServing::switchIt() {
    QTemporaryDir folder;
    Program program(folder.path());
    const QString token_file = folder.filePath(QStringLiteral("server-token"));
    const app::Serving serving(*program.window, *program.engine_thread, token_file, 0);

    program.window->openServing();
    auto* toggle = program.find<QCheckBox>("servingSwitch");
    auto* address = program.find<QLineEdit>("servingAddress");
    auto* token = program.find<QLineEdit>("servingToken");
    auto* status = program.find<QLabel>("servingStatus");
    QVERIFY(!toggle->isChecked());
    QVERIFY(address->text().isEmpty() && !program.find("servingAddressCopy")->isEnabled());
    QVERIFY(!QFile::exists(token_file));

    toggle->click();
    QVERIFY(toggle->isChecked());
    const QString shown = address->text();
    QVERIFY(shown.startsWith(QStringLiteral("http://127.0.0.1:")));
    const auto port =
        static_cast<uint16_t>(shown.mid(17, shown.lastIndexOf(QLatin1Char('/')) - 17).toUInt());
    QVERIFY(port != 0);
    QCOMPARE(token->echoMode(), QLineEdit::Password);
    QTest::mouseClick(program.find("servingTokenCopy"), Qt::LeftButton);
    const std::string secret = QGuiApplication::clipboard()->text().toStdString();
    QVERIFY(secret.starts_with("bf-"));
    QVERIFY(status->text().contains(QStringLiteral("no model")));

    const std::string body = R"({"model":"belfry","temperature":0,"messages":[{"role":"user",)"
                             R"("content":"What is a tower?"}]})";
    // The window goes on while a client waits on a thread of its own.
    const auto ask = [&] {
        support::RawAnswer answer;
        std::atomic<bool> is_done{false};
        std::thread client([&] {
            support::RawClient socket(port);
            socket.send(support::postText(port, "/v1/chat/completions", secret, body));
            answer = socket.answer(60s);
            is_done = true;
        });
        const bool has_come = QTest::qWaitFor([&] { return is_done.load(); }, 60000);
        client.join();
        return has_come ? answer : support::RawAnswer();
    };
    QCOMPARE(ask().status, 503); // nothing is loaded
    QVERIFY(program.choose(QString::fromStdString(program.demo), "gpu", 8 * kGiB));
    QVERIFY(program.load());
    const support::RawAnswer answer = ask();
    QVERIFY2(answer.status == 200, answer.body.c_str());
    QVERIFY(answer.body.find("A tower is") != std::string::npos);
    QTRY_VERIFY(status->text().contains(QStringLiteral("answered: 1.")));
    QTRY_VERIFY(status->text().startsWith(QStringLiteral("Ready")));
    // The window's own question is answered as ever.
    program.ask(QStringLiteral("What is a layer?"));
    QVERIFY(program.waitForReply(2));

    toggle->click();
    QVERIFY(!toggle->isChecked() && address->text().isEmpty() && token->text().isEmpty());
    QTRY_VERIFY(!support::RawClient(port).isConnected());
    // On again, the programs' token is the same.
    toggle->click();
    QCOMPARE(token->text().toStdString(), secret);
}

TEST_CLASS_WITH(QApplication, TestServing)
#include "tst_serving.moc"
