// SPDX-License-Identifier: Apache-2.0
// Reads of weights as a checkpoint stores them; see loader_origin.h.

#include "engine/load/loader_origin.h"

#include "engine/base/float_types.h"
#include "engine/families/gemma4/stored_names.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace engine {

namespace {

constexpr const char* kWeightEnd = ".weight";

std::string shapeText(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

int64_t product(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t side : shape) {
        n *= side;
    }
    return n;
}

bool isReadable(TensorType type) {
    return type == TensorType::BF16 || type == TensorType::F16 || type == TensorType::F32;
}

void foldShape(WeightOrigin& origin) {
    origin.cols = origin.shape.empty() ? 1 : origin.shape.back();
    origin.rows = 1;
    for (size_t i = 0; i + 1 < origin.shape.size(); ++i) {
        origin.rows *= origin.shape[i];
    }
}

Result<void> readInt8Values(const TensorSource& source,
                            const WeightOrigin& origin,
                            int64_t first,
                            int64_t count,
                            std::byte* out) {
    std::vector<int8_t> q(static_cast<size_t>(count));
    ENGINE_TRY(source.read(*origin.info, static_cast<uint64_t>(first),
                           std::as_writable_bytes(std::span(q))));
    for (int64_t i = 0; i < count; ++i) {
        const float absmax = origin.int8.row_absmax[static_cast<size_t>((first + i) / origin.cols)];
        const uint16_t bits =
            floatToBf16(static_cast<float>(q[static_cast<size_t>(i)]) * absmax / 127.0F);
        std::memcpy(out + i * 2, &bits, 2);
    }
    return {};
}

/// The stored tensor that is part `part` of a weight packed by bitsandbytes or in blocks; nullptr:
/// it has none.
const TensorInfo* packedPart(const WeightOrigin& origin, int part) {
    const bool is_nested = origin.packed.state.is_nested;
    switch (part) {
    case DeviceTensor::Data:
        return origin.info;
    case DeviceTensor::Scales:
        return is_nested ? nullptr : origin.packed.absmax;
    case DeviceTensor::AbsmaxQ:
        return is_nested ? origin.packed.absmax : nullptr;
    case DeviceTensor::NestedAbsmax:
        return origin.packed.nested_absmax;
    default:
        return nullptr;
    }
}

Result<void> readCodedValues(const TensorSource& source,
                             const WeightOrigin& origin,
                             int64_t first,
                             int64_t count,
                             std::byte* out) {
    const PartReader read = [&](int part, uint64_t offset, std::span<std::byte> bytes) {
        return readStored(source, origin, part, offset, bytes);
    };
    const auto layout = origin.layoutFor(origin.storedFormat());
    std::vector<float> values(static_cast<size_t>(count));
    ENGINE_TRY(expandThrough(read, layout, origin.packed.nested_code,
                             origin.packed.state.nested_offset, first, count, values.data()));
    convertDense(TensorType::F32, reinterpret_cast<const std::byte*>(values.data()),
                 origin.value_type, out, count);
    return {};
}

Result<void>
checkShape(const std::string& name, const TensorInfo& info, const std::vector<int64_t>& shape) {
    const bool is_one_value = product(shape) == 1 && product(info.shape) == 1;
    if (info.shape != shape && !is_one_value) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: has shape %2, config.json makes it %3; model files and config.json "
                          "belong to different models",
                          name, shapeText(info.shape), shapeText(shape)),
                     {{"tensor", name},
                      {"rule", "shape"},
                      {"expected", shapeText(shape)},
                      {"found", shapeText(info.shape)}}};
    }
    return {};
}

Result<void> checkDense(const std::string& name,
                        const TensorSource& source,
                        const TensorInfo& info,
                        const std::vector<int64_t>& shape) {
    if (!isReadable(info.type)) {
        if (const auto by = foreignQuantization(source, info.name)) {
            return Error{ErrorCode::Unsupported,
                         said("%1: holds %2, which cannot be read; use the 16-bit model (for MLX "
                              "the one it was converted from) or a bitsandbytes 4-bit one",
                              name, *by),
                         {{"tensor", name}, {"rule", "dtype"}}};
        }
        return Error{ErrorCode::Unsupported,
                     said("%1: has element type %2; Belfry reads BF16, F16 and F32 weights and "
                          "bitsandbytes' 4-bit and int8 ones",
                          name, tensorTypeName(info.type)),
                     {{"tensor", name},
                      {"rule", "dtype"},
                      {"found", std::string(tensorTypeName(info.type))}}};
    }
    return checkShape(name, info, shape);
}

} // namespace

