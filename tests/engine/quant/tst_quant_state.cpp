// SPDX-License-Identifier: Apache-2.0
// Packed checkpoints: every 4-bit layer of the golden models equals what our quantizer makes of
// the bf16 model, bit for bit; and every rule of the key set, broken one at a time, is its own
// named error.
#include "engine/base/float_types.h"
#include "engine/quant/quant_state.h"
#include "tests/engine/quant/memory_source.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

using engine::Format;
using engine::TensorType;
using support::MemorySource;

namespace {

/// A small packed layer "m.proj.weight" [6, 128], plain or nested, made by hand.
constexpr int64_t kRows = 6;
constexpr int64_t kCols = 128;
const std::string kLayer = "m.proj.weight";

void makeLayer(MemorySource& source, bool nested, const std::string& book = "nf4") {
    std::vector<uint8_t> values(static_cast<size_t>(kRows * kCols) * 2);
    for (size_t i = 0; i < values.size() / 2; ++i) {
        const uint16_t half = engine::floatToBf16(std::sin(static_cast<float>(i)) *
                                                  (1.0F + static_cast<float>(i / 64)));
        std::memcpy(&values[2 * i], &half, 2);
    }
    const auto format = engine::codesFormat(
        book == "nf4" ? kernels::WeightFormat::Nf4 : kernels::WeightFormat::Fp4, nested);
    const auto tensor = engine::quantizeTensor(kLayer, format, 64, TensorType::BF16,
                                               support::bytesOf(values), kRows, kCols);
    source.set(kLayer, TensorType::U8, {384, 1}, tensor->codes);
    const auto& table = engine::codeBook(tensor->format);
    source.setValues(kLayer + ".quant_map", TensorType::F32, {16},
                     std::vector<float>(table.begin(), table.end()));
    std::string state = R"({"quant_type": ")" + book +
                        R"(", "blocksize": 64, "dtype": "bfloat16", "shape": [6, 128])";
    if (nested) {
        source.set(kLayer + ".absmax", TensorType::U8, {12}, tensor->absmax_q);
        source.setValues(kLayer + ".nested_absmax", TensorType::F32, {1}, tensor->nested_absmax);
        source.setValues(kLayer + ".nested_quant_map", TensorType::F32, {256}, tensor->nested_code);
        state += R"(, "nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": )" +
                 std::to_string(tensor->nested_offset);
    } else {
        source.setValues(kLayer + ".absmax", TensorType::F32, {12}, tensor->absmax);
    }
    source.setText(kLayer + ".quant_state.bitsandbytes__" + book, state + "}");
}

using Damage = std::function<void(MemorySource&)>;

/// Replaces text in the state of the layer.
Damage inState(const std::string& from, const std::string& to) {
    return [=](MemorySource& source) {
        const std::string key = kLayer + ".quant_state.bitsandbytes__nf4";
        std::string text = source.text(key);
        const auto at = text.find(from);
        if (at == std::string::npos) {
            qFatal("test mistake: %s is not in the state", from.c_str());
        }
        text.replace(at, from.size(), to);
        source.setText(key, text);
    };
}

template <typename T>
Damage value(const std::string& name, size_t index, T value) {
    return [=](MemorySource& source) {
        std::memcpy(&source.bytes(kLayer + name)[index * sizeof(T)], &value, sizeof(T));
    };
}

Damage resize(const std::string& name, TensorType type, int64_t count) {
    return [=](MemorySource& source) {
        source.set(
            kLayer + name, type, {count},
            std::vector<uint8_t>(static_cast<size_t>(count) * engine::tensorTypeSize(type), 1));
    };
}

Damage without(const std::string& name) {
    return [=](MemorySource& source) { source.remove(kLayer + name); };
}

struct BrokenCase {
    const char* name;
    bool nested;
    const char* rule;
    Damage damage;
};

