// SPDX-License-Identifier: Apache-2.0
// The devices of one engine by name, and their creation where that needs no driver: `cpu` and the
// simulated GPUs. Graphics cards are added by whoever can open them (kernels/cuda). Header only.
#pragma once

#include "engine/api/device_id.h"
#include "engine/base/result.h"
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace engine {

/// Devices by name; not owned. The same type as DeviceMapping of engine/model.
using DeviceSet = std::map<DeviceId, kernels::Device*>;

/// Owns devices and the CPU pool they compute with. Must outlive everything placed on them.
struct OwnedDevices {
    std::unique_ptr<kernels::cpu::ThreadPool> pool;
    std::vector<std::unique_ptr<kernels::Device>> owned;
    DeviceSet set;

    /// Takes a device over under a name; replaces nothing: false when the name is taken.
    bool add(DeviceId id, std::unique_ptr<kernels::Device> device) {
        if (set.contains(id)) {
            return false;
        }
        set.emplace(id, device.get());
        owned.push_back(std::move(device));
        return true;
    }
};

struct HostDeviceOptions {
    int threads = 0;                      ///< CPU threads; 0 = all available.
    uint64_t cpu_capacity = 0;            ///< Bytes `cpu` may hold; 0 = what the system gives.
    std::vector<uint64_t> sim_capacities; ///< One simulated GPU per entry, bytes each.
    bool is_reference_precision = false;  ///< Scalar kernels instead of the fastest table.
};

/// `cpu` and sim:0 ... sim:(n-1), all computing on one pool.
inline OwnedDevices makeHostDevices(const HostDeviceOptions& options) {
    OwnedDevices devices;
    const int threads =
        options.threads > 0 ? options.threads : kernels::cpu::ThreadPool::availableProcessors();
    devices.pool = std::make_unique<kernels::cpu::ThreadPool>(threads);
    const kernels::OpTable& ops =
        options.is_reference_precision ? kernels::cpuScalarOps() : kernels::bestCpuOps();
    devices.add(DeviceId::cpu(), std::make_unique<kernels::cpu::HostDevice>(
                                     options.cpu_capacity, devices.pool.get(), ops));
    int index = 0;
    for (const uint64_t capacity : options.sim_capacities) {
        devices.add(DeviceId::sim(index++),
                    std::make_unique<kernels::cpu::HostDevice>(capacity, devices.pool.get(), ops));
    }
    return devices;
}

} // namespace engine
