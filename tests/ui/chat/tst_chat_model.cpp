// SPDX-License-Identifier: Apache-2.0
// The conversation as a model: undo, cuts, streaming; what the engine is asked; what fits.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_model.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/height_index.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <random>

using engine::Message;
using engine::MessagePart;
using ui::ChatDocument;
using ui::ChatModel;
using ui::ChatTurn;

namespace {

ChatTurn makeTurn(Message::Role role, const QString& text) {
    ChatTurn turn;
    turn.role = role;
    turn.text = text;
    return turn;
}

ChatDocument makeChat(int pairs, int length = 36) {
    ChatDocument chat;
    for (int i = 0; i < pairs; ++i) {
        chat.turns.push_back(makeTurn(Message::Role::User, QStringLiteral("q%1 ").arg(i) +
                                                               QString(length, QLatin1Char('q'))));
        chat.turns.push_back(
            makeTurn(Message::Role::Assistant,
                     QStringLiteral("a%1 ").arg(i) + QString(length, QLatin1Char('a'))));
    }
    return chat;
}

QStringList texts(const ChatModel& model) {
    QStringList result;
    for (int row = 0; row < model.rowCount(); ++row) {
        result.append(model.turn(row).text.section(QLatin1Char(' '), 0, 0));
    }
    return result;
}

} // namespace

class TestChatModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void modelRules();
    void undoBringsBackBothVersions();
    void requestLeavesOutWhatIsCut();
    void cutsWholeQuestions();
    void heights();
};

void TestChatModel::modelRules() {
    ChatModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setDocument(makeChat(3));
    model.append(makeTurn(Message::Role::User, QStringLiteral("new")));
    model.append(makeTurn(Message::Role::Assistant, {}));
    model.setStreamingRow(7);
    QSignalSpy appended(&model, &ChatModel::textAppended);
    model.appendText(QStringLiteral("Hello "), {});
    model.appendText(QStringLiteral("you"), QStringLiteral("hm"));
    QCOMPARE(appended.count(), 2);
    QCOMPARE(model.turn(7).text, QStringLiteral("Hello you"));
    QCOMPARE(model.data(model.index(7), ChatModel::ThinkingRole).toString(), QStringLiteral("hm"));
    QVERIFY(model.data(model.index(7), ChatModel::IsStreamingRole).toBool());
    model.setStreamingRow(-1);
    model.setCut(2);
    QCOMPARE(model.cutCount(), 2);
    QVERIFY(model.data(model.index(1), ChatModel::IsCutRole).toBool());
    model.removeUndoable(2, 2);
    QCOMPARE(model.rowCount(), 6);
    QVERIFY(model.undo());
    QCOMPARE(model.rowCount(), 8);
    model.setDocument({});
    QCOMPARE(model.rowCount(), 0);
}

void TestChatModel::undoBringsBackBothVersions() {
    ChatModel model;
    model.setDocument(makeChat(2));
    model.removeUndoable(3, 1); // regenerate the last reply
    model.append(makeTurn(Message::Role::Assistant, QStringLiteral("second")));
    QCOMPARE(texts(model).last(), QStringLiteral("second"));
    QVERIFY(model.undo());
    QCOMPARE(texts(model).last(), QStringLiteral("a1"));
    QVERIFY(model.undo());
    QCOMPARE(texts(model).last(), QStringLiteral("second"));
    // A question from the middle goes with its reply and comes back to its place.
    model.removeUndoable(0, 2);
    QCOMPARE(texts(model), (QStringList{QStringLiteral("q1"), QStringLiteral("second")}));
    QVERIFY(model.undo());
    QCOMPARE(texts(model), (QStringList{QStringLiteral("q0"), QStringLiteral("a0"),
                                        QStringLiteral("q1"), QStringLiteral("second")}));
}