std::vector<BrokenCase> brokenCases() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    return {
        {"no codes", false, "weight_missing", without("")},
        {"no packed state", false, "state_key", without(".quant_state.bitsandbytes__nf4")},
        {"two packed states", false, "state_key",
         [](MemorySource& s) { s.setText(kLayer + ".quant_state.bitsandbytes__fp4", "{}"); }},
        {"state as I8", false, "state_type",
         resize(".quant_state.bitsandbytes__nf4", TensorType::I8, 80)},
        {"empty state", false, "state_size",
         resize(".quant_state.bitsandbytes__nf4", TensorType::U8, 0)},
        {"state of 5000 bytes", false, "state_size",
         resize(".quant_state.bitsandbytes__nf4", TensorType::U8, 5000)},
        {"state is not JSON", false, "state_json", inState("{", "[")},
        {"state is cut short", false, "state_json", inState("}", "")},
        {"state is a number", false, "state_json",
         [](MemorySource& s) { s.setText(kLayer + ".quant_state.bitsandbytes__nf4", "64"); }},
        {"state nested too deeply", false, "state_json", inState("}", ", \"x\": [[[[[1]]]]]}")},
        {"state is not UTF-8", false, "state_json", inState("bfloat16", "bf\xff")},
        {"member twice", false, "state_duplicate", inState("}", ", \"blocksize\": 64}")},
        {"quant_type absent", false, "quant_type", inState("\"quant_type\"", "\"quant_typo\"")},
        {"quant_type int8", false, "quant_type", inState("\"nf4\"", "\"int8\"")},
        {"quant_type number", false, "quant_type", inState("\"nf4\"", "4")},
        {"quant_type differs from key", false, "quant_type_suffix", inState("\"nf4\"", "\"fp4\"")},
        {"unknown key suffix", false, "quant_type_suffix",
         [](MemorySource& s) {
             s.setText(kLayer + ".quant_state.bitsandbytes__xf4",
                       s.text(kLayer + ".quant_state.bitsandbytes__nf4"));
             s.remove(kLayer + ".quant_state.bitsandbytes__nf4");
         }},
        {"blocksize absent", false, "blocksize", inState("\"blocksize\"", "\"block\"")},
        {"blocksize 0", false, "blocksize", inState("64", "0")},
        {"blocksize 48", false, "blocksize", inState("64", "48")},
        {"blocksize 16", false, "blocksize", inState("64", "16")},
        {"blocksize 8192", false, "blocksize", inState("64", "8192")},
        {"blocksize negative", false, "blocksize", inState("64", "-64")},
        {"blocksize fraction", false, "blocksize", inState("64", "64.0")},
        {"blocksize text", false, "blocksize", inState("64", "\"64\"")},
        {"blocksize beyond 64 bits", false, "blocksize", inState("64", "99999999999999999999")},
        {"dtype absent", false, "state_dtype", inState("\"dtype\"", "\"type\"")},
        {"dtype uint8", false, "state_dtype", inState("bfloat16", "uint8")},
        {"dtype null", false, "state_dtype", inState("\"bfloat16\"", "null")},
        {"shape absent", false, "state_shape", inState("\"shape\"", "\"form\"")},
        {"shape with one entry", false, "state_shape", inState("[6, 128]", "[768]")},
        {"shape with three entries", false, "state_shape", inState("[6, 128]", "[6, 64, 2]")},
        {"shape with zero", false, "state_shape", inState("[6, 128]", "[0, 128]")},
        {"shape negative", false, "state_shape", inState("[6, 128]", "[-6, -128]")},
        {"shape of strings", false, "state_shape", inState("[6, 128]", "[\"6\", \"128\"]")},
        {"shape beyond 31 bits", false, "state_shape", inState("[6, 128]", "[6, 4294967296000]")},
        {"shape transposed", false, "module_shape", inState("[6, 128]", "[128, 6]")},
        {"shape of another module", false, "module_shape", inState("[6, 128]", "[6, 64]")},
        {"codes one byte short", false, "weight_bytes", resize("", TensorType::U8, 383)},
        {"codes one byte long", false, "weight_bytes", resize("", TensorType::U8, 385)},
        {"dense weight beside a state", false, "weight_bytes", resize("", TensorType::BF16, 768)},
        {"no absmax", false, "absmax_missing", without(".absmax")},
        {"absmax as F16", false, "absmax_dtype", resize(".absmax", TensorType::F16, 12)},
        {"absmax U8 in a plain layer", false, "absmax_dtype",
         resize(".absmax", TensorType::U8, 12)},
        {"absmax one short", false, "absmax_count", resize(".absmax", TensorType::F32, 11)},
        {"absmax of block size 32", false, "absmax_count", resize(".absmax", TensorType::F32, 24)},
        {"absmax NaN", false, "absmax_finite", value(".absmax", 3, nan)},
        {"absmax infinite", false, "absmax_finite", value(".absmax", 11, inf)},
        {"absmax negative", false, "absmax_negative", value(".absmax", 0, -0.5F)},
        {"no code table", false, "quant_map_missing", without(".quant_map")},
        {"code table as F16", false, "quant_map_dtype", resize(".quant_map", TensorType::F16, 16)},
        {"code table of 15", false, "quant_map_count", resize(".quant_map", TensorType::F32, 15)},
        {"code table altered", false, "quant_map", value(".quant_map", 5, -0.18F)},
        {"code table with NaN", false, "quant_map", value(".quant_map", 7, nan)},
        {"nested_absmax in a plain layer", false, "nested_keys",
         resize(".nested_absmax", TensorType::F32, 1)},
        {"nested map in a plain layer", false, "nested_keys",
         resize(".nested_quant_map", TensorType::F32, 256)},
        {"nested offset alone", false, "nested_members", inState("}", ", \"nested_offset\": 0.5}")},
        {"nested block size missing", true, "nested_members",
         inState("nested_blocksize", "nested_block")},
        {"nested dtype missing", true, "nested_members", inState("nested_dtype", "nested_type")},
        {"nested offset missing", true, "nested_members", inState("nested_offset", "nested_shift")},
        {"nested block size 128", true, "nested_blocksize", inState("256", "128")},
        {"nested block size text", true, "nested_blocksize", inState("256", "\"256\"")},
        {"nested dtype bfloat16", true, "nested_dtype", inState("float32", "bfloat16")},
        {"nested offset negative", true, "nested_offset",
         inState("\"nested_offset\": ", "\"nested_offset\": -")},
        {"nested offset beyond fp32", true, "nested_offset",
         inState("\"nested_offset\": ", "\"nested_offset\": 1e39, \"x\": ")},
        {"nested offset null", true, "nested_offset",
         inState("\"nested_offset\": ", "\"nested_offset\": null, \"x\": ")},
        {"nested offset NaN", true, "state_json",
         inState("\"nested_offset\": ", "\"nested_offset\": NaN, \"x\": ")},
        {"absmax F32 in a nested layer", true, "absmax_dtype",
         resize(".absmax", TensorType::F32, 12)},
        {"nested absmax codes one long", true, "absmax_count",
         resize(".absmax", TensorType::U8, 13)},
        {"no nested_absmax", true, "nested_absmax_missing", without(".nested_absmax")},
        {"nested_absmax as BF16", true, "nested_absmax_dtype",
         resize(".nested_absmax", TensorType::BF16, 1)},
        {"nested_absmax of two groups", true, "nested_absmax_count",
         resize(".nested_absmax", TensorType::F32, 2)},
        {"nested_absmax infinite", true, "nested_absmax_finite", value(".nested_absmax", 0, inf)},
        {"nested_absmax negative", true, "nested_absmax_negative",
         value(".nested_absmax", 0, -1.0F)},
        {"no nested map", true, "nested_quant_map_missing", without(".nested_quant_map")},
        {"nested map of 255", true, "nested_quant_map_count",
         resize(".nested_quant_map", TensorType::F32, 255)},
        {"nested map as F64", true, "nested_quant_map_dtype",
         resize(".nested_quant_map", TensorType::F64, 256)},
        {"nested map with NaN", true, "nested_quant_map", value(".nested_quant_map", 200, nan)},
    };
}

} // namespace

