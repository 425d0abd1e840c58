// SPDX-License-Identifier: Apache-2.0
// Player, choice of a part and recording as the user meets them in the chat: by mouse, by keyboard
// and by screen reader.
#include "tests/support/program/test_class.h"
#include "tests/ui/media/fake_sound.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/message_list.h"
#include "ui/common/unique_id.h"
#include "ui/media/sound_card.h"
#include "ui/media/sound_player.h"
#include "ui/media/sound_range.h"
#include "ui/style/theme.h"

#include <QAccessible>
#include <QApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using support::FakeDecoder;
using support::FakeDevices;
using support::settle;
using ui::SoundCard;
using ui::SoundPlayer;
using ui::SoundRange;

namespace {

struct SoundWidgetsFixture {
    explicit SoundWidgetsFixture(double seconds) {
        sound = folder.filePath(QStringLiteral("talk.wav"));
        QFile file(sound);
        if (file.open(QIODevice::WriteOnly)) {
            file.write("x"); // it only has to be there: FakeDecoder reads
        }
        auto own = std::make_unique<FakeDevices>();
        devices = own.get();
        view.player()->setDevices(std::move(own));
        view.setSoundDecoder(std::make_shared<FakeDecoder>(seconds));
        auto model = std::make_shared<engine::ModelSummary>();
        model->has_vision = model->has_audio = true;
        model->longest_sound_s = 20.0;
        view.setModel(model, true);
        view.resize(900, 700);
        view.show();
        (void)QTest::qWaitForWindowExposed(&view);
    }
    /// A chat of one question with the sound, and its reply.
    void showMessage() {
        ui::ChatDocument chat;
        chat.id = ui::makeUniqueId();
        ui::ChatTurn question;
        question.id = ui::makeUniqueId();
        question.text = QStringLiteral("What is said?");
        ui::Attachment attachment;
        attachment.kind = engine::MessagePart::Kind::Audio;
        attachment.file = sound;
        attachment.name = QStringLiteral("talk.wav");
        question.attachments.push_back(attachment);
        ui::ChatTurn reply;
        reply.id = ui::makeUniqueId();
        reply.role = engine::Message::Role::Assistant;
        reply.text = QStringLiteral("Seven.");
        chat.turns = {question, reply};
        view.setChat(chat);
        settle();
    }
    template <typename T>
    T* find(const char* name) {
        return view.findChild<T*>(QString::fromLatin1(name));
    }
    SoundCard* card() {
        for (SoundCard* one : view.findChildren<SoundCard*>()) {
            if (one->isVisible()) {
                return one;
            }
        }
        return nullptr;
    }
    QTemporaryDir folder;
    QString sound;
    FakeDevices* devices = nullptr;
    ui::ChatView view;
};

engine::Error tooLong(double seconds) {
    return {engine::ErrorCode::InvalidRequest,
            "the recording is too long",
            {{"seconds", std::to_string(seconds)}, {"longest_s", "20.0"}}};
}

} // namespace

class TestSoundWidgets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qobject_cast<QApplication*>(qApp)); }
    void playsInTheMessage();
    void keysOfTheMessageList();
    void screenReader();
    void stopsWhenTheMessageGoes();
    void noDeviceIsTold();
    void longRecording();
    void rangeByMouse();
    void records();
    void cannotRecord();
};

void TestSoundWidgets::playsInTheMessage() {
    SoundWidgetsFixture f(10.0);
    f.showMessage();
    SoundCard* card = f.card();
    QVERIFY(card != nullptr);
    SoundPlayer* player = f.view.player();
    const int middle = card->height() / 2;
    QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(20, middle));
    settle();
    QVERIFY(player->isPlaying(card->clip()));
    f.devices->out.pull(ui::kSoundRate);
    QCOMPARE(card->value(), 1.0);
    QVERIFY2(card->valueText().contains(QStringLiteral("0:01 of 0:10")),
             qPrintable(card->valueText()));
    // A click into the waveform goes there and plays on.
    QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(card->width() / 2, middle));
    settle();
    const double there = player->position(card->clip());
    QVERIFY2(there > 3.0 && there < 9.0, qPrintable(QString::number(there)));
    QVERIFY(player->isPlaying(card->clip()));
    // Keyboard: a second back, the beginning, pause.
    card->setFocus();
    QTest::keyClick(card, Qt::Key_Left);
    settle();
    QVERIFY(std::abs(player->position(card->clip()) - (there - 1.0)) < 0.001);
    QTest::keyClick(card, Qt::Key_PageUp);
    settle();
    QVERIFY(player->position(card->clip()) > there);
    QTest::keyClick(card, Qt::Key_Home);
    settle();
    QCOMPARE(player->position(card->clip()), 0.0);
    QTest::keyClick(card, Qt::Key_Space);
    QCOMPARE(player->state(), SoundPlayer::State::Paused);
    QTest::keyClick(card, Qt::Key_Return);
    settle();
    QVERIFY(player->isPlaying(card->clip()));
    QTest::keyClick(card, Qt::Key_Escape);
    QVERIFY(f.view.messageList()->hasFocus());
}

