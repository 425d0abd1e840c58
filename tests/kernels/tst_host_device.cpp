// SPDX-License-Identifier: Apache-2.0
// The host device: capacity, accounts per tag, injected failures, poison, and that its table and
// queue work together. Also the choice of tables and the machine probe.
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/machine_probe.h"
#include "kernels/cpu/tables.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using kernels::OpTable;
using kernels::Status;
using kernels::cpu::HostDevice;
using kernels::cpu::ThreadPool;

using kernels::cpu::HostArena;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// Memory of this process that is not of files, as the system counts it; 0 where it does not say.
size_t anonymousBytes() {
    std::ifstream in("/proc/self/smaps_rollup");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("Anonymous:")) {
            return static_cast<size_t>(std::stoull(line.substr(10))) << 10U;
        }
    }
    return 0;
}

} // namespace

class TestHostDevice : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void accounts();
    void capacity();
    void injectedFailure();
    void alignmentAndPoison();
    void arenaPacksBlocks();
    void arenaReusesWhatIsFree();
    void arenaGivesMemoryBack();
    void copies();
    void runsKernels();
    void tables();
    void machineProbe();
};

void TestHostDevice::accounts() {
    HostDevice device(0, nullptr, kernels::cpuScalarOps());
    void* a = device.allocate(100, 1);
    void* b = device.allocate(50, 2);
    void* c = device.allocate(0, 2);
    QVERIFY(a != nullptr && b != nullptr && c != nullptr);
    QCOMPARE(device.memory().used, uint64_t{150});
    QCOMPARE(device.usedBytes(1), uint64_t{100});
    QCOMPARE(device.usedBytes(2), uint64_t{50});
    QCOMPARE(device.usedBytes(3), uint64_t{0});
    device.free(a);
    device.free(nullptr);
    QCOMPARE(device.memory().used, uint64_t{50});
    QCOMPARE(device.memory().peak, uint64_t{150});
    QCOMPARE(device.liveAllocations(), size_t{2});
    device.resetPeak();
    QCOMPARE(device.memory().peak, uint64_t{50});
    device.free(b);
    device.free(c);
    QCOMPARE(device.liveAllocations(), size_t{0});
    QCOMPARE(device.usedBytes(2), uint64_t{0});
}

void TestHostDevice::capacity() {
    HostDevice device(1000, nullptr, kernels::cpuScalarOps());
    QCOMPARE(device.memory().capacity, uint64_t{1000});
    void* a = device.allocate(600, 0);
    QVERIFY(a != nullptr);
    QVERIFY(device.allocate(401, 0) == nullptr);
    QVERIFY(device.allocate(SIZE_MAX, 0) == nullptr);
    QCOMPARE(device.memory().used, uint64_t{600});
    void* b = device.allocate(400, 0); // exactly full
    QVERIFY(b != nullptr);
    device.setCapacity(500); // below what is used: nothing more fits, nothing is lost
    QVERIFY(device.allocate(1, 0) == nullptr);
    device.free(a);
    QVERIFY(device.allocate(101, 0) == nullptr);
    QVERIFY(device.allocate(100, 0) != nullptr);
    device.free(b);
}

void TestHostDevice::injectedFailure() {
    HostDevice device(0, nullptr, kernels::cpuScalarOps());
    device.failAllocation(3);
    QVERIFY(device.allocate(10, 0) != nullptr);
    QVERIFY(device.allocate(10, 0) != nullptr);
    QVERIFY(device.allocate(10, 0) == nullptr);
    QVERIFY(device.allocate(10, 0) != nullptr); // once only
    QCOMPARE(device.allocationCalls(), uint64_t{4});
    QCOMPARE(device.memory().used, uint64_t{30});
    device.failAllocation(1);
    device.failAllocation(0);
    QVERIFY(device.allocate(10, 0) != nullptr);
}

void TestHostDevice::alignmentAndPoison() {
    HostDevice device(0, nullptr, kernels::cpuScalarOps());
    device.setPoison(true);
    for (const size_t bytes : {size_t{1}, size_t{65}, size_t{5} << 20}) {
        auto* p = static_cast<uint8_t*>(device.allocate(bytes, 0));
        QVERIFY(p != nullptr);
        QCOMPARE(reinterpret_cast<uintptr_t>(p) % 64, uintptr_t{0});
        QCOMPARE(p[0], uint8_t{0xff});
        QCOMPARE(p[bytes - 1], uint8_t{0xff});
    }
}

