// SPDX-License-Identifier: Apache-2.0
// What a plan calls fitting is loaded and answers, on cards whose driver takes another amount for
// itself than usual and rounds allocations to other steps: limits and cards that are full to the
// last granule, maps that are chosen and maps that are given, before anything was measured and
// after. Kernels compute nothing here (fake driver).
#include "engine/devices/card_costs_file.h"
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "kernels/cuda/cards.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using kernels::CardCosts;
using support::FakeCard;
using support::FakeDriver;
using support::FakeLive;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

engine::EngineOptions optionsFor(const FakeDriver& fake, const std::string& costs_file = {}) {
    kernels::CardOptions card;
    card.has_poison = false; // what a kernel is taken to have written are the zeros of new memory
    engine::EngineOptions options;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), card, costs_file));
    return options;
}

engine::LoadRequest
requestForFullCard(const std::string& map, const std::string& quant, bool has_adapter) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = map;
    request.quant = quant;
    request.is_reference_precision = false;
    request.context = 1024;
    request.threads = 1;
    if (has_adapter) {
        request.adapters.push_back({support::goldenAdapter("e2b", "text"), 1.0, true});
    }
    return request;
}

engine::GenerateRequest longPrompt() {
    return support::greedyRequest(std::vector<int32_t>(512, 5), 2);
}

uint64_t predictedOn(const engine::PlacementPlan& plan, engine::DeviceId id) {
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.id == id) {
            return device.parts.total();
        }
    }
    return 0;
}

uint64_t predictedOnCard(const engine::PlacementPlan& plan) {
    return predictedOn(plan, engine::DeviceId::cuda(0));
}

FakeCard cardWith(uint64_t context_mib, uint64_t granule_kib) {
    FakeCard card;
    card.context_bytes = context_mib * kMiB;
    card.granularity = granule_kib * 1024;
    return card;
}

struct Sweep {
    int loads = 0, refused = 0, on_card = 0;
    std::string wrong;
};

/// One program on a card: plan, and where that fits, load and answer.
void tryOne(const FakeCard& card,
            const engine::LoadRequest& request,
            const std::string& costs_file,
            Sweep& sweep) {
    FakeDriver fake({card});
    fake.has_management = true;
    {
        engine::Engine engine(optionsFor(fake, costs_file));
        const auto plan = engine.plan(request);
        const bool fits = plan.has_value() && plan->fits;
        ++(fits ? sweep.loads : sweep.refused);
        if (!fits) {
            return;
        }
        uint64_t limit = 0;
        for (const auto& [device, bytes] : request.limits) {
            limit = device == "cuda:0" ? bytes : limit;
        }
        const auto fail = [&](const std::string& what) {
            sweep.wrong += request.device_map.substr(0, 12) + ", limit " + std::to_string(limit) +
                           ", card of " + std::to_string(card.total) + ": " + what + "\n";
        };
        if (const auto loaded = engine.load(request, {}, {}); !loaded.has_value()) {
            fail("load: " + loaded.error().message);
            return;
        }
        if (const auto reply = engine.generate(longPrompt(), {}, {}); !reply.has_value()) {
            fail("reply: " + reply.error().message);
        }
        const uint64_t taken = fake.takenBytes(0);
        const uint64_t predicted = predictedOnCard(*engine.currentPlan());
        sweep.on_card += predicted > 0 ? 1 : 0;
        const uint64_t apart = taken > predicted ? taken - predicted : predicted - taken;
        // With room to spare each part that can be moved has a block of its own, which ends with
        // a granule that is not full. The ends of pieces, up to 255 bytes each, are not predicted.
        const uint64_t bound = limit > 0 ? limit : card.total - card.used_by_others;
        constexpr uint64_t kEndsOfPieces = 64 << 10U;
        const uint64_t granules = std::max<uint64_t>(card.granularity, 256 << 10U) *
                                  (bound >= predicted + 6 * card.granularity ? 6 : 1);
        if (predicted > 0 && apart >= granules + kEndsOfPieces) {
            fail("predicted " + std::to_string(predicted) + ", taken " + std::to_string(taken));
        }
        if (const std::string apart_text = support::memoryDifference(engine); !apart_text.empty()) {
            fail(apart_text);
        }
    }
    if (fake.live() != FakeLive{}) {
        sweep.wrong += "left: " + fake.live().text() + "\n";
    }
}

