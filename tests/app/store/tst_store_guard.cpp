// SPDX-License-Identifier: Apache-2.0
// What other people and other programs put in the store's way: hostile exports, pipes and devices
// in the place of files, folders open to everybody, a store that is deleted while it is used.
#include "app/store/chat_store.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"
#include "tests/support/qt_files.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <memory>

using support::sampleChat;

namespace {

const QByteArray kPng = QByteArrayLiteral("\x89PNG\r\n\x1a\nrest");
const QByteArray kWav = QByteArrayLiteral("RIFF\x24\0\0\0WAVEfmt ");

app::SessionState sessionOf(const QString& chat, bool is_over = false) {
    app::SessionState state;
    state.chat = chat;
    state.drafts = {QJsonObject{{QStringLiteral("text"), QStringLiteral("half a quest")}}};
    state.is_over = is_over;
    return state;
}

QByteArray path(const QString& file) {
    return QFile::encodeName(file);
}

int modeOf(const QString& file) {
    struct stat facts {};
    return ::lstat(path(file).constData(), &facts) == 0 ? static_cast<int>(facts.st_mode & 0777U)
                                                        : -1;
}

/// An export with one attachment, beside whatever `folder` holds.
QString exportNaming(const QString& folder, const QString& inside, const QString& name) {
    const QJsonObject attachment{{QStringLiteral("kind"), QStringLiteral("image")},
                                 {QStringLiteral("file"), inside},
                                 {QStringLiteral("name"), name}};
    const QJsonObject turn{{QStringLiteral("role"), QStringLiteral("user")},
                           {QStringLiteral("text"), QStringLiteral("Look")},
                           {QStringLiteral("attachments"), QJsonArray{attachment}}};
    const QJsonObject chat{{QStringLiteral("format"), QStringLiteral("belfry-chat")},
                           {QStringLiteral("version"), 1},
                           {QStringLiteral("turns"), QJsonArray{turn}}};
    return support::writeFile(folder + QStringLiteral("/chat.json"), QJsonDocument(chat).toJson());
}

} // namespace

class TestStoreGuard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { app::registerStoreTypes(); }
    void init();
    void importsOnlyOurKinds_data();
    void importsOnlyOurKinds();
    void importOfAPipe();
    void endlessAttachment();
    void exportedNamesStartNothing();
    void everythingIsPrivate();
    void olderStoresAreClosed();
    void pipeInPlaceOfTheSession();
    void sessionBelongsToTheLock();
    void folderDeletedWhileOpen();
    void fileReplacedWhileOpen();

private:
    [[nodiscard]] QString at(const char* name) const {
        return folder_->filePath(QString::fromLatin1(name));
    }
    std::unique_ptr<QTemporaryDir> folder_;
};

void TestStoreGuard::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QDir(folder_->path()).mkpath(QStringLiteral("in/files/deeper"));
    QDir(folder_->path()).mkpath(QStringLiteral("secret"));
    support::writeFile(at("secret/mine.png"), kPng + "secret");
}

void TestStoreGuard::importsOnlyOurKinds_data() {
    QTest::addColumn<QString>("inside");  // as the export names it
    QTest::addColumn<QByteArray>("make"); // what lies there
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("suffix"); // of the copy; empty: it is not taken
    const auto row = [](const char* name, const char* inside, const char* make,
                        const QByteArray& content, const char* suffix) {
        QTest::newRow(name) << QString::fromUtf8(inside) << QByteArray(make) << content
                            << QString::fromLatin1(suffix);
    };
    row("picture", "files/cat.png", "file", kPng, "png");
    row("picture called a program", "files/cat.exe", "file", kPng, "png");
    row("sound", "files/a.wav", "file", kWav, "wav");
    row("JPEG called PNG", "files/cat.png", "file", "\xff\xd8\xff\xe0", "jpg");
    row("deeper folder", "files/deeper/cat.png", "file", kPng, "png");
    row("program", "files/cat.exe", "file", "MZ\x90", "");
    row("program called a picture", "files/cat.png", "file", "MZ\x90", "");
    row("script called a picture", "files/cat.png", "file", "#!/bin/sh\nreboot\n", "");
    row("desktop entry", "files/cat.desktop", "file", "[Desktop Entry]\nExec=reboot\n", "");
    row("page", "files/cat.html", "file", "<script>alert(1)</script>", "");
    row("drawing that may hold a script", "files/cat.svg", "file", "<svg/>", "");
    row("empty", "files/cat.png", "file", "", "");
    row("link", "files/cat.png", "link", "", "");
    row("link in place of a folder", "files/linked/mine.png", "linked folder", "", "");
    row("pipe", "files/cat.png", "pipe", "", "");
    row("device", "files/cat.png", "device", "", "");
    row("link to a device", "files/cat.png", "link to a device", "", "");
    row("folder", "files/cat.png", "folder", "", "");
    row("nothing", "files/cat.png", "nothing", "", "");
    row("upwards", "../secret/mine.png", "nothing", "", "");
    row("upwards in the middle", "files/../../secret/mine.png", "nothing", "", "");
    row("absolute", "/etc/hostname", "nothing", "", "");
    row("double slash", "files//cat.png", "file", kPng, "");
    row("address", "file:///etc/hostname", "nothing", "", "");
}

