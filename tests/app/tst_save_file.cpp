// SPDX-License-Identifier: Apache-2.0
// What the window saves lands where a link leads and replaces nothing but plain files; what lies in
// the place of its files and is none is neither waited for nor read without end.
#include "app/settings_store.h"
#include "app/store/export_files.h"
#include "app/store/save_file.h"
#include "app/store/session_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace {

QByteArray contentOf(const QString& file) {
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

bool sessionSaved(const QString& folder) {
    QFile::remove(folder + QStringLiteral("/session.json"));
    QFile::link(QStringLiteral("place"), folder + QStringLiteral("/session.json"));
    const app::SessionFile session(folder);
    app::SessionState state;
    state.drafts = {QJsonObject{{QStringLiteral("text"), QStringLiteral("a draft")}}};
    const bool is_saved = session.write(state).has_value();
    return is_saved && session.read().state.drafts == state.drafts;
}

} // namespace

class TestSaveFile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void saves_data();
    void saves();
    void oddFilesAreNotWaitedFor_data();
    void oddFilesAreNotWaitedFor();
};

void TestSaveFile::saves_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("kind");
    for (const char* what : {"text", "export", "session", "settings"}) {
        for (const char* kind : {"nothing", "file", "link", "pipe", "null device", "folder"}) {
            QTest::addRow("%s over a %s", what, kind)
                << QString::fromLatin1(what) << QString::fromLatin1(kind);
        }
    }
}

void TestSaveFile::saves() {
    QFETCH(QString, what);
    QFETCH(QString, kind);
    const QTemporaryDir temporary;
    const QString folder = temporary.path();
    const QString place = folder + QStringLiteral("/place");
    const QByteArray path = QFile::encodeName(place);
    QVERIFY(QDir(folder).mkdir(QStringLiteral("deeper")));
    bool is_made = true;
    if (kind == QLatin1String("file")) {
        is_made = app::saveFile(place, "former").has_value();
    } else if (kind == QLatin1String("link")) {
        is_made = QFile::link(QStringLiteral("deeper/target"), place);
    } else if (kind == QLatin1String("pipe")) {
        is_made = ::mkfifo(path.constData(), 0600) == 0;
    } else if (kind == QLatin1String("null device")) { // a node of our own
        is_made = ::mknod(path.constData(), S_IFCHR | 0600, makedev(1, 3)) == 0;
    } else if (kind == QLatin1String("folder")) {
        is_made = QDir(folder).mkdir(QStringLiteral("place"));
    }
    if (!is_made) {
        QSKIP("this user cannot make one");
    }
    struct stat before {};
    const bool was_there = ::lstat(path.constData(), &before) == 0;

    bool is_saved = false;
    if (what == QLatin1String("text")) {
        is_saved = app::saveFile(place, "text", engine::NoPlainFile::WriteInto).has_value();
    } else if (what == QLatin1String("export")) {
        is_saved = app::writeExport(ui::ChatDocument(), place, ui::ExportFormat::Json).has_value();
    } else if (what == QLatin1String("session")) {
        is_saved = sessionSaved(folder);
    } else {
        const app::SettingsStore store(place);
        ui::Settings settings = store.read();
        settings.text_zoom = 150;
        store.write(settings);
        is_saved = store.read().text_zoom == 150;
    }
    const bool is_plain = kind == QLatin1String("nothing") || kind == QLatin1String("file") ||
                          kind == QLatin1String("link");
    const bool takes_devices = (what == QLatin1String("text") || what == QLatin1String("export")) &&
                               kind == QLatin1String("null device");
    QCOMPARE(is_saved, is_plain || takes_devices);
    struct stat after {};
    QCOMPARE(::lstat(path.constData(), &after), 0 - (was_there || is_saved ? 0 : 1));
    QVERIFY(!was_there || (before.st_mode & S_IFMT) == (after.st_mode & S_IFMT));
    if (kind == QLatin1String("link")) {
        QVERIFY(contentOf(folder + QStringLiteral("/deeper/target")).size() > 3);
    }
}

void TestSaveFile::oddFilesAreNotWaitedFor_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"pipe", "endless", "folder", "too large"}) {
        QTest::newRow(kind) << QString::fromLatin1(kind);
    }
}

void TestSaveFile::oddFilesAreNotWaitedFor() {
    QFETCH(QString, kind);
    const QTemporaryDir folder;
    const QString file = folder.path() + QStringLiteral("/session.json");
    const QByteArray path = QFile::encodeName(file);
    if (kind == QLatin1String("pipe")) {
        QCOMPARE(::mkfifo(path.constData(), 0600), 0);
    } else if (kind == QLatin1String("endless")) {
        QVERIFY(QFile::link(QStringLiteral("/dev/zero"), file));
    } else if (kind == QLatin1String("folder")) {
        QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("session.json")));
    } else {
        QVERIFY(app::saveFile(file, "{}").has_value());
        QCOMPARE(::truncate(path.constData(), off_t{40} << 30U), 0);
    }
    QVERIFY(!app::SessionFile(folder.path()).read().exists);
    QVERIFY(!app::readFile(file, 1000).has_value());
    QCOMPARE(app::SettingsStore(file).read().text_zoom, 100);
}

QTEST_GUILESS_MAIN(TestSaveFile)
#include "tst_save_file.moc"
