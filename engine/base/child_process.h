// SPDX-License-Identifier: Apache-2.0
// Another program, run for what it prints, within a time limit: for work that may crash or never
// come back and must not take this process along. Its standard input and error lead nowhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// How a child ended.
struct ChildEnd {
    enum class Kind : uint8_t {
        Exited = 1, ///< By itself, with `code`.
        Crashed,    ///< By the signal, on Windows the exception, `code`.
        TimedOut,   ///< By us: the limit was over.
        Stopped,    ///< By us: nobody waited any more.
        NotStarted, ///< `why` says what the system answered.
    };
    Kind kind = Kind::NotStarted;
    uint32_t code = 0;
    std::string output; ///< Standard output, as much of it as kMostOutput.
    std::string why;

    static constexpr size_t kMostOutput = size_t{1} << 20;
};

/// Runs words[0], the path of a program, with the other words (UTF-8) as arguments and this
/// process's environment. Waits for its end, at most `limit`; what is still running then is killed.
/// One that not even that ends (it hangs in the system's kernel) is left to itself.
ChildEnd runChild(const std::vector<std::string>& words,
                  std::chrono::milliseconds limit,
                  const std::stop_token& stop = {});

/// "SIGSEGV", "exception 0xC0000005": what ended a child that crashed, by its name in any language.
std::string crashName(uint32_t code);

/// For the child, first thing in main(): ends it when the process that started it dies, and after
/// `limit` in any case; a crash shows no window.
void endWithParent(std::chrono::seconds limit);

} // namespace engine
