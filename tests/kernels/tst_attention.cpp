// SPDX-License-Identifier: Apache-2.0
// Attention of every table against the reference: head dims of the family and odd ones, grouped
// heads, KV types, windows at their edges, image blocks longer than the window, ring buffers with
// empty slots, rows that see nothing; and independence of the thread count.
#include "tests/kernels/kernel_cases.h"
#include "tests/kernels/table_rows.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

using kernels::AttentionArgs;
using kernels::KvType;
using kernels::OpTable;
using kernels::Status;
using namespace support;

namespace {

constexpr double kNmseFp32 = 1e-10;
constexpr double kNmse16Bit = 1e-4;

/// Memory and arguments of one attention call.
struct Case {
    Guarded<float> q;
    Guarded<uint8_t> k;
    Guarded<uint8_t> v;
    Guarded<int32_t> query_position;
    Guarded<int32_t> key_position;
    Guarded<int32_t> query_block;
    Guarded<int32_t> key_block;
    Guarded<float> out;
    AttentionArgs args;
};

struct Dims {
    int64_t queries = 0, keys = 0, heads = 0, kv_heads = 0, dim = 0;
};

Case makeCase(const Dims& d, KvType type, uint64_t seed) {
    Case c;
    c.q = randomFloats(d.queries * d.heads * d.dim, seed, 1.0F);
    c.k = storedRows(randomFloats(d.keys * d.kv_heads * d.dim, seed + 1), type, d.kv_heads, d.dim);
    c.v = storedRows(randomFloats(d.keys * d.kv_heads * d.dim, seed + 2), type, d.kv_heads, d.dim);
    c.query_position = Guarded<int32_t>(static_cast<size_t>(d.queries));
    c.key_position = Guarded<int32_t>(static_cast<size_t>(d.keys));
    c.out = randomFloats(d.queries * d.heads * d.dim, 99);
    for (int64_t i = 0; i < d.keys; ++i) {
        c.key_position[static_cast<size_t>(i)] = static_cast<int32_t>(i);
    }
    for (int64_t i = 0; i < d.queries; ++i) { // the last positions
        c.query_position[static_cast<size_t>(i)] = static_cast<int32_t>(d.keys - d.queries + i);
    }
    c.args.q = c.q.data();
    c.args.k = c.k.data();
    c.args.v = c.v.data();
    c.args.kv_type = type;
    c.args.queries = d.queries;
    c.args.keys = d.keys;
    c.args.num_heads = d.heads;
    c.args.num_kv_heads = d.kv_heads;
    c.args.head_dim = d.dim;
    c.args.scale = 1.0F / std::sqrt(static_cast<float>(d.dim));
    c.args.mask.query_position = c.query_position.data();
    c.args.mask.key_position = c.key_position.data();
    c.args.out = c.out.data();
    return c;
}

std::vector<float> runWith(const OpTable& ops, const Case& c, kernels::Queue queue) {
    for (size_t i = 0; i < c.out.size(); ++i) {
        c.out[i] = NAN;
    }
    if (ops.attention(queue, c.args) != Status::Ok) {
        return {};
    }
    return c.out.values();
}

/// Empty string when the table agrees with the reference.
QString difference(const QByteArray& table, const Case& c, double fp32_bound = kNmseFp32) {
    const OpTable* ops = kernels::findCpuOps(table.constData());
    const std::vector<float> expected = runWith(kernels::cpuScalarOps(), c, testQueue());
    const std::vector<float> actual = runWith(*ops, c, testQueue());
    if (expected.empty() || actual.empty()) {
        return "refused";
    }
    const double error = nmse(actual, expected);
    const double bound = table == "cpu-avx512bf16" ? kNmse16Bit : fp32_bound;
    return error <= bound ? QString() : QString("NMSE %1").arg(error);
}

void addTables() {
    QTest::addColumn<QByteArray>("table");
}

} // namespace

class TestAttention : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchesReference_data();
    void matchesReference();
    void windowEdges_data();
    void windowEdges();
    void imageBlocks_data();
    void imageBlocks();
    void ringBuffer_data();
    void ringBuffer();
    void rowsThatSeeNothing_data();
    void rowsThatSeeNothing();
    void largeScores_data();
    void largeScores();
    void nanIsNotLost_data();
    void nanIsNotLost();
    void sameForAnyThreadCount_data();
    void sameForAnyThreadCount();
    void referenceByHand();
    void audioMatchesReference_data();
    void audioMatchesReference();
    void refusesBadShapes();
};

