// SPDX-License-Identifier: Apache-2.0
// Loading the golden models: contents in every format and place, bytes exactly as predicted, and
// a clean state after every failure (n-th allocation, cancel, damaged files).
#include "engine/load/random_source.h"
#include "tests/engine/run/loader_fixture.h"
#include "tests/support/program/test_class.h"

#include <fstream>
#include <set>

using engine::ErrorCode;
using namespace support;

namespace {

/// Layers alternate between three devices, towers on sim:1, everything else on the CPU.
Place mixed(const engine::ExpectedTensor& tensor, Format format) {
    if (tensor.tower != engine::Tower::Language) {
        return Place{DeviceId::cpu(), DeviceId::sim(1), Residency::OnUse, format};
    }
    if (tensor.layer < 0) {
        return Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always,
                     tensor.kind == engine::TensorKind::Embedding ? Format::AsStored : format};
    }
    switch (tensor.layer % 4) {
    case 0:
        return Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, format};
    case 1:
        return Place{DeviceId::cpu(), DeviceId::sim(0), Residency::Stream, format};
    case 2:
        return Place{DeviceId::disk(), DeviceId::sim(1), Residency::Stream, format};
    default:
        return Place{DeviceId::cpu(), DeviceId::sim(1), Residency::Always, format};
    }
}

const std::vector<std::pair<const char*, Format>>& formats() {
    static const std::vector<std::pair<const char*, Format>> kFormats = {
        {"as stored", Format::AsStored},
        {"nf4", Format::Nf4},
        {"nf4_dq", Format::Nf4Dq},
        {"fp4", Format::Fp4},
        {"fp4_dq", Format::Fp4Dq},
        {"q8", Format::Q8},
        {"q4_0", Format::Int4},
        {"q8_0", Format::Int8},
        {"f32", Format::F32},
        {"f16", Format::F16}};
    return kFormats;
}

struct NamedPlace {
    const char* name;
    Place place;
};

const std::vector<NamedPlace>& places() {
    static const std::vector<NamedPlace> kPlaces = {
        {"cpu", Place{DeviceId::cpu(), DeviceId::cpu()}},
        {"sim:0", Place{DeviceId::sim(0), DeviceId::sim(0)}},
        {"cpu copied to sim:0", Place{DeviceId::cpu(), DeviceId::sim(0)}},
        {"cpu visits sim:0", Place{DeviceId::cpu(), DeviceId::sim(0), Residency::OnUse}},
        {"cpu streams to sim:0", Place{DeviceId::cpu(), DeviceId::sim(0), Residency::Stream}},
        {"disk copied to sim:0", Place{DeviceId::disk(), DeviceId::sim(0)}},
        {"disk copied to cpu", Place{DeviceId::disk(), DeviceId::cpu()}},
        {"disk visits sim:1", Place{DeviceId::disk(), DeviceId::sim(1), Residency::OnUse}},
        {"disk streams to sim:0", Place{DeviceId::disk(), DeviceId::sim(0), Residency::Stream}},
        {"disk streams to cpu", Place{DeviceId::disk(), DeviceId::cpu(), Residency::Stream}}};
    return kPlaces;
}

} // namespace

class TestLoader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void contents_data();
    void contents();
    void mixedPlacement_data();
    void mixedPlacement();
    void packedCheckpoints_data();
    void packedCheckpoints();
    void separateHead();
    void gatherReadsOnlyRows_data();
    void gatherReadsOnlyRows();
    void gatherRefusesOutsideRows();
    void failedAllocations_data();
    void failedAllocations();
    void exactCapacity();
    void cancelAtEveryStep_data();
    void cancelAtEveryStep();
    void truncatedWhileLoading();
    void failingReads();
    void brokenModels_data();
    void brokenModels();
    void reportNamesEverything();
    void headerOnlyCannotLoad();
    void threadsAndReadersGiveTheSame();
    void randomSource();
    void flatMemoryOverCycles();
};

void TestLoader::contents_data() {
    support::addColumns<QString, int, int>("model", "place", "format");
    for (const char* model : {"e2b", "e4b"}) {
        for (size_t p = 0; p < places().size(); ++p) {
            for (const auto& [name, format] : formats()) {
                if (std::string(model) == "e4b" && format != Format::Nf4Dq &&
                    format != Format::AsStored) {
                    continue; // the formats' bytes are those of e2b
                }
                QTest::addRow("%s, %s, %s", model, places()[p].name, name)
                    << QString(model) << static_cast<int>(p) << static_cast<int>(format);
            }
        }
    }
}

