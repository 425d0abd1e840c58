// SPDX-License-Identifier: Apache-2.0
// Loading onto a card whose kernels run on the CPU (fake driver: copies of page-locked memory
// happen as late as they may): what the card has quantized must be what the CPU quantizes, in
// memory and in the cache file, with pieces under way at a time; without room for the card's
// buffers the CPU does it; after an error nothing is left.
#include "engine/load/loader_jobs.h"
#include "tests/engine/run/loader_fixture.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>

#include <fstream>
#include <iterator>

using engine::DeviceId;
using engine::Format;
using namespace support;

namespace {

const char* const kLinear = "model.language_model.layers.3.mlp.up_proj.weight";

/// Everything on the card but layer 1, which stays on the CPU.
Place onCard(const engine::ExpectedTensor& tensor, Format format) {
    const DeviceId place = tensor.tower == engine::Tower::Language && tensor.layer == 1
                               ? DeviceId::cpu()
                               : DeviceId::cuda(0);
    return {place, place, engine::Residency::Always, format};
}

struct Machine {
    TestDevices host;
    EmulatedCard card{EmulatedCardOptions{}};
    engine::DeviceSet set = host.owned.set;
    uint64_t at_first = card.device().memory().used; ///< The card's scratch memory.
    size_t blocks_at_first = card.device().liveAllocations();
    size_t locked_at_first = card.fake().live().host_blocks;
    Machine() { set[DeviceId::cuda(0)] = &card.device(); }

