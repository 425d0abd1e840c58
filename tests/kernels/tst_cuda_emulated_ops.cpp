// SPDX-License-Identifier: Apache-2.0
// Every other function of the CUDA tables with its kernels run on the CPU, against the scalar
// table: products of all formats (tensor cores and reference precision), attention with all masks,
// norms, RoPE, element-wise steps, towers, adapters, gather and store. Small shapes at the edges of
// tiles, operands that end at a page nobody may touch, threads in an order drawn from a seed.
#include "kernels/cpu/float_types.h"
#include "tests/kernels/step_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"
#include "tests/support/token_inputs.h"

#include <QTest>

#include <bit>
#include <functional>
#include <memory>

using kernels::AttentionArgs;
using kernels::DType;
using kernels::KvType;
using kernels::MatView;
using kernels::MutF32;
using kernels::OpTable;
using kernels::Queue;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

/// As tests/gpu asks of a card: operands rounded to bf16 (the rows of a decode step to fp16), or
/// fp32 sums in another order.
constexpr double kTensorBound = 4e-3;
constexpr double kFlashBound = 8e-3;
constexpr double kFp32Bound = 5e-6;

using Call = std::function<Status(const OpTable&, Queue, MutF32 y)>;

std::unique_ptr<EmulatedCard> cardFor(bool is_reference,
                                      uint64_t seed,
                                      int multiprocessors = 3,
                                      int capability = 90,
                                      int shared_bytes = 232448) {
    EmulatedCardOptions options;
    options.capability = capability;
    options.shared_bytes = shared_bytes;
    options.multiprocessors = multiprocessors;
    options.is_reference = is_reference;
    options.run.seed = seed;
    return std::make_unique<EmulatedCard>(options);
}

/// Runs the call on the scalar table and on the card from the same y; what is wrong, if anything.
QString difference(EmulatedCard& card,
                   const Guarded<float>& start,
                   int64_t rows,
                   int64_t cols,
                   int64_t stride,
                   double bound,
                   const Call& call) {
    const Guarded<float> want(start.values());
    const Guarded<float> got(start.values());
    if (call(kernels::cpuScalarOps(), {}, {want.data(), rows, cols, stride}) != Status::Ok) {
        return "refused by the reference";
    }
    auto& d = card.device();
    if (call(d.ops(), d.queue(), {got.data(), rows, cols, stride}) != Status::Ok) {
        return "refused by the card";
    }
    if (const std::string wrong = card.finish(); !wrong.empty()) {
        return QString::fromStdString(wrong);
    }
    if (want.values() == start.values()) {
        return "the call changed nothing";
    }
    const double error = relativeError(got.data(), want.values());
    return error <= bound ? QString() : QString("relative error %1").arg(error);
}

/// Attention of dims (queries, keys, heads, kv heads, head_dim, window). Keys in any order or, with
/// the queries near their end, in their own; some slots empty with NaN in them, an image block that
/// sees forward.
struct AttentionCase {
    AttentionCase(const QList<int>& dims, bool is_causal, KvType kv_type, bool is_in_order = false)
        : q(randomFloats(int64_t{dims[0]} * dims[2] * dims[4], 1, 0.5F)),
          k(storedRows(
              randomFloats(int64_t{dims[1]} * dims[3] * dims[4], 2), kv_type, dims[3], dims[4])),
          v(storedRows(
              randomFloats(int64_t{dims[1]} * dims[3] * dims[4], 3), kv_type, dims[3], dims[4])),
          key_position(sizeOf(dims[1])), key_block(sizeOf(dims[1])),
          query_position(sizeOf(dims[0])), query_block(sizeOf(dims[0])),
          start(randomFloats(static_cast<int64_t>(q.size()), 4)) {
        const int64_t queries = dims[0];
        const int64_t keys = dims[1];
        const int64_t first = is_in_order ? std::max<int64_t>(0, keys - queries - 20) : 15;
        const int64_t block = first + 5;
        const auto row_bytes = sizeOf(kernels::kvRowBytes(kv_type, dims[3], dims[4]));
        for (int64_t i = 0; i < keys; ++i) {
            const auto position = static_cast<int32_t>(is_in_order ? i : (i * 7 + 3) % keys);
            key_position[sizeOf(i)] = i == 5 || i == keys - 1 ? -1 : position;
            key_block[sizeOf(i)] = position >= block && position < block + 12 ? 0 : -1;
            if (key_position[sizeOf(i)] < 0) {
                std::memset(k.data() + sizeOf(i) * row_bytes, 0xff, row_bytes);
                std::memset(v.data() + sizeOf(i) * row_bytes, 0xff, row_bytes);
            }
        }
        for (int64_t i = 0; i < queries; ++i) {
            const auto position = static_cast<int32_t>(queries == 1 ? keys - 1 : first + i);
            query_position[sizeOf(i)] = position;
            query_block[sizeOf(i)] = position >= block && position < block + 12 ? 0 : -1;
        }
        args.q = q.data();
        args.k = k.data();
        args.v = v.data();
        args.kv_type = kv_type;
        args.queries = queries;
        args.keys = keys;
        args.num_heads = dims[2];
        args.num_kv_heads = dims[3];
        args.head_dim = dims[4];
        args.scale = 0.5F;
        args.mask.window = dims[5];
        args.mask.causal = is_causal;
        args.mask.query_position = query_position.data();
        args.mask.key_position = key_position.data();
        args.mask.query_block = query_block.data();
        args.mask.key_block = key_block.data();
    }
    [[nodiscard]] int64_t cols() const { return args.num_heads * args.head_dim; }
    [[nodiscard]] Call call() const {
        return [this](const OpTable& o, Queue queue, MutF32 y) {
            AttentionArgs a = args;
            a.out = y.data;
            return o.attention(queue, a);
        };
    }

