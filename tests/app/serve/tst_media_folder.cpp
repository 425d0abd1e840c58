// SPDX-License-Identifier: Apache-2.0
// The folder for pictures and sounds of requests: its files go with their requests, it goes with
// its server, and what a killed server left goes when the next one starts. Nothing else goes.
#include "app/serve/media_folder.h"
#include "tests/support/program/test_class.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using serve::MediaFolder;
namespace fs = std::filesystem;

namespace {

constexpr const char* kBeServer = "--server-in";

/// A server with a picture in its folder that waits to be killed: main() of another process.
int beServer(const fs::path& base) {
    const auto folder = MediaFolder::create(base);
    const auto file = MediaFolder::save(*folder, "a picture");
    std::puts(file.has_value() ? "ready" : "no picture");
    std::fflush(stdout);
    (void)std::getchar(); // nothing comes
    return 0;
}

/// A server that was killed with a picture in its folder.
void killedServer(const fs::path& base) {
    QProcess server;
    server.start(QCoreApplication::applicationFilePath(),
                 {"media_folder", QString::fromLatin1(kBeServer),
                  QString::fromStdU16String(base.u16string())});
    QVERIFY(server.waitForReadyRead(60000));
    QCOMPARE(server.readLine().trimmed(), QByteArray("ready"));
    server.kill();
    QVERIFY(server.waitForFinished(60000));
}

std::ptrdiff_t numFolders(const fs::path& base) {
    return std::distance(fs::directory_iterator(base), fs::directory_iterator());
}

/// What looks like one that was left, in all but one thing.
fs::path lookalike(const fs::path& base, const std::string& end) {
    fs::path folder = base / ("belfry-serve-0123456789abcde" + end);
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    std::ofstream(folder / "lock").put('x');
    std::ofstream(folder / "1") << "a picture";
    return folder;
}

} // namespace

class TestMediaFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void goesWithItsServer();
    void removesWhatWasLeft();
    void leavesWhatIsNotItsOwn();
};

void TestMediaFolder::goesWithItsServer() {
    const QTemporaryDir place;
    const fs::path base = place.path().toStdString();
    {
        const auto folder = MediaFolder::create(base);
        QVERIFY(folder.has_value());
#ifndef _WIN32 // where folders of temporary files are the user's anyhow
        QCOMPARE(fs::status((*folder)->path()).permissions(), fs::perms::owner_all);
#endif
        auto file = MediaFolder::save(*folder, "a picture");
        QVERIFY(file.has_value());
        const fs::path path = **file;
        QVERIFY(fs::exists(path));
        file->reset();
        QVERIFY(!fs::exists(path));
    }
    QCOMPARE(numFolders(base), 0);
}

void TestMediaFolder::removesWhatWasLeft() {
    const QTemporaryDir place;
    const fs::path base = place.path().toStdString();
    const auto other = MediaFolder::create(base); // a server that runs
    const auto picture = MediaFolder::save(*other, "a picture");
    killedServer(base);
    QCOMPARE(numFolders(base), 2);
    const auto next = MediaFolder::create(base);
    QVERIFY(next.has_value());
    QCOMPARE(numFolders(base), 2);
    QVERIFY(fs::exists(**picture));
    QVERIFY((*next)->path() != (*other)->path());
}

void TestMediaFolder::leavesWhatIsNotItsOwn() {
    const QTemporaryDir place;
    const fs::path base = place.path().toStdString();
    const fs::path stranger = lookalike(base, "1");
    std::ofstream(stranger / "letter.txt") << "dear";
    const fs::path unlocked = lookalike(base, "3");
    fs::remove(unlocked / "lock");
    const fs::path nested = lookalike(base, "4");
    fs::create_directory(nested / "2");
    const fs::path target = lookalike(base, "5-other"); // a longer name: not looked at
    std::vector<fs::path> kept{stranger, unlocked, nested, target};
#ifndef _WIN32 // where modes say nothing, and links want a right
    const fs::path open = lookalike(base, "2");
    fs::permissions(open, fs::perms::group_read, fs::perm_options::add);
    const fs::path link = base / "belfry-serve-0123456789abcde6";
    fs::create_directory_symlink(target, link);
    kept.insert(kept.end(), {open, link});
#endif
    const fs::path left = lookalike(base, "7");
    const auto folder = MediaFolder::create(base);
    QVERIFY(folder.has_value());
    for (const fs::path& one : kept) {
        QVERIFY2(fs::exists(one / "1"), qPrintable(QString::fromStdString(one.string())));
    }
    QVERIFY(!fs::exists(left));
}

static int runMediaFolder(int argc, char** argv) {
    const QCoreApplication app(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() == 3 && words[1] == QLatin1String(kBeServer)) {
        return beServer(fs::path(words[2].toStdU16String()));
    }
    TestMediaFolder test;
    return QTest::qExec(&test, words);
}
TEST_MAIN(runMediaFolder)
#include "tst_media_folder.moc"
