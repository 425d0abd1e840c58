// SPDX-License-Identifier: Apache-2.0
// Factors that travel with their base (adapter.place follow_base): every site gives, to the bit,
// what it gives with all factors where they compute, whether they stream or visit, from host memory
// or from the adapter's file; then memory, failure at every allocation, moves, strengths, a file
// that changes.
#include "engine/api/placement.h"
#include "engine/lora/adapter_runtime.h"
#include "kernels/cpu/host_device.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/engine/lora/base_rows.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <system_error>

using namespace engine;
using namespace lora_test;
using kernels::MutF32;
using Trip = AdapterHome::Travel;

namespace {

constexpr int kAdapterTravelTag = static_cast<int>(MemoryPart::Adapter);

std::string_view groupOf(const std::string& tensor) {
    return tensor.find("vision") != std::string::npos  ? "vision"
           : tensor.find("audio") != std::string::npos ? "audio"
                                                       : "language";
}

struct AdapterTravelFixture {
    explicit AdapterTravelFixture(const std::string& name) : model(goldenModel(name)) {
        for (const ExpectedTensor& tensor : model.tensors) {
            sizes[tensor.name] = product(tensor.shape);
        }
        sizes[std::string(kHeadTensor)] = sizes.at("model.language_model.embed_tokens.weight");
    }

    ReadBaseRows readBase() {
        return [this](const std::string& tensor, int64_t first, int64_t count,
                      std::span<float> out) -> Result<void> {
            const auto all = noise(sizes.at(tensor), std::hash<std::string>{}(tensor), 0.3F);
            const auto row = static_cast<int64_t>(out.size()) / std::max<int64_t>(count, 1);
            std::copy_n(all.begin() + first * row, out.size(), out.begin());
            return {};
        };
    }
    AdapterHomeOf homes(Trip travel, bool is_on_disk) {
        return [this, travel, is_on_disk](const std::string& tensor) {
            AdapterHome home(&gpu);
            home.travel = travel;
            home.is_on_disk = travel != Trip::Stays && is_on_disk;
            home.group = travel == Trip::Visits ? groupOf(tensor) : std::string_view();
            return home;
        };
    }
    std::shared_ptr<const Adapter> load(const std::filesystem::path& folder) {
        return support::must(loadAdapter(folder, model.config, model.tensors), "adapter");
    }

    Model model;
    std::map<std::string, int64_t> sizes;
    kernels::cpu::HostDevice host{0, nullptr, kernels::cpuScalarOps()};
    kernels::cpu::HostDevice gpu{0, nullptr, kernels::cpuScalarOps()};
};

/// What the set adds at every linear and expert site of its adapters, one after the other.
Result<std::vector<float>> applyAll(AdapterTravelFixture& f, AdapterSet& set) {
    std::vector<float> all;
    for (const AdapterEntry& entry : set.entries()) {
        for (const LowRankUpdate& u : entry.adapter->updates()) {
            if (u.kind == TensorKind::Embedding) {
                continue;
            }
            for (int64_t expert = 0; expert < std::max<int64_t>(u.experts, 1); ++expert) {
                std::vector<float> x = noise(2 * u.in, 5);
                std::vector<float> y = noise(2 * u.out, 6);
                ENGINE_TRY(set.applyExpert(set.find(u.tensor), expert, f.gpu.queue(),
                                           {x.data(), 2, u.in, u.in},
                                           MutF32{y.data(), 2, u.out, u.out}));
                all.insert(all.end(), y.begin(), y.end());
            }
        }
    }
    return all;
}

std::vector<float> mustApply(AdapterTravelFixture& f, AdapterSet& set) {
    return support::must(applyAll(f, set), "adapters");
}

/// Bytes of linear and expert updates: all, the largest site, the largest group.
struct Sums {
    uint64_t all = 0, largest = 0, group = 0;
};
Sums sumsOf(const std::vector<std::shared_ptr<const Adapter>>& adapters) {
    Sums sums;
    std::map<std::string, uint64_t> sites, groups;
    for (const auto& adapter : adapters) {
        for (const TensorFootprint& row : adapter->footprint().tensors) {
            sums.all += row.update_bytes;
            sites[row.tensor] += row.update_bytes;
            groups[std::string(groupOf(row.tensor))] += row.update_bytes;
        }
    }
    for (const auto& [name, bytes] : sites) {
        sums.largest = std::max(sums.largest, bytes);
    }
    for (const auto& [name, bytes] : groups) {
        sums.group = std::max(sums.group, bytes);
    }
    return sums;
}

} // namespace

