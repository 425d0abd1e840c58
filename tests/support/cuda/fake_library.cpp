// SPDX-License-Identifier: Apache-2.0
// The fake driver as the library that programs look for: libcuda.so.1 with every entry point that
// Belfry asks for, so that the shipped programs run on a card that is not there. Found through
// LD_LIBRARY_PATH; on Windows nvcuda.dll, which installer/windows/card_check.sh puts into wine's
// system folder. From the moment on that the file $BELFRY_FAKE_FAULT_FILE exists, calls answer what
// stands in it (700, 719, ...), each process for itself as with a real driver. How it fails to
// start is $BELFRY_FAKE_DRIVER: "crash", "abort", "exit" or "hang" in cuInit, "crash in loading",
// "hang in loading", or a number that cuInit answers. $BELFRY_FAKE_DRIVER_LOADS names a file that
// every process which loads the library writes its number to, a line each.
#include "tests/support/cuda/fake_driver.cpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

kernels::cuda::CuResult faultInFile(const char*) {
    const char* const file = std::getenv("BELFRY_FAKE_FAULT_FILE");
    kernels::cuda::CuResult code = kernels::cuda::kCuSuccess;
    if (file != nullptr) {
        std::ifstream in(file);
        in >> code;
    }
    return code;
}

/// Lives as long as the library, which is as long as the process.
struct Library {
    support::FakeDriver fake;
    Library() {
        fake.fault = faultInFile;
        const char* const loads = std::getenv("BELFRY_FAKE_DRIVER_LOADS");
        if (loads != nullptr) {
            std::ofstream(loads, std::ios::app) << ::getpid() << "\n";
        }
        const char* const how = std::getenv("BELFRY_FAKE_DRIVER");
        const std::string start = how == nullptr ? "" : how;
        if (start == "crash in loading") {
            fail("crash");
        } else if (start == "hang in loading") {
            fail("hang");
        } else if (!start.empty()) {
            fake.on_init = [start] { return fail(start); };
        }
    }
    static kernels::cuda::CuResult fail(const std::string& how) {
        if (how == "crash") {
            (void)std::raise(SIGSEGV);
        } else if (how == "abort") {
            std::abort();
        } else if (how == "exit") {
            std::_Exit(3);
        }
        while (how == "hang") {
            std::this_thread::sleep_for(std::chrono::hours(1));
        }
        return static_cast<kernels::cuda::CuResult>(std::atoi(how.c_str()));
    }
};
Library library;

} // namespace

namespace kernels::cuda {

// The names that a driver exports, each standing for the function of the fake.
#ifdef _WIN32
#define BELFRY_FAKE_EXPORT(member, name, parameters)                                               \
    extern "C" void* const belfry_fake_##member [[gnu::used]] =                                    \
        reinterpret_cast<void*>(&support::FakeCalls::member);                                      \
    __asm__(".text\n.globl " name "\n" name ": jmp *belfry_fake_" #member "(%rip)\n"               \
            ".section .drectve,\"yn\"\n.ascii \" -export:" name "\"\n.text\n");
#else
#define BELFRY_FAKE_EXPORT(member, name, parameters)                                               \
    extern "C" auto belfry_fake_##member()->CuResult(*) parameters {                               \
        return &support::FakeCalls::member;                                                        \
    }                                                                                              \
    extern "C"                                                                                     \
        [[gnu::visibility("default")]] CuResult belfry_export_##member parameters __asm__(name)    \
            __attribute__((ifunc("belfry_fake_" #member)));
#endif
BELFRY_CU_FUNCTIONS(BELFRY_FAKE_EXPORT)
#undef BELFRY_FAKE_EXPORT

} // namespace kernels::cuda
