// SPDX-License-Identifier: Apache-2.0
// What is written and not sent belongs to its chat: text, files and an edit that was begun stay
// there while others are open, and are the same after a way over JSON.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_json.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QImage>
#include <QJsonDocument>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using ui::ChatView;

namespace {

ui::ChatDocument chat(const char* id) {
    ui::ChatDocument document;
    document.id = QString::fromLatin1(id);
    for (int i = 0; i < 2; ++i) {
        ui::ChatTurn turn;
        turn.id = document.id + QString::number(i);
        turn.role = i == 0 ? engine::Message::Role::User : engine::Message::Role::Assistant;
        turn.text = QStringLiteral("%1 said %2").arg(document.id).arg(i);
        document.turns.push_back(turn);
    }
    return document;
}

struct DraftsFixture {
    QTemporaryDir folder;
    ChatView view;
    ui::Composer* composer = nullptr;
    QString picture = folder.filePath(QStringLiteral("cat.png"));

    DraftsFixture() {
        QImage(8, 8, QImage::Format_RGB32).save(picture);
        view.resize(900, 700);
        view.show();
        auto model = std::make_shared<engine::ModelSummary>();
        model->has_vision = model->has_audio = true;
        view.setModel(model, true);
        composer = view.findChild<ui::Composer*>();
    }
    [[nodiscard]] QString shown() const {
        return QStringLiteral("%1 +%2").arg(composer->text()).arg(composer->attachments().size());
    }
    void write(const char* text) const { composer->setText(QString::fromLatin1(text)); }
};

} // namespace

class TestDrafts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        qRegisterMetaType<engine::GenerateRequest>();
        ui::applyTheme(*qApp);
    }
    void everyChatHasItsOwn();
    void editingIsKept();
    void sentAndFailed();
    void overJson();
    void tells();
};

void TestDrafts::everyChatHasItsOwn() {
    DraftsFixture f;
    f.write("for a new one");
    f.view.setChat(chat("a"));
    QCOMPARE(f.shown(), QStringLiteral(" +0"));
    f.write("for a");
    f.view.attachFiles({f.picture});
    f.view.setChat(chat("b"));
    QCOMPARE(f.shown(), QStringLiteral(" +0"));
    f.write("for b");
    f.view.setChat(chat("a"));
    QCOMPARE(f.shown(), QStringLiteral("for a +1"));
    QCOMPARE(f.composer->attachments()[0].file, f.picture);
    f.view.setChat({});
    QCOMPARE(f.shown(), QStringLiteral("for a new one +0"));
    QCOMPARE(f.view.drafts().keys(),
             (QStringList{QString(), QStringLiteral("a"), QStringLiteral("b")}));
    // What is emptied is not kept.
    f.write("");
    f.view.setChat(chat("b"));
    QCOMPARE(f.shown(), QStringLiteral("for b +0"));
    f.view.setChat({});
    QCOMPARE(f.shown(), QStringLiteral(" +0"));
    // A chat is deleted and comes back.
    const ui::ChatDraft taken = f.view.takeDraft(QStringLiteral("b"));
    QCOMPARE(f.view.drafts().keys(), QStringList{QStringLiteral("a")});
    f.view.addDrafts({{QStringLiteral("b"), taken}});
    f.view.setChat(chat("b"));
    QCOMPARE(f.shown(), QStringLiteral("for b +0"));
}

void TestDrafts::editingIsKept() {
    DraftsFixture f;
    f.view.setChat(chat("a"));
    f.write("next");
    f.view.messageList()->setFocus();
    f.view.messageList()->setCurrentRow(0);
    QTest::keyClick(f.view.messageList(), Qt::Key_F2);
    QCOMPARE(f.shown(), QStringLiteral("a said 0 +0"));
    f.write("a said it better");
    f.view.setChat(chat("b"));
    QCOMPARE(f.shown(), QStringLiteral(" +0"));
    f.view.setChat(chat("a"));
    QCOMPARE(f.shown(), QStringLiteral("a said it better +0"));
    // Esc ends the edit, and what was being written before is there again.
    QTest::keyClick(f.composer->input(), Qt::Key_Escape);
    QCOMPARE(f.shown(), QStringLiteral("next +0"));
    // Sent, it is the new wording of that question, not a new one; the next message waits.
    f.view.messageList()->setCurrentRow(0);
    QTest::keyClick(f.view.messageList(), Qt::Key_F2);
    f.write("again");
    f.view.setChat({});
    f.view.setChat(chat("a"));
    QTest::keyClick(f.composer->input(), Qt::Key_Return);
    QCOMPARE(f.view.chat().turns.front().text, QStringLiteral("again"));
    QCOMPARE(f.view.chat().turns.front().versionCount(), 2);
    QCOMPARE(f.shown(), QStringLiteral("next +0"));
}

void TestDrafts::sentAndFailed() {
    DraftsFixture f;
    QSignalSpy requests(&f.view, &ChatView::generateRequested);
    f.write("hello");
    QTest::keyClick(f.composer->input(), Qt::Key_Return);
    QVERIFY(f.view.drafts().isEmpty()); // sent is not kept, under neither id
    const auto id = requests.last().first().value<engine::GenerateRequest>().id;
    f.write("since");
    f.view.showReplyError(id, {engine::ErrorCode::OutOfMemory, "no room", {}});
    QCOMPARE(f.shown(), QStringLiteral("hello\n\nsince +0"));
    // An example that is clicked does not take what is being written.
    f.view.setChat({});
    f.write("mine");
    f.view.insertSample(QStringLiteral("What is this?"), {f.picture}, {}, true);
    QCOMPARE(f.view.chat().turns.front().text, QStringLiteral("What is this?"));
    QCOMPARE(f.shown(), QStringLiteral("mine +0"));
}

void TestDrafts::overJson() {
    ui::ChatDrafts drafts;
    for (const char* id : {"old", "", "new"}) {
        ui::ChatDraft draft;
        draft.message.text = QStringLiteral("text of ") + QString::fromLatin1(id);
        ui::Attachment sound;
        sound.kind = engine::MessagePart::Kind::Audio;
        sound.file = QStringLiteral("/home/a b/ü.wav");
        sound.name = QStringLiteral("ü.wav");
        sound.cut_start_s = 3.5;
        sound.cut_length_s = 30.0;
        draft.message.attachments.push_back(sound);
        draft.changed_ms = drafts.size() + 1000;
        drafts.insert(QString::fromLatin1(id), draft);
    }
    drafts[QStringLiteral("new")].edited_turn = QStringLiteral("t1");
    drafts[QStringLiteral("new")].edit.text = QStringLiteral("other words");
    const QJsonDocument document(ui::draftsToJson(drafts));
    const ui::ChatDrafts read =
        ui::draftsFromJson(QJsonDocument::fromJson(document.toJson()).array());
    QCOMPARE(read.keys(), drafts.keys());
    QCOMPARE(QJsonDocument(ui::draftsToJson(read)).toJson(), document.toJson());
    QCOMPARE(read[QStringLiteral("new")].edit.text, QStringLiteral("other words"));
    QCOMPARE(read[QString()].message.attachments.front().cut_start_s, 3.5);
    QVERIFY(ui::draftsFromJson({QStringLiteral("no object"), QJsonObject()}).isEmpty());
}

void TestDrafts::tells() {
    DraftsFixture f;
    QSignalSpy told(&f.view, &ChatView::draftsChanged);
    f.write("a");
    f.write("ab");
    QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, 4000);
}

TEST_CLASS_WITH(QApplication, TestDrafts)
#include "tst_drafts.moc"
