// SPDX-License-Identifier: Apache-2.0
// The quantizer against bitsandbytes' own output (quantization_vectors: bit for bit), against the
// published code tables, against itself on every instruction set and split, and on special
// inputs whose bytes are worked out by hand from the specification.
#include "engine/base/float_types.h"
#include "engine/quant/quantize.h"
#include "tests/engine/quant/memory_source.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

using CodeBook = kernels::WeightFormat;
constexpr auto kInt8Row = kernels::WeightFormat::Int8Row;
using engine::Format;
using engine::TensorType;

namespace {

using Tensors = std::map<std::string, support::GoldenTensor>;

const Tensors& vectors() {
    static const Tensors kVectors =
        support::readSafetensors(support::goldenDir() / "quantization_vectors.safetensors");
    return kVectors;
}

template <typename T>
bool sameBytes(const std::vector<T>& ours, const std::vector<uint8_t>& golden) {
    return ours.size() * sizeof(T) == golden.size() &&
           std::memcmp(ours.data(), golden.data(), golden.size()) == 0;
}

/// Blocks with absmax 0 hold any code in bitsandbytes (NF4.md): both spellings count as equal.
/// Returns how many bytes differ elsewhere.
int64_t differingCodes(const engine::QuantizedTensor& ours,
                       const std::vector<uint8_t>& golden,
                       const std::vector<float>& absmax) {
    int64_t differing = 0;
    for (size_t i = 0; i < golden.size(); ++i) {
        const bool is_zero_block = absmax[2 * i / static_cast<size_t>(ours.block_size)] == 0.0F;
        differing += !is_zero_block && ours.codes[i] != golden[i] ? 1 : 0;
    }
    return differing;
}

/// fp32 absmax of a bf16 weight, by its definition.
std::vector<float> absmaxOf(const std::vector<float>& values, size_t block_size) {
    std::vector<float> absmax((values.size() + block_size - 1) / block_size, 0.0F);
    for (size_t i = 0; i < values.size(); ++i) {
        absmax[i / block_size] = std::max(absmax[i / block_size], std::fabs(values[i]));
    }
    return absmax;
}

std::vector<uint8_t> randomBytes(TensorType type, size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 0.05F);
    std::vector<uint8_t> bytes(count * engine::tensorTypeSize(type));
    for (size_t i = 0; i < count; ++i) {
        float value = normal(random);
        if (i % 1009 < 64) {
            value = 0.0F;
        }
        if (type == TensorType::F32) {
            std::memcpy(&bytes[i * 4], &value, 4);
        } else {
            const uint16_t half =
                type == TensorType::BF16 ? engine::floatToBf16(value) : engine::floatToF16(value);
            std::memcpy(&bytes[i * 2], &half, 2);
        }
    }
    return bytes;
}

std::vector<uint8_t> bf16Bytes(const std::vector<float>& values) {
    std::vector<uint8_t> bytes(values.size() * 2);
    for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t half = engine::floatToBf16(values[i]);
        std::memcpy(&bytes[i * 2], &half, 2);
    }
    return bytes;
}

std::vector<uint8_t> f32Bytes(const std::vector<float>& values) {
    std::vector<uint8_t> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// Three threads, odd piece lengths.
engine::ParallelFor threadedFor() {
    return [](int64_t count, const std::function<void(int64_t, int64_t)>& body) {
        std::vector<std::thread> threads;
        const int64_t piece = std::max<int64_t>(1, count / 3);
        for (int64_t begin = 0; begin < count; begin += piece) {
            threads.emplace_back(
                [&body, begin, end = std::min(count, begin + piece)] { body(begin, end); });
        }
        for (auto& thread : threads) {
            thread.join();
        }
    };
}

void addIsaRows() {
    QTest::addColumn<QByteArray>("isa");
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        QTest::addRow("%s", isa) << QByteArray(isa);
    }
}

} // namespace

class TestQuantize : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cleanup();
    void codeBooksArePublished();
    void dynamicMapEqualsGoldenAndGenerator();
    void vectors_data();
    void vectors();
    void blocksOfGguf();
    void trainedGrids_data();
    void trainedGrids();
    void isasAgree_data();
    void isasAgree();
    void splitsAndThreadsAgree();
    void zeroBlock_data();
    void zeroBlock();
    void oddCountPadsWithZeroCode();
    void thresholdTakesLowerCode();
    void fp4ReciprocalCorrection();
    void fp4KeepsSignOfTinyNegatives();
    void subnormalBlockKeepsRatios();
    void nonFiniteIsRefused_data();
    void nonFiniteIsRefused();
    void blockSizes_data();
    void blockSizes();
    void nestedOfEqualBlocks();
    void int8Rows();
    void int8RowsSpecial();
    void byteRule_data();
    void byteRule();
    void expandMatchesDequantizeAtAnyOffset();
    void denseConversions();
    void misuseIsAnError();
};

void TestQuantize::cleanup() {
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        engine::selectQuantizeIsa(isa); // ends on the best one
    }
}

