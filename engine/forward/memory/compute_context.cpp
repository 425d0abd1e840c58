// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/compute_context.h"

#include <algorithm>
#include <cassert>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::Status;
using kernels::WeightView;

Result<void> checkStatus(Status status, const char* step, const std::string& module) {
    switch (status) {
    case Status::Ok:
        return {};
    case Status::OutOfMemory:
        return Error{ErrorCode::OutOfMemory, said("%1: the device ran out of memory in step %2; "
                                                  "lower the context or move a part to the CPU",
                                                  module, step)};
    case Status::DeviceLost:
        // What to do depends on the device: withFailure() tells.
        return Error{ErrorCode::DeviceLost,
                     said("%1: the device stopped answering in step %2", module, step)};
    case Status::BadShape:
        return Error{ErrorCode::Internal,
                     module + ": step " + step + " refused its operand shapes"};
    case Status::Unsupported:
        return Error{
            ErrorCode::Unsupported,
            said("%1: this device has no kernel for step %2 in the chosen format", module, step)};
    }
    return Error{ErrorCode::Internal, module + ": unknown status in step " + step};
}

Result<std::unique_ptr<DeviceScratch>>
DeviceScratch::create(DeviceId id, kernels::Device& device, const WorkspaceLayout& layout) {
    const auto bytes = static_cast<size_t>(layout.totalBytes());
    float* base = nullptr;
    if (bytes > 0) {
        base = static_cast<float*>(device.allocate(bytes, static_cast<int>(MemoryPart::Workspace)));
        if (base == nullptr) {
            const kernels::MemoryInfo info = device.memory();
            return Error{ErrorCode::OutOfMemory,
                         said("%1: the workspace needs %2 bytes, %3 are free; lower the prefill "
                              "chunk or the image token budget",
                              id.toString(), bytes, info.capacity - info.used),
                         {{"device", id.toString()}, {"asked_bytes", std::to_string(bytes)}}};
        }
    }
    std::unique_ptr<DeviceScratch> scratch(new DeviceScratch(id, device, layout, base));
    if (base != nullptr && !device.isHostVisible()) {
        // Whoever had this memory of the card before leaves nothing in it: each run is alike.
        ENGINE_TRY(checkStatus(device.clear(base, bytes), "clearing its workspace", id.toString()));
    }
    if (scratch->has(Buffer::KernelScratch)) {
        device.setScratch(scratch->buffer(Buffer::KernelScratch),
                          static_cast<size_t>(scratch->size(Buffer::KernelScratch)) *
                              sizeof(float));
    }
    return scratch;
}

DeviceScratch::~DeviceScratch() {
    if (has(Buffer::KernelScratch)) {
        device_->setScratch(nullptr, 0);
    }
    device_->free(base_);
}

float* DeviceScratch::buffer(Buffer buffer) const {
    const int64_t offset = layout_.offset(buffer);
    assert(offset >= 0);
    return base_ + offset;
}

MutF32 DeviceScratch::matrix(Buffer which, int64_t rows, int64_t cols) const {
    assert(rows * cols <= layout_.size(which));
    return {buffer(which), rows, cols, cols};
}

Result<void>
ComputeContext::addDevice(DeviceId id, kernels::Device& device, const WorkspaceLayout& layout) {
    ENGINE_ASSIGN(scratch_[id], DeviceScratch::create(id, device, layout));
    return {};
}

LentWeights* ComputeContext::lent(const DeviceScratch& card) {
    const DeviceScratch* const host = scratch(DeviceId::cpu());
    if (host == nullptr || !card.has(Buffer::Lent)) {
        return nullptr;
    }
    std::unique_ptr<LentWeights>& lent = lent_[card.id()];
    if (lent == nullptr) {
        lent = std::make_unique<LentWeights>(card.device(), host->queue());
    }
    return lent.get();
}

DeviceScratch* ComputeContext::borrower() const {
    const auto found = std::find_if(scratch_.begin(), scratch_.end(),
                                    [](const auto& one) { return one.second->has(Buffer::Lent); });
    return found == scratch_.end() ? nullptr : found->second.get();
}

DeviceScratch* ComputeContext::scratch(DeviceId id) const {
    const auto it = scratch_.find(id);
    return it == scratch_.end() ? nullptr : it->second.get();
}

