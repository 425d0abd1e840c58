// SPDX-License-Identifier: Apache-2.0
// Re-placing a loaded model: only what changed moves, nothing is read again, and a refused or
// cancelled move leaves the former model answering, also when old and new places do not fit side
// by side and also when the memory of an undone move cannot be had back at once.
#include "tests/engine/run/loader_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <random>

using engine::ErrorCode;
using support::DeviceId;
using support::everywhere;
using support::Expected;
using support::Format;
using support::GoldenModel;
using support::MemorySource;
using support::Place;
using support::planFor;
using support::Residency;
using support::TestDevices;

namespace {

Place atTensorStore(DeviceId store,
                    DeviceId compute,
                    Residency residency = Residency::Always,
                    Format format = Format::AsStored) {
    return {store, compute, residency, format};
}

const Format kQuant = Format::Nf4Dq;

/// A few placements that a user might go through.
struct NamedRule {
    const char* name;
    support::PlaceRule rule;
};

support::PlaceRule byPart(Place layers, Place towers, Place tables) {
    return [=](const engine::ExpectedTensor& tensor) {
        if (tensor.tower != engine::Tower::Language) {
            return towers;
        }
        if (tensor.kind == engine::TensorKind::Embedding) {
            Place place = tables;
            place.format = Format::AsStored;
            return place;
        }
        return layers;
    };
}

support::PlaceRule layersSplit(int modulo, DeviceId even, DeviceId odd) {
    return [=](const engine::ExpectedTensor& tensor) {
        const DeviceId id = tensor.layer >= 0 && tensor.layer % modulo == 0 ? even : odd;
        Place place = atTensorStore(id, id);
        place.format = tensor.kind == engine::TensorKind::Embedding ? Format::AsStored : kQuant;
        return place;
    };
}

const std::vector<NamedRule>& rules() {
    const DeviceId cpu = DeviceId::cpu();
    const DeviceId gpu = DeviceId::sim(0);
    const DeviceId gpu1 = DeviceId::sim(1);
    const DeviceId disk = DeviceId::disk();
    const auto q = [](Place place) {
        place.format = kQuant;
        return place;
    };
    static const std::vector<NamedRule> kRules = {
        {"gpu",
         byPart(q(atTensorStore(gpu, gpu)), q(atTensorStore(gpu, gpu)), atTensorStore(gpu, gpu))},
        {"cpu",
         byPart(q(atTensorStore(cpu, cpu)), q(atTensorStore(cpu, cpu)), atTensorStore(cpu, cpu))},
        {"towers visit",
         byPart(q(atTensorStore(gpu, gpu)), q(atTensorStore(cpu, gpu, Residency::OnUse)),
                atTensorStore(cpu, cpu))},
        {"towers on the second",
         byPart(q(atTensorStore(gpu, gpu)), q(atTensorStore(gpu1, gpu1)), atTensorStore(cpu, cpu))},
        {"tables on disk", byPart(q(atTensorStore(gpu, gpu)), q(atTensorStore(cpu, cpu)),
                                  atTensorStore(disk, cpu, Residency::Stream))},
        {"layers streamed", byPart(q(atTensorStore(cpu, gpu, Residency::Stream)),
                                   q(atTensorStore(cpu, cpu)), atTensorStore(cpu, cpu))},
        {"layers copied",
         byPart(q(atTensorStore(cpu, gpu)), q(atTensorStore(cpu, cpu)), atTensorStore(cpu, cpu))},
        {"all on disk", byPart(q(atTensorStore(disk, gpu, Residency::Stream)),
                               q(atTensorStore(disk, gpu1, Residency::OnUse)),
                               atTensorStore(disk, cpu, Residency::Stream))},
        {"alternating", layersSplit(2, gpu, gpu1)},
        {"alternating the other way", layersSplit(2, gpu1, gpu)},
        {"thirds", layersSplit(3, cpu, gpu)}};
    return kRules;
}

engine::LoadOptions optionsForTensorStore(TestDevices& devices) {
    engine::LoadOptions options;
    options.parallel = engine::poolParallelFor(devices.owned.pool.get());
    return options;
}

std::string messageOfTensorStore(const auto& result) {
    return result.has_value() ? std::string() : result.error().message;
}

/// Device whose allocations fail from a moment on, until it is healed.
class FailingDevice : public kernels::cpu::HostDevice {
public:
    using HostDevice::HostDevice;
    void* allocate(size_t bytes, int tag) override {
        if (fail_from != 0 && allocationCalls() + refused + 1 >= fail_from) {
            ++refused;
            return nullptr;
        }
        return HostDevice::allocate(bytes, tag);
    }
    uint64_t fail_from = 0; ///< Calls are counted from construction; 0 = healthy.
    uint64_t refused = 0;
};

} // namespace