void TestAttention::matchesReference_data() {
    addTables();
    support::addColumns<int, QList<qlonglong>, bool>("type", "dims", "causal");
    // The last ones: rows of a decoded token, one to eight of a kv head, ends of blocks and ranges.
    const std::vector<Dims> cases = {
        {1, 1, 1, 1, 64},     {1, 5, 8, 1, 256},    {1, 700, 8, 1, 256}, {1, 1100, 8, 2, 512},
        {3, 1000, 8, 1, 64},  {37, 37, 4, 2, 64},   {50, 50, 3, 3, 72},  {20, 300, 16, 16, 72},
        {30, 45, 4, 1, 128},  {9, 140, 8, 2, 256},  {17, 33, 2, 1, 512}, {25, 25, 3, 1, 12},
        {25, 40, 2, 2, 16},   {33, 33, 4, 4, 32},   {6, 6, 2, 1, 1},     {11, 300, 2, 1, 7},
        {300, 300, 2, 1, 64}, {2, 530, 1, 1, 80},   {1, 515, 5, 1, 256}, {1, 257, 3, 1, 128},
        {2, 333, 4, 2, 256},  {1, 130, 16, 16, 64}, {7, 200, 1, 1, 64},  {1, 64, 4, 2, 256},
        {1, 191, 6, 3, 512},  {1, 2100, 2, 1, 256},
    };
    for (const char* table : fastTables()) {
        for (const KvType type : {KvType::F32, KvType::F16, KvType::BF16, KvType::Q8}) {
            for (const Dims& d : cases) {
                for (const bool causal : {true, false}) {
                    if (d.queries > 100 && type == KvType::F16) {
                        continue;
                    }
                    QTest::addRow("%s type %d, %lld queries, %lld keys, %lld/%lld heads of %lld%s",
                                  table, static_cast<int>(type), static_cast<long long>(d.queries),
                                  static_cast<long long>(d.keys), static_cast<long long>(d.heads),
                                  static_cast<long long>(d.kv_heads), static_cast<long long>(d.dim),
                                  causal ? "" : ", all visible")
                        << QByteArray(table) << static_cast<int>(type)
                        << QList<qlonglong>{d.queries, d.keys, d.heads, d.kv_heads, d.dim}
                        << causal;
                }
            }
        }
    }
}

void TestAttention::matchesReference() {
    FETCH_TABLE(ops)
    QFETCH(int, type);
    QFETCH(QList<qlonglong>, dims);
    QFETCH(bool, causal);
    Case c = makeCase({dims[0], dims[1], dims[2], dims[3], dims[4]}, static_cast<KvType>(type), 3);
    c.args.mask.causal = causal;
    QCOMPARE(difference(table, c), QString());
}

void TestAttention::windowEdges_data() {
    addTables();
    support::addColumns<int, int>("window", "queries");
    for (const char* table : fastTables()) {
        for (const int window : {1, 2, 511, 512, 513, 1024, 5000}) {
            for (const int queries : {1, 140}) {
                QTest::addRow("%s window %d, %d queries", table, window, queries)
                    << QByteArray(table) << window << queries;
            }
        }
    }
}

void TestAttention::windowEdges() {
    FETCH_TABLE(ops)
    QFETCH(int, window);
    QFETCH(int, queries);
    Case c = makeCase({queries, 1300, 2, 1, 64}, KvType::BF16, 5);
    c.args.mask.window = window;
    // Values grow with the key, so that one key too many or too few shows.
    auto* v = reinterpret_cast<uint16_t*>(c.v.data());
    for (int64_t key = 0; key < 1300; ++key) {
        for (int64_t d = 0; d < 32; ++d) {
            v[key * 32 + d] = kernels::cpu::floatToBf16(static_cast<float>(key % 7 - 3));
        }
    }
    QCOMPARE(difference(table, c), QString());
}