void TestLoader::contents() {
    QFETCH(QString, model);
    QFETCH(int, place);
    QFETCH(int, format);
    const GoldenModel& golden = GoldenModel::get(model.toStdString() + "/model");
    static std::map<QString, Expected> all_expected;
    Expected& expected = all_expected.try_emplace(model, golden).first->second;
    auto source = engine::openModelFolder(golden.folder);
    VERIFY_VALUE(source);
    Place wanted = places()[static_cast<size_t>(place)].place;
    wanted.format = static_cast<Format>(format);
    const auto plan = planFor(golden.config, **source, everywhere(wanted));
    TestDevices devices;
    auto store =
        engine::load(**source, golden.config, plan, devices.owned.set, optionsFor(devices));
    VERIFY_VALUE(store);
    VERIFY_EMPTY(devices.firstDifference(plan));
    VERIFY_EMPTY(support::firstWrong(**store, expected));
    VERIFY_EMPTY(devices.firstDifference(plan));
    store->reset();
    QCOMPARE(devices.live(), size_t{0});
}

void TestLoader::mixedPlacement_data() {
    QTest::addColumn<Format>("format");
    for (const auto& [name, format] : formats()) {
        QTest::newRow(name) << format;
    }
}

void TestLoader::mixedPlacement() {
    QFETCH(Format, format);
    Loading f;
    const auto plan = f.planOf([&](const engine::ExpectedTensor& t) { return mixed(t, format); });
    auto store = f.load(plan);
    VERIFY_VALUE(store);
    VERIFY_EMPTY(f.devices.firstDifference(plan));
    for (int round = 0; round < 2; ++round) {
        VERIFY_EMPTY(support::firstWrong(**store, f.expected));
    }
    QVERIFY((*store)->takeStagedBytes() > 0);
    QCOMPARE((*store)->takeStagedBytes(), uint64_t{0});
}

void TestLoader::packedCheckpoints_data() {
    support::addColumns<QString, int>("checkpoint", "format");
    for (const char* name :
         {"e2b/quantized/nf4-checkpoint", "e2b/quantized/nf4-dq-checkpoint",
          "e2b/quantized/fp4-checkpoint", "dense31b/quantized/nf4-dq-checkpoint"}) {
        QTest::addRow("%s as stored", name) << QString(name) << static_cast<int>(Format::AsStored);
        QTest::addRow("%s to bf16", name) << QString(name) << static_cast<int>(Format::Bf16);
        QTest::addRow("%s to q8", name) << QString(name) << static_cast<int>(Format::Q8);
        QTest::addRow("%s to nf4_dq", name) << QString(name) << static_cast<int>(Format::Nf4Dq);
    }
}

void TestLoader::packedCheckpoints() {
    QFETCH(QString, checkpoint);
    QFETCH(int, format);
    const GoldenModel& golden = GoldenModel::get(checkpoint.toStdString());
    const MemorySource source(golden.tensors);
    // What the packed layers hold, expanded to their recorded type, by the quantizer's own reader.
    std::map<std::string, support::GoldenTensor> dense;
    for (const auto& tensor : engine::listTensors(golden.config)) {
        const auto found = golden.tensors.find(tensor.name);
        if (tensor.is_unused || found == golden.tensors.end()) {
            continue;
        }
        dense[tensor.name] = found->second;
        if (found->second.dtype != "U8") {
            continue;
        }
        const auto packed =
            engine::readPacked(source, tensor.name, tensor.shape[0], tensor.shape[1]);
        VERIFY_VALUE(packed);
        support::GoldenTensor& expanded = dense[tensor.name];
        expanded.dtype = "BF16";
        expanded.shape = tensor.shape;
        expanded.bytes.resize(static_cast<size_t>(tensor.numElements()) * 2);
        engine::dequantize(packed->view(), engine::TensorType::BF16,
                           reinterpret_cast<std::byte*>(expanded.bytes.data()));
    }
    for (const auto& place : places()) {
        Place wanted = place.place;
        wanted.format = static_cast<Format>(format);
        const auto plan = planFor(golden.config, source, everywhere(wanted));
        TestDevices devices;
        auto store =
            engine::load(source, golden.config, plan, devices.owned.set, optionsFor(devices));
        VERIFY_VALUE(store);
        VERIFY_EMPTY(devices.firstDifference(plan));
        for (int handle = 0; handle < (*store)->size(); ++handle) {
            const std::string& name = (*store)->name(handle);
            const Format loaded = (*store)->format(handle);
            const auto n = static_cast<int64_t>(dense.at(name).bytes.size() / 2);
            const bool is_unchanged = engine::describeStored(source, name, n).format == loaded;
            const auto expected =
                support::expectedValues(dense.at(name), is_unchanged ? Format::Bf16 : loaded, name);
            const auto values = (*store)->values(handle);
            VERIFY_VALUE(values);
            QVERIFY2(*values == expected, (name + " " + place.name).c_str());
        }
    }
}