class TestTensorStore : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyMove_data();
    void everyMove();
    void randomWalk();
    void formatChange();
    void headAppearsAndDisappears();
    void failedAllocations_data();
    void failedAllocations();
    void cancelledMoves();
    void swapInTightMemory();
    void swapThatCannotFit();
    void stickyFailure_data();
    void stickyFailure();
    void failingReadsDuringMove();
    void samePlanChangesNothing();
};

void TestTensorStore::everyMove_data() {
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    for (size_t from = 0; from < rules().size(); ++from) {
        for (size_t to = 0; to < rules().size(); ++to) {
            QTest::addRow("%s to %s", rules()[from].name, rules()[to].name)
                << static_cast<int>(from) << static_cast<int>(to);
        }
    }
}

void TestTensorStore::everyMove() {
    QFETCH(int, from);
    QFETCH(int, to);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    static Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[static_cast<size_t>(from)].rule);
    const auto new_plan = planFor(golden.config, source, rules()[static_cast<size_t>(to)].rule);
    TestDevices devices;
    auto store = engine::load(source, golden.config, old_plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY2(store.has_value(), messageOfTensorStore(store).c_str());
    const uint64_t generation = (*store)->generation();
    source.bytes_read = 0;
    const auto moved = engine::applyPlan(**store, new_plan, optionsForTensorStore(devices));
    QVERIFY2(moved.has_value(), messageOfTensorStore(moved).c_str());
    // Reading is only for what had no copy in memory and gets one.
    uint64_t must_read = 0;
    for (size_t i = 0; i < old_plan.tensors.size(); ++i) {
        const auto& old_row = old_plan.tensors[i];
        const auto& new_row = new_plan.tensors[i];
        QCOMPARE(old_row.tensor, new_row.tensor);
        if (old_row.store == DeviceId::disk() && new_row.store != DeviceId::disk()) {
            must_read += golden.tensors.at(old_row.tensor).bytes.size();
        }
    }
    QCOMPARE(source.bytes_read.load(), must_read);
    QVERIFY((*store)->generation() > generation);
    const std::string difference = devices.firstDifference(new_plan);
    QVERIFY2(difference.empty(), difference.c_str());
    const std::string wrong = support::firstWrong(**store, expected);
    QVERIFY2(wrong.empty(), wrong.c_str());
    store->reset();
    QCOMPARE(devices.live(), size_t{0});
}

