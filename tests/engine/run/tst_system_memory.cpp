// SPDX-License-Identifier: Apache-2.0
// Main memory within the limits of control groups, from trees of files as the system shows them.
#include "engine/devices/system_memory.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr uint64_t kMiB = 1U << 20U;

using Files = std::vector<std::pair<std::string, std::string>>;

engine::SystemMemory memoryOf(const Files& files) {
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    Files all = {{"proc/meminfo", "MemTotal:       24576000 kB\nMemFree:         1000 kB\n"
                                  "MemAvailable:   20480000 kB\nHugePages_Total:       0\n"}};
    all.insert(all.end(), files.begin(), files.end());
    for (const auto& [name, text] : all) {
        std::filesystem::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    }
    return engine::systemMemory(root);
}

const char* const kMount2 = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kMount1 = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                            "36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";

} // namespace

class TestSystemMemory : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void computer();
    void nothingAvailableTold_data();
    void nothingAvailableTold();
    void groups_data();
    void groups();
    void here();
};

void TestSystemMemory::computer() {
    const engine::SystemMemory memory = memoryOf({});
    QCOMPARE(memory.total, uint64_t{24000} * kMiB);
    QCOMPARE(memory.available, uint64_t{20000} * kMiB);
    QCOMPARE(engine::systemMemory("/nowhere").total, uint64_t{0});
}

void TestSystemMemory::nothingAvailableTold_data() {
    support::addColumns<QString, quint64, quint64>("meminfo", "total_mib", "available_mib");
    const QString total = QStringLiteral("MemTotal: 4096000 kB\n");
    QTest::newRow("WSL 1") << total + "MemFree: 1024000 kB\nHighTotal: 0 kB\nHighFree: 0 kB\n"
                           << quint64{4000} << quint64{1000};
    QTest::newRow("an old kernel")
        << total + "MemFree: 102400 kB\nBuffers: 51200 kB\nCached: 1024000 kB\nSwapCached: 999 kB\n"
                   "Shmem: 204800 kB\nSlab: 99999 kB\nSReclaimable: 102400 kB\n"
        << quint64{4000} << quint64{1050};
    QTest::newRow("more shared than cached")
        << total + "MemFree: 102400 kB\nCached: 1024 kB\nShmem: 204800 kB\n"
        << quint64{4000} << quint64{100};
    QTest::newRow("more than there is") << total + "MemFree: 4096000 kB\nCached: 1024000 kB\n"
                                        << quint64{4000} << quint64{4000};
    QTest::newRow("nothing but the total") << total << quint64{4000} << quint64{4000};
    QTest::newRow("a line without its number") << total + "MemAvailable:\nMemFree: 1024000 kB\n"
                                               << quint64{4000} << quint64{1000};
    QTest::newRow("none is free") << total + "MemAvailable: 0 kB\nMemFree: 1024000 kB\n"
                                  << quint64{4000} << quint64{0};
    QTest::newRow("nothing at all") << QString() << quint64{0} << quint64{0};
}

// A number that the system does not tell is not 0: nothing could be loaded there.
void TestSystemMemory::nothingAvailableTold() {
    QFETCH(QString, meminfo);
    QFETCH(quint64, total_mib);
    QFETCH(quint64, available_mib);
    const engine::SystemMemory memory = memoryOf({{"proc/meminfo", meminfo.toStdString()}});
    QCOMPARE(memory.total, uint64_t{total_mib} * kMiB);
    QCOMPARE(memory.available, uint64_t{available_mib} * kMiB);
}

