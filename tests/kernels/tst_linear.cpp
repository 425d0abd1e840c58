// SPDX-License-Identifier: Apache-2.0
// Linear products and the LoRA update of every table against the reference: all formats, decode
// and prefill, odd shapes, blocks that cross rows; and independence of the thread count.
#include "tests/kernels/kernel_cases.h"
#include "tests/kernels/table_rows.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using kernels::DType;
using kernels::OpTable;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

constexpr double kLinearNmseFp32 = 1e-10;
constexpr double kLinearNmse16Bit = 1e-4;
/// Activations as integers of 16 bits, 1/65534 of the largest of 512 or, with blocks, of a row
/// (measured: 7e-10, of six outputs one of which is nearly zero 1.1e-8).
constexpr double kNmseInt16 = 3e-8;
constexpr qlonglong kFewTokens = 20; ///< Up to this all tables multiply blocks as they are stored.

/// Products whose operands a table rounds to 16 bits, by its own description.
double boundOf(const QByteArray& table, WeightFormat format, qlonglong tokens) {
    const bool is_exact_format = format == WeightFormat::F32 || format == WeightFormat::F16;
    if (is_exact_format) {
        return kLinearNmseFp32;
    }
    const bool has_bytes = table == "cpu-avx512vnni" || table == "cpu-avx512bf16";
    if (kernels::rowOf(format).layout == kernels::WeightLayout::Blocks && has_bytes &&
        tokens <= kFewTokens) {
        return kNmseInt16;
    }
    if (table == "cpu-avx512bf16") {
        return kLinearNmse16Bit;
    }
    if (format == WeightFormat::Int8Row) {
        return table == "cpu-avx2" ? kLinearNmseFp32 : kNmseInt16;
    }
    const bool is_four_bit = format == WeightFormat::Nf4 || format == WeightFormat::Fp4;
    return is_four_bit ? kLinearNmse16Bit : kLinearNmseFp32;
}

struct LinearShape {
    int64_t tokens, in, out;
};

} // namespace

class TestLinear : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchesReference_data();
    void matchesReference();
    void stridedViews_data();
    void stridedViews();
    void sameForAnyThreadCount_data();
    void sameForAnyThreadCount();
    void tokensDoNotInfluenceEachOther_data();
    void tokensDoNotInfluenceEachOther();
    void noNumberIsKept_data();
    void noNumberIsKept();
    void rowsDoNotInfluenceEachOther_data();
    void rowsDoNotInfluenceEachOther();
    void loraMatchesReference_data();
    void loraMatchesReference();
    void sumOfUpdates_data();
    void sumOfUpdates();
    void refusesBadShapes();
};

