// SPDX-License-Identifier: Apache-2.0
// Fused steps of many rows against compositions of the scalar CPU table's functions.
#include "tests/gpu/card_copies.h"
#include "tests/kernels/product_cases.h"

#include <algorithm>
#include <cmath>

namespace kernel_check {
namespace {

using Half = std::vector<uint16_t>;

float fromBf16(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U);
}

Half rounded(const std::vector<float>& values) {
    Half out(values.size());
    std::transform(values.begin(), values.end(), out.begin(), toBf16);
    return out;
}

std::vector<float> widened(const Half& values) {
    std::vector<float> out(values.size());
    std::transform(values.begin(), values.end(), out.begin(), fromBf16);
    return out;
}

std::vector<float> fetchHalf(Device& d, const Buffer& b, size_t n) {
    Half v(n);
    d.copyOut(v.data(), b.data, n * sizeof(uint16_t));
    d.synchronize();
    return widened(v);
}

void checkProducts(cuda::CudaDevice& d) {
    using support::ProductCase;
    using Output = ProductCase::Output;
    struct Case {
        int64_t rows, in;
        std::vector<int64_t> out;
        WeightFormat format;
        Output output;
        bool bounded;
        int parts;
        ProductCase::Ranks ranks = {};
        DType type = DType::BF16; ///< Type of the updates.
    };
    for (const Case& c :
         {Case{70, 256, {192, 64, 64}, WeightFormat::Nf4, Output::Store, false, 1},
          {130, 192, {256, 256, 256}, WeightFormat::BF16, Output::Store, true, 1},
          {40, 1024, {128}, WeightFormat::Nf4, Output::Store, false, 4},
          {33, 72, {40}, WeightFormat::F32, Output::Store, false, 1},
          {130, 256, {320, 320}, WeightFormat::BF16, Output::GatedPair, true, 1},
          {50, 128, {96, 96}, WeightFormat::Nf4, Output::GatedPair, false, 1},
          {130, 1536, {1000, 256, 130}, WeightFormat::Nf4, Output::Store, false, 3},
          {100, 1536, {1000, 1000}, WeightFormat::Fp4, Output::GatedPair, false, 1},
          {70, 2560, {256}, WeightFormat::Nf4, Output::GatedMultiply, false, 1},
          {600, 256, {192, 64, 64}, WeightFormat::Nf4, Output::Store, false, 1},
          {70, 256, {64}, WeightFormat::Int8Row, Output::GatedMultiply, false, 1},
          {130,
           1536,
           {1000, 256, 132},
           WeightFormat::Nf4,
           Output::Store,
           false,
           3,
           {{0, 16}, {2, 5}, {2, 72}}},
          {100,
           1536,
           {1000, 1000},
           WeightFormat::Nf4,
           Output::GatedPair,
           false,
           1,
           {{0, 16}, {1, 8}},
           DType::F32},
          {70, 2560, {256}, WeightFormat::Nf4, Output::GatedMultiply, false, 1, {{0, 16}, {0, 16}}},
          {130,
           192,
           {256, 256, 256},
           WeightFormat::BF16,
           Output::Store,
           true,
           1,
           {{0, 16}, {1, 16}, {2, 16}}},
          {300, 1536, {1000, 256, 136}, WeightFormat::BF16, Output::Store, false, 3},
          {600, 328, {264}, WeightFormat::Int8Row, Output::Store, false, 1},
          {260, 1536, {1000, 1000}, WeightFormat::BF16, Output::GatedPair, false, 1},
          {70, 200, {72, 72}, WeightFormat::Int8Row, Output::GatedPair, false, 1},
          {130,
           1536,
           {1000, 256, 136},
           WeightFormat::BF16,
           Output::Store,
           false,
           3,
           {{0, 16}, {2, 5}, {2, 72}}},
          {200,
           512,
           {200, 200},
           WeightFormat::BF16,
           Output::GatedPair,
           false,
           1,
           {{0, 16}, {1, 8}},
           DType::F32},
          {40, 1024, {128}, WeightFormat::BF16, Output::Store, false, 4, {{0, 72}}},
          {130, 256, {320, 320}, WeightFormat::BF16, Output::GatedPair, true, 1, {{0, 16}, {1, 5}}},
          {50, 128, {96, 96}, WeightFormat::Nf4, Output::GatedPair, false, 1, {{1, 64}, {1, 3}}},
          {70,
           256,
           {64},
           WeightFormat::Int8Row,
           Output::GatedMultiply,
           false,
           1,
           {{0, 16}},
           DType::F32}}) {
        ProductCase product(c.format, true, c.output, c.rows, c.in, c.out, c.ranks, c.type,
                            c.bounded);
        product.makeRoom(c.parts);
        const CardCopies copies(d, product);
        ProductArgs a = copies.moved(product.args);
        const Status status = d.ops().product(d.queue(), a);
        copies.bringBack();
        product.args.parts = a.parts;
        // Both results are rounded, and A x of both.
        const bool is_pair_with_updates = c.output == Output::GatedPair && a.update_count > 0;
        const char* const name = c.output == Output::Store       ? "product"
                                 : c.output == Output::GatedPair ? "product, GELU pair"
                                                                 : "product, gate";
        report(std::string(name) + " " + formatName(c.format, true) + " " + std::to_string(c.rows) +
                   "x" + std::to_string(c.in) + "x" + std::to_string(c.out[0]) + ", " +
                   std::to_string(a.parts) + " parts" + (c.bounded ? ", bounds" : "") +
                   (a.update_count > 0 ? ", " + std::to_string(a.update_count) + " updates" : ""),
               status, product.error(), is_pair_with_updates ? 5e-3 : 4e-3);
    }
}

void checkNorms(cuda::CudaDevice& d) {
    const OpTable& cpu = cpuScalarOps();
    for (const int64_t cols : {64, 768, 1536, 2560, 5376, 8192}) {
        constexpr int64_t kRows = 5;
        constexpr int kParts = 3;
        const auto n = static_cast<size_t>(kRows * cols);
        const Pair<float> x(d, normal(n));
        const Pair<float> t(d, normal(n * kParts));
        const Pair<float> t_norm(d, normal(static_cast<size_t>(cols)));
        const Pair<uint16_t> norm(d, rounded(normal(static_cast<size_t>(cols))));
        const Buffer h(d, n * 2);
        std::vector<float> sum(n, 0.0F);
        for (size_t e = 0; e < t.host.size(); ++e) {
            sum[e % n] += t.host[e];
        }
        std::vector<float> want = x.host;
        const MutF32 whole{want.data(), kRows, cols, cols};
        cpu.rms_norm_add({}, {sum.data(), kRows, cols, cols},
                         {t_norm.host.data(), DType::F32, 1, cols}, 1e-6F, 1.0F, whole);
        cpu.scale({}, whole, 0.75F);
        std::vector<float> normed(n);
        cpu.rms_norm({}, whole, {norm.host.data(), DType::BF16, 1, cols}, 1e-6F,
                     {normed.data(), kRows, cols, cols});
        NormRowsArgs a;
        a.x = x.card->f();
        a.t = t.there();
        a.parts = kParts;
        a.t_norm = {t_norm.there(), DType::F32, 1, cols};
        a.norm = {norm.there(), DType::BF16, 1, cols};
        a.h = h.data;
        a.rows = kRows;
        a.cols = cols;
        a.scalar = 0.75F;
        Status status = d.ops().norm_rows(d.queue(), a);
        const std::string name = "norm rows of " + std::to_string(cols);
        report(name + ", residual", status, relativeError(fetch(d, *x.card, n), want), 2e-6);
        report(name + ", input", status, relativeError(fetchHalf(d, h, n), normed), 4e-3);
        a.t = nullptr;
        a.norm = {};
        status = d.ops().norm_rows(d.queue(), a);
        report(name + ", rounded only", status, relativeError(fetchHalf(d, h, n), want), 4e-3);
    }
}

void checkHeads(cuda::CudaDevice& d) {
    const OpTable& cpu = cpuScalarOps();
    struct Case {
        int64_t dim, heads, kv;
        bool is_plane;
        int parts;
    };
    for (const Case c : {Case{64, 12, 12, true, 1},
                         {256, 8, 1, false, 2},
                         {512, 8, 2, false, 1},
                         {16, 4, 2, false, 1},
                         {32, 2, 2, true, 1}}) {
        constexpr int64_t kRows = 9;
        constexpr int64_t kCapacity = 13;
        const auto sizeOf = [&](int64_t heads) {
            return static_cast<size_t>(kRows * heads * c.dim);
        };
        const auto parts = static_cast<size_t>(c.parts);
        const Pair<float> q(d, normal(sizeOf(c.heads) * parts));
        const Pair<float> k(d, normal(sizeOf(c.kv) * parts));
        const Pair<float> v(d, normal(sizeOf(c.kv) * parts));
        const Pair<float> q_norm(d, normal(static_cast<size_t>(c.dim)));
        const Pair<float> k_norm(d, normal(static_cast<size_t>(c.dim)));
        const Pair<float> frequencies(d, normal(static_cast<size_t>(c.dim / 2), 0.2F));
        std::vector<int32_t> numbers(kRows);
        std::vector<int32_t> other(kRows);
        std::vector<int32_t> slots(kRows);
        for (size_t i = 0; i < kRows; ++i) {
            numbers[i] = static_cast<int32_t>(3 * i + 1);
            other[i] = static_cast<int32_t>(40 - i);
            slots[i] = static_cast<int32_t>((5 * i + 2) % kCapacity);
        }
        const Pair<int32_t> position(d, numbers);
        const Pair<int32_t> position_2(d, other);
        const Pair<int32_t> slot(d, slots);
        const auto expected = [&](const std::vector<float>& raw, int64_t heads,
                                  const std::vector<float>* weight) {
            const size_t n = sizeOf(heads);
            std::vector<float> out(n, 0.0F);
            for (size_t e = 0; e < raw.size(); ++e) {
                out[e % n] += raw[e];
            }
            const MutF32 each{out.data(), kRows * heads, c.dim, c.dim};
            cpu.rms_norm({}, each,
                         weight == nullptr ? MatView{}
                                           : MatView{weight->data(), DType::F32, 1, c.dim},
                         1e-6F, each);
            const MutF32 rows{out.data(), kRows, heads * c.dim, heads * c.dim};
            if (weight != nullptr && c.is_plane) {
                cpu.rope({}, rows, c.dim, 0, c.dim / 2, numbers.data(), frequencies.host.data());
                cpu.rope({}, rows, c.dim, c.dim / 2, c.dim / 2, other.data(),
                         frequencies.host.data());
            } else if (weight != nullptr) {
                cpu.rope({}, rows, c.dim, 0, c.dim, numbers.data(), frequencies.host.data());
            }
            return out;
        };
        const Buffer q_to(d, sizeOf(c.heads) * 2);
        const Buffer k_to(d, sizeOf(c.kv) * 2);
        const Buffer v_to(d, sizeOf(c.kv) * 2);
        const auto width = static_cast<size_t>(c.kv * c.dim);
        const Half zeros(kCapacity * width, 0);
        const Pair<uint16_t> k_ring(d, zeros);
        const Pair<uint16_t> v_ring(d, zeros);
        HeadRowsArgs a;
        a.q = q.there();
        a.k = k.there();
        a.v = v.there();
        a.parts = c.parts;
        a.q_norm = {q_norm.there(), DType::F32, 1, c.dim};
        a.k_norm = {k_norm.there(), DType::F32, 1, c.dim};
        a.position = position.there();
        a.position_2 = c.is_plane ? position_2.there() : nullptr;
        a.inv_freq = frequencies.there();
        a.q_to = q_to.data;
        constexpr int64_t kFirst = 3;
        a.to[0] = {k_to.data, v_to.data, nullptr, 0, kRows};
        a.to[1] = {k_ring.card->data, v_ring.card->data, slot.there(), kFirst, kCapacity};
        a.rows = kRows;
        a.num_heads = c.heads;
        a.num_kv_heads = c.kv;
        a.head_dim = c.dim;
        const Status status = d.ops().head_rows(d.queue(), a);
        const std::string name = "heads of " + std::to_string(c.dim);
        const std::vector<float> want_q = expected(q.host, c.heads, &q_norm.host);
        const std::vector<float> want_k = expected(k.host, c.kv, &k_norm.host);
        const std::vector<float> want_v = expected(v.host, c.kv, nullptr);
        report(name + ", q", status, relativeError(fetchHalf(d, q_to, want_q.size()), want_q),
               4e-3);
        report(name + ", k", status, relativeError(fetchHalf(d, k_to, want_k.size()), want_k),
               4e-3);
        report(name + ", v", status, relativeError(fetchHalf(d, v_to, want_v.size()), want_v),
               4e-3);
        for (const bool is_k : {true, false}) {
            std::vector<float> want(zeros.size(), 0.0F);
            for (size_t i = 0; i + kFirst < kRows; ++i) {
                const std::vector<float>& rows = is_k ? want_k : want_v;
                std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>((i + kFirst) * width), width,
                            want.begin() +
                                static_cast<std::ptrdiff_t>(static_cast<size_t>(slots[i]) * width));
            }
            report(
                name + (is_k ? ", k by slots" : ", v by slots"), status,
                relativeError(fetchHalf(d, is_k ? *k_ring.card : *v_ring.card, want.size()), want),
                4e-3);
        }
    }
}

