// SPDX-License-Identifier: Apache-2.0
// What the window saves lands where a link leads and replaces nothing but plain files; what lies in
// the place of its files and is none is neither waited for nor read without end.
#include "app/store/export_files.h"
#include "app/store/save_file.h"
#include "app/store/session_file.h"
#include "app/window/settings_store.h"
#include "tests/support/program/test_class.h"
#include "tests/support/qt_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#ifndef Q_OS_WIN
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#endif

namespace {

#ifdef Q_OS_WIN
// There a folder holds no pipes or devices, and what QFile calls a link is a file of its own.
const QString kSessionPlace = QStringLiteral("/session.json");
bool makeOdd(const QString& /*kind*/, const QByteArray& /*path*/) {
    return false;
}
QByteArray kindOf(const QString& file) {
    const QFileInfo facts(file);
    return !facts.exists() ? "nothing" : facts.isDir() ? "folder" : "file";
}
#else
const QString kSessionPlace = QStringLiteral("/place");
bool makeOdd(const QString& kind, const QByteArray& path) {
    if (kind == QLatin1String("link")) {
        return ::symlink("deeper/target", path.constData()) == 0;
    }
    return kind == QLatin1String("pipe")
               ? ::mkfifo(path.constData(), 0600) == 0
               : ::mknod(path.constData(), S_IFCHR | 0600, makedev(1, 3)) == 0; // the null device
}
QByteArray kindOf(const QString& file) {
    struct stat facts {};
    return ::lstat(QFile::encodeName(file).constData(), &facts) == 0
               ? QByteArray::number(facts.st_mode & S_IFMT)
               : QByteArray("nothing");
}
#endif

bool sessionSaved(const QString& folder) {
#ifndef Q_OS_WIN
    QFile::remove(folder + QStringLiteral("/session.json"));
    QFile::link(QStringLiteral("place"), folder + QStringLiteral("/session.json"));
#endif
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
    support::addColumns<QString, QString>("what", "kind");
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
    const QString place = folder + kSessionPlace;
    QVERIFY(QDir(folder).mkdir(QStringLiteral("deeper")));
    bool is_made = true;
    if (kind == QLatin1String("file")) {
        is_made = app::saveFile(place, "former").has_value();
    } else if (kind == QLatin1String("folder")) {
        is_made = QDir().mkdir(place);
    } else if (kind != QLatin1String("nothing")) {
        is_made = makeOdd(kind, QFile::encodeName(place));
    }
    if (!is_made) {
        QSKIP("this user cannot make one");
    }
    const QByteArray before = kindOf(place);

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
    const QByteArray after = kindOf(place);
    QCOMPARE(after == "nothing", before == "nothing" && !is_saved);
    QVERIFY(before == "nothing" || before == after);
    if (kind == QLatin1String("link")) {
        QVERIFY(support::bytesOf(folder + QStringLiteral("/deeper/target")).size() > 3);
    }
}

void TestSaveFile::oddFilesAreNotWaitedFor_data() {
    QTest::addColumn<QString>("kind");
#ifdef Q_OS_WIN
    const QByteArrayList kinds = {"folder", "too large"};
#else
    const QByteArrayList kinds = {"pipe", "endless", "folder", "too large"};
#endif
    for (const QByteArray& kind : kinds) {
        QTest::newRow(kind.constData()) << QString::fromLatin1(kind);
    }
}

void TestSaveFile::oddFilesAreNotWaitedFor() {
    QFETCH(QString, kind);
    const QTemporaryDir folder;
    const QString file = folder.path() + QStringLiteral("/session.json");
    if (kind == QLatin1String("pipe")) {
        QVERIFY(makeOdd(kind, QFile::encodeName(file)));
    } else if (kind == QLatin1String("endless")) {
        QVERIFY(QFile::link(QStringLiteral("/dev/zero"), file));
    } else if (kind == QLatin1String("folder")) {
        QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("session.json")));
    } else {
        QVERIFY(app::saveFile(file, "{}").has_value());
        QVERIFY(QFile::resize(file, qint64{40} << 30U));
    }
    QVERIFY(!app::SessionFile(folder.path()).read().exists);
    QVERIFY(!app::readFile(file, 1000).has_value());
    QCOMPARE(app::SettingsStore(file).read().text_zoom, 100);
}

TEST_CLASS_WITH(QCoreApplication, TestSaveFile)
#include "tst_save_file.moc"
