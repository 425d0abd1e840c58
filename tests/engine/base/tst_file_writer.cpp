// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all: what a reader finds before, after and when it is
// given up.
#include "engine/base/file_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <iterator>
#include <vector>

namespace fs = std::filesystem;
using engine::FileWriter;

class TestFileWriter : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void committed();
    void givenUp_data();
    void givenUp();
};

namespace {

std::string textOf(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

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
    QCOMPARE(textOf(folder / "file"), std::string("former"));
    QVERIFY((*writer)->commit().has_value());
    writer->reset();
    QCOMPARE(textOf(folder / "file"), std::string("xxx"));
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
    QCOMPARE(textOf(folder / "file"), std::string("former"));
}

QTEST_APPLESS_MAIN(TestFileWriter)
#include "tst_file_writer.moc"
