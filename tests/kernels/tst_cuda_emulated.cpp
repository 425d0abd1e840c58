// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/cuda/device, run on the CPU by the emulator through the real launches, and
// compared with the scalar table: decode steps, single and collected into one launch, in the fixed
// order of threads and in orders drawn from seeds. Operands end at a page that nobody may touch.
#include "kernels/cuda/device/args.h"
#include "kernels/cuda/kernel_list.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/cuda_emulator/kernels.h"

#include <QtTest>

#include <bit>
#include <set>

using kernels::AttendStepArgs;
using kernels::AttentionArgs;
using kernels::DType;
using kernels::MatView;
using kernels::ProjectArgs;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

/// fp16 products of scaled rows: as tests/gpu asks of a card.
constexpr double kProjectBound = 4e-3;
constexpr double kResidualBound = 1e-6;
constexpr double kAttendBound = 2e-5;

const kernels::OpTable& reference() {
    return kernels::cpuScalarOps();
}

double relativeError(const float* got, const std::vector<float>& want) {
    double error = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
        if (std::isnan(d)) {
            return INFINITY;
        }
        error += d * d;
        norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    }
    return std::sqrt(error / (norm > 0 ? norm : 1));
}

size_t sizeOf(int64_t n) {
    return static_cast<size_t>(n);
}

/// A projection step with its operands.
struct ProjectCase {
    std::vector<TestWeight> weights;
    Guarded<float> x, t, t_norm, norm, multiply, x_out;
    std::vector<Guarded<float>> y;
    ProjectArgs args;
    std::vector<std::vector<float>> want;
    std::vector<float> want_residual;

    ProjectCase(WeightFormat format,
                bool is_nested,
                int32_t block,
                int64_t cols,
                const std::vector<int64_t>& rows,
                ProjectArgs::Input input,
                ProjectArgs::Output output,
                uint64_t seed = 1) {
        using Input = ProjectArgs::Input;
        using Output = ProjectArgs::Output;
        x = randomFloats(cols, seed + 10);
        t = randomFloats(cols, seed + 11, 3.0F);
        t_norm = randomFloats(cols, seed + 12);
        norm = randomFloats(cols, seed + 13);
        x_out = Guarded<float>(sizeOf(cols));
        args.input = input;
        args.output = output;
        args.x = x.data();
        args.scalar = 0.7F;
        args.count = static_cast<int>(rows.size());
        const bool has_residual = input == Input::ResidualNorm || input == Input::Residual;
        if (has_residual) {
            args.t = t.data();
            args.t_norm = {t_norm.data(), DType::F32, 1, cols};
            args.x_out = x_out.data();
        }
        if (input == Input::Norm || input == Input::ResidualNorm) {
            args.norm = {norm.data(), DType::F32, 1, cols};
        }
        for (size_t i = 0; i < rows.size(); ++i) {
            weights.push_back(
                makeWeight(format, rows[i], cols, block, is_nested, DType::BF16, seed + i));
            args.w[i] = weights.back().view;
            y.emplace_back(sizeOf(rows[i]));
            std::fill_n(y.back().data(), y.back().size(), NAN);
            args.y[i] = y.back().data();
        }
        multiply = randomFloats(rows[0], seed + 14);
        if (output == Output::GeluMultiply) {
            args.multiply = multiply.data();
        }
        compute(cols, rows);
    }

