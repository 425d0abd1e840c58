// SPDX-License-Identifier: Apache-2.0
// The card's quantization kernels, run on the CPU, against the quantizer of engine/quant: the same
// bytes for the published vectors, for every bf16 pattern as absmax, and at the edges (zeros, tiny
// and huge values, values on thresholds, odd counts, values that are not finite).
#include "engine/base/float_types.h"
#include "engine/quant/quantize.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using CodeBook = kernels::WeightFormat;
using engine::TensorType;
using kernels::QuantizeArgs;
using kernels::Status;
using kernels::WeightFormat;

namespace {

kernels::DType elementType(TensorType type) {
    return type == TensorType::F32   ? kernels::DType::F32
           : type == TensorType::F16 ? kernels::DType::F16
                                     : kernels::DType::BF16;
}

/// Values as bytes of a type, at an address that kernels accept.
struct Values {
    TensorType type = TensorType::BF16;
    std::vector<uint64_t> storage;
    size_t count = 0;

    Values(TensorType t, const std::vector<float>& values)
        : type(t), storage(values.size() / 2 + 4), count(values.size()) {
        for (size_t i = 0; i < values.size(); ++i) {
            set(i, values[i]);
        }
    }
    void set(size_t i, float value) {
        if (type == TensorType::F32) {
            std::memcpy(bytes() + 4 * i, &value, 4);
            return;
        }
        const uint16_t half =
            type == TensorType::BF16 ? engine::floatToBf16(value) : engine::floatToF16(value);
        std::memcpy(bytes() + 2 * i, &half, 2);
    }
    std::byte* bytes() {
        auto* start = reinterpret_cast<std::byte*>(storage.data());
        return reinterpret_cast<uintptr_t>(start) % 16 == 0 ? start : start + 8;
    }
    std::span<const std::byte> span() { return {bytes(), count * engine::tensorTypeSize(type)}; }
};

std::vector<float> normalValues(size_t count, float sigma, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, sigma);
    std::vector<float> values(count);
    for (float& value : values) {
        value = normal(random);
    }
    return values;
}

/// What is wrong, or nothing: codes and absmax of both, byte for byte.
QString blocksDiffer(support::EmulatedCard& card, CodeBook book, Values& values) {
    const size_t blocks = (values.count + 63) / 64;
    std::vector<uint8_t> want((values.count + 1) / 2);
    std::vector<float> want_absmax(blocks);
    if (!engine::quantizeValues("weight", book, 64, values.type, values.span(), want.data(),
                                want_absmax.data())
             .has_value()) {
        return "the CPU refused it";
    }
    std::vector<uint8_t> got(want.size() + 4, 0xee); // bytes behind the end must stay
    std::vector<float> got_absmax(blocks + 1, -1.0F);
    QuantizeArgs args;
    args.values = values.bytes();
    args.type = elementType(values.type);
    args.rows = 1;
    args.cols = static_cast<int64_t>(values.count);
    args.format = book == CodeBook::Nf4 ? WeightFormat::Nf4 : WeightFormat::Fp4;
    args.data = got.data();
    args.scales = got_absmax.data();
    auto& device = card.device();
    if (device.ops().quantize(device.queue(), args) != Status::Ok) {
        return "the card refused it";
    }
    if (const std::string wrong = card.finish(); !wrong.empty()) {
        return QString::fromStdString(wrong);
    }
    for (size_t i = 0; i < blocks; ++i) {
        if (std::bit_cast<uint32_t>(want_absmax[i]) != std::bit_cast<uint32_t>(got_absmax[i])) {
            return QString("absmax of block %1").arg(i);
        }
    }
    for (size_t i = 0; i < want.size(); ++i) {
        if (want[i] != got[i]) {
            return QString("byte %1 (absmax %2): %3 instead of %4")
                .arg(i)
                .arg(static_cast<double>(want_absmax[i / 32]), 0, 'g', 9)
                .arg(got[i], 2, 16)
                .arg(want[i], 2, 16);
        }
    }
    for (size_t i = want.size(); i < got.size(); ++i) {
        if (got[i] != 0xee) {
            return "bytes behind the end were written";
        }
    }
    return got_absmax[blocks] == -1.0F ? QString() : QString("absmax behind the end was written");
}