    Guarded<float> q;
    Guarded<unsigned char> k, v;
    Guarded<int32_t> key_position, key_block, query_position, query_block;
    Guarded<float> start;
    AttentionArgs args;
};

} // namespace

class TestCudaEmulatedOps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void linear_data();
    void linear();
    void attention_data();
    void attention();
    void smallAttention_data();
    void smallAttention();
    void towerAttention_data();
    void towerAttention();
    void elementwise_data();
    void elementwise();
    void normsAndRope_data();
    void normsAndRope();
    void gatherIsExact_data();
    void gatherIsExact();
    void storeIsExact();
    void adapter_data();
    void adapter();
    void audioAttention();
    void subsampleConv_data();
    void subsampleConv();
    void argmax_data();
    void argmax();
    void capArgmax_data();
    void capArgmax();
    void tokenInputs_data();
    void tokenInputs();
    void tokenInputsRefuse();
};

void TestCudaEmulatedOps::linear_data() {
    support::addColumns<bool, WeightFormat, bool, int, int, int, int>(
        "reference", "format", "nested", "tokens", "in", "out", "seed");
    struct Shape {
        int tokens, in, out;
    };
    int seed = 0;
    for (const bool is_reference : {false, true}) {
        for (const auto& [format, nested] : {std::pair{WeightFormat::F32, false},
                                             {WeightFormat::F16, false},
                                             {WeightFormat::BF16, false},
                                             {WeightFormat::Int8Row, false},
                                             {WeightFormat::Int8, false},
                                             {WeightFormat::Nf4, true},
                                             {WeightFormat::Nf4, false},
                                             {WeightFormat::Fp4, true}}) {
            // Decode rows; below, at and above the tiles of the products; an input of odd width;
            // one whose 4-bit weights are taken as they are stored; a large tile (128 x 128).
            for (const Shape& s : {Shape{1, 192, 33},
                                   {3, 64, 7},
                                   {5, 72, 20},
                                   {64, 64, 64},
                                   {65, 136, 66},
                                   {7, 37, 11},
                                   {70, 256, 66},
                                   {130, 64, 70}}) {
                QTest::addRow("%s %s%s %dx%dx%d", is_reference ? "f32" : "fast", formatName(format),
                              nested ? " nested" : "", s.tokens, s.in, s.out)
                    << is_reference << format << nested << s.tokens << s.in << s.out << seed++ % 4;
            }
        }
        for (const auto& [format, name] : support::kBlockFormats) {
            for (const Shape& s : {Shape{1, 768, 33}, {3, 256, 7}, {66, 256, 66}}) {
                QTest::addRow("%s %s %dx%dx%d", is_reference ? "f32" : "fast", name, s.tokens, s.in,
                              s.out)
                    << is_reference << format << false << s.tokens << s.in << s.out << seed++ % 4;
            }
        }
    }
}

void TestCudaEmulatedOps::linear() {
    QFETCH(bool, reference);
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(int, tokens);
    QFETCH(int, in);
    QFETCH(int, out);
    QFETCH(int, seed);
    const TestWeight w = makeWeight(format, out, in, 64, nested, DType::BF16, 7);
    // Rows of x and y lie apart; what is between the rows of y stays as it was.
    const int64_t x_stride = in + (in & 1) + 2;
    const int64_t y_stride = out + 3 + (seed & 1);
    const auto x = randomFloats(tokens * x_stride, 11);
    const auto y = randomFloats(tokens * y_stride, 12);
    const auto before = y.values();
    std::vector<float> want(sizeOf(int64_t{tokens} * out));
    QCOMPARE(kernels::cpuScalarOps().linear({}, matrix(x, tokens, in, x_stride), w.view,
                                            {want.data(), tokens, out, out}),
             Status::Ok);
    const auto card = cardFor(reference, static_cast<uint64_t>(seed), 2);
    auto& d = card->device();
    QCOMPARE(d.ops().linear(d.queue(), matrix(x, tokens, in, x_stride), w.view,
                            matrix(y, tokens, out, y_stride)),
             Status::Ok);
    QCOMPARE(card->finish(), std::string());
    std::vector<float> got;
    for (int64_t t = 0; t < tokens; ++t) {
        const float* row = y.data() + t * y_stride;
        got.insert(got.end(), row, row + out);
        for (int64_t c = out; c < y_stride; ++c) {
            QCOMPARE(row[c], before[sizeOf(t * y_stride + c)]);
        }
    }
    QCOMPARE_LE(relativeError(got.data(), want), reference ? kFp32Bound : kTensorBound);
}