    void compute(int64_t cols, const std::vector<int64_t>& rows) {
        using Input = ProjectArgs::Input;
        using Output = ProjectArgs::Output;
        std::vector<float> h = x.values();
        if (args.t != nullptr) {
            reference().rms_norm_add({}, {t.data(), 1, cols, cols}, args.t_norm, args.eps, 1.0F,
                                     {h.data(), 1, cols, cols});
            reference().scale({}, {h.data(), 1, cols, cols}, args.scalar);
            want_residual = h;
        }
        if (args.input == Input::Norm || args.input == Input::ResidualNorm) {
            reference().rms_norm({}, {h.data(), 1, cols, cols}, args.norm, args.eps,
                                 {h.data(), 1, cols, cols});
        }
        for (size_t i = 0; i < rows.size(); ++i) {
            want.emplace_back(sizeOf(rows[i]));
            reference().linear({}, {h.data(), 1, cols, cols}, args.w[i],
                               {want[i].data(), 1, rows[i], rows[i]});
        }
        if (args.output != Output::Store) {
            const float* other = args.output == Output::GeluPair ? want[1].data() : multiply.data();
            reference().gelu_mul({}, {want[0].data(), 1, rows[0], rows[0]},
                                 {other, 1, rows[0], rows[0]},
                                 {want[0].data(), 1, rows[0], rows[0]});
            want.resize(1);
        }
    }

    /// Largest of the outputs' errors; `residual` beside it.
    [[nodiscard]] double error(double* residual) const {
        double largest = 0.0;
        for (size_t i = 0; i < want.size(); ++i) {
            largest = std::max(largest, relativeError(y[i].data(), want[i]));
        }
        *residual = want_residual.empty() ? 0.0 : relativeError(x_out.data(), want_residual);
        return largest;
    }
};

/// An attention step with its operands: `size` tokens so far in a ring of `capacity` rows.
struct AttendCase {
    Guarded<float> q, k, v, q_norm, k_norm, inv_freq, out;
    Guarded<uint8_t> cache_k, cache_v;
    Guarded<int32_t> positions, numbers;
    AttendStepArgs args;
    std::vector<float> want;
    std::vector<uint8_t> want_k, want_v;

