// SPDX-License-Identifier: Apache-2.0
// Both passes end in one kernel, weightedSum16(): 16 neighbouring bytes of `count` rows, weighted
// and summed. The vertical pass runs it along image rows as they are. The horizontal pass first
// transposes 16 image rows, so that its columns become rows of 16 bytes, and transposes back.
//
// A 22-bit weight does not fit the 16-bit multiply-and-add that every x86-64 has, so each weight is
// split into high * 2^11 + low; the two sums are exact, and so is their combination modulo 2^32.
#include "engine/media/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace engine::media {

namespace {

constexpr int kWeightBits = 22;
constexpr int kLowBits = 11;
constexpr int64_t kLanes = 16;

/// Keys' cubic with a = -0.5, in the order of operations that the reference rounds in.
double cubic(double x) {
    constexpr double kA = -0.5;
    x = std::abs(x);
    if (x < 1.0) {
        return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
    }
    if (x < 2.0) {
        return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
    }
    return 0.0;
}

int32_t toFixed(double weight) {
    const double scaled = weight * (1 << kWeightBits);
    return static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

/// AxisWeights with each weight split in two 16-bit parts.
struct SplitWeights {
    AxisWeights axis;
    std::vector<int16_t> high; ///< [n_out, max_taps], weight >> 11
    std::vector<int16_t> low;  ///< [n_out, max_taps], weight & 2047

    explicit SplitWeights(AxisWeights from) : axis(std::move(from)) {
        high.reserve(axis.weights.size());
        low.reserve(axis.weights.size());
        for (const int32_t w : axis.weights) {
            // A normalised weight is below 2 in size, so the high part is below 2^12.
            high.push_back(static_cast<int16_t>(w >> kLowBits));
            low.push_back(static_cast<int16_t>(w & ((1 << kLowBits) - 1)));
        }
    }
    [[nodiscard]] const int16_t* highOf(int64_t i) const { return high.data() + i * axis.max_taps; }
    [[nodiscard]] const int16_t* lowOf(int64_t i) const { return low.data() + i * axis.max_taps; }
};

#if defined(__SSE2__)

__m128i loadRow(const uint8_t* row) {
    return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(row)));
}

/// Two 16-bit weights in every 32-bit lane; the second is 0 behind the last tap.
__m128i weightPair(const int16_t* weights, bool has_second) {
    const auto first = static_cast<uint16_t>(weights[0]);
    const auto second = static_cast<uint16_t>(has_second ? weights[1] : 0);
    return _mm_set1_epi32(static_cast<int32_t>(first | (static_cast<uint32_t>(second) << 16U)));
}

__m128i finish(__m128i high, __m128i low) {
    const __m128i half = _mm_set1_epi32(1 << (kWeightBits - 1));
    const __m128i sum = _mm_add_epi32(_mm_add_epi32(_mm_slli_epi32(high, kLowBits), low), half);
    return _mm_srai_epi32(sum, kWeightBits);
}

/// out[l] = clamp((2^21 + sum_k weight_k * base[k * stride + l]) >> 22), l = 0..15.
void weightedSum16(const uint8_t* base,
                   ptrdiff_t stride,
                   int64_t count,
                   const int16_t* high_weights,
                   const int16_t* low_weights,
                   uint8_t* out) {
    const __m128i zero = _mm_setzero_si128();
    __m128i high0 = zero;
    __m128i high1 = zero;
    __m128i high2 = zero;
    __m128i high3 = zero;
    __m128i low0 = zero;
    __m128i low1 = zero;
    __m128i low2 = zero;
    __m128i low3 = zero;
    for (int64_t k = 0; k < count; k += 2) {
        const bool has_second = k + 1 < count;
        const __m128i a = loadRow(base + k * stride);
        const __m128i b = has_second ? loadRow(base + (k + 1) * stride) : zero;
        const __m128i ab_low = _mm_unpacklo_epi8(a, b);
        const __m128i ab_high = _mm_unpackhi_epi8(a, b);
        const __m128i v0 = _mm_unpacklo_epi8(ab_low, zero);
        const __m128i v1 = _mm_unpackhi_epi8(ab_low, zero);
        const __m128i v2 = _mm_unpacklo_epi8(ab_high, zero);
        const __m128i v3 = _mm_unpackhi_epi8(ab_high, zero);
        const __m128i wh = weightPair(high_weights + k, has_second);
        const __m128i wl = weightPair(low_weights + k, has_second);
        high0 = _mm_add_epi32(high0, _mm_madd_epi16(v0, wh));
        high1 = _mm_add_epi32(high1, _mm_madd_epi16(v1, wh));
        high2 = _mm_add_epi32(high2, _mm_madd_epi16(v2, wh));
        high3 = _mm_add_epi32(high3, _mm_madd_epi16(v3, wh));
        low0 = _mm_add_epi32(low0, _mm_madd_epi16(v0, wl));
        low1 = _mm_add_epi32(low1, _mm_madd_epi16(v1, wl));
        low2 = _mm_add_epi32(low2, _mm_madd_epi16(v2, wl));
        low3 = _mm_add_epi32(low3, _mm_madd_epi16(v3, wl));
    }
    // Saturating to 16 bits and then to 0..255 is the clamp.
    const __m128i first = _mm_packs_epi32(finish(high0, low0), finish(high1, low1));
    const __m128i second = _mm_packs_epi32(finish(high2, low2), finish(high3, low3));
    _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(out)),
                     _mm_packus_epi16(first, second));
}

