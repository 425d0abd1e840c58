// SPDX-License-Identifier: Apache-2.0
// What a card gives apart from any model, measured first of all: (a) bandwidth of reading, (b) an
// empty and a tiny kernel inside a graph, with and without programmatic launch, (c) a barrier over
// the whole grid, (d) four ways to decode 4-bit codes, (e) rows fetched from pinned host memory.
// Beside them the tensor-core rate of mma.sync. Each figure is the median of several runs; kernels
// whose results can be known are checked. Usage: belfry_gpu_micro [--json FILE]
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

constexpr unsigned kDecodeThreads = 256;
constexpr unsigned kDecodeRounds = 4096;

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
    [[nodiscard]] CuPointer memoryOf(const std::vector<T>& values) const {
        const CuPointer pointer = memory(values.size() * sizeof(T));
        must(driver.memcpyHtoDAsync(pointer, values.data(), values.size() * sizeof(T), stream),
             "cuMemcpyHtoDAsync");
        must(driver.streamSynchronize(stream), "cuStreamSynchronize");
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
    /// `attribute`: an id of CUlaunchAttribute to switch on, 0 = none.
    template <typename... Arguments>
    void launch(const char* kernel,
                unsigned blocks,
                unsigned threads,
                int attribute,
                Arguments... arguments) const {
        CuFunction function = nullptr;
        must(driver.moduleGetFunction(&function, module_, kernel), kernel);
        std::array<void*, sizeof...(arguments) + 1> parameters = {&arguments..., nullptr};
        CuLaunchAttribute on;
        on.id = attribute;
        on.value.programmatic_serialization_allowed = 1;
        CuLaunchConfig config;
        config.grid_x = blocks;
        config.block_x = threads;
        config.stream = stream;
        config.attributes = &on;
        config.attribute_count = attribute == 0 ? 0 : 1;
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
        card.launch("micro_read_stream", blocks, 512, 0, data, uint64_t{kBytes / 16}, out);
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

/// Microseconds per kernel of a graph of `nodes` equal ones.
double perNode(const Card& card, int nodes, const std::function<void()>& launch) {
    launch(); // Loads the kernel, which a capture should not.
    card.must(card.driver.streamBeginCapture(card.stream, 2), "cuStreamBeginCapture");
    for (int i = 0; i < nodes; ++i) {
        launch();
    }
    CuGraph graph = nullptr;
    CuGraphExec exec = nullptr;
    card.must(card.driver.streamEndCapture(card.stream, &graph), "cuStreamEndCapture");
    card.must(card.driver.graphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    const double s = card.seconds(
        15, [&] { card.must(card.driver.graphLaunch(exec, card.stream), "cuGraphLaunch"); });
    card.driver.graphExecDestroy(exec);
    card.driver.graphDestroy(graph);
    return 1e6 * s / nodes;
}

void graphNodes(const Card& card, Report& report) {
    constexpr int kNodes = 400;
    constexpr uint32_t kRow = 1536;
    const CuPointer row = card.memory(kRow * sizeof(float));
    const auto all = static_cast<unsigned>(card.multiprocessors);
    report.add("b. empty kernel in a graph, 1 block",
               perNode(card, kNodes, [&] { card.launch("micro_empty", 1, 32, 0); }), "us");
    report.add("b. empty kernel in a graph, a block per multiprocessor",
               perNode(card, kNodes, [&] { card.launch("micro_empty", all, 256, 0); }), "us");
    report.add("b. tiny kernel in a graph, 6 blocks",
               perNode(card, kNodes, [&] { card.launch("micro_tiny", 6, 256, 0, row, kRow); }),
               "us");
    if (card.major >= 9) {
        constexpr int kOverlap = kCuLaunchProgrammaticSerialization;
        report.add(
            "b. empty kernel, programmatic launch, 1 block",
            perNode(card, kNodes, [&] { card.launch("micro_empty_overlapped", 1, 32, kOverlap); }),
            "us");
        report.add("b. empty kernel, programmatic launch, all multiprocessors",
                   perNode(card, kNodes,
                           [&] { card.launch("micro_empty_overlapped", all, 256, kOverlap); }),
                   "us");
        report.add(
            "b. tiny kernel, programmatic launch, 6 blocks",
            perNode(card, kNodes,
                    [&] { card.launch("micro_tiny_overlapped", 6, 256, kOverlap, row, kRow); }),
            "us");
    }
    // x -> x / 2 + 1 ends at 2 whatever it starts with: every node ran, in order.
    const std::vector<float> end = card.read<float>(row, kRow);
    const bool right = std::all_of(end.begin(), end.end(), [](float x) { return x == 2.0F; });
    report.add("b. the tiny kernels' row", static_cast<double>(end.front()), "(2 is right)", right);
    card.driver.memFree(row);
}

void gridBarrier(const Card& card, Report& report) {
    constexpr uint32_t kRounds = 2000;
    const CuPointer counter = card.memory(256);
    const CuPointer out = card.memory(256);
    for (const unsigned per : {1U, 2U}) {
        for (const unsigned threads : {256U, 512U}) {
            const unsigned blocks = per * static_cast<unsigned>(card.multiprocessors);
            const double s = card.seconds(5, [&] {
                card.must(card.driver.memsetD8Async(counter, 0, 8, card.stream), "cuMemsetD8Async");
                card.must(card.driver.memsetD8Async(out, 0, 8, card.stream), "cuMemsetD8Async");
                card.launch("micro_grid_barrier", blocks, threads, kCuLaunchCooperative, counter,
                            kRounds, out);
            });
            const auto seen = card.read<uint32_t>(out, 2);
            report.add("c. barrier over the grid, " + std::to_string(blocks) + " blocks of " +
                           std::to_string(threads),
                       1e6 * s / kRounds, "us", seen[0] == kRounds * blocks && seen[1] == 0);
        }
    }
    card.driver.memFree(counter);
    card.driver.memFree(out);
}

/// What thread `index` of a decode kernel ends with: the same steps in the same order.
template <typename Entry, typename Sum>
Sum decodedOnHost(uint32_t index, const std::vector<Entry>& table) {
    uint32_t codes = index;
    Sum sum = 0;
    for (uint32_t r = 0; r < kDecodeRounds; ++r) {
        codes = codes * 1664525U + 1013904223U;
        for (uint32_t k = 0; k < 8; ++k) {
            const Entry value = table[(codes >> (4U * k)) & 15U];
            if constexpr (std::is_integral_v<Sum>) {
                sum += static_cast<Sum>(value) * static_cast<Sum>(k + 1);
            } else {
                sum = std::fma(static_cast<float>(value), 0.25F + static_cast<float>(k), sum);
            }
        }
    }
    return sum;
}

void decodeLoops(const Card& card, Report& report) {
    std::vector<float> reals(16);
    std::vector<int8_t> wholes(16);
    for (int i = 0; i < 16; ++i) {
        reals[static_cast<size_t>(i)] = 0.117F * static_cast<float>(i) - 0.9F;
        wholes[static_cast<size_t>(i)] = static_cast<int8_t>(i * 17 - 127);
    }
    const CuPointer real_table = card.memoryOf(reals);
    const CuPointer whole_table = card.memoryOf(wholes);
    const unsigned blocks = 8U * static_cast<unsigned>(card.multiprocessors);
    const CuPointer out = card.memory(size_t{blocks} * kDecodeThreads * 4);
    const CuPointer cycles = card.memory(size_t{blocks} * 8);
    struct Way {
        const char* kernel;
        const char* name;
    };
    for (const Way& way : {Way{"micro_decode_shuffle", "warp shuffle"},
                           Way{"micro_decode_shared", "table in shared memory"},
                           Way{"micro_decode_permute", "byte permute to float"},
                           Way{"micro_decode_dp4a", "byte permute and dp4a"}}) {
        const bool is_whole = std::strstr(way.kernel, "dp4a") != nullptr;
        const bool has_bytes = is_whole || std::strstr(way.kernel, "permute") != nullptr;
        const double s = card.seconds(5, [&] {
            card.launch(way.kernel, blocks, kDecodeThreads, 0, has_bytes ? whole_table : real_table,
                        kDecodeRounds, out, cycles);
        });
        bool right = true;
        const size_t count = size_t{blocks} * kDecodeThreads;
        if (is_whole) {
            const auto sums = card.read<int>(out, count);
            for (const size_t i : {size_t{0}, size_t{77}, count - 1}) {
                right = right &&
                        sums[i] == decodedOnHost<int8_t, int>(static_cast<uint32_t>(i), wholes);
            }
        } else {
            const auto sums = card.read<float>(out, count);
            for (const size_t i : {size_t{0}, size_t{77}, count - 1}) {
                const auto index = static_cast<uint32_t>(i);
                right = right && sums[i] == (has_bytes ? decodedOnHost<int8_t, float>(index, wholes)
                                                       : decodedOnHost<float, float>(index, reals));
            }
        }
        auto spent = card.read<int64_t>(cycles, blocks);
        std::sort(spent.begin(), spent.end());
        // 8 blocks of 256 fill a multiprocessor, so that all of its blocks run at once.
        const double weights_per_block = 8.0 * kDecodeRounds * kDecodeThreads;
        const double per_clock =
            8.0 * weights_per_block / static_cast<double>(spent[spent.size() / 2]);
        const std::string name = std::string("d. 4-bit decode, ") + way.name;
        report.add(name, per_clock, "weights/clock/SM", right);
        report.add(name + ", whole card", weights_per_block * blocks / s / 1e9, "G weights/s",
                   right);
    }
    card.driver.memFree(real_table);
    card.driver.memFree(whole_table);
    card.driver.memFree(out);
    card.driver.memFree(cycles);
}

void fetchRows(const Card& card, Report& report) {
    // E2B's per-layer embedding of one token: 35 layers of 256 values in bf16.
    constexpr uint32_t kWords = 35 * 256 * 2 / 16;
    constexpr uint32_t kRows = 4096;
    constexpr uint32_t kRounds = 500;
    constexpr size_t kBytes = size_t{kRows} * kWords * 16;
    void* host = nullptr;
    card.must(card.driver.memHostAlloc(&host, kBytes, 2), "cuMemHostAlloc");
    auto* values = static_cast<uint32_t*>(host);
    uint32_t state = 1;
    for (size_t i = 0; i < kBytes / 4; ++i) {
        state = state * 1664525U + 1013904223U;
        values[i] = state >> 8U;
    }
    uint32_t expected = 0;
    uint32_t row = 0;
    for (uint32_t r = 0; r < kRounds; ++r) {
        const uint32_t* at = values + size_t{row} * kWords * 4;
        for (uint32_t i = 0; i < kWords * 4; ++i) {
            expected += at[i];
        }
        row = at[0] % kRows;
    }
    CuPointer mapped = 0;
    card.must(card.driver.memHostGetDevicePointer(&mapped, host, 0), "cuMemHostGetDevicePointer");
    const CuPointer copy = card.memory(kBytes);
    card.must(card.driver.memcpyHtoDAsync(copy, host, kBytes, card.stream), "cuMemcpyHtoDAsync");
    const CuPointer out = card.memory(256);
    for (const bool is_host : {true, false}) {
        for (const unsigned threads : {256U, 1024U}) {
            const double s = card.seconds(5, [&] {
                card.must(card.driver.memsetD8Async(out, 0, 8, card.stream), "cuMemsetD8Async");
                card.launch("micro_fetch_rows", 1, threads, 0, is_host ? mapped : copy, kRows,
                            kWords, kRounds, out);
            });
            report.add(std::string("e. 18 KB row from ") +
                           (is_host ? "pinned host memory" : "the card's memory") + ", " +
                           std::to_string(threads) + " threads",
                       1e6 * s / kRounds, "us", card.read<uint32_t>(out, 1)[0] == expected);
        }
    }
    card.driver.memFree(out);
    card.driver.memFree(copy);
    card.driver.memFreeHost(host);
}

void tensorRate(const Card& card, Report& report) {
    if (card.major < 8) {
        return;
    }
    constexpr uint32_t kRounds = 20000;
    const unsigned blocks = 4U * static_cast<unsigned>(card.multiprocessors);
    const CuPointer out = card.memory(size_t{blocks} * 256 * 4);
    const double s =
        card.seconds(5, [&] { card.launch("micro_tensor_rate", blocks, 256, 0, kRounds, out); });
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
    graphNodes(card, report);
    gridBarrier(card, report);
    decodeLoops(card, report);
    fetchRows(card, report);
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