void TestLinear::matchesReference_data() {
    support::addColumns<QByteArray, WeightFormat, qlonglong, qlonglong, qlonglong, int, bool,
                        DType>("table", "format", "tokens", "in", "out", "block", "nested",
                               "expand");
    const std::vector<LinearShape> shapes = {
        {1, 256, 131},  {1, 1536, 64},  {2, 192, 33}, {3, 128, 16},   {4, 320, 17},  {5, 64, 1},
        {6, 448, 15},   {7, 1, 7},      {8, 13, 50},  {9, 100, 33},   {24, 192, 20}, {25, 192, 20},
        {37, 256, 131}, {64, 1100, 40}, {33, 7, 13},  {48, 2112, 96}, {200, 65, 70}, {1, 4096, 3},
        {1, 64, 21},    {1, 192, 37},   {1, 1088, 6}, {1, 2112, 96},  {1, 12288, 9},
    };
    for (const char* table : fastTables()) {
        for (const WeightFormat format :
             {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16, WeightFormat::Int8Row,
              WeightFormat::Int8, WeightFormat::Nf4, WeightFormat::Fp4}) {
            const bool is_four_bit = format == WeightFormat::Nf4 || format == WeightFormat::Fp4;
            for (const LinearShape& s : shapes) {
                for (const bool nested : {false, true}) {
                    if (nested && !is_four_bit) {
                        continue;
                    }
                    QTest::addRow("%s %s %lldx%lldx%lld%s", table, formatName(format),
                                  static_cast<long long>(s.tokens), static_cast<long long>(s.in),
                                  static_cast<long long>(s.out), nested ? " nested" : "")
                        << QByteArray(table) << format << qlonglong(s.tokens) << qlonglong(s.in)
                        << qlonglong(s.out) << 64 << nested << DType::BF16;
                }
            }
        }
        for (const auto& [format, name] : support::kBlockFormats) {
            const int64_t block = kernels::rowOf(format).block_values;
            std::vector<LinearShape> block_shapes = {
                {1, 256, 131},           {2, 512, 33},   {8, 256, 16},
                {37, 768, 20},           {1, 2048, 7},   {1, 2304, 18},
                {1, block, 3},           {3, block, 17}, {1, 768 + block, 37},
                {5, 256 + 3 * block, 20}};
            for (int64_t few = 1; few <= 9; ++few) {
                block_shapes.push_back({few, 2048 + block, 19});
            }
            for (const LinearShape& s : block_shapes) {
                QTest::addRow("%s %s %lldx%lldx%lld", table, name, static_cast<long long>(s.tokens),
                              static_cast<long long>(s.in), static_cast<long long>(s.out))
                    << QByteArray(table) << format << qlonglong(s.tokens) << qlonglong(s.in)
                    << qlonglong(s.out) << 64 << false << DType::F32;
            }
        }
        for (int64_t few = 1; few <= 9; ++few) {
            for (const int64_t in : {32, 96, 1536, 2080}) {
                QTest::addRow("%s int4 block 32, %lld tokens, %lld columns", table,
                              static_cast<long long>(few), static_cast<long long>(in))
                    << QByteArray(table) << WeightFormat::Int4 << qlonglong(few) << qlonglong(in)
                    << qlonglong(35) << 32 << false << DType::BF16;
            }
        }
        for (const int block : {32, 64, 128, 256, 512, 1024, 2048, 4096}) {
            for (const int64_t in : {256, 4096, 1000, 99}) {
                for (const int64_t tokens : {1, 30}) {
                    for (const DType expand : {DType::F32, DType::F16}) {
                        const bool nested = block % 128 == 0;
                        QTest::addRow("%s nf4 block %d, %lld columns, %lld tokens, to %s%s", table,
                                      block, static_cast<long long>(in),
                                      static_cast<long long>(tokens),
                                      expand == DType::F32 ? "f32" : "f16", nested ? " nested" : "")
                            << QByteArray(table) << WeightFormat::Nf4 << qlonglong(tokens)
                            << qlonglong(in) << qlonglong(37) << block << nested << expand;
                    }
                }
            }
        }
    }
}

void TestLinear::matchesReference() {
    FETCH_TABLE(ops)
    QFETCH(WeightFormat, format);
    QFETCH(qlonglong, tokens);
    QFETCH(qlonglong, in);
    QFETCH(qlonglong, out);
    QFETCH(int, block);
    QFETCH(bool, nested);
    QFETCH(DType, expand);
    const TestWeight w = makeWeight(format, out, in, block, nested, expand, 7);
    const auto x = randomFloats(tokens * in, 11);
    const auto expected = randomFloats(tokens * out, 1);
    const auto actual = randomFloats(tokens * out, 2);
    QCOMPARE(kernels::cpuScalarOps().linear(testQueue(), matrix(x, tokens, in), w.view,
                                            matrix(expected, tokens, out)),
             Status::Ok);
    QCOMPARE(ops->linear(testQueue(), matrix(x, tokens, in), w.view, matrix(actual, tokens, out)),
             Status::Ok);
    const double error = nmse(actual.values(), expected.values());
    QVERIFY2(error <= boundOf(table, format, tokens), qPrintable(QString("NMSE %1").arg(error)));
}

void TestLinear::stridedViews_data() {
    support::addColumns<QByteArray, int>("table", "tokens");
    for (const char* table : fastTables()) {
        for (const int tokens : {1, 5, 40}) {
            QTest::addRow("%s %d tokens", table, tokens) << QByteArray(table) << tokens;
        }
    }
}

