// SPDX-License-Identifier: Apache-2.0
// Loads the CUDA driver library. Only the driver's own library is touched, by the name under which
// every driver installs it; nothing of the CUDA toolkit is needed at run time.
#include "kernels/cuda/driver.h"

#include "kernels/cuda/driver_trouble.h"
#include "kernels/cuda/system_library.h"
#include "kernels/stage_times.h"

#include <utility>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace kernels::cuda {

namespace {

/// cuLaunchKernelEx and cuGraphInstantiateWithFlags came with 11.8; 12.0 is the oldest we try.
constexpr int kOldestDriver = 12000;

#if defined(_WIN32)
constexpr const char* kLibrary = "nvcuda.dll";
void* findSymbol(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}
#else
constexpr const char* kLibrary = "libcuda.so.1";
void* findSymbol(void* library, const char* name) {
    return dlsym(library, name);
}
#endif

std::string versionText(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct Loaded {
    Driver driver;
    Trouble trouble;
    std::string file;
};

Loaded load() {
    Loaded loaded;
    // Never closed: the driver does not support being unloaded while the process lives.
    void* library = openSystemLibrary(kLibrary);
    if (library == nullptr) {
        loaded.trouble = {Trouble::Kind::NoDriver, std::string(kNoDriver) + " (" + kLibrary +
                                                       " was not found); everything runs on the "
                                                       "CPU."};
        return loaded;
    }
    const char* missing = nullptr;
    const auto resolve = [library, &missing](auto& member, const char* name) {
        void* symbol = findSymbol(library, name);
        if (symbol == nullptr && missing == nullptr) {
            missing = name;
        }
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol);
    };
#define BELFRY_CU_RESOLVE(member, name, parameters) resolve(loaded.driver.member, name);
    BELFRY_CU_FUNCTIONS(BELFRY_CU_RESOLVE)
#undef BELFRY_CU_RESOLVE
#if defined(_WIN32)
    loaded.driver.deviceGetLuid = reinterpret_cast<decltype(loaded.driver.deviceGetLuid)>(
        findSymbol(library, "cuDeviceGetLuid"));
#endif
    loaded.file = fileOfSymbol(reinterpret_cast<const void*>(loaded.driver.init));
    loaded.trouble = driverTrouble(loaded.driver, missing);
    return loaded;
}

const Loaded& systemLoaded() {
    static const Loaded loaded = [] {
        const StageTimer timer("driver");
        return load();
    }();
    return loaded;
}

} // namespace

Trouble driverTrouble(const Driver& driver, const char* missing) {
    int version = 0;
    if (driver.driverGetVersion != nullptr && driver.driverGetVersion(&version) == kCuSuccess &&
        version < kOldestDriver) {
        const std::string found = versionText(version);
        const std::string needed = versionText(kOldestDriver);
        return {Trouble::Kind::OldDriver,
                "The NVIDIA driver supports CUDA " + found + ", Belfry needs " + needed +
                    " or newer; update the driver to use the graphics card. Everything runs on "
                    "the CPU.",
                found, needed};
    }
    if (missing != nullptr) {
        return {Trouble::Kind::DriverLacks,
                std::string("The NVIDIA driver lacks the function ") + missing +
                    "; update the driver to use the graphics card. Everything runs on the CPU.",
                missing};
    }
    CuResult started = driver.init(0);
    int count = 0;
    started = started == kCuSuccess ? driver.deviceGetCount(&count) : started;
    if (started == kCuSuccess && count > 0) {
        return {};
    }
    if (started == kCuSuccess || started == kCuNoDevice) {
        return {Trouble::Kind::NoCard, std::string(kNoCard) + "; everything runs on the CPU."};
    }
    const std::string answer = driver.errorName(started);
    return {Trouble::Kind::DriverFails,
            "The NVIDIA driver does not start (" + answer +
                "); restart the machine or reinstall the driver to use the graphics card. "
                "Everything runs on the CPU.",
            answer};
}

std::string Driver::errorName(CuResult code) const {
    const char* name = nullptr;
    if (getErrorName == nullptr || getErrorName(code, &name) != kCuSuccess || name == nullptr) {
        return "CUDA error " + std::to_string(code);
    }
    return name;
}

void Driver::noteFailure(CuResult code, const char* call) const {
    if (isEndOfProcess(code)) {
        process_fault->note(std::string(call) + " answered " + errorName(code));
    }
}

void ProcessFault::note(std::string what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (what_.empty()) {
        what_ = std::move(what);
    }
}

std::string ProcessFault::what() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return what_;
}

const Driver* systemDriver(std::string* why) {
    const Loaded& loaded = systemLoaded();
    if (why != nullptr) {
        *why = loaded.trouble.text;
    }
    return loaded.trouble.empty() ? &loaded.driver : nullptr;
}

std::string systemDriverFile() {
    return systemLoaded().file;
}

const char* driverLibraryName() {
    return kLibrary;
}

const Trouble& systemDriverTrouble() {
    return systemLoaded().trouble;
}

} // namespace kernels::cuda