class TestAdapterTravel : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void asWhereTheyCompute_data();
    void asWhereTheyCompute();
    void noMemory_data();
    void noMemory();
    void everyMove();
    void roomIsMadeAgain();
    void tightMoves();
    void changedFile();
};

void TestAdapterTravel::asWhereTheyCompute_data() {
    support::addColumns<QString, QStringList, int, bool>("model", "adapters", "travel",
                                                         "is_on_disk");
    const QString e2b = QString::fromStdString((support::goldenDir() / "e2b/adapters").string());
    const QString own = QString::fromStdString(adapterData().string());
    for (const Trip travel : {Trip::Streams, Trip::Visits}) {
        for (const bool is_on_disk : {false, true}) {
            const auto row = [&](const char* title, const char* model, const QStringList& list) {
                QTest::addRow("%s, %s from %s", title,
                              travel == Trip::Streams ? "streamed" : "visiting",
                              is_on_disk ? "disk" : "host memory")
                    << QString(model) << list << static_cast<int>(travel) << is_on_disk;
            };
            row("plain", "e2b", {e2b + "/multimodal"});
            row("DoRA", "e2b", {e2b + "/dora"});
            row("bias of B", "e2b", {own + "/lora_bias"});
            row("two", "e2b", {e2b + "/multimodal", e2b + "/dora"});
            row("experts", "moe26b", {own + "/experts"});
        }
    }
}

void TestAdapterTravel::asWhereTheyCompute() {
    QFETCH(QString, model);
    QFETCH(QStringList, adapters);
    QFETCH(int, travel);
    QFETCH(bool, is_on_disk);
    AdapterTravelFixture f(model.toStdString());
    AdapterSet staying(f.host);
    AdapterSet travelling(f.host);
    const auto home = f.homes(static_cast<Trip>(travel), is_on_disk);
    std::vector<std::shared_ptr<const Adapter>> loaded;
    std::vector<int> ids;
    for (const QString& folder : adapters) {
        loaded.push_back(f.load(folder.toStdString()));
        QVERIFY(staying.add(loaded.back(), 0.8, true, f.homes(Trip::Stays, false), f.readBase()));
        const uint64_t before = f.gpu.usedBytes(kAdapterTravelTag);
        const uint64_t had = travelling.bytesOn(&f.gpu);
        const auto id = travelling.add(loaded.back(), 0.8, true, home, f.readBase());
        QVERIFY2(id, id ? "" : id.error().message.c_str());
        ids.push_back(*id);
        QCOMPARE(f.gpu.usedBytes(kAdapterTravelTag) - before, travelling.bytesOn(&f.gpu) - had);
    }
    const Sums sums = sumsOf(loaded);
    uint64_t scratch = 0;
    for (const auto& adapter : loaded) {
        scratch = std::max(scratch, adapter->footprint().scratch_bytes);
    }
    const bool is_stream = static_cast<Trip>(travel) == Trip::Streams;
    QCOMPARE(travelling.bytesOn(&f.gpu), scratch + (is_stream ? 2 * sums.largest : sums.group));
    QCOMPARE(travelling.bytesOn(&f.host), is_on_disk ? uint64_t{0} : sums.all);

    QVERIFY(mustApply(f, travelling) == mustApply(f, staying));
    QVERIFY(mustApply(f, travelling) == mustApply(f, staying)); // once more, from what is there
    const auto calls = f.gpu.allocationCalls() + f.host.allocationCalls();
    const auto both = [&](const std::function<Result<void>(AdapterSet&)>& change) {
        return change(staying).has_value() && change(travelling).has_value();
    };
    QVERIFY(both([&](AdapterSet& set) { return set.setStrength(ids[0], 0.3); }));
    QVERIFY(mustApply(f, travelling) == mustApply(f, staying));
    QVERIFY(both([&](AdapterSet& set) { return set.setEnabled(ids.back(), false); }));
    QVERIFY(mustApply(f, travelling) == mustApply(f, staying));
    QVERIFY(both([&](AdapterSet& set) { return set.setEnabled(ids.back(), true); }));
    QVERIFY(mustApply(f, travelling) == mustApply(f, staying));
    QCOMPARE(f.gpu.allocationCalls() + f.host.allocationCalls(), calls);
    // Steps that read factors in the device's memory are told that these are not there.
    std::vector<kernels::ProjectLora> updates;
    QVERIFY(!travelling.stepUpdates(travelling.find(loaded[0]->updates()[0].tensor), updates));
    QVERIFY(updates.empty());
    QVERIFY(both([&](AdapterSet& set) { return set.remove(ids[0]); }));
    QVERIFY(mustApply(f, travelling) == mustApply(f, staying));
    staying.clear();
    travelling.clear();
    QCOMPARE(f.gpu.liveAllocations() + f.host.liveAllocations(), size_t{0});
}