/// What a request takes of a card with room for everything.
uint64_t wholeNeed(const FakeCard& card, const engine::LoadRequest& request) {
    FakeDriver fake({card});
    fake.has_management = true;
    engine::Engine engine(optionsFor(fake));
    engine::LoadRequest whole = request;
    whole.device_map = "gpu";
    return engine.load(whole, {}, {}).has_value() ? predictedOnCard(*engine.currentPlan()) : 0;
}

/// What it takes of main memory with everything there.
uint64_t needOfCpu(const FakeCard& card, const engine::LoadRequest& request) {
    FakeDriver fake({card});
    engine::Engine engine(optionsFor(fake));
    engine::LoadRequest whole = request;
    whole.device_map = "cpu";
    const auto plan = engine.plan(whole);
    return plan.has_value() ? predictedOn(*plan, engine::DeviceId::cpu()) : 0;
}

} // namespace

class TestFullCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyFitLoads_data();
    void everyFitLoads();
    void planIsMadeAnew_data();
    void planIsMadeAnew();
    void costsAreKept();
    void damagedFile_data();
    void damagedFile();
};

void TestFullCard::everyFitLoads_data() {
    support::addColumns<int, int, QByteArray, QByteArray, bool, bool>(
        "context_mib", "granule_kib", "map", "quant", "has_adapter", "is_kept");
    for (const bool is_kept : {false, true}) {
        const char* kept = is_kept ? ", kept" : "";
        QTest::addRow("as an H100, fit%s", kept)
            << 540 << 2048 << QByteArray("fit") << QByteArray("none") << false << is_kept;
        QTest::addRow("700 MiB, fit%s", kept)
            << 700 << 2048 << QByteArray("fit") << QByteArray("nf4-dq") << false << is_kept;
        QTest::addRow("700 MiB, steps of 64 KiB, fit with an adapter%s", kept)
            << 700 << 64 << QByteArray("fit") << QByteArray("none") << true << is_kept;
        QTest::addRow("200 MiB, fit with an adapter%s", kept)
            << 200 << 2048 << QByteArray("fit") << QByteArray("nf4-dq") << true << is_kept;
        QTest::addRow("1100 MiB, steps of 16 MiB, fit%s", kept)
            << 1100 << 16384 << QByteArray("fit") << QByteArray("none") << false << is_kept;
    }
    // A map that is given has nothing to give way with: the plan must know the card.
    QTest::addRow("700 MiB, gpu, kept")
        << 700 << 2048 << QByteArray("gpu") << QByteArray("none") << false << true;
    QTest::addRow("700 MiB, steps of 64 KiB, lean, kept")
        << 700 << 64 << QByteArray("lean") << QByteArray("nf4-dq") << false << true;
    QTest::addRow("540 MiB, gpu") << 540 << 2048 << QByteArray("gpu") << QByteArray("none") << false
                                  << false;
}

