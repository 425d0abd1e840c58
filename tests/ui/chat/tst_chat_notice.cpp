// SPDX-License-Identifier: Apache-2.0
// Notices of the chat: nothing moves when one comes or goes, the end of the conversation can be
// read beside it, it stays under the user's hand, and a click that was meant for what was there
// before it does nothing.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/message_list.h"
#include "ui/common/unique_id.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QCursor>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <memory>

using ui::ChatNotice;
using ui::ChatView;

namespace {

struct Fixture {
    ChatView view;
    ChatNotice* notice = nullptr;
    ui::MessageList* list = nullptr;

    explicit Fixture(int turns = 40) {
        QCursor::setPos(2, 2);
        view.resize(900, 700);
        view.move(100, 100);
        view.show();
        (void)QTest::qWaitForWindowActive(&view);
        auto model = std::make_shared<engine::ModelSummary>();
        model->has_vision = model->has_audio = true;
        view.setModel(model, true);
        ui::ChatDocument chat;
        chat.id = QStringLiteral("chat");
        for (int i = 0; i < turns; ++i) {
            ui::ChatTurn turn;
            turn.id = ui::makeUniqueId();
            turn.role = i % 2 == 0 ? engine::Message::Role::User : engine::Message::Role::Assistant;
            turn.text = QStringLiteral("Message %1").arg(i);
            chat.turns.push_back(turn);
        }
        view.setChat(chat);
        notice = view.findChild<ChatNotice*>();
        list = view.messageList();
        QTest::qWait(20);
    }
    /// Where everything is that a hand could be on its way to.
    [[nodiscard]] QStringList places() const {
        QStringList all;
        for (const QWidget* widget : view.findChildren<QWidget*>()) {
            if (widget->isVisible() && widget != notice && !notice->isAncestorOf(widget) &&
                widget->objectName() != QLatin1String("toEndButton") &&
                !widget->inherits("QScrollBar")) {
                const QPoint at = widget->mapTo(&view, QPoint(0, 0));
                all.append(QStringLiteral("%1 %2 %3,%4 %5x%6")
                               .arg(QString::fromLatin1(widget->metaObject()->className()),
                                    widget->objectName())
                               .arg(at.x())
                               .arg(at.y())
                               .arg(widget->width())
                               .arg(widget->height()));
            }
        }
        for (int row = 0; row < static_cast<int>(view.chat().turns.size()); ++row) {
            const QRect rect = list->rowRect(row);
            if (!rect.isEmpty()) {
                all.append(QStringLiteral("row %1 at %2").arg(row).arg(rect.top()));
            }
        }
        return all;
    }
    void wheel(int steps) const {
        const QPointF at(200, 200);
        QWheelEvent event(at, list->viewport()->mapToGlobal(at), {}, QPoint(0, steps * 120),
                          Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(list->viewport(), &event);
    }
};

} // namespace

class TestChatNotice : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        qRegisterMetaType<engine::GenerateRequest>();
        ui::applyTheme(*qApp);
    }
    void movesNothing_data();
    void movesNothing();
    void endCanBeRead();
    void streamsAboveIt();
    void staysUnderTheHand();
    void takesNoClickMeantForOthers();
};

void TestChatNotice::movesNothing_data() {
    support::addColumns<int, bool, QString, int>("turns", "is_at_end", "text", "choices");
    const QString line = QStringLiteral("Deleted: 2 messages.");
    QTest::newRow("short chat") << 2 << true << line << 1;
    QTest::newRow("at the end") << 40 << true << line << 0;
    QTest::newRow("in the middle") << 40 << false << line << 1;
    QTest::newRow("long text") << 40 << true << line.repeated(40) << 3;
    QTest::newRow("empty chat") << 0 << true << line << 0;
}

void TestChatNotice::movesNothing() {
    QFETCH(int, turns);
    QFETCH(bool, is_at_end);
    QFETCH(QString, text);
    QFETCH(int, choices);
    Fixture f(turns);
    if (!is_at_end) {
        f.wheel(6);
    }
    QTest::qWait(20);
    const QStringList before = f.places();
    std::vector<ChatNotice::Choice> offered;
    for (int i = 0; i < choices; ++i) {
        offered.emplace_back(QStringLiteral("Choice number %1").arg(i), [] {});
    }
    for (const auto tone :
         {ChatNotice::Tone::Info, ChatNotice::Tone::Warning, ChatNotice::Tone::Error}) {
        f.notice->showNotice(tone, text, offered);
        QTest::qWait(20);
        QVERIFY(f.notice->isVisible());
        QCOMPARE(f.places(), before);
        // Whole, over the messages and not over the composer.
        const auto* composer = f.view.findChild<ui::Composer*>();
        QVERIFY(f.view.rect().contains(f.notice->geometry()));
        QVERIFY(f.notice->geometry().bottom() < composer->mapTo(&f.view, QPoint(0, 0)).y());
        f.notice->clear();
        QTest::qWait(20);
        QCOMPARE(f.places(), before);
    }
    // By itself.
    f.notice->showNotice(ChatNotice::Tone::Info, text, {}, 60);
    QTRY_VERIFY(!f.notice->isVisible());
    QTest::qWait(20);
    QCOMPARE(f.places(), before);
}

