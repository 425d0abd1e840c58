// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/lent_weights.h"

#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace engine {

using kernels::Status;
using kernels::WeightView;

LentWeights::~LentWeights() {
    card_->freeHost(pieces_);
}

void LentWeights::lendIn(void* memory, size_t bytes) {
    places_ = static_cast<std::byte*>(memory);
    bytes_ = bytes / kPlaces / kPartAlignment * kPartAlignment;
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
        total += (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
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
