// SPDX-License-Identifier: Apache-2.0
// A newcomer's main story, timed: the first window, a small model from a hub (the demo's files as a
// repository), its parts placed, the first reply. Nothing is asked of the network before the click
// that says so. The seconds of each step are told; with BELFRY_SCREENSHOTS set every step is saved
// as a picture in both themes, at 100 % and 200 % of the text.
#include "tests/app/hub/models_fixture.h"
#include "tests/support/hub/gguf_repository.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QListWidget>
#include <QTemporaryDir>

using engine::DeviceId;
using support::kGiB;
using support::Program;
using SessionState = ui::Session::State;

class TestNewcomer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void fromNothingToAReply_data();
    void fromNothingToAReply();
    void aGgufTrio();
    void aBrokenPair();
};

void TestNewcomer::fromNothingToAReply_data() {
    support::addColumns<bool, int>("is_dark", "zoom");
    QTest::newRow("light-100") << false << 100;
    if (qEnvironmentVariableIsSet("BELFRY_SCREENSHOTS")) {
        QTest::newRow("dark-100") << true << 100;
        QTest::newRow("light-200") << false << 200;
        QTest::newRow("dark-200") << true << 200;
    }
}

void TestNewcomer::fromNothingToAReply() {
    QFETCH(bool, is_dark);
    QFETCH(int, zoom);
    QTemporaryDir folder;
    ui::Settings settings = support::settingsAfterGuide();
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    settings.text_zoom = zoom;
    ui::setTextZoom(zoom);
    support::HubContent content = support::demoRepository(app::demoModelFolder());
    content.bytes_per_second = 4'000'000; // a home's line: the row is seen moving
    const support::HubStandin hub(content);

    QElapsedTimer clock;
    clock.start();
    QStringList times;
    Program program(folder.path(), settings);
    support::Models models(program, folder.path(), hub.endpoint());
    program.window->resize(1280, 800);
    QVERIFY(QTest::qWaitForWindowExposed(program.window.get()));
    const auto step = [&](const char* name) {
        times << QStringLiteral("%1 %2 s")
                     .arg(QString::fromLatin1(name))
                     .arg(static_cast<double>(clock.elapsed()) / 1000.0, 0, 'f', 1);
        program.shot(qPrintable(
            QStringLiteral("newcomer-%1-%2")
                .arg(QString::fromLatin1(QTest::currentDataTag()), QString::fromLatin1(name))));
    };
    step("1-first-window");

    QTest::mouseClick(program.find("welcomeGet"), Qt::LeftButton);
    QVERIFY(models.getPage().isVisible());
    // What each of the family takes here, by the planner: no request.
    QTRY_VERIFY_WITH_TIMEOUT(models.getPage().model()->needs(QStringLiteral("31B")).has_value(),
                             60000);
    QTRY_VERIFY(!models.label("offerNeedsThere")->isHidden());
    step("2-family");
    QCOMPARE(hub.requests().size(), size_t{0});

    QVERIFY(models.lookUp(QStringLiteral("belfry/demo-4")));
    QVERIFY2(models.label("offerProblem")->isHidden(),
             qPrintable(models.label("offerProblem")->text()));
    QVERIFY(models.label("offerFiles")->text().contains(QStringLiteral("model.safetensors")));
    QVERIFY(models.label("offerPlan")->text().contains(QStringLiteral("Fits")));
    step("3-before-the-download");

    QTest::mouseClick(program.find("offerDownload"), Qt::LeftButton);
    QTRY_VERIFY(!models.downloads().empty() && models.downloads().front().done_bytes > 500'000);
    step("4-downloading");
    QVERIFY(models.waitForDownload(ui::Download::State::Done));
    QCOMPARE(program.find("offerDownload")->text(), QStringLiteral("&Load"));
    step("5-downloaded");
    const QString fetched = models.downloads().front().folder;

    program.window->showModels(ui::ModelsPage::Page::Library);
    QTRY_VERIFY(models.libraryPage().model()->indexOf(fetched).isValid());
    QTRY_VERIFY_WITH_TIMEOUT(program.find("libraryScan")->text() == QStringLiteral("L&ook again"),
                             30000);
    step("6-library");

    // One card that is simulated, so that there are two places.
    engine::LoadRequest options = program.session().request();
    options.sim_gpus = {8 * kGiB};
    options.device_map = "gpu";
    program.session().setOptions(options);
    QTest::mouseClick(program.find("libraryLoad"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(program.session().state() == SessionState::Ready, 60000);
    QCOMPARE(program.session().loadedModel(), fetched);
    QCOMPARE(program.session().modelName(), QStringLiteral("demo-4")); // not the commit's digits
    step("7-loaded");

    program.window->setTab(ui::MainWindow::Tab::Layout);
    QTRY_VERIFY(program.window->layoutView()->blockWidget(QStringLiteral("vision")) != nullptr);
    if (zoom == 100) {
        QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu()));
    } else { // the lanes are longer than the window: by keyboard, as who reads so large may well
        ui::BlockWidget* block =
            program.window->layoutView()->blockWidget(QStringLiteral("vision"));
        block->setFocus();
        QTest::keyClick(block, Qt::Key_M);
        QTRY_VERIFY(program.window->layoutView()->isHolding());
        QTest::keyClick(block, Qt::Key_2);
        QTest::keyClick(block, Qt::Key_Return);
    }
    QVERIFY(program.waitForPlace(QStringLiteral("vision"), DeviceId::cpu()));
    QTest::mouseClick(program.find("layoutApply"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!program.window->layoutView()->hasChanges(), 30000);
    step("8-placed");

    program.window->setTab(ui::MainWindow::Tab::Chat);
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
    QVERIFY(!program.chat().chat().turns.back().text.isEmpty());
    step("9-first-reply");
    qInfo("%s", qPrintable(times.join(QStringLiteral("; "))));
    ui::setTextZoom(100);
}

/// A repository of GGUF files is one entry with its quantizations side by side; one click fetches
/// model, projector and assistant, and one loads the file.
void TestNewcomer::aGgufTrio() {
    const QTemporaryDir folder;
    const support::HubStandin hub(support::ggufRepository());
    Program program(folder.path(), support::settingsAfterGuide());
    support::Models models(program, folder.path(), hub.endpoint());
    program.window->resize(1280, 800);
    QVERIFY(QTest::qWaitForWindowExposed(program.window.get()));
    QVERIFY(models.lookUp(QStringLiteral("org/tiny-GGUF")));
    QVERIFY2(models.label("offerProblem")->isHidden(),
             qPrintable(models.label("offerProblem")->text()));
    QVERIFY2(models.label("offerPlan")->text().contains(QStringLiteral("Fits")),
             qPrintable(models.label("offerPlan")->text()));
    auto* list = program.find<QListWidget>("offerQuantizations");
    QVERIFY(list->isVisible());
    QCOMPARE(list->count(), 2);
    QCOMPARE(list->currentRow(), 0);
    QVERIFY2(list->item(1)->text().startsWith(QStringLiteral("Q8_0 · ")) &&
                 list->item(1)->text().endsWith(QStringLiteral(" · fits")),
             qPrintable(list->item(1)->text()));
    program.shot("gguf-1-offer");
    // Another one is looked at by a click.
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualItemRect(list->item(1)).center());
    QTRY_VERIFY_WITH_TIMEOUT(
        models.label("offerFiles")->text().contains(QStringLiteral("tiny-Q8_0.gguf")), 30000);
    QVERIFY(!models.label("offerFiles")->text().contains(QStringLiteral("tiny-Q4_0.gguf")));
    QCOMPARE(list->currentRow(), 1);

    QTest::mouseClick(program.find("offerDownload"), Qt::LeftButton);
    QVERIFY(models.waitForDownload(ui::Download::State::Done));
    QCOMPARE(program.find("offerDownload")->text(), QStringLiteral("&Load"));
    const QString fetched = models.downloads().front().folder;
    QVERIFY2(fetched.endsWith(QStringLiteral("/tiny-Q8_0.gguf")), qPrintable(fetched));
    program.window->showModels(ui::ModelsPage::Page::Library);
    QTRY_VERIFY(models.libraryPage().model()->indexOf(fetched).isValid());
    program.shot("gguf-2-library");
    program.window->showModels(ui::ModelsPage::Page::Get);
    QTest::mouseClick(program.find("offerDownload"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(program.session().state() == SessionState::Ready, 60000);
    QCOMPARE(program.session().loadedModel(), fetched);
    QCOMPARE(program.session().modelName(), QStringLiteral("tiny-Q8_0"));
    QVERIFY(program.session().summary()->has_vision);
    program.window->setTab(ui::MainWindow::Tab::Layout);
    program.shot("gguf-3-layout");
    program.window->setTab(ui::MainWindow::Tab::Chat);
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
}

void TestNewcomer::aBrokenPair() {
    const QTemporaryDir folder;
    const support::HubStandin hub(support::brokenGgufRepository());
    Program program(folder.path(), support::settingsAfterGuide());
    support::Models models(program, folder.path(), hub.endpoint());
    QVERIFY(models.lookUp(QStringLiteral("org/tiny-GGUF")));
    QVERIFY2(models.label("offerPlan")->text().contains(QStringLiteral("belongs to another model")),
             qPrintable(models.label("offerPlan")->text()));
    program.shot("gguf-4-broken-pair");
    QVERIFY(program.find("offerDownload")->isHidden());
    QVERIFY(!std::filesystem::exists(models.cache()));
}

TEST_CLASS_WITH(QApplication, TestNewcomer)
#include "tst_newcomer.moc"
