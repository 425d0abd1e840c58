// SPDX-License-Identifier: Apache-2.0
// The chat view driven like a user would, with replies made up here: send, stream, stop,
// regenerate, edit, delete, undo, failures, a full context, attachments, the window of laid out
// messages.
#include "engine/api/placement.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_json.h"
#include "ui/chat/chat_model.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/context_gauge.h"
#include "ui/chat/message_item.h"
#include "ui/chat/message_list.h"
#include "ui/common/reply_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QDropEvent>
#include <QImage>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include <memory>

using engine::Message;
using ui::ChatDocument;
using ui::ChatTurn;
using ui::ChatView;

namespace {

std::shared_ptr<const engine::ModelSummary> seeingModel() {
    auto model = std::make_shared<engine::ModelSummary>();
    model->folder = "demo";
    model->has_vision = model->has_audio = true;
    return model;
}

std::shared_ptr<const engine::EngineSnapshot> snapshotOf(int64_t size) {
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->state = engine::EngineSnapshot::State::Ready;
    snapshot->context_size = size;
    return snapshot;
}

engine::Reply makeReply(quint64 id, const std::string& text, const std::string& reason = "stop") {
    engine::Reply reply;
    reply.id = id;
    reply.text = text;
    reply.finish_reason = reason;
    reply.timing.decode_tokens = 12;
    reply.timing.decode_s = 0.1;
    reply.timing.prefill_tokens = 30;
    reply.timing.time_to_first_token_s = 0.14;
    return reply;
}

/// A view with a loaded model, and what it asked for.
struct ChatViewFixture {
    ChatView view;
    QSignalSpy requests{&view, &ChatView::generateRequested};
    QSignalSpy finished{&view, &ChatView::turnFinished};
    QSignalSpy cancels{&view, &ChatView::cancelRequested};
    QPlainTextEdit* input = nullptr;
    ui::MessageList* list = nullptr;
    ui::ChatNotice* notice = nullptr;

    explicit ChatViewFixture(int64_t context = 8192) {
        view.resize(900, 700);
        view.show();
        (void)QTest::qWaitForWindowActive(&view);
        view.setModel(seeingModel(), true);
        view.showSnapshot(snapshotOf(context));
        input = view.findChild<QPlainTextEdit*>(QStringLiteral("messageInput"));
        list = view.messageList();
        notice = view.findChild<ui::ChatNotice*>();
    }
    void type(const QString& text) const {
        QTest::keyClicks(input, text);
        QTest::keyClick(input, Qt::Key_Return);
    }
    [[nodiscard]] engine::GenerateRequest request() const {
        return requests.last().first().value<engine::GenerateRequest>();
    }
    void ask(const QString& question, const std::string& answer) {
        type(question);
        view.showReply(request().id, makeReply(request().id, answer));
    }
    [[nodiscard]] QStringList texts() const {
        QStringList result;
        for (const ChatTurn& turn : view.chat().turns) {
            result.append(turn.text);
        }
        return result;
    }
    void choose(int index) const {
        const auto buttons = notice->findChildren<QPushButton*>(QStringLiteral("noticeChoice"));
        QList<QPushButton*> shown;
        for (QPushButton* button : buttons) {
            if (button->isVisible()) {
                shown.append(button);
            }
        }
        QVERIFY(index < shown.size());
        QTest::mouseClick(shown.at(index), Qt::LeftButton);
    }
};

ChatDocument longChat(int turns) {
    ChatDocument chat;
    chat.id = QStringLiteral("long");
    for (int i = 0; i < turns; ++i) {
        ChatTurn turn;
        turn.role = i % 2 == 0 ? Message::Role::User : Message::Role::Assistant;
        turn.text =
            i % 2 == 0
                ? QStringLiteral("Question %1?").arg(i)
                : QStringLiteral("Answer **%1**.\n\n- one\n- two\n\n```\ncode\n```\n").arg(i);
        chat.turns.push_back(turn);
    }
    return chat;
}

} // namespace

class TestChatView : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void guessingAhead();
    void guessesInWords_data();
    void guessesInWords();
    void initTestCase();
    void sendsAndStreams();
    void stopKeepsWhatIsWritten();
    void leavingAChatKeepsItsReply();
    void regenerateAndUndo();
    void editReplacesTheRest();
    void versionsByKeyAndMouse();
    void stoppedBeforeTheFirstWord();
    void continuesACutReply();
    void thinkingTimeIsKept();
    void storedFilesAreShown();
    void pastes();
    void editedReply();
    void forks();
    void deleteAndUndo();
    void failureGivesTheDraftBack();
    void fullContextIsAChoice();
    void filesAndTheirCost();
    void encodesAheadAgain();
    void dropTellsWhatItRefuses();
    void queuedMessageGoesAfterTheReply();
    void waitsForTheStore();
    void promptShortcuts();
    void onlyWhatIsNearIsLaidOut();
    void actionsStandBesideTheFigures();
    void selectionAndCopy();
    void everyControlHasAName();
    void screenReaderSeesEveryMessage();
};

