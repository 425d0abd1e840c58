// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/lent_weights.h"

#include "kernels/cpu/thread_pool.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

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

LentWeights::~LentWeights() {
    card_->freeHost(pieces_);
}

void LentWeights::lendIn(void* memory, size_t bytes) {
    places_ = static_cast<std::byte*>(memory);
    bytes_ = bytes / kPlaces / kAlignment * kAlignment;
    is_new_ = true;
}

Status LentWeights::takePiece(std::byte*& piece, int& mark) {
    if (pieces_ == nullptr) {
        pieces_ = static_cast<std::byte*>(card_->allocateHost(kPieces * kPieceBytes));
        if (pieces_ == nullptr) {
            return Status::OutOfMemory;
        }
    }
    mark = kFirstMark + kPlaces + piece_;
    piece = pieces_ + static_cast<size_t>(piece_) * kPieceBytes;
    piece_ = (piece_ + 1) % kPieces;
    return card_->waitForMark(mark);
}

void LentWeights::copy(void* to, const void* from, size_t bytes) const {
    constexpr int64_t kAtOnce = int64_t{256} << 10;
    kernels::cpu::parallelFor(kernels::cpu::poolOf(host_), static_cast<int64_t>(bytes), kAtOnce,
                              [&](int64_t begin, int64_t end) {
                                  std::memcpy(static_cast<std::byte*>(to) + begin,
                                              static_cast<const std::byte*>(from) + begin,
                                              static_cast<size_t>(end - begin));
                              });
}

Status LentWeights::lend(const WeightView& weight, WeightView& there) {
    int after = kernels::Device::kNoMark;
    if (!is_new_) { // whatever computes with the last one has been enqueued
        if (const Status status = card_->mark(kFirstMark + place_); status != Status::Ok) {
            return status;
        }
    }
    place_ = (place_ + 1) % kPlaces;
    if (!is_new_) {
        after = kFirstMark + place_;
    }
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
        std::byte* piece = nullptr;
        int mark = 0;
        Status status = takePiece(piece, mark);
        for (size_t i = 0; i < count && status == Status::Ok; ++i) {
            const size_t low = std::max(begin, parts[i].at);
            const size_t high = std::min(begin + size, parts[i].at + parts[i].bytes);
            if (low < high) {
                copy(piece + (low - begin), parts[i].from + (low - parts[i].at), high - low);
            }
        }
        status = status == Status::Ok ? card_->copyInLater(to + begin, piece, size, after) : status;
        status = status == Status::Ok ? card_->mark(mark) : status;
        if (status != Status::Ok) {
            return status;
        }
    }
    if (std::exchange(is_new_, false)) {
        // The other place has not been used either: its first weights wait for all that is
        // enqueued.
        return card_->mark(kFirstMark + (place_ + 1) % kPlaces);
    }
    return Status::Ok;
}

Status LentWeights::send(void* to, const void* from, size_t bytes) {
    Status status = Status::Ok;
    for (size_t at = 0; at < bytes && status == Status::Ok; at += kPieceBytes) {
        const size_t size = std::min(kPieceBytes, bytes - at);
        std::byte* piece = nullptr;
        int mark = 0;
        status = takePiece(piece, mark);
        if (status == Status::Ok) {
            copy(piece, static_cast<const std::byte*>(from) + at, size);
            status = card_->copyInLater(static_cast<std::byte*>(to) + at, piece, size,
                                        kernels::Device::kNoMark);
        }
        status = status == Status::Ok ? card_->mark(mark) : status;
    }
    return status;
}

Status LentWeights::fetch(void* to, const void* from, size_t bytes) {
    struct Piece {
        std::byte* memory = nullptr;
        int mark = 0;
        size_t at = 0, bytes = 0;
    };
    Piece before;
    const auto take = [&](const Piece& piece) {
        const Status status = card_->waitForMark(piece.mark);
        if (status == Status::Ok) {
            copy(static_cast<std::byte*>(to) + piece.at, piece.memory, piece.bytes);
        }
        return status;
    };
    Status status = Status::Ok;
    for (size_t at = 0; at < bytes && status == Status::Ok; at += kPieceBytes) {
        Piece next{nullptr, 0, at, std::min(kPieceBytes, bytes - at)};
        status = takePiece(next.memory, next.mark);
        status = status == Status::Ok
                     ? card_->copyOutLater(next.memory, static_cast<const std::byte*>(from) + at,
                                           next.bytes)
                     : status;
        status = status == Status::Ok ? card_->mark(next.mark) : status;
        if (status == Status::Ok && before.memory != nullptr) {
            status = take(before);
        }
        before = next;
    }
    return status == Status::Ok && before.memory != nullptr ? take(before) : status;
}

} // namespace engine
