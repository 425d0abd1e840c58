// SPDX-License-Identifier: Apache-2.0
// Memory runs out at every allocation point, through the engine's door: the n-th allocation on each
// device fails for every n, in a first load, a load beside a loaded model, a move, the first token,
// a picture and a sound turn. Each time: a clean OutOfMemory error (or success, where the engine
// found another way), the accounts as before, the same answer as before, and the next request
// works. Plain memory: tst_every_allocation.
#include "engine/devices/device_set.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <map>

namespace {

using engine::DeviceId;
using kernels::cpu::HostDevice;

const char* const kBefore = R"({"version": 1, "default": "sim:0", "map": {
    "model.language_model.layers.[6-7]": {"store": "cpu", "compute": "sim:0"},
    "model.vision_tower": {"store": "cpu", "compute": "sim:0"},
    "model.language_model.embed_tokens_per_layer": "cpu"}})";
const char* const kAfter = R"({"version": 1, "default": "sim:0", "map": {
    "model.language_model.layers.[2-4]": "sim:1", "model.audio_tower": "cpu",
    "model.language_model.embed_tokens_per_layer": "disk"}})";

/// An engine whose next load lets one allocation fail, and whose devices can be reached.
struct FaultyEngine {
    FaultyEngine() {
        engine::EngineOptions options;
        options.on_devices = [this](engine::OwnedDevices& devices) {
            coming.clear();
            for (const auto& [id, device] : devices.set) {
                coming[id] = dynamic_cast<HostDevice*>(device);
            }
            if (coming.contains(fail_on)) {
                coming[fail_on]->failAllocation(fail_at);
            }
        };
        engine.emplace(options);
    }

    engine::Result<void> load(const engine::LoadRequest& request) {
        engine::Result<void> loaded = engine->load(request, {}, {});
        if (loaded.has_value()) {
            current = coming;
        }
        return loaded;
    }

    [[nodiscard]] std::map<DeviceId, std::pair<uint64_t, size_t>> accounts() const {
        std::map<DeviceId, std::pair<uint64_t, size_t>> out;
        for (const auto& [id, device] : current) {
            out[id] = {device->memory().used, device->liveAllocations()};
        }
        return out;
    }

    /// The devices of the load that succeeded last, and of the one that was tried last.
    std::map<DeviceId, HostDevice*> current, coming;
    DeviceId fail_on = DeviceId::disk(); ///< disk = none.
    uint64_t fail_at = 0;
    std::optional<engine::Engine> engine;
};

engine::LoadRequest requestForOutOfMemory(const char* map) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = map;
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.is_reference_precision = false;
    request.threads = 1;
    request.quant = "nf4-dq";
    request.adapters.push_back({support::goldenAdapter("e2b", "text"), 1.0, true});
    return request;
}

/// One turn.
engine::Result<engine::Reply> turn(FaultyEngine& faulty, const support::GoldenCase& c) {
    engine::GenerateRequest request = support::goldenCaseRequest(c);
    request.sampling.max_tokens = 2;
    return faulty.engine->generate(request, {}, {});
}

std::vector<int32_t> tokensOf(const engine::Result<engine::Reply>& reply) {
    return reply.has_value() ? reply->token_ids : std::vector<int32_t>();
}

} // namespace

class TestOutOfMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void firstLoad();
    void loadBesideLoaded();
    void move();
    void turns_data();
    void turns();

private:
    static void load(FaultyEngine& faulty, const char* map) {
        const auto loaded = faulty.load(requestForOutOfMemory(map));
        VERIFY_VALUE(loaded);
    }
};

void TestOutOfMemory::firstLoad() {
    const support::GoldenCase c = support::goldenCaseWith("e2b", false, false);
    FaultyEngine faulty;
    int failures = 0;
    for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0)}) {
        faulty.fail_on = id;
        for (uint64_t n = 1;; n += support::kPointStride) {
            faulty.fail_at = n;
            const auto loaded = faulty.load(requestForOutOfMemory(kBefore));
            if (loaded.has_value()) {
                QVERIFY(n > 3);
                break;
            }
            ++failures;
            QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
            QVERIFY(!faulty.engine->isLoaded());
        }
        QVERIFY(!tokensOf(turn(faulty, c)).empty());
        faulty.engine->unload();
    }
    qInfo("%d allocation points", failures);
}