void checkHalfAttention(cuda::CudaDevice& d) {
    struct Case {
        int64_t queries, keys, heads, kv, dim;
        bool causal;
    };
    for (const Case c : {Case{200, 200, 3, 3, 64, false},
                         {65, 130, 2, 2, 64, false},
                         {200, 200, 3, 3, 72, false},
                         {65, 130, 2, 2, 72, false},
                         {70, 90, 4, 1, 256, true},
                         {20, 40, 2, 1, 512, true},
                         {150, 210, 2, 1, 512, true},
                         {10, 20, 2, 1, 32, true}}) {
        const auto n = static_cast<size_t>(c.keys * c.kv * c.dim);
        const Pair<uint16_t> q(
            d, rounded(normal(static_cast<size_t>(c.queries * c.heads * c.dim), 0.5F)));
        const Pair<uint16_t> k(d, rounded(normal(n)));
        const Pair<uint16_t> v(d, rounded(normal(n)));
        std::vector<int32_t> numbers(static_cast<size_t>(std::max(c.keys, c.queries)));
        for (size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<int32_t>(i);
        }
        const Pair<int32_t> positions(d, numbers);
        const Buffer out(d, q.host.size() * 2);
        std::vector<float> want(q.host.size());
        const std::vector<float> values = widened(q.host);
        AttentionArgs a;
        a.queries = c.queries;
        a.keys = c.keys;
        a.num_heads = c.heads;
        a.num_kv_heads = c.kv;
        a.head_dim = c.dim;
        a.kv_type = KvType::BF16;
        a.scale = 0.5F;
        a.mask.causal = c.causal;
        a.mask.query_position = numbers.data();
        a.mask.key_position = numbers.data();
        a.q = values.data();
        a.k = k.host.data();
        a.v = v.host.data();
        a.out = want.data();
        cpuScalarOps().attention({}, a);
        a.q = reinterpret_cast<const float*>(q.there());
        a.k = k.there();
        a.v = v.there();
        a.out = out.f();
        a.is_half = true;
        a.mask.is_open = !c.causal; // every key is visible: the kernel of the towers
        a.mask.query_position = positions.there();
        a.mask.key_position = positions.there();
        const std::string what = std::to_string(c.queries) + " queries, head " +
                                 std::to_string(c.dim) + (c.causal ? "" : ", all keys");
        const Status status = d.ops().attention(d.queue(), a);
        report("attention in bf16, " + what, status,
               relativeError(fetchHalf(d, out, want.size()), want), 8e-3);
        if (c.dim >= 256) {
            const AttentionLimit limit(d);
            const Status small = d.ops().attention(d.queue(), a);
            report("attention in bf16 and 99 KiB, " + what, small,
                   relativeError(fetchHalf(d, out, want.size()), want), 8e-3);
        }
    }
}