/// to[c * 16 + r] = from[r * stride + c] for a tile of 16 x 16 bytes.
void transpose16(const uint8_t* from, ptrdiff_t from_stride, uint8_t* to, ptrdiff_t to_stride) {
    __m128i a[16];
    __m128i b[16];
    for (int r = 0; r < 16; ++r) {
        a[r] = loadRow(from + r * from_stride);
    }
    // Four rounds of interleaving row i with row i + 8 move bit 3 of the row index into the column.
    for (int round = 0; round < 4; ++round) {
        for (size_t i = 0; i < 8; ++i) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        std::copy(b, b + 16, a);
    }
    for (int c = 0; c < 16; ++c) {
        _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(to + c * to_stride)), a[c]);
    }
}

#else

void weightedSum16(const uint8_t* base,
                   ptrdiff_t stride,
                   int64_t count,
                   const int16_t* high_weights,
                   const int16_t* low_weights,
                   uint8_t* out) {
    uint32_t sum[kLanes];
    std::fill(sum, sum + kLanes, 1U << (kWeightBits - 1));
    for (int64_t k = 0; k < count; ++k) {
        const uint8_t* row = base + k * stride;
        const auto weight =
            static_cast<uint32_t>(high_weights[k] * (1 << kLowBits) + low_weights[k]);
        for (int64_t l = 0; l < kLanes; ++l) {
            sum[l] += weight * row[l];
        }
    }
    for (int64_t l = 0; l < kLanes; ++l) {
        const int32_t value = static_cast<int32_t>(sum[l]) >> kWeightBits;
        out[l] = static_cast<uint8_t>(std::clamp(value, 0, 255));
    }
}

void transpose16(const uint8_t* from, ptrdiff_t from_stride, uint8_t* to, ptrdiff_t to_stride) {
    for (int64_t r = 0; r < kLanes; ++r) {
        for (int64_t c = 0; c < kLanes; ++c) {
            to[c * to_stride + r] = from[r * from_stride + c];
        }
    }
}

#endif

/// Rows of bytes with a stride that is a multiple of 16, so that the kernel needs no tail.
struct ByteRows {
    int64_t rows = 0;
    int64_t bytes = 0; ///< used bytes per row
    int64_t stride = 0;
    std::vector<uint8_t> data;

    ByteRows(int64_t rows_in, int64_t bytes_in)
        : rows(rows_in), bytes(bytes_in), stride((bytes_in + kLanes - 1) / kLanes * kLanes),
          data(static_cast<size_t>(rows * stride)) {}
};

/// Horizontal pass: 16 image rows at a time.
ByteRows
resizeRows(std::span<const uint8_t> rgb, int64_t height, int64_t width, int64_t new_width) {
    const SplitWeights weights(bicubicWeights(width, new_width));
    const int64_t row_bytes = width * 3;
    const int64_t whole_tiles = row_bytes / kLanes;
    ByteRows out(height, new_width * 3);
    // Columns as rows of 16 bytes: one byte column of the picture, 16 image rows.
    std::vector<uint8_t> columns(static_cast<size_t>((row_bytes + kLanes) * kLanes));
    std::vector<uint8_t> new_columns(static_cast<size_t>(out.stride * kLanes));
    std::vector<uint8_t> padded(static_cast<size_t>(row_bytes * kLanes));
    for (int64_t y = 0; y < height; y += kLanes) {
        const int64_t rows = std::min(kLanes, height - y);
        const uint8_t* from = rgb.data() + y * row_bytes;
        if (rows < kLanes) {
            std::copy_n(from, rows * row_bytes, padded.data());
            from = padded.data();
        }
        for (int64_t tile = 0; tile < whole_tiles; ++tile) {
            transpose16(from + tile * kLanes, row_bytes, columns.data() + tile * kLanes * kLanes,
                        kLanes);
        }
        for (int64_t c = whole_tiles * kLanes; c < row_bytes; ++c) {
            for (int64_t r = 0; r < kLanes; ++r) {
                columns[static_cast<size_t>(c * kLanes + r)] = from[r * row_bytes + c];
            }
        }
        for (int64_t x = 0; x < new_width; ++x) {
            const auto i = static_cast<size_t>(x);
            const uint8_t* base = columns.data() + weights.axis.start[i] * 3 * kLanes;
            for (int64_t channel = 0; channel < 3; ++channel) {
                weightedSum16(base + channel * kLanes, 3 * kLanes, weights.axis.count[i],
                              weights.highOf(x), weights.lowOf(x),
                              new_columns.data() + (x * 3 + channel) * kLanes);
            }
        }
        for (int64_t c = 0; c < out.stride; c += kLanes) {
            if (rows == kLanes) {
                transpose16(new_columns.data() + c * kLanes, kLanes,
                            out.data.data() + y * out.stride + c, out.stride);
                continue;
            }
            uint8_t tile[kLanes * kLanes];
            transpose16(new_columns.data() + c * kLanes, kLanes, tile, kLanes);
            for (int64_t r = 0; r < rows; ++r) {
                std::copy_n(tile + r * kLanes, kLanes, out.data.data() + (y + r) * out.stride + c);
            }
        }
    }
    return out;
}

