// SPDX-License-Identifier: Apache-2.0
// Damage of every kind to the chat file and its log: each start lets chats be saved, what can be
// read is in the list, and nothing is lost without a word.
#include "app/store/chat_database.h"
#include "tests/app/store/damaged_stores.h"
#include "tests/app/store/fault_vfs.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using support::StartOutcome;
using support::StoreFiles;

namespace {

constexpr int kChats = 8;
constexpr qint64 kAllTurns = kChats * 6;

const StoreFiles& ended() {
    static const StoreFiles kFiles = support::makeStore(kChats, false);
    return kFiles;
}

const StoreFiles& killed() {
    static const StoreFiles kFiles = support::makeStore(kChats, true);
    return kFiles;
}

QString filePath(const QTemporaryDir& folder, const char* name) {
    return folder.filePath(QString::fromLatin1(name));
}

} // namespace

class TestStoreDamage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyByteOfTheHeader();
    void textOfTheTables();
    void pagesOfNoise();
    void aBitOfTheLog();
    void fuzzedPlaces_data();
    void fuzzedPlaces();
    void aBrokenPageOfTheLog();
    void theLastChangeTorn();
    void headerOfTheLog();
    void fileThatIsGoneWithItsLogLeft();
    void turnThatIsNoTextAnyMore();
    void deletedByDamage();
    void crashBetweenTheRenames();
    void readWithItsLog();
};

void TestStoreDamage::initTestCase() {
    QVERIFY(ended().file.size() > 4 * 4096);
    QVERIFY(ended().log.isEmpty());
    QVERIFY(killed().log.size() > 40 * 4096);
    QCOMPARE(support::startOn(ended()).turns, kAllTurns);
    const StartOutcome plain = support::startOn(killed());
    QCOMPARE(plain.turns, kAllTurns);
    QCOMPARE(plain.message, QString());
}

void TestStoreDamage::everyByteOfTheHeader() {
    for (qsizetype at = 0; at < 100; ++at) {
        const auto good = static_cast<unsigned char>(ended().file.at(at));
        for (const unsigned value : {good ^ 0xffU, good ^ 1U, good + 7U, 12U}) {
            StoreFiles files = ended();
            files.file[at] = static_cast<char>(value & 0xffU);
            const StartOutcome out = support::startOn(files);
            const QByteArray where = QByteArray::number(at) + " = " + QByteArray::number(value);
            QVERIFY2(out.problem.isEmpty(), (where + ": " + out.problem.toUtf8()).constData());
            QVERIFY2(out.is_saved, where.constData());
            QVERIFY2(out.turns == kAllTurns, (where + ": " + out.message.toUtf8()).constData());
        }
    }
}

/// SQLite reads the tables' definitions as text: a letter of it makes other tables, which no check
/// of the file calls damaged, or none.
void TestStoreDamage::textOfTheTables() {
    const qsizetype begin = ended().file.indexOf("CREATE TABLE");
    QVERIFY(begin > 100 && begin < 4096);
    int num_told = 0;
    for (qsizetype at = begin - 8; at < 4096; at += 7) {
        for (const char letter : {'x', ' '}) {
            StoreFiles files = ended();
            files.file[at] = files.file.at(at) == letter ? 'y' : letter;
            const StartOutcome out = support::startOn(files);
            const QByteArray where = QByteArray::number(at) + " '" + letter + "': ";
            QVERIFY2(out.problem.isEmpty(), (where + out.problem.toUtf8()).constData());
            QVERIFY2(!out.message.isEmpty() || out.turns == kAllTurns, where.constData());
            QVERIFY2(out.turns == kAllTurns, where.constData());
            num_told += out.message.isEmpty() ? 0 : 1;
        }
    }
    QVERIFY(num_told > 50);
}

void TestStoreDamage::pagesOfNoise() {
    QRandomGenerator random(20261128);
    const qsizetype pages = ended().file.size() / 4096;
    int whole = 0;
    for (int round = 0; round < 300; ++round) {
        StoreFiles files = ended();
        const qsizetype page = static_cast<qsizetype>(random.bounded(static_cast<quint32>(pages)));
        const int kind = round % 3;
        const qsizetype begin = page * 4096 + (kind == 2 ? random.bounded(4096U) : 0);
        const qsizetype bytes = kind == 0 ? 4096 : kind == 1 ? 512 : 1;
        for (qsizetype i = begin; i < begin + bytes; ++i) {
            files.file[i] = static_cast<char>(random.bounded(256U));
        }
        const StartOutcome out = support::startOn(files);
        QVERIFY2(out.problem.isEmpty(),
                 qPrintable(QStringLiteral("round %1: %2").arg(round).arg(out.problem)));
        // One letter of a text may change unnoticed; a turn is never gone without a word.
        QVERIFY2(out.turns >= kAllTurns - 1 || !out.message.isEmpty(),
                 qPrintable(QStringLiteral("round %1: %2 turns").arg(round).arg(out.turns)));
        // The rows of a page are at most a half of this store.
        QVERIFY2(out.turns >= kAllTurns / 2,
                 qPrintable(QStringLiteral("round %1: %2 turns").arg(round).arg(out.turns)));
        whole += out.turns == kAllTurns ? 1 : 0;
    }
    qInfo("%d of 300 damaged files lost nothing", whole);
}

