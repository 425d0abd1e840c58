// SPDX-License-Identifier: Apache-2.0
// Rows made on the host for a device whose memory the host cannot touch (embeddings, per-layer
// inputs): page-locked memory in two halves, so that rows of one call are made while the device
// still works on those of the call before.
#pragma once

#include "engine/gemma4/compute_context.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

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
                             "no host memory for " + std::to_string(8 * floats) +
                                 " bytes of rows on their way to a GPU; lower the prefill chunk"};
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

    /// Lets `make` fill [rows, cols] piece by piece and sends each piece to `to` at once.
    /// make(first row, rows to fill).
    Result<void> send(kernels::MutF32 to,
                      const std::function<Result<void>(int64_t, kernels::MutF32)>& make) {
        // Pieces below the size from which a device stages copies itself.
        constexpr int64_t kPieceFloats = 256 * 1024;
        const int64_t step = std::clamp<int64_t>(kPieceFloats / to.cols, 1, to.rows);
        const bool is_dense = to.stride == to.cols;
        for (int64_t first = 0; first < to.rows; first += step) {
            const int64_t rows = std::min(step, to.rows - first);
            float* piece = memory_ + half_ * capacity_ + used_;
            used_ += rows * to.cols;
            ENGINE_TRY(make(first, {piece, rows, to.cols, to.cols}));
            for (int64_t r = 0; r < rows; r += is_dense ? rows : 1) {
                const int64_t count = is_dense ? rows : 1;
                ENGINE_TRY(checkStatus(
                    device_->copyIn(to.data + (first + r) * to.stride, piece + r * to.cols,
                                    static_cast<size_t>(count * to.cols) * sizeof(float)),
                    "copy in", "rows"));
            }
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
