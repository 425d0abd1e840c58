// SPDX-License-Identifier: Apache-2.0
#include "engine/run/computer.h"

#include "engine/base/paths.h"
#include "engine/devices/gpu_access.h"
#include "engine/devices/machine_rates.h"
#include "engine/devices/system_facts.h"
#include "engine/devices/system_memory.h"
#include "engine/load/content_hash.h"
#include "engine/lora/name_pattern.h"
#include "engine/media/media_libraries.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <system_error>

namespace engine {

namespace {

void addCards(const std::shared_ptr<CardInquiry>& inquiry, ComputerFacts& facts) {
    facts.card_kernels = cardKernels();
    if (inquiry == nullptr) {
        facts.machine_libraries = machineLibraries(false, false);
        return;
    }
    const CardInquiry::State state = inquiry->state();
    facts.is_driver_asked = state.is_begun;
    facts.is_driver_waited_for = state.is_begun && !state.is_done;
    facts.driver_seconds = state.seconds;
    const bool has_driver = state.is_done && inquiry->driver() != nullptr;
    facts.machine_libraries = machineLibraries(state.is_done, has_driver);
    if (!state.is_done) {
        return;
    }
    facts.cards = cardFacts(*inquiry);
    const GpuAccess access = systemGpuAccess(inquiry);
    facts.troubles = access.troubles();
}

FolderFact lookAt(FolderFact::Kind kind, const std::string& path) {
    FolderFact folder;
    folder.kind = kind;
    folder.path = path;
    // A folder that is not there yet lies on the disk of the one above it.
    std::error_code failure;
    std::filesystem::path at = pathFromUtf8(path);
    while (!std::filesystem::exists(at, failure) && at.has_relative_path()) {
        at = at.parent_path();
    }
    failure.clear();
    const std::filesystem::space_info space = std::filesystem::space(at, failure);
    if (failure) {
        folder.problem = failure.message();
    } else {
        folder.free = space.available;
        folder.total = space.capacity;
    }
    return folder;
}

std::string dotted(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void addLibraries(ComputerFacts& facts) {
    for (MediaLibrary& library : mediaLibraries()) {
        facts.libraries.push_back({std::move(library.name), std::move(library.version),
                                   library.is_told, libraryFile(library.symbol)});
    }
    facts.libraries.push_back(
        {"PCRE2", patternLibraryVersion(), true, libraryFile(patternLibrarySymbol())});
    // Compiled in: what the headers say is what runs.
    facts.libraries.push_back({"nlohmann/json",
                               dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                      NLOHMANN_JSON_VERSION_PATCH),
                               false, ""});
    facts.libraries.push_back({"xxHash", hashLibraryVersion(), false, ""});
}

} // namespace

ComputerFacts examineComputer(const ComputerQuestion& question) {
    ComputerFacts facts;
    facts.program = question.program;
    facts.system = systemName();
    facts.processor = processorName();
    facts.threads = kernels::cpu::ThreadPool::availableProcessors();
    facts.kernels = kernels::bestCpuOps().name;
    facts.kernel_tables = kernelTables();
    const SystemMemory memory = systemMemory();
    facts.memory_total = memory.total;
    facts.memory_free = memory.available;
    addCards(question.inquiry, facts);
    if (!question.rates_file.empty()) {
        const std::filesystem::path file = pathFromUtf8(question.rates_file);
        const auto rates = question.measures ? keptConstants(file) : knownConstants(file);
        if (rates.has_value()) {
            facts.read_bytes_per_s = rates->read_bytes_per_s;
            facts.flops = rates->flops;
        }
    }
    for (const auto& [kind, path] : question.folders) {
        facts.folders.push_back(lookAt(kind, path));
    }
    for (const ProgramLibrary& library : question.libraries) {
        facts.libraries.push_back(
            {library.name, library.version, library.is_told, libraryFile(library.symbol)});
    }
    addLibraries(facts);
    return facts;
}

} // namespace engine
