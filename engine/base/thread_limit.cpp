// SPDX-License-Identifier: Apache-2.0
#include "engine/base/thread_limit.h"

#include "engine/base/paths.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#ifndef _WIN32
#include <sys/resource.h>
#endif

namespace engine {

namespace {

namespace fs = std::filesystem;

/// The smallest limit of `group` and those above it, in a hierarchy that is mounted at `mount`.
std::optional<uint64_t> smallestLimit(const fs::path& mount, const std::string& group) {
    std::optional<uint64_t> smallest;
    fs::path folder = mount;
    const auto look = [&] {
        std::ifstream in(folder / "pids.max");
        uint64_t value = 0;
        if (in >> value) { // a word: "max"
            smallest = std::min(value, smallest.value_or(value));
        }
    };
    look();
    for (const fs::path& name : pathFromUtf8(group).relative_path()) {
        if (name == "..") {
            break; // a group outside of what is mounted here
        }
        folder /= name;
        look();
    }
    return smallest;
}

} // namespace

ThreadLimits threadLimits(const fs::path& root) {
    ThreadLimits limits;
#ifndef _WIN32
    rlimit user{};
    if (getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
        limits.user = user.rlim_cur;
    }
#endif
    // cgroups(7): "0::/group" of version 2, "5:pids:/group" of version 1.
    std::ifstream in(root / "proc/self/cgroup");
    std::string line;
    while (std::getline(in, line)) {
        const bool is_version_2 = line.starts_with("0::");
        const size_t pids = line.find(":pids:");
        if (!is_version_2 && pids == std::string::npos) {
            continue;
        }
        const std::string group = line.substr(is_version_2 ? 3 : pids + 6);
        const fs::path mount = root / (is_version_2 ? "sys/fs/cgroup" : "sys/fs/cgroup/pids");
        if (const auto limit = smallestLimit(mount, group)) {
            limits.group = std::min(*limit, limits.group.value_or(*limit));
        }
    }
    return limits;
}

std::optional<Error> threadShortage(const std::exception& problem, const ThreadLimits& limits) {
    const auto* system = dynamic_cast<const std::system_error*>(&problem);
    if (system == nullptr || dynamic_cast<const fs::filesystem_error*>(&problem) != nullptr ||
        system->code() != std::errc::resource_unavailable_try_again) {
        return std::nullopt;
    }
    if (limits.group.has_value() && *limits.group <= limits.user.value_or(*limits.group)) {
        return Error{ErrorCode::Unsupported,
                     said("the system starts no more threads: this container or control group may "
                          "have %1 of them (pids.max); raise that limit, or end other programs in "
                          "it",
                          *limits.group)};
    }
    if (limits.user.has_value()) {
        return Error{ErrorCode::Unsupported,
                     said("the system starts no more threads: this user may have %1 of them, all "
                          "programs together (ulimit -u); raise that limit, or end other programs",
                          *limits.user)};
    }
    return Error{ErrorCode::Unsupported,
                 said("the system starts no more threads; end other programs, or raise the limit "
                      "on them (ulimit -u, pids.max of a container)")};
}

std::optional<Error> threadShortage(const std::exception& problem) {
    return threadShortage(problem, threadLimits());
}

} // namespace engine