QString rowsDiffer(support::EmulatedCard& card, Values& values, int64_t rows, int64_t cols) {
    std::vector<uint8_t> want(static_cast<size_t>(rows * cols));
    std::vector<float> want_scale(static_cast<size_t>(rows));
    if (!engine::quantizeValues("head", WeightFormat::Int8Row, cols, values.type, values.span(),
                                want.data(), want_scale.data())
             .has_value()) {
        return "the CPU refused it";
    }
    std::vector<uint8_t> got(want.size(), 99);
    std::vector<float> got_scale(want_scale.size(), -1.0F);
    QuantizeArgs args;
    args.values = values.bytes();
    args.type = elementType(values.type);
    args.rows = rows;
    args.cols = cols;
    args.format = WeightFormat::Int8Row;
    args.data = got.data();
    args.scales = got_scale.data();
    auto& device = card.device();
    if (device.ops().quantize(device.queue(), args) != Status::Ok) {
        return "the card refused it";
    }
    if (const std::string wrong = card.finish(); !wrong.empty()) {
        return QString::fromStdString(wrong);
    }
    if (std::memcmp(want_scale.data(), got_scale.data(), want_scale.size() * 4) != 0) {
        return "scales differ";
    }
    return want == got ? QString() : QString("codes differ");
}

} // namespace

class TestQuantizeOnCard : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void publishedVectors_data();
    void publishedVectors();
    void blocks_data();
    void blocks();
    void everyAbsmax_data();
    void everyAbsmax();
    void thresholds();
    void rows_data();
    void rows();
    void notFinite();
    void refusals();

private:
    support::EmulatedCard card_{support::EmulatedCardOptions{}};
};

void TestQuantizeOnCard::publishedVectors_data() {
    QTest::addColumn<int>("book");
    QTest::addRow("nf4") << static_cast<int>(CodeBook::Nf4);
    QTest::addRow("fp4") << static_cast<int>(CodeBook::Fp4);
}

void TestQuantizeOnCard::publishedVectors() {
    QFETCH(int, book);
    int tensors = 0;
    for (const auto& [name, tensor] :
         support::readSafetensors(support::goldenDir() / "quantization_vectors.safetensors")) {
        const bool is_ours =
            name.starts_with(book == static_cast<int>(CodeBook::Nf4) ? "nf4." : "fp4.") &&
            name.ends_with(".weight");
        if (!is_ours) {
            continue;
        }
        ++tensors;
        Values values(TensorType::BF16, tensor.floats());
        const QString wrong = blocksDiffer(card_, static_cast<CodeBook>(book), values);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString::fromStdString(name) + ": " + wrong));
    }
    QVERIFY(tensors > 0);
}

void TestQuantizeOnCard::blocks_data() {
    support::addColumns<CodeBook, TensorType, int, float>("book", "type", "count", "sigma");
    for (const CodeBook book : {CodeBook::Nf4, CodeBook::Fp4}) {
        for (const TensorType type : {TensorType::BF16, TensorType::F16, TensorType::F32}) {
            for (const int count : {1, 2, 63, 64, 65, 71, 2048, 16384 + 9}) {
                for (const float sigma : {0.02F, 1e-38F, 1e-41F, 3e30F}) {
                    QTest::addRow("%s %d, %d values of %g", book == CodeBook::Nf4 ? "nf4" : "fp4",
                                  static_cast<int>(type), count, static_cast<double>(sigma))
                        << book << type << count
                        << (type == TensorType::F16 && sigma > 1.0F ? 1000.0F : sigma);
                }
            }
        }
    }
}