void TestLoader::separateHead() {
    Loading f;
    auto plan = f.planOf(everywhere(Place{DeviceId::cpu(), DeviceId::sim(0), Residency::Stream}));
    engine::TensorPlacement head = *plan.find("model.language_model.embed_tokens.weight");
    head.tensor = "lm_head.weight";
    head.part = {engine::PartRole::Head};
    head.format = Format::Q8;
    head.residency = Residency::Always;
    head.store = head.compute = DeviceId::sim(1);
    head.bytes = engine::formatBytes(Format::Q8, engine::TensorType::BF16, 1024,
                                     f.golden.config.text.hidden_size);
    plan.tensors.push_back(head);
    auto store = f.load(plan);
    VERIFY_VALUE(store);
    QVERIFY((*store)->handleOf("lm_head.weight") !=
            (*store)->handleOf("model.language_model.embed_tokens.weight"));
    VERIFY_EMPTY(support::firstWrong(**store, f.expected));
    VERIFY_EMPTY(f.devices.firstDifference(plan));
    // The table is only gathered now: it cannot be acquired whole on sim:0.
    const auto table = (*store)->acquire("model.language_model.embed_tokens.weight");
    QVERIFY(!table.has_value());

    const auto tied = f.planOf(everywhere(Place{DeviceId::cpu(), DeviceId::cpu()}));
    auto plain = f.load(tied);
    QVERIFY(plain.has_value());
    QCOMPARE((*plain)->handleOf("lm_head.weight"),
             (*plain)->handleOf("model.language_model.embed_tokens.weight"));
    QCOMPARE((*plain)->handleOf("nothing.weight"), engine::WeightSource::kAbsent);
}

void TestLoader::gatherReadsOnlyRows_data() {
    support::addColumns<int, int>("place", "format");
    for (size_t p = 0; p < places().size(); ++p) {
        for (const Format format : {Format::AsStored, Format::Nf4, Format::Nf4Dq, Format::Q8}) {
            QTest::addRow("%s, %s", places()[p].name,
                          std::string(engine::formatName(format)).c_str())
                << static_cast<int>(p) << static_cast<int>(format);
        }
    }
}