void TestQuantize::codeBooksArePublished() {
    // The stored quant_map of every golden vector; FP4's index 8 is +0.0 there, -0.0 in ours.
    for (const auto& [name, tensor] : ::vectors()) {
        if (!QString::fromStdString(name).endsWith(".code")) {
            continue;
        }
        const auto& book =
            engine::codeBook(name.rfind("nf4", 0) == 0 ? CodeBook::Nf4 : CodeBook::Fp4);
        const auto stored = tensor.floats();
        QCOMPARE(stored.size(), size_t{16});
        for (size_t i = 0; i < 16; ++i) {
            QVERIFY2(stored[i] == book[i], name.c_str());
        }
    }
    QVERIFY(std::signbit(engine::codeBook(CodeBook::Fp4)[8]));
}

void TestQuantize::dynamicMapEqualsGoldenAndGenerator() {
    const auto golden = ::vectors().at("nf4.256x192.nested.nested_code").floats();
    const auto generated = engine::generateDynamicMap();
    QCOMPARE(golden.size(), size_t{256});
    for (size_t i = 0; i < 256; ++i) {
        QCOMPARE(std::bit_cast<uint32_t>(engine::dynamicMap()[i]),
                 std::bit_cast<uint32_t>(golden[i]));
        QCOMPARE(std::bit_cast<uint32_t>(generated[i]), std::bit_cast<uint32_t>(golden[i]));
    }
    QCOMPARE(engine::dynamicMap()[127], 0.0F);
    QCOMPARE(engine::dynamicMap()[255], 1.0F);
}

void TestQuantize::vectors_data() {
    support::addColumns<QByteArray, QByteArray, bool, QByteArray>("book", "shape", "nested", "isa");
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        for (const char* book : {"nf4", "fp4"}) {
            for (const char* shape : {"64x64", "256x192", "33x100", "7x13"}) {
                for (const bool nested : {false, true}) {
                    QTest::addRow("%s %s %s %s", book, shape, nested ? "nested" : "plain", isa)
                        << QByteArray(book) << QByteArray(shape) << nested << QByteArray(isa);
                }
            }
        }
    }
}

void TestQuantize::vectors() {
    QFETCH(QByteArray, book);
    QFETCH(QByteArray, shape);
    QFETCH(bool, nested);
    QFETCH(QByteArray, isa);
    if (!engine::selectQuantizeIsa(isa.toStdString())) {
        QSKIP("this processor lacks the instruction set");
    }
    const std::string prefix =
        (book + "." + shape + (nested ? ".nested." : ".plain.")).toStdString();
    const auto& weight = ::vectors().at(prefix + "weight");
    const Format format =
        engine::codesFormat(book == "nf4" ? CodeBook::Nf4 : CodeBook::Fp4, nested);
    const auto result =
        engine::quantizeTensor(prefix, format, 64, TensorType::BF16, support::bytesOf(weight.bytes),
                               weight.shape[0], weight.shape[1]);
    QVERIFY(result.has_value());
    const auto& ours = *result;

    const auto& packed = ::vectors().at(prefix + "packed");
    QCOMPARE(ours.codes.size(), packed.bytes.size());
    const auto absmax = absmaxOf(weight.floats(), 64);
    QCOMPARE(differingCodes(ours, packed.bytes, absmax), int64_t{0});
    if (nested) {
        QVERIFY(sameBytes(ours.absmax_q, ::vectors().at(prefix + "absmax").bytes));
        QVERIFY(sameBytes(ours.nested_absmax, ::vectors().at(prefix + "nested_absmax").bytes));
        QVERIFY(sameBytes(ours.nested_code, ::vectors().at(prefix + "nested_code").bytes));
        const float offset = ::vectors().at(prefix + "offset").floats().at(0);
        QCOMPARE(std::bit_cast<uint32_t>(ours.nested_offset), std::bit_cast<uint32_t>(offset));
    } else {
        QVERIFY(sameBytes(ours.absmax, ::vectors().at(prefix + "absmax").bytes));
    }

    // Expansion of bitsandbytes' own bytes (zero blocks included: decoded as they are).
    engine::QuantizedTensor theirs = ours;
    theirs.codes = packed.bytes;
    const auto& expected = ::vectors().at(prefix + "dequantized");
    std::vector<std::byte> expanded(expected.bytes.size());
    engine::dequantize(theirs.view(), TensorType::BF16, expanded.data());
    const auto* values = reinterpret_cast<const uint8_t*>(expanded.data());
    int64_t differing = 0;
    for (size_t i = 0; i < expected.bytes.size(); i += 2) {
        uint16_t a = 0;
        uint16_t b = 0;
        std::memcpy(&a, values + i, 2);
        std::memcpy(&b, expected.bytes.data() + i, 2);
        differing += a != b && ((a | b) & 0x7fffU) != 0 ? 1 : 0; // +0.0 and -0.0 are one value
    }
    QCOMPARE(differing, int64_t{0});
}