Result<void> ComputeContext::move(
    DeviceScratch& from, const void* src, DeviceScratch& to, void* dst, size_t bytes) {
    if (&from == &to) {
        return src == dst ? Result<void>()
                          : checkStatus(to.device().copyWithin(dst, src, bytes), "copy",
                                        to.id().toString());
    }
    transfers_.bytes += bytes;
    ++transfers_.copies;
    if (from.device().isHostVisible()) {
        return checkStatus(to.device().copyIn(dst, src, bytes), "copy in", to.id().toString());
    }
    if (to.device().isHostVisible()) {
        return checkStatus(from.device().copyOut(dst, src, bytes), "copy out",
                           from.id().toString());
    }
    const Status direct = to.device().copyFromPeer(from.device(), dst, src, bytes);
    if (direct != Status::Unsupported) {
        return checkStatus(direct, "copy between cards", to.id().toString());
    }
    bounce_.resize(bytes);
    ENGINE_TRY(checkStatus(from.device().copyOut(bounce_.data(), src, bytes), "copy out",
                           from.id().toString()));
    return checkStatus(to.device().copyIn(dst, bounce_.data(), bytes), "copy in",
                       to.id().toString());
}

Result<void> ComputeContext::runOn(const Linear& linear,
                                   DeviceScratch& where,
                                   WeightView view,
                                   int64_t expert_index,
                                   MatF32 x,
                                   MutF32 y) {
    const auto queue = where.queue();
    const auto& ops = where.ops();
    ENGINE_KERNEL(ops.linear(queue, x, view, y), "linear", linear.name);
    if (linear.adapter != AdapterHook::kNone && adapters_ != nullptr) {
        ENGINE_TRY(expert_index < 0
                       ? adapters_->apply(linear.adapter, queue, x, y)
                       : adapters_->applyExpert(linear.adapter, expert_index, queue, x, y));
    }
    if (linear.has_output_clip) {
        ENGINE_KERNEL(ops.clamp(queue, y, linear.output_min, linear.output_max, y), "output clip",
                      linear.name);
    }
    return {};
}

Result<void> ComputeContext::linear(
    const Linear& linear, DeviceScratch& home, MatF32 x, MutF32 y, Buffer clamp_buffer) {
    MatF32 input = x;
    if (linear.has_input_clip) {
        const MutF32 clamped = home.matrix(clamp_buffer, x.rows, x.cols);
        ENGINE_KERNEL(
            home.ops().clamp(home.queue(), x, linear.input_min, linear.input_max, clamped),
            "input clip", linear.name);
        input = clamped;
    }
    ENGINE_ASSIGN(const WeightView view, weights_->acquire(linear.weight));
    Result<void> result = runWhereItComputes(linear, home, view, -1, input, y);
    weights_->release(linear.weight);
    return result;
}

Result<void> ComputeContext::expert(
    const Linear& linear, DeviceScratch& home, int64_t index, MatF32 x, MutF32 y) {
    ENGINE_ASSIGN(WeightView view, weights_->acquire(linear.weight));
    if (!takeRows(view, index * y.cols, y.cols)) {
        weights_->release(linear.weight);
        return Error{ErrorCode::Unsupported,
                     said("%1: blocks of its format reach from one expert into the next; leave it "
                          "as stored, or ask for another format",
                          linear.name)};
    }
    Result<void> result = runWhereItComputes(linear, home, view, index, x, y);
    weights_->release(linear.weight);
    return result;
}

Result<WeightView> ComputeContext::resident(const Linear& linear) const {
    ENGINE_ASSIGN(const WeightView view, weights_->acquire(linear.weight));
    weights_->release(linear.weight); // it stays, and so does the view
    return view;
}

Result<void> ComputeContext::gatherRows(WeightSource::Handle table,
                                        AdapterHook::Handle adapter,
                                        std::span<const int32_t> ids,
                                        float scale,
                                        MutF32 rows) const {
    ENGINE_TRY(weights_->gatherRows(table, ids, 0, scale, rows));
    return adapter == AdapterHook::kNone ? Result<void>()
                                         : adapters_->applyRows(adapter, ids, 0, scale, rows);
}

Result<void> ComputeContext::runWhereItComputes(const Linear& linear,
                                                DeviceScratch& home,
                                                WeightView view,
                                                int64_t expert_index,
                                                MatF32 x,
                                                MutF32 y) {
    if (linear.device == home.id()) {
        return runOn(linear, home, view, expert_index, x, y);
    }
    DeviceScratch* other = scratch(linear.device);
    assert(other != nullptr && other->has(Buffer::ForeignIn));
    assert(x.stride == x.cols && y.stride == y.cols);
    const MutF32 remote_x = other->matrix(Buffer::ForeignIn, x.rows, x.cols);
    const MutF32 remote_y = other->matrix(Buffer::ForeignOut, y.rows, y.cols);
    ENGINE_TRY(move(home, x.data, *other, remote_x.data,
                    static_cast<size_t>(x.rows * x.cols) * sizeof(float)));
    ENGINE_TRY(runOn(linear, *other, view, expert_index, remote_x, remote_y));
    ENGINE_TRY(move(*other, remote_y.data, home, y.data,
                    static_cast<size_t>(y.rows * y.cols) * sizeof(float)));
    // A copy between two cards leaves the other one current; callers go on with the queue of `home`
    // that they took before.
    (void)home.queue();
    return {};
}

} // namespace engine
