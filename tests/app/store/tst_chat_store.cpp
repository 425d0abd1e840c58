// SPDX-License-Identifier: Apache-2.0
// The store on its own thread: answers in order, nothing lost when the program closes, the gate
// before the next turn, exports, and what a session leaves behind for the next one.
#include "app/store/chat_store.h"
#include "app/store/turn_gate.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"
#include "tests/support/qt_files.h"
#include "tests/support/thread_spy.h"
#include "ui/chat/chat_json.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using support::sampleChat;

namespace {} // namespace

class TestChatStore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { app::registerStoreTypes(); }
    void everythingAskedBeforeTheEndIsSaved();
    void listsFollowChanges();
    void pinsAndCopies();
    void emptyChatIsNotStored();
    void gateHoldsTheNextTurn();
    void gateOpensWhenSavingFails();
    void gateCancel();
    void gateKeepsDrafts();
    void exportMarkdown();
    void exportJson();
    void importsWhatWasExported();
    void importRefusesForeignFiles_data();
    void importRefusesForeignFiles();
    void tellsWhereAttachmentsAre();
    void exportToABadPlace();
    void exportNames_data();
    void exportNames();
    void sessionOfACrash();
    void brokenSessionFile();
};

void TestChatStore::everythingAskedBeforeTheEndIsSaved() {
    const QTemporaryDir folder;
    {
        app::ChatStoreThread thread({folder.path(), {}});
        for (int i = 0; i < 20; ++i) {
            QMetaObject::invokeMethod(thread.store(), [store = thread.store(), i] {
                store->save(sampleChat(QString::number(i), 4), 1);
            });
        }
    }
    app::ChatDatabase database({folder.path(), {}});
    QVERIFY(database.open().has_value());
    QCOMPARE(database.list({})->size(), size_t{20});
}

void TestChatStore::listsFollowChanges() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.path(), {}});
    QSignalSpy listed(&store, &app::ChatStore::listed);
    const auto shown = [&] {
        return listed.last().at(1).value<std::vector<ui::ChatSummary>>().size();
    };
    store.open();
    QCOMPARE(shown(), size_t{0});
    store.save(sampleChat(QStringLiteral("a"), 2), 1);
    store.save(sampleChat(QStringLiteral("b"), 2), 2);
    QTRY_COMPARE(shown(), size_t{2});
    store.list(QStringLiteral("chat-b"));
    QCOMPARE(shown(), size_t{1});
    store.save(sampleChat(QStringLiteral("bb"), 2), 3); // with the same query
    QTRY_COMPARE(shown(), size_t{2});
    QCOMPARE(listed.last().at(0).toString(), QStringLiteral("chat-b"));
    store.remove(QStringLiteral("chat-bb"));
    QTRY_COMPARE(shown(), size_t{1});
    store.restore(QStringLiteral("chat-bb"));
    QTRY_COMPARE(shown(), size_t{2});
    QSignalSpy failed(&store, &app::ChatStore::changeFailed);
    store.rename(QStringLiteral("nothing"), QStringLiteral("x"));
    QCOMPARE(failed.size(), 1);
}

