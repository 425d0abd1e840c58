// SPDX-License-Identifier: Apache-2.0
// A W4A16 folder of compressed-tensors through the whole engine, against the float64 run over the
// weights that the package expands it to: logits, greedy tokens, its adapter, on one device and
// split. Its unpacked weights in q4_0 are the same model again, to the bit.
#include "engine/files/safetensors_writer.h"
#include "engine/load/loader_origin.h"
#include "tests/engine/quant/memory_source.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace {

/// Largest difference to the float64 run, as a share of the largest logit.
constexpr double kW4A16Bound = 1e-4;

fs::path w4a16Folder() {
    return support::goldenMoreDir() / "w4a16-e2b";
}

engine::LoadRequest w4a16Request() {
    return support::folderRequest(w4a16Folder());
}

/// The weights of the folder as bf16, under their plain names: what -unquantized folders hold.
/// `damage` values of the first packed weight are moved off its grid, in blocks of their own.
void writeUnpacked(const fs::path& to, int damage) {
    fs::copy(w4a16Folder(), to, fs::copy_options::recursive);
    fs::remove(to / "model.safetensors");
    auto config = support::readJson(w4a16Folder() / "config.json");
    config["quantization_config"] = {{"trained_for", "q4_0"}}; // without a quant_method
    std::ofstream(to / "config.json") << config.dump();
    const auto stored = support::readSafetensors(w4a16Folder() / "model.safetensors");
    const support::MemorySource source(stored);
    std::vector<engine::TensorToWrite> tensors;
    for (const auto& [name, tensor] : stored) {
        if (engine::isQuantHelper(name)) {
            continue;
        }
        std::vector<std::byte> bytes(tensor.bytes.size());
        std::memcpy(bytes.data(), tensor.bytes.data(), bytes.size());
        std::string plain = name;
        std::vector<int64_t> shape = tensor.shape;
        if (engine::isW4A16Codes(name, &plain)) {
            shape[1] *= 8;
            const auto origin =
                support::must(engine::openOrigin(source, name, plain, shape), name.c_str());
            bytes.resize(static_cast<size_t>(origin.numElements()) * 2);
            support::must(engine::readValues(source, origin, 0, origin.numElements(), bytes.data()),
                          name.c_str());
            for (; damage > 0; --damage) {
                bytes[static_cast<size_t>(damage) * 64] ^= std::byte{1};
            }
        }
        tensors.push_back(engine::tensorFromBytes(plain, engine::TensorType::BF16, shape, bytes));
    }
    QVERIFY(engine::writeSafetensorsFile(to / "model.safetensors", tensors).has_value());
}

} // namespace

class TestW4A16Model : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void logits_data();
    void logits();
    void adapter_data() { logits_data(); }
    void adapter();
    void inspected();
    void trainedGrid_data();
    void trainedGrid();
    void weightsNotThere();
    void otherForms_data();
    void otherForms();
    void cleanupTestCase() { worst_.print("W4A16 against float64"); }

private:
    support::WorstError worst_;
    void compare(engine::Engine& engine,
                 const std::map<std::string, support::GoldenTensor>& expected,
                 const std::string& end);
};

/// The last 8 rows of logits of every case.
void TestW4A16Model::compare(engine::Engine& engine,
                             const std::map<std::string, support::GoldenTensor>& expected,
                             const std::string& end) {
    for (const auto& c : support::goldenCases("w4a16-e2b")) {
        const auto golden = expected.at(c.id + end).floats();
        const double error = worst_.add(
            support::maxRelativeToLargest(support::engineLogits(engine, c, 8), golden), c.id);
        QVERIFY2(error <= kW4A16Bound,
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(c.id)).arg(error)));
    }
}

