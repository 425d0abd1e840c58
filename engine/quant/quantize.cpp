// SPDX-License-Identifier: Apache-2.0
// Quantization as specified in engine/quant/NF4.md: which block is scaled by what, zero and
// non-finite blocks, double quantization, int8 rows. The inner loops are in quantize_scalar.cpp
// and quantize_x86.cpp.

#include "engine/quant/quantize.h"

#include "engine/base/float_types.h"
#include "engine/quant/quantize_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace engine {

namespace quant_kernels {
namespace {

std::atomic<const Kernels*>& selected() {
    static std::atomic<const Kernels*> table = [] {
        if (const Kernels* best = avx512Kernels(); best != nullptr) {
            return best;
        }
        const Kernels* avx2 = avx2Kernels();
        return avx2 != nullptr ? avx2 : &scalarKernels();
    }();
    return table;
}

} // namespace

const Kernels& current() {
    return *selected().load(std::memory_order_relaxed);
}

} // namespace quant_kernels

namespace {

constexpr uint32_t kInfinityBits = 0x7f800000U;
constexpr int64_t kMaxBlockSize = 4096;

/// Lowers `target` to `value`.
void lowerTo(std::atomic<int64_t>& target, int64_t value) {
    int64_t seen = target.load(std::memory_order_relaxed);
    while (value < seen && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

Error notFinite(std::string_view tensor, int64_t index) {
    return {
        ErrorCode::InvalidFile,
        said("%1: element %2 is infinite or not a number; only finite weights can be quantized. "
             "Load this module unquantized, or get an undamaged copy of the checkpoint.",
             tensor, index),
        {{"tensor", std::string(tensor)}, {"rule", "finite"}, {"element", std::to_string(index)}}};
}

Error badArguments(std::string_view tensor, const std::string& what) {
    return {
        ErrorCode::Internal, std::string(tensor) + ": " + what, {{"tensor", std::string(tensor)}}};
}

bool isQuantizableType(TensorType type) {
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

/// The code of 0.0 in both nibbles.
uint8_t zeroByte(kernels::WeightFormat book) {
    const std::array<float, 16>& values = codeBook(book);
    const auto isNearer = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
    return static_cast<uint8_t>(
        0x11 * (std::min_element(values.begin(), values.end(), isNearer) - values.begin()));
}

/// `value` as the stored type holds it.
float asStored(TensorType type, float value) {
    return type == TensorType::BF16  ? roundToBf16(value)
           : type == TensorType::F16 ? f16ToFloat(floatToF16(value))
                                     : value;
}

/// What rounds to a positive value of 16 bits: from half-way to its neighbour below to half-way to
/// the one above.
std::pair<float, float> roundingRange(TensorType type, float value) {
    if (type == TensorType::BF16) { // the upper half of fp32's bits
        const auto bits = std::bit_cast<uint32_t>(value);
        return {std::bit_cast<float>(bits - 0x8000), std::bit_cast<float>(bits + 0x8000)};
    }
    const uint16_t bits = floatToF16(value);
    return {(f16ToFloat(static_cast<uint16_t>(bits - 1)) + value) / 2.0F,
            (value + f16ToFloat(static_cast<uint16_t>(bits + 1))) / 2.0F};
}

/// A block on a 4-bit grid: numbers of steps from -8 to 7.
struct GridBlock { // NOLINT(*-member-init): only the steps that are used are written
    float step = 0.0F;
    std::array<int8_t, kMaxBlockSize + 1> steps;

    /// How many values are not on the grid as `type` holds it.
    [[nodiscard]] int64_t misses(TensorType type, std::span<const float> values) const {
        int64_t missed = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            missed += asStored(type, static_cast<float>(steps[i]) * step) == values[i] ? 0 : 1;
        }
        return missed;
    }
};

/// As ggml makes it: the value of largest magnitude becomes the lowest code, and codes are made
/// with the step before it is rounded to half precision.
void findNearestGrid(std::span<const float> values, float extreme, GridBlock& block) {
    const float step = extreme / -8.0F;
    const float inverse = 1.0F / step;
    const bool has_steps = std::isfinite(inverse); // none for zeros and what is nearly zero
    for (size_t i = 0; i < values.size(); ++i) {
        const float place = has_steps ? values[i] * inverse : 0.0F;
        const float code = std::min(15.0F, std::floor(place + 8.5F));
        block.steps[i] = static_cast<int8_t>(static_cast<int>(code) - 8);
    }
    const float rounded = f16ToFloat(floatToF16(step));
    block.step = has_steps ? std::isfinite(rounded) ? rounded : step : 0.0F;
}

/// The grid on which every value of a block lies that was trained for one and then stored in 16
/// bits (`type`), where the value of largest magnitude need not be at the lowest code. False: there
/// is none. A step fits a value while their product rounds to it, so the steps that fit all values
/// are an interval; of these one with the few digits of a bf16 scale is taken where there is one.
bool findTrainedGrid(TensorType type,
                     std::span<const float> values,
                     float extreme,
                     GridBlock& block) {
    for (const int extreme_steps : {-8, 7, 6, 5, 4, 3, 2, 1}) {
        const float guess = extreme / static_cast<float>(extreme_steps);
        float low = 0.0F;
        float high = std::numeric_limits<float>::infinity();
        bool fits = true;
        for (size_t i = 0; i < values.size() && fits; ++i) {
            const float steps = std::nearbyint(values[i] / guess);
            block.steps[i] = static_cast<int8_t>(steps);
            if (steps == 0.0F) {
                fits = values[i] == 0.0F;
                continue;
            }
            const auto [from, to] = roundingRange(type, std::fabs(values[i]));
            low = std::max(low, from / std::fabs(steps));
            high = std::min(high, to / std::fabs(steps));
            fits = steps >= -8.0F && steps <= 7.0F && low <= high;
        }
        const float middle = std::copysign(low + (high - low) / 2.0F, guess);
        for (const float step : {roundToBf16(middle), middle}) {
            block.step = step;
            if (fits && block.misses(type, values) == 0) {
                return true;
            }
        }
    }
    return false;
}

/// Room for the two grids that a block may get; too large for every call to clear it.
struct GridBlocks {
    GridBlock nearest, trained;
};

/// A block of Q4_0: as ggml makes it, but on its own grid where it was trained for one. Returns the
/// scale, eight steps. `misses` grows by the values that are not what they were.
float encodeInt4(TensorType type,
                 std::span<const float> values,
                 GridBlocks& blocks,
                 uint8_t* codes,
                 int64_t& misses) {
    const float extreme = *std::max_element(
        values.begin(), values.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    findNearestGrid(values, extreme, blocks.nearest);
    const int64_t missed = blocks.nearest.misses(type, values);
    const bool is_trained = missed > 0 && type != TensorType::F32 &&
                            findTrainedGrid(type, values, extreme, blocks.trained);
    GridBlock& block = is_trained ? blocks.trained : blocks.nearest;
    misses += is_trained ? 0 : missed;
    block.steps[values.size()] = 0; // behind an odd count
    for (size_t i = 0; i < values.size(); i += 2) {
        codes[i / 2] = static_cast<uint8_t>((block.steps[i] + 8) << 4 | (block.steps[i + 1] + 8));
    }
    return 8.0F * block.step;
}

/// A block of Q8_0 as ggml makes it: steps of 1/127 of the largest magnitude, halves rounded away
/// from zero with the step before it is rounded to half precision. Returns the rounded step.
float encodeInt8(const float* values, int64_t count, uint8_t* codes) {
    float largest = 0.0F;
    for (int64_t i = 0; i < count; ++i) {
        largest = std::max(largest, std::fabs(values[i]));
    }
    const float step = largest / 127.0F;
    const float inverse = 1.0F / step;
    const bool has_steps = std::isfinite(inverse); // none for zeros and what is nearly zero
    for (int64_t i = 0; i < count; ++i) {
        const float place = has_steps ? std::round(values[i] * inverse) : 0.0F;
        codes[i] = static_cast<uint8_t>(static_cast<int8_t>(place));
    }
    const float rounded = f16ToFloat(floatToF16(step));
    return has_steps ? std::isfinite(rounded) ? rounded : step : 0.0F;
}

/// Packs `count` values; the last low nibble of an odd count is the code of 0.0.
void encodeBlock(
    kernels::WeightFormat book, float* values, int64_t count, float absmax, uint8_t* codes) {
    const auto& kernels = quant_kernels::current();
    if (absmax == 0.0F) {
        std::memset(codes, zeroByte(book), static_cast<size_t>((count + 1) / 2));
        return;
    }
    if (count % 2 != 0) { // blocks are even: only the last of a tensor; there is room for one more
        values[count] = 0.0F;
        ++count;
    }
    float reciprocal = quant_kernels::blockReciprocal(book, absmax);
    if (std::isinf(reciprocal)) {
        // absmax below 2^-128: divide, so that the ratios stay in [-1, 1].
        std::transform(values, values + count, values, [absmax](float v) { return v / absmax; });
        reciprocal = 1.0F;
    }
    kernels.encode(book, values, count, reciprocal, codes);
}

Result<void> quantizeRows(std::string_view tensor,
                          int64_t cols,
                          TensorType type,
                          std::span<const std::byte> values,
                          int8_t* q,
                          float* scale,
                          const ParallelFor& parallel) {
    const auto element = static_cast<int64_t>(tensorTypeSize(type));
    const auto bytes = static_cast<int64_t>(values.size());
    if (!isQuantizableType(type) || cols <= 0 || bytes % (cols * element) != 0) {
        return badArguments(tensor, "cannot quantize this element type or these bytes as rows");
    }
    const int64_t rows = bytes / (cols * element);
    const auto& kernels = quant_kernels::current();
    std::atomic<int64_t> first_bad{rows};
    runOver(parallel, rows, [&](int64_t begin, int64_t end) {
        // Rows are done in pieces that stay in the first-level cache: absmax first, then codes.
        alignas(64) std::array<float, kMaxBlockSize> buffer{};
        for (int64_t row = begin; row < end; ++row) {
            const std::byte* source = values.data() + row * cols * element;
            uint32_t bits = 0;
            for (int64_t at = 0; at < cols; at += kMaxBlockSize) {
                const int64_t size = std::min(kMaxBlockSize, cols - at);
                bits =
                    std::max(bits, kernels.load(type, source + at * element, size, buffer.data()));
            }
            if (bits >= kInfinityBits) {
                lowerTo(first_bad, row);
                return;
            }
            scale[row] = std::bit_cast<float>(bits) / 127.0F;
            for (int64_t at = 0; at < cols; at += kMaxBlockSize) {
                const int64_t size = std::min(kMaxBlockSize, cols - at);
                if (scale[row] == 0.0F) {
                    std::memset(q + row * cols + at, 0, static_cast<size_t>(size));
                    continue;
                }
                kernels.load(type, source + at * element, size, buffer.data());
                kernels.rowInt8(buffer.data(), size, scale[row], q + row * cols + at);
            }
        }
    });
    if (first_bad < rows) {
        const int64_t first = first_bad * cols;
        float value = 0.0F;
        for (int64_t i = 0; i < cols; ++i) {
            kernels.load(type, values.data() + (first + i) * element, 1, &value);
            if (!std::isfinite(value)) {
                return notFinite(tensor, first + i);
            }
        }
    }
    return {};
}

} // namespace

bool selectQuantizeIsa(std::string_view name) {
    for (const quant_kernels::Kernels* table :
         {&quant_kernels::scalarKernels(), quant_kernels::avx2Kernels(),
          quant_kernels::avx512Kernels()}) {
        if (table != nullptr && name == table->name) {
            quant_kernels::selected().store(table, std::memory_order_relaxed);
            return true;
        }
    }
    return false;
}

Result<void> quantizeValues(std::string_view tensor,
                            kernels::WeightFormat format,
                            int64_t per_scale,
                            TensorType type,
                            std::span<const std::byte> values,
                            uint8_t* data,
                            float* scales,
                            const ParallelFor& parallel,
                            int64_t* misses) {
    using kernels::WeightFormat;
    if (format == WeightFormat::Int8Row) {
        return quantizeRows(tensor, per_scale, type, values, reinterpret_cast<int8_t*>(data),
                            scales, parallel);
    }
    if (!isQuantizableType(type) || !isBlockSize(per_scale)) {
        return badArguments(tensor, "cannot quantize this element type or block size");
    }
    const auto element = static_cast<int64_t>(tensorTypeSize(type));
    const int64_t count = static_cast<int64_t>(values.size()) / element;
    const int64_t blocks = (count + per_scale - 1) / per_scale;
    const auto& kernels = quant_kernels::current();
    std::atomic<int64_t> first_bad{blocks};
    std::atomic<int64_t> all_missed{0};
    runOver(parallel, blocks, [&](int64_t begin, int64_t end) {
        alignas(64) std::array<float, kMaxBlockSize + 1> buffer{};
        GridBlocks grids;
        int64_t missed = 0;
        for (int64_t block = begin; block < end; ++block) {
            const int64_t first = block * per_scale;
            const int64_t size = std::min(per_scale, count - first);
            const uint32_t bits =
                kernels.load(type, values.data() + first * element, size, buffer.data());
            if (bits >= kInfinityBits) {
                lowerTo(first_bad, block);
                return;
            }
            if (format == WeightFormat::Int4) {
                scales[block] = encodeInt4(
                    type, std::span<const float>(buffer.data(), static_cast<size_t>(size)), grids,
                    data + first / 2, missed);
            } else if (format == WeightFormat::Int8) {
                scales[block] = encodeInt8(buffer.data(), size, data + first);
            } else {
                scales[block] = std::bit_cast<float>(bits);
                encodeBlock(format, buffer.data(), size, scales[block], data + first / 2);
            }
        }
        all_missed += missed;
    });
    if (misses != nullptr) {
        *misses = all_missed;
    }
    if (first_bad < blocks) {
        const int64_t first = first_bad * per_scale;
        std::array<float, kMaxBlockSize> buffer{};
        const int64_t size = std::min(per_scale, count - first);
        kernels.load(type, values.data() + first * element, size, buffer.data());
        const auto* bad = std::find_if(buffer.begin(), buffer.begin() + size,
                                       [](float v) { return !std::isfinite(v); });
        return notFinite(tensor, first + (bad - buffer.begin()));
    }
    return {};
}

double addAbsmax(double sum, std::span<const float> absmax) {
    for (const float value : absmax) {
        sum += static_cast<double>(value);
    }
    return sum;
}

float nestedOffset(double sum, int64_t num_blocks) {
    if (num_blocks <= 0) {
        return 0.0F;
    }
    return static_cast<float>(sum) * (1.0F / static_cast<float>(num_blocks));
}

void nestAbsmax(std::span<const float> absmax,
                float offset,
                uint8_t* absmax_q,
                float* nested_absmax,
                const ParallelFor& parallel) {
    const auto count = static_cast<int64_t>(absmax.size());
    const int64_t groups = (count + kNestedBlockSize - 1) / kNestedBlockSize;
    const auto& kernels = quant_kernels::current();
    runOver(parallel, groups, [&](int64_t begin, int64_t end) {
        for (int64_t group = begin; group < end; ++group) {
            const int64_t first = group * kNestedBlockSize;
            const int64_t size = std::min(kNestedBlockSize, count - first);
            nested_absmax[group] =
                kernels.nest(absmax.data() + first, size, offset, absmax_q + first);
        }
    });
}

Result<QuantizedTensor> quantizeTensor(std::string_view tensor,
                                       Format format,
                                       int32_t block_size,
                                       TensorType type,
                                       std::span<const std::byte> values,
                                       int64_t rows,
                                       int64_t cols,
                                       const ParallelFor& parallel) {
    const uint64_t n = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols);
    if (!isQuantized(format) || weightFormat(format) == kernels::WeightFormat::Int8Row ||
        !isBlockSize(block_size) || values.size() != n * tensorTypeSize(type)) {
        return badArguments(tensor,
                            "quantizeTensor: format, block size or number of bytes is wrong");
    }
    const FormatParts parts = formatParts(format, type, rows, cols, block_size);
    const auto blocks = static_cast<size_t>(parts.absmax_q + parts.scales / 4);
    QuantizedTensor result;
    result.format = weightFormat(format);
    result.block_size = block_size;
    result.dtype = type;
    result.rows = rows;
    result.cols = cols;
    result.codes.resize(static_cast<size_t>(parts.data));
    result.absmax.resize(blocks);
    ENGINE_TRY(quantizeValues(tensor, result.format, block_size, type, values, result.codes.data(),
                              result.absmax.data(), parallel));
    if (isNested(format)) {
        result.absmax_q.resize(blocks);
        result.nested_absmax.resize(static_cast<size_t>(parts.nested_absmax / 4));
        result.nested_code.assign(dynamicMap().begin(), dynamicMap().end());
        result.nested_offset =
            nestedOffset(addAbsmax(0.0, result.absmax), static_cast<int64_t>(blocks));
        nestAbsmax(result.absmax, result.nested_offset, result.absmax_q.data(),
                   result.nested_absmax.data(), parallel);
        result.absmax.clear();
        result.absmax.shrink_to_fit();
    }
    return result;
}

kernels::WeightView QuantizedTensor::view() const {
    kernels::WeightView view;
    view.data = codes.data();
    view.format = format;
    view.rows = rows;
    view.cols = cols;
    view.block_size = block_size;
    view.expand_type = dtype == TensorType::F32   ? kernels::DType::F32
                       : dtype == TensorType::F16 ? kernels::DType::F16
                                                  : kernels::DType::BF16;
    if (isDouble()) {
        view.absmax_q = absmax_q.data();
        view.nested_absmax = nested_absmax.data();
        view.nested_code = nested_code.data();
        view.nested_offset = nested_offset;
    } else {
        view.absmax = absmax.data();
    }
    return view;
}

uint64_t QuantizedTensor::sizeBytes() const {
    return formatBytes(codesFormat(format, isDouble()), dtype, rows, cols, block_size);
}

} // namespace engine