void TestStoreGuard::importsOnlyOurKinds() {
    QFETCH(QString, inside);
    QFETCH(QByteArray, make);
    QFETCH(QByteArray, content);
    QFETCH(QString, suffix);
    const QString place = at("in/") + inside;
    const QByteArray name = path(place);
    if (make == "file") {
        QVERIFY(!support::writeFile(place, content).isNull());
    } else if (make == "link") {
        QCOMPARE(::symlink(path(at("secret/mine.png")).constData(), name.constData()), 0);
    } else if (make == "linked folder") {
        QCOMPARE(::symlink(path(at("secret")).constData(), path(at("in/files/linked")).constData()),
                 0);
    } else if (make == "pipe") {
        QCOMPARE(::mkfifo(name.constData(), 0600), 0);
    } else if (make == "device") {
        if (::mknod(name.constData(), S_IFCHR | 0600U, makedev(1, 5)) != 0) {
            QSKIP("only root makes devices");
        }
    } else if (make == "link to a device") {
        QCOMPARE(::symlink("/dev/zero", name.constData()), 0);
    } else if (make == "folder") {
        QVERIFY(QDir().mkpath(place));
    }
    app::ChatStore store({at("data"), {}});
    store.open();
    QSignalSpy imported(&store, &app::ChatStore::imported);
    QSignalSpy noted(&store, &app::ChatStore::noteRaised);
    QSignalSpy loaded(&store, &app::ChatStore::loaded);
    store.importChat(exportNaming(at("in"), inside, QStringLiteral("cat.exe")));
    QCOMPARE(imported.size(), 1); // the words are worth having all the same
    store.load(imported.last().at(1).toString());
    const auto chat = loaded.last().first().value<ui::ChatDocument>();
    const ui::Attachment& attachment = chat.turns.at(0).attachments.at(0);
    QCOMPARE(attachment.name, QStringLiteral("cat.exe"));
    QStringList kept;
    QDirIterator files(at("data/attachments"), QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        kept.append(files.next());
    }
    if (suffix.isEmpty()) {
        QCOMPARE(attachment.file, QString());
        QCOMPARE(kept, QStringList());
        QCOMPARE(noted.size(), 1);
        QVERIFY(noted.last().first().toString().contains(QStringLiteral("cat.exe")));
        return;
    }
    QCOMPARE(kept, QStringList{attachment.file});
    QCOMPARE(QFileInfo(attachment.file).suffix(), suffix);
    QCOMPARE(attachment.kind, suffix == QStringLiteral("wav") ? engine::MessagePart::Kind::Audio
                                                              : engine::MessagePart::Kind::Image);
    QCOMPARE(support::bytesOf(attachment.file), content);
    QCOMPARE(noted.size(), 0);
}

void TestStoreGuard::importOfAPipe() {
    QCOMPARE(::mkfifo(path(at("chat.json")).constData(), 0600), 0);
    QCOMPARE(::symlink("/dev/zero", path(at("zero.json")).constData()), 0);
    app::ChatStore store({at("data"), {}});
    store.open();
    QSignalSpy failed(&store, &app::ChatStore::importFailed);
    store.importChat(at("chat.json"));
    store.importChat(at("zero.json"));
    QCOMPARE(failed.size(), 2);
    QVERIFY(failed.last().at(1).toString().contains(QStringLiteral("zero.json")));
}