void TestStoreDamage::aBitOfTheLog() {
    QRandomGenerator random(7);
    int whole = 0;
    for (int round = 0; round < 200; ++round) {
        StoreFiles files = killed();
        const auto at = static_cast<qsizetype>(
            round < 20 ? 32 + random.bounded(24U)
                       : random.bounded(static_cast<quint32>(files.log.size())));
        files.log[at] = static_cast<char>(files.log.at(at) ^ (1 << random.bounded(8U)));
        const StartOutcome out = support::startOn(files);
        QVERIFY2(out.problem.isEmpty(), qPrintable(out.problem));
        QVERIFY2(out.turns >= kAllTurns - 1,
                 qPrintable(QStringLiteral("byte %1: %2 turns").arg(at).arg(out.turns)));
        QVERIFY2(out.message.contains(QStringLiteral("-wal")), qPrintable(QString::number(at)));
        whole += out.turns == kAllTurns ? 1 : 0;
    }
    qInfo("%d of 200 damaged logs lost nothing", whole);
    QVERIFY(whole >= 190);
}

/// Found by the fuzz target: several places of the log and of the file's header at once.
void TestStoreDamage::fuzzedPlaces_data() {
    using Places = QList<std::pair<qsizetype, int>>;
    support::addColumns<Places, Places>("of_log", "of_file");
    QTest::newRow("a page number, two of the header")
        << Places{{35, 0x11}} << Places{{30, 0x60}, {96, 0xe0}};
    QTest::newRow("the checksum of the log's head, the first frame")
        << Places{{31, 0x04}, {306, 0x80}} << Places{};
    QTest::newRow("the same, more of it") << Places{{30, 0x80}, {511, 0x80}} << Places{{237, 0xff}};
    QTest::newRow("the same and other frames")
        << Places{{29, 0x01}, {1394, 0xff}, {168535, 0xff}, {168309, 0xfb}, {135773, 0xff}}
        << Places{{511, 0xff}};
    QTest::newRow("the log's kind and salt, the salt of the first frame")
        << Places{{0, 0x01}, {17, 0x01}, {40, 0xff}} << Places{};
    // SQLite takes the file for a new one and would write over the log.
    QTest::newRow("the first frame, the number of pages")
        << Places{{493, 0xcb}, {49255, 0x05}} << Places{{31, 0x00}, {1536, 0xff}, {1537, 0x7f}};
}

void TestStoreDamage::fuzzedPlaces() {
    using Places = QList<std::pair<qsizetype, int>>;
    QFETCH(Places, of_log);
    QFETCH(Places, of_file);
    StoreFiles files = killed();
    for (const auto& [place, value] : of_log) {
        files.log[place] = static_cast<char>(value);
    }
    for (const auto& [place, value] : of_file) {
        files.file[place] = static_cast<char>(value);
    }
    const StartOutcome out = support::startOn(files);
    QCOMPARE(out.problem, QString());
    QVERIFY(out.message.contains(QStringLiteral("damaged")));
    QCOMPARE(out.chats, qint64{kChats});
    QVERIFY(out.turns >= kAllTurns - of_log.size());
}

void TestStoreDamage::aBrokenPageOfTheLog() {
    constexpr qsizetype kFrame = 24 + 4096;
    const qsizetype frames = (killed().log.size() - 32) / kFrame;
    QRandomGenerator random(8);
    for (qsizetype frame = 0; frame < frames; frame += 3) {
        StoreFiles files = killed();
        for (qsizetype i = 0; i < 512; ++i) {
            const qsizetype at = 32 + frame * kFrame + 24 + 512 + i;
            files.log[at] = static_cast<char>(random.bounded(256U));
        }
        const StartOutcome out = support::startOn(files);
        QVERIFY2(out.problem.isEmpty(), qPrintable(out.problem));
        // All but the rows that stood in the place, unless it was in the last change of all: that
        // is what a power cut leaves too.
        QVERIFY2(out.turns >= kAllTurns - 12,
                 qPrintable(QStringLiteral("frame %1: %2 turns").arg(frame).arg(out.turns)));
        QVERIFY(frame >= frames - 6 || out.message.contains(QStringLiteral("-wal")));
    }
}