void TestCudaEmulatedOps::attention_data() {
    QTest::addColumn<bool>("reference");
    QTest::addColumn<QList<int>>("dims"); // queries, keys, heads, kv heads, head_dim, window
    QTest::addColumn<bool>("causal");
    QTest::addColumn<KvType>("type");
    QTest::addColumn<int>("seed");
    int seed = 0;
    for (const bool is_reference : {false, true}) {
        for (const QList<int>& dims :
             {QList<int>{1, 70, 4, 1, 64, 0}, QList<int>{66, 130, 2, 1, 64, 0},
              QList<int>{66, 130, 2, 1, 64, 20}, QList<int>{20, 90, 2, 2, 256, 50},
              QList<int>{17, 70, 2, 1, 512, 0}, QList<int>{9, 40, 4, 2, 32, 12}}) {
            for (const bool causal : {true, false}) {
                for (const KvType type : {KvType::BF16, KvType::F32, KvType::Q8}) {
                    QTest::addRow(
                        "%s, %d queries, %d keys, %d/%d heads of %d, window %d%s, type %d",
                        is_reference ? "f32" : "fast", dims[0], dims[1], dims[2], dims[3], dims[4],
                        dims[5], causal ? "" : ", all visible", static_cast<int>(type))
                        << is_reference << dims << causal << type << seed++ % 4;
                }
            }
        }
    }
}

/// Keys in any order, some slots empty with NaN in them, an image block that sees forward.
void TestCudaEmulatedOps::attention() {
    QFETCH(bool, reference);
    QFETCH(QList<int>, dims);
    QFETCH(bool, causal);
    QFETCH(KvType, type);
    QFETCH(int, seed);
    const AttentionCase c(dims, causal, type);
    const auto card = cardFor(reference, static_cast<uint64_t>(seed));
    QCOMPARE(difference(*card, c.start, dims[0], c.cols(), c.cols(),
                        reference ? kFp32Bound : kFlashBound, c.call()),
             QString());
}

void TestCudaEmulatedOps::smallAttention_data() {
    QTest::addColumn<QList<int>>("dims"); // as above
    QTest::addColumn<bool>("ordered");
    QTest::addColumn<bool>("causal");
    QTest::addColumn<KvType>("type");
    QTest::addColumn<int>("seed");
    int seed = 0;
    // The groups of Gemma 4 (8:1, 4:1, 2:1); queries and keys below, at and above their tiles, keys
    // of more than one search (128 or 256), windows that leave whole searches out.
    for (const QList<int>& dims :
         {QList<int>{1, 40, 8, 1, 256, 0}, QList<int>{64, 80, 2, 1, 256, 0},
          QList<int>{66, 300, 4, 1, 256, 20}, QList<int>{65, 515, 2, 1, 256, 30},
          QList<int>{20, 90, 2, 2, 256, 50}, QList<int>{17, 70, 8, 1, 512, 0},
          QList<int>{1, 33, 4, 1, 512, 0}, QList<int>{66, 300, 2, 1, 512, 0},
          QList<int>{65, 530, 2, 1, 512, 25}, QList<int>{12, 16, 4, 2, 512, 5}}) {
        for (const bool ordered : {true, false}) {
            for (const bool causal : {true, false}) {
                const KvType type = ordered == causal ? KvType::BF16
                                    : ordered         ? KvType::Q8
                                                      : KvType::F32;
                QTest::addRow("%d queries, %d keys%s, %d/%d heads of %d, window %d%s, type %d",
                              dims[0], dims[1], ordered ? " in order" : "", dims[2], dims[3],
                              dims[4], dims[5], causal ? "" : ", all visible",
                              static_cast<int>(type))
                    << dims << ordered << causal << type << seed++ % 4;
            }
        }
    }
}

/// The same on cards whose blocks have 99 KiB of shared memory.
void TestCudaEmulatedOps::smallAttention() {
    QFETCH(QList<int>, dims);
    QFETCH(bool, ordered);
    QFETCH(bool, causal);
    QFETCH(KvType, type);
    QFETCH(int, seed);
    const AttentionCase c(dims, causal, type, ordered);
    const auto card = cardFor(false, static_cast<uint64_t>(seed), 3, 86, 101376);
    QCOMPARE(difference(*card, c.start, dims[0], c.cols(), c.cols(), kFlashBound, c.call()),
             QString());
    QCOMPARE(card->ran(), std::vector<std::string>{dims[4] == 256 ? "belfry_flash_small_256"
                                                                  : "belfry_flash_small_512"});
    if (type == KvType::F32) {
        return;
    }
    // Queries and results in bf16, as fused steps of a prompt have them.
    const size_t count = c.q.size();
    const Guarded<uint16_t> q(count);
    const Guarded<float> rounded(count);
    for (size_t i = 0; i < count; ++i) {
        q[i] = kernels::cpu::floatToBf16(c.q[i]);
        rounded[i] = kernels::cpu::bf16ToFloat(q[i]);
    }
    const Guarded<float> want(count);
    AttentionArgs a = c.args;
    a.q = rounded.data();
    a.out = want.data();
    QCOMPARE(kernels::cpuScalarOps().attention({}, a), Status::Ok);
    const Guarded<uint16_t> out(count);
    a.q = reinterpret_cast<const float*>(q.data());
    a.out = reinterpret_cast<float*>(out.data());
    a.is_half = true;
    auto& d = card->device();
    QCOMPARE(d.ops().attention(d.queue(), a), Status::Ok);
    QCOMPARE(card->finish(), std::string());
    QCOMPARE(card->ran().size(), size_t{2});
    QCOMPARE(card->ran()[1], card->ran()[0]);
    std::vector<float> got(count);
    for (size_t i = 0; i < count; ++i) {
        got[i] = kernels::cpu::bf16ToFloat(out[i]);
    }
    QCOMPARE_LE(relativeError(got.data(), want.values()), kFlashBound);
}

