// SPDX-License-Identifier: Apache-2.0
// How fast weights are quantized and loaded: bytes of bf16 per second and core for every format and
// instruction set; a checkpoint of E2B shapes (random weights, some layers, small tables, written
// once) loaded with cold and warm page cache, with a weight cache to make, and from the weight
// cache, as shares of the plain read speed of the same file in the same state. Medians of five.
// What is not quantized (norms, tables) comes from the checkpoint in every load: what a load read
// is told, and how much faster than a load without a cache it could be by bytes alone. "Cold": the
// system was asked to drop the file's pages (what the disk itself keeps in memory stays). Usage:
// belfry_load_bench FOLDER [LAYERS [FORMAT]]   FOLDER keeps the checkpoint (0.4 GB per 4 layers)
// belfry_load_bench FOLDER cancel              all of E2B (10 GB): how long a load goes on once
// cancelled

#include "engine/base/file_reader.h"
#include "engine/base/sentence_english.h"
#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "engine/load/loader.h"
#include "engine/load/random_source.h"
#include "engine/plan/planner.h"
#include "engine/quant/quantize.h"
#include "engine/run/opened_model.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

namespace {

using namespace engine;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::array kFormats = {Format::Bf16, Format::Nf4, Format::Nf4Dq, Format::Fp4, Format::Q8};

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
    std::vector<uint8_t> q(kCount);
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
            (void)quantizeValues("w", kernels::WeightFormat::Nf4, 64, TensorType::BF16, bytes,
                                 codes.data(), absmax.data());
        });
        const double fp4 = best([&] {
            (void)quantizeValues("w", kernels::WeightFormat::Fp4, 64, TensorType::BF16, bytes,
                                 codes.data(), absmax.data());
        });
        const double q8 = best([&] {
            (void)quantizeValues("w", kernels::WeightFormat::Int8Row, 2048, TensorType::BF16, bytes,
                                 q.data(), scale.data());
        });
        std::printf("quantize, one core, %-7s GB/s of bf16: nf4 %.2f  fp4 %.2f  q8 %.2f\n", isa,
                    nf4, fp4, q8);
    }
}

ModelConfig wholeConfig() {
    auto shape = openShape("e2b");
    if (!shape) {
        fail(shape.error());
    }
    return shape->config;
}

/// E2B with fewer layers and small tables.
ModelConfig makeConfig(int layers) {
    ModelConfig config = wholeConfig();
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

/// Asks the system to forget what it holds of a file. False where it cannot be asked.
bool evict(const fs::path& file) {
#ifdef __linux__
    const int handle = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
        return false;
    }
    const bool is_done = fdatasync(handle) == 0 && // pages not yet written would stay
                         posix_fadvise(handle, 0, 0, POSIX_FADV_DONTNEED) == 0;
    close(handle);
    return is_done;
#else
    (void)file;
    return false;
#endif
}

/// Seconds to read a file from its beginning to its end into one buffer.
double readPlain(const fs::path& file) {
    auto reader = FileReader::open(file);
    if (!reader) {
        fail(reader.error());
    }
    static std::vector<std::byte> buffer(size_t{8} << 20);
    const uint64_t size = (*reader)->sizeBytes();
    const auto start = Clock::now();
    for (uint64_t at = 0; at < size; at += buffer.size()) {
        const auto length = static_cast<size_t>(std::min<uint64_t>(buffer.size(), size - at));
        if (auto read = (*reader)->read(at, std::span(buffer).first(length)); !read) {
            fail(read.error());
        }
    }
    return secondsSince(start);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
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
        row.part = tensor.part;
        row.format = isQuantizable(tensor) ? format : Format::Bf16;
        const int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
        row.bytes = formatBytes(row.format, TensorType::BF16, tensor.numElements() / cols, cols);
        plan.tensors.push_back(row);
    }
    return plan;
}

