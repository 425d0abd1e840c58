// SPDX-License-Identifier: Apache-2.0
// Weights that a checkpoint already holds quantized: bitsandbytes' 4-bit key sets, LLM.int8() rows,
// GGUF's blocks and W4A16 (w4a16.h). The tensor's own keys decide what it is, never config.json.
// Key set and validation rules: engine/quant/NF4.md. Does not quantize and does not place anything.
#pragma once

#include "engine/quant/quantize.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The packed state's JSON, checked member by member.
struct PackedState {
    kernels::WeightFormat book = weightFormat(kFourBitFormat);
    int32_t block_size = 0;
    TensorType dtype = TensorType::BF16;
    bool has_shape = false; ///< false: `shape` was null.
    int64_t rows = 0, cols = 0;
    bool is_nested = false;
    float nested_offset = 0.0F;
    std::vector<std::string> unknown_members; ///< For the load report.
};

/// Parses the JSON text behind key `<layer>.quant_state.bitsandbytes__<suffix>`.
/// Errors: InvalidFile; details has "rule" (see kQuantStateRules in NF4.md) and "layer".
Result<PackedState>
parsePackedState(std::string_view layer, std::string_view suffix, std::string_view json);

/// How a checkpoint stores one weight, judged by key names and header entries only (no data is
/// read, so it works on header-only sources).
enum class StoredAs : uint8_t { Absent = 1, Dense, Packed4Bit, Int8Rows, Blocks, W4A16 };
struct StoredWeight {
    StoredAs kind = StoredAs::Absent;
    Format format = Format::AsStored;    ///< Nf4, Nf4Dq, Fp4, Fp4Dq when Packed4Bit; what we load
                                         ///< it as: Bf16 when Int8Rows, Int4 when W4A16;
                                         ///< Bf16/F16/F32 when Dense; that of the blocks.
    TensorType type = TensorType::Other; ///< Element type when Dense.
    int32_t block_size = kBlockSize;     ///< Packed4Bit: from the number of absmax entries.
    uint64_t stored_bytes = 0;           ///< Size of all keys that make up the weight.
};
/// `weight` is the name as spelled in the file (ends in .weight, of W4A16 in .weight_packed), n the
/// logical element count.
StoredWeight describeStored(const TensorSource& source, std::string_view weight, int64_t n);

/// True for names of the helper tensors of quantized weights (absmax, quant_map, nested_*,
/// quant_state.*, SCB, weight_format, weight_scale, ...); `weight` receives the name of the weight
/// they belong to.
bool isQuantHelper(std::string_view name, std::string* weight = nullptr);

/// One packed weight: validated keys, small parts read, codes and absmax still in the file.
struct PackedWeight {
    std::string layer; ///< Name of the weight in the file.
    PackedState state;
    int64_t rows = 0, cols = 0;
    const TensorInfo* codes = nullptr;
    const TensorInfo* absmax = nullptr; ///< F32 (plain) or U8 (nested).
    const TensorInfo* nested_absmax = nullptr;
    std::vector<float> nested_code; ///< [256] as stored; empty when plain.
    [[nodiscard]] Format format() const { return codesFormat(state.book, state.is_nested); }
};

/// Checks every rule of NF4.md that needs no bulk data, and reads state, tables and map.
/// rows, cols: the module's logical shape. Statistics are checked by checkStatistics() once read.
/// Errors: InvalidFile, one per rule, naming layer and rule (details: layer, rule, expected,
/// found).
Result<PackedWeight>
openPacked(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols);

/// What of openPacked()'s rules the headers alone tell: nothing is read. For planning.
Result<void>
checkPackedHeaders(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols);

/// Whether the scales of blocks are numbers that stand for values: finite, of MXFP4 not 255.
/// `first_block` counts from the tensor's first, for the message. Error: InvalidFile.
Result<void> checkBlocks(std::string_view weight,
                         kernels::WeightFormat format,
                         int64_t first_block,
                         std::span<const std::byte> blocks);

/// Finite and (plain absmax, nested_absmax) >= 0; `rule` is "absmax" or "nested_absmax".
Result<void>
checkStatistics(std::string_view layer, std::string_view rule, std::span<const float> values);

/// Reads the whole weight into host memory. Errors: as openPacked, plus unreadable data.
Result<QuantizedTensor>
readPacked(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols);

/// LLM.int8(): `weight` I8 [rows, cols] with SCB F32 [rows]; value = q * SCB[row] / 127.
struct Int8Weight {
    std::string layer;
    const TensorInfo* values = nullptr;
    std::vector<float> row_absmax; ///< SCB, [rows].
    int64_t rows = 0, cols = 0;
};
Result<Int8Weight>
openInt8(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols);
/// Rows [first_row, first_row + count) of already read int8 values as BF16 bits.
void int8RowsToBf16(const Int8Weight& weight,
                    int64_t first_row,
                    int64_t count,
                    const int8_t* values,
                    uint16_t* out,
                    const ParallelFor& parallel = {});

} // namespace engine