void TestLoader::gatherReadsOnlyRows() {
    QFETCH(int, place);
    QFETCH(int, format);
    Loading f;
    const std::string table = "model.language_model.embed_tokens_per_layer.weight";
    Place wanted = places()[static_cast<size_t>(place)].place;
    wanted.format = static_cast<Format>(format);
    const auto plan = f.planOf([&](const engine::ExpectedTensor& tensor) {
        return tensor.name == table ? wanted : Place{DeviceId::cpu(), DeviceId::cpu()};
    });
    auto store = f.load(plan);
    VERIFY_VALUE(store);
    const auto handle = (*store)->handleOf(table);
    const auto expected =
        support::expectedValues(f.golden.tensors.at(table), (*store)->format(handle), table);
    const int64_t cols = f.golden.tensors.at(table).shape[1];
    const std::vector<int32_t> ids = {0, 1023, 517, 517, 1};
    const auto gather = [&](int64_t offset, int64_t width, float scale) {
        std::vector<float> out(ids.size() * static_cast<size_t>(width) + 5, -7.0F);
        const auto result =
            (*store)->gatherRows(handle, ids, offset, scale,
                                 {out.data(), static_cast<int64_t>(ids.size()), width, width});
        if (!result) {
            qFatal("%s", result.error().message.c_str());
        }
        for (size_t i = 0; i < ids.size(); ++i) {
            for (int64_t c = 0; c < width; ++c) {
                const float value = expected[static_cast<size_t>(ids[i] * cols + offset + c)];
                if (out[i * static_cast<size_t>(width) + static_cast<size_t>(c)] != value * scale) {
                    return false;
                }
            }
        }
        return out.back() == -7.0F; // nothing beyond
    };
    QVERIFY(gather(0, cols, 1.0F));
    f.source.bytes_read = 0;
    QVERIFY(gather(16, 16, 4.0F));
    QVERIFY(gather(3, 7, 0.5F));
    if (wanted.store == DeviceId::disk() && wanted.residency != Residency::Always) {
        // At most the rows' own bytes, widened to whole blocks or nested groups of 16384.
        const uint64_t unit = format == static_cast<int>(Format::Nf4Dq) ? 2 * 16384 * 2 : 4096;
        QVERIFY(f.source.bytes_read > 0);
        QVERIFY(f.source.bytes_read <= 2 * ids.size() * unit);
    } else {
        QCOMPARE(f.source.bytes_read.load(), uint64_t{0});
    }
}

void TestLoader::gatherRefusesOutsideRows() {
    Loading f;
    const auto plan = f.planOf(everywhere({}));
    auto store = f.load(plan);
    QVERIFY(store.has_value());
    const auto handle = (*store)->handleOf("model.language_model.embed_tokens.weight");
    std::vector<float> out(64);
    for (const int32_t id : {-1, 1024, 1 << 30}) {
        const std::vector<int32_t> ids = {id};
        const auto result = (*store)->gatherRows(handle, ids, 0, 1.0F, {out.data(), 1, 8, 8});
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().code, ErrorCode::InvalidRequest);
    }
    const std::vector<int32_t> ids = {0};
    QVERIFY(!(*store)
                 ->gatherRows(handle, ids, f.golden.config.text.hidden_size - 4, 1.0F,
                              {out.data(), 1, 8, 8})
                 .has_value());
    QVERIFY(!(*store)->gatherRows(handle, ids, -1, 1.0F, {out.data(), 1, 8, 8}).has_value());
    QVERIFY(!(*store)->gatherRows(-1, ids, 0, 1.0F, {out.data(), 1, 8, 8}).has_value());
    QVERIFY(!(*store)->acquire(99999).has_value());
}

void TestLoader::failedAllocations_data() {
    QTest::addColumn<QString>("device");
    QTest::newRow("cpu") << "cpu";
    QTest::newRow("sim:0") << "sim:0";
    QTest::newRow("sim:1") << "sim:1";
}

void TestLoader::failedAllocations() {
    QFETCH(QString, device);
    Loading f;
    const auto plan =
        f.planOf([](const engine::ExpectedTensor& tensor) { return mixed(tensor, Format::Nf4Dq); });
    const DeviceId id = *DeviceId::parse(device.toStdString());
    int failures = 0;
    for (uint64_t n = 1;; ++n) {
        f.devices.host(id).failAllocation(n);
        f.source.reads = 0;
        auto store = engine::load(f.source, f.golden.config, plan, f.devices.owned.set);
        f.devices.host(id).failAllocation(0);
        if (store.has_value()) {
            QVERIFY(failures > 20);
            break;
        }
        ++failures;
        QCOMPARE(store.error().code, ErrorCode::OutOfMemory);
        QVERIFY(store.error().message.find(device.toStdString()) != std::string::npos);
        QCOMPARE(f.devices.live(), size_t{0});
        for (auto& [name, each] : f.devices.owned.set) {
            QCOMPARE(each->memory().used, uint64_t{0});
        }
    }
}

