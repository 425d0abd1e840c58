// SPDX-License-Identifier: Apache-2.0
// The window is killed while it downloads (SIGKILL, as no program survives it), and started again:
// the download is there, paused; nothing is asked before a click; then it goes on at the byte, and
// what the kill cost is no more than one block by the sender's count. The window that is killed is
// this program, started with --window FOLDER ENDPOINT.
#include "tests/app/hub/models_fixture.h"
#include "tests/support/processes.h"
#include "tests/support/program/test_class.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>

#include <random>

namespace fs = std::filesystem;
using support::HubStandin;
using support::Models;
using support::Program;
using State = ui::Download::State;

namespace {

constexpr const char* kWindow = "--window";
constexpr const char* kId = "belfry/demo-4";

/// Looks the model up, begins its download, and lives until it is killed.
int runWindow(const QString& folder, const QString& endpoint) {
    Program program(folder);
    Models models(program, folder, endpoint.toStdString());
    if (!models.lookUp(QString::fromLatin1(kId))) {
        return 1;
    }
    QTest::mouseClick(program.find("offerDownload"), Qt::LeftButton);
    return QApplication::exec();
}

} // namespace

class TestKilledWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void goesOnOnAClick();
};

void TestKilledWindow::goesOnOnAClick() {
    QTemporaryDir folder;
    support::HubContent content = support::demoRepository(app::demoModelFolder());
    std::string& weights = content.files["model.safetensors"];
    const size_t begin = weights.size();
    weights.resize(size_t{96} << 20U);
    std::mt19937 random(7);
    for (size_t at = begin; at < weights.size(); at += 997) { // else every wrong place looks right
        weights[at] = static_cast<char>(random() & 0xffU);
    }
    content.bytes_per_second = 30'000'000;
    const HubStandin hub(content);
    uint64_t size = 0;
    for (const auto& [name, text] : content.files) {
        size += text.size();
    }
    const models::hub::RepositoryLayout layout(fs::path(folder.path().toStdString()) / "hf" / "hub",
                                               kId);

    uint64_t kept = 0;
    {
        QProcess window;
        window.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        window.start(QApplication::applicationFilePath(),
                     {QStringLiteral("killed_window"), QString::fromLatin1(kWindow), folder.path(),
                      QString::fromStdString(hub.endpoint())});
        QVERIFY(window.waitForStarted());
        QElapsedTimer timer;
        timer.start();
        while (window.state() == QProcess::Running && timer.elapsed() < 120'000 &&
               support::keptBytes(layout) < (uint64_t{30} << 20U)) {
            window.waitForFinished(2);
        }
        // Stopped first, so that every buffer on the way fills: the worst moment for a kill.
        QVERIFY(support::pauseProcess(window.processId()));
        QTest::qWait(500);
        window.kill();
        QVERIFY(window.waitForFinished());
        QCOMPARE(window.exitStatus(), QProcess::CrashExit); // killed, not done before
        kept = support::keptBytes(layout);
        QVERIFY2(kept >= (uint64_t{30} << 20U) && kept < size, std::to_string(kept).c_str());
        QVERIFY(!fs::exists(layout.ref("main"))); // no model
    }
    uint64_t sent = 0;
    QTRY_VERIFY_WITH_TIMEOUT(
        [&] { // nobody listens any more
            const uint64_t before = sent;
            QTest::qWait(200);
            sent = hub.bytesSent();
            return sent == before;
        }(),
        10000);

    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Get);
    QVERIFY(models.waitForDownload(State::Paused));
    QCOMPARE(models.downloads().size(), size_t{1});
    QCOMPARE(models.downloads().front().id, QString::fromLatin1(kId));
    const size_t asked = hub.requests().size();
    QTest::qWait(300);
    QCOMPARE(hub.requests().size(), asked);
    program.shot("hub-after-a-kill");
    auto* toggle = program.find<QAbstractButton>("downloadToggle");
    QVERIFY(toggle != nullptr && toggle->isVisible());
    QTest::mouseClick(toggle, Qt::LeftButton);
    QVERIFY(models.waitForDownload(State::Done));
    const fs::path fetched = models.downloads().front().folder.toStdString();
    for (const auto& [name, text] : content.files) {
        if (fs::exists(fetched / name)) {
            QVERIFY2(support::textOf(fetched / name) == text, name.c_str());
        }
    }
    QVERIFY(fs::exists(fetched / "model.safetensors"));
    const uint64_t again = hub.bytesSent() - sent;
    qInfo("killed at %.1f MiB with %.1f MiB on their way, %.1f MiB came after it",
          static_cast<double>(kept) / 1048576.0, static_cast<double>(sent - kept) / 1048576.0,
          static_cast<double>(again) / 1048576.0);
    QVERIFY2(again <= size - kept, std::to_string(again).c_str());
    constexpr uint64_t kLook = uint64_t{4} << 20U; // for the plan: config and headers
    QVERIFY2(sent - kept <= models::hub::Limits{}.block_bytes + kLook,
             std::to_string(sent - kept).c_str());
}

static int runKilledWindow(int argc, char** argv) {
    QApplication application(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() == 4 && words[1] == QLatin1String(kWindow)) {
        return runWindow(words[2], words[3]);
    }
    TestKilledWindow test;
    return QTest::qExec(&test, argc, argv);
}
TEST_MAIN(runKilledWindow)
#include "tst_killed_window.moc"
