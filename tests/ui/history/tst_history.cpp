// SPDX-License-Identifier: Apache-2.0
// The history pane by mouse and by keyboard alone: headings, search, rename, delete and undo,
// export, what stands there when there is nothing to list. Pictures go to $BELFRY_SCREENSHOTS.
#include "tests/support/program/test_class.h"
#include "ui/history/history_model.h"
#include "ui/history/history_pane.h"
#include "ui/style/theme.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <cstdlib>

namespace {

const QDate kToday(2026, 11, 21);

ui::ChatSummary summary(const QString& title, int days_ago, const QString& excerpt = {}) {
    ui::ChatSummary chat;
    chat.id = QStringLiteral("id ") + title;
    chat.title = title;
    chat.modified = QDateTime(kToday.addDays(-days_ago), QTime(12, 0));
    chat.created = chat.modified;
    chat.turns = 4;
    chat.excerpt = excerpt;
    return chat;
}

std::vector<ui::ChatSummary> sampleList() {
    return {summary(QStringLiteral("What is on this X-ray?"), 0),
            summary(QStringLiteral("Bird call, 12 seconds"), 0),
            summary(QStringLiteral("Explain NF4 to me"), 1),
            summary(QStringLiteral("Receipt to table"), 3),
            summary(QStringLiteral("Compare adapters with a title that is far too long"), 20),
            summary(QStringLiteral("Old year"), 400)};
}

QStringList rows(const ui::HistoryModel& model) {
    QStringList list;
    for (int row = 0; row < model.rowCount(); ++row) {
        const QModelIndex index = model.index(row);
        const QString text = index.data().toString();
        list.append(index.data(ui::HistoryModel::IsHeadingRole).toBool()
                        ? QLatin1Char('[') + text + QLatin1Char(']')
                        : text);
    }
    return list;
}

/// Pixels of `part` that stand out from the colour of its top left corner: text, frames.
int drawnPixels(const QImage& image, const QRect& part) {
    const QColor ground = image.pixelColor(part.topLeft());
    int drawn = 0;
    for (int y = part.top(); y <= part.bottom(); ++y) {
        for (int x = part.left(); x <= part.right(); ++x) {
            drawn += std::abs(image.pixelColor(x, y).lightness() - ground.lightness()) > 60 ? 1 : 0;
        }
    }
    return drawn;
}

/// That the picture shows the theme's ground, and something on it in every row of the list.
void checkPicture(ui::HistoryPane& pane, const QListView& list, const QString& name) {
    const QImage image = pane.grab().toImage().convertToFormat(QImage::Format_RGB32);
    const ui::Theme& theme = ui::Theme::current();
    QCOMPARE(image.pixelColor(1, image.height() - 2).lightness() < 128, theme.is_dark);
    const QAbstractItemModel& model = *list.model();
    QVERIFY(model.rowCount() > 0);
    for (int row = 0; row < model.rowCount(); ++row) {
        const QModelIndex index = model.index(row, 0);
        const QRect shown = list.visualRect(index);
        QVERIFY(list.viewport()->rect().contains(shown));
        const QRect part(list.viewport()->mapTo(&pane, shown.topLeft()), shown.size());
        QVERIFY2(drawnPixels(image, part) > 40, qPrintable(name + index.data().toString()));
    }
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!folder.isEmpty()) {
        QVERIFY(image.save(QStringLiteral("%1/%2.png").arg(folder, name)));
    }
}

} // namespace

class TestHistory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void headingsByAge();
    void modelKeepsItsPromises();
    void sameChatsKeepTheEditor();
    void chooseByMouseAndKeyboard();
    void searchAsksOnceAndDropsOldAnswers();
    void renameByKeyboard();
    void deleteAndUndo();
    void bareKeysDeleteNothing();
    void menuLeavesTheMark();
    void menuExports();
    void pinsAndDuplicates();
    void importsAFile();
    void saveProblem();
    void emptyTexts();
    void everythingIsNamedAndReachable();
    void pictures();

private:
    [[nodiscard]] QListView* list() const {
        return pane_->findChild<QListView*>(QStringLiteral("historyList"));
    }
    [[nodiscard]] QLineEdit* search() const {
        return pane_->findChild<QLineEdit*>(QStringLiteral("historySearch"));
    }
    [[nodiscard]] QPoint centreOf(const QString& id) const {
        return list()->visualRect(pane_->model()->indexOf(id)).center();
    }

    std::unique_ptr<ui::HistoryPane> pane_;
};

