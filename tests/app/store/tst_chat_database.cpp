// SPDX-License-Identifier: Apache-2.0
// What the store keeps of a chat: everything, after every turn, once; found again by search; gone
// after delete, back after undo; attachments by content; files of other versions and broken ones.
#include "app/store/chat_database.h"
#include "app/store/search_text.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_json.h"

#include <QCryptographicHash>
#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using support::asText;
using support::sampleChat;

namespace {

QString errorOf(const engine::Error& error) {
    return QString::fromStdString(error.message);
}

#define VERIFY_DONE(result)                                                                        \
    do {                                                                                           \
        const auto& done_result = (result);                                                        \
        if (!done_result.has_value()) {                                                            \
            QFAIL(qPrintable(errorOf(done_result.error())));                                       \
        }                                                                                          \
    } while (false)

QStringList titles(const std::vector<ui::ChatSummary>& chats) {
    QStringList list;
    for (const ui::ChatSummary& chat : chats) {
        list.append(chat.title);
    }
    return list;
}

int attachmentCount(const QString& folder) {
    int count = 0;
    QDirIterator files(folder + QStringLiteral("/attachments"), QDir::Files,
                       QDirIterator::Subdirectories);
    while (files.hasNext()) {
        files.next();
        ++count;
    }
    return count;
}

/// A question that was edited once; its second version has a reply that was regenerated twice.
ui::ChatDocument chatWithVersions(const QString& picture) {
    ui::ChatDocument chat = sampleChat(QStringLiteral("v"), 4);
    std::vector<ui::ChatTurn> former{support::sampleTurn(QStringLiteral("former"), 2),
                                     support::sampleTurn(QStringLiteral("former"), 3)};
    ui::Attachment attachment;
    attachment.file = picture;
    attachment.name = QStringLiteral("fence.png");
    former.front().attachments.push_back(attachment);
    former.back().versions = {{support::sampleTurn(QStringLiteral("inner"), 3)}};
    chat.turns[2].versions = {former};
    chat.turns[2].version = 1;
    chat.turns[3].versions = {{support::sampleTurn(QStringLiteral("x"), 3)},
                              {support::sampleTurn(QStringLiteral("y"), 3)}};
    chat.turns[3].version = 1;
    chat.turns[3].thinking_s = 2.5;
    return chat;
}

} // namespace

class TestChatDatabase : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void keepsEveryField();
    void laterSavesOverwriteAndShorten();
    void jsonRoundTrip();
    void versionsAreKept();
    void earlierFormIsBroughtUpToDate();
    void titleFollowsFirstQuestionUntilRenamed();
    void search_data();
    void search();
    void folding_data();
    void folding();
    void deleteUndoAndPurge();
    void attachmentsByContent();
    void missingAttachmentKeepsTheTurn();
    void sourceThatVanishesKeepsItsCopy();
    void laterVersionIsLeftAlone();
    void secondProgramIsTold();
    void damagedFileIsSetAside();
    void flippedBytes();
    void damageThatLooksLikeSomethingElse_data();
    void damageThatLooksLikeSomethingElse();
    void speedOfListAndSearch();

private:
    void open();
    void save(ui::ChatDocument chat);

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<app::ChatDatabase> database_;
    QStringList notes_;
};

void TestChatDatabase::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    notes_.clear();
    open();
}

void TestChatDatabase::cleanup() {
    database_.reset();
    folder_.reset();
}

void TestChatDatabase::open() {
    database_.reset(); // one connection at a time
    database_ = std::make_unique<app::ChatDatabase>(app::StoreOptions{folder_->path(), {}});
    VERIFY_DONE(database_->open());
}

void TestChatDatabase::save(ui::ChatDocument chat) {
    VERIFY_DONE(database_->save(chat, notes_));
}

void TestChatDatabase::keepsEveryField() {
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 4);
    save(chat);
    open();
    auto loaded = database_->load(chat.id);
    VERIFY_DONE(loaded);
    QCOMPARE(asText(*loaded), asText(chat));
    QVERIFY(!database_->load(QStringLiteral("nothing")).has_value());
}