void TestStoreGuard::endlessAttachment() {
    // Sparse: the size is there without the bytes.
    QVERIFY(!support::writeFile(at("in/files/cat.png"), kPng).isNull());
    QVERIFY(QFile::resize(at("in/files/cat.png"), app::kMaxAttachmentBytes + 1));
    app::ChatStore store({at("data"), {}});
    store.open();
    QSignalSpy noted(&store, &app::ChatStore::noteRaised);
    store.importChat(
        exportNaming(at("in"), QStringLiteral("files/cat.png"), QStringLiteral("cat.png")));
    QCOMPARE(noted.size(), 1);
    QVERIFY2(noted.last().first().toString().contains(QStringLiteral("256 MiB")),
             qPrintable(noted.last().first().toString()));
    QCOMPARE(QDir(at("data/attachments")).entryList(QDir::Files | QDir::NoDotAndDotDot),
             QStringList());
}

void TestStoreGuard::exportedNamesStartNothing() {
    app::ChatStore store({at("data"), {}});
    store.open();
    ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
    ui::Attachment attachment;
    attachment.file = at("secret/mine.png");
    attachment.name = QStringLiteral("cat.exe");
    chat.turns[0].attachments.push_back(attachment);
    store.save(chat, 1);
    store.exportChat(chat.id, at("out.json"), ui::ExportFormat::Json);
    QCOMPARE(QDir(at("out_files")).entryList(QDir::Files),
             QStringList{QStringLiteral("cat.exe.png")});
}

void TestStoreGuard::everythingIsPrivate() {
    const mode_t former = ::umask(022);
    {
        app::ChatStore store({at("a/b/data"), {}});
        store.open();
        ui::ChatDocument chat = sampleChat(QStringLiteral("a"), 2);
        ui::Attachment attachment;
        attachment.file = at("secret/mine.png");
        chat.turns[0].attachments.push_back(attachment);
        store.save(chat, 1);
        store.saveSession(sessionOf(chat.id));
        int files = 0;
        QDirIterator all(at("a"), QDir::AllEntries | QDir::NoDotAndDotDot,
                         QDirIterator::Subdirectories);
        while (all.hasNext()) {
            const QString one = all.next();
            QVERIFY2(modeOf(one) == (QFileInfo(one).isDir() ? 0700 : 0600), qPrintable(one));
            files += QFileInfo(one).isDir() ? 0 : 1;
        }
        QVERIFY(files >= 4); // chats, WAL, session, attachment
    }
    ::umask(former);
}

void TestStoreGuard::olderStoresAreClosed() {
    const mode_t former = ::umask(022);
    {
        app::ChatStore store({at("data"), {}});
        store.open();
        store.save(sampleChat(QStringLiteral("a"), 2), 1);
        store.close();
    }
    QDir(at("data")).mkpath(QStringLiteral("attachments/ab"));
    support::writeFile(at("data/belfry.log"), "line\n");
    support::writeFile(at("data/chats.sqlite.damaged-1"), "words");
    for (const char* name : {"data", "data/attachments", "data/attachments/ab"}) {
        QCOMPARE(::chmod(path(at(name)).constData(), 0755), 0);
    }
    QCOMPARE(::chmod(path(at("data/chats.sqlite")).constData(), 0644), 0);
    // Nothing outside is touched, whatever leads there.
    QCOMPARE(::symlink(path(at("secret")).constData(), path(at("data/elsewhere")).constData()), 0);
    QCOMPARE(::chmod(path(at("secret/mine.png")).constData(), 0644), 0);
    QCOMPARE(::chmod(path(at("secret")).constData(), 0755), 0);
    app::ChatStore store({at("data"), {}});
    store.open();
    for (const char* name : {"data", "data/attachments", "data/attachments/ab"}) {
        QCOMPARE(modeOf(at(name)), 0700);
    }
    for (const char* name :
         {"data/chats.sqlite", "data/belfry.log", "data/chats.sqlite.damaged-1"}) {
        QCOMPARE(modeOf(at(name)), 0600);
    }
    QCOMPARE(modeOf(at("secret")), 0755);
    QCOMPARE(modeOf(at("secret/mine.png")), 0644);
    ::umask(former);
}

