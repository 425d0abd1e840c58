// SPDX-License-Identifier: Apache-2.0
// What the loader needs of one graphics card while it fills tensors there: marks behind the pieces
// under way, and quantization of pieces on the card (stored values go there, codes stay, scales
// come back). Private to the loader.
#pragma once

#include "engine/load/loader_fill.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace engine {

/// Pieces that may be on their way at a time; each has a mark of the same number.
inline constexpr size_t kPiecesUnderWay = 4;

class CardFill {
public:
    /// A device whose memory the host cannot see, and the most bytes of values and the most scales
    /// that a piece to quantize there has. Takes nothing before the first such piece.
    CardFill(kernels::Device& device, size_t value_bytes, size_t scale_count)
        : device_(&device), value_bytes_(value_bytes), scale_count_(scale_count) {}
    /// Waits for what is under way, then gives the buffers back.
    ~CardFill();
    CardFill(const CardFill&) = delete;
    CardFill& operator=(const CardFill&) = delete;

    [[nodiscard]] kernels::Device& device() const { return *device_; }

    /// Quantizes values [first, first + count) that lie in page-locked memory into `tensor`; the
    /// scales follow with takeScales() once finish(mark) has returned. False: the card does not do
    /// it (no kernel, a layout it does not know, no room for its buffers): then the CPU does.
    /// Errors: DeviceLost.
    Result<bool> quantize(const DeviceTensor& tensor,
                          TensorType type,
                          int64_t first,
                          int64_t count,
                          std::span<const std::byte> values,
                          int mark);
    /// The scales of the piece that was quantized under this mark.
    [[nodiscard]] std::span<const float> scales(int mark) const;

    /// Puts a mark behind what was enqueued so far. Errors: DeviceLost.
    Result<void> begin(int mark);
    /// Waits for the mark. Errors: DeviceLost.
    Result<void> finish(int mark);

private:
    /// Takes the buffers; false when there is no room.
    bool prepare();
    void release();

    kernels::Device* device_;
    /// Values wait here for the kernel: one is filled while the other is quantized.
    struct Buffer {
        void* values = nullptr;
        void* scales = nullptr; ///< For nested layouts, whose scales are only passed on.
        int last_mark = kernels::Device::kNoMark;
    };
    std::array<Buffer, 2> buffers_;
    size_t turn_ = 0;
    size_t value_bytes_, scale_count_;
    struct Scales {
        void* locked = nullptr;
        size_t count = 0;
    };
    std::array<Scales, kPiecesUnderWay> scales_;
    bool is_prepared_ = false, is_refused_ = false, is_busy_ = false;
};

} // namespace engine
