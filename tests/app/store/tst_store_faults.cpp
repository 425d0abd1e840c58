// SPDX-License-Identifier: Apache-2.0
// A disk that fails: for every write the store makes, that write fails once, and it and all after
// it fail. The user is told, the chat goes on from memory, what was acknowledged before is still
// there, and everything is saved as soon as the disk works again.
#include "app/common/process_start.h"
#include "app/store/chat_store.h"
#include "tests/app/store/fault_vfs.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#ifdef Q_OS_UNIX
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <optional>

using support::asText;
using support::FaultPlan;
using support::sampleChat;

Q_DECLARE_METATYPE(support::FaultPlan::Kind)

namespace {

/// Files cannot grow beyond `bytes` while this lives, as on a full disk.
class FileSizeLimit {
public:
    explicit FileSizeLimit(quint64 bytes) {
#ifdef Q_OS_UNIX
        app::prepareProcess(); // as both programs begin: the limit is an error, not a signal
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
#else
        (void)bytes;
#endif
    }
    ~FileSizeLimit() {
#ifdef Q_OS_UNIX
        setrlimit(RLIMIT_FSIZE, &before_);
#endif
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
#ifdef Q_OS_UNIX
    rlimit before_{};
#endif
};

/// The rights of an ordinary user while this lives: root may write everywhere.
class OrdinaryUser {
public:
#ifdef Q_OS_UNIX
    OrdinaryUser() : is_root_(geteuid() == 0) {
        if (is_root_) {
            is_done_ = seteuid(65534) == 0;
        }
    }
    ~OrdinaryUser() {
        if (is_root_ && seteuid(0) != 0) {
            qFatal("cannot go back to root");
        }
    }
    [[nodiscard]] bool isDone() const {
        return !is_root_ || is_done_;
    }

private:
    bool is_root_ = false, is_done_ = false;
#else
    [[nodiscard]] bool isDone() const {
        return false;
    }
#endif
};

void setMode(const QString& file, unsigned mode) {
#ifdef Q_OS_UNIX
    QCOMPARE(::chmod(QFile::encodeName(file).constData(), mode), 0);
#else
    (void)file;
    (void)mode;
#endif
}

/// The store in this thread, with what it answered.
struct Fixture {
    explicit Fixture(const QString& folder, const QByteArray& vfs = support::faultVfs())
        : store({folder, vfs}), saved(&store, &app::ChatStore::saved),
          failed(&store, &app::ChatStore::saveFailed),
          problem(&store, &app::ChatStore::problemChanged), loaded(&store, &app::ChatStore::loaded),
          listed(&store, &app::ChatStore::listed), noted(&store, &app::ChatStore::noteRaised) {}

    std::optional<ui::ChatDocument> load(const QString& id) {
        loaded.clear();
        store.load(id);
        return loaded.isEmpty() ? std::nullopt
                                : std::optional(loaded.first().at(0).value<ui::ChatDocument>());
    }
    qsizetype chatsListed() {
        listed.clear();
        store.list({});
        return static_cast<qsizetype>(
            listed.last().at(1).value<std::vector<ui::ChatSummary>>().size());
    }
    QString lastProblem() {
        return problem.isEmpty() ? QString() : problem.last().at(0).toString();
    }

    app::ChatStore store;
    QSignalSpy saved, failed, problem, loaded, listed, noted;
};

/// Without the dates that the store sets.
QByteArray content(ui::ChatDocument chat) {
    chat.modified = chat.created;
    return asText(chat);
}

} // namespace

class TestStoreFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { app::registerStoreTypes(); }
    void cleanup() { support::setFaults({}); }
    void everyWriteFails_data();
    void everyWriteFails();
    void faultWhileOpening_data();
    void faultWhileOpening();
    void readOnlyFolder();
    void fullDiskForReal();
    void attachmentOnAFullDisk();
    void chatInMemoryIsAWholeChat();
};

void TestStoreFaults::everyWriteFails_data() {
    support::addColumns<FaultPlan::Kind, bool>("kind", "is_lasting");
    QTest::newRow("disk full, once") << FaultPlan::Kind::DiskFull << false;
    QTest::newRow("disk full, from then on") << FaultPlan::Kind::DiskFull << true;
    QTest::newRow("broken disk, once") << FaultPlan::Kind::IoError << false;
    QTest::newRow("broken disk, from then on") << FaultPlan::Kind::IoError << true;
    QTest::newRow("read-only, from then on") << FaultPlan::Kind::ReadOnly << true;
}

