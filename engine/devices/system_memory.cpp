// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/system_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <windows.h>
// After windows.h, which it needs.
#include <psapi.h>
#else
#include <unistd.h>
#endif

namespace engine {

namespace {

namespace fs = std::filesystem;

/// The files of one version of control groups.
struct GroupFiles {
    const char* limit;
    const char* usage;
    const char* active_file;   ///< Keys in memory.stat, the group and all below it.
    const char* inactive_file; ///< File pages that nothing used lately.
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_active_file", "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "active_file", "inactive_file"};

SystemMemory ofComputer(const fs::path& root) {
    SystemMemory memory;
#ifdef _WIN32
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    if (root == "/" && GlobalMemoryStatusEx(&status) != 0) {
        memory.total = status.ullTotalPhys;
        memory.available = status.ullAvailPhys;
        return memory;
    }
#endif
    // Kernels before 3.14, WSL 1 and some sandboxes do not tell MemAvailable: then what is free and
    // what can be given up count. Shared memory is among the cached pages and stays.
    std::optional<uint64_t> told;
    std::optional<uint64_t> free;
    uint64_t can_go = 0;
    uint64_t shared = 0;
    std::ifstream in(root / "proc/meminfo");
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string key;
        uint64_t kib = 0;
        if (!(words >> key >> kib)) {
            continue;
        }
        const uint64_t bytes = kib * 1024U;
        if (key == "MemTotal:") {
            memory.total = bytes;
        } else if (key == "MemAvailable:") {
            told = bytes;
        } else if (key == "MemFree:") {
            free = bytes;
        } else if (key == "Buffers:" || key == "Cached:" || key == "SReclaimable:") {
            can_go += bytes;
        } else if (key == "Shmem:") {
            shared = bytes;
        }
    }
    // Where nothing is told of what is free, all of it may be: a number that is missing is not 0.
    const uint64_t guess =
        free.has_value() ? *free + can_go - std::min(can_go, shared) : memory.total;
    memory.available = told.value_or(std::min(guess, memory.total));
    return memory;
}

/// nullopt: no such file, or "max".
std::optional<uint64_t> numberIn(const fs::path& file) {
    std::ifstream in(file);
    uint64_t value = 0;
    return in >> value ? std::optional<uint64_t>(value) : std::nullopt;
}

uint64_t filePages(const fs::path& stat, const GroupFiles& files) {
    std::ifstream in(stat);
    std::string key;
    uint64_t bytes = 0;
    uint64_t sum = 0;
    while (in >> key >> bytes) {
        sum += key == files.active_file || key == files.inactive_file ? bytes : 0;
    }
    return sum;
}

/// A list of words with commas between has this one.
bool hasWord(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// A mounted hierarchy of groups that bound memory.
struct Hierarchy {
    fs::path mount_point;
    std::string mounted; ///< The group that is seen at the mount point.
    bool is_version_1 = false;
};

/// proc_pid_mountinfo(5): "36 35 98:0 /group /mount options [tags] - type source options".
std::vector<Hierarchy> hierarchies(const fs::path& root) {
    std::vector<Hierarchy> out;
    std::ifstream in(root / "proc/self/mountinfo");
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string skipped;
        Hierarchy found;
        std::string mount_point;
        words >> skipped >> skipped >> skipped >> found.mounted >> mount_point;
        while (words >> skipped && skipped != "-") {
        }
        std::string type;
        std::string options;
        words >> type >> skipped >> options;
        found.is_version_1 = type == "cgroup" && hasWord(options, "memory");
        if ((found.is_version_1 || type == "cgroup2") && mount_point.starts_with('/')) {
            found.mount_point = root / mount_point.substr(1);
            out.push_back(std::move(found));
        }
    }
    return out;
}

/// The process's group in a hierarchy: cgroups(7), "4:memory:/group" or "0::/group".
std::optional<std::string> ownGroup(const fs::path& root, bool is_version_1) {
    std::ifstream in(root / "proc/self/cgroup");
    std::string line;
    while (std::getline(in, line)) {
        const size_t first = line.find(':');
        const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (is_version_1 ? hasWord(controllers, "memory") : line.starts_with("0::")) {
            return line.substr(second + 1);
        }
    }
    return std::nullopt;
}

/// Names of the groups from the mounted one down to `group`. A group outside what is mounted (seen
/// from within a container) leaves the mounted one.
std::vector<std::string> namesBelow(const std::string& mounted, const std::string& group) {
    const std::string base = mounted == "/" ? std::string() : mounted;
    std::vector<std::string> names;
    if (group.find("/..") != std::string::npos || !group.starts_with(base + "/")) {
        return names;
    }
    std::istringstream rest(group.substr(base.size() + 1));
    std::string name;
    while (std::getline(rest, name, '/')) {
        if (!name.empty()) {
            names.push_back(name);
        }
    }
    return names;
}

void boundBy(const fs::path& group, const GroupFiles& files, SystemMemory& memory) {
    const std::optional<uint64_t> limit = numberIn(group / files.limit);
    if (!limit.has_value() || *limit >= memory.total) {
        return; // none: version 1 says so with a number near 2^63
    }
    memory.total = *limit;
    const uint64_t usage = numberIn(group / files.usage).value_or(0);
    const uint64_t used = usage - std::min(usage, filePages(group / "memory.stat", files));
    memory.available = std::min(memory.available, *limit - std::min(*limit, used));
}

} // namespace

SystemMemory systemMemory(const fs::path& root) {
    SystemMemory memory = ofComputer(root);
    if (memory.total == 0) {
        return memory;
    }
    for (const Hierarchy& hierarchy : hierarchies(root)) {
        const std::optional<std::string> group = ownGroup(root, hierarchy.is_version_1);
        if (!group.has_value()) {
            continue;
        }
        const GroupFiles& files = hierarchy.is_version_1 ? kVersion1 : kVersion2;
        fs::path folder = hierarchy.mount_point;
        std::vector<std::string> names = namesBelow(hierarchy.mounted, *group);
        names.insert(names.begin(), std::string());
        for (const std::string& name : names) {
            folder = name.empty() ? folder : folder / name;
            boundBy(folder, files, memory);
        }
    }
    return memory;
}

uint64_t ownMemory() {
#if defined(_WIN32)
    PROCESS_MEMORY_COUNTERS counters{};
    counters.cb = sizeof(counters);
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)) != 0
               ? counters.WorkingSetSize
               : 0;
#else
    uint64_t size_pages = 0;
    uint64_t resident_pages = 0;
    std::ifstream in("/proc/self/statm");
    in >> size_pages >> resident_pages;
    return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#endif
}

} // namespace engine
