// SPDX-License-Identifier: Apache-2.0
// Fused steps of many rows (device/prompt/product.cu, device/prompt/rows.cu): argument checks,
// weights expanded panel by panel, tiles. Chosen on an H200 (132 multiprocessors).
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch/product_codes.h"
#include "kernels/cuda/launch/product_half.h"
#include "kernels/cuda/launch/product_updates.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <array>

namespace kernels::cuda {

namespace {

constexpr int64_t kWidestNorm = 8192; ///< Columns of norm_rows_wide.
constexpr int64_t kWidestHead = 512;

bool isDirect(const WeightView& w) {
    return w.format == WeightFormat::BF16 && isThereAligned(w.data);
}

bool isBounded(const ProductArgs::Bounds& b) {
    return b.in_low > -INFINITY || b.in_high < INFINITY;
}

/// Rows [first, first + rows) of every weight that is not bf16 already, in one launch. to: where
/// each begins.
Status expandGroup(Stream& s,
                   const ProductArgs& a,
                   int64_t first,
                   const std::array<int64_t, 3>& rows,
                   std::array<const void*, 3>& to,
                   CuPointer panel) {
    ExpandArgs args{};
    int used = 0;
    int64_t blocks = 0;
    for (int i = 0; i < a.count; ++i) {
        const WeightView& w = a.w[i];
        const auto at = static_cast<size_t>(i);
        if (isDirect(w)) {
            to[at] = static_cast<const uint16_t*>(w.data) + first * w.cols;
            continue;
        }
        to[at] = pointerOf(panel);
        args.w[used] = weightArgs(w);
        args.first[used] = first;
        args.rows[used] = rows[at];
        args.to[used] = pointerOf(panel);
        blocks += tiles(rows[at] * w.cols, int64_t{16} * kThreads);
        args.blocks[used] = blocks;
        panel += static_cast<size_t>(rows[at] * w.cols) * 2U;
        ++used;
    }
    if (used == 0) {
        return Status::Ok;
    }
    for (int i = used; i < 3; ++i) {
        args.blocks[i] = blocks;
    }
    return s.launch(KernelId::expand_group, static_cast<unsigned>(blocks), 1, 1, kThreads, 0, args);
}

/// Parts of k so that a product of few tiles fills the card: at least 256 columns each. tile_count:
/// of 64 by 64.
int partsOf(const Stream& s, const ProductArgs& a, int64_t tile_count) {
    if (a.output != ProductArgs::Output::Store) {
        return 1;
    }
    if (takesHalf(s, a)) {
        const int64_t outputs[3] = {a.w[0].rows, a.w[1].rows, a.w[2].rows};
        return halfSizesOf(s, a, outputs, 1, a.parts).parts;
    }
    const int64_t k = a.w[0].cols;
    const int room = a.parts;
    const int64_t wanted = s.facts.multiprocessors / std::max<int64_t>(1, tile_count);
    return static_cast<int>(
        std::clamp<int64_t>(std::min<int64_t>(wanted, k / 256), 1, std::max(1, room)));
}

/// One launch over expanded weights; rows[i] outputs of each from output `first` on. updates: of
/// all outputs, nullptr: none.
Status multiply(Stream& s,
                const ProductArgs& a,
                int64_t first,
                const std::array<int64_t, 3>& rows,
                const std::array<const void*, 3>& w,
                int parts,
                const ProductUpdatesArgs* updates) {
    const bool is_pair = a.output == ProductArgs::Output::GatedPair;
    const bool is_gate = a.output == ProductArgs::Output::GatedMultiply;
    ProductKernelArgs args{};
    args.x = a.x;
    args.m = a.rows;
    args.k = a.w[0].cols;
    args.count = a.count;
    args.activation = a.activation;
    int64_t outputs = 0;
    for (int i = 0; i < a.count; ++i) {
        const auto at = static_cast<size_t>(i);
        args.w[i] = w[at];
        args.n[i] = static_cast<int32_t>(rows[at]);
        args.stride[i] = static_cast<int32_t>(a.w[i].rows);
        args.is_bounded = args.is_bounded != 0 || isBounded(a.bounds[i]) ? 1 : 0;
        args.in_low[i] = a.bounds[i].in_low;
        args.in_high[i] = a.bounds[i].in_high;
        args.out_low[i] = a.bounds[i].out_low;
        args.out_high[i] = a.bounds[i].out_high;
        outputs += rows[at];
    }
    if (is_pair || is_gate) {
        args.y[0] = static_cast<uint16_t*>(a.y[0]) + first;
    } else {
        for (int i = 0; i < a.count; ++i) {
            args.y[i] = static_cast<float*>(a.y[i]) + first;
        }
    }
    const ProductUpdatesArgs shifted =
        updates != nullptr && first > 0 ? updatesFrom(*updates, first) : ProductUpdatesArgs{};
    if (updates != nullptr && first > 0) {
        updates = &shifted;
    }
    if (takesHalf(s, a)) {
        return productOfHalves(s, args, is_pair, halfSizesOf(s, a, rows.data(), parts, parts),
                               updates);
    }
    const bool is_large = !is_gate && usesLargeTiles(s.facts.multiprocessors, a.rows, outputs);
    const int64_t tile = is_large ? 128 : 64;
    unsigned columns = 0;
    if (is_pair) {
        columns = tiles(rows[0], tile / 2);
    } else {
        for (int i = 0; i < a.count; ++i) {
            args.first_tile[i] = static_cast<int32_t>(columns);
            columns += tiles(rows[static_cast<size_t>(i)], tile);
        }
    }
    const int64_t chunks = (args.k + 63) / 64;
    args.k_part = static_cast<int32_t>((chunks + parts - 1) / parts * 64);
    if (is_gate) {
        args.multiply = a.multiply.data;
        args.multiply_stride = a.multiply.stride;
    }
    const unsigned row_tiles = tiles(a.rows, tile);
    const auto of_parts = static_cast<unsigned>(parts);
    const unsigned block = is_large ? 256U : 128U;
    const unsigned shared = is_large ? 98304U : 65536U;
    if (updates != nullptr) {
        KernelId id = is_large ? KernelId::product_128_updates : KernelId::product_64_updates;
        if (is_pair) {
            id = is_large ? KernelId::product_pair_128_updates : KernelId::product_pair_64_updates;
        } else if (is_gate) {
            id = KernelId::product_gate_updates;
        }
        return s.launch(id, row_tiles, columns, of_parts, block, shared, args, *updates);
    }
    KernelId id = is_large ? KernelId::product_128 : KernelId::product_64;
    if (is_pair) {
        id = is_large ? KernelId::product_pair_128 : KernelId::product_pair_64;
    } else if (is_gate) {
        id = KernelId::product_gate;
    }
    return s.launch(id, row_tiles, columns, of_parts, block, shared, args);
}

/// Scratch memory of a product: the input is not there, its place serves as well.
struct Room {
    CuPointer at;
    int64_t bytes; ///< As far as L2 holds them.
};

/// Behind `used` bytes.
Room roomOf(const Stream& s, int64_t used) {
    const auto all =
        s.scratch_bytes > kWorkOffset ? static_cast<int64_t>(s.scratch_bytes - kWorkOffset) : 0;
    const int64_t begin = (used + 255) / 256 * 256;
    return {s.scratch + kWorkOffset + static_cast<CuPointer>(begin),
            std::clamp<int64_t>(all - begin, 0, int64_t{24} << 20)};
}

/// 4-bit weights that are multiplied as they are stored.
bool isOfCodes(const Stream& s, const ProductArgs& a, const Room& room) {
    bool is_bounded = false;
    for (int i = 0; i < a.count; ++i) {
        const ProductArgs::Bounds& b = a.bounds[i];
        is_bounded = is_bounded || isBounded(b) || b.out_low > -INFINITY || b.out_high < INFINITY;
    }
    const bool has_room =
        a.output != ProductArgs::Output::GatedMultiply || room.bytes >= a.rows * a.w[0].rows * 4;
    return !is_bounded && has_room && takesCodes(s, a.w, a.count);
}

Status
multiplyCodes(Stream& s, ProductArgs& a, const Room& room, const ProductUpdatesArgs* updates) {
    CodesProduct product;
    product.updates = updates;
    product.x = a.x;
    product.rows = a.rows;
    product.is_pair = a.output == ProductArgs::Output::GatedPair;
    product.activation = a.activation;
    product.count = a.count;
    product.parts = a.parts;
    for (int i = 0; i < a.count; ++i) {
        product.w[i] = a.w[i];
        product.y[i] = a.y[i];
        product.stride[i] = a.w[i].rows;
    }
    if (a.output != ProductArgs::Output::GatedMultiply) {
        const Status status = productOfCodes(s, product);
        a.parts = product.parts;
        return status;
    }
    // A long sum of few outputs: in parts, with the gate behind them.
    a.parts = 1;
    const int64_t outputs = a.w[0].rows;
    product.y[0] = pointerOf(room.at);
    product.parts = static_cast<int>(room.bytes / (a.rows * outputs * 4));
    const Status status = productOfCodes(s, product);
    return status != Status::Ok
               ? status
               : s.launch(KernelId::gate_rows, tiles(a.rows * outputs, int64_t{2} * kThreads), 1, 1,
                          kThreads, 0, a.activation, static_cast<const float*>(product.y[0]),
                          product.parts, a.rows, static_cast<int>(outputs), a.multiply.data,
                          a.multiply.stride, a.y[0]);
}

bool isProduct(const ProductArgs& a) {
    if (a.count < 1 || a.count > 3 || a.rows < 0 || a.x == nullptr || !areUpdates(a)) {
        return false;
    }
    const bool is_pair = a.output == ProductArgs::Output::GatedPair;
    for (int i = 0; i < a.count; ++i) {
        if (!isWeight(a.w[i]) || a.w[i].cols != a.w[0].cols ||
            (a.y[i] == nullptr && !(is_pair && i == 1))) {
            return false;
        }
    }
    switch (a.output) {
    case ProductArgs::Output::GatedPair:
        return a.count == 2 && a.w[0].rows == a.w[1].rows;
    case ProductArgs::Output::GatedMultiply:
        return a.count == 1 && a.multiply.data != nullptr && a.multiply.rows == a.rows &&
               a.multiply.cols == a.w[0].rows && a.multiply.stride >= a.w[0].rows;
    default:
        return true;
    }
}

/// Weight i of a product alone, with its updates.
ProductArgs oneOf(const ProductArgs& a, int weight) {
    ProductArgs one = a;
    one.count = 1;
    one.w[0] = a.w[weight];
    one.y[0] = a.y[weight];
    one.bounds[0] = a.bounds[weight];
    one.update_count = 0;
    for (int i = 0; i < a.update_count; ++i) {
        if (a.updates[i].weight == weight) {
            one.updates[one.update_count] = a.updates[i];
            one.updates[one.update_count++].weight = 0;
        }
    }
    return one;
}

} // namespace

bool takesRows(Queue q, int64_t hidden, int64_t head_dim) {
    const Stream& s = streamOf(q);
    const auto has = [&s](KernelId id) { return s.functions[static_cast<size_t>(id)] != nullptr; };
    return !s.is_reference && s.facts.compute_capability >= 80 && hidden % 4 == 0 &&
           hidden <= kWidestNorm && head_dim <= kWidestHead && has(KernelId::norm_rows) &&
           has(KernelId::norm_rows_wide) && has(KernelId::head_rows);
}

Status product(Queue q, ProductArgs& a) {
    Stream& s = streamOf(q);
    if (!isProduct(a)) {
        return Status::BadShape;
    }
    if (s.is_reference || s.facts.compute_capability < 80 || a.w[0].cols % 8 != 0 ||
        !isThereAligned(a.x)) {
        return Status::Unsupported;
    }
    int64_t widest = 0;   // bytes of the panel for one output of every weight
    int64_t together = 0; // of the panel for all weights as a whole
    int64_t most_rows = 0;
    int64_t tile_count = 0;
    for (int i = 0; i < a.count; ++i) {
        if (a.w[i].rows % 2 != 0) {
            return Status::Unsupported;
        }
        const int64_t row_bytes = isDirect(a.w[i]) ? 0 : a.w[i].cols * 2;
        widest += row_bytes;
        together += row_bytes * a.w[i].rows;
        most_rows = std::max(most_rows, a.w[i].rows);
        tile_count += static_cast<int64_t>(tiles(a.rows, 64)) * tiles(a.w[i].rows, 64);
    }
    if (a.rows == 0) {
        return Status::Ok;
    }
    ProductUpdatesArgs of_updates{};
    if (!layOutUpdates(a, of_updates)) {
        return Status::Unsupported;
    }
    const ProductUpdatesArgs* const updates = a.update_count > 0 ? &of_updates : nullptr;
    of_updates.h = pointerOf(roomOf(s, 0).at);
    const Room behind = roomOf(s, updateBytes(of_updates));
    const CuPointer panel = behind.at;
    const int64_t room = behind.bytes;
    const bool is_of_codes = isOfCodes(s, a, behind);
    std::array<int64_t, 3> rows{};
    std::array<const void*, 3> w{};
    const int parts = partsOf(s, a, tile_count);
    if (!is_of_codes && together > room && a.output == ProductArgs::Output::Store && a.count > 1) {
        // One after the other; all in one part, so that one reader takes them alike.
        a.parts = 1;
        for (int i = 0; i < a.count; ++i) {
            ProductArgs one = oneOf(a, i);
            if (const Status status = product(q, one); status != Status::Ok) {
                return status;
            }
        }
        return Status::Ok;
    }
    const int64_t step = widest == 0 ? most_rows : std::min(most_rows, room / widest / 128 * 128);
    if (!is_of_codes && step <= 0) {
        return Status::OutOfMemory;
    }
    if (updates != nullptr) {
        if (s.scratch_bytes < kWorkOffset + static_cast<size_t>(updateBytes(of_updates))) {
            return Status::OutOfMemory;
        }
        if (const Status status = makeRanks(s, of_updates); status != Status::Ok) {
            return status;
        }
    }
    if (is_of_codes) {
        return multiplyCodes(s, a, behind, updates);
    }
    a.parts = parts;
    if (together <= room) {
        for (int i = 0; i < a.count; ++i) {
            rows[static_cast<size_t>(i)] = a.w[i].rows;
        }
        const Status status = expandGroup(s, a, 0, rows, w, panel);
        return status != Status::Ok ? status : multiply(s, a, 0, rows, w, parts, updates);
    }
    // A single weight, or a pair of equal shapes.
    for (int64_t first = 0; first < most_rows; first += step) {
        rows.fill(std::min(step, most_rows - first));
        Status status = expandGroup(s, a, first, rows, w, panel);
        if (status == Status::Ok) {
            status = multiply(s, a, first, rows, w, parts, updates);
        }
        if (status != Status::Ok) {
            return status;
        }
    }
    return Status::Ok;
}

Status beginOnceSteps(Queue q) {
    constexpr size_t kFirst = (kTokenStepBytes + sizeof(TokenStep) - 1) / sizeof(TokenStep);
    static_assert(kTokenStepBytes / sizeof(TokenStep) >= 330);
    static_assert(kStepBytes / sizeof(TokenStep) - kFirst > 160);
    const Status status = beginSteps(q);
    if (status == Status::Ok) {
        streamOf(q).steps.uploaded = kFirst; // the list goes behind a token's
        streamOf(q).steps.is_once = true;
    }
    return status;
}

Status normRows(Queue q, const NormRowsArgs& a) {
    const auto isVector = [&a](const MatView& v) {
        return v.data == nullptr || v.rows * v.cols == a.cols;
    };
    if (a.x == nullptr || a.rows < 0 || a.cols <= 0 || a.parts < 1 || !isVector(a.norm) ||
        (a.t != nullptr && !isVector(a.t_norm))) {
        return Status::BadShape;
    }
    if (a.cols % 4 != 0 || a.cols > kWidestNorm || !isThereAligned(a.x) ||
        (a.t != nullptr && !isThereAligned(a.t)) || (a.h != nullptr && !isThereAligned(a.h))) {
        return Status::Unsupported;
    }
    if (a.rows == 0) {
        return Status::Ok;
    }
    NormRowsKernelArgs args{};
    args.x = a.x;
    args.t = a.t;
    args.h = a.h;
    args.t_norm = vectorArgs(a.t_norm);
    args.norm = vectorArgs(a.norm);
    args.rows = a.rows;
    args.cols = static_cast<int32_t>(a.cols);
    args.parts = a.parts;
    args.has_norm = a.norm.data != nullptr ? 1 : 0;
    args.has_t_norm = a.t_norm.data != nullptr ? 1 : 0;
    args.scalar = a.scalar;
    args.eps = a.eps;
    const KernelId id = a.cols <= 4096 ? KernelId::norm_rows : KernelId::norm_rows_wide;
    return streamOf(q).launch(id, static_cast<unsigned>(a.rows), 1, 1, kThreads, 0, args);
}

Status headRows(Queue q, const HeadRowsArgs& a) {
    if (a.rows < 0 || a.num_heads < 0 || a.num_kv_heads < 0 || a.head_dim <= 0 || a.parts < 1 ||
        a.position == nullptr || a.inv_freq == nullptr ||
        (a.num_heads > 0 && (a.q == nullptr || a.q_to == nullptr)) ||
        (a.k != nullptr && a.v == nullptr)) {
        return Status::BadShape;
    }
    const bool is_known = a.kv_type == KvType::BF16 || a.kv_type == KvType::Q8;
    if (!is_known || a.head_dim > kWidestHead ||
        a.head_dim % (a.position_2 != nullptr ? 4 : 2) != 0) {
        return Status::Unsupported;
    }
    const int64_t jobs = a.num_heads + (a.k != nullptr ? 2 * a.num_kv_heads : 0);
    if (a.rows == 0 || jobs == 0) {
        return Status::Ok;
    }
    HeadRowsKernelArgs args{};
    args.q = a.q;
    args.k = a.k;
    args.v = a.v;
    args.q_norm = vectorArgs(a.q_norm);
    args.k_norm = vectorArgs(a.k_norm);
    args.position = a.position;
    args.position_2 = a.position_2;
    args.inv_freq = a.inv_freq;
    args.q_to = a.q_to;
    for (int i = 0; i < 2; ++i) {
        args.k_to[i] = a.to[i].k;
        args.v_to[i] = a.to[i].v;
        args.slot[i] = a.to[i].slot;
        args.first[i] = a.to[i].first;
        args.capacity[i] = a.to[i].capacity;
    }
    args.rows = a.rows;
    args.heads = static_cast<int32_t>(a.num_heads);
    args.kv_heads = static_cast<int32_t>(a.num_kv_heads);
    args.dim = static_cast<int32_t>(a.head_dim);
    args.kv = kvRowArgs(a.kv_type, a.num_kv_heads, a.head_dim);
    args.parts = a.parts;
    args.norms_values = a.norms_values ? 1 : 0;
    args.eps = a.eps;
    // A warp a head; of few rows every head by a warp of its own, of many several.
    const int64_t warps = std::min<int64_t>(jobs, 12);
    const unsigned blocks = a.rows <= kFewRows ? tiles(jobs, warps) : 1;
    return streamOf(q).launch(KernelId::head_rows, static_cast<unsigned>(a.rows), blocks, 1,
                              static_cast<unsigned>(32 * warps), 0, args);
}

Status scaleToHalf(Queue q, MatF32 x, float shift, float scale, void* y) {
    if (!isMatrix(x) || y == nullptr) {
        return Status::BadShape;
    }
    if (x.stride != x.cols || x.rows * x.cols % 4 != 0 || !isThereAligned(x.data) ||
        !isThereAligned(y)) {
        return Status::Unsupported;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const int64_t count = x.rows * x.cols;
    return streamOf(q).launch(KernelId::scale_to_half, tiles(count, int64_t{4} * kThreads), 1, 1,
                              kThreads, 0, x.data, scale, shift, y, count);
}

Status
perLayerRows(Queue q, MutF32 y, MatF32 t, MatView norm, float eps, float before, float after) {
    const int64_t cols = norm.rows * norm.cols;
    if (!isSameShape(t, y) || norm.data == nullptr || cols <= 0 || y.cols % cols != 0) {
        return Status::BadShape;
    }
    if (cols % 4 != 0 || cols > 1024 || y.stride % 4 != 0 || t.stride % 4 != 0 ||
        !isThereAligned(y.data) || !isThereAligned(t.data)) {
        return Status::Unsupported;
    }
    if (y.rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::per_layer_rows, static_cast<unsigned>(y.rows),
                              static_cast<unsigned>(y.cols / cols), 1, 64, 0, y.data, y.stride,
                              t.data, t.stride, vectorArgs(norm), static_cast<int>(cols), eps,
                              before, after);
}

Status poolRows(Queue q, MatF32 x, int64_t grid_w, int64_t side, float factor, MutF32 y) {
    if (!isMatrix(x) || !isMatrix(y) || side <= 0 || grid_w <= 0 || grid_w % side != 0 ||
        x.rows % (grid_w * side) != 0 || y.rows * side * side != x.rows || x.cols != y.cols ||
        x.stride != x.cols || y.stride != y.cols) {
        return Status::BadShape;
    }
    if (y.rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::pool_rows, static_cast<unsigned>(y.rows),
                              tiles(y.cols, kThreads), 1, kThreads, 0, x.data,
                              static_cast<int>(grid_w), static_cast<int>(side), factor, y.data,
                              static_cast<int>(y.cols));
}

} // namespace kernels::cuda