void TestStoreDamage::theLastChangeTorn() {
    // Cut off within a change that was not acknowledged: nothing was lost, so nothing is said.
    StoreFiles files = killed();
    files.log.chop(100);
    const StartOutcome out = support::startOn(files);
    QCOMPARE(out.problem, QString());
    QCOMPARE(out.message, QString());
    QCOMPARE(out.turns, kAllTurns - 1);
}

void TestStoreDamage::headerOfTheLog() {
    for (qsizetype at = 0; at < 32; ++at) {
        StoreFiles files = killed();
        files.log[at] = static_cast<char>(files.log.at(at) ^ 0x24);
        const StartOutcome out = support::startOn(files);
        QVERIFY2(out.problem.isEmpty(), qPrintable(out.problem));
        QCOMPARE(out.turns, kAllTurns);
        QVERIFY(!out.message.isEmpty());
    }
    StoreFiles files = killed();
    files.log.replace(0, 32, QByteArray(32, '\x5a'));
    QCOMPARE(support::startOn(files).turns, kAllTurns);
}

void TestStoreDamage::fileThatIsGoneWithItsLogLeft() {
    StoreFiles files = killed();
    files.file.clear();
    const StartOutcome out = support::startOn(files);
    QCOMPARE(out.problem, QString());
    QCOMPARE(out.turns, kAllTurns);
    QVERIFY(!out.message.isEmpty());
}

void TestStoreDamage::turnThatIsNoTextAnyMore() {
    for (const char* bad : {"\xff", "\""}) {
        StoreFiles files = ended();
        const qsizetype at = files.file.indexOf("\"text\":\"Question 2 of chat-3");
        QVERIFY(at > 0);
        files.file[at + 10] = *bad;
        const StartOutcome out = support::startOn(files);
        QCOMPARE(out.problem, QString());
        QCOMPARE(out.turns, kAllTurns - 1);
        QVERIFY2(out.message.contains(QStringLiteral("damaged")), bad);
    }
}

void TestStoreDamage::deletedByDamage() {
    // The types of a row's columns: the last one says that nothing stands in "deleted".
    StoreFiles files = ended();
    const qsizetype id = files.file.indexOf("chat-5", 4096);
    QVERIFY(id > 0);
    int tried = 0;
    for (qsizetype at = id - 12; at < id; ++at) {
        if (files.file.at(at) == 0) {
            for (const char type : {'\x08', '\x09', '\x0c', '\x0d'}) {
                StoreFiles bad = files;
                bad.file[at] = type;
                const StartOutcome out = support::startOn(bad);
                QCOMPARE(out.problem, QString());
                QVERIFY2(out.turns == kAllTurns || !out.message.isEmpty(), "gone without a word");
                ++tried;
            }
        }
    }
    QVERIFY(tried > 0);
}

void TestStoreDamage::crashBetweenTheRenames() {
    const QTemporaryDir folder;
    support::writeFile(filePath(folder, "chats.sqlite.damaged-20261128-120000"), "damaged");
    support::writeFile(filePath(folder, "chats.sqlite-wal"), killed().log);
    support::writeFile(filePath(folder, "chats.sqlite.recovering"), ended().file);
    app::ChatDatabase database({folder.path(), {}});
    const auto opened = database.open();
    QVERIFY(opened.has_value());
    QVERIFY(opened->message.contains(QStringLiteral("damaged-20261128-120000")));
    QCOMPARE(database.list({})->size(), size_t{kChats});
    QVERIFY(QFile::exists(filePath(folder, "chats.sqlite.damaged-20261128-120000-wal")));
}

void TestStoreDamage::readWithItsLog() {
    // Nothing can be written, and the newest chats stand in the log alone.
    const QTemporaryDir folder;
    support::writeFile(filePath(folder, "chats.sqlite"), killed().file);
    support::writeFile(filePath(folder, "chats.sqlite-wal"), killed().log);
    support::setFaults({support::FaultPlan::Kind::ReadOnly, 1, true});
    app::ChatDatabase database({folder.path(), support::faultVfs()});
    const auto opened = database.open();
    support::setFaults({});
    QVERIFY(opened.has_value());
    QVERIFY(opened->is_read_only);
    QVERIFY(!opened->message.isEmpty());
    const auto listed = database.list({});
    QVERIFY(listed.has_value());
    QCOMPARE(listed->size(), size_t{kChats});
    for (const ui::ChatSummary& chat : *listed) {
        QCOMPARE(chat.turns, qint64{6});
        QCOMPARE(support::asText(*database.load(chat.id)).count("\"role\""), qsizetype{6});
    }
}

TEST_CLASS_WITH(QCoreApplication, TestStoreDamage)
#include "tst_store_damage.moc"