class TestQuantState : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void goldenCheckpoints_data();
    void goldenCheckpoints();
    void broken_data();
    void broken();
    void intactLayersOpen();
    void unknownMembersAreReported();
    void nullShapeTakesTheModules();
    void storageTypesOfCodes();
    void negativeExpandedAbsmaxIsNoError();
    void describeStoredNeedsNoData();
    void helperNames();
    void int8();
    void int8Broken_data();
    void int8Broken();
};

void TestQuantState::goldenCheckpoints_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("layers"); // 131, 151, 57, 63
    const auto addRow = [](const char* family, const char* kind, int layers) {
        QTest::addRow("%s %s", family, kind) << QString(family) << QString(kind) << layers;
    };
    addRow("e2b", "nf4", 131);
    addRow("e2b", "nf4-dq", 131);
    addRow("e2b", "fp4", 131);
    addRow("dense31b", "nf4", 57);
    addRow("dense31b", "nf4-dq", 57);
    addRow("moe26b", "nf4-dq", 63);
    // Left out of the repository's archive for their size; run where they are unpacked.
    const auto addIfPresent = [&](const char* family, const char* kind, int layers) {
        const std::string folder = std::string(kind) + "-checkpoint";
        if (std::filesystem::exists(support::goldenDir() / family / "quantized" / folder)) {
            addRow(family, kind, layers);
        }
    };
    addIfPresent("e4b", "nf4", 151);
    addIfPresent("e4b", "nf4-dq", 151);
    addIfPresent("moe26b", "nf4", 63);
}

