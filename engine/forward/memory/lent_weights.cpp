// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/lent_weights.h"

#include "kernels/cpu/thread_pool.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <cstring>

namespace engine {

using kernels::Status;
using kernels::WeightLayout;
using kernels::WeightView;

namespace {

constexpr int64_t kNestedBlocks = 256; ///< Blocks of one nested absmax.
constexpr int64_t kNestedCodes = 256;
constexpr size_t kAlignment = 256;

/// fn(pointer member, bytes) for every part that the view has.
template <typename View, typename Fn>
void eachPart(View& view, const Fn& fn) {
    const int64_t count = view.rows * view.cols;
    const auto blocks = [&view, count] { return (count + view.block_size - 1) / view.block_size; };
    switch (kernels::rowOf(view.format).layout) {
    case WeightLayout::F32:
    case WeightLayout::F16:
    case WeightLayout::BF16:
    case WeightLayout::Blocks:
        fn(view.data, kernels::valueBytes(view.format, count));
        return;
    case WeightLayout::Int8Row:
        fn(view.data, count);
        fn(view.row_scale, 4 * view.rows);
        return;
    case WeightLayout::Int8Block:
        fn(view.data, count);
        fn(view.absmax, 4 * blocks());
        return;
    case WeightLayout::Codes:
        fn(view.data, (count + 1) / 2);
        if (view.absmax != nullptr) {
            fn(view.absmax, 4 * blocks());
        } else {
            fn(view.absmax_q, blocks());
            fn(view.nested_absmax, 4 * ((blocks() + kNestedBlocks - 1) / kNestedBlocks));
            fn(view.nested_code, 4 * kNestedCodes);
        }
        return;
    }
}

} // namespace

bool takeRows(WeightView& view, int64_t first, int64_t rows) {
    const int64_t element = first * view.cols;
    const auto move = [&view](int64_t bytes) {
        view.data = static_cast<const std::byte*>(view.data) + bytes;
    };
    switch (kernels::rowOf(view.format).layout) {
    case WeightLayout::F32:
        move(element * 4);
        break;
    case WeightLayout::F16:
    case WeightLayout::BF16:
        move(element * 2);
        break;
    case WeightLayout::Blocks: // A row begins a block.
        move(kernels::valueBytes(view.format, element));
        break;
    case WeightLayout::Int8Row:
        move(element);
        view.row_scale += first;
        break;
    case WeightLayout::Int8Block:
        if (element % view.block_size != 0) {
            return false;
        }
        move(element);
        view.absmax += element / view.block_size;
        break;
    case WeightLayout::Codes: {
        const int64_t block = element / view.block_size;
        const bool is_nested = view.absmax == nullptr;
        if (element % 2 != 0 || element % view.block_size != 0 ||
            (is_nested && block % kNestedBlocks != 0)) {
            return false;
        }
        move(element / 2);
        if (is_nested) {
            view.absmax_q += block;
            view.nested_absmax += block / kNestedBlocks;
        } else {
            view.absmax += block;
        }
        break;
    }
    }
    view.rows = rows;
    return true;
}

size_t bytesOf(const WeightView& view) {
    size_t bytes = 0;
    eachPart(view, [&bytes](const auto* /*data*/, int64_t size) {
        bytes += (static_cast<size_t>(size) + kAlignment - 1) / kAlignment * kAlignment;
    });
    return bytes;
}

LentWeights::LentWeights(kernels::Device& card, void* places, size_t bytes, kernels::Queue host)
    : card_(&card), places_(static_cast<std::byte*>(places)),
      bytes_(bytes / kAlignment * kAlignment), host_(host) {}

LentWeights::~LentWeights() {
    card_->freeHost(pieces_);
}

Status LentWeights::lend(const WeightView& weight, WeightView& there) {
    if (pieces_ == nullptr) {
        pieces_ = static_cast<std::byte*>(card_->allocateHost(kPieces * kPieceBytes));
        if (pieces_ == nullptr) {
            return Status::OutOfMemory;
        }
    }
    if (place_ >= 0) { // whatever computes with the last one has been enqueued
        if (const Status status = card_->mark(kFirstMark + place_); status != Status::Ok) {
            return status;
        }
    }
    place_ = (place_ + 1) % kPlaces;
    std::byte* const to = places_ + static_cast<size_t>(place_) * bytes_;
    struct Stretch {
        const std::byte* from;
        size_t at, bytes;
    };
    std::array<Stretch, 4> parts{};
    size_t count = 0;
    size_t total = 0;
    there = weight;
    eachPart(there, [&](auto*& data, int64_t size) {
        const auto bytes = static_cast<size_t>(size);
        parts[count++] = {reinterpret_cast<const std::byte*>(data), total, bytes};
        data = reinterpret_cast<std::remove_reference_t<decltype(data)>>(to + total);
        total += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    });
    for (size_t begin = 0; begin < total; begin += kPieceBytes) {
        const size_t size = std::min(kPieceBytes, total - begin);
        const int mark = kFirstMark + kPlaces + piece_;
        std::byte* const piece = pieces_ + static_cast<size_t>(piece_) * kPieceBytes;
        piece_ = (piece_ + 1) % kPieces;
        Status status = card_->waitForMark(mark);
        if (status != Status::Ok) {
            return status;
        }
        constexpr int64_t kAtOnce = int64_t{256} << 10;
        kernels::cpu::parallelFor(kernels::cpu::poolOf(host_), static_cast<int64_t>(size), kAtOnce,
                                  [&](int64_t first, int64_t end) {
                                      const size_t from = begin + static_cast<size_t>(first);
                                      const size_t until = begin + static_cast<size_t>(end);
                                      for (size_t i = 0; i < count; ++i) {
                                          const Stretch& part = parts[i];
                                          const size_t low = std::max(from, part.at);
                                          const size_t high = std::min(until, part.at + part.bytes);
                                          if (low < high) {
                                              std::memcpy(piece + (low - begin),
                                                          part.from + (low - part.at), high - low);
                                          }
                                      }
                                  });
        status = card_->copyInLater(to + begin, piece, size, kFirstMark + place_);
        status = status == Status::Ok ? card_->mark(mark) : status;
        if (status != Status::Ok) {
            return status;
        }
    }
    return Status::Ok;
}

} // namespace engine
