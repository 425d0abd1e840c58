// SPDX-License-Identifier: Apache-2.0
// XXH3 (64 bits) of xxHash, compiled in; see content_hash.h.

#include "engine/load/content_hash.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace engine {

namespace {

XXH3_state_t& stateIn(std::byte* memory) {
    return *std::launder(reinterpret_cast<XXH3_state_t*>(memory));
}

} // namespace

ContentHasher::ContentHasher(uint64_t seed) : state_() {
    static_assert(sizeof(XXH3_state_t) <= kStateBytes && alignof(XXH3_state_t) <= kStateAlignment);
    static_assert(std::is_trivially_copyable_v<XXH3_state_t>);
    XXH3_64bits_reset_withSeed(new (state_.data()) XXH3_state_t, seed);
}

void ContentHasher::update(std::span<const std::byte> bytes) {
    XXH3_64bits_update(&stateIn(state_.data()), bytes.data(), bytes.size());
}

uint64_t ContentHasher::finish() const {
    ContentHasher last = *this;
    return XXH3_64bits_digest(&stateIn(last.state_.data()));
}

uint64_t contentHash(std::span<const std::byte> bytes, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
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

std::string hashLibraryVersion() {
    return std::to_string(XXH_VERSION_MAJOR) + "." + std::to_string(XXH_VERSION_MINOR) + "." +
           std::to_string(XXH_VERSION_RELEASE);
}

} // namespace engine
