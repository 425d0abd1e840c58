// SPDX-License-Identifier: Apache-2.0
// The folder for pictures and sounds of requests: its files go with their requests, it goes with
// its server, and what a killed server left goes when the next one starts. Nothing else goes.
#include "app/serve/media_folder.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

using serve::MediaFolder;
namespace fs = std::filesystem;

namespace {

/// A server that is killed with a picture in its folder.
void killedServer(const fs::path& base) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto folder = MediaFolder::create(base);
        const auto file = MediaFolder::save(*folder, "a picture");
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
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
        QCOMPARE(fs::status((*folder)->path()).permissions(), fs::perms::owner_all);
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
    const fs::path open = lookalike(base, "2");
    fs::permissions(open, fs::perms::group_read, fs::perm_options::add);
    const fs::path unlocked = lookalike(base, "3");
    fs::remove(unlocked / "lock");
    const fs::path nested = lookalike(base, "4");
    fs::create_directory(nested / "2");
    const fs::path target = lookalike(base, "5-other"); // a longer name: not looked at
    const fs::path link = base / "belfry-serve-0123456789abcde6";
    fs::create_directory_symlink(target, link);
    const fs::path left = lookalike(base, "7");
    const auto folder = MediaFolder::create(base);
    QVERIFY(folder.has_value());
    for (const fs::path& kept : {stranger, open, unlocked, nested, target, link}) {
        QVERIFY2(fs::exists(kept / "1"), kept.c_str());
    }
    QVERIFY(!fs::exists(left));
}

QTEST_GUILESS_MAIN(TestMediaFolder)
#include "tst_media_folder.moc"
