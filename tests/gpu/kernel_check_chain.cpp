// SPDX-License-Identifier: Apache-2.0
// Decoder layers of a few tokens as one launch (stream_rows.cu), without and with low-rank updates,
// against the scalar CPU table token by token, and what such a launch takes.
#include "tests/gpu/card_copies.h"
#include "tests/kernels/row_cases.h"

namespace kernel_check {
namespace {

using support::RowChain;
using support::RowShape;

/// Inputs of 11 bits, sums of 8-bit and 4-bit weights, cached rows in bf16: as of the emulated
/// card.
constexpr double kBound = 2e-2;
constexpr double kFirstBound = 2e-3; ///< For the first projection alone.

Status runOn(cuda::CudaDevice& d, RowChain& chain, const CardCopies& copies) {
    return chain.run(d, [&copies](auto* at) { return copies.there(at); });
}

struct ChainCase {
    const char* name;
    RowShape shape;
};

std::vector<ChainCase> cases() {
    RowShape small;
    RowShape small_q8;
    small_q8.kv_type = KvType::Q8;
#ifdef BELFRY_EMULATED_CARD
    return {{"small", small}, {"small, q8", small_q8}};
#else
    RowShape e2b;
    e2b.hidden = 1536;
    e2b.heads = 8;
    e2b.dim = 256;
    e2b.inter = 6144;
    e2b.ple = 256;
    e2b.before = 700;
    e2b.window = 512;
    e2b.capacity = 768;
    RowShape e2b_full = e2b;
    e2b_full.dim = 512;
    e2b_full.inter = 12288;
    e2b_full.before = 2500;
    e2b_full.window = 0;
    e2b_full.capacity = 4096;
    e2b_full.rows = 3;
    RowShape e2b_q8 = e2b;
    e2b_q8.kv_type = KvType::Q8;
    RowShape e2b_full_q8 = e2b_full;
    e2b_full_q8.kv_type = KvType::Q8;
    RowShape e4b = e2b;
    e4b.hidden = 2560;
    e4b.kv_heads = 2;
    e4b.inter = 10240;
    e4b.rows = 2;
    RowShape large = e2b;
    large.hidden = 5376;
    large.heads = 32;
    large.kv_heads = 16;
    large.inter = 8192;
    large.ple = 0;
    large.layers = 1;
    RowShape bytes = e2b;
    bytes.format = WeightFormat::Int8Row;
    bytes.inter = 3072;
    return {{"small", small},
            {"E2B", e2b},
            {"E2B, full attention", e2b_full},
            {"small, q8", small_q8},
            {"E2B, q8", e2b_q8},
            {"E2B, full attention, q8", e2b_full_q8},
            {"E4B", e4b},
            {"31B, narrow MLP", large},
            {"8 bits", bytes}};
#endif
}

} // namespace

void checkRowSteps(cuda::CudaDevice& d) {
    const int32_t none = 1;
    if (d.ops().begin_rows == nullptr || d.ops().begin_rows(d.queue(), &none) != Status::Ok) {
        std::printf("steps of a few rows are not one launch on this card\n");
        return;
    }
    d.ops().end_steps(d.queue());
    for (const ChainCase& c : cases()) {
        for (const int64_t rank : {0, 16, 64}) {
            RowShape shape = c.shape;
            if (rank > 0) {
                shape.ranks = {rank};
            }
            RowChain chain(shape);
            chain.compute();
            const CardCopies copies(d, chain);
            const std::string name = std::string("rows of ") + c.name +
                                     (rank > 0 ? ", updates of rank " + std::to_string(rank) : "");
            const Status status = runOn(d, chain, copies);
            if (status == Status::Ok) {
                copies.bringBack();
            }
            report(name + ", first", status, chain.firstError(), kFirstBound);
            report(name + ", caches", status, chain.cacheError(), kBound);
            report(name, status, chain.error(), kBound);
#ifndef BELFRY_EMULATED_CARD
            if (status == Status::Ok) {
                std::printf("    %.1f us\n",
                            microseconds(d, 20, [&](int) { return runOn(d, chain, copies); }));
            }
#endif
        }
    }
}

} // namespace kernel_check
