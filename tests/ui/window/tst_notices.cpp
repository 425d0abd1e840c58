// SPDX-License-Identifier: Apache-2.0
// Notices of the window: wherever one is shown nothing moves, neither when it comes nor when it
// goes, it covers nothing that is used beside it, and it stays under the user's hand.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/message_list.h"
#include "ui/common/unique_id.h"
#include "ui/history/history_pane.h"
#include "ui/model/session.h"
#include "ui/style/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCursor>
#include <QListView>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>

#include <memory>

using ui::MainWindow;
using ui::NoticeStrip;

namespace {

/// A window without an engine, with a model that is chosen and a chat.
struct Fixture {
    MainWindow window{ui::WindowSetup{}};
    NoticeStrip* notice = window.notice();

    explicit Fixture(MainWindow::Tab tab) {
        QCursor::setPos(2, 2);
        window.move(50, 50);
        window.resize(1280, 800);
        window.show();
        (void)QTest::qWaitForWindowActive(&window);
        auto summary = std::make_shared<engine::ModelSummary>();
        summary->variant = "E2B";
        summary->has_audio = summary->has_vision = true;
        const QString model = QStringLiteral("/models/gemma-4-E2B-it");
        window.session()->chooseModel(model);
        window.session()->showModel(model, summary);
        ui::ChatDocument chat;
        chat.id = QStringLiteral("chat");
        for (int i = 0; i < 30; ++i) {
            ui::ChatTurn turn;
            turn.id = ui::makeUniqueId();
            turn.role = i % 2 == 0 ? engine::Message::Role::User : engine::Message::Role::Assistant;
            turn.text = QStringLiteral("Message %1").arg(i);
            chat.turns.push_back(turn);
        }
        window.chatView()->setChat(chat);
        std::vector<ui::ChatSummary> chats;
        for (int i = 0; i < 40; ++i) {
            ui::ChatSummary one;
            one.id = QStringLiteral("chat %1").arg(i);
            one.title = QStringLiteral("Chat number %1").arg(i);
            one.modified = QDateTime::currentDateTimeUtc();
            chats.push_back(one);
        }
        window.historyPane()->showChats({}, chats);
        window.setTab(tab);
        settle();
    }
    static void settle() {
        for (int i = 0; i < 4; ++i) {
            QCoreApplication::sendPostedEvents();
            QCoreApplication::processEvents();
        }
    }
    [[nodiscard]] QStringList places() const {
        QStringList all;
        const QWidget* undo = window.findChild<QWidget*>(QStringLiteral("historyUndo"));
        for (const QWidget* widget : window.findChildren<QWidget*>()) {
            const bool is_overlay = widget == notice || notice->isAncestorOf(widget) ||
                                    widget == undo || undo->isAncestorOf(widget) ||
                                    widget->objectName() == QLatin1String("toEndButton");
            if (widget->isVisible() && !is_overlay && !widget->inherits("QScrollBar")) {
                const QPoint at = widget->mapTo(&window, QPoint(0, 0));
                all.append(QStringLiteral("%1 %2 %3,%4 %5x%6")
                               .arg(QString::fromLatin1(widget->metaObject()->className()),
                                    widget->objectName())
                               .arg(at.x())
                               .arg(at.y())
                               .arg(widget->width())
                               .arg(widget->height()));
            }
        }
        return all;
    }
};

} // namespace

class TestNotices : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void moveNothing_data();
    void moveNothing();
    void passingStaysUnderTheHand();
    void undoOfAChat();
    void leavesWithItsView_data();
    void leavesWithItsView();
    void toTheEndIsSeen();
};

void TestNotices::moveNothing_data() {
    support::addColumns<MainWindow::Tab, QString, QSize>("tab", "kind", "size");
    const QSize usual(1280, 800);
    for (const char* kind : {"error", "passing", "folded", "action", "endless"}) {
        const QString name = QString::fromLatin1(kind);
        QTest::addRow("chat, %s", kind) << MainWindow::Tab::Chat << name << usual;
        QTest::addRow("layout, %s", kind) << MainWindow::Tab::Layout << name << usual;
        QTest::addRow("both, %s", kind) << MainWindow::Tab::Both << name << usual;
        QTest::addRow("small, %s", kind) << MainWindow::Tab::Chat << name << QSize(700, 500);
    }
}

