// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/emulated_card.h"

#include "tests/support/cuda_emulator/emulator.h"
#include "tests/support/cuda_emulator/kernels.h"

#include <functional>

namespace gpu {

namespace {

support::FakeCard card() {
    support::FakeCard out;
    out.multiprocessors = 8;
    out.reserved_shared = emulator::kReservedShared;
    return out;
}

} // namespace

EmulatedCards::EmulatedCards(int count)
    : fake_(std::vector<support::FakeCard>(static_cast<size_t>(count), card())) {
    fake_.compute = [this](const support::FakeDriver::Launch& launch, void** parameters) {
        const emulator::Kernel* const kernel = emulator::findKernel(launch.kernel);
        if (kernel == nullptr) {
            return std::function<void()>([this] { error = "unknown kernel"; });
        }
        emulator::Shape shape;
        shape.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
        shape.block = {launch.block[0], launch.block[1], launch.block[2]};
        shape.shared_bytes = launch.shared;
        return std::function<void()>(
            [this, shape, name = launch.kernel, body = kernel->bind(parameters)] {
                emulator::Options run;
                run.resident_threads = 8192;
                ++launches[name];
                const emulator::Outcome outcome = emulator::run(name, shape, run, body);
                error = error.empty() ? outcome.error : error;
            });
    };
}

std::shared_ptr<const engine::GpuAccess> EmulatedCards::access() const {
    return std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake_.driver(), {}, support::FakeDriver::images()));
}

} // namespace gpu