void TestSoundWidgets::keysOfTheMessageList() {
    SoundWidgetsFixture f(10.0);
    f.showMessage();
    ui::MessageList* list = f.view.messageList();
    list->setFocus();
    list->setCurrentRow(0);
    QTest::keyClick(list, Qt::Key_Return);
    settle();
    SoundPlayer* player = f.view.player();
    QVERIFY(player->isPlaying(f.card()->clip()));
    QTest::keyClick(list, Qt::Key_Right);
    settle();
    QCOMPARE(player->position(f.card()->clip()), 1.0);
    QTest::keyClick(list, Qt::Key_Return);
    QCOMPARE(player->state(), SoundPlayer::State::Paused);
    // Tab goes to the player, not past it.
    QTest::keyClick(list, Qt::Key_Tab);
    QVERIFY(f.card()->hasFocus());
}

void TestSoundWidgets::screenReader() {
    SoundWidgetsFixture f(10.0);
    f.showMessage();
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(f.card());
    QVERIFY(face != nullptr);
    QCOMPARE(face->role(), QAccessible::Slider);
    QVERIFY(face->text(QAccessible::Name).contains(QStringLiteral("talk.wav")));
    QVERIFY(face->text(QAccessible::Value).contains(QStringLiteral("0:10")));
    QAccessibleValueInterface* value = face->valueInterface();
    QVERIFY(value != nullptr);
    QCOMPARE(value->maximumValue().toDouble(), 10.0);
    value->setCurrentValue(4.0);
    QCOMPARE(value->currentValue().toDouble(), 4.0);
    QVERIFY(face->actionInterface() != nullptr);
    face->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
    settle();
    QVERIFY(f.view.player()->isPlaying(f.card()->clip()));
    QVERIFY(face->text(QAccessible::Value).contains(QStringLiteral("playing")));
}

void TestSoundWidgets::stopsWhenTheMessageGoes() {
    SoundWidgetsFixture f(10.0);
    f.showMessage();
    f.view.player()->toggle(f.card()->clip());
    settle();
    ui::MessageList* list = f.view.messageList();
    list->setFocus();
    list->setCurrentRow(0);
    QTest::keyClick(list, Qt::Key_Delete);
    QCOMPARE(f.view.player()->state(), SoundPlayer::State::Stopped);
    QVERIFY(!f.devices->out.isRunning());
    f.view.undo();
    settle();
    f.view.player()->toggle(f.card()->clip());
    settle();
    QVERIFY(f.view.player()->isPlaying(f.card()->clip()));
    f.view.setChat({}); // another chat
    QCOMPARE(f.view.player()->state(), SoundPlayer::State::Stopped);
}

void TestSoundWidgets::noDeviceIsTold() {
    SoundWidgetsFixture f(10.0);
    f.showMessage();
    f.devices->out.to_open = ui::SoundProblem::NoDevice;
    QTest::keyClick(f.card(), Qt::Key_Space);
    settle();
    QVERIFY(f.card()->valueText().contains(QStringLiteral("No sound device")));
    QVERIFY(f.card()->toolTip().contains(QStringLiteral("No sound device")));
    auto* notice = f.view.findChild<ui::ChatNotice*>();
    QVERIFY(notice != nullptr && notice->isVisible());
    QVERIFY(notice->text().contains(QStringLiteral("loudspeaker")));
}