void TestW4A16Model::logits_data() {
    support::addColumns<QString>("map");
    QTest::newRow("processor") << "cpu";
    QTest::newRow("towers on the CPU") << "towers-cpu";
    QTest::newRow("split") << R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers.[1-2]": "sim:1", "model.language_model.layers.3": "cpu",
        "model.language_model.per_layer_model_projection": "cpu"}})";
    QTest::newRow("from disk") << R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers": {"store": "disk", "compute": "sim:1"}}})";
    QTest::newRow("from memory") << R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers": {"store": "cpu", "compute": "sim:0"}}})";
}

void TestW4A16Model::logits() {
    QFETCH(QString, map);
    engine::LoadRequest request = w4a16Request();
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    const auto expected = support::readSafetensors(w4a16Folder() / "expected_logits.safetensors");
    compare(engine, expected, ".logits");
    for (const auto& c : support::goldenCases("w4a16-e2b")) {
        // Products that are not rounded to bf16 are another model.
        const auto exact = expected.at(c.id + ".logits_exact_product").floats();
        QVERIFY(support::maxRelativeToLargest(support::engineLogits(engine, c, 8), exact) >
                10 * kW4A16Bound);
        QCOMPARE(support::engineGreedy(engine, c, 24), c.greedy);
    }
    QCOMPARE(support::memoryDifference(engine), std::string());
}

void TestW4A16Model::adapter() {
    QFETCH(QString, map);
    engine::LoadRequest request = w4a16Request();
    request.sim_gpus = {64U << 20U, 64U << 20U};
    request.device_map = map.toStdString();
    request.adapters.push_back({(w4a16Folder() / "adapter").string(), 1.0});
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    compare(engine, support::readSafetensors(w4a16Folder() / "adapter/expected_logits.safetensors"),
            "");
    const auto greedy = support::readJson(w4a16Folder() / "adapter/expected_greedy.json");
    for (const auto& c : support::goldenCases("w4a16-e2b")) {
        QCOMPARE(support::engineGreedy(engine, c, 24), greedy[c.id].get<std::vector<int32_t>>());
    }
}

// It is named as its folders are; the head is counted once, as the stored copy has the values of
// the table; what was packed is told and not called quantized.
void TestW4A16Model::inspected() {
    engine::Engine engine;
    const auto summary = engine.readHeaders(w4a16Folder().string());
    VERIFY_VALUE(summary);
    QCOMPARE(summary->quantization, std::string("w4a16"));
    QVERIFY(std::none_of(summary->modules.begin(), summary->modules.end(),
                         [](const auto& module) { return module.name == "lm_head"; }));
    QCOMPARE(engine::inEnglish(summary->warnings), std::vector<std::string>());
    VERIFY_VALUE(engine.load(w4a16Request(), {}, {}));
    const auto notes = engine::inEnglish(engine.loadNotes());
    QVERIFY(support::mentions(notes, "33 weights are stored as W4A16"));
    QVERIFY(!support::mentions(notes, "re-quantized"));
}

void TestW4A16Model::trainedGrid_data() {
    QTest::addColumn<int>("damage");
    QTest::newRow("all on it") << 0;
    QTest::newRow("one off it") << 1;
}

void TestW4A16Model::trainedGrid() {
    QFETCH(int, damage);
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "unpacked";
    writeUnpacked(folder, damage);
    engine::LoadRequest request = support::folderRequest(folder);
    request.quant = "q4_0";
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request, {}, {}));
    const auto notes = engine::inEnglish(engine.loadNotes());
    QVERIFY(support::mentions(notes, "q4_0: trained grid: 33 weights"));
    QCOMPARE(support::mentions(notes, "values, 0 are not exactly"), damage == 0);
    QVERIFY(support::mentions(notes, "q4_0: re-quantized: ")); // the towers
    if (damage > 0) {
        return;
    }
    engine::Engine packed;
    VERIFY_VALUE(packed.load(w4a16Request(), {}, {}));
    const auto c = support::goldenCases("w4a16-e2b").front();
    QVERIFY(c.image.empty() && c.audio.empty());
    QCOMPARE(support::engineLogits(engine, c, 8), support::engineLogits(packed, c, 8));
}