Format WeightOrigin::storedFormat() const {
    if (kind == StoredAs::Packed4Bit) {
        return packed.format();
    }
    if (kind == StoredAs::W4A16) {
        return kW4A16Format;
    }
    if (kind == StoredAs::Blocks) {
        return codesFormat(*blockFormatOf(info->type), false);
    }
    return value_type == TensorType::F32   ? Format::F32
           : value_type == TensorType::F16 ? Format::F16
                                           : Format::Bf16;
}

DeviceTensor::Layout WeightOrigin::layoutFor(Format format, int32_t block_size) const {
    DeviceTensor::Layout layout;
    layout.format = format == Format::AsStored ? storedFormat() : format;
    layout.shape = shape;
    layout.rows = rows;
    layout.cols = cols;
    layout.dtype = value_type;
    layout.block_size = block_size;
    if (kind == StoredAs::Packed4Bit && layout.format == packed.format()) {
        layout.block_size = packed.state.block_size;
    }
    if (kind == StoredAs::W4A16 && layout.format == kW4A16Format) {
        layout.block_size = kW4A16Group;
    }
    return layout;
}

bool WeightOrigin::isSameAs(const DeviceTensor::Layout& layout) const {
    return kind != StoredAs::Int8Rows && layout.format == storedFormat();
}

bool WeightOrigin::isDerived(const DeviceTensor::Layout& layout) const {
    return layout.format != storedFormat() && isQuantized(layout.format);
}

uint64_t WeightOrigin::storedBytes(int part) const {
    if (kind == StoredAs::W4A16) {
        return part == DeviceTensor::Data     ? w4a16.codes->size_bytes
               : part == DeviceTensor::Scales ? w4a16.scales->size_bytes * 2 // fp32 of bf16
                                              : 0;
    }
    const TensorInfo* const tensor = packedPart(*this, part);
    return tensor == nullptr ? 0 : tensor->size_bytes;
}

uint64_t WeightOrigin::partUnit() const {
    return kind == StoredAs::Blocks
               ? static_cast<uint64_t>(kernels::rowOf(*blockFormatOf(info->type)).block_bytes)
               : sizeof(float); // scales
}

Result<WeightOrigin> openOrigin(const TensorSource& source,
                                std::string_view file_name,
                                std::string_view canonical_name,
                                const std::vector<int64_t>& shape) {
    WeightOrigin origin;
    origin.name = std::string(canonical_name);
    origin.shape = shape;
    foldShape(origin);
    const int64_t n = product(shape);
    origin.kind = describeStored(source, file_name, n).kind;
    origin.info = source.find(file_name);
    switch (origin.kind) {
    case StoredAs::Absent:
        return Error{ErrorCode::InvalidFile,
                     said("%1: the checkpoint does not hold this tensor", origin.name),
                     {{"tensor", origin.name}, {"rule", "missing"}}};
    case StoredAs::Packed4Bit: {
        if (shape.size() != 2 || !file_name.ends_with(kWeightEnd)) {
            return Error{
                ErrorCode::Unsupported,
                said("%1: is packed in 4 bits, but only 2-dimensional .weight tensors can be",
                     origin.name),
                {{"tensor", origin.name}}};
        }
        ENGINE_ASSIGN(origin.packed, openPacked(source, file_name, origin.rows, origin.cols));
        origin.value_type = origin.packed.state.dtype;
        return origin;
    }
    case StoredAs::Int8Rows: {
        if (shape.size() != 2) {
            return Error{ErrorCode::Unsupported,
                         said("%1: is stored as int8 rows, but has %2 dimensions", origin.name,
                              shape.size()),
                         {{"tensor", origin.name}}};
        }
        ENGINE_ASSIGN(origin.int8, openInt8(source, file_name, origin.rows, origin.cols));
        origin.value_type = TensorType::BF16;
        return origin;
    }
    case StoredAs::W4A16: {
        if (shape.size() != 2) {
            return Error{ErrorCode::Unsupported,
                         said("%1: is packed in 4 bits, but only 2-dimensional .weight tensors can "
                              "be",
                              origin.name),
                         {{"tensor", origin.name}}};
        }
        ENGINE_ASSIGN(origin.w4a16, openW4A16(source, file_name, origin.rows, origin.cols));
        origin.value_type = TensorType::BF16;
        return origin;
    }
    case StoredAs::Blocks:
        ENGINE_TRY(checkShape(origin.name, *origin.info, shape));
        origin.value_type = TensorType::F32;
        return origin;
    case StoredAs::Dense:
        break;
    }
    ENGINE_TRY(checkDense(origin.name, source, *origin.info, shape));
    origin.value_type = origin.info->type;
    return origin;
}

