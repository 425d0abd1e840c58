// SPDX-License-Identifier: Apache-2.0
// What tests of the engine's process share: where the demo model is, and options that start
// host_program.cpp.
#pragma once

#include "engine/base/paths.h"
#include "tests/support/places.h"

#include <mutex>
#include <string>
#include <vector>

#include "ipc/process_engine.h"

namespace asking {

/// What a process denies itself on every system (ipc/limits.h), by the word that it tells.
#ifdef _WIN32
inline constexpr const char* kLimit = "in a job";
#else
inline constexpr const char* kLimit = "ends with the window";
#endif

inline std::string demoFolder() {
    return engine::utf8Of(support::sourceDir() / "resources" / "demo_model");
}

inline engine::LoadRequest demoRequest(const char* map) {
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = map;
    request.threads = 1;
    return request;
}

inline engine::GenerateRequest question(int64_t tokens, const std::string& text = "Hello") {
    engine::GenerateRequest request;
    request.id = 7;
    request.messages = {{engine::Message::Role::User, {{engine::MessagePart::Kind::Text, text}}}};
    request.sampling.temperature = 0.0;
    request.sampling.max_tokens = tokens;
    request.sampling.ignores_eos = true;
    return request;
}

/// Lines of the log, from any thread.
struct Log {
    std::mutex mutex;
    std::vector<std::string> lines;
    [[nodiscard]] bool has(const std::string& words) {
        const std::lock_guard lock(mutex);
        for (const std::string& line : lines) {
            if (line.find(words) != std::string::npos) {
                return true;
            }
        }
        return false;
    }
};

/// `log` must outlive the engine.
inline ipc::ProcessOptions options(std::vector<std::string> words, Log& log) {
    ipc::ProcessOptions options;
    options.words = std::move(words);
    if (options.words.size() > 2) {
        options.host.writable = {options.words[2]}; // the folder of faults, which are done once
    }
    options.program = "test";
    options.host.demo_folder = demoFolder();
    options.log = [&log](const std::string& line) {
        const std::lock_guard lock(log.mutex);
        log.lines.push_back(line);
    };
    return options;
}

/// Without a card: the engine in this process as in the other one.
inline engine::EngineOptions threadOptions() {
    engine::EngineOptions options;
    options.demo_folder = demoFolder();
    options.gpus = std::make_shared<const engine::GpuAccess>();
    return options;
}

} // namespace asking