void TestAdapterTravel::noMemory_data() {
    QTest::addColumn<bool>("is_on_host");
    QTest::newRow("computing device") << false;
    QTest::newRow("host") << true;
}

void TestAdapterTravel::noMemory() {
    QFETCH(bool, is_on_host);
    AdapterTravelFixture f("e2b");
    const auto golden = support::goldenDir() / "e2b/adapters";
    const auto loaded = f.load(golden / "multimodal");
    AdapterSet set(f.host);
    const auto home = f.homes(Trip::Streams, false);
    const auto first = set.add(f.load(golden / "bridges"), 1.0, true, home, f.readBase());
    QVERIFY(first);
    const auto before = mustApply(f, set);
    kernels::cpu::HostDevice& device = is_on_host ? f.host : f.gpu;
    const uint64_t used = f.gpu.usedBytes(kAdapterTravelTag);
    const uint64_t used_host = f.host.usedBytes(kAdapterTravelTag);
    uint64_t n = 1;
    for (;; ++n) {
        device.failAllocation(n);
        const auto id = set.add(loaded, 1.0, true, home, f.readBase());
        device.failAllocation(0);
        if (id) {
            QVERIFY(set.remove(*id));
            break;
        }
        QCOMPARE(id.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(f.gpu.usedBytes(kAdapterTravelTag), used);
        QCOMPARE(f.host.usedBytes(kAdapterTravelTag), used_host);
        QVERIFY(mustApply(f, set) == before);
    }
    QVERIFY(n > 2);
    QCOMPARE(f.gpu.usedBytes(kAdapterTravelTag), used);
    // Moves: all or nothing.
    const auto away = f.homes(is_on_host ? Trip::Streams : Trip::Stays, is_on_host);
    const auto there = f.homes(Trip::Visits, false);
    QVERIFY(set.follow(away));
    const uint64_t used_away = f.gpu.usedBytes(kAdapterTravelTag);
    for (n = 1;; ++n) {
        device.failAllocation(n);
        const auto moved = set.follow(there);
        device.failAllocation(0);
        if (moved) {
            break;
        }
        QCOMPARE(moved.error().code, ErrorCode::OutOfMemory);
        QVERIFY(mustApply(f, set) == before); // a room that went first is there again
        QCOMPARE(f.gpu.usedBytes(kAdapterTravelTag), used_away);
    }
    QVERIFY(n > 1);
    QVERIFY(mustApply(f, set) == before);
}

void TestAdapterTravel::everyMove() {
    for (const char* name : {"e2b/adapters/multimodal", "e2b/adapters/dora"}) {
        AdapterTravelFixture f("e2b");
        const auto loaded = f.load(support::goldenDir() / name);
        AdapterSet set(f.host);
        const std::vector<AdapterHomeOf> homes = {
            f.homes(Trip::Stays, false),  f.homes(Trip::Streams, false),
            f.homes(Trip::Streams, true), f.homes(Trip::Visits, false),
            f.homes(Trip::Visits, true),  [&f](const std::string&) { return &f.host; }};
        QVERIFY(set.add(loaded, 0.6, true, homes[0], f.readBase()));
        const auto expected = mustApply(f, set);
        for (size_t from = 0; from < homes.size(); ++from) {
            for (size_t to = 0; to < homes.size(); ++to) {
                QVERIFY(set.follow(homes[from]));
                QVERIFY(mustApply(f, set) == expected);
                QVERIFY(set.follow(homes[to]));
                QVERIFY(mustApply(f, set) == expected);
                QCOMPARE(f.gpu.usedBytes(kAdapterTravelTag), set.bytesOn(&f.gpu));
                QCOMPARE(f.host.usedBytes(kAdapterTravelTag), set.bytesOn(&f.host));
            }
        }
        // Another strength while on disk, then in memory again.
        QVERIFY(set.follow(homes[2]));
        QVERIFY(set.setStrength(set.entries()[0].id, 0.2));
        const auto weaker = mustApply(f, set);
        QVERIFY(weaker != expected);
        QVERIFY(set.follow(homes[0]));
        QVERIFY(mustApply(f, set) == weaker);
        QVERIFY(set.setStrength(set.entries()[0].id, 0.6));
        QVERIFY(mustApply(f, set) == expected);
    }
}

/// Room that could not be had when the adapters became fewer is made when something comes.
void TestAdapterTravel::roomIsMadeAgain() {
    for (const Trip travel : {Trip::Streams, Trip::Visits}) {
        AdapterTravelFixture f("e2b");
        const auto golden = support::goldenDir() / "e2b/adapters";
        AdapterSet set(f.host);
        const auto home = f.homes(travel, false);
        QVERIFY(set.add(f.load(golden / "bridges"), 1.0, true, home, f.readBase()));
        const auto before = mustApply(f, set);
        const auto other = set.add(f.load(golden / "multimodal"), 1.0, true, home, f.readBase());
        QVERIFY(other);
        f.gpu.setCapacity(1); // nothing more, not even what is given back
        QVERIFY(set.remove(*other));
        const uint64_t without_room = f.gpu.usedBytes(kAdapterTravelTag);
        const auto refused = applyAll(f, set);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::OutOfMemory);
        f.gpu.setCapacity(0);
        QVERIFY(mustApply(f, set) == before);
        QVERIFY(f.gpu.usedBytes(kAdapterTravelTag) > without_room);
    }
}

