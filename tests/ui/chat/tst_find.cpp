// SPDX-License-Identifier: Apache-2.0
// Find in the chat by keyboard: what counts as a hit, that what is counted on the pool is what is
// drawn, the order of the hits, marks on the screen, ten thousand messages, a reply that grows.
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_finder.h"
#include "ui/chat/chat_style.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/find_bar.h"
#include "ui/chat/find_text.h"
#include "ui/chat/message_item.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>

#include <algorithm>

using engine::Message;
using ui::ChatDocument;
using ui::ChatTurn;
using ui::ChatView;

namespace {

ChatTurn turnOf(Message::Role role, const QString& text) {
    ChatTurn turn;
    turn.role = role;
    turn.text = text;
    return turn;
}

/// Pixels of one colour in the messages.
qint64 pixelsOf(const ChatView& view, const QColor& color) {
    const QImage image = view.messageList()->viewport()->grab().toImage();
    qint64 count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            count += image.pixelColor(x, y) == color ? 1 : 0;
        }
    }
    return count;
}

struct Opened {
    ChatView view;
    QLineEdit* field;
    QLabel* count;
    ui::FindBar* bar;

    explicit Opened(const ChatDocument& chat) {
        view.resize(900, 700);
        view.show();
        (void)QTest::qWaitForWindowActive(&view);
        view.setChat(chat);
        bar = view.findChild<ui::FindBar*>();
        field = view.findChild<QLineEdit*>(QStringLiteral("findField"));
        count = view.findChild<QLabel*>(QStringLiteral("findCount"));
        QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
    }
};

} // namespace

class TestFind : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void hits_data();
    void hits();
    void countsWhatIsDrawn();
    void byKeyboard();
    void hitsBeyondTheEdge();
    void tenThousandMessages();
    void growingReply();
    void wordsOfTheHistory();
};

void TestFind::hits_data() {
    support::addColumns<QString, bool, QString, int>("needle", "is_words", "text", "hits");
    QTest::newRow("case") << QStringLiteral("KV") << false << QStringLiteral("kv, KV, Kv") << 3;
    QTest::newRow("accents") << QStringLiteral("uber") << false << QString::fromUtf8("Über über")
                             << 2;
    QTest::newRow("composed") << QString::fromUtf8("u\u0308b") << false << QString::fromUtf8("üb")
                              << 1;
    QTest::newRow("line break") << QStringLiteral("a b") << false << QStringLiteral("a\u2028b a\tb")
                                << 2;
    QTest::newRow("no overlap") << QStringLiteral("aa") << false << QStringLiteral("aaaaa") << 2;
    QTest::newRow("words") << QStringLiteral("red red bird") << true
                           << QStringLiteral("a bird, a red bird") << 3;
    QTest::newRow("blank") << QStringLiteral("  ") << false << QStringLiteral("a  b") << 0;
}

void TestFind::hits() {
    QFETCH(QString, needle);
    QFETCH(bool, is_words);
    QFETCH(QString, text);
    QFETCH(int, hits);
    const ui::FindNeedle wanted =
        is_words ? ui::FindNeedle::words(needle) : ui::FindNeedle::phrase(needle);
    QCOMPARE(static_cast<int>(wanted.hitsIn(text).size()), hits);
}

void TestFind::countsWhatIsDrawn() {
    const QString source = QStringLiteral("# Head\n\nSome **bo**ld [text](https://a.b) and "
                                          "$x^2$.\n\n- one\n  1. two\n\n```cpp\nint "
                                          "a;\nint b;\n```\n\n| a | b |\n|---|---|\n| **c** | `d` "
                                          "|\n\n---\n\n$$\nx = 1\n$$\n\n> q\n") +
                           QStringLiteral("word ").repeated(2000);
    const ui::ChatStyle style = ui::ChatStyle::current();
    for (const Message::Role role : {Message::Role::User, Message::Role::Assistant}) {
        ui::ItemContext context;
        context.style = &style;
        context.width = 700;
        const ui::MessageItem item(turnOf(role, source), context);
        const auto texts = ui::findableTexts(role == Message::Role::User, source);
        QCOMPARE(item.findEnd() - item.findBegin(), texts.size());
        for (size_t i = 0; i < texts.size(); ++i) {
            // The line breaks of a question are drawn as another character.
            QCOMPARE(ui::foldInPlace(item.block(item.findBegin() + i).text()),
                     ui::foldInPlace(texts[i]));
        }
    }
}