/// Rows of x and y lie apart; what is between the rows of y stays as it was.
void TestLinear::stridedViews() {
    FETCH_TABLE(ops)
    QFETCH(int, tokens);
    const int64_t in = 96;
    const int64_t out = 45;
    const TestWeight w = makeWeight(WeightFormat::F32, out, in, 0, false, DType::F32, 3);
    const auto x = randomFloats(tokens * 110, 4);
    const auto dense = randomFloats(tokens * in, 0);
    for (int t = 0; t < tokens; ++t) {
        std::memcpy(dense.data() + t * in, x.data() + t * 110, in * sizeof(float));
    }
    const auto expected = randomFloats(tokens * out, 1);
    const auto y = randomFloats(tokens * 61, 2);
    const auto before = y.values();
    kernels::cpuScalarOps().linear(testQueue(), matrix(dense, tokens, in), w.view,
                                   matrix(expected, tokens, out));
    QCOMPARE(
        ops->linear(testQueue(), matrix(x, tokens, in, 110), w.view, matrix(y, tokens, out, 61)),
        Status::Ok);
    for (int t = 0; t < tokens; ++t) {
        for (int64_t n = 0; n < 61; ++n) {
            const auto i = static_cast<size_t>(t * 61 + n);
            if (n < out) {
                QVERIFY(std::fabs(y[i] - expected[static_cast<size_t>(t * out + n)]) < 1e-4F);
            } else {
                QCOMPARE(y[i], before[i]);
            }
        }
    }
}

void TestLinear::sameForAnyThreadCount_data() {
    support::addColumns<QByteArray, WeightFormat, int>("table", "format", "tokens");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        for (const WeightFormat format :
             {WeightFormat::BF16, WeightFormat::Nf4, WeightFormat::Int8Row, WeightFormat::Q4_0,
              WeightFormat::Q4_K}) {
            for (const int tokens : {1, 8, 70}) {
                QTest::addRow("%s %s %d tokens", table, formatName(format), tokens)
                    << QByteArray(table) << format << tokens;
            }
        }
    }
}

void TestLinear::sameForAnyThreadCount() {
    FETCH_TABLE(ops)
    QFETCH(WeightFormat, format);
    QFETCH(int, tokens);
    const int64_t in = 512;
    const int64_t out = 700;
    const TestWeight w = makeWeight(format, out, in, 64, true, DType::BF16, 5);
    const auto x = randomFloats(tokens * in, 6);
    const auto alone = randomFloats(tokens * out, 1);
    QCOMPARE(ops->linear({}, matrix(x, tokens, in), w.view, matrix(alone, tokens, out)),
             Status::Ok);
    for (const int threads : {1, 2, 3, 8}) {
        kernels::cpu::ThreadPool pool(threads);
        const auto shared = randomFloats(tokens * out, 2);
        QCOMPARE(ops->linear({&pool}, matrix(x, tokens, in), w.view, matrix(shared, tokens, out)),
                 Status::Ok);
        QVERIFY(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)) == 0);
    }
}

void TestLinear::tokensDoNotInfluenceEachOther_data() {
    QTest::addColumn<QByteArray>("table");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        QTest::addRow("%s", table) << QByteArray(table);
    }
}

/// A token's result inside a batch of the packed path equals its result in a smaller batch of
/// that path bit for bit: chunk sizes above the dot limit do not change a prefill.
void TestLinear::tokensDoNotInfluenceEachOther() {
    FETCH_TABLE(ops)
    const int64_t in = 1200;
    const int64_t out = 90;
    const TestWeight w = makeWeight(WeightFormat::BF16, out, in, 0, false, DType::BF16, 5);
    const auto x = randomFloats(500 * in, 6);
    const auto whole = randomFloats(500 * out, 1);
    const auto part = randomFloats(61 * out, 1);
    QCOMPARE(ops->linear(testQueue(), matrix(x, 500, in), w.view, matrix(whole, 500, out)),
             Status::Ok);
    kernels::MatF32 some{x.data() + 203 * in, 61, in, in};
    QCOMPARE(ops->linear(testQueue(), some, w.view, matrix(part, 61, out)), Status::Ok);
    QVERIFY(std::memcmp(whole.data() + 203 * out, part.data(), part.size() * sizeof(float)) == 0);
}