void TestChatDatabase::laterSavesOverwriteAndShorten() {
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 6);
    save(chat);
    chat.turns.resize(3);
    chat.turns[1].text = QStringLiteral("another answer");
    chat.turns[2] = support::sampleTurn(QStringLiteral("edited"), 2);
    chat.system_prompt.clear();
    chat.modified = chat.modified.addSecs(60);
    save(chat);
    open(); // so that nothing remembered in memory answers
    auto loaded = database_->load(chat.id);
    VERIFY_DONE(loaded);
    QCOMPARE(asText(*loaded), asText(chat));
    // The same from a store that has not seen the chat before.
    chat.turns.push_back(support::sampleTurn(chat.id, 3));
    chat.modified = chat.modified.addSecs(60);
    save(chat);
    open();
    QCOMPARE(asText(*database_->load(chat.id)), asText(chat));
}

void TestChatDatabase::jsonRoundTrip() {
    const ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 4);
    const auto back = ui::chatFromJson(ui::chatToJson(chat));
    QVERIFY(back.has_value());
    QCOMPARE(asText(*back), asText(chat));
    QCOMPARE(back->turns.at(1).seed, chat.turns.at(1).seed);
    QCOMPARE(qint64(back->sampling.seed), qint64(9007199254740993));
    QJsonObject other = ui::chatToJson(chat);
    other.insert(QStringLiteral("version"), 2);
    QVERIFY(!ui::chatFromJson(other).has_value());
    QVERIFY(!ui::chatFromJson({}).has_value());
}

void TestChatDatabase::titleFollowsFirstQuestionUntilRenamed() {
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    chat.turns[0].text = QStringLiteral("\n  Which bird\nis this?");
    save(chat);
    QCOMPARE(titles(*database_->list({})), QStringList{QStringLiteral("Which bird")});
    VERIFY_DONE(database_->rename(chat.id, QStringLiteral("  The\nrobin ")));
    chat.turns.push_back(support::sampleTurn(chat.id, 2));
    save(chat); // the view still holds the former title
    QCOMPARE(titles(*database_->list({})), QStringList{QStringLiteral("The robin")});
    VERIFY_DONE(database_->rename(chat.id, QString()));
    QCOMPARE(titles(*database_->list({})), QStringList{QStringLiteral("Which bird")});
    chat.turns[0].text = QStringLiteral("x").repeated(200);
    save(chat);
    QCOMPARE(database_->list({})->front().title.size(), 60);
}

void TestChatDatabase::search_data() {
    support::addColumns<QString, QStringList, QString>("query", "found", "excerpt");
    const QString bird = QStringLiteral("Which bird?");
    const QString tea = QStringLiteral("Über den Tee");
    QTest::newRow("nothing typed") << QString() << QStringList{tea, bird} << QString();
    QTest::newRow("title") << QStringLiteral("BIRD") << QStringList{bird}
                           << QStringLiteral("Which bird?");
    QTest::newRow("without the accent")
        << QStringLiteral("uber") << QStringList{tea} << QStringLiteral("Über den Tee");
    QTest::newRow("in an answer") << QStringLiteral("thrush") << QStringList{bird}
                                  << QStringLiteral("A song thrush repeats each phrase.");
    QTest::newRow("two words, two turns")
        << QStringLiteral("thrush which") << QStringList{bird} << QStringLiteral("A song thrush");
    QTest::newRow("both chats") << QStringLiteral("e") << QStringList{tea, bird} << QString();
    QTest::newRow("one word nowhere") << QStringLiteral("bird tea") << QStringList{} << QString();
    QTest::newRow("CJK") << QStringLiteral("紅茶") << QStringList{tea} << QStringLiteral("紅茶");
    QTest::newRow("name of a picture")
        << QStringLiteral("fence.png") << QStringList{bird} << QStringLiteral("fence.png");
    QTest::newRow("wildcards are plain text")
        << QStringLiteral("100%") << QStringList{tea} << QStringLiteral("100% leaves");
    QTest::newRow("quotes are plain text")
        << QStringLiteral("' OR 1=1 --") << QStringList{} << QString();
}

