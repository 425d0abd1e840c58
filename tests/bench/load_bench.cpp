// SPDX-License-Identifier: Apache-2.0
// How fast weights are quantized and loaded: bytes of bf16 per second and core for every format and
// instruction set; a checkpoint of E2B shapes (random weights, some layers, small tables, written
// once) loaded without cache, with a cache to make, and from the cache, as shares of the plain read
// speed of the same file.
// Usage: belfry_load_bench FOLDER [LAYERS]     FOLDER keeps the checkpoint (0.4 GB per 4 layers)

#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "engine/plan/planner.h"
#include "engine/quant/quantize.h"
#include "engine/run/loader.h"
#include "engine/run/model_folder.h"
#include "engine/run/random_source.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace {

using namespace engine;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
    std::exit(1);
}

void benchQuantizer() {
    constexpr size_t kCount = size_t{32} << 20;
    std::vector<uint16_t> values(kCount);
    uint32_t state = 1;
    for (auto& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<uint16_t>(0x3c00U + ((state >> 16U) & 0x83ffU));
    }
    const auto bytes = std::as_bytes(std::span(values));
    std::vector<uint8_t> codes(kCount / 2);
    std::vector<float> absmax(kCount / 64);
    std::vector<int8_t> q(kCount);
    std::vector<float> scale(kCount / 2048);
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
        if (!selectQuantizeIsa(isa)) {
            continue;
        }
        const auto best = [&](const std::function<void()>& body) {
            double seconds = 1e9;
            for (int i = 0; i < 3; ++i) {
                const auto start = Clock::now();
                body();
                seconds = std::min(seconds, secondsSince(start));
            }
            return static_cast<double>(bytes.size()) / seconds / 1e9;
        };
        const double nf4 = best([&] {
            (void)quantizeBlocks("w", CodeBook::Nf4, 64, TensorType::BF16, bytes, codes.data(),
                                 absmax.data());
        });
        const double fp4 = best([&] {
            (void)quantizeBlocks("w", CodeBook::Fp4, 64, TensorType::BF16, bytes, codes.data(),
                                 absmax.data());
        });
        const double q8 = best([&] {
            (void)quantizeRowsInt8("w", TensorType::BF16, bytes,
                                   static_cast<int64_t>(kCount / 2048), 2048, q.data(),
                                   scale.data());
        });
        std::printf("quantize, one core, %-7s GB/s of bf16: nf4 %.2f  fp4 %.2f  q8 %.2f\n", isa,
                    nf4, fp4, q8);
    }
}

/// E2B with fewer layers and small tables.
ModelConfig makeConfig(int layers) {
    auto shape = openShape("e2b");
    if (!shape) {
        fail(shape.error());
    }
    ModelConfig config = shape->config;
    config.text.vocab_size = 8192;
    config.text.ple_vocab_size = 8192;
    config.text.num_layers = layers;
    config.text.layers.resize(static_cast<size_t>(layers));
    config.vision.reset();
    config.audio.reset();
    return config;
}

void writeCheckpoint(const fs::path& file, const ModelConfig& config) {
    const auto random = makeRandomSource(config, 1);
    std::vector<TensorToWrite> tensors;
    for (const TensorInfo& info : random->tensors()) {
        TensorToWrite tensor;
        tensor.name = info.name;
        tensor.type = info.type;
        tensor.shape = info.shape;
        tensor.fill = [&random, &info](uint64_t offset, std::span<std::byte> out) {
            return random->read(info, offset, out);
        };
        tensors.push_back(std::move(tensor));
    }
    const auto start = Clock::now();
    if (auto written = writeSafetensorsFile(file, tensors); !written) {
        fail(written.error());
    }
    std::printf("wrote the checkpoint: %.1f s\n", secondsSince(start));
}

double readPlain(const TensorSource& source) {
    std::vector<std::byte> buffer(size_t{8} << 20);
    uint64_t total = 0;
    const auto start = Clock::now();
    for (const TensorInfo& info : source.tensors()) {
        for (uint64_t at = 0; at < info.size_bytes; at += buffer.size()) {
            const auto size =
                static_cast<size_t>(std::min<uint64_t>(buffer.size(), info.size_bytes - at));
            if (auto read = source.read(info, at, std::span(buffer).first(size)); !read) {
                fail(read.error());
            }
            total += size;
        }
    }
    return static_cast<double>(total) / secondsSince(start) / 1e9;
}

PlacementPlan makePlanFor(const ModelConfig& config, Format format) {
    PlacementPlan plan;
    plan.fits = true;
    for (const ExpectedTensor& tensor : listTensors(config)) {
        if (tensor.is_unused) {
            continue;
        }
        TensorPlacement row;
        row.tensor = tensor.name;
        row.format = isQuantizable(tensor) ? format : Format::Bf16;
        const int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
        row.bytes = formatBytes(row.format, TensorType::BF16, tensor.numElements() / cols, cols);
        plan.tensors.push_back(row);
    }
    return plan;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: belfry_load_bench FOLDER [LAYERS]\n");
        return 2;
    }
    benchQuantizer();
    const fs::path folder = argv[1];
    const ModelConfig config = makeConfig(argc > 2 ? std::atoi(argv[2]) : 8);
    const fs::path file = folder / "model.safetensors";
    if (!fs::exists(file)) {
        fs::create_directories(folder);
        writeCheckpoint(file, config);
    }
    auto source = openSafetensorsFile(file);
    if (!source) {
        fail(source.error());
    }
    (void)readPlain(**source); // into the page cache
    const double plain = readPlain(**source);
    const auto bytes = static_cast<double>(fs::file_size(file));
    std::printf("plain read, warm: %.2f GB/s, file %.2f GB\n", plain, bytes / 1e9);
    HostDeviceOptions device_options;
    for (const Format format :
         {Format::Bf16, Format::Nf4, Format::Nf4Dq, Format::Fp4, Format::Q8}) {
        const PlacementPlan plan = makePlanFor(config, format);
        const fs::path cache = folder / "cache";
        fs::remove_all(cache);
        double seconds[3] = {};
        for (int round = 0; round < 3; ++round) {
            OwnedDevices devices = makeHostDevices(device_options);
            LoadOptions options;
            options.parallel = poolParallelFor(devices.pool.get());
            if (round > 0) {
                options.cache_folder = cache;
                options.model_folder = folder;
            }
            const auto start = Clock::now();
            auto store = load(**source, config, plan, devices.set, options);
            if (!store) {
                fail(store.error());
            }
            seconds[round] = secondsSince(start);
            for (const std::string& note : (*store)->report().notes) {
                std::printf("note: %s\n", note.c_str());
            }
        }
        std::printf("%-7s no cache %.2f s (%.2f GB/s, %.0f %% of plain reading), writing the cache "
                    "%.2f s, from the "
                    "cache %.2f s: %.1f times faster\n",
                    std::string(formatName(format)).c_str(), seconds[0], bytes / seconds[0] / 1e9,
                    100.0 * bytes / seconds[0] / 1e9 / plain, seconds[1], seconds[2],
                    seconds[1] / seconds[2]);
    }
    fs::remove_all(folder / "cache");
    return 0;
}