void TestChatStore::pinsAndCopies() {
    const QTemporaryDir folder;
    std::vector<ui::ChatSummary> chats;
    const auto ids = [&](app::ChatStore& store) {
        QSignalSpy listed(&store, &app::ChatStore::listed);
        store.list({});
        chats = listed.last().at(1).value<std::vector<ui::ChatSummary>>();
        QStringList all;
        for (const ui::ChatSummary& chat : chats) {
            all.append((chat.is_pinned ? QStringLiteral("^") : QString()) + chat.title);
        }
        return all;
    };
    ui::ChatDocument later = sampleChat(QStringLiteral("b"), 2);
    later.modified = later.modified.addSecs(60);
    later.title = QStringLiteral("B");
    ui::ChatDocument earlier = sampleChat(QStringLiteral("a"), 4);
    earlier.title = QStringLiteral("A");
    {
        app::ChatStore store({folder.path(), {}});
        store.open();
        for (ui::ChatDocument* chat : {&earlier, &later}) {
            chat->is_title_set_by_user = true;
            store.save(*chat, 1);
        }
        QCOMPARE(ids(store), (QStringList{QStringLiteral("B"), QStringLiteral("A")}));
        store.pin(earlier.id, true);
        store.pin(earlier.id, true);
        QCOMPARE(ids(store), (QStringList{QStringLiteral("^A"), QStringLiteral("B")}));
        store.save(earlier, 2); // which knows nothing of pins
        QSignalSpy copied(&store, &app::ChatStore::copied);
        store.copy(earlier.id, QStringLiteral("A (copy)"));
        QCOMPARE(copied.size(), 1);
        QSignalSpy loaded(&store, &app::ChatStore::loaded);
        store.load(copied.first().first().toString());
        const auto copy = loaded.first().first().value<ui::ChatDocument>();
        QCOMPARE(copy.turns.size(), earlier.turns.size());
        for (size_t i = 0; i < copy.turns.size(); ++i) {
            QCOMPARE(copy.turns[i].text, earlier.turns[i].text);
            QVERIFY(copy.turns[i].id != earlier.turns[i].id);
        }
        store.close();
    }
    app::ChatStore store({folder.path(), {}});
    store.open();
    QCOMPARE(ids(store),
             (QStringList{QStringLiteral("^A"), QStringLiteral("A (copy)"), QStringLiteral("B")}));
    store.pin(earlier.id, false);
    QVERIFY(!ids(store).contains(QStringLiteral("^A")));
    QSignalSpy failed(&store, &app::ChatStore::changeFailed);
    store.copy(QStringLiteral("nothing"), QStringLiteral("x"));
    QCOMPARE(failed.size(), 1);
}

void TestChatStore::emptyChatIsNotStored() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.path(), {}});
    QSignalSpy saved(&store, &app::ChatStore::saved);
    QSignalSpy listed(&store, &app::ChatStore::listed);
    store.open();
    store.save(sampleChat(QStringLiteral("a"), 0), 1);
    QCOMPARE(saved.size(), 1);
    store.list({});
    QVERIFY(listed.last().at(1).value<std::vector<ui::ChatSummary>>().empty());
    // A chat whose turns were all deleted is written: the deletion must last.
    store.save(sampleChat(QStringLiteral("a"), 2), 2);
    store.save(sampleChat(QStringLiteral("a"), 0), 3);
    QSignalSpy loaded(&store, &app::ChatStore::loaded);
    store.load(QStringLiteral("chat-a"));
    QVERIFY(loaded.first().at(0).value<ui::ChatDocument>().turns.empty());
}

void TestChatStore::gateHoldsTheNextTurn() {
    const QTemporaryDir folder;
    app::ChatStoreThread thread({folder.path(), {}});
    app::TurnGate gate(thread.store());
    QSignalSpy released(&gate, &app::TurnGate::released);
    engine::GenerateRequest request;
    request.id = 1;
    gate.generate(request);
    QCOMPARE(released.size(), 1); // nothing to wait for
    bool was_stored = false;
    connect(&gate, &app::TurnGate::released, this, [&] {
        // At this moment the turn is in the file: a second reader of a copy sees it.
        QFile::copy(folder.filePath(QStringLiteral("chats.sqlite-wal")),
                    folder.filePath(QStringLiteral("copy.sqlite-wal")));
        QFile::copy(folder.filePath(QStringLiteral("chats.sqlite")),
                    folder.filePath(QStringLiteral("copy.sqlite")));
        app::Database copy;
        QVERIFY(copy.open(folder.filePath(QStringLiteral("copy.sqlite"))).has_value());
        auto count = copy.prepare("SELECT count(*) FROM turns");
        QVERIFY(count.has_value());
        QVERIFY(count->step().has_value());
        was_stored = count->integer(0) == 6;
    });
    gate.save(sampleChat(QStringLiteral("a"), 4));
    gate.save(sampleChat(QStringLiteral("a"), 6));
    request.id = 2;
    gate.generate(request);
    QCOMPARE(released.size(), 1); // not before the answer of the store
    QTRY_COMPARE(released.size(), 2);
    QVERIFY(was_stored);
}

