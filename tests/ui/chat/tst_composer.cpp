// SPDX-License-Identifier: Apache-2.0
// Where the next message is written: the list behind "/" is seen whole wherever it is opened, keys
// that are typed elsewhere in the chat arrive, many attachments leave room for the messages, and
// the sampling panel tells the model's own values.
#include "tests/support/program/test_class.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/message_list.h"
#include "ui/common/unique_id.h"
#include "ui/style/theme.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QImage>
#include <QInputMethodEvent>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using ui::ChatView;

namespace {

std::shared_ptr<engine::ModelSummary> seeingModelComposer() {
    auto model = std::make_shared<engine::ModelSummary>();
    model->folder = "demo";
    model->has_vision = model->has_audio = true;
    return model;
}

ui::ChatDocument someChat() {
    ui::ChatDocument chat;
    chat.id = QStringLiteral("chat");
    for (int i = 0; i < 12; ++i) {
        ui::ChatTurn turn;
        turn.id = ui::makeUniqueId();
        turn.role = i % 2 == 0 ? engine::Message::Role::User : engine::Message::Role::Assistant;
        turn.text = QStringLiteral("Message %1").arg(i);
        chat.turns.push_back(turn);
    }
    return chat;
}

struct ComposerFixture {
    ChatView view;
    QPlainTextEdit* input = nullptr;
    ui::Composer* composer = nullptr;

    explicit ComposerFixture(QSize size = {900, 700}) {
        view.resize(size);
        view.show();
        (void)QTest::qWaitForWindowActive(&view);
        view.setModel(seeingModelComposer(), true);
        view.setChat(someChat());
        composer = view.findChild<ui::Composer*>();
        input = composer->input();
        view.focusComposer();
        QCoreApplication::processEvents();
    }
    template <typename T>
    T* find(const char* name) const {
        return view.findChild<T*>(QString::fromLatin1(name));
    }
};

QStringList pictures(const QTemporaryDir& folder, int count) {
    QStringList files;
    for (int i = 0; i < count; ++i) {
        files.append(folder.filePath(QStringLiteral("holiday picture %1.png").arg(i)));
        QImage image(32, 24, QImage::Format_RGB32);
        image.fill(QColor::fromHsv(i * 11 % 360, 160, 200));
        image.save(files.last());
    }
    return files;
}

} // namespace

class TestComposer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void listOfShortcutsIsSeen_data();
    void listOfShortcutsIsSeen();
    void typedElsewhere();
    void manyAttachments();
    void samplingOfTheModel();
};

void TestComposer::listOfShortcutsIsSeen_data() {
    support::addColumns<QSize, bool, int>("size", "has_notice", "files");
    QTest::newRow("usual") << QSize(900, 700) << false << 0;
    QTest::newRow("with a notice") << QSize(900, 700) << true << 0;
    QTest::newRow("small") << QSize(420, 300) << false << 0;
    QTest::newRow("low, with files") << QSize(900, 420) << true << 3;
}

void TestComposer::listOfShortcutsIsSeen() {
    QFETCH(QSize, size);
    QFETCH(bool, has_notice);
    QFETCH(int, files);
    const QTemporaryDir folder;
    ComposerFixture f(size);
    f.view.attachFiles(pictures(folder, files));
    if (has_notice) {
        f.view.findChild<ui::ChatNotice*>()->showNotice(ui::ChatNotice::Tone::Info,
                                                        QStringLiteral("Deleted: 2 messages."), {});
    }
    QTest::qWait(20);
    QTest::keyClicks(f.input, QStringLiteral("/"));
    auto* list = f.find<QListWidget>("promptList");
    QVERIFY(list->isVisible());
    QVERIFY(list->count() >= 5);
    const auto isSeen = [&] {
        const QRect place(list->mapTo(&f.view, QPoint(0, 0)), list->size());
        // Nothing cuts it or lies over it: its own points are found from outside.
        for (const QPoint point : {place.topLeft(), place.topRight(), place.center(),
                                   place.bottomLeft(), place.bottomRight()}) {
            const QWidget* found = f.view.childAt(point);
            if (found != list && (found == nullptr || !list->isAncestorOf(found))) {
                return false;
            }
        }
        const QRect row = list->visualItemRect(list->currentItem());
        return list->viewport()->rect().contains(row.adjusted(0, 0, -1, -1)) &&
               place.bottom() < f.composer->mapTo(&f.view, QPoint(0, 0)).y();
    };
    QVERIFY(isSeen());
    QTest::keyClick(f.input, Qt::Key_Up); // the last one, by scrolling where there is little room
    QVERIFY(isSeen());
    f.view.resize(size + QSize(80, 60)); // it goes with the composer
    QCoreApplication::processEvents();
    QVERIFY(isSeen());
    QTest::keyClick(f.input, Qt::Key_Down);
    const QString first = list->item(0)->data(Qt::UserRole).toString();
    QTest::keyClick(f.input, Qt::Key_Return);
    QCOMPARE(f.input->toPlainText(), first);
    QVERIFY(!list->isVisible());
}