void TestChatNotice::endCanBeRead() {
    Fixture f;
    f.notice->showNotice(ChatNotice::Tone::Error, QStringLiteral("The card has no room."), {});
    QTest::qWait(20);
    f.wheel(-3);
    const auto last = [&] { return f.list->mapTo(&f.view, f.list->rowRect(39).bottomLeft()).y(); };
    QCOMPARE_LE(last(), f.notice->y());
    // What was scrolled to stays where it is when the notice goes.
    const QStringList before = f.places();
    f.notice->clear();
    QTest::qWait(20);
    QCOMPARE(f.places(), before);
    f.wheel(2); // upwards: from there, without a jump
    const int moved = f.list->rowRect(38).top();
    f.wheel(-2);
    QVERIFY(f.list->rowRect(38).top() < moved);
}

void TestChatNotice::streamsAboveIt() {
    Fixture f;
    QSignalSpy requests(&f.view, &ChatView::generateRequested);
    f.view.regenerateLast(); // says that the former reply is kept
    QVERIFY(f.notice->isVisible());
    const quint64 id = requests.last().first().value<engine::GenerateRequest>().id;
    engine::ReplyUpdate update;
    const auto write = [&](const char* text) {
        update.text = text;
        ++update.tokens;
        f.view.showReplyUpdate(id, update);
        QTest::qWait(80);
        return f.list->mapTo(&f.view, f.list->rowRect(39).bottomLeft()).y();
    };
    QVERIFY(write("one\n\ntwo") <= f.notice->y());
    const int before = f.list->rowRect(39).top();
    f.notice->clear(); // by itself, in the middle of the reply: the text does not fall down
    write(" three");
    QCOMPARE(f.list->rowRect(39).top(), before);
    write("\n\nfour\n\nfive\n\nsix\n\nseven"); // it grows into the free place first
    QVERIFY(f.list->rowRect(39).top() <= before);
}

void TestChatNotice::staysUnderTheHand() {
    Fixture f;
    const auto show = [&] {
        f.notice->showNotice(ChatNotice::Tone::Info, QStringLiteral("Deleted: 2 messages."),
                             {{QStringLiteral("Undo"), [] {}}}, 100);
    };
    show();
    QTRY_VERIFY(!f.notice->isVisible()); // nobody is near
    show();
    QCursor::setPos(f.notice->mapToGlobal(f.notice->rect().center()));
    QTest::qWait(600);
    QVERIFY(f.notice->isVisible());
    QCursor::setPos(f.notice->mapToGlobal(QPoint(40, -20))); // on the way to it
    QTest::qWait(1800);
    QVERIFY(f.notice->isVisible());
    QCursor::setPos(2, 2);
    QTRY_VERIFY_WITH_TIMEOUT(!f.notice->isVisible(), 4000);
    show();
    f.notice->findChildren<QPushButton*>(QStringLiteral("noticeChoice")).last()->setFocus();
    QTest::qWait(600);
    QVERIFY(f.notice->isVisible());
    f.view.focusComposer();
    QTRY_VERIFY_WITH_TIMEOUT(!f.notice->isVisible(), 4000);
}

void TestChatNotice::takesNoClickMeantForOthers() {
    Fixture f;
    int chosen = 0;
    const auto show = [&] {
        f.notice->showNotice(ChatNotice::Tone::Info, QStringLiteral("Deleted: 2 messages."),
                             {{QStringLiteral("Undo"), [&chosen] { ++chosen; }}});
    };
    show();
    QTest::qWait(20);
    const auto button = [&] {
        const auto all = f.notice->findChildren<QPushButton*>(QStringLiteral("noticeChoice"));
        return all.last();
    };
    const QPoint place = button()->mapTo(&f.view, button()->rect().center());
    f.notice->clear();
    QCursor::setPos(f.view.mapToGlobal(place)); // about to click what is there
    show();
    QCoreApplication::processEvents();
    QTest::mouseClick(f.view.windowHandle(), Qt::LeftButton, {}, place);
    QCOMPARE(chosen, 0);
    QVERIFY(f.notice->isVisible());
    QTest::qWait(500);
    QTest::mouseClick(f.view.windowHandle(), Qt::LeftButton, {}, place);
    QCOMPARE(chosen, 1);
}

TEST_CLASS_WITH(QApplication, TestChatNotice)

#include "tst_chat_notice.moc"
