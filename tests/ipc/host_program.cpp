// SPDX-License-Identifier: Apache-2.0
// The engine's process for tests, without Qt: host_program KIND [FOLDER].
//   cpu    the engine of the program, without cards; where FOLDER has a file "probe", it tries what
//          a process that was taken over would, and writes what came of it beside it
//   card   the same on a fake card, whose kernels choose " the" for ever
//   flood  no engine: frames that nobody asked for, without end
//   zeros  no engine: those
//   noise  no engine: a megabyte of it, then as "idle"
//   idle   no engine: reads what comes and says nothing
//   bytes  no engine: those that FOLDER is in hexadecimal digits, then as "idle"
//   cut    likewise, then it ends
//   exit   no engine: ends with the status FOLDER
//   limits no window: what the process cannot do any more, a line each (probe.h); FOLDER is that of
//          somebody's files
//   window a window: starts this program as its engine's process, tells which one, and waits
// FOLDER holds faults, each done once: a file "load", "step" or "token" with a word of
// support::endBy() ("card": a fault of the card's kernels, of "token" alone; a time in ms with
// "sleep " in front: it hangs). "always" beside them: every time.
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/ipc/asking.h"
#include "tests/ipc/probe.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/processes.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "ipc/engine_host.h"
#include "ipc/limits.h"
#include "ipc/pipe.h"

namespace {

namespace fs = std::filesystem;

constexpr kernels::cuda::CuResult kIllegalAddress = 700;
constexpr int kTokensBefore = 10;   ///< A fault "token".
constexpr int32_t kPrintable = 405; ///< " the" of the demo model.

std::string folder;

/// The fault that is due at `where`.
std::optional<std::string> due(const char* where) {
    const fs::path file = fs::path(folder) / where;
    std::string what;
    {
        std::ifstream in(file); // closed before it is removed
        if (folder.empty() || !std::getline(in, what)) {
            return std::nullopt;
        }
    }
    if (!fs::exists(fs::path(folder) / "always")) {
        fs::remove(file);
    }
    return what;
}

void faultAt(const char* where) {
    const auto what = due(where);
    if (!what.has_value()) {
        return;
    }
    if (what->starts_with("sleep ")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(what->substr(6))));
    } else {
        support::endBy(*what);
    }
}

std::unique_ptr<engine::EngineClient>
make(bool has_card, const ipc::HostOptions& host, const std::function<void()>& on_step) {
#ifndef _WIN32
    if (const auto parent = due("probe"); parent.has_value()) {
        probe::inside(folder, std::stoi(*parent));
    }
#endif
    // A library that prints says nothing to the window.
    std::puts("a line that is no frame");
    static_cast<void>(std::fflush(stdout));
    static support::FakeDriver* const fake = new support::FakeDriver; // as long as the process
    fake->token = kPrintable;
    fake->fault = [launches = 0](const char* name) mutable {
        const bool is_awaited = std::string_view(name) == "cuGraphLaunch" && !folder.empty() &&
                                fs::exists(fs::path(folder) / "token");
        launches += is_awaited ? 1 : 0;
        if (is_awaited && launches == kTokensBefore / 2) {
            // Tokens that come faster than a screen shows travel together: these do not.
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        if (launches < kTokensBefore) {
            return kernels::cuda::kCuSuccess;
        }
        launches = 0;
        const auto what = due("token");
        if (what == "card") {
            return kIllegalAddress;
        }
        if (what.has_value()) {
            support::endBy(*what);
        }
        return kernels::cuda::kCuSuccess;
    };
    engine::EngineOptions options;
    options.demo_folder = host.demo_folder;
    options.gpus = std::make_shared<const engine::GpuAccess>(
        has_card ? engine::cudaAccess(&fake->driver(), {}, support::FakeDriver::images())
                 : engine::GpuAccess());
    options.on_devices = [](engine::OwnedDevices& /*devices*/) { faultAt("load"); };
    options.on_step = [on_step] {
        faultAt("step");
        on_step();
    };
    return std::make_unique<engine::Engine>(std::move(options));
}

/// Writes `bytes`, `times` of them, and reads until nobody is there any more; or ends at once.
int say(const std::string& bytes, uint64_t times, bool stays) {
    ipc::Pipe pipe = ipc::Pipe::takeStandardStreams();
    for (uint64_t i = 0; i < times && pipe.write(bytes); ++i) {
    }
    char room[4096];
    while (stays && pipe.read(room, sizeof(room)) > 0) {
    }
    return 0;
}

std::string noise() {
    std::mt19937_64 random(1); // NOLINT(cert-msc51-cpp): the same noise each time
    std::string bytes(1'000'000, 0);
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

std::string bytesOf(const std::string& digits) {
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

int beWindow(const char* program) {
    asking::Log log;
    ipc::ProcessEngine engine(asking::options({program, "cpu"}, log));
    if (!engine.inspect("demo", {}).has_value()) {
        return 1;
    }
    std::printf("%lld\n", static_cast<long long>(engine.process().id()));
    static_cast<void>(std::fflush(stdout));
    for (;;) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

#ifdef _WIN32

/// Through the pipe, as the job is there for a process that somebody has started as an engine's.
int limits() {
    ipc::Pipe pipe = ipc::Pipe::takeStandardStreams();
    std::string lines;
    for (const std::string& limit : ipc::limitProcess({})) {
        lines += limit + ": achieved\n";
    }
    STARTUPINFOW startup{};
    startup.cb = sizeof(startup);
    PROCESS_INFORMATION made{};
    wchar_t words[] = L"cmd.exe /c exit";
    const bool is_made = CreateProcessW(nullptr, words, nullptr, nullptr, FALSE, 0, nullptr,
                                        nullptr, &startup, &made) != 0;
    lines += std::string("another program: ") + (is_made ? "0" : "refused") + "\n";
    return pipe.write(lines) ? 0 : 1;
}

#endif

} // namespace

int main(int argc, char** argv) {
    const std::string kind = argc > 1 ? argv[1] : "";
    folder = argc > 2 ? argv[2] : "";
    constexpr uint64_t kForEver = ~uint64_t{0};
    if (kind == "flood") {
        return say(ipc::frameBytes(ipc::Kind::Update, 1, "x"), kForEver, false);
    }
    if (kind == "zeros") {
        return say(std::string(4096, 0), kForEver, false);
    }
    if (kind == "noise" || kind == "idle") {
        return say(kind == "noise" ? noise() : std::string(), 1, true);
    }
    if (kind == "bytes" || kind == "cut") {
        return say(bytesOf(folder), 1, kind == "bytes");
    }
    if (kind == "exit") {
        return std::stoi(folder);
    }
    if (kind == "window") {
        return beWindow(argv[0]);
    }
    if (kind == "limits") {
#ifdef _WIN32
        return limits();
#else
        probe::limits(folder);
        return 0;
#endif
    }
    const bool has_card = kind == "card";
    return ipc::runEngineHost(
        [has_card](const ipc::HostOptions& host, const std::function<void()>& on_step) {
            return make(has_card, host, on_step);
        },
        "test");
}
