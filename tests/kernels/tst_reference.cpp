// SPDX-License-Identifier: Apache-2.0
// The reference table against formulas written here independently in double, against hand-made
// numbers, and against the golden quantization vectors (expansion bit for bit).
#include "tests/kernels/kernel_cases.h"
#include "tests/kernels/step_cases.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using kernels::DType;
using kernels::KvType;
using kernels::MatView;
using kernels::OpTable;
using kernels::Status;
using kernels::WeightFormat;
using kernels::WeightView;
using namespace support;

namespace {

float bitsToFloat(uint32_t bits) {
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

} // namespace

class TestReference : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void codeBooks();
    void goldenExpansion_data();
    void goldenExpansion();
    void linearAgainstDouble();
    void loraAgainstDouble();
    void normsAgainstDouble();
    void ropeByHand();
    void activationsByHand();
    void causalConvByHand();
    void subsampleConvByHand();
    void gatherByHand();
    void storeRounds();
    void storeCodes();
    void int8Rows();
};

/// The published tables: one value per code with absmax 1 and 2, bytes written by hand.
void TestReference::codeBooks() {
    const float nf4[16] = {-1.0F,
                           -0.6961928009986877F,
                           -0.5250730514526367F,
                           -0.39491748809814453F,
                           -0.28444138169288635F,
                           -0.18477343022823334F,
                           -0.09105003625154495F,
                           0.0F,
                           0.07958029955625534F,
                           0.16093020141124725F,
                           0.24611230194568634F,
                           0.33791524171829224F,
                           0.44070982933044434F,
                           0.5626170039176941F,
                           0.7229568362236023F,
                           1.0F};
    const double fp4_times_12[8] = {0, 0.0625, 8, 12, 4, 6, 2, 3};
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i) { // even element in the high nibble
        bytes[i] = static_cast<uint8_t>((2 * i) << 4 | (2 * i + 1));
    }
    const float absmax[1] = {2.0F};
    WeightView w;
    w.data = bytes;
    w.rows = 1;
    w.cols = 16;
    w.block_size = 64;
    w.expand_type = DType::F32;
    w.absmax = absmax;
    const int32_t id = 0;
    float out[16] = {};
    w.format = WeightFormat::Nf4;
    QCOMPARE(reference().gather_rows({}, w, &id, 1, 0, 1.0F, {out, 1, 16, 16}), Status::Ok);
    for (int i = 0; i < 16; ++i) {
        QCOMPARE(out[i], 2.0F * nf4[i]);
    }
    w.format = WeightFormat::Fp4;
    QCOMPARE(reference().gather_rows({}, w, &id, 1, 0, 1.0F, {out, 1, 16, 16}), Status::Ok);
    for (int i = 0; i < 16; ++i) {
        const double value = 2.0 * fp4_times_12[i % 8] / 12.0 * (i >= 8 ? -1.0 : 1.0);
        QVERIFY(std::fabs(static_cast<double>(out[i]) - value) <= 1e-7 * std::fabs(value));
    }
}

void TestReference::goldenExpansion_data() {
    support::addColumns<QString, bool>("vector", "nested");
    for (const char* format : {"nf4", "fp4"}) {
        for (const char* shape : {"256x192", "33x100", "64x64", "7x13"}) {
            for (const bool nested : {false, true}) {
                const QString name =
                    QString("%1.%2.%3").arg(format, shape, nested ? "nested" : "plain");
                QTest::addRow("%s", qPrintable(name)) << name << nested;
            }
        }
    }
}