/// The switch is there where an assistant is loaded, holds for its chat, and what came of it is
/// told under the reply and kept with it.
void TestChatView::guessingAhead() {
    ChatViewFixture f;
    QTest::mouseClick(f.view.findChild<QToolButton*>(QStringLiteral("samplingButton")),
                      Qt::LeftButton);
    auto* box = f.view.findChild<QCheckBox*>(QStringLiteral("usesDrafts"));
    QVERIFY(!box->isVisible());
    auto plan = std::make_shared<engine::PlacementPlan>();
    engine::ModulePlacement assistant;
    assistant.part = {engine::PartRole::Assistant};
    plan->modules.push_back(assistant);
    auto snapshot = std::make_shared<engine::EngineSnapshot>(*snapshotOf(8192));
    snapshot->plan = plan;
    f.view.showSnapshot(snapshot);
    QVERIFY(box->isVisible() && box->isChecked());
    f.type(QStringLiteral("Hello"));
    QVERIFY(f.request().uses_drafts);
    engine::Reply reply = makeReply(f.request().id, "Hello!");
    reply.drafts = engine::DraftReport{5, 15, 9, 1.4, false, 0.01, 0.02};
    f.view.showReply(reply.id, reply);
    const ChatTurn turn = f.view.chat().turns.back();
    QCOMPARE(turn.drafts->accepted, int64_t{9});
    QVERIFY2(ui::statisticsText(turn, false).contains(ui::draftWords(*reply.drafts)),
             qPrintable(ui::statisticsText(turn, false)));
    const auto again = ui::turnFromJson(ui::turnToJson(turn));
    QCOMPARE(again.drafts->rounds, int64_t{5});
    QCOMPARE(again.drafts->gain, 1.4);
    // Off, in this chat.
    QTest::mouseClick(box, Qt::LeftButton);
    QVERIFY(!f.view.chat().uses_drafts);
    f.ask(QStringLiteral("Again"), "Yes.");
    QVERIFY(!f.request().uses_drafts);
    QVERIFY(!f.view.chat().turns.back().drafts.has_value());
    ChatDocument kept;
    ui::settingsFromJson(ui::settingsToJson(f.view.chat()), kept);
    QVERIFY(!kept.uses_drafts);
    ChatDocument old; // written before there was a switch
    ui::settingsFromJson(QJsonObject(), old);
    QVERIFY(old.uses_drafts);
    f.view.setChat(old);
    QVERIFY(box->isChecked());
}

void TestChatView::guessesInWords_data() {
    support::addColumns<int, int, int, double, bool, QString>("rounds", "drafted", "accepted",
                                                              "gain", "is_off", "words");
    QTest::newRow("faster") << 10 << 30 << 15 << 1.3 << false
                            << "drafts: 1.30 times the speed without (2.50 tokens a round, 50 % of "
                               "drafts right)";
    QTest::newRow("nothing to compare")
        << 10 << 30 << 15 << 0.0 << false << "2.50 tokens a round, 50 % of drafts right";
    QTest::newRow("switched off in this reply")
        << 2 << 4 << 1 << 0.6 << true
        << "drafts switched themselves off: 0.60 times the speed without (1.50 tokens a round, "
           "25 % of drafts right)";
    QTest::newRow("off since then")
        << 0 << 0 << 0 << 0.6 << true << "no drafts, as they reached only 0.60 times the speed";
    QTest::newRow("no round yet") << 0 << 0 << 0 << 0.0 << false << "";
}

void TestChatView::guessesInWords() {
    QFETCH(int, rounds);
    QFETCH(int, drafted);
    QFETCH(int, accepted);
    QFETCH(double, gain);
    QFETCH(bool, is_off);
    QTEST(ui::draftWords({rounds, drafted, accepted, gain, is_off, 0.0, 0.0}), "words");
}

void TestChatView::initTestCase() {
    qRegisterMetaType<engine::GenerateRequest>();
    ui::applyTheme(*qApp);
}

void TestChatView::sendsAndStreams() {
    ChatViewFixture f;
    f.type(QStringLiteral("Hello"));
    QCOMPARE(f.requests.count(), 1);
    QCOMPARE(f.finished.count(), 1); // the question is stored before the reply begins
    QVERIFY(f.view.isGenerating());
    QVERIFY(f.input->toPlainText().isEmpty());
    const engine::GenerateRequest request = f.request();
    QCOMPARE(request.messages.size(), size_t{1});
    QCOMPARE(request.messages[0].parts[0].text, std::string("Hello"));
    for (int i = 0; i < 50; ++i) {
        f.view.showReplyUpdate(request.id, {"word ", {}, i + 1});
    }
    // Text reaches the screen in steps of a frame, not per token.
    QTRY_VERIFY(f.view.chat().turns.back().text.startsWith(QStringLiteral("word word")));
    f.view.showReplyUpdate(request.id + 7, {"stranger", {}, 1});
    f.view.showReply(request.id, makeReply(request.id, "word word word."));
    QVERIFY(!f.view.isGenerating());
    QCOMPARE(f.finished.count(), 2);
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("Hello"), QStringLiteral("word word word.")}));
    QCOMPARE(f.view.chat().title, QStringLiteral("Hello"));
    QVERIFY(!f.view.chat().id.isEmpty());
    f.type(QStringLiteral("More"));
    QCOMPARE(f.request().messages.size(), size_t{3});
    QVERIFY(f.request().id != request.id);
}

void TestChatView::stopKeepsWhatIsWritten() {
    ChatViewFixture f;
    f.type(QStringLiteral("Count"));
    const quint64 id = f.request().id;
    f.view.showReplyUpdate(id, {"one two", {}, 2});
    QTest::keyClick(f.input, Qt::Key_Escape);
    QCOMPARE(f.cancels.count(), 1);
    f.view.showReply(id, makeReply(id, "one two", "cancelled"));
    QCOMPARE(f.texts().last(), QStringLiteral("one two"));
    QCOMPARE(f.view.chat().turns.back().finish_reason, QStringLiteral("cancelled"));
    QVERIFY(f.input->hasFocus() || f.input->isEnabled());
}

