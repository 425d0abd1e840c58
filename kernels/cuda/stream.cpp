// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/stream.h"

namespace kernels::cuda {

Status statusOf(CuResult result) {
    if (result >= kCuCaptureUnsupported && result <= kCuCaptureLast) {
        return Status::Unsupported;
    }
    switch (result) {
    case kCuSuccess:
        return Status::Ok;
    case kCuOutOfMemory:
        return Status::OutOfMemory;
    case kCuInvalidValue:
        return Status::BadShape;
    case kCuInvalidImage:
    case kCuNoBinaryForGpu:
    case kCuUnsupportedPtx:
    case kCuNotFound:
    case kCuNotSupported:
    case kCuLaunchOutOfResources:
    case kCuCooperativeTooLarge:
        return Status::Unsupported;
    default:
        return Status::DeviceLost;
    }
}

namespace {

/// Kernels that wait for their predecessor themselves (griddepcontrol.wait): products of codes with
/// updates only for what makes their h, everything before which has ended when that begins.
bool waitsItself(KernelId id) {
    switch (id) {
    case KernelId::project_four_bit:
    case KernelId::project_int8:
    case KernelId::project_bf16:
    case KernelId::project_blocks:
    case KernelId::attend_step_256:
    case KernelId::attend_step_512:
    case KernelId::product_codes_updates:
    case KernelId::product_codes_pair_updates:
    case KernelId::product_codes_16_updates:
    case KernelId::product_codes_16_pair_updates:
    case KernelId::product_codes_32_updates:
    case KernelId::product_codes_32_pair_updates:
    case KernelId::product_wide_256_updates:
    case KernelId::product_wide_192_updates:
    case KernelId::product_wide_128_updates:
    case KernelId::product_wide_pair_256_updates:
    case KernelId::product_wide_pair_192_updates:
    case KernelId::product_wide_pair_128_updates:
        return true;
    default:
        return false;
    }
}

} // namespace

Status Stream::check(CuResult result, const char* call) {
    if (result == kCuSuccess) {
        return Status::Ok;
    }
    last_error = result;
    last_call = call;
    const Status status = statusOf(result);
    is_lost = is_lost || status == Status::DeviceLost;
    if (status == Status::DeviceLost) {
        driver->noteFailure(result, call);
    }
    return status;
}

Status Stream::prepare(KernelId id) {
    if (is_lost || entered != Status::Ok) {
        return is_lost ? Status::DeviceLost : entered;
    }
    if (!steps.steps.empty()) {
        if (const Status flushed = flush(); flushed != Status::Ok) {
            return flushed;
        }
    }
    if (functions[static_cast<size_t>(id)] == nullptr) {
        last_call = kernelName(id);
        return Status::Unsupported;
    }
    return Status::Ok;
}

Status Stream::launchRaw(KernelId id,
                         unsigned grid_x,
                         unsigned grid_y,
                         unsigned grid_z,
                         unsigned block,
                         unsigned shared,
                         void** parameters) {
    if (const Status status = prepare(id); status != Status::Ok) {
        return status;
    }
    CuLaunchConfig config;
    config.grid_x = grid_x;
    config.grid_y = grid_y;
    config.grid_z = grid_z;
    config.block_x = block;
    config.shared_bytes = shared;
    config.stream = handle;
    CuLaunchAttribute overlap;
    if (is_overlapping && waitsItself(id) && facts.compute_capability >= 90) {
        overlap.id = kCuLaunchProgrammaticSerialization;
        overlap.value.programmatic_serialization_allowed = 1;
        config.attributes = &overlap;
        config.attribute_count = 1;
    }
    return launchTimed(id, config, parameters);
}

Status Stream::launchTimed(KernelId id, const CuLaunchConfig& config, void** parameters) {
    if (times != nullptr) {
        times->before(id, handle);
    }
    const Status status = check(
        driver->launchKernelEx(&config, functions[static_cast<size_t>(id)], parameters, nullptr),
        kernelName(id));
    if (times != nullptr) {
        times->after(handle);
    }
    return status;
}

Status Stream::launchResident(
    KernelId id, unsigned grid, unsigned block, unsigned shared, void** parameters) {
    if (const Status status = prepare(id); status != Status::Ok) {
        return status;
    }
    CuLaunchAttribute cooperative;
    cooperative.id = kCuLaunchCooperative;
    cooperative.value.cooperative = 1;
    CuLaunchConfig config;
    config.grid_x = grid;
    config.block_x = block;
    config.shared_bytes = shared;
    config.stream = handle;
    config.attributes = &cooperative;
    config.attribute_count = 1;
    return launchTimed(id, config, parameters);
}

} // namespace kernels::cuda