void TestChatStore::gateOpensWhenSavingFails() {
    const QTemporaryDir folder;
    // A file where the folder should be: no way to save anything.
    const QString file = support::writeFile(folder.filePath(QStringLiteral("data")), "a file");
    app::ChatStoreThread thread({file, {}});
    app::TurnGate gate(thread.store());
    QSignalSpy released(&gate, &app::TurnGate::released);
    support::ThreadSpy problem(thread.store(), &app::ChatStore::problemChanged);
    gate.save(sampleChat(QStringLiteral("a"), 4));
    gate.generate({});
    QTRY_COMPARE(released.size(), 1);
    QVERIFY(problem.last().at(0).toString().contains(QDir::toNativeSeparators(file)));
}

void TestChatStore::gateCancel() {
    const QTemporaryDir folder;
    app::ChatStoreThread thread({folder.path(), {}});
    app::TurnGate gate(thread.store());
    QSignalSpy released(&gate, &app::TurnGate::released);
    QSignalSpy dropped(&gate, &app::TurnGate::dropped);
    gate.save(sampleChat(QStringLiteral("a"), 4));
    engine::GenerateRequest request;
    request.id = 5;
    gate.generate(request);
    gate.cancel();
    gate.cancel();
    QCOMPARE(dropped.size(), 1);
    QCOMPARE(dropped.first().at(0).toULongLong(), 5ULL);
    support::ThreadSpy saved(thread.store(), &app::ChatStore::saved);
    QTRY_COMPARE(saved.size(), 1);
    QTest::qWait(1);
    QCOMPARE(released.size(), 0);
}

void TestChatStore::gateKeepsDrafts() {
    const QTemporaryDir folder;
    app::ChatStoreThread thread({folder.path(), {}});
    app::TurnGate gate(thread.store());
    gate.setDraftInterval(0);
    support::ThreadSpy saved(thread.store(), &app::ChatStore::saved);
    QSignalSpy released(&gate, &app::TurnGate::released);
    support::ThreadSpy loaded(thread.store(), &app::ChatStore::loaded);
    const auto turns = [&] {
        loaded.clear();
        QMetaObject::invokeMethod(
            thread.store(), [store = thread.store()] { store->load(QStringLiteral("chat-a")); });
        return loaded.wait() ? loaded.first().at(0).value<ui::ChatDocument>().turns
                             : std::vector<ui::ChatTurn>();
    };
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 3); // ends with a question
    engine::GenerateRequest request;
    request.id = 9;
    gate.save(chat);
    gate.generate(request);
    QTRY_COMPARE(saved.size(), 1);
    QTRY_COMPARE(released.size(), 1); // drafts belong to a request that runs
    gate.update(8, {"of another request", "", 1});
    gate.update(9, {"A ro", "", 1});
    QTRY_COMPARE(saved.size(), 2);
    gate.update(9, {"bin", "", 2});
    QTRY_COMPARE(saved.size(), 3);
    auto stored = turns();
    QCOMPARE(stored.size(), size_t{4});
    QCOMPARE(stored[3].text, QStringLiteral("A robin"));
    QCOMPARE(stored[3].finish_reason, QStringLiteral("interrupted"));
    // The finished turn takes its place, and what comes late does not bring it back.
    chat.turns.push_back(support::sampleTurn(chat.id, 3));
    gate.save(chat);
    gate.update(9, {" late", "", 3});
    QTRY_COMPARE(saved.size(), 4);
    stored = turns();
    QCOMPARE(stored.size(), size_t{4});
    QCOMPARE(stored[3].finish_reason, QStringLiteral("stop"));
    QTest::qWait(1);
    QCOMPARE(saved.size(), 4);
}

