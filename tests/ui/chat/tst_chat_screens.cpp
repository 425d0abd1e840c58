// SPDX-License-Identifier: Apache-2.0
// The chat view in its states, light and dark, drawn at 100 and 200 %. Checks that nothing is drawn
// outside the column and that every state can be told from the empty one; with
// BELFRY_SCREENSHOTS set the pictures are kept to be looked at.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/composer.h"
#include "ui/chat/message_list.h"
#include "ui/chat/picture_view.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <cmath>
#include <memory>

using engine::Message;
using ui::ChatDocument;
using ui::ChatTurn;
using ui::ChatView;

namespace {

/// One second of a tone that swells and fades, as WAV.
void writeSound(const QString& file) {
    constexpr int kRate = 8000;
    QByteArray data;
    for (int i = 0; i < kRate * 3; ++i) {
        const double t = static_cast<double>(i) / kRate;
        const auto value =
            static_cast<qint16>(20000.0 * std::sin(t * 2765.0) * std::abs(std::sin(t * 7.0)));
        data.append(static_cast<char>(value & 0xff)).append(static_cast<char>(value >> 8));
    }
    const auto number = [](quint32 value, int size) {
        QByteArray bytes;
        for (int i = 0; i < size; ++i) {
            bytes.append(static_cast<char>(value >> (8 * i)));
        }
        return bytes;
    };
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("RIFF" + number(36 + static_cast<quint32>(data.size()), 4) + "WAVEfmt " +
              number(16, 4) + number(1, 2) + number(1, 2) + number(kRate, 4) +
              number(kRate * 2, 4) + number(2, 2) + number(16, 2) + "data" +
              number(static_cast<quint32>(data.size()), 4) + data);
}

ChatDocument richChat(const QString& picture, const QString& sound) {
    ChatDocument chat;
    chat.id = QStringLiteral("rich");
    ChatTurn turn;
    turn.role = Message::Role::User;
    turn.text = QStringLiteral("Which bird is on the picture, and is it the one that sings?");
    turn.attachments.push_back(
        {engine::MessagePart::Kind::Image, picture, {}, QStringLiteral("fence.png"), 0, 280});
    turn.attachments.push_back(
        {engine::MessagePart::Kind::Audio, sound, {}, QStringLiteral("song.wav"), 0, 75});
    chat.turns.push_back(turn);
    turn = {};
    turn.role = Message::Role::Assistant;
    turn.thinking = QStringLiteral("The picture shows a small bird with a red breast. The song "
                                   "repeats each phrase, so it is another bird.");
    turn.text = QStringLiteral(
        "## Two birds\n\nThe picture shows a **European robin** on a fence post. The recording "
        "does *not* match it: the song is that of a **song thrush**, which repeats each phrase "
        "two to four times. See `birds.csv` or [the atlas](https://example.org).\n\n"
        "```python\nfor phrase in song:\n    print(phrase, phrase.repeats)  # 2 to 4\n```\n\n"
        "| Bird | Phrases | Pitch |\n|---|---|--:|\n| Robin | clear, falling, each different | 4.1 "
        "kHz |\n| Thrush | short, each repeated two to four times | 3.2 kHz |\n\n"
        "1. Record a second clip\n2. closer to the fence:\n   - at dawn\n   - without wind\n\n"
        "> A robin sings on when others stop.\n\n日本語も、العربية أيضًا، и русский 🐦.");
    turn.finish_reason = QStringLiteral("stop");
    turn.timing.decode_tokens = 142;
    turn.timing.decode_s = 1.183;
    turn.timing.prefill_tokens = 410;
    turn.timing.time_to_first_token_s = 0.14;
    turn.adapters.push_back({"/models/medical-qlora", 0.8, true});
    chat.turns.push_back(turn);
    turn = {};
    turn.role = Message::Role::User;
    turn.text = QStringLiteral("And if I put the adapter on?");
    chat.turns.push_back(turn);
    turn = {};
    turn.role = Message::Role::Assistant;
    turn.text = QStringLiteral("With the adapter the answer becomes more clinical.");
    turn.finish_reason = QStringLiteral("failed");
    turn.notes.append(QStringLiteral("cuda:0 ran out of memory: 312 MiB asked, 96 MiB free. Move "
                                     "the vision tower to the CPU, or take a shorter context."));
    chat.turns.push_back(turn);
    return chat;
}

} // namespace

class TestChatScreens : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void states_data();
    void states();

private:
    QTemporaryDir folder_;
    QString picture_, sound_;
};

void TestChatScreens::initTestCase() {
    ui::applyTheme(*qApp);
    picture_ = folder_.filePath(QStringLiteral("fence.png"));
    sound_ = folder_.filePath(QStringLiteral("song.wav"));
    QImage image(640, 480, QImage::Format_RGB32);
    QPainter painter(&image);
    QLinearGradient gradient(0, 0, 640, 480);
    gradient.setColorAt(0, QColor(60, 110, 170));
    gradient.setColorAt(0.5, QColor(150, 200, 150));
    gradient.setColorAt(1, QColor(220, 170, 110));
    painter.fillRect(image.rect(), gradient);
    painter.end();
    QVERIFY(image.save(picture_));
    writeSound(sound_);
}