void checkPerLayerRows(cuda::CudaDevice& d) {
    const OpTable& cpu = cpuScalarOps();
    for (const int64_t cols : {16, 256}) {
        constexpr int64_t kRows = 7;
        constexpr int64_t kSlices = 3;
        const int64_t width = kSlices * cols;
        const int64_t stride = width + 64; // rows of the output are not contiguous
        const Pair<float> y(d, normal(static_cast<size_t>(kRows * stride)));
        const Pair<float> t(d, normal(static_cast<size_t>(kRows * width)));
        const Pair<float> norm(d, normal(static_cast<size_t>(cols)));
        std::vector<float> want = y.host;
        const MutF32 whole{want.data(), kRows, width, stride};
        cpu.scale({}, whole, 0.1F);
        for (int64_t slice = 0; slice < kSlices; ++slice) {
            const MutF32 one{want.data() + slice * cols, kRows, cols, stride};
            cpu.rms_norm({}, one, {norm.host.data(), DType::F32, 1, cols}, 1e-6F, one);
        }
        cpu.add_scaled({}, {t.host.data(), kRows, width, width}, 1.0F, whole);
        cpu.scale({}, whole, 0.7F);
        const Status status = d.ops().per_layer_rows(
            d.queue(), {y.card->f(), kRows, width, stride}, {t.there(), kRows, width, width},
            {norm.there(), DType::F32, 1, cols}, 1e-6F, 0.1F, 0.7F);
        report("per-layer rows of " + std::to_string(cols), status,
               relativeError(fetch(d, *y.card, want.size()), want), 2e-6);
    }
}