// config.json alone gives the plan of the whole folder.
void TestW4A16Model::weightsNotThere() {
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(w4a16Folder(), folder, fs::copy_options::recursive);
    fs::remove(folder / "model.safetensors");
    engine::Engine engine;
    const auto expected = engine.plan(w4a16Request());
    const auto plan = engine.plan(support::folderRequest(folder));
    VERIFY_VALUE(plan);
    QCOMPARE(plan->tensors.size(), expected->tensors.size());
    for (size_t i = 0; i < plan->tensors.size(); ++i) {
        QCOMPARE(plan->tensors[i].tensor, expected->tensors[i].tensor);
        QVERIFY2(plan->tensors[i].bytes == expected->tensors[i].bytes,
                 plan->tensors[i].tensor.c_str());
    }
}

void TestW4A16Model::otherForms_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("member", "value", "error");
    const auto row = [](const char* member, const char* value, const char* error) {
        QTest::addRow("%s %s", member, value)
            << QByteArray(member) << QByteArray(value) << QByteArray(error);
    };
    const char* const group = "/config_groups/group_0";
    const auto inGroup = [&](const std::string& member, const char* value, const char* error) {
        row((group + member).c_str(), value, error);
    };
    row("/format", R"("nvfp4-pack-quantized")", R"(format is "nvfp4-pack-quantized")");
    row("/format", R"("float-quantized")", R"(format is "float-quantized", expected)");
    row("/format", "", "quantization_config.format is missing");
    row("/kv_cache_scheme", R"({"num_bits": 8})", "kv_cache_scheme is an object");
    row("/sparsity_config", R"({"format": "sparse-24-bitmask"})", "sparsity_config.format");
    row("/transform_config", R"({"config_groups": {"u": 1}})", "transform_config.config_groups");
    inGroup("/format", R"("int-quantized")", "group_0.format");
    inGroup("/input_activations", R"({"num_bits": 8})", "group_0.input_activations");
    inGroup("/weights/num_bits", "8", "group_0.weights.num_bits is 8, expected 4");
    inGroup("/weights/num_bits", "", "group_0.weights.num_bits is missing, expected 4");
    inGroup("/weights/type", R"("float")", R"(weights.type is "float", expected "int")");
    inGroup("/weights/symmetric", "false", "weights.symmetric is false, expected true");
    inGroup("/weights/group_size", "128", "weights.group_size is 128, expected 32");
    inGroup("/weights/strategy", R"("channel")", R"(weights.strategy is "channel")");
    inGroup("/weights/actorder", R"("weight")", R"(weights.actorder is "weight")");
    inGroup("/weights/dynamic", "true", "weights.dynamic is true");
    inGroup("/weights", "[]", "weights is a list, expected an object");
}

// Each other form of compressed-tensors is refused by the member that says so.
void TestW4A16Model::otherForms() {
    QFETCH(QByteArray, member);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, error);
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(w4a16Folder(), folder, fs::copy_options::recursive);
    auto config = support::readJson(w4a16Folder() / "config.json");
    nlohmann::json& block = config["quantization_config"];
    const nlohmann::json::json_pointer at(member.toStdString());
    if (value.isEmpty()) {
        block.at(at.parent_pointer()).erase(at.back());
    } else {
        block[at] = nlohmann::json::parse(value.toStdString());
    }
    std::ofstream(folder / "config.json") << config.dump();
    engine::Engine engine;
    const auto loaded = engine.load(support::folderRequest(folder), {}, {});
    QVERIFY(!loaded.has_value());
    QVERIFY2(loaded.error().message.find(error.toStdString()) != std::string::npos,
             loaded.error().message.c_str());
    QCOMPARE(loaded.error().code,
             value == "[]" ? engine::ErrorCode::InvalidFile : engine::ErrorCode::Unsupported);
}

TEST_CLASS(TestW4A16Model)
#include "tst_w4a16.moc"
