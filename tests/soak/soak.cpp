// SPDX-License-Identifier: Apache-2.0
// A long life by count: thousands of turns of a small model in one process, text, pictures and
// sounds, cancelled ones, adapters on and off, moves, new chats. Turns repeat in the same order
// every 100, so each block of 100 is like any other; memory, descriptors, threads and computing
// time per turn of the blocks are laid a line through. Over the last 75 % its slope must not be
// above 0: the lower end of its 95 % interval decides. How to run it, and what it said: RECORD.md.
// Usage: soak [--turns N] [--model tiny|demo] [--out FILE.csv] [--plant leak|file|slow]
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/tiny_model.h"
#include "tests/support/places.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using engine::MessagePart;

constexpr int kBlock = 100;      ///< Turns.
constexpr int kTurnsOfChat = 10; ///< Then a new chat begins.

const char* const kMaps[] = {
    R"({"version": 1, "default": "sim:0", "map": {"model.vision_tower": "cpu"}})",
    R"({"version": 1, "default": "sim:0", "map": {"model.language_model.layers.[2-3]": "cpu"}})"};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "soak: %s\n", what.c_str());
    std::exit(2);
}

double cpuMs() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double residentKiB() {
    std::ifstream in("/proc/self/statm");
    int64_t total = 0;
    int64_t resident = 0;
    in >> total >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024.0;
}

double entries(const char* folder) {
    return static_cast<double>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

struct Block {
    double resident_kib = 0.0, files = 0.0, threads = 0.0, cpu_ms_per_turn = 0.0;
};

struct Line {
    double slope = 0.0;   ///< Per block.
    double half = 0.0;    ///< Half of the 95 % interval of the slope.
    double average = 0.0; ///< Mean of the values.
    [[nodiscard]] bool isRising() const { return slope - half > 0.0; }
};

/// The line of least squares through values at 0, 1, 2, ...
Line lineThrough(const std::vector<double>& y) {
    const auto n = static_cast<double>(y.size());
    Line line;
    for (const double value : y) {
        line.average += value / n;
    }
    double sxx = 0.0;
    double sxy = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
        const double x = static_cast<double>(i) - (n - 1.0) / 2.0;
        sxx += x * x;
        sxy += x * (y[i] - line.average);
    }
    line.slope = sxy / sxx;
    double rest = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
        const double x = static_cast<double>(i) - (n - 1.0) / 2.0;
        const double off = y[i] - line.average - line.slope * x;
        rest += off * off;
    }
    line.half = 2.0 * std::sqrt(rest / (n - 2.0) / sxx); // Student's t for 40 and more is about 2
    return line;
}

class Soak {
public:
    /// `demo`: the bundled model; else a tiny one is written to `folder`.
    Soak(const fs::path& folder, bool is_demo, std::string plant) : plant_(std::move(plant)) {
        fs::path model = support::sourceDir() / "resources/demo_model";
        adapter_ = model / "adapter";
        if (!is_demo) {
            model = folder / "model";
            adapter_ = folder / "adapter";
            support::writeTinyModel(model);
            support::writeTinyAdapter(adapter_);
        }
        engine::LoadRequest request;
        request.model = model.string();
        request.device_map = kMaps[0];
        request.sim_gpus = {64U << 20U};
        request.context = 1024;
        request.threads = 2;
        check(engine_.load(request, {}, {}), "load");
    }

    void turn(int number) {
        const int in_block = number % kBlock;
        if (in_block == 50) {
            check(engine_.applyMap(kMaps[(number / kBlock) % 2], {}, {}), "move");
        }
        if (in_block % 25 == 7) {
            const double strength = in_block % 50 == 7 ? 1.0 : 0.0;
            check(engine_.setAdapters({{adapter_.string(), strength, true}}, {}), "adapter");
        }
        if (number % kTurnsOfChat == 0) {
            messages_.clear();
        }
        engine::GenerateRequest request;
        engine::Message message;
        const auto media = support::goldenDir() / "media";
        if (in_block % 10 == 3) {
            message.parts.push_back({MessagePart::Kind::Image, (media / "picture0.png").string()});
        } else if (in_block % 10 == 6) {
            message.parts.push_back({MessagePart::Kind::Audio, (media / "clip0.wav").string()});
        }
        message.parts.push_back(
            {MessagePart::Kind::Text, "Question " + std::to_string(in_block % 10) + "?"});
        messages_.push_back(message);
        request.messages = messages_;
        request.sampling.temperature = 0.0;
        request.sampling.ignores_eos = true;
        request.sampling.max_tokens = 8;
        std::stop_source stop;
        int tokens = 0;
        const bool is_cancelled = in_block % 10 == 8;
        const auto reply = engine_.generate(
            request,
            [&](const engine::ReplyUpdate&) {
                if (is_cancelled && ++tokens == 3) {
                    stop.request_stop();
                }
            },
            stop.get_token());
        check(reply, "turn");
        engine::Message answer;
        answer.role = engine::Message::Role::Assistant;
        answer.parts.push_back({MessagePart::Kind::Text, reply->text});
        messages_.push_back(answer);
        plantFault(number);
    }

private:
    template <typename T>
    static void check(const engine::Result<T>& outcome, const char* what) {
        if (!outcome.has_value()) {
            fail(std::string(what) + ": " + outcome.error().message);
        }
    }