void TestAttention::imageBlocks_data() {
    addTables();
    QTest::addColumn<int>("window");
    for (const char* table : fastTables()) {
        for (const int window : {0, 16, 100, 512}) {
            QTest::addRow("%s window %d", table, window) << QByteArray(table) << window;
        }
    }
}

/// Text, a block of 300 tokens (longer than some windows), text, a block of 64, text.
void TestAttention::imageBlocks() {
    FETCH_TABLE(ops)
    QFETCH(int, window);
    const int64_t n = 450;
    Case c = makeCase({n, n, 4, 2, 64}, KvType::BF16, 8);
    c.query_block = Guarded<int32_t>(n);
    c.key_block = Guarded<int32_t>(n);
    for (int32_t i = 0; i < n; ++i) {
        const int32_t block = i >= 20 && i < 320 ? 0 : (i >= 350 && i < 414 ? 1 : -1);
        c.query_block[static_cast<size_t>(i)] = block;
        c.key_block[static_cast<size_t>(i)] = block;
    }
    c.args.mask.query_block = c.query_block.data();
    c.args.mask.key_block = c.key_block.data();
    c.args.mask.window = window;
    QCOMPARE(difference(table, c), QString());
}

void TestAttention::ringBuffer_data() {
    addTables();
    QTest::addColumn<int>("filled");
    for (const char* table : fastTables()) {
        for (const int filled : {1, 40, 600, 1000}) {
            QTest::addRow("%s %d positions seen", table, filled) << QByteArray(table) << filled;
        }
    }
}

/// A ring of 640 slots after `filled` positions: rotated order, empty slots.
void TestAttention::ringBuffer() {
    FETCH_TABLE(ops)
    QFETCH(int, filled);
    const int64_t ring_size = 640;
    const int64_t queries = filled < 20 ? filled : 20;
    Case c = makeCase({queries, ring_size, 4, 1, 64}, KvType::BF16, 9);
    for (int64_t slot = 0; slot < ring_size; ++slot) {
        int64_t position = -1;
        for (int64_t p = slot; p < filled; p += ring_size) {
            position = p;
        }
        c.key_position[static_cast<size_t>(slot)] = static_cast<int32_t>(position);
    }
    for (int64_t i = 0; i < queries; ++i) {
        c.query_position[static_cast<size_t>(i)] = static_cast<int32_t>(filled - queries + i);
    }
    c.args.mask.window = 512;
    QCOMPARE(difference(table, c), QString());
}

void TestAttention::rowsThatSeeNothing_data() {
    addTables();
    support::addColumns<int, int>("keys", "dim");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        for (const int keys : {0, 1, 100, 2000}) {
            for (const int dim : {20, 64}) { // packed keys, and keys where they lie
                QTest::addRow("%s %d keys of %d", table, keys, dim)
                    << QByteArray(table) << keys << dim;
            }
        }
    }
}

void TestAttention::rowsThatSeeNothing() {
    FETCH_TABLE(ops)
    QFETCH(int, keys);
    QFETCH(int, dim);
    Case c = makeCase({3, keys, 2, 1, dim}, KvType::F32, 4);
    for (int i = 0; i < keys; ++i) {
        c.key_position[static_cast<size_t>(i)] = -1;
    }
    c.query_position[0] = 0;
    c.query_position[1] = 1;
    c.query_position[2] = 5;
    if (keys > 0) {
        c.key_position[static_cast<size_t>(keys / 2)] = 4; // only query 2 sees it
    }
    const std::vector<float> out = runWith(*ops, c, testQueue());
    const auto row = static_cast<size_t>(dim);
    QCOMPARE(out.size(), 3 * 2 * row);
    for (size_t i = 0; i < 4 * row; ++i) {
        QCOMPARE(out[i], 0.0F);
    }
    const auto* v = reinterpret_cast<const float*>(c.v.data());
    for (size_t i = 4 * row; i < 6 * row; ++i) {
        const float expected = keys > 0 ? v[static_cast<size_t>(keys / 2) * row + i % row] : 0.0F;
        QVERIFY(std::fabs(out[i] - expected) <= 0.005F * std::fabs(expected));
    }
}

