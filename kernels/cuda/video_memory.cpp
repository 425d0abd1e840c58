// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/video_memory.h"

#if defined(_WIN32)
#include "kernels/cuda/system_library.h"

#include <dxgi1_4.h>
#include <windows.h>

#include <cstring>
#include <map>
#include <mutex>
#endif

namespace kernels::cuda {

#if defined(_WIN32)

namespace {

static_assert(sizeof(LUID) == std::tuple_size_v<Luid>);

// Written out, so that no library of identifiers has to be linked.
constexpr GUID kFactory1 = {
    0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};
constexpr GUID kAdapter3 = {
    0x645967a4, 0x1392, 0x4310, {0xa7, 0x98, 0x80, 0x53, 0xce, 0x3e, 0x93, 0xfd}};

/// The adapter of this number; nullptr: none that tells of its memory (before Windows 10). Kept as
/// long as the process: a reference to a card that was taken out only answers errors.
IDXGIAdapter3* findAdapter(const Luid& wanted) {
    using CreateFactory = HRESULT(WINAPI*)(REFIID, void**);
    auto* const library = reinterpret_cast<HMODULE>(openSystemLibrary("dxgi.dll"));
    const auto create = library == nullptr
                            ? nullptr
                            : reinterpret_cast<CreateFactory>(reinterpret_cast<void*>(
                                  GetProcAddress(library, "CreateDXGIFactory1")));
    void* made = nullptr;
    if (create == nullptr || FAILED(create(kFactory1, &made))) {
        return nullptr;
    }
    auto* const factory = static_cast<IDXGIFactory1*>(made);
    IDXGIAdapter3* found = nullptr;
    IDXGIAdapter1* adapter = nullptr;
    for (UINT index = 0; found == nullptr && SUCCEEDED(factory->EnumAdapters1(index, &adapter));
         ++index) {
        DXGI_ADAPTER_DESC1 description{};
        void* third = nullptr;
        if (SUCCEEDED(adapter->GetDesc1(&description)) &&
            std::memcmp(&description.AdapterLuid, wanted.data(), wanted.size()) == 0 &&
            SUCCEEDED(adapter->QueryInterface(kAdapter3, &third))) {
            found = static_cast<IDXGIAdapter3*>(third);
        }
        adapter->Release();
    }
    factory->Release();
    return found;
}

} // namespace

std::optional<VideoMemory> videoMemory(const Luid& adapter) {
    static std::mutex mutex;
    static std::map<Luid, IDXGIAdapter3*> adapters;
    const std::lock_guard<std::mutex> lock(mutex);
    auto known = adapters.find(adapter);
    if (known == adapters.end()) {
        known = adapters.emplace(adapter, findAdapter(adapter)).first;
    }
    DXGI_QUERY_VIDEO_MEMORY_INFO local{};
    DXGI_QUERY_VIDEO_MEMORY_INFO shared{};
    if (known->second == nullptr ||
        FAILED(known->second->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &local)) ||
        FAILED(
            known->second->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL, &shared)) ||
        local.Budget == 0) {
        return std::nullopt;
    }
    return VideoMemory{local.CurrentUsage, local.Budget, shared.CurrentUsage};
}

#else

std::optional<VideoMemory> videoMemory(const Luid& /*adapter*/) {
    return std::nullopt;
}

#endif

} // namespace kernels::cuda