    /// What the lines must show.
    void plantFault(int number) {
        if (plant_ == "leak") {
            leaked_.push_back(std::make_unique<std::vector<char>>(16'384, 'x'));
        } else if (plant_ == "file" && number % 50 == 0) {
            if (std::fopen("/proc/self/statm", "r") == nullptr) { // NOLINT: never closed on purpose
                fail("no more files");
            }
        } else if (plant_ == "slow") {
            const double until = cpuMs() + number * 0.01;
            while (cpuMs() < until) {
            }
        }
    }

    fs::path adapter_;
    std::string plant_;
    engine::Engine engine_;
    std::vector<engine::Message> messages_;
    std::vector<std::unique_ptr<std::vector<char>>> leaked_;
};

bool report(const std::vector<Block>& blocks, const char* name, double Block::*member) {
    std::vector<double> values;
    for (size_t i = blocks.size() / 4; i < blocks.size(); ++i) {
        values.push_back(blocks[i].*member);
    }
    const Line line = lineThrough(values);
    std::printf("%-16s average %10.3f, slope per %d turns %+.5f +- %.5f: %s\n", name, line.average,
                kBlock, line.slope, line.half, line.isRising() ? "RISES" : "does not rise");
    return !line.isRising();
}

} // namespace

int main(int argc, char** argv) {
    int turns = 20'000;
    std::string out;
    std::string plant;
    bool is_demo = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option(argv[i]);
        if (option == "--turns") {
            turns = std::atoi(argv[i + 1]);
        } else if (option == "--model") {
            is_demo = std::strcmp(argv[i + 1], "demo") == 0;
        } else if (option == "--out") {
            out = argv[i + 1];
        } else if (option == "--plant") {
            plant = argv[i + 1];
        }
    }
    if (turns < 10 * kBlock) {
        fail("at least " + std::to_string(10 * kBlock) + " turns make a line");
    }
    std::string pattern = (fs::temp_directory_path() / "belfry-soak-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        fail("no temporary folder");
    }
    const fs::path folder(pattern);
    const auto start = std::chrono::steady_clock::now();
    std::vector<Block> blocks;
    blocks.reserve(static_cast<size_t>(turns / kBlock));
    {
        Soak soak(folder, is_demo, plant);
        for (int block = 0; block < turns / kBlock; ++block) {
            const double before = cpuMs();
            for (int i = 0; i < kBlock; ++i) {
                soak.turn(block * kBlock + i);
            }
            blocks.push_back({residentKiB(), entries("/proc/self/fd"), entries("/proc/self/task"),
                              (cpuMs() - before) / kBlock});
        }
    }
    fs::remove_all(folder);
    if (!out.empty()) {
        std::ofstream csv(out);
        csv << "turns,resident_kib,files,threads,cpu_ms_per_turn\n";
        for (size_t i = 0; i < blocks.size(); ++i) {
            csv << (i + 1) * kBlock << ',' << blocks[i].resident_kib << ',' << blocks[i].files
                << ',' << blocks[i].threads << ',' << blocks[i].cpu_ms_per_turn << '\n';
        }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%d turns in %.0f s; the last 75 %%, by blocks of %d turns:\n", turns, seconds,
                kBlock);
    bool is_flat = report(blocks, "resident KiB", &Block::resident_kib);
    is_flat = report(blocks, "descriptors", &Block::files) && is_flat;
    is_flat = report(blocks, "threads", &Block::threads) && is_flat;
    is_flat = report(blocks, "CPU ms per turn", &Block::cpu_ms_per_turn) && is_flat;
    return is_flat ? 0 : 1;
}