void TestChatView::leavingAChatKeepsItsReply() {
    ChatViewFixture f;
    f.type(QStringLiteral("Count"));
    const quint64 id = f.request().id;
    f.view.showReplyUpdate(id, {"one two", {}, 2});
    f.view.setChat(longChat(2));
    QVERIFY(!f.view.isGenerating());
    const auto left = f.finished.last().first().value<ChatDocument>();
    QCOMPARE(left.turns.size(), size_t{2});
    QCOMPARE(left.turns[1].text, QStringLiteral("one two"));
    QCOMPARE(left.turns[1].finish_reason, QStringLiteral("cancelled"));
    // What still comes from the engine does not get into the other chat.
    f.view.showReplyUpdate(id, {" three", {}, 3});
    f.view.showReply(id, makeReply(id, "one two three", "cancelled"));
    QCOMPARE(f.view.chat().id, QStringLiteral("long"));
    QCOMPARE(f.view.chat().turns.size(), size_t{2});
}

void TestChatView::regenerateAndUndo() {
    ChatViewFixture f;
    f.ask(QStringLiteral("Hello"), "first");
    QTest::keyClick(f.input, Qt::Key_R, Qt::ControlModifier);
    QCOMPARE(f.requests.count(), 2);
    QCOMPARE(f.request().messages.size(), size_t{1});
    f.view.showReply(f.request().id, makeReply(f.request().id, "second"));
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("Hello"), QStringLiteral("second")}));
    f.view.undo();
    QCOMPARE(f.texts().last(), QStringLiteral("first"));
    // A regeneration that fails leaves the former reply.
    f.view.regenerateLast();
    f.view.showReplyError(f.request().id, {engine::ErrorCode::OutOfMemory, "no room", {}});
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("Hello"), QStringLiteral("first")}));
    QVERIFY(f.notice->text().contains(QStringLiteral("no room")));
    QVERIFY(f.input->toPlainText().isEmpty());
}

void TestChatView::editReplacesTheRest() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.ask(QStringLiteral("two"), "second");
    f.list->setCurrentRow(0);
    QTest::keyClick(f.list, Qt::Key_F2);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("one"));
    QTest::keyClick(f.input, Qt::Key_Escape); // thought better of it
    QVERIFY(f.input->toPlainText().isEmpty());
    QTest::keyClick(f.list, Qt::Key_F2);
    f.type(QStringLiteral(" more"));
    QCOMPARE(f.request().messages.size(), size_t{1});
    f.view.showReply(f.request().id, makeReply(f.request().id, "third"));
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one more"), QStringLiteral("third")}));
    f.view.undo();
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one"), QStringLiteral("first"),
                                     QStringLiteral("two"), QStringLiteral("second")}));
}

void TestChatView::editedReply() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.ask(QStringLiteral("two"), "second");
    QTest::keyClicks(f.input, QStringLiteral("next"));
    f.list->setCurrentRow(1);
    QTest::keyClick(f.list, Qt::Key_F2);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("first"));
    f.type(QStringLiteral(" word"));
    QCOMPARE(f.requests.count(), 2); // nothing was asked
    QCOMPARE(f.texts().at(1), QStringLiteral("first word"));
    QCOMPARE(f.texts().at(3), QStringLiteral("second"));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("next"));
    QVERIFY(ui::statisticsText(f.view.chat().turns[1], false)
                .contains(QStringLiteral("edited by you")));
    // Kept by the store and in exports, and what the model sees from now on.
    QVERIFY(ui::turnFromJson(ui::turnToJson(f.view.chat().turns[1])).is_edited);
    f.choose(0); // Undo
    QCOMPARE(f.texts().at(1), QStringLiteral("first"));
    QVERIFY(!f.view.chat().turns[1].is_edited);
    f.view.undo();
    QCOMPARE(f.texts().at(1), QStringLiteral("first word"));
    f.type(QStringLiteral("!"));
    QCOMPARE(f.request().messages.size(), size_t{5});
    // Rows that become others end an edit, whose words replace nothing.
    ChatViewFixture g;
    g.ask(QStringLiteral("one"), "first");
    g.ask(QStringLiteral("two"), "second");
    g.list->setCurrentRow(0);
    QTest::keyClick(g.list, Qt::Key_Delete);
    g.list->setCurrentRow(1);
    QTest::keyClick(g.list, Qt::Key_F2);
    QCOMPARE(g.input->toPlainText(), QStringLiteral("second"));
    g.view.undo();
    QVERIFY(g.input->toPlainText().isEmpty());
    QCOMPARE(g.texts().at(1), QStringLiteral("first"));
}

void TestChatView::forks() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.view.regenerateLast();
    f.view.showReply(f.request().id, makeReply(f.request().id, "again"));
    f.ask(QStringLiteral("two"), "second");
    const ChatDocument before = f.view.chat();
    Q_EMIT f.list->forkRequested(1);
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one"), QStringLiteral("again")}));
    const ChatDocument& fork = f.view.chat();
    QVERIFY(fork.id != before.id && !fork.id.isEmpty());
    QVERIFY(fork.turns[0].id != before.turns[0].id);
    QVERIFY(fork.turns[1].versions.empty());
    QCOMPARE(fork.title, QStringLiteral("one (fork)"));
    QCOMPARE(f.finished.last().first().value<ChatDocument>().id, fork.id);
    f.ask(QStringLiteral("three"), "third");
    QCOMPARE(f.request().messages.size(), size_t{3});
}

