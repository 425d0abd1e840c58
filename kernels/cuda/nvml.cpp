// SPDX-License-Identifier: Apache-2.0
// Four entry points of the management library; types after its public reference.
#include "kernels/cuda/nvml.h"

#include "kernels/cuda/system_library.h"

#include <array>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace kernels::cuda {

namespace {

struct NvmlMemory {
    unsigned long long total = 0, free = 0, used = 0;
};
using NvmlHandle = struct NvmlDeviceHandle*;

struct Library {
    int (*init)() = nullptr;
    int (*handleByUuid)(const char*, NvmlHandle*) = nullptr;
    int (*memoryInfo)(NvmlHandle, NvmlMemory*) = nullptr;
    int (*driverVersion)(char*, unsigned) = nullptr;
    bool is_usable = false;
    std::string file;
    int answer = 0; ///< What its start answered.
};

Library loadNvml() {
    Library library;
#if defined(_WIN32)
    void* handle = openSystemLibrary(managementLibraryName());
    const auto symbol = [handle](const char* name) {
        return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle), name));
    };
#else
    void* handle = openSystemLibrary(managementLibraryName());
    const auto symbol = [handle](const char* name) { return dlsym(handle, name); };
#endif
    if (handle == nullptr) {
        return library;
    }
    library.init = reinterpret_cast<int (*)()>(symbol("nvmlInit_v2"));
    library.handleByUuid =
        reinterpret_cast<int (*)(const char*, NvmlHandle*)>(symbol("nvmlDeviceGetHandleByUUID"));
    library.memoryInfo =
        reinterpret_cast<int (*)(NvmlHandle, NvmlMemory*)>(symbol("nvmlDeviceGetMemoryInfo"));
    library.driverVersion =
        reinterpret_cast<int (*)(char*, unsigned)>(symbol("nvmlSystemGetDriverVersion"));
    library.file = fileOfSymbol(reinterpret_cast<const void*>(library.init));
    library.is_usable =
        library.init != nullptr && library.handleByUuid != nullptr && library.memoryInfo != nullptr;
    if (library.is_usable) {
        library.answer = library.init();
        library.is_usable = library.answer == 0;
    }
    return library;
}

const Library& systemLibrary() {
    static const Library library = loadNvml();
    return library;
}

} // namespace

std::optional<CardMemory> cardMemory(const std::string& uuid) {
    const Library& library = systemLibrary();
    if (!library.is_usable) {
        return std::nullopt;
    }
    NvmlHandle handle = nullptr;
    NvmlMemory memory;
    if (library.handleByUuid(uuid.c_str(), &handle) != 0 ||
        library.memoryInfo(handle, &memory) != 0) {
        return std::nullopt;
    }
    return CardMemory{memory.total, memory.used, memory.free};
}

const char* managementLibraryName() {
#if defined(_WIN32)
    return "nvml.dll";
#else
    return "libnvidia-ml.so.1";
#endif
}

ManagementLibrary managementLibrary() {
    const Library& library = systemLibrary();
    ManagementLibrary told{library.file, {}, library.is_usable, library.answer};
    std::array<char, 81> version{}; // the reference's own size, and an end
    if (library.is_usable && library.driverVersion != nullptr &&
        library.driverVersion(version.data(), static_cast<unsigned>(version.size() - 1)) == 0) {
        told.driver_version = version.data();
    }
    return told;
}

} // namespace kernels::cuda