void TestChatModel::requestLeavesOutWhatIsCut() {
    ChatDocument chat = makeChat(3);
    chat.system_prompt = QStringLiteral(" Be brief. ");
    chat.turns[0].is_cut = chat.turns[1].is_cut = true;
    chat.turns[3].text.clear(); // a reply that failed
    ui::Attachment picture;
    picture.file = QStringLiteral("/tmp/ä.png");
    chat.turns[4].attachments.push_back(picture);
    ui::Attachment sound;
    sound.kind = MessagePart::Kind::Audio;
    sound.file = QStringLiteral("/tmp/b.wav");
    sound.cut_length_s = 30.0;
    chat.turns[4].attachments.push_back(sound);
    chat.sampling.temperature = 0.5;
    chat.is_thinking = true;
    const engine::GenerateRequest request = ui::makeRequest(chat, 5);
    QCOMPARE(request.messages.size(), size_t{2});
    QVERIFY(request.messages[0].role == Message::Role::System);
    QCOMPARE(request.messages[0].parts[0].text, std::string("Be brief."));
    // Two questions in a row become one message, media before their text.
    const auto& parts = request.messages[1].parts;
    QCOMPARE(parts.size(), size_t{4});
    QVERIFY(parts[0].text.starts_with("q1"));
    QVERIFY(parts[1].kind == MessagePart::Kind::Image);
    QCOMPARE(parts[1].text, QStringLiteral("/tmp/ä.png").toStdString());
    QVERIFY(parts[2].kind == MessagePart::Kind::Audio);
    QCOMPARE(parts[2].cut_length_s, 30.0);
    QVERIFY(parts[3].text.starts_with("q2"));
    QVERIFY(request.is_thinking);
    QCOMPARE(request.sampling.temperature, 0.5);
}

void TestChatModel::cutsWholeQuestions() {
    ChatDocument chat = makeChat(5, 356); // about 105 tokens a turn
    chat.turns.pop_back();
    // Everything fits.
    QCOMPARE(ui::turnsToCut(chat, 4096, 256, 0), 0);
    const int cut = ui::turnsToCut(chat, 600, 100, 0);
    QVERIFY(cut > 0 && cut % 2 == 0);
    qint64 rest = 0;
    for (size_t i = static_cast<size_t>(cut); i < chat.turns.size(); ++i) {
        rest += ui::estimateTokens(chat.turns[i]);
    }
    QVERIFY(rest <= 500);
    QVERIFY(rest + ui::estimateTokens(chat.turns[static_cast<size_t>(cut) - 1]) +
                ui::estimateTokens(chat.turns[static_cast<size_t>(cut) - 2]) >
            500);
    // The engine counted twice as many: twice as much goes.
    QVERIFY(ui::turnsToCut(chat, 600, 100, qint64{2} * 9 * 106) > cut);
    // The last question stays whatever happens.
    QCOMPARE(ui::turnsToCut(chat, 10, 5, 0), 8);
}

void TestChatModel::heights() {
    std::mt19937 random(7);
    std::vector<double> heights;
    ui::HeightIndex index;
    for (int i = 0; i < 300; ++i) {
        const double height = 1.0 + static_cast<double>(random() % 100);
        heights.push_back(height);
        if (i == 150) {
            index.assign(heights);
        } else if (i > 150) {
            index.append(height);
        }
    }
    for (int i = 0; i < 100; ++i) {
        const size_t row = random() % heights.size();
        heights[row] = static_cast<double>(random() % 50);
        index.set(row, heights[row]);
    }
    double sum = 0.0;
    for (size_t row = 0; row < heights.size(); ++row) {
        QCOMPARE(index.sumBefore(row), sum);
        if (heights[row] > 0.0) {
            QCOMPARE(index.rowAt(sum), row);
            QCOMPARE(index.rowAt(sum + heights[row] - 0.5), row);
        }
        sum += heights[row];
    }
    QCOMPARE(index.total(), sum);
    QCOMPARE(index.rowAt(sum + 1000.0), heights.size() - 1);
}

TEST_CLASS_WITH(QCoreApplication, TestChatModel)
#include "tst_chat_model.moc"