void TestChatView::deleteAndUndo() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.ask(QStringLiteral("two"), "second");
    f.list->setCurrentRow(0);
    QTest::keyClick(f.list, Qt::Key_Delete);
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("two"), QStringLiteral("second")}));
    f.choose(0); // Undo in the notice
    QCOMPARE(f.texts().size(), 4);
    QCOMPARE(f.texts().first(), QStringLiteral("one"));
    // A bare key in the input box never deletes a message.
    QTest::keyClick(f.input, Qt::Key_Delete);
    QTest::keyClick(f.input, Qt::Key_Backspace);
    QCOMPARE(f.texts().size(), 4);
}

void TestChatView::failureGivesTheDraftBack() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.type(QStringLiteral("two"));
    f.view.showReplyError(f.request().id,
                          {engine::ErrorCode::InvalidFile, "cat.png: not a picture", {}});
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one"), QStringLiteral("first")}));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("two"));
    QVERIFY(f.notice->text().contains(QStringLiteral("cat.png")));
    // With part of a reply there, that part stays and says why it ends.
    QTest::keyClick(f.input, Qt::Key_Return);
    f.view.showReplyUpdate(f.request().id, {"half a", {}, 2});
    f.view.showReplyError(f.request().id, {engine::ErrorCode::DeviceLost, "the card is gone", {}});
    QCOMPARE(f.texts().last(), QStringLiteral("half a"));
    QCOMPARE(f.view.chat().turns.back().finish_reason, QStringLiteral("failed"));
    QCOMPARE(f.view.chat().turns.back().notes, QStringList{QStringLiteral("the card is gone")});
}

void TestChatView::fullContextIsAChoice() {
    ChatViewFixture f(600);
    for (int i = 0; i < 3; ++i) {
        f.ask(QStringLiteral("question %1").arg(i), std::string(400, 'a'));
    }
    f.type(QStringLiteral("last"));
    const engine::Error full{engine::ErrorCode::InvalidRequest,
                             "the prompt has 700 tokens, the context holds 600",
                             {{"tokens", "700"}, {"context", "600"}}};
    f.view.showReplyError(f.request().id, full);
    QVERIFY(f.notice->isVisible());
    QCOMPARE(f.view.chat().turns.back().text, QStringLiteral("last"));
    const auto before = f.requests.count();
    f.choose(0); // leave out the oldest and send
    QCOMPARE(f.requests.count(), before + 1);
    QVERIFY(f.view.chat().turns.front().is_cut);
    QVERIFY(f.request().messages.size() < 7);
    QCOMPARE(f.request().messages.back().parts[0].text, std::string("last"));
    f.view.showReply(f.request().id, makeReply(f.request().id, "fits"));
    // The other answer: a larger context; the question is back in the box.
    QSignalSpy larger(&f.view, &ChatView::largerContextRequested);
    f.type(QStringLiteral("again"));
    f.view.showReplyError(f.request().id, full);
    f.choose(1);
    QCOMPARE(larger.count(), 1);
    QVERIFY(larger.first().first().toLongLong() >= 700);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("again"));
}

void TestChatView::filesAndTheirCost() {
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("cat.png"));
    QImage(64, 48, QImage::Format_RGB32).save(picture);
    ChatViewFixture f;
    QSignalSpy costs(&f.view, &ChatView::mediaCostRequested);
    QSignalSpy ahead(&f.view, &ChatView::encodeAheadRequested);
    f.view.attachFiles({picture});
    QCOMPARE(costs.count(), 1);
    QCOMPARE(ui::fromUtf8(costs.first().first().value<engine::MessagePart>().text), picture);
    engine::MediaCost cost;
    cost.tokens = 280;
    cost.seconds = 1.1;
    cost.device = "cpu";
    f.view.showMediaCost(picture, cost);
    QCOMPARE(ahead.count(), 1);
    auto* chip = f.view.findChild<QFrame*>(QStringLiteral("attachmentChip"));
    QVERIFY(chip != nullptr);
    QVERIFY2(chip->accessibleName().contains(QStringLiteral("280")),
             qPrintable(chip->accessibleName()));
    QVERIFY(chip->accessibleName().contains(QStringLiteral("CPU")));
    auto* gauge = f.view.findChild<ui::ContextGauge*>();
    QVERIFY(gauge->accessibleDescription().contains(QStringLiteral("28")));
    f.type(QStringLiteral("What is it?"));
    QCOMPARE(f.request().messages[0].parts.size(), size_t{2});
    QCOMPARE(f.view.chat().turns.front().attachments.front().tokens, 280);
    f.view.showReply(f.request().id, makeReply(f.request().id, "A cat."));
    // A file that the engine refuses cannot be sent, and says why.
    f.view.attachFiles({picture});
    f.view.showMediaError(picture, {engine::ErrorCode::InvalidFile, "cat.png is empty", {}});
    const auto before = f.requests.count();
    f.type(QStringLiteral("And now?"));
    QCOMPARE(f.requests.count(), before);
    QVERIFY(f.notice->text().contains(QStringLiteral("cat.png is empty")));
}