void TestChatStore::exportMarkdown() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.filePath(QStringLiteral("data")), {}});
    store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    chat.turns[0].text = QStringLiteral("Which *bird* is this?");
    for (const char* sub : {"x", "y"}) {
        QDir(folder.path()).mkpath(QString::fromLatin1(sub));
        ui::Attachment picture;
        picture.name = QStringLiteral("fence post.png");
        picture.file = support::writeFile(
            folder.filePath(QString::fromLatin1(sub) + QStringLiteral("/fence post.png")), sub);
        chat.turns[0].attachments.push_back(picture);
    }
    store.save(chat, 1);
    QSignalSpy exported(&store, &app::ChatStore::exported);
    const QString file = folder.filePath(QStringLiteral("out.md"));
    store.exportChat(chat.id, file, ui::ExportFormat::Markdown);
    QCOMPARE(exported.size(), 1);
    const QString text = QString::fromUtf8(support::bytesOf(file));
    for (const char* expected :
         {"# Which \\*bird\\* is this?\n", "Which *bird* is this?\n", "> Be exact.\n",
          "![fence post.png](out_files/fence%20post.png)\n",
          "![fence post.png](out_files/fence%20post-2.png)\n", "```\nint x = 1;\n```\n",
          "<summary>Thinking</summary>\n\nThought 1\n", "medical × 0.80", "42.0 tokens/s",
          "first token after 0.13 s", "> note 1\n", "Left out of the context",
          "seed 18364758544493064721"}) {
        QVERIFY2(text.contains(QString::fromUtf8(expected)), qPrintable(text));
    }
    QVERIFY(!text.contains(QStringLiteral("law"))); // an adapter that was off
    QVERIFY(!text.contains(folder.path()));         // no path of this machine
    QCOMPARE(support::bytesOf(folder.filePath(QStringLiteral("out_files/fence post.png"))), "x");
    QCOMPARE(support::bytesOf(folder.filePath(QStringLiteral("out_files/fence post-2.png"))), "y");
}

void TestChatStore::exportJson() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.path(), {}});
    store.open();
    const ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 4);
    store.save(chat, 1);
    const QString file = folder.filePath(QStringLiteral("out.json"));
    store.exportChat(chat.id, file, ui::ExportFormat::Json);
    const auto back = ui::chatFromJson(QJsonDocument::fromJson(support::bytesOf(file)).object());
    QVERIFY(back.has_value());
    QCOMPARE(support::asText(*back), support::asText(chat));
}

void TestChatStore::exportToABadPlace() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.path(), {}});
    store.open();
    store.save(sampleChat(QStringLiteral("a"), 2), 1);
    QSignalSpy failed(&store, &app::ChatStore::exportFailed);
    const QString nowhere = folder.filePath(QStringLiteral("no such folder/out.md"));
    store.exportChat(QStringLiteral("chat-a"), nowhere, ui::ExportFormat::Markdown);
    QCOMPARE(failed.size(), 1);
    QVERIFY(failed.last().at(1).toString().contains(QStringLiteral("no such folder")));
    store.exportChat(QStringLiteral("chat-z"), nowhere, ui::ExportFormat::Json);
    QCOMPARE(failed.size(), 2);
}

void TestChatStore::exportNames_data() {
    support::addColumns<QString, QString>("title", "name");
    QTest::newRow("plain") << QStringLiteral("Which bird") << QStringLiteral("Which bird.md");
    QTest::newRow("refused") << QStringLiteral("a/b: c?") << QStringLiteral("a-b- c-.md");
    QTest::newRow("nothing") << QString() << QStringLiteral("Chat.md");
    QTest::newRow("cut") << QStringLiteral("A long ques…") << QStringLiteral("A long ques.md");
}

void TestChatStore::exportNames() {
    QFETCH(QString, title);
    QFETCH(QString, name);
    QCOMPARE(ui::exportFileName(title, ui::ExportFormat::Markdown), name);
}

