// SPDX-License-Identifier: Apache-2.0
// The fake driver as the library that programs look for: libcuda.so.1 with every entry point that
// Belfry asks for, so that the shipped programs run on a card that is not there. Found through
// LD_LIBRARY_PATH. From the moment on that the file $BELFRY_FAKE_FAULT_FILE exists, calls answer
// what stands in it (700, 719, ...), each process for itself as with a real driver.
#include "tests/support/cuda/fake_driver.cpp"

#include <fstream>

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
    Library() { fake.fault = faultInFile; }
};
Library library;

} // namespace

namespace kernels::cuda {

// The names that a driver exports, each standing for the function of the fake.
#define BELFRY_FAKE_EXPORT(member, name, parameters)                                               \
    extern "C" auto belfry_fake_##member()->CuResult(*) parameters {                               \
        return &support::FakeCalls::member;                                                        \
    }                                                                                              \
    extern "C"                                                                                     \
        [[gnu::visibility("default")]] CuResult belfry_export_##member parameters __asm__(name)    \
            __attribute__((ifunc("belfry_fake_" #member)));
BELFRY_CU_FUNCTIONS(BELFRY_FAKE_EXPORT)
#undef BELFRY_FAKE_EXPORT

} // namespace kernels::cuda