/// What is attached while a reply runs is encoded after it, and again when the features would be
/// others; what is taken out is told, what is sent is not.
void TestChatView::encodesAheadAgain() {
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("cat.png"));
    QImage(64, 48, QImage::Format_RGB32).save(picture);
    engine::MediaCost cost;
    cost.tokens = 280;
    ChatViewFixture f;
    QSignalSpy ahead(&f.view, &ChatView::encodeAheadRequested);
    QSignalSpy cancelled(&f.view, &ChatView::encodeAheadCancelled);
    f.type(QStringLiteral("A long story, please"));
    f.view.attachFiles({picture});
    f.view.showMediaCost(picture, cost);
    QCOMPARE(ahead.count(), 0); // the engine writes
    f.view.showReply(f.request().id, makeReply(f.request().id, "Once upon a time"));
    QCOMPARE(ahead.count(), 1);

    const auto change = [&](auto what) {
        auto snapshot = std::make_shared<engine::EngineSnapshot>(*snapshotOf(4096));
        what(*snapshot);
        f.view.showSnapshot(snapshot);
        return ahead.count();
    };
    using State = engine::EngineSnapshot::State;
    const auto plan = std::make_shared<const engine::PlacementPlan>();
    QCOMPARE(change([](auto&) {}), 1); // the meter's, nothing new
    QCOMPARE(change([&](auto& s) { s.plan = plan; }), 2);
    QCOMPARE(change([&](auto& s) { s.plan = plan; }), 2);
    const auto strength = [&](double value) {
        return change([&](auto& s) {
            s.plan = plan;
            s.adapters = {{"adapter", value, true}};
        });
    };
    QCOMPARE(strength(1.0), 3);
    QCOMPARE(strength(0.5), 4);
    QCOMPARE(change([](auto& s) { s.state = State::Loading; }), 4);
    QCOMPARE(strength(0.5), 5);

    auto* chip = f.view.findChild<ui::AttachmentChip*>();
    QVERIFY(chip != nullptr);
    Q_EMIT chip->removeRequested();
    QCOMPARE(cancelled.count(), 5); // and before that each time something had changed
    QCOMPARE(cancelled.last().first().value<engine::MessagePart>().text, picture.toStdString());

    f.view.attachFiles({picture});
    f.view.showMediaCost(picture, cost);
    QCOMPARE(ahead.count(), 6);
    f.type(QStringLiteral("What is it?"));
    QCOMPARE(cancelled.count(), 5); // the reply needs it
}

void TestChatView::dropTellsWhatItRefuses() {
    ChatViewFixture f;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QStringLiteral("/tmp/a.txt")),
                  QUrl::fromLocalFile(QStringLiteral("/tmp/b.wav"))});
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&f.view, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&f.view, &drop);
    auto* composer = f.view.findChild<ui::Composer*>();
    QCOMPARE(composer->attachments().size(), size_t{1});
    QVERIFY(f.notice->text().contains(QStringLiteral("a.txt")));
    // A model without an audio tower.
    auto deaf = std::make_shared<engine::ModelSummary>(*seeingModel());
    deaf->has_audio = false;
    f.view.setModel(deaf, true);
    f.view.attachFiles({QStringLiteral("/tmp/c.wav")});
    QCOMPARE(composer->attachments().size(), size_t{1});
    QVERIFY(f.notice->text().contains(QStringLiteral("audio tower")));
}

void TestChatView::queuedMessageGoesAfterTheReply() {
    ChatViewFixture f;
    f.type(QStringLiteral("one"));
    QTest::keyClicks(f.input, QStringLiteral("two"));
    QTest::keyClick(f.input, Qt::Key_Return);
    QCOMPARE(f.requests.count(), 1); // busy: stays in the box
    QCOMPARE(f.input->toPlainText(), QStringLiteral("two"));
    QTest::keyClick(f.input, Qt::Key_Return, Qt::ControlModifier);
    f.view.showReply(f.request().id, makeReply(f.request().id, "first"));
    QCOMPARE(f.requests.count(), 2);
    QCOMPARE(f.request().messages.back().parts[0].text, std::string("two"));
}

void TestChatView::waitsForTheStore() {
    ChatViewFixture f;
    f.view.setWaitsForStore(true);
    f.type(QStringLiteral("one"));
    f.view.showReply(f.request().id, makeReply(f.request().id, "first"));
    QTest::keyClicks(f.input, QStringLiteral("two"));
    QTest::keyClick(f.input, Qt::Key_Return);
    QCOMPARE(f.requests.count(), 1);
    f.view.showSaved(QStringLiteral("another chat"));
    QCOMPARE(f.requests.count(), 1);
    f.view.showSaved(f.view.chat().id);
    QCOMPARE(f.requests.count(), 2);
    // A store that cannot write does not stop the chat.
    f.view.showReply(f.request().id, makeReply(f.request().id, "second"));
    f.view.showSaveError(f.view.chat().id, QStringLiteral("The disk is full."));
    QVERIFY(f.notice->text().contains(QStringLiteral("disk is full")));
    f.type(QStringLiteral("three"));
    QCOMPARE(f.requests.count(), 3);
}

void TestChatView::promptShortcuts() {
    ChatViewFixture f;
    ui::ChatSettings settings;
    settings.prompts = {{QStringLiteral("sum"), QStringLiteral("Summarise: ")},
                        {QStringLiteral("say"), QStringLiteral("Say it")}};
    f.view.setSettings(settings);
    QTest::keyClicks(f.input, QStringLiteral("/su"));
    QTest::keyClick(f.input, Qt::Key_Return);
    QCOMPARE(f.requests.count(), 0);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("Summarise: "));
    f.input->clear();
    QTest::keyClicks(f.input, QStringLiteral("/s"));
    QTest::keyClick(f.input, Qt::Key_Down);
    QTest::keyClick(f.input, Qt::Key_Tab);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("Say it"));
}

