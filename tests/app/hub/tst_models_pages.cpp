// SPDX-License-Identifier: Apache-2.0
// The pages Library and Get a model in the real window: nothing is asked before a click, a download
// is paused, outlives a restart and goes on, parts of a cancelled one go, a token is asked for and
// helps, the switch forbids, deleting says its bytes and does it, folders come and go. How long the
// window keeps an event waiting while a fast download runs is measured and told.
#include "tests/app/hub/models_fixture.h"
#include "tests/models/trees.h"
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/explore/fit_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QTemporaryDir>

#include <algorithm>
#include <random>

namespace fs = std::filesystem;
using support::HubContent;
using support::HubStandin;
using support::Models;
using support::Program;
using State = ui::Download::State;

namespace {

HubContent demoContent() {
    return support::demoRepository(app::demoModelFolder());
}

/// Bytes that nothing packs, so that the one file is long and its checksum is work.
HubContent largeModel(size_t bytes) {
    HubContent content = demoContent();
    std::string& weights = content.files["model.safetensors"];
    weights.resize(std::max(weights.size(), bytes));
    return content;
}

void click(Program& program, const char* name) {
    auto* button = program.find<QAbstractButton>(name);
    QVERIFY2(button != nullptr && button->isVisible() && button->isEnabled(), name);
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestModelsPages : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void openedPagesAskNothing();
    void drawsWhatIsNotFetched();
    void pausesAndOutlivesARestart();
    void partsOfACancelledDownloadGo();
    void aTokenIsAskedForAndHelps();
    void theSwitchForbids();
    void searchesAndFindsAdapters();
    void deletingSaysItsBytes();
    void foldersComeAndGo();
    void framesWhileADownloadRuns();
};

void TestModelsPages::openedPagesAskNothing() {
    QTemporaryDir folder;
    const HubStandin hub(demoContent());
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Library);
    QTRY_VERIFY(models.libraryPage().wasFilled());
    QVERIFY(program.find<QWidget>("libraryEmpty")->isVisible()); // an empty state with a way on
    click(program, "libraryEmptyGet");
    QVERIFY(models.getPage().isVisible());
    auto* list = program.find<QListView>("getList");
    for (int row = 1; row <= 4; ++row) {
        list->setCurrentIndex(models.getPage().model()->index(row));
        QTRY_VERIFY_WITH_TIMEOUT(!models.label("offerNeeds")->isHidden(), 60000);
    }
    auto* cards = program.find<QComboBox>("offerCards");
    const QString before = models.label("offerNeedsThere")->text();
    cards->setCurrentIndex(cards->count() - 1);
    Q_EMIT cards->activated(cards->currentIndex());
    QTRY_VERIFY(!models.label("offerNeedsThere")->isHidden());
    QVERIFY(models.label("offerNeedsThere")->text() != before);
    QTest::keyClick(&models.getPage(), Qt::Key_Escape);
    QVERIFY(!models.getPage().isVisible());
    QCOMPARE(hub.requests().size(), size_t{0});
}

void TestModelsPages::drawsWhatIsNotFetched() {
    QTemporaryDir folder;
    const HubContent content = demoContent();
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    QVERIFY(models.lookUp(QString::fromStdString(content.id)));
    const size_t asked = hub.requests().size();
    click(program, "offerDraw");
    const ui::FitGrid& grid = program.window->fitPage()->grid();
    QTRY_VERIFY(!grid.lines().empty() && !grid.next().has_value());
    QVERIFY(grid.point({0, 0}) != nullptr &&
            grid.point({0, 0})->state == ui::FitPoint::State::Fits);
    QCOMPARE(hub.requests().size(), asked); // its headers were there already
}