void TestFind::byKeyboard() {
    ChatDocument chat;
    chat.turns = {turnOf(Message::Role::User, QStringLiteral("Where does the robin sing?")),
                  turnOf(Message::Role::Assistant,
                         QStringLiteral("The **robin** sings on a fence.\n\n```\nrobin()\n```"))};
    Opened opened(chat);
    QVERIFY(opened.field->hasFocus());
    QVERIFY(opened.view.rect().contains(opened.bar->geometry()));
    QTest::keyClicks(opened.field, QStringLiteral("robin"));
    QTRY_COMPARE(opened.count->text(), QStringLiteral("1 of 3"));
    const ui::Theme& theme = ui::Theme::current();
    QVERIFY(pixelsOf(opened.view, theme.found_current) > 100);
    QVERIFY(pixelsOf(opened.view, theme.found) > 200);
    // The first message is not below the bar, although nothing is above it.
    const int top = opened.view.messageList()->mapTo(&opened.view, QPoint(0, 0)).y();
    const QRect first = opened.view.messageList()->rowRect(0).translated(0, top);
    QVERIFY(first.bottom() - 40 > opened.bar->geometry().bottom());
    const auto after = [&](Qt::Key key, Qt::KeyboardModifiers modifiers) {
        QTest::keyClick(opened.field, key, modifiers);
        return opened.count->text();
    };
    QCOMPARE(after(Qt::Key_Return, {}), QStringLiteral("2 of 3"));
    QCOMPARE(after(Qt::Key_F3, {}), QStringLiteral("3 of 3"));
    QCOMPARE(after(Qt::Key_F3, {}), QStringLiteral("1 of 3"));
    QCOMPARE(after(Qt::Key_Return, Qt::ShiftModifier), QStringLiteral("3 of 3"));
    QCOMPARE(after(Qt::Key_F3, Qt::ShiftModifier), QStringLiteral("2 of 3"));
    QTest::keyClicks(opened.field, QStringLiteral("x"));
    QTRY_COMPARE(opened.count->text(), QStringLiteral("not found"));
    QCOMPARE(pixelsOf(opened.view, theme.found), 0);
    QTest::keyClick(opened.field, Qt::Key_Escape);
    QVERIFY(opened.bar->isHidden());
    QVERIFY(opened.view.findChild<QPlainTextEdit*>(QStringLiteral("messageInput"))->hasFocus());
}

void TestFind::hitsBeyondTheEdge() {
    ChatDocument chat;
    chat.turns = {turnOf(Message::Role::Assistant, QStringLiteral("```\n") +
                                                       QStringLiteral("word ").repeated(80) +
                                                       QStringLiteral("needle\n```"))};
    Opened opened(chat);
    opened.field->setText(QStringLiteral("needle"));
    QTRY_COMPARE(opened.bar->finder()->total(), 1);
    QVERIFY(pixelsOf(opened.view, ui::Theme::current().found_current) > 100);
}

void TestFind::tenThousandMessages() {
    Opened opened(support::tenThousand());
    // What the GUI thread does itself for one more letter.
    const double before = support::threadCpuMs();
    opened.field->setText(QStringLiteral("whole behave"));
    const double took = support::threadCpuMs() - before;
    qInfo("the GUI thread took %.1f ms for a letter", took);
    QTRY_COMPARE_WITH_TIMEOUT(opened.bar->finder()->total(), 5000, 20'000);
    QTRY_VERIFY(!opened.bar->finder()->isSearching());
    QVERIFY2(!support::judgesTimes() || took < 10.0, qPrintable(QString::number(took)));
    // From the end, where the chat was opened, on to the top.
    QTest::keyClick(opened.field, Qt::Key_Return);
    QTest::keyClick(opened.field, Qt::Key_Return, Qt::ShiftModifier);
    const int row = opened.bar->finder()->currentRow();
    QVERIFY(opened.view.messageList()->rowRect(row).isValid());
    // Only in one message, far away.
    opened.field->setText(QStringLiteral("number 4242 of"));
    QTRY_COMPARE_WITH_TIMEOUT(opened.bar->finder()->currentRow(), 4242, 20'000);
    QVERIFY(opened.view.messageList()->rowRect(4242).isValid());
    QVERIFY(pixelsOf(opened.view, ui::Theme::current().found_current) > 100);
}

void TestFind::growingReply() {
    ChatDocument chat;
    chat.turns = {turnOf(Message::Role::User, QStringLiteral("a bird?"))};
    Opened opened(chat);
    auto model = std::make_shared<engine::ModelSummary>();
    opened.view.setModel(model, true);
    opened.field->setText(QStringLiteral("bird"));
    QTRY_COMPARE(opened.bar->finder()->total(), 1);
    quint64 id = 0;
    connect(&opened.view, &ChatView::generateRequested, this,
            [&](const engine::GenerateRequest& request) { id = request.id; });
    opened.view.insertSample(QStringLiteral("bird"), {}, {}, true);
    opened.view.showReplyUpdate(id, {"a bi", {}, 1});
    QTRY_COMPARE(opened.bar->finder()->total(), 2);
    opened.view.showReplyUpdate(id, {"rd and a bird", {}, 2});
    QTRY_COMPARE(opened.bar->finder()->total(), 4);
    opened.view.setChat({});
    QVERIFY(opened.bar->isHidden());
}

void TestFind::wordsOfTheHistory() {
    ChatDocument chat;
    for (int i = 0; i < 200; ++i) {
        chat.turns.push_back(
            turnOf(i % 2 == 0 ? Message::Role::User : Message::Role::Assistant,
                   i == 41 ? QStringLiteral("Ein Über-Vogel singt.") : QStringLiteral("Words.")));
    }
    Opened opened(chat);
    QTest::keyClick(opened.field, Qt::Key_Escape);
    opened.view.showFound(QStringLiteral("vogel uber"));
    QTRY_COMPARE(opened.bar->finder()->total(), 2);
    QCOMPARE(opened.bar->finder()->currentRow(), 41);
    QVERIFY(opened.view.messageList()->rowRect(41).isValid());
    QVERIFY(!opened.field->hasFocus());
    opened.view.showFound(QStringLiteral("nothing of this")); // the title had it
    QTRY_VERIFY(opened.bar->isHidden());
}

TEST_CLASS_WITH(QApplication, TestFind)
#include "tst_find.moc"