void TestChatView::onlyWhatIsNearIsLaidOut() {
    ChatViewFixture f;
    f.view.setChat(longChat(10000));
    QTRY_VERIFY(f.list->liveItems() > 0);
    QVERIFY2(f.list->liveItems() < 60, qPrintable(QString::number(f.list->liveItems())));
    QVERIFY(f.list->isAtEnd());
    QVERIFY(!f.list->rowRect(9999).isEmpty());
    QScrollBar* bar = f.list->verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());
    // Anywhere by the bar, and by small steps; the view never shows a hole.
    for (const double part : {0.5, 0.1, 0.9, 0.0}) {
        bar->setValue(static_cast<int>(bar->maximum() * part));
        const QImage image = f.list->viewport()->grab().toImage();
        QVERIFY(!image.isNull());
    }
    QVERIFY(!f.list->rowRect(0).isEmpty());
    for (int i = 0; i < 400; ++i) {
        bar->setValue(bar->value() + 150);
    }
    QVERIFY(f.list->liveItems() <= 260);
    // Up by the same path: the first message is again at the top.
    for (int i = 0; i < 800; ++i) {
        bar->setValue(bar->value() - 150);
    }
    QCOMPARE(bar->value(), 0);
    QVERIFY(f.list->rowRect(0).top() <= 1);
    // Another width: still whole, still at the end.
    f.list->scrollToEnd();
    f.view.resize(600, 500);
    QTRY_VERIFY(!f.list->rowRect(9999).isEmpty());
    QVERIFY(f.list->liveItems() < 120);
}

/// At no width do the actions of the last reply stand on its figures.
void TestChatView::actionsStandBesideTheFigures() {
    ChatViewFixture f;
    f.type(QStringLiteral("Hello?"));
    engine::Reply reply = makeReply(f.request().id, "Good day.");
    reply.drafts = engine::DraftReport{5, 15, 9, 1.4, false, 0.01, 0.02};
    f.view.showReply(reply.id, reply);
    auto* actions = f.list->findChild<QWidget*>(QStringLiteral("messageActions"));
    QVERIFY(actions != nullptr);
    int num_lines_seen = 0;
    for (int width = 500; width <= 900; width += 50) {
        f.view.resize(width, 700);
        QTRY_VERIFY(actions->isVisible());
        const QRect place = actions->geometry();
        actions->hide();
        const QImage behind = f.list->viewport()->grab(place).toImage();
        const QImage line =
            f.list->viewport()->grab(QRect(0, place.top(), place.left(), place.height())).toImage();
        actions->show();
        const auto inks = [](const QImage& image) {
            int count = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    count += image.pixel(x, y) != image.pixel(0, 0) ? 1 : 0;
                }
            }
            return count;
        };
        QCOMPARE(inks(behind), 0);
        num_lines_seen += inks(line) > 0 ? 1 : 0;
    }
    QCOMPARE(num_lines_seen, 9); // the figures are there
}

void TestChatView::selectionAndCopy() {
    ChatViewFixture f;
    f.view.setChat(longChat(4));
    f.list->setCurrentRow(1);
    QTest::keyClick(f.list, Qt::Key_A, Qt::ControlModifier);
    const QString text = f.list->selectedText();
    QVERIFY2(text.startsWith(QStringLiteral("Answer 1.")), qPrintable(text));
    QVERIFY(text.contains(QStringLiteral("code")));
    QTest::keyClick(f.list, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), text);
    QCOMPARE(f.list->lastCode(), QStringLiteral("code"));
    // The button of the message copies it as it was written.
    auto* copy = f.view.findChild<QToolButton*>(QStringLiteral("copyMessage"));
    QVERIFY(copy->isVisible());
    QTest::mouseClick(copy, Qt::LeftButton);
    QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("**1**")));
}

void TestChatView::everyControlHasAName() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    for (QToolButton* button : f.view.headerBar()->findChildren<QToolButton*>()) {
        if (button->isCheckable()) {
            button->setChecked(true);
        }
        for (QWidget* widget : f.view.findChildren<QWidget*>()) {
            const bool is_reached = widget->isVisible() && widget->isEnabled() &&
                                    (widget->focusPolicy() & Qt::TabFocus) != 0 &&
                                    widget->focusProxy() == nullptr;
            // The inner field of a spin box or an editable list speaks for its owner.
            const bool is_inner =
                qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr ||
                widget->objectName().startsWith(QStringLiteral("qt_"));
            if (is_reached && !is_inner) {
                QVERIFY2(!widget->accessibleName().isEmpty(),
                         qPrintable(QStringLiteral("%1 %2").arg(
                             QString::fromLatin1(widget->metaObject()->className()),
                             widget->objectName())));
            }
        }
    }
}

void TestChatView::screenReaderSeesEveryMessage() {
    ChatViewFixture f;
    f.view.setChat(longChat(1000));
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(f.list);
    QVERIFY(list != nullptr);
    QCOMPARE(list->role(), QAccessible::List);
    QCOMPARE(list->childCount(), 1000);
    QAccessibleInterface* item = list->child(3);
    QVERIFY(item != nullptr && item->isValid());
    QVERIFY(item->text(QAccessible::Name).contains(QStringLiteral("Answer **3**")));
    QVERIFY(item->state().offscreen);
    QVERIFY(!list->child(999)->state().offscreen);
    QVERIFY(list->child(999)->rect().isValid());
    QCOMPARE(list->indexOfChild(item), 3);
    f.view.setChat({});
    QVERIFY(!item->isValid());
}