void TestSystemMemory::groups_data() {
    support::addColumns<Files, quint64, quint64>("files", "total_mib", "available_mib");
    const auto mib = [](uint64_t n) { return std::to_string(n * kMiB) + "\n"; };
    const std::string v2 = "sys/fs/cgroup/";
    const std::string v1 = "sys/fs/cgroup/memory/";
    QTest::newRow("2: own group, file pages are given up")
        << Files{{"proc/self/mountinfo", kMount2},
                 {"proc/self/cgroup", "0::/user/app\n"},
                 {v2 + "user/memory.max", "max\n"},
                 {v2 + "user/app/memory.max", mib(8000)},
                 {v2 + "user/app/memory.current", mib(3000)},
                 {v2 + "user/app/memory.stat",
                  "anon 1\ninactive_file " + mib(600) + "active_file " + mib(400)}}
        << quint64{8000} << quint64{6000};
    QTest::newRow("2: parent's limit") << Files{{"proc/self/mountinfo", kMount2},
                                                {"proc/self/cgroup", "0::/user/app\n"},
                                                {v2 + "user/memory.max", mib(4000)},
                                                {v2 + "user/memory.current", mib(1000)},
                                                {v2 + "user/app/memory.max", mib(8000)}}
                                       << quint64{4000} << quint64{3000};
    QTest::newRow("2: no limit") << Files{{"proc/self/mountinfo", kMount2},
                                          {"proc/self/cgroup", "0::/user/app\n"},
                                          {v2 + "user/app/memory.max", "max\n"}}
                                 << quint64{24000} << quint64{20000};
    QTest::newRow("2: more than the computer has") << Files{{"proc/self/mountinfo", kMount2},
                                                            {"proc/self/cgroup", "0::/\n"},
                                                            {v2 + "memory.max", mib(99999)}}
                                                   << quint64{24000} << quint64{20000};
    QTest::newRow("2: less left in the computer than in the group")
        << Files{{"proc/self/mountinfo", kMount2},
                 {"proc/self/cgroup", "0::/\n"},
                 {v2 + "memory.max", mib(23000)},
                 {v2 + "memory.current", mib(10)}}
        << quint64{23000} << quint64{20000};
    QTest::newRow("1: own group")
        << Files{{"proc/self/mountinfo", kMount1},
                 {"proc/self/cgroup", "5:cpu:/other\n4:memory:/box\n0::/\n"},
                 {v1 + "memory.limit_in_bytes", "9223372036854771712\n"},
                 {v1 + "box/memory.limit_in_bytes", mib(2000)},
                 {v1 + "box/memory.usage_in_bytes", mib(500)},
                 {v1 + "box/memory.stat", "inactive_file 0\ntotal_inactive_file " + mib(100)}}
        << quint64{2000} << quint64{1600};
    QTest::newRow("1: inside a container that sees its own group only")
        << Files{{"proc/self/mountinfo",
                  "35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"},
                 {"proc/self/cgroup", "4:memory:/docker/ab/inner\n"},
                 {v1 + "memory.limit_in_bytes", mib(3000)},
                 {v1 + "memory.usage_in_bytes", mib(0)},
                 {v1 + "inner/memory.limit_in_bytes", mib(1000)},
                 {v1 + "inner/memory.usage_in_bytes", mib(1500)}}
        << quint64{1000} << quint64{0};
    QTest::newRow("2: a group outside the mounted one")
        << Files{{"proc/self/mountinfo", kMount2},
                 {"proc/self/cgroup", "0::/../elsewhere\n"},
                 {v2 + "memory.max", mib(5000)},
                 {v2 + "memory.current", mib(1000)}}
        << quint64{5000} << quint64{4000};
}

void TestSystemMemory::groups() {
    QFETCH(Files, files);
    QFETCH(quint64, total_mib);
    QFETCH(quint64, available_mib);
    const engine::SystemMemory memory = memoryOf(files);
    QCOMPARE(memory.total, uint64_t{total_mib} * kMiB);
    QCOMPARE(memory.available, uint64_t{available_mib} * kMiB);
}

void TestSystemMemory::here() {
#ifndef _WIN32
    if (!std::filesystem::exists("/proc/meminfo")) {
        QSKIP("this system has no /proc/meminfo");
    }
#endif
    const engine::SystemMemory memory = engine::systemMemory();
    QVERIFY(memory.total > 0);
    QVERIFY(memory.available <= memory.total);
    // Memory that is touched is ours.
    const uint64_t before = engine::ownMemory();
    const std::vector<char> touched(size_t{64} * kMiB, 'x');
    QVERIFY(touched.back() == 'x');
    QVERIFY(before > 0);
    QVERIFY(engine::ownMemory() >= before + 32 * kMiB);
    QVERIFY(engine::ownMemory() <= memory.total);
}

TEST_CLASS(TestSystemMemory)
#include "tst_system_memory.moc"
