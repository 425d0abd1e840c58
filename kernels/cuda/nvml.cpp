// SPDX-License-Identifier: Apache-2.0
// Three entry points of the management library; types after its public reference.
#include "kernels/cuda/nvml.h"

#include "kernels/cuda/system_library.h"

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
    bool is_usable = false;
};

Library load() {
    Library library;
#if defined(_WIN32)
    HMODULE handle = LoadLibraryExA("nvml.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    const auto symbol = [handle](const char* name) {
        return reinterpret_cast<void*>(GetProcAddress(handle, name));
    };
#else
    void* handle = openSystemLibrary("libnvidia-ml.so.1");
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
    library.is_usable = library.init != nullptr && library.handleByUuid != nullptr &&
                        library.memoryInfo != nullptr && library.init() == 0;
    return library;
}

} // namespace

std::optional<CardMemory> cardMemory(const std::string& uuid) {
    static const Library library = load();
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

} // namespace kernels::cuda