void TestChatView::versionsByKeyAndMouse() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.ask(QStringLiteral("two"), "second");
    for (const char* again : {"third", "fourth"}) {
        f.view.regenerateLast();
        f.view.showReply(f.request().id, makeReply(f.request().id, again));
    }
    const auto last = [&] { return f.view.chat().turns.back(); };
    QCOMPARE(last().versionCount(), 3);
    QCOMPARE(last().version, 2);
    QSignalSpy kept(&f.view, &ChatView::chatChanged);
    QTest::keyClick(f.input, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(last().text, QStringLiteral("third"));
    QCOMPARE(kept.count(), 1);
    QTest::keyClick(f.list, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(last().text, QStringLiteral("second"));
    QCOMPARE(last().version, 0);
    QTest::keyClick(f.list, Qt::Key_Left, Qt::AltModifier); // there is none before
    QCOMPARE(last().text, QStringLiteral("second"));
    // What is asked next goes below the shown version, and the request says so.
    f.ask(QStringLiteral("and?"), "below second");
    QCOMPARE(QString::fromStdString(f.request().messages[3].parts[0].text),
             QStringLiteral("second"));
    f.list->setCurrentRow(3);
    QTest::keyClick(f.list, Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one"), QStringLiteral("first"),
                                     QStringLiteral("two"), QStringLiteral("third")}));
    // With the mouse: the arrow below the reply.
    const QRect row = f.list->rowRect(3);
    int clicked = -1;
    for (int y = row.bottom(); y > row.top() && clicked < 0; y -= 4) {
        QTest::mouseClick(f.list->viewport(), Qt::LeftButton, {}, {row.left() + 4, y});
        clicked = last().text == QStringLiteral("below second") ? y : -1;
    }
    QVERIFY(clicked >= 0);
    QCOMPARE(f.texts().at(3), QStringLiteral("second"));
    // An edited question is a version too, with everything that followed.
    f.list->setCurrentRow(0);
    QTest::keyClick(f.list, Qt::Key_F2);
    f.type(QStringLiteral(" more"));
    f.view.showReply(f.request().id, makeReply(f.request().id, "other"));
    QCOMPARE(f.texts(), (QStringList{QStringLiteral("one more"), QStringLiteral("other")}));
    f.list->setCurrentRow(1); // the reply has one version: its question's are meant
    QTest::keyClick(f.list, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(f.texts().last(), QStringLiteral("below second"));
    QCOMPARE(f.view.chat().turns.front().versionCount(), 2);
    // While a reply is written nothing is exchanged.
    f.type(QStringLiteral("go on"));
    QTest::keyClick(f.list, Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(f.texts().first(), QStringLiteral("one"));
    // A request that fails before its first word leaves no version behind.
    f.view.showReply(f.request().id, makeReply(f.request().id, "gone on"));
    f.list->setCurrentRow(0);
    QTest::keyClick(f.list, Qt::Key_F2);
    f.type(QStringLiteral("!"));
    f.view.showReplyError(f.request().id, {engine::ErrorCode::OutOfMemory, "no room", {}});
    QCOMPARE(f.texts().last(), QStringLiteral("gone on"));
    QCOMPARE(f.view.chat().turns.front().versionCount(), 2);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("one!"));
}

void TestChatView::stoppedBeforeTheFirstWord() {
    ChatViewFixture f;
    f.ask(QStringLiteral("one"), "first");
    f.view.regenerateLast();
    f.view.stop();
    f.view.showReply(f.request().id, makeReply(f.request().id, "", "cancelled"));
    QCOMPARE(f.texts().last(), QStringLiteral("first"));
    QCOMPARE(f.view.chat().turns.back().versionCount(), 1);
    // The same when the chat is left at that moment.
    f.view.regenerateLast();
    const ChatDocument other = longChat(2);
    QSignalSpy finished(&f.view, &ChatView::turnFinished);
    f.view.setChat(other);
    QCOMPARE(finished.count(), 1);
    const auto left = finished.last().first().value<ChatDocument>();
    QCOMPARE(left.turns.back().text, QStringLiteral("first"));
    QCOMPARE(left.turns.back().versionCount(), 1);
}

