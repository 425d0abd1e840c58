// SPDX-License-Identifier: Apache-2.0
// Decoder layers of a few tokens as one launch (stream_rows.cu), without and with low-rank updates,
// against the scalar CPU table token by token, and what such a launch takes.
#include "tests/gpu/kernel_check.h"
#include "tests/kernels/row_cases.h"

#include <cstddef>
#include <cstdlib>
#include <map>

namespace kernel_check {
namespace {

using support::RowChain;
using support::RowShape;

/// Inputs of 11 bits, sums of 8-bit and 4-bit weights, cached rows in bf16: as of the emulated
/// card.
constexpr double kBound = 2e-2;
constexpr double kFirstBound = 2e-3; ///< For the first projection alone.

/// The operands of a chain in the card's memory.
class CardCopies {
public:
    CardCopies(cuda::CudaDevice& d, RowChain& chain) : d_(&d) {
        chain.eachOperand([&](void* host, size_t size) {
            if (size == 0) {
                return;
            }
            auto card = std::make_unique<Buffer>(d, size + 64);
            d.copyIn(card->data, host, size);
            copies_.emplace(reinterpret_cast<uintptr_t>(host), Copy{host, size, std::move(card)});
        });
    }
    /// Where what lies at `host` is in the card's memory.
    template <typename T>
    T* there(T* host) const {
        if (host == nullptr) {
            return nullptr;
        }
        const auto address = reinterpret_cast<uintptr_t>(host);
        const auto behind = copies_.upper_bound(address);
        const size_t offset =
            behind == copies_.begin() ? SIZE_MAX : address - std::prev(behind)->first;
        if (offset == SIZE_MAX || offset >= std::prev(behind)->second.size) {
            std::printf("an operand is in no copy\n");
            std::exit(1);
        }
        return reinterpret_cast<T*>(static_cast<std::byte*>(std::prev(behind)->second.card->data) +
                                    offset);
    }
    Status run(RowChain& chain) const {
        return chain.run(*d_, [this](auto* at) { return there(at); });
    }
    void bringBack() const {
        for (const auto& [address, copy] : copies_) {
            d_->copyOut(copy.host, copy.card->data, copy.size);
        }
        d_->synchronize();
    }

private:
    struct Copy {
        void* host;
        size_t size;
        std::unique_ptr<Buffer> card;
    };
    cuda::CudaDevice* d_;
    std::map<uintptr_t, Copy> copies_;
};

struct ChainCase {
    const char* name;
    RowShape shape;
};

std::vector<ChainCase> cases() {
    RowShape small;
#ifdef BELFRY_EMULATED_CARD
    return {{"small", small}};
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
            const Status status = copies.run(chain);
            if (status == Status::Ok) {
                copies.bringBack();
            }
            report(name + ", first", status, chain.firstError(), kFirstBound);
            report(name + ", caches", status, chain.cacheError(), kBound);
            report(name, status, chain.error(), kBound);
#ifndef BELFRY_EMULATED_CARD
            if (status == Status::Ok) {
                std::printf("    %.1f us\n",
                            microseconds(d, 20, [&](int) { return copies.run(chain); }));
            }
#endif
        }
    }
}

} // namespace kernel_check