void TestLoader::exactCapacity() {
    const GoldenModel& golden = GoldenModel::get("e4b/model");
    const MemorySource source(golden.tensors);
    const auto plan = planFor(golden.config, source, [](const engine::ExpectedTensor& tensor) {
        return mixed(tensor, Format::Nf4);
    });
    const auto bytes = engine::weightBytes(plan);
    TestDevices fits(bytes.at(DeviceId::cpu()), bytes.at(DeviceId::sim(0)),
                     bytes.at(DeviceId::sim(1)));
    auto store = engine::load(source, golden.config, plan, fits.owned.set, optionsFor(fits));
    VERIFY_VALUE(store);
    Expected expected(golden);
    VERIFY_EMPTY(support::firstWrong(**store, expected));
    for (const auto& [id, need] : bytes) {
        TestDevices tight;
        tight.host(id).setCapacity(need - 1);
        const auto refused =
            engine::load(source, golden.config, plan, tight.owned.set, optionsFor(tight));
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(tight.live(), size_t{0});
        std::set<std::string> details;
        for (const auto& [key, value] : refused.error().details) {
            details.insert(key);
        }
        QVERIFY(details.contains("asked_bytes") && details.contains("free_bytes") &&
                details.contains("device"));
    }
}

void TestLoader::cancelAtEveryStep_data() {
    QTest::addColumn<int>("stage");
    QTest::newRow("check") << static_cast<int>(engine::LoadStage::Check);
    QTest::newRow("allocate") << static_cast<int>(engine::LoadStage::Allocate);
    QTest::newRow("fill") << static_cast<int>(engine::LoadStage::Fill);
}

void TestLoader::cancelAtEveryStep() {
    QFETCH(int, stage);
    Loading f;
    const auto plan =
        f.planOf([](const engine::ExpectedTensor& tensor) { return mixed(tensor, Format::Nf4); });
    int cancelled = 0;
    for (int step = 1;; step += 7) {
        std::stop_source stopper;
        engine::LoadOptions options = optionsFor(f.devices);
        options.stop = stopper.get_token();
        int calls = 0;
        uint64_t last_done = 0;
        uint64_t last_total = 0;
        options.on_progress = [&](const engine::LoadProgress& progress) {
            if (progress.stage != static_cast<engine::LoadStage>(stage)) {
                return;
            }
            QVERIFY(progress.bytes_done >= last_done &&
                    progress.bytes_done <= progress.bytes_total);
            QVERIFY(last_total == 0 || last_total == progress.bytes_total);
            last_done = progress.bytes_done;
            last_total = progress.bytes_total;
            if (++calls == step) {
                stopper.request_stop();
            }
        };
        auto store = engine::load(f.source, f.golden.config, plan, f.devices.owned.set, options);
        if (calls < step) {
            VERIFY_VALUE(store);
            QCOMPARE(last_done, last_total);
            break;
        }
        ++cancelled;
        QVERIFY(!store.has_value());
        QCOMPARE(store.error().code, ErrorCode::Cancelled);
        QCOMPARE(f.devices.live(), size_t{0});
    }
    QVERIFY(cancelled >= 1);
}

void TestLoader::truncatedWhileLoading() {
    QTemporaryDir folder;
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    const std::filesystem::path copy = std::filesystem::path(folder.path().toStdString()) / "m";
    std::filesystem::copy(golden.folder, copy);
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
    const auto file = copy / "model.safetensors";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    for (const double share : {0.9, 0.5, 0.1}) {
        std::filesystem::copy_file(golden.folder / "model.safetensors", file,
                                   std::filesystem::copy_options::overwrite_existing);
        auto source = engine::openModelFolder(copy);
        VERIFY_VALUE(source);
        const auto plan = planFor(golden.config, **source, everywhere({}));
        std::error_code refused;
        std::filesystem::resize_file(
            file,
            static_cast<uintmax_t>(share * static_cast<double>(std::filesystem::file_size(file))),
            refused);
#ifdef _WIN32 // where nobody changes a file that is being read
        QVERIFY(refused);
        continue;
#endif
        QVERIFY(!refused);
        TestDevices devices;
        auto store =
            engine::load(**source, golden.config, plan, devices.owned.set, optionsFor(devices));
        QVERIFY(!store.has_value());
        QCOMPARE(store.error().code, ErrorCode::InvalidFile);
        QCOMPARE(devices.live(), size_t{0});
    }
}