void TestLinear::noNumberIsKept_data() {
    support::addColumns<QByteArray, WeightFormat, bool, qlonglong>("table", "format", "nested",
                                                                   "tokens");
    for (const char* table : fastTables()) {
        for (const WeightFormat format :
             {WeightFormat::BF16, WeightFormat::Int8Row, WeightFormat::Nf4, WeightFormat::Q4_0,
              WeightFormat::Q6_K}) {
            for (const bool nested : {false, true}) {
                for (const qlonglong tokens : {1, 3}) {
                    if (!nested || format == WeightFormat::Nf4) {
                        QTest::addRow("%s %s%s, %lld tokens", table, formatName(format),
                                      nested ? " nested" : "", tokens)
                            << QByteArray(table) << format << nested << tokens;
                    }
                }
            }
        }
    }
}

/// Activations that overflowed somewhere must not become ordinary numbers in formats whose products
/// are of whole numbers: what went wrong would no longer be seen.
void TestLinear::noNumberIsKept() {
    FETCH_TABLE(ops)
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(qlonglong, tokens);
    const int64_t in = 1536;
    const int64_t out = 32;
    const TestWeight w = makeWeight(format, out, in, 64, nested, DType::BF16, 5);
    for (const int64_t at : {0, 5, 700, 1535}) {
        const auto x = randomFloats(tokens * in, 6);
        const auto y = randomFloats(tokens * out, 1);
        x[static_cast<size_t>(at)] = NAN; // of the first token
        QCOMPARE(ops->linear(testQueue(), matrix(x, tokens, in), w.view, matrix(y, tokens, out)),
                 Status::Ok);
        for (int64_t i = 0; i < tokens * out; ++i) {
            QCOMPARE(std::isnan(y[static_cast<size_t>(i)]), i < out);
        }
    }
}

void TestLinear::rowsDoNotInfluenceEachOther_data() {
    support::addColumns<QByteArray, WeightFormat, int, bool>("table", "format", "block", "nested");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        for (const WeightFormat format :
             {WeightFormat::BF16, WeightFormat::Int8Row, WeightFormat::Nf4, WeightFormat::Fp4,
              WeightFormat::Q8_0}) {
            for (const int block : {64, 192}) {
                for (const bool nested : {false, true}) {
                    QTest::addRow("%s %s block %d%s", table, formatName(format), block,
                                  nested ? " nested" : "")
                        << QByteArray(table) << format << block << nested;
                }
            }
        }
    }
}

/// Rows are multiplied in groups, and the last ones of a weight alone: the same values, to the bit.
void TestLinear::rowsDoNotInfluenceEachOther() {
    FETCH_TABLE(ops)
    QFETCH(WeightFormat, format);
    QFETCH(int, block);
    QFETCH(bool, nested);
    const int64_t out = 53;
    for (const int64_t in : {192, 1344, 1536}) {
        const TestWeight w = makeWeight(format, out, in, block, nested, DType::BF16, 5);
        const auto x = randomFloats(in, 6);
        const auto all = randomFloats(out, 1);
        QCOMPARE(ops->linear(testQueue(), matrix(x, 1, in), w.view, matrix(all, 1, out)),
                 Status::Ok);
        for (const int64_t rows : {1, 2, 3, 5, 6, 7, 17, 18, 19, 36, 49}) {
            kernels::WeightView first = w.view;
            first.rows = rows;
            const auto some = randomFloats(rows, 2);
            QCOMPARE(ops->linear(testQueue(), matrix(x, 1, in), first, matrix(some, 1, rows)),
                     Status::Ok);
            QVERIFY(std::memcmp(all.data(), some.data(), some.size() * sizeof(float)) == 0);
        }
    }
}

