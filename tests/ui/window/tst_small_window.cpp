// SPDX-License-Identifier: Apache-2.0
// The window where there is little room: 900x600 in German, and text at twice its size. Nothing is
// cut, and what the side panes would offer is offered elsewhere. Pictures as in tst_screens.
#include "app/start/translations.h"
#include "tests/app/program_fixture.h"
#include "tests/app/screen_checks.h"
#include "tests/support/program/test_class.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/history/history_model.h"
#include "ui/history/history_pane.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTranslator>

#include <set>
#include <string>

using support::kGiB;
using support::Program;

constexpr QSize kSmall(900, 600);

class TestSmallWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void deletedChatComesBack();
    void detailsScrollAndClose();
    void bothSideBySide();
    void lineBelowTheTabsStays();
    void unusableFolder();
    void focusIsSeen();
    void fieldsEndWhereTheButtonEnds();
    void largeText_data();
    void largeText();

private:
    void check(QWidget* top, const QString& name);
    std::unique_ptr<QTemporaryDir> folder_;
    QTranslator translator_;
};

void TestSmallWindow::initTestCase() {
    app::initTranslationResources();
    QLocale::setDefault(QLocale(QStringLiteral("de")));
    QVERIFY(translator_.load(QStringLiteral(":/translations/belfry_de.qm")));
    QCoreApplication::installTranslator(&translator_);
}

void TestSmallWindow::init() {
    folder_ = std::make_unique<QTemporaryDir>();
}

void TestSmallWindow::cleanup() {
    folder_.reset();
    ui::setTextZoom(100);
}

void TestSmallWindow::check(QWidget* top, const QString& name) {
    for (int i = 0; i < 6; ++i) {
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        top->grab().save(QStringLiteral("%1/small-%2.png").arg(to, name));
    }
    const QStringList problems =
        support::clippedTexts(top) + support::overlaps(top) + support::unreachable(top);
    QVERIFY2(problems.isEmpty(),
             qPrintable(name + QLatin1Char('\n') + problems.join(QLatin1Char('\n'))));
}

