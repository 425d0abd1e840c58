// SPDX-License-Identifier: Apache-2.0
// The hash behind checksums and keys of the weight cache, whole and in pieces: XXH3 with 64 bits of
// xxHash. It finds damage and change; it is no seal against somebody who wants two contents of one
// hash.
#pragma once

#include "engine/quant/quantize.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// 64-bit content hash (not cryptographic), fed piece by piece: the same value for any split.
class ContentHasher {
public:
    explicit ContentHasher(uint64_t seed = 0);
    void update(std::span<const std::byte> bytes);
    [[nodiscard]] uint64_t finish() const;

private:
    static constexpr size_t kStateBytes = 576, kStateAlignment = 64;
    alignas(kStateAlignment) std::array<std::byte, kStateBytes> state_; ///< XXH3_state_t
};
uint64_t contentHash(std::span<const std::byte> bytes, uint64_t seed = 0);

/// Bytes of one piece of a part or tensor. A row that is read alone costs one or two pieces; a
/// checksum of 8 bytes for each is 0.05 % of a file.
inline constexpr size_t kHashPieceBytes = size_t{16} << 10;

/// Hashes every piece of a long sequence of bytes by itself: the same values for any split.
class PieceHasher {
public:
    void update(std::span<const std::byte> bytes, const ParallelFor& parallel = {});
    /// One hash a piece, the last of which may be short. What follows begins anew.
    [[nodiscard]] std::vector<uint64_t> finish();
    /// One hash of all. Instead of finish().
    [[nodiscard]] uint64_t finishWhole();

private:
    std::vector<uint64_t> pieces_;
    ContentHasher current_;
    size_t current_bytes_ = 0;
};

/// Version of the library behind it (a header only): "0.8.1".
std::string hashLibraryVersion();

} // namespace engine