void TestChatDatabase::search() {
    QFETCH(QString, query);
    QFETCH(QStringList, found);
    QFETCH(QString, excerpt);
    ui::ChatDocument bird = sampleChat(QStringLiteral("bird"), 2);
    bird.turns[0].text = QStringLiteral("Which bird?");
    ui::Attachment picture;
    picture.name = QStringLiteral("fence.png");
    bird.turns[0].attachments = {picture};
    bird.turns[1].text = QStringLiteral("A song thrush repeats\neach phrase.");
    ui::ChatDocument tea = sampleChat(QStringLiteral("tea"), 2);
    tea.turns[0].text = QStringLiteral("Über den Tee");
    tea.turns[1].text = QStringLiteral("紅茶 is made from 100% leaves.");
    tea.modified = bird.modified.addSecs(5);
    save(bird);
    save(tea);
    auto chats = database_->list(query);
    VERIFY_DONE(chats);
    QCOMPARE(titles(*chats), found);
    if (!excerpt.isEmpty()) {
        QVERIFY2(chats->front().excerpt.contains(excerpt) ||
                     excerpt.contains(chats->front().excerpt),
                 qPrintable(chats->front().excerpt));
    }
    for (const ui::ChatSummary& chat : *chats) {
        QCOMPARE(chat.turns, 2);
        QCOMPARE(chat.excerpt.isEmpty(), query.isEmpty());
    }
}

void TestChatDatabase::folding_data() {
    support::addColumns<QString, QString, QString>("text", "words", "excerpt");
    const QString long_text = QStringLiteral("one two three four five six seven eight nine ten "
                                             "eleven twelve thirteen fourteen fifteen sixteen "
                                             "seventeen eighteen nineteen twenty");
    QTest::newRow("middle") << long_text << QStringLiteral("twelve")
                            << QStringLiteral("…eight nine ten eleven twelve thirteen fourteen "
                                              "fifteen sixteen seventeen…");
    QTest::newRow("start") << long_text << QStringLiteral("one")
                           << QStringLiteral("one two three four five six seven eight nine ten "
                                             "eleven twelve thirteen fourteen…");
    QTest::newRow("ligature before the match")
        << QStringLiteral("ﬁne ﬁre") << QStringLiteral("fire") << QStringLiteral("ﬁne ﬁre");
    QTest::newRow("sharp s") << QStringLiteral("die Straße") << QStringLiteral("STRASSE")
                             << QStringLiteral("die Straße");
    QTest::newRow("nowhere") << QStringLiteral("abc") << QStringLiteral("d") << QString();
}

void TestChatDatabase::folding() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    QFETCH(QString, excerpt);
    QCOMPARE(app::excerptAround(text, app::searchWords(words)), excerpt);
}

