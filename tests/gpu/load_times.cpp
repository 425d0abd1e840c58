// SPDX-License-Identifier: Apache-2.0
// How long a person waits for a model: from the start of the program to the first token, with files
// of the real size in the page cache.
//
//   belfry_gpu_load write SHAPE FOLDER VOCABULARY     a model folder (e2b: 10 GB, e4b: 16 GB) with
//                                                     random weights
//   belfry_gpu_load time FOLDER [--map MAP] [--quant Q] [--head H] [--cache DIR] [--rounds N]
//                   [--json FILE] [--stages]
//       first load (from bf16), the load that writes the cache into DIR, loads from the cache.
//       Every load is a program of its own. Tokens of all loads must agree.
// VOCABULARY: tests/data/gemma_tokenizer.json.xz, unpacked. Ends with 77 without a usable card,
// unless MAP names no card.
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/gpu/model_folder_writer.h"

#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock; // counts from the start of the machine: comparable between
                                         // programs

struct Options {
    std::string folder, map = "gpu", quant = "nf4-dq", head = "int8", cache, json;
    int rounds = 3;
    bool has_stages = false;
};

double secondsSince(int64_t nanoseconds) {
    return std::chrono::duration<double>(Clock::now().time_since_epoch() -
                                         std::chrono::nanoseconds(nanoseconds))
        .count();
}

/// In the child: loads, answers, prints one JSON object. `started`: when the parent started it.
int loadOnce(const Options& options, int64_t started) {
    ordered_json out = {{"main_s", secondsSince(started)}};
    engine::EngineOptions engine_options;
    engine_options.has_load_times = options.has_stages;
    engine::Engine engine(engine_options);
    engine::LoadRequest request;
    request.model = options.folder;
    request.device_map = options.map;
    request.quant = options.quant;
    request.head = options.head;
    request.cache_folder = options.cache;
    const auto loaded = engine.load(request, {}, {});
    if (!loaded.has_value()) {
        std::cerr << loaded.error().message << "\n";
        return 1;
    }
    out["load_s"] = secondsSince(started);
    engine::GenerateRequest ask;
    ask.messages.push_back({engine::Message::Role::User,
                            {{engine::MessagePart::Kind::Text, "Which part sits where?"}}});
    ask.sampling.temperature = 0.0;
    ask.sampling.ignores_eos = true;
    ask.sampling.max_tokens = 1;
    std::vector<int32_t> tokens;
    for (const int count : {1, 24}) {
        ask.sampling.max_tokens = count;
        const auto reply = engine.generate(ask, {}, {});
        if (!reply.has_value()) {
            std::cerr << reply.error().message << "\n";
            return 1;
        }
        if (count == 1) {
            out["first_token_s"] = secondsSince(started);
        }
        tokens.insert(tokens.end(), reply->token_ids.begin(), reply->token_ids.end());
    }
    out["tokens"] = tokens;
    out["notes"] = engine::inEnglish(engine.loadNotes());
    std::cout << out.dump() << std::endl;
    return 0;
}

/// Runs this program again and waits; an empty object when it failed.
ordered_json startAgain(const char* program, const Options& options, const std::string& cache) {
    int pipe_ends[2] = {-1, -1};
    if (::pipe(pipe_ends) != 0) {
        return ordered_json::object();
    }
    const std::string started = std::to_string(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
            .count());
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe_ends[1], STDOUT_FILENO);
        ::close(pipe_ends[0]);
        ::close(pipe_ends[1]);
        std::vector<const char*> words = {program,
                                          "once",
                                          options.folder.c_str(),
                                          "--started",
                                          started.c_str(),
                                          "--map",
                                          options.map.c_str(),
                                          "--quant",
                                          options.quant.c_str(),
                                          "--head",
                                          options.head.c_str()};
        if (options.has_stages) {
            words.push_back("--stages");
        }
        if (!cache.empty()) {
            words.insert(words.end(), {"--cache", cache.c_str()});
        }
        words.push_back(nullptr);
        ::execv("/proc/self/exe", const_cast<char* const*>(words.data()));
        ::_exit(127);
    }
    ::close(pipe_ends[1]);
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(pipe_ends[0], buffer, sizeof(buffer))) > 0) {
        text.append(buffer, static_cast<size_t>(got));
    }
    ::close(pipe_ends[0]);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        return ordered_json::object();
    }
    return ordered_json::parse(text, nullptr, false);
}

