// SPDX-License-Identifier: Apache-2.0
// Makes one tensor's parts in the format a plan asks for out of pieces of its stored values, and
// puts them where they belong (device memory, a cache file). Private to the loader and the store.
#pragma once

#include "engine/load/content_hash.h"
#include "engine/load/loader_origin.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Receives the bytes of a tensor's parts.
class PartSink {
public:
    PartSink() = default;
    PartSink(const PartSink&) = delete;
    PartSink& operator=(const PartSink&) = delete;
    virtual ~PartSink() = default;
    /// Start of the part when bytes may be written there directly, else nullptr.
    [[nodiscard]] virtual std::byte* direct(int part) = 0;
    /// Bytes of one part, offsets ascending within a part.
    virtual Result<void> write(int part, uint64_t offset, std::span<const std::byte> bytes) = 0;
};

/// Parts at given addresses of one device.
class MemorySink final : public PartSink {
public:
    MemorySink(kernels::Device& device, const std::array<void*, DeviceTensor::PartCount>& parts)
        : device_(&device), parts_(parts) {}
    explicit MemorySink(DeviceTensor& tensor);
    [[nodiscard]] std::byte* direct(int part) override;
    Result<void> write(int part, uint64_t offset, std::span<const std::byte> bytes) override;
    [[nodiscard]] kernels::Device& device() const { return *device_; }
    /// Bytes written from within this page-locked memory are on their way when write() returns, and
    /// must stay until a mark of the device.
    void setLocked(std::span<const std::byte> memory) { locked_ = memory; }

private:
    kernels::Device* device_;
    std::array<void*, DeviceTensor::PartCount> parts_;
    std::span<const std::byte> locked_;
};

/// Turns stored values of one tensor, handed over piece by piece in ascending order, into a layout.
class TensorFiller {
public:
    TensorFiller(const WeightOrigin& origin,
                 const DeviceTensor::Layout& layout,
                 PartSink& sink,
                 const ParallelFor& parallel,
                 int64_t piece_bytes);

    /// Elements per piece (a multiple of what the format groups); the last piece may be shorter.
    [[nodiscard]] int64_t pieceElements() const { return piece_elements_; }
    /// Where the values of a piece may be read to directly, else nullptr (hand over a buffer).
    [[nodiscard]] std::byte* directPiece(int64_t first) const;

    /// Values [first, first + count) of origin.value_type; nothing to do when they were read
    /// directly (values.data() == directPiece(first)).
    Result<void> accept(int64_t first, int64_t count, std::span<const std::byte> values);
    /// Instead of accept(), for a piece that a card has quantized from the same values: the absmax
    /// of its blocks or the scales of its rows, which are refused when they are not finite.
    Result<void>
    takeScales(int64_t first, std::span<const float> scales, std::span<const std::byte> values);
    /// After the last piece: statistics that need the whole tensor.
    Result<void> finish();
    /// For nested layouts, after finish().
    [[nodiscard]] float nestedOffset() const { return nested_offset_; }
    /// Values so far that are not on the 4-bit grid they were given (Int4).
    [[nodiscard]] int64_t gridMisses() const { return grid_misses_; }

private:
    Result<void> quantize(int64_t first, int64_t count, std::span<const std::byte> values);
    /// Values that were finite and are not in 16 bits of IEEE: InvalidFile.
    Result<void> checkNarrowed(int64_t first,
                               int64_t count,
                               std::span<const std::byte> values,
                               const std::byte* halves) const;

    const WeightOrigin* origin_;
    DeviceTensor::Layout layout_;
    PartSink* sink_;
    const ParallelFor* parallel_;
    int64_t piece_elements_ = 0;
    std::vector<std::byte> scratch_;
    std::vector<float> absmax_; ///< For the whole tensor (nested) or for one piece.
    float nested_offset_ = 0.0F;
    int64_t grid_misses_ = 0;
};

/// Part NestedCode of a packed weight (map as stored, offset); nothing for plain ones.
Result<void> writeStoredCode(const WeightOrigin& origin, PartSink& sink);

inline constexpr int64_t kPieceBytes = int64_t{8} << 20;

/// Makes a whole tensor on the calling thread, for disk-stored tensors at run time. Returns the
/// nested offset (0 for other layouts). `hasher` (may be nullptr) sees the values of the
/// checkpoint, unless they are packed ones that stay as they are.
Result<float> fillSynchronously(const TensorSource& source,
                                const WeightOrigin& origin,
                                const DeviceTensor::Layout& layout,
                                PartSink& sink,
                                const ParallelFor& parallel,
                                PieceHasher* hasher = nullptr);

} // namespace engine
