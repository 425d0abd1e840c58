// SPDX-License-Identifier: Apache-2.0
// One adapter's parts in device memory: blocks that own their allocation, and the views kernels
// take. Placing is all-or-nothing per adapter; strengths are applied later (adapter_runtime.cpp).
#pragma once

#include "engine/base/result.h"
#include "engine/lora/adapter.h"
#include "engine/lora/adapter_layout.h"
#include "engine/lora/adapter_runtime.h"
#include "kernels/device.h"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

/// Where the parts of one block are written.
struct BlockTarget {
    kernels::Device* device = nullptr;
    std::byte* memory = nullptr;
    /// Ordered with the device's queue; `bytes` may go afterwards.
    [[nodiscard]] Result<void>
    write(uint64_t offset, std::span<const std::byte> bytes, const std::string& what) const;
};

/// Memory on one device, tagged as adapter. Move-only; the device must outlive it.
class DeviceBlock {
public:
    DeviceBlock() = default;
    ~DeviceBlock() { reset(); }
    DeviceBlock(DeviceBlock&& other) noexcept { *this = std::move(other); }
    DeviceBlock& operator=(DeviceBlock&& other) noexcept;
    DeviceBlock(const DeviceBlock&) = delete;
    DeviceBlock& operator=(const DeviceBlock&) = delete;

    /// `what` names the purpose in the message of OutOfMemory.
    static Result<DeviceBlock>
    allocate(kernels::Device& device, uint64_t bytes, const Argument& what);

    [[nodiscard]] kernels::Device* device() const { return device_; }
    [[nodiscard]] uint64_t sizeBytes() const { return bytes_; }
    [[nodiscard]] std::byte* at(uint64_t offset) const {
        return static_cast<std::byte*>(memory_) + offset;
    }
    [[nodiscard]] BlockTarget target() const { return {device_, at(0)}; }
    [[nodiscard]] Result<void>
    write(uint64_t offset, std::span<const std::byte> bytes, const std::string& what) const {
        return target().write(offset, bytes, what);
    }
    /// A copy on another device, byte for byte.
    [[nodiscard]] Result<DeviceBlock> copyTo(kernels::Device& device,
                                             const std::string& what) const;
    void reset();

private:
    kernels::Device* device_ = nullptr;
    void* memory_ = nullptr;
    uint64_t bytes_ = 0;
};

/// Error for a kernel or copy that did not succeed.
Error kernelError(kernels::Status status, const Sentence& what);

kernels::DType dtypeOf(TensorType type);
kernels::WeightFormat weightFormatOf(TensorType type);

struct PlacedUpdate {
    const LowRankUpdate* update = nullptr;
    const Adapter* source = nullptr; ///< Adapter that has `update`.
    AdapterBlock layout;
    AdapterHome home;  ///< compute nullptr: the base tensor is not loaded.
    DeviceBlock block; ///< On home.compute, or in host memory; without device: on disk, not loaded.
    std::byte* arrived = nullptr; ///< What travels: where it has come to (adapter_arrivals.h).
    double strength = 1.0;        ///< As written last.
    std::vector<float> g;         ///< DoRA: m_j / n_j.

    [[nodiscard]] bool isPlaced() const { return home.compute != nullptr; }
    /// Where kernels read it.
    [[nodiscard]] std::byte* at(uint64_t offset) const {
        return (home.travels() ? arrived : block.at(0)) + offset;
    }

    [[nodiscard]] kernels::MatView a(int64_t expert = 0) const;
    [[nodiscard]] kernels::MatView b(int64_t expert = 0) const;
    [[nodiscard]] kernels::MatView bias() const;
    [[nodiscard]] const float* columns() const;
    /// [1]: scaling * strength, for fused steps; see writeStrength().
    [[nodiscard]] const float* factor() const;
    [[nodiscard]] kernels::MatView identity() const;
    /// Embedding: A transposed, [vocabulary, rank], to gather from.
    [[nodiscard]] kernels::WeightView table() const;
};

/// Replaced rows: in host memory for the gather, on the head's device for the head.
struct PlacedRows {
    const RowReplacement* rows = nullptr;
    bool is_head = false;
    AdapterBlock layout;
    DeviceBlock block;
    std::unordered_map<int32_t, int32_t> row_of; ///< Token id -> row; gather only.

    [[nodiscard]] kernels::WeightView weight() const;
    [[nodiscard]] const int32_t* ids() const;
};

/// A replaced table or matrix (kind Linear, Embedding or Experts).
struct PlacedTensor {
    const TensorReplacement* replacement = nullptr;
    std::string tensor; ///< Its own name, or kHeadTensor for the tied head.
    AdapterBlock layout;
    DeviceBlock block;

    [[nodiscard]] kernels::WeightView weight(int64_t expert = 0) const;
};

/// A replaced small tensor. `base` and `value` stay on the host for blending; the blend lies in
/// `block`, or, for tables of the model, is uploaded when the model binds.
struct PlacedVector {
    const TensorReplacement* replacement = nullptr;
    std::vector<float> base, value;
    DeviceBlock block;

    /// base + strength * (value - base).
    [[nodiscard]] std::vector<float> blended(double strength) const;
};

struct PlacedAdapter {
    std::shared_ptr<const Adapter> adapter;
    std::vector<PlacedUpdate> updates;
    std::vector<PlacedRows> rows;
    std::vector<PlacedTensor> tensors;
    std::vector<PlacedVector> vectors;
};

struct PlaceContext {
    kernels::Device& host;
    const AdapterHomeOf& home_of;
    const ReadBaseRows& read_base;
    std::stop_token stop;
};

/// Errors: see AdapterSet::add. Everything is freed on error.
Result<std::unique_ptr<PlacedAdapter>> placeAdapter(std::shared_ptr<const Adapter> adapter,
                                                    const PlaceContext& context);

/// DoRA's g of one update from the base weights as they are now.
Result<std::vector<float>> doraFactors(const Adapter& adapter,
                                       const LowRankUpdate& update,
                                       const ReadBaseRows& read_base,
                                       const std::stop_token& stop);

/// Fills the block of one update (A, B, bias, identity; with DoRA g * B from `g`) from the file.
Result<void>
fillUpdate(const Adapter& adapter, const PlacedUpdate& placed, const BlockTarget& target);
/// DoRA: g * B in fp32, as it lies in the block.
Result<std::vector<float>> scaledB(const Adapter& adapter, const PlacedUpdate& placed);
/// The block of an update with the given home, filled with the strength too; without device where
/// the home is on disk. `former`, where it has memory, is copied instead of the file's bytes.
/// Errors: OutOfMemory, InvalidFile.
Result<DeviceBlock> blockAt(const PlacedUpdate& placed,
                            const AdapterHome& home,
                            kernels::Device& host,
                            const DeviceBlock& former);

/// Writes the blend for strength t into the vector's block, if it has one.
Result<void> writeBlend(PlacedVector& placed, double strength);

/// Writes what depends on strength t: the factor, and DoRA's columns 1 + t (g - 1).
Result<void> writeStrength(const PlacedUpdate& placed, const BlockTarget& target, double strength);
/// The same in the update's own block, if it has one, for all later uses.
Result<void> writeStrength(PlacedUpdate& placed, double strength);

} // namespace engine
