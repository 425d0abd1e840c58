// SPDX-License-Identifier: Apache-2.0
// GPU kernels against the scalar CPU table on random operands, and their times beside what the
// bytes and operations allow. Usage: belfry_gpu_kernels [--time | --edges | --products]; --edges:
// only what stands before and behind the layers of a token, with times; --products: fused steps of
// a prompt, with times of its products.
#include "tests/gpu/kernel_check.h"

#ifdef BELFRY_EMULATED_CARD
#include "tests/support/cuda_emulator/emulated_card.h"
#endif

namespace kernel_check {
namespace {

enum class What { Checks, ChecksAndTimes, Edges, Products };

void checkCard(cuda::CudaDevice& d, bool is_reference, What what) {
    std::printf("%s, table %s\n", d.name().c_str(), d.ops().name);
    const size_t scratch_bytes = cuda::scratchBytes(4096, 21504);
    Buffer scratch(d, scratch_bytes);
    d.setScratch(scratch.data, scratch_bytes);
    checkEdges(d);
    if (what == What::Edges) {
        if (!is_reference) {
            timeEdges(d);
        }
        d.setScratch(nullptr, 0);
        return;
    }
    if (what == What::Products) {
        if (!is_reference) {
            checkRows(d);
            timeRowProducts(d);
            timeExperts(d);
        }
        d.setScratch(nullptr, 0);
        return;
    }
    checkLinear(d, is_reference);
    checkProbes(d);
    checkAttention(d, is_reference);
    checkUpdates(d, is_reference);
    if (!is_reference) {
        checkRows(d);
        checkExperts(d);
        checkSteps(d, false);
        checkStepUpdates(d, false);
        if (d.ops().begin_steps(d.queue()) == Status::Ok) {
            d.ops().end_steps(d.queue());
            checkSteps(d, true);
            checkLongRows(d);
            checkStepUpdates(d, true);
            checkRowSteps(d);
        } else {
            std::printf("steps are not collected on this card\n");
        }
        if (what == What::ChecksAndTimes) {
            timeKernels(d);
            timeExperts(d);
        }
    }
    std::printf("last failure: %s\n", d.lastFailure().c_str());
    d.setScratch(nullptr, 0);
}

} // namespace
} // namespace kernel_check

using namespace kernel_check;

#ifdef BELFRY_EMULATED_CARD
/// The same checks with the kernels run on the CPU. Usage: belfry_emulated_kernels
/// [multiprocessors] [seed].
int main(int argc, char** argv) {
    for (const bool is_reference : {true, false}) {
        support::EmulatedCardOptions options;
        options.multiprocessors = argc > 1 ? std::atoi(argv[1]) : 8;
        options.run.seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
        options.run.resident_threads = 1024U * static_cast<unsigned>(options.multiprocessors);
        options.is_reference = is_reference;
        support::EmulatedCard card(options);
        checkCard(card.device(), is_reference, What::Checks);
        if (const std::string wrong = card.finish(); !wrong.empty()) {
            std::printf("%s\n", wrong.c_str());
            ++g_failures;
        }
    }
    std::printf("%d failures\n", g_failures);
    return g_failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {
    const std::string option = argc > 1 ? argv[1] : "";
    std::string why;
    const cuda::Driver* driver = cuda::systemDriver(&why);
    if (driver == nullptr) {
        std::printf("no GPU: %s\n", why.c_str());
        return 2;
    }
    for (const bool is_reference : {true, false}) {
        cuda::CudaDeviceOptions options;
        options.driver = driver;
        options.is_reference = is_reference;
        options.ops = &cuda::cudaOps(is_reference);
        auto opened = cuda::CudaDevice::create(options);
        if (opened.device == nullptr) {
            std::printf("cuda:0: %s\n", opened.message.c_str());
            return 1;
        }
        checkCard(*opened.device, is_reference,
                  option == "--time"       ? What::ChecksAndTimes
                  : option == "--edges"    ? What::Edges
                  : option == "--products" ? What::Products
                                           : What::Checks);
    }
    std::printf("%d failures\n", g_failures);
    return g_failures == 0 ? 0 : 1;
}
#endif
