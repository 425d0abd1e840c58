// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/card_measure.h"

#include "kernels/cuda/card_rates.h"
#include "kernels/cuda/cuda_device.h"

namespace engine {

std::vector<CardCeiling> measureCards(const DeviceSet& devices) {
    std::vector<CardCeiling> ceilings;
    for (const auto& [id, device] : devices) {
        if (auto* card = dynamic_cast<kernels::cuda::CudaDevice*>(device); card != nullptr) {
            const kernels::cuda::CardRates rates = kernels::cuda::measureCard(*card);
            ceilings.push_back({id, rates.read_bytes_per_s / 1e9, rates.bf16_flops / 1e9});
        }
    }
    return ceilings;
}

uint64_t pageLockedBytes(const kernels::Device& device) {
    const auto* card = dynamic_cast<const kernels::cuda::CudaDevice*>(&device);
    return card == nullptr ? 0 : card->pageLockedBytes();
}

} // namespace engine