void TestHistory::initTestCase() {
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    ui::applyTheme(*qApp);
}

void TestHistory::init() {
    pane_ = std::make_unique<ui::HistoryPane>();
    pane_->resize(220, 700);
    pane_->show();
    QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    pane_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(pane_.get()));
}

void TestHistory::cleanup() {
    pane_.reset();
}

void TestHistory::headingsByAge() {
    ui::HistoryModel model;
    model.setChats(sampleList(), {}, kToday);
    QCOMPARE(rows(model),
             (QStringList{QStringLiteral("[Today]"), QStringLiteral("What is on this X-ray?"),
                          QStringLiteral("Bird call, 12 seconds"), QStringLiteral("[Yesterday]"),
                          QStringLiteral("Explain NF4 to me"), QStringLiteral("[Last seven days]"),
                          QStringLiteral("Receipt to table"), QStringLiteral("[November]"),
                          QStringLiteral("Compare adapters with a title that is far too long"),
                          QStringLiteral("[October 2025]"), QStringLiteral("Old year")}));
    model.setChats({summary(QStringLiteral("found"), 30)}, QStringLiteral("f"), kToday);
    QCOMPARE(rows(model), QStringList{QStringLiteral("found")});
    QVERIFY(!model.flags(model.index(0)).testFlag(Qt::ItemIsDropEnabled));
}

void TestHistory::modelKeepsItsPromises() {
    ui::HistoryModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setChats(sampleList(), {}, kToday);
    model.setChats(sampleList(), {}, kToday);
    model.setChats({}, QStringLiteral("x"), kToday);
    model.setChats(sampleList(), {}, kToday);
    for (int row = 0; row < model.rowCount(); ++row) {
        const bool is_heading = model.index(row).data(ui::HistoryModel::IsHeadingRole).toBool();
        QCOMPARE(model.flags(model.index(row)).testFlag(Qt::ItemIsSelectable), !is_heading);
    }
}

void TestHistory::sameChatsKeepTheEditor() {
    ui::HistoryModel model;
    model.setChats(sampleList(), {}, kToday);
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    auto chats = sampleList();
    chats[0].title = QStringLiteral("Renamed");
    model.setChats(chats, {}, kToday);
    QCOMPARE(reset.size(), 0);
    QCOMPARE(model.index(1).data().toString(), QStringLiteral("Renamed"));
    chats.pop_back();
    model.setChats(chats, {}, kToday);
    QCOMPARE(reset.size(), 1);
}

void TestHistory::chooseByMouseAndKeyboard() {
    pane_->showChats({}, sampleList());
    QSignalSpy chosen(pane_.get(), &ui::HistoryPane::chatChosen);
    QTest::mouseClick(list()->viewport(), Qt::LeftButton, {},
                      centreOf(QStringLiteral("id Explain NF4 to me")));
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen.last().at(0).toString(), QStringLiteral("id Explain NF4 to me"));
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_Up);
    QTest::keyClick(list(), Qt::Key_Return);
    QCOMPARE(chosen.size(), 2);
    QCOMPARE(chosen.last().at(0).toString(), QStringLiteral("id Bird call, 12 seconds"));
    QSignalSpy fresh(pane_.get(), &ui::HistoryPane::newChatRequested);
    QTest::mouseClick(pane_->findChild<QPushButton*>(QStringLiteral("newChat")), Qt::LeftButton);
    QCOMPARE(fresh.size(), 1);
    // A new list keeps the chosen chat chosen.
    auto chats = sampleList();
    chats.insert(chats.begin(), summary(QStringLiteral("newer"), 0));
    pane_->showChats({}, chats);
    QCOMPARE(list()->currentIndex().data(ui::HistoryModel::IdRole).toString(),
             QStringLiteral("id Bird call, 12 seconds"));
}

