// SPDX-License-Identifier: Apache-2.0
// Formats a tensor piece by piece; see loader_fill.h.

#include "engine/load/loader_fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace engine {

namespace {

TensorType denseType(Format format) {
    return format == Format::F32   ? TensorType::F32
           : format == Format::F16 ? TensorType::F16
                                   : TensorType::BF16;
}

std::span<const std::byte> bytesOf(const void* data, uint64_t bytes) {
    return {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)};
}

} // namespace

MemorySink::MemorySink(DeviceTensor& tensor) : device_(tensor.device()), parts_{} {
    for (int part = 0; part < DeviceTensor::PartCount; ++part) {
        parts_[static_cast<size_t>(part)] = tensor.part(static_cast<DeviceTensor::Part>(part));
    }
}

std::byte* MemorySink::direct(int part) {
    return device_->isHostVisible() ? static_cast<std::byte*>(parts_[static_cast<size_t>(part)])
                                    : nullptr;
}

Result<void> MemorySink::write(int part, uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) {
        return {};
    }
    auto* target = static_cast<std::byte*>(parts_[static_cast<size_t>(part)]) + offset;
    if (target == bytes.data()) {
        return {};
    }
    const bool is_locked = !locked_.empty() && bytes.data() >= locked_.data() &&
                           bytes.data() + bytes.size() <= locked_.data() + locked_.size();
    const kernels::Status status =
        is_locked
            ? device_->copyInLater(target, bytes.data(), bytes.size(), kernels::Device::kNoMark)
            : device_->copyIn(target, bytes.data(), bytes.size());
    if (status != kernels::Status::Ok) {
        return Error{ErrorCode::DeviceLost,
                     said("a device refused a copy of weights; restart the program"),
                     {}};
    }
    return {};
}

TensorFiller::TensorFiller(const WeightOrigin& origin,
                           const DeviceTensor::Layout& layout,
                           PartSink& sink,
                           const ParallelFor& parallel,
                           int64_t piece_bytes)
    : origin_(&origin), layout_(layout), sink_(&sink), parallel_(&parallel) {
    const auto size = static_cast<int64_t>(tensorTypeSize(origin.value_type));
    const int64_t group = std::max<int64_t>(1, layout.elementsPerScale()) *
                          (isNested(layout.format) ? kNestedBlockSize : 1);
    piece_elements_ = std::max<int64_t>(group, piece_bytes / size / group * group);
}

std::byte* TensorFiller::directPiece(int64_t first) const {
    if (layout_.format != origin_->storedFormat() || isQuantized(layout_.format)) {
        return nullptr;
    }
    std::byte* base = sink_->direct(DeviceTensor::Data);
    return base == nullptr
               ? nullptr
               : base + first * static_cast<int64_t>(tensorTypeSize(origin_->value_type));
}

Result<void>
TensorFiller::quantize(int64_t first, int64_t count, std::span<const std::byte> values) {
    const kernels::WeightFormat format = weightFormat(layout_.format);
    const int64_t per_scale = layout_.elementsPerScale();
    const int64_t first_scale = first / per_scale;
    const int64_t num_scales = (count + per_scale - 1) / per_scale;
    const int bits = kernels::rowOf(format).bits;
    const auto at = static_cast<uint64_t>(first * bits / 8);
    const auto bytes = static_cast<size_t>((count * bits + 7) / 8);
    std::byte* data = sink_->direct(DeviceTensor::Data);
    if (data != nullptr) {
        data += at;
    } else {
        scratch_.resize(bytes);
        data = scratch_.data();
    }
    const bool is_nested = isNested(layout_.format);
    float* scales = nullptr;
    if (is_nested) {
        absmax_.resize(static_cast<size_t>(layout_.parts().absmax_q)); // once, when its turn comes
        scales = absmax_.data() + first_scale;
    } else if (std::byte* direct = sink_->direct(DeviceTensor::Scales); direct != nullptr) {
        scales = reinterpret_cast<float*>(direct) + first_scale;
    } else {
        absmax_.resize(static_cast<size_t>(num_scales));
        scales = absmax_.data();
    }
    int64_t misses = 0;
    ENGINE_TRY(quantizeValues(origin_->name, format, per_scale, origin_->value_type, values,
                              reinterpret_cast<uint8_t*>(data), scales, *parallel_, &misses));
    grid_misses_ += misses;
    ENGINE_TRY(sink_->write(DeviceTensor::Data, at, {data, bytes}));
    return is_nested ? Result<void>()
                     : sink_->write(DeviceTensor::Scales, static_cast<uint64_t>(first_scale) * 4,
                                    bytesOf(scales, static_cast<uint64_t>(num_scales) * 4));
}

Result<void> TensorFiller::takeScales(int64_t first,
                                      std::span<const float> scales,
                                      std::span<const std::byte> values) {
    if (std::any_of(scales.begin(), scales.end(), [](float x) { return !std::isfinite(x); })) {
        // The CPU finds the value and says where it is.
        const auto count =
            static_cast<int64_t>(values.size() / tensorTypeSize(origin_->value_type));
        std::vector<uint8_t> codes(static_cast<size_t>(count));
        std::vector<float> again(scales.size());
        return quantizeValues(origin_->name, weightFormat(layout_.format),
                              layout_.elementsPerScale(), origin_->value_type, values, codes.data(),
                              again.data(), {});
    }
    if (isNested(layout_.format)) {
        absmax_.resize(static_cast<size_t>(layout_.parts().absmax_q));
        std::copy(scales.begin(), scales.end(),
                  absmax_.begin() + static_cast<std::ptrdiff_t>(first / layout_.block_size));
    }
    return {};
}

