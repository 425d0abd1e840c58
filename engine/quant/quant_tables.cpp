// SPDX-License-Identifier: Apache-2.0
// Constants and byte rules of the formats: the values of codes, the dynamic 8-bit map and its
// generator, sizes. Values by bit pattern, so that no compiler's decimal parsing is involved.

#include "engine/quant/quantize.h"
#include "engine/quant/quantize_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace engine {

namespace {

constexpr std::array<uint32_t, 256> kDynamicMapBits = {
    0xbf7e3333, 0xbf7a999a, 0xbf770000, 0xbf736666, 0xbf6fcccd, 0xbf6c3333, 0xbf68999a, 0xbf650000,
    0xbf616666, 0xbf5dcccd, 0xbf5a3333, 0xbf56999a, 0xbf530000, 0xbf4f6666, 0xbf4bcccd, 0xbf483333,
    0xbf44999a, 0xbf410000, 0xbf3d6666, 0xbf39cccd, 0xbf363334, 0xbf32999a, 0xbf2f0000, 0xbf2b6666,
    0xbf27cccd, 0xbf243334, 0xbf20999a, 0xbf1d0000, 0xbf196666, 0xbf15cccd, 0xbf123334, 0xbf0e999a,
    0xbf0b0000, 0xbf076666, 0xbf03cccc, 0xbf003333, 0xbef93332, 0xbef20000, 0xbeeacccc, 0xbee3999a,
    0xbedc6666, 0xbed53333, 0xbece0000, 0xbec6cccc, 0xbebf999a, 0xbeb86666, 0xbeb13333, 0xbeaa0000,
    0xbea2cccc, 0xbe9b999a, 0xbe946666, 0xbe8d3334, 0xbe860000, 0xbe7d9999, 0xbe6f3333, 0xbe60cccd,
    0xbe526666, 0xbe440000, 0xbe35999a, 0xbe273333, 0xbe18cccd, 0xbe0a6666, 0xbdf80000, 0xbddb3334,
    0xbdc9eb85, 0xbdc428f7, 0xbdbe6667, 0xbdb8a3d7, 0xbdb2e148, 0xbdad1eb8, 0xbda75c2a, 0xbda1999a,
    0xbd9bd70a, 0xbd96147b, 0xbd9051eb, 0xbd8a8f5d, 0xbd84cccd, 0xbd7e147b, 0xbd728f5d, 0xbd670a3d,
    0xbd5b851f, 0xbd500000, 0xbd447ae1, 0xbd38f5c3, 0xbd2d70a3, 0xbd21eb85, 0xbd166667, 0xbd0ae148,
    0xbcfeb852, 0xbce7ae15, 0xbcd0a3d7, 0xbcb9999a, 0xbca28f5d, 0xbc8b851f, 0xbc68f5c3, 0xbc3ae148,
    0xbc1f3b64, 0xbc160418, 0xbc0ccccd, 0xbc039581, 0xbbf4bc6a, 0xbbe24dd3, 0xbbcfdf3b, 0xbbbd70a4,
    0xbbab020d, 0xbb989374, 0xbb8624dd, 0xbb676c8a, 0xbb428f5c, 0xbb1db22d, 0xbaf1a9fc, 0xbaa7ef9d,
    0xba7765ff, 0xba59e83e, 0xba3c6a80, 0xba1eecc1, 0xba016f01, 0xb9c7e283, 0xb98ce705, 0xb923d70b,
    0xb8ba1f4b, 0xb88aefb3, 0xb8378034, 0xb7b24206, 0xb70205ff, 0xb65a1a94, 0xb513a3b7, 0x00000000,
    0x3513a3b7, 0x365a1a94, 0x370205ff, 0x37b24206, 0x38378034, 0x388aefb3, 0x38ba1f4b, 0x3923d70b,
    0x398ce705, 0x39c7e283, 0x3a016f01, 0x3a1eecc1, 0x3a3c6a80, 0x3a59e83e, 0x3a7765ff, 0x3aa7ef9d,
    0x3af1a9fc, 0x3b1db22d, 0x3b428f5c, 0x3b676c8a, 0x3b8624dd, 0x3b989374, 0x3bab020d, 0x3bbd70a4,
    0x3bcfdf3b, 0x3be24dd3, 0x3bf4bc6a, 0x3c039581, 0x3c0ccccd, 0x3c160418, 0x3c1f3b64, 0x3c3ae148,
    0x3c68f5c3, 0x3c8b851f, 0x3ca28f5d, 0x3cb9999a, 0x3cd0a3d7, 0x3ce7ae15, 0x3cfeb852, 0x3d0ae148,
    0x3d166667, 0x3d21eb85, 0x3d2d70a3, 0x3d38f5c3, 0x3d447ae1, 0x3d500000, 0x3d5b851f, 0x3d670a3d,
    0x3d728f5d, 0x3d7e147b, 0x3d84cccd, 0x3d8a8f5d, 0x3d9051eb, 0x3d96147b, 0x3d9bd70a, 0x3da1999a,
    0x3da75c2a, 0x3dad1eb8, 0x3db2e148, 0x3db8a3d7, 0x3dbe6667, 0x3dc428f7, 0x3dc9eb85, 0x3ddb3334,
    0x3df80000, 0x3e0a6666, 0x3e18cccd, 0x3e273333, 0x3e35999a, 0x3e440000, 0x3e526666, 0x3e60cccd,
    0x3e6f3333, 0x3e7d9999, 0x3e860000, 0x3e8d3334, 0x3e946666, 0x3e9b999a, 0x3ea2cccc, 0x3eaa0000,
    0x3eb13333, 0x3eb86666, 0x3ebf999a, 0x3ec6cccc, 0x3ece0000, 0x3ed53333, 0x3edc6666, 0x3ee3999a,
    0x3eeacccc, 0x3ef20000, 0x3ef93332, 0x3f003333, 0x3f03cccc, 0x3f076666, 0x3f0b0000, 0x3f0e999a,
    0x3f123334, 0x3f15cccd, 0x3f196666, 0x3f1d0000, 0x3f20999a, 0x3f243334, 0x3f27cccd, 0x3f2b6666,
    0x3f2f0000, 0x3f32999a, 0x3f363334, 0x3f39cccd, 0x3f3d6666, 0x3f410000, 0x3f44999a, 0x3f483333,
    0x3f4bcccd, 0x3f4f6666, 0x3f530000, 0x3f56999a, 0x3f5a3333, 0x3f5dcccd, 0x3f616666, 0x3f650000,
    0x3f68999a, 0x3f6c3333, 0x3f6fcccd, 0x3f736666, 0x3f770000, 0x3f7a999a, 0x3f7e3333, 0x3f800000};

constexpr uint64_t ceilDiv(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

} // namespace

const std::array<float, 16>& codeBook(kernels::WeightFormat format) {
    static const auto kBooks = [] {
        std::array<std::array<float, 16>, kernels::kCodeTableCount> books{};
        for (size_t i = 0; i < books.size(); ++i) {
            std::transform(std::begin(kernels::kCodeTables.at[i].bits),
                           std::end(kernels::kCodeTables.at[i].bits), books[i].begin(),
                           [](uint32_t bits) { return std::bit_cast<float>(bits); });
        }
        return books;
    }();
    return kBooks[static_cast<size_t>(kernels::rowOf(format).code_table)];
}

const std::array<float, 256>& dynamicMap() {
    static const std::array<float, 256> kMap = [] {
        std::array<float, 256> values{};
        std::transform(kDynamicMapBits.begin(), kDynamicMapBits.end(), values.begin(),
                       [](uint32_t bits) { return std::bit_cast<float>(bits); });
        return values;
    }();
    return kMap;
}

std::array<float, 256> generateDynamicMap() {
    std::array<float, 256> values{};
    size_t count = 0;
    for (int level = 0; level < 7; ++level) {
        const int n = (1 << level) + 1;
        const float step = (1.0F - 0.1F) / static_cast<float>(n - 1);
        // Points are counted from the nearer end, each with one rounding.
        const auto point = [&](int k) {
            // Exact in double: fma() of floats is not everywhere.
            const auto wide = [&](double from, double slope, int steps) {
                return static_cast<float>(from + slope * static_cast<double>(steps));
            };
            return k < n / 2 ? wide(0.1F, step, k)
                             : wide(1.0, -static_cast<double>(step), n - 1 - k);
        };
        // Powers of ten as they are rounded: pow() is not exact everywhere.
        constexpr std::array<float, 7> kScales{1e-6F, 1e-5F, 1e-4F, 1e-3F, 1e-2F, 1e-1F, 1.0F};
        const float scale = kScales[static_cast<size_t>(level)];
        for (int k = 0; k + 1 < n; ++k) {
            const float middle = (point(k) + point(k + 1)) / 2.0F;
            values[count++] = middle * scale;
            values[count++] = -(middle * scale);
        }
    }
    values[count++] = 0.0F;
    values[count++] = 1.0F;
    std::sort(values.begin(), values.end());
    return values;
}

const std::array<float, 255>& quant_kernels::dynamicMidpoints() {
    static const std::array<float, 255> kMidpoints = [] {
        std::array<float, 255> values{};
        const auto& map = dynamicMap();
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = (map[i] + map[i + 1]) * 0.5F;
        }
        return values;
    }();
    return kMidpoints;
}