void TestStoreFaults::everyWriteFails() {
    QFETCH(FaultPlan::Kind, kind);
    QFETCH(bool, is_lasting);
    int points = 0;
    for (int n = 1;; ++n) {
        const QTemporaryDir folder;
        ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
        {
            Fixture fixture(folder.path());
            fixture.store.open();
            fixture.store.save(chat, 1);
            QCOMPARE(fixture.saved.size(), 1);
            support::setFaults({kind, n, is_lasting});
            // Three turns of a chat; each is answered, saved or not.
            bool was_failing = false;
            for (quint64 serial = 2; serial <= 4; ++serial) {
                chat.turns.push_back(
                    support::sampleTurn(chat.id, static_cast<int>(chat.turns.size())));
                fixture.store.save(chat, serial);
                was_failing = was_failing || !fixture.failed.isEmpty();
                // Whatever the disk does, the chat is there to be read and listed.
                const auto read = fixture.load(chat.id);
                QVERIFY(read.has_value());
                QCOMPARE(content(*read), content(chat));
                QCOMPARE(fixture.chatsListed(), 1);
                // Each save is answered, some a second time when they are made up for.
                QVERIFY(fixture.saved.size() + fixture.failed.size() >=
                        static_cast<qsizetype>(serial));
            }
            const int failures = support::failedCalls();
            if (was_failing) {
                const QString message = fixture.failed.first().at(2).toString();
                QVERIFY2(message.contains(QStringLiteral("chats.sqlite")) ||
                             message.contains(folder.path()),
                         qPrintable(message));
                QVERIFY(fixture.problem.size() >= 1);
            }
            support::setFaults({});
            fixture.store.retry();
            QCOMPARE(fixture.lastProblem(), QString());
            if (failures == 0) {
                break; // all writes of the scenario have had their turn
            }
            ++points;
            fixture.store.close();
        }
        app::ChatDatabase database({folder.path(), {}});
        const auto opened = database.open();
        QVERIFY(opened.has_value());
        QVERIFY2(opened->message.isEmpty(), qPrintable(opened->message));
        const auto loaded = database.load(chat.id);
        QVERIFY(loaded.has_value());
        QCOMPARE(content(*loaded), content(chat));
    }
    qInfo("%d places to fail", points);
    QVERIFY(points >= 6);
}

void TestStoreFaults::faultWhileOpening_data() {
    QTest::addColumn<FaultPlan::Kind>("kind");
    QTest::newRow("disk full") << FaultPlan::Kind::DiskFull;
    QTest::newRow("read-only") << FaultPlan::Kind::ReadOnly;
    QTest::newRow("broken disk") << FaultPlan::Kind::IoError;
}

void TestStoreFaults::faultWhileOpening() {
    QFETCH(FaultPlan::Kind, kind);
    int points = 0;
    for (int n = 1; points == n - 1; ++n) {
        const QTemporaryDir folder;
        Fixture fixture(folder.path());
        support::setFaults({kind, n, true});
        fixture.store.open();
        points += support::failedCalls() > 0 ? 1 : 0;
        const ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
        fixture.store.save(chat, 1);
        QCOMPARE(fixture.saved.size() + fixture.failed.size(), 1);
        QVERIFY(fixture.load(chat.id).has_value());
        QCOMPARE(fixture.chatsListed(), 1);
        support::setFaults({});
        fixture.store.retry();
        QCOMPARE(fixture.saved.size(), 1);
        QCOMPARE(fixture.lastProblem(), QString());
        fixture.store.close();
        app::ChatDatabase database({folder.path(), {}});
        QVERIFY(database.open().has_value());
        QVERIFY(database.load(chat.id).has_value());
        if (kind == FaultPlan::Kind::ReadOnly) {
            break; // the file cannot even be opened: there is one place
        }
    }
    qInfo("%d places to fail", points);
    QVERIFY(points >= 1);
}

void TestStoreFaults::readOnlyFolder() {
    const QTemporaryDir folder;
    const QString data = folder.filePath(QStringLiteral("data"));
    const ui::ChatDocument before = sampleChat(QStringLiteral("before"), 4);
    {
        Fixture fixture(data, {});
        fixture.store.open();
        fixture.store.save(before, 1);
        fixture.store.close();
    }
    setMode(folder.path(), 0755);
    setMode(data, 0555);
    setMode(data + QStringLiteral("/chats.sqlite"), 0444);
    Fixture fixture(data, {});
    ui::ChatDocument chat = sampleChat(QStringLiteral("new"), 2);
    {
        const OrdinaryUser user;
        if (!user.isDone()) {
            QSKIP("this system has no way to take write permission away");
        }
        fixture.store.open();
        QVERIFY2(fixture.lastProblem().contains(QDir::toNativeSeparators(data)),
                 qPrintable(fixture.lastProblem()));
        // What was written before can be read, what comes now stays in memory.
        QCOMPARE(fixture.chatsListed(), 1);
        QCOMPARE(content(*fixture.load(before.id)), content(before));
        fixture.store.save(chat, 1);
        QCOMPARE(fixture.failed.size(), 1);
        chat.turns.push_back(support::sampleTurn(chat.id, 2));
        fixture.store.save(chat, 2);
        QCOMPARE(fixture.failed.size(), 2);
        QCOMPARE(fixture.chatsListed(), 2);
        QCOMPARE(content(*fixture.load(chat.id)), content(chat));
    }
    setMode(data, 0755);
    setMode(data + QStringLiteral("/chats.sqlite"), 0644);
    fixture.store.retry();
    QCOMPARE(fixture.saved.size(), 1);
    QCOMPARE(fixture.saved.first().at(1).toULongLong(), 2ULL);
    QCOMPARE(fixture.lastProblem(), QString());
    QCOMPARE(content(*fixture.load(chat.id)), content(chat));
}