Result<void> TensorFiller::accept(int64_t first, int64_t count, std::span<const std::byte> values) {
    if (isQuantized(layout_.format)) {
        return quantize(first, count, values);
    }
    const TensorType type = denseType(layout_.format);
    const auto size = static_cast<int64_t>(tensorTypeSize(type));
    if (type == origin_->value_type) {
        return sink_->write(DeviceTensor::Data, static_cast<uint64_t>(first * size), values);
    }
    std::byte* out = sink_->direct(DeviceTensor::Data);
    if (out != nullptr) {
        out += first * size;
    } else {
        scratch_.resize(static_cast<size_t>(count * size));
        out = scratch_.data();
    }
    convertDense(origin_->value_type, values.data(), type, out, count, *parallel_);
    if (type == TensorType::F16) {
        ENGINE_TRY(checkNarrowed(first, count, values, out));
    }
    return sink_->write(DeviceTensor::Data, static_cast<uint64_t>(first * size),
                        {out, static_cast<size_t>(count * size)});
}

Result<void> TensorFiller::checkNarrowed(int64_t first,
                                         int64_t count,
                                         std::span<const std::byte> values,
                                         const std::byte* halves) const {
    constexpr uint16_t kExponent = 0x7c00; // all ones: infinity or NaN
    for (int64_t i = 0; i < count; ++i) {
        uint16_t half = 0;
        std::memcpy(&half, halves + 2 * i, sizeof half);
        if ((half & kExponent) != kExponent) {
            continue;
        }
        float value = 0;
        const size_t size = tensorTypeSize(origin_->value_type);
        convertDense(origin_->value_type, values.data() + static_cast<size_t>(i) * size,
                     TensorType::F32, reinterpret_cast<std::byte*>(&value), 1, *parallel_);
        if (!std::isfinite(value)) {
            continue; // as the checkpoint has it
        }
        char text[32];
        std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
        return Error{ErrorCode::InvalidFile,
                     said("%1: element %2 is %3, f16 holds finite values up to 65504; give it "
                          "\"format\": \"bf16\" or leave it as stored",
                          origin_->name, first + i, text)};
    }
    return {};
}

Result<void> TensorFiller::finish() {
    if (!isNested(layout_.format)) {
        return {};
    }
    const auto parts = layout_.parts();
    nested_offset_ =
        engine::nestedOffset(addAbsmax(0.0, absmax_), static_cast<int64_t>(absmax_.size()));
    std::vector<uint8_t> absmax_q(static_cast<size_t>(parts.absmax_q));
    std::vector<float> nested_absmax(static_cast<size_t>(parts.nested_absmax / 4));
    nestAbsmax(absmax_, nested_offset_, absmax_q.data(), nested_absmax.data(), *parallel_);
    std::array<float, 257> code{};
    std::copy(dynamicMap().begin(), dynamicMap().end(), code.begin());
    code[256] = nested_offset_;
    ENGINE_TRY(sink_->write(DeviceTensor::AbsmaxQ, 0, std::as_bytes(std::span(absmax_q))));
    ENGINE_TRY(
        sink_->write(DeviceTensor::NestedAbsmax, 0, std::as_bytes(std::span(nested_absmax))));
    return sink_->write(DeviceTensor::NestedCode, 0, std::as_bytes(std::span(code)));
}

Result<float> fillSynchronously(const TensorSource& source,
                                const WeightOrigin& origin,
                                const DeviceTensor::Layout& layout,
                                PartSink& sink,
                                const ParallelFor& parallel,
                                PieceHasher* hasher) {
    if (origin.isSameAs(layout) && isQuantized(layout.format)) {
        std::vector<std::byte> buffer;
        for (int part = 0; part < DeviceTensor::PartCount; ++part) {
            const uint64_t bytes = origin.storedBytes(part);
            const uint64_t step = kPieceBytes / origin.partUnit() * origin.partUnit();
            for (uint64_t at = 0; at < bytes; at += step) {
                const auto size = static_cast<size_t>(std::min<uint64_t>(step, bytes - at));
                std::byte* target = sink.direct(part);
                if (target == nullptr) {
                    buffer.resize(size);
                }
                const std::span<std::byte> out(target != nullptr ? target + at : buffer.data(),
                                               size);
                ENGINE_TRY(readStored(source, origin, part, at, out));
                ENGINE_TRY(sink.write(part, at, out));
            }
        }
        ENGINE_TRY(writeStoredCode(origin, sink));
        return origin.packed.state.nested_offset;
    }
    TensorFiller filler(origin, layout, sink, parallel, kPieceBytes);
    const auto size = static_cast<int64_t>(tensorTypeSize(origin.value_type));
    std::vector<std::byte> buffer;
    const int64_t n = origin.numElements();
    for (int64_t first = 0; first < n; first += filler.pieceElements()) {
        const int64_t count = std::min(filler.pieceElements(), n - first);
        std::byte* target = filler.directPiece(first);
        if (target == nullptr) {
            buffer.resize(static_cast<size_t>(count * size));
            target = buffer.data();
        }
        ENGINE_TRY(readValues(source, origin, first, count, target));
        if (hasher != nullptr) {
            hasher->update({target, static_cast<size_t>(count * size)}, parallel);
        }
        ENGINE_TRY(filler.accept(first, count, {target, static_cast<size_t>(count * size)}));
    }
    ENGINE_TRY(filler.finish());
    return filler.nestedOffset();
}

Result<void> writeStoredCode(const WeightOrigin& origin, PartSink& sink) {
    if (!origin.packed.state.is_nested) {
        return {};
    }
    std::array<float, 257> code{};
    std::copy(origin.packed.nested_code.begin(), origin.packed.nested_code.end(), code.begin());
    code[256] = origin.packed.state.nested_offset;
    return sink.write(DeviceTensor::NestedCode, 0, std::as_bytes(std::span(code)));
}

} // namespace engine