void TestLoader::failingReads() {
    Loading f;
    const auto plan =
        f.planOf([](const engine::ExpectedTensor& tensor) { return mixed(tensor, Format::Nf4Dq); });
    int failures = 0;
    for (uint64_t n = 1;; n += 29) {
        f.source.reads = 0;
        f.source.fail_read = n;
        auto store = f.load(plan);
        if (store.has_value()) {
            QVERIFY(f.source.reads < n);
            break;
        }
        ++failures;
        QCOMPARE(store.error().code, ErrorCode::InvalidFile);
        QCOMPARE(f.devices.live(), size_t{0});
    }
    QVERIFY(failures > 10);
    // Reads of disk-stored tensors that fail later are errors of that use, and of that only.
    f.source.fail_read = 0;
    auto store = f.load(plan);
    QVERIFY(store.has_value());
    const std::string on_disk = "model.language_model.layers.2.mlp.up_proj.weight";
    f.source.reads = 0;
    f.source.fail_read = 1;
    QVERIFY(!(*store)->acquire(on_disk).has_value());
    f.source.fail_read = 0;
    QVERIFY((*store)->acquire(on_disk).has_value());
}

void TestLoader::brokenModels_data() {
    support::addColumns<QString, int>("message", "code");
    const int invalid = static_cast<int>(ErrorCode::InvalidFile);
    QTest::newRow("tensor missing")
        << "layers.3.mlp.up_proj.weight" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("tensor missing, plan lists it") << "do not hold this tensor" << invalid;
    QTest::newRow("tensor transposed") << "has shape" << invalid;
    QTest::newRow("norm too long") << "has shape" << invalid;
    QTest::newRow("element type I32")
        << "element type I32" << static_cast<int>(ErrorCode::Unsupported);
    QTest::newRow("element type F64")
        << "element type F64" << static_cast<int>(ErrorCode::Unsupported);
    QTest::newRow("not finite") << "not a number" << invalid;
    QTest::newRow("too large for f16")
        << "up_proj.weight: element 50 is 999424, f16 holds finite values up to 65504" << invalid;
    QTest::newRow("plan lists unknown tensor")
        << "does not have" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan lists a tensor twice")
        << "twice" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan with other bytes")
        << "bytes as" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan names unknown device")
        << "cuda:3" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan stores on a GPU for another")
        << "only cpu and disk" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan computes on disk")
        << "cannot compute" << static_cast<int>(ErrorCode::InvalidRequest);
    QTest::newRow("plan with errors") << "DM09" << static_cast<int>(ErrorCode::InvalidRequest);
}

void TestLoader::brokenModels() {
    QFETCH(QString, message);
    QFETCH(int, code);
    const QString row = QTest::currentDataTag();
    Loading f;
    const std::string linear = "model.language_model.layers.3.mlp.up_proj.weight";
    const std::string norm = "model.language_model.layers.3.input_layernorm.weight";
    auto plan = f.planOf(
        everywhere(Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4}));
    auto& place = *std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                [&](const auto& r) { return r.tensor == linear; });
    const auto shape = f.golden.tensors.at(linear).shape;
    if (row == "tensor missing") {
        f.source.remove(linear);
        plan = f.planOf(everywhere({}));
    } else if (row == "tensor missing, plan lists it") {
        f.source.remove(linear);
    } else if (row == "tensor transposed") {
        f.source.set(linear, engine::TensorType::BF16, {shape[1], shape[0]},
                     f.source.bytes(linear));
    } else if (row == "norm too long") {
        f.source.set(norm, engine::TensorType::BF16, {65}, std::vector<uint8_t>(130));
    } else if (row == "element type I32") {
        f.source.set(linear, engine::TensorType::I32, shape,
                     std::vector<uint8_t>(static_cast<size_t>(shape[0] * shape[1]) * 4));
    } else if (row == "element type F64") {
        f.source.set(linear, engine::TensorType::F64, shape,
                     std::vector<uint8_t>(static_cast<size_t>(shape[0] * shape[1]) * 8));
    } else if (row == "not finite") {
        f.source.bytes(linear)[100] = 0x80;
        f.source.bytes(linear)[101] = 0x7f;
    } else if (row == "too large for f16") {
        f.source.bytes(linear)[100] = 0x74;
        f.source.bytes(linear)[101] = 0x49;
        plan = f.planOf(
            everywhere(Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::F16}));
    } else if (row == "plan lists unknown tensor") {
        place.tensor = "model.language_model.layers.99.mlp.up_proj.weight";
    } else if (row == "plan lists a tensor twice") {
        plan.tensors.push_back(plan.tensors.front());
    } else if (row == "plan with other bytes") {
        place.bytes += 1;
    } else if (row == "plan names unknown device") {
        place.store = place.compute = DeviceId::cuda(3);
    } else if (row == "plan stores on a GPU for another") {
        place.store = DeviceId::sim(0);
    } else if (row == "plan computes on disk") {
        place.store = place.compute = DeviceId::disk();
    } else {
        engine::PlanIssue& issue = plan.errors.emplace_back();
        issue.code = "DM09";
        issue.words = engine::said("%1 needs more than it has", DeviceId::cpu());
    }
    const auto store = f.load(plan);
    QVERIFY(!store.has_value());
    QVERIFY2(store.error().message.find(message.toStdString()) != std::string::npos,
             store.error().message.c_str());
    QCOMPARE(static_cast<int>(store.error().code), code);
    QCOMPARE(f.devices.live(), size_t{0});
}