/// Moves whose result fits are not refused for what they replace: rooms go first, blocks that lie
/// where they have to stay, renewed ones are written in place.
void TestAdapterTravel::tightMoves() {
    AdapterTravelFixture f("e2b");
    const auto loaded = f.load(support::goldenDir() / "e2b/adapters/dora");
    AdapterSet set(f.host);
    const auto visits = f.homes(Trip::Visits, false);
    const auto stays = f.homes(Trip::Stays, false);
    QVERIFY(set.add(loaded, 1.0, true, visits, f.readBase()));
    const auto expected = mustApply(f, set);
    const uint64_t of_visit = f.gpu.usedBytes(kAdapterTravelTag);
    QVERIFY(set.follow(stays));
    const uint64_t of_stay = f.gpu.usedBytes(kAdapterTravelTag);
    QVERIFY(set.follow(visits));
    f.gpu.setCapacity(std::max(of_visit, of_stay)); // not both beside each other
    const auto moved = set.follow(stays);
    VERIFY_VALUE(moved);
    QVERIFY(mustApply(f, set) == expected);
    // Other values of the base: B and columns change where they are.
    const ReadBaseRows doubled = lora_test::doubledRows(f.readBase());
    const auto calls = f.gpu.allocationCalls() + f.host.allocationCalls();
    QVERIFY(set.follow(stays, doubled, [](const std::string&) { return false; }));
    QVERIFY(mustApply(f, set) == expected);
    QVERIFY(set.follow(stays, doubled));
    const auto other = mustApply(f, set);
    QVERIFY(other != expected);
    QCOMPARE(f.gpu.allocationCalls() + f.host.allocationCalls(), calls);
    AdapterSet fresh(f.host);
    f.gpu.setCapacity(0);
    QVERIFY(fresh.add(loaded, 1.0, true, stays, doubled));
    QVERIFY(mustApply(f, fresh) == other);
    QVERIFY(set.follow(stays, f.readBase()));
    QVERIFY(mustApply(f, set) == expected);
    // From one way of travelling to another the host's copy stays.
    QVERIFY(set.follow(visits));
    const auto host_calls = f.host.allocationCalls();
    QVERIFY(set.follow(f.homes(Trip::Streams, false)));
    QCOMPARE(f.host.allocationCalls(), host_calls);
    QVERIFY(mustApply(f, set) == expected);
}

void TestAdapterTravel::changedFile() {
    QTemporaryDir folder;
    const std::filesystem::path copy = std::filesystem::path(folder.path().toStdString()) / "a";
    std::filesystem::copy(support::goldenDir() / "e2b/adapters/text", copy);
    AdapterTravelFixture f("e2b");
    AdapterSet set(f.host);
    QVERIFY(set.add(f.load(copy), 1.0, true, f.homes(Trip::Streams, true), f.readBase()));
    (void)mustApply(f, set);
    std::error_code failure;
    std::filesystem::resize_file(copy / "adapter_model.safetensors", 4096, failure);
#ifdef _WIN32
    QVERIFY(failure); // nobody changes it while it is open
    QVERIFY(applyAll(f, set));
    return;
#endif
    const auto all = applyAll(f, set);
    QVERIFY(!all);
    QCOMPARE(all.error().code, ErrorCode::InvalidFile);
    QVERIFY(all.error().message.find("adapter_model.safetensors") != std::string::npos);
}

TEST_CLASS_WITH(QCoreApplication, TestAdapterTravel)
#include "tst_adapter_travel.moc"