void TestQuantizeOnCard::blocks() {
    QFETCH(CodeBook, book);
    QFETCH(TensorType, type);
    QFETCH(int, count);
    QFETCH(float, sigma);
    std::vector<float> floats =
        normalValues(static_cast<size_t>(count), sigma, static_cast<uint32_t>(count));
    for (size_t i = 128; i < std::min<size_t>(floats.size(), 192); ++i) {
        floats[i] = i % 2 == 0 ? 0.0F : -0.0F; // a block of zeros
    }
    Values values(type, floats);
    const QString wrong = blocksDiffer(card_, book, values);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void TestQuantizeOnCard::everyAbsmax_data() {
    publishedVectors_data();
}

/// Absmax of every exponent and every mantissa of bf16: the reciprocal and its corrections.
void TestQuantizeOnCard::everyAbsmax() {
    QFETCH(int, book);
    std::mt19937 random(5);
    std::vector<float> floats;
    for (uint32_t pattern = 0; pattern < 0x7f80U; pattern += 7) {
        const float absmax = std::bit_cast<float>(pattern << 16U);
        for (int i = 0; i < 64; ++i) {
            const float share = i == 7 ? 1.0F : static_cast<float>(random() % 129U) / 128.0F;
            floats.push_back((random() & 1U) != 0 ? absmax * share : -absmax * share);
        }
    }
    Values values(TensorType::BF16, floats);
    const QString wrong = blocksDiffer(card_, static_cast<CodeBook>(book), values);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

/// Ratios exactly on a threshold take the lower code.
void TestQuantizeOnCard::thresholds() {
    for (const CodeBook book : {CodeBook::Nf4, CodeBook::Fp4}) {
        const auto& codes = engine::codeBook(book);
        std::vector<float> floats{1.0F};
        for (const float a : codes) {
            for (const float b : codes) {
                const float middle = (a + b) / 2.0F;
                floats.push_back(middle);
                floats.push_back(std::nextafter(middle, 2.0F));
                floats.push_back(std::nextafter(middle, -2.0F));
            }
        }
        for (size_t i = 0; i < floats.size(); i += 64) {
            floats[i] = 1.0F; // every block has absmax 1
        }
        Values values(TensorType::F32, floats);
        const QString wrong = blocksDiffer(card_, book, values);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

void TestQuantizeOnCard::rows_data() {
    support::addColumns<TensorType, int, int>("type", "rows", "cols");
    for (const TensorType type : {TensorType::BF16, TensorType::F16, TensorType::F32}) {
        for (const auto& [rows, cols] : {std::pair{1, 1}, {9, 33}, {17, 256}, {3, 1537}}) {
            QTest::addRow("%d, %d x %d", static_cast<int>(type), rows, cols)
                << type << rows << cols;
        }
    }
}

void TestQuantizeOnCard::rows() {
    QFETCH(TensorType, type);
    QFETCH(int, rows);
    QFETCH(int, cols);
    const auto count = static_cast<size_t>(rows) * static_cast<size_t>(cols);
    std::vector<float> floats = normalValues(count, 0.05F, 11);
    if (rows > 2) {
        std::fill_n(floats.begin() + cols, cols, 0.0F); // a row of zeros
        floats[static_cast<size_t>(2 * cols)] = 1e-44F; // beside values around 0.05
    }
    Values values(type, floats);
    const QString wrong = rowsDiffer(card_, values, rows, cols);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    Values tiny(TensorType::F32, std::vector<float>(count, 1e-44F)); // the scale rounds to zero
    const QString tiny_wrong = rowsDiffer(card_, tiny, rows, cols);
    QVERIFY2(tiny_wrong.isEmpty(), qPrintable(tiny_wrong));
}

void TestQuantizeOnCard::notFinite() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    auto& device = card_.device();
    for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
        Values values(TensorType::BF16, normalValues(256, 1.0F, 3));
        values.set(130, bad);
        std::vector<uint8_t> data(256);
        std::vector<float> scales(4);
        QuantizeArgs args;
        args.format = WeightFormat::Nf4;
        args.values = values.bytes();
        args.rows = 1;
        args.cols = 256;
        args.data = data.data();
        args.scales = scales.data();
        QCOMPARE(device.ops().quantize(device.queue(), args), Status::Ok);
        args.format = WeightFormat::Int8Row;
        args.rows = 4;
        args.cols = 64;
        std::vector<float> row_scales(4);
        args.scales = row_scales.data();
        QCOMPARE(device.ops().quantize(device.queue(), args), Status::Ok);
        QCOMPARE(card_.finish(), std::string());
        for (size_t i = 0; i < 4; ++i) {
            QCOMPARE(std::isfinite(scales[i]), i != 2);
            QCOMPARE(std::isfinite(row_scales[i]), i != 2);
        }
    }
}

void TestQuantizeOnCard::refusals() {
    Values values(TensorType::BF16, normalValues(128, 1.0F, 3));
    std::vector<uint32_t> data(64);
    std::vector<float> scales(2);
    QuantizeArgs args;
    args.format = WeightFormat::Nf4;
    args.values = values.bytes();
    args.rows = 1;
    args.cols = 128;
    args.data = data.data();
    args.scales = scales.data();
    auto& device = card_.device();
    const auto answer = [&](const QuantizeArgs& a) {
        return device.ops().quantize(device.queue(), a);
    };
    QuantizeArgs wrong = args;
    wrong.block_size = 128;
    QCOMPARE(answer(wrong), Status::Unsupported);
    wrong = args;
    wrong.format = WeightFormat::BF16;
    QCOMPARE(answer(wrong), Status::Unsupported);
    wrong = args;
    wrong.scales = nullptr;
    QCOMPARE(answer(wrong), Status::BadShape);
    wrong = args;
    wrong.rows = -1;
    QCOMPARE(answer(wrong), Status::BadShape);
    wrong = args;
    wrong.values = values.bytes() + 2;
    QCOMPARE(answer(wrong), Status::BadShape);
    QVERIFY(card_.ran().empty() || card_.finish().empty());
}

TEST_CLASS_WITH(QCoreApplication, TestQuantizeOnCard)
#include "tst_quantize_on_card.moc"