ByteRows copyRows(std::span<const uint8_t> rgb, int64_t height, int64_t width) {
    ByteRows out(height, width * 3);
    for (int64_t y = 0; y < height; ++y) {
        std::copy_n(rgb.data() + y * out.bytes, out.bytes, out.data.data() + y * out.stride);
    }
    return out;
}

/// Vertical pass.
ByteRows resizeColumns(const ByteRows& in, int64_t new_height) {
    const SplitWeights weights(bicubicWeights(in.rows, new_height));
    ByteRows out(new_height, in.bytes);
    for (int64_t y = 0; y < new_height; ++y) {
        const auto i = static_cast<size_t>(y);
        const uint8_t* base = in.data.data() + weights.axis.start[i] * in.stride;
        for (int64_t x = 0; x < in.stride; x += kLanes) {
            weightedSum16(base + x, in.stride, weights.axis.count[i], weights.highOf(y),
                          weights.lowOf(y), out.data.data() + y * out.stride + x);
        }
    }
    return out;
}

} // namespace

AxisWeights bicubicWeights(int64_t n_in, int64_t n_out) {
    const double scale = static_cast<double>(n_in) / static_cast<double>(n_out);
    const double widening = std::max(scale, 1.0);
    const double support = 2.0 * widening;
    const double narrowing = 1.0 / widening;
    AxisWeights axis;
    axis.max_taps = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
    axis.start.resize(static_cast<size_t>(n_out));
    axis.count.resize(static_cast<size_t>(n_out));
    axis.weights.resize(static_cast<size_t>(n_out * axis.max_taps));
    std::vector<double> exact(static_cast<size_t>(axis.max_taps));
    for (int64_t i = 0; i < n_out; ++i) {
        const double centre = (static_cast<double>(i) + 0.5) * scale;
        const auto first =
            std::max<int64_t>(0, static_cast<int64_t>(std::trunc(centre - support + 0.5)));
        const auto end =
            std::min<int64_t>(n_in, static_cast<int64_t>(std::trunc(centre + support + 0.5)));
        const int64_t count = std::min(end - first, axis.max_taps);
        double sum = 0.0;
        for (int64_t k = 0; k < count; ++k) {
            const double distance = static_cast<double>(k + first) - centre + 0.5;
            exact[static_cast<size_t>(k)] = cubic(distance * narrowing);
            sum += exact[static_cast<size_t>(k)];
        }
        axis.start[static_cast<size_t>(i)] = first;
        axis.count[static_cast<size_t>(i)] = count;
        for (int64_t k = 0; k < count; ++k) {
            const double weight = exact[static_cast<size_t>(k)];
            axis.weights[static_cast<size_t>(i * axis.max_taps + k)] =
                toFixed(sum != 0.0 ? weight / sum : weight);
        }
    }
    return axis;
}

std::vector<uint8_t> resizeBicubic(std::span<const uint8_t> rgb,
                                   int64_t height,
                                   int64_t width,
                                   int64_t new_height,
                                   int64_t new_width) {
    if (height == new_height && width == new_width) {
        return {rgb.begin(), rgb.end()};
    }
    ByteRows rows = width != new_width ? resizeRows(rgb, height, width, new_width)
                                       : copyRows(rgb, height, width);
    if (height != new_height) {
        rows = resizeColumns(rows, new_height);
    }
    std::vector<uint8_t> out(static_cast<size_t>(new_height * rows.bytes));
    for (int64_t y = 0; y < new_height; ++y) {
        std::copy_n(rows.data.data() + y * rows.stride, rows.bytes, out.data() + y * rows.bytes);
    }
    return out;
}

} // namespace engine::media