/// Blocks of Q4_0 and Q8_0 as gguf-py (0.19) makes them of the same values: small ones, positive
/// ones, zeros and large ones among them. A block there: the step in half precision, then the codes
/// of values 0 to 15 in low nibbles, those of the others in high nibbles.
void TestQuantize::blocksOfGguf() {
    const char* const q4_0[] = {
        "e52f505f4f3e2d2d1c0bfbfaf9e9d8c7c7b6", "0515fafae9e8d8c7b6b6a594938372716150",
        "dbaf65748382726160504141322313140506", "008088888888888888888888888888888888",
        "8744e9e8d8c7c6b6a5a49483727161505f4f", "f8af8d8d9eafafb0c1c1d2e3e3f4f5051627"};
    const char* const q8_0[] = {
        "f51f81786d62574c41362b20150afff4e9ded3c9beb3a89d92877d73685d52473c31",
        "0f05261b1005faefe4d9cec3b8ada2978c81796e63584d42372c21160b00f5eadfd4",
        "eb1f37424d58636e797f74695e53483d32271c110605101b26313c47525d68737e7a",
        "00000000000000000000000000000000000000000000000000000000000000000000",
        "90341207fcf1e6dacfc4b9aea3978c817d72675b50453a2f23180d02f7ece0d5cabf",
        "0420b6aba0968b7f74695e54493e33281d1308fdf2e7dcd2c7bcb1a69b91867a6f64"};
    constexpr size_t kBlocks = std::size(q4_0);
    std::vector<float> values(32 * kBlocks);
    for (size_t i = 0; i < values.size(); ++i) {
        const float value =
            static_cast<float>(static_cast<int>((i * 7919 + 13) % 2001) - 1000) / 1000.0F;
        const size_t block = i / 32;
        values[i] = block == 1   ? value * 0.01F
                    : block == 2 ? std::fabs(value)
                    : block == 3 ? 0.0F
                    : block == 4 ? value * 37.5F
                                 : value;
    }
    for (const Format format : {Format::Int4, Format::Int8}) {
        const bool has_codes = engine::hasCodes(format);
        const auto made =
            engine::quantizeTensor("w", format, 32, TensorType::F32,
                                   std::as_bytes(std::span<const float>(values)), kBlocks, 32);
        QVERIFY(made.has_value());
        std::vector<float> expanded(values.size());
        engine::expandRange(made->view(), 0, static_cast<int64_t>(values.size()), expanded.data());
        for (size_t block = 0; block < kBlocks; ++block) {
            const QByteArray bytes = QByteArray::fromHex(has_codes ? q4_0[block] : q8_0[block]);
            const auto byteAt = [&bytes](size_t i) {
                return static_cast<uint8_t>(bytes[static_cast<qsizetype>(i)]);
            };
            const float step =
                engine::f16ToFloat(static_cast<uint16_t>(byteAt(0) | byteAt(1) << 8));
            for (size_t i = 0; i < 32; ++i) {
                const int steps = !has_codes ? static_cast<int8_t>(byteAt(2 + i))
                                  : i < 16   ? (byteAt(2 + i) & 15) - 8
                                             : (byteAt(2 + i - 16) >> 4) - 8;
                QVERIFY(expanded[32 * block + i] == step * static_cast<float>(steps));
            }
        }
    }
}

void TestQuantize::trainedGrids_data() {
    support::addColumns<TensorType, int, double>("type", "largest", "scale");
    for (const TensorType type : {TensorType::BF16, TensorType::F16}) {
        for (const int largest : {-8, 7, 6, 5, 3, 1}) {
            for (const double scale : {0.0408, -0.0103, 3.1e-5}) {
                QTest::addRow("%s, largest code %d, scale %g",
                              std::string(engine::tensorTypeName(type)).c_str(), largest, scale)
                    << type << largest << scale;
            }
        }
    }
}

// Weights that were trained for a 4-bit grid and stored in 16 bits get all their values back,
// wherever a block's largest value lies on its grid; others are ggml's and counted.
void TestQuantize::trainedGrids() {
    QFETCH(TensorType, type);
    QFETCH(int, largest);
    QFETCH(double, scale);
    const bool is_bf16 = type == TensorType::BF16;
    const auto bitsOf = [&](float value) {
        return is_bf16 ? engine::floatToBf16(value) : engine::floatToF16(value);
    };
    constexpr size_t kBlocks = 50;
    std::vector<uint16_t> values(32 * kBlocks);
    uint32_t state = 7;
    const int side = std::min(7, std::abs(largest));
    for (size_t block = 0; block < kBlocks; ++block) {
        // bf16 scales, and of every third block one with more digits.
        const auto exact = static_cast<float>(scale * (1.0 + 0.013 * static_cast<double>(block)));
        const float step = block % 3 == 0 ? exact : engine::roundToBf16(exact);
        for (size_t i = 0; i < 32; ++i) {
            state = state * 1664525U + 1013904223U;
            const int code =
                i == 5 ? largest : static_cast<int>(state >> 16U) % (2 * side + 1) - side;
            values[32 * block + i] = bitsOf(static_cast<float>(code) * step);
        }
    }
    const auto bytes = std::as_bytes(std::span<const uint16_t>(values));
    std::vector<uint8_t> codes(values.size() / 2);
    std::vector<float> scales(kBlocks);
    int64_t misses = -1;
    QVERIFY(engine::quantizeValues("w", kernels::WeightFormat::Int4, 32, type, bytes, codes.data(),
                                   scales.data(), {}, &misses)
                .has_value());
    QCOMPARE(misses, int64_t{0});
    const auto made = engine::quantizeTensor("w", Format::Int4, 32, type, bytes, kBlocks, 32);
    QCOMPARE(made->codes, codes);
    std::vector<float> expanded(values.size());
    engine::expandRange(made->view(), 0, static_cast<int64_t>(values.size()), expanded.data());
    for (size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(expanded[i],
                 is_bf16 ? engine::bf16ToFloat(values[i]) : engine::f16ToFloat(values[i]));
    }

    // One value off its grid: ggml's block of the same values, and its misses.
    values[11] = static_cast<uint16_t>(bitsOf(static_cast<float>(1.37123 * scale)));
    QVERIFY(engine::quantizeValues("w", kernels::WeightFormat::Int4, 32, type, bytes, codes.data(),
                                   scales.data(), {}, &misses)
                .has_value());
    std::vector<float> block(32);
    engine::convertDense(type, bytes.data(), TensorType::F32,
                         reinterpret_cast<std::byte*>(block.data()), 32);
    const auto nearest =
        engine::quantizeTensor("w", Format::Int4, 32, TensorType::F32,
                               std::as_bytes(std::span<const float>(block)), 1, 32);
    QVERIFY(std::equal(nearest->codes.begin(), nearest->codes.end(), codes.begin()));
    QCOMPARE(scales[0], nearest->absmax[0]);
    QVERIFY(misses > 0 && misses <= 32);
}

