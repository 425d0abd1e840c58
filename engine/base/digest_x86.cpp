// SPDX-License-Identifier: Apache-2.0
#include "engine/base/digest_x86.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>
#include <immintrin.h>

namespace engine {

namespace {

constexpr unsigned kSsse3 = 1U << 9U;   // CPUID leaf 1, ecx
constexpr unsigned kSse41 = 1U << 19U;  // CPUID leaf 1, ecx
constexpr unsigned kShaBit = 1U << 29U; // CPUID leaf 7, ebx

bool hasShaInstructions() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) {
        return false;
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kShaBit) != 0;
}

// The instructions keep the state as two registers, {a, b, e, f} and {c, d, g, h} from the highest
// word down, and do two rounds each with the sums w[i] + k[i] of the lowest two words.
[[gnu::target("sha,sse4.1,ssse3")]] void
sha256Instructions(uint32_t* state, const std::byte* bytes, size_t num_blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const auto load = [](const void* from) {
        return _mm_loadu_si128(static_cast<const __m128i*>(from));
    };
    const __m128i dcba = _mm_shuffle_epi32(load(state), 0xb1);     // c d a b
    const __m128i hgfe = _mm_shuffle_epi32(load(state + 4), 0x1b); // e f g h
    __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
    for (; num_blocks > 0; --num_blocks, bytes += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; ++i) {
            w[i] = _mm_shuffle_epi8(load(bytes + 16 * i), swap);
        }
#pragma GCC unroll 16
        for (int four = 0; four < 16; ++four) {
            const __m128i now = w[four % 4];
            const __m128i sums =
                _mm_add_epi32(now, load(&kSha256Rounds[static_cast<size_t>(four) * 4]));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sums, 0x0e));
            if (four < 12) { // w of the rounds 16 further on, in this one's place
                const __m128i last = w[(four + 3) % 4];
                const __m128i middle = _mm_alignr_epi8(last, w[(four + 2) % 4], 4);
                const __m128i half =
                    _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(four + 1) % 4]), middle);
                w[four % 4] = _mm_sha256msg2_epu32(half, last);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

} // namespace

DigestBlocks x86Sha256Blocks() {
    return hasShaInstructions() ? sha256Instructions : nullptr;
}

} // namespace engine

#else

namespace engine {

DigestBlocks x86Sha256Blocks() {
    return nullptr;
}

} // namespace engine

#endif
