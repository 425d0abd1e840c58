// SPDX-License-Identifier: Apache-2.0
// The host side of the CUDA path against a driver that is not there: which machines are refused and
// in which words, memory in segments, copies in every size and order, recordings, several cards,
// failing calls, a lost card.
#include "kernels/card_scratch.h"
#include "kernels/cuda/arena.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/launch_sizes.h"
#include "kernels/cuda/ops.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <thread>

using namespace kernels;
using namespace kernels::cuda;
using support::FakeCard;
using support::FakeDriver;
using support::FakeLive;

namespace {

CudaDeviceOptions optionsFor(const FakeDriver& fake, int ordinal = 0) {
    CudaDeviceOptions options;
    options.driver = &fake.driver();
    options.ordinal = ordinal;
    options.ops = &cudaOps(true);
    options.is_reference = true;
    options.images = FakeDriver::images();
    return options;
}

std::unique_ptr<CudaDevice> openDevice(const FakeDriver& fake, int ordinal = 0) {
    auto opened = CudaDevice::create(optionsFor(fake, ordinal));
    if (opened.device == nullptr) {
        qFatal("%s", opened.message.c_str());
    }
    return std::move(opened.device);
}

std::vector<unsigned char> pattern(size_t bytes, unsigned seed) {
    std::vector<unsigned char> data(bytes);
    std::minstd_rand random(seed + 1);
    for (unsigned char& byte : data) {
        byte = static_cast<unsigned char>(random() >> 8U);
    }
    return data;
}

} // namespace

class TestCudaDevice : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refusesDrivers_data();
    void refusesDrivers();
    void refusesOldCards();
    void refusesBuildsWithoutKernels();
    void refusesImages();
    void loadsImagesOfItsCapability();
    void missingKernelIsNamed();
    void arenaReusesAndGivesBack();
    void arenaKeepsBlocksApart();
    void arenaAgainstAModel();
    void accounts();
    void limit();
    void copies_data();
    void copies();
    void stagedCopiesInTurn();
    void orderOfCopiesAndKernels();
    void recordings();
    void locksHostMemory();
    void peers();
    void everyFailingCall_data();
    void everyFailingCall();
    void lostCard();
    void faultOutlivesContexts();
    void launchPlans();
    void streamLayouts();
    void streamTiles();
    void largeTiles();
    void attentionForms_data();
    void attentionForms();
    void asOnSmallerCards();
    void oldCardsDoWithoutTensorCores();
    void fakeFindsMistakes();
};

void TestCudaDevice::refusesDrivers_data() {
    support::addColumns<int, int, int, QByteArray, QByteArray>("version", "init", "cards",
                                                               "missing", "sentence");
    QTest::addRow("usable") << 12000 << 0 << 1 << QByteArray() << QByteArray();
    QTest::addRow("too old") << 11080 << 0 << 1 << QByteArray() << QByteArray("supports CUDA 11.8");
    QTest::addRow("old and incomplete")
        << 11040 << 0 << 1 << QByteArray("cuLaunchKernelEx") << QByteArray("supports CUDA 11.4");
    QTest::addRow("incomplete") << 12020 << 0 << 1 << QByteArray("cuLaunchKernelEx")
                                << QByteArray("lacks the function cuLaunchKernelEx");
    QTest::addRow("no card") << 13000 << 0 << 0 << QByteArray()
                             << QByteArray("sees no graphics card");
    QTest::addRow("no device at start")
        << 13000 << 100 << 1 << QByteArray() << QByteArray("sees no graphics card");
    QTest::addRow("broken") << 13000 << 999 << 1 << QByteArray()
                            << QByteArray("CUDA_ERROR_UNKNOWN");
}

void TestCudaDevice::refusesDrivers() {
    QFETCH(int, version);
    QFETCH(int, init);
    QFETCH(int, cards);
    QFETCH(QByteArray, missing);
    QFETCH(QByteArray, sentence);
    FakeDriver fake(std::vector<FakeCard>(static_cast<size_t>(cards)));
    fake.version = version;
    fake.init_result = init;
    const Trouble trouble =
        driverTrouble(fake.driver(), missing.isEmpty() ? nullptr : missing.constData());
    QCOMPARE(trouble.empty(), sentence.isEmpty());
    const std::string& why = trouble.text;
    QVERIFY2(why.find(sentence.toStdString()) != std::string::npos, why.c_str());
    QVERIFY2(why.empty() || why.back() == '.', why.c_str());
}

void TestCudaDevice::refusesOldCards() {
    FakeDriver fake({FakeCard{"Old Card", 61}, FakeCard{"T4", 75}});
    const auto cards = listCards(fake.driver());
    QCOMPARE(cards.size(), size_t{2});
    QVERIFY2(cards[0].unusable.text.find("compute capability 6.1") != std::string::npos,
             cards[0].unusable.text.c_str());
    QCOMPARE(cards[0].unusable.kind, Trouble::Kind::OldCard);
    QCOMPARE(cards[0].unusable.found, std::string("6.1"));
    QVERIFY(cards[1].unusable.empty());
    const auto opened = CudaDevice::create(optionsFor(fake, 0));
    QCOMPARE(opened.device, nullptr);
    QCOMPARE(opened.message, cards[0].unusable.text);
    const auto absent = CudaDevice::create(optionsFor(fake, 2));
    QVERIFY2(absent.message.find("cuda:2: the driver shows no such card") == 0,
             absent.message.c_str());
    QVERIFY(openDevice(fake, 1)->facts().compute_capability == 75);
    QCOMPARE(fake.live(), FakeLive{});
}

void TestCudaDevice::refusesBuildsWithoutKernels() {
    FakeDriver fake;
    CudaDeviceOptions options = optionsFor(fake);
    options.images = {};
    const auto opened = CudaDevice::create(options);
    QCOMPARE(opened.status, Status::Unsupported);
    QVERIFY(opened.message.find("no GPU kernels") != std::string::npos);
    QCOMPARE(fake.live(), FakeLive{});
}