    AttendCase(int64_t heads,
               int64_t kv,
               int64_t dim,
               int64_t size,
               int64_t capacity,
               int64_t window,
               bool is_owner,
               uint64_t seed = 1) {
        const int64_t width = kv * dim;
        q = randomFloats(heads * dim, seed);
        k = randomFloats(width, seed + 1);
        v = randomFloats(width, seed + 2);
        q_norm = randomFloats(dim, seed + 3);
        k_norm = randomFloats(dim, seed + 4, 0.3F);
        cache_k = stored(randomFloats(capacity * width, seed + 5), DType::BF16);
        cache_v = stored(randomFloats(capacity * width, seed + 6), DType::BF16);
        out = Guarded<float>(sizeOf(heads * dim));
        std::fill_n(out.data(), out.size(), NAN);
        inv_freq = Guarded<float>(sizeOf(dim / 2));
        for (size_t i = 0; i < inv_freq.size(); ++i) {
            inv_freq[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(dim)));
        }
        positions = Guarded<int32_t>(sizeOf(capacity));
        std::fill_n(positions.data(), positions.size(), -1);
        for (int64_t p = 0; p < size; ++p) {
            positions[sizeOf(p % capacity)] = static_cast<int32_t>(p);
        }
        // Rows that nobody wrote may hold anything.
        for (int64_t row = std::min(size, capacity); row < capacity; ++row) {
            std::memset(cache_k.data() + sizeOf(row * width) * 2, 0xff, sizeOf(width) * 2);
            std::memset(cache_v.data() + sizeOf(row * width) * 2, 0xff, sizeOf(width) * 2);
        }
        numbers = Guarded<int32_t>(3);
        numbers[0] = static_cast<int32_t>(size - 1);
        numbers[1] = static_cast<int32_t>((size - 1) % capacity);
        numbers[2] = static_cast<int32_t>(std::min(size, capacity));
        args.q = q.data();
        args.k = is_owner ? k.data() : nullptr;
        args.v = is_owner ? v.data() : nullptr;
        args.q_norm = {q_norm.data(), DType::F32, 1, dim};
        args.k_norm = {k_norm.data(), DType::F32, 1, dim};
        args.inv_freq = inv_freq.data();
        args.position = numbers.data();
        args.slot = numbers.data() + 1;
        args.key_count = numbers.data() + 2;
        args.key_position = positions.data();
        args.cache_k = cache_k.data();
        args.cache_v = cache_v.data();
        args.capacity = capacity;
        args.num_heads = heads;
        args.num_kv_heads = kv;
        args.head_dim = dim;
        args.window = window;
        args.out = out.data();
        compute(q.values(), k.values(), v.values());
    }

    /// The reference from raw projections.
    void compute(std::vector<float> qh, std::vector<float> kh, std::vector<float> vh) {
        const int64_t dim = args.head_dim;
        const int64_t heads = args.num_heads;
        const int64_t kv = args.num_kv_heads;
        const int64_t width = kv * dim;
        const auto prepare = [&](std::vector<float>& rows, int64_t count, MatView norm,
                                 bool turns) {
            reference().rms_norm({}, {rows.data(), count, dim, dim}, norm, args.eps,
                                 {rows.data(), count, dim, dim});
            if (turns) {
                reference().rope({}, {rows.data(), 1, count * dim, count * dim}, dim, 0, dim,
                                 args.position, args.inv_freq);
            }
        };
        want_k = cache_k.values();
        want_v = cache_v.values();
        prepare(qh, heads, args.q_norm, true);
        if (args.k != nullptr) {
            prepare(kh, kv, args.k_norm, true);
            prepare(vh, kv, {}, false);
            reference().store_rows({}, {kh.data(), 1, width, width}, args.slot, DType::BF16,
                                   want_k.data(), args.capacity);
            reference().store_rows({}, {vh.data(), 1, width, width}, args.slot, DType::BF16,
                                   want_v.data(), args.capacity);
        }
        want.resize(sizeOf(heads * dim));
        AttentionArgs a;
        a.q = qh.data();
        a.k = want_k.data();
        a.v = want_v.data();
        a.kv_type = DType::BF16;
        a.queries = 1;
        a.keys = *args.key_count;
        a.num_heads = heads;
        a.num_kv_heads = kv;
        a.head_dim = dim;
        a.scale = args.scale;
        a.mask.window = args.window;
        a.mask.query_position = args.position;
        a.mask.key_position = args.key_position;
        a.out = want.data();
        reference().attention({}, a);
    }

    /// bf16 values of the caches that are more than one unit in the last place away.
    [[nodiscard]] int wrongRows() const {
        int wrong = 0;
        for (const auto& [got, expected] : {std::pair{&cache_k, &want_k}, {&cache_v, &want_v}}) {
            for (size_t i = 0; i < expected->size(); i += 2) {
                uint16_t a = 0;
                uint16_t b = 0;
                std::memcpy(&a, got->data() + i, 2);
                std::memcpy(&b, expected->data() + i, 2);
                wrong += std::abs(static_cast<int>(a) - static_cast<int>(b)) > 1 ? 1 : 0;
            }
        }
        return wrong;
    }
};

EmulatedCardOptions withSeed(uint64_t seed, int multiprocessors = 4) {
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = seed;
    return options;
}

} // namespace

class TestCudaEmulated : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyKernelIsEmulated();
    void project_data();
    void project();
    void projectDeals_data();
    void projectDeals();
    void attendStep_data();
    void attendStep();
    void findsMistakes_data();
    void findsMistakes();
};

void TestCudaEmulated::everyKernelIsEmulated() {
    for (size_t i = 0; i < kernels::cuda::kKernelCount; ++i) {
        const char* name = kernels::cuda::kernelName(static_cast<kernels::cuda::KernelId>(i));
        QVERIFY2(emulator::findKernel(name) != nullptr, name);
    }
}

