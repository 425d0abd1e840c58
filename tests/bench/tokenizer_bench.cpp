// SPDX-License-Identifier: Apache-2.0
// Speed of the tokenizer: loading a tokenizer.json, then encoding and decoding text files. Each
// figure is the best of five runs, in MB of UTF-8 text (10^6 bytes) per second, one thread. "CPU"
// figures count processor time only: what the program would do if it were alone on the machine.
// Usage: belfry_tokenizer_bench TOKENIZER.json TEXT...
#include "engine/text/tokenizer.h"
#include "tests/support/files.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace {

constexpr int kRuns = 5;

struct Seconds {
    double wall = 1e9, cpu = 1e9;
};

Seconds bestSeconds(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    Seconds best;
    for (int i = 0; i < kRuns; ++i) {
        const auto begin = Clock::now();
        const std::clock_t cpu_begin = std::clock();
        work();
        const auto cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
        best.wall =
            std::min(best.wall, std::chrono::duration<double>(Clock::now() - begin).count());
        best.cpu = std::min(best.cpu, cpu);
    }
    return best;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: belfry_tokenizer_bench TOKENIZER.json TEXT...\n");
        return 2;
    }
    const std::string json = support::textOf(argv[1]);
    auto tokenizer = engine::Tokenizer::fromJson(json);
    if (!tokenizer.has_value()) {
        std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
        return 1;
    }
    const Seconds load = bestSeconds([&] { tokenizer = engine::Tokenizer::fromJson(json); });
    std::printf("load: %.0f ms (CPU %.0f ms), %lld tokens\n", load.wall * 1e3, load.cpu * 1e3,
                static_cast<long long>(tokenizer->vocabSize()));
    for (int i = 2; i < argc; ++i) {
        const std::string text = support::textOf(argv[i]);
        const double megabytes = static_cast<double>(text.size()) / 1e6;
        std::vector<engine::TokenId> ids;
        const Seconds encode = bestSeconds([&] { ids = tokenizer->encode(text); });
        std::string decoded;
        const Seconds decode = bestSeconds([&] { decoded = tokenizer->decode(ids); });
        std::printf(
            "%s: %.2f MB, %zu tokens; encode %.1f MB/s (CPU %.1f), decode %.1f (CPU %.1f)\n",
            argv[i], megabytes, ids.size(), megabytes / encode.wall, megabytes / encode.cpu,
            megabytes / decode.wall, megabytes / decode.cpu);
    }
    return 0;
}
