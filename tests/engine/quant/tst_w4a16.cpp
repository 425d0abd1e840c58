// SPDX-License-Identifier: Apache-2.0
// W4A16 weights: codes and scales are repacked to the values that compressed-tensors expands them
// to, whatever range is read; and every rule of the form, broken one at a time, is its own named
// error.
#include "engine/base/float_types.h"
#include "engine/quant/quant_state.h"
#include "engine/quant/w4a16.h"
#include "tests/engine/quant/memory_source.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTest>

#include <bit>
#include <cstring>
#include <functional>

using engine::ErrorCode;
using engine::TensorType;
using support::MemorySource;

namespace {

constexpr int64_t kW4Rows = 6;
constexpr int64_t kW4Cols = 96;
const std::string kW4Weight = "m.proj.weight";

/// "m.proj" [6, 96] by hand: code i is (7 i + row) mod 16 - 8, a scale for each group.
int codeAt(int64_t row, int64_t col) {
    return static_cast<int>((7 * col + row) % 16) - 8;
}
float scaleAt(int64_t row, int64_t col) {
    return engine::roundToBf16(0.013F * static_cast<float>(1 + row * 3 + col / 32));
}

void makeW4A16(MemorySource& source) {
    std::vector<uint32_t> words(static_cast<size_t>(kW4Rows * kW4Cols / 8));
    std::vector<uint16_t> scales(static_cast<size_t>(kW4Rows * kW4Cols / 32));
    for (int64_t row = 0; row < kW4Rows; ++row) {
        for (int64_t col = 0; col < kW4Cols; ++col) {
            const int64_t at = row * kW4Cols + col;
            words[static_cast<size_t>(at / 8)] |= static_cast<uint32_t>(codeAt(row, col) + 8)
                                                  << static_cast<uint32_t>(4 * (col % 8));
            scales[static_cast<size_t>(at / 32)] = engine::floatToBf16(scaleAt(row, col));
        }
    }
    source.setValues(kW4Weight + "_packed", TensorType::I32, {kW4Rows, kW4Cols / 8}, words);
    source.setValues(kW4Weight + "_scale", TensorType::BF16, {kW4Rows, kW4Cols / 32}, scales);
    source.setValues(kW4Weight + "_shape", TensorType::I64, {2},
                     std::vector<int64_t>{kW4Rows, kW4Cols});
}

/// All values of a weight [rows, cols], through the layout that it has in memory.
std::vector<float>
repackedValues(const MemorySource& source, const std::string& packed, int64_t rows, int64_t cols) {
    const auto weight = support::must(engine::openW4A16(source, packed, rows, cols), "open");
    engine::QuantizedTensor tensor;
    tensor.format = engine::weightFormat(engine::kW4A16Format);
    tensor.block_size = engine::kW4A16Group;
    tensor.rows = rows;
    tensor.cols = cols;
    tensor.codes.resize(static_cast<size_t>(rows * cols / 2));
    tensor.absmax.resize(static_cast<size_t>(rows * cols / 32));
    // In two pieces, the second from the middle of a row.
    const size_t first = 20;
    const auto codes = std::as_writable_bytes(std::span(tensor.codes));
    support::must(engine::readW4A16Codes(source, weight, 0, codes.first(first)), "codes");
    support::must(engine::readW4A16Codes(source, weight, first, codes.subspan(first)), "codes");
    const auto scales = std::as_writable_bytes(std::span(tensor.absmax));
    support::must(engine::readW4A16Scales(source, weight, 0, scales.first(8)), "scales");
    support::must(engine::readW4A16Scales(source, weight, 2, scales.subspan(8)), "scales");
    std::vector<float> values(static_cast<size_t>(rows * cols));
    engine::expandRange(tensor.view(), 0, rows * cols, values.data());
    return values;
}

struct BrokenForm {
    const char* name;
    const char* rule;
    ErrorCode code;
    std::function<void(MemorySource&)> damage;
};

std::function<void(MemorySource&)>
withPart(const std::string& end, TensorType type, const std::vector<int64_t>& shape) {
    return [=](MemorySource& source) {
        size_t bytes = engine::tensorTypeSize(type);
        for (const int64_t side : shape) {
            bytes *= static_cast<size_t>(side);
        }
        source.set(kW4Weight + end, type, shape, std::vector<uint8_t>(bytes, 0x11));
    };
}

std::function<void(MemorySource&)> withoutPart(const std::string& end) {
    return [=](MemorySource& source) { source.remove(kW4Weight + end); };
}

std::function<void(MemorySource&)> withShape(int64_t rows, int64_t cols) {
    return [=](MemorySource& source) {
        source.setValues(kW4Weight + "_shape", TensorType::I64, {2}, std::vector{rows, cols});
    };
}

/// Scale 5 by its bits.
std::function<void(MemorySource&)> scaleBits(uint16_t bits) {
    return [=](MemorySource& source) {
        std::memcpy(&source.bytes(kW4Weight + "_scale")[10], &bits, sizeof bits);
    };
}

std::vector<BrokenForm> brokenForms() {
    constexpr auto kOther = ErrorCode::Unsupported;
    constexpr auto kBroken = ErrorCode::InvalidFile;
    return {
        {"no codes", "w4a16_codes_missing", kBroken, withoutPart("_packed")},
        {"zero points", "w4a16_zero_point", kOther,
         withPart("_zero_point", TensorType::I32, {1, 3})},
        {"actorder", "w4a16_g_idx", kOther, withPart("_g_idx", TensorType::I32, {kW4Cols})},
        {"NVFP4", "w4a16_global_scale", kOther, withPart("_global_scale", TensorType::F32, {1})},
        {"scales of channels", "w4a16_chan_scale", kOther,
         withPart("_chan_scale", TensorType::BF16, {kW4Rows, 1})},
        {"codes as U8", "w4a16_codes_dtype", kOther,
         withPart("_packed", TensorType::U8, {kW4Rows, kW4Cols / 2})},
        {"8 bits", "w4a16_bits", kOther,
         withPart("_packed", TensorType::I32, {kW4Rows, kW4Cols / 4})},
        {"3 bits", "w4a16_bits", kOther, withPart("_packed", TensorType::I32, {kW4Rows, 9})},
        {"2 bits", "w4a16_bits", kOther, withPart("_packed", TensorType::I32, {kW4Rows, 6})},
        {"codes of another module", "w4a16_codes_shape", kBroken,
         withPart("_packed", TensorType::I32, {kW4Rows + 1, kW4Cols / 8})},
        {"codes transposed", "w4a16_codes_shape", kBroken,
         withPart("_packed", TensorType::I32, {kW4Cols / 8, kW4Rows})},
        {"codes flat", "w4a16_codes_shape", kBroken,
         withPart("_packed", TensorType::I32, {kW4Rows * kW4Cols / 8})},
        {"no scales", "w4a16_scale_missing", kBroken, withoutPart("_scale")},
        {"scales as F16", "w4a16_scale_dtype", kOther,
         withPart("_scale", TensorType::F16, {kW4Rows, 3})},
        {"a scale for each row", "w4a16_group", kOther,
         withPart("_scale", TensorType::BF16, {kW4Rows, 1})},
        {"groups of 16", "w4a16_group", kOther,
         withPart("_scale", TensorType::BF16, {kW4Rows, kW4Cols / 16})},
        {"a scale too many", "w4a16_scale_shape", kBroken,
         withPart("_scale", TensorType::BF16, {kW4Rows, 5})},
        {"scales flat", "w4a16_scale_shape", kBroken, withPart("_scale", TensorType::BF16, {18})},
        {"no shape", "w4a16_shape_tensor", kBroken, withoutPart("_shape")},
        {"shape as I32", "w4a16_shape_tensor", kBroken, withPart("_shape", TensorType::I32, {2})},
        {"shape of three", "w4a16_shape_tensor", kBroken, withPart("_shape", TensorType::I64, {3})},
        {"shape of another module", "w4a16_shape", kBroken, withShape(kW4Rows, kW4Cols - 1)},
        {"shape negative", "w4a16_shape", kBroken, withShape(-kW4Rows, -kW4Cols)},
        {"scale infinite", "w4a16_scale_finite", kBroken, scaleBits(0x7f80)},
        {"scale NaN", "w4a16_scale_finite", kBroken, scaleBits(0xffc0)},
        {"eight scales beyond fp32", "w4a16_scale_finite", kBroken, scaleBits(0x7e00)},
    };
}

} // namespace