void TestSmallWindow::deletedChatComesBack() {
    Program program(folder_->path());
    program.window->resize(kSmall);
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", kGiB));
    QVERIFY(program.load());
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
    ui::HistoryPane* history = program.window->historyPane();
    QTRY_VERIFY(!program.chat().chat().id.isEmpty());
    const QString id = program.chat().chat().id;
    program.window->setTab(ui::MainWindow::Tab::Both); // no room for the list
    QTRY_VERIFY(history->isHidden());
    history->setCurrentChat(id);

    const auto remove = [&] {
        QTRY_COMPARE(program.chat().chat().id, id);
        QTRY_VERIFY(history->model()->indexOf(id).isValid()); // the store has answered
        QTest::keyClick(program.input(), Qt::Key_Backspace,
                        Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(program.chat().chat().turns.empty());
    };
    auto* undo = program.find("noticeAction");
    remove();
    QVERIFY(undo->isVisible());
    check(program.window.get(), QStringLiteral("deleted"));
    undo->click();
    QTRY_COMPARE(program.chat().chat().turns.size(), size_t{2});
    // By keyboard, from the message field; what is typed there is undone first.
    remove();
    program.input()->setFocus();
    QTest::keyClicks(program.input(), QStringLiteral("ab"));
    QTest::keyClick(program.input(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(program.input()->toPlainText().isEmpty());
    QVERIFY(undo->isVisible());
    QTest::keyClick(program.input(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(program.chat().chat().turns.size(), size_t{2});
    QVERIFY(!undo->isVisible());
    // And from the layout, which has nothing to undo.
    remove();
    ui::BlockWidget* block = program.window->layoutView()->blockWidget(QStringLiteral("vision"));
    QVERIFY(block != nullptr);
    block->setFocus();
    QTest::keyClick(block, Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(program.chat().chat().turns.size(), size_t{2});
    // Where the list is shown it offers the undo itself.
    program.window->resize(1280, 800);
    program.window->setTab(ui::MainWindow::Tab::Chat);
    QTRY_VERIFY(history->isVisible());
    program.input()->setFocus();
    remove();
    QVERIFY(!undo->isVisible());
    QVERIFY(program.find("historyUndoButton")->isVisible());
    program.input()->setFocus();
    QTest::keyClick(program.input(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(program.chat().chat().turns.size(), size_t{2});
}

void TestSmallWindow::detailsScrollAndClose() {
    Program program(folder_->path());
    program.window->resize(kSmall);
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 4ULL << 20U));
    program.window->setTab(ui::MainWindow::Tab::Layout);
    ui::LayoutView* view = program.window->layoutView();
    QTRY_VERIFY(!view->stagedPlan()->fits);
    auto* toggle = view->findChild<QToolButton*>(QStringLiteral("layoutNoticeToggle"));
    auto* area = view->findChild<QScrollArea*>(QStringLiteral("layoutNoticeArea"));
    QTRY_VERIFY(toggle->isVisible());
    check(program.window.get(), QStringLiteral("over-full"));
    toggle->click();
    QTRY_VERIFY(area->isVisible());
    check(program.window.get(), QStringLiteral("details"));
    QVERIFY2(area->height() <= 0.3 * view->height() + 1,
             qPrintable(QString::number(area->height())));
    QVERIFY(area->verticalScrollBar()->maximum() > 0);
    QVERIFY(area->width() > view->width() - 40); // a row of its own
    area->setFocus();
    QTest::keyClick(area, Qt::Key_Escape);
    QVERIFY(!area->isVisible());
    QVERIFY(toggle->hasFocus());
    // From a block as well.
    toggle->click();
    QTRY_VERIFY(area->isVisible());
    ui::BlockWidget* block = view->blockWidget(QStringLiteral("vision"));
    block->setFocus();
    QTest::keyClick(block, Qt::Key_Escape);
    QVERIFY(!area->isVisible());
    program.window->setTab(ui::MainWindow::Tab::Both);
    toggle->click();
    check(program.window.get(), QStringLiteral("both-details"));
}

void TestSmallWindow::bothSideBySide() {
    Program program(folder_->path());
    program.window->resize(kSmall);
    const QString demo = QString::fromStdString(program.demo);
    QVERIFY(program.choose(demo, "gpu", 8 * kGiB));
    program.session().addAdapter(demo + QStringLiteral("/adapter"));
    program.window->setTab(ui::MainWindow::Tab::Both);
    QTRY_VERIFY(program.session().coverage(program.session().adapters().front().folder) != nullptr);
    QVERIFY(!program.window->meter()->isVisible());
    check(program.window.get(), QStringLiteral("both-not-loaded"));
    QVERIFY(program.load());
    program.find<QToolButton>("systemPromptButton")->click();
    check(program.window.get(), QStringLiteral("both"));
    QCOMPARE(program.window->size(), kSmall);
    QVERIFY(program.drag(QStringLiteral("vision"), engine::DeviceId::cpu()));
    QVERIFY(program.waitForPlace(QStringLiteral("vision"), engine::DeviceId::cpu()));
    check(program.window.get(), QStringLiteral("both-staged"));
}

/// The chat's header goes into a row of its own where the tabs leave no room: below the line.
void TestSmallWindow::lineBelowTheTabsStays() {
    using Tab = ui::MainWindow::Tab;
    Program program(folder_->path());
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", kGiB));
    auto* line = program.window->findChild<QWidget*>(QStringLiteral("tabsLine"));
    QVERIFY(line != nullptr);
    for (const int width : {860, 1024, 1280, 1920}) {
        program.window->resize(width, 800);
        std::set<int> places;
        for (const Tab tab : {Tab::Chat, Tab::Layout, Tab::Both, Tab::Chat}) {
            program.window->setTab(tab);
            for (int i = 0; i < 6; ++i) {
                QCoreApplication::sendPostedEvents();
                QCoreApplication::processEvents();
            }
            places.insert(line->mapTo(program.window.get(), QPoint()).y());
        }
        QVERIFY2(places.size() == 1, std::to_string(width).c_str());
    }
}

void TestSmallWindow::unusableFolder() {
    QTemporaryDir other;
    QFile config(other.filePath(QStringLiteral("config.json")));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write(R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]})");
    config.close();
    Program program(folder_->path());
    program.window->resize(kSmall);
    program.session().chooseModel(other.path());
    QTRY_VERIFY(program.session().modelError() != nullptr);
    auto* why = program.find<QLabel>("unusableWhy");
    QTRY_VERIFY(why->isVisible());
    QVERIFY2(why->text().contains(QStringLiteral("qwen3")) &&
                 !why->text().contains(QStringLiteral("model_type")),
             qPrintable(why->text()));
    QVERIFY(!program.find("addAdapterButton")->isEnabled());
    QVERIFY(!program.find("topLoadButton")->isVisible());
    check(program.window.get(), QStringLiteral("unusable"));
    program.find("whyButton")->click();
    QTRY_VERIFY(program.find<QWidget>("modelPanel")->isVisible());
    check(program.window.get(), QStringLiteral("unusable-panel"));
    QTest::keyClick(program.window->focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!program.find<QWidget>("modelPanel")->isVisible());
    // The folder without a model in it; then the way on.
    program.session().chooseModel(folder_->path());
    QTRY_VERIFY(why->text().contains(QStringLiteral("config.json")));
    program.find("unusableDemo")->click();
    QTRY_VERIFY(program.session().state() == ui::Session::State::Ready);
    QVERIFY(!why->isVisible());
    QVERIFY(program.find("addAdapterButton")->isEnabled());
}

void TestSmallWindow::focusIsSeen() {
    Program program(folder_->path());
    program.window->resize(1280, 800);
    // The filled button first, as it stands; its ring is not of the colour it is drawn on.
    auto* demo = program.find("welcomeDemo");
    auto* choose = program.find("welcomeChoose");
    QTRY_VERIFY(demo->isVisible());
    const QImage before = demo->grab().toImage();
    demo->setFocus(Qt::TabFocusReason);
    QTest::keyClick(demo, Qt::Key_Tab);
    QVERIFY(choose->hasFocus());
    QTest::keyClick(choose, Qt::Key_Backtab);
    QVERIFY(demo->hasFocus());
    check(program.window.get(), QStringLiteral("focus-button"));
    QVERIFY(demo->grab().toImage() != before);
    ui::MemoryMeter* meter = program.window->meter();
    const QImage quiet = meter->grab().toImage();
    meter->setFocus(Qt::TabFocusReason);
    check(program.window.get(), QStringLiteral("focus-meter"));
    QVERIFY(meter->grab().toImage() != quiet);
}

/// Whether the form scrolls or not.
void TestSmallWindow::fieldsEndWhereTheButtonEnds() {
    ui::applyTheme(*qobject_cast<QApplication*>(QCoreApplication::instance()));
    ui::SettingsDialog dialog({}, {}, QStringLiteral("/chats"), QStringLiteral("/cache"), nullptr);
    dialog.show();
    const auto* field = dialog.findChild<QComboBox*>(QStringLiteral("themeBox"));
    const QPushButton* close =
        dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Close);
    const auto* bar = dialog.findChild<QScrollArea*>()->verticalScrollBar();
    const auto right_of = [&dialog](const QWidget* widget) {
        return widget->mapTo(&dialog, QPoint(widget->width(), 0)).x();
    };
    for (const int height : {500, 1200}) {
        dialog.resize(600, height);
        QTRY_COMPARE(bar->isVisible(), height == 500);
        QTRY_COMPARE(right_of(field), right_of(close));
    }
}

void TestSmallWindow::largeText_data() {
    QTest::addColumn<int>("zoom");
    QTest::newRow("150 %") << 150;
    QTest::newRow("200 %") << 200;
}

void TestSmallWindow::largeText() {
    QFETCH(int, zoom);
    ui::Settings settings;
    settings.text_zoom = zoom;
    ui::setTextZoom(zoom);
    Program program(folder_->path(), settings);
    program.window->resize(1280, 800);
    const QString demo = QString::fromStdString(program.demo);
    const auto name = [&](const char* what) {
        return QStringLiteral("text-%1-%2").arg(zoom).arg(QString::fromLatin1(what));
    };
    check(program.window.get(), name("welcome"));
    QVERIFY(program.choose(demo, "gpu", 8 * kGiB));
    program.session().addAdapter(demo + QStringLiteral("/adapter"));
    QTRY_VERIFY(program.session().coverage(program.session().adapters().front().folder) != nullptr);
    QVERIFY(program.load());
    check(program.window.get(), name("chat"));
    program.window->setTab(ui::MainWindow::Tab::Layout);
    check(program.window.get(), name("layout"));
    program.window->setTab(ui::MainWindow::Tab::Both);
    check(program.window.get(), name("both"));
    // The narrowest window, with the form of the model: it scrolls, and no field is squeezed.
    program.window->setTab(ui::MainWindow::Tab::Chat);
    program.window->resize(860, 620);
    program.find<QAbstractButton>("modelButton")->click();
    check(program.window.get(), name("panel-860"));
}

TEST_CLASS_WITH(QApplication, TestSmallWindow)
#include "tst_small_window.moc"