void TestCudaEmulatedOps::towerAttention_data() {
    QTest::addColumn<QList<int>>("dims"); // queries, keys, heads, head_dim
    QTest::addColumn<int>("seed");
    int seed = 0;
    for (const int head_dim : {64, 72}) {
        for (const QList<int>& dims : {QList<int>{1, 1, 2}, QList<int>{128, 64, 1},
                                       QList<int>{130, 200, 3}, QList<int>{200, 127, 2}}) {
            QTest::addRow("%d queries, %d keys, %d heads of %d", dims[0], dims[1], dims[2],
                          head_dim)
                << QList<int>{dims[0], dims[1], dims[2], head_dim} << seed++ % 4;
        }
    }
}

/// Every key is visible, all operands in bf16.
void TestCudaEmulatedOps::towerAttention() {
    QFETCH(QList<int>, dims);
    QFETCH(int, seed);
    const int64_t width = int64_t{dims[2]} * dims[3];
    const auto q = stored(randomFloats(dims[0] * width, 1, 0.5F), DType::BF16);
    const auto k = stored(randomFloats(dims[1] * width, 2), DType::BF16);
    const auto v = stored(randomFloats(dims[1] * width, 3), DType::BF16);
    const auto count = sizeOf(dims[0] * width);
    std::vector<float> widened(count);
    for (size_t i = 0; i < count; ++i) {
        widened[i] = kernels::cpu::loadElement(q.data(), DType::BF16, static_cast<int64_t>(i));
    }
    const std::vector<int32_t> positions(sizeOf(std::max(dims[0], dims[1])), 0);
    std::vector<float> want(count);
    AttentionArgs a;
    a.q = widened.data();
    a.k = k.data();
    a.v = v.data();
    a.kv_type = KvType::BF16;
    a.queries = dims[0];
    a.keys = dims[1];
    a.num_heads = a.num_kv_heads = dims[2];
    a.head_dim = dims[3];
    a.scale = 0.7F;
    a.mask.causal = false;
    a.mask.query_position = positions.data();
    a.mask.key_position = positions.data();
    a.out = want.data();
    QCOMPARE(kernels::cpuScalarOps().attention({}, a), Status::Ok);
    const Guarded<uint16_t> out(count);
    a.q = reinterpret_cast<const float*>(q.data());
    a.mask.query_position = nullptr;
    a.mask.key_position = nullptr;
    a.mask.is_open = true;
    a.out = reinterpret_cast<float*>(out.data());
    a.is_half = true;
    const auto card = cardFor(false, static_cast<uint64_t>(seed), 3, 86, 101376);
    auto& d = card->device();
    QCOMPARE(d.ops().attention(d.queue(), a), Status::Ok);
    QCOMPARE(card->finish(), std::string());
    QCOMPARE(card->ran(), std::vector<std::string>{dims[3] == 64 ? "belfry_flash_open_64"
                                                                 : "belfry_flash_open_72"});
    std::vector<float> got(count);
    for (size_t i = 0; i < count; ++i) {
        got[i] = kernels::cpu::bf16ToFloat(out[i]);
    }
    QCOMPARE_LE(relativeError(got.data(), want), kFlashBound);
}

void TestCudaEmulatedOps::elementwise_data() {
    support::addColumns<int, int>("rows", "cols");
    for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 7}, {2, 256}, {5, 300}}) {
        QTest::addRow("%d x %d", rows, cols) << rows << cols;
    }
}

void TestCudaEmulatedOps::elementwise() {
    QFETCH(int, rows);
    QFETCH(int, cols);
    const int64_t stride = cols + 5;
    const auto a = randomFloats(rows * stride, 1, 2.0F);
    const auto b = randomFloats(rows * stride, 2, 2.0F);
    const auto columns = randomFloats(cols, 4);
    const auto taps = randomFloats(int64_t{cols} * 5, 5);
    const auto start = randomFloats(rows * stride, 6);
    const auto mat = [&](const Guarded<float>& m) { return matrix(m, rows, cols, stride); };
    const auto card = cardFor(true, 1);
    const std::vector<std::pair<const char*, Call>> calls = {
        {"gated_mul, GELU",
         [&](const OpTable& o, Queue q, MutF32 y) {
             return o.gated_mul(q, kernels::Activation::GeluTanh, mat(a), mat(b), y);
         }},
        {"gated_mul, SiLU",
         [&](const OpTable& o, Queue q, MutF32 y) {
             return o.gated_mul(q, kernels::Activation::Silu, mat(a), mat(b), y);
         }},
        {"sigmoid_mul, both the same",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.sigmoid_mul(q, mat(a), mat(a), y); }},
        {"sigmoid_mul",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.sigmoid_mul(q, mat(a), mat(b), y); }},
        {"causal_conv1d", [&](const OpTable& o, Queue q,
                              MutF32 y) { return o.causal_conv1d(q, mat(a), taps.data(), 5, y); }},
        {"clamp",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.clamp(q, mat(a), -0.5F, 0.75F, y); }},
        {"add_scaled",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.add_scaled(q, mat(a), 0.5F, y); }},
        {"scale", [&](const OpTable& o, Queue q, MutF32 y) { return o.scale(q, y, -1.75F); }},
        {"scale_columns", [&](const OpTable& o, Queue q,
                              MutF32 y) { return o.scale_columns(q, y, columns.data()); }},
        {"add_columns",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.add_columns(q, y, columns.data()); }},
        {"soft_cap", [&](const OpTable& o, Queue q, MutF32 y) { return o.soft_cap(q, y, 1.5F); }},
    };
    for (const auto& [name, call] : calls) {
        const QString wrong = difference(*card, start, rows, cols, stride, kFp32Bound, call);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1: %2").arg(name, wrong)));
    }
}