Result<void> checkOriginHeaders(const TensorSource& source,
                                std::string_view file_name,
                                const ExpectedTensor& tensor) {
    const StoredAs kind = describeStored(source, file_name, tensor.numElements()).kind;
    if (kind == StoredAs::Dense) {
        return checkDense(tensor.name, source, *source.find(file_name), tensor.shape);
    }
    if (kind == StoredAs::Blocks) {
        return checkShape(tensor.name, *source.find(file_name), tensor.shape);
    }
    if (kind == StoredAs::Packed4Bit && tensor.shape.size() == 2) {
        return checkPackedHeaders(source, file_name, tensor.shape[0], tensor.shape[1]);
    }
    if (kind == StoredAs::W4A16 && tensor.shape.size() == 2) {
        ENGINE_TRY(checkW4A16Headers(source, file_name, tensor.shape[0], tensor.shape[1]));
    }
    return {};
}

Result<void> readValues(const TensorSource& source,
                        const WeightOrigin& origin,
                        int64_t first,
                        int64_t count,
                        std::byte* out) {
    if (count == 0) {
        return {};
    }
    if (origin.kind == StoredAs::Packed4Bit || origin.kind == StoredAs::Blocks ||
        origin.kind == StoredAs::W4A16) {
        return readCodedValues(source, origin, first, count, out);
    }
    if (origin.kind == StoredAs::Int8Rows) {
        return readInt8Values(source, origin, first, count, out);
    }
    const auto size = static_cast<uint64_t>(tensorTypeSize(origin.value_type));
    return source.read(*origin.info, static_cast<uint64_t>(first) * size,
                       std::span(out, static_cast<size_t>(static_cast<uint64_t>(count) * size)));
}

Result<void> readStored(const TensorSource& source,
                        const WeightOrigin& origin,
                        int part,
                        uint64_t offset,
                        std::span<std::byte> out) {
    if (origin.kind == StoredAs::W4A16) {
        return part == DeviceTensor::Data
                   ? readW4A16Codes(source, origin.w4a16, offset, out)
                   : readW4A16Scales(source, origin.w4a16, static_cast<int64_t>(offset / 4), out);
    }
    const TensorInfo* const tensor = packedPart(origin, part);
    if (tensor == nullptr) {
        return Error{ErrorCode::Internal, origin.name + ": a packed part is missing", {}};
    }
    ENGINE_TRY(source.read(*tensor, offset, out));
    if (origin.kind == StoredAs::Blocks) {
        return checkBlocks(origin.name, *blockFormatOf(origin.info->type),
                           static_cast<int64_t>(offset / origin.partUnit()), out);
    }
    if (part != DeviceTensor::Scales && part != DeviceTensor::NestedAbsmax) {
        return {};
    }
    std::vector<float> values(out.size() / 4);
    std::memcpy(values.data(), out.data(), values.size() * 4);
    return checkStatistics(origin.packed.layer,
                           part == DeviceTensor::Scales ? "absmax" : "nested_absmax", values);
}