void TestQuantize::isasAgree_data() {
    support::addColumns<QByteArray, TensorType>("isa", "type");
    for (const char* isa : {"avx2", "avx512"}) {
        for (const TensorType type : {TensorType::BF16, TensorType::F16, TensorType::F32}) {
            QTest::addRow("%s %s", isa, std::string(engine::tensorTypeName(type)).c_str())
                << QByteArray(isa) << type;
        }
    }
}

void TestQuantize::isasAgree() {
    QFETCH(QByteArray, isa);
    QFETCH(TensorType, type);
    if (!engine::selectQuantizeIsa(isa.toStdString())) {
        QSKIP("this processor lacks the instruction set");
    }
    for (const int64_t rows : {1, 3, 17}) {
        for (const int64_t cols : {1, 31, 64, 77, 1000}) {
            const auto values = randomBytes(type, static_cast<size_t>(rows * cols), 7);
            std::vector<uint8_t> q(static_cast<size_t>(rows * cols));
            std::vector<uint8_t> q_scalar(q.size());
            std::vector<float> scale(static_cast<size_t>(rows));
            std::vector<float> scale_scalar(scale.size());
            for (const Format format : {Format::Nf4, Format::Nf4Dq, Format::Fp4, Format::Fp4Dq}) {
                for (const int32_t block : {32, 64, 4096}) {
                    engine::selectQuantizeIsa(isa.toStdString());
                    const auto fast = engine::quantizeTensor("w", format, block, type,
                                                             support::bytesOf(values), rows, cols);
                    engine::selectQuantizeIsa("scalar");
                    const auto slow = engine::quantizeTensor("w", format, block, type,
                                                             support::bytesOf(values), rows, cols);
                    QVERIFY(fast.has_value() && slow.has_value());
                    QCOMPARE(fast->codes, slow->codes);
                    QCOMPARE(fast->absmax, slow->absmax);
                    QCOMPARE(fast->absmax_q, slow->absmax_q);
                    QCOMPARE(fast->nested_absmax, slow->nested_absmax);
                    QCOMPARE(fast->nested_offset, slow->nested_offset);
                }
            }
            engine::selectQuantizeIsa(isa.toStdString());
            QVERIFY(engine::quantizeValues("w", kInt8Row, cols, type, support::bytesOf(values),
                                           q.data(), scale.data())
                        .has_value());
            engine::selectQuantizeIsa("scalar");
            QVERIFY(engine::quantizeValues("w", kInt8Row, cols, type, support::bytesOf(values),
                                           q_scalar.data(), scale_scalar.data())
                        .has_value());
            QCOMPARE(q, q_scalar);
            QCOMPARE(scale, scale_scalar);
        }
    }
}

void TestQuantize::splitsAndThreadsAgree() {
    const int64_t rows = 130;
    const int64_t cols = 192;
    const auto values = randomBytes(TensorType::BF16, static_cast<size_t>(rows * cols), 3);
    for (const Format format : {Format::Nf4, Format::Nf4Dq, Format::Fp4Dq}) {
        const auto whole = engine::quantizeTensor("w", format, 64, TensorType::BF16,
                                                  support::bytesOf(values), rows, cols);
        const auto threaded = engine::quantizeTensor(
            "w", format, 64, TensorType::BF16, support::bytesOf(values), rows, cols, threadedFor());
        QVERIFY(whole.has_value() && threaded.has_value());
        QCOMPARE(threaded->codes, whole->codes);
        QCOMPARE(threaded->absmax, whole->absmax);
        QCOMPARE(threaded->absmax_q, whole->absmax_q);
        QCOMPARE(threaded->nested_absmax, whole->nested_absmax);

        // The same tensor in pieces of 5 blocks, as the loader feeds it.
        std::vector<uint8_t> codes(whole->codes.size());
        std::vector<float> absmax(static_cast<size_t>(rows * cols / 64));
        const size_t piece = size_t{5} * 64;
        for (size_t first = 0; first < static_cast<size_t>(rows * cols); first += piece) {
            const size_t count = std::min(piece, static_cast<size_t>(rows * cols) - first);
            QVERIFY(engine::quantizeValues("w", engine::weightFormat(format), 64, TensorType::BF16,
                                           support::bytesOf(values).subspan(first * 2, count * 2),
                                           codes.data() + first / 2, absmax.data() + first / 64)
                        .has_value());
        }
        QCOMPARE(codes, whole->codes);
    }
}