int timeLoads(const char* program, const Options& options) {
    const std::filesystem::path cache =
        options.cache.empty()
            ? std::filesystem::temp_directory_path() / ("belfry-load-" + std::to_string(::getpid()))
            : std::filesystem::path(options.cache);
    ordered_json out = {{"map", options.map}, {"quant", options.quant}, {"head", options.head}};
    std::printf("loads of %s, %s, head %s, map %s: seconds from the start of the program\n",
                options.folder.c_str(), options.quant.c_str(), options.head.c_str(),
                options.map.c_str());
    std::vector<int32_t> tokens;
    bool is_right = true;
    const auto measure = [&](const char* name, const std::string& folder, int rounds) {
        double best = 0.0;
        for (int round = 0; round < rounds; ++round) {
            ordered_json one = startAgain(program, options, folder);
            if (!one.is_object() || !one.contains("first_token_s")) {
                std::printf("FAIL  %s\n", name);
                is_right = false;
                return;
            }
            const double first = one["first_token_s"].get<double>();
            std::printf("%-30s  loaded %6.3f s  first token %6.3f s\n", name,
                        one["load_s"].get<double>(), first);
            for (const auto& note : one["notes"]) {
                if (note.get<std::string>().find("cache") != std::string::npos) {
                    std::printf("    %s\n", note.get<std::string>().c_str());
                }
            }
            const auto now = one["tokens"].get<std::vector<int32_t>>();
            if (!tokens.empty() && now != tokens) {
                std::printf("FAIL  %s: other tokens than the first load's\n", name);
                is_right = false;
            }
            tokens = now;
            best = best == 0.0 || first < best ? first : best;
            std::fflush(stdout);
            out["runs"].push_back({{"name", name},
                                   {"loaded_s", one["load_s"]},
                                   {"first_token_s", one["first_token_s"]}});
        }
        out["best"][name] = best;
    };
    measure("from bf16", "", options.rounds);
    measure("from bf16, writing the cache", cache.string(), 1);
    measure("from the cache", cache.string(), options.rounds);
    if (options.cache.empty()) {
        std::error_code code;
        std::filesystem::remove_all(cache, code);
    }
    if (out.contains("best")) {
        std::printf("best: %s\n", out["best"].dump().c_str());
    }
    if (!options.json.empty()) {
        std::ofstream(options.json) << out.dump(2) << "\n";
    }
    return is_right ? 0 : 1;
}

int run(const char* program, const std::vector<std::string>& words) {
    const std::string command = words.empty() ? "" : words[0];
    if (command == "write" && words.size() == 4) {
        const auto begin = Clock::now();
        const auto written = gpu::writeModelFolder(words[1], words[3], words[2]);
        if (!written.has_value()) {
            std::cerr << written.error().message << "\n";
            return 1;
        }
        std::printf("written in %.1f s: %s\n",
                    std::chrono::duration<double>(Clock::now() - begin).count(), words[2].c_str());
        return 0;
    }
    Options options;
    int64_t started = 0;
    bool is_right = (command == "time" || command == "once") && words.size() >= 2;
    if (is_right) {
        options.folder = words[1];
    }
    for (size_t i = 2; is_right && i < words.size(); ++i) {
        if (words[i] == "--stages") {
            options.has_stages = true;
            continue;
        }
        is_right = i + 1 < words.size();
        if (!is_right) {
            break;
        }
        const std::string& value = words[i + 1];
        if (words[i] == "--rounds") {
            options.rounds = std::atoi(value.c_str());
        } else if (words[i] == "--started") {
            started = std::atoll(value.c_str());
        } else if (words[i] == "--map") {
            options.map = value;
        } else if (words[i] == "--quant") {
            options.quant = value;
        } else if (words[i] == "--head") {
            options.head = value;
        } else if (words[i] == "--cache") {
            options.cache = value;
        } else if (words[i] == "--json") {
            options.json = value;
        } else {
            is_right = false;
        }
        ++i;
    }
    if (!is_right) {
        std::cerr << "belfry_gpu_load write SHAPE FOLDER VOCABULARY\n"
                     "belfry_gpu_load time FOLDER [--map MAP] [--quant Q] [--head H] [--cache DIR] "
                     "[--rounds N] [--json FILE] [--stages]\n";
        return 2;
    }
    if (command == "once") {
        return loadOnce(options, started);
    }
    if (options.map != "cpu" &&
        engine::systemGpuAccess(std::make_shared<engine::CardInquiry>(engine::CardInquiryOptions()))
            .list()
            .empty()) {
        std::printf("skipped: this machine has no usable card\n");
        return 77;
    }
    return timeLoads(program, options);
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argv[0], std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