namespace {

kernels::DType kernelType(TensorType type) {
    return type == TensorType::F32   ? kernels::DType::F32
           : type == TensorType::F16 ? kernels::DType::F16
                                     : kernels::DType::BF16;
}

Result<void>
expandDense(const PartReader& read, TensorType type, int64_t first, int64_t count, float* out) {
    const auto size = static_cast<uint64_t>(tensorTypeSize(type));
    std::vector<std::byte> bytes(static_cast<size_t>(static_cast<uint64_t>(count) * size));
    ENGINE_TRY(read(DeviceTensor::Data, static_cast<uint64_t>(first) * size, bytes));
    convertDense(type, bytes.data(), TensorType::F32, reinterpret_cast<std::byte*>(out), count);
    return {};
}

} // namespace

Result<void> expandThrough(const PartReader& read,
                           const DeviceTensor::Layout& layout,
                           std::span<const float> nested_code,
                           float nested_offset,
                           int64_t first,
                           int64_t count,
                           float* out) {
    if (count == 0) {
        return {};
    }
    switch (layout.format) {
    case Format::Bf16:
        return expandDense(read, TensorType::BF16, first, count, out);
    case Format::F16:
        return expandDense(read, TensorType::F16, first, count, out);
    case Format::F32:
        return expandDense(read, TensorType::F32, first, count, out);
    default:
        break;
    }
    // The blocks that the range touches become a small tensor of their own.
    const kernels::WeightFormat format = weightFormat(layout.format);
    const bool has_scales = layout.elementsPerScale() > 0;
    const int64_t block_size =
        has_scales ? layout.elementsPerScale() : kernels::rowOf(format).block_values;
    const int64_t n = layout.rows * layout.cols;
    const int64_t first_block = first / block_size;
    const int64_t blocks = (first + count - 1) / block_size - first_block + 1;
    const int64_t start = first_block * block_size;
    const int64_t end = std::min(n, start + blocks * block_size);
    std::vector<uint8_t> codes(static_cast<size_t>(kernels::valueBytes(format, end - start)));
    ENGINE_TRY(read(DeviceTensor::Data, static_cast<uint64_t>(kernels::valueBytes(format, start)),
                    std::as_writable_bytes(std::span(codes))));
    std::vector<float> absmax(static_cast<size_t>(has_scales ? blocks : 0));
    if (!isNested(layout.format) && has_scales) {
        ENGINE_TRY(read(DeviceTensor::Scales, static_cast<uint64_t>(first_block) * 4,
                        std::as_writable_bytes(std::span(absmax))));
    } else if (has_scales) {
        std::array<float, 256> map{};
        if (nested_code.size() != map.size()) {
            ENGINE_TRY(read(DeviceTensor::NestedCode, 0, std::as_writable_bytes(std::span(map))));
            nested_code = map;
        }
        const int64_t first_group = first_block / kNestedBlockSize;
        const int64_t groups = (first_block + blocks - 1) / kNestedBlockSize - first_group + 1;
        std::vector<uint8_t> absmax_q(static_cast<size_t>(blocks));
        std::vector<float> scales(static_cast<size_t>(groups));
        ENGINE_TRY(read(DeviceTensor::AbsmaxQ, static_cast<uint64_t>(first_block),
                        std::as_writable_bytes(std::span(absmax_q))));
        ENGINE_TRY(read(DeviceTensor::NestedAbsmax, static_cast<uint64_t>(first_group) * 4,
                        std::as_writable_bytes(std::span(scales))));
        for (int64_t i = 0; i < blocks; ++i) {
            const float product =
                nested_code[absmax_q[static_cast<size_t>(i)]] *
                scales[static_cast<size_t>((first_block + i) / kNestedBlockSize - first_group)];
            absmax[static_cast<size_t>(i)] = product + nested_offset;
        }
    }
    kernels::WeightView view;
    view.data = codes.data();
    view.format = format;
    if (format == kernels::WeightFormat::Int8Row) {
        view.rows = blocks;
        view.cols = block_size;
        view.row_scale = absmax.data();
    } else {
        view.rows = 1;
        view.cols = end - start;
        view.block_size = layout.block_size;
        view.expand_type = kernelType(layout.dtype);
        view.absmax = absmax.data();
    }
    expandRange(view, first - start, count, out);
    return {};
}

} // namespace engine