void TestStoreFaults::fullDiskForReal() {
#ifndef Q_OS_UNIX
    QSKIP("needs a limit on file sizes");
#endif
    const QTemporaryDir folder;
    Fixture fixture(folder.path(), {});
    fixture.store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    fixture.store.save(chat, 1);
    QCOMPARE(fixture.saved.size(), 1);
    {
        const FileSizeLimit limit(200'000);
        chat.turns.push_back(support::sampleTurn(chat.id, 2));
        chat.turns.back().text = QStringLiteral("long ").repeated(200'000);
        fixture.store.save(chat, 2);
        QCOMPARE(fixture.failed.size(), 1);
        QVERIFY(!fixture.lastProblem().isEmpty());
        QCOMPARE(content(*fixture.load(chat.id)), content(chat));
    }
    fixture.store.retry();
    QCOMPARE(fixture.saved.size(), 2);
    QCOMPARE(fixture.lastProblem(), QString());
}

void TestStoreFaults::attachmentOnAFullDisk() {
#ifndef Q_OS_UNIX
    QSKIP("needs a limit on file sizes");
#endif
    const QTemporaryDir folder;
    Fixture fixture(folder.filePath(QStringLiteral("data")), {});
    fixture.store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 1);
    ui::Attachment picture;
    picture.name = QStringLiteral("big.png");
    picture.file = support::writeFile(folder.filePath(picture.name), QByteArray(5'000'000, 'b'));
    chat.turns[0].attachments = {picture};
    {
        const FileSizeLimit limit(1'500'000);
        fixture.store.save(chat, 1);
    }
    // The words are on disk, the picture is still the user's file, and the user knows.
    QCOMPARE(fixture.saved.size(), 1);
    QCOMPARE(fixture.noted.size(), 1);
    QVERIFY(fixture.noted.first().at(0).toString().contains(QStringLiteral("attachments")));
    QCOMPARE(fixture.load(chat.id)->turns[0].attachments[0].file, picture.file);
    const QDir attachments(folder.filePath(QStringLiteral("data/attachments")));
    QVERIFY(attachments.entryList(QDir::Files).isEmpty());
    // Copied with the next save after there is room.
    chat.turns.push_back(support::sampleTurn(chat.id, 1));
    fixture.store.save(chat, 2);
    QCOMPARE(fixture.saved.size(), 2);
    QCOMPARE(fixture.load(chat.id)->turns[0].attachments[0].bytes, qint64(5'000'000));
    QVERIFY(fixture.load(chat.id)->turns[0].attachments[0].file != picture.file);
}

void TestStoreFaults::chatInMemoryIsAWholeChat() {
    // Search, rename, delete and undo work on what could not be saved yet.
    const QTemporaryDir folder;
    Fixture fixture(folder.path());
    support::setFaults({FaultPlan::Kind::ReadOnly, 1, true});
    fixture.store.open();
    const ui::ChatDocument first = sampleChat(QStringLiteral("first"), 2);
    const ui::ChatDocument second = sampleChat(QStringLiteral("second"), 2);
    fixture.store.save(first, 1);
    fixture.store.save(second, 2);
    fixture.store.rename(first.id, QStringLiteral("Robin"));
    fixture.store.list(QStringLiteral("robin"));
    const auto found = fixture.listed.last().at(1).value<std::vector<ui::ChatSummary>>();
    QCOMPARE(found.size(), size_t{1});
    QCOMPARE(found.front().title, QStringLiteral("Robin"));
    fixture.store.remove(first.id);
    fixture.store.remove(second.id);
    QCOMPARE(fixture.chatsListed(), 0);
    fixture.store.restore(first.id);
    QCOMPARE(fixture.chatsListed(), 1);
    support::setFaults({});
    fixture.store.retry();
    QCOMPARE(fixture.saved.size(), 2);
    QCOMPARE(fixture.chatsListed(), 1);
    QCOMPARE(fixture.load(first.id)->title, QStringLiteral("Robin"));
}

TEST_CLASS_WITH(QCoreApplication, TestStoreFaults)
#include "tst_store_faults.moc"
