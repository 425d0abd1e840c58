// SPDX-License-Identifier: Apache-2.0
// Re-placing a loaded model: only what changed moves, nothing is read again, and a refused or
// cancelled move leaves the former model answering, also when old and new places do not fit side
// by side and also when the memory of an undone move cannot be had back at once.
#include "tests/engine/run/loader_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <random>

using engine::ErrorCode;
using namespace support;

namespace {

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
        Place place = Place{id, id};
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
        {"gpu", byPart(q(Place{gpu, gpu}), q(Place{gpu, gpu}), Place{gpu, gpu})},
        {"cpu", byPart(q(Place{cpu, cpu}), q(Place{cpu, cpu}), Place{cpu, cpu})},
        {"towers visit",
         byPart(q(Place{gpu, gpu}), q(Place{cpu, gpu, Residency::OnUse}), Place{cpu, cpu})},
        {"towers on the second", byPart(q(Place{gpu, gpu}), q(Place{gpu1, gpu1}), Place{cpu, cpu})},
        {"tables on disk",
         byPart(q(Place{gpu, gpu}), q(Place{cpu, cpu}), Place{disk, cpu, Residency::Stream})},
        {"layers streamed",
         byPart(q(Place{cpu, gpu, Residency::Stream}), q(Place{cpu, cpu}), Place{cpu, cpu})},
        {"layers copied", byPart(q(Place{cpu, gpu}), q(Place{cpu, cpu}), Place{cpu, cpu})},
        {"all on disk",
         byPart(q(Place{disk, gpu, Residency::Stream}), q(Place{disk, gpu1, Residency::OnUse}),
                Place{disk, cpu, Residency::Stream})},
        {"alternating", layersSplit(2, gpu, gpu1)},
        {"alternating the other way", layersSplit(2, gpu1, gpu)},
        {"thirds", layersSplit(3, cpu, gpu)}};
    return kRules;
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
    support::addColumns<size_t, size_t>("from", "to");
    for (size_t from = 0; from < rules().size(); ++from) {
        for (size_t to = 0; to < rules().size(); ++to) {
            QTest::addRow("%s to %s", rules()[from].name, rules()[to].name) << from << to;
        }
    }
}

void TestTensorStore::everyMove() {
    QFETCH(size_t, from);
    QFETCH(size_t, to);
    Loading f;
    const auto old_plan = f.planOf(rules().at(from).rule);
    const auto new_plan = f.planOf(rules().at(to).rule);
    auto store = f.load(old_plan);
    VERIFY_VALUE(store);
    const uint64_t generation = (*store)->generation();
    f.source.bytes_read = 0;
    const auto moved = f.move(**store, new_plan);
    VERIFY_VALUE(moved);
    // Reading is only for what had no copy in memory and gets one.
    uint64_t must_read = 0;
    for (size_t i = 0; i < old_plan.tensors.size(); ++i) {
        const auto& old_row = old_plan.tensors[i];
        const auto& new_row = new_plan.tensors[i];
        QCOMPARE(old_row.tensor, new_row.tensor);
        if (old_row.store == DeviceId::disk() && new_row.store != DeviceId::disk()) {
            must_read += f.golden.tensors.at(old_row.tensor).bytes.size();
        }
    }
    QCOMPARE(f.source.bytes_read.load(), must_read);
    QVERIFY((*store)->generation() > generation);
    VERIFY_EMPTY(f.devices.firstDifference(new_plan));
    VERIFY_EMPTY(support::firstWrong(**store, f.expected));
    store->reset();
    QCOMPARE(f.devices.live(), size_t{0});
}