void TestCudaEmulated::project_data() {
    using Input = ProjectArgs::Input;
    using Output = ProjectArgs::Output;
    QTest::addColumn<int>("format");
    QTest::addColumn<bool>("nested");
    QTest::addColumn<int>("block");
    QTest::addColumn<qlonglong>("cols");
    QTest::addColumn<QVector<qlonglong>>("rows");
    QTest::addColumn<int>("input");
    QTest::addColumn<int>("output");
    QTest::addColumn<int>("seed");
    const auto add = [](const char* what, WeightFormat format, bool nested, int block, int cols,
                        const QVector<qlonglong>& rows, Input input, Output output, int seed) {
        QTest::addRow("%s %s%s, seed %d", what, formatName(format), nested ? " nested" : "", seed)
            << static_cast<int>(format) << nested << block << qlonglong{cols} << rows
            << static_cast<int>(input) << static_cast<int>(output) << seed;
    };
    for (const auto& [format, nested] : {std::pair{WeightFormat::Nf4, true},
                                         {WeightFormat::Nf4, false},
                                         {WeightFormat::Fp4, true},
                                         {WeightFormat::Int8Row, false},
                                         {WeightFormat::BF16, false}}) {
        for (const int seed : {0, 1, 2}) {
            if (seed != 0 && nested == (format == WeightFormat::Fp4)) {
                continue;
            }
            add("plain", format, nested, 64, 320, {37}, Input::Plain, Output::Store, seed);
            add("norm, three weights", format, nested, 64, 1536, {40, 9, 9}, Input::Norm,
                Output::Store, seed);
            add("residual norm, pair", format, nested, 64, 576, {35, 35}, Input::ResidualNorm,
                Output::GeluPair, seed);
            add("residual, multiply", format, nested, 64, 256, {50}, Input::Residual,
                Output::GeluMultiply, seed);
        }
    }
    add("blocks of 16", WeightFormat::Nf4, false, 16, 528, {19}, Input::Norm, Output::Store, 3);
    add("blocks of 256", WeightFormat::Nf4, true, 256, 2048, {5, 3}, Input::Plain, Output::Store,
        4);
    add("fewer rows than blocks", WeightFormat::Nf4, true, 64, 64, {2}, Input::Norm, Output::Store,
        5);
    add("longest normed row", WeightFormat::Nf4, true, 64, 4096, {6}, Input::ResidualNorm,
        Output::Store, 6);
    add("long plain row", WeightFormat::Int8Row, false, 0, 6144, {6}, Input::Plain, Output::Store,
        7);
}

void TestCudaEmulated::project() {
    QFETCH(int, format);
    QFETCH(bool, nested);
    QFETCH(int, block);
    QFETCH(qlonglong, cols);
    QFETCH(QVector<qlonglong>, rows);
    QFETCH(int, input);
    QFETCH(int, output);
    QFETCH(int, seed);
    ProjectCase c(static_cast<WeightFormat>(format), nested, block, cols,
                  std::vector<int64_t>(rows.begin(), rows.end()),
                  static_cast<ProjectArgs::Input>(input), static_cast<ProjectArgs::Output>(output));
    EmulatedCard card(withSeed(static_cast<uint64_t>(seed)));
    auto& d = card.device();
    QCOMPARE(d.ops().project(d.queue(), c.args), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    double residual = 0.0;
    const double error = c.error(&residual);
    QVERIFY2(error <= kProjectBound, qPrintable(QString::number(error)));
    QVERIFY2(residual <= kResidualBound, qPrintable(QString::number(residual)));
}

void TestCudaEmulated::projectDeals_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("rows_per_warp");
    QTest::addColumn<int>("k_split");
    for (const WeightFormat format :
         {WeightFormat::Nf4, WeightFormat::Int8Row, WeightFormat::BF16}) {
        for (const int rows : {1, 2, 4}) {
            for (const int split : {1, 2, 3, 4, 8, 16}) {
                if (rows == 4 && format != WeightFormat::Nf4) {
                    continue;
                }
                QTest::addRow("%s, %d rows, %d warps", formatName(format), rows, split)
                    << static_cast<int>(format) << rows << split;
            }
        }
    }
}

