// SPDX-License-Identifier: Apache-2.0
// The plug is pulled while chats are written: every call that changes a file is logged, and every
// place of the log is replayed as a disk may have it then, with what no sync followed there, gone,
// in parts or in another order. About 2,000 such disks: each opens without a word, is sound, and
// holds exactly the chats that were acknowledged, or those with the one change that was under way;
// every attachment that a turn names is there, whole. A sync left out on purpose is found.
#include "app/store/chat_database.h"
#include "app/store/session_file.h"
#include "tests/app/store/sample_chats.h"
#include "tests/app/store/write_log.h"
#include "tests/support/program/test_class.h"

#include <QCryptographicHash>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

#include <functional>
#include <optional>

using support::Cut;
using support::FileCall;
using support::FileTree;
using support::LeftOut;

Q_DECLARE_METATYPE(support::LeftOut)

namespace {

const QString kStore = QStringLiteral("home/data/Belfry");
/// Id of every chat that is shown -> its text, with contents in place of file names.
using State = QMap<QString, QByteArray>;

/// A log and what the store held at each of its marks.
struct Story {
    std::vector<FileCall> log;
    std::vector<State> states;
    QStringList drafts;   ///< Written to the session file, one after the other.
    FileTree files_after; ///< As they really lie on the disk.
};

QString pictureFile(const QString& folder, int number) {
    return support::writeFile(folder + QStringLiteral("/picture-%1.png").arg(number),
                              QByteArray(3'000 + number, static_cast<char>('a' + number)));
}

QByteArray hashOf(const QByteArray& content) {
    return QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex();
}

FileTree filesBelow(const QString& folder) {
    FileTree tree;
    QDirIterator all(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (all.hasNext()) {
        QFile file(all.next());
        if (file.open(QIODevice::ReadOnly)) {
            tree[file.fileName().mid(folder.size() + 1).toStdString()] =
                file.readAll().toStdString();
        }
    }
    return tree;
}

/// What the store shows, or the first thing that is wrong with it.
std::optional<State> stateOf(app::ChatDatabase& database, QString& wrong) {
    State state;
    const auto listed = database.list({});
    if (!listed.has_value()) {
        wrong = QString::fromStdString(listed.error().message);
        return std::nullopt;
    }
    for (const ui::ChatSummary& summary : *listed) {
        auto chat = database.load(summary.id);
        if (!chat.has_value()) {
            wrong = QString::fromStdString(chat.error().message);
            return std::nullopt;
        }
        ui::visitAllTurns(chat->turns, [&](ui::ChatTurn& turn) {
            for (ui::Attachment& attachment : turn.attachments) {
                QFile file(attachment.file);
                const QByteArray content =
                    file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
                if (hashOf(content) != attachment.hash.toLatin1()) {
                    wrong = QStringLiteral("%1, attachment %2: the file %3 has %4 bytes, not its "
                                           "content")
                                .arg(summary.id, attachment.hash.left(8), attachment.file)
                                .arg(content.size());
                }
                attachment.file = attachment.hash;
            }
        });
        state.insert(summary.id, support::asText(*chat));
    }
    return wrong.isEmpty() ? std::optional(state) : std::nullopt;
}

/// Two sessions of a store: first chats, turns that grow while they stream, pictures, a long text,
/// a name, chats deleted and brought back, turns taken back, two orderly ends.
Story writeStory(LeftOut left_out) {
    Story story;
    const QTemporaryDir root;
    const QTemporaryDir outside;
    const QString folder = root.filePath(kStore);
    story.states.emplace_back();
    support::startLog(root.path().toStdString(), left_out);
    QStringList notes;
    std::optional<app::ChatDatabase> database;
    const auto must = [](const auto& outcome) {
        if (!outcome.has_value()) {
            qFatal("%s", outcome.error().message.c_str());
        }
    };
    const auto acknowledge = [&] {
        QString wrong;
        const auto state = stateOf(*database, wrong);
        if (!state.has_value()) {
            qFatal("%s", qPrintable(wrong));
        }
        story.states.push_back(*state);
        support::addMark(static_cast<int>(story.states.size()) - 1);
    };
    const auto save = [&](ui::ChatDocument& chat) {
        must(database->save(chat, notes));
        acknowledge();
    };
    const auto draft = [&](const QString& text) {
        app::SessionState session;
        session.chat = text;
        story.drafts.append(text);
        must(app::SessionFile(folder).write(session));
    };
    const auto open = [&] {
        database.emplace(app::StoreOptions{folder, {}});
        must(database->open());
    };
    const auto attach = [&](ui::ChatTurn& turn, int number) {
        ui::Attachment picture;
        picture.file = pictureFile(outside.path(), number);
        picture.name = QStringLiteral("picture.png");
        turn.attachments.push_back(picture);
    };

    open();
    draft(QStringLiteral("first draft"));
    ui::ChatDocument first = support::sampleChat(QStringLiteral("first"), 1);
    save(first);
    for (int i = 1; i < 6; ++i) {
        first.turns.push_back(support::sampleTurn(first.id, i));
        if (i % 2 == 0) {
            attach(first.turns.back(), i);
        }
        save(first);
    }
    ui::ChatDocument second = support::sampleChat(QStringLiteral("second"), 1);
    attach(second.turns[0], 2); // the same content once more
    attach(second.turns[0], 7);
    save(second);
    second.turns.push_back(support::sampleTurn(second.id, 1));
    second.turns.back().text = QStringLiteral("a long answer ").repeated(3'000);
    save(second);
    draft(QStringLiteral("second draft"));
    must(database->rename(first.id, QStringLiteral("Robin")));
    acknowledge();
    must(database->remove(second.id));
    acknowledge();
    must(database->restore(second.id));
    acknowledge();
    ui::ChatDocument third = support::sampleChat(QStringLiteral("third"), 2);
    attach(third.turns[0], 9);
    save(third);
    must(database->remove(third.id));
    acknowledge();
    database->close();

    open(); // deletes the third chat for good, its picture too
    first.turns.resize(3);
    save(first);
    // Left by a session that was killed behind its rename: nobody has synced it.
    const QByteArray left(4'000, 'z');
    const QString hash = QString::fromLatin1(hashOf(left));
    QDir().mkpath(folder + QStringLiteral("/attachments/") + hash.left(2));
    support::writeFile(QStringLiteral("%1/attachments/%2/%3.png").arg(folder, hash.left(2), hash),
                       left);
    ui::ChatTurn turn = support::sampleTurn(second.id, 2);
    ui::Attachment picture;
    picture.file = support::writeFile(outside.filePath(QStringLiteral("left.png")), left);
    picture.name = QStringLiteral("left.png");
    turn.attachments = {picture};
    second.turns.push_back(turn);
    save(second);
    draft(QString());
    database->close();
    story.log = support::endLog();
    story.files_after = filesBelow(root.path());
    return story;
}

/// What `PRAGMA integrity_check` says.
QByteArray integrityOf(const QString& file) {
    sqlite3* connection = nullptr;
    sqlite3_stmt* check = nullptr;
    QByteArray verdict = "cannot be opened";
    if (sqlite3_open_v2(QFile::encodeName(file).constData(), &connection, SQLITE_OPEN_READONLY,
                        nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(connection, "PRAGMA integrity_check", -1, &check, nullptr) ==
            SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW) {
        verdict = reinterpret_cast<const char*>(sqlite3_column_text(check, 0));
    }
    sqlite3_finalize(check);
    sqlite3_close(connection);
    return verdict;
}

/// Empty: the disk is one that a user may find after a power cut. Else what is wrong with it.
QString problemOf(const Story& story, const FileTree& disk, size_t acknowledged) {
    const QTemporaryDir root;
    for (const auto& [path, content] : disk) {
        const QString file = root.filePath(QString::fromStdString(path));
        QDir().mkpath(QFileInfo(file).path());
        support::writeFile(file, QByteArray::fromStdString(content));
    }
    const QString folder = root.filePath(kStore);
    const app::PreviousSession session = app::SessionFile(folder).read();
    if (session.exists && !story.drafts.contains(session.state.chat)) {
        return QStringLiteral("the session file names a chat that nobody wrote");
    }
    app::ChatDatabase database({folder, {}});
    const auto opened = database.open();
    if (!opened.has_value()) {
        return QString::fromStdString(opened.error().message);
    }
    if (!opened->message.isEmpty()) {
        return opened->message;
    }
    QString wrong;
    const auto state = stateOf(database, wrong);
    if (!state.has_value()) {
        return wrong;
    }
    const bool is_acknowledged = *state == story.states[acknowledged];
    const bool is_next =
        acknowledged + 1 < story.states.size() && *state == story.states[acknowledged + 1];
    if (!is_acknowledged && !is_next) {
        return QStringLiteral("of %1 chats that were acknowledged %2 are there, or others")
            .arg(story.states[acknowledged].size())
            .arg(state->size());
    }
    const QString file = database.file();
    database.close();
    const QByteArray verdict = integrityOf(file);
    return verdict == "ok" ? QString() : QString::fromUtf8(verdict);
}

struct Outcome {
    int images = 0, distinct = 0;
    QStringList problems; ///< The first few.
};

const char* nameOf(Cut cut) {
    switch (cut) {
    case Cut::KeepsAll:
        return "all kept";
    case Cut::KeepsSynced:
        return "only what was synced";
    case Cut::KeepsData:
        return "contents without names";
    case Cut::KeepsNames:
        return "names without contents";
    case Cut::KeepsAtRandom:
        return "at random";
    case Cut::LosesOne:
        return "one write lost";
    }
    return "";
}

/// Every place of the log, cut in every way; `at_random` times at random.
Outcome replay(const Story& story, int at_random, qsizetype most_problems) {
    Outcome outcome;
    std::mt19937 random(20261125);
    std::set<QByteArray> seen;
    std::vector<Cut> cuts = {Cut::KeepsAll, Cut::KeepsSynced, Cut::KeepsData, Cut::KeepsNames,
                             Cut::LosesOne};
    cuts.insert(cuts.end(), static_cast<size_t>(at_random), Cut::KeepsAtRandom);
    size_t acknowledged = 0;
    for (size_t calls = 0; calls <= story.log.size(); ++calls) {
        if (calls > 0 && story.log[calls - 1].kind == FileCall::Kind::Mark) {
            acknowledged = static_cast<size_t>(story.log[calls - 1].mark);
        }
        for (const Cut cut : cuts) {
            const FileTree disk = support::treeAfterCut(story.log, calls, cut, random);
            ++outcome.images;
            QCryptographicHash hash(QCryptographicHash::Sha256);
            hash.addData(QByteArray::number(static_cast<qulonglong>(acknowledged)));
            for (const auto& [path, content] : disk) {
                hash.addData(QByteArray::fromStdString(path + '\0'));
                hash.addData(QByteArray::fromStdString(content));
            }
            if (!seen.insert(hash.result()).second) {
                continue;
            }
            ++outcome.distinct;
            const QString problem = problemOf(story, disk, acknowledged);
            if (!problem.isEmpty()) {
                outcome.problems.append(QStringLiteral("after %1 of %2 calls, %3: %4")
                                            .arg(calls)
                                            .arg(story.log.size())
                                            .arg(QLatin1String(nameOf(cut)), problem));
                if (outcome.problems.size() >= most_problems) {
                    return outcome;
                }
            }
        }
    }
    return outcome;
}

} // namespace

class TestPowerCut : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void logIsComplete();
    void nothingAcknowledgedIsLost();
    void missingSyncIsFound_data();
    void missingSyncIsFound();
};

void TestPowerCut::logIsComplete() {
    const Story story = writeStory(LeftOut::Nothing);
    std::mt19937 random(1);
    const FileTree replayed =
        support::treeAfterCut(story.log, story.log.size(), Cut::KeepsAll, random);
    QCOMPARE(replayed.size(), story.files_after.size());
    for (const auto& [path, content] : story.files_after) {
        const auto found = replayed.find(path);
        QVERIFY2(found != replayed.end(), path.c_str());
        QVERIFY2(found->second == content, path.c_str());
    }
    QVERIFY(story.states.size() > 15);
}

void TestPowerCut::nothingAcknowledgedIsLost() {
    const Story story = writeStory(LeftOut::Nothing);
    const Outcome outcome = replay(story, 3, 5);
    qInfo("%lld calls, %d images, %d of them different, %lld problems",
          static_cast<long long>(story.log.size()), outcome.images, outcome.distinct,
          static_cast<long long>(outcome.problems.size()));
    QVERIFY2(outcome.problems.isEmpty(), qPrintable(outcome.problems.join(QLatin1Char('\n'))));
    QVERIFY(outcome.images >= 2'000);
    QVERIFY(outcome.distinct >= 500);
}

void TestPowerCut::missingSyncIsFound_data() {
    QTest::addColumn<LeftOut>("left_out");
    QTest::newRow("write-ahead log") << LeftOut::SyncsOfWal;
    QTest::newRow("database") << LeftOut::SyncsOfDatabase;
    QTest::newRow("attachments") << LeftOut::SyncsOfAttachments;
    QTest::newRow("folders") << LeftOut::SyncsOfFolders;
}

void TestPowerCut::missingSyncIsFound() {
    QFETCH(LeftOut, left_out);
    const Outcome outcome = replay(writeStory(left_out), 3, 1);
    QVERIFY(!outcome.problems.isEmpty());
    qInfo("%s", qPrintable(outcome.problems.first()));
}

TEST_CLASS_WITH(QCoreApplication, TestPowerCut)
#include "tst_power_cut.moc"
