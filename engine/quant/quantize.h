// SPDX-License-Identifier: Apache-2.0
// Quantization: 4-bit codes of blocks (NF4 and FP4, plain and double, with the bytes that
// bitsandbytes' CUDA kernels write), the grids of GGUF, int8 with a scale for each row; and the
// expansion of all of them. Format, rules and
// special inputs: engine/quant/NF4.md. Knows nothing of files or devices: reading packed
// checkpoints is quant_state.h, placing the result is engine/run.
#pragma once

#include "engine/api/formats.h"
#include "engine/base/result.h"
#include "engine/files/tensor_source.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// Runs body(begin, end) over disjoint ranges that cover [0, count), in any order and on any
/// threads, and returns when all are done. The body never throws. An empty function means
/// "on this thread, in one piece".
using ParallelFor =
    std::function<void(int64_t count, const std::function<void(int64_t begin, int64_t end)>& body)>;

/// Calls `parallel`, or `body` on this thread where it is empty or there is only one element.
inline void runOver(const ParallelFor& parallel,
                    int64_t count,
                    const std::function<void(int64_t, int64_t)>& body) {
    if (parallel && count > 1) {
        parallel(count, body);
    } else if (count > 0) {
        body(0, count);
    }
}

inline constexpr int32_t kBlockSize = 64;        ///< Elements per absmax in everything we write.
inline constexpr int64_t kNestedBlockSize = 256; ///< Absmax values per nested absmax; fixed.

/// The 16 values of a format that has codes, index = code. FP4 entry 8 is -0.0 here (files store
/// +0.0).
const std::array<float, 16>& codeBook(kernels::WeightFormat format);
/// The 256 values of the dynamic 8-bit map that double quantization uses, ascending.
const std::array<float, 256>& dynamicMap();
/// The rule that yields dynamicMap() (NF4.md); for the test that ties both together.
std::array<float, 256> generateDynamicMap();

/// True for 32, 64, 128, 256, 512, 1024, 2048, 4096.
bool isBlockSize(int64_t block_size);

/// How one tensor lies in memory: sizes of its parts in bytes. Parts without bytes are 0.
struct FormatParts {
    uint64_t data = 0;          ///< Dense values, packed codes or int8 values.
    uint64_t scales = 0;        ///< fp32, one for elementsPerScale() elements.
    uint64_t absmax_q = 0;      ///< Nested: one byte per block.
    uint64_t nested_absmax = 0; ///< Nested: fp32 per 256 blocks.
    uint64_t nested_code = 0;   ///< Nested: 256 fp32 plus the fp32 offset.
    [[nodiscard]] uint64_t total() const {
        return data + scales + absmax_q + nested_absmax + nested_code;
    }
};

/// Elements that share a scale: a block, or a row of int8 rows; 0: the format has no scales apart
/// from its values.
int64_t elementsPerScale(Format format, int64_t cols, int32_t block_size);

/// Bytes of a tensor of `rows` * `cols` elements in `format`; `stored` is the element type used for
/// Format::AsStored, `block_size` counts for formats with blocks. This is the one byte rule of
/// planner and loader: dense n*size; blocks ceil(n/values)*bytes; with scales ceil(n*bits/8) +
/// 4*ns; nested ceil(n/2) + ns + 4*ceil(ns/256) + 1024 + 4; with ns = ceil(n/elementsPerScale()).
FormatParts formatParts(
    Format format, TensorType stored, int64_t rows, int64_t cols, int32_t block_size = kBlockSize);
inline uint64_t formatBytes(
    Format format, TensorType stored, int64_t rows, int64_t cols, int32_t block_size = kBlockSize) {
    return formatParts(format, stored, rows, cols, block_size).total();
}