void TestSoundWidgets::longRecording() {
    SoundWidgetsFixture f(75.0);
    QSignalSpy costs(&f.view, &ui::ChatView::mediaCostRequested);
    QSignalSpy ahead(&f.view, &ui::ChatView::encodeAheadRequested);
    QSignalSpy requests(&f.view, &ui::ChatView::generateRequested);
    f.view.attachFiles({f.sound});
    settle();
    QCOMPARE(costs.size(), 1);
    // The answer comes from the header, before any work.
    f.view.showMediaError(f.sound, tooLong(75.0));
    auto* chip = f.view.findChild<ui::AttachmentChip*>();
    QVERIFY(chip != nullptr);
    auto* detail = f.find<QLabel>("attachmentDetail");
    QVERIFY2(detail->text().contains(QStringLiteral("at most 20")), qPrintable(detail->text()));
    auto* send = f.find<QPushButton>("sendButton");
    QVERIFY(!send->isEnabled());
    QCOMPARE(ahead.size(), 0);
    auto* first = f.find<QPushButton>("useFirstPart");
    QVERIFY(first->isVisible());
    QVERIFY(first->text().contains(QStringLiteral("20")));
    // Choose: the focus is where the choice is made.
    QTest::mouseClick(f.find<QPushButton>("choosePart"), Qt::LeftButton);
    auto* range = f.view.findChild<SoundRange*>();
    QVERIFY(range != nullptr && range->isVisible());
    QVERIFY(range->hasFocus());
    QVERIFY(!first->isVisible());
    QVERIFY(send->isEnabled());
    QTest::keyClick(range, Qt::Key_Right);
    QTest::keyClick(range, Qt::Key_PageUp);
    QCOMPARE(chip->attachment().cut_start_s, 11.0);
    QCOMPARE(chip->attachment().cut_length_s, 20.0);
    QVERIFY2(detail->text().contains(QStringLiteral("0:11 to 0:31 of 1:15")),
             qPrintable(detail->text()));
    QTest::keyClick(range, Qt::Key_End);
    QCOMPARE(chip->attachment().cut_start_s, 55.0);
    QTest::keyClick(range, Qt::Key_Left);
    QCOMPARE(chip->attachment().cut_start_s, 54.0);
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(range);
    QVERIFY(face->text(QAccessible::Value).contains(QStringLiteral("0:54 to 1:14 of 1:15")));
    // The cost of the part is asked, with the part.
    QTRY_VERIFY(costs.size() >= 2);
    const auto asked = costs.last().first().value<engine::MessagePart>();
    QCOMPARE(asked.cut_start_s, 54.0);
    QCOMPARE(asked.cut_length_s, 20.0);
    // A late answer about the whole file does not take the choice back.
    f.view.showMediaError(f.sound, tooLong(75.0));
    QVERIFY(send->isEnabled());
    engine::MediaCost cost;
    cost.tokens = 502;
    cost.seconds = 1.5;
    cost.device = "cpu";
    f.view.showMediaCost(f.sound, cost);
    QVERIFY2(detail->text().contains(QStringLiteral("502")), qPrintable(detail->text()));
    QCOMPARE(ahead.size(), 1); // what is encoded ahead is the part
    QCOMPARE(ahead.first().first().value<engine::MessagePart>().cut_start_s, 54.0);
    // What is heard before sending is the part, and what is sent and shown then is the part.
    QTest::keyClick(chip, Qt::Key_Space);
    settle();
    QCOMPARE(f.view.player()->current().start_s, 54.0);
    f.find<QPlainTextEdit>("messageInput")->setPlainText(QStringLiteral("And now?"));
    f.view.send();
    QCOMPARE(requests.size(), 1);
    const auto request = requests.first().first().value<engine::GenerateRequest>();
    bool has_part = false;
    for (const engine::MessagePart& part : request.messages.back().parts) {
        has_part = has_part || (part.cut_start_s == 54.0 && part.cut_length_s == 20.0);
    }
    QVERIFY(has_part);
    const ui::Attachment& kept = f.view.chat().turns.front().attachments.front();
    QCOMPARE(kept.file, f.sound); // the whole file
    QCOMPARE(kept.cut_start_s, 54.0);
    settle();
    QCOMPARE(f.card()->maximum(), 20.0);
}

