// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/sha256.h"

#include "engine/base/file_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace engine {

namespace {

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t bigEndian(const std::byte* bytes) {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        value = (value << 8U) | std::to_integer<uint32_t>(bytes[i]);
    }
    return value;
}

} // namespace

void Sha256::block(const std::byte* bytes) {
    std::array<uint32_t, 64> w = {};
    for (size_t i = 0; i < 16; ++i) {
        w[i] = bigEndian(bytes + 4 * i);
    }
    for (size_t i = 16; i < 64; ++i) {
        const uint32_t a = w[i - 15];
        const uint32_t b = w[i - 2];
        const uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
        const uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    std::array<uint32_t, 8> v = state_;
    for (size_t i = 0; i < 64; ++i) {
        const uint32_t s1 = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
        const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t first = v[7] + s1 + choice + kRound[i] + w[i];
        const uint32_t s0 = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
        const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        std::copy_backward(v.begin(), v.end() - 1, v.end());
        v[4] += first;
        v[0] = first + s0 + majority;
    }
    for (size_t i = 0; i < 8; ++i) {
        state_[i] += v[i];
    }
}

void Sha256::add(std::span<const std::byte> bytes) {
    total_bytes_ += bytes.size();
    while (!bytes.empty()) {
        if (pending_bytes_ == 0 && bytes.size() >= 64) {
            block(bytes.data());
            bytes = bytes.subspan(64);
            continue;
        }
        const size_t n = std::min(bytes.size(), 64 - pending_bytes_);
        std::memcpy(pending_.data() + pending_bytes_, bytes.data(), n);
        pending_bytes_ += n;
        bytes = bytes.subspan(n);
        if (pending_bytes_ == 64) {
            block(pending_.data());
            pending_bytes_ = 0;
        }
    }
}

std::string Sha256::finish() {
    const uint64_t bits = total_bytes_ * 8;
    const std::byte one{0x80};
    add({&one, 1});
    const std::byte zero{0};
    while (pending_bytes_ != 56) {
        add({&zero, 1});
    }
    std::array<std::byte, 8> length = {};
    for (size_t i = 0; i < 8; ++i) {
        length[i] = static_cast<std::byte>((bits >> (56 - 8 * i)) & 0xffU);
    }
    add(length);
    std::string text;
    constexpr std::string_view kHex = "0123456789abcdef";
    for (const uint32_t word : state_) {
        for (int shift = 28; shift >= 0; shift -= 4) {
            text += kHex[(word >> static_cast<unsigned>(shift)) & 15U];
        }
    }
    return text;
}

Result<std::string> sha256OfFile(const std::filesystem::path& file, const std::stop_token& stop) {
    // The caller resolved links; the reader itself follows none.
    ENGINE_ASSIGN(const auto reader, FileReader::open(file));
    Sha256 sha;
    std::vector<std::byte> piece(size_t{1} << 20);
    for (uint64_t at = 0; at < reader->sizeBytes(); at += piece.size()) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("merging was cancelled")};
        }
        const auto n =
            static_cast<size_t>(std::min<uint64_t>(piece.size(), reader->sizeBytes() - at));
        ENGINE_TRY(reader->read(at, std::span(piece).first(n)));
        sha.add(std::span(piece).first(n));
    }
    return sha.finish();
}

} // namespace engine
