// SPDX-License-Identifier: Apache-2.0
// Pieces on a card: copy, kernel, scales back, mark. The copy of a piece overlaps with the kernel
// of the one before; a buffer is filled again when the kernel that read it has finished.

#include "engine/load/loader_card.h"

#include <string>

namespace engine {

namespace {

using kernels::Status;

Error lost() {
    return Error{
        ErrorCode::DeviceLost, said("a device refused a copy of weights; restart the program"), {}};
}

kernels::DType elementType(TensorType type) {
    return type == TensorType::F32   ? kernels::DType::F32
           : type == TensorType::F16 ? kernels::DType::F16
                                     : kernels::DType::BF16;
}

} // namespace

CardFill::~CardFill() {
    // Copies read the buffers. A lost device copies no more; any other answer is worth a second
    // try.
    if (is_busy_ && device_->synchronize() != Status::Ok && !device_->isLost()) {
        (void)device_->synchronize();
    }
    release();
}

void CardFill::release() {
    for (Buffer& buffer : buffers_) {
        device_->free(buffer.values);
        device_->free(buffer.scales);
        buffer = {};
    }
    for (Scales& scales : scales_) {
        device_->freeHost(scales.locked);
        scales = {};
    }
    is_prepared_ = false;
}

bool CardFill::prepare() {
    if (is_prepared_) {
        return true;
    }
    constexpr auto kTag = static_cast<int>(MemoryPart::Workspace);
    const size_t scale_bytes = scale_count_ * sizeof(float);
    is_prepared_ = true;
    for (Buffer& buffer : buffers_) {
        buffer.values = device_->allocate(value_bytes_, kTag);
        buffer.scales = device_->allocate(scale_bytes, kTag);
        is_prepared_ = is_prepared_ && buffer.values != nullptr && buffer.scales != nullptr;
    }
    for (Scales& scales : scales_) {
        scales.locked = device_->allocateHost(scale_bytes);
        is_prepared_ = is_prepared_ && scales.locked != nullptr;
    }
    if (!is_prepared_) {
        release();
    }
    return is_prepared_;
}

Result<bool> CardFill::quantize(const DeviceTensor& tensor,
                                TensorType type,
                                int64_t first,
                                int64_t count,
                                std::span<const std::byte> values,
                                int mark) {
    const DeviceTensor::Layout& layout = tensor.layout();
    const bool is_rows = weightFormat(layout.format) == kernels::WeightFormat::Int8Row;
    const auto function = device_->ops().quantize;
    if (is_refused_ || function == nullptr || (!is_rows && !hasCodes(layout.format)) ||
        (!is_rows && layout.block_size != kBlockSize)) {
        return false;
    }
    const int64_t per_scale = is_rows ? layout.cols : kBlockSize;
    const auto num_scales = static_cast<size_t>((count + per_scale - 1) / per_scale);
    if (values.size() > value_bytes_ || num_scales > scale_count_ || !prepare()) {
        is_refused_ = true; // memory does not come back while this model is loaded
        return false;
    }
    Buffer& buffer = buffers_[turn_ % buffers_.size()];
    kernels::QuantizeArgs args;
    args.values = buffer.values;
    args.type = elementType(type);
    args.rows = is_rows ? count / layout.cols : 1;
    args.cols = is_rows ? layout.cols : count;
    args.format = weightFormat(layout.format);
    args.block_size = kBlockSize;
    args.data =
        static_cast<std::byte*>(tensor.part(DeviceTensor::Data)) + (is_rows ? first : first / 2);
    args.scales = isNested(layout.format)
                      ? static_cast<float*>(buffer.scales)
                      : static_cast<float*>(tensor.part(DeviceTensor::Scales)) + first / per_scale;
    Scales& scales = scales_[static_cast<size_t>(mark)];
    is_busy_ = true;
    if (device_->copyInLater(buffer.values, values.data(), values.size(), buffer.last_mark) !=
        Status::Ok) {
        return lost();
    }
    const Status done = function(device_->queue(), args);
    if (done == Status::Unsupported) {
        is_refused_ = true;
        return false;
    }
    if (done != Status::Ok || device_->copyOutLater(scales.locked, args.scales,
                                                    num_scales * sizeof(float)) != Status::Ok) {
        return lost();
    }
    scales.count = num_scales;
    buffer.last_mark = mark;
    ++turn_;
    return true;
}

std::span<const float> CardFill::scales(int mark) const {
    const Scales& scales = scales_[static_cast<size_t>(mark)];
    return {static_cast<const float*>(scales.locked), scales.count};
}

Result<void> CardFill::begin(int mark) {
    is_busy_ = true;
    if (device_->mark(mark) != Status::Ok) {
        return lost();
    }
    return {};
}

Result<void> CardFill::finish(int mark) {
    if (device_->waitForMark(mark) != Status::Ok) {
        return lost();
    }
    return {};
}

} // namespace engine
