// SPDX-License-Identifier: Apache-2.0
// What a process of its own costs the engine: the same questions to an engine on a thread and to
// one in a process, in turns, so that what else the machine does meets both.
//   belfry_process_bench [MODEL [MAP [QUANT [TOKENS [PAIRS]]]]]
// MODEL: a folder, or shape:e2b with random weights; without one the demo model.
#include "engine/run/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/engine_host.h"
#include "ipc/process_engine.h"

namespace {

constexpr const char* kWord = "--run-engine";

std::unique_ptr<engine::EngineClient> makeEngine(const std::string& demo,
                                                 std::function<void()> on_step) {
    engine::EngineOptions options;
    options.demo_folder = demo;
    options.on_step = std::move(on_step);
    return std::make_unique<engine::Engine>(std::move(options));
}

struct Measured {
    double first_s = 0.0, decode_per_s = 0.0;
    int64_t tokens = 0;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[values.size() / 2];
}

/// As the window meets it: from the question to the first words, and from these to the end.
Measured measure(engine::EngineClient& engine, bool has_words, int64_t tokens, int round) {
    using Clock = std::chrono::steady_clock;
    engine::GenerateRequest request;
    if (has_words) {
        request.messages = {
            {engine::Message::Role::User,
             {{engine::MessagePart::Kind::Text,
               "Question " + std::to_string(round) +
                   ": what does a bell tower look like, and who rings its bells?"}}}};
    } else {
        for (int32_t i = 0; i < 64; ++i) {
            request.raw_ids.push_back(2 + i + 64 * (round + 1)); // none like the question before
        }
    }
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
    request.sampling.max_tokens = tokens;
    request.uses_drafts = false;
    const Clock::time_point begun = Clock::now();
    Clock::time_point first = begun;
    int64_t told_first = 0;
    const auto reply = engine.generate(request,
                                       [&](const engine::ReplyUpdate& update) {
                                           if (told_first == 0) {
                                               first = Clock::now();
                                               told_first = update.tokens;
                                           }
                                       },
                                       {});
    const Clock::time_point end = Clock::now();
    if (!reply.has_value()) {
        std::fprintf(stderr, "process_bench: %s\n", reply.error().message.c_str());
        std::exit(1);
    }
    Measured measured;
    measured.tokens = static_cast<int64_t>(reply->token_ids.size());
    measured.first_s = std::chrono::duration<double>(first - begun).count();
    measured.decode_per_s = static_cast<double>(measured.tokens - told_first) /
                            std::chrono::duration<double>(end - first).count();
    return measured;
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == kWord) {
        return ipc::runEngineHost(
            [](const ipc::HostOptions& host, std::function<void()> on_step) {
                return makeEngine(host.demo_folder, std::move(on_step));
            },
            "bench");
    }
    const auto word = [&](int at, const char* otherwise) {
        return std::string(argc > at ? argv[at] : otherwise);
    };
    engine::LoadRequest load;
    load.model = word(1, BELFRY_DEMO_FOLDER);
    const bool has_words = !load.model.starts_with("shape:"); // random weights bring no tokenizer
    load.device_map = word(2, "cpu");
    load.quant = word(3, "none");
    const int64_t tokens = std::atoll(word(4, "200").c_str());
    const int pairs = std::atoi(word(5, "20").c_str());
    ipc::ProcessOptions options;
    options.words = {std::filesystem::read_symlink("/proc/self/exe").native(), kWord};
    options.program = "bench";
    options.log = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
    const auto here = makeEngine({}, {});
    ipc::ProcessEngine there(options);
    for (engine::EngineClient* engine : {here.get(), static_cast<engine::EngineClient*>(&there)}) {
        const auto loaded = engine->load(load, {}, {});
        if (!loaded.has_value()) {
            std::fprintf(stderr, "process_bench: %s\n", loaded.error().message.c_str());
            return 1;
        }
        measure(*engine, has_words, tokens, -1); // warm
    }
    std::vector<double> first_here, first_there, decode_here, decode_there, first_by, decode_by;
    for (int i = 0; i < pairs; ++i) {
        Measured a;
        Measured b;
        // In turns also within a pair.
        if (i % 2 == 0) {
            a = measure(*here, has_words, tokens, i);
            b = measure(there, has_words, tokens, i);
        } else {
            b = measure(there, has_words, tokens, i);
            a = measure(*here, has_words, tokens, i);
        }
        first_here.push_back(a.first_s);
        first_there.push_back(b.first_s);
        decode_here.push_back(a.decode_per_s);
        decode_there.push_back(b.decode_per_s);
        first_by.push_back(b.first_s / a.first_s);
        decode_by.push_back(b.decode_per_s / a.decode_per_s);
    }
    std::printf("medians of %d pairs      thread     process   process / thread, by pairs\n",
                pairs);
    std::printf("time to first token  %8.2f ms %8.2f ms   %.4f\n", 1e3 * median(first_here),
                1e3 * median(first_there), median(first_by));
    std::printf("decoding             %8.1f/s  %8.1f/s    %.4f\n", median(decode_here),
                median(decode_there), median(decode_by));
    return 0;
}
