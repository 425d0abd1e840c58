// SPDX-License-Identifier: Apache-2.0
// Loaded weights: for every tensor its store copy (or its place on disk), its copy on the compute
// device if that is another one, and the rules by which bytes travel (always, on_use, stream).
// Filled and re-placed by engine/load/loader.h. One tensor's codes, statistics and shape are one
// unit: they are allocated, moved and freed together (see NF4.md). Belongs to the
// engine thread.
#pragma once

#include "engine/api/placement.h"
#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/devices/device_set.h"
#include "engine/families/tensor_list.h"
#include "engine/files/tensor_source.h"
#include "engine/load/host_lock.h"
#include "engine/model/weight_source.h"
#include "engine/quant/quantize.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// One tensor resident on one device. Owns its allocations; move-only; contents do not change
/// after it was filled. The device must outlive it.
class DeviceTensor {
public:
    DeviceTensor() = default;
    ~DeviceTensor() { reset(); }
    DeviceTensor(DeviceTensor&& other) noexcept { *this = std::move(other); }
    DeviceTensor& operator=(DeviceTensor&& other) noexcept;
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;

    /// What a tensor is, apart from where.
    struct Layout {
        Format format = Format::Bf16; ///< Resolved, not AsStored.
        std::vector<int64_t> shape;   ///< Logical shape of the module.
        int64_t rows = 0, cols = 0;   ///< shape with leading dimensions folded; [1, n] for vectors.
        int32_t block_size = kBlockSize;     ///< Formats with blocks.
        TensorType dtype = TensorType::BF16; ///< Type that 4-bit products are rounded to.
        [[nodiscard]] FormatParts parts() const {
            return formatParts(format, dtype, rows, cols, block_size);
        }
        [[nodiscard]] int64_t elementsPerScale() const { ///< 0: the format has no scales.
            return engine::elementsPerScale(format, cols, block_size);
        }
    };

    /// Allocates all parts under `part`, uninitialised. Errors: OutOfMemory (names the tensor and
    /// device, asked and free bytes); nothing stays allocated then.
    static Result<DeviceTensor> allocate(std::string_view name,
                                         const Layout& layout,
                                         DeviceId device_id,
                                         kernels::Device& device,
                                         MemoryPart part = MemoryPart::Weights);

    /// Order of parts in memory tables below.
    enum Part { Data = 0, Scales, AbsmaxQ, NestedAbsmax, NestedCode, PartCount };

    [[nodiscard]] bool isAllocated() const { return device_ != nullptr; }
    [[nodiscard]] kernels::WeightView view() const;
    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] DeviceId deviceId() const { return device_id_; }
    [[nodiscard]] kernels::Device* device() const { return device_; }
    [[nodiscard]] void* part(Part part) const { return parts_[part]; }
    [[nodiscard]] uint64_t partBytes(Part part) const { return bytes_[part]; }
    [[nodiscard]] uint64_t sizeBytes() const; ///< As allocated, by the byte rule of quantize.h.
    /// The nested offset travels in the view, not through memory; set when filled.
    void setNestedOffset(float offset) { nested_offset_ = offset; }
    [[nodiscard]] float nestedOffset() const { return nested_offset_; }
    void reset();

    /// Begins to page-lock a tensor of one part in host memory for `reader`; see host_lock.h. Once:
    /// further calls change nothing. False: not this one.
    bool lockFor(kernels::Device& reader);
    /// No kernel reads it any more.
    void unlock() { lock_.reset(); }
    /// As kernels of `reader` read it where it lies; nothing before it is locked.
    [[nodiscard]] std::optional<kernels::WeightView>
    lockedView(const kernels::Device& reader) const;

private:
    Layout layout_;
    DeviceId device_id_;
    kernels::Device* device_ = nullptr;
    std::unique_ptr<HostLock> lock_;
    std::array<void*, PartCount> parts_{};
    std::array<uint64_t, PartCount> bytes_{};
    float nested_offset_ = 0.0F;
};

/// A stored tensor that changes nothing, and why; tensors of one reason are told together.
struct InertTensor {
    std::string name;
    std::string reason;
};

