// SPDX-License-Identifier: Apache-2.0
// Per-device state of a forward pass: device, kernel table, queue and the carved workspace; plus
// the two things every module does with it: run a linear layer (wherever its weight computes, with
// its clamps and adapters) and move activations between devices.
#pragma once

#include "engine/api/device_id.h"
#include "engine/base/result.h"
#include "engine/forward/memory/lent_weights.h"
#include "engine/forward/memory/workspace.h"
#include "engine/model/adapter_hook.h"
#include "engine/model/weight_source.h"
#include "kernels/device.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// Devices by name; not owned.
using DeviceMapping = std::map<DeviceId, kernels::Device*>;

/// One device's workspace: owns the allocation.
class DeviceScratch {
public:
    /// Errors: OutOfMemory (asked and free bytes).
    static Result<std::unique_ptr<DeviceScratch>>
    create(DeviceId id, kernels::Device& device, const WorkspaceLayout& layout);
    ~DeviceScratch();
    DeviceScratch(const DeviceScratch&) = delete;
    DeviceScratch& operator=(const DeviceScratch&) = delete;

    [[nodiscard]] DeviceId id() const { return id_; }
    [[nodiscard]] kernels::Device& device() const { return *device_; }
    [[nodiscard]] const kernels::OpTable& ops() const { return device_->ops(); }
    [[nodiscard]] kernels::Queue queue() const { return device_->queue(); }
    /// Address of a buffer, which must be in the layout (our own mistake otherwise).
    [[nodiscard]] float* buffer(Buffer buffer) const;
    [[nodiscard]] int32_t* ints(Buffer which) const {
        return reinterpret_cast<int32_t*>(buffer(which));
    }
    [[nodiscard]] bool has(Buffer buffer) const { return layout_.offset(buffer) >= 0; }
    [[nodiscard]] int64_t size(Buffer buffer) const { return layout_.size(buffer); }
    /// [rows, cols] over a buffer.
    [[nodiscard]] kernels::MutF32 matrix(Buffer which, int64_t rows, int64_t cols) const;

private:
    DeviceScratch(DeviceId id, kernels::Device& device, const WorkspaceLayout& layout, float* base)
        : id_(id), device_(&device), layout_(layout), base_(base) {}
    DeviceId id_;
    kernels::Device* device_;
    WorkspaceLayout layout_;
    float* base_;
};

/// One linear layer as the model runs it.
struct Linear {
    WeightSource::Handle weight = WeightSource::kAbsent;
    AdapterHook::Handle adapter = AdapterHook::kNone;
    DeviceId device;
    std::string name; ///< Tensor name, for errors and adapters.
    int64_t in = 0, out = 0;
    bool is_resident = false; ///< Its bytes stay in the memory of `device`: views stay valid.
    bool has_input_clip = false, has_output_clip = false;
    float input_min = 0.0F, input_max = 0.0F, output_min = 0.0F, output_max = 0.0F;

    [[nodiscard]] bool hasClips() const { return has_input_clip || has_output_clip; }
    /// Nothing but the product: no clips, no adapter.
    [[nodiscard]] bool isPlain() const { return adapter == AdapterHook::kNone && !hasClips(); }
};

/// A small vector (norm weight, bias, scale): fp32 on the device that consumes it.
struct Vector {
    const float* data = nullptr; ///< On the consumer's device; nullptr = absent.
    int64_t size = 0;
    [[nodiscard]] kernels::MatView view() const { return {data, kernels::DType::F32, 1, size}; }
};

/// Counters for the transfers a plan predicts.
struct TransferCounters {
    uint64_t bytes = 0;
    uint64_t copies = 0;
};

class ComputeContext {
public:
    ComputeContext(WeightSource& weights, AdapterHook* adapters)
        : weights_(&weights), adapters_(adapters) {}

    Result<void> addDevice(DeviceId id, kernels::Device& device, const WorkspaceLayout& layout);
    [[nodiscard]] DeviceScratch* scratch(DeviceId id) const;
    /// What lends weights of the host's memory to `card`; nullptr: nothing.
    [[nodiscard]] LentWeights* lent(const DeviceScratch& card);
    /// The card that multiplies rows for layers of the host; nullptr: none.
    [[nodiscard]] DeviceScratch* borrower() const;
    [[nodiscard]] WeightSource& weights() const { return *weights_; }
    [[nodiscard]] AdapterHook* adapters() const { return adapters_; }
    void setAdapters(AdapterHook* adapters) { adapters_ = adapters; }
    [[nodiscard]] const TransferCounters& transfers() const { return transfers_; }

    /// y = clamp(W clamp(x) + adapters(clamp(x))). x and y are on `home`; `clamp_buffer`:
    /// scratch for the clamped input (may be none, Count, when the layer has no input clip).
    /// x [rows, in], y [rows, out], distinct.
    Result<void> linear(const Linear& linear,
                        DeviceScratch& home,
                        kernels::MatF32 x,
                        kernels::MutF32 y,
                        Buffer clamp_buffer = Buffer::Count);

    /// The same for one expert of a 3-D tensor seen as [experts * out, in]: y [rows, out].
    Result<void> expert(const Linear& linear,
                        DeviceScratch& home,
                        int64_t index,
                        kernels::MatF32 x,
                        kernels::MutF32 y);

    /// The weight of a linear that is resident; valid until weights move.
    [[nodiscard]] Result<kernels::WeightView> resident(const Linear& linear) const;
    /// Rows of a table to the host's memory, times `scale`, as an adapter (may be kNone) has them.
    Result<void> gatherRows(WeightSource::Handle table,
                            AdapterHook::Handle adapter,
                            std::span<const int32_t> ids,
                            float scale,
                            kernels::MutF32 rows) const;

    /// Copies a contiguous matrix between devices (both may be the same: no copy, no count).
    Result<void>
    move(DeviceScratch& from, const void* src, DeviceScratch& to, void* dst, size_t bytes);

private:
    /// expert_index -1: not an expert.
    Result<void> runOn(const Linear& linear,
                       DeviceScratch& where,
                       kernels::WeightView view,
                       int64_t expert_index,
                       kernels::MatF32 x,
                       kernels::MutF32 y);
    /// On the weight's compute device, with the operands moved there and back when it is another.
    Result<void> runWhereItComputes(const Linear& linear,
                                    DeviceScratch& home,
                                    kernels::WeightView view,
                                    int64_t expert_index,
                                    kernels::MatF32 x,
                                    kernels::MutF32 y);
    WeightSource* weights_;
    AdapterHook* adapters_;
    std::map<DeviceId, std::unique_ptr<DeviceScratch>> scratch_;
    std::map<DeviceId, std::unique_ptr<LentWeights>> lent_;
    TransferCounters transfers_;
    std::vector<std::byte> bounce_; ///< For copies between two devices that cannot see each other.
};

/// Turns a kernel status into an error that names the step and module.
Result<void> checkStatus(kernels::Status status, const char* step, const std::string& module);

} // namespace engine

/// Runs a kernel; leaves with a named error when it refuses.
#define ENGINE_KERNEL(call, step, module)                                                          \
    ENGINE_TRY(::engine::checkStatus((call), (step), (module)))