void TestModelsPages::pausesAndOutlivesARestart() {
    QTemporaryDir folder;
    HubContent content = largeModel(24'000'000);
    content.bytes_per_second = 6'000'000;
    const HubStandin hub(content);
    size_t asked = 0;
    {
        Program program(folder.path());
        Models models(program, folder.path(), hub.endpoint());
        QVERIFY(models.lookUp(QString::fromStdString(content.id)));
        click(program, "offerDownload");
        QTRY_VERIFY(!models.downloads().empty() &&
                    models.downloads().front().done_bytes > 2'000'000);
        QTRY_VERIFY(models.label("downloadWords")->text().contains(QStringLiteral("/s")));
        click(program, "downloadToggle");
        QVERIFY(models.waitForDownload(State::Paused));
        QVERIFY(models.label("downloadWords")->text().contains(QStringLiteral("paused")));
        asked = hub.requests().size();
    }
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Get);
    QVERIFY(models.waitForDownload(State::Paused)); // there, and not begun
    QVERIFY(models.downloads().front().done_bytes > 2'000'000);
    QTest::qWait(300);
    QCOMPARE(hub.requests().size(), asked);
    click(program, "downloadToggle");
    QVERIFY(models.waitForDownload(State::Done));
    uint64_t size = 0;
    for (const auto& [name, text] : content.files) {
        size += text.size();
    }
    QCOMPARE_LT(hub.bytesSent(), size + (uint64_t{8} << 20U));
    QVERIFY(fs::exists(fs::path(models.downloads().front().folder.toStdString()) /
                       "model.safetensors"));
    click(program, "downloadsClear");
    QTRY_VERIFY(models.downloads().empty());
    QVERIFY(!models.getPage().downloads()->isVisible());
}

void TestModelsPages::partsOfACancelledDownloadGo() {
    QTemporaryDir folder;
    HubContent content = largeModel(24'000'000);
    content.bytes_per_second = 6'000'000;
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    QVERIFY(models.lookUp(QString::fromStdString(content.id)));
    click(program, "offerDownload");
    QTRY_VERIFY(!models.downloads().empty() && models.downloads().front().done_bytes > 1'000'000);
    click(program, "downloadCancel");
    QTRY_VERIFY(program.find<QMessageBox>("cancelDownload") != nullptr);
    auto* box = program.find<QMessageBox>("cancelDownload");
    QTRY_VERIFY(box != nullptr && box->isVisible());
    QVERIFY(box->informativeText().contains(QStringLiteral("MiB")));
    for (QAbstractButton* button : box->buttons()) {
        if (box->buttonRole(button) == QMessageBox::DestructiveRole) {
            QTest::mouseClick(button, Qt::LeftButton);
            break;
        }
    }
    QTRY_VERIFY(models.downloads().empty());
    QTRY_VERIFY([&] {
        for (const auto& file : fs::recursive_directory_iterator(models.cache())) {
            if (file.path().extension() == ".incomplete") {
                return false;
            }
        }
        return true;
    }());
}

void TestModelsPages::aTokenIsAskedForAndHelps() {
    QTemporaryDir folder;
    HubContent content = demoContent();
    content.token = "hf_secretsecretsecret";
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    QVERIFY(models.lookUp(QString::fromStdString(content.id)));
    QVERIFY(!models.label("offerProblem")->text().isEmpty());
    QVERIFY(!models.label("offerProblem")->text().contains(QStringLiteral("hf_secret")));
    click(program, "offerWayOn");
    QTRY_VERIFY(program.find<QDialog>("tokenDialog") != nullptr &&
                program.find<QDialog>("tokenDialog")->isVisible());
    QVERIFY(!program.find("tokenUse")->isEnabled());
    program.find<QLineEdit>("tokenField")->setText(QStringLiteral("  hf_secretsecretsecret "));
    click(program, "tokenUse");
    QTRY_COMPARE(models.getPage().network().token_shown.right(4), QStringLiteral("cret"));
    click(program, "offerLook"); // Try again
    QTRY_VERIFY(!models.label("offerFigures")->isHidden());
    QVERIFY(models.label("offerProblem")->isHidden());
    for (const auto& request : hub.requests()) {
        QVERIFY(!request.is_other_host || request.headers.count("authorization") == 0);
    }
}