void TestCudaEmulatedOps::normsAndRope_data() {
    QTest::addColumn<int>("cols");
    QTest::addColumn<int>("type"); // 0: no weight
    for (const int cols : {2, 12, 64, 300, 1538}) {
        for (const int type : {0, 1, 2, 3}) {
            QTest::addRow("%d columns, weight type %d", cols, type) << cols << type;
        }
    }
}

void TestCudaEmulatedOps::normsAndRope() {
    QFETCH(int, cols);
    QFETCH(int, type);
    const int64_t rows = 4;
    const auto dtype = type == 0 ? DType::F32 : static_cast<DType>(type);
    const auto weight = stored(randomFloats(cols, 1), dtype);
    const MatView view{type == 0 ? nullptr : weight.data(), dtype, 1, cols};
    const auto x = randomFloats(rows * cols, 2, 30.0F);
    const auto start = randomFloats(rows * cols, 3);
    const Guarded<int32_t> position(std::vector<int32_t>{0, 1, 77, 4000});
    const Guarded<float> freq(sizeOf(cols / 2));
    for (size_t j = 0; j < freq.size(); ++j) {
        freq[j] = static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(j) / cols));
    }
    const auto card = cardFor(false, static_cast<uint64_t>(type));
    const std::vector<std::pair<const char*, Call>> calls = {
        {"rms_norm",
         [&](const OpTable& o, Queue q, MutF32 y) {
             return o.rms_norm(q, matrix(x, rows, cols), view, 1e-6F, y);
         }},
        {"rms_norm in place",
         [&](const OpTable& o, Queue q, MutF32 y) { return o.rms_norm(q, y, view, 1e-6F, y); }},
        {"rms_norm_add",
         [&](const OpTable& o, Queue q, MutF32 y) {
             return o.rms_norm_add(q, matrix(x, rows, cols), view, 1e-6F, 0.5F, y);
         }},
        {"rope",
         [&](const OpTable& o, Queue q, MutF32 y) {
             return o.rope(q, y, cols, 0, cols, position.data(), freq.data());
         }},
    };
    for (const auto& [name, call] : calls) {
        const QString wrong = difference(*card, start, rows, cols, cols, kFp32Bound, call);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1: %2").arg(name, wrong)));
    }
}

void TestCudaEmulatedOps::gatherIsExact_data() {
    support::addColumns<WeightFormat, bool, DType>("format", "nested", "expand");
    for (const WeightFormat format :
         {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16, WeightFormat::Int8Row,
          WeightFormat::Int8, WeightFormat::Nf4, WeightFormat::Fp4}) {
        for (const bool nested : {false, true}) {
            for (const DType expand : {DType::F32, DType::F16, DType::BF16}) {
                const bool is_four_bit = format == WeightFormat::Nf4 || format == WeightFormat::Fp4;
                if (is_four_bit || (!nested && expand == DType::BF16)) {
                    QTest::addRow("%s%s to type %d", formatName(format), nested ? " nested" : "",
                                  static_cast<int>(expand))
                        << format << nested << expand;
                }
            }
        }
    }
}

/// Bit for bit; blocks cross rows.
void TestCudaEmulatedOps::gatherIsExact() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(DType, expand);
    const TestWeight w = makeWeight(format, 30, 300, 64, nested, expand, 5);
    const Guarded<int32_t> ids(std::vector<int32_t>{29, 0, 7, 7});
    const auto start = randomFloats(1160, 1);
    const auto card = cardFor(true, 2);
    QCOMPARE(difference(*card, start, 4, 290, 290, 0.0,
                        [&](const OpTable& o, Queue q, MutF32 y) {
                            return o.gather_rows(q, w.view, ids.data(), 4, 3, 39.25F, y);
                        }),
             QString());
}

void TestCudaEmulatedOps::storeIsExact() {
    const int64_t cols = 270;
    const auto src = randomFloats(4 * cols, 1, 100.0F);
    // Values at the edges: ties, overflow to infinity, subnormals, minus zero.
    const std::vector<float> edges = {65519.9F, 65520.0F, -1e30F, 1.00390625F, 1.01171875F,
                                      6e-8F,    2.9e-8F,  -0.0F,  1e-40F,      3.3e38F};
    std::copy(edges.begin(), edges.end(), src.data());
    const Guarded<int32_t> slot(std::vector<int32_t>{5, 0, 3, 2});
    const auto card = cardFor(true, 3);
    auto& d = card->device();
    for (const KvType type : {KvType::F32, KvType::F16, KvType::BF16, KvType::Q8}) {
        const int64_t heads = 2;
        const auto size = sizeOf(6 * kernels::kvRowBytes(type, heads, cols / heads));
        const Guarded<uint8_t> want(std::vector<uint8_t>(size, 0xaa));
        const Guarded<uint8_t> got(std::vector<uint8_t>(size, 0xaa));
        QCOMPARE(kernels::cpuScalarOps().store_rows({}, matrix(src, 4, cols), slot.data(), type,
                                                    heads, want.data(), 6),
                 Status::Ok);
        QCOMPARE(d.ops().store_rows(d.queue(), matrix(src, 4, cols), slot.data(), type, heads,
                                    got.data(), 6),
                 Status::Ok);
        QCOMPARE(card->finish(), std::string());
        QVERIFY(got.values() == want.values());
    }
}