/// Every way to deal rows to warps, whatever the plan would choose, with shared memory of exactly
/// the size that the plan's formula gives.
void TestCudaEmulated::projectDeals() {
    QFETCH(int, format);
    QFETCH(int, rows_per_warp);
    QFETCH(int, k_split);
    const auto weight_format = static_cast<WeightFormat>(format);
    const bool is_four_bit = weight_format == WeightFormat::Nf4;
    const int64_t cols = 1088; // three slabs, the last one short
    const int64_t rows = 45;
    ProjectCase c(weight_format, true, 64, cols, {rows}, ProjectArgs::Input::Norm,
                  ProjectArgs::Output::Store);
    const kernels::WeightView& w = c.args.w[0];
    const int grid = 3;
    kernels::cuda::ProjectKernelArgs args{};
    args.w[0].data = w.data;
    args.w[0].row_scale = w.row_scale;
    args.w[0].absmax = w.absmax;
    args.w[0].absmax_q = w.absmax_q;
    args.w[0].nested_absmax = w.nested_absmax;
    args.w[0].nested_code = w.nested_code;
    args.w[0].rows = rows;
    args.w[0].cols = cols;
    args.w[0].nested_offset = w.nested_offset;
    args.w[0].block_size = w.block_size;
    args.w[0].format = format;
    args.w[0].expand_type = static_cast<int32_t>(w.expand_type);
    args.y[0] = c.args.y[0];
    args.count = 1;
    args.input = kernels::cuda::kInputNorm;
    args.output = kernels::cuda::kOutputStore;
    args.cols = static_cast<int32_t>(cols);
    args.x = c.args.x;
    args.norm = {c.args.norm.data, static_cast<int32_t>(DType::F32), 0};
    args.eps = c.args.eps;
    args.rows_per_warp = rows_per_warp;
    args.k_split = k_split;
    args.block_shift = is_four_bit ? 6 : 0;
    args.x_elements = 1536;
    args.outputs = static_cast<int32_t>(rows);
    args.local_rows = static_cast<int32_t>(rows / grid);
    void* parameters[] = {&args};
    const char* const name = is_four_bit                              ? "belfry_project_four_bit"
                             : weight_format == WeightFormat::Int8Row ? "belfry_project_int8"
                                                                      : "belfry_project_bf16";
    emulator::Shape shape;
    shape.grid.x = static_cast<unsigned>(grid);
    shape.block.x = 512;
    const int64_t scales = is_four_bit ? cols / 64 : 0;
    shape.shared_bytes =
        static_cast<unsigned>((is_four_bit ? (256 * 32 + 3 * 256) * 4 : 0) + args.x_elements * 2 +
                              96 * 4 + (args.local_rows * k_split + args.local_rows * scales) * 4);
    emulator::Options options;
    options.seed = static_cast<uint64_t>(rows_per_warp * 16 + k_split);
    const auto outcome =
        emulator::run(name, shape, options, emulator::findKernel(name)->bind(parameters));
    QCOMPARE(outcome.error, std::string());
    double residual = 0.0;
    const double error = c.error(&residual);
    QVERIFY2(error <= kProjectBound, qPrintable(QString::number(error)));
}

void TestCudaEmulated::attendStep_data() {
    QTest::addColumn<int>("heads");
    QTest::addColumn<int>("kv");
    QTest::addColumn<int>("dim");
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("capacity");
    QTest::addColumn<int>("window");
    QTest::addColumn<bool>("owner");
    struct Row {
        const char* what;
        int heads, kv, dim, size, capacity, window;
        bool owner;
    };
    for (const Row& r : {Row{"first token", 4, 1, 64, 1, 64, 0, true},
                         {"reader of one token", 4, 1, 64, 1, 64, 0, false},
                         {"one part", 4, 2, 32, 30, 64, 0, true},
                         {"parts", 8, 1, 64, 150, 192, 0, true},
                         {"parts, reader", 8, 2, 64, 150, 192, 0, false},
                         {"window", 4, 2, 32, 100, 128, 16, true},
                         {"window over a ring", 4, 1, 64, 300, 128, 100, true},
                         {"window, reader", 4, 1, 64, 300, 128, 100, false},
                         {"head of 256", 4, 1, 256, 140, 160, 64, true},
                         {"head of 512", 4, 1, 512, 70, 96, 0, true},
                         {"two groups of heads", 8, 1, 128, 70, 96, 0, true}}) {
        QTest::newRow(r.what) << r.heads << r.kv << r.dim << r.size << r.capacity << r.window
                              << r.owner;
    }
}