class TestW4A16 : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void repacks();
    void exampleOfThePackage();
    void oddScales();
    void oddColumns();
    void broken_data();
    void broken();
    void namesAndSizes();
};

void TestW4A16::repacks() {
    MemorySource source;
    makeW4A16(source);
    const std::vector<float> values =
        repackedValues(source, kW4Weight + "_packed", kW4Rows, kW4Cols);
    for (int64_t row = 0; row < kW4Rows; ++row) {
        for (int64_t col = 0; col < kW4Cols; ++col) {
            const float expected =
                engine::roundToBf16(static_cast<float>(codeAt(row, col)) * scaleAt(row, col));
            QCOMPARE(values[static_cast<size_t>(row * kW4Cols + col)], expected);
        }
    }
}

// Row 2 of a checkpoint of the package itself: the values that the package expands it to.
void TestW4A16::exampleOfThePackage() {
    const MemorySource source(
        support::readSafetensors(support::goldenMoreDir() / "w4a16-e2b/model.safetensors"));
    const auto values = repackedValues(
        source, "model.language_model.layers.0.self_attn.q_proj.weight_packed", 64, 64);
    const std::vector<float> expected = {0.040771484375F, -0.2041015625F, -0.1220703125F,
                                         -0.326171875F,   0.1220703125F,  -0.1220703125F,
                                         -0.2041015625F,  -0.1630859375F};
    QVERIFY(std::equal(expected.begin(), expected.end(), values.begin() + 128));
    // Row 0 begins with a group of zeros.
    QVERIFY(std::all_of(values.begin(), values.begin() + 32, [](float v) { return v == 0.0F; }));
}