void checkPatches(cuda::CudaDevice& d) {
    constexpr int64_t kWidth = 12;
    constexpr int64_t kHeight = 6;
    constexpr int64_t kCols = 300;
    const Pair<float> x(d, normal(static_cast<size_t>(kWidth * kHeight * kCols)));
    const Buffer half(d, x.host.size() * 2);
    std::vector<float> want = x.host;
    for (float& value : want) {
        value = 2.0F * (value - 0.5F);
    }
    Status status = d.ops().scale_to_half(d.queue(), {x.there(), kWidth * kHeight, kCols, kCols},
                                          -0.5F, 2.0F, half.data);
    report("patches to bf16", status, relativeError(fetchHalf(d, half, want.size()), want), 4e-3);
    constexpr int64_t kTokens = kWidth * kHeight / 9;
    const Buffer pooled(d, static_cast<size_t>(kTokens * kCols) * 4);
    std::vector<float> means(static_cast<size_t>(kTokens * kCols), 0.0F);
    for (int64_t p = 0; p < kWidth * kHeight; ++p) {
        const int64_t token = p / kWidth / 3 * (kWidth / 3) + p % kWidth / 3;
        for (int64_t c = 0; c < kCols; ++c) {
            means[static_cast<size_t>(token * kCols + c)] +=
                0.25F * x.host[static_cast<size_t>(p * kCols + c)];
        }
    }
    status = d.ops().pool_rows(d.queue(), {x.there(), kWidth * kHeight, kCols, kCols}, kWidth, 3,
                               0.25F, {pooled.f(), kTokens, kCols, kCols});
    report("pooling", status, relativeError(fetch(d, pooled, means.size()), means), 2e-6);
}

} // namespace

void checkRows(cuda::CudaDevice& d) {
    if (d.facts().compute_capability >= 80) {
        checkProducts(d);
        checkHalfAttention(d);
    }
    checkNorms(d);
    checkHeads(d);
    checkPerLayerRows(d);
    checkPatches(d);
}

} // namespace kernel_check