void TestSoundWidgets::rangeByMouse() {
    SoundWidgetsFixture f(100.0);
    f.view.attachFiles({f.sound});
    settle();
    f.view.showMediaError(f.sound, tooLong(100.0));
    QTest::mouseClick(f.find<QPushButton>("useFirstPart"), Qt::LeftButton);
    auto* chip = f.view.findChild<ui::AttachmentChip*>();
    auto* range = f.view.findChild<SoundRange*>();
    QVERIFY(range->isVisible());
    QCOMPARE(chip->attachment().cut_start_s, 0.0);
    const int y = 12;
    const double width = range->width() - 8.0;
    // A click puts the middle of the part there.
    QTest::mouseClick(range, Qt::LeftButton, {}, QPoint(qRound(4 + width * 0.5), y));
    QVERIFY2(std::abs(chip->attachment().cut_start_s - 40.0) < 0.6,
             qPrintable(QString::number(chip->attachment().cut_start_s)));
    // Held inside it moves along, and not beyond the end.
    const double before = chip->attachment().cut_start_s;
    QTest::mousePress(range, Qt::LeftButton, {}, QPoint(qRound(4 + width * 0.45), y));
    QVERIFY(std::abs(chip->attachment().cut_start_s - before) < 0.11);
    QTest::mouseMove(range, QPoint(qRound(4 + width * 0.55), y));
    QTest::mouseRelease(range, Qt::LeftButton, {}, QPoint(qRound(4 + width * 0.55), y));
    QVERIFY(std::abs(chip->attachment().cut_start_s - (before + 10.0)) < 0.6);
    QTest::mouseClick(range, Qt::LeftButton, {}, QPoint(range->width() - 5, y));
    QCOMPARE(chip->attachment().cut_start_s, 80.0);
}

void TestSoundWidgets::records() {
    SoundWidgetsFixture f(3.0);
    QTest::keyClick(&f.view, Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    auto* text = f.find<QLabel>("recordText");
    if (!text->isVisible()) { // without an active window no shortcut acts
        QTest::mouseClick(f.find<QToolButton>("recordButton"), Qt::LeftButton);
    }
    QVERIFY(text->isVisible());
    f.devices->in.hear(std::vector<int16_t>(48000, 900));
    QVERIFY2(text->text().contains(QStringLiteral("0:03 of 0:20")), qPrintable(text->text()));
    auto* use = f.find<QPushButton>("useRecording");
    QVERIFY(use->hasFocus());
    QTest::keyClick(use, Qt::Key_Space);
    settle();
    QVERIFY(!text->isVisible());
    auto* chip = f.view.findChild<ui::AttachmentChip*>();
    QVERIFY(chip != nullptr);
    QVERIFY(chip->attachment().kind == engine::MessagePart::Kind::Audio);
    QVERIFY(chip->attachment().file.endsWith(QStringLiteral(".wav")));
    QVERIFY(QFile::exists(chip->attachment().file));
    QFile::remove(chip->attachment().file);
    // Escape gives up.
    QTest::mouseClick(f.find<QToolButton>("recordButton"), Qt::LeftButton);
    f.devices->in.hear(std::vector<int16_t>(16000, 900));
    QTest::keyClick(use, Qt::Key_Escape);
    QVERIFY(!text->isVisible());
    QVERIFY(!f.devices->in.is_open);
    settle();
    QCOMPARE(f.view.findChildren<ui::AttachmentChip*>().size(), 1);
}

void TestSoundWidgets::cannotRecord() {
    SoundWidgetsFixture f(3.0);
    f.devices->in.to_open = ui::SoundProblem::NoDevice;
    QTest::mouseClick(f.find<QToolButton>("recordButton"), Qt::LeftButton);
    auto* text = f.find<QLabel>("recordText");
    QVERIFY(text->isVisible());
    QVERIFY(text->text().contains(QStringLiteral("No microphone")));
    f.devices->in.to_open.reset();
    QTest::mouseClick(f.find<QPushButton>("useRecording"), Qt::LeftButton); // try again
    QVERIFY(f.devices->in.is_open);
    QTest::mouseClick(f.find<QPushButton>("cancelRecording"), Qt::LeftButton);
    QVERIFY(!f.devices->in.is_open);
    QVERIFY(!text->isVisible());
}

TEST_CLASS_WITH(QApplication, TestSoundWidgets)

#include "tst_sound_widgets.moc"