/// Loads are cancelled after more and more seconds; says how long each went on, its memory given
/// back included. The cancelling thread only notes the time, so nothing else is in the figure.
void benchCancel(const TensorSource& source, const ModelConfig& config, const fs::path& folder) {
    for (const Format format : {Format::Bf16, Format::Nf4, Format::Q8}) {
        for (const bool writes_cache : {false, true}) {
            if (writes_cache && format == Format::Bf16) {
                continue;
            }
            const PlacementPlan plan = makePlanFor(config, format);
            double longest = 0.0;
            double sum = 0.0;
            int count = 0;
            for (const double delay_s :
                 {0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0}) {
                OwnedDevices devices = makeHostDevices(HostDeviceOptions());
                std::stop_source stop;
                LoadOptions options;
                options.parallel = poolParallelFor(devices.pool.get());
                options.stop = stop.get_token();
                if (writes_cache) {
                    options.cache_folder = folder / "cache";
                }
                Clock::time_point asked;
                std::jthread canceller([&] {
                    std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
                    asked = Clock::now();
                    stop.request_stop();
                });
                const auto store = load(source, config, plan, devices.set, options);
                const Clock::time_point returned = Clock::now();
                canceller.join();
                if (store.has_value()) {
                    break; // done before it could be cancelled
                }
                if (store.error().code != ErrorCode::Cancelled) {
                    fail(store.error());
                }
                const double seconds =
                    std::max(0.0, std::chrono::duration<double>(returned - asked).count());
                longest = std::max(longest, seconds);
                sum += seconds;
                ++count;
            }
            const std::string name(formatName(format));
            std::printf("%-7s%s cancelled %d times: mean %.3f s, longest %.3f s\n", name.c_str(),
                        writes_cache ? " with a cache" : "", count, sum / std::max(1, count),
                        longest);
            fs::remove_all(folder / "cache");
        }
    }
}

