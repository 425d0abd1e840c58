// SPDX-License-Identifier: Apache-2.0
#include "tests/support/model/memory_weights.h"

#include "engine/base/float_types.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/tensor_list.h"

#include <cstring>

namespace support {

MemoryWeights::MemoryWeights(const std::filesystem::path& safetensors,
                             const engine::ModelConfig& config,
                             engine::DeviceId device)
    : device_(device) {
    for (auto& [name, tensor] : readSafetensors(safetensors)) {
        index_.emplace(engine::storedTensorName(config, name), static_cast<int>(tensors_.size()));
        tensors_.push_back(std::move(tensor));
    }
}

engine::WeightSource::Handle MemoryWeights::handleOf(std::string_view tensor) const {
    if (tensor == "lm_head.weight" && !index_.contains(tensor)) {
        tensor = "model.language_model.embed_tokens.weight";
    }
    const auto it = index_.find(tensor);
    return it == index_.end() ? kAbsent : it->second;
}

engine::DeviceId MemoryWeights::computeDevice(Handle /*handle*/) const {
    return device_;
}

engine::Result<kernels::WeightView> MemoryWeights::acquire(Handle handle) {
    const GoldenTensor& tensor = tensors_[static_cast<size_t>(handle)];
    kernels::WeightView view;
    view.data = tensor.bytes.data();
    view.format = tensor.dtype == "F32" ? kernels::WeightFormat::F32 : kernels::WeightFormat::BF16;
    view.cols = tensor.shape.empty() ? 1 : tensor.shape.back();
    view.rows = 1;
    for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) {
        view.rows *= tensor.shape[i];
    }
    return view;
}

engine::Result<void> MemoryWeights::gatherRows(Handle handle,
                                               std::span<const int32_t> ids,
                                               int64_t col_offset,
                                               float scale,
                                               kernels::MutF32 out) {
    const auto view = acquire(handle);
    const auto* rows = static_cast<const uint8_t*>(view->data);
    for (size_t i = 0; i < ids.size(); ++i) {
        for (int64_t c = 0; c < out.cols; ++c) {
            uint16_t bits = 0;
            std::memcpy(&bits, rows + 2 * (ids[i] * view->cols + col_offset + c), 2);
            out.data[static_cast<int64_t>(i) * out.stride + c] = scale * engine::bf16ToFloat(bits);
        }
    }
    return {};
}

engine::PlacementPlan oneDevicePlan(const engine::ModelConfig& config,
                                    engine::DeviceId device,
                                    bool is_reference,
                                    int64_t context,
                                    int64_t chunk) {
    engine::PlacementPlan plan;
    for (const auto& tensor : engine::listTensors(config)) {
        if (!tensor.is_unused) {
            plan.tensors.push_back({tensor.name, device, device, engine::Residency::Always,
                                    engine::Format::AsStored, 0});
            plan.tensors.back().part = tensor.part;
        }
    }
    plan.context = context;
    plan.prefill_chunk = chunk;
    plan.is_reference_precision = is_reference;
    plan.image_tokens = config.processor.image_tokens;
    plan.fits = true;
    return plan;
}

} // namespace support