void TestModelsPages::theSwitchForbids() {
    QTemporaryDir folder;
    const HubStandin hub(demoContent());
    ui::Settings settings = support::settingsAfterGuide();
    settings.uses_network = false;
    Program program(folder.path(), settings);
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Get);
    QTRY_VERIFY(models.getPage().network().is_forbidden);
    QVERIFY(!program.find("getGo")->isEnabled());
    QVERIFY(!program.find("offerLook")->isEnabled());
    auto* field = program.find<QLineEdit>("getField");
    field->setText(QStringLiteral("belfry/demo-4"));
    QTest::keyClick(field, Qt::Key_Return);
    QTest::qWait(200);
    QCOMPARE(hub.requests().size(), size_t{0});
    click(program, "offerWayOn"); // Settings…
    QTRY_VERIFY(program.find<QCheckBox>("offlineCheck") != nullptr);
    auto* check = program.find<QCheckBox>("offlineCheck");
    QTRY_VERIFY(check != nullptr && check->isVisible());
    QVERIFY(check->isChecked());
    check->setChecked(false);
    QTRY_VERIFY(!models.getPage().network().is_forbidden);
    delete program.find<QDialog>("settingsDialog");
    QVERIFY(program.find("getGo")->isEnabled());
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(!models.label("offerFigures")->isHidden());
    QVERIFY(!hub.requests().empty());
}

void TestModelsPages::searchesAndFindsAdapters() {
    QTemporaryDir folder;
    HubContent content = demoContent();
    content.search_pages = {
        R"([{"id":"google/gemma-4-E2B-it","downloads":120000,"gated":false,)"
        R"("tags":["safetensors","license:apache-2.0"],"safetensors":{"total":5123178979}},)"
        R"({"id":"a/gated","downloads":7,"tags":["safetensors"],"gated":"manual"}])",
        R"([{"id":"b/french","downloads":3,)"
        R"("tags":["peft","base_model:adapter:google/gemma-4-E2B-it"]}])"};
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Get);
    QTRY_VERIFY(!models.getPage().network().endpoint.isEmpty());
    auto* field = program.find<QLineEdit>("getField");
    field->setText(QStringLiteral("gemma 4"));
    QTest::keyClick(field, Qt::Key_Return);
    ui::GetModel* list = models.getPage().model();
    QTRY_COMPARE(list->hitCount(), 2);
    QVERIFY(hub.requests().front().path.find("gemma") != std::string::npos);
    QVERIFY(hub.requests().front().path.find("filter=safetensors") != std::string::npos);
    QCOMPARE(list->hit(list->firstHit())->downloads, quint64{120000});
    QCOMPARE(list->index(list->firstHit().row() + 1).data(ui::ModelRow::VerdictRole).toString(),
             QStringLiteral("licence to accept"));
    click(program, "getMore");
    QTRY_COMPARE(list->hitCount(), 3);
    QVERIFY(!program.find("getMore")->isVisible());
    // Adapters for one of the family: the request names the base.
    program.find<QListView>("getList")->setCurrentIndex(list->index(1));
    click(program, "offerAdapters");
    QTRY_VERIFY(hub.requests().size() >= 3);
    QVERIFY(hub.requests().back().path.find("gemma-4-E2B-it") != std::string::npos);
    QTRY_COMPARE(program.find("getGo")->text(), QStringLiteral("Searc&h"));
}

void TestModelsPages::deletingSaysItsBytes() {
    QTemporaryDir folder;
    const HubStandin hub(demoContent());
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    const support::HubRepository there(models.cache(), "models--google--gemma-4-E2B-it");
    there.linkModel(support::kCommitA, '3');
    there.ref("main", support::kCommitA);
    program.window->showModels(ui::ModelsPage::Page::Library);
    QTRY_COMPARE(models.libraryPage().model()->itemCount(), 1);
    QTRY_VERIFY_WITH_TIMEOUT(program.find("libraryScan")->text() == QStringLiteral("L&ook again"),
                             30000);
    click(program, "libraryDelete");
    QDialog* dialog = nullptr;
    QTRY_VERIFY((dialog = program.find<QDialog>("removalDialog")) != nullptr &&
                dialog->isVisible());
    uint64_t bytes = 0;
    for (const auto& file : fs::recursive_directory_iterator(there.folder())) {
        bytes += file.is_regular_file() && !file.is_symlink() ? file.file_size() : 0;
    }
    const QString told = models.label("removalBytes")->text();
    QVERIFY2(told.contains(QLocale().toString(static_cast<qulonglong>(bytes))), qPrintable(told));
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("removalKeep")),
                      Qt::LeftButton);
    QTest::qWait(100);
    QVERIFY(fs::exists(there.folder()));
    QTRY_VERIFY(program.find<QDialog>("removalDialog") == nullptr);
    click(program, "libraryDelete");
    QTRY_VERIFY(program.find("removalDelete") != nullptr &&
                program.find("removalDelete")->isVisible());
    click(program, "removalDelete");
    QTRY_VERIFY(!fs::exists(there.folder()));
    QTRY_COMPARE(models.libraryPage().model()->itemCount(), 0);
    QTRY_VERIFY(program.find<QWidget>("libraryEmpty")->isVisible());
}

