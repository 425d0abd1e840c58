// SPDX-License-Identifier: Apache-2.0
// What to say where the system starts no more threads: the standard library throws "Resource
// temporarily unavailable", which names neither the limit nor what to do.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>

namespace engine {

/// Most threads of this user (`ulimit -u`) and of this process's control group or one above it
/// (pids.max). Nothing: no such limit, or it is not told.
struct ThreadLimits {
    std::optional<uint64_t> user = {}, group = {};
};
/// `root` stands before /proc and /sys, for tests.
ThreadLimits threadLimits(const std::filesystem::path& root = "/");

/// The error of a program that got no thread (Unsupported; it names the limit and the next step);
/// nothing: `problem` is about something else.
std::optional<Error> threadShortage(const std::exception& problem, const ThreadLimits& limits);
std::optional<Error> threadShortage(const std::exception& problem);

} // namespace engine