void TestOutOfMemory::loadBesideLoaded() {
    const support::GoldenCase c = support::goldenCaseWith("e2b", false, false);
    FaultyEngine faulty;
    load(faulty, kBefore);
    const auto expected = tokensOf(turn(faulty, c));
    const auto accounts = faulty.accounts();
    for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
        faulty.fail_on = id;
        for (uint64_t n = 1;; n += support::kPointStride) {
            faulty.fail_at = n;
            const auto loaded = faulty.load(requestForOutOfMemory(kAfter));
            if (loaded.has_value()) {
                faulty.fail_on = DeviceId::disk();
                load(faulty, kBefore);
                break;
            }
            QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
            QVERIFY(faulty.engine->isLoaded());
            QCOMPARE(faulty.accounts(), accounts);
            if (n % 16 == 1) { // tokens follow from the weights and rows that the accounts show
                QCOMPARE(tokensOf(turn(faulty, c)), expected);
            }
        }
        QCOMPARE(faulty.accounts(), accounts);
    }
}

void TestOutOfMemory::move() {
    const support::GoldenCase c = support::goldenCaseWith("e2b", false, false);
    FaultyEngine faulty;
    load(faulty, kBefore);
    const auto expected = tokensOf(turn(faulty, c));
    const auto before = faulty.accounts();
    int refused = 0;
    int succeeded = 0;
    for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
        HostDevice* device = faulty.current.at(id);
        for (uint64_t n = 1;; n += support::kPointStride) {
            const uint64_t calls = device->allocationCalls();
            device->failAllocation(n);
            const auto moved = faulty.engine->applyMap(kAfter, {}, {});
            const bool is_reached = device->allocationCalls() - calls >= n;
            device->failAllocation(0);
            if (!moved.has_value()) {
                ++refused;
                QCOMPARE(moved.error().code, engine::ErrorCode::OutOfMemory);
                QCOMPARE(faulty.accounts(), before);
            } else {
                ++succeeded; // a second way was found, or nothing failed
                const auto back = faulty.engine->applyMap(kBefore, {}, {});
                VERIFY_VALUE(back);
                QCOMPARE(faulty.accounts(), before);
            }
            QCOMPARE(support::memoryDifference(*faulty.engine), std::string());
            if (n % 16 == 1) {
                QCOMPARE(tokensOf(turn(faulty, c)), expected);
            }
            if (!is_reached) {
                break;
            }
        }
    }
    QCOMPARE(tokensOf(turn(faulty, c)), expected);
    QVERIFY(refused > 0);
    qInfo("%d moves refused, %d succeeded", refused, succeeded);
}

void TestOutOfMemory::turns_data() {
    support::addColumns<bool, bool>("has_image", "has_audio");
    QTest::newRow("first token") << false << false;
    QTest::newRow("picture") << true << false;
    QTest::newRow("sound") << false << true;
}

void TestOutOfMemory::turns() {
    QFETCH(bool, has_image);
    QFETCH(bool, has_audio);
    const support::GoldenCase c = support::goldenCaseWith("e2b", has_image, has_audio);
    QVERIFY(!c.input_ids.empty());
    std::vector<int32_t> expected;
    {
        FaultyEngine faulty;
        load(faulty, kBefore);
        expected = tokensOf(turn(faulty, c));
        QCOMPARE(expected.size(), size_t{2});
    }
    // A turn takes its memory from what the load allocated; whatever it still allocates on a
    // device must be able to fail.
    for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
        bool is_reached = true;
        for (uint64_t n = 1; is_reached; n += support::kPointStride) {
            FaultyEngine faulty;
            load(faulty, kBefore);
            HostDevice* device = faulty.current.at(id);
            const auto accounts = faulty.accounts();
            const uint64_t calls = device->allocationCalls();
            device->failAllocation(n);
            const auto reply = turn(faulty, c);
            is_reached = device->allocationCalls() - calls >= n;
            device->failAllocation(0);
            if (is_reached) {
                QVERIFY(!reply.has_value());
                QCOMPARE(reply.error().code, engine::ErrorCode::OutOfMemory);
                QCOMPARE(faulty.accounts(), accounts);
            }
            QCOMPARE(tokensOf(turn(faulty, c)), expected);
        }
    }
}

TEST_CLASS(TestOutOfMemory)
#include "tst_out_of_memory.moc"