bool isBlockSize(int64_t block_size) {
    return block_size >= 32 && block_size <= 4096 && (block_size & (block_size - 1)) == 0;
}

int64_t elementsPerScale(Format format, int64_t cols, int32_t block_size) {
    if (!isQuantized(format) || hasBlocks(format)) {
        return 0;
    }
    return weightFormat(format) == kernels::WeightFormat::Int8Row ? cols : block_size;
}

FormatParts
formatParts(Format format, TensorType stored, int64_t rows, int64_t cols, int32_t block_size) {
    const auto n = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols);
    FormatParts parts;
    const auto weight_format = formatRow(format).weight_format;
    parts.data =
        weight_format
            ? static_cast<uint64_t>(kernels::valueBytes(*weight_format, static_cast<int64_t>(n)))
            : n * tensorTypeSize(stored);
    const auto per_scale = static_cast<uint64_t>(elementsPerScale(format, cols, block_size));
    const uint64_t scales = per_scale > 0 ? ceilDiv(n, per_scale) : 0;
    if (isNested(format)) {
        parts.absmax_q = scales;
        parts.nested_absmax = 4 * ceilDiv(scales, kNestedBlockSize);
        parts.nested_code = 1024 + 4;
    } else {
        parts.scales = 4 * scales;
    }
    return parts;
}

} // namespace engine
