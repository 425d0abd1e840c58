// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/other_program.h"

#include "kernels/cuda/driver.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

namespace gpu {

using kernels::cuda::CuContext;
using kernels::cuda::CuDevice;
using kernels::cuda::CuPointer;
using kernels::cuda::kCuSuccess;

OtherProgram::OtherProgram(const std::string& program, uint64_t bytes_left) {
    std::array<int, 2> input{};
    std::array<int, 2> output{};
    if (pipe(input.data()) != 0 || pipe(output.data()) != 0) {
        return;
    }
    const std::string bytes = std::to_string(bytes_left);
    // vfork semantics are not needed, but nothing except exec may run between: this process has a
    // CUDA context, which does not survive a fork.
    process_ = fork();
    if (process_ == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        for (const int fd : {input[0], input[1], output[0], output[1]}) {
            close(fd);
        }
        execl("/proc/self/exe", program.c_str(), "--hold", bytes.c_str(), nullptr);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    to_child_ = input[1];
    char answer = 0;
    is_holding_ = process_ > 0 && read(output[0], &answer, 1) == 1 && answer == 'h';
    close(output[0]);
}

OtherProgram::~OtherProgram() {
    if (to_child_ >= 0) {
        close(to_child_);
    }
    if (process_ > 0) {
        int status = 0;
        waitpid(process_, &status, 0);
    }
}

int holdMemory(uint64_t bytes_left) {
    const kernels::cuda::Driver* driver = kernels::cuda::systemDriver(nullptr);
    CuDevice device = 0;
    CuContext context = nullptr;
    if (driver == nullptr || driver->deviceGet(&device, 0) != kCuSuccess ||
        driver->primaryCtxRetain(&context, device) != kCuSuccess ||
        driver->ctxSetCurrent(context) != kCuSuccess) {
        return 1;
    }
    // Halving steps: what is left may lie in pieces.
    for (size_t step = size_t{8} << 30; step >= (size_t{2} << 20);) {
        size_t free_now = 0;
        size_t total = 0;
        CuPointer pointer = 0;
        if (driver->memGetInfo(&free_now, &total) != kCuSuccess) {
            return 1;
        }
        if (free_now < bytes_left + step || driver->memAlloc(&pointer, step) != kCuSuccess) {
            step /= 2;
        }
    }
    std::printf("holding\n");
    std::fflush(stdout);
    char rest = 0;
    while (read(STDIN_FILENO, &rest, 1) > 0) {
    }
    return 0; // the driver frees everything with the process
}

} // namespace gpu