void TestFullCard::everyFitLoads() {
    QFETCH(int, context_mib);
    QFETCH(int, granule_kib);
    QFETCH(QByteArray, map);
    QFETCH(QByteArray, quant);
    QFETCH(bool, has_adapter);
    QFETCH(bool, is_kept);
    const QTemporaryDir folder;
    const std::string file = is_kept ? folder.filePath("card-costs").toStdString() : "";
    FakeCard card =
        cardWith(static_cast<uint64_t>(context_mib), static_cast<uint64_t>(granule_kib));
    engine::LoadRequest request =
        requestForFullCard(map.toStdString(), quant.toStdString(), has_adapter);
    const uint64_t need = wholeNeed(card, request);
    QVERIFY(need > card.context_bytes);
    const uint64_t parts = need - card.context_bytes;
    if (map == "fit") { // so small a model is faster without a card: a part has to go there
        request.limits.emplace_back("cpu", needOfCpu(card, request) * 3 / 4);
    }
    Sweep sweep;
    constexpr uint64_t kSteps = 16;
    // Limits from the bare context to what everything takes, and one byte to either side of it.
    std::vector<uint64_t> rooms = {parts - 1, parts, parts + 1, parts + 120 * kMiB};
    for (uint64_t i = 0; i < kSteps; ++i) {
        rooms.push_back(parts * i / kSteps + i);
    }
    for (const uint64_t room : rooms) {
        engine::LoadRequest limited = request;
        limited.limits.emplace_back("cuda:0", card.context_bytes + room);
        tryOne(card, limited, file, sweep);
    }
    // The same without a limit, where the card itself is full.
    for (const uint64_t room : rooms) {
        FakeCard full = card;
        full.total = full.used_by_others + full.context_bytes + 16 * kMiB + room;
        tryOne(full, request, file, sweep);
    }
    qInfo("%d loads, %d on the card, %d refused", sweep.loads, sweep.on_card, sweep.refused);
    VERIFY_EMPTY(sweep.wrong);
    QVERIFY(sweep.loads > 0);
    QVERIFY(sweep.on_card > 0);
}

/// The card takes more than when it was measured: `fit` leaves more of the model on the CPU, a map
/// that is given is refused before anything is loaded.
void TestFullCard::planIsMadeAnew_data() {
    QTest::addColumn<QByteArray>("map");
    QTest::addColumn<int>("limit_mib");
    QTest::addColumn<int>("cpu_less_mib"); ///< Than all of the model takes there; -1: no limit.
    QTest::addColumn<bool>("loads");
    QTest::addRow("fit, a part has to go to the card") << QByteArray("fit") << 730 << 2 << true;
    QTest::addRow("fit, less than the driver takes") << QByteArray("fit") << 600 << -1 << true;
    QTest::addRow("gpu") << QByteArray("gpu") << 600 << -1 << false;
    QTest::addRow("a map") << QByteArray(R"({"version": 1, "default": "cuda:0"})") << 600 << -1
                           << false;
}

void TestFullCard::planIsMadeAnew() {
    QFETCH(QByteArray, map);
    QFETCH(int, limit_mib);
    QFETCH(int, cpu_less_mib);
    QFETCH(bool, loads);
    const QTemporaryDir folder;
    const std::string file = folder.filePath("card-costs").toStdString();
    {
        FakeDriver fake({cardWith(500, 2048)});
        fake.has_management = true;
        (void)engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), {}, file).list();
    }
    const FakeCard card = cardWith(700, 2048);
    engine::LoadRequest request = requestForFullCard(map.toStdString(), "none", false);
    const uint64_t limit = static_cast<uint64_t>(limit_mib) * kMiB;
    if (cpu_less_mib >= 0) {
        request.limits.emplace_back("cpu", needOfCpu(card, request) -
                                               static_cast<uint64_t>(cpu_less_mib) * kMiB);
    }
    request.limits.emplace_back("cuda:0", limit);
    FakeDriver fake({card});
    fake.has_management = true;
    {
        engine::Engine engine(optionsFor(fake, file));
        const auto before = engine.plan(request);
        QVERIFY(before.has_value() && before->fits);
        const auto loaded = engine.load(request, {}, {});
        QVERIFY2(loaded.has_value() == loads,
                 loaded.has_value() ? "" : loaded.error().message.c_str());
        if (loads) {
            const uint64_t predicted = predictedOnCard(*engine.currentPlan());
            QCOMPARE(predicted > card.context_bytes, cpu_less_mib >= 0);
            QVERIFY(predicted <= limit);
            QVERIFY(engine.generate(longPrompt(), {}, {}).has_value());
        } else {
            QCOMPARE(loaded.error().code, engine::ErrorCode::OutOfMemory);
            QVERIFY2(loaded.error().message.find("DM09") != std::string::npos,
                     loaded.error().message.c_str());
        }
    }
    QCOMPARE(fake.live(), FakeLive{});
}