void TestQuantize::zeroBlock_data() {
    addIsaRows();
}

void TestQuantize::zeroBlock() {
    QFETCH(QByteArray, isa);
    if (!engine::selectQuantizeIsa(isa.toStdString())) {
        QSKIP("this processor lacks the instruction set");
    }
    std::vector<float> values(128, 0.0F);
    values[100] = -2.0F; // second block is not zero
    values[3] = -0.0F;
    const auto bytes = bf16Bytes(values);
    const auto nf4 = engine::quantizeTensor("w", Format::Nf4, 64, TensorType::BF16,
                                            support::bytesOf(bytes), 1, 128);
    const auto fp4 = engine::quantizeTensor("w", Format::Fp4, 64, TensorType::BF16,
                                            support::bytesOf(bytes), 1, 128);
    QVERIFY(nf4.has_value() && fp4.has_value());
    QCOMPARE(nf4->absmax, (std::vector<float>{0.0F, 2.0F}));
    for (size_t i = 0; i < 32; ++i) {
        QCOMPARE(nf4->codes[i], uint8_t{0x77});
        QCOMPARE(fp4->codes[i], uint8_t{0x00});
    }
    QCOMPARE(nf4->codes[50], uint8_t{0x07}); // element 100 is code 0 (-1.0), 101 is 0.0
    QCOMPARE(fp4->codes[50], uint8_t{0xb0}); // -12/12: sign and code 3
    std::vector<float> expanded(128);
    engine::expandRange(nf4->view(), 0, 128, expanded.data());
    for (size_t i = 0; i < 64; ++i) {
        QCOMPARE(expanded[i], 0.0F);
        QVERIFY(!std::signbit(expanded[i]));
    }
    QCOMPARE(expanded[100], -2.0F);
}

void TestQuantize::oddCountPadsWithZeroCode() {
    const auto bytes = bf16Bytes({1.0F, -1.0F, 1.0F});
    const auto nf4 = engine::quantizeTensor("w", Format::Nf4, 64, TensorType::BF16,
                                            support::bytesOf(bytes), 1, 3);
    const auto fp4 = engine::quantizeTensor("w", Format::Fp4, 64, TensorType::BF16,
                                            support::bytesOf(bytes), 1, 3);
    QVERIFY(nf4.has_value() && fp4.has_value());
    QCOMPARE(nf4->codes, (std::vector<uint8_t>{0xf0, 0xf7}));
    QCOMPARE(fp4->codes, (std::vector<uint8_t>{0x3b, 0x30}));
    QCOMPARE(nf4->absmax, std::vector<float>{1.0F});
}

void TestQuantize::thresholdTakesLowerCode() {
    // With absmax 1 the reciprocal is exact, so F32 values meet the thresholds exactly.
    const auto& book = engine::codeBook(CodeBook::Nf4);
    std::vector<float> values = {1.0F};
    for (size_t i = 0; i + 1 < 16; ++i) {
        const float threshold = (book[i] + book[i + 1]) * 0.5F;
        values.push_back(threshold);
        values.push_back(std::nextafter(threshold, 2.0F));
    }
    const auto bytes = f32Bytes(values);
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        if (!engine::selectQuantizeIsa(isa)) {
            continue;
        }
        const auto result =
            engine::quantizeTensor("w", Format::Nf4, 64, TensorType::F32, support::bytesOf(bytes),
                                   1, static_cast<int64_t>(values.size()));
        QVERIFY(result.has_value());
        for (size_t i = 0; i < values.size(); ++i) {
            const uint8_t byte = result->codes[i / 2];
            const int code = i % 2 == 0 ? byte >> 4 : byte & 15;
            const int expected = i == 0 ? 15 : static_cast<int>((i - 1) / 2 + (i % 2 == 0 ? 1 : 0));
            QCOMPARE(code, expected);
        }
    }
}