void TestQuantState::goldenCheckpoints() {
    QFETCH(QString, family);
    QFETCH(QString, kind);
    QFETCH(int, layers);
    const auto folder = support::goldenDir() / family.toStdString();
    const auto dense = support::readSafetensors(folder / "model/model.safetensors");
    const auto checkpoint = support::readSafetensors(
        folder / "quantized" / (kind + "-checkpoint").toStdString() / "model.safetensors");
    const auto listed =
        support::readJson(folder / "quantized" / (kind + ".linear4bit_modules.json").toStdString());
    std::set<std::string> modules;
    for (const auto& entry : listed) {
        modules.insert(entry.get<std::string>());
    }
    const MemorySource source(checkpoint);
    int packed_layers = 0;
    for (const auto& [name, tensor] : dense) {
        int64_t n = 1;
        for (const int64_t side : tensor.shape) {
            n *= side;
        }
        const auto stored = engine::describeStored(source, name, n);
        if (stored.kind != engine::StoredAs::Packed4Bit) {
            continue;
        }
        ++packed_layers;
        QVERIFY2(modules.contains(name.substr(0, name.size() - 7)), name.c_str());
        const bool nested = kind == "nf4-dq";
        const Format format = engine::codesFormat(
            kind == "fp4" ? kernels::WeightFormat::Fp4 : kernels::WeightFormat::Nf4, nested);
        QCOMPARE(stored.format, format);
        QCOMPARE(stored.block_size, 64);
        QCOMPARE(tensor.shape.size(), size_t{2});
        const auto theirs = engine::readPacked(source, name, tensor.shape[0], tensor.shape[1]);
        VERIFY_VALUE(theirs);
        const auto ours = engine::quantizeTensor(name, format, 64, TensorType::BF16,
                                                 support::bytesOf(tensor.bytes), tensor.shape[0],
                                                 tensor.shape[1]);
        QVERIFY(ours.has_value());
        QVERIFY2(ours->codes == theirs->codes, name.c_str());
        QVERIFY2(ours->absmax == theirs->absmax, name.c_str());
        QVERIFY2(ours->absmax_q == theirs->absmax_q, name.c_str());
        QVERIFY2(ours->nested_absmax == theirs->nested_absmax, name.c_str());
        QVERIFY2(ours->nested_code == theirs->nested_code, name.c_str());
        QVERIFY2(ours->nested_offset == theirs->nested_offset, name.c_str());
        QCOMPARE(ours->sizeBytes(), theirs->sizeBytes());
    }
    QCOMPARE(packed_layers, layers);
    QCOMPARE(static_cast<int>(modules.size()), layers);
}

void TestQuantState::broken_data() {
    QTest::addColumn<int>("index");
    const auto cases = brokenCases();
    for (size_t i = 0; i < cases.size(); ++i) {
        QTest::newRow(cases[i].name) << static_cast<int>(i);
    }
}

void TestQuantState::broken() {
    QFETCH(int, index);
    const BrokenCase broken = brokenCases().at(static_cast<size_t>(index));
    MemorySource source;
    makeLayer(source, broken.nested);
    broken.damage(source);
    const auto result = engine::readPacked(source, kLayer, kRows, kCols);
    QVERIFY(!result.has_value());
    QCOMPARE(result.error().code, engine::ErrorCode::InvalidFile);
    QCOMPARE(QString::fromStdString(support::detailOf(result.error(), "rule")),
             QString(broken.rule));
    QCOMPARE(QString::fromStdString(support::detailOf(result.error(), "layer")),
             QString::fromStdString(kLayer));
    QVERIFY2(result.error().message.starts_with(kLayer + ": "), result.error().message.c_str());
    QVERIFY(!support::detailOf(result.error(), "expected").empty());
    QVERIFY(!support::detailOf(result.error(), "found").empty());
}