void TestLinear::loraMatchesReference_data() {
    support::addColumns<QByteArray, DType, int, int, bool>("table", "type", "tokens", "rank",
                                                           "bias");
    for (const char* table : fastTables()) {
        for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
            for (const int tokens : {1, 4, 45}) {
                for (const int rank : {1, 7, 16, 64}) {
                    const bool bias = rank != 16;
                    QTest::addRow("%s type %d, %d tokens, rank %d%s", table, static_cast<int>(type),
                                  tokens, rank, bias ? ", bias" : "")
                        << QByteArray(table) << type << tokens << rank << bias;
                }
            }
        }
    }
}

void TestLinear::loraMatchesReference() {
    FETCH_TABLE(ops)
    QFETCH(DType, type);
    QFETCH(int, tokens);
    QFETCH(int, rank);
    QFETCH(bool, bias);
    const int64_t in = 180;
    const int64_t out = 75;
    const auto a_bytes = stored(randomFloats(rank * in, 1), type);
    const auto b_bytes = stored(randomFloats(out * rank, 2), type);
    const auto bias_bytes = stored(randomFloats(out, 3, 5.0F), type);
    const kernels::MatView a{a_bytes.data(), type, rank, in};
    const kernels::MatView b{b_bytes.data(), type, out, rank};
    kernels::MatView b_bias{bias ? bias_bytes.data() : nullptr, type, 1, out};
    const auto x = randomFloats(tokens * in, 4);
    const auto expected = randomFloats(tokens * out, 5);
    const auto actual = randomFloats(tokens * out, 5);
    const auto scratch = randomFloats(tokens * rank, 6);
    const auto before = expected.values();
    const float scaling = 0.75F;
    QCOMPARE(kernels::cpuScalarOps().lora_accumulate(testQueue(), matrix(x, tokens, in), a, b,
                                                     b_bias, scaling, matrix(scratch, tokens, rank),
                                                     matrix(expected, tokens, out)),
             Status::Ok);
    QVERIFY(nmse(expected.values(), before) > 1.0); // the update is not lost in y
    QCOMPARE(ops->lora_accumulate(testQueue(), matrix(x, tokens, in), a, b, b_bias, scaling,
                                  matrix(scratch, tokens, rank), matrix(actual, tokens, out)),
             Status::Ok);
    const bool is_rounded = table == "cpu-avx512bf16" && type == DType::BF16;
    const double error = nmse(actual.values(), expected.values());
    QVERIFY2(error <= (is_rounded ? kLinearNmse16Bit : kLinearNmseFp32),
             qPrintable(QString("NMSE %1").arg(error)));
}

void TestLinear::sumOfUpdates_data() {
    support::addColumns<QByteArray, int, int>("table", "tokens", "in");
    for (const char* table : fastTables()) {
        for (const int tokens : {1, 3, 8, 9, 45}) {
            for (const int in : {64, 180, 3072}) {
                QTest::addRow("%s, %d tokens, %d inputs", table, tokens, in)
                    << QByteArray(table) << tokens << in;
            }
        }
    }
}