void TestTensorStore::randomWalk() {
    Loading f("e4b/model");
    std::mt19937 random(11);
    const auto randomPlan = [&] {
        return f.planOf([&](const engine::ExpectedTensor& tensor) {
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
    auto store = f.load(plan);
    VERIFY_VALUE(store);
    for (int step = 0; step < 100; ++step) {
        plan = randomPlan();
        const auto moved = f.move(**store, plan);
        VERIFY_VALUE(moved);
        VERIFY_EMPTY(f.devices.firstDifference(plan));
        if (step % 10 == 9) {
            VERIFY_EMPTY(support::firstWrong(**store, f.expected));
        }
    }
}

void TestTensorStore::formatChange() {
    Loading f;
    const auto planWith = [&](Format format) {
        return f.planOf(
            everywhere(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, format}));
    };
    auto store = f.load(planWith(Format::Nf4));
    QVERIFY(store.has_value());
    for (const Format format :
         {Format::AsStored, Format::Nf4, Format::Nf4Dq, Format::Q8, Format::Fp4}) {
        const auto plan = planWith(format);
        QVERIFY(f.move(**store, plan).has_value());
        VERIFY_EMPTY(support::firstWrong(**store, f.expected));
        VERIFY_EMPTY(f.devices.firstDifference(plan));
    }
}

void TestTensorStore::headAppearsAndDisappears() {
    Loading f;
    const auto tied = f.planOf(rules()[0].rule);
    auto own = tied;
    engine::TensorPlacement head = *tied.find("model.language_model.embed_tokens.weight");
    head.tensor = "lm_head.weight";
    head.part = {engine::PartRole::Head};
    head.format = Format::Q8;
    head.bytes = engine::formatBytes(Format::Q8, engine::TensorType::BF16, 1024,
                                     f.golden.config.text.hidden_size);
    own.tensors.push_back(head);
    auto store = f.load(tied);
    QVERIFY(store.has_value());
    const auto table = (*store)->handleOf("model.language_model.embed_tokens.weight");
    for (int round = 0; round < 3; ++round) {
        QVERIFY(f.move(**store, own).has_value());
        QVERIFY((*store)->handleOf("lm_head.weight") != table);
        QCOMPARE((*store)->format((*store)->handleOf("lm_head.weight")), Format::Q8);
        VERIFY_EMPTY(support::firstWrong(**store, f.expected));
        QVERIFY(f.devices.firstDifference(own).empty());
        QVERIFY(f.move(**store, tied).has_value());
        QCOMPARE((*store)->handleOf("lm_head.weight"), table);
        QVERIFY(f.devices.firstDifference(tied).empty());
    }
}

void TestTensorStore::failedAllocations_data() {
    support::addColumns<size_t, size_t, QString>("from", "to", "device");
    const std::vector<std::pair<size_t, size_t>> moves = {{0, 1}, {1, 2}, {8, 9}, {5, 7}, {7, 0}};
    for (const auto& [from, to] : moves) {
        for (const char* device : {"cpu", "sim:0", "sim:1"}) {
            QTest::addRow("%s to %s, %s", rules().at(from).name, rules().at(to).name, device)
                << from << to << QString(device);
        }
    }
}

void TestTensorStore::failedAllocations() {
    QFETCH(size_t, from);
    QFETCH(size_t, to);
    QFETCH(QString, device);
    Loading f;
    const auto old_plan = f.planOf(rules().at(from).rule);
    const auto new_plan = f.planOf(rules().at(to).rule);
    auto store = engine::load(f.source, f.golden.config, old_plan, f.devices.owned.set);
    VERIFY_VALUE(store);
    const DeviceId id = *DeviceId::parse(device.toStdString());
    for (uint64_t n = 1;; n += (n < 40 ? 1 : 17) * support::kPointStride) {
        const uint64_t before = f.devices.host(id).allocationCalls();
        f.devices.host(id).failAllocation(n);
        const auto moved = engine::applyPlan(**store, new_plan);
        f.devices.host(id).failAllocation(0);
        const bool was_hit = f.devices.host(id).allocationCalls() - before >= n;
        const auto& holds = moved.has_value() ? new_plan : old_plan;
        if (!moved) {
            QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
        }
        VERIFY_EMPTY(f.devices.firstDifference(holds));
        if (n % 8 == 1) {
            VERIFY_EMPTY(support::firstWrong(**store, f.expected));
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
    Loading f;
    const auto old_plan = f.planOf(rules()[8].rule);
    const auto new_plan = f.planOf(rules()[9].rule);
    auto store = f.load(old_plan);
    QVERIFY(store.has_value());
    int cancelled = 0;
    for (int step = 1;; step += 11) {
        std::stop_source stopper;
        auto options = optionsFor(f.devices);
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
        VERIFY_EMPTY(f.devices.firstDifference(old_plan));
        VERIFY_EMPTY(support::firstWrong(**store, f.expected));
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
    auto store =
        engine::load(source, golden.config, old_plan, devices.owned.set, optionsFor(devices));
    QVERIFY(store.has_value());
    source.reads = 0;
    for (int round = 0; round < 4; ++round) {
        const auto& plan = round % 2 == 0 ? new_plan : old_plan;
        const auto moved = engine::applyPlan(**store, plan, optionsFor(devices));
        VERIFY_VALUE(moved);
        VERIFY_EMPTY(devices.firstDifference(plan));
    }
    QCOMPARE(source.reads.load(), uint64_t{0});
    VERIFY_EMPTY(support::firstWrong(**store, expected));
    // A format change that fits only once the old copies are gone.
    const auto gpu = planFor(
        golden.config, source,
        everywhere(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, Format::Nf4}));
    const auto wide =
        planFor(golden.config, source, everywhere(Place{DeviceId::sim(0), DeviceId::sim(0)}));
    TestDevices one(0, engine::weightBytes(wide).at(DeviceId::sim(0)));
    auto second = engine::load(source, golden.config, gpu, one.owned.set, optionsFor(one));
    QVERIFY(second.has_value());
    for (const auto* plan : {&wide, &gpu, &wide}) {
        const auto moved = engine::applyPlan(**second, *plan, optionsFor(one));
        VERIFY_VALUE(moved);
        QVERIFY(one.firstDifference(*plan).empty());
        VERIFY_EMPTY(support::firstWrong(**second, expected));
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
                                          optionsFor(devices));
                VERIFY_VALUE(store);
                const auto moved = engine::applyPlan(**store, new_plan, optionsFor(devices));
                QVERIFY(!moved.has_value());
                QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
                VERIFY_EMPTY(devices.firstDifference(old_plan));
                VERIFY_EMPTY(support::firstWrong(**store, expected));
                // And the same move succeeds when there is room.
                devices.host(id).setCapacity(0);
                QVERIFY(engine::applyPlan(**store, new_plan, optionsFor(devices)).has_value());
                QVERIFY(devices.firstDifference(new_plan).empty());
            }
        }
    }
}

void TestTensorStore::stickyFailure_data() {
    support::addColumns<size_t, size_t>("from", "to");
    QTest::newRow("alternating, swapped") << size_t{8} << size_t{9};
    QTest::newRow("gpu to cpu") << size_t{0} << size_t{1};
    QTest::newRow("towers visit to layers streamed") << size_t{2} << size_t{5};
    QTest::newRow("all on disk to gpu") << size_t{7} << size_t{0};
    QTest::newRow("layers copied to all on disk") << size_t{6} << size_t{7};
}

void TestTensorStore::stickyFailure() {
    // From the n-th allocation on nothing is given, the undo included; then memory comes back.
    QFETCH(size_t, from);
    QFETCH(size_t, to);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    static Expected expected(golden);
    const MemorySource source(golden.tensors);
    const auto old_plan = planFor(golden.config, source, rules().at(from).rule);
    const auto new_plan = planFor(golden.config, source, rules().at(to).rule);
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
        VERIFY_VALUE(store);
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
        VERIFY_EMPTY(support::firstWrong(**store, expected));
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
    Loading f;
    const auto old_plan = f.planOf(rules()[7].rule); // all on disk
    const auto new_plan = f.planOf(rules()[0].rule);
    auto store = f.load(old_plan);
    QVERIFY(store.has_value());
    for (uint64_t n = 1; n < 400; n += 57) {
        f.source.reads = 0;
        f.source.fail_read = n;
        const auto moved = f.move(**store, new_plan);
        f.source.fail_read = 0;
        QVERIFY(!moved.has_value());
        QCOMPARE(moved.error().code, ErrorCode::InvalidFile);
        VERIFY_EMPTY(f.devices.firstDifference(old_plan));
    }
    VERIFY_EMPTY(support::firstWrong(**store, f.expected));
}

void TestTensorStore::samePlanChangesNothing() {
    Loading f;
    const auto plan = f.planOf(rules()[2].rule);
    auto store = f.load(plan);
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
    f.source.reads = 0;
    const uint64_t allocations = f.devices.host(DeviceId::sim(0)).allocationCalls();
    QVERIFY(f.move(**store, plan).has_value());
    QCOMPARE(f.devices.host(DeviceId::sim(0)).allocationCalls(), allocations);
    QCOMPARE(f.source.reads.load(), uint64_t{0});
    QVERIFY(collect() == addresses);
}

TEST_CLASS(TestTensorStore)
#include "tst_tensor_store.moc"