void TestCudaEmulatedOps::adapter_data() {
    support::addColumns<DType, int, int, bool>("type", "tokens", "rank", "bias");
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
        for (const auto& [tokens, rank] : {std::pair{1, 16}, {1, 5}, {6, 33}}) {
            QTest::addRow("type %d, %d tokens, rank %d", static_cast<int>(type), tokens, rank)
                << type << tokens << rank << (rank != 16);
        }
    }
}

void TestCudaEmulatedOps::adapter() {
    QFETCH(DType, type);
    QFETCH(int, tokens);
    QFETCH(int, rank);
    QFETCH(bool, bias);
    const int64_t in = 180;
    const int64_t out = 275;
    const auto a_bytes = stored(randomFloats(rank * in, 1), type);
    const auto b_bytes = stored(randomFloats(out * rank, 2), type);
    const auto bias_bytes = stored(randomFloats(out, 3, 5.0F), type);
    const MatView a{a_bytes.data(), type, rank, in};
    const MatView b{b_bytes.data(), type, out, rank};
    const MatView b_bias{bias ? bias_bytes.data() : nullptr, type, 1, out};
    const auto x = randomFloats(tokens * in, 4);
    const auto scratch = randomFloats(int64_t{tokens} * rank, 6);
    const auto start = randomFloats(tokens * out, 5);
    const auto card = cardFor(false, static_cast<uint64_t>(rank));
    QCOMPARE(difference(*card, start, tokens, out, out, kFp32Bound,
                        [&](const OpTable& o, Queue q, MutF32 y) {
                            return o.lora_accumulate(q, matrix(x, tokens, in), a, b, b_bias, 0.75F,
                                                     matrix(scratch, tokens, rank), y);
                        }),
             QString());
}

void TestCudaEmulatedOps::audioAttention() {
    uint64_t seed = 0;
    for (const QList<int>& dims : {QList<int>{1, 1, 16, 12}, QList<int>{20, 2, 128, 12},
                                   QList<int>{13, 2, 12, 12}, QList<int>{9, 2, 33, 40}}) {
        const int64_t size = int64_t{dims[0]} * dims[1] * dims[2];
        const auto q = randomFloats(size, 1, 2.0F);
        const auto k = randomFloats(size, 2, 2.0F);
        const auto v = randomFloats(size, 3);
        const auto rel = randomFloats(int64_t{dims[3]} * dims[1] * dims[2], 4);
        const auto start = randomFloats(size, 5);
        kernels::AudioAttentionArgs args;
        args.q = q.data();
        args.k = k.data();
        args.v = v.data();
        args.rel = rel.data();
        args.frames = dims[0];
        args.num_heads = dims[1];
        args.head_dim = dims[2];
        args.reach = dims[3];
        const auto card = cardFor(false, seed++);
        QCOMPARE(difference(*card, start, dims[0], size / dims[0], size / dims[0], kFp32Bound,
                            [&](const OpTable& o, Queue queue, MutF32 y) {
                                args.out = y.data;
                                return o.audio_attention(queue, args);
                            }),
                 QString());
    }
}

void TestCudaEmulatedOps::subsampleConv_data() {
    QTest::addColumn<QList<int>>("dims"); // time, mel, in, out
    for (const QList<int>& d : {QList<int>{6, 12, 1, 128}, QList<int>{5, 6, 40, 32},
                                QList<int>{7, 5, 3, 37}, QList<int>{2, 2, 20, 8}}) {
        QTest::addRow("%dx%d, %d to %d channels", d[0], d[1], d[2], d[3]) << d;
    }
}

void TestCudaEmulatedOps::subsampleConv() {
    QFETCH(QList<int>, dims);
    const auto in = randomFloats(int64_t{dims[0]} * dims[1] * dims[2], 1);
    const auto weight = randomFloats(int64_t{9} * dims[2] * dims[3], 2);
    const auto norm = randomFloats(dims[3], 3);
    const int64_t positions = int64_t{(dims[0] + 1) / 2} * ((dims[1] + 1) / 2);
    const auto start = randomFloats(positions * dims[3], 4);
    kernels::SubsampleConvArgs args;
    args.in = in.data();
    args.time = dims[0];
    args.mel = dims[1];
    args.in_ch = dims[2];
    args.out_ch = dims[3];
    args.weight = weight.data();
    args.norm = norm.data();
    const auto card = cardFor(false, 1);
    QCOMPARE(difference(*card, start, positions, dims[3], dims[3], kFp32Bound,
                        [&](const OpTable& o, Queue q, MutF32 y) {
                            args.out = y.data;
                            return o.subsample_conv(q, args);
                        }),
             QString());
}

void TestCudaEmulatedOps::argmax_data() {
    support::addColumns<int, int>("count", "best");
    QTest::newRow("one") << 1 << 0;
    QTest::newRow("first") << 700 << 0;
    QTest::newRow("last") << 5001 << 5000;
    QTest::newRow("behind a suppressed one") << 5001 << 1234;
}