void TestChatScreens::cleanup() {
    ui::setThemeChoice(ui::ThemeChoice::Light);
}

void TestChatScreens::states_data() {
    support::addColumns<QString, bool>("state", "is_dark");
    for (const bool is_dark : {false, true}) {
        for (const char* state :
             {"empty", "rich", "streaming", "composer", "sampling", "cut", "versions", "narrow",
              "formulas", "code", "find", "picture", "shortcuts", "many", "notice", "choices"}) {
            QTest::addRow("%s-%s", state, is_dark ? "dark" : "light")
                << QString::fromLatin1(state) << is_dark;
        }
    }
}

void TestChatScreens::states() {
    QFETCH(QString, state);
    QFETCH(bool, is_dark);
    ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
    ChatView view;
    view.resize(state == QLatin1String("narrow") ? 480 : 900, 900);
    auto model = std::make_shared<engine::ModelSummary>();
    model->has_vision = model->has_audio = true;
    model->sampling = {1.0, 64, 0.95, 0.0, 1.0};
    model->image_tokens = 280;
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->state = engine::EngineSnapshot::State::Ready;
    snapshot->context_size = 2048;
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    view.setModel(model, true);
    view.showSnapshot(snapshot);
    if (state != QLatin1String("empty")) {
        view.setChat(richChat(picture_, sound_));
        view.messageList()->scrollToRow(0);
    }
    if (state == QLatin1String("streaming")) {
        QSignalSpy requests(&view, &ChatView::generateRequested);
        view.insertSample(QStringLiteral("Write a long answer, please."), {}, {}, true);
        QCOMPARE(requests.count(), 1);
        const quint64 id = requests.first().first().value<engine::GenerateRequest>().id;
        view.showReplyUpdate(id, {"Here is the beginning of a reply that is", "I think.", 9});
        QTest::qWait(80);
    } else if (state == QLatin1String("composer")) {
        view.insertSample(QStringLiteral("What do you see\nand hear?"), {picture_, picture_},
                          {sound_}, false);
        view.showMediaCost(picture_, {282, 0.9, "cpu", "PNG, 640 x 480"});
        view.showMediaError(sound_, {engine::ErrorCode::InvalidRequest,
                                     "the recording is 41 s long, one clip may have 30 s; choose a "
                                     "part of it",
                                     {{"seconds", "41"}}});
        QTest::qWait(50);
    } else if (state == QLatin1String("formulas")) {
        ChatDocument chat = richChat(picture_, sound_);
        chat.turns[1].text = QStringLiteral(
            "For \\(a^2 + b^2 = c^2\\) the length is $\\sqrt{a^2 + b^2}$, from $5 to $9, and "
            "$\\frac{\\partial f}{\\partial x_i} \\le \\hat\\sigma^2$ in a line of words that goes "
            "on and on, so that the lines above and below it can be seen.\n\n"
            "$$\n\\begin{aligned}\nx &= \\int_0^\\infty e^{-t^2}\\,dt = \\frac{\\sqrt{\\pi}}{2} "
            "\\\\"
            "\n  &\\approx \\sum_{n=0}^{N} \\left( \\frac{(-1)^n}{n!} \\right)\n"
            "\\end{aligned}\n$$\n\n\\[ \\mathbf{A} = \\begin{pmatrix} a_{11} & \\cdots & a_{1n} "
            "\\\\ "
            "\\vdots & \\ddots & \\vdots \\\\ a_{m1} & \\cdots & a_{mn} \\end{pmatrix}, \\quad |x| "
            "= "
            "\\begin{cases} x & \\text{if } x \\ge 0 \\\\ -x & \\text{otherwise} \\end{cases} "
            "\\]\n\n"
            "and \\[ e^{i\\pi} + 1 = 0 \\] too, but not $\\nosuch{x}$.\n\n"
            "| Norm | Source |\n|---|---|\n| Euclid | $\\|x\\|_2 = \\sqrt{\\sum_i x_i^2}$ |\n");
        view.setChat(chat);
        view.messageList()->scrollToRow(1);
    } else if (state == QLatin1String("code")) {
        ChatDocument chat = richChat(picture_, sound_);
        chat.turns[1].thinking.clear();
        chat.turns[1].text = QStringLiteral(
            "```cpp\n#include <vector>\n\n/* Adds up what is positive,\n   and nothing else. */\n"
            "template <typename T>\nT sum(const std::vector<T>& all) {\n    T total = 0; // of "
            "this "
            "line there is more than fits into the message, so that it has to be scrolled "
            "sideways, as far as its last word\n    for (const T& one : all) {\n        total += "
            "one > 0x10 ? one : T{1.5e3};\n"
            "    }\n    return total;\n}\n```\n\n```json\n{\"name\": \"E2B\", \"bits\": 4, "
            "\"loaded\": "
            "true}\n```\n\n```diff\n-int a;\n+int b;\n```\n\n```bash\n# all of them\nfor f in "
            "*.txt; do "
            "echo \"$f\" | sed 's/a/b/'; done\n```");
        view.setChat(chat);
        view.messageList()->scrollToRow(1);
    } else if (state == QLatin1String("find")) {
        QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(view.findChild<QLineEdit*>(QStringLiteral("findField")),
                         QStringLiteral("phrase"));
        QTRY_VERIFY(view.findChild<QLabel*>(QStringLiteral("findCount"))->text().size() > 4);
    } else if (state == QLatin1String("picture")) {
        Q_EMIT view.messageList()->attachmentActivated(0, 0);
        QTRY_VERIFY(!view.findChild<ui::PictureView*>()->shownSize().isEmpty());
    } else if (state == QLatin1String("shortcuts")) {
        view.messageList()->scrollToEnd();
        view.focusComposer();
        QTest::keyClick(view.findChild<ui::Composer*>()->input(), Qt::Key_Slash);
    } else if (state == QLatin1String("many")) {
        QStringList files;
        for (int i = 0; i < 30; ++i) {
            files.append(picture_);
        }
        view.attachFiles(files + QStringList{sound_});
        view.showMediaCost(picture_, {282, 0.9, "cpu", "PNG, 640 x 480"});
        QTest::qWait(50);
    } else if (state == QLatin1String("notice")) {
        view.findChild<ui::ChatNotice*>()->showNotice(ui::ChatNotice::Tone::Info,
                                                      QStringLiteral("Deleted: 2 messages."),
                                                      {{QStringLiteral("Undo"), [] {}}});
        view.messageList()->scrollToEnd();
    } else if (state == QLatin1String("choices")) {
        view.findChild<ui::ChatNotice*>()->showNotice(
            ui::ChatNotice::Tone::Warning,
            QStringLiteral(
                "The prompt has 87,307 tokens, the context holds 4,096. Leave out turns, "
                "shorten the message or make the context larger."),
            {{QStringLiteral("Leave out the oldest turns and send"), [] {}},
             {QStringLiteral("Make the context larger…"), [] {}},
             {QStringLiteral("Back to editing"), [] {}}});
        view.messageList()->scrollToEnd();
    } else if (state == QLatin1String("sampling")) {
        view.findChild<QToolButton*>(QStringLiteral("samplingButton"))->setChecked(true);
    } else if (state == QLatin1String("cut")) {
        ChatDocument chat = richChat(picture_, sound_);
        chat.turns[0].is_cut = chat.turns[1].is_cut = true;
        chat.turns[2].attachments.clear();
        view.setChat(chat);
        view.messageList()->setCurrentRow(2);
        view.messageList()->setFocus();
    }
    if (state == QLatin1String("versions")) {
        // An edited question, a reply written three times and cut at last, its thoughts timed.
        ChatDocument chat = richChat(picture_, sound_);
        chat.turns.resize(4);
        chat.turns[2].versions = {{chat.turns[2]}};
        chat.turns[2].version = 1;
        ChatTurn& reply = chat.turns[3];
        reply.notes.clear();
        reply.finish_reason = QStringLiteral("length");
        reply.thinking = QStringLiteral("The adapter was made on notes of doctors.");
        reply.thinking_s = 4.2;
        reply.timing = chat.turns[1].timing;
        const ChatTurn other = reply;
        reply.versions = {{other}, {other}};
        reply.version = 1;
        view.setChat(chat);
        view.messageList()->setCurrentRow(3);
        view.messageList()->setFocus();
    }
    QTest::qWait(60); // thumbnails arrive from the pool
    const QImage image = view.grab().toImage();
    const ui::Theme& theme = ui::Theme::current();
    QCOMPARE(theme.is_dark, is_dark);
    // Left of the column there is only the window's colour.
    const QRect list(view.messageList()->mapTo(&view, QPoint(0, 0)), view.messageList()->size());
    if (state != QLatin1String("empty") && state != QLatin1String("picture")) {
        for (int y = list.top() + 1; y < list.bottom() - 40; y += 7) {
            QCOMPARE(image.pixelColor(list.left() + 4, y), theme.window);
        }
        int drawn = 0;
        for (int y = list.top(); y < list.bottom(); y += 2) {
            for (int x = list.left(); x < list.right(); x += 2) {
                drawn += image.pixelColor(x, y) != theme.window ? 1 : 0;
            }
        }
        QVERIFY2(drawn > 2000, qPrintable(QString::number(drawn)));
    }
    const QString keep = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!keep.isEmpty()) {
        QDir().mkpath(keep);
        QVERIFY(image.save(QStringLiteral("%1/chat-%2.png")
                               .arg(keep, QString::fromLatin1(QTest::currentDataTag()))));
    }
}

TEST_CLASS_WITH(QApplication, TestChatScreens)
#include "tst_chat_screens.moc"