void TestChatStore::sessionOfACrash() {
    const QTemporaryDir folder;
    const auto readPrevious = [&] {
        app::ChatStore store({folder.path(), {}});
        QSignalSpy read(&store, &app::ChatStore::sessionRead);
        store.open();
        return read.first().at(0).value<app::PreviousSession>();
    };
    QVERIFY(!readPrevious().exists);
    {
        app::ChatStore store({folder.path(), {}});
        store.open();
        const QJsonObject draft{{QStringLiteral("chat"), QStringLiteral("chat-a")},
                                {QStringLiteral("text"), QStringLiteral("half a quest")}};
        store.saveSession({QStringLiteral("chat-a"), QJsonArray{draft},
                           QStringLiteral("/models/big"), QStringLiteral("/models/small"),
                           QJsonObject(), false});
    }
    app::PreviousSession previous = readPrevious();
    QVERIFY(previous.hasCrashed());
    QCOMPARE(previous.crashedWhileLoading(), QStringLiteral("/models/big"));
    QCOMPARE(previous.state.chat, QStringLiteral("chat-a"));
    const ui::ChatDrafts drafts = ui::draftsFromJson(previous.state.drafts);
    QCOMPARE(drafts.value(QStringLiteral("chat-a")).message.text, QStringLiteral("half a quest"));
    QCOMPARE(previous.state.loaded, QStringLiteral("/models/small"));
    previous.state.is_over = true;
    QVERIFY(app::SessionFile(folder.path()).write(previous.state).has_value());
    previous = readPrevious();
    QVERIFY(previous.exists);
    QVERIFY(!previous.hasCrashed());
    QCOMPARE(previous.crashedWhileLoading(), QString());
}

void TestChatStore::brokenSessionFile() {
    const QTemporaryDir folder;
    for (const char* content : {"", "{", "[]", "\xff\xfe", "{\"chat\": 7}"}) {
        support::writeFile(folder.filePath(QStringLiteral("session.json")), content);
        const app::PreviousSession previous = app::SessionFile(folder.path()).read();
        QCOMPARE(previous.state.chat, QString());
    }
}

void TestChatStore::importsWhatWasExported() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.filePath(QStringLiteral("data")), {}});
    store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 4);
    chat.turns[3].versions = {{support::sampleTurn(QStringLiteral("x"), 3)}};
    const QByteArray picture("\x89PNG\r\n\x1a\ncontent");
    ui::Attachment attachment;
    attachment.file = support::writeFile(folder.filePath(QStringLiteral("fence.png")), picture);
    attachment.name = QStringLiteral("fence.png");
    chat.turns[0].attachments.push_back(attachment);
    attachment.file = QStringLiteral("/etc/hostname"); // not beside the export: not taken
    attachment.name = QStringLiteral("hostname");
    store.save(chat, 1);
    const QString file = folder.filePath(QStringLiteral("out.json"));
    store.exportChat(chat.id, file, ui::ExportFormat::Json);
    {
        // As if the export had been tampered with.
        QFile edited(file);
        QVERIFY(edited.open(QIODevice::ReadWrite));
        QJsonObject object = QJsonDocument::fromJson(edited.readAll()).object();
        QJsonArray turns = object.value(QStringLiteral("turns")).toArray();
        QJsonObject first = turns.at(2).toObject();
        first.insert(
            QStringLiteral("attachments"),
            QJsonArray{QJsonObject{{QStringLiteral("kind"), QStringLiteral("image")},
                                   {QStringLiteral("file"), QStringLiteral("../../etc/hostname")},
                                   {QStringLiteral("name"), QStringLiteral("hostname")}}});
        turns.replace(2, first);
        object.insert(QStringLiteral("turns"), turns);
        edited.resize(0);
        edited.seek(0);
        edited.write(QJsonDocument(object).toJson());
    }
    QSignalSpy imported(&store, &app::ChatStore::imported);
    QSignalSpy loaded(&store, &app::ChatStore::loaded);
    store.importChat(file);
    QCOMPARE(imported.size(), 1);
    const QString id = imported.last().at(1).toString();
    QVERIFY(id != chat.id);
    store.load(id);
    QCOMPARE(loaded.size(), 1);
    const auto back = loaded.last().first().value<ui::ChatDocument>();
    QCOMPARE(back.turns.size(), size_t{4});
    QCOMPARE(back.turns[1].text, chat.turns[1].text);
    QCOMPARE(back.turns[3].versions.size(), size_t{1});
    QCOMPARE(support::bytesOf(back.turns[0].attachments[0].file), picture);
    QVERIFY(back.turns[2].attachments[0].file.isEmpty());
    QCOMPARE(back.turns[2].attachments[0].name, QStringLiteral("hostname"));
}