/// The largest value, the lowest index of equals, what is suppressed left out.
void TestCudaEmulatedOps::argmax() {
    QFETCH(int, count);
    QFETCH(int, best);
    for (const uint64_t seed : {0, 1, 2}) {
        const auto logits = randomFloats(count, 9);
        logits[sizeOf(best)] = 100.0F;
        const Guarded<uint32_t> suppressed(sizeOf((count + 31) / 32));
        std::fill_n(suppressed.data(), suppressed.size(), 0U);
        if (best == 1234) {
            logits[4000] = 100.0F; // the same, later
            logits[17] = 200.0F;
            suppressed[0] = 1U << 17U;
        }
        const auto card = cardFor(false, seed);
        auto& d = card->device();
        void* const result = d.allocate(8, 1);
        QCOMPARE(d.ops().argmax(d.queue(), logits.data(), count, suppressed.data(),
                                static_cast<uint64_t*>(result)),
                 Status::Ok);
        uint64_t key = 0;
        QCOMPARE(d.copyOut(&key, result, 8), Status::Ok);
        QCOMPARE(card->finish(), std::string());
        d.free(result);
        QCOMPARE(static_cast<int>(0xffffffffU - static_cast<uint32_t>(key)), best);
        QCOMPARE(static_cast<uint32_t>(key >> 32U), std::bit_cast<uint32_t>(100.0F) | 0x80000000U);
    }
}

void TestCudaEmulatedOps::capArgmax_data() {
    support::addColumns<int, int>("count", "multiprocessors");
    QTest::newRow("one") << 1 << 3;
    QTest::newRow("not of four") << 4099 << 3;
    QTest::newRow("more than the grid takes at once") << 20011 << 2;
}

/// The same logits and the same choice as soft_cap and argmax, on the card or where the host reads
/// it; equals (also those that the cap makes equal): the lowest index.
void TestCudaEmulatedOps::capArgmax() {
    QFETCH(int, count);
    QFETCH(int, multiprocessors);
    for (const uint64_t seed : {0, 1, 2, 3}) {
        for (const float cap : {0.0F, 30.0F}) {
            const auto start = randomFloats((int64_t{count} + 3) / 4 * 4, 9); // aligned to 16 bytes
            start[sizeOf(count / 2)] = 900.0F;
            start[sizeOf(count - 1)] = 950.0F;
            const Guarded<uint32_t> suppressed(sizeOf((count + 31) / 32));
            std::fill_n(suppressed.data(), suppressed.size(), 0U);
            if (count > 1) {
                start[7] = 2000.0F;
                suppressed[0] = 1U << 7U;
            }
            const auto card = cardFor(false, seed, multiprocessors);
            auto& d = card->device();
            const Guarded<float> want(start.values());
            if (cap > 0.0F) {
                QCOMPARE(kernels::cpuScalarOps().soft_cap({}, {want.data(), 1, count, count}, cap),
                         Status::Ok);
            }
            int expected = -1;
            for (int i = 0; i < count; ++i) {
                const bool is_out = (suppressed[sizeOf(i / 32)] >> (i % 32) & 1U) != 0;
                if (!is_out && (expected < 0 || want[sizeOf(i)] > want[sizeOf(expected)])) {
                    expected = i;
                }
            }
            auto* const shown = static_cast<uint64_t*>(d.allocateHost(16));
            auto* const mapped = static_cast<uint64_t*>(d.kernelAddress(shown));
            QVERIFY(mapped != nullptr);
            // Twice: what the blocks count begins at zero again.
            for (int round = 0; round < 2; ++round) {
                const Guarded<float> got(start.values());
                shown[0] = 0;
                shown[1] = 5;
                QCOMPARE(d.ops().cap_argmax(d.queue(), got.data(), count, cap, suppressed.data(),
                                            mapped),
                         Status::Ok);
                QCOMPARE(card->finish(), std::string());
                QVERIFY(relativeError(got.data(), want.values()) <= kFp32Bound);
                QCOMPARE(static_cast<int>(0xffffffffU - static_cast<uint32_t>(shown[0])), expected);
                QCOMPARE(shown[1], uint64_t{5});
            }
            // Nothing is left to choose.
            std::fill_n(suppressed.data(), suppressed.size(), 0xffffffffU);
            const Guarded<float> got(start.values());
            QCOMPARE(
                d.ops().cap_argmax(d.queue(), got.data(), count, cap, suppressed.data(), mapped),
                Status::Ok);
            QCOMPARE(card->finish(), std::string());
            QCOMPARE(shown[0], uint64_t{0});
            d.freeHost(shown);
        }
    }
}

namespace {

/// A token's inputs with their operands: embedding and table of 9 rows.
struct TokenInputCase {
    TestWeight embedding, table, projection;
    Guarded<float> norm, part, x, t, y;
    Guarded<int32_t> token;
    kernels::TokenInputArgs args;