void TestReference::goldenExpansion() {
    QFETCH(QString, vector);
    QFETCH(bool, nested);
    const auto tensors = readSafetensors(goldenDir() / "quantization_vectors.safetensors");
    const auto tensor = [&](const char* part) -> const GoldenTensor& {
        return tensors.at(vector.toStdString() + "." + part);
    };
    const GoldenTensor& packed = tensor("packed");
    const GoldenTensor& expected = tensor("dequantized");
    QCOMPARE(expected.dtype, std::string("BF16"));
    const std::vector<float> offset = nested ? tensor("offset").floats() : std::vector<float>{0.0F};
    const std::vector<float> absmax = nested ? std::vector<float>{} : tensor("absmax").floats();
    const std::vector<float> nested_absmax =
        nested ? tensor("nested_absmax").floats() : std::vector<float>{};
    const std::vector<float> nested_code =
        nested ? tensor("nested_code").floats() : std::vector<float>{};
    WeightView w;
    w.data = packed.bytes.data();
    w.format = vector.startsWith("nf4") ? WeightFormat::Nf4 : WeightFormat::Fp4;
    w.rows = expected.shape[0];
    w.cols = expected.shape[1];
    w.block_size = 64;
    w.expand_type = DType::BF16;
    if (nested) {
        w.absmax_q = tensor("absmax").bytes.data();
        w.nested_absmax = nested_absmax.data();
        w.nested_code = nested_code.data();
        w.nested_offset = offset[0];
    } else {
        w.absmax = absmax.data();
    }
    std::vector<int32_t> ids(static_cast<size_t>(w.rows));
    for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<int32_t>(i);
    }
    const std::vector<float> values = expected.floats();
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        const OpTable* ops = kernels::findCpuOps(table);
        if (ops == nullptr) {
            continue;
        }
        std::vector<float> actual(values.size());
        QCOMPARE(ops->gather_rows({}, w, ids.data(), w.rows, 0, 1.0F,
                                  {actual.data(), w.rows, w.cols, w.cols}),
                 Status::Ok);
        for (size_t i = 0; i < values.size(); ++i) {
            uint32_t a = 0;
            uint32_t b = 0;
            std::memcpy(&a, &actual[i], sizeof(a));
            std::memcpy(&b, &values[i], sizeof(b));
            QVERIFY2(a == b, qPrintable(QString("%1: value %2 is %3, golden %4")
                                            .arg(table)
                                            .arg(i)
                                            .arg(a, 8, 16)
                                            .arg(b, 8, 16)));
        }
    }
}

void TestReference::linearAgainstDouble() {
    const int64_t tokens = 3;
    const int64_t in = 70;
    const int64_t out = 9;
    const auto x = randomFloats(tokens * in, 1);
    const auto w = randomFloats(out * in, 2);
    const auto y = randomFloats(tokens * out, 3);
    WeightView view;
    view.data = w.data();
    view.format = WeightFormat::F32;
    view.rows = out;
    view.cols = in;
    QCOMPARE(reference().linear({}, matrix(x, tokens, in), view, matrix(y, tokens, out)),
             Status::Ok);
    for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t n = 0; n < out; ++n) {
            long double sum = 0.0L;
            for (int64_t k = 0; k < in; ++k) {
                sum += static_cast<long double>(x[static_cast<size_t>(t * in + k)]) *
                       static_cast<long double>(w[static_cast<size_t>(n * in + k)]);
            }
            QCOMPARE(y[static_cast<size_t>(t * out + n)], static_cast<float>(sum));
        }
    }
}

void TestReference::loraAgainstDouble() {
    const float x[2] = {1.0F, 2.0F};
    const float a[2] = {3.0F, -1.0F}; // rank 1: u = 3 - 2 = 1
    const float b[3] = {2.0F, 0.5F, -4.0F};
    const float bias[3] = {10.0F, 0.0F, 1.0F};
    float u[1] = {};
    float y[3] = {100.0F, 200.0F, 300.0F};
    QCOMPARE(reference().lora_accumulate({}, {x, 1, 2, 2}, {a, DType::F32, 1, 2},
                                         {b, DType::F32, 3, 1}, {bias, DType::F32, 1, 3}, 0.5F,
                                         {u, 1, 1, 1}, {y, 1, 3, 3}),
             Status::Ok);
    QCOMPARE(u[0], 1.0F);
    QCOMPARE(y[0], 106.0F);  // 100 + (2 + 10) / 2
    QCOMPARE(y[1], 200.25F); // 200 + 0.5 / 2
    QCOMPARE(y[2], 298.5F);  // 300 + (-4 + 1) / 2
}

void TestReference::normsAgainstDouble() {
    const float x[4] = {1.0F, -1.0F, 7.0F, 7.0F}; // mean square 25
    const float w[4] = {1.0F, 2.0F, 0.5F, -1.0F};
    float y[4] = {};
    const MatView weight{w, DType::F32, 1, 4};
    QCOMPARE(reference().rms_norm({}, {x, 1, 4, 4}, weight, 0.0F, {y, 1, 4, 4}), Status::Ok);
    QCOMPARE(y[0], 0.2F);
    QCOMPARE(y[1], -0.4F);
    QCOMPARE(y[2], 0.7F);
    QCOMPARE(y[3], -1.4F);
    // eps inside the root: 25 + 11 = 36.
    QCOMPARE(reference().rms_norm({}, {x, 1, 4, 4}, {}, 11.0F, {y, 1, 4, 4}), Status::Ok);
    QCOMPARE(y[0], 1.0F / 6.0F);
    float r[4] = {10.0F, 10.0F, 10.0F, 10.0F};
    QCOMPARE(reference().rms_norm_add({}, {x, 1, 4, 4}, weight, 0.0F, 0.5F, {r, 1, 4, 4}),
             Status::Ok);
    QCOMPARE(r[1], 9.8F);
    QCOMPARE(r[3], 9.3F);
}

