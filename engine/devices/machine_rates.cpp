// SPDX-License-Identifier: Apache-2.0
// The file: three lines of text, "belfry-rates 2", what was measured, the two numbers.
#include "engine/devices/machine_rates.h"

#include "engine/base/file_writer.h"
#include "engine/base/small_file.h"
#include "engine/devices/system_facts.h"
#include "kernels/cpu/machine_probe.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"

#include <cmath>
#include <locale>
#include <span>
#include <sstream>
#include <string>
#include <system_error>

namespace engine {

namespace {

constexpr const char* kRatesFirstLine = "belfry-rates 2";
constexpr size_t kMaxRatesBytes = 4096; ///< Three lines.
constexpr int64_t kBufferBytes = int64_t{128} << 20;

/// What the numbers hold for: processor, cores this process may use, kernels.
std::string whatIsMeasured() {
    const std::string name = processorName();
    return std::string(kernels::bestCpuOps().name) + ", " +
           std::to_string(kernels::cpu::ThreadPool::availableProcessors()) + " threads," +
           (name.empty() ? name : " " + name);
}

bool isRate(double value) {
    return std::isfinite(value) && value > 1e6 && value < 1e18;
}

MachineConstants measured(double seconds) {
    kernels::cpu::ThreadPool pool(kernels::cpu::ThreadPool::availableProcessors());
    const auto rates = kernels::cpu::measureCpu(pool, seconds, kBufferBytes);
    MachineConstants constants;
    constants.read_bytes_per_s = rates.read_gb_per_s * 1e9;
    constants.flops = (rates.bf16_gflops > 0 ? rates.bf16_gflops : rates.fp32_gflops) * 1e9;
    return constants;
}

std::optional<MachineConstants> readConstants(const std::filesystem::path& file,
                                              const std::string& wanted) {
    const auto text = readSmallFile(file, kMaxRatesBytes);
    if (!text) {
        return std::nullopt;
    }
    std::istringstream in(*text);
    in.imbue(std::locale::classic());
    std::string first;
    std::string second;
    MachineConstants constants;
    const bool is_known = std::getline(in, first) && std::getline(in, second) &&
                          first == kRatesFirstLine && second == wanted &&
                          in >> constants.read_bytes_per_s >> constants.flops &&
                          isRate(constants.read_bytes_per_s) && isRate(constants.flops);
    return is_known ? std::optional(constants) : std::nullopt;
}

} // namespace

std::optional<MachineConstants> knownConstants(const std::filesystem::path& file) {
    return readConstants(file, whatIsMeasured());
}

std::optional<MachineConstants> keptConstants(const std::filesystem::path& file, double seconds) {
    const std::string wanted = whatIsMeasured();
    if (const auto kept = readConstants(file, wanted)) {
        return kept;
    }
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    // First what takes room on the disk, so that nothing is measured that cannot be kept.
    const std::string head = std::string(kRatesFirstLine) + "\n" + wanted + "\n";
    auto writer = FileWriter::create(file, true);
    if (!writer || !(*writer)->write(std::as_bytes(std::span(head)))) {
        return std::nullopt;
    }
    (*writer)->makePrivate(); // as all files of Belfry in the user's folders
    const MachineConstants constants = measured(seconds);
    std::ostringstream numbers;
    numbers.imbue(std::locale::classic());
    numbers << constants.read_bytes_per_s << " " << constants.flops << "\n";
    const std::string tail = numbers.str();
    if ((*writer)->write(std::as_bytes(std::span(tail)))) {
        static_cast<void>((*writer)->commit(/*is_flushing=*/false));
    }
    return constants;
}

MachineConstants machineConstants(const std::filesystem::path& file, double seconds) {
    const auto kept = keptConstants(file, seconds);
    return kept ? *kept : measured(seconds);
}

} // namespace engine