void TestQuantize::fp4ReciprocalCorrection() {
    // Spec 1.2: for absmax mantissa 6 the reciprocal is one unit higher than the rounded one. The
    // ratio 5/24 is a threshold: 0.20833333 as constant. Exhaustive over mantissas: the code of an
    // element must be the one that the corrected reciprocal gives.
    const std::array<int, 15> up = {6, 13, 37, 38, 51, 61, 65, 66, 81, 91, 109, 115, 116, 118, 121};
    const std::array<int, 5> down = {4, 11, 20, 22, 127};
    const std::array<float, 7> thresholds = {0.00260417F, 0.0859375F, 0.20833333F, 0.29166667F,
                                             0.4166667F,  0.583333F,  0.8333333F};
    const std::array<int, 8> order = {0, 1, 6, 7, 4, 5, 2, 3};
    int64_t corrected_codes = 0;
    for (int mantissa = 0; mantissa < 128; ++mantissa) {
        const float absmax = std::ldexp(1.0F + static_cast<float>(mantissa) / 128.0F, -5);
        float reciprocal = 1.0F / absmax;
        const float plain = reciprocal;
        if (std::find(up.begin(), up.end(), mantissa) != up.end()) {
            reciprocal = std::nextafter(reciprocal, 1e30F);
        } else if (std::find(down.begin(), down.end(), mantissa) != down.end()) {
            reciprocal = std::nextafter(reciprocal, 0.0F);
        }
        for (int exponent = 0; exponent < 12; ++exponent) {
            std::vector<float> values = {absmax};
            for (int m = 0; m < 128; ++m) {
                const float value =
                    std::ldexp(1.0F + static_cast<float>(m) / 128.0F, -5 - exponent);
                if (value <= absmax) {
                    values.push_back(m % 2 == 0 ? value : -value);
                }
            }
            const auto bytes = bf16Bytes(values);
            const auto result = engine::quantizeTensor("w", Format::Fp4, 4096, TensorType::BF16,
                                                       support::bytesOf(bytes), 1,
                                                       static_cast<int64_t>(values.size()));
            QVERIFY(result.has_value());
            for (size_t i = 0; i < values.size(); ++i) {
                const auto count = [&](float r) {
                    return std::count_if(thresholds.begin(), thresholds.end(),
                                         [&](float t) { return std::fabs(values[i] * r) > t; });
                };
                const int expected =
                    order[static_cast<size_t>(count(reciprocal))] | (values[i] < 0 ? 8 : 0);
                const uint8_t byte = result->codes[i / 2];
                QCOMPARE(i % 2 == 0 ? byte >> 4 : byte & 15, expected);
                corrected_codes += count(reciprocal) != count(plain) ? 1 : 0;
            }
        }
    }
    QVERIFY(corrected_codes > 0); // the rule matters
}

void TestQuantize::fp4KeepsSignOfTinyNegatives() {
    const auto bytes = bf16Bytes({1.0F, -0.001F, 0.001F, -0.0F});
    const auto result = engine::quantizeTensor("w", Format::Fp4, 64, TensorType::BF16,
                                               support::bytesOf(bytes), 1, 4);
    QVERIFY(result.has_value());
    QCOMPARE(result->codes, (std::vector<uint8_t>{0x38, 0x00}));
}

void TestQuantize::subnormalBlockKeepsRatios() {
    const float tiny = 0x1p-133F; // smallest bf16: its reciprocal is not finite
    const auto bytes = bf16Bytes({tiny, -tiny, 0.0F, tiny});
    const auto result = engine::quantizeTensor("w", Format::Nf4, 64, TensorType::BF16,
                                               support::bytesOf(bytes), 1, 4);
    QVERIFY(result.has_value());
    QCOMPARE(result->codes, (std::vector<uint8_t>{0xf0, 0x7f}));
    QCOMPARE(result->absmax, std::vector<float>{tiny});
}

void TestQuantize::nonFiniteIsRefused_data() {
    support::addColumns<QByteArray, double, TensorType, bool>("isa", "value", "type", "rows");
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        for (const double value :
             {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::quiet_NaN()}) {
            for (const TensorType type : {TensorType::BF16, TensorType::F16, TensorType::F32}) {
                for (const bool rows : {false, true}) {
                    QTest::addRow("%s %f %s %s", isa, value,
                                  std::string(engine::tensorTypeName(type)).c_str(),
                                  rows ? "int8" : "nf4")
                        << QByteArray(isa) << value << type << rows;
                }
            }
        }
    }
}

void TestQuantize::nonFiniteIsRefused() {
    QFETCH(QByteArray, isa);
    QFETCH(double, value);
    QFETCH(TensorType, type);
    QFETCH(bool, rows);
    if (!engine::selectQuantizeIsa(isa.toStdString())) {
        QSKIP("this processor lacks the instruction set");
    }
    auto bytes = randomBytes(type, 640, 5);
    const size_t index = 333;
    if (type == TensorType::F32) {
        const auto bad = static_cast<float>(value);
        std::memcpy(&bytes[index * 4], &bad, 4);
    } else {
        const uint16_t bad = type == TensorType::BF16
                                 ? engine::floatToBf16(static_cast<float>(value))
                                 : engine::floatToF16(static_cast<float>(value));
        std::memcpy(&bytes[index * 2], &bad, 2);
    }
    engine::Error error;
    if (rows) {
        std::vector<uint8_t> q(640);
        std::vector<float> scale(10);
        const auto result = engine::quantizeValues("layer.weight", kInt8Row, 64, type,
                                                   support::bytesOf(bytes), q.data(), scale.data());
        QVERIFY(!result.has_value());
        error = result.error();
    } else {
        const auto result = engine::quantizeTensor("layer.weight", Format::Nf4, 64, type,
                                                   support::bytesOf(bytes), 10, 64, threadedFor());
        QVERIFY(!result.has_value());
        error = result.error();
    }
    QCOMPARE(error.code, engine::ErrorCode::InvalidFile);
    QVERIFY2(error.message.find("layer.weight: element 333 ") != std::string::npos,
             error.message.c_str());
}

