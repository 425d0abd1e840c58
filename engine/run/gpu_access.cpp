// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu_access.h"

#include "kernels/cuda/cards.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/ops.h"

#include <utility>

namespace engine {

namespace {

using kernels::cuda::Card;
using kernels::cuda::CudaDevice;
using kernels::cuda::Driver;

ErrorCode codeOf(kernels::Status status) {
    switch (status) {
    case kernels::Status::OutOfMemory:
        return ErrorCode::OutOfMemory;
    case kernels::Status::DeviceLost:
        return ErrorCode::DeviceLost;
    case kernels::Status::Ok:
    case kernels::Status::BadShape:
    case kernels::Status::Unsupported:
        break;
    }
    return ErrorCode::Unsupported;
}

/// Figures of a card that has not been measured: a middle one of its generation.
DeviceInfo describe(const Driver& driver, const Card& card) {
    DeviceInfo info;
    info.id = DeviceId::cuda(card.ordinal);
    info.description = card.name;
    info.capacity = card.total_bytes;
    info.free = kernels::cuda::freeBytes(driver, card);
    info.context_bytes = kernels::cuda::contextBytes(driver, card);
    return info;
}

} // namespace

GpuAccess cudaAccess(const Driver* driver, const std::string& why) {
    GpuAccess access;
    access.list = [driver] {
        std::vector<DeviceInfo> devices;
        if (driver == nullptr || kernels::cuda::embeddedImages().empty()) {
            return devices;
        }
        for (const Card& card : kernels::cuda::listCards(*driver)) {
            if (card.unusable.empty()) {
                devices.push_back(describe(*driver, card));
            }
        }
        return devices;
    };
    access.notes = [driver, why] {
        std::vector<std::string> notes;
        if (driver == nullptr) {
            notes.push_back(why);
            return notes;
        }
        if (kernels::cuda::embeddedImages().empty()) {
            notes.emplace_back("This build has no GPU kernels (it was made without nvcc): graphics "
                               "cards are not used.");
            return notes;
        }
        for (const Card& card : kernels::cuda::listCards(*driver)) {
            if (!card.unusable.empty()) {
                notes.push_back(card.unusable);
            }
        }
        return notes;
    };
    access.open = [driver, why](int index, uint64_t limit,
                                bool is_reference) -> Result<std::unique_ptr<kernels::Device>> {
        if (driver == nullptr) {
            return Error{ErrorCode::InvalidRequest,
                         "cuda:" + std::to_string(index) + " cannot be opened: " + why};
        }
        kernels::cuda::CudaDeviceOptions options;
        options.driver = driver;
        options.ordinal = index;
        options.limit = limit;
        options.is_reference = is_reference;
        options.ops = &kernels::cuda::cudaOps(is_reference);
        CudaDevice::Opened opened = CudaDevice::create(options);
        if (opened.device == nullptr) {
            return Error{codeOf(opened.status),
                         std::move(opened.message),
                         {{"device", "cuda:" + std::to_string(index)}}};
        }
        return std::unique_ptr<kernels::Device>(std::move(opened.device));
    };
    return access;
}

GpuAccess systemGpuAccess() {
    std::string why;
    const Driver* driver = kernels::cuda::systemDriver(&why);
    return cudaAccess(driver, why);
}

} // namespace engine