// Negative, tiny and zero scales mean what they say.
void TestW4A16::oddScales() {
    for (const uint16_t bits : {0xbd27, 0x0001, 0x0000, 0x7df0}) {
        MemorySource source;
        makeW4A16(source);
        scaleBits(bits)(source);
        const auto values = repackedValues(source, kW4Weight + "_packed", kW4Rows, kW4Cols);
        for (int64_t col = 64; col < 96; ++col) { // scale 5 is that of the last group of row 1
            const float expected =
                engine::roundToBf16(static_cast<float>(codeAt(1, col)) * engine::bf16ToFloat(bits));
            QCOMPARE(values[static_cast<size_t>(kW4Cols + col)], expected);
        }
    }
}

// A row that does not end with a group cannot lie in memory as it is.
void TestW4A16::oddColumns() {
    MemorySource source;
    makeW4A16(source);
    withPart("_packed", TensorType::I32, {kW4Rows, 13})(source);
    const auto opened = engine::openW4A16(source, kW4Weight + "_packed", kW4Rows, 100);
    QVERIFY(!opened.has_value());
    QCOMPARE(support::detailOf(opened.error()), std::string("w4a16_columns"));
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
}

void TestW4A16::broken_data() {
    QTest::addColumn<int>("index");
    int index = 0;
    for (const BrokenForm& one : brokenForms()) {
        QTest::newRow(one.name) << index++;
    }
}

void TestW4A16::broken() {
    QFETCH(int, index);
    const BrokenForm one = brokenForms()[static_cast<size_t>(index)];
    MemorySource source;
    makeW4A16(source);
    QVERIFY(engine::openW4A16(source, kW4Weight + "_packed", kW4Rows, kW4Cols).has_value());
    one.damage(source);
    const auto weight = engine::openW4A16(source, kW4Weight + "_packed", kW4Rows, kW4Cols);
    const std::string rule = one.rule;
    engine::Result<void> read;
    if (weight.has_value()) {
        std::vector<float> scales(static_cast<size_t>(kW4Rows * kW4Cols / 32));
        read =
            engine::readW4A16Scales(source, *weight, 0, std::as_writable_bytes(std::span(scales)));
    }
    QVERIFY(!weight.has_value() || !read.has_value());
    const engine::Error& error = weight.has_value() ? read.error() : weight.error();
    QCOMPARE(support::detailOf(error), rule);
    QCOMPARE(error.code, one.code);
    // It names the tensor, what was expected and found, and what to do.
    QVERIFY(error.message.find("m.proj.weight_") != std::string::npos);
    for (const char* fact : {"expected", "found"}) {
        const std::string value = support::detailOf(error, fact);
        QVERIFY(!value.empty() && error.message.find(value) != std::string::npos);
    }
    QVERIFY(error.message.find("16-bit") != std::string::npos);
    // What the headers tell is told without a read.
    const bool is_seen_in_headers = rule != "w4a16_shape" && rule != "w4a16_scale_finite";
    QCOMPARE(engine::checkW4A16Headers(source, kW4Weight + "_packed", kW4Rows, kW4Cols).has_value(),
             !is_seen_in_headers);
}

void TestW4A16::namesAndSizes() {
    MemorySource source;
    makeW4A16(source);
    const auto stored = engine::describeStored(source, kW4Weight + "_packed", kW4Rows * kW4Cols);
    QCOMPARE(stored.kind, engine::StoredAs::W4A16);
    QCOMPARE(stored.format, engine::kW4A16Format);
    QCOMPARE(stored.block_size, 32);
    QCOMPARE(stored.stored_bytes, uint64_t{288 + 36 + 16});
    QCOMPARE(source.reads.load(), uint64_t{0});
    std::string weight;
    for (const char* end : {"_scale", "_shape", "_zero_point", "_g_idx"}) {
        QVERIFY(engine::isQuantHelper(kW4Weight + end, &weight));
        QCOMPARE(weight, kW4Weight);
    }
    QVERIFY(!engine::isQuantHelper(kW4Weight + "_packed"));
    QVERIFY(!engine::isQuantHelper("m.layer_scale"));
    QVERIFY(!engine::isW4A16Codes("m.packed") && !engine::isW4A16Codes("m.bias_packed"));
}

TEST_CLASS(TestW4A16)
#include "tst_w4a16.moc"