void TestHistory::searchAsksOnceAndDropsOldAnswers() {
    pane_->showChats({}, sampleList());
    QSignalSpy asked(pane_.get(), &ui::HistoryPane::searchRequested);
    pane_->focusSearch();
    QVERIFY(search()->hasFocus());
    QTest::keyClicks(search(), QStringLiteral(" robin "));
    QTRY_COMPARE(asked.size(), 1);
    QCOMPARE(asked.first().at(0).toString(), QStringLiteral("robin"));
    pane_->showChats(QStringLiteral("rob"), {summary(QStringLiteral("too late"), 0)});
    QCOMPARE(pane_->model()->chatCount(), 6);
    pane_->showChats(QStringLiteral("robin"),
                     {summary(QStringLiteral("Garden"), 2, QStringLiteral("…a robin sings…"))});
    QCOMPARE(pane_->model()->chatCount(), 1);
    QSignalSpy chosen(pane_.get(), &ui::HistoryPane::chatChosen);
    QTest::keyClick(search(), Qt::Key_Down);
    QVERIFY(list()->hasFocus());
    QTest::keyClick(list(), Qt::Key_Return);
    QCOMPARE(chosen.last().at(0).toString(), QStringLiteral("id Garden"));
    search()->setFocus();
    QTest::keyClick(search(), Qt::Key_Escape);
    QVERIFY(search()->text().isEmpty());
    QTRY_COMPARE(asked.size(), 2);
    QCOMPARE(asked.last().at(0).toString(), QString());
}

void TestHistory::renameByKeyboard() {
    pane_->showChats({}, sampleList());
    pane_->setCurrentChat(QStringLiteral("id Receipt to table"));
    QSignalSpy renamed(pane_.get(), &ui::HistoryPane::renameRequested);
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_F2);
    auto* editor = list()->findChild<QLineEdit*>(QStringLiteral("historyRename"));
    QVERIFY(editor != nullptr);
    QCOMPARE(editor->text(), QStringLiteral("Receipt to table"));
    editor->selectAll();
    QTest::keyClicks(editor, QStringLiteral("Till roll"));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(renamed.size(), 1);
    QCOMPARE(renamed.first().at(0).toString(), QStringLiteral("id Receipt to table"));
    QCOMPARE(renamed.first().at(1).toString(), QStringLiteral("Till roll"));
}