void TestFullCard::costsAreKept() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("Belfry/card-costs").toStdString();
    const FakeCard card = cardWith(700, 64);
    {
        FakeDriver fake({card, card});
        fake.has_management = true;
        const auto access = engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), {}, file);
        const auto listed = access.list();
        QCOMPARE(listed.size(), size_t{2});
        for (const engine::DeviceInfo& info : listed) { // the second one is a card of the same name
            QCOMPARE(info.context_bytes, uint64_t{700} * kMiB);
            QCOMPARE(info.granularity, uint64_t{64} << 10U);
        }
        QCOMPARE(fake.live(), FakeLive{});
    }
    const QFileInfo kept(QString::fromStdString(file));
    QVERIFY(kept.exists());
#ifndef Q_OS_WIN
    QCOMPARE(kept.permissions() &
                 (QFile::ReadGroup | QFile::ReadOther | QFile::WriteGroup | QFile::WriteOther),
             QFile::Permissions());
#endif
    {
        FakeDriver fake({card}); // the next program need not open it
        fake.has_management = true;
        const auto access = engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), {}, file);
        QCOMPARE(access.list().front().context_bytes, uint64_t{700} * kMiB);
        QVERIFY(std::none_of(fake.trace().begin(), fake.trace().end(), [](const char* call) {
            return std::string(call) == "cuDevicePrimaryCtxRetain";
        }));
    }
    {
        FakeDriver fake({cardWith(800, 64)}); // grown since: known as soon as it is open
        fake.has_management = true;
        const auto access = engine::cudaAccess(&fake.driver(), {}, FakeDriver::images(), {}, file);
        QCOMPARE(access.list().front().context_bytes, uint64_t{700} * kMiB);
        QVERIFY(access.open(0, 0, false).has_value());
        QCOMPARE(access.costs(0).context_bytes, uint64_t{800} * kMiB);
    }
    {
        FakeDriver fake({card}); // nothing there can tell: the usual figures, without opening it
        const auto access = engine::cudaAccess(&fake.driver(), {}, FakeDriver::images());
        QCOMPARE(access.list().front().context_bytes, kernels::kUsualCosts.context_bytes);
        QVERIFY(access.assumes_context(0));
    }
}

void TestFullCard::damagedFile_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addRow("empty") << QByteArray();
    QTest::addRow("another file") << QByteArray("belfry-rates 2\nkey\n1 2\n");
    QTest::addRow("no numbers") << QByteArray("belfry-cards 1\nkey\nx y\n");
    QTest::addRow("negative") << QByteArray("belfry-cards 1\nkey\n-5 2097152\n");
    QTest::addRow("a terabyte") << QByteArray("belfry-cards 1\nkey\n1099511627776 2097152\n");
    QTest::addRow("no power of two") << QByteArray("belfry-cards 1\nkey\n566231040 3000000\n");
    QTest::addRow("cut") << QByteArray("belfry-cards 1\nkey\n5662");
    QTest::addRow("large") << QByteArray("belfry-cards 1\nkey\n") + QByteArray(1 << 20, '7');
}

void TestFullCard::damagedFile() {
    QFETCH(QByteArray, text);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("card-costs").toStdString();
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    QVERIFY(engine::keptCardCosts(path, "key") == CardCosts());
    const CardCosts costs{540 * kMiB, 2 * kMiB};
    engine::keepCardCosts(path, "key", costs);
    engine::keepCardCosts(path, "another", {300 * kMiB, 2 * kMiB});
    QVERIFY(engine::keptCardCosts(path, "key") == costs);
}

TEST_CLASS_WITH(QCoreApplication, TestFullCard)
#include "tst_full_card.moc"
