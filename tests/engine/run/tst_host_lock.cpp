// SPDX-License-Identifier: Apache-2.0
// Memory of the host that a device reads where it lies (engine/load/host_lock.h): pieces cover it
// exactly once, everything that was locked is given back, also after a refusal or halfway.
#include "engine/load/host_lock.h"
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/tables.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace {

/// Notes what is locked; refuses from the n-th piece on.
class LockingDevice final : public kernels::cpu::HostDevice {
public:
    LockingDevice() : HostDevice(0, nullptr, kernels::cpuScalarOps()) {}
    kernels::Status lockHost(void* memory, size_t bytes) override {
        const std::scoped_lock guard(mutex_);
        if (static_cast<int>(seen.size()) == refused) {
            return kernels::Status::OutOfMemory;
        }
        locked[static_cast<std::byte*>(memory)] = bytes;
        seen[static_cast<std::byte*>(memory)] = bytes;
        return kernels::Status::Ok;
    }
    void unlockHost(void* memory) override {
        const std::scoped_lock guard(mutex_);
        if (locked.erase(static_cast<std::byte*>(memory)) == 0) {
            ++strangers;
        }
    }
    int refused = -1;
    int strangers = 0; ///< Given back without having been locked.
    std::map<std::byte*, size_t> locked, seen;

private:
    std::mutex mutex_;
};

constexpr size_t kPage = size_t{2} << 20;
/// Addresses only: nothing is read or written there.
std::byte* const kMemory = reinterpret_cast<std::byte*>(uintptr_t{1} << 40);

bool completesSoon(const engine::HostLock& lock) {
    for (int i = 0; i < 10000 && !lock.isComplete(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return lock.isComplete();
}

} // namespace

class TestHostLock : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void covers_data();
    void covers();
    void refused();
    void leavesHalfway();
};

void TestHostLock::covers_data() {
    support::addColumns<quint64, quint64>("offset", "bytes");
    QTest::newRow("a few bytes") << quint64{64} << quint64{100};
    QTest::newRow("one piece") << quint64{0} << quint64{engine::HostLock::kAtOnce};
    QTest::newRow("whole pages") << quint64{0} << quint64{10 * engine::HostLock::kAtOnce};
    QTest::newRow("within pages") << quint64{192} << quint64{3 * engine::HostLock::kAtOnce + 4096};
    QTest::newRow("ends behind a page") << quint64{kPage - 64} << quint64{5 * kPage * 32 + 65};
}

void TestHostLock::covers() {
    QFETCH(quint64, offset);
    QFETCH(quint64, bytes);
    LockingDevice device;
    {
        const engine::HostLock lock(device, kMemory + offset, bytes);
        QVERIFY(bytes > engine::HostLock::kAtOnce || lock.isComplete());
        QVERIFY(completesSoon(lock));
        const std::byte* at = kMemory + offset;
        for (const auto& [piece, size] : device.locked) {
            QCOMPARE(static_cast<const void*>(piece), static_cast<const void*>(at));
            QVERIFY(size > 0 && size <= engine::HostLock::kAtOnce);
            at += size;
            // Two pieces never share a page.
            QVERIFY(at == kMemory + offset + bytes || reinterpret_cast<uintptr_t>(at) % kPage == 0);
        }
        QCOMPARE(static_cast<const void*>(at), static_cast<const void*>(kMemory + offset + bytes));
    }
    QCOMPARE(device.locked.size(), size_t{0});
    QCOMPARE(device.strangers, 0);
}

void TestHostLock::refused() {
    for (const int piece : {0, 1, 3}) {
        LockingDevice device;
        device.refused = piece;
        {
            const engine::HostLock lock(device, kMemory, 6 * engine::HostLock::kAtOnce);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            QVERIFY(!lock.isComplete());
        }
        QVERIFY(static_cast<int>(device.seen.size()) <= piece);
        QCOMPARE(device.locked.size(), size_t{0});
        QCOMPARE(device.strangers, 0);
    }
    LockingDevice device;
    device.refused = 0;
    const engine::HostLock small(device, kMemory, 4096);
    QVERIFY(!small.isComplete());
    QCOMPARE(device.seen.size(), size_t{0});
}

void TestHostLock::leavesHalfway() {
    for (int i = 0; i < 50; ++i) {
        LockingDevice device;
        { const engine::HostLock lock(device, kMemory, 200 * engine::HostLock::kAtOnce); }
        QCOMPARE(device.locked.size(), size_t{0});
        QCOMPARE(device.strangers, 0);
    }
}

TEST_CLASS(TestHostLock)
#include "tst_host_lock.moc"