void TestHostDevice::arenaPacksBlocks() {
    if (!HostArena::isAvailable()) {
        QSKIP("no arena on this system or in this build");
    }
    HostArena arena;
    auto* const first = static_cast<uint8_t*>(arena.allocate(kMiB + 1));
    auto* const second = static_cast<uint8_t*>(arena.allocate(100));
    auto* const large = static_cast<uint8_t*>(arena.allocate(300 * kMiB));
    QVERIFY(first != nullptr && second != nullptr && large != nullptr);
    QCOMPARE(reinterpret_cast<uintptr_t>(first) % (2 * kMiB), uintptr_t{0});
    QCOMPARE(second, first + kMiB + 64); // next to each other, each at a multiple of 64
    QCOMPARE(arena.reservedBytes(), 256 * kMiB + 300 * kMiB);
    arena.free(large); // alone in its region
    QCOMPARE(arena.reservedBytes(), 256 * kMiB);
    arena.free(first);
    arena.free(first); // nothing there any more
    arena.free(second);
    QCOMPARE(arena.reservedBytes(), size_t{0});
    QVERIFY(arena.allocate(SIZE_MAX) == nullptr);
    QVERIFY(arena.allocate(SIZE_MAX / 4) == nullptr);
    QCOMPARE(arena.reservedBytes(), size_t{0});
}

void TestHostDevice::arenaReusesWhatIsFree() {
    if (!HostArena::isAvailable()) {
        QSKIP("no arena on this system or in this build");
    }
    // Random blocks come and go; each is filled with its number and must still have it when it
    // goes.
    HostArena arena;
    struct Block {
        uint8_t* data;
        size_t bytes;
        uint8_t mark;
    };
    std::vector<Block> blocks;
    std::mt19937 random(5);
    size_t live = 0;
    for (int i = 0; i < 3000; ++i) {
        const bool is_adding = blocks.size() < 5 || (blocks.size() < 60 && random() % 2 == 0);
        if (is_adding) {
            const size_t bytes = 1 + random() % (random() % 8 == 0 ? 3 * kMiB : 50000);
            auto* const data = static_cast<uint8_t*>(arena.allocate(bytes));
            QVERIFY(data != nullptr);
            QCOMPARE(reinterpret_cast<uintptr_t>(data) % 64, uintptr_t{0});
            const auto mark = static_cast<uint8_t>(1 + i % 250);
            for (size_t at = 0; at < bytes; at += 997) {
                data[at] = mark;
            }
            data[bytes - 1] = mark;
            blocks.push_back({data, bytes, mark});
            live += bytes;
            continue;
        }
        const size_t chosen = random() % blocks.size();
        const Block block = blocks[chosen];
        blocks[chosen] = blocks.back();
        blocks.pop_back();
        for (size_t at = 0; at < block.bytes; at += 997) {
            QCOMPARE(block.data[at], block.mark);
        }
        QCOMPARE(block.data[block.bytes - 1], block.mark);
        arena.free(block.data);
        live -= block.bytes;
    }
    QVERIFY(live < 200 * kMiB);
    QCOMPARE(arena.reservedBytes(), 256 * kMiB); // holes were used again
    for (const Block& block : blocks) {
        arena.free(block.data);
    }
    QCOMPARE(arena.reservedBytes(), size_t{0});
}

void TestHostDevice::arenaGivesMemoryBack() {
    if (!HostArena::isAvailable() || anonymousBytes() == 0) {
        QSKIP("no arena on this system or in this build, or no smaps_rollup");
    }
    HostArena arena;
    constexpr size_t kBytes = 1500000; // ends within a page
    constexpr size_t kCount = 40;
    std::vector<void*> blocks(kCount);
    const size_t before = anonymousBytes();
    for (void*& block : blocks) {
        block = arena.allocate(kBytes);
        QVERIFY(block != nullptr);
    }
    for (void* const block : blocks) {
        std::memset(block, 1, kBytes);
    }
    // What is measured is what was asked for: a huge page at the end would be up to 2 MiB too much.
    constexpr size_t kSlack = kMiB / 2; // lists of blocks, and what the test library allocates
    const size_t filled = anonymousBytes() - before;
    QVERIFY2(filled >= kCount * kBytes - kSlack && filled <= kCount * kBytes + kSlack,
             qPrintable(QString::number(filled)));
    for (size_t i = 0; i < kCount; i += 2) {
        arena.free(blocks[i]);
    }
    const size_t half = anonymousBytes() - before;
    QVERIFY2(half >= kCount / 2 * kBytes - kSlack && half <= kCount / 2 * kBytes + kSlack,
             qPrintable(QString::number(half)));
    for (size_t i = 1; i < kCount; i += 2) {
        const auto* const bytes = static_cast<const char*>(blocks[i]);
        QVERIFY(std::count(bytes, bytes + kBytes, 1) == static_cast<ptrdiff_t>(kBytes));
        arena.free(blocks[i]);
    }
    QVERIFY(anonymousBytes() < before + kSlack);
}