void TestQuantState::intactLayersOpen() {
    for (const bool nested : {false, true}) {
        for (const char* book : {"nf4", "fp4"}) {
            MemorySource source;
            makeLayer(source, nested, book);
            const auto result = engine::readPacked(source, kLayer, kRows, kCols);
            VERIFY_VALUE(result);
            QCOMPARE(result->isDouble(), nested);
        }
    }
}

void TestQuantState::unknownMembersAreReported() {
    MemorySource source;
    makeLayer(source, true);
    inState("}", ", \"newer\": {\"a\": [1]}, \"also\": \"x\"}")(source);
    const auto packed = engine::openPacked(source, kLayer, kRows, kCols);
    QVERIFY(packed.has_value());
    QCOMPARE(packed->state.unknown_members, (std::vector<std::string>{"also", "newer"}));
}

void TestQuantState::nullShapeTakesTheModules() {
    MemorySource source;
    makeLayer(source, false);
    inState("[6, 128]", "null")(source);
    QVERIFY(engine::readPacked(source, kLayer, kRows, kCols).has_value());
}

void TestQuantState::storageTypesOfCodes() {
    // The same bytes in another quant_storage type and in the legacy [1, n] shape.
    MemorySource original;
    makeLayer(original, false);
    const auto expected = engine::readPacked(original, kLayer, kRows, kCols);
    for (const TensorType type :
         {TensorType::BF16, TensorType::F16, TensorType::F32, TensorType::I8}) {
        MemorySource source;
        makeLayer(source, false);
        const auto bytes = source.bytes(kLayer);
        source.set(kLayer, type,
                   {1, static_cast<int64_t>(bytes.size() / engine::tensorTypeSize(type))}, bytes);
        const auto result = engine::readPacked(source, kLayer, kRows, kCols);
        QVERIFY(result.has_value());
        QVERIFY(result->codes == expected->codes);
    }
}

void TestQuantState::negativeExpandedAbsmaxIsNoError() {
    MemorySource source;
    makeLayer(source, true);
    source.bytes(kLayer + ".absmax")[0] = 0; // -0.99 * nested absmax + offset
    const auto result = engine::readPacked(source, kLayer, kRows, kCols);
    QVERIFY(result.has_value());
    QVERIFY(engine::blockScale(result->view(), 0) < engine::blockScale(result->view(), 1));
}

void TestQuantState::describeStoredNeedsNoData() {
    MemorySource source;
    makeLayer(source, true, "fp4");
    source.fail_read = 1;
    const auto packed = engine::describeStored(source, kLayer, kRows * kCols);
    QCOMPARE(packed.kind, engine::StoredAs::Packed4Bit);
    QCOMPARE(packed.format, Format::Fp4Dq);
    QCOMPARE(packed.block_size, 64);
    const uint64_t state = source.text(kLayer + ".quant_state.bitsandbytes__fp4").size();
    QCOMPARE(packed.stored_bytes, 384 + 12 + 4 + 1024 + 64 + state);
    source.set("d.weight", TensorType::F16, {2, 2}, std::vector<uint8_t>(8));
    const auto dense = engine::describeStored(source, "d.weight", 4);
    QCOMPARE(dense.kind, engine::StoredAs::Dense);
    QCOMPARE(dense.format, Format::F16);
    QCOMPARE(engine::describeStored(source, "x.weight", 4).kind, engine::StoredAs::Absent);
    // What bitsandbytes has no such state of is described as its most common format; a load refuses
    // it.
    for (const char* name : {"none", "q8", "q8_0", "xf4", ""}) {
        MemorySource odd;
        makeLayer(odd, true, name);
        const auto described = engine::describeStored(odd, kLayer, kRows * kCols);
        QCOMPARE(described.kind, engine::StoredAs::Packed4Bit);
        QCOMPARE(described.format, Format::Nf4Dq);
    }
    for (const int block : {32, 128, 4096}) {
        MemorySource other;
        makeLayer(other, false);
        other.setValues(
            kLayer + ".absmax", TensorType::F32, {(6 * 128 + block - 1) / block},
            std::vector<float>(static_cast<size_t>((6 * 128 + block - 1) / block), 1.0F));
        const int64_t n = 6 * 128;
        const auto stored = engine::describeStored(other, kLayer, n);
        QCOMPARE((n + stored.block_size - 1) / stored.block_size, (n + block - 1) / block);
    }
}

