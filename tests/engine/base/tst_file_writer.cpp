// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all: what a reader finds before, after and when it is
// given up.
#include "engine/base/file_writer.h"
#include "tests/support/files.h"
#include "tests/support/links.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#endif

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using engine::FileWriter;

class TestFileWriter : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void committed();
    void givenUp_data();
    void givenUp();
    void onlyPlainFilesAreReplaced_data();
    void onlyPlainFilesAreReplaced();
    void linkIsFollowed_data();
    void linkIsFollowed();
    void pipeAndDeviceAreWrittenInto_data();
    void pipeAndDeviceAreWrittenInto();
    void ownDescriptorIsWrittenInto();
    void permissionsStay();
    void whatComesMeanwhileIsNotReplaced();
};

namespace {

size_t filesIn(const fs::path& folder) {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

void TestFileWriter::committed() {
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    std::ofstream(folder / "file") << "former";
    auto writer = FileWriter::create(folder / "file", true);
    QVERIFY(writer.has_value());
    const std::vector<std::byte> bytes(3, std::byte{'x'});
    QVERIFY((*writer)->write(bytes).has_value());
    QCOMPARE(support::textOf(folder / "file"), std::string("former"));
    QVERIFY((*writer)->commit().has_value());
    writer->reset();
    QCOMPARE(support::textOf(folder / "file"), std::string("xxx"));
    QCOMPARE(filesIn(folder), size_t{1});
}

void TestFileWriter::givenUp_data() {
    QTest::addColumn<int>("megabytes");
    QTest::newRow("small") << 1;
    QTest::newRow("closed on another thread") << 66;
}

void TestFileWriter::givenUp() {
    QFETCH(int, megabytes);
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    std::ofstream(folder / "file") << "former";
    auto writer = FileWriter::create(folder / "file", true);
    QVERIFY(writer.has_value());
    const std::vector<std::byte> bytes(size_t{1} << 20U, std::byte{1});
    for (int i = 0; i < megabytes; ++i) {
        QVERIFY((*writer)->write(bytes).has_value());
    }
    QCOMPARE(filesIn(folder), size_t{2});
    writer->reset();
    // At once, whoever closes it.
    QCOMPARE(filesIn(folder), size_t{1});
    QCOMPARE(support::textOf(folder / "file"), std::string("former"));
}

namespace {

using engine::NoPlainFile;

/// Makes the thing; false where this user may not.
bool make(const std::string& kind, const fs::path& path) {
#ifdef _WIN32
    if (kind != "loop" && kind != "folder") { // no folder holds one
        return false;
    }
#else
    if (kind == "pipe") {
        return ::mkfifo(path.c_str(), 0600) == 0;
    }
    if (kind == "null device") { // a node of our own, never the system's
        return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
    }
    if (kind == "full device") {
        return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
    }
    if (kind == "disk") { // a number that no driver has
        return ::mknod(path.c_str(), S_IFBLK | 0600, makedev(240, 77)) == 0;
    }
    if (kind == "socket") {
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
        const bool is_made =
            ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
        ::close(descriptor);
        return is_made;
    }
#endif
    if (kind == "loop") {
        return support::makeLink(path.filename(), path);
    }
    return fs::create_directory(path);
}

engine::Result<void> save(const fs::path& file, const std::string& text, NoPlainFile choice) {
    auto writer = FileWriter::create(file, true, choice);
    if (!writer) {
        return writer.error();
    }
    if (auto written = (*writer)->write(std::as_bytes(std::span(text))); !written) {
        return written;
    }
    return (*writer)->commit();
}

} // namespace

void TestFileWriter::onlyPlainFilesAreReplaced_data() {
    support::addColumns<QString, bool>("kind", "is_through_a_link");
    for (const char* kind :
         {"pipe", "null device", "full device", "disk", "socket", "folder", "loop"}) {
        QTest::addRow("%s", kind) << QString::fromLatin1(kind) << false;
        QTest::addRow("link to a %s", kind) << QString::fromLatin1(kind) << true;
    }
}

/// Whatever is asked for, the node is what it was, and nothing lies beside it.
void TestFileWriter::onlyPlainFilesAreReplaced() {
    QFETCH(QString, kind);
    QFETCH(bool, is_through_a_link);
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    const fs::path node = folder / "node";
    if (!make(kind.toStdString(), node)) {
        QSKIP("this user cannot make one");
    }
    const fs::path name = is_through_a_link ? folder / "link" : node;
    if (is_through_a_link) {
        BELFRY_LINK_OR_SKIP("node", name);
    }
    const auto before = fs::symlink_status(node).type();
    const size_t files = filesIn(folder);
    const auto refused = save(name, "text", NoPlainFile::Refuse);
    QVERIFY(!refused.has_value());
    QVERIFY2(refused.error().message.find(name.filename().string() + ": is ") == 0,
             refused.error().message.c_str());
    QVERIFY(!FileWriter::check(name, true).has_value());
    (void)save(name, "text", NoPlainFile::WriteInto);
    QVERIFY(fs::symlink_status(node).type() == before);
    QCOMPARE(fs::is_symlink(name), is_through_a_link || kind == "loop");
    QCOMPARE(filesIn(folder), files);
}

void TestFileWriter::linkIsFollowed_data() {
    QTest::addColumn<QByteArray>("target");
    QTest::newRow("beside it") << QByteArray("target");
    QTest::newRow("in another folder") << QByteArray("deeper/target");
    QTest::newRow("through a second link") << QByteArray("second");
    QTest::newRow("not there yet") << QByteArray("deeper/new");
}

void TestFileWriter::linkIsFollowed() {
    QFETCH(QByteArray, target);
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    fs::create_directory(folder / "deeper");
    std::ofstream(folder / "target") << "former";
    std::ofstream(folder / "deeper/target") << "former";
    BELFRY_LINK_OR_SKIP("deeper/target", folder / "second");
    BELFRY_LINK_OR_SKIP(target.toStdString(), folder / "link");
    const auto saved = save(folder / "link", "new text", NoPlainFile::Refuse);
    QVERIFY2(saved.has_value(), saved ? "" : saved.error().message.c_str());
    QVERIFY(fs::is_symlink(folder / "link"));
    QVERIFY(fs::is_symlink(folder / "second"));
    QCOMPARE(support::textOf(folder / "link"), std::string("new text"));
    QCOMPARE(support::textOf(folder / target.toStdString()), std::string("new text"));
}

void TestFileWriter::pipeAndDeviceAreWrittenInto_data() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("pipe") << "pipe";
    QTest::newRow("pipe without a reader") << "deserted";
    QTest::newRow("null device") << "null device";
    QTest::newRow("full device") << "full device";
}

void TestFileWriter::pipeAndDeviceAreWrittenInto() {
    QFETCH(QString, kind);
    const QTemporaryDir temporary;
    const fs::path node = temporary.path().toStdString() + "/node";
    if (!make(kind == "deserted" ? "pipe" : kind.toStdString(), node)) {
        QSKIP("this user cannot make one");
    }
    std::string received;
    std::thread reader;
    if (kind == "pipe") {
        reader = std::thread([&] { received = support::textOf(node); });
    }
    const std::string text(200000, 'x'); // more than a pipe holds
    const auto saved = save(node, text, NoPlainFile::WriteInto);
    if (reader.joinable()) {
        reader.join();
    }
    QCOMPARE(saved.has_value(), kind == "pipe" || kind == "null device");
    QCOMPARE(received.size(), kind == "pipe" ? text.size() : size_t{0});
    if (kind == "deserted") {
        QVERIFY(saved.error().message.find("no program reads") != std::string::npos);
    }
}

/// What /dev/stdout is a link to: the open file, at the place where it is.
void TestFileWriter::ownDescriptorIsWrittenInto() {
#ifdef _WIN32
    QSKIP("no name leads to an open file there");
#else
    const QTemporaryDir temporary;
    const std::string file = temporary.path().toStdString() + "/file";
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    QVERIFY(descriptor >= 0);
    QCOMPARE(::write(descriptor, "before ", 7), ssize_t{7});
    const fs::path name = "/proc/self/fd/" + std::to_string(descriptor);
    QVERIFY(save(name, "between", NoPlainFile::WriteInto).has_value());
    QCOMPARE(::write(descriptor, " behind", 7), ssize_t{7});
    QVERIFY(!save(name, "never", NoPlainFile::Refuse).has_value());
    ::close(descriptor);
    QCOMPARE(support::textOf(file), std::string("before between behind"));
#endif
}

void TestFileWriter::permissionsStay() {
#ifdef _WIN32
    QSKIP("a folder's rights are its files'");
#endif
    const QTemporaryDir temporary;
    const fs::path file = temporary.path().toStdString() + "/file";
    std::ofstream(file) << "former";
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    QVERIFY(save(file, "new", NoPlainFile::Refuse).has_value());
    QVERIFY(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

void TestFileWriter::whatComesMeanwhileIsNotReplaced() {
#ifdef _WIN32
    QSKIP("no pipe has a name in a folder there");
#endif
    const QTemporaryDir temporary;
    const fs::path file = temporary.path().toStdString() + "/file";
    auto writer = FileWriter::create(file, true);
    QVERIFY(writer.has_value());
    QVERIFY(make("pipe", file));
    QVERIFY(!(*writer)->commit().has_value());
    QVERIFY(fs::is_fifo(file));
}

TEST_CLASS(TestFileWriter)
#include "tst_file_writer.moc"