void TestComposer::typedElsewhere() {
    ComposerFixture f;
    QSignalSpy played(f.view.messageList(), &ui::MessageList::attachmentActivated);
    f.view.messageList()->setFocus();
    f.view.messageList()->setCurrentRow(3);
    QTest::keyClick(f.view.messageList(), Qt::Key_Space);
    QCOMPARE(played.size(), 0);
    QTest::keyClick(f.view.messageList(), QLatin1Char('I').toLatin1(), Qt::ShiftModifier);
    QVERIFY(f.input->hasFocus());
    QTest::keyClicks(f.input, QStringLiteral("s it so?"));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("Is it so?"));
    // From a button of the chat as well; what a key means there it goes on to mean.
    auto* button = f.find<QAbstractButton>("attachButton");
    button->setFocus();
    QTest::keyClicks(button, QStringLiteral("!"));
    QCOMPARE(f.input->toPlainText(), QStringLiteral("Is it so?!"));
    // Pasted, and composed of a dead key and a letter.
    QGuiApplication::clipboard()->setText(QStringLiteral(" pasted"));
    f.view.messageList()->setFocus();
    QTest::keyClick(f.view.messageList(), Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(f.input->toPlainText(), QStringLiteral("Is it so?! pasted"));
    f.view.messageList()->setFocus();
    QInputMethodEvent composed;
    composed.setCommitString(QString::fromUtf8("ê"));
    QCoreApplication::sendEvent(f.view.messageList(), &composed);
    QVERIFY(f.input->toPlainText().endsWith(QString::fromUtf8("ê")));
    // Enter without anything to play goes there too; arrows and Delete stay with the messages.
    f.view.messageList()->setFocus();
    f.view.messageList()->setCurrentRow(3);
    QTest::keyClick(f.view.messageList(), Qt::Key_Up);
    QVERIFY(f.view.messageList()->hasFocus());
    QTest::keyClick(f.view.messageList(), Qt::Key_Return);
    QVERIFY(f.input->hasFocus());
    // Fields of the settings keep what is typed into them.
    f.find<QAbstractButton>("samplingButton")->click();
    auto* temperature = f.find<QDoubleSpinBox>("temperature");
    temperature->setFocus();
    const QString before = f.input->toPlainText();
    QTest::keyClicks(temperature, QStringLiteral("x0"));
    QCOMPARE(f.input->toPlainText(), before);
    QVERIFY(!f.input->hasFocus());
}

void TestComposer::manyAttachments() {
    const QTemporaryDir folder;
    ComposerFixture f;
    auto* remove_all = f.find<QAbstractButton>("removeAllAttachments");
    f.view.attachFiles(pictures(folder, 2));
    QVERIFY(!remove_all->isVisible()); // two have their own buttons
    f.composer->setAttachments({});
    f.view.attachFiles(pictures(folder, 30));
    QTest::qWait(50);
    QVERIFY(remove_all->isVisible());
    QCOMPARE(f.find<QLabel>("attachmentCount")->text(), QStringLiteral("30 pictures"));
    // Two rows and a half, and the messages keep most of the height.
    auto* area = f.find<QScrollArea>("attachmentArea");
    auto* chip = f.view.findChild<ui::AttachmentChip*>();
    QVERIFY2(area->height() <= 3 * (chip->height() + 8),
             qPrintable(QString::number(area->height())));
    QVERIFY(area->height() >= 2 * chip->height());
    QVERIFY(f.view.messageList()->height() > f.view.height() / 2);
    QVERIFY(area->verticalScrollBar()->isVisible());
    QCOMPARE(area->verticalScrollBar()->value(), area->verticalScrollBar()->maximum()); // the new
    // The button of the next one comes where that of the removed one was.
    area->verticalScrollBar()->setValue(0);
    const auto chips = f.view.findChildren<ui::AttachmentChip*>();
    const QRect second = chips[1]->geometry();
    QTest::mouseClick(chips[1]->findChild<QAbstractButton*>(), Qt::LeftButton);
    QTest::qWait(20);
    QCOMPARE(f.composer->attachments().size(), size_t{29});
    QCOMPARE(chips[2]->geometry(), second);
    QTest::mouseClick(remove_all, Qt::LeftButton);
    QVERIFY(f.composer->attachments().empty());
    QVERIFY(!area->isVisible());
    auto* undo = f.view.findChild<ui::ChatNotice*>()->findChild<QAbstractButton*>(
        QStringLiteral("noticeChoice"));
    QVERIFY(undo != nullptr && undo->isVisible());
    QTest::qWait(450); // had the pointer been there, it would take no click for a moment
    QTest::mouseClick(undo, Qt::LeftButton);
    QCOMPARE(f.composer->attachments().size(), size_t{29});
}

void TestComposer::samplingOfTheModel() {
    ComposerFixture f;
    auto model = seeingModelComposer();
    model->sampling.temperature = 0.7;
    model->sampling.top_k = 48;
    model->sampling.top_p = 0.92;
    model->sampling.min_p = 0.0;
    model->sampling.repetition_penalty = 1.1;
    model->image_tokens = 560;
    f.view.setModel(model, true);
    f.find<QAbstractButton>("samplingButton")->click();
    QStringList shown;
    for (const char* name : {"temperature", "topP", "minP", "repetition"}) {
        shown.append(f.find<QDoubleSpinBox>(name)->text());
    }
    shown.append(f.find<QSpinBox>("topK")->text());
    shown.append(f.find<QComboBox>("imageTokens")->currentText());
    QCOMPARE(shown.join(QStringLiteral(", ")),
             QStringLiteral("0.70 (model's), 0.92 (model's), 0.00 (model's), 1.10 (model's), "
                            "48 (model's), 560 (model's)"));
    // A value of the user's own hides it; another model has others; none is not guessed at.
    f.find<QSpinBox>("topK")->setValue(5);
    QCOMPARE(f.find<QSpinBox>("topK")->text(), QStringLiteral("5"));
    model = seeingModelComposer();
    model->sampling.temperature = 1.0;
    f.view.setModel(model, true);
    QCOMPARE(f.find<QDoubleSpinBox>("temperature")->text(), QStringLiteral("1.00 (model's)"));
    QCOMPARE(f.find<QDoubleSpinBox>("topP")->text(), QStringLiteral("model's"));
}

TEST_CLASS_WITH(QApplication, TestComposer)

#include "tst_composer.moc"
