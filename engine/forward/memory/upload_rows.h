// SPDX-License-Identifier: Apache-2.0
// Rows made on the host for a device whose memory the host cannot touch (embeddings, per-layer
// inputs): page-locked memory in two halves, so that rows of one call are made while the device
// still works on those of the call before.
#pragma once

#include "engine/forward/memory/compute_context.h"

#include <algorithm>
#include <cstdint>

namespace engine {

class UploadRows {
public:
    UploadRows() = default;
    ~UploadRows() { release(); }
    UploadRows(const UploadRows&) = delete;
    UploadRows& operator=(const UploadRows&) = delete;

    /// Begins a call that will need `floats` values for `device`. Every other call waits until the
    /// device has taken what the call before last left here.
    /// Errors: OutOfMemory (host), device errors.
    Result<void> begin(kernels::Device& device, int64_t floats) {
        if (device_ != &device || capacity_ < floats) {
            release();
            memory_ = static_cast<float*>(
                device.allocateHost(static_cast<size_t>(2 * floats) * sizeof(float)));
            if (memory_ == nullptr) {
                return Error{ErrorCode::OutOfMemory,
                             said("no host memory for %1 bytes of rows on their way to a GPU; "
                                  "lower the prefill chunk",
                                  8 * floats)};
            }
            device_ = &device;
            capacity_ = floats;
        } else if (half_ == 1) {
            ENGINE_TRY(checkStatus(device.synchronize(), "synchronize", "rows"));
        }
        half_ = 1 - half_;
        used_ = 0;
        return {};
    }

    /// Page-locked [rows, cols] of this call, to be filled before it is sent.
    [[nodiscard]] kernels::MutF32 take(int64_t rows, int64_t cols) {
        const kernels::MutF32 out{memory_ + half_ * capacity_ + used_, rows, cols, cols};
        used_ += rows * cols;
        return out;
    }

    /// Sends rows made by take(); returns before the device has them.
    Result<void> send(kernels::MatF32 from, kernels::MutF32 to) {
        // Pieces below the size from which a device stages copies itself.
        constexpr int64_t kPieceFloats = int64_t{256} * 1024;
        const int64_t step = std::clamp<int64_t>(kPieceFloats / to.cols, 1, to.rows);
        for (int64_t first = 0; first < to.rows; first += step) {
            const int64_t rows = std::min(step, to.rows - first);
            ENGINE_TRY(checkStatus(
                device_->copyIn(to.data + first * to.stride, from.data + first * from.stride,
                                static_cast<size_t>(rows * to.cols) * sizeof(float)),
                "copy in", "rows"));
        }
        return {};
    }

private:
    void release() {
        if (memory_ != nullptr) {
            (void)device_->synchronize();
            device_->freeHost(memory_);
            memory_ = nullptr;
            capacity_ = 0;
        }
    }
    kernels::Device* device_ = nullptr;
    float* memory_ = nullptr;
    int64_t capacity_ = 0; ///< Floats of one half.
    int64_t used_ = 0;
    int64_t half_ = 0;
};

} // namespace engine
