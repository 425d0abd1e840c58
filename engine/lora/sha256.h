// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) of byte streams and files, for the merge report.
#pragma once

#include "engine/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>

namespace engine {

class Sha256 {
public:
    void add(std::span<const std::byte> bytes);
    /// Lower-case hexadecimal; the object must not be used afterwards.
    std::string finish();

private:
    void block(const std::byte* bytes);

    std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> pending_ = {};
    size_t pending_bytes_ = 0;
    uint64_t total_bytes_ = 0;
};

/// Digest of a whole file. Errors: of reading, Cancelled.
Result<std::string> sha256OfFile(const std::filesystem::path& file,
                                 const std::stop_token& stop = {});

} // namespace engine
