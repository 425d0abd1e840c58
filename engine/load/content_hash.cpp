// SPDX-License-Identifier: Apache-2.0
// Four lanes of multiplications and rotations, mixed at the end; see content_hash.h.

#include "engine/load/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace engine {

namespace {

constexpr uint64_t kPrime1 = 0x9e3779b97f4a7c15ULL; ///< Odd constants: golden ratio and friends.
constexpr uint64_t kPrime2 = 0xc2b2ae3d27d4eb4fULL;

uint64_t mix(uint64_t value) {
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93ULL;
    value ^= value >> 29;
    value *= kPrime1;
    return value ^ (value >> 32);
}

} // namespace

ContentHasher::ContentHasher(uint64_t seed)
    : lanes_{seed + kPrime1, seed ^ kPrime2, seed - kPrime1, ~seed} {}

void ContentHasher::stripe(const std::byte* bytes) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        uint64_t word = 0;
        std::memcpy(&word, bytes + 8 * lane, 8);
        lanes_[lane] = std::rotl(lanes_[lane] ^ (word * kPrime1), 29) * kPrime2;
    }
}

void ContentHasher::update(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    if (rest_size_ > 0) {
        const size_t taken = std::min(kStripe - rest_size_, bytes.size());
        std::memcpy(rest_.data() + rest_size_, bytes.data(), taken);
        rest_size_ += taken;
        bytes = bytes.subspan(taken);
        if (rest_size_ < kStripe) {
            return;
        }
        stripe(rest_.data());
        rest_size_ = 0;
    }
    while (bytes.size() >= kStripe) {
        stripe(bytes.data());
        bytes = bytes.subspan(kStripe);
    }
    if (!bytes.empty()) {
        std::memcpy(rest_.data(), bytes.data(), bytes.size());
        rest_size_ = bytes.size();
    }
}

uint64_t ContentHasher::finish() const {
    ContentHasher last = *this;
    if (last.rest_size_ > 0) {
        std::fill(last.rest_.begin() + static_cast<std::ptrdiff_t>(last.rest_size_),
                  last.rest_.end(), std::byte{0});
        last.stripe(last.rest_.data());
    }
    uint64_t value = total_ * kPrime1;
    for (const uint64_t lane : last.lanes_) {
        value = mix(value ^ lane) + kPrime2;
    }
    return mix(value);
}

uint64_t contentHash(std::span<const std::byte> bytes, uint64_t seed) {
    ContentHasher hasher(seed);
    hasher.update(bytes);
    return hasher.finish();
}

void PieceHasher::update(std::span<const std::byte> bytes, const ParallelFor& parallel) {
    while (!bytes.empty()) {
        const size_t whole = bytes.size() / kHashPieceBytes;
        if (current_bytes_ == 0 && whole > 0) {
            const size_t before = pieces_.size();
            pieces_.resize(before + whole);
            const auto hash = [&](int64_t begin, int64_t end) {
                for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
                    pieces_[before + i] =
                        contentHash(bytes.subspan(i * kHashPieceBytes, kHashPieceBytes));
                }
            };
            if (parallel && whole > 1) {
                parallel(static_cast<int64_t>(whole), hash);
            } else {
                hash(0, static_cast<int64_t>(whole));
            }
            bytes = bytes.subspan(whole * kHashPieceBytes);
            continue;
        }
        const size_t taken = std::min(kHashPieceBytes - current_bytes_, bytes.size());
        current_.update(bytes.first(taken));
        current_bytes_ += taken;
        bytes = bytes.subspan(taken);
        if (current_bytes_ == kHashPieceBytes) {
            pieces_.push_back(current_.finish());
            current_ = ContentHasher();
            current_bytes_ = 0;
        }
    }
}

std::vector<uint64_t> PieceHasher::finish() {
    if (current_bytes_ > 0) {
        pieces_.push_back(current_.finish());
        current_ = ContentHasher();
        current_bytes_ = 0;
    }
    return std::exchange(pieces_, {});
}

uint64_t PieceHasher::finishWhole() {
    const std::vector<uint64_t> pieces = finish();
    return contentHash(std::as_bytes(std::span(pieces)));
}

} // namespace engine