/// The formats to measure: all, or the one of this name (nf4_dq or, as on Belfry's command line,
/// nf4-dq). Nothing when there is none.
std::optional<std::vector<Format>> formatsNamed(std::string name) {
    if (name.empty()) {
        return std::vector<Format>(kFormats.begin(), kFormats.end());
    }
    std::replace(name.begin(), name.end(), '-', '_');
    const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                    [&](Format format) { return formatName(format) == name; });
    return found == kFormats.end() ? std::nullopt : std::optional(std::vector<Format>{*found});
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: belfry_load_bench FOLDER [LAYERS [FORMAT] | cancel]\n");
        return 2;
    }
    const std::optional<std::vector<Format>> formats = formatsNamed(argc > 3 ? argv[3] : "");
    if (!formats) {
        std::string known;
        for (const Format format : kFormats) {
            known += (known.empty() ? "" : ", ") + std::string(formatName(format));
        }
        std::fprintf(stderr, "error: there is no format %s here; choose one of %s\n", argv[3],
                     known.c_str());
        return 2;
    }
    const bool is_cancelling = argc == 3 && std::string_view(argv[2]) == "cancel";
    if (argc < 4 && !is_cancelling) {
        benchQuantizer();
    }
    const fs::path folder = argv[1];
    const ModelConfig config =
        is_cancelling ? wholeConfig() : makeConfig(argc > 2 ? std::atoi(argv[2]) : 8);
    const fs::path file = folder / "model.safetensors";
    if (!fs::exists(file)) {
        fs::create_directories(folder);
        writeCheckpoint(file, config);
    }
    auto source = openSafetensorsFile(file);
    if (!source) {
        fail(source.error());
    }
    if (is_cancelling) {
        benchCancel(**source, config, folder);
        return 0;
    }
    const auto gigabytes = static_cast<double>(fs::file_size(file)) / 1e9;
    const fs::path cache = folder / "cache";
    enum State {
        ColdRead,
        ColdLoad,
        ColdFirst,
        WarmRead,
        WarmLoad,
        First,
        WarmCacheRead,
        WarmCache,
        WarmCompared,
        ColdCacheRead,
        ColdCache,
        States
    };
    std::printf("checkpoint %.2f GB; seconds, medians of %d\n", gigabytes, kRounds);
    for (const Format format : *formats) {
        const PlacementPlan plan = makePlanFor(config, format);
        const bool has_cache = format != Format::Bf16;
        double loaded_gigabytes = 0.0; // of the load before
        const auto loadOnce = [&](bool uses_cache) {
            OwnedDevices devices = makeHostDevices(HostDeviceOptions());
            LoadOptions options;
            options.parallel = poolParallelFor(devices.pool.get());
            if (uses_cache) {
                options.cache_folder = cache;
            }
            const auto start = Clock::now();
            auto store = load(**source, config, plan, devices.set, options);
            if (!store) {
                fail(store.error());
            }
            const double seconds = secondsSince(start);
            const LoadReport& report = (*store)->report();
            loaded_gigabytes =
                static_cast<double>(report.bytes_read + report.cache_bytes_read) / 1e9;
            for (const std::string& note : inEnglish((*store)->report().notes)) {
                std::printf("note: %s\n", note.c_str());
            }
            return seconds;
        };
        std::array<std::vector<double>, States> seconds;
        double cache_gigabytes = 0.0;  // the cache file
        double cached_gigabytes = 0.0; // what a load from the cache reads
        double compared_gigabytes = 0.0;
        for (int round = 0; round < kRounds; ++round) {
            if (evict(file)) {
                seconds[ColdRead].push_back(readPlain(file));
                evict(file);
                seconds[ColdLoad].push_back(loadOnce(false));
            }
            (void)readPlain(file);
            seconds[WarmRead].push_back(readPlain(file));
            seconds[WarmLoad].push_back(loadOnce(false));
            if (!has_cache) {
                continue;
            }
            fs::remove_all(cache);
            if (evict(file)) {
                seconds[ColdFirst].push_back(loadOnce(true));
                fs::remove_all(cache);
                (void)readPlain(file);
            }
            seconds[First].push_back(loadOnce(true));
            fs::path cache_file;
            for (const auto& entry : fs::directory_iterator(cache)) {
                if (entry.path().extension() == ".belfry-weights") {
                    cache_file = entry.path();
                }
            }
            cache_gigabytes = static_cast<double>(fs::file_size(cache_file)) / 1e9;
            (void)readPlain(cache_file);
            seconds[WarmCacheRead].push_back(readPlain(cache_file));
            seconds[WarmCache].push_back(loadOnce(true));
            cached_gigabytes = loaded_gigabytes;
            fs::remove(cache / "contents.belfry-known"); // as after a copy of the model files
            seconds[WarmCompared].push_back(loadOnce(true));
            compared_gigabytes = loaded_gigabytes;
            // The part of the checkpoint that is not quantized comes from there.
            if (evict(cache_file) && evict(file)) {
                seconds[ColdCacheRead].push_back(readPlain(cache_file));
                evict(cache_file);
                evict(file);
                seconds[ColdCache].push_back(loadOnce(true));
            }
        }
        const std::string name(formatName(format));
        const auto tell = [&](const char* what, State load_state, double read_gigabytes,
                              State plain_state, double plain_gigabytes) {
            if (seconds[load_state].empty()) {
                return;
            }
            const double load_s = median(seconds[load_state]);
            const double rate = read_gigabytes / load_s;
            const double plain = plain_gigabytes / median(seconds[plain_state]);
            std::printf("%-7s %-27s %.3f s, %5.2f GB/s; plain read %5.2f GB/s: %3.0f %%",
                        name.c_str(), what, load_s, rate, plain, 100.0 * rate / plain);
            if (load_state == WarmCache || load_state == ColdCache) {
                const bool is_warm = load_state == WarmCache;
                const double first = median(seconds[is_warm ? First : ColdFirst]);
                const double without = median(seconds[is_warm ? WarmLoad : ColdLoad]);
                std::printf("; %.1f times faster than the first load, %.1f than without a cache",
                            first / load_s, without / load_s);
            }
            std::printf("\n");
        };
        tell("cold", ColdLoad, gigabytes, ColdRead, gigabytes);
        tell("warm", WarmLoad, gigabytes, WarmRead, gigabytes);
        tell("first, writes a cache, cold", ColdFirst, gigabytes, ColdRead, gigabytes);
        tell("first, writes a cache, warm", First, gigabytes, WarmRead, gigabytes);
        tell("from the cache, warm", WarmCache, cached_gigabytes, WarmCacheRead, cache_gigabytes);
        tell("contents compared, warm", WarmCompared, compared_gigabytes, WarmRead, gigabytes);
        tell("from the cache, cold", ColdCache, cached_gigabytes, ColdCacheRead, cache_gigabytes);
        if (has_cache) {
            std::printf("%-7s reads %.3f GB instead of %.3f: by bytes alone at most %.1f times\n",
                        name.c_str(), cached_gigabytes, gigabytes, gigabytes / cached_gigabytes);
        }
    }
    fs::remove_all(cache);
    return 0;
}
