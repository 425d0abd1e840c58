// SPDX-License-Identifier: Apache-2.0
// Server-sent events (HTML standard, "Interpreting an event stream"), as far as streamed replies
// use them: the data of each event. Other fields and comments are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace remote {

/// Bytes of a line and of the data of one event that are still taken.
struct SseLimits {
    size_t line = size_t{8} << 20;
    size_t event = size_t{16} << 20;
};

class SseParser {
public:
    /// Gets an event's data. False: no more is wanted.
    using OnEvent = std::function<bool(std::string_view data)>;
    enum class Outcome : uint8_t { More = 1, Ended, LineTooLong, EventTooLong };

    explicit SseParser(SseLimits limits = {}) : limits_(limits) {}

    /// Takes the next bytes, cut anywhere. Anything but More: feed nothing any more.
    Outcome feed(std::string_view bytes, const OnEvent& on_event);
    /// The stream is over: what came without its blank line counts as an event all the same, since
    /// some servers close without one.
    Outcome finish(const OnEvent& on_event);

    /// Whole lines so far, comments and blank ones included: a sign of life.
    [[nodiscard]] uint64_t lines() const { return lines_; }

private:
    Outcome endLine(const OnEvent& on_event);
    bool dispatch(const OnEvent& on_event);

    SseLimits limits_;
    std::string line_, data_;
    bool has_data_ = false;
    bool was_return_ = false; ///< The last byte was '\r': a '\n' belongs to it.
    bool is_first_ = true;    ///< A byte-order mark may stand before the first line.
    uint64_t lines_ = 0;
};

} // namespace remote