    engine::LoadOptions options() {
        engine::LoadOptions out;
        out.parallel = engine::poolParallelFor(host.owned.pool.get());
        out.read_threads = 3;
        out.piece_bytes = 32 << 10;
        return out;
    }
    /// Nothing more on the card and no more page-locked memory than before the load.
    bool isEmpty() {
        return card.device().liveAllocations() == blocks_at_first &&
               card.device().memory().used == at_first &&
               card.fake().live().host_blocks <= locked_at_first + 2; // the card's own for copies
    }
    std::string trouble() {
        const std::string wrong = card.finish();
        return !wrong.empty()                     ? wrong
               : card.fake().violations().empty() ? std::string()
                                                  : card.fake().violations().front();
    }
};

engine::PlacementPlan planOf(const engine::TensorSource& source, Format format) {
    return planFor(GoldenModel::get("e2b/model").config, source,
                   [format](const engine::ExpectedTensor& t) { return onCard(t, format); });
}

std::vector<char> contentsOf(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(entry.path(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    return {};
}

} // namespace

class TestLoaderOnCard : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void contents_data();
    void contents();
    void manyPieces_data();
    void manyPieces();
    void cacheFile();
    void withoutRoom();
    void notFinite_data();
    void notFinite();
    void cancelled();
};

void TestLoaderOnCard::contents_data() {
    support::addColumns<Format, bool>("format", "is_quantized");
    for (const auto& [name, format, is_quantized] :
         {std::tuple{"as stored", Format::AsStored, false},
          {"nf4", Format::Nf4, true},
          {"nf4_dq", Format::Nf4Dq, true},
          {"fp4", Format::Fp4, true},
          {"fp4_dq", Format::Fp4Dq, true},
          {"q8", Format::Q8, true},
          {"f32", Format::F32, false}}) {
        QTest::newRow(name) << format << is_quantized;
    }
}

void TestLoaderOnCard::contents() {
    QFETCH(Format, format);
    QFETCH(bool, is_quantized);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    Expected expected(golden);
    Machine machine;
    const auto plan = planOf(source, format);
    auto store = engine::load(source, golden.config, plan, machine.set, machine.options());
    VERIFY_VALUE(store);
    VERIFY_EMPTY(support::firstWrong(**store, expected, false));
    const auto& report = (*store)->report();
    QCOMPARE(report.tensors_quantized_on_cards > 0, is_quantized);
    QCOMPARE(report.tensors_quantized_on_cards < report.tensors_quantized, is_quantized); // layer 1
    const auto predicted = engine::weightBytes(plan);
    QCOMPARE(machine.card.device().memory().used - machine.at_first,
             predicted.at(DeviceId::cuda(0)));
    store->reset();
    QVERIFY(machine.isEmpty());
    QVERIFY2(machine.trouble().empty(), machine.trouble().c_str());
}

void TestLoaderOnCard::manyPieces_data() {
    QTest::addColumn<Format>("format");
    QTest::newRow("nf4_dq") << Format::Nf4Dq;
    QTest::newRow("fp4") << Format::Fp4;
    QTest::newRow("q8") << Format::Q8;
}

/// Tensors of several pieces each, with a short last one, in every element type.
void TestLoaderOnCard::manyPieces() {
    QFETCH(Format, format);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    for (const auto type : {engine::TensorType::BF16, engine::TensorType::F32}) {
        // As many values as make three pieces and a rest; a width of its own.
        Machine machine;
        const auto size = static_cast<int64_t>(engine::tensorTypeSize(type));
        const int64_t cols = 1000;
        const int64_t rows = 3 * machine.options().piece_bytes / size / cols + 7;
        std::vector<uint8_t> bytes(static_cast<size_t>(rows * cols * size));
        uint32_t state = 7;
        for (size_t i = 0; i < bytes.size(); ++i) {
            state = state * 1664525U + 1013904223U;
            // Exponents stay below infinity: the top byte of a value has few bits set.
            const bool is_top = i % static_cast<size_t>(size) == static_cast<size_t>(size) - 1;
            bytes[i] =
                static_cast<uint8_t>(is_top ? ((state >> 24U) & 0x80U) | 0x3cU : state >> 24U);
        }
        MemorySource source;
        source.set("weight", type, {rows, cols}, bytes);
        auto opened = engine::openOrigin(source, "weight", "weight", {rows, cols});
        QVERIFY(opened.has_value());
        auto layout = opened->layoutFor(format);
        auto on_card = engine::DeviceTensor::allocate("weight", layout, DeviceId::cuda(0),
                                                      machine.card.device());
        auto on_cpu = engine::DeviceTensor::allocate("weight", layout, DeviceId::cpu(),
                                                     *machine.set.at(DeviceId::cpu()));
        QVERIFY(on_card.has_value() && on_cpu.has_value());
        engine::MemorySink cpu_sink(*on_cpu);
        const auto offset = engine::fillSynchronously(source, *opened, layout, cpu_sink, {});
        QVERIFY(offset.has_value());
        engine::TensorStore::Impl impl;
        impl.source = &source;
        impl.config = golden.config;
        impl.devices = machine.set;
        engine::StoreEntry entry;
        entry.name = "weight";
        entry.layout = layout;
        entry.origin = *opened;
        engine::CacheSet caches(source, {});
        const auto filled = engine::fillTargets(impl, {{&entry, &*on_card}}, caches,
                                                machine.options(), engine::LoadStage::Fill);
        VERIFY_VALUE(filled);
        QCOMPARE(impl.report.tensors_quantized_on_cards, 1);
        QCOMPARE(std::bit_cast<uint32_t>(on_card->nestedOffset()),
                 std::bit_cast<uint32_t>(*offset));
        for (int part = 0; part < engine::DeviceTensor::PartCount; ++part) {
            const auto id = static_cast<engine::DeviceTensor::Part>(part);
            std::vector<std::byte> got(static_cast<size_t>(on_card->partBytes(id)));
            QCOMPARE(machine.card.device().copyOut(got.data(), on_card->part(id), got.size()),
                     kernels::Status::Ok);
            // A part that this format has none of has no address either.
            QVERIFY2(got.empty() || std::memcmp(got.data(), on_cpu->part(id), got.size()) == 0,
                     std::to_string(part).c_str());
        }
        QVERIFY2(machine.trouble().empty(), machine.trouble().c_str());
    }
}

/// Written from what the card has quantized: the same file as after quantizing on the CPU, and a
/// second load takes everything from it.
void TestLoaderOnCard::cacheFile() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    Expected expected(golden);
    QTemporaryDir from_card;
    QTemporaryDir from_cpu;
    const auto plan = planOf(source, Format::Nf4Dq);
    for (int round = 0; round < 2; ++round) {
        Machine machine;
        engine::LoadOptions options = machine.options();
        options.cache_folder = from_card.path().toStdString();
        auto store = engine::load(source, golden.config, plan, machine.set, options);
        VERIFY_VALUE(store);
        VERIFY_EMPTY(support::firstWrong(**store, expected, false));
        QCOMPARE((*store)->report().tensors_quantized > 0, round == 0);
        QCOMPARE((*store)->report().tensors_from_cache > 0, round == 1);
    }
    TestDevices host;
    engine::LoadOptions options;
    options.cache_folder = from_cpu.path().toStdString();
    auto on_cpu = planFor(golden.config, source, [](const engine::ExpectedTensor&) {
        return Place{DeviceId::cpu(), DeviceId::cpu(), engine::Residency::Always, Format::Nf4Dq};
    });
    QVERIFY(engine::load(source, golden.config, on_cpu, host.owned.set, options).has_value());
    const auto file = contentsOf(options.cache_folder);
    QVERIFY(!file.empty());
    QVERIFY(file == contentsOf(from_card.path().toStdString()));
}