void TestHistory::deleteAndUndo() {
    pane_->showChats({}, sampleList());
    const QString id = QStringLiteral("id Explain NF4 to me");
    pane_->setCurrentChat(id);
    QSignalSpy removed(pane_.get(), &ui::HistoryPane::removeRequested);
    QSignalSpy restored(pane_.get(), &ui::HistoryPane::restoreRequested);
    QSignalSpy fresh(pane_.get(), &ui::HistoryPane::newChatRequested);
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_Backspace, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(removed.size(), 1);
    QCOMPARE(removed.first().at(0).toString(), id);
    QCOMPARE(fresh.size(), 1); // it is not left on screen
    auto* undo = pane_->findChild<QPushButton*>(QStringLiteral("historyUndoButton"));
    QVERIFY(undo->isVisible());
    QVERIFY(pane_->findChild<QLabel*>(QStringLiteral("historyUndoText"))
                ->text()
                .contains(QStringLiteral("Explain NF4 to me")));
    QTest::mouseClick(undo, Qt::LeftButton);
    QCOMPARE(restored.size(), 1);
    QVERIFY(!undo->isVisible());
    // Again, and back by keyboard.
    pane_->setCurrentChat(id);
    pane_->removeCurrent();
    QCOMPARE(removed.size(), 2);
    QTest::keyClick(list(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(restored.size(), 2);
    QTest::keyClick(list(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(restored.size(), 2);
}

void TestHistory::bareKeysDeleteNothing() {
    pane_->showChats({}, sampleList());
    pane_->setCurrentChat(QStringLiteral("id Old year"));
    QSignalSpy removed(pane_.get(), &ui::HistoryPane::removeRequested);
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_Delete);
    QTest::keyClick(list(), Qt::Key_Backspace);
    QTest::keyClick(list(), Qt::Key_Backspace, Qt::ControlModifier);
    QCOMPARE(removed.size(), 0);
}

void TestHistory::menuLeavesTheMark() {
    // Where a menu is opened by the mouse, the list goes on marking the chat that is shown.
    pane_->showChats({}, sampleList());
    const QString shown = QStringLiteral("id What is on this X-ray?");
    pane_->setCurrentChat(shown);
    QModelIndex other;
    for (int row = 0; row < pane_->model()->rowCount(); ++row) {
        const QModelIndex index = pane_->model()->index(row);
        const QString id = index.data(ui::HistoryModel::IdRole).toString();
        other = !id.isEmpty() && id != shown ? index : other;
    }
    QVERIFY(other.isValid());
    list()->setCurrentIndex(other); // as the press of the right button does
    Q_EMIT list()->customContextMenuRequested(list()->visualRect(other).center());
    auto* menu = pane_->findChild<QMenu*>(QStringLiteral("historyMenu"));
    QVERIFY(menu != nullptr);
    menu->close();
    QCOMPARE(list()->currentIndex().data(ui::HistoryModel::IdRole).toString(), shown);
}

void TestHistory::pinsAndDuplicates() {
    auto chats = sampleList();
    chats[5].is_pinned = true;
    std::rotate(chats.begin(), chats.begin() + 5, chats.end());
    pane_->model()->setChats(chats, {}, kToday);
    QCOMPARE(rows(*pane_->model()).mid(0, 3),
             (QStringList{QStringLiteral("[Pinned]"), QStringLiteral("Old year"),
                          QStringLiteral("[Today]")}));
    QSignalSpy pinned(pane_.get(), &ui::HistoryPane::pinRequested);
    QSignalSpy copied(pane_.get(), &ui::HistoryPane::copyRequested);
    pane_->setCurrentChat(QStringLiteral("id Old year"));
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_F10, Qt::ShiftModifier);
    auto* menu = pane_->findChild<QMenu*>(QStringLiteral("historyMenu"));
    for (QAction* action : menu->actions()) {
        if (action->text() == QLatin1String("Unpin") ||
            action->text() == QLatin1String("Duplicate")) {
            action->trigger();
        }
    }
    menu->close();
    QCOMPARE(pinned.first(), (QVariantList{QStringLiteral("id Old year"), false}));
    QCOMPARE(copied.first(),
             (QVariantList{QStringLiteral("id Old year"), QStringLiteral("Old year (copy)")}));
}

void TestHistory::menuExports() {
    pane_->showChats({}, sampleList());
    pane_->setCurrentChat(QStringLiteral("id What is on this X-ray?"));
    QSignalSpy exported(pane_.get(), &ui::HistoryPane::exportRequested);
    list()->setFocus();
    QTest::keyClick(list(), Qt::Key_F10, Qt::ShiftModifier);
    auto* menu = pane_->findChild<QMenu*>(QStringLiteral("historyMenu"));
    QVERIFY(menu != nullptr);
    QStringList entries;
    for (QAction* action : menu->actions()) {
        entries.append(action->text());
        if (action->text().contains(QStringLiteral("Markdown"))) {
            action->trigger();
        }
    }
    QCOMPARE(entries.size(), 9);
    menu->close();
    auto* dialog = pane_->findChild<QFileDialog*>();
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->acceptMode(), QFileDialog::AcceptSave);
    Q_EMIT dialog->fileSelected(QStringLiteral("/somewhere/x.md"));
    QCOMPARE(exported.size(), 1);
    QCOMPARE(exported.first().at(0).toString(), QStringLiteral("id What is on this X-ray?"));
    QCOMPARE(exported.first().at(2).value<ui::ExportFormat>(), ui::ExportFormat::Markdown);
    dialog->close();
}

void TestHistory::saveProblem() {
    auto* problem = pane_->findChild<QWidget*>(QStringLiteral("historyProblem"));
    QVERIFY(!problem->isVisible());
    pane_->showSaveProblem(QStringLiteral("The disk that holds chats.sqlite is full."));
    QVERIFY(problem->isVisible());
    QSignalSpy retry(pane_.get(), &ui::HistoryPane::retryRequested);
    QTest::mouseClick(pane_->findChild<QPushButton*>(QStringLiteral("historyRetry")),
                      Qt::LeftButton);
    QCOMPARE(retry.size(), 1);
    pane_->showSaveProblem({});
    QVERIFY(!problem->isVisible());
}

void TestHistory::emptyTexts() {
    auto* empty = pane_->findChild<QLabel*>(QStringLiteral("historyEmpty"));
    QVERIFY(empty->text().isEmpty()); // nothing is claimed before the store has answered
    pane_->showChats({}, {});
    QVERIFY(empty->isVisible() && empty->text().contains(QStringLiteral("appear here")));
    search()->setText(QStringLiteral("walrus"));
    pane_->showChats(QStringLiteral("walrus"), {});
    QVERIFY(empty->text().contains(QStringLiteral("walrus")));
    search()->clear();
    pane_->showChats({}, sampleList());
    QVERIFY(!empty->isVisible());
}

void TestHistory::everythingIsNamedAndReachable() {
    pane_->showChats({}, sampleList());
    pane_->showSaveProblem(QStringLiteral("full"));
    pane_->setCurrentChat(QStringLiteral("id Old year"));
    pane_->removeCurrent();
    QSet<QWidget*> wanted;
    for (QWidget* widget : pane_->findChildren<QWidget*>()) {
        if (widget->isVisible() && (widget->focusPolicy() & Qt::TabFocus) != 0) {
            const auto* button = qobject_cast<QPushButton*>(widget);
            QVERIFY2(!widget->accessibleName().isEmpty() ||
                         (button != nullptr && !button->text().isEmpty()),
                     qPrintable(widget->objectName()));
            wanted.insert(widget);
        }
    }
    QVERIFY(wanted.size() >= 5);
    pane_->findChild<QPushButton*>(QStringLiteral("newChat"))->setFocus();
    for (int i = 0; i < 20; ++i) {
        wanted.remove(QApplication::focusWidget());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    for (QWidget* widget : wanted) {
        qWarning() << widget;
    }
    QVERIFY(wanted.isEmpty());
}

void TestHistory::pictures() {
    for (const bool is_dark : {false, true}) {
        ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        init(); // a pane without the traces of the pictures before
        const QString theme = is_dark ? QStringLiteral("dark") : QStringLiteral("light");
        pane_->showChats({}, sampleList());
        pane_->setCurrentChat(QStringLiteral("id What is on this X-ray?"));
        list()->setFocus();
        QVERIFY(rows(*pane_->model()).size() > 6); // six chats and their headings
        checkPicture(*pane_, *list(), QStringLiteral("history-") + theme);
        if (QTest::currentTestFailed()) {
            return;
        }
        pane_->removeCurrent();
        pane_->showSaveProblem(
            QStringLiteral("The disk that holds /home/ada/.local/share/Belfry/chats.sqlite is "
                           "full. Free some space; what is not saved yet is kept in memory and "
                           "saved then."));
        search()->setText(QStringLiteral("thrush"));
        pane_->showChats(
            QStringLiteral("thrush"),
            {summary(QStringLiteral("Bird call, 12 seconds"), 0,
                     QStringLiteral("…of a song thrush, which repeats each phrase two to four…")),
             summary(QStringLiteral("Garden"), 3, QStringLiteral("a thrush on the fence"))});
        QCoreApplication::processEvents();
        checkPicture(*pane_, *list(), QStringLiteral("history-search-problem-") + theme);
        const auto* problem = pane_->findChild<QWidget*>(QStringLiteral("historyProblem"));
        QVERIFY(problem != nullptr && problem->isVisible());
        const QImage notice =
            pane_->grab(QRect(problem->mapTo(pane_.get(), QPoint()), problem->size())).toImage();
        QVERIFY(drawnPixels(notice, notice.rect().adjusted(4, 4, -4, -4)) > 400);
        pane_->showSaveProblem({});
        search()->clear();
    }
    ui::setThemeChoice(ui::ThemeChoice::System);
}

void TestHistory::importsAFile() {
    QSignalSpy asked(pane_.get(), &ui::HistoryPane::importRequested);
    auto* more = pane_->findChild<QToolButton*>(QStringLiteral("historyMore"));
    QVERIFY(more != nullptr);
    more->setFocus();
    QTest::keyClick(more, Qt::Key_Space);
    auto* menu = pane_->findChild<QMenu*>(QStringLiteral("historyMoreMenu"));
    QVERIFY(menu != nullptr);
    menu->actions().first()->trigger();
    menu->close();
    auto* dialog = pane_->findChild<QFileDialog*>(QStringLiteral("importDialog"));
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->acceptMode(), QFileDialog::AcceptOpen);
    Q_EMIT dialog->fileSelected(QStringLiteral("/somewhere/x.json"));
    QCOMPARE(asked.size(), 1);
    QCOMPARE(asked.first().first().toString(), QStringLiteral("/somewhere/x.json"));
    dialog->close();
}

TEST_CLASS_WITH(QApplication, TestHistory)
#include "tst_history.moc"