void TestChatDatabase::deleteUndoAndPurge() {
    const ui::ChatDocument kept = sampleChat(QStringLiteral("kept"), 2);
    ui::ChatDocument gone = sampleChat(QStringLiteral("gone"), 2);
    gone.turns[0].text = QStringLiteral("a secret that is deleted");
    save(kept);
    save(gone);
    VERIFY_DONE(database_->remove(gone.id));
    QCOMPARE(database_->list({})->size(), size_t{1});
    // A reply that ends after its chat was deleted does not bring the chat back.
    gone.turns.push_back(support::sampleTurn(gone.id, 2));
    save(gone);
    QCOMPARE(database_->list({})->size(), size_t{1});
    VERIFY_DONE(database_->restore(gone.id));
    QCOMPARE(database_->list({})->size(), size_t{2});
    VERIFY_DONE(database_->remove(gone.id));
    open(); // the next session: now it is gone for good, from the file as well
    QVERIFY(!database_->load(gone.id).has_value());
    VERIFY_DONE(database_->load(kept.id));
    database_->close();
    QFile file(folder_->filePath(QStringLiteral("chats.sqlite")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    QVERIFY(bytes.contains("Be exact."));
    QVERIFY(!bytes.contains("a secret that is deleted"));
}

void TestChatDatabase::attachmentsByContent() {
    const QString picture = support::writeFile(folder_->filePath(QStringLiteral("Fence.PNG")),
                                               QByteArray(3'000'000, 'p'));
    const QString twin =
        support::writeFile(folder_->filePath(QStringLiteral("twin")), QByteArray(3'000'000, 'p'));
    const QByteArray hash =
        QCryptographicHash::hash(QByteArray(3'000'000, 'p'), QCryptographicHash::Sha256).toHex();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    ui::Attachment first;
    first.file = picture;
    first.name = QStringLiteral("Fence.PNG");
    ui::Attachment second;
    second.file = twin;
    chat.turns[0].attachments = {first, second};
    VERIFY_DONE(database_->save(chat, notes_));
    QCOMPARE(attachmentCount(folder_->path()), 1);
    QCOMPARE(chat.turns[0].attachments[0].hash.toLatin1(), hash);
    QCOMPARE(chat.turns[0].attachments[1].hash.toLatin1(), hash);
    QCOMPARE(chat.turns[0].attachments[1].name, QStringLiteral("twin"));
    QFile::remove(picture);
    QFile::remove(twin);
    open();
    auto loaded = database_->load(chat.id);
    VERIFY_DONE(loaded);
    const ui::Attachment& stored = loaded->turns[0].attachments[0];
    QVERIFY(stored.file.startsWith(folder_->path() + QStringLiteral("/attachments/")));
    QVERIFY(stored.file.endsWith(QStringLiteral(".png")));
    QCOMPARE(stored.bytes, qint64(3'000'000));
    QFile copy(stored.file);
    QVERIFY(copy.open(QIODevice::ReadOnly));
    QCOMPARE(copy.readAll(), QByteArray(3'000'000, 'p'));
    copy.close();
    // Gone with the last chat that uses it, and not before.
    support::writeFile(folder_->filePath(QStringLiteral("attachments/incoming-crash")), "half");
    open();
    QCOMPARE(attachmentCount(folder_->path()), 1);
    VERIFY_DONE(database_->remove(chat.id));
    open();
    QCOMPARE(attachmentCount(folder_->path()), 0);
}

void TestChatDatabase::missingAttachmentKeepsTheTurn() {
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    ui::Attachment missing;
    missing.file = folder_->filePath(QStringLiteral("not there.wav"));
    missing.name = QStringLiteral("not there.wav");
    chat.turns[0].attachments = {missing};
    VERIFY_DONE(database_->save(chat, notes_));
    QCOMPARE(notes_.size(), 1);
    QVERIFY2(notes_.first().contains(QStringLiteral("not there.wav")), qPrintable(notes_.first()));
    QCOMPARE(database_->load(chat.id)->turns[0].attachments[0].name,
             QStringLiteral("not there.wav"));
}

void TestChatDatabase::sourceThatVanishesKeepsItsCopy() {
    // The view goes on with the file the user gave it: a pasted picture may be gone by the next
    // save of the chat, and must not be forgotten for it.
    ui::ChatDocument view = sampleChat(QStringLiteral("a"), 1);
    ui::Attachment pasted;
    pasted.name = QStringLiteral("pasted.png");
    pasted.file = support::writeFile(folder_->filePath(pasted.name), "pixels");
    view.turns[0].attachments = {pasted};
    save(view); // a copy is filled in, as in the store's thread
    QVERIFY(QFile::remove(pasted.file));
    view.turns.push_back(support::sampleTurn(view.id, 1));
    save(view);
    QVERIFY2(notes_.isEmpty(), qPrintable(notes_.join(QLatin1Char(' '))));
    open();
    const auto loaded = database_->load(view.id);
    VERIFY_DONE(loaded);
    QFile copy(loaded->turns[0].attachments[0].file);
    QVERIFY(copy.open(QIODevice::ReadOnly));
    QCOMPARE(copy.readAll(), "pixels");
    QCOMPARE(loaded->turns.size(), size_t{2});
}

void TestChatDatabase::laterVersionIsLeftAlone() {
    save(sampleChat(QStringLiteral("a"), 2));
    database_->close();
    const QString file = folder_->filePath(QStringLiteral("chats.sqlite"));
    {
        app::Database raw;
        VERIFY_DONE(raw.open(file));
        VERIFY_DONE(raw.run("PRAGMA user_version = 7"));
        VERIFY_DONE(raw.run("PRAGMA application_id = 7"));
    }
    const auto opened = database_->open();
    QVERIFY(!opened.has_value());
    QCOMPARE(app::storeProblem(opened.error()), app::StoreProblem::TooNew);
    QVERIFY2(errorOf(opened.error()).contains(QLatin1Char('7')),
             qPrintable(errorOf(opened.error())));
    QVERIFY(QFile::exists(file));
    ui::ChatDocument chat = sampleChat(QStringLiteral("b"), 2);
    QVERIFY(!database_->save(chat, notes_).has_value());
}

void TestChatDatabase::secondProgramIsTold() {
    app::ChatDatabase second({folder_->path(), {}});
    const auto opened = second.open();
    QVERIFY(!opened.has_value());
    QCOMPARE(app::storeProblem(opened.error()), app::StoreProblem::InUse);
    save(sampleChat(QStringLiteral("a"), 2)); // the first one is not disturbed
}

void TestChatDatabase::damagedFileIsSetAside() {
    save(sampleChat(QStringLiteral("a"), 2));
    database_->close();
    const QString file = folder_->filePath(QStringLiteral("chats.sqlite"));
    support::writeFile(file, "This was a database once. " + QByteArray(5000, 'x'));
    auto opened = database_->open();
    VERIFY_DONE(opened);
    QVERIFY(QFile::exists(opened->set_aside));
    QVERIFY2(opened->message.contains(QDir::toNativeSeparators(opened->set_aside)),
             qPrintable(opened->message));
    QCOMPARE(opened->recovered_chats, 0);
    save(sampleChat(QStringLiteral("b"), 2));
    QCOMPARE(database_->list({})->size(), size_t{1});
}

void TestChatDatabase::damageThatLooksLikeSomethingElse_data() {
    support::addColumns<QByteArray, QByteArray>("good", "bad");
    // SQLite's own checks pass, and what it says is no word of damage.
    QTest::newRow("another table's name")
        << QByteArray("REFERENCES chats") << QByteArray("REFERENCES ghats");
    QTest::newRow("another column's name") << QByteArray("modified") << QByteArray("modifief");
    // Bytes 16 to 19 of the header: pages of 4096 bytes, forms for writing and for reading.
    QTest::newRow("a later form") << QByteArray("\x10\x00\x02\x02", 4)
                                  << QByteArray("\x10\x00\x07\x02", 4);
}

void TestChatDatabase::damageThatLooksLikeSomethingElse() {
    QFETCH(QByteArray, good);
    QFETCH(QByteArray, bad);
    for (int i = 0; i < 3; ++i) {
        save(sampleChat(QString::number(i), 2));
    }
    database_->close();
    const QString file = folder_->filePath(QStringLiteral("chats.sqlite"));
    QFile input(file);
    QVERIFY(input.open(QIODevice::ReadOnly));
    QByteArray content = input.readAll();
    input.close();
    QVERIFY(content.contains(good));
    content.replace(content.indexOf(good), good.size(), bad);
    support::writeFile(file, content);
    VERIFY_DONE(database_->open());
    ui::ChatDocument chat = sampleChat(QStringLiteral("new"), 2);
    auto saved = database_->save(chat, notes_);
    if (!saved.has_value()) { // as the store does
        QCOMPARE(app::storeProblem(saved.error()), app::StoreProblem::Damaged);
        VERIFY_DONE(database_->replaceDamaged(saved.error()));
        saved = database_->save(chat, notes_);
    }
    VERIFY_DONE(saved);
    auto listed = database_->list({});
    VERIFY_DONE(listed);
    QVERIFY(listed->size() >= 1);
    QVERIFY(database_->load(chat.id).has_value());
    const QDir folder(folder_->path());
    QVERIFY(!folder.entryList({QStringLiteral("chats.sqlite.damaged-*")}, QDir::Files).isEmpty());
}

void TestChatDatabase::flippedBytes() {
    // Whatever a broken disk does to the file: no crash, an answer, and a store that works.
    for (int i = 0; i < 30; ++i) {
        save(sampleChat(QString::number(i), 6));
    }
    database_->close();
    const QString file = folder_->filePath(QStringLiteral("chats.sqlite"));
    QFile input(file);
    QVERIFY(input.open(QIODevice::ReadOnly));
    const QByteArray good = input.readAll();
    input.close();
    QRandomGenerator random(20261121);
    int recovered = 0;
    for (int round = 0; round < 150; ++round) {
        QByteArray bad = good;
        for (int n = 0; n < 1 + round % 40; ++n) {
            const qsizetype place = random.bounded(static_cast<quint32>(bad.size()));
            bad[place] = static_cast<char>(random.bounded(256U));
        }
        QTemporaryDir folder;
        support::writeFile(folder.filePath(QStringLiteral("chats.sqlite")), bad);
        app::ChatDatabase database({folder.path(), {}});
        auto opened = database.open();
        ui::ChatDocument chat = sampleChat(QStringLiteral("new"), 2);
        QStringList notes;
        if (!opened.has_value()) {
            QVERIFY(app::storeProblem(opened.error()) != app::StoreProblem::Other ||
                    !errorOf(opened.error()).isEmpty());
            continue;
        }
        recovered += opened->recovered_chats > 0 ? 1 : 0;
        for (int i = 0; i < 30; ++i) {
            (void)database.load(QStringLiteral("chat-%1").arg(i));
        }
        (void)database.list(QStringLiteral("answer"));
        auto saved = database.save(chat, notes);
        if (!saved.has_value() && app::storeProblem(saved.error()) == app::StoreProblem::Damaged) {
            VERIFY_DONE(database.replaceDamaged(saved.error()));
            saved = database.save(chat, notes);
        }
        VERIFY_DONE(saved);
    }
    QVERIFY2(recovered > 0, "no round was bad enough to set a file aside, or nothing was read");
}

void TestChatDatabase::speedOfListAndSearch() {
    // No time limit, because the machine may be busy: prints what it takes, for the record.
    for (int i = 0; i < 100; ++i) {
        save(sampleChat(QString::number(i), 40));
    }
    QElapsedTimer timer;
    timer.start();
    auto all = database_->list({});
    VERIFY_DONE(all);
    const auto list_us = timer.nsecsElapsed() / 1000;
    timer.restart();
    auto found = database_->list(QStringLiteral("answer 39"));
    VERIFY_DONE(found);
    qInfo("100 chats, 4,000 turns: list %lld us, search %lld us", list_us,
          timer.nsecsElapsed() / 1000);
    ui::ChatDocument large = sampleChat(QStringLiteral("large"), 10'000);
    timer.restart();
    VERIFY_DONE(database_->save(large, notes_));
    const auto first_us = timer.nsecsElapsed() / 1000;
    large.turns.push_back(support::sampleTurn(large.id, 10'000));
    timer.restart();
    const ui::ChatDocument copy = large; // what a queued signal does on the GUI thread
    const auto copy_us = timer.nsecsElapsed() / 1000;
    timer.restart();
    VERIFY_DONE(database_->save(large, notes_));
    const auto next_us = timer.nsecsElapsed() / 1000;
    timer.restart();
    const auto loaded = database_->load(large.id);
    VERIFY_DONE(loaded);
    qInfo("a chat of %zu turns: first save %lld us, copy %lld us, one turn more %lld us, load "
          "%lld us",
          copy.turns.size(), first_us, copy_us, next_us, timer.nsecsElapsed() / 1000);
    QCOMPARE(loaded->turns.size(), size_t{10'001});
    QCOMPARE(all->size(), size_t{100});
    QCOMPARE(found->size(), size_t{100});
}

void TestChatDatabase::versionsAreKept() {
    const QString picture =
        support::writeFile(folder_->filePath(QStringLiteral("fence.png")), "content");
    ui::ChatDocument chat = chatWithVersions(picture);
    VERIFY_DONE(database_->save(chat, notes_));
    QVERIFY(QFile::remove(picture)); // the copy in the store is used from now on
    open();
    auto loaded = database_->load(chat.id);
    VERIFY_DONE(loaded);
    QCOMPARE(asText(*loaded), asText(chat));
    const ui::Attachment& kept = loaded->turns[2].versions[0][0].attachments[0];
    QVERIFY(!kept.hash.isEmpty());
    QVERIFY(QFile::exists(kept.file)); // not collected as unused

    // A version that goes away is gone, and one that changes is written.
    loaded->turns[3].versions.pop_back();
    loaded->turns[3].versions[0][0].text = QStringLiteral("changed");
    save(*loaded);
    open();
    auto again = database_->load(chat.id);
    VERIFY_DONE(again);
    QCOMPARE(again->turns[3].versions.size(), size_t{1});
    QCOMPARE(again->turns[3].versions[0][0].text, QStringLiteral("changed"));
    again->turns.resize(2);
    save(*again);
    database_->close();
    app::Database raw;
    VERIFY_DONE(raw.open(folder_->filePath(QStringLiteral("chats.sqlite"))));
    auto count = raw.prepare("SELECT count(*) FROM versions");
    VERIFY_DONE(count);
    VERIFY_DONE(count->step());
    QCOMPARE(count->integer(0), qint64{0});
}

void TestChatDatabase::earlierFormIsBroughtUpToDate() {
    // A file as the program wrote it before there were versions: form 1.
    database_.reset();
    const QString file = folder_->filePath(QStringLiteral("chats.sqlite"));
    QVERIFY(QFile::remove(file));
    QFile::remove(file + QStringLiteral("-wal"));
    QFile::remove(file + QStringLiteral("-shm"));
    {
        app::Database raw;
        VERIFY_DONE(raw.open(file));
        for (const char* sql : {
                 "CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL, "
                 "folded_title TEXT NOT NULL, is_title_set INTEGER NOT NULL, "
                 "created INTEGER NOT NULL, modified INTEGER NOT NULL, "
                 "model TEXT NOT NULL, settings TEXT NOT NULL, deleted INTEGER) WITHOUT ROWID",
                 "CREATE INDEX chats_by_time ON chats (modified)",
                 "CREATE TABLE turns (chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE, "
                 "position INTEGER NOT NULL, folded TEXT NOT NULL, data TEXT NOT NULL, "
                 "PRIMARY KEY (chat, position))",
                 "CREATE TABLE attachments (chat TEXT NOT NULL, position INTEGER NOT NULL, "
                 "hash TEXT NOT NULL, FOREIGN KEY (chat, position) REFERENCES turns (chat, "
                 "position) ON DELETE CASCADE)",
                 "CREATE INDEX attachments_by_turn ON attachments (chat, position)",
                 "INSERT INTO chats VALUES ('old', 'Hello', 'hello', 0, 1763700000000, "
                 "1763700000000, 'demo', '{\"model\":\"demo\"}', NULL)",
                 "INSERT INTO turns VALUES ('old', 0, 'hello', "
                 "'{\"id\":\"q\",\"role\":\"user\",\"text\":\"Hello\"}')",
                 "INSERT INTO turns VALUES ('old', 1, 'good day', "
                 "'{\"id\":\"a\",\"role\":\"assistant\",\"text\":\"Good day\","
                 "\"finish_reason\":\"stop\"}')",
                 "PRAGMA user_version = 1",
             }) {
            VERIFY_DONE(raw.run(sql));
        }
    }
    open();
    QVERIFY(!database_->isReadOnly());
    auto chat = database_->load(QStringLiteral("old"));
    VERIFY_DONE(chat);
    QCOMPARE(chat->turns.size(), size_t{2});
    QCOMPARE(chat->turns[1].text, QStringLiteral("Good day"));
    QVERIFY(chat->turns[1].versions.empty());
    chat->turns[1].versions = {{support::sampleTurn(QStringLiteral("x"), 3)}};
    save(*chat);
    open(); // brought up to date once, then like any other file
    auto again = database_->load(QStringLiteral("old"));
    VERIFY_DONE(again);
    QCOMPARE(again->turns[1].versions.size(), size_t{1});
}

TEST_CLASS_WITH(QCoreApplication, TestChatDatabase)
#include "tst_chat_database.moc"