/// Terms of different ranks and types in one call, against one call per term of the reference.
void TestLinear::sumOfUpdates() {
    FETCH_TABLE(ops)
    QFETCH(int, tokens);
    QFETCH(int, in);
    const int64_t out = 75;
    const struct {
        int64_t rank;
        DType type;
        bool bias;
    } kinds[] = {{16, DType::BF16, false},
                 {5, DType::F32, true},
                 {33, DType::F16, false},
                 {64, DType::F32, true}};
    std::vector<decltype(stored(randomFloats(1, 1), DType::F32))> bytes;
    bytes.reserve(12); // views point into it
    std::vector<kernels::LoraTerm> terms;
    int64_t ranks = 0;
    for (const auto& kind : kinds) {
        const auto seed = static_cast<uint32_t>(10 * kind.rank);
        bytes.push_back(stored(randomFloats(kind.rank * in, seed), kind.type));
        bytes.push_back(stored(randomFloats(out * kind.rank, seed + 1), kind.type));
        bytes.push_back(stored(randomFloats(out, seed + 2, 5.0F), kind.type));
        const size_t at = bytes.size();
        terms.push_back({{bytes[at - 3].data(), kind.type, kind.rank, in},
                         {bytes[at - 2].data(), kind.type, out, kind.rank},
                         {kind.bias ? bytes[at - 1].data() : nullptr, kind.type, 1, out},
                         0.25F * static_cast<float>(terms.size() + 1)});
        ranks += kind.rank;
    }
    const auto x = randomFloats(tokens * in, 4);
    const auto expected = randomFloats(tokens * out, 5);
    const auto summed = randomFloats(tokens * out, 5);
    const auto actual = randomFloats(tokens * out, 5);
    const auto before = expected.values();
    for (const kernels::LoraTerm& term : terms) {
        const auto scratch = randomFloats(tokens * term.a.rows, 6);
        QCOMPARE(kernels::cpuScalarOps().lora_accumulate(
                     testQueue(), matrix(x, tokens, in), term.a, term.b, term.b_bias, term.scaling,
                     matrix(scratch, tokens, term.a.rows), matrix(expected, tokens, out)),
                 Status::Ok);
    }
    QVERIFY(nmse(expected.values(), before) > 1.0);
    const auto scratch = randomFloats(tokens * ranks, 6);
    const auto count = static_cast<int64_t>(terms.size());
    QCOMPARE(kernels::cpuScalarOps().lora_accumulate_all(
                 testQueue(), matrix(x, tokens, in), terms.data(), count,
                 matrix(scratch, tokens, ranks), matrix(summed, tokens, out)),
             Status::Ok);
    QVERIFY(summed.values() == expected.values());
    QCOMPARE(ops->lora_accumulate_all(testQueue(), matrix(x, tokens, in), terms.data(), count,
                                      matrix(scratch, tokens, ranks), matrix(actual, tokens, out)),
             Status::Ok);
    const bool is_rounded = table == "cpu-avx512bf16" && tokens > 8;
    const double error = nmse(actual.values(), expected.values());
    QVERIFY2(error <= (is_rounded ? kLinearNmse16Bit : kLinearNmseFp32),
             qPrintable(QString("NMSE %1").arg(error)));
    // Scratch for fewer ranks than there are, and no terms at all.
    QCOMPARE(ops->lora_accumulate_all(testQueue(), matrix(x, tokens, in), terms.data(), count,
                                      matrix(scratch, tokens, ranks - 1),
                                      matrix(actual, tokens, out)),
             Status::BadShape);
    const auto kept = actual.values();
    QCOMPARE(ops->lora_accumulate_all(testQueue(), matrix(x, tokens, in), nullptr, 0,
                                      matrix(scratch, tokens, ranks), matrix(actual, tokens, out)),
             Status::Ok);
    QVERIFY(actual.values() == kept);
}

void TestLinear::refusesBadShapes() {
    for (const char* name :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        const OpTable* ops = kernels::findCpuOps(name);
        if (ops == nullptr) {
            continue;
        }
        const TestWeight w = makeWeight(WeightFormat::Nf4, 8, 64, 64, false, DType::BF16, 5);
        const auto x = randomFloats(2 * 64, 1);
        const auto y = randomFloats(2 * 8, 1);
        const auto call = [&](const kernels::WeightView& weight, int64_t in, int64_t out) {
            return ops->linear({}, matrix(x, 2, in), weight, matrix(y, 2, out));
        };
        QCOMPARE(call(w.view, 64, 8), Status::Ok);
        QCOMPARE(call(w.view, 63, 8), Status::BadShape);
        QCOMPARE(call(w.view, 64, 7), Status::BadShape);
        kernels::WeightView broken = w.view;
        broken.absmax = nullptr;
        QCOMPARE(call(broken, 64, 8), Status::BadShape);
        broken = w.view;
        broken.data = nullptr;
        QCOMPARE(call(broken, 64, 8), Status::BadShape);
        broken = w.view;
        broken.block_size = 0;
        QCOMPARE(call(broken, 64, 8), Status::BadShape);
        QCOMPARE(ops->linear({}, {nullptr, 0, 64, 64}, w.view, {nullptr, 0, 8, 8}), Status::Ok);
    }
}

TEST_CLASS(TestLinear)
#include "tst_linear.moc"