void TestNotices::moveNothing() {
    QFETCH(MainWindow::Tab, tab);
    QFETCH(QString, kind);
    QFETCH(QSize, size);
    Fixture f(tab);
    f.window.resize(size);
    QTest::qWait(20);
    Fixture::settle();
    const QStringList before = f.places();
    const QString words = QStringLiteral("Nothing was moved; everything is where it was");
    const QString detail =
        QStringLiteral("model.vision_tower on sim:0: 312 MiB asked, 204 MiB free. ");
    if (kind == QLatin1String("error")) {
        f.notice->showError(words, {engine::ErrorCode::OutOfMemory, detail.toStdString(), {}});
    } else if (kind == QLatin1String("passing")) {
        f.notice->showPassing(words, detail);
    } else if (kind == QLatin1String("folded")) {
        f.notice->showFolded(words, detail, detail.repeated(3));
    } else if (kind == QLatin1String("action")) {
        f.notice->showAction(words, detail.repeated(3), QStringLiteral("Load again"), [] {});
    } else {
        f.notice->showFolded(words, detail, detail.repeated(120));
        f.notice->findChild<QAbstractButton*>(QStringLiteral("noticeToggle"))->click();
    }
    QTest::qWait(20);
    Fixture::settle();
    QVERIFY(f.notice->isVisible());
    QCOMPARE(f.places(), before);
    // Whole, in the centre, over neither the composer nor the bar of the layout nor the tabs.
    const QRect card(f.notice->mapTo(&f.window, QPoint(0, 0)), f.notice->size());
    QVERIFY(f.window.rect().contains(card));
    QCOMPARE_LE(card.height(), f.window.height() / 2);
    for (const char* name : {"composer", "layoutFooter", "chatTab", "newChat", "modelButton"}) {
        const auto* widget = f.window.findChild<QWidget*>(QString::fromLatin1(name));
        if (widget != nullptr && widget->isVisible()) {
            QVERIFY2(
                !card.intersects(QRect(widget->mapTo(&f.window, QPoint(0, 0)), widget->size())),
                name);
        }
    }
    f.notice->hide();
    QTest::qWait(20);
    Fixture::settle();
    QCOMPARE(f.places(), before);
}

void TestNotices::passingStaysUnderTheHand() {
    Fixture f(MainWindow::Tab::Chat);
    f.notice->showPassing(QStringLiteral("Exported"), QStringLiteral("/home/me/chat.md"));
    Fixture::settle();
    auto* passing = f.notice->findChild<ui::Passing*>();
    passing->start(50); // as if its time was over
    QCursor::setPos(f.notice->mapToGlobal(f.notice->rect().center()));
    QTest::qWait(500);
    QVERIFY(f.notice->isVisible());
    QCursor::setPos(2, 2);
    QTRY_VERIFY_WITH_TIMEOUT(!f.notice->isVisible(), 4000);
}

void TestNotices::undoOfAChat() {
    Fixture f(MainWindow::Tab::Chat);
    ui::HistoryPane* pane = f.window.historyPane();
    auto* list = pane->findChild<QListView*>();
    pane->setCurrentChat(QStringLiteral("chat 3"));
    Fixture::settle();
    const QRect list_before = list->geometry();
    pane->removeCurrent();
    Fixture::settle();
    auto* undo = pane->findChild<QPushButton*>(QStringLiteral("historyUndoButton"));
    auto* card = pane->findChild<QWidget*>(QStringLiteral("historyUndo"));
    QVERIFY(undo->isVisible());
    QCOMPARE(list->geometry(), list_before); // no chat comes under the pointer
    QVERIFY(pane->rect().contains(card->geometry()));
    auto* passing = card->findChild<ui::Passing*>();
    passing->start(50);
    QCursor::setPos(undo->mapToGlobal(undo->rect().center()));
    QTest::qWait(500);
    QVERIFY(undo->isVisible());
    QCursor::setPos(2, 2);
    QTRY_VERIFY_WITH_TIMEOUT(!undo->isVisible(), 4000);
    QCOMPARE(list->geometry(), list_before);
}

void TestNotices::leavesWithItsView_data() {
    QTest::addColumn<QString>("to");
    for (const char* to : {"layout", "both", "new chat", "compare", "library"}) {
        QTest::newRow(to) << QString::fromLatin1(to);
    }
}

void TestNotices::leavesWithItsView() {
    QFETCH(QString, to);
    for (const bool is_kept : {false, true}) {
        Fixture f(MainWindow::Tab::Chat);
        f.notice->showAction(QStringLiteral("The adapter was not added"), {},
                             QStringLiteral("Try again"), [] {});
        if (is_kept) {
            f.notice->keep();
        }
        f.window.setTab(MainWindow::Tab::Chat); // where it is
        QVERIFY(f.notice->isVisible());
        if (to == QLatin1String("layout")) {
            f.window.setTab(MainWindow::Tab::Layout);
        } else if (to == QLatin1String("both")) {
            f.window.setTab(MainWindow::Tab::Both);
        } else if (to == QLatin1String("new chat")) {
            Q_EMIT f.window.newChatRequested();
        } else if (to == QLatin1String("compare")) {
            f.window.setComparing(true);
        } else {
            f.window.showModels(ui::ModelsPage::Page::Library);
        }
        QCOMPARE(f.notice->isVisible(), is_kept);
    }
}

void TestNotices::toTheEndIsSeen() {
    Fixture f(MainWindow::Tab::Chat);
    auto* list = f.window.findChild<ui::MessageList*>();
    auto* button = f.window.findChild<QPushButton*>(QStringLiteral("toEndButton"));
    QTRY_VERIFY(list->verticalScrollBar()->maximum() > 0);
    list->verticalScrollBar()->setValue(0);
    QTRY_VERIFY(button->isVisible());
    const QWidget* parent = button->parentWidget();
    QCOMPARE(parent->childAt(button->geometry().center()), button); // nothing lies over it
    QTest::mouseClick(button, Qt::LeftButton);
    QTRY_VERIFY(!button->isVisible());
}

TEST_CLASS_WITH(QApplication, TestNotices)

#include "tst_notices.moc"