void TestLoader::reportNamesEverything() {
    Loading f;
    f.source.set("model.something.else", engine::TensorType::BF16, {2}, std::vector<uint8_t>(4));
    f.source.set("lm_head.weight", engine::TensorType::BF16, {2}, std::vector<uint8_t>(4));
    const std::string unused = "model.language_model.layers.9.self_attn.k_proj.weight";
    f.source.set(unused, engine::TensorType::BF16, {2}, std::vector<uint8_t>(4));
    const std::string clip = "model.audio_tower.layers.0.feed_forward1.ffw_layer_1.input_max";
    QVERIFY(f.source.find(clip) != nullptr);
    f.source.remove(clip);
    const auto plan = f.planOf(everywhere({}));
    const auto store = f.load(plan);
    VERIFY_VALUE(store);
    const auto& report = (*store)->report();
    QCOMPARE(report.missing, std::vector<std::string>{clip});
    QCOMPARE(report.surplus, std::vector<std::string>{"model.something.else"});
    QCOMPARE(report.inert.size(), size_t{2});
    QVERIFY(report.inert[0].name.starts_with("lm_head.weight") ||
            report.inert[1].name.starts_with("lm_head.weight"));
    QVERIFY(report.inert[0].name.starts_with(unused) || report.inert[1].name.starts_with(unused));
    QVERIFY(report.bytes_read > 0);
}

void TestLoader::headerOnlyCannotLoad() {
    class HeaderOnly : public MemorySource {
    public:
        using MemorySource::MemorySource;
        [[nodiscard]] bool isHeaderOnly() const override { return true; }
    };
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    const HeaderOnly source(golden.tensors);
    TestDevices devices;
    const auto store = engine::load(
        source, golden.config, planFor(golden.config, source, everywhere({})), devices.owned.set);
    QVERIFY(!store.has_value());
    QCOMPARE(store.error().code, ErrorCode::Unsupported);
}

void TestLoader::threadsAndReadersGiveTheSame() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    const MemorySource source(golden.tensors);
    Expected expected(golden);
    const auto plan = planFor(
        golden.config, source,
        everywhere(Place{DeviceId::sim(0), DeviceId::sim(0), Residency::Always, Format::Nf4Dq}));
    for (const int readers : {1, 2, 7}) {
        for (const bool with_pool : {false, true}) {
            TestDevices devices;
            engine::LoadOptions options;
            options.read_threads = readers;
            if (with_pool) {
                options.parallel = engine::poolParallelFor(devices.owned.pool.get());
            }
            auto store = engine::load(source, golden.config, plan, devices.owned.set, options);
            QVERIFY(store.has_value());
            VERIFY_EMPTY(support::firstWrong(**store, expected));
        }
    }
}