void TestTensorStore::randomWalk() {
    const GoldenModel& golden = GoldenModel::get("e4b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    std::mt19937 random(11);
    TestDevices devices;
    const auto randomPlan = [&] {
        return planFor(golden.config, source, [&](const engine::ExpectedTensor& tensor) {
            static const std::vector<DeviceId> kCompute = {DeviceId::cpu(), DeviceId::sim(0),
                                                           DeviceId::sim(1)};
            Place place;
            place.compute = kCompute[random() % 3];
            place.store = random() % 2 == 0   ? place.compute
                          : random() % 2 == 0 ? DeviceId::cpu()
                                              : DeviceId::disk();
            place.residency = static_cast<Residency>(1 + random() % 3);
            if (place.residency == Residency::OnUse && tensor.tower == engine::Tower::Language) {
                place.residency = Residency::Stream;
            }
            place.format = random() % 3 == 0   ? Format::AsStored
                           : random() % 2 == 0 ? Format::Nf4
                                               : Format::Q8;
            if (tensor.kind == engine::TensorKind::Embedding) {
                place.format = Format::AsStored;
            }
            return place;
        });
    };
    auto plan = randomPlan();
    auto store = engine::load(source, golden.config, plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY2(store.has_value(), messageOfTensorStore(store).c_str());
    for (int step = 0; step < 100; ++step) {
        plan = randomPlan();
        const auto moved = engine::applyPlan(**store, plan, optionsForTensorStore(devices));
        QVERIFY2(moved.has_value(), messageOfTensorStore(moved).c_str());
        const std::string difference = devices.firstDifference(plan);
        QVERIFY2(difference.empty(), difference.c_str());
        if (step % 10 == 9) {
            const std::string wrong = support::firstWrong(**store, expected);
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }
}

void TestTensorStore::formatChange() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    TestDevices devices;
    const auto planWith = [&](Format format) {
        return planFor(golden.config, source,
                       everywhere(atTensorStore(DeviceId::sim(0), DeviceId::sim(0),
                                                Residency::Always, format)));
    };
    auto store = engine::load(source, golden.config, planWith(Format::Nf4), devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    for (const Format format :
         {Format::AsStored, Format::Nf4, Format::Nf4Dq, Format::Q8, Format::Fp4}) {
        const auto plan = planWith(format);
        QVERIFY(engine::applyPlan(**store, plan, optionsForTensorStore(devices)).has_value());
        const std::string wrong = support::firstWrong(**store, expected);
        QVERIFY2(wrong.empty(), wrong.c_str());
        const std::string difference = devices.firstDifference(plan);
        QVERIFY2(difference.empty(), difference.c_str());
    }
}

void TestTensorStore::headAppearsAndDisappears() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    TestDevices devices;
    const auto tied = planFor(golden.config, source, rules()[0].rule);
    auto own = tied;
    engine::TensorPlacement head = *tied.find("model.language_model.embed_tokens.weight");
    head.tensor = "lm_head.weight";
    head.part = {engine::PartRole::Head};
    head.format = Format::Q8;
    head.bytes = engine::formatBytes(Format::Q8, engine::TensorType::BF16, 1024,
                                     golden.config.text.hidden_size);
    own.tensors.push_back(head);
    auto store = engine::load(source, golden.config, tied, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    const auto table = (*store)->handleOf("model.language_model.embed_tokens.weight");
    for (int round = 0; round < 3; ++round) {
        QVERIFY(engine::applyPlan(**store, own, optionsForTensorStore(devices)).has_value());
        QVERIFY((*store)->handleOf("lm_head.weight") != table);
        QCOMPARE((*store)->format((*store)->handleOf("lm_head.weight")), Format::Q8);
        const std::string wrong = support::firstWrong(**store, expected);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(devices.firstDifference(own).empty());
        QVERIFY(engine::applyPlan(**store, tied, optionsForTensorStore(devices)).has_value());
        QCOMPARE((*store)->handleOf("lm_head.weight"), table);
        QVERIFY(devices.firstDifference(tied).empty());
    }
}

void TestTensorStore::failedAllocations_data() {
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::addColumn<QString>("device");
    const std::vector<std::pair<int, int>> moves = {{0, 1}, {1, 2}, {8, 9}, {5, 7}, {7, 0}};
    for (const auto& [from, to] : moves) {
        for (const char* device : {"cpu", "sim:0", "sim:1"}) {
            QTest::addRow("%s to %s, %s", rules()[static_cast<size_t>(from)].name,
                          rules()[static_cast<size_t>(to)].name, device)
                << from << to << QString(device);
        }
    }
}

void TestTensorStore::failedAllocations() {
    QFETCH(int, from);
    QFETCH(int, to);
    QFETCH(QString, device);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    static Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[static_cast<size_t>(from)].rule);
    const auto new_plan = planFor(golden.config, source, rules()[static_cast<size_t>(to)].rule);
    TestDevices devices;
    auto store = engine::load(source, golden.config, old_plan, devices.owned.set);
    QVERIFY2(store.has_value(), messageOfTensorStore(store).c_str());
    const DeviceId id = *DeviceId::parse(device.toStdString());
    for (uint64_t n = 1;; n += (n < 40 ? 1 : 17) * support::kPointStride) {
        const uint64_t before = devices.host(id).allocationCalls();
        devices.host(id).failAllocation(n);
        const auto moved = engine::applyPlan(**store, new_plan);
        devices.host(id).failAllocation(0);
        const bool was_hit = devices.host(id).allocationCalls() - before >= n;
        const auto& holds = moved.has_value() ? new_plan : old_plan;
        if (!moved) {
            QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
        }
        const std::string difference = devices.firstDifference(holds);
        QVERIFY2(difference.empty(), difference.c_str());
        if (n % 8 == 1) {
            const std::string wrong = support::firstWrong(**store, expected);
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
        if (!was_hit) {
            QVERIFY(moved.has_value());
            break;
        }
        if (moved.has_value()) { // found its way around: start again from the old plan
            QVERIFY(engine::applyPlan(**store, old_plan).has_value());
        }
    }
}

void TestTensorStore::cancelledMoves() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[8].rule);
    const auto new_plan = planFor(golden.config, source, rules()[9].rule);
    TestDevices devices;
    auto store = engine::load(source, golden.config, old_plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    int cancelled = 0;
    for (int step = 1;; step += 11) {
        std::stop_source stopper;
        auto options = optionsForTensorStore(devices);
        options.stop = stopper.get_token();
        int calls = 0;
        options.on_progress = [&](const engine::LoadProgress&) {
            if (++calls == step) {
                stopper.request_stop();
            }
        };
        const auto moved = engine::applyPlan(**store, new_plan, options);
        if (moved.has_value()) {
            break; // the stop came after the last tensor, or not at all
        }
        ++cancelled;
        QCOMPARE(moved.error().code, ErrorCode::Cancelled);
        const std::string difference = devices.firstDifference(old_plan);
        QVERIFY2(difference.empty(), difference.c_str());
        const std::string wrong = support::firstWrong(**store, expected);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    QVERIFY(cancelled > 5);
}

void TestTensorStore::swapInTightMemory() {
    // sim:0 and sim:1 exchange their layers; neither has a byte to spare.
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[8].rule);
    const auto new_plan = planFor(golden.config, source, rules()[9].rule);
    const auto old_bytes = engine::weightBytes(old_plan);
    const auto new_bytes = engine::weightBytes(new_plan);
    TestDevices devices(0, std::max(old_bytes.at(DeviceId::sim(0)), new_bytes.at(DeviceId::sim(0))),
                        std::max(old_bytes.at(DeviceId::sim(1)), new_bytes.at(DeviceId::sim(1))));
    auto store = engine::load(source, golden.config, old_plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    source.reads = 0;
    for (int round = 0; round < 4; ++round) {
        const auto& plan = round % 2 == 0 ? new_plan : old_plan;
        const auto moved = engine::applyPlan(**store, plan, optionsForTensorStore(devices));
        QVERIFY2(moved.has_value(), messageOfTensorStore(moved).c_str());
        const std::string difference = devices.firstDifference(plan);
        QVERIFY2(difference.empty(), difference.c_str());
    }
    QCOMPARE(source.reads.load(), uint64_t{0});
    const std::string wrong = support::firstWrong(**store, expected);
    QVERIFY2(wrong.empty(), wrong.c_str());
    // A format change that fits only once the old copies are gone.
    const auto gpu = planFor(golden.config, source,
                             everywhere(atTensorStore(DeviceId::sim(0), DeviceId::sim(0),
                                                      Residency::Always, Format::Nf4)));
    const auto wide = planFor(golden.config, source,
                              everywhere(atTensorStore(DeviceId::sim(0), DeviceId::sim(0))));
    TestDevices one(0, engine::weightBytes(wide).at(DeviceId::sim(0)));
    auto second =
        engine::load(source, golden.config, gpu, one.owned.set, optionsForTensorStore(one));
    QVERIFY(second.has_value());
    for (const auto* plan : {&wide, &gpu, &wide}) {
        const auto moved = engine::applyPlan(**second, *plan, optionsForTensorStore(one));
        QVERIFY2(moved.has_value(), messageOfTensorStore(moved).c_str());
        QVERIFY(one.firstDifference(*plan).empty());
        const std::string second_wrong = support::firstWrong(**second, expected);
        QVERIFY2(second_wrong.empty(), second_wrong.c_str());
    }
}

void TestTensorStore::swapThatCannotFit() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    const MemorySource source(golden.tensors);
    for (size_t from = 0; from < rules().size(); ++from) {
        for (size_t to = 0; to < rules().size(); ++to) {
            const auto old_plan = planFor(golden.config, source, rules()[from].rule);
            const auto new_plan = planFor(golden.config, source, rules()[to].rule);
            auto old_bytes = engine::weightBytes(old_plan);
            auto new_bytes = engine::weightBytes(new_plan);
            for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
                if (new_bytes[id] <= old_bytes[id]) {
                    continue;
                }
                TestDevices devices;
                devices.host(id).setCapacity(new_bytes[id] - 1);
                auto store = engine::load(source, golden.config, old_plan, devices.owned.set,
                                          optionsForTensorStore(devices));
                QVERIFY2(store.has_value(), messageOfTensorStore(store).c_str());
                const auto moved =
                    engine::applyPlan(**store, new_plan, optionsForTensorStore(devices));
                QVERIFY(!moved.has_value());
                QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
                const std::string difference = devices.firstDifference(old_plan);
                QVERIFY2(difference.empty(), difference.c_str());
                const std::string wrong = support::firstWrong(**store, expected);
                QVERIFY2(wrong.empty(), wrong.c_str());
                // And the same move succeeds when there is room.
                devices.host(id).setCapacity(0);
                QVERIFY(engine::applyPlan(**store, new_plan, optionsForTensorStore(devices))
                            .has_value());
                QVERIFY(devices.firstDifference(new_plan).empty());
            }
        }
    }
}

void TestTensorStore::stickyFailure_data() {
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::newRow("alternating, swapped") << 8 << 9;
    QTest::newRow("gpu to cpu") << 0 << 1;
    QTest::newRow("towers visit to layers streamed") << 2 << 5;
    QTest::newRow("all on disk to gpu") << 7 << 0;
    QTest::newRow("layers copied to all on disk") << 6 << 7;
}

void TestTensorStore::stickyFailure() {
    // From the n-th allocation on nothing is given, the undo included; then memory comes back.
    QFETCH(int, from);
    QFETCH(int, to);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    static Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[static_cast<size_t>(from)].rule);
    const auto new_plan = planFor(golden.config, source, rules()[static_cast<size_t>(to)].rule);
    for (uint64_t n = 1; n < 1200; n += n < 30 ? 3 : 61) {
        engine::DeviceSet set;
        std::map<DeviceId, std::unique_ptr<FailingDevice>> owned;
        for (const DeviceId id : {DeviceId::cpu(), DeviceId::sim(0), DeviceId::sim(1)}) {
            owned[id] = std::make_unique<FailingDevice>(0, nullptr, kernels::cpuScalarOps());
            owned[id]->setPoison(true);
            set[id] = owned[id].get();
        }
        // Little enough room that the move has to go tensor by tensor.
        for (const auto& [id, bytes] : engine::weightBytes(old_plan)) {
            const auto after = engine::weightBytes(new_plan);
            const auto found = after.find(id);
            owned[id]->setCapacity(std::max(bytes, found == after.end() ? 0 : found->second) +
                                   4096);
        }
        auto store = engine::load(source, golden.config, old_plan, set);
        QVERIFY2(store.has_value(), messageOfTensorStore(store).c_str());
        for (auto& [id, device] : owned) {
            device->fail_from = device->allocationCalls() + n;
        }
        const auto moved = engine::applyPlan(**store, new_plan);
        for (auto& [id, device] : owned) {
            device->fail_from = 0;
        }
        if (!moved) {
            QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
        }
        const std::string wrong = support::firstWrong(**store, expected);
        QVERIFY2(wrong.empty(), wrong.c_str());
        store->reset();
        for (auto& [id, device] : owned) {
            QCOMPARE(device->liveAllocations(), size_t{0});
        }
        if (moved.has_value()) {
            break;
        }
    }
}