void TestChatView::continuesACutReply() {
    ChatViewFixture f;
    f.type(QStringLiteral("count"));
    f.view.showReply(f.request().id, makeReply(f.request().id, "one two", "length"));
    QTest::keyClick(f.input, Qt::Key_Return, Qt::AltModifier);
    QCOMPARE(f.requests.count(), 2);
    QVERIFY(f.request().continues_reply);
    QCOMPARE(f.request().messages.size(), size_t{2});
    QCOMPARE(f.request().messages.back().parts.front().text, std::string("one two"));
    engine::ReplyUpdate update;
    update.text = " three";
    update.tokens = 1;
    f.view.showReplyUpdate(f.request().id, update);
    QTRY_COMPARE(f.texts().last(), QStringLiteral("one two three"));
    f.view.showReply(f.request().id, makeReply(f.request().id, "one two three four", "cancelled"));
    QCOMPARE(f.texts(),
             (QStringList{QStringLiteral("count"), QStringLiteral("one two three four")}));
    // Again, and this time nothing comes: the reply stays as it was.
    f.view.continueLast();
    f.view.showReplyError(f.request().id, {engine::ErrorCode::OutOfMemory, "no room", {}});
    QCOMPARE(f.texts().last(), QStringLiteral("one two three four"));
    QCOMPARE(f.view.chat().turns.back().finish_reason, QStringLiteral("cancelled"));
    f.view.continueLast();
    f.view.showReply(f.request().id, makeReply(f.request().id, "", "cancelled"));
    QCOMPARE(f.texts().last(), QStringLiteral("one two three four"));
    f.view.continueLast();
    f.view.showReply(f.request().id, makeReply(f.request().id, "one two three four five"));
    QCOMPARE(f.texts().last(), QStringLiteral("one two three four five"));
    // A finished reply is not continued, and the user is told.
    const auto before = f.requests.count();
    QTest::keyClick(f.input, Qt::Key_Return, Qt::AltModifier);
    QCOMPARE(f.requests.count(), before);
    QVERIFY(!f.notice->text().isEmpty());
}

void TestChatView::thinkingTimeIsKept() {
    ChatViewFixture f;
    f.type(QStringLiteral("think"));
    engine::ReplyUpdate update;
    update.thinking = "let me see";
    update.tokens = 1;
    f.view.showReplyUpdate(f.request().id, update);
    QTest::qWait(20);
    update.thinking.clear();
    update.text = "42";
    f.view.showReplyUpdate(f.request().id, update);
    QTRY_COMPARE(f.texts().last(), QStringLiteral("42"));
    const double thought = f.view.chat().turns.back().thinking_s;
    QVERIFY(thought >= 0.015);
    engine::Reply reply = makeReply(f.request().id, "42");
    reply.thinking = "let me see";
    f.view.showReply(f.request().id, reply);
    QCOMPARE(f.view.chat().turns.back().thinking_s, thought); // the answer's time is not in it
    f.ask(QStringLiteral("and now"), "no thoughts");
    QCOMPARE(f.view.chat().turns.back().thinking_s, 0.0);
}

void TestChatView::storedFilesAreShown() {
    const QTemporaryDir folder;
    ChatViewFixture f;
    const QString original = folder.filePath(QStringLiteral("a.png"));
    QImage image(8, 8, QImage::Format_RGB32);
    image.fill(Qt::red);
    QVERIFY(image.save(original));
    f.view.attachFiles({original});
    f.ask(QStringLiteral("what is it?"), "red");
    const ChatTurn question = f.view.chat().turns.front();
    std::vector<ui::Attachment> stored = question.attachments;
    stored.front().file = folder.filePath(QStringLiteral("stored.png"));
    stored.front().hash = QStringLiteral("abc");
    QVERIFY(QFile::rename(original, stored.front().file));
    f.view.showAttachmentsStored(QStringLiteral("another chat"), question.id, stored);
    QCOMPARE(f.view.chat().turns.front().attachments.front().file, original);
    f.view.showAttachmentsStored(f.view.chat().id, question.id, stored);
    QCOMPARE(f.view.chat().turns.front().attachments.front().file, stored.front().file);
    // The next request names the file where it is, also from a version that is not shown.
    f.view.regenerateLast();
    QCOMPARE(f.request().messages.front().parts.front().text, stored.front().file.toStdString());
    f.view.showReply(f.request().id, makeReply(f.request().id, "still red"));
    f.list->setCurrentRow(0);
    QTest::keyClick(f.list, Qt::Key_F2);
    f.type(QStringLiteral(" please"));
    stored.front().file = folder.filePath(QStringLiteral("again.png"));
    f.view.showAttachmentsStored(f.view.chat().id, question.id, stored);
    QCOMPARE(f.view.chat().turns.front().versions[0][0].attachments[0].file, stored[0].file);
}

void TestChatView::pastes() {
    const QTemporaryDir folder;
    ChatViewFixture f;
    auto* composer = f.view.findChild<ui::Composer*>();
    QClipboard* clipboard = QGuiApplication::clipboard();
    const auto paste = [&] { QTest::keyClick(f.input, Qt::Key_V, Qt::ControlModifier); };
    clipboard->setText(QStringLiteral("some words"));
    paste();
    QCOMPARE(f.input->toPlainText(), QStringLiteral("some words"));
    QVERIFY(composer->attachments().empty());
    // A picture without a file, as a screenshot tool leaves it.
    QImage image(8, 8, QImage::Format_RGB32);
    image.fill(Qt::blue);
    clipboard->setImage(image);
    paste();
    QTRY_COMPARE(composer->attachments().size(), size_t{1});
    QCOMPARE(QImage(composer->attachments()[0].file).pixelColor(3, 3), QColor(Qt::blue));
    // Files, as a file manager leaves them: what cannot be used is told.
    const QString sound = folder.filePath(QStringLiteral("a.wav"));
    auto* files = new QMimeData;
    files->setUrls({QUrl::fromLocalFile(sound),
                    QUrl::fromLocalFile(folder.filePath(QStringLiteral("b.txt")))});
    clipboard->setMimeData(files);
    paste();
    QCOMPARE(composer->attachments().size(), size_t{2});
    QCOMPARE(composer->attachments()[1].file, sound);
    QVERIFY(f.notice->text().contains(QStringLiteral("b.txt")));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("some words"));
}

TEST_CLASS_WITH(QApplication, TestChatView)
#include "tst_chat_view.moc"