void TestLoader::randomSource() {
    const GoldenModel& golden = GoldenModel::get("e2b/model");
    const auto source = engine::makeRandomSource(golden.config, 5);
    const auto again = engine::makeRandomSource(golden.config, 5);
    const auto other = engine::makeRandomSource(golden.config, 6);
    for (const auto& tensor : engine::listTensors(golden.config)) {
        const auto* info = source->find(tensor.name);
        QCOMPARE(info != nullptr, !tensor.is_unused);
        if (info == nullptr) {
            continue;
        }
        QCOMPARE(info->shape, tensor.shape);
        std::vector<uint16_t> whole(static_cast<size_t>(tensor.numElements()));
        QVERIFY(source->read(*info, 0, std::as_writable_bytes(std::span(whole))).has_value());
        std::vector<uint16_t> seed6(whole.size());
        QVERIFY(other->read(*other->find(tensor.name), 0, std::as_writable_bytes(std::span(seed6)))
                    .has_value());
        QVERIFY(whole.size() < 16 || whole != seed6);
        // Any piece, at odd byte offsets too, gives the same bytes.
        const auto* bytes = reinterpret_cast<const std::byte*>(whole.data());
        for (const size_t offset :
             {size_t{0}, size_t{1}, whole.size() / 2 * 2 + 1, whole.size() * 2 - 1}) {
            if (offset >= whole.size() * 2) {
                continue;
            }
            std::vector<std::byte> piece(std::min<size_t>(9001, whole.size() * 2 - offset));
            QVERIFY(again->read(*again->find(tensor.name), offset, piece).has_value());
            QVERIFY(std::equal(piece.begin(), piece.end(), bytes + offset));
        }
        double sum = 0.0;
        double squares = 0.0;
        std::set<uint16_t> distinct;
        for (const uint16_t bits : whole) {
            const double value = engine::bf16ToFloat(bits);
            QVERIFY(std::isfinite(value));
            sum += value;
            squares += value * value;
            distinct.insert(bits);
        }
        if (tensor.kind == engine::TensorKind::Linear && whole.size() >= 4096) {
            const auto n = static_cast<double>(whole.size());
            const double sigma = std::sqrt(squares / n - (sum / n) * (sum / n));
            const double wanted = 1.0 / std::sqrt(static_cast<double>(tensor.shape[1]));
            QVERIFY(std::fabs(sum / n) < 5.0 * wanted / std::sqrt(n));
            QVERIFY(sigma > 0.95 * wanted && sigma < 1.05 * wanted);
            QVERIFY(distinct.size() > 300);
        }
        QVERIFY(
            !source
                 ->read(*info, info->size_bytes, std::as_writable_bytes(std::span(whole).first(1)))
                 .has_value());
    }
    const auto plan = planFor(
        golden.config, *source,
        everywhere(Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4}));
    TestDevices devices;
    QVERIFY(engine::load(*source, golden.config, plan, devices.owned.set).has_value());
}

void TestLoader::flatMemoryOverCycles() {
    Loading f;
    const auto residentKiB = [] {
        std::ifstream file("/proc/self/statm");
        long total = 0;
        long resident = 0;
        file >> total >> resident;
        return resident * 4;
    };
    const auto gpu =
        f.planOf([](const engine::ExpectedTensor& tensor) { return mixed(tensor, Format::Nf4Dq); });
    const auto cpu = f.planOf(
        everywhere(Place{DeviceId::cpu(), DeviceId::cpu(), Residency::Always, Format::Nf4Dq}));
#if defined(__SANITIZE_ADDRESS__)
    // What is freed waits in the sanitizer's quarantine: resident memory says nothing there, and
    // LeakSanitizer says what was not freed.
    const int cycles = 20;
#else
    const int cycles = 200;
#endif
    [[maybe_unused]] long after_warm_up = 0;
    for (int cycle = 0; cycle < cycles; ++cycle) {
        auto store = f.load(gpu);
        QVERIFY(store.has_value());
        QVERIFY(f.move(**store, cpu).has_value());
        QVERIFY(f.move(**store, gpu).has_value());
        VERIFY_EMPTY(f.devices.firstDifference(gpu));
        store->reset();
        QCOMPARE(f.devices.live(), size_t{0});
        if (cycle == 50) {
            after_warm_up = residentKiB();
        }
    }
#if !defined(__SANITIZE_ADDRESS__)
    const long growth = residentKiB() - after_warm_up;
    QVERIFY2(growth < 8192,
             qPrintable(QString("resident memory grew by %1 KiB in 150 cycles").arg(growth)));
#endif
}

TEST_CLASS(TestLoader)
#include "tst_loader.moc"