void TestQuantize::blockSizes_data() {
    QTest::addColumn<int>("block");
    for (const int block : {32, 64, 128, 256, 512, 1024, 2048, 4096}) {
        QTest::addRow("%d", block) << block;
    }
}

void TestQuantize::blockSizes() {
    QFETCH(int, block);
    QVERIFY(engine::isBlockSize(block));
    const int64_t cols = 4100;
    const auto bytes = randomBytes(TensorType::BF16, static_cast<size_t>(3 * cols), 11);
    std::vector<float> values(static_cast<size_t>(3 * cols));
    for (size_t i = 0; i < values.size(); ++i) {
        uint16_t half = 0;
        std::memcpy(&half, &bytes[2 * i], 2);
        values[i] = engine::bf16ToFloat(half);
    }
    const auto result = engine::quantizeTensor("w", Format::Nf4, block, TensorType::BF16,
                                               support::bytesOf(bytes), 3, cols);
    QVERIFY(result.has_value());
    const auto absmax = absmaxOf(values, static_cast<size_t>(block));
    QCOMPARE(result->absmax, absmax);
    // Every code is a nearest entry of the code book (distance in fp32 units of the ratio).
    const auto& book = engine::codeBook(CodeBook::Nf4);
    for (size_t i = 0; i < values.size(); ++i) {
        const float scale = absmax[i / static_cast<size_t>(block)];
        if (scale == 0.0F) {
            continue;
        }
        const uint8_t byte = result->codes[i / 2];
        const int code = i % 2 == 0 ? byte >> 4 : byte & 15;
        const float ratio = values[i] / scale;
        float nearest = 9.0F;
        for (const float entry : book) {
            nearest = std::min(nearest, std::fabs(entry - ratio));
        }
        QVERIFY(std::fabs(book[static_cast<size_t>(code)] - ratio) <= nearest + 1e-6F);
    }
}

void TestQuantize::nestedOfEqualBlocks() {
    // One block: the offset is its absmax, the difference 0, the scale 0; no NaN may arise.
    const auto bytes = bf16Bytes({0.5F, -0.25F});
    const auto result = engine::quantizeTensor("w", Format::Nf4Dq, 64, TensorType::BF16,
                                               support::bytesOf(bytes), 1, 2);
    QVERIFY(result.has_value());
    QCOMPARE(result->nested_offset, 0.5F);
    QCOMPARE(result->nested_absmax, std::vector<float>{0.0F});
    std::vector<float> values(2);
    engine::expandRange(result->view(), 0, 2, values.data());
    QCOMPARE(values[0], 0.5F);
}

void TestQuantize::int8Rows() {
    const int64_t rows = 5;
    const int64_t cols = 9001; // more than one piece, odd
    const auto bytes = randomBytes(TensorType::BF16, static_cast<size_t>(rows * cols), 23);
    std::vector<uint8_t> q(static_cast<size_t>(rows * cols));
    std::vector<float> scale(static_cast<size_t>(rows));
    QVERIFY(engine::quantizeValues("w", kInt8Row, cols, TensorType::BF16, support::bytesOf(bytes),
                                   q.data(), scale.data(), threadedFor())
                .has_value());
    for (int64_t row = 0; row < rows; ++row) {
        float absmax = 0.0F;
        std::vector<float> values(static_cast<size_t>(cols));
        for (int64_t c = 0; c < cols; ++c) {
            uint16_t half = 0;
            std::memcpy(&half, &bytes[static_cast<size_t>(2 * (row * cols + c))], 2);
            values[static_cast<size_t>(c)] = engine::bf16ToFloat(half);
            absmax = std::max(absmax, std::fabs(values[static_cast<size_t>(c)]));
        }
        QCOMPARE(scale[static_cast<size_t>(row)], absmax / 127.0F);
        for (int64_t c = 0; c < cols; ++c) {
            const double exact = std::nearbyint(static_cast<double>(
                values[static_cast<size_t>(c)] / scale[static_cast<size_t>(row)]));
            QCOMPARE(
                static_cast<double>(static_cast<int8_t>(q[static_cast<size_t>(row * cols + c)])),
                exact);
        }
    }
}

void TestQuantize::int8RowsSpecial() {
    // scale = 2; 5/2 = 2.5 -> 2 and 7/2 = 3.5 -> 4 (ties to even); a zero row; the largest is 127.
    const auto bytes =
        f32Bytes({254.0F, 5.0F, 7.0F, -5.0F, 0.0F, 0.0F, -0.0F, 0.0F, -127.0F, 1.0F, 0.5F, 1.5F});
    std::vector<uint8_t> q(12);
    std::vector<float> scale(3);
    QVERIFY(engine::quantizeValues("w", kInt8Row, 4, TensorType::F32, support::bytesOf(bytes),
                                   q.data(), scale.data())
                .has_value());
    QCOMPARE(q, (std::vector<uint8_t>{127, 2, 4, 0xfe, 0, 0, 0, 0, 0x81, 1, 0, 2}));
    QCOMPARE(scale, (std::vector<float>{2.0F, 0.0F, 1.0F}));
    kernels::WeightView view;
    view.data = q.data();
    view.format = kernels::WeightFormat::Int8Row;
    view.rows = 3;
    view.cols = 4;
    view.row_scale = scale.data();
    std::vector<float> values(12);
    engine::expandRange(view, 0, 12, values.data());
    QCOMPARE(values[0], 254.0F);
    QCOMPARE(values[3], -4.0F);
    QCOMPARE(values[8], -127.0F);
}

