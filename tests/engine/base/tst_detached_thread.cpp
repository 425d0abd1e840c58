// SPDX-License-Identifier: Apache-2.0
#include "engine/base/detached_thread.h"
#include "engine/base/thread_limit.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

class TestDetachedThread : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void shortOnesAllRun();
    void whatTheyHoldIsGivenBack();
    void namesTheLimit();
};

/// As many as a search has roots, again and again: some end before they are begun with whole.
void TestDetachedThread::shortOnesAllRun() {
    constexpr int kTurns = 200;
    constexpr int kAtOnce = 6;
    const auto num_run = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < kTurns; ++i) {
        for (int j = 0; j < kAtOnce; ++j) {
            engine::runDetached([num_run] { ++*num_run; });
        }
    }
    QTRY_COMPARE(num_run->load(), kTurns * kAtOnce);
}

void TestDetachedThread::whatTheyHoldIsGivenBack() {
    const auto held = std::make_shared<int>(7);
    engine::runDetached([held] {});
    QTRY_COMPARE(held.use_count(), 1L);
}

/// What the standard library throws where no thread is to be had is told as what it is: a limit of
/// the user or of the container, with its number and the next step.
void TestDetachedThread::namesTheLimit() {
    const std::system_error none(EAGAIN, std::generic_category());
    const auto told = [&](const engine::ThreadLimits& limits) {
        const auto error = engine::threadShortage(none, limits);
        return error.has_value() && error->code == engine::ErrorCode::Unsupported ? error->message
                                                                                  : std::string();
    };
    const auto names = [&](const engine::ThreadLimits& limits, const std::string& part) {
        return told(limits).find(part) != std::string::npos;
    };
    QVERIFY(names({{}, {}}, "starts no more threads; end other programs"));
    QVERIFY(names({uint64_t{200}, {}}, "this user may have 200 of them"));
    QVERIFY(names({uint64_t{200}, {}}, "(ulimit -u); raise that limit"));
    QVERIFY(names({{}, uint64_t{64}}, "container or control group may have 64 of them (pids.max)"));
    QVERIFY(names({uint64_t{200}, uint64_t{64}}, "may have 64 of them"));
    QVERIFY(names({uint64_t{32}, uint64_t{64}}, "may have 32 of them"));
    // Other problems keep their words.
    const std::error_code again(EAGAIN, std::generic_category());
    QVERIFY(!engine::threadShortage(std::runtime_error("a fault"), {}).has_value());
    QVERIFY(!engine::threadShortage(std::system_error(ENOSPC, std::generic_category()), {})
                 .has_value());
    QVERIFY(!engine::threadShortage(std::filesystem::filesystem_error("a file", again), {})
                 .has_value());
    // The smallest of the groups from the mounted one down to this process's.
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    const auto write = [&](const std::string& name, const std::string& text) {
        std::filesystem::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    };
    QVERIFY(!engine::threadLimits(root).group.has_value());
    write("proc/self/cgroup", "5:cpu:/other\n0::/user/app\n");
    write("sys/fs/cgroup/user/pids.max", "300\n");
    write("sys/fs/cgroup/user/app/pids.max", "max\n");
    QCOMPARE(engine::threadLimits(root).group.value_or(0), uint64_t{300});
    write("proc/self/cgroup", "5:cpu:/other\n4:pids:/box\n");
    write("sys/fs/cgroup/pids/pids.max", "max\n");
    write("sys/fs/cgroup/pids/box/pids.max", "20\n");
    QCOMPARE(engine::threadLimits(root).group.value_or(0), uint64_t{20});
}

TEST_CLASS_WITH(QCoreApplication, TestDetachedThread)
#include "tst_detached_thread.moc"