/// Quarter turns: cos and sin of pi/2 at position 3, frequency pi/6.
void TestReference::ropeByHand() {
    float x[2 * 6] = {9, 1, 2, 3, 4, 9, 9, 5, 6, 7, 8, 9}; // two heads of 6, columns 1..5 rotate
    const int32_t position[1] = {3};
    const float freq[2] = {0.5235987755982988F, 0.0F};
    QCOMPARE(reference().rope({}, {x, 1, 12, 12}, 6, 1, 4, position, freq), Status::Ok);
    // Pairs (1,3), (2,4) of the head: the first turns by 90 degrees, the second stays.
    const float expected[12] = {9, -3, 2, 1, 4, 9, 9, -7, 6, 5, 8, 9};
    for (int i = 0; i < 12; ++i) {
        QVERIFY(std::fabs(x[i] - expected[i]) < 1e-5F);
    }
}

void TestReference::activationsByHand() {
    // gelu_tanh(1) = 0.8411919906, gelu_tanh(-2) = -0.0454023059 (tables of the tanh form).
    const float gate[2] = {1.0F, -2.0F};
    const float up[2] = {2.0F, 10.0F};
    float y[2] = {};
    QCOMPARE(reference().gated_mul({}, kernels::Activation::GeluTanh, {gate, 1, 2, 2},
                                   {up, 1, 2, 2}, {y, 1, 2, 2}),
             Status::Ok);
    QVERIFY(std::fabs(y[0] - 1.6823840F) < 1e-6F);
    QVERIFY(std::fabs(y[1] + 0.4540231F) < 1e-6F);
    // silu(1) = 0.7310585786, silu(-2) = -2 * 0.1192029220
    QCOMPARE(reference().gated_mul({}, kernels::Activation::Silu, {gate, 1, 2, 2}, {up, 1, 2, 2},
                                   {y, 1, 2, 2}),
             Status::Ok);
    QVERIFY(std::fabs(y[0] - 1.4621172F) < 1e-6F);
    QVERIFY(std::fabs(y[1] + 2.3840584F) < 1e-6F);
    const float x[4] = {1.0F, -3.0F, 0.0F, 1.0F}; // sigmoid(1) = 0.7310585786
    QCOMPARE(reference().sigmoid_mul({}, {x, 1, 2, 4}, {x, 1, 2, 4}, {y, 1, 2, 2}), Status::Ok);
    QVERIFY(std::fabs(y[0] - 0.7310586F) < 1e-6F);
    QVERIFY(std::fabs(y[1] + 0.1422776F) < 1e-6F); // -3 * 0.0474258732
    QCOMPARE(reference().sigmoid_mul({}, {x, 1, 2, 4}, {x + 2, 1, 2, 4}, {y, 1, 2, 2}), Status::Ok);
    QVERIFY(std::fabs(y[0] - 0.5F) < 1e-7F);
    QVERIFY(std::fabs(y[1] + 2.1931757F) < 1e-6F);
    float z[2] = {30.0F, -1e9F};
    QCOMPARE(reference().soft_cap({}, {z, 1, 2, 2}, 30.0F), Status::Ok);
    QVERIFY(std::fabs(z[0] - 22.8478247F) < 1e-5F); // 30 tanh(1)
    QCOMPARE(z[1], -30.0F);
}

void TestReference::causalConvByHand() {
    const float x[6] = {1, 10, 2, 20, 3, 30}; // 3 rows, 2 channels
    const float w[6] = {1, 2, 3, 0, 0, 1};    // taps of channel 0, then 1; the last is the present
    float y[6] = {};
    QCOMPARE(reference().causal_conv1d({}, {x, 3, 2, 2}, w, 3, {y, 3, 2, 2}), Status::Ok);
    const float expected[6] = {3, 10, 8, 20, 14, 30}; // 3*1; 2*1+3*2; 1*1+2*2+3*3
    for (int i = 0; i < 6; ++i) {
        QCOMPARE(y[i], expected[i]);
    }
}

/// 3 x 2 input, one channel to two: kernels that pick the centre and the row before it.
void TestReference::subsampleConvByHand() {
    const float in[6] = {1, 2, 3, 4, 5, 6}; // time 3, mel 2
    float weight[18] = {};
    weight[4] = 1.0F;     // channel 0: centre (time 1, mel 1 of the kernel)
    weight[9 + 1] = 1.0F; // channel 1: one step earlier in time, same mel
    const float norm[2] = {1.0F, 2.0F};
    float out[4] = {};
    kernels::SubsampleConvArgs args;
    args.in = in;
    args.time = 3;
    args.mel = 2;
    args.in_ch = 1;
    args.out_ch = 2;
    args.weight = weight;
    args.norm = norm;
    args.eps = 0.0F;
    args.out = out;
    QCOMPARE(reference().subsample_conv({}, args), Status::Ok);
    // Output times 0 and 2, mel 0. Time 0: values (1, 0): normed (1, -1), weighted (1, -2), ReLU.
    QCOMPARE(out[0], 1.0F);
    QCOMPARE(out[1], 0.0F);
    // Time 2: values (5, 3): the same.
    QCOMPARE(out[2], 1.0F);
    QCOMPARE(out[3], 0.0F);
}