void TestStoreGuard::pipeInPlaceOfTheSession() {
    QDir(folder_->path()).mkpath(QStringLiteral("data"));
    QCOMPARE(::mkfifo(path(at("data/session.json")).constData(), 0600), 0);
    app::ChatStore store({at("data"), {}});
    QSignalSpy read(&store, &app::ChatStore::sessionRead);
    QSignalSpy noted(&store, &app::ChatStore::noteRaised);
    store.open();
    QVERIFY(!read.last().first().value<app::PreviousSession>().exists);
    store.saveSession(sessionOf(QStringLiteral("chat-a"), true));
    QCOMPARE(noted.size(), 1);
    QVERIFY(noted.last().first().toString().contains(QStringLiteral("session.json")));
}

void TestStoreGuard::sessionBelongsToTheLock() {
    app::ChatStore first({at("data"), {}});
    first.open();
    first.saveSession(sessionOf(QStringLiteral("chat-a")));
    const QByteArray before = support::bytesOf(at("data/session.json"));
    {
        app::ChatStore second({at("data"), {}});
        QSignalSpy read(&second, &app::ChatStore::sessionRead);
        second.open();
        // A session that goes on is no crash.
        QVERIFY(!read.last().first().value<app::PreviousSession>().hasCrashed());
        second.saveSession(sessionOf({}, true));
        second.close();
    }
    QCOMPARE(support::bytesOf(at("data/session.json")), before);
    // Asked for too early: written once the store is this program's.
    app::ChatStore third({at("data"), {}});
    third.open();
    third.saveSession(sessionOf(QStringLiteral("chat-c"), true));
    first.close();
    third.retry();
    QVERIFY(support::bytesOf(at("data/session.json")).contains("chat-c"));
}

void TestStoreGuard::folderDeletedWhileOpen() {
    app::ChatStore store({at("data"), {}});
    store.open();
    store.save(sampleChat(QStringLiteral("old"), 4), 1);
    QVERIFY(QDir(at("data")).removeRecursively());
    QSignalSpy noted(&store, &app::ChatStore::noteRaised);
    QSignalSpy saved(&store, &app::ChatStore::saved);
    QStringList order;
    connect(&store, &app::ChatStore::noteRaised, this,
            [&] { order.append(QStringLiteral("told")); });
    connect(&store, &app::ChatStore::saved, this, [&] { order.append(QStringLiteral("saved")); });
    store.save(sampleChat(QStringLiteral("new"), 2), 2);
    QCOMPARE(order, QStringList({QStringLiteral("told"), QStringLiteral("saved")}));
    QVERIFY(noted.last().first().toString().contains(QStringLiteral("deleted or moved")));
    store.close();
    app::ChatDatabase database({at("data"), {}});
    QVERIFY(database.open().has_value());
    QCOMPARE(database.list({})->size(), size_t{2}); // nothing of what was there is lost either
    QCOMPARE(database.load(QStringLiteral("chat-old"))->turns.size(), size_t{4});
}

void TestStoreGuard::fileReplacedWhileOpen() {
    {
        app::ChatStore other({at("other"), {}});
        other.open();
        other.save(sampleChat(QStringLiteral("theirs"), 2), 1);
        other.close();
    }
    app::ChatStore store({at("data"), {}});
    store.open();
    store.save(sampleChat(QStringLiteral("old"), 4), 1);
    QVERIFY(QFile::remove(at("data/chats.sqlite")));
    QVERIFY(QFile::rename(at("other/chats.sqlite"), at("data/chats.sqlite")));
    QSignalSpy noted(&store, &app::ChatStore::noteRaised);
    store.save(sampleChat(QStringLiteral("new"), 2), 2);
    QCOMPARE(noted.size(), 1);
    QVERIFY(noted.last().first().toString().contains(QStringLiteral("replaced")));
    store.close();
    app::ChatDatabase database({at("data"), {}});
    QVERIFY(database.open().has_value());
    QVERIFY(database.load(QStringLiteral("chat-theirs")).has_value());
    QVERIFY(database.load(QStringLiteral("chat-new")).has_value());
}

TEST_CLASS_WITH(QCoreApplication, TestStoreGuard)
#include "tst_store_guard.moc"