void TestQuantize::byteRule_data() {
    support::addColumns<Format, qulonglong>("format", "bytes");
    // 33 x 100 = 3300 elements, 52 blocks of 64.
    QTest::newRow("bf16") << Format::Bf16 << qulonglong{6600};
    QTest::newRow("f32") << Format::F32 << qulonglong{13200};
    QTest::newRow("as stored f16") << Format::AsStored << qulonglong{6600};
    QTest::newRow("nf4") << Format::Nf4 << qulonglong{1650 + 4 * 52};
    QTest::newRow("fp4_dq") << Format::Fp4Dq << qulonglong{1650 + 52 + 4 + 1024 + 4};
    QTest::newRow("q8") << Format::Q8 << qulonglong{3300 + 4 * 33};
    QTest::newRow("q8_0") << Format::Int8 << qulonglong{3300 + 4 * 52};
}

void TestQuantize::byteRule() {
    QFETCH(Format, format);
    QFETCH(qulonglong, bytes);
    QCOMPARE(static_cast<qulonglong>(engine::formatBytes(format, TensorType::F16, 33, 100)), bytes);
}

void TestQuantize::expandMatchesDequantizeAtAnyOffset() {
    const int64_t rows = 37;
    const int64_t cols = 45;
    for (const TensorType type : {TensorType::BF16, TensorType::F16, TensorType::F32}) {
        const auto bytes = randomBytes(type, static_cast<size_t>(rows * cols), 31);
        const auto result = engine::quantizeTensor("w", Format::Nf4Dq, 32, type,
                                                   support::bytesOf(bytes), rows, cols);
        QVERIFY(result.has_value());
        std::vector<std::byte> dense(static_cast<size_t>(rows * cols) *
                                     engine::tensorTypeSize(type));
        engine::dequantize(result->view(), type, dense.data(), threadedFor());
        std::vector<std::byte> wide(static_cast<size_t>(rows * cols) * 4);
        engine::convertDense(type, dense.data(), TensorType::F32, wide.data(), rows * cols);
        const auto* whole = reinterpret_cast<const float*>(wide.data());
        for (const auto& [first, count] :
             {std::pair{0, 1}, {1, 1}, {31, 3}, {63, 130}, {1000, 665}, {1664, 1}}) {
            std::vector<float> part(static_cast<size_t>(count));
            engine::expandRange(result->view(), first, count, part.data());
            QVERIFY(std::equal(part.begin(), part.end(), whole + first));
        }
    }
}

void TestQuantize::denseConversions() {
    const std::vector<float> values = {0.0F,        -1.0F,   65504.0F, 1.00390625F,
                                       1.01171875F, 3.0e38F, 0x1p-24F};
    const auto wide = f32Bytes(values);
    std::vector<std::byte> bf16(values.size() * 2);
    engine::convertDense(TensorType::F32, support::bytesOf(wide).data(), TensorType::BF16,
                         bf16.data(), static_cast<int64_t>(values.size()), threadedFor());
    std::vector<uint16_t> half(values.size());
    std::memcpy(half.data(), bf16.data(), bf16.size());
    // 1 + 1/256 is half-way and goes to the even 1.0; 1 + 3/256 goes up to 1 + 2/128.
    QCOMPARE(half, (std::vector<uint16_t>{0x0000, 0xbf80, 0x4780, 0x3f80, 0x3f82, 0x7f62, 0x3380}));
    std::vector<std::byte> f16(values.size() * 2);
    engine::convertDense(TensorType::F32, support::bytesOf(wide).data(), TensorType::F16,
                         f16.data(), static_cast<int64_t>(values.size()));
    std::memcpy(half.data(), f16.data(), f16.size());
    QCOMPARE(half, (std::vector<uint16_t>{0x0000, 0xbc00, 0x7bff, 0x3c04, 0x3c0c, 0x7c00, 0x0001}));
}

void TestQuantize::misuseIsAnError() {
    const auto bytes = bf16Bytes({1.0F, 2.0F});
    QVERIFY(!engine::quantizeTensor("w", Format::Bf16, 64, TensorType::BF16,
                                    support::bytesOf(bytes), 1, 2)
                 .has_value());
    QVERIFY(!engine::quantizeTensor("w", Format::Nf4, 48, TensorType::BF16, support::bytesOf(bytes),
                                    1, 2)
                 .has_value());
    QVERIFY(!engine::quantizeTensor("w", Format::Nf4, 64, TensorType::BF16, support::bytesOf(bytes),
                                    1, 3)
                 .has_value());
    QVERIFY(!engine::quantizeTensor("w", Format::Nf4, 64, TensorType::I32, support::bytesOf(bytes),
                                    1, 1)
                 .has_value());
    QVERIFY(!engine::selectQuantizeIsa("sse9"));
}

TEST_CLASS(TestQuantize)
#include "tst_quantize.moc"