void TestTensorStore::failingReadsDuringMove() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    Expected expected(golden);
    MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules()[7].rule); // all on disk
    const auto new_plan = planFor(golden.config, source, rules()[0].rule);
    TestDevices devices;
    auto store = engine::load(source, golden.config, old_plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    for (uint64_t n = 1; n < 400; n += 57) {
        source.reads = 0;
        source.fail_read = n;
        const auto moved = engine::applyPlan(**store, new_plan, optionsForTensorStore(devices));
        source.fail_read = 0;
        QVERIFY(!moved.has_value());
        QCOMPARE(moved.error().code, ErrorCode::InvalidFile);
        const std::string difference = devices.firstDifference(old_plan);
        QVERIFY2(difference.empty(), difference.c_str());
    }
    const std::string wrong = support::firstWrong(**store, expected);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestTensorStore::samePlanChangesNothing() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    const MemorySource source(golden.tensors);
    const auto plan = planFor(golden.config, source, rules()[2].rule);
    TestDevices devices;
    auto store = engine::load(source, golden.config, plan, devices.owned.set,
                              optionsForTensorStore(devices));
    QVERIFY(store.has_value());
    std::vector<const void*> addresses;
    const auto collect = [&] {
        std::vector<const void*> found;
        for (int handle = 0; handle < (*store)->size(); ++handle) {
            const auto* row = plan.find((*store)->name(handle));
            if (row->store == row->compute) {
                found.push_back((*store)->acquire(handle)->data);
            }
        }
        return found;
    };
    addresses = collect();
    source.reads = 0;
    const uint64_t allocations = devices.host(DeviceId::sim(0)).allocationCalls();
    QVERIFY(engine::applyPlan(**store, plan, optionsForTensorStore(devices)).has_value());
    QCOMPARE(devices.host(DeviceId::sim(0)).allocationCalls(), allocations);
    QCOMPARE(source.reads.load(), uint64_t{0});
    QVERIFY(collect() == addresses);
}

TEST_CLASS(TestTensorStore)
#include "tst_tensor_store.moc"
