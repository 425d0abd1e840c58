// SPDX-License-Identifier: Apache-2.0
// Speed estimates use what this computer was measured to do: measured once and kept; a damaged or
// foreign file is measured again; the estimate follows the rates and says where they are from.
#include "engine/devices/machine_rates.h"
#include "engine/run/engine.h"
#include "tests/support/golden.h"
#include "tests/support/links.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

using engine::machineConstants;

class TestMachineRates : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void measuredOnceAndKept();
    void damagedFileIsMeasuredAgain_data();
    void damagedFileIsMeasuredAgain();
    void estimateFollowsTheRates();
    void oddFilesAreNeitherReadNorReplaced_data();
    void oddFilesAreNeitherReadNorReplaced();

private:
    static std::vector<std::string> lines(const std::string& path) {
        std::vector<std::string> out;
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);) {
            out.push_back(line);
        }
        return out;
    }
    static void write(const std::string& path, const std::vector<std::string>& text) {
        std::ofstream out(path, std::ios::binary);
        for (const std::string& line : text) {
            out << line << "\n";
        }
    }
};

void TestMachineRates::measuredOnceAndKept() {
    const QTemporaryDir folder;
    const std::string file = folder.path().toStdString() + "/deeper/rates";
    const auto measured = machineConstants(file, 0.07);
    QVERIFY(measured.read_bytes_per_s > 1e8);
    QVERIFY(measured.flops > 1e8);
    auto text = lines(file);
    QCOMPARE(text.size(), size_t{3});
    text[2] = "12500000000 345000000000";
    write(file, text);
    const auto kept = machineConstants(file, 0.07);
    QCOMPARE(kept.read_bytes_per_s, 12.5e9);
    QCOMPARE(kept.flops, 345e9);
}

void TestMachineRates::damagedFileIsMeasuredAgain_data() {
    support::addColumns<int, QByteArray>("line", "text");
    QTest::newRow("another program's file") << 0 << QByteArray("something else");
    QTest::newRow("another processor") << 1 << QByteArray("cpu-scalar, 96 threads, other");
    QTest::newRow("no numbers") << 2 << QByteArray("fast");
    QTest::newRow("zero") << 2 << QByteArray("0 0");
    QTest::newRow("infinite") << 2 << QByteArray("inf 1e12");
}

void TestMachineRates::damagedFileIsMeasuredAgain() {
    QFETCH(int, line);
    QFETCH(QByteArray, text);
    const QTemporaryDir folder;
    const std::string file = folder.path().toStdString() + "/rates";
    (void)machineConstants(file, 0.02);
    const auto good = lines(file);
    auto bad = good;
    bad[2] = "12500000000 345000000000"; // would be believed
    bad[static_cast<size_t>(line)] = text.toStdString();
    write(file, bad);
    const auto again = machineConstants(file, 0.02);
    QVERIFY(again.read_bytes_per_s != 12.5e9);
    QVERIFY(again.flops != 345e9);
    QCOMPARE(lines(file)[1], good[1]);
}

void TestMachineRates::estimateFollowsTheRates() {
    const QTemporaryDir folder;
    const std::string file = folder.path().toStdString() + "/rates";
    (void)machineConstants(file, 0.02);
    auto text = lines(file);
    engine::LoadRequest request;
    request.model = "shape:e2b";
    request.device_map = "cpu";
    const auto decodeRate = [&](const char* numbers) {
        text[2] = numbers;
        write(file, text);
        engine::EngineOptions options;
        options.rates_file = file;
        engine::Engine engine(options);
        const auto plan = engine.plan(request);
        const bool says =
            plan.has_value() &&
            std::any_of(plan->notes.begin(), plan->notes.end(), [](const engine::Note& note) {
                return note.kind == engine::NoteKind::Estimates;
            });
        return says ? plan->estimate.decode_tokens_per_s : -1.0;
    };
    const double slow = decodeRate("20000000000 400000000000");
    const double fast = decodeRate("40000000000 400000000000");
    QVERIFY(slow > 0);
    QVERIFY(std::abs(fast / slow - 2.0) < 0.01);
}

void TestMachineRates::oddFilesAreNeitherReadNorReplaced_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind :
         {"pipe", "endless", "folder", "large", "no folder", "fixed name taken"}) {
        QTest::newRow(kind) << QString::fromLatin1(kind);
    }
}

/// Nothing hangs, nothing is read without end, and who only wants kept rates does not pay for a
/// measurement that cannot be kept.
void TestMachineRates::oddFilesAreNeitherReadNorReplaced() {
    QFETCH(QString, kind);
    namespace fs = std::filesystem;
    const QTemporaryDir folder;
    fs::path file = folder.path().toStdString() + "/rates";
    const fs::path other = folder.path().toStdString() + "/other";
    bool is_kept = false;
    if (kind == "pipe") {
#ifdef _WIN32
        QSKIP("no pipe has a name in a folder there");
#else
        QCOMPARE(::mkfifo(file.c_str(), 0600), 0);
#endif
    } else if (kind == "endless") {
        BELFRY_LINK_OR_SKIP("/dev/zero", file);
    } else if (kind == "folder") {
        fs::create_directory(file);
    } else if (kind == "large") {
        std::ofstream(file) << "belfry-rates 2\n" << std::string(1 << 20, 'x');
        is_kept = true; // replaced by a good one
    } else if (kind == "no folder") {
        std::ofstream(other) << "a file";
        file = other / "rates";
    } else {
        std::ofstream(other) << "another's";
        fs::path name = file;
        BELFRY_LINK_OR_SKIP(other, name += ".new");
        is_kept = true;
    }
    const auto before = fs::symlink_status(file).type();
    QElapsedTimer timer;
    timer.start();
    const auto kept = engine::keptConstants(file, is_kept ? 0.02 : 30.0);
    QCOMPARE(kept.has_value(), is_kept);
    QVERIFY2(timer.elapsed() < 20000, "measured although nothing can be kept");
    QVERIFY(is_kept || fs::symlink_status(file).type() == before);
    QVERIFY(machineConstants(file, 0.02).flops > 1e8);
    if (fs::exists(other)) {
        QVERIFY(lines(other.string()).size() == 1);
    }
}

TEST_CLASS(TestMachineRates)
#include "tst_machine_rates.moc"