/// A tensor quantized in blocks, in host memory: codes, statistics, table and shape are one unit
/// that lives and travels together. Nothing changes it after it was made.
struct QuantizedTensor {
    kernels::WeightFormat format = weightFormat(kFourBitFormat);
    int32_t block_size = kBlockSize;
    TensorType dtype = TensorType::BF16; ///< Type of the values it was made from: F32, F16 or BF16.
    int64_t rows = 0;
    int64_t cols = 0;
    std::vector<uint8_t> codes;       ///< [ceil(rows*cols*bits/8)].
    std::vector<float> absmax;        ///< Plain: [ceil(n/block_size)]; empty when nested.
    std::vector<uint8_t> absmax_q;    ///< Nested: [ceil(n/block_size)].
    std::vector<float> nested_absmax; ///< Nested: [ceil(nb/256)].
    std::vector<float> nested_code;   ///< Nested: [256].
    float nested_offset = 0.0F;

    [[nodiscard]] bool isDouble() const { return !absmax_q.empty(); }
    [[nodiscard]] kernels::WeightView view() const; ///< Valid while *this lives.
    [[nodiscard]] uint64_t sizeBytes() const;       ///< By the byte rule above.
};

/// Quantizes `count` values of `type` (F32, F16, BF16) at `values` (any alignment) into data
/// [ceil(count*bits/8)] and scales [ceil(count/per_scale)]; `per_scale` is elementsPerScale(). A
/// tensor may be done in pieces whose lengths are multiples of it (the last may be any, but int8
/// rows are whole). The same bytes for any split and any number of threads. With odd count the last
/// low nibble is the code of 0.0. Int8Row: scale = absmax / 127 (fp32 division), q = round to
/// nearest even (x / scale), so |q| <= 127; a zero row has scale 0 and q 0.
/// `misses`, of Int4 alone: receives how many values are not on the grid they were given, as `type`
/// holds it; of weights that were trained for such a grid none or few.
/// Errors: InvalidFile when a value is not finite (names `tensor`).
Result<void> quantizeValues(std::string_view tensor,
                            kernels::WeightFormat format,
                            int64_t per_scale,
                            TensorType type,
                            std::span<const std::byte> values,
                            uint8_t* data,
                            float* scales,
                            const ParallelFor& parallel = {},
                            int64_t* misses = nullptr);

/// Sum of absmax values in the order given, without rounding error that fp32 could see; start
/// with sum = 0 and feed pieces in order. nestedOffset() turns it into the offset.
double addAbsmax(double sum, std::span<const float> absmax);
float nestedOffset(double sum, int64_t num_blocks);
/// Double quantization of absmax [nb] into absmax_q [nb] and nested_absmax [ceil(nb/256)]; may be
/// done in pieces whose lengths are multiples of 256.
void nestAbsmax(std::span<const float> absmax,
                float offset,
                uint8_t* absmax_q,
                float* nested_absmax,
                const ParallelFor& parallel = {});

/// The whole of the above for one tensor [rows, cols] in a format with blocks.
Result<QuantizedTensor> quantizeTensor(std::string_view tensor,
                                       Format format,
                                       int32_t block_size,
                                       TensorType type,
                                       std::span<const std::byte> values,
                                       int64_t rows,
                                       int64_t cols,
                                       const ParallelFor& parallel = {});

/// The scale of block `block`: absmax, or the expanded nested one (two fp32 roundings).
float blockScale(const kernels::WeightView& weight, int64_t block);

/// Elements [first, first + count) of a weight of any format in host memory as fp32, 4-bit values
/// rounded to view.expand_type first.
void expandRange(const kernels::WeightView& weight, int64_t first, int64_t count, float* out);

/// A whole weight in host memory as dense values of `type` (F32, F16, BF16), into
/// rows*cols*size bytes. 4-bit: rounded to expand_type, then to `type`.
void dequantize(const kernels::WeightView& weight,
                TensorType type,
                std::byte* out,
                const ParallelFor& parallel = {});

/// Dense values of one type (F32, F16, BF16) to another, round to nearest even.
void convertDense(TensorType from,
                  const std::byte* values,
                  TensorType to,
                  std::byte* out,
                  int64_t count,
                  const ParallelFor& parallel = {});

/// Forces the instruction set that quantizeValues() uses, for tests and benchmarks: "avx512",
/// "avx2" or "scalar", which all give the same bytes. False when this machine lacks it. Not to be
/// called while quantizing.
bool selectQuantizeIsa(std::string_view name);

} // namespace engine
