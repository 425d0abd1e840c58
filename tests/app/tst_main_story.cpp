// SPDX-License-Identifier: Apache-2.0
// The main story in the real window with the real engine: choose the demo model, load it with its
// towers on the CPU of a simulated GPU, attach a picture and a sound, get a streamed answer, meet
// an error without losing what was typed. Screenshots go to $BELFRY_SCREENSHOTS when it is set.
#include "app/engine_worker.h"
#include "app/program_paths.h"
#include "app/wiring.h"
#include "ui/main_window.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>

namespace {

template <typename T>
T* named(QWidget& window, const QString& accessible_name) {
    for (T* child : window.findChildren<T*>()) {
        if (child->accessibleName() == accessible_name) {
            return child;
        }
    }
    return nullptr;
}

void screenshot(QWidget& window, const char* name) {
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!folder.isEmpty()) {
        QVERIFY(
            window.grab().save(folder + QStringLiteral("/%1.png").arg(QString::fromUtf8(name))));
    }
}

} // namespace

class TestMainStory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { app::registerEngineTypes(); }
    void chatWithPictureAndSound();
    void brokenFolderExplainsItself();
};

void TestMainStory::chatWithPictureAndSound() {
    const std::string demo = app::demoModelFolder();
    QVERIFY2(!demo.empty(), "the demo model is part of the source tree");
    engine::EngineOptions options;
    options.demo_folder = demo;
    app::EngineThread thread(options);
    ui::MainWindow window(true);
    app::connectWindow(window, thread);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    screenshot(window, "1-first-run");

    QSignalSpy inspected(thread.worker(), &app::EngineWorker::inspected);
    QTest::mouseClick(named<QPushButton>(window, QStringLiteral("Demo model")), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(inspected.count(), 1, 10000);
    auto* load = named<QPushButton>(window, QStringLiteral("Load"));
    QTRY_VERIFY(load->isEnabled());
    auto* placement = named<QComboBox>(window, QStringLiteral("Placement"));
    placement->setCurrentIndex(placement->findData(QStringLiteral("towers-cpu")));
    QSignalSpy loaded(thread.worker(), &app::EngineWorker::loaded);
    QTest::mouseClick(load, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, 30000);
    screenshot(window, "2-loaded");

    const QString samples = QString::fromStdString(demo) + QStringLiteral("/samples/");
    const QStringList pictures = QDir(samples).entryList({QStringLiteral("*.png")});
    const QStringList sounds = QDir(samples).entryList({QStringLiteral("*.wav")});
    QVERIFY(!pictures.isEmpty() && !sounds.isEmpty());
    QVERIFY(window.attach(samples + pictures.first()));
    auto* input = named<QPlainTextEdit>(window, QStringLiteral("Message"));
    auto* transcript = named<QTextBrowser>(window, QStringLiteral("Conversation"));
    QSignalSpy finished(thread.worker(), &app::EngineWorker::replyFinished);
    QSignalSpy failed(thread.worker(), &app::EngineWorker::replyFailed);
    QTest::keyClicks(input, QStringLiteral("What is in the picture?"));
    QTest::keyClick(input, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count() + failed.count(), 1, 60000);
    QCOMPARE(failed.count(), 0);
    const auto reply = finished.first().at(1).value<engine::Reply>();
    QVERIFY(!reply.text.empty());
    QTRY_VERIFY(transcript->toPlainText().contains(QString::fromStdString(reply.text).trimmed()));

    QVERIFY(window.attach(samples + sounds.first()));
    QTest::keyClicks(input, QStringLiteral("What do you hear?"));
    QTest::keyClick(input, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count() + failed.count(), 2, 60000);
    QCOMPARE(failed.count(), 0);
    // The second turn computes only what is new.
    QVERIFY(finished.last().at(1).value<engine::Reply>().timing.reused_tokens > 0);
    screenshot(window, "3-chat");

    // A file that is no picture: told, and what was typed is back in the box.
    QVERIFY(!window.attach(samples + QStringLiteral("samples.json")));
    QVERIFY(window.attach(QStringLiteral("/nonexistent/picture.png")));
    QTest::keyClicks(input, QStringLiteral("And this?"));
    QTest::keyClick(input, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 30000);
    QTRY_COMPARE(input->toPlainText(), QStringLiteral("And this?"));
    QVERIFY(transcript->toPlainText().contains(QStringLiteral("/nonexistent/picture.png")));
    screenshot(window, "4-error");
}

void TestMainStory::brokenFolderExplainsItself() {
    app::EngineThread thread({});
    ui::MainWindow window(false);
    app::connectWindow(window, thread);
    window.show();
    QSignalSpy failed(thread.worker(), &app::EngineWorker::inspectFailed);
    window.chooseModel(QStringLiteral("/nonexistent/model"));
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 10000);
    auto* label = named<QLabel>(window, QStringLiteral("Chosen model"));
    QTRY_VERIFY(label->text().contains(QStringLiteral("/nonexistent/model")));
    QVERIFY(!named<QPushButton>(window, QStringLiteral("Load"))->isEnabled());
}

QTEST_MAIN(TestMainStory)
#include "tst_main_story.moc"