void TestCudaEmulated::attendStep() {
    QFETCH(int, heads);
    QFETCH(int, kv);
    QFETCH(int, dim);
    QFETCH(int, size);
    QFETCH(int, capacity);
    QFETCH(int, window);
    QFETCH(bool, owner);
    for (const uint64_t seed : {0, 1, 2}) {
        AttendCase c(heads, kv, dim, size, capacity, window, owner);
        EmulatedCard card(withSeed(seed));
        auto& d = card.device();
        for (int i = 0; i < 2; ++i) { // twice: the counters must come back to zero
            QCOMPARE(d.ops().attend_step(d.queue(), c.args), Status::Ok);
        }
        QCOMPARE(card.finish(), std::string());
        const double error = relativeError(c.out.data(), c.want);
        QVERIFY2(error <= kAttendBound, qPrintable(QString("seed %1: %2").arg(seed).arg(error)));
        QCOMPARE(c.wrongRows(), 0);
    }
}

void TestCudaEmulated::findsMistakes_data() {
    QTest::addColumn<QByteArray>("kernel");
    QTest::newRow("missing barrier before a read") << QByteArray("belfry_broken_reverse");
    QTest::newRow("missing barrier in a sum") << QByteArray("belfry_broken_sum");
    QTest::newRow("copy that nobody waited for") << QByteArray("belfry_broken_copy");
}

/// Right with its barrier under every seed; without it wrong under some.
void TestCudaEmulated::findsMistakes() {
    QFETCH(QByteArray, kernel);
    const emulator::Kernel* const found = emulator::findKernel(kernel.constData());
    QVERIFY(found != nullptr);
    const bool is_copy = kernel == "belfry_broken_copy";
    const unsigned threads = is_copy ? 32 : 256;
    for (int waits : {1, 0}) {
        int wrong = 0;
        for (uint64_t seed = 0; seed < 8; ++seed) {
            Guarded<float> in(is_copy ? 128 : threads);
            for (size_t i = 0; i < in.size(); ++i) {
                in[i] = static_cast<float>(i + 1);
            }
            Guarded<float> out(threads);
            std::fill_n(out.data(), out.size(), -1.0F);
            std::vector<float> want(threads, -1.0F);
            if (kernel == "belfry_broken_sum") {
                want[0] = 256.0F * 257.0F / 2.0F;
            } else {
                for (size_t i = 0; i < want.size(); ++i) {
                    want[i] = is_copy ? in[4 * i] : in[threads - 1 - i];
                }
            }
            const float* from = in.data();
            float* to = out.data();
            void* parameters[] = {&from, &to, &waits};
            emulator::Shape shape;
            shape.block.x = threads;
            shape.shared_bytes = 256 * 4;
            emulator::Options options;
            options.seed = seed;
            const auto outcome =
                emulator::run(kernel.constData(), shape, options, found->bind(parameters));
            QCOMPARE(outcome.error, std::string());
            wrong += out.values() == want ? 0 : 1;
        }
        if (waits != 0) {
            QCOMPARE(wrong, 0);
        } else {
            QVERIFY(wrong > 0);
        }
    }
}

QTEST_GUILESS_MAIN(TestCudaEmulated)
#include "tst_cuda_emulated.moc"