void TestCudaDevice::refusesImages() {
    FakeDriver fake;
    fake.image_result = kCuNoBinaryForGpu;
    const auto opened = CudaDevice::create(optionsFor(fake));
    QCOMPARE(opened.status, Status::Unsupported);
    QVERIFY2(opened.message.find("compute capability 9.0) cannot load the kernels") !=
                 std::string::npos,
             opened.message.c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

/// Kernel files are compiled for the cards that run them alone: another card does not even try to
/// load them.
void TestCudaDevice::loadsImagesOfItsCapability() {
    FakeDriver fake(
        {FakeCard{.capability = 75}, FakeCard{.capability = 80}, FakeCard{.capability = 119}});
    fake.image_result = kCuNoBinaryForGpu;
    const unsigned char bytes[16] = {};
    const kernels::cuda::FatbinImage images[] = {{"some", bytes, sizeof(bytes), 80, 118}};
    for (const int card : {0, 1, 2}) {
        CudaDeviceOptions options = optionsFor(fake, card);
        options.images = images;
        QCOMPARE(CudaDevice::create(options).status, card == 1 ? Status::Unsupported : Status::Ok);
    }
}

void TestCudaDevice::missingKernelIsNamed() {
    FakeDriver fake;
    fake.missing_kernel = kernelName(KernelId::soft_cap);
    const auto device = openDevice(fake);
    auto* data = static_cast<float*>(device->allocate(64, 1));
    QCOMPARE(device->ops().soft_cap(device->queue(), {data, 1, 16, 16}, 30.0F),
             Status::Unsupported);
    QVERIFY(device->lastFailure().find("belfry_soft_cap") != std::string::npos);
    QVERIFY(!device->isLost());
    device->free(data);
}

void TestCudaDevice::arenaReusesAndGivesBack() {
    FakeDriver fake;
    const auto device = openDevice(fake); // its context is current
    Arena arena(fake.driver());
    CuResult result = kCuSuccess;
    const CuPointer a = arena.allocate(1000, &result);
    const CuPointer b = arena.allocate(1000, &result);
    const CuPointer c = arena.allocate(1000, &result);
    QCOMPARE(arena.segments(), size_t{1});
    QCOMPARE(b - a, uint64_t{1024});
    QCOMPARE(a % kPieceAlignment, uint64_t{0});
    arena.free(b);
    QCOMPARE(arena.allocate(500, &result), b); // the smallest gap that fits
    arena.free(b);
    arena.free(a);
    QCOMPARE(arena.allocate(2000, &result), a); // both gaps joined
    const CuPointer big = arena.allocate(size_t{33} << 20, &result);
    QCOMPARE(arena.segments(), size_t{2});
    QCOMPARE(arena.segmentBytes(), uint64_t{32 + 34} << 20U);
    arena.free(big);
    QCOMPARE(arena.segments(), size_t{1});
    arena.free(a);
    arena.free(c);
    QCOMPARE(arena.segments(), size_t{0});
    QCOMPARE(arena.segmentBytes(), uint64_t{0});
    // Where a whole segment has no room, what is asked for may still have.
    fake.fail_allocation = 1;
    const CuPointer small = arena.allocate(1000, &result);
    QVERIFY(small != 0);
    QCOMPARE(arena.segmentBytes(), uint64_t{2} << 20U);
    QCOMPARE(arena.allocate(SIZE_MAX - 10, &result), CuPointer{0});
    QCOMPARE(result, kCuOutOfMemory);
    arena.reserve(uint64_t{50} << 20U);
    QCOMPARE(arena.segments(), size_t{2});
    const uint64_t before = arena.segmentBytes();
    (void)arena.allocate(size_t{40} << 20, &result);
    QCOMPARE(arena.segmentBytes(), before);
}

/// A piece that is meant for one block leaves the other's room to what is meant for that.
void TestCudaDevice::arenaKeepsBlocksApart() {
    FakeDriver fake;
    const auto device = openDevice(fake);
    Arena arena(fake.driver());
    CuResult result = kCuSuccess;
    constexpr size_t kMiB = size_t{1} << 20;
    const CuPointer large = arena.reserve(10 * kMiB);
    const CuPointer exact = arena.reserve(6 * kMiB);
    arena.prefer(large);
    const CuPointer first = arena.allocate(5 * kMiB, &result);
    QVERIFY(first >= large && first < large + 10 * kMiB);
    arena.prefer(exact);
    QCOMPARE(arena.allocate(6 * kMiB, &result), exact);
    QCOMPARE(arena.segments(), size_t{2});
    arena.free(exact);
    arena.free(first);
    arena.prefer(exact); // is gone
    QVERIFY(arena.allocate(1000, &result) != 0);
}

void TestCudaDevice::arenaAgainstAModel() {
    FakeDriver fake;
    const auto device = openDevice(fake);
    Arena arena(fake.driver());
    std::map<CuPointer, size_t> live;
    std::minstd_rand random(3);
    uint64_t rounded = 0;
    for (int i = 0; i < 4000; ++i) {
        if (live.empty() || random() % 5 < 3) {
            const size_t bytes =
                random() % 7 == 0 ? random() % (size_t{3} << 20) : 1 + random() % 5000;
            CuResult result = kCuSuccess;
            const CuPointer pointer = arena.allocate(bytes, &result);
            QVERIFY(pointer != 0);
            const auto after = live.lower_bound(pointer);
            QVERIFY(after == live.end() || pointer + bytes <= after->first);
            QVERIFY(after == live.begin() ||
                    std::prev(after)->first + std::prev(after)->second <= pointer);
            QVERIFY(arena.sizeOf(pointer) >= bytes);
            live[pointer] = std::max<size_t>(bytes, 1);
            rounded += arena.sizeOf(pointer);
        } else {
            auto victim = live.begin();
            std::advance(victim, static_cast<long>(random() % live.size()));
            rounded -= arena.sizeOf(victim->first);
            arena.free(victim->first);
            live.erase(victim);
        }
        QCOMPARE(arena.segmentBytes() - arena.freeBytes(), rounded);
    }
    for (const auto& [pointer, bytes] : live) {
        arena.free(pointer);
    }
    QCOMPARE(arena.segments(), size_t{0});
}

void TestCudaDevice::accounts() {
    FakeDriver fake;
    {
        const auto device = openDevice(fake);
        void* a = device->allocate(1000, 1);
        void* b = device->allocate(5, 2);
        QCOMPARE(device->usedBytes(1), uint64_t{1000});
        QCOMPARE(device->usedBytes(2), uint64_t{5});
        QCOMPARE(device->memory().used, uint64_t{1005});
        QVERIFY(device->memory().held >= 1005);
        device->free(a);
        device->free(nullptr);
        device->free(a);
        QCOMPARE(device->memory().used, uint64_t{5});
        QCOMPARE(device->memory().peak, uint64_t{1005});
        device->failAllocation(2);
        void* c = device->allocate(1, 1);
        QVERIFY(c != nullptr);
        QCOMPARE(device->allocate(1, 1), nullptr);
        QVERIFY(device->contextBytes() > 0);
        QCOMPARE(device->liveAllocations(), size_t{2});
        device->free(b);
        device->free(c);
    }
    QCOMPARE(fake.live(), FakeLive{});
    QVERIFY(fake.violations().empty());
}

void TestCudaDevice::limit() {
    FakeDriver fake;
    CudaDeviceOptions options = optionsFor(fake);
    options.limit = uint64_t{100} << 20;
    auto opened = CudaDevice::create(options);
    QCOMPARE(opened.status, Status::OutOfMemory); // less than the context alone
    QVERIFY2(opened.message.find("limit of 100 MiB") != std::string::npos, opened.message.c_str());
    QCOMPARE(fake.live(), FakeLive{});
    options.limit = uint64_t{1} << 30;
    opened = CudaDevice::create(options);
    QVERIFY(opened.device != nullptr);
    const uint64_t room = options.limit - opened.device->contextBytes();
    QCOMPARE(opened.device->memory().capacity, room);
    QCOMPARE(opened.device->allocate(room + 1, 1), nullptr);
    void* all = opened.device->allocate(room, 1);
    QVERIFY(all != nullptr);
    QCOMPARE(opened.device->allocate(1, 1), nullptr);
    opened.device->free(all);
}

void TestCudaDevice::copies_data() {
    QTest::addColumn<qulonglong>("bytes");
    for (const size_t bytes :
         {size_t{1}, size_t{4096}, size_t{1} << 20, (size_t{1} << 20) + 1, size_t{8} << 20,
          (size_t{8} << 20) + 1, (size_t{24} << 20) + 12345}) {
        QTest::addRow("%zu bytes", bytes) << qulonglong{bytes};
    }
}

void TestCudaDevice::copies() {
    QFETCH(qulonglong, bytes);
    FakeDriver fake;
    {
        const auto device = openDevice(fake);
        void* a = device->allocate(bytes, 1);
        void* b = device->allocate(bytes, 1);
        auto data = pattern(bytes, 1);
        const auto kept = data;
        QCOMPARE(device->copyIn(a, data.data(), bytes), Status::Ok);
        std::fill(data.begin(), data.end(), 0); // the caller may reuse its memory at once
        QCOMPARE(device->copyWithin(b, a, bytes), Status::Ok);
        std::vector<unsigned char> back(bytes);
        QCOMPARE(device->copyOut(back.data(), b, bytes), Status::Ok);
        QVERIFY(back == kept);
        QCOMPARE(device->copyOut(back.data(), b, 0), Status::Ok);
        device->free(a);
        device->free(b);
    }
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

void TestCudaDevice::stagedCopiesInTurn() {
    // In and out in turn through the two buffers, never waiting in between: a buffer that is
    // filled again too early would show.
    FakeDriver fake;
    const auto device = openDevice(fake);
    constexpr size_t kBytes = (size_t{17} << 20) + 3;
    std::vector<void*> blocks;
    for (unsigned i = 0; i < 4; ++i) {
        blocks.push_back(device->allocate(kBytes, 1));
        const auto data = pattern(kBytes, i);
        QCOMPARE(device->copyIn(blocks.back(), data.data(), kBytes), Status::Ok);
        if (i == 1) {
            std::vector<unsigned char> back(kBytes);
            QCOMPARE(device->copyOut(back.data(), blocks[0], kBytes), Status::Ok);
            QVERIFY(back == pattern(kBytes, 0));
        }
    }
    for (unsigned i = 0; i < 4; ++i) {
        std::vector<unsigned char> back(kBytes);
        QCOMPARE(device->copyOut(back.data(), blocks[i], kBytes), Status::Ok);
        QVERIFY(back == pattern(kBytes, i));
        device->free(blocks[i]);
    }
}

void TestCudaDevice::orderOfCopiesAndKernels() {
    // A large copy runs on the other stream: what was enqueued before it must see the old bytes,
    // what comes after it the new ones.
    FakeDriver fake;
    const auto device = openDevice(fake);
    constexpr size_t kBytes = size_t{3} << 20;
    void* block = device->allocate(kBytes, 1);
    void* before = device->allocate(kBytes, 1);
    void* after = device->allocate(kBytes, 1);
    const auto first = pattern(kBytes, 1);
    const auto second = pattern(kBytes, 2);
    QCOMPARE(device->copyIn(block, first.data(), kBytes), Status::Ok);
    QCOMPARE(device->copyWithin(before, block, kBytes), Status::Ok);
    QCOMPARE(device->copyIn(block, second.data(), kBytes), Status::Ok);
    QCOMPARE(device->copyWithin(after, block, kBytes), Status::Ok);
    std::vector<unsigned char> back(kBytes);
    QCOMPARE(device->copyOut(back.data(), before, kBytes), Status::Ok);
    QVERIFY(back == first);
    QCOMPARE(device->copyOut(back.data(), after, kBytes), Status::Ok);
    QVERIFY(back == second);
}

/// Memory that somebody else holds; a refusal is no failure of the device.
void TestCudaDevice::locksHostMemory() {
    FakeDriver fake;
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::vector<Page> pages(2);
    const std::span<std::byte> table(pages[0].bytes);
    {
        const auto device = openDevice(fake);
        const size_t before = fake.live().host_blocks;
        QCOMPARE(device->lockHost(table.data(), table.size()), Status::Ok);
        QCOMPARE(fake.live().host_blocks, before + 1);
        QVERIFY(device->kernelAddress(table.data()) == table.data());
        std::thread other([&] { device->unlockHost(table.data()); });
        other.join();
        QCOMPARE(fake.live().host_blocks, before);
        // cuCtxSetCurrent, cuMemHostRegister, cuMemHostGetDevicePointer
        for (const int call : {1, 2, 3}) {
            fake.failCall(static_cast<uint64_t>(call), 2, false);
            QCOMPARE(device->lockHost(table.data(), table.size()), Status::Unsupported);
            QCOMPARE(fake.live().host_blocks, before);
        }
        fake.mapping_offset = 4096; // the card has it elsewhere
        QCOMPARE(device->lockHost(table.data(), table.size()), Status::Unsupported);
        fake.mapping_offset = 0;
        // Pages that other memory is in.
        QCOMPARE(device->lockHost(table.data() + 64, 64), Status::Unsupported);
        QCOMPARE(device->lockHost(table.data(), 4095), Status::Unsupported);
        QCOMPARE(fake.live().host_blocks, before);
        QVERIFY(!device->isLost());
        void* const block = device->allocate(64, 1);
        QCOMPARE(device->copyIn(block, table.data(), 64), Status::Ok);
        device->free(block);
    }
    QCOMPARE(fake.live(), FakeLive{});
    QVERIFY(fake.violations().empty());
}

void TestCudaDevice::recordings() {
    FakeDriver fake;
    {
        const auto device = openDevice(fake);
        QVERIFY(device->canCapture());
        auto* host = static_cast<unsigned char*>(device->allocateHost(64));
        void* block = device->allocate(64, 1);
        QCOMPARE(device->beginCapture(), Status::Ok);
        QCOMPARE(device->beginCapture(), Status::Unsupported);
        QCOMPARE(device->copyIn(block, host, 64), Status::Ok);
        GraphHandle graph = nullptr;
        QCOMPARE(device->endCapture(&graph), Status::Ok);
        QVERIFY(graph != nullptr);
        for (const unsigned char value : {3, 200}) {
            std::memset(host, value, 64); // read at replay, not at the recording
            QCOMPARE(device->replay(graph), Status::Ok);
            unsigned char back[64] = {};
            QCOMPARE(device->copyOut(back, block, 64), Status::Ok);
            QCOMPARE(back[63], value);
        }
        device->freeGraph(graph);
        device->freeGraph(nullptr);
        // A wait cannot be recorded; afterwards the device works as before.
        QCOMPARE(device->beginCapture(), Status::Ok);
        QCOMPARE(device->synchronize(), Status::Unsupported);
        QCOMPARE(device->endCapture(&graph), Status::Ok);
        device->freeGraph(graph);
        QCOMPARE(device->endCapture(&graph), Status::Unsupported);
        QCOMPARE(device->synchronize(), Status::Ok);
        QVERIFY(!device->isLost());
        device->freeHost(host);
        device->free(block);
    }
    QCOMPARE(fake.live(), FakeLive{});
    QVERIFY(fake.violations().empty());
}

void TestCudaDevice::peers() {
    FakeDriver fake({FakeCard{}, FakeCard{}});
    {
        const auto one = openDevice(fake, 0);
        const auto two = openDevice(fake, 1);
        constexpr size_t kBytes = size_t{2} << 20;
        void* a = one->allocate(kBytes, 1);
        void* b = two->allocate(kBytes, 1);
        const auto first = pattern(kBytes, 1);
        const auto second = pattern(kBytes, 2);
        QCOMPARE(one->copyIn(a, first.data(), kBytes), Status::Ok);
        QCOMPARE(two->copyFromPeer(*one, b, a, kBytes), Status::Ok);
        // The source may be overwritten at once: the copy comes first.
        QCOMPARE(one->copyIn(a, second.data(), kBytes), Status::Ok);
        QCOMPARE(one->synchronize(), Status::Ok);
        std::vector<unsigned char> back(kBytes);
        QCOMPARE(two->copyOut(back.data(), b, kBytes), Status::Ok);
        QVERIFY(back == first);
        // Work on both in turn: each call makes its own context current.
        for (int i = 0; i < 4; ++i) {
            CudaDevice& device = i % 2 == 0 ? *one : *two;
            void* data = device.allocate(256, 1);
            QCOMPARE(device.ops().scale(device.queue(), {static_cast<float*>(data), 1, 64, 64}, 2),
                     Status::Ok);
            device.free(data);
        }
        one->free(a);
        two->free(b);
    }
    QVERIFY2(fake.violations().empty(),
             fake.violations().empty() ? "" : fake.violations().front().c_str());
    QCOMPARE(fake.live(), FakeLive{});
}

void TestCudaDevice::everyFailingCall_data() {
    support::addColumns<int, bool>("code", "is_sticky");
    QTest::addRow("out of memory, once") << 2 << false;
    QTest::addRow("illegal address, from then on") << 700 << true;
    QTest::addRow("unknown, from then on") << 999 << true;
}

void TestCudaDevice::everyFailingCall() {
    QFETCH(int, code);
    QFETCH(bool, is_sticky);
    const auto work = [](const FakeDriver& fake) -> Status {
        auto opened = CudaDevice::create(optionsFor(fake));
        if (opened.device == nullptr) {
            return opened.message.empty() ? Status::Ok : opened.status;
        }
        CudaDevice& device = *opened.device;
        constexpr size_t kBytes = size_t{9} << 20;
        std::vector<unsigned char> data(kBytes);
        void* a = device.allocate(kBytes, 1);
        void* b = device.allocate(100, 2);
        if (a == nullptr || b == nullptr) {
            device.free(a);
            device.free(b);
            return device.isLost() ? Status::DeviceLost : Status::OutOfMemory;
        }
        Status status = device.copyIn(a, data.data(), kBytes);
        if (status == Status::Ok) {
            status = device.copyIn(b, data.data(), 100);
        }
        if (status == Status::Ok) {
            status = device.ops().scale(device.queue(), {static_cast<float*>(b), 1, 16, 16}, 2.0F);
        }
        GraphHandle graph = nullptr;
        if (status == Status::Ok && device.beginCapture() == Status::Ok) {
            status = device.copyWithin(b, a, 64);
            const Status ended = device.endCapture(&graph);
            status = status == Status::Ok ? ended : status;
            status = status == Status::Ok ? device.replay(graph) : status;
        }
        if (status == Status::Ok) {
            status = device.copyOut(data.data(), a, kBytes);
        }
        if (status == Status::Ok) {
            status = device.synchronize();
        }
        device.freeGraph(graph);
        device.free(a);
        device.free(b);
        return status;
    };
    FakeDriver plain;
    QCOMPARE(work(plain), Status::Ok);
    const uint64_t total = plain.calls();
    QVERIFY(total > 100);
    int refused = 0;
    for (uint64_t n = 1; n <= total; ++n) {
        FakeDriver fake;
        fake.failCall(n, code, is_sticky);
        const Status status = work(fake);
        const char* call = n <= plain.trace().size() ? plain.trace()[n - 1] : "";
        const std::string where =
            std::string(call) + ", call " + std::to_string(n) + ": " + fake.live().text();
        QVERIFY2(fake.live() == FakeLive{}, where.c_str());
        QVERIFY2(fake.violations().empty(),
                 fake.violations().empty() ? "" : fake.violations().front().c_str());
        refused += status == Status::Ok ? 0 : 1;
        if (status != Status::Ok && is_sticky) {
            QVERIFY2(status == Status::DeviceLost || status == Status::Unsupported, where.c_str());
        }
    }
    // A failure that stays without effect is one that the device can do without (a peer, a staging
    // buffer, what it does while closing).
    QVERIFY(refused > static_cast<int>(total) * 3 / 4);
}

void TestCudaDevice::lostCard() {
    FakeDriver fake;
    {
        const auto device = openDevice(fake);
        void* block = device->allocate(1000, 1);
        std::vector<unsigned char> data(1000);
        fake.failCall(1, 700, true);
        QCOMPARE(device->copyOut(data.data(), block, 1000), Status::DeviceLost);
        QVERIFY(device->isLost());
        QCOMPARE(device->lastFailure(),
                 std::string("cuMemcpyDtoHAsync: CUDA_ERROR_ILLEGAL_ADDRESS"));
        // Nothing is tried on it any more.
        fake.clearTrace();
        QCOMPARE(device->copyIn(block, data.data(), 1000), Status::DeviceLost);
        QCOMPARE(device->synchronize(), Status::DeviceLost);
        QCOMPARE(device->allocate(10, 1), nullptr);
        QCOMPARE(device->ops().scale(device->queue(), {static_cast<float*>(block), 1, 4, 4}, 2.0F),
                 Status::DeviceLost);
        QVERIFY(!device->canCapture());
        QVERIFY(fake.trace().empty());
        device->free(block);
    }
    QCOMPARE(fake.live(), FakeLive{});
    // Everything on it is gone, and still this process has no card any more: nobody asks for one.
    fake.clearTrace();
    const CudaDevice::Opened refused = CudaDevice::create(optionsFor(fake));
    QVERIFY(refused.device == nullptr);
    QCOMPARE(refused.status, Status::DeviceLost);
    QVERIFY2(refused.message.find("refuses every graphics card to this process since "
                                  "cuMemcpyDtoHAsync answered CUDA_ERROR_ILLEGAL_ADDRESS") !=
                 std::string::npos,
             refused.message.c_str());
    QVERIFY(fake.trace().empty());
    FakeDriver next; // another process
    QVERIFY(!openDevice(next)->isLost());
}

/// What a real driver does after the fault of a kernel (seen on an H100 with 700 and 719).
void TestCudaDevice::faultOutlivesContexts() {
    FakeDriver fake;
    const Driver& driver = fake.driver();
    CuContext context = nullptr;
    QCOMPARE(driver.primaryCtxRetain(&context, 0), kCuSuccess);
    QCOMPARE(driver.ctxSetCurrent(context), kCuSuccess);
    fake.failCall(1, 719, false);
    QCOMPARE(driver.ctxSynchronize(), 719);
    QCOMPARE(driver.primaryCtxRelease(0), 719);
    QCOMPARE(driver.primaryCtxRetain(&context, 0), 719);
    fake.failCall(0, 0, false); // heals nothing
    QCOMPARE(driver.primaryCtxRetain(&context, 0), 719);
    size_t free = 0;
    size_t total = 0;
    QCOMPARE(driver.memGetInfo(&free, &total), 719);
    int count = 0;
    QCOMPARE(driver.deviceGetCount(&count), kCuSuccess);
    QCOMPARE(count, 1);
    QCOMPARE(fake.live(), FakeLive{});
}

void TestCudaDevice::launchPlans() {
    for (const int sms : {14, 40, 84, 132, 170}) {
        for (const int64_t outputs : {1, 2, 7, 256, 1536, 6144, 262144}) {
            for (const int64_t cols : {64, 256, 1536, 12288}) {
                for (const bool is_pair : {false, true}) {
                    for (const int64_t block_size : {0, 64}) {
                        const ProjectSizes sizes =
                            projectSizes(sms, outputs, cols, is_pair, block_size);
                        const int64_t rows = outputs * (is_pair ? 2 : 1);
                        QVERIFY(sizes.grid >= 1 && int64_t{sizes.grid} * sizes.local_rows >= rows);
                        QVERIFY(!is_pair || sizes.local_rows % 2 == 0);
                        QVERIFY(sizes.rows_per_warp == 1 || sizes.rows_per_warp == 2 ||
                                sizes.rows_per_warp == 4);
                        QVERIFY(sizes.k_split >= 1 && sizes.k_split <= 16);
                        QVERIFY(sizes.shared_bytes <= 232448 - 1024);
                    }
                }
            }
        }
        for (const int64_t capacity : {1, 32, 512, 4096, 131072}) {
            const int splits = attendSplits(sms, 8, capacity);
            QVERIFY(splits >= 1 && splits <= kMaxSplits);
            QVERIFY(splits <= std::max<int64_t>(1, capacity / 32));
        }
    }
    QVERIFY(scratchBytes(512, 12288) > scratchBytes(512, 6144));
    QCOMPARE(kernels::cardScratchBytes(512, 12288), scratchBytes(512, 12288));
    QVERIFY(!usesLargeTiles(132, 32, 262144));
    QVERIFY(usesLargeTiles(132, 4096, 6144));
}

/// Its parts do not overlap and lie in the memory there is, the table and the chunks aligned.
void checkStreamLayout(const StreamLayout& layout,
                       int base,
                       int bytes,
                       int row_bytes,
                       int norm_bytes,
                       int work_bytes) {
    QVERIFY(layout.table >= 0 && layout.table < kCodeTableAlignment);
    QCOMPARE((base + layout.table) % kCodeTableAlignment, 0);
    QCOMPARE((base + layout.table + layout.chunks) % 128, 0);
    QCOMPARE((base + layout.table + layout.work) % 128, 0);
    QVERIFY(layout.norm_bytes >= norm_bytes && layout.chunk_count <= kMaxChunks);
    std::vector<std::pair<int, int>> parts{
        {0, kStreamStepsOffset + kStepRing * static_cast<int>(sizeof(TokenStep))},
        {layout.attend, kAttendConstantBytes},
        {layout.norms, 4 * layout.norm_bytes},
        {layout.row, row_bytes},
        {layout.work, work_bytes},
        {layout.chunks, layout.chunk_count * kChunkBytes}};
    std::sort(parts.begin(), parts.end());
    int end = -layout.table;
    for (const auto& [at, size] : parts) {
        QVERIFY(at >= end);
        end = at + size;
    }
    QVERIFY(layout.table + end <= bytes);
}

// A tile is whole rows of at most 24 units of a stretch; passes may be made shorter.
void TestCudaDevice::streamTiles() {
    constexpr int kBlocks = 132;
    struct Case {
        int64_t outputs;
        int64_t cols;
        bool is_pair;
        int bits;
        int rows; // of a tile
        int units;
    };
    for (const Case& c : {Case{12288, 1536, true, 4, 16, 24}, Case{10240, 2560, true, 4, 8, 40},
                          Case{1536, 12288, false, 4, 2, 192}, Case{2560, 10240, false, 4, 2, 160},
                          Case{2560, 4096, false, 4, 4, 64}, Case{2560, 256, false, 4, 16, 4},
                          Case{256, 2560, false, 4, 8, 40}, Case{262144, 1536, false, 8, 8, 48},
                          Case{262144, 2560, false, 8, 4, 80}, Case{1600, 1600, false, 4, 8, 25}}) {
        const StreamSizes sizes = streamProjectSizes(kBlocks, c.outputs, c.cols, c.is_pair, false,
                                                     c.is_pair ? 2 : 1, c.bits, 1);
        const QByteArray at = QByteArray::number(static_cast<qlonglong>(c.outputs)) + " x " +
                              QByteArray::number(static_cast<qlonglong>(c.cols));
        QVERIFY2(sizes.units == c.units, at);
        QVERIFY2(1 << sizes.tile_shift == c.rows, at);
        QVERIFY2(c.units * c.rows <= kChunkUnits * kTileRows + c.rows * 8, at);
        QCOMPARE(sizes.share * kBlocks + sizes.extra, c.outputs);
        if (!c.is_pair && sizes.pass_tiles > 1) {
            const StreamSizes half = streamProjectSizes(kBlocks, c.outputs, c.cols, false, false, 1,
                                                        c.bits, 1, sizes.pass_tiles / 2);
            QVERIFY2(half.pass_tiles == sizes.pass_tiles / 2, at);
            QVERIFY2(half.work_bytes < sizes.work_bytes, at);
        }
    }
    // Rows of more than eight stretches, or four with both parts of the input: other kernels.
    QCOMPARE(streamProjectSizes(kBlocks, 5376, 21504, false, false, 1, 4, 1).units, 0);
    QCOMPARE(streamProjectSizes(kBlocks, 5376, 5376, false, false, 1, 8, 1).units, 0);
}

// Rows of 12B and 31B: at most 21 units of a stretch, in parts where they have more, in 64,512
// bytes of work memory on a card whose shared memory begins at 1024.
void TestCudaDevice::largeTiles() {
    constexpr int kBlocks = 132;
    const int room = largeWorkRoom(1024);
    QCOMPARE(room, 64512);
    QVERIFY(largeWorkRoom(0) >= largeProjectBytes(6144, kTileRows));
    struct Case {
        int64_t outputs;
        int64_t cols;
        bool is_pair;
        bool is_plain;
        int bits;
        int rows; // of a tile
        int units;
        int pieces;
        int rows_pieces; // of several rows, whose tiles have four
    };
    for (const Case& c : {Case{21504, 5376, true, false, 4, 4, 84, 1, 1},
                          Case{18432, 5376, false, false, 4, 4, 84, 1, 1},
                          Case{5376, 21504, false, true, 4, 2, 168, 2, 4},
                          Case{5376, 16384, false, true, 4, 2, 128, 2, 4},
                          Case{5376, 8192, false, true, 4, 2, 128, 1, 2},
                          Case{262144, 5376, false, false, 8, 4, 84, 2, 2},
                          Case{5376, 21504, false, true, 8, 2, 168, 4, 8},
                          Case{3840, 15360, false, true, 4, 2, 120, 2, 3},
                          Case{8192, 3840, false, false, 4, 4, 60, 1, 1}}) {
        const QByteArray at = QByteArray::number(static_cast<qlonglong>(c.outputs)) + " x " +
                              QByteArray::number(static_cast<qlonglong>(c.cols));
        const int weights = c.is_pair ? 2 : 1;
        const StreamSizes sizes =
            largeProjectSizes(kBlocks, c.outputs, c.cols, c.is_pair, weights, c.bits, room);
        QVERIFY2(sizes.units == c.units && sizes.pieces == c.pieces, at);
        QVERIFY2(1 << sizes.tile_shift == c.rows, at);
        QVERIFY2(sizes.units * c.rows <= kLargeChunkUnits * kTileRows, at);
        QVERIFY2(sizes.pass_tiles > 0 && sizes.work_bytes <= room, at);
        QCOMPARE(sizes.share * kBlocks + sizes.extra, c.outputs);
        const StreamSizes several = largeRowsSizes(kBlocks, c.outputs, c.cols, c.is_pair,
                                                   c.is_plain, weights, c.bits, room);
        QVERIFY2(several.tile_shift == 2 && several.pieces == c.rows_pieces, at);
        QVERIFY2(several.units * several.pieces == sizes.units * sizes.pieces, at);
        QVERIFY2(several.pass_tiles > 0 && several.work_bytes <= room, at);
    }
    // Gate and up come in two passes and several rows of them in three, down's in one.
    QCOMPARE(largeProjectSizes(kBlocks, 21504, 5376, true, 2, 4, room).pass_tiles, 52);
    QCOMPARE(largeRowsSizes(kBlocks, 21504, 5376, true, false, 2, 4, room).pass_tiles, 34);
    QCOMPARE(largeRowsSizes(kBlocks, 5376, 21504, false, true, 1, 4, room).pass_tiles, 11);
    // Columns that no parts divide, and too many.
    QCOMPARE(largeProjectSizes(kBlocks, 64, 64 * 331, false, 1, 4, room).units, 0);
    QCOMPARE(largeProjectSizes(kBlocks, 64, 32768, false, 1, 4, room).units, 0);
    const int chunks = streamLayoutFor(1024, 232448, 0, 1024, room, kLargeChunkBytes).chunk_count;
    QCOMPARE(chunks, 7);
}

void TestCudaDevice::streamLayouts() {
    constexpr int kBytes = 232448;
    for (const int base : {0, 1024, 2048, 8192, 65536, 66560}) {
        for (const int bytes : {101376, 166912, kBytes, 2 * kBytes}) {
            for (const int work_bytes : {0, 20000, 64512, 64513, 120000}) {
                const StreamLayout layout = streamLayoutFor(base, bytes, 6144, 3072, work_bytes);
                if (layout.chunk_count > 0) {
                    checkStreamLayout(layout, base, bytes - 1024, 6144, 3072, work_bytes);
                }
            }
        }
    }
    // E2B and E4B on an H200: as many chunks as without aligning the table.
    const int work_bytes = streamAttendBytes(512);
    QVERIFY(streamProjectBytes(2560, 12, false) <= work_bytes);
    QCOMPARE(streamLayoutFor(1024, kBytes, 1536 * 4, 1536 * 2, work_bytes).chunk_count, 5);
    QCOMPARE(streamLayoutFor(1024, kBytes, 2560 * 4, 2560 * 2, work_bytes).chunk_count, 4);
    // Work memory that does not fit in front of the table finds room behind it where the table is
    // early or there is more memory, and that of smaller cards is too little.
    QVERIFY(streamLayoutFor(1024, kBytes, 6144, 3072, 64512).chunk_count > 0);
    QCOMPARE(streamLayoutFor(1024, kBytes, 6144, 3072, 64513).chunk_count, 0);
    QVERIFY(streamLayoutFor(0, kBytes, 6144, 3072, 64513).chunk_count > 0);
    QVERIFY(streamLayoutFor(1024, 2 * kBytes, 6144, 3072, 64513).chunk_count > 0);
    for (const int base : {0, 1024}) {
        QCOMPARE(streamLayoutFor(base, 101376, 6144, 3072, 20000).chunk_count, 0);
        QCOMPARE(streamLayoutFor(base, 0, 6144, 3072, 20000).chunk_count, 0);
    }
}

void TestCudaDevice::attentionForms_data() {
    QTest::addColumn<int>("capability");
    QTest::addColumn<int>("shared"); // most of a block
    QTest::addColumn<KernelId>("by256");
    QTest::addColumn<KernelId>("by512");
    QTest::addColumn<KernelId>("half512");
    constexpr auto kNone = KernelId::attention_reference;
    constexpr auto kBy256 = KernelId::flash_256;
    constexpr auto kBy512 = KernelId::flash_512;
    constexpr auto kSmall256 = KernelId::flash_small_256;
    constexpr auto kSmall512 = KernelId::flash_small_512;
    QTest::addRow("7.5: no bf16 on tensor cores") << 75 << 65536 << kNone << kNone << kNone;
    QTest::addRow("8.0") << 80 << 166912 << kBy256 << kBy512 << kBy512;
    QTest::addRow("8.6") << 86 << 101376 << kSmall256 << kSmall512 << kSmall512;
    QTest::addRow("8.7") << 87 << 166912 << kBy256 << kBy512 << kBy512;
    QTest::addRow("8.9") << 89 << 101376 << kSmall256 << kSmall512 << kSmall512;
    QTest::addRow("9.0") << 90 << 232448 << kBy256 << kBy512 << KernelId::flash_512_double;
    QTest::addRow("10.0") << 100 << 232448 << kBy256 << kBy512 << KernelId::flash_512_double;
    QTest::addRow("12.0") << 120 << 101376 << kSmall256 << kSmall512 << kSmall512;
    QTest::addRow("a card with 64 KiB") << 86 << 65536 << kSmall256 << kNone << kNone;
    QTest::addRow("a card with 48 KiB") << 86 << 49152 << kSmall256 << kNone << kNone;
    QTest::addRow("a card with 32 KiB") << 86 << 32768 << kNone << kNone << kNone;
}

void TestCudaDevice::attentionForms() {
    QFETCH(int, capability);
    QFETCH(int, shared);
    QFETCH(KernelId, by256);
    QFETCH(KernelId, by512);
    QFETCH(KernelId, half512);
    for (const bool is_half : {false, true}) {
        QCOMPARE(flashSizes(capability, shared, 256, is_half).kernel, by256);
        QCOMPARE(flashSizes(capability, shared, 512, is_half).kernel, is_half ? half512 : by512);
        QCOMPARE(flashSizes(capability, shared, 72, is_half).kernel, KernelId::attention_reference);
        for (const int64_t head_dim : {64, 256, 512}) {
            const FlashSizes sizes = flashSizes(capability, shared, head_dim, is_half);
            if (sizes.kernel != KernelId::attention_reference) {
                // A driver may count what it reserves as a kernel's own memory.
                QVERIFY(sizes.shared_bytes + 1024 <= static_cast<unsigned>(shared) ||
                        shared < kSmallSharedBytes);
                QVERIFY(sizes.threads == 128 || sizes.threads == 256);
            }
        }
    }
    QVERIFY(capability < 80 || shared < kSmallSharedBytes ||
            flashOpenBytes(72) + 1024 <= static_cast<unsigned>(shared));
    QCOMPARE(flashOpenBytes(64), 48U << 10U);
    // Two blocks of heads of 256 on a multiprocessor with 100 KiB.
    QVERIFY(2 * (flashSmallBytes(256) + 1024) <= 100 * 1024);
}

/// Less shared memory than the card has: the forms of cards with 99 KiB a block.
void TestCudaDevice::asOnSmallerCards() {
    for (const int shared : {65536, 101376, 232448}) {
        FakeCard card;
        card.shared_bytes = shared;
        FakeDriver fake({card});
        QCOMPARE(openDevice(fake)->facts().shared_bytes, shared);
        CudaDeviceOptions options = optionsFor(fake);
        options.card.shared_bytes = kSmallSharedBytes;
        const auto opened = CudaDevice::create(options);
        QVERIFY2(opened.device != nullptr, opened.message.c_str());
        QCOMPARE(opened.device->facts().shared_bytes, std::min(shared, kSmallSharedBytes));
    }
}

void TestCudaDevice::oldCardsDoWithoutTensorCores() {
    // Matrix products and attention of a prompt: bf16 tensor cores exist from 8.0 on; below, the
    // same calls take kernels that do not need them.
    for (const auto& [capability, shared] :
         {std::pair{75, 65536}, {80, 166912}, {86, 101376}, {90, 232448}, {120, 101376}}) {
        FakeCard card{"Card", capability};
        card.shared_bytes = shared;
        FakeDriver fake({card});
        CudaDeviceOptions options = optionsFor(fake);
        options.ops = &cudaOps(false);
        options.is_reference = false;
        const auto opened = CudaDevice::create(options);
        QVERIFY2(opened.device != nullptr, opened.message.c_str());
        CudaDevice& device = *opened.device;
        constexpr int64_t kRows = 96;
        constexpr int64_t kWidth = 512;
        auto* x = static_cast<float*>(device.allocate(kRows * kWidth * sizeof(float), 1));
        auto* y = static_cast<float*>(device.allocate(kRows * kWidth * sizeof(float), 1));
        void* weights = device.allocate(kWidth * kWidth * 2, 1);
        constexpr size_t kScratch = size_t{64} << 20U;
        void* scratch = device.allocate(kScratch, 1);
        device.setScratch(scratch, kScratch);
        kernels::WeightView w;
        w.data = weights;
        w.rows = kWidth;
        w.cols = kWidth;
        QCOMPARE(device.ops().linear(device.queue(), {x, kRows, kWidth, kWidth}, w,
                                     {y, kRows, kWidth, kWidth}),
                 Status::Ok);
        kernels::AttentionArgs a;
        a.q = x;
        a.k = weights;
        a.v = weights;
        a.kv_type = kernels::KvType::BF16;
        a.queries = kRows;
        a.keys = kRows;
        a.num_heads = 2;
        a.num_kv_heads = 1;
        a.head_dim = 256;
        a.out = y;
        QCOMPARE(device.ops().attention(device.queue(), a), Status::Ok);
        bool has_products = false;
        bool has_flash = false;
        for (const FakeDriver::Launch& launch : fake.launches()) {
            has_products = has_products || launch.kernel.find("gemm") != std::string::npos;
            has_flash = has_flash || launch.kernel.find("flash") != std::string::npos;
        }
        QVERIFY(!fake.launches().empty());
        QCOMPARE(has_products, capability >= 80);
        QCOMPARE(has_flash, capability >= 80);
        device.free(x);
        device.free(y);
        device.free(weights);
        device.setScratch(nullptr, 0);
        device.free(scratch);
    }
}

void TestCudaDevice::fakeFindsMistakes() {
    FakeDriver fake;
    const auto device = openDevice(fake);
    const Driver& driver = fake.driver();
    unsigned char byte = 0;
    QVERIFY(driver.memcpyHtoDAsync(1, &byte, 1, device->stream().handle) != kCuSuccess);
    void* block = device->allocate(256, 1);
    const auto address = reinterpret_cast<CuPointer>(block);
    // Past the end of the segment that the block lies in.
    QVERIFY(driver.memcpyDtoHAsync(&byte, address, size_t{1} << 30, device->stream().handle) !=
            kCuSuccess);
    driver.ctxSetCurrent(nullptr);
    (void)driver.streamSynchronize(device->stream().handle);
    QVERIFY(fake.violations().size() >= 3);
    driver.ctxSetCurrent(device->stream().context);
    device->free(block);
}

TEST_CLASS(TestCudaDevice)
#include "tst_cuda_device.moc"