void TestHostDevice::copies() {
    HostDevice device(0, nullptr, kernels::cpuScalarOps());
    void* p = device.allocate(8, 0);
    const char text[8] = "1234567";
    char back[8] = {};
    QCOMPARE(device.copyIn(p, text, 8), Status::Ok);
    QCOMPARE(device.copyOut(back, p, 8), Status::Ok);
    QVERIFY(std::memcmp(text, back, 8) == 0);
    QCOMPARE(device.copyIn(nullptr, nullptr, 0), Status::Ok);
    QCOMPARE(device.synchronize(), Status::Ok);
    QVERIFY(device.isHostVisible());
}

void TestHostDevice::runsKernels() {
    ThreadPool pool(2);
    HostDevice device(0, &pool, kernels::bestCpuOps());
    auto* x = static_cast<float*>(device.allocate(4000 * sizeof(float), 0));
    for (int i = 0; i < 4000; ++i) {
        x[i] = static_cast<float>(i);
    }
    QCOMPARE(device.ops().scale(device.queue(), {x, 40, 100, 100}, 2.0F), Status::Ok);
    for (int i = 0; i < 4000; ++i) {
        QCOMPARE(x[i], static_cast<float>(2 * i));
    }
}

void TestHostDevice::tables() {
    QCOMPARE(QByteArray(kernels::cpuScalarOps().name), QByteArray("cpu-scalar"));
    QVERIFY(kernels::findCpuOps("no such table") == nullptr);
    QVERIFY(kernels::findCpuOps("cpu-scalar") == &kernels::cpuScalarOps());
    // A wider table implies the narrower ones, and the best is the widest.
    if (kernels::cpuAvx512Bf16Ops() != nullptr) {
        QVERIFY(kernels::cpuAvx512VnniOps() != nullptr);
        QVERIFY(&kernels::fastestCpuOps(nullptr) == kernels::cpuAvx512Bf16Ops());
    }
    if (kernels::cpuAvx512VnniOps() != nullptr) {
        QVERIFY(kernels::cpuAvx512Ops() != nullptr);
    }
    if (kernels::cpuAvx512Ops() != nullptr) {
        QVERIFY(kernels::cpuAvx2Ops() != nullptr);
    }
    QVERIFY(kernels::findCpuOps(kernels::bestCpuOps().name) == &kernels::bestCpuOps());
    // A limit chooses the table that it names, and none that is not there.
    for (const OpTable* table :
         {&kernels::cpuScalarOps(), kernels::cpuAvx2Ops(), kernels::cpuAvx512Ops(),
          kernels::cpuAvx512VnniOps(), kernels::cpuAvx512Bf16Ops()}) {
        if (table != nullptr) {
            QCOMPARE(&kernels::fastestCpuOps(table->name), table);
        }
    }
    QCOMPARE(&kernels::fastestCpuOps("no such table"), &kernels::fastestCpuOps(nullptr));
    // Once a table is in use no other can be had. (Before: tst_commands, --cpu-kernels.)
    const OpTable& used = kernels::bestCpuOps();
    QVERIFY(kernels::limitCpuOps(used.name));
    QCOMPARE(kernels::limitCpuOps("cpu-scalar"), &used == &kernels::cpuScalarOps());
    QCOMPARE(&kernels::bestCpuOps(), &used);
}

void TestHostDevice::machineProbe() {
    ThreadPool pool(2);
    const auto rates = kernels::cpu::measureCpu(pool, 0.1, int64_t{32} << 20);
    QCOMPARE(rates.threads, 2);
    QVERIFY(rates.read_gb_per_s > 0.1);
    QVERIFY(rates.read_gb_per_s_one > 0.1);
    QVERIFY(rates.copy_gb_per_s > 0.1);
    QVERIFY(rates.fp32_gflops > 0.1);
    QVERIFY((rates.bf16_gflops > 0.0) == (&kernels::bestCpuOps() == kernels::cpuAvx512Bf16Ops()));
    QVERIFY(rates.seconds > 0.0);
    const auto no_memory = kernels::cpu::measureCpu(pool, 0.01, 0);
    QCOMPARE(no_memory.read_gb_per_s, 0.0);
}

TEST_CLASS(TestHostDevice)
#include "tst_host_device.moc"