void TestQuantState::helperNames() {
    std::string weight;
    QVERIFY(engine::isQuantHelper("a.b.weight.quant_state.bitsandbytes__nf4", &weight));
    QCOMPARE(weight, std::string("a.b.weight"));
    QVERIFY(engine::isQuantHelper("a.b.weight.nested_quant_map", &weight));
    QCOMPARE(weight, std::string("a.b.weight"));
    QVERIFY(engine::isQuantHelper("a.b.SCB", &weight));
    QCOMPARE(weight, std::string("a.b.weight"));
    QVERIFY(!engine::isQuantHelper("a.b.weight"));
    QVERIFY(!engine::isQuantHelper("a.absmax"));
    QVERIFY(!engine::isQuantHelper("a.b.bias"));
}

void TestQuantState::int8() {
    MemorySource source;
    source.setValues("p.weight", TensorType::I8, {2, 3},
                     std::vector<int8_t>{127, -127, 0, 64, 1, -2});
    source.setValues("p.SCB", TensorType::F32, {2}, std::vector<float>{2.54F, 127.0F});
    source.setValues("p.weight_format", TensorType::U8, {}, std::vector<uint8_t>{0});
    QCOMPARE(engine::describeStored(source, "p.weight", 6).kind, engine::StoredAs::Int8Rows);
    const auto weight = engine::openInt8(source, "p.weight", 2, 3);
    QVERIFY(weight.has_value());
    std::vector<int8_t> values(6);
    QVERIFY(source.read(*weight->values, 0, std::as_writable_bytes(std::span(values))).has_value());
    std::vector<uint16_t> out(6);
    engine::int8RowsToBf16(*weight, 0, 2, values.data(), out.data());
    const std::vector<float> expected = {2.54F, -2.54F, 0.0F, 64.0F, 1.0F, -2.0F};
    for (size_t i = 0; i < 6; ++i) {
        QCOMPARE(engine::bf16ToFloat(out[i]), engine::roundToBf16(expected[i]));
    }
}

void TestQuantState::int8Broken_data() {
    QTest::addColumn<QString>("rule");
    QTest::newRow("SCB missing") << "int8_scb";
    QTest::newRow("SCB count") << "int8_scb";
    QTest::newRow("SCB F16") << "int8_scb";
    QTest::newRow("SCB NaN") << "int8_scb_finite";
    QTest::newRow("SCB negative") << "int8_scb_negative";
    QTest::newRow("column-major tiles") << "int8_weight_format";
    QTest::newRow("weight_format I32") << "int8_weight_format";
    QTest::newRow("weight shape") << "int8_weight";
    QTest::newRow("weight U8") << "int8_weight";
}

void TestQuantState::int8Broken() {
    QFETCH(QString, rule);
    const QString row = QTest::currentDataTag();
    MemorySource source;
    source.setValues("p.weight", TensorType::I8, {2, 3}, std::vector<int8_t>{1, 2, 3, 4, 5, 6});
    source.setValues("p.SCB", TensorType::F32, {2}, std::vector<float>{1.0F, 2.0F});
    if (row == "SCB missing") {
        source.remove("p.SCB");
    } else if (row == "SCB count") {
        source.setValues("p.SCB", TensorType::F32, {3}, std::vector<float>{1.0F, 2.0F, 3.0F});
    } else if (row == "SCB F16") {
        source.setValues("p.SCB", TensorType::F16, {2}, std::vector<uint16_t>{1, 2});
    } else if (row == "SCB NaN") {
        source.setValues("p.SCB", TensorType::F32, {2}, std::vector<float>{1.0F, NAN});
    } else if (row == "SCB negative") {
        source.setValues("p.SCB", TensorType::F32, {2}, std::vector<float>{1.0F, -1.0F});
    } else if (row == "column-major tiles") {
        source.setValues("p.weight_format", TensorType::U8, {}, std::vector<uint8_t>{2});
    } else if (row == "weight_format I32") {
        source.setValues("p.weight_format", TensorType::I32, {}, std::vector<int32_t>{0});
    } else if (row == "weight shape") {
        source.setValues("p.weight", TensorType::I8, {3, 2}, std::vector<int8_t>{1, 2, 3, 4, 5, 6});
    } else {
        source.setValues("p.weight", TensorType::U8, {2, 3},
                         std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
    }
    const auto result = engine::openInt8(source, "p.weight", 2, 3);
    QVERIFY(!result.has_value());
    QCOMPARE(QString::fromStdString(support::detailOf(result.error(), "rule")), rule);
}

TEST_CLASS(TestQuantState)
#include "tst_quant_state.moc"
