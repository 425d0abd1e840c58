// SPDX-License-Identifier: Apache-2.0
// The file: three lines of text, "belfry-rates 2", what was measured, the two numbers.
#include "engine/run/machine_rates.h"

#include "kernels/cpu/machine_probe.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace engine {

namespace {

constexpr const char* kFirstLine = "belfry-rates 2";
constexpr int64_t kBufferBytes = int64_t{128} << 20;

/// What the numbers hold for: processor, cores this process may use, kernels.
std::string whatIsMeasured() {
    std::string model;
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("model name")) {
            model = line.substr(line.find(':') + 1);
            break;
        }
    }
    return std::string(kernels::bestCpuOps().name) + ", " +
           std::to_string(kernels::cpu::ThreadPool::availableProcessors()) + " threads," + model;
}

bool isRate(double value) {
    return std::isfinite(value) && value > 1e6 && value < 1e18;
}

} // namespace

MachineConstants machineConstants(const std::filesystem::path& file, double seconds) {
    const std::string wanted = whatIsMeasured();
    MachineConstants constants;
    std::ifstream in(file);
    std::string first;
    std::string second;
    if (std::getline(in, first) && std::getline(in, second) && first == kFirstLine &&
        second == wanted && in >> constants.read_bytes_per_s >> constants.flops &&
        isRate(constants.read_bytes_per_s) && isRate(constants.flops)) {
        return constants;
    }
    kernels::cpu::ThreadPool pool(kernels::cpu::ThreadPool::availableProcessors());
    const auto rates = kernels::cpu::measureCpu(pool, seconds, kBufferBytes);
    constants.read_bytes_per_s = rates.read_gb_per_s * 1e9;
    constants.flops = (rates.bf16_gflops > 0 ? rates.bf16_gflops : rates.fp32_gflops) * 1e9;
    // To another name first: two programs may start at the same time.
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    std::filesystem::path temporary = file;
    temporary += ".new";
    {
        std::ofstream out(temporary, std::ios::trunc);
        out << kFirstLine << "\n"
            << wanted << "\n"
            << constants.read_bytes_per_s << " " << constants.flops << "\n";
    }
    std::filesystem::rename(temporary, file, failure);
    return constants;
}

} // namespace engine