    TokenInputCase(
        WeightFormat format, int32_t block, bool is_nested, int64_t hidden, int64_t width)
        : embedding(makeWeight(WeightFormat::Int8Row, 9, hidden, 0, false, DType::BF16, 1)),
          table(makeWeight(WeightFormat::Nf4, 9, 4 * width, 32, true, DType::BF16, 2)),
          projection(makeWeight(format, 4 * width, hidden, block, is_nested, DType::BF16, 3)),
          norm(randomFloats(width, 4)), part(randomFloats(std::max(4 * width, hidden), 5)),
          x(sizeOf(hidden)), t(sizeOf(4 * width)), y(sizeOf(4 * width)), token(1) {
        token[0] = 6;
        args.token = token.data();
        args.embedding = embedding.view;
        args.embedding_scale = 3.0F;
        args.x = x.data();
        args.table = table.view;
        args.table_scale = 2.0F;
        args.t = t.data();
        args.projection = projection.view;
        args.norm = {norm.data(), DType::F32, 1, width};
        args.before = 0.25F;
        args.after = 0.7F;
        args.y = y.data();
    }
};

} // namespace

void TestCudaEmulatedOps::tokenInputs_data() {
    support::addColumns<WeightFormat, int, bool, int, int>("format", "block", "nested", "hidden",
                                                           "width");
    const auto row = [](const char* name, WeightFormat format, int block, bool nested, int hidden,
                        int width) {
        QTest::newRow(name) << format << block << nested << hidden << width;
    };
    row("nested 4-bit", WeightFormat::Nf4, 64, true, 1536, 64);
    row("4-bit, more than is in flight", WeightFormat::Fp4, 32, false, 2080, 32);
    row("a short row", WeightFormat::Nf4, 16, false, 48, 96);
    row("8-bit", WeightFormat::Int8Row, 0, false, 1552, 32);
    row("16-bit", WeightFormat::BF16, 0, false, 592, 288);
    row("slices narrower than a block", WeightFormat::BF16, 0, false, 64, 16);
}

/// Against the composition of single functions; the token's part by its table or handed over; the
/// same block counts a second time.
void TestCudaEmulatedOps::tokenInputs() {
    QFETCH(WeightFormat, format);
    QFETCH(int, block);
    QFETCH(bool, nested);
    QFETCH(int, hidden);
    QFETCH(int, width);
    const TokenInputCase c(format, block, nested, hidden, width);
    for (const uint64_t seed : {0, 1, 2, 3}) {
        const auto card = cardFor(false, seed, 2);
        auto& d = card->device();
        for (const auto& [has_part, has_row] :
             {std::pair{false, false}, {true, false}, {false, true}}) {
            kernels::TokenInputArgs args = c.args;
            if (has_row) { // sent, or gathered before: it stays as it is
                args.embedding = {};
                std::copy_n(c.part.data(), c.x.size(), c.x.data());
            }
            args.token_part = has_part ? c.part.data() : nullptr;
            c.token[0] = has_part ? 2 : 6;
            QCOMPARE(composedTokenInputs(kernels::cpuScalarOps(), {}, args), Status::Ok);
            const auto want_x = c.x.values();
            const auto want_t = c.t.values();
            const auto want_y = c.y.values();
            if (!has_row) {
                std::fill_n(c.x.data(), c.x.size(), NAN);
            }
            std::fill_n(c.t.data(), c.t.size(), NAN);
            std::fill_n(c.y.data(), c.y.size(), NAN);
            QCOMPARE(d.ops().token_inputs(d.queue(), args), Status::Ok);
            QCOMPARE(card->finish(), std::string());
            QVERIFY(relativeError(c.x.data(), want_x) <= kFp32Bound);
            QVERIFY(relativeError(c.t.data(), want_t) <= kFp32Bound);
            QVERIFY(relativeError(c.y.data(), want_y) <= kTensorBound);
        }
        // A number outside the tables: zeros, as gather_rows gives them; only the last row's norm
        // of zeros is left of the slices.
        c.token[0] = 9;
        QCOMPARE(d.ops().token_inputs(d.queue(), c.args), Status::Ok);
        QCOMPARE(card->finish(), std::string());
        QCOMPARE(c.x.values(), std::vector<float>(c.x.size(), 0.0F));
        QCOMPARE(c.y.values(), std::vector<float>(c.y.size(), 0.0F));
    }
}

void TestCudaEmulatedOps::tokenInputsRefuse() {
    const auto card = cardFor(false, 0);
    auto& d = card->device();
    const TokenInputCase c(WeightFormat::Nf4, 32, false, 64, 32);
    const auto answer = [&d](const TokenInputCase& from, const auto& change) {
        kernels::TokenInputArgs args = from.args;
        change(args);
        return d.ops().token_inputs(d.queue(), args);
    };
    using Args = kernels::TokenInputArgs;
    QCOMPARE(answer(c,
                    [](Args& a) {
                        a.norm.cols = 64;
                        a.projection.cols = 56;
                        a.embedding.cols = 56;
                    }),
             Status::Unsupported);
    QCOMPARE(answer(c, [](Args& a) { a.norm.cols = 50; }), Status::BadShape);
    QCOMPARE(answer(c, [](Args& a) { a.embedding.cols = 48; }), Status::BadShape);
    QCOMPARE(answer(c, [](Args& a) { a.table.data = nullptr; }), Status::BadShape);
    QCOMPARE(answer(c, [](Args& a) { a.token = nullptr; }), Status::BadShape);
    QCOMPARE(answer(c, [](Args& a) { a.projection.format = WeightFormat::F32; }),
             Status::Unsupported);
    QCOMPARE(card->finish(), std::string());
    QVERIFY(card->ran().empty());
}

TEST_CLASS_WITH(QCoreApplication, TestCudaEmulatedOps)
#include "tst_cuda_emulated_ops.moc"
