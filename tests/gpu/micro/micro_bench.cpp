// SPDX-License-Identifier: Apache-2.0
// What a card gives apart from any model: how fast its memory is read, and the tensor-core rate of
// mma.sync. Each figure is the median of several runs. Usage: belfry_gpu_micro [--json FILE]
// Ends with 77 when the machine has no usable card.
#include "kernels/cuda/cards.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/stream.h"
#include "tests/gpu/micro/micro_image.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace kernels::cuda;

class Card {
public:
    Card(const Driver& d, int ordinal) : driver(d) {
        CuDevice device = 0;
        must(driver.deviceGet(&device, ordinal), "cuDeviceGet");
        must(driver.primaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain");
        must(driver.ctxSetCurrent(context_), "cuCtxSetCurrent");
        must(driver.streamCreate(&stream, 1), "cuStreamCreate");
        must(driver.moduleLoadData(&module_, belfry_image_micro), "cuModuleLoadData");
        must(driver.eventCreate(&start_, 0), "cuEventCreate");
        must(driver.eventCreate(&end_, 0), "cuEventCreate");
        driver.deviceGetAttribute(&multiprocessors, kCuAttributeMultiprocessors, device);
        driver.deviceGetAttribute(&major, kCuAttributeMajor, device);
    }

    void must(CuResult result, const char* call) const {
        if (result != kCuSuccess) {
            throw std::runtime_error(std::string(call) + ": " + driver.errorName(result));
        }
    }
    [[nodiscard]] CuPointer memory(size_t bytes, unsigned char fill = 0) const {
        CuPointer pointer = 0;
        must(driver.memAlloc(&pointer, bytes), "cuMemAlloc");
        must(driver.memsetD8Async(pointer, fill, bytes, stream), "cuMemsetD8Async");
        return pointer;
    }
    template <typename T>
    [[nodiscard]] std::vector<T> read(CuPointer from, size_t count) const {
        std::vector<T> values(count);
        must(driver.memcpyDtoHAsync(values.data(), from, count * sizeof(T), stream),
             "cuMemcpyDtoHAsync");
        must(driver.streamSynchronize(stream), "cuStreamSynchronize");
        return values;
    }
    template <typename... Arguments>
    void
    launch(const char* kernel, unsigned blocks, unsigned threads, Arguments... arguments) const {
        CuFunction function = nullptr;
        must(driver.moduleGetFunction(&function, module_, kernel), kernel);
        std::array<void*, sizeof...(arguments) + 1> parameters = {&arguments..., nullptr};
        CuLaunchConfig config;
        config.grid_x = blocks;
        config.block_x = threads;
        config.stream = stream;
        must(driver.launchKernelEx(&config, function, parameters.data(), nullptr), kernel);
    }
    /// Median seconds of `work` over `runs` runs after two that do not count.
    [[nodiscard]] double seconds(int runs, const std::function<void()>& work) const {
        std::vector<double> times;
        for (int i = 0; i < runs + 2; ++i) {
            must(driver.eventRecord(start_, stream), "cuEventRecord");
            work();
            must(driver.eventRecord(end_, stream), "cuEventRecord");
            must(driver.eventSynchronize(end_), "cuEventSynchronize");
            float milliseconds = 0.0F;
            must(driver.eventElapsedTime(&milliseconds, start_, end_), "cuEventElapsedTime");
            if (i >= 2) {
                times.push_back(static_cast<double>(milliseconds) / 1000.0);
            }
        }
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }

    const Driver& driver;
    CuStream stream = nullptr;
    int multiprocessors = 0, major = 0;

private:
    CuContext context_ = nullptr;
    CuModule module_ = nullptr;
    CuEvent start_ = nullptr, end_ = nullptr;
};

struct Report {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    bool is_right = true;

    void add(const std::string& name, double value, const char* unit, bool right = true) {
        std::printf("%-62s %12.3f %-18s%s\n", name.c_str(), value, unit, right ? "" : " WRONG");
        std::fflush(stdout);
        rows.push_back({{"name", name}, {"value", value}, {"unit", unit}, {"right", right}});
        is_right = is_right && right;
    }
};

void readStream(const Card& card, Report& report) {
    constexpr size_t kBytes = size_t{4} << 30U;
    const CuPointer data = card.memory(kBytes, 0x5a);
    const auto blocks = static_cast<unsigned>(card.multiprocessors) * 4;
    const CuPointer out = card.memory(size_t{blocks} * 512 * sizeof(uint32_t));
    const double s = card.seconds(9, [&] {
        card.launch("micro_read_stream", blocks, 512, data, uint64_t{kBytes / 16}, out);
    });
    report.add("a. reading 4 GiB of the card's memory", static_cast<double>(kBytes) / s / 1e9,
               "GB/s");
    const CuPointer copy = card.memory(kBytes / 2);
    const double c = card.seconds(9, [&] {
        card.must(card.driver.memcpyDtoDAsync(copy, data, kBytes / 2, card.stream),
                  "cuMemcpyDtoDAsync");
    });
    report.add("a. copying 2 GiB within it, read and written",
               static_cast<double>(kBytes) / c / 1e9, "GB/s");
    card.driver.memFree(copy);
    card.driver.memFree(out);
    card.driver.memFree(data);
}

void tensorRate(const Card& card, Report& report) {
    if (card.major < 8) {
        return;
    }
    constexpr uint32_t kRounds = 20000;
    const unsigned blocks = 4U * static_cast<unsigned>(card.multiprocessors);
    const CuPointer out = card.memory(size_t{blocks} * 256 * 4);
    const double s =
        card.seconds(5, [&] { card.launch("micro_tensor_rate", blocks, 256, kRounds, out); });
    const double operations = 2.0 * 16 * 8 * 16 * 8 * kRounds * 8 * blocks; // 8 warps, 8 products
    const auto sums = card.read<float>(out, size_t{blocks} * 256);
    const bool right =
        std::all_of(sums.begin(), sums.end(), [](float x) { return std::isfinite(x) && x > 0.0F; });
    report.add("tensor cores, mma.sync bf16 from registers", operations / s / 1e12, "TFLOP/s",
               right);
    card.driver.memFree(out);
}

int measure(const std::string& json_file) {
    std::string why;
    const Driver* driver = systemDriver(&why);
    std::vector<kernels::cuda::Card> cards;
    if (driver != nullptr) {
        cards = listCards(*driver);
    }
    const auto found = std::find_if(cards.begin(), cards.end(),
                                    [](const auto& card) { return card.unusable.empty(); });
    if (found == cards.end()) {
        std::printf("skipped: %s\n", why.empty() ? "no usable graphics card" : why.c_str());
        return 77;
    }
    const Card card(*driver, found->ordinal);
    std::printf("%s, %d multiprocessors\n", found->name.c_str(), card.multiprocessors);
    Report report;
    readStream(card, report);
    tensorRate(card, report);
    if (!json_file.empty()) {
        const nlohmann::ordered_json all = {{"card", found->name},
                                            {"multiprocessors", card.multiprocessors},
                                            {"right", report.is_right},
                                            {"rows", report.rows}};
        std::ofstream(json_file) << all.dump(1) << "\n";
    }
    return report.is_right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    const bool has_file = argc == 3 && std::strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !has_file) {
        std::fprintf(stderr, "usage: belfry_gpu_micro [--json FILE]\n");
        return 2;
    }
    try {
        return measure(has_file ? argv[2] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "belfry_gpu_micro: %s\n", error.what());
        return 1;
    }
}
