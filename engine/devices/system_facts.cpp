// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/system_facts.h"

#include "engine/base/paths.h"
#include "engine/devices/card_estimate.h"
#include "engine/devices/card_inquiry.h"
#include "kernels/cpu/tables.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/fatbin.h"
#include "kernels/cuda/nvml.h"
#include "kernels/cuda/system_library.h"
#include "kernels/cuda/video_memory.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#endif

namespace engine {

namespace {

#ifndef _WIN32
/// The value of KEY=value or KEY="value" in os-release(5).
std::string releaseValue(const std::string& key) {
    std::ifstream in("/etc/os-release");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(key + "=")) {
            std::string value = line.substr(key.size() + 1);
            const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
            return is_quoted ? value.substr(1, value.size() - 2) : value;
        }
    }
    return {};
}
#endif

} // namespace

std::string systemName() {
#ifdef _WIN32
    // GetVersionEx tells programs without a newer manifest what they want to hear.
    using GetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
    const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    const auto get = ntdll == nullptr ? nullptr
                                      : reinterpret_cast<GetVersion>(reinterpret_cast<void*>(
                                            GetProcAddress(ntdll, "RtlGetVersion")));
    OSVERSIONINFOW version{};
    version.dwOSVersionInfoSize = sizeof(version);
    if (get == nullptr || get(&version) != 0) {
        return "Windows";
    }
    return "Windows " + std::to_string(version.dwMajorVersion) + "." +
           std::to_string(version.dwMinorVersion) + "." + std::to_string(version.dwBuildNumber);
#else
    std::string name = releaseValue("PRETTY_NAME");
    utsname kernel{};
    if (::uname(&kernel) == 0) {
        name += (name.empty() ? "" : ", ") + std::string(kernel.sysname) + " " + kernel.release +
                " " + kernel.machine;
    }
#ifdef __GLIBC__
    name += std::string(", glibc ") + gnu_get_libc_version();
#endif
    return name;
#endif
}

std::string processorName() {
#ifdef _WIN32
    std::array<char, 256> name{};
    DWORD size = name.size() - 1;
    const LSTATUS read =
        RegGetValueA(HKEY_LOCAL_MACHINE, R"(HARDWARE\DESCRIPTION\System\CentralProcessor\0)",
                     "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name.data(), &size);
    return read == ERROR_SUCCESS ? name.data() : "";
#else
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("model name")) {
            const size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
            return begin == std::string::npos ? std::string() : line.substr(begin);
        }
    }
    return {};
#endif
}

std::vector<std::string> kernelTables() {
    std::vector<std::string> names;
    for (const char* name :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        if (kernels::findCpuOps(name) != nullptr) {
            names.emplace_back(name);
        }
    }
    return names;
}

std::string libraryFile(const void* symbol) {
    const std::string own =
        kernels::cuda::fileOfSymbol(reinterpret_cast<const void*>(&libraryFile));
    const std::string file = kernels::cuda::fileOfSymbol(symbol);
    if (file.empty() || file == own) {
        return {};
    }
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(pathFromUtf8(file), failure);
    return failure ? file : utf8Of(real);
}

std::string cardKernels() {
    return kernels::cuda::embeddedArchitectures();
}

std::vector<MachineLibraryFact> machineLibraries(bool is_done, bool has_driver) {
    using namespace kernels::cuda;
    using State = MachineLibraryFact::State;
    MachineLibraryFact driver;
    driver.name = driverLibraryName();
    driver.file = findSystemLibrary(driver.name.c_str());
    if (has_driver) {
        driver.state = State::Loaded;
        driver.file = systemDriverFile();
        int version = 0;
        if (systemDriver(nullptr)->driverGetVersion(&version) == kCuSuccess) {
            driver.version = "CUDA " + std::to_string(version / 1000) + "." +
                             std::to_string(version % 1000 / 10);
        }
    } else if (!driver.file.empty()) {
        driver.state = is_done ? State::NotUsed : State::NotAsked;
    }
    MachineLibraryFact management;
    management.name = managementLibraryName();
    management.file = findSystemLibrary(management.name.c_str());
    if (has_driver) {
        const ManagementLibrary told = managementLibrary();
        management.file = told.file.empty() ? management.file : told.file;
        management.version = told.driver_version;
        management.answer = told.answer;
        management.state = told.is_usable            ? State::Loaded
                           : management.file.empty() ? State::NotFound
                                                     : State::DoesNotStart;
    } else if (!management.file.empty()) {
        management.state = State::NotAsked;
    }
    std::vector<MachineLibraryFact> all = {std::move(driver), std::move(management)};
#ifdef _WIN32
    MachineLibraryFact dxgi;
    dxgi.name = "dxgi.dll";
    dxgi.file = findSystemLibrary("dxgi.dll");
    dxgi.state = GetModuleHandleW(L"dxgi.dll") != nullptr ? State::Loaded
                 : dxgi.file.empty()                      ? State::NotFound
                                                          : State::NotAsked;
    all.push_back(std::move(dxgi));
#endif
    return all;
}

std::vector<CardFact> cardFacts(CardInquiry& inquiry) {
    std::vector<CardFact> facts;
    const kernels::cuda::Driver* driver = inquiry.state().is_done ? inquiry.driver() : nullptr;
    if (driver == nullptr || kernels::cuda::embeddedImages().empty()) {
        return facts;
    }
    for (const kernels::cuda::Card& card : kernels::cuda::listCards(*driver)) {
        if (!card.unusable.empty()) {
            continue;
        }
        CardFact& fact = facts.emplace_back();
        fact.id = DeviceId::cuda(card.ordinal);
        fact.name = card.name;
        fact.capability = card.compute_capability;
        fact.multiprocessors = card.multiprocessors;
        fact.total = card.total_bytes;
        fact.free = kernels::cuda::freeBytes(*driver, card);
        const DeviceRates rates = estimatedRates(card);
        fact.read_bytes_per_s = rates.read_bytes_per_s;
        fact.flops = rates.flops;
        const auto share =
            card.luid.has_value() ? kernels::cuda::videoMemory(*card.luid) : std::nullopt;
        if (share.has_value()) {
            fact.budget.used = share->local_used;
            fact.budget.budget = share->local_budget;
        }
    }
    return facts;
}

} // namespace engine
