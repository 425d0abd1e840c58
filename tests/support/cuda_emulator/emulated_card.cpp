// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulator/emulated_card.h"

#include "kernels/cuda/launch_sizes.h"
#include "kernels/cuda/ops.h"
#include "tests/support/cuda_emulator/kernels.h"

#include <cstdio>
#include <cstdlib>

namespace support {

namespace {

std::vector<FakeCard> cardsOf(const EmulatedCardOptions& options) {
    FakeCard card;
    card.name = "Emulated Card";
    card.capability = options.capability;
    card.multiprocessors = options.multiprocessors;
    card.shared_bytes = options.shared_bytes;
    card.reserved_shared = options.reserved_shared;
    return {static_cast<size_t>(options.cards), card};
}

} // namespace

EmulatedCard::EmulatedCard(const EmulatedCardOptions& options)
    : run(options.run), fake_(cardsOf(options)) {
    fake_.compute = [this](const FakeDriver::Launch& launch, void** parameters) {
        const emulator::Kernel* const kernel = emulator::findKernel(launch.kernel);
        if (kernel == nullptr) {
            return std::function<void()>([this, name = launch.kernel] {
                error_ = error_.empty() ? name + ": not among the emulated kernels" : error_;
            });
        }
        emulator::Shape shape;
        shape.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
        shape.block = {launch.block[0], launch.block[1], launch.block[2]};
        shape.shared_bytes = launch.shared;
        return std::function<void()>(
            [this, shape, name = launch.kernel, body = kernel->bind(parameters)] {
                const emulator::Outcome outcome = emulator::run(name, shape, run, body);
                ran_.push_back(name);
                switches_ += outcome.switches;
                barriers_.insert(outcome.barriers.begin(), outcome.barriers.end());
                error_ = error_.empty() ? outcome.error : error_;
            });
    };
    kernels::cuda::CudaDeviceOptions device;
    device.driver = &fake_.driver();
    device.images = FakeDriver::images();
    device.is_reference = options.is_reference;
    device.card = options.card;
    device.ops = &kernels::cuda::cudaOps(options.is_reference);
    auto opened = kernels::cuda::CudaDevice::create(device);
    if (opened.device == nullptr) {
        std::fprintf(stderr, "emulated card: %s\n", opened.message.c_str());
        std::abort();
    }
    device_ = std::move(opened.device);
    const size_t bytes = kernels::cuda::scratchBytes(256, 4096);
    scratch_ = device_->allocate(bytes, 1);
    device_->setScratch(scratch_, bytes);
}

EmulatedCard::~EmulatedCard() {
    device_->setScratch(nullptr, 0);
    device_->free(scratch_);
    device_.reset();
}

std::string EmulatedCard::finish() {
    if (device_->synchronize() != kernels::Status::Ok && error_.empty()) {
        error_ = device_->lastFailure();
    }
    if (error_.empty() && !fake_.violations().empty()) {
        error_ = fake_.violations().front();
    }
    return error_;
}

} // namespace support