void TestReference::gatherByHand() {
    const float table[6] = {1, 2, 3, 4, 5, 6};
    WeightView w;
    w.data = table;
    w.format = WeightFormat::F32;
    w.rows = 2;
    w.cols = 3;
    const int32_t ids[3] = {1, 0, 1};
    float y[6] = {};
    QCOMPARE(reference().gather_rows({}, w, ids, 3, 1, 10.0F, {y, 3, 2, 2}), Status::Ok);
    const float expected[6] = {50, 60, 20, 30, 50, 60};
    for (int i = 0; i < 6; ++i) {
        QCOMPARE(y[i], expected[i]);
    }
}

/// Round to nearest even by hand: bf16 keeps 8 bits, f16 11.
void TestReference::storeRounds() {
    const float src[5] = {bitsToFloat(0x3f808000), // tie, even below: 0x3f80
                          bitsToFloat(0x3f818000), // tie, even above: 0x3f82
                          bitsToFloat(0x3f808001), // just above the tie: 0x3f81
                          1.0F / 3.0F, -65536.0F};
    uint16_t bf16[5] = {};
    const int32_t slot[1] = {0};
    QCOMPARE(reference().store_rows({}, {src, 1, 5, 5}, slot, KvType::BF16, 1, bf16, 1),
             Status::Ok);
    const uint16_t expected_bf16[5] = {0x3f80, 0x3f82, 0x3f81, 0x3eab, 0xc780};
    uint16_t f16[5] = {};
    QCOMPARE(reference().store_rows({}, {src, 1, 5, 5}, slot, KvType::F16, 1, f16, 1), Status::Ok);
    const uint16_t expected_f16[5] = {0x3c04, 0x3c0c, 0x3c04, 0x3555, 0xfc00};
    for (int i = 0; i < 5; ++i) {
        QCOMPARE(bf16[i], expected_bf16[i]);
        QCOMPARE(f16[i], expected_f16[i]);
    }
}

/// Two heads of three: the step is the largest magnitude / 127, ties go to even codes. Not finite
/// heads have no codes, but a scale that is not finite.
void TestReference::storeCodes() {
    const float src[6] = {127.0F, -2.5F, 3.5F, 0.0F, -0.0F, 0.0F};
    const int32_t slot[1] = {1};
    int8_t rows[2 * 16] = {};
    static_assert(kernels::kvRowBytes(KvType::Q8, 2, 3) == 16);
    QCOMPARE(reference().store_rows({}, {src, 1, 6, 6}, slot, KvType::Q8, 2, rows, 2), Status::Ok);
    const int8_t codes[6] = {127, -2, 4, 0, 0, 0};
    float scales[2] = {};
    std::memcpy(scales, rows + 16 + kernels::kvScalesAt(KvType::Q8, 2, 3), sizeof(scales));
    QVERIFY(std::equal(codes, codes + 6, rows + 16));
    QCOMPARE(scales[0], 1.0F);
    QCOMPARE(scales[1], 0.0F);
    QVERIFY(std::all_of(rows, rows + 16, [](int8_t byte) { return byte == 0; }));
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
        const float head[3] = {1.0F, bad, -3.0F};
        QCOMPARE(reference().store_rows({}, {head, 1, 3, 3}, slot, KvType::Q8, 1, rows, 2),
                 Status::Ok);
        std::memcpy(scales, rows + 16 + kernels::kvScalesAt(KvType::Q8, 1, 3), sizeof(float));
        QVERIFY(!std::isfinite(scales[0]));
        for (int i = 0; i < 3; ++i) {
            QVERIFY(std::isnan(scales[0] * static_cast<float>(rows[16 + i])));
        }
    }
}

void TestReference::int8Rows() {
    const int8_t q[4] = {127, -128, 2, 0};
    const float scale[2] = {0.5F, 3.0F};
    WeightView w;
    w.data = q;
    w.format = WeightFormat::Int8Row;
    w.rows = 2;
    w.cols = 2;
    w.row_scale = scale;
    const float x[2] = {2.0F, 1.0F};
    float y[2] = {};
    QCOMPARE(reference().linear({}, {x, 1, 2, 2}, w, {y, 1, 2, 2}), Status::Ok);
    QCOMPARE(y[0], 63.0F); // (254 - 128) / 2
    QCOMPARE(y[1], 12.0F);
}

TEST_CLASS(TestReference)
#include "tst_reference.moc"