void TestAttention::largeScores_data() {
    addTables();
    QTest::addColumn<int>("dim");
    for (const char* table : fastTables()) {
        for (const int dim : {16, 64}) { // packed keys, and keys where they lie
            QTest::addRow("%s heads of %d", table, dim) << QByteArray(table) << dim;
        }
    }
}

/// Scores of some hundred, rising with the key: the running maximum changes in every block.
void TestAttention::largeScores() {
    FETCH_TABLE(ops)
    QFETCH(int, dim);
    Case c = makeCase({5, 900, 1, 1, dim}, KvType::F32, 6);
    auto* k = reinterpret_cast<float*>(c.k.data());
    for (int64_t i = 0; i < 5 * dim; ++i) {
        c.q[static_cast<size_t>(i)] = 1.0F;
    }
    for (int64_t key = 0; key < 900; ++key) {
        for (int64_t d = 0; d < dim; ++d) { // eight bits: exact in bf16
            k[key * dim + d] = static_cast<float>(key / 4) * 2.0F / static_cast<float>(dim);
        }
    }
    c.args.scale = 1.0F;
    c.args.mask.causal = false;
    // A score of 450 has an fp32 step of 3e-5, which its exponential takes over.
    QCOMPARE(difference(table, c, 1e-8), QString());
}

void TestAttention::nanIsNotLost_data() {
    addTables();
    QTest::addColumn<int>("queries");
    std::vector<const char*> tables = {"cpu-scalar"};
    for (const char* table : fastTables()) {
        tables.push_back(table);
    }
    for (const char* table : tables) {
        for (const int queries : {1, 5, 70}) { // one, a few, packed
            QTest::addRow("%s, %d queries", table, queries) << QByteArray(table) << queries;
        }
    }
}

/// NaN in one head's last query, then in one key: every output that sees it is NaN, no other is. A
/// model with a broken weight would else answer nonsense without a word.
void TestAttention::nanIsNotLost() {
    FETCH_TABLE(ops)
    QFETCH(int, queries);
    const Dims d{queries, 150, 4, 2, 64};
    const auto nanRows = [&](const Case& c) {
        std::vector<int> rows; // [queries, heads], as many values of each as are NaN
        const std::vector<float> out = runWith(*ops, c, testQueue());
        for (size_t first = 0; first < out.size(); first += static_cast<size_t>(d.dim)) {
            rows.push_back(static_cast<int>(
                std::count_if(out.begin() + static_cast<std::ptrdiff_t>(first),
                              out.begin() + static_cast<std::ptrdiff_t>(first) + d.dim,
                              [](float value) { return std::isnan(value); })));
        }
        return rows;
    };
    const auto rows = static_cast<size_t>(d.queries * d.heads);
    Case query = makeCase(d, KvType::F32, 71);
    query.q[(rows - 1) * static_cast<size_t>(d.dim) + 3] = NAN;
    std::vector<int> expected(rows, 0);
    expected.back() = static_cast<int>(d.dim);
    QCOMPARE(nanRows(query), expected);

    // The last key but `queries / 2`: of the later queries, in the heads that share it.
    Case key = makeCase(d, KvType::F32, 72);
    const int64_t at = d.keys - 1 - queries / 2;
    reinterpret_cast<float*>(key.k.data())[at * d.kv_heads * d.dim + 5] = NAN;
    for (size_t i = 0; i < rows; ++i) {
        const auto position = d.keys - d.queries + static_cast<int64_t>(i) / d.heads;
        const bool sees = position >= at && static_cast<int64_t>(i) % d.heads < 2;
        expected[i] = sees ? static_cast<int>(d.dim) : 0;
    }
    QCOMPARE(nanRows(key), expected);
}

void TestAttention::sameForAnyThreadCount_data() {
    addTables();
    QTest::addColumn<int>("queries");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        for (const int queries : {1, 60}) {
            QTest::addRow("%s %d queries", table, queries) << QByteArray(table) << queries;
        }
    }
}

void TestAttention::sameForAnyThreadCount() {
    FETCH_TABLE(ops)
    QFETCH(int, queries);
    const Case c = makeCase({queries, 1500, 4, 2, 64}, KvType::BF16, 2);
    const std::vector<float> alone = runWith(*ops, c, {});
    for (const int threads : {1, 2, 5}) {
        kernels::cpu::ThreadPool pool(threads);
        const std::vector<float> shared = runWith(*ops, c, {&pool});
        QVERIFY(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)) == 0);
    }
}