/// What loading found and did; for the user and --json.
struct LoadReport {
    std::vector<std::string> missing; ///< Optional tensors the files lack (clip scalars), names.
    std::vector<std::string> surplus; ///< In the files, known to no module.
    std::vector<InertTensor> inert;   ///< Known but without effect (K/V of KV-shared layers, ...).
    std::vector<Sentence> notes;      ///< Conversions, unknown quant-state members, cache states.
    uint64_t bytes_read = 0;          ///< From model files.
    uint64_t bytes_compared = 0;      ///< Those read only to see whether the cache fits them.
    uint64_t cache_bytes_read = 0;
    uint64_t cache_bytes_written = 0;
    double allocate_s = 0.0, fill_s = 0.0;
    int tensors_from_cache = 0, tensors_quantized = 0;
    int tensors_quantized_on_cards = 0; ///< Those quantized by the card that holds them.
    /// Weights that were put on 4-bit grids (q4_0) in this load: those that had been trained for
    /// theirs, with the values that are not what they were, and the others. Weights from the cache
    /// and those that stay on disk are not counted.
    struct Grids {
        int trained = 0, requantized = 0;
        int64_t trained_values = 0, trained_misses = 0;
    };
    Grids grids;
};

class TensorStore final : public WeightSource {
public:
    ~TensorStore() override;

    [[nodiscard]] Handle handleOf(std::string_view tensor) const override;
    [[nodiscard]] DeviceId computeDevice(Handle handle) const override;
    Result<kernels::WeightView> acquire(Handle handle) override;
    void release(Handle handle) override;
    Result<void> gatherRows(Handle handle,
                            std::span<const int32_t> ids,
                            int64_t col_offset,
                            float scale,
                            kernels::MutF32 out) override;
    [[nodiscard]] std::optional<kernels::WeightView>
    residentOn(Handle handle, const DeviceId& device) const override;
    bool lockFor(Handle handle, const DeviceId& device) override;
    [[nodiscard]] std::optional<kernels::WeightView>
    lockedFor(Handle handle, const DeviceId& device) const override;

    /// By name, for callers outside the hot path. Errors: Internal when there is no such tensor.
    Result<kernels::WeightView> acquire(std::string_view tensor);
    void release(std::string_view tensor);

    /// All values as fp32 in host memory (small tensors: norms, scalars, biases), from wherever
    /// the tensor is. Errors: as gatherRows.
    Result<std::vector<float>> values(Handle handle);

    /// One value of a tensor, as the files hold it.
    struct Extreme {
        std::string tensor;
        int64_t element = 0;
        float value = 0.0F;
    };
    /// Reads the tensors of the wanted parts from the files: the first value that is not finite
    /// (clip bounds may be infinite), else the largest magnitude; nullopt: no such tensor. Slow,
    /// for explaining a failure. Errors: of reading, Cancelled.
    Result<std::optional<Extreme>> scanFiles(const std::function<bool(Part)>& is_wanted,
                                             const std::stop_token& stop) const;

    [[nodiscard]] const std::vector<int64_t>& shape(Handle handle) const;
    [[nodiscard]] Format format(Handle handle) const;
    [[nodiscard]] const std::string& name(Handle handle) const;
    [[nodiscard]] const TensorPlacement& placement(Handle handle) const;
    [[nodiscard]] int size() const; ///< Number of tensors; handles are 0 ... size() - 1.

    /// The plan this store now realises.
    [[nodiscard]] const PlacementPlan& plan() const;
    [[nodiscard]] const LoadReport& report() const;
    /// What was met in use since the last call (also among the report's notes), for the user of a
    /// reply; mostly empty.
    std::optional<Sentence> takeUseNote();
    /// A device that later plans may name; must outlive the store.
    void addDevice(DeviceId id, kernels::Device& device);
    /// Grows with every applyPlan() that changed an address: views taken before are then invalid.
    [[nodiscard]] uint64_t generation() const;
    /// Bytes copied to compute devices for streamed and visiting tensors since the last call.
    uint64_t takeStagedBytes();

    struct Impl; ///< Private: tensor_store_impl.h.

private:
    friend class StoreBuilder; // the loader
    explicit TensorStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace engine
