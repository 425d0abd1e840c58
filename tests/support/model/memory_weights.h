// SPDX-License-Identifier: Apache-2.0
// A weight source that holds a golden model.safetensors in plain memory, all on one device: the
// model is tested against Hugging Face without the loader in between.
#pragma once

#include "engine/api/placement.h"
#include "engine/model/model_config.h"
#include "engine/model/weight_source.h"
#include "tests/support/golden.h"

#include <map>
#include <string>
#include <vector>

namespace support {

class MemoryWeights : public engine::WeightSource {
public:
    MemoryWeights(const std::filesystem::path& safetensors,
                  const engine::ModelConfig& config,
                  engine::DeviceId device);

    [[nodiscard]] Handle handleOf(std::string_view tensor) const override;
    [[nodiscard]] engine::DeviceId computeDevice(Handle handle) const override;
    engine::Result<kernels::WeightView> acquire(Handle handle) override;
    void release(Handle /*handle*/) override {}
    engine::Result<void> gatherRows(Handle handle,
                                    std::span<const int32_t> ids,
                                    int64_t col_offset,
                                    float scale,
                                    kernels::MutF32 out) override;

private:
    std::map<std::string, int, std::less<>> index_;
    std::vector<GoldenTensor> tensors_;
    engine::DeviceId device_;
};

/// A plan that puts every used tensor of the model on one device, as stored.
engine::PlacementPlan oneDevicePlan(const engine::ModelConfig& config,
                                    engine::DeviceId device,
                                    bool is_reference,
                                    int64_t context,
                                    int64_t chunk);

} // namespace support
