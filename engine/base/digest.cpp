// SPDX-License-Identifier: Apache-2.0
#include "engine/base/digest.h"

#include "engine/base/digest_x86.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace engine {

namespace {

uint32_t bigEndian(const std::byte* bytes) {
    return (std::to_integer<uint32_t>(bytes[0]) << 24U) |
           (std::to_integer<uint32_t>(bytes[1]) << 16U) |
           (std::to_integer<uint32_t>(bytes[2]) << 8U) | std::to_integer<uint32_t>(bytes[3]);
}

void sha256Plain(uint32_t* state, const std::byte* bytes, size_t num_blocks) {
    for (; num_blocks > 0; --num_blocks, bytes += 64) {
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
        uint32_t a = state[0];
        uint32_t b = state[1];
        uint32_t c = state[2];
        uint32_t d = state[3];
        uint32_t e = state[4];
        uint32_t f = state[5];
        uint32_t g = state[6];
        uint32_t h = state[7];
        for (size_t i = 0; i < 64; ++i) {
            const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + kSha256Rounds[i] + w[i];
            const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
        const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
        for (size_t i = 0; i < 8; ++i) {
            state[i] += sum[i];
        }
    }
}

void sha1Plain(uint32_t* state, const std::byte* bytes, size_t num_blocks) {
    for (; num_blocks > 0; --num_blocks, bytes += 64) {
        std::array<uint32_t, 80> w = {};
        for (size_t i = 0; i < 16; ++i) {
            w[i] = bigEndian(bytes + 4 * i);
        }
        for (size_t i = 16; i < 80; ++i) {
            w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        }
        uint32_t a = state[0];
        uint32_t b = state[1];
        uint32_t c = state[2];
        uint32_t d = state[3];
        uint32_t e = state[4];
        for (size_t i = 0; i < 80; ++i) {
            uint32_t mixed = b ^ c ^ d;
            uint32_t constant = i < 40 ? 0x6ed9eba1 : 0xca62c1d6;
            if (i < 20) {
                mixed = (b & c) | (~b & d);
                constant = 0x5a827999;
            } else if (i >= 40 && i < 60) {
                mixed = (b & c) | (b & d) | (c & d);
                constant = 0x8f1bbcdc;
            }
            const uint32_t next = std::rotl(a, 5) + mixed + e + constant + w[i];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        const std::array<uint32_t, 5> sum = {a, b, c, d, e};
        for (size_t i = 0; i < 5; ++i) {
            state[i] += sum[i];
        }
    }
}

} // namespace

DigestBlocks plainSha256Blocks() {
    return sha256Plain;
}

DigestBlocks sha256Blocks() {
    static const DigestBlocks chosen =
        x86Sha256Blocks() != nullptr ? x86Sha256Blocks() : plainSha256Blocks();
    return chosen;
}

Digest Digest::sha256By(DigestBlocks blocks) {
    return {blocks,
            {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
             0x5be0cd19},
            8};
}

Digest Digest::sha256() {
    return sha256By(sha256Blocks());
}

Digest Digest::gitBlob(uint64_t size_bytes) {
    Digest digest(sha1Plain, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, 5);
    const std::string head = "blob " + std::to_string(size_bytes);
    digest.add(std::as_bytes(std::span(head.c_str(), head.size() + 1))); // with its zero byte
    return digest;
}

void Digest::add(std::span<const std::byte> bytes) {
    total_bytes_ += bytes.size();
    while (!bytes.empty()) {
        if (pending_bytes_ == 0 && bytes.size() >= 64) {
            const size_t num_blocks = bytes.size() / 64;
            blocks_(state_.data(), bytes.data(), num_blocks);
            bytes = bytes.subspan(num_blocks * 64);
            continue;
        }
        const size_t n = std::min(bytes.size(), 64 - pending_bytes_);
        std::memcpy(pending_.data() + pending_bytes_, bytes.data(), n);
        pending_bytes_ += n;
        bytes = bytes.subspan(n);
        if (pending_bytes_ == 64) {
            blocks_(state_.data(), pending_.data(), 1);
            pending_bytes_ = 0;
        }
    }
}

std::string Digest::finish() {
    const uint64_t bits = total_bytes_ * 8;
    std::array<std::byte, 72> tail = {std::byte{0x80}};
    const size_t used = (pending_bytes_ + 1 + 8) % 64;
    const size_t num_zeros = used == 0 ? 0 : 64 - used;
    for (size_t i = 0; i < 8; ++i) {
        tail[1 + num_zeros + i] = static_cast<std::byte>((bits >> (56 - 8 * i)) & 0xffU);
    }
    add(std::span(tail).first(1 + num_zeros + 8));
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (size_t word = 0; word < num_words_; ++word) {
        for (unsigned shift = 32; shift > 0; shift -= 4) {
            text += kHex[(state_[word] >> (shift - 4)) & 15U];
        }
    }
    return text;
}

} // namespace engine