/// The card's buffers come last: without them the weights arrive all the same.
void TestLoaderOnCard::withoutRoom() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    Expected expected(golden);
    const auto plan = planOf(source, Format::Nf4Dq);
    uint64_t allocations = 0;
    {
        Machine machine;
        auto store = engine::load(source, golden.config, plan, machine.set, machine.options());
        QVERIFY(store.has_value());
        allocations = machine.card.device().liveAllocations() - machine.blocks_at_first;
    }
    for (uint64_t n = 1; n <= 4; ++n) { // two buffers for values, two for scales
        Machine machine;
        machine.card.device().failAllocation(allocations + n);
        auto store = engine::load(source, golden.config, plan, machine.set, machine.options());
        VERIFY_VALUE(store);
        QCOMPARE((*store)->report().tensors_quantized_on_cards, 0);
        VERIFY_EMPTY(support::firstWrong(**store, expected, false));
        store->reset();
        QVERIFY(machine.isEmpty());
    }
}

void TestLoaderOnCard::notFinite_data() {
    QTest::addColumn<Format>("format");
    QTest::newRow("nf4_dq") << Format::Nf4Dq;
    QTest::newRow("nf4") << Format::Nf4;
    QTest::newRow("q8") << Format::Q8;
}

/// The same words as when the CPU quantizes.
void TestLoaderOnCard::notFinite() {
    QFETCH(Format, format);
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    source.bytes(kLinear)[100] = 0x80;
    source.bytes(kLinear)[101] = 0xff;
    std::vector<std::string> messages;
    for (const bool is_on_card : {false, true}) {
        Machine machine;
        const auto plan = planFor(golden.config, source, [&](const engine::ExpectedTensor&) {
            const DeviceId place = is_on_card ? DeviceId::cuda(0) : DeviceId::cpu();
            return Place{place, place, engine::Residency::Always, format};
        });
        const auto store =
            engine::load(source, golden.config, plan, machine.set, machine.options());
        QVERIFY(!store.has_value());
        QCOMPARE(store.error().code, engine::ErrorCode::InvalidFile);
        messages.push_back(store.error().message);
        QVERIFY(machine.isEmpty());
    }
    QCOMPARE(messages[0], messages[1]);
    QVERIFY2(messages[1].find("element 50") != std::string::npos, messages[1].c_str());
}

void TestLoaderOnCard::cancelled() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    MemorySource source(golden.tensors);
    const auto plan = planOf(source, Format::Nf4Dq);
    for (const int steps : {1, 5, 40}) {
        Machine machine;
        std::stop_source stop;
        engine::LoadOptions options = machine.options();
        options.stop = stop.get_token();
        int seen = 0;
        options.on_progress = [&](const engine::LoadProgress& progress) {
            if (progress.stage == engine::LoadStage::Fill && ++seen == steps) {
                stop.request_stop();
            }
        };
        const auto store = engine::load(source, golden.config, plan, machine.set, options);
        QVERIFY(!store.has_value());
        QCOMPARE(store.error().code, engine::ErrorCode::Cancelled);
        QVERIFY(machine.isEmpty());
        QVERIFY2(machine.trouble().empty(), machine.trouble().c_str());
    }
}

TEST_CLASS_WITH(QCoreApplication, TestLoaderOnCard)
#include "tst_loader_on_card.moc"