void TestModelsPages::foldersComeAndGo() {
    QTemporaryDir folder;
    QTemporaryDir mine;
    support::putModel(fs::path(mine.path().toStdString()) / "gemma");
    support::putAdapter(fs::path(mine.path().toStdString()) / "french", "gemma");
    const HubStandin hub(demoContent());
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Library);
    QTRY_VERIFY(models.libraryPage().wasFilled());
    Q_EMIT models.libraryPage().folderAdded(mine.path());
    QTRY_COMPARE(models.libraryPage().model()->itemCount(), 2);
    QVERIFY(models.libraryPage().model()->contents()->folders.contains(mine.path()));
    auto* filter = program.find<QLineEdit>("libraryFilter");
    filter->setText(QStringLiteral("french"));
    QTRY_VERIFY(models.libraryPage().model()->itemCount() >= 1);
    filter->setText(QStringLiteral("nothing of that name"));
    QTRY_COMPARE(models.libraryPage().model()->itemCount(), 0);
    QVERIFY(models.label("libraryStatus")->isVisible());
    filter->clear();
    Q_EMIT models.libraryPage().folderRemoved(mine.path());
    QTRY_COMPARE(models.libraryPage().model()->itemCount(), 0);
    QVERIFY(models.libraryPage().model()->contents()->folders.isEmpty());
    QVERIFY(fs::exists(fs::path(mine.path().toStdString()) / "gemma" / "config.json"));
    // A folder that is gone is told, not silently passed over.
    Q_EMIT models.libraryPage().folderAdded(mine.path() + QStringLiteral("/gone"));
    const QLabel* gaps = models.label("libraryGaps");
    QTRY_VERIFY2(gaps->text().contains(QStringLiteral("gone")), qPrintable(gaps->text()));
}

void TestModelsPages::framesWhileADownloadRuns() {
    QTemporaryDir folder;
    const HubContent content = largeModel(size_t{300} << 20U);
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    program.window->resize(1280, 800);
    QVERIFY(models.lookUp(QString::fromStdString(content.id)));
    const auto measure = [&](auto&& is_over) {
        support::Probe probe(program.window.get());
        const auto start = support::Clock::now();
        while (!is_over() && support::millisecondsSince(start) < 60'000) {
            program.window->update(); // as if something moved: every frame is painted
            support::runLoop(16);
        }
        return std::pair(probe.wall_ms, probe.cpu_ms);
    };
    const auto idle_start = support::Clock::now();
    const auto idle = measure([&] { return support::millisecondsSince(idle_start) > 1500; });
    click(program, "offerDownload");
    const auto busy = measure([&] {
        return !models.downloads().empty() && models.downloads().front().state == State::Done;
    });
    QCOMPARE(models.downloads().front().state, State::Done);
    const auto told = [](const std::vector<double>& ms) {
        return QStringLiteral("p50 %1, p99 %2, worst %3 ms")
            .arg(support::percentile(ms, 0.5), 0, 'f', 1)
            .arg(support::percentile(ms, 0.99), 0, 'f', 1)
            .arg(support::percentile(ms, 1.0), 0, 'f', 1);
    };
    qInfo("an event waited, idle: %s; while 300 MiB came: %s; own work between two: %s",
          qPrintable(told(idle.first)), qPrintable(told(busy.first)),
          qPrintable(told(busy.second)));
    QVERIFY(busy.first.size() > 20);
}

TEST_CLASS_WITH(QApplication, TestModelsPages)
#include "tst_models_pages.moc"