/// Two keys, one dimension: p = 1 / (1 + e^(s1 - s0)) by hand.
void TestAttention::referenceByHand() {
    Case c = makeCase({1, 2, 1, 1, 1}, KvType::F32, 1);
    c.q[0] = 2.0F;
    auto* k = reinterpret_cast<float*>(c.k.data());
    auto* v = reinterpret_cast<float*>(c.v.data());
    k[0] = 0.5F;
    k[1] = -0.25F;
    v[0] = 10.0F;
    v[1] = 20.0F;
    c.args.scale = 3.0F;
    // Scores 3 and -1.5: weights 1 / (1 + e^-4.5) = 0.98901306 and 0.01098694.
    const std::vector<float> out = runWith(kernels::cpuScalarOps(), c, {});
    QVERIFY(std::fabs(out[0] - 10.1098694F) < 1e-5F);
    c.args.mask.window = 1; // only the query's own position
    QCOMPARE(runWith(kernels::cpuScalarOps(), c, {})[0], 20.0F);
}

void TestAttention::audioMatchesReference_data() {
    addTables();
    QTest::addColumn<QList<int>>("dims"); // frames, heads, dim, reach
    for (const char* table : fastTables()) {
        for (const QList<int>& d :
             {QList<int>{1, 1, 16, 12}, QList<int>{50, 8, 128, 12}, QList<int>{13, 2, 12, 12},
              QList<int>{30, 3, 7, 1}, QList<int>{9, 2, 33, 40}}) {
            QTest::addRow("%s %d frames, %d heads of %d, reach %d", table, d[0], d[1], d[2], d[3])
                << QByteArray(table) << d;
        }
    }
}

void TestAttention::audioMatchesReference() {
    FETCH_TABLE(ops)
    QFETCH(QList<int>, dims);
    const int64_t size = int64_t{dims[0]} * dims[1] * dims[2];
    const auto q = randomFloats(size, 1, 2.0F);
    const auto k = randomFloats(size, 2, 2.0F);
    const auto v = randomFloats(size, 3);
    const auto rel = randomFloats(int64_t{dims[3]} * dims[1] * dims[2], 4);
    const auto expected = randomFloats(size, 5);
    const auto actual = randomFloats(size, 6);
    kernels::AudioAttentionArgs args;
    args.q = q.data();
    args.k = k.data();
    args.v = v.data();
    args.rel = rel.data();
    args.frames = dims[0];
    args.num_heads = dims[1];
    args.head_dim = dims[2];
    args.reach = dims[3];
    args.out = expected.data();
    QCOMPARE(kernels::cpuScalarOps().audio_attention(testQueue(), args), Status::Ok);
    args.out = actual.data();
    QCOMPARE(ops->audio_attention(testQueue(), args), Status::Ok);
    const double error = nmse(actual.values(), expected.values());
    QVERIFY2(error <= kNmseFp32, qPrintable(QString("NMSE %1").arg(error)));
}

void TestAttention::refusesBadShapes() {
    for (const char* name :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        const OpTable* ops = kernels::findCpuOps(name);
        if (ops == nullptr) {
            continue;
        }
        const Case c = makeCase({2, 4, 4, 2, 8}, KvType::F32, 1);
        AttentionArgs bad = c.args;
        bad.num_kv_heads = 3; // does not divide the heads
        QCOMPARE(ops->attention({}, bad), Status::BadShape);
        bad = c.args;
        bad.head_dim = 0;
        QCOMPARE(ops->attention({}, bad), Status::BadShape);
        bad = c.args;
        bad.k = nullptr;
        QCOMPARE(ops->attention({}, bad), Status::BadShape);
        bad = c.args;
        bad.mask.query_position = nullptr;
        QCOMPARE(ops->attention({}, bad), Status::BadShape);
        bad = c.args;
        bad.queries = 0;
        QCOMPARE(ops->attention({}, bad), Status::Ok);
    }
}

TEST_CLASS(TestAttention)
#include "tst_attention.moc"
