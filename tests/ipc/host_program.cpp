// SPDX-License-Identifier: Apache-2.0
// The engine's process for tests, without Qt: host_program KIND [FOLDER].
//   cpu    the engine of the program, without cards
//   card   the same on a fake card, whose kernels choose " the" for ever
//   flood  no engine: frames that nobody asked for, without end
//   idle   no engine: reads what comes and says nothing
//   limits no window: what the process cannot do any more, a line each
// FOLDER holds faults, each done once: a file "load", "step" or "token" with the number of a signal
// (0: a fault of the card's kernels, of "token" alone; a time in ms with "sleep " in front: it
// hangs). "always" beside them: every time.
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/support/cuda/fake_driver.h"

#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "ipc/engine_host.h"
#include "ipc/limits.h"

namespace {

namespace fs = std::filesystem;

constexpr kernels::cuda::CuResult kIllegalAddress = 700;
constexpr int kTokensBefore = 10;   ///< A fault "token".
constexpr int32_t kPrintable = 405; ///< " the" of the demo model.

std::string folder;

/// The fault that is due at `where`.
std::optional<std::string> due(const char* where) {
    const fs::path file = fs::path(folder) / where;
    std::ifstream in(file);
    std::string what;
    if (folder.empty() || !std::getline(in, what)) {
        return std::nullopt;
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
        static_cast<void>(std::raise(std::stoi(*what)));
    }
}

std::unique_ptr<engine::EngineClient>
make(bool has_card, const ipc::HostOptions& host, const std::function<void()>& on_step) {
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
        if (what == "0") {
            return kIllegalAddress;
        }
        if (what.has_value()) {
            static_cast<void>(std::raise(std::stoi(*what)));
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

int flood() {
    const std::string bytes = ipc::frameBytes(ipc::Kind::Update, 1, "x");
    while (::write(STDOUT_FILENO, bytes.data(), bytes.size()) > 0) {
    }
    return 0;
}

int idle() {
    char room[4096];
    while (::read(STDIN_FILENO, room, sizeof(room)) > 0) {
    }
    return 0;
}

/// "NAME: errno" of what must be refused, "NAME: 0" of what must not.
int limits() {
    const pid_t parent = ::getppid();
    for (const std::string& limit : ipc::limitProcess()) {
        std::printf("%s: achieved\n", limit.c_str());
    }
    const auto tell = [](const char* name, long answer) {
        std::printf("%s: %d\n", name, answer < 0 ? errno : 0);
    };
    tell("AF_INET", ::socket(AF_INET, SOCK_STREAM, 0));
    tell("AF_INET6", ::socket(AF_INET6, SOCK_DGRAM, 0));
    tell("AF_UNIX", ::socket(AF_UNIX, SOCK_STREAM, 0));
    char* const words[] = {const_cast<char*>("/bin/true"), nullptr};
    tell("execve", ::execve("/bin/true", words, nullptr));
    tell("ptrace", ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    tell("kill", ::kill(parent, 0));
    tell("kill own", ::kill(::getpid(), 0));
    long worked = 0;
    std::thread([&worked] { worked = ::socket(AF_INET, SOCK_STREAM, 0); }).join();
    std::printf("thread: %d\n", worked < 0 ? EPERM : 0);
    return std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    const std::string kind = argc > 1 ? argv[1] : "";
    folder = argc > 2 ? argv[2] : "";
    if (kind == "flood") {
        return flood();
    }
    if (kind == "idle") {
        return idle();
    }
    if (kind == "limits") {
        return limits();
    }
    const bool has_card = kind == "card";
    return ipc::runEngineHost(
        [has_card](const ipc::HostOptions& host, const std::function<void()>& on_step) {
            return make(has_card, host, on_step);
        },
        "test");
}