void TestChatStore::importRefusesForeignFiles_data() {
    support::addColumns<QByteArray, QString>("content", "word");
    QTest::newRow("not JSON") << QByteArray("# A chat") << QStringLiteral("not JSON");
    QTest::newRow("other JSON") << QByteArray("{\"messages\": []}")
                                << QStringLiteral("belfry-chat");
    QTest::newRow("a list") << QByteArray("[1, 2]") << QStringLiteral("belfry-chat");
    QTest::newRow("no turns") << QByteArray("{\"format\": \"belfry-chat\", \"version\": 1}")
                              << QStringLiteral("with turns");
    QTest::newRow("later version")
        << QByteArray("{\"format\": \"belfry-chat\", \"version\": 9, \"turns\": [{}]}")
        << QStringLiteral("version");
    QTest::newRow("empty file") << QByteArray() << QStringLiteral("not JSON");
}

void TestChatStore::importRefusesForeignFiles() {
    QFETCH(QByteArray, content);
    QFETCH(QString, word);
    const QTemporaryDir folder;
    app::ChatStore store({folder.filePath(QStringLiteral("data")), {}});
    store.open();
    const QString file = folder.filePath(QStringLiteral("foreign.json"));
    QFile output(file);
    QVERIFY(output.open(QIODevice::WriteOnly));
    output.write(content);
    output.close();
    QSignalSpy failed(&store, &app::ChatStore::importFailed);
    QSignalSpy imported(&store, &app::ChatStore::imported);
    store.importChat(file);
    QCOMPARE(failed.size(), 1);
    QCOMPARE(imported.size(), 0);
    const QString why = failed.last().at(1).toString();
    QVERIFY2(why.contains(QStringLiteral("foreign.json")) && why.contains(word), qPrintable(why));
}

void TestChatStore::tellsWhereAttachmentsAre() {
    const QTemporaryDir folder;
    app::ChatStore store({folder.filePath(QStringLiteral("data")), {}});
    store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    ui::Attachment attachment;
    attachment.file = support::writeFile(folder.filePath(QStringLiteral("fence.png")), "content");
    attachment.name = QStringLiteral("fence.png");
    chat.turns[0].attachments.push_back(attachment);
    ui::ChatTurn former = support::sampleTurn(QStringLiteral("former"), 0);
    former.attachments.push_back(attachment);
    chat.turns[0].versions = {{former}};
    chat.turns[0].version = 1;
    QSignalSpy told(&store, &app::ChatStore::attachmentsStored);
    store.save(chat, 1);
    QCOMPARE(told.size(), 2); // the shown turn and the one that is not shown
    QCOMPARE(told.at(0).at(1).toString(), chat.turns[0].id);
    QCOMPARE(told.at(1).at(1).toString(), former.id);
    const auto stored = told.at(0).at(2).value<std::vector<ui::Attachment>>();
    QVERIFY(QFile::remove(attachment.file));
    QCOMPARE(support::bytesOf(stored.at(0).file), QByteArray("content"));
}

TEST_CLASS_WITH(QCoreApplication, TestChatStore)
#include "tst_chat_store.moc"
