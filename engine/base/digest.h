// SPDX-License-Identifier: Apache-2.0
// The two checksums by which hubs name a file's content: SHA-256 (FIPS 180-4) of large files, which
// the report of a merge has too, and git's blob id of small ones: SHA-1 over "blob SIZE\0" and the
// content. Here and not from a library, because a download is hashed beside the writing and must
// not wait for it: Qt's routine does 0.13 GB/s, a processor with SHA instructions 1.5 and more, and
// OpenSSL, which has the same routine, would be one more library to build and ship for Windows for
// these two functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace engine {

/// Processes whole blocks of 64 bytes.
using DigestBlocks = void (*)(uint32_t* state, const std::byte* bytes, size_t num_blocks);

/// The fastest that this processor has, and the plain one that is its reference.
DigestBlocks sha256Blocks();
DigestBlocks plainSha256Blocks();

class Digest {
public:
    static Digest sha256();
    /// For a file of `size_bytes`.
    static Digest gitBlob(uint64_t size_bytes);
    /// SHA-256 by this routine, for its test.
    static Digest sha256By(DigestBlocks blocks);

    void add(std::span<const std::byte> bytes);
    /// Lower-case hexadecimal, 64 or 40 digits; the object must not be used afterwards.
    std::string finish();

private:
    Digest(DigestBlocks blocks, std::array<uint32_t, 8> state, size_t num_words)
        : blocks_(blocks), state_(state), num_words_(num_words) {}

    DigestBlocks blocks_;
    std::array<uint32_t, 8> state_;
    size_t num_words_; ///< How many words of the state are the digest.
    std::array<std::byte, 64> pending_ = {};
    size_t pending_bytes_ = 0;
    uint64_t total_bytes_ = 0;
};

} // namespace engine
